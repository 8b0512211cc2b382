"""Every setting once: its name, type, default, bounds and what a change makes stale.

A value comes from, in this order: an argument, an environment variable ``EMILY_<NAME>``, a row
of the database (``emily config set``), the file ``settings.toml`` in ``EMILY_HOME``, the default
below. ``load_settings`` knows no database; who has opened one adds its rows by ``with_rows``.
"""

from __future__ import annotations

import difflib
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import platformdirs
from pydantic import (
    BeforeValidator,
    Field,
    PrivateAttr,
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
    "ChatApi",
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
    "kept_in_file",
    "load_settings",
    "no_such_setting",
    "private_folder",
]

Language = Annotated[str, StringConstraints(pattern=r"^[a-z]{2}$")]
LexicalScore = Literal["bm25", "lexemes"]
Fusion = Literal["sum", "rrf", "interleave"]
PresetName = Literal["default", "archive", "vault"]
OcrEngine = Literal["rapidocr", "tesseract", "apple"]
VisionApi = Literal["none", "ollama", "openai"]
ChatApi = Literal["none", "ollama", "openai"]
EmbedderBackend = Literal["bundled", "ollama", "openai", "sentence-transformers"]
RerankerName = Literal["none", "qwen3", "cross-encoder", "http"]
RerankerApi = Literal["tei", "jina"]
RerankerScores = Literal["auto", "probabilities", "raw"]
VectorIndex = Literal["auto", "exact", "signs"]


_BY_MODELS = "emily models use MODEL changes it, for the vectors must follow"
_OF_MACHINE = "it is this machine's own, and another one may use the same database"
_BEFORE_OPENING = "the MCP server answers before it has opened the database"
_CONSENT = "what may leave this machine is said on this machine"


