"""Tables of a PDF page without rules: columns that are surely aligned."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from emily.reading.layout import TextLine, right_to_left
from emily.reading.pdf.tables import Grid, in_direction, joined, without_units

__all__ = ["aligned_tables"]

_MOST_STRETCHES = 4_000  # of a page; more are a drawing
_STRIP = 0.9  # points of blank that part two columns, if they do in nearly all rows
_ROW_WISE = 0.7  # share of a table's rows that were written cell by cell


def aligned_tables(lines: Sequence[TextLine], part: Sequence[int]) -> list[Grid]:
    """Tables without rules: rows of short stretches that stand in the same columns.

    Only what was written row by row counts, as tables are: blocks of text that merely stand side
    by side are written one after the other.

    Args:
        lines: the page's stretches of lines.
        part: the numbers of those of one column of the page.
    """
    if len(part) > _MOST_STRETCHES:
        return []
    rows = _visual_rows(lines, part)
    grids = []
    at = 0
    while at < len(rows):
        if len(rows[at]) < 2:
            at += 1
            continue
        end = _run(lines, rows, at)
        grid = _aligned(lines, rows[at:end])
        if grid is not None:
            grids.append(grid)
            at = end
        else:
            at += 1 if end - at > 40 else max(1, end - at)
    return grids


def _visual_rows(lines: Sequence[TextLine], part: Sequence[int]) -> list[list[int]]:
    placed = [(lines[at].base + lines[at].height / 2, at) for at in part if lines[at].height]
    placed.sort(key=lambda pair: -pair[0])
    rows: list[list[int]] = []
    last = 0.0
    for middle, at in placed:
        if rows and last - middle < 0.45 * lines[at].height:
            rows[-1].append(at)
        else:
            rows.append([at])
            last = middle
    for row in rows:
        row.sort(key=lambda at: lines[at].left)
    return rows


def _run(lines: Sequence[TextLine], rows: Sequence[Sequence[int]], start: int) -> int:
    """One past the last row that may belong to the same table."""
    left = min(lines[at].left for at in rows[start])
    right = max(lines[at].right for at in rows[start])
    end = start + 1
    alone = 0
    for number in range(start + 1, len(rows)):
        row = rows[number]
        above, line = lines[rows[number - 1][0]], lines[row[0]]
        if above.base - line.base > 3.2 * max(above.height, line.height):
            break
        if number > start + 1 and _begins_anew(lines, rows, number):
            break
        if len(row) > 1:
            left = min(left, *(lines[at].left for at in row))
            right = max(right, *(lines[at].right for at in row))
            end, alone = number + 1, 0
            continue
        alone += 1
        wide = line.right - line.left > 0.62 * (right - left)
        outside = line.right < left - 5 or line.left > right + 5
        if alone > 3 or wide or outside:
            break
    return end


def _begins_anew(lines: Sequence[TextLine], rows: Sequence[Sequence[int]], number: int) -> bool:
    """Whether a row is the title or the header of another table: a bold one after others."""
    if not _bold(lines, rows[number]) or all(
        _bold(lines, row) for row in rows[number - 2 : number]
    ):
        return False
    if len(rows[number]) > 1:
        return len(rows[number]) > 2 and not _bold(lines, rows[number - 1])
    following = rows[number + 1] if number + 1 < len(rows) else ()
    return len(following) > 1 and _bold(lines, following)


def _bold(lines: Sequence[TextLine], row: Sequence[int]) -> bool:
    return all(lines[at].bold for at in row)


def _aligned(lines: Sequence[TextLine], rows: Sequence[Sequence[int]]) -> Grid | None:
    full = [row for row in rows if len(row) > 1]
    if len(full) < 3 and not (
        len(full) == 2 == len(rows) and _bold(lines, rows[0]) and not _bold(lines, rows[1])
        and len(rows[0]) > 2 and len(rows[0]) == len(rows[1])
    ):  # fmt: skip
        return None
    short = len(full) < 3
    in_turn = sum(
        max(row) - min(row) == len(row) - 1 and min(row) in {row[0], row[-1]} for row in full
    )
    if in_turn < _ROW_WISE * len(full):
        return None
    columns = _columns(lines, rows)
    if not 2 <= len(columns) <= 30:
        return None
    cells = [_assigned(lines, row, columns) for row in rows]
    cells = _with_their_headers(without_units(cells))
    across = len(cells[0])
    filled = [sum(map(bool, row)) for row in cells]
    several = [row for row in cells if sum(map(bool, row)) > 1]
    if across < 2 or (len(several) < 3 and not short) or len(several) < 0.4 * len(cells):
        return None
    words = [len(cell.split()) for row in several for cell in row if cell]
    if sum(words) > 8 * len(words):
        return None
    if across == 2:
        second = [row[1] for row in several]
        brief = sum(len(cell.split()) <= 6 for cell in second)
        valued = sum(any(map(str.isdigit, cell)) for cell in second)
        if len(several) < 4 and valued < len(several):
            return None
        if brief < 0.7 * len(second):
            return None
    elif sum(filled) < 1.3 * len(cells):
        return None
    used = [at for row in rows for at in row]
    top = max(lines[at].base + lines[at].height for at in used)
    return Grid(
        in_direction(_whole(lines, rows, cells)), used, top, min(lines[at].base for at in used)
    )


def _columns(lines: Sequence[TextLine], rows: Sequence[Sequence[int]]) -> list[tuple[float, float]]:
    """Strips of the page that hold text, where blank ones part them in nearly all rows."""
    spans = [(lines[at].left, lines[at].right) for row in rows if len(row) > 1 for at in row]
    start = min(left for left, _ in spans)
    end = max(right for _, right in spans)
    scale = 2.0  # steps a point
    covered = np.zeros(int((end - start) * scale) + 3, int)
    for left, right in spans:
        covered[int((left - start) * scale)] += 1
        covered[int((right - start) * scale) + 1] -= 1
    covered = covered.cumsum()
    few = int(0.12 * sum(len(row) > 1 for row in rows))
    held = np.flatnonzero(covered > few)
    if not len(held):
        return []
    strips = np.split(held, np.flatnonzero(np.diff(held) > _STRIP * scale) + 1)
    return [(start + strip[0] / scale, start + strip[-1] / scale) for strip in strips]


def _assigned(
    lines: Sequence[TextLine], row: Sequence[int], columns: Sequence[tuple[float, float]]
) -> list[str]:
    cells = [""] * len(columns)
    least = 0
    for at in row:
        line = lines[at]
        left, right = line.left, line.right
        over = [(right if right < b else b) - (left if left > a else a) for a, b in columns]
        most = max(over)
        best = over.index(most)
        if most > 0:  # over several columns: the first of them
            enough = min(2.0, 0.5 * most)
            best = next(n for n, shown in enumerate(over) if shown > enough)
        best = max(best, least)
        parts = (line.text, cells[best]) if right_to_left(line.text) else (cells[best], line.text)
        cells[best] = " ".join(filter(None, parts))
        least = best
    return cells


def _with_their_headers(cells: list[list[str]]) -> list[list[str]]:
    """Columns whose header stands beside its numbers, not above them, made one."""
    column = 0
    while column + 1 < len(cells[0]) and len(cells[0]) > 2:
        pairs = [(row[column], row[column + 1]) for row in cells]
        apart = not any(a and b for a, b in pairs)
        held = [[at for at, pair in enumerate(pairs) if pair[side]] for side in (0, 1)]
        if apart and any(len(rows) == 1 and rows[0] < 2 for rows in held):
            for row in cells:
                row[column : column + 2] = [row[column] or row[column + 1]]
        else:
            column += 1
    return cells


def _whole(
    lines: Sequence[TextLine], rows: Sequence[Sequence[int]], cells: list[list[str]]
) -> list[list[str]]:
    """Rows with those that only go on the one above, set closer than others, added to it."""
    drops = [lines[above[0]].base - lines[row[0]].base for above, row in pairwise(rows)]
    wide = [drop for drop, row in zip(drops, cells[1:], strict=True) if row[0]]
    usual = statistics.median(wide) if wide else 0.0
    done = [cells[0]]
    for drop, row in zip(drops, cells[1:], strict=True):
        if not row[0] and drop < 0.8 * usual and sum(map(bool, row)) < len(row):
            done[-1] = [
                joined([part for part in (a, b) if part])
                for a, b in zip(done[-1], row, strict=True)
            ]
        else:
            done.append(row)
    return done
