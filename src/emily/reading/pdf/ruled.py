"""Tables of a PDF page whose cells are parted by drawn lines."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emily.reading.pdf.rules import Drawn
from emily.reading.pdf.tables import BULLET, VALUE, Grid, in_direction, joined, without_units
from emily.reading.pdf.text import Segments

__all__ = ["ruled_tables"]

_NEAR = 3.0  # points that lines may miss each other by and still meet
_TOGETHER = 1.5  # points between lines that are one
_SHORTEST = 5.0  # points
_EDGE = 0.55  # share of a cell's side that is drawn, for the side to part it from its neighbour
_MOST_LINES = 600  # of a kind; more are a drawing, a map, graph paper
_MOST_CELLS = 4_000
_MOST_WORDS = 150  # of a cell; what holds more is a frame around text

_Line = tuple[float, float, list[int]]
"""A line in a cell: its middle, its height, its words."""


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
    middles = (found.boxes[:, :2] + found.boxes[:, 2:]) / 2
    for rows, columns in _components(level, upright):
        grid = _ruled(found, middles, level[rows], upright[columns])
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
    lines = lines[np.argsort(lines[:, 0], kind="stable")]
    group = np.concatenate([[0], (np.diff(lines[:, 0]) > _TOGETHER).cumsum()])
    order = np.lexsort((lines[:, 2], lines[:, 1], group))
    place, begin, stop = lines[:, 0], lines[order, 1], lines[order, 2]
    # the groups one after the other on one axis, so that those of two never meet
    offset = group * (stop.max() - begin.min() + 10 * _NEAR)
    reached = np.maximum.accumulate(stop + offset)
    apart = begin[1:] + offset[1:] > reached[:-1] + _NEAR
    first = np.concatenate([[0], np.flatnonzero(apart) + 1])
    places = place[np.searchsorted(group, group[first])]
    kept = np.stack([places, begin[first], np.maximum.reduceat(stop, first)], 1)
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
    unseen = np.asarray(meets.any(1))
    found = []
    for start in np.flatnonzero(unseen).tolist():
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
    found: Segments,
    middles: NDArray[np.floating[Any]],
    level: NDArray[np.float64],
    upright: NDArray[np.float64],
) -> Grid | None:
    xs = _places(upright[:, 0], float(level[:, 1].min()), float(level[:, 2].max()))
    ys = _places(level[:, 0], float(upright[:, 1].min()), float(upright[:, 2].max()))
    across, down = len(xs) - 1, len(ys) - 1
    if across < 2 or down < 1 or across * down > _MOST_CELLS:
        return None
    middle_x, middle_y = middles[:, 0], middles[:, 1]
    inside = (middle_x > xs[0]) & (middle_x < xs[-1]) & (middle_y > ys[0]) & (middle_y < ys[-1])
    if inside.sum() < 4:
        return None
    first = np.array(found.first)
    held = 2 * np.add.reduceat(inside, first[:-1], dtype=np.int64) > np.diff(first)
    lines = [at for at in np.flatnonzero(held).tolist() if found.lines[at].height]
    if len(lines) < 2:
        return None
    column = np.searchsorted(xs[1:-1], middle_x)
    row = down - 1 - np.searchsorted(ys[1:-1], middle_y)  # from the top
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
    boxes = found.boxes.tolist()
    grouped = {cell: _grouped(boxes, held) for cell, held in words.items()}
    if _is_frame(found, grouped.values()):
        return None
    cells = _cells(found, grouped, across, down)
    cells = [cell for cell in cells if any(cell)]
    if not cells:
        return None
    filled = sum(bool(cell) for cells_of in cells for cell in cells_of)
    used = [n for n in range(across) if any(cells_of[n] for cells_of in cells)]
    if len(cells) < 2 or len(used) < 2 or filled < 4 or filled < 0.15 * len(cells) * len(used):
        return None
    rows = in_direction(without_units([[cells_of[n] for n in used] for cells_of in cells]))
    if len(rows[0]) < 2:
        return None
    return Grid(rows, lines, ys[-1], ys[0])


def _is_frame(found: Segments, cells: Collection[Sequence[_Line]]) -> bool:
    """Whether the lines only frame text that has columns of its own inside of the cells."""
    parted = rows = 0
    for lines in cells:
        rows += len(lines)
        for _, _, held in lines:
            if len(held) < 2:
                continue
            parts = {bisect_right(found.first, word) - 1 for word in held}
            if len(parts) > 1:
                parted += not any(BULLET.fullmatch(found.lines[part].text) for part in parts)
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

    beside, below = _drawn_edges(upright, xs, ys), _drawn_edges(level, ys, xs)
    for row in range(down):
        for column in range(across):
            at = row * across + column
            if column and not beside[column][down - row - 1]:
                join(at, at - 1)
            if row and not below[down - row][column]:
                join(at, at - across)
    return [root(at) for at in range(across * down)]


def _drawn_edges(
    lines: NDArray[np.float64], places: Sequence[float], ends: Sequence[float]
) -> list[list[bool]]:
    """For each place, whether the stretches from one end to the next are drawn there."""
    stops = np.array(ends)
    near = np.abs(lines[None, :, 0] - np.array(places)[:, None]) <= _NEAR
    over = np.minimum(lines[:, 2, None], stops[1:]) - np.maximum(lines[:, 1, None], stops[:-1])
    shown = near.astype(np.float64) @ np.maximum(over, 0.0)
    drawn: list[list[bool]] = (shown >= _EDGE * np.diff(stops)).tolist()
    return drawn


def _cells(
    found: Segments, grouped: dict[int, list[_Line]], across: int, down: int
) -> list[list[str]]:
    """Texts of cells; a row that holds several without a line between them becomes several."""
    rows: list[list[str]] = []
    words = found.words
    for row in range(down):
        parts = [
            [
                (middle, " ".join([words[word] for word in held]))
                for middle, _, held in grouped.get(row * across + column, ())
            ]
            for column in range(across)
        ]
        rows += _rows(parts)
    return rows


def _rows(parts: list[list[tuple[float, str]]]) -> list[list[str]]:
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
            rows = [[""] * len(parts) for _ in range(most)]
            for column, (part, places_of) in enumerate(zip(parts, near, strict=True)):
                for (_, text), n in zip(part, places_of, strict=True):
                    rows[n][column] = f"{rows[n][column]} {text}".strip()
            return rows
    return [[joined([text for _, text in part]) for part in parts]]


def _values(parts: Sequence[Sequence[tuple[float, str]]]) -> bool:
    """Whether a column holds nothing but numbers, one a line, as no wrapped text does."""
    return any(len(part) > 2 and all(VALUE.fullmatch(text) for _, text in part) for part in parts)


def _grouped(boxes: Sequence[Sequence[float]], words: Sequence[int]) -> list[_Line]:
    """Lines of words, from the top."""
    lines: list[_Line] = []
    for word in words:
        _, base, _, top = boxes[word]
        middle, height = (base + top) / 2, top - base
        if lines and abs(lines[-1][0] - middle) < 0.5 * max(height, lines[-1][1]):
            lines[-1][2].append(word)
        else:
            lines.append((middle, height, [word]))
    if len(lines) > 1:
        lines.sort(key=lambda line: -line[0])
    return lines
