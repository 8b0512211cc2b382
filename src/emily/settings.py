"""Every setting once: its name, type, default, bounds and what a change makes stale.

A value comes from, in this order: an argument, an environment variable ``EMILY_<NAME>``,
the file ``settings.toml`` in ``EMILY_HOME``, the default below.
"""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import platformdirs
from pydantic import (
    BeforeValidator,
    Field,
    SecretStr,
    StringConstraints,
    ValidationError,
    model_validator,
)
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from emily.errors import SettingError

__all__ = [
    "EmbedderBackend",
    "Fusion",
    "LexicalScore",
    "OcrEngine",
    "PresetName",
    "RerankerApi",
    "RerankerName",
    "RerankerScores",
    "Settings",
    "VectorIndex",
    "VisionApi",
    "home_folder",
    "load_settings",
    "private_folder",
]

Language = Annotated[str, StringConstraints(pattern=r"^[a-z]{2}$")]
LexicalScore = Literal["bm25", "lexemes"]
Fusion = Literal["sum", "rrf", "interleave"]
PresetName = Literal["default", "archive", "vault"]
OcrEngine = Literal["rapidocr", "tesseract", "apple"]
VisionApi = Literal["none", "ollama", "openai"]
EmbedderBackend = Literal["bundled", "ollama", "openai", "sentence-transformers"]
RerankerName = Literal["none", "qwen3", "cross-encoder", "http"]
RerankerApi = Literal["tei", "jina"]
RerankerScores = Literal["auto", "probabilities", "raw"]
VectorIndex = Literal["auto", "exact", "signs"]


def _setting(default: Any, help: str, *, stale: str | None = None, **bounds: Any) -> Any:  # noqa: A002
    """A field with its help text, its bounds and what a change of it makes stale."""
    return Field(default, description=help, json_schema_extra={"stale": stale}, **bounds)


def home_folder() -> Path:
    """The folder that holds all of the owner's data: ``EMILY_HOME`` or the platform's own.

    Raises:
        SettingError: that cannot be a folder.
    """
    given = os.environ.get("EMILY_HOME")
    return _folder(given or platformdirs.user_data_path("emily", appauthor=False))


def _folder(given: Path | str) -> Path:
    """A home folder as an absolute path; it need not exist, but it must be able to."""
    try:
        if not str(given):
            raise ValueError("it is empty")
        str(given).encode()  # the database and JSON know no other names
        folder = Path(given).expanduser().absolute()
        folder.stat()
    except FileNotFoundError:
        return folder
    except OSError as error:
        reason = error.strerror or str(error)
    except UnicodeEncodeError:
        reason = "its name is not valid UTF-8"
    except (RuntimeError, ValueError) as error:  # no such user; a null character
        reason = str(error)
    else:
        return folder
    raise SettingError(
        f"The home folder {str(given)!r} cannot be used ({reason}). "
        "Choose another with EMILY_HOME or --home."
    )


def _listed(given: Any) -> Any:
    """``it,en`` or ``["it", "en"]``, as an environment variable has it, as a list."""
    if not isinstance(given, str):
        return given
    if given.lstrip().startswith("["):
        try:
            return json.loads(given)
        except ValueError:
            raise ValueError('give it as it,en or as ["it","en"]') from None
    return [part.strip() for part in given.split(",")]


