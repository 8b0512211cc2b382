"""Widening: a chosen chunk and those around it become a passage of the original text.

Overlaps of chunks and headers that the chunker repeats never reach a passage: it is one slice
of the document's text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

__all__ = ["ChunkSpan", "Span", "fit_budget", "limit_spans", "widen"]


@dataclass(frozen=True, slots=True)
class ChunkSpan:
    """Where a chunk lies in its document, the table header it continues, and its tokens."""

    ordinal: int
    start: int
    end: int
    header: str = ""
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Span:
    """A passage to be cut.

    Attributes:
        start: offset of its first character.
        end: offset behind its last one.
        first: ordinal of its first chunk.
        last: ordinal of its last chunk.
        chosen: ordinals of the chunks it was cut for, the best first.
        header: header row of the table that it begins inside of.
    """

    start: int
    end: int
    first: int
    last: int
    chosen: tuple[int, ...]
    header: str = ""

    @property
    def size(self) -> int:
        """Number of characters."""
        return self.end - self.start


def widen(chosen: Sequence[int], chunks: Mapping[int, ChunkSpan], by: int) -> list[Span]:
    """Widen the chosen chunks of one document and merge ranges that touch.

    Args:
        chosen: ordinals, best first.
        chunks: the chosen chunks and their neighbours, by ordinal.
        by: chunks to add on each side.

    Returns:
        passages that neither overlap nor touch, in the order of their best chunk.
    """
    return _merged([_widened(ordinal, chunks, by) for ordinal in chosen], chosen)


def limit_spans(
    chosen: Sequence[int], chunks: Mapping[int, ChunkSpan], by: int, most: int
) -> tuple[list[Span], int]:
    """Widen as many of the chosen chunks as fit into ``most`` characters, best first.

    A chunk that does not fit widened is tried as it is. The best chunk is always kept, also
    where it alone is too long.

    Returns:
        the passages, and how many of the chosen chunks were left out.
    """
    width: dict[int, int] = {}
    for ordinal in chosen:
        for reach in dict.fromkeys((by, 0)):
            wide = {**width, ordinal: reach}
            if sum(span.size for span in _spans(wide, chunks)) <= most:
                width = wide
                break
    if not width and chosen:
        return [_widened(chosen[0], chunks, 0)], len(chosen) - 1
    return _spans(width, chunks), len(chosen) - len(width)


def fit_budget(
    chosen: Sequence[tuple[int, int]],
    chunks: Mapping[int, Mapping[int, ChunkSpan]],
    by: int,
    budget: int,
) -> tuple[dict[int, list[Span]], int]:
    """Widen as many of the chosen chunks as fit into a budget of tokens, in their order.

    A chunk that does not fit widened is tried as it is; one that does not fit is left out, and
    the next is tried. The first is always kept, also where it alone is too long. A passage
    counts as its chunks together, their overlaps twice, so that it never has more than that.

    Args:
        chosen: pairs of document and ordinal, in the order in which they are to be given room.
        chunks: the chosen chunks and their neighbours, by document and ordinal.
        by: chunks to add on each side.
        budget: most tokens.

    Returns:
        the passages of each document, and how many of the chosen chunks were left out.
    """
    width: dict[int, dict[int, int]] = {}
    spans: dict[int, list[Span]] = {}
    spent: dict[int, int] = {}
    kept = 0
    for document, ordinal in chosen:
        known = chunks[document]
        for reach in dict.fromkeys((by, 0)):
            wide = {**width.get(document, {}), ordinal: reach}
            found = _spans(wide, known)
            tokens = sum(_tokens(span, known) for span in found)
            rest = sum(spent.values()) - spent.get(document, 0)
            if rest + tokens <= budget or not (kept or reach):
                width[document], spans[document], spent[document] = wide, found, tokens
                kept += 1
                break
    return spans, len(chosen) - kept


def _tokens(span: Span, chunks: Mapping[int, ChunkSpan]) -> int:
    return sum(chunks[place].tokens for place in range(span.first, span.last + 1))


def _spans(width: Mapping[int, int], chunks: Mapping[int, ChunkSpan]) -> list[Span]:
    """Chunks, best first, each widened by its own reach."""
    return _merged([_widened(item, chunks, by) for item, by in width.items()], list(width))


def _widened(ordinal: int, chunks: Mapping[int, ChunkSpan], by: int) -> Span:
    # As far as they follow each other: one that is missing may not be shown.
    low = high = ordinal
    while low - 1 in chunks and low > ordinal - by:
        low -= 1
    while high + 1 in chunks and high < ordinal + by:
        high += 1
    around = [chunks[near] for near in range(low, high + 1)]
    first, last = around[0], around[-1]
    end = max(chunk.end for chunk in around)
    return Span(first.start, end, first.ordinal, last.ordinal, (ordinal,), first.header)


def _merged(spans: Sequence[Span], chosen: Sequence[int]) -> list[Span]:
    """Merge spans that overlap or follow each other; in the order of their best chunk."""
    rank = {ordinal: place for place, ordinal in enumerate(chosen)}
    merged: list[Span] = []
    for span in sorted(spans, key=lambda span: span.first):
        if merged and span.first <= merged[-1].last + 1:
            before = merged.pop()
            merged.append(
                replace(
                    before,
                    end=max(before.end, span.end),
                    last=max(before.last, span.last),
                    chosen=tuple(sorted((*before.chosen, *span.chosen), key=rank.__getitem__)),
                )
            )
        else:
            merged.append(span)
    return sorted(merged, key=lambda span: rank[span.chosen[0]])
