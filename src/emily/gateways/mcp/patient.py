"""An embedder that is not waited for longer than a client would wait."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from emily.errors import EmilyError, ModelUnavailable
from emily.models.protocols import Embedder, Matrix, ModelIdentity, PartVectors

__all__ = ["PatientEmbedder"]


class PatientEmbedder:
    """Loads its model on a thread of its own; a question that finds it cold waits a while.

    After that the question is answered by words alone, as where an embedder is down.
    """

    def __init__(self, inner: Embedder, seconds: float) -> None:
        """Begin to load.

        Args:
            inner: the embedder.
            seconds: longest wait of a question for a model that is still being loaded.
        """
        self._inner = inner
        self._seconds = seconds
        self._loaded = threading.Event()
        threading.Thread(target=self._load, name="warm", daemon=True).start()

    def _load(self) -> None:
        with suppress(EmilyError):  # whoever uses it gets the error
            self._inner.embed_queries(["."])
        self._loaded.set()

    def _wait(self) -> None:
        if not self._loaded.wait(self._seconds):
            raise ModelUnavailable(
                f"it is still being loaded, and was waited for {self._seconds:g} s. "
                "Ask again in a moment."
            )

    @property
    def identity(self) -> ModelIdentity:
        """Of the embedder."""
        return self._inner.identity

    @property
    def words_identity(self) -> ModelIdentity:
        """Of the model of single words."""
        return self._inner.words_identity

    @property
    def max_tokens(self) -> int:
        """Longest input."""
        return self._inner.max_tokens

    @property
    def reserved(self) -> int:
        """Tokens that are taken."""
        return self._inner.reserved

    def count(self, text: str) -> int:
        """Tokens of a text."""
        return self._inner.count(text)

    def embed_queries(self, queries: Sequence[str]) -> Matrix:
        """Vectors of questions."""
        self._wait()
        return self._inner.embed_queries(queries)

    def embed_words(self, words: Sequence[str]) -> Matrix:
        """Vectors of single words."""
        self._wait()
        return self._inner.embed_words(words)

    def rarity(self, words: Sequence[str]) -> NDArray[np.float32]:
        """How rare words are."""
        return self._inner.rarity(words)

    def embed_parts(self, parts: Sequence[Sequence[str]]) -> list[PartVectors]:
        """Vectors of parts of a chunk."""
        return self._inner.embed_parts(parts)

    def close(self) -> None:
        """Close the connections of a server's embedder."""
        close = getattr(self._inner, "close", None)
        if close is not None:
            close()
