"""BM25 over posting lists in memory, without looking at what cannot change the top.

MaxScore (Turtle and Flood, "Query evaluation: strategies and optimizations", 1995), term by
term: groups of terms are added up from the most to the least telling. As soon as the groups that
are left could not lift a chunk that was not met so far above the bar, which is the score that the
best chunks have already, only chunks that can still get there are looked up. The result is that
of adding up everything (a test compares them); what is saved are most of the postings of the
commonest words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from emily.retrieval.bm25 import Scorer, Statistics, TermGroup, inverse_frequency
from emily.retrieval.chunk_table import ChunkTable
from emily.retrieval.postings import PostingList

__all__ = ["Ranked", "best_chunks", "occurrences"]

_ROUNDING = 1e-5
"""Share by which a sum of float32 may be off; what is nearer to the bar is scored again."""
_LISTS, _SAMPLE = 8, 20_000  # lists of chunks among which the bar is looked for, their length
WORTH = 20_000
"""Fewer postings than these are added up sooner than the bar is found."""
_LOOKUP = 8  # a lookup costs as much as so many steps of a scan

Scores = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Ranked:
    """The best chunks of a question, and what it took.

    Attributes:
        rows: rows of the table, best first, equals by their row.
        scores: BM25, not divided by the ceiling.
        looked_at: postings that were scored or looked up.
        held: postings of all terms.
    """

    rows: list[int]
    scores: list[float]
    looked_at: int
    held: int


def best_chunks(
    groups: Sequence[TermGroup],
    lists: Mapping[str, PostingList],
    statistics: Statistics,
    table: ChunkTable,
    limit: int,
    allowed: NDArray[np.bool_] | None = None,
    *,
    skip: bool = True,
) -> Ranked:
    """The chunks that hold the most telling of the terms.

    Args:
        groups: the query; of a group the best member counts.
        lists: the postings of every term.
        statistics: of the archive.
        table: whose rows the postings name.
        limit: most chunks.
        allowed: ``(n,)``, which rows may be found; ``None`` for all.
        skip: leave out what cannot change the top; ``False`` adds up everything.
    """
    parts = sorted(_weighed(groups, lists, statistics), key=lambda part: -part.most)
    held = sum(len(postings) for part in parts for postings, _ in part.members)
    left = np.append(np.cumsum([part.most for part in parts][::-1])[::-1], 0.0)
    behind = held - np.append(0, np.cumsum([len(part) for part in parts]))
    total = np.zeros(len(table.ids), np.float32)
    slack = np.float32(_ROUNDING * left[0])
    met: list[NDArray[np.int32]] = []  # lists of chunks among which the bar is looked for
    looked_at = 0
    rows: NDArray[np.int32] | None = None  # the chunks that can still get there, once known
    for place, part in enumerate(parts):
        # The bar is at most the sum of what was added, so before that there is no use in it.
        useful = left[place] < left[0] - left[place] and behind[place] >= WORTH
        if skip and rows is None and useful:
            bar = _bar(total, met, limit, allowed) - slack
            if bar > left[place]:
                rows = np.flatnonzero(total + np.float32(left[place]) >= bar).astype(np.int32)
                if allowed is not None:
                    rows = rows[allowed[rows]]
        if rows is None:
            looked_at += part.add(total)
            if len(met) < _LISTS:
                met += [postings.rows[:_SAMPLE] for postings, _ in part.members]
        elif len(rows) * _LOOKUP < len(part):
            looked_at += part.add_to(total, rows)
        else:
            looked_at += part.add(total)
    if rows is None:
        if allowed is not None:
            total[~allowed] = 0.0
        rows = np.flatnonzero(total).astype(np.int32)
    return _exact(groups, lists, statistics, table, limit, rows, total, slack, looked_at, held)


def occurrences(lists: Mapping[str, PostingList], rows: NDArray[np.int32]) -> list[dict[str, int]]:
    """How often each term stands in each of these rows; a term that does not is left out."""
    found: list[dict[str, int]] = [{} for _ in rows]
    for term, postings in lists.items():
        held, places = postings.at(rows)
        for row, frequency in zip(
            np.flatnonzero(held).tolist(), postings.frequencies[places].tolist(), strict=True
        ):
            found[row][term] = frequency
    return found


@dataclass(frozen=True, slots=True)
class _Part:
    """A group with the postings of its members and what each of them weighs."""

    members: list[tuple[PostingList, np.float32]]
    most: float

    def __len__(self) -> int:
        return sum(len(postings) for postings, _ in self.members)

    def add(self, total: Scores) -> int:
        """Add the group's score to that of all chunks; gives the number of postings."""
        if len(self.members) == 1:
            postings, weight = self.members[0]
            total[postings.rows] += weight * postings.gains
            return len(postings)
        best = np.zeros(len(total), np.float32)
        for postings, weight in self.members:
            rows = postings.rows
            best[rows] = np.maximum(best[rows], weight * postings.gains)
        total += best
        return len(self)

    def add_to(self, total: Scores, rows: NDArray[np.int32]) -> int:
        """Add it to that of these chunks only; gives the number of lookups."""
        best = np.zeros(len(rows), np.float32)
        for postings, weight in self.members:
            held, places = postings.at(rows)
            best[held] = np.maximum(best[held], weight * postings.gains[places])
        total[rows] += best
        return len(rows) * len(self.members)


def _weighed(
    groups: Sequence[TermGroup], lists: Mapping[str, PostingList], statistics: Statistics
) -> list[_Part]:
    parts = []
    for group in groups:
        members = []
        for member in group.members:
            postings = lists[member.term]
            if len(postings):
                rarity = inverse_frequency(
                    statistics.chunks, statistics.frequencies.get(member.term, 0)
                )
                members.append((postings, np.float32(member.weight * rarity)))
        if members:
            most = max(postings.most * float(weight) for postings, weight in members)
            parts.append(_Part(members, most))
    return parts


def _bar(
    total: Scores,
    met: Sequence[NDArray[np.int32]],
    limit: int,
    allowed: NDArray[np.bool_] | None,
) -> float:
    """A score that so many chunks have already; minus infinity if none is known."""
    bar = -np.inf
    for rows in met:
        own = rows if allowed is None else rows[allowed[rows]]
        if len(own) >= limit:
            found = np.partition(total[own], len(own) - limit)[len(own) - limit]
            bar = max(bar, float(found))
    return bar


def _exact(
    groups: Sequence[TermGroup],
    lists: Mapping[str, PostingList],
    statistics: Statistics,
    table: ChunkTable,
    limit: int,
    rows: NDArray[np.int32],
    total: Scores,
    slack: np.float32,
    looked_at: int,
    held: int,
) -> Ranked:
    """Score again, exactly, what may be among the best, and rank it."""
    scores = total[rows]
    if len(rows) > limit:
        bar = np.partition(scores, len(rows) - limit)[len(rows) - limit]
        rows = rows[scores >= bar - 2 * slack]
    lengths = table.lengths[rows].tolist()
    scorer = Scorer(groups, statistics)
    scored = sorted(
        (-scorer.score(matches, length), row)
        for row, matches, length in zip(
            rows.tolist(), occurrences(lists, rows), lengths, strict=True
        )
    )[:limit]
    return Ranked([row for _, row in scored], [-value for value, _ in scored], looked_at, held)
