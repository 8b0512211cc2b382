"""Which embedder it is to be: by the settings, or by a name that the owner writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from emily.errors import InputError, ModelUnavailable, SettingError
from emily.models.profiles import profile_of
from emily.models.protocols import ModelIdentity
from emily.models.use import UseEmbedder
from emily.settings import EmbedderBackend

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from emily.models.ollama import OllamaEncoder
    from emily.models.openai_compatible import OpenAiEncoder
    from emily.models.protocols import Embedder, Matrix, PartVectors
    from emily.models.sentence_transformer import SentenceTransformerEncoder
    from emily.settings import Settings

    Encoder = OllamaEncoder | OpenAiEncoder | SentenceTransformerEncoder

__all__ = [
    "EmbedderChoice",
    "chosen_embedder",
    "completed",
    "embedder_of",
    "make_embedder",
    "parse_choice",
    "served_models",
]

BACKENDS: tuple[EmbedderBackend, ...] = get_args(EmbedderBackend)
_OLLAMA = "http://127.0.0.1:11434"


@dataclass(frozen=True, slots=True)
class EmbedderChoice:
    """An embedder, as the settings name it.

    Attributes:
        backend: what runs it.
        model: its name, or its folder; empty for the bundled one.
        url: address of its server; ``None`` where there is none or for Ollama's usual one.
        dimension: of its vectors, where it is known.
        window: tokens that it reads, where the owner says so.
    """

    backend: EmbedderBackend
    model: str = ""
    url: str | None = None
    dimension: int | None = None
    window: int | None = None

    def __str__(self) -> str:
        return self.backend if self.backend == "bundled" else f"{self.backend}/{self.model}"

    @property
    def settings(self) -> dict[str, str | int | None]:
        """The settings that choose it; ``None`` for those that are not to be set."""
        return {
            "embedder": self.backend,
            "embedder_model": self.model or None,
            "embedder_url": self.url,
            "embedder_dimension": self.dimension,
            "embedder_window": self.window,
        }


def chosen_embedder(settings: Settings) -> EmbedderChoice:
    """The embedder that the settings name."""
    return EmbedderChoice(
        settings.embedder,
        "" if settings.embedder == "bundled" else settings.embedder_model,
        settings.embedder_url,
        settings.embedder_dimension,
        settings.embedder_window,
    )


def parse_choice(text: str, settings: Settings, url: str | None = None) -> EmbedderChoice:
    """The embedder that the owner names: ``bundled``, ``BACKEND/MODEL`` or ``MODEL``.

    A model without a backend is one of the backend that is set, else of Ollama; the path of a
    folder is one of sentence-transformers.

    Args:
        text: what was written.
        settings: whose backend, server and window count where nothing else is said.
        url: address of the server, instead of the setting's.

    Raises:
        InputError: it names no embedder.
    """
    name = text.strip()
    if name == "bundled":
        return EmbedderChoice("bundled")
    backend: EmbedderBackend
    head, _, rest = name.partition("/")
    known = {str(item): item for item in BACKENDS}
    if head in known and head != "bundled" and rest:
        backend, name = known[head], rest
    elif name.startswith((".", "~", "/")) and Path(name).expanduser().is_dir():
        backend, name = "sentence-transformers", str(Path(name).expanduser().absolute())
    else:
        backend = settings.embedder if settings.embedder in ("ollama", "openai") else "ollama"
    if not name or name.rstrip("/") in known:
        raise InputError(
            f"{text!r} names no embedder. Write bundled, ollama/MODEL, openai/MODEL, or "
            "sentence-transformers/FOLDER. emily models list shows which there are."
        )
    own = backend == settings.embedder
    same = own and name == settings.embedder_model
    return EmbedderChoice(
        backend,
        name,
        None
        if backend == "sentence-transformers"
        else url or (settings.embedder_url if own else None),
        settings.embedder_dimension if same else None,
        settings.embedder_window if same else None,
    )


def make_embedder(
    settings: Settings, choice: EmbedderChoice | None = None, bundled: Embedder | None = None
) -> Embedder:
    """The embedder of a choice; nothing is loaded or asked yet.

    Args:
        settings: of this home folder.
        choice: ``None`` for what the settings name.
        bundled: the bundled one, if it is made already.

    Raises:
        SettingError: the settings name no model, no server, or no dimension where one is needed.
    """
    chosen = choice or chosen_embedder(settings)
    words = bundled or UseEmbedder(threads=settings.threads, cache=settings.home / "cache")
    if chosen.backend == "bundled":
        return words
    from emily.models.backed import BackedEmbedder
    from emily.models.sentence_transformer import folder_name

    encoder = _encoder(settings, chosen)
    profile = profile_of(chosen.model, window=chosen.window, dimension=chosen.dimension)
    if profile.dimension is None:
        raise SettingError(
            f"The dimension of the vectors of {chosen.model} is not known. Let Emily ask for it: "
            f"emily models use {chosen}; or set embedder_dimension."
        )
    local = chosen.backend == "sentence-transformers"
    name = folder_name(Path(chosen.model)) if local else chosen.model
    return BackedEmbedder(encoder, name, profile, words)


def embedder_of(settings: Settings, bundled: Embedder | None = None) -> Embedder:
    """The embedder that the settings name; where they do not suffice, one that says so when used.

    So a home whose settings are half written can still be opened, listed and mended.
    """
    try:
        return make_embedder(settings, bundled=bundled)
    except SettingError as error:
        words = bundled or UseEmbedder(threads=settings.threads, cache=settings.home / "cache")
        return _UnsetEmbedder(str(chosen_embedder(settings)), str(error), words)


class _UnsetEmbedder:
    """Stands for an embedder that the settings do not describe wholly."""

    def __init__(self, name: str, reason: str, words: Embedder) -> None:
        self.identity = ModelIdentity(name, "unset", 1)
        self.words_identity = words.words_identity
        self.max_tokens = words.max_tokens
        self.reserved = words.reserved
        self._reason = reason
        self._words = words

    def count(self, text: str) -> int:
        """Tokens of the bundled encoder."""
        return self._words.count(text)

    def embed_words(self, words: Sequence[str]) -> Matrix:
        """Vectors of words, by the bundled encoder."""
        return self._words.embed_words(words)

    def rarity(self, words: Sequence[str]) -> NDArray[np.float32]:
        """How rare words are, by the bundled encoder."""
        return self._words.rarity(words)

    def embed_queries(self, queries: Sequence[str]) -> Matrix:  # noqa: ARG002
        """Always refuses, with what the settings lack."""
        raise ModelUnavailable(self._reason)

    def embed_parts(self, parts: Sequence[Sequence[str]]) -> list[PartVectors]:  # noqa: ARG002
        """Always refuses, with what the settings lack."""
        raise ModelUnavailable(self._reason)


def completed(settings: Settings, choice: EmbedderChoice) -> EmbedderChoice:
    """The choice with the dimension of its vectors, asked of what runs it.

    Raises:
        ModelError: it cannot be used; the message says what helps.
        SettingError: as in ``make_embedder``.
    """
    if choice.backend == "bundled" or choice.dimension is not None:
        return choice
    if profile_of(choice.model).dimension is not None:
        return choice
    encoder = _encoder(settings, choice)
    try:
        found = encoder.encode(["."], patient=True).vectors
    except ModelUnavailable:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a backend says of its first text
        raise ModelUnavailable(f"The embedder {encoder.name} cannot be used: {error}") from None
    finally:
        encoder.close()
    return replace(choice, dimension=int(found.shape[1]))


def served_models(settings: Settings, url: str | None = None) -> tuple[str, dict[str, str]]:
    """The address of Ollama, and names with digests of its models that embed.

    Raises:
        ModelUnavailable: it cannot be reached.
    """
    from emily.models.ollama import OllamaEncoder

    own = settings.embedder_url if settings.embedder == "ollama" else None
    address = url or own or _OLLAMA
    server = OllamaEncoder(address, "", allowed=settings.allowed_servers)
    try:
        return address, server.models()
    finally:
        server.close()


def _encoder(settings: Settings, choice: EmbedderChoice) -> Encoder:
    if not choice.model:
        raise SettingError(
            f"Setting 'embedder' is {choice.backend!r} and 'embedder_model' is not set. "
            "Choose a model with: emily models use MODEL"
        )
    if choice.backend == "sentence-transformers":
        from emily.models.sentence_transformer import SentenceTransformerEncoder

        return SentenceTransformerEncoder(Path(choice.model), threads=settings.threads)
    key = None if settings.embedder_key is None else settings.embedder_key.get_secret_value()
    allowed: Sequence[str] = settings.allowed_servers
    seconds = float(settings.embedder_seconds)
    if choice.backend == "ollama":
        from emily.models.ollama import OllamaEncoder

        window = profile_of(choice.model, window=choice.window).window
        return OllamaEncoder(
            choice.url or _OLLAMA,
            choice.model,
            context=window,
            minutes=float(settings.embedder_minutes),
            seconds=seconds,
            allowed=allowed,
            key=key,
        )
    if choice.url is None:
        raise SettingError(
            "Setting 'embedder' is 'openai' and 'embedder_url' is not set. Set the address of its "
            "server, or give it: emily models use openai/MODEL --url URL"
        )
    from emily.models.openai_compatible import OpenAiEncoder

    return OpenAiEncoder(choice.url, choice.model, seconds=seconds, allowed=allowed, key=key)
