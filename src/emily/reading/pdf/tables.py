"""Tables of a PDF page: ruled ones by their lines, others by columns that are surely aligned."""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from emily.reading.layout import TextLine, rejoin, right_to_left
from emily.reading.pdf.rules import Drawn
from emily.reading.pdf.text import Segments

__all__ = ["Grid", "aligned_tables", "ruled_tables"]

_NEAR = 3.0  # points that lines may miss each other by and still meet
_TOGETHER = 1.5  # points between lines that are one
_SHORTEST = 5.0  # points
_EDGE = 0.55  # share of a cell's side that is drawn, for the side to part it from its neighbour
_MOST_LINES = 600  # of a kind; more are a drawing, a map, graph paper
_MOST_STRETCHES = 4_000  # of a page; more are a drawing
_MOST_CELLS = 4_000
_MOST_WORDS = 150  # of a cell; what holds more is a frame around text
_STRIP = 0.9  # points of blank that part two columns, if they do in nearly all rows
_ROW_WISE = 0.7  # share of a table's rows that were written cell by cell
_UNIT = re.compile(r"(?:[$€£¥₹(]|US\$|CHF|EUR|USD|Fr\.)+")
_BULLET = re.compile(r"[•▪◦‣●■□○►–*\uf000-\uf0ff-]")
_TRAILING = re.compile(r"\s([$€£¥])$")
_AFTER = re.compile(r"[%)]+|[%)]*\(\d\)|pts?")
_VALUE = re.compile(r"[-–—+(]*[€$£]?\s*\d[\d.,'’ /:%-]*\)?%?|[-–—]")


@dataclass(slots=True)
class Grid:
    """A table.

    Attributes:
        rows: the cells' texts; as many in each row.
        lines: numbers of the stretches of lines that it is made of.
        top: where it begins, points from the page's lower edge.
        base: where it ends.
    """

    rows: list[list[str]]
    lines: list[int]
    top: float = 0.0
    base: float = 0.0

    @property
    def header(self) -> bool:
        """Whether the first row names the columns."""
        named = [cell for cell in self.rows[0] if cell]
        return len(named) > 1 and not any(_VALUE.fullmatch(cell) for cell in named)


def ruled_tables(found: Segments, on_page: Drawn) -> list[Grid]:
    """Tables whose cells are parted by drawn lines.

    A cell that reaches over several columns or rows has its text in the first, top left.
    """
    level, upright = _merged(on_page.level), _merged(on_page.upright)
    if len(level) < 2 or len(upright) < 1:
        return []
    if max(len(level), len(upright)) > _MOST_LINES:
        return []
    grids = []
    for rows, columns in _components(level, upright):
        grid = _ruled(found, level[rows], upright[columns])
        if grid is not None:
            grids.append(grid)
    grids.sort(key=lambda grid: -len(grid.lines))
    taken: set[int] = set()
    kept = []
    for grid in grids:
        if taken.isdisjoint(grid.lines):
            taken.update(grid.lines)
            kept.append(grid)
    return kept


def _merged(lines: NDArray[np.float64]) -> NDArray[np.float64]:
    """Lines at one place that touch or overlap as one: borders come in pieces."""
    if not len(lines):
        return lines
    done: list[list[float]] = []
    group: list[tuple[float, float]] = []
    place = last = 0.0

    def close() -> None:
        group.sort()
        start, end = group[0]
        for begin, stop in group[1:]:
            if begin <= end + _NEAR:
                end = max(end, stop)
            else:
                done.append([place, start, end])
                start, end = begin, stop
        done.append([place, start, end])

    for where, begin, stop in sorted(lines.tolist()):
        if group and where - last > _TOGETHER:
            close()
            group.clear()
        if not group:
            place = where
        group.append((begin, stop))
        last = where
    close()
    kept = np.array(done)
    result: NDArray[np.float64] = kept[kept[:, 2] - kept[:, 1] > _SHORTEST]
    return result


