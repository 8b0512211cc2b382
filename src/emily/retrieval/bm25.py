"""BM25 over groups of terms: a query word together with its neighbours.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009). Of a
group the best member counts, so that a word and its translation are not counted twice.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = [
    "K1",
    "B",
    "Member",
    "Scorer",
    "Statistics",
    "TermGroup",
    "ceiling",
    "inverse_frequency",
    "score",
    "share_matched",
]

K1 = 1.2
B = 0.75


@dataclass(frozen=True, slots=True)
class Member:
    """A term that stands for a query word; ``surface`` names the neighbour it comes from."""

    term: str
    weight: float
    surface: str | None = None


@dataclass(frozen=True, slots=True)
class TermGroup:
    """A term of the query, first, and its neighbours."""

    surface: str
    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class Statistics:
    """What BM25 needs to know of the archive.

    Attributes:
        chunks: number of chunks.
        average_terms: mean number of terms of a chunk.
        frequencies: number of chunks that hold a term; absent terms may be left out.
        k1: how much a repeated term counts, 0 and more.
        b: how much length is held against a chunk, 0 to 1.
    """

    chunks: int
    average_terms: float
    frequencies: Mapping[str, int]
    k1: float = K1
    b: float = B


def inverse_frequency(chunks: int, holding: int) -> float:
    """How telling a term is that ``holding`` of ``chunks`` chunks hold; never negative."""
    return math.log1p((chunks - holding + 0.5) / (holding + 0.5))


def ceiling(groups: Sequence[TermGroup], statistics: Statistics) -> float:
    """The score that a chunk with every group would tend to; 0 for a query without terms.

    A group is counted at its least telling member. One whose terms occur nowhere counts in
    full: what the archive lacks altogether must lower the score of all it has.
    """
    total = 0.0
    for group in groups:
        found = [statistics.frequencies.get(member.term, 0) for member in group.members]
        held = max(found, default=0)
        total += group.members[0].weight * inverse_frequency(statistics.chunks, held)
    return total * (statistics.k1 + 1)


def share_matched(groups: Sequence[TermGroup], matches: Mapping[str, int]) -> float:
    """Share of the groups of which a chunk holds a member, 0 to 1; 0 for no groups."""
    if not groups:
        return 0.0
    held = sum(any(member.term in matches for member in group.members) for group in groups)
    return held / len(groups)


class Scorer:
    """BM25 of chunks for one query: what does not depend on a chunk is reckoned once."""

    def __init__(self, groups: Sequence[TermGroup], statistics: Statistics) -> None:
        self._average = statistics.average_terms or 1.0
        self._k1, self._b = statistics.k1, statistics.b
        self._weights: dict[str, list[tuple[int, float]]] = {}
        for place, group in enumerate(groups):
            for member in group.members:
                held = statistics.frequencies.get(member.term, 0)
                weight = member.weight * inverse_frequency(statistics.chunks, held)
                self._weights.setdefault(member.term, []).append((place, weight))

    def score(self, matches: Mapping[str, int], terms: int) -> float:
        """BM25 of one chunk, not yet divided by the ceiling.

        Args:
            matches: how often each term stands in the chunk; terms of the query only.
            terms: number of terms of the chunk.
        """
        damping = self._k1 * (1 - self._b + self._b * terms / self._average)
        best: dict[int, float] = {}
        for term, frequency in matches.items():
            gain = frequency * (self._k1 + 1) / (frequency + damping)
            for place, weight in self._weights.get(term, ()):
                value = weight * gain
                if value > best.get(place, 0.0):
                    best[place] = value
        # In the order of the groups, so that the last digit is the same whatever the matches'.
        return sum(best[place] for place in sorted(best)) or 0.0


def score(
    groups: Sequence[TermGroup],
    matches: Mapping[str, int],
    terms: int,
    statistics: Statistics,
) -> float:
    """BM25 of one chunk of an archive with these statistics, see ``Scorer``."""
    return Scorer(groups, statistics).score(matches, terms)
