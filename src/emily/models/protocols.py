"""One protocol per role that a model can play; a backend is any class that keeps to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "ChatAnswer",
    "ChatModel",
    "Embedder",
    "Judgement",
    "Matrix",
    "ModelIdentity",
    "PartVectors",
    "Reranker",
    "VisionModel",
]

Matrix = NDArray[np.float32]
"""Rows are vectors of length 1 (L2), columns are dimensions."""


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """What is kept with every vector, so that two models are never compared.

    Attributes:
        name: the model, e.g. ``use-multilingual-v3``.
        profile: how it is used (prefixes, pooling, version of that usage).
        dimension: length of a vector.
    """

    name: str
    profile: str
    dimension: int

    @property
    def parameters(self) -> dict[str, str | int]:
        """What statements that look for a model's rows are given."""
        return {"model": self.name, "profile": self.profile, "dimension": self.dimension}

    def __str__(self) -> str:
        return f"{self.name}/{self.profile} ({self.dimension} dimensions)"


@dataclass(frozen=True, slots=True)
class PartVectors:
    """Vectors of one part of a chunk.

    Attributes:
        part: ``(dimension,)``, the part as a whole.
        sentences: ``(n_sentences, dimension)``, each sentence as it stands in the part.
    """

    part: NDArray[np.float32]
    sentences: Matrix


@runtime_checkable
class Embedder(Protocol):
    """Turns text into vectors whose dot product is cosine similarity.

    Every method may load the model and raises ``ModelUnavailable`` where that fails and
    ``VectorError`` where a vector is not finite or zero. Methods are safe to call from
    several threads.
    """

    @property
    def identity(self) -> ModelIdentity:
        """Name, profile and dimension; known without loading the model."""
        ...

    @property
    def words_identity(self) -> ModelIdentity:
        """The model behind ``embed_words``; a server's model leaves words to the bundled one."""
        ...

    @property
    def max_tokens(self) -> int:
        """Longest input in tokens, markers included."""
        ...

    @property
    def reserved(self) -> int:
        """Tokens that markers and prefixes take of ``max_tokens``."""
        ...

    def count(self, text: str) -> int:
        """Tokens of ``text`` without markers, at least one.

        Additive over words parted by white space; what is not seen, such as a zero-width
        space, counts when alone and may not count beside words, so that sums are a bound.
        """
        ...

    def embed_queries(self, queries: Sequence[str]) -> Matrix:
        """Vectors of questions, ``(n, dimension)``."""
        ...

    def embed_words(self, words: Sequence[str]) -> Matrix:
        """Vectors of single words of the vocabulary, ``(n, words_identity.dimension)``."""
        ...

    def rarity(self, words: Sequence[str]) -> NDArray[np.float32]:
        """How rare each word is in the language at large, ``(n,)``, in nats; never changes."""
        ...

    def embed_parts(self, parts: Sequence[Sequence[str]]) -> list[PartVectors]:
        """Vectors of parts, each given as its sentences in order (at least one)."""
        ...


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a reranker makes of a question's passages.

    Attributes:
        order: positions of the passages as they were given, from 0, best first.
        probabilities: ``(n,)``, that each passage helps to answer, 0 to 1, by position;
            ``None`` where the reranker gives an order and nothing else.
        cut: passages of which the end was left out because they are too long.
    """

    order: tuple[int, ...]
    probabilities: tuple[float, ...] | None
    cut: int = 0


@runtime_checkable
class Reranker(Protocol):
    """A cross-encoder: reads a question and a passage together, one pair at a time."""

    @property
    def name(self) -> str:
        """The model and where it runs, as notices and traces show it."""
        ...

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the golden pairs showed that it cannot do, since it was prepared."""
        ...

    async def prepare(self) -> None:
        """Load the model, or reach its server, and put the golden pairs to it.

        Raises:
            ModelUnavailable: it cannot be loaded or reached, or fails the golden pairs.
            ModelError: it took too long, or its answer cannot be used.
        """
        ...

    async def rank(self, query: str, passages: Sequence[str]) -> Judgement:
        """Judge passages; prepares first where that has not been done.

        Raises:
            ModelUnavailable, ModelError: as ``prepare``.
            QuestionTooLong: the question leaves no room for a passage.
        """
        ...

    def close(self) -> None:
        """Give back the memory; it may be asked again."""
        ...


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """What a chat model answered.

    Attributes:
        text: its answer, without what it thought aloud.
        whole: whether it came to an end by itself; ``False`` where its cap cut it off.
        prompt_tokens: how many it read, by its server; ``None`` where that does not say.
        answer_tokens: how many it wrote, likewise.
    """

    text: str
    whole: bool
    prompt_tokens: int | None = None
    answer_tokens: int | None = None


@runtime_checkable
class ChatModel(Protocol):
    """Writes text as it is told: summaries, descriptions."""

    @property
    def name(self) -> str:
        """The model and where it runs, as messages show it."""
        ...

    @property
    def model(self) -> str:
        """The model alone, as a fingerprint keeps it."""
        ...

    @property
    def context(self) -> int:
        """Tokens that prompt and answer may have together."""
        ...

    async def chat(
        self, system: str, prompt: str, *, tokens: int, schema: Mapping[str, Any] | None = None
    ) -> ChatAnswer:
        """Answer one prompt.

        Args:
            system: the instructions, first and the same in every call to the byte, so that the
                server need not read them anew.
            prompt: what is asked; text of documents in it stands inside the wrapper.
            tokens: longest answer.
            schema: JSON schema that the answer is to follow. Servers are known to ignore it:
                the caller checks.

        Raises:
            ModelUnavailable: the server cannot be reached, went away, refuses, or does not have
                the model.
            AnswerError: the answer is of no use: it repeats itself or does not end, is empty,
                cannot be understood, or the server read only a part of the prompt.
            ModelError: it took too long.
        """
        ...

    async def describe(self) -> str:
        """What the server says of itself and of the model.

        Raises:
            ModelUnavailable: it cannot be reached, or does not have the model.
        """
        ...


@runtime_checkable
class VisionModel(Protocol):
    """Reads pictures that OCR cannot."""

    @property
    def name(self) -> str:
        """The model's name and where it runs, as warnings show it."""
        ...

    async def read(self, image: bytes) -> str:
        """What a picture shows: its text word for word, else what it depicts.

        Args:
            image: a PNG or JPEG file.

        Raises:
            ModelUnavailable: the server cannot be reached, or does not have the model.
            ModelError: it took too long, or repeated itself.
        """
        ...
