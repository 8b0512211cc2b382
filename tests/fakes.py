"""Stand-ins that pass the contract of the real thing, and the real embedder, loaded once."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from emily.errors import ModelError, ModelUnavailable
from emily.models import Judgement, ModelIdentity, UseEmbedder
from emily.models.protocols import Matrix, PartVectors
from emily.models.rerankers.judging import by_probability
from emily.models.vectors import checked

_DIMENSION = 64


@cache
def bundled_embedder() -> UseEmbedder:
    """The embedder that comes with the install; one for all tests, for it loads for a second."""
    return UseEmbedder(threads=2)


class WordsEmbedder:
    """A bag of hashed words: texts are near each other as far as they share words.

    Attributes:
        down: whether it cannot be loaded.
        broken: for texts that hold one of these strings it returns NaN.
        calls: texts that were embedded as parts, to see what was embedded again.
    """

    max_tokens = 512
    reserved = 2

    def __init__(self, name: str = "words", *, dimension: int = _DIMENSION) -> None:
        self.identity = ModelIdentity(name, "1", dimension)
        self.words_identity = self.identity
        self.down = False
        self.broken: set[str] = set()
        self.calls: list[str] = []

    def count(self, text: str) -> int:
        self._load()
        return max(1, len(text.split()))

    def embed_queries(self, queries: Sequence[str]) -> Matrix:
        return self._embed(queries)

    def embed_words(self, words: Sequence[str]) -> Matrix:
        return self._embed(words)

    def rarity(self, words: Sequence[str]) -> NDArray[np.float32]:
        self._load()
        return np.array([2.0 * len(word) for word in words], dtype=np.float32)

    def embed_parts(self, parts: Sequence[Sequence[str]]) -> list[PartVectors]:
        self.calls += [" ".join(part) for part in parts]
        return [PartVectors(self._embed([" ".join(part)])[0], self._embed(part)) for part in parts]

    def _load(self) -> None:
        if self.down:
            raise ModelUnavailable(f"The embedder {self.identity.name} is not there.")

    def _embed(self, texts: Sequence[str]) -> Matrix:
        self._load()
        vectors = np.empty((len(texts), self.identity.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            words = text.split() or [""]
            total = np.sum([_word_vector(word, self.identity.dimension) for word in words], axis=0)
            vectors[row] = total / np.linalg.norm(total)
            if any(mark in text for mark in self.broken):
                vectors[row] = np.nan
        return checked(vectors, texts, self.identity)


class WordsReranker:
    """The share of a question's words that a passage has, in any of the golden languages.

    Attributes:
        fails: raised instead of an answer.
        orders_only: whether it keeps its probabilities to itself.
        warnings: what it admits that it cannot do.
        asked: question and passages of each call.
    """

    name = "words"

    def __init__(self) -> None:
        self.fails: ModelError | None = None
        self.orders_only = False
        self.warnings: tuple[str, ...] = ()
        self.asked: list[tuple[str, list[str]]] = []

    async def prepare(self) -> None:
        if self.fails is not None:
            raise self.fails

    async def rank(self, query: str, passages: Sequence[str]) -> Judgement:
        await self.prepare()
        self.asked.append((query, list(passages)))
        shortened = [passage[:4000] for passage in passages]
        cut = sum(len(passage) > 4000 for passage in passages)
        scores = [shared_words(query, passage) for passage in shortened]
        found = by_probability(self.name, scores, len(passages), cut)
        return replace(found, probabilities=None) if self.orders_only else found

    def close(self) -> None: ...


_SUBJECTS = ("rice riso", "ferry traghetto")


def shared_words(query: str, passage: str) -> float:
    """Share of the question's words that stand in the passage; 1 for one on the same subject."""
    asked, said = (set(re.findall(r"\w+", text.lower())) for text in (query, passage))
    for subject in _SUBJECTS:
        if asked & set(subject.split()) and said & set(subject.split()):
            return 1.0
    return len(asked & said) / len(asked) if asked else 0.0


@lru_cache(maxsize=65_536)
def _word_vector(word: str, dimension: int) -> NDArray[np.float64]:
    letters = word.strip(".,;:!?()\"'").lower().encode("utf-8", "replace")
    seed = int.from_bytes(hashlib.blake2b(letters, digest_size=8).digest())
    return np.random.default_rng(seed).standard_normal(dimension)
