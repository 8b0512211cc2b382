"""Search of memories: words and vectors, their scores added.

Words are BM25 over sentence and original, divided by the question's ceiling; vectors are cosines.
Both lie between 0 and 1 for what is worth showing, so they are added as they are, as in search of
documents (docs/decisions/0003).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from emily.indexing.terms import frequencies
from emily.memory.facts import Memory
from emily.models.protocols import Matrix
from emily.vault.bm25 import Collection, rank

__all__ = ["FEWEST", "Found", "found", "hybrid"]

FEWEST = 0.25
"""Cosine below which a memory that shares no word with the question is not shown."""

# Both measured with python -m benchmarks memory; between .5 and 1.5 the weight changes little.
WORDS = 1.0
"""What a whole match of words counts beside a cosine of 1."""


@dataclass(frozen=True, slots=True)
class Found:
    """A memory that a question finds.

    Attributes:
        memory: which one.
        score: what orders them: cosine and share of the words, added.
        cosine: of question and memory; ``None`` where there was no vector.
        words: BM25 as a share of what the question could have, 0 to 1.
    """

    memory: Memory
    score: float
    cosine: float | None
    words: float


def hybrid(
    query: str,
    texts: Sequence[str],
    vectors: Sequence[NDArray[np.float32] | None],
    asked: Matrix | None,
    languages: tuple[str, ...],
    weight: float = WORDS,
) -> list[tuple[int, float, float | None, float]]:
    """Order texts by a question.

    Args:
        query: the question.
        texts: each memory's sentence and original.
        vectors: one for each text, of length 1, or ``None``.
        asked: the question's, ``(1, dimension)``; ``None`` where the embedder is down.
        languages: that are indexed.
        weight: of the words.

    Returns:
        place, score, cosine and share of words, best first; those without any sign are left out.
    """
    words = _words(query, texts, languages)
    rows: list[tuple[int, float, float | None, float]] = []
    for place, vector in enumerate(vectors):
        cosine = None if vector is None or asked is None else float(asked[0] @ vector)
        share = words.get(place, 0.0)
        if share > 0 or (cosine or 0.0) >= FEWEST:
            rows.append((place, max(cosine or 0.0, 0.0) + weight * share, cosine, share))
    return sorted(rows, key=lambda row: (-row[1], -row[0]))  # of two alike the later one


def found(
    memories: Sequence[Memory], rows: Sequence[tuple[int, float, float | None, float]]
) -> list[Found]:
    """The rows of ``hybrid`` with their memories."""
    return [Found(memories[place], score, cosine, words) for place, score, cosine, words in rows]


def _words(query: str, texts: Sequence[str], languages: tuple[str, ...]) -> dict[int, float]:
    asked = set(_terms(query, languages))
    if not asked or not texts:
        return {}
    held = [_terms(text, languages) for text in texts]
    lengths = [sum(terms.values()) for terms in held]
    collection = Collection(len(texts), sum(lengths) / len(lengths))
    postings = {
        term: [(place, terms[term]) for place, terms in enumerate(held) if term in terms]
        for term in asked
    }
    top = collection.most(len(pairs) for pairs in postings.values())
    scores = rank(collection, postings, lengths)
    return {place: min(score / top, 1.0) for place, score in scores.items()} if top else {}


@lru_cache(maxsize=8192)
def _terms(text: str, languages: tuple[str, ...]) -> dict[str, int]:
    return frequencies(text, languages)
