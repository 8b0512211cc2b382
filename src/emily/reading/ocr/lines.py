"""Lines that an OCR engine found, put in reading order."""

from __future__ import annotations

import itertools
import re
import statistics
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Line", "confidence", "is_sparse", "page_text", "rows"]

_LEAST_COLUMN = 6  # lines on each side of a gutter
_WORD = re.compile(r"\b(?!(?:EUR|USD|GBP|CHF)\b)[^\W\d_]{2}")  # two letters, codes of money aside
_LEAST_WIDTH = 0.45  # of its room that a side's median line takes; the cells of a table take less
_CELL_GAP = 1.0  # times the height of a line; a detector seldom parts the words of a line so far
_FOOT_GAP = 0.45  # times its height that a foot keeps from what stands above; lines keep 0 to 0.3
_LONG = 3.0  # times its height that a line of words is wide
_SPARSE = 0.5  # signs for each height of a line
_MOST_SPLITS = 2  # of a page into columns, one within the other: up to four columns


@dataclass(frozen=True, slots=True)
class Line:
    """A piece of text on one line of a picture.

    Attributes:
        text: as recognised.
        score: the engine's confidence, 0 to 1.
        left, top, right, bottom: its box, pixels from the upper left corner.
    """

    text: str
    score: float
    left: float
    top: float
    right: float
    bottom: float

    @property
    def height(self) -> float:
        """Pixels from top to bottom."""
        return self.bottom - self.top

    @property
    def middle(self) -> float:
        """Pixels from the upper edge to the line's middle."""
        return (self.top + self.bottom) / 2


def confidence(lines: Iterable[Line]) -> float:
    """Mean confidence of the engine per character, 0 to 1; 1 for no line at all."""
    pairs = [(line.score, len(line.text)) for line in lines]
    weight = sum(size for _, size in pairs)
    return sum(score * size for score, size in pairs) / weight if weight else 1.0


def is_sparse(line: Line) -> bool:
    """Whether a line of words has far fewer letters than fill its width: they were not known.

    Of print in Latin letters a line has 1.6 to 2.1 signs for each of its heights, of Chinese 1;
    of pages in Hebrew, Arabic and Cyrillic RapidOCR gives 0 to 0.6.
    """
    wide = line.right - line.left
    return wide > _LONG * line.height > 0 and len("".join(line.text.split())) < (
        _SPARSE * wide / line.height
    )


def page_text(lines: Iterable[Line]) -> str:
    """Lines in reading order, one row of the page per line of text.

    Pieces that share a row are joined from left to right, by three blanks where they stand apart
    as the cells of a table do. Where a gutter with full columns of
    text on both sides runs down the page, the left column comes first.
    """
    pieces = [line for line in lines if line.text.strip()]
    if not pieces:
        return ""
    ordered: list[list[Line]] = []
    for group in _columns(pieces):
        ordered += rows(group)
    text: list[str] = []
    before: list[Line] | None = None
    for row in ordered:
        if before is not None:
            gap = min(line.top for line in row) - max(line.bottom for line in before)
            size = statistics.median(line.height for line in before + row)
            if gap > 0.9 * size or gap < -3 * size:  # a paragraph's distance, or the next column
                text.append("")
        text.append(_joined(row))
        before = row
    return "\n".join(text)


def _joined(row: list[Line]) -> str:
    """The pieces of a row; a gap that parts the cells of a table is three blanks wide."""
    text = row[0].text.strip()
    for before, piece in itertools.pairwise(row):
        wide = piece.left - before.right > _CELL_GAP * min(before.height, piece.height)
        text += ("   " if wide else " ") + piece.text.strip()
    return text


def rows(lines: Iterable[Line]) -> list[list[Line]]:
    """Rows from top to bottom: lines whose middles lie within half a line of each other."""
    found: list[list[Line]] = []
    for line in sorted(lines, key=lambda piece: piece.middle):
        row = found[-1] if found else None
        if row is not None:
            middle = statistics.fmean(piece.middle for piece in row)
            height = min(statistics.fmean(piece.height for piece in row), line.height)
            if abs(line.middle - middle) < 0.5 * height:
                row.append(line)
                continue
        found.append([line])
    return [sorted(row, key=lambda piece: piece.left) for row in found]


def _columns(lines: list[Line], depth: int = 0) -> list[list[Line]]:
    """Groups of lines in reading order."""
    gutter = _gutter(lines, depth)
    if gutter is None:
        return [lines]
    return [
        column
        for band in _bands(lines, *gutter)
        for column in (_columns(band, depth + 1) if depth < _MOST_SPLITS else [band])
    ]


def _gutter(lines: list[Line], depth: int) -> tuple[list[Line], float] | None:
    """The place of a gutter and the lines that cross it, headings for the most part.

    Only running text has columns: its lines fill their column's width, as the cells of a table
    do not.
    """
    left, right = min(p.left for p in lines), max(p.right for p in lines)
    fewest: int | None = None
    places: list[float] = []  # where the fewest lines cross
    for step in range(40, 161):
        x = left + (right - left) * step / 200
        first = [p for p in lines if p.right <= x]
        second = [p for p in lines if p.left >= x]
        few = min(len(first), len(second))
        crossing = len(lines) - len(first) - len(second)
        if few < _LEAST_COLUMN or crossing > few / 2 or (fewest is not None and crossing > fewest):
            continue
        if _fills(first, x - left, depth) and _fills(second, right - x, depth):
            places = [*places, x] if crossing == fewest else [x]
            fewest = crossing
    if not places:
        return None
    x = places[0]  # of several gutters the leftmost, in its middle
    step_wide = (right - left) / 200
    for place in places[1:]:
        if place - x > 1.5 * step_wide:
            break
        x = place
    x = (places[0] + x) / 2
    return [p for p in lines if p.left < x < p.right], x


def _fills(side: list[Line], room: float, depth: int) -> bool:
    """Whether lines are as wide as the room that they have, or are columns themselves.

    Figures without words are cells, such as the sums of a receipt, however little room they have.
    """
    if 2 * sum(_WORD.search(p.text) is None for p in side) > len(side):
        return False
    if statistics.median(p.right - p.left for p in side) > _LEAST_WIDTH * room:
        return True
    return depth < _MOST_SPLITS and _gutter(side, depth + 1) is not None


def _foot(side: list[Line], other: list[Line]) -> list[Line]:
    """A line at a page's foot: alone below both columns, and parted from its own."""
    if len(side) < 3 or not other:
        return []
    *_, before, last = sorted(side, key=lambda piece: piece.middle)
    end = max(before.bottom, *(piece.bottom for piece in other))
    return [last] if last.top - end > _FOOT_GAP * last.height else []


def _bands(lines: list[Line], crossing: list[Line], x: float) -> list[list[Line]]:
    """Between lines that cross the gutter (headings), the left column and then the right."""
    groups: list[list[Line]] = []
    tops = sorted(p.middle for p in crossing)
    edges = [float("-inf"), *tops, float("inf")]
    for above, below in itertools.pairwise(edges):
        band = [p for p in lines if above < p.middle <= below and p not in crossing]
        first, second = [p for p in band if p.right <= x], [p for p in band if p.left >= x]
        foot = _foot(first, second) or _foot(second, first) if below == edges[-1] else []
        groups += [[p for p in side if p not in foot] for side in (first, second)] + [foot]
        groups.append([p for p in crossing if p.middle == below])
    return [group for group in groups if group]