class Settings(BaseSettings):
    """All settings of one home folder, validated. Frozen: load again to change one."""

    model_config = SettingsConfigDict(env_prefix="EMILY_", extra="forbid", frozen=True)

    home: Path = Field(default_factory=home_folder, description="Folder of all data.")
    database_url: Annotated[str | None, BeforeValidator(lambda given: given or None)] = _setting(
        None, "Your own PostgreSQL server with pgvector >= 0.8; unset: the embedded one."
    )
    languages: Annotated[tuple[Language, ...], NoDecode, BeforeValidator(_listed)] = _setting(
        ("it", "en"),
        "Languages of the archive, ISO 639-1 codes.",
        stale="language of chunks, vocabulary",
        min_length=1,
        max_length=12,
    )
    language_confidence: float = _setting(
        0.8,
        "Below this probability a chunk takes its document's language.",
        stale="language of chunks",
        ge=0.0,
        le=1.0,
    )
    chunk_tokens: int = _setting(
        512, "Largest size of a chunk, tokens of the embedder.", stale="chunks", ge=64, le=512
    )
    chunk_overlap: int = _setting(
        50, "Largest overlap of two chunks, tokens of the embedder.", stale="chunks", ge=0, le=200
    )
    embedder: EmbedderBackend = _setting(
        "bundled",
        "What gives passages and questions their vectors; emily models use MODEL changes it.",
        stale="vectors",
    )
    embedder_model: str = _setting(
        "", "Name of that model, or its folder for sentence-transformers.", stale="vectors"
    )
    embedder_url: Annotated[
        Annotated[str, StringConstraints(pattern=r"^https?://[^\s/]")] | None,
        BeforeValidator(lambda given: given or None),
    ] = _setting(None, "Address of its server; unset: http://127.0.0.1:11434 for ollama.")
    embedder_key: SecretStr | None = _setting(None, "Key of that server, where it wants one.")
    embedder_seconds: int = _setting(
        120, "Longest wait for one batch of texts, seconds.", ge=1, le=3600
    )
    embedder_window: int | None = _setting(
        None,
        "Most tokens that model reads of one text; unset: what is known of it, else 512.",
        ge=64,
        le=1_000_000,
    )
    embedder_dimension: int | None = _setting(
        None,
        "Dimension of its vectors; needed for a model that is not known by name.",
        ge=8,
        le=4000,
    )
    ocr: bool = _setting(True, "Read scanned pages and images by OCR.", stale="scanned pages")
    ocr_engine: OcrEngine = _setting(
        "rapidocr", "What reads them: rapidocr (bundled), tesseract, apple (macOS, with an extra)."
    )
    vision: VisionApi = _setting(
        "none", "Server of a vision model for what OCR cannot read: none, ollama, openai."
    )
    vision_url: Annotated[str, StringConstraints(pattern=r"^https?://[^\s/]")] = _setting(
        "http://127.0.0.1:11434", "Address of that server."
    )
    vision_model: Annotated[str, StringConstraints(min_length=1)] = _setting(
        "qwen3-vl:8b-instruct", "Vision model to ask for."
    )
    vision_key: SecretStr | None = _setting(None, "Key of that server, where it wants one.")
    vision_seconds: int = _setting(120, "Longest wait for one picture, seconds.", ge=1, le=3600)
    vision_tokens: int = _setting(1500, "Longest answer of the vision model.", ge=64, le=16_384)
    allowed_servers: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_listed)] = _setting(
        (), "Names of servers elsewhere that may be sent what you keep; others are refused."
    )
    reading_seconds: int = _setting(600, "Longest time to read one file, seconds.", ge=5, le=86_400)
    reading_memory_mb: int = _setting(
        3072, "Most memory that reading one file may take, MiB.", ge=512, le=65_536
    )
    reading_file_mb: int = _setting(512, "Largest file that is read, MiB.", ge=1, le=65_536)
    document_characters: int = _setting(
        10_000_000, "Longest text of a document, characters.", ge=1000, le=1_000_000_000
    )
    preset: PresetName = _setting(
        "default", "What a search does; the settings below stand above it where they are set."
    )
    index_for: Annotated[tuple[PresetName, ...], NoDecode, BeforeValidator(_listed)] = _setting(
        (),
        "Presets that the index is to serve beside the one that is set; archive needs more of it.",
        stale="stems, vectors of whole chunks",
    )
    arm_size: int = _setting(20, "Candidates that each arm brings.", ge=1, le=1000)
    pool_size: int = _setting(20, "Candidates that go to the second stage.", ge=1, le=1000)
    lexical_score: LexicalScore = _setting(
        "bm25", "Score of the lexical arm: bm25, or lexemes (count of distinct terms matched)."
    )
    neighbours: bool = _setting(
        True, "Search each word of a query also as its neighbours in the other languages."
    )
    fusion: Fusion = _setting(
        "sum",
        "How arms are joined: sum (of scores), rrf (of ranks), interleave (two places for "
        "meaning, one for words).",
    )
    threshold: float = _setting(
        0.05, "Least probability that a passage must have to be shown.", ge=0.0, le=1.0
    )
    reranker: RerankerName = _setting(
        "none",
        "Cross-encoder that orders the candidates anew: none, qwen3, cross-encoder, http.",
    )
    reranker_model: Annotated[str, StringConstraints(min_length=1)] | None = _setting(
        None,
        "Its folder, or its name on the Hugging Face hub or for the server; unset: see "
        "docs/models.md.",
    )
    reranker_download: bool = _setting(
        False, "Fetch a reranker that is not on this machine from the Hugging Face hub."
    )
    reranker_url: Annotated[str, StringConstraints(pattern=r"^https?://[^\s/]")] = _setting(
        "http://127.0.0.1:8080", "Address of a reranker's server, up to /rerank."
    )
    reranker_api: RerankerApi = _setting(
        "tei", "How that server speaks: tei (text-embeddings-inference), jina (Cohere, vLLM)."
    )
    reranker_key: SecretStr | None = _setting(None, "Key of that server, where it wants one.")
    reranker_scores: RerankerScores = _setting(
        "auto", "What a reranker's scores are: auto (as its kind has it), probabilities, raw."
    )
    reranker_candidates: int = _setting(
        20, "Most candidates that a reranker looks at; the others stand below.", ge=1, le=1000
    )
    reranker_tokens: int = _setting(
        1024, "Longest pair for a reranker, tokens; a longer passage is cut.", ge=256, le=32_768
    )
    reranker_seconds: int = _setting(
        30, "Longest time a reranker may take for one search, seconds.", ge=1, le=3600
    )
    result_limit: int = _setting(5, "Chunks chosen before grouping by document.", ge=1, le=100)
    widen: int = _setting(1, "Chunks by which a passage is widened on each side.", ge=0, le=5)
    ask_pool_size: int = _setting(60, "Candidates of a question to one document.", ge=1, le=1000)
    query_log: bool = _setting(
        True, "Keep your questions, with how each was answered, for emily doctor and emily eval."
    )
    query_log_days: int = _setting(365, "Days for which a question is kept.", ge=1, le=3650)
    query_log_size: int = _setting(
        10_000, "Most questions that are kept; older ones go first.", ge=100, le=1_000_000
    )
    threads: int = _setting(2, "CPU threads that a model may use.", ge=1, le=64)
    search_memory_mb: int = _setting(
        512,
        "Most memory for a copy of the index that makes searches fast, MiB; 0: ask the database.",
        ge=0,
        le=65_536,
    )
    vector_index: VectorIndex = _setting(
        "auto",
        "How vectors are searched: exact, signs (their signs first, may miss some), auto by size.",
    )

    def serves(self, preset: PresetName) -> bool:
        """Whether the index is to hold what this preset looks in."""
        return preset == self.preset or preset in self.index_for

    @model_validator(mode="after")
    def _overlap_fits(self) -> Self:
        if 2 * self.chunk_overlap >= self.chunk_tokens:
            raise ValueError(
                f"Setting 'chunk_overlap' is {self.chunk_overlap}: it must be less than half of "
                f"'chunk_tokens', which is {self.chunk_tokens}"
            )
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the base class's signature
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - as above
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments, then environment, then ``settings.toml`` of the home folder."""
        home = init_settings().get("home") or home_folder()
        file = TomlConfigSettingsSource(settings_cls, _file(Path(home)))
        return init_settings, env_settings, file


def _file(home: Path) -> Path:
    """The ``settings.toml`` of a home folder: a file, or not there."""
    path = home / "settings.toml"
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise SettingError(f"{path} is not a file. Put a file in its place, or remove it.")
    except (FileNotFoundError, NotADirectoryError):
        pass  # no settings; a home that is no folder is told of when it is opened
    except OSError as error:
        raise SettingError(f"{path} cannot be read: {error.strerror}") from None
    return path


def private_folder(folder: Path) -> Path:
    """Create a folder and what is missing above it, open to the owner alone.

    Raises:
        SettingError: it cannot be created, or something else has its name.
    """
    try:
        for part in (*reversed(folder.parents), folder):
            if not part.exists():
                part.mkdir(mode=0o700, exist_ok=True)
        if not folder.is_dir():
            raise NotADirectoryError(20, "There is a file of that name")
    except OSError as error:
        raise SettingError(
            f"The folder {folder} cannot be used ({error.strerror}). "
            "Choose another with EMILY_HOME or --home."
        ) from None
    return folder


def load_settings(home: Path | str | None = None, **values: Any) -> Settings:
    """Read the settings of a home folder.

    Args:
        home: the folder; ``None`` takes ``EMILY_HOME`` or the platform's data folder.
        values: settings that override environment and file.

    Raises:
        SettingError: a value is outside its bounds, a name does not exist, ``settings.toml``
            is not a file of valid TOML, or ``home`` cannot be a folder.
    """
    folder = values["home"] = home_folder() if home is None else _folder(home)
    try:
        return Settings(**values)
    except ValidationError as error:
        raise SettingError(_explain(error)) from None
    except OSError as error:
        raise SettingError(f"{folder}/settings.toml cannot be read: {error.strerror}") from None
    except ValueError as error:  # tomllib.TOMLDecodeError and undecodable bytes
        raise SettingError(f"{folder}/settings.toml cannot be read: {error}") from None


def _bounds(name: str) -> str:
    """The values a number may have, as a sentence; nothing for other settings."""
    field = Settings.model_fields.get(name.partition(".")[0])
    found = {
        key: getattr(item, key)
        for item in (field.metadata if field else ())
        for key in ("ge", "le")
        if hasattr(item, key)
    }
    return f" Allowed: {found['ge']} to {found['le']}." if len(found) == 2 else ""


def _explain(error: ValidationError) -> str:
    lines = []
    for item in error.errors():
        name = ".".join(str(part) for part in item["loc"])
        if item["type"] == "extra_forbidden":
            known = ", ".join(sorted(Settings.model_fields))
            lines.append(f"Setting '{name}' does not exist. Settings: {known}")
        elif not name:  # of several settings together
            lines.append(f"{item['msg'].removeprefix('Value error, ')}.")
        else:
            message = item["msg"].removeprefix("Value error, ")
            variable = f"EMILY_{name.partition('.')[0].upper()}"
            origin = f" It comes from {variable}." if variable in os.environ else ""
            lines.append(
                f"Setting '{name}' is {item['input']!r}: {message}.{_bounds(name)}{origin}"
            )
    return "\n".join(lines)
