"""The archive's words with their vectors, held in memory, and their nearest to a query's.

A word of the query is also looked for as its neighbours in the archive's other languages.
They come from the embedder's own vectors of single words: *schermo* is near *screen*, *tasto*
near *key*. On the development sets this is the largest single gain for questions in another
language than their document (docs/decisions/0003).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emily.indexing.terms import prefix
from emily.models.protocols import ModelIdentity
from emily.store import Database

__all__ = ["Affinity", "Neighbour", "Vocabulary", "find_neighbours"]

# Measured on the development sets; .5 to .7 for the first make no difference.
OTHER_LANGUAGE_COSINE = 0.6
OTHER_LANGUAGE_WEIGHT = 0.8
MOST_OTHER = 6
SAME_LANGUAGE_COSINE = 0.75
SAME_LANGUAGE_WEIGHT = 0.6
MOST_SAME = 3


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A word of the archive that a query word is also looked for as."""

    surface: str
    language: str
    term: str
    cosine: float
    weight: float


@dataclass(frozen=True, slots=True)
class Words:
    """The vocabulary at one moment; arrays run in parallel, ids ascend.

    Attributes:
        ids: ``(n,)`` ids in the store.
        surfaces: the words.
        languages: the language of each.
        terms: the term of each in the lexical arm.
        vectors: ``(n, dimension)``.
    """

    ids: NDArray[np.int64]
    surfaces: NDArray[np.object_]
    languages: NDArray[np.object_]
    terms: NDArray[np.object_]
    vectors: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Affinity:
    """How well each word of the vocabulary stands for each word of a query.

    Attributes:
        words: the vocabulary it was computed on.
        cosine: ``(n_query_words, n)``.
        match: the same shape; 1 for the same term, the weighed cosine for a neighbour in
            meaning, else 0.
    """

    words: Words
    cosine: NDArray[np.float32]
    match: NDArray[np.float32]

    def of_chunk(self, word_ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """For each query word the best match among a chunk's words, ``(n_query_words,)``."""
        rows = np.searchsorted(self.words.ids, word_ids)
        rows = rows[rows < len(self.words.ids)]
        if not len(rows):
            return np.zeros(len(self.match), dtype=np.float32)
        best: NDArray[np.float32] = self.match[:, rows].max(axis=1)
        return best


class Vocabulary:
    """Keeps the words of the archive in memory and takes in new ones as they come."""

    def __init__(self, database: Database, model: ModelIdentity) -> None:
        self._database = database
        self._model = model
        self._lock = asyncio.Lock()
        self._revision = -1
        self._words = Words(
            ids=np.empty(0, np.int64),
            surfaces=np.empty(0, object),
            languages=np.empty(0, object),
            terms=np.empty(0, object),
            vectors=np.empty((0, model.dimension), np.float32),
        )

    async def at(self, revision: int) -> Words:
        """The words as they were at a revision of the archive or later.

        Words of removed documents may linger until the process ends; no posting holds them,
        so they find nothing.
        """
        async with self._lock:
            if revision != self._revision:
                last = int(self._words.ids[-1]) if len(self._words.ids) else 0
                parameters = {
                    "last": last,
                    **self._model.parameters,
                }
                rows = await self._database.fetch("vocabulary_since", parameters)
                if rows:
                    self._words = await asyncio.to_thread(_extended, self._words, rows)
                self._revision = revision
            return self._words


def affinity(
    words: Words, query_words: Sequence[str], query_vectors: NDArray[np.float32]
) -> Affinity:
    """Compare the words of a query, ``(m, dimension)``, with the whole vocabulary."""
    cosine: NDArray[np.float32] = query_vectors @ words.vectors.T
    match = np.where(cosine >= OTHER_LANGUAGE_COSINE, OTHER_LANGUAGE_WEIGHT * cosine, 0.0)
    for row, word in enumerate(query_words):
        match[row, words.terms == prefix(word)] = 1.0
    return Affinity(words, cosine, match.astype(np.float32))


def find_neighbours(
    found: Affinity, row: int, own_term: str, language: str | None
) -> list[Neighbour]:
    """The neighbours of one query word, nearest first, no term twice.

    Args:
        found: the affinity of the query.
        row: the query word's row in it.
        own_term: its own term, which is no neighbour.
        language: the query's language; ``None`` makes every language another.
    """
    cosine = found.cosine[row]
    near = np.flatnonzero(cosine >= OTHER_LANGUAGE_COSINE)
    near = near[np.argsort(-cosine[near], kind="stable")]
    taken = {own_term}
    neighbours: list[Neighbour] = []
    room = {True: MOST_OTHER, False: MOST_SAME}
    words = found.words
    for index in near:
        term, spoken, value = words.terms[index], words.languages[index], float(cosine[index])
        other = spoken != language
        if term in taken or not room[other] or (not other and value < SAME_LANGUAGE_COSINE):
            continue
        taken.add(term)
        room[other] -= 1
        weight = value * (OTHER_LANGUAGE_WEIGHT if other else SAME_LANGUAGE_WEIGHT)
        neighbours.append(Neighbour(words.surfaces[index], spoken, term, value, weight))
    return neighbours


def _extended(words: Words, rows: Sequence[dict[str, Any]]) -> Words:
    surfaces = [row["surface"] for row in rows]
    return Words(
        ids=np.append(words.ids, [row["id"] for row in rows]),
        surfaces=np.append(words.surfaces, np.array(surfaces, object)),
        languages=np.append(words.languages, np.array([row["language"] for row in rows], object)),
        terms=np.append(words.terms, np.array([prefix(word) for word in surfaces], object)),
        vectors=np.vstack([words.vectors, [row["vector"].to_numpy() for row in rows]]).astype(
            np.float32
        ),
    )
