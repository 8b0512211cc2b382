"""The archive's words with their vectors, held in memory, and their nearest to a query's.

A word of the query is also looked for as its neighbours in the archive's other languages.
They come from the embedder's own vectors of single words: *schermo* is near *screen*, *tasto*
near *key*. On the development sets this is the largest single gain for questions in another
language than their document (docs/decisions/0003).
"""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emily.indexing.terms import prefix
from emily.models.protocols import ModelIdentity
from emily.retrieval.chunk_table import integers
from emily.retrieval.level_matrix import Half, LevelMatrix, halves
from emily.store import Database

__all__ = ["Affinity", "Near", "Neighbour", "Vocabulary", "Words", "affinity", "find_neighbours"]

# Measured on the development sets, see docs/decisions/0012. A weight by the square of the cosine
# lets a sure translation count nearly as much as the word and a guess hardly at all.
OTHER_LANGUAGE_COSINE = 0.55
OTHER_LANGUAGE_WEIGHT = 1.1
MOST_OTHER = 6
SAME_LANGUAGE_COSINE = 0.75
SAME_LANGUAGE_WEIGHT = 0.6
MOST_SAME = 3
# How a neighbour covers a word of the question, which the gate was fitted on.
COVERING_COSINE = 0.6
COVERING_WEIGHT = 0.8
_REMEMBERED = 10_000  # words of questions of which the near words are remembered


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
        of_term: rows of the words of a term.
        of_surface: a row of a word, in any language.
    """

    ids: NDArray[np.int64]
    surfaces: NDArray[np.object_]
    languages: NDArray[np.object_]
    terms: NDArray[np.object_]
    vectors: LevelMatrix
    of_term: Mapping[str, tuple[int, ...]]
    of_surface: Mapping[str, int]

    @classmethod
    def of(
        cls,
        ids: Sequence[int],
        surfaces: Sequence[str],
        languages: Sequence[str],
        vectors: NDArray[Any],
    ) -> Words:
        """Of columns that run in parallel."""
        empty = cls.empty(vectors.shape[1])
        return empty.extended(ids, surfaces, languages, vectors.astype(np.float16))

    @classmethod
    def empty(cls, dimension: int) -> Words:
        """No words."""
        none = np.empty(0, object)
        vectors = LevelMatrix.room(0, dimension)
        return cls(np.empty(0, np.int64), none, none, none, vectors, {}, {})

    def extended(
        self,
        ids: Sequence[int],
        surfaces: Sequence[str],
        languages: Sequence[str],
        vectors: Half,
    ) -> Words:
        """With further words behind these."""
        matrix = self.vectors.grown(len(ids))
        matrix.put(len(self.ids), vectors)
        terms = [prefix(word) for word in surfaces]
        of_term = dict(self.of_term)
        for row, term in enumerate(terms, len(self.ids)):
            of_term[term] = (*of_term.get(term, ()), row)
        return Words(
            ids=np.append(self.ids, np.asarray(ids, np.int64)),
            surfaces=np.append(self.surfaces, _objects(surfaces)),
            languages=np.append(self.languages, _objects(languages)),
            terms=np.append(self.terms, _objects(terms)),
            vectors=matrix,
            of_term=of_term,
            of_surface={
                **self.of_surface,
                **{word: row for row, word in enumerate(surfaces, len(self.ids))},
            },
        )

    def vector(self, word: str) -> NDArray[np.float32] | None:
        """The vector of a word, if the vocabulary holds it."""
        row = self.of_surface.get(word)
        return None if row is None else self.vectors.exact[row].astype(np.float32)


@dataclass(frozen=True, slots=True)
class Near:
    """The words of the vocabulary that are near one word in meaning; rows ascend.

    Attributes:
        rows: ``(k,)`` rows of the vocabulary.
        cosines: ``(k,)``.
        seen: rows of the vocabulary that were compared.
    """

    rows: NDArray[np.intp]
    cosines: NDArray[np.float32]
    seen: int


@dataclass(frozen=True, slots=True)
class Affinity:
    """How well words of the vocabulary stand for each word of a query.

    Attributes:
        words: the vocabulary it was computed on.
        near: of each query word its near words.
        rows: ``(u,)`` rows of the words that match any of them, ascending.
        match: ``(n_query_words, u)``; 1 for the same term, the weighed cosine for a neighbour
            in meaning, else 0.
    """

    words: Words
    near: tuple[Near, ...]
    rows: NDArray[np.intp]
    match: NDArray[np.float32]

    def of_chunk(self, word_ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """For each query word the best match among a chunk's words, ``(n_query_words,)``."""
        none = np.zeros(len(self.match), dtype=np.float32)
        if not len(self.rows):
            return none
        # Both ascend, and a chunk has fewer words than match.
        ids = self.words.ids[self.rows]
        places = np.minimum(np.searchsorted(ids, word_ids), len(ids) - 1)
        places = places[ids[places] == word_ids]
        if not len(places):
            return none
        best: NDArray[np.float32] = self.match[:, places].max(axis=1)
        return best


