"""A chunk under consideration, and what the stages have found out about it."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Candidate", "Evidence", "Gathered", "Linked", "changed"]


@dataclass(frozen=True, slots=True)
class Gathered:
    """What the store holds of a candidate's chunk and its document.

    ``words`` and ``sentences`` are empty until the stage ``details`` has
    fetched them, for the pool only.

    Attributes:
        document: id of the document.
        ordinal: place of the chunk in the document, from 0.
        start: offset of its first character.
        end: offset behind its last one.
        language: of the chunk, ``None`` if not known.
        terms: number of terms, its length in BM25.
        name: name of the document.
        matches: how often each term of the query stands in it.
        words: ids of its words in the vocabulary.
        sentences: ``(n, dimension)`` vectors of its sentences.
        note: id of the owner's note that the chunk is cut from, ``None`` for the document's own
            text; ``document`` is then the one that it is a note on.
    """

    document: int
    ordinal: int
    start: int
    end: int
    language: str | None
    terms: int
    words: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    sentences: NDArray[np.float32] = field(default_factory=lambda: np.empty((0, 0), np.float32))
    name: str = ""
    matches: dict[str, int] = field(default_factory=dict)
    note: int | None = None

    @property
    def holder(self) -> int:
        """Id of what holds the chunk's text: the document, or the note on it."""
        return self.document if self.note is None else self.note


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for a candidate; depends on the query, the chunk and its own document only.

    Attributes:
        part: cosine of the query with the best part, -1 to 1.
        sentence: cosine with the best sentence, -1 to 1.
        coverage: share of the query's words and figures that the chunk or its document's name
            has, each weighed by its rarity in the language at large; a neighbour in meaning
            counts in part. Of a query with neither, the share of its terms. 0 to 1.
        figures: share of the query's numbers, dates and identifiers that it has; 1 if the
            query has none.
    """

    part: float
    sentence: float
    coverage: float
    figures: float


@dataclass(frozen=True, slots=True)
class Linked:
    """By which link a candidate came up that no arm had brought.

    Attributes:
        score: what it got from what was found, in the unit of those scores.
        source: document at the other end of the link; ``None`` where a tag stands between.
        kind: ``wiki``, ``markdown``, ``field`` or ``tag``.
        line: of the link, 1-based, in the note in which it stands.
        forward: whether the link stands in ``source``; else this document links to that one.
    """

    score: float
    source: int | None
    kind: str
    line: int
    forward: bool


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk with its scores; ``None`` where a stage has not scored it.

    Attributes:
        chunk: id of the chunk.
        vector: the vector arm's score, cosine of the best part.
        vector_rank: place in that arm, from 1; ``None`` if the arm did not bring it.
        lexical: the lexical arm's score, BM25 over what the query could score, 0 to 1.
        document_lexical: the same of its whole document.
        lexical_rank: place in that arm, from 1; ``None`` if the arm did not bring it.
        name_similarity: cosine of the query with the document's name.
        fused: score of the fusion.
        evidence: what the second stage found.
        best_sentence: row of ``gathered.sentences`` that is nearest to the query.
        order: score that candidates are ordered by; relative to this archive.
        probability: that the chunk helps to answer, 0 to 1; what the threshold looks at.
        reranked: whether a cross-encoder gave it its place, and its probability if it gives any.
        gate: then, the probability that the built-in second stage had given it.
        gathered: what the store holds of it.
        linked: the link by which it came up, where no arm brought it.
    """

    chunk: int
    vector: float | None = None
    vector_rank: int | None = None
    lexical: float | None = None
    document_lexical: float | None = None
    lexical_rank: int | None = None
    name_similarity: float = 0.0
    fused: float | None = None
    evidence: Evidence | None = None
    best_sentence: int | None = None
    order: float | None = None
    probability: float | None = None
    reranked: bool = False
    gate: float | None = None
    gathered: Gathered | None = None
    linked: Linked | None = None

    @property
    def facts(self) -> Gathered:
        """What was gathered; only before that stage is there nothing."""
        assert self.gathered is not None, "the candidate has not been gathered yet"
        return self.gathered


_FIELDS = {field.name: place for place, field in enumerate(fields(Candidate))}
_values = attrgetter(*_FIELDS)


def changed(item: Candidate, **values: Any) -> Candidate:
    """A candidate with other values; ``dataclasses.replace`` in a third of its time."""
    given = list(_values(item))
    for name, value in values.items():
        given[_FIELDS[name]] = value
    return Candidate(*given)
