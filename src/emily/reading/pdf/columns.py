"""In which order the lines of a page are read: down one column, then down the next.

The order in which a page was written is right more often than any that geometry finds, since
whoever wrote it knew. It is kept inside of a column, and left only for what it cannot mean: lines
of two columns in turn, a right column before the left one, a jump up the page.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from emily.reading.layout import TextLine, right_to_left

__all__ = ["regions"]

_LEAST_ROWS = 4  # lines that a column has at least
_PROSE_WORDS = 3.0  # words of a usual line of running text, even in a narrow column
_ALTERNATING = 0.3  # share of changes from side to side, above which lines are written by rows
_MOST_COLUMNS = 6
_MOST_LINES = (
    2_000  # of a page; more are a drawing or a map, which has no order but that of writing
)
_MOST_RUNS = 300
_FOOTNOTE = 0.92  # times the size of the page's text; a note's is at most this
_MARKS = "*†‡§¹²³⁴⁵⁶⁷⁸⁹"


def regions(lines: Sequence[TextLine]) -> list[list[int]]:
    """Parts of a page in reading order.

    Args:
        lines: stretches of lines, in the order in which they were written.

    Returns:
        For each part its lines' numbers in reading order; together all of them.
    """
    placed = [at for at, line in enumerate(lines) if line.height]
    if len(placed) > _MOST_LINES:
        return [list(range(len(lines)))]
    if len(placed) < 2 * _LEAST_ROWS:
        return [_mended(lines, range(len(lines)))] if lines else []
    found = _parted(lines, list(range(len(lines))), _MOST_COLUMNS)
    return _notes_last(lines, [part for part in found if part])


def _parted(lines: Sequence[TextLine], part: list[int], most: int) -> list[list[int]]:
    gutter = _gutter(lines, part) if most > 1 else None
    if gutter is None:
        return [_mended(lines, part)]
    sides, across = _sides(lines, part, gutter)
    order = (1, 0) if right_to_left("".join(lines[at].text for at in part[:60])) else (0, 1)
    found: list[list[int]] = []
    for band in _bands(lines, sides, across):
        if isinstance(band, list):
            found.append(_mended(lines, band))
            continue
        for side in order:
            if band[side]:
                found += _parted(lines, band[side], most - 1)
    return found


def _gutter(lines: Sequence[TextLine], part: Sequence[int]) -> float | None:
    """Where a blank strip parts two columns of text; ``None`` where none surely does."""
    placed = [lines[at] for at in part if lines[at].height]
    if len(placed) < 2 * _LEAST_ROWS:
        return None
    left = np.array([line.left for line in placed])
    right = np.array([line.right for line in placed])
    start, end = float(left.min()), float(right.max())
    width = int(end - start) + 2
    if width < 60:
        return None
    begins = np.minimum((left - start).astype(int), width)
    stops = np.minimum(np.maximum((right - start).astype(int) + 1, 0), width)
    covered = np.bincount(begins, minlength=width)[:width]
    covered = (covered - np.bincount(stops, minlength=width)[:width]).cumsum()
    low, high = int(0.1 * width), int(0.9 * width)
    usual = statistics.median(line.height for line in placed)
    least = 0.5 * usual
    best: tuple[float, float] | None = None
    for crossing in (0, int(0.04 * len(placed)), int(0.12 * len(placed)), int(0.25 * len(placed))):
        free = np.flatnonzero(covered[low:high] <= crossing)
        if not len(free):
            continue
        for run in np.split(free, np.flatnonzero(np.diff(free) > 1) + 1):
            if len(run) < least:
                continue
            middle = start + low + float(run[0] + run[-1] + 1) / 2
            worth = _worth(lines, part, middle)
            if worth and (best is None or worth > best[0]):
                best = worth, middle
        if best is not None:
            return best[1]
    return None


def _worth(lines: Sequence[TextLine], part: Sequence[int], gutter: float) -> float:
    """How much text stands side by side at a gutter; 0 where that is no two columns."""
    sides: tuple[list[TextLine], list[TextLine]] = ([], [])
    order: list[int] = []
    for at in part:
        line = lines[at]
        if line.height and (line.right <= gutter or line.left >= gutter):
            side = int(line.left >= gutter)
            sides[side].append(line)
            order.append(side)
    if min(map(len, sides)) < _LEAST_ROWS:
        return 0
    top = min(max(line.base + line.height for line in side) for side in sides)
    base = max(min(line.base for line in side) for side in sides)
    beside = [[line for line in side if base - 1 <= line.base < top] for side in sides]
    rows = [len({round(line.base / line.height) for line in side}) for side in beside]
    if min(rows) < _LEAST_ROWS:
        return 0
    changes = sum(a != b for a, b in pairwise(order))
    by_rows = changes > _ALTERNATING * 2 * min(map(len, sides))
    for column in beside:
        wide = max(line.right for line in column) - min(line.left for line in column)
        fill = statistics.median(line.right - line.left for line in column) / max(wide, 1.0)
        words = sum(line.text.count(" ") + 1 for line in column) / len(column)
        letters = sum(map(str.isalpha, "".join(line.text for line in column)))
        spelt = letters / max(1, sum(len(line.text) for line in column))
        if by_rows and (words < _PROSE_WORDS + 1 or fill < 0.6 or spelt < 0.6):
            return 0  # the cells of a table
        if not by_rows and (words < 1.5 or spelt < 0.3):
            return 0
    return float(min(rows))


def _sides(
    lines: Sequence[TextLine], part: Sequence[int], gutter: float
) -> tuple[tuple[list[int], list[int]], list[int]]:
    """Lines to the left and right of a gutter, and those that go across it."""
    sides: tuple[list[int], list[int]] = ([], [])
    across: list[int] = []
    side = 0
    for at in part:
        line = lines[at]
        if line.height:
            over = min(gutter - line.left, line.right - gutter)
            if over > 0.15 * (line.right - line.left) and over > line.height:
                across.append(at)
                continue
            side = int((line.left + line.right) / 2 > gutter)
        sides[side].append(at)  # a line without a place stays with the one before
    return sides, across


def _bands(
    lines: Sequence[TextLine], sides: tuple[list[int], list[int]], across: Sequence[int]
) -> list[list[int] | tuple[list[int], list[int]]]:
    """From top to bottom: lines that go across, and pairs of what stands beside each other."""
    cuts = sorted(across, key=lambda at: -lines[at].base)
    places = [lines[at].base + lines[at].height / 2 for at in cuts]
    pairs: list[tuple[list[int], list[int]]] = [([], []) for _ in range(len(cuts) + 1)]
    for side in (0, 1):
        band = 0
        for at in sides[side]:
            line = lines[at]
            if line.height:
                middle = line.base + line.height / 2
                band = sum(place > middle for place in places)
            pairs[band][side].append(at)
    found: list[list[int] | tuple[list[int], list[int]]] = []
    for band, pair in enumerate(pairs):
        if pair[0] or pair[1]:
            found.append(pair)
        if band < len(cuts):
            if found and isinstance(found[-1], list):
                found[-1].append(cuts[band])
            else:
                found.append([cuts[band]])
    return [sorted(band) if isinstance(band, list) else band for band in found]


def _mended(lines: Sequence[TextLine], part: Sequence[int]) -> list[int]:
    """The order of writing, but that what was written late and stands above goes there.

    A letterhead, a heading or a text box is often written after the text. Each run of lines that
    goes down the page keeps its order; one that begins further up, and not to the right of what
    it follows, is put before the first run that it stands above.
    """
    runs: list[tuple[list[int], bool]] = []
    last: TextLine | None = None
    jumped = False
    for at in part:
        line = lines[at]
        jumps = last is not None and line.height > 0 and _jumps(last, line)
        jumped |= jumps
        if jumps or not runs or (last is not None and line.height and _far(last, line)):
            runs.append(([], jumps))
        runs[-1][0].append(at)
        if line.height:
            last = line
    if not jumped or len(runs) > _MOST_RUNS:
        return list(part)
    placed: list[tuple[tuple[float, float, float, float] | None, list[int]]] = []
    moved = False
    for run, jumps in runs:
        box = _box(lines, run)
        goes = len(placed)
        if box is not None and (jumps or moved):
            for at, (other, _) in enumerate(placed):
                if other is not None and _above(box, other):
                    goes = at
                    break
        moved = goes < len(placed)
        placed.insert(goes, (box, run))
    return [at for _, run in placed for at in run]


def _far(above: TextLine, line: TextLine) -> bool:
    """Whether so much is left blank between two lines that something else may stand there."""
    return above.base - (line.base + line.height) > 1.5 * min(above.height, line.height)


def _jumps(above: TextLine, line: TextLine) -> bool:
    height = max(above.height, line.height)
    return line.base > above.base + 0.8 * height


def _above(
    box: tuple[float, float, float, float], other: tuple[float, float, float, float]
) -> bool:
    """Whether a box stands wholly above another, and over it."""
    over = min(box[2], other[2]) - max(box[0], other[0])
    return box[1] >= other[3] - 2 and over > 0.1 * min(box[2] - box[0], other[2] - other[0])


def _box(lines: Sequence[TextLine], run: Sequence[int]) -> tuple[float, float, float, float] | None:
    placed = [lines[at] for at in run if lines[at].height]
    if not placed:
        return None
    return (
        min(line.left for line in placed),
        min(line.base for line in placed),
        max(line.right for line in placed),
        max(line.base + line.height for line in placed),
    )


def _notes_last(lines: Sequence[TextLine], parts: list[list[int]]) -> list[list[int]]:
    """Footnotes go to the end of the page where they would part a word cut between two columns."""
    sizes = [line.size for line in lines if line.height for _ in range(len(line.text) // 10 + 1)]
    usual = statistics.median(sizes) if sizes else 0.0
    notes: list[list[int]] = []
    kept: list[list[int]] = []
    for number, part in enumerate(parts):
        first = len(part)
        while first and 0 < lines[part[first - 1]].size <= _FOOTNOTE * usual:
            first -= 1
        if 0 < first < len(part) and number + 1 < len(parts):
            begins, before = lines[part[first]].text[:1], lines[part[first - 1]].text
            if (begins.isdigit() or begins in _MARKS) and before.endswith("-"):
                notes.append(part[first:])
                part = part[:first]
        kept.append(part)
    return kept + notes