class Vocabulary:
    """Keeps the words of the archive in memory and takes in new ones as they come."""

    def __init__(self, database: Database, model: ModelIdentity) -> None:
        self._database = database
        self._model = model
        self._lock = asyncio.Lock()
        self._revision = -1
        self._words = Words.empty(model.dimension)
        self._near: OrderedDict[str, Near] = OrderedDict()
        self._remembering = threading.Lock()

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
                row = await self._database.fetch_one("vocabulary_since", parameters)
                if row and row["surfaces"]:
                    self._words = await asyncio.to_thread(
                        self._words.extended,
                        integers(row["ids"], 8).tolist(),
                        row["surfaces"],
                        row["languages"],
                        halves(row["vectors"], self._model.dimension),
                    )
                self._revision = revision
            return self._words

    def affinity(
        self, words: Words, query_words: Sequence[str], query_vectors: NDArray[np.float32]
    ) -> Affinity:
        """As the function of that name; what was found for a word is remembered."""
        with self._remembering:
            known = {word: self._near[word] for word in query_words if word in self._near}
        found = affinity(words, query_words, query_vectors, known)
        with self._remembering:
            for word, near in zip(query_words, found.near, strict=True):
                self._near[word] = near
                self._near.move_to_end(word)
            while len(self._near) > _REMEMBERED:
                self._near.popitem(last=False)
        return found


def affinity(
    words: Words,
    query_words: Sequence[str],
    query_vectors: NDArray[np.float32],
    known: Mapping[str, Near] | None = None,
) -> Affinity:
    """Compare the words of a query, ``(m, dimension)``, with the whole vocabulary.

    Args:
        words: the vocabulary.
        query_words: of the query.
        query_vectors: in their order.
        known: what was found for some of them in an earlier state of this vocabulary, which
            only grows.
    """
    near = _near(words, query_words, query_vectors, known or {})
    same = [np.array(words.of_term.get(prefix(word), ()), np.intp) for word in query_words]
    rows = np.unique(np.concatenate([np.empty(0, np.intp), *(item.rows for item in near), *same]))
    match = np.zeros((len(query_words), len(rows)), np.float32)
    for place, (item, own) in enumerate(zip(near, same, strict=True)):
        covering = np.where(item.cosines >= COVERING_COSINE, COVERING_WEIGHT * item.cosines, 0.0)
        match[place, np.searchsorted(rows, item.rows)] = covering
        match[place, np.searchsorted(rows, own)] = 1.0
    return Affinity(words, near, rows, match)


def _near(
    words: Words,
    query_words: Sequence[str],
    query_vectors: NDArray[np.float32],
    known: Mapping[str, Near],
) -> tuple[Near, ...]:
    """The near words of each query word; those compared already are not compared again."""
    nothing = Near(np.empty(0, np.intp), np.empty(0, np.float32), 0)
    total = len(words.ids)
    found = [known.get(word, nothing) for word in query_words]
    # What another search compared meanwhile may be ahead of this vocabulary.
    found = [item if item.seen <= total else nothing for item in found]
    for seen in {item.seen for item in found if item.seen < total}:
        places = [place for place, item in enumerate(found) if item.seen == seen]
        vectors = query_vectors[places]
        rough, errors = words.vectors.rough(vectors, slice(seen, None))
        could = rough + errors[:, None] >= OTHER_LANGUAGE_COSINE
        for column, place in enumerate(places):
            rows = seen + np.flatnonzero(could[:, column])
            cosines = words.vectors.floats(rows) @ vectors[column]
            sure = cosines >= OTHER_LANGUAGE_COSINE
            old = found[place]
            found[place] = Near(
                np.append(old.rows, rows[sure]), np.append(old.cosines, cosines[sure]), total
            )
    return tuple(found)


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
    item = found.near[row]
    order = np.argsort(-item.cosines, kind="stable")
    taken = {own_term}
    neighbours: list[Neighbour] = []
    room = {True: MOST_OTHER, False: MOST_SAME}
    words = found.words
    for index, value in zip(item.rows[order].tolist(), item.cosines[order].tolist(), strict=True):
        term, spoken = words.terms[index], words.languages[index]
        other = spoken != language
        if term in taken or not room[other] or (not other and value < SAME_LANGUAGE_COSINE):
            continue
        taken.add(term)
        room[other] -= 1
        weight = SAME_LANGUAGE_WEIGHT * value
        if other:
            weight = min(1.0, OTHER_LANGUAGE_WEIGHT * value**2)
        neighbours.append(Neighbour(words.surfaces[index], spoken, term, value, weight))
    return neighbours


def _objects(values: Sequence[str]) -> NDArray[np.object_]:
    found = np.empty(len(values), object)
    found[:] = values
    return found