def _components(
    level: NDArray[np.float64], upright: NDArray[np.float64]
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Sets of lines that meet each other."""
    meets = (
        (level[:, None, 1] <= upright[None, :, 0] + _NEAR)
        & (level[:, None, 2] >= upright[None, :, 0] - _NEAR)
        & (upright[None, :, 1] <= level[:, None, 0] + _NEAR)
        & (upright[None, :, 2] >= level[:, None, 0] - _NEAR)
    )
    unseen = np.ones(len(level), bool)
    found = []
    for start in range(len(level)):
        if not unseen[start]:
            continue
        rows = np.zeros(len(level), bool)
        rows[start] = True
        while True:
            columns = meets[rows].any(0)
            more = rows | meets[:, columns].any(1)
            if (more == rows).all():
                break
            rows = more
        unseen &= ~rows
        if rows.sum() > 1 and columns.any():
            found.append((np.flatnonzero(rows), np.flatnonzero(columns)))
    return found


def _places(values: NDArray[np.float64], *ends: float) -> list[float]:
    """Distinct places of lines, and of ends that lie beyond the outermost."""
    places: list[float] = []
    for value in sorted([*values.tolist()]):
        if not places or value - places[-1] > _NEAR:
            places.append(value)
    low, high = min(ends), max(ends)
    if low < places[0] - 2 * _NEAR:
        places.insert(0, low)
    if high > places[-1] + 2 * _NEAR:
        places.append(high)
    return places


def _ruled(
    found: Segments, level: NDArray[np.float64], upright: NDArray[np.float64]
) -> Grid | None:
    xs = _places(upright[:, 0], float(level[:, 1].min()), float(level[:, 2].max()))
    ys = _places(level[:, 0], float(upright[:, 1].min()), float(upright[:, 2].max()))
    across, down = len(xs) - 1, len(ys) - 1
    if across < 2 or down < 1 or across * down > _MOST_CELLS:
        return None
    middle_x = (found.boxes[:, 0] + found.boxes[:, 2]) / 2
    middle_y = (found.boxes[:, 1] + found.boxes[:, 3]) / 2
    inside = (middle_x > xs[0]) & (middle_x < xs[-1]) & (middle_y > ys[0]) & (middle_y < ys[-1])
    if inside.sum() < 4:
        return None
    first = np.array(found.first)
    held = 2 * np.add.reduceat(inside, first[:-1], dtype=np.int64) > np.diff(first)
    lines = [at for at in np.flatnonzero(held).tolist() if found.lines[at].height]
    if len(lines) < 2:
        return None
    column = np.clip(np.searchsorted(xs, middle_x) - 1, 0, across - 1)
    row = down - 1 - np.clip(np.searchsorted(ys, middle_y) - 1, 0, down - 1)  # from the top
    at_cell = (row * across + column).tolist()
    held_words = [word for at in lines for word in range(found.first[at], found.first[at + 1])]
    at_cells = {at_cell[word] for word in held_words}
    if len(at_cells) < 4 or len({cell % across for cell in at_cells}) < 2:
        return None
    owner = _joined(level, upright, xs, ys)
    words: dict[int, list[int]] = {}
    for word in held_words:
        words.setdefault(owner[at_cell[word]], []).append(word)
    if not words or max(map(len, words.values())) > _MOST_WORDS:
        return None
    if _is_frame(found, words):
        return None
    cells = _cells(found, words, across, down)
    cells = [cell for cell in cells if any(cell)]
    if not cells:
        return None
    filled = sum(bool(cell) for cells_of in cells for cell in cells_of)
    used = [n for n in range(across) if any(cells_of[n] for cells_of in cells)]
    if len(cells) < 2 or len(used) < 2 or filled < 4 or filled < 0.15 * len(cells) * len(used):
        return None
    rows = _in_direction(_without_units([[cells_of[n] for n in used] for cells_of in cells]))
    if len(rows[0]) < 2:
        return None
    return Grid(rows, lines, ys[-1], ys[0])


def _is_frame(found: Segments, words: dict[int, list[int]]) -> bool:
    """Whether the lines only frame text that has columns of its own inside of the cells."""
    stretch = np.repeat(np.arange(len(found.lines)), np.diff(found.first))
    parted = rows = 0
    for cell in words.values():
        lines = _grouped(found, cell)
        rows += len(lines)
        for _, _, held in lines:
            parts = {int(stretch[word]) for word in held}
            texts = [found.lines[part].text for part in parts]
            if len(parts) > 1 and not any(map(_BULLET.fullmatch, texts)):
                parted += 1
    return parted > max(1, 0.15 * rows)


def _joined(
    level: NDArray[np.float64],
    upright: NDArray[np.float64],
    xs: Sequence[float],
    ys: Sequence[float],
) -> list[int]:
    """For each cell, by rows from the top, the number of the top left one that it is part of."""
    across, down = len(xs) - 1, len(ys) - 1
    parent = list(range(across * down))

    def root(at: int) -> int:
        while parent[at] != at:
            parent[at] = parent[parent[at]]
            at = parent[at]
        return at

    def join(a: int, b: int) -> None:
        first, second = sorted((root(a), root(b)))
        parent[second] = first

    beside = [_near(upright, place) for place in xs]
    below = [_near(level, place) for place in ys]
    for row in range(down):
        top, base = ys[down - row], ys[down - row - 1]
        for column in range(across):
            at = row * across + column
            if column and not _has_edge(beside[column], base, top):
                join(at, at - 1)
            if row and not _has_edge(below[down - row], xs[column], xs[column + 1]):
                join(at, at - across)
    return [root(at) for at in range(across * down)]


def _near(lines: NDArray[np.float64], place: float) -> list[list[float]]:
    near: list[list[float]] = lines[np.abs(lines[:, 0] - place) <= _NEAR, 1:].tolist()
    return near


def _has_edge(near: Sequence[Sequence[float]], start: float, end: float) -> bool:
    shown = sum(max(0.0, min(stop, end) - max(begin, start)) for begin, stop in near)
    return shown >= _EDGE * (end - start)


def _cells(found: Segments, words: dict[int, list[int]], across: int, down: int) -> list[list[str]]:
    """Texts of cells; a row that holds several without a line between them becomes several."""
    rows: list[list[str]] = []
    for row in range(down):
        texts = [words.get(row * across + column, []) for column in range(across)]
        rows += _rows(found, texts)
    return rows


def _rows(found: Segments, texts: list[list[int]]) -> list[list[str]]:
    parts = [_in_lines(found, cell) for cell in texts]
    most = max(map(len, parts), default=0)
    filled = [part for part in parts if part]
    if most >= 3 and len(filled) > 1:
        # rows without rules: the same base lines in most of the columns
        bases = max(parts, key=len)
        places = [base for base, _ in bases]
        near = [
            [min(range(most), key=lambda n: abs(places[n] - base)) for base, _ in part]
            for part in parts
        ]
        exact = all(
            abs(places[n] - base) < 2
            for part, places_of in zip(parts, near, strict=True)
            for (base, _), n in zip(part, places_of, strict=True)
        )
        full = sum(len(set(places_of)) for places_of in near)
        if exact and full >= 0.75 * most * len(filled) and _values(parts):
            rows = [[""] * len(texts) for _ in range(most)]
            for column, (part, places_of) in enumerate(zip(parts, near, strict=True)):
                for (_, text), n in zip(part, places_of, strict=True):
                    rows[n][column] = f"{rows[n][column]} {text}".strip()
            return rows
    return [[_text([text for _, text in part]) for part in parts]]


def _values(parts: Sequence[Sequence[tuple[float, str]]]) -> bool:
    """Whether a column holds nothing but numbers, one a line, as no wrapped text does."""
    return any(len(part) > 2 and all(_VALUE.fullmatch(text) for _, text in part) for part in parts)


def _in_lines(found: Segments, words: Sequence[int]) -> list[tuple[float, str]]:
    """The words of a cell line by line, from the top, with the lines' places."""
    lines = _grouped(found, words)
    return [(middle, " ".join(found.words[word] for word in held)) for middle, _, held in lines]


def _grouped(found: Segments, words: Sequence[int]) -> list[tuple[float, float, list[int]]]:
    """Lines of words, from the top: their middles, heights and words."""
    lines: list[tuple[float, float, list[int]]] = []
    for word in words:
        _, base, _, top = found.boxes[word].tolist()
        middle, height = (base + top) / 2, top - base
        if lines and abs(lines[-1][0] - middle) < 0.5 * max(height, lines[-1][1]):
            lines[-1][2].append(word)
        else:
            lines.append((middle, height, [word]))
    lines.sort(key=lambda line: -line[0])
    return lines


def _text(lines: Sequence[str]) -> str:
    text = ""
    for line in lines:
        text += ("\n" if text.endswith("-") else " ") + line if text else line
    return rejoin(text).replace("\n", " ")


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
    cells = _with_their_headers(_without_units(cells))
    across = len(cells[0])
    filled = [sum(map(bool, row)) for row in cells]
    several = [row for row in cells if sum(map(bool, row)) > 1]
    if across < 2 or (len(several) < 3 and not short) or len(several) < 0.4 * len(cells):
        return None
    if statistics.mean(len(cell.split()) for row in several for cell in row if cell) > 8:
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
        _in_direction(_whole(lines, rows, cells)), used, top, min(lines[at].base for at in used)
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
        over = [min(line.right, b) - max(line.left, a) for a, b in columns]
        best = max(range(len(columns)), key=lambda n: min(over[n], 1.0) if over[n] > 0 else over[n])
        if max(over) > 0:  # over several columns: the first of them
            best = next(n for n, shown in enumerate(over) if shown > min(2.0, 0.5 * max(over)))
        best = max(best, least)
        parts = (line.text, cells[best]) if right_to_left(line.text) else (cells[best], line.text)
        cells[best] = " ".join(filter(None, parts))
        least = best
    return cells


def _without_units(cells: list[list[str]]) -> list[list[str]]:
    """Columns that hold only currency signs or closing marks joined to the numbers they go with."""
    across = len(cells[0])
    column = 0
    for row in cells:
        for at in range(across - 1):
            if row[at + 1] and (mark := _TRAILING.search(row[at])):
                row[at], row[at + 1] = row[at][: mark.start()], f"{mark[1]}{row[at + 1]}"
    while column < across and across > 1:
        held = [row[column] for row in cells if row[column]]
        over = column + 1 < across and all(
            not (row[column] and row[column + 1]) or _UNIT.fullmatch(row[column]) for row in cells
        )
        bullets = column + 1 < across and held and all(map(_BULLET.fullmatch, held))
        units = list(map(_UNIT.fullmatch, held))
        before = column + 1 < across and held and (all(units) or (over and any(units)))
        after = column > 0 and held and all(map(_AFTER.fullmatch, held))
        if before or after or bullets:
            into = column - 1 if after and not before else column + 1
            for row in cells:
                sign = row[column]
                if sign and into > column:
                    row[into] = f"{sign} {row[into]}".strip() if bullets else f"{sign}{row[into]}"
                elif sign:
                    row[into] += sign
                del row[column]
            across -= 1
        else:
            column += 1
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


def _in_direction(rows: list[list[str]]) -> list[list[str]]:
    """Rows that begin on the right where the script does."""
    if right_to_left("".join("".join(row) for row in rows)):
        return [row[::-1] for row in rows]
    return rows


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
                _text([part for part in (a, b) if part]) for a, b in zip(done[-1], row, strict=True)
            ]
        else:
            done.append(row)
    return done