def _setting(
    default: Any,
    help: str,  # noqa: A002
    *,
    stale: str | None = None,
    file_only: str | None = None,
    **bounds: Any,
) -> Any:
    """A field with its help text and its bounds.

    Args:
        default: its value where nothing is set.
        help: what it is for.
        stale: what a change of it makes stale.
        file_only: why it has no row in the database; ``None`` where it may have one.
        bounds: of its values.
    """
    extra: dict[str, Any] = {"stale": stale, "file_only": file_only}
    return Field(default, description=help, json_schema_extra=extra, **bounds)


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
        None,
        "Your own PostgreSQL server with pgvector >= 0.8; unset: the embedded one.",
        file_only="it says where the database is",
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
        file_only=_BY_MODELS,
    )
    embedder_model: str = _setting(
        "",
        "Name of that model, or its folder for sentence-transformers.",
        stale="vectors",
        file_only=_BY_MODELS,
    )
    embedder_url: Annotated[
        Annotated[str, StringConstraints(pattern=r"^https?://[^\s/]")] | None,
        BeforeValidator(lambda given: given or None),
    ] = _setting(
        None,
        "Address of its server; unset: http://127.0.0.1:11434 for ollama.",
        file_only=_BY_MODELS,
    )
    embedder_key: SecretStr | None = _setting(None, "Key of that server, where it wants one.")
    embedder_seconds: int = _setting(
        120,
        "Longest wait for one batch of texts, seconds.",
        file_only=_BY_MODELS,
        ge=1,
        le=3600,
    )
    embedder_window: int | None = _setting(
        None,
        "Most tokens that model reads of one text; unset: what is known of it, else 512.",
        file_only=_BY_MODELS,
        ge=64,
        le=1_000_000,
    )
    embedder_dimension: int | None = _setting(
        None,
        "Dimension of its vectors; needed for a model that is not known by name.",
        file_only=_BY_MODELS,
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
    chat: ChatApi = _setting(
        "none",
        "Server of a chat model for summaries: none (sentences of the document), ollama, openai.",
        stale="summaries",
    )
    chat_url: Annotated[str, StringConstraints(pattern=r"^https?://[^\s/]")] = _setting(
        "http://127.0.0.1:11434", "Address of that server."
    )
    chat_model: Annotated[str, StringConstraints(min_length=1)] = _setting(
        "qwen3-vl:8b-instruct", "Chat model to ask for.", stale="summaries"
    )
    chat_key: SecretStr | None = _setting(None, "Key of that server, where it wants one.")
    chat_seconds: int = _setting(600, "Longest wait for one answer, seconds.", ge=1, le=7200)
    chat_context: int = _setting(
        8192, "Tokens that the chat model reads at once.", stale="summaries", ge=2048, le=1_000_000
    )
    chat_minutes: int = _setting(
        30, "Minutes that a chat model stays loaded after its last answer.", ge=1, le=1440
    )
    embedder_minutes: int = _setting(
        15, "Minutes that an embedder's server keeps it loaded after its last use.", ge=1, le=1440
    )
    reranker_minutes: int = _setting(
        30, "Minutes that a reranker stays loaded after its last use.", ge=1, le=1440
    )
    summary_group_words: int = _setting(
        200, "Words that a summary of one group of a text has.", stale="summaries", ge=50, le=1000
    )
    summary_words: int = _setting(
        400, "Words that a summary of several groups has.", stale="summaries", ge=50, le=2000
    )
    description_tokens: int = _setting(
        300, "Longest description, tokens.", stale="descriptions", ge=50, le=1000
    )
    description_characters: int = _setting(
        60,
        "A chat model's description that is shorter is asked for again, characters.",
        stale="descriptions",
        ge=1,
        le=400,
    )
    category_bar: float = _setting(
        0.3,
        "Least probability of a category that is chosen by likeness.",
        stale="categories",
        ge=0.0,
        le=1.0,
    )
    memory_budget_mb: int | None = _setting(
        None, "Memory that all processes of Emily's may take, MiB; status --memory warns.", ge=256
    )
    vision_calls: int = _setting(
        50, "Most calls of the vision model for one file.", ge=0, le=10_000
    )
    scanned_pages: int = _setting(
        2_000, "Most scanned pages of one file that are read by OCR.", ge=0, le=100_000
    )
    picture_side: int = _setting(
        64,
        "Shorter side below which a picture inside a document is passed over, pixels.",
        ge=16,
        le=10_000,
    )
    allowed_servers: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_listed)] = _setting(
        (),
        "Names of servers elsewhere that may be sent what you keep; others are refused.",
        file_only=_CONSENT,
    )
    writable_folders: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_listed)] = _setting(
        (),
        "Folders into which a model may ask to write new files; each waits for emily approvals.",
        file_only=_CONSENT,
    )
    approval_hours: int = _setting(
        72, "Hours for which what a model asks for waits for your decision.", ge=1, le=8760
    )
    decide_by_socket: bool = _setting(
        False,
        "Whether programs of yours on the socket of emily serve may decide approvals for you.",
        file_only=_CONSENT,
    )
    claude_model: str = _setting(
        "", "Model of emily chat, such as claude-sonnet-5; empty: the runtime's own choice."
    )
    claude_key: SecretStr | None = _setting(
        None, "Key of Anthropic for emily chat; unset: ANTHROPIC_API_KEY of the environment."
    )
    claude_turns: int = _setting(
        12, "Most rounds of tools before emily chat must answer.", ge=1, le=100
    )
    persona: str = _setting(
        "", "File that says who Emily is in a conversation; empty: persona.md of the home folder."
    )
    local_clients: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_listed)] = _setting(
        (),
        "Names of MCP clients that run a model of this machine and may be sent private documents.",
        file_only=_CONSENT,
    )
    mcp_search: str = _setting(
        "",
        "What a model is told of the tool search_knowledge; empty: the built-in text.",
        file_only=_BEFORE_OPENING,
    )
    mcp_document: str = _setting(
        "",
        "What a model is told of the tool get_document; empty: the built-in text.",
        file_only=_BEFORE_OPENING,
    )
    mcp_memory: str = _setting(
        "",
        "What a model is told of the tool search_memory; empty: the built-in text.",
        file_only=_BEFORE_OPENING,
    )
    mcp_proposal: str = _setting(
        "",
        "What a model is told of the tool propose_memory; empty: the built-in text.",
        file_only=_BEFORE_OPENING,
    )
    memory_extract: bool = _setting(
        True, "Whether the chat model draws facts about you out of what you write in emily chat."
    )
    memory_core_characters: int = _setting(
        4_000,
        "Most characters of the core memories with which a conversation begins.",
        ge=500,
        le=8_000,
    )
    mcp_port: int = _setting(
        0,
        "Port of 127.0.0.1 on which emily serve speaks MCP too, such as 8747; 0: it does not.",
        file_only=_OF_MACHINE,
        ge=0,
        le=65_535,
    )
    mcp_seconds: int = _setting(
        40,
        "Longest time a tool may take before a client gives up on it, seconds.",
        file_only=_BEFORE_OPENING,
        ge=5,
        le=600,
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
    bm25_k1: float = _setting(
        1.2,
        "How much a repeated term counts in BM25, per passage and per document.",
        ge=0.0,
        le=10.0,
    )
    bm25_b: float = _setting(
        0.75, "How much length is held against a passage or document in BM25.", ge=0.0, le=1.0
    )
    link_restart: float = _setting(
        0.5,
        "Links between notes: how readily the walk along them goes back to a match at each step.",
        ge=0.05,
        le=0.95,
    )
    link_damping: float = _setting(
        0.5, "How much notes with many links are held back, 0 (not at all) to 1.", ge=0.0, le=1.0
    )
    link_places: int = _setting(
        3, "Most notes that a search shows for their links alone; 0: none.", ge=0, le=20
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
    ask_threshold_share: float = _setting(
        0.30,
        "Inside one document, the share of the best passage's probability that others must have.",
        ge=0.0,
        le=1.0,
    )
    versions_kept: int = _setting(
        20,
        "Most earlier versions of a document that are kept; the oldest go first.",
        ge=0,
        le=1000,
    )
    editor: str = _setting(
        "",
        "What emily vault open starts: a command, or obsidian; unset: VISUAL, EDITOR, code.",
        file_only=_OF_MACHINE,
    )
    query_log: bool = _setting(
        True, "Keep your questions, with how each was answered, for emily doctor and emily eval."
    )
    query_log_days: int = _setting(365, "Days for which a question is kept.", ge=1, le=3650)
    query_log_size: int = _setting(
        10_000, "Most questions that are kept; older ones go first.", ge=100, le=1_000_000
    )
    worker_concurrency: int = _setting(
        1, "Files that a worker indexes at once; each takes memory and a core.", ge=1, le=16
    )
    watch_rest_seconds: float = _setting(
        2.0, "So long must a watched file keep its size and date before it is read.", ge=0.1, le=600
    )
    watch_poll_seconds: float = _setting(
        30.0,
        "How often watched folders are looked at where the system tells of no changes.",
        ge=1,
        le=86_400,
    )
    threads: int = _setting(
        2, "CPU threads that a model may use.", file_only=_OF_MACHINE, ge=1, le=64
    )
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

    # What was given as an argument or by the environment, which stands above any row.
    _given: frozenset[str] = PrivateAttr(default=frozenset())
    # The values as they were loaded: what a program changed in a copy stands above a row too.
    _loaded: dict[str, Any] = PrivateAttr(default_factory=dict)
    _rows: frozenset[str] = PrivateAttr(default=frozenset())

    @property
    def given(self) -> frozenset[str]:
        """Settings that an argument or the environment gave; no row overrides them."""
        return self._given

    @property
    def from_rows(self) -> frozenset[str]:
        """Settings whose value comes from a row of the database."""
        return self._rows

    def with_rows(self, rows: Mapping[str, Any], *, typed: str | None = None) -> Settings:
        """These settings with the rows of the database above file and defaults.

        Args:
            rows: value by name; those that an argument or the environment gave are passed over.
            typed: the name of one that is no row yet, but what a user just typed.

        Raises:
            SettingError: a row has a name that does not exist or that has no row, or a value out
                of its bounds; the message names the command that takes it out.
        """
        for name in rows:
            if name not in Settings.model_fields:
                raise SettingError(
                    f"The database holds a setting {name!r}, which does not exist in this version "
                    f"of Emily. Take it out with: emily config unset {name}"
                )
            if (reason := kept_in_file(name)) is not None:
                raise SettingError(
                    f"The database holds a setting {name!r}, which is kept in settings.toml: "
                    f"{reason}. Take it out with: emily config unset {name}"
                )
        changed = {name for name in self._loaded if getattr(self, name) != self._loaded[name]}
        taken = {
            name: value
            for name, value in rows.items()
            if name not in self._given and name not in changed
        }
        if not taken:
            return self
        mine = {name: getattr(self, name) for name in self.model_fields_set}
        try:
            found = Settings(**(mine | taken))
        except ValidationError as error:
            told = _explain(error)
            names = ", ".join(
                name for name in sorted(taken) if f"'{name}'" in told and name != typed
            )
            if names:
                told += (
                    f"\nOf these settings, rows of the database give {names}: take one out with "
                    "emily config unset NAME"
                )
            raise SettingError(told) from None
        found._given, found._rows = self._given, frozenset(taken)
        found._loaded = {name: getattr(found, name) for name in Settings.model_fields}
        return found

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
        found = Settings(**values)
        environment = {name.upper() for name in os.environ}
        found._given = frozenset(values) | {
            name for name in Settings.model_fields if f"EMILY_{name.upper()}" in environment
        }
        found._loaded = {name: getattr(found, name) for name in Settings.model_fields}
        return found
    except ValidationError as error:
        raise SettingError(_explain(error, Path(folder) / "settings.toml", values)) from None
    except OSError as error:
        raise SettingError(f"{folder}/settings.toml cannot be read: {error.strerror}") from None
    except ValueError as error:  # tomllib.TOMLDecodeError and undecodable bytes
        raise SettingError(f"{folder}/settings.toml cannot be read: {error}") from None


def kept_in_file(name: str) -> str | None:
    """Why a setting has no row in the database; ``None`` for one that may have one."""
    field = Settings.model_fields[name]
    if name == "home":
        return "it says where the database is"
    if "SecretStr" in str(field.annotation):
        return "it is a secret, which does not belong into a database or its backups"
    extra = field.json_schema_extra
    reason = extra.get("file_only") if isinstance(extra, dict) else None
    return reason if isinstance(reason, str) else None


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


def no_such_setting(name: str) -> str:
    """The sentence on a name that no setting has, with the one that was probably meant."""
    near = difflib.get_close_matches(name.lower(), Settings.model_fields, n=1)
    meant = f" Did you mean {near[0]}?" if near else ""
    return f"Setting {name!r} does not exist.{meant}"


def _origin(name: str, file: Path | None, given: Mapping[str, Any]) -> str:
    """Where a wrong value comes from and how to mend it; nothing for what was just given."""
    name = name.partition(".")[0]
    if name in given:
        return ""
    variable = f"EMILY_{name.upper()}"
    if variable in os.environ:
        return f" It comes from {variable}."
    return "" if file is None else f" It comes from {file}; mend it there."


def _explain(
    error: ValidationError, file: Path | None = None, given: Mapping[str, Any] | None = None
) -> str:
    """What is wrong, a line a setting.

    Args:
        error: of the validation.
        file: the ``settings.toml`` that was read; ``None`` where its values are known as good.
        given: values that stood above it.
    """
    lines = []
    for item in error.errors():
        name = ".".join(str(part) for part in item["loc"])
        if item["type"] == "extra_forbidden":
            lines.append(no_such_setting(name) + _origin(name, file, given or {}))
        elif not name:  # of several settings together
            lines.append(f"{item['msg'].removeprefix('Value error, ')}.")
        else:
            message = item["msg"].removeprefix("Value error, ")
            origin = _origin(name, file, given or {})
            lines.append(
                f"Setting '{name}' is {item['input']!r}: {message}.{_bounds(name)}{origin}"
            )
    return "\n".join(lines)
