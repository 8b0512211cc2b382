"""The rules (drawn lines) of a PDF page, of which tables are made, and its pictures."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pypdfium2 import raw

from emily.reading.pdf.text import addressed, function, held, turned

__all__ = ["Drawn", "Placed", "drawn"]

_THIN = 3.0  # points; a rectangle thinner than this is a line
_SHORT = 4.0  # points; a shorter line belongs to a glyph or an ornament
_MOST_OBJECTS = 20_000  # of a page that are looked at: maps and drawings have a million
_MOST_POINTS = 2_000  # of a path
_MOST_DEPTH = 4  # of forms inside of forms

_void, _int = ctypes.c_void_p, ctypes.c_int
_count = function(raw.FPDFPage_CountObjects, _int, _void)
_object = function(raw.FPDFPage_GetObject, _void)
_type = function(raw.FPDFPageObj_GetType, _int, _void)
_form_count = function(raw.FPDFFormObj_CountObjects, _int, _void)
_form_object = function(raw.FPDFFormObj_GetObject, _void)
_bounds = function(raw.FPDFPageObj_GetBounds, _int)
_points = function(raw.FPDFPath_CountSegments, _int, _void)
_point = function(raw.FPDFPath_GetPathSegment, _void, _void, _int)
_point_at = function(raw.FPDFPathSegment_GetPoint, _int, _void, _void, _void)
_point_type = function(raw.FPDFPathSegment_GetType, _int, _void)
_matrix = function(raw.FPDFPageObj_GetMatrix, _int, _void, _void)

_FLOATS = (ctypes.c_float * 6)()
_AT = [ctypes.addressof(_FLOATS) + 4 * n for n in range(6)]
_AT_ONCE = 512  # objects whose bounds are asked for in one go
_BOUNDS = np.zeros((_AT_ONCE, 4), np.float32)
_BOUNDS_AT = [
    [held(_BOUNDS.ctypes.data + 16 * n + 4 * side) for n in range(_AT_ONCE)] for side in range(4)
]

Box = tuple[float, float, float, float]
Matrix = tuple[float, float, float, float, float, float]
_SAME: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
_EDGES = ([0, 1, 2, 1], [0, 3, 2, 3], [0, 1, 0, 3], [2, 1, 2, 3])  # of a box, as boxes


@dataclass(frozen=True, slots=True)
class Placed:
    """A picture on a page.

    Attributes:
        handle: PDFium's address of it, as long as the page is open.
        left, base, right, top: its place, points, as displayed.
    """

    handle: int
    left: float
    base: float
    right: float
    top: float


@dataclass(slots=True)
class Drawn:
    """What is drawn on a page.

    Attributes:
        level: horizontal lines, shape (n, 3): y, from x, to x.
        upright: vertical lines, shape (n, 3): x, from y, to y.
        pictures: in the order in which they were written.
    """

    level: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 3)))
    upright: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 3)))
    pictures: list[Placed] = field(default_factory=list)


def drawn(page: Any, turn: int) -> Drawn:
    """Lines and pictures of a page, those inside of forms (reusable parts) as well.

    Args:
        page: of PDFium.
        turn: quarter turns clockwise that the page is turned by.
    """
    handle = addressed(page.raw)
    lines: list[NDArray[np.float64]] = []
    pictures: list[tuple[int, Box]] = []
    found = _listed(_object, handle, _count(handle), lines, _SAME)
    todo = [(item, kind, _SAME, 0) for item, kind in found]  # the last is next
    left = _MOST_OBJECTS
    while todo and left > 0:
        left -= 1
        item, kind, outer, depth = todo.pop()
        if kind == raw.FPDF_PAGEOBJ_IMAGE:
            places, known = _boxes([item], outer)
            if known[0]:
                pictures.append((item, tuple(places[0].tolist())))
        elif kind == raw.FPDF_PAGEOBJ_FORM and depth < _MOST_DEPTH:
            inner = outer
            if _matrix(item, _AT[0]):
                inner = _times(tuple(_FLOATS), outer)
            before = len(lines)
            found = _listed(_form_object, item, _form_count(item), lines, inner)
            left -= sum(map(len, lines[before:]))
            todo += [(item, kind, inner, depth + 1) for item, kind in found]
    return _made(lines, pictures, page, turn)


def _listed(
    get: Any, holder: int, count: int, lines: list[NDArray[np.float64]], outer: Matrix
) -> list[tuple[int, int]]:
    """What a page or a form holds beside text and paths, with its kind, the last first.

    The straight lines of the paths are added to ``lines``.
    """
    items = list(map(get, repeat(held(holder)), range(min(count, _MOST_OBJECTS))))
    kinds = np.fromiter(map(_type, items), np.int8, len(items))
    beside = np.flatnonzero(kinds != raw.FPDF_PAGEOBJ_TEXT).tolist()
    others = [(items[at], int(kinds[at])) for at in beside]
    _paths([item for item, kind in others if kind == raw.FPDF_PAGEOBJ_PATH], outer, lines)
    return [pair for pair in reversed(others) if pair[1] != raw.FPDF_PAGEOBJ_PATH]


def _made(
    straight: list[NDArray[np.float64]],
    pictures: list[tuple[int, Box]],
    page: Any,
    turn: int,
) -> Drawn:
    width, height = page.get_size()
    size = (height, width) if page.get_rotation() // 90 % 2 else (width, height)
    found = Drawn()
    if straight:
        lines = np.concatenate(straight)
        if turn:
            lines = turned(lines.astype(np.float32), turn, size).astype(np.float64)
        left, base, right, top = lines.T
        flat = (top - base < right - left) & (right - left > _SHORT)
        tall = (right - left < top - base) & (top - base > _SHORT)
        found.level = np.stack([(base + top) / 2, left, right], 1)[flat]
        found.upright = np.stack([(left + right) / 2, base, top], 1)[tall]
    if pictures:
        places = np.array([box for _, box in pictures], np.float32)
        if turn:
            places = turned(places, turn, size)
        found.pictures = [
            Placed(handle, *map(float, place))
            for (handle, _), place in zip(pictures, places, strict=True)
        ]
    return found


def _boxes(items: Sequence[int], outer: Matrix) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Where objects stand: left, base, right, top, shape (n, 4); and whether that is known."""
    floats = np.zeros((len(items), 4), np.float32)
    known = np.zeros(len(items), np.bool_)
    for begin in range(0, len(items), _AT_ONCE):
        part = slice(begin, min(begin + _AT_ONCE, len(items)))
        size = part.stop - begin
        _BOUNDS[:size] = 0
        known[part] = np.fromiter(map(_bounds, map(held, items[part]), *_BOUNDS_AT), np.bool_, size)
        floats[part] = _BOUNDS[:size]
    known &= np.isfinite(floats).all(1)
    places = floats.astype(np.float64)
    if outer is not _SAME:
        a, b, c, d, e, f = outer
        x, y = places[:, [0, 0, 2, 2]], places[:, [1, 3, 1, 3]]  # the corners
        xs, ys = a * x + c * y + e, b * x + d * y + f
        places = np.stack([xs.min(1), ys.min(1), xs.max(1), ys.max(1)], 1)
    return places, known


def _paths(items: Sequence[int], outer: Matrix, lines: list[NDArray[np.float64]]) -> None:
    """The straight lines of paths: a path itself, if it is thin, else its edges."""
    if not items:
        return
    places, known = _boxes(items, outer)
    thin = (places[:, 2:] - places[:, :2] < _THIN).any(1)
    lines.append(places[known & thin])
    thick = np.flatnonzero(known & ~thin).tolist()
    if not thick:
        return
    counts = [_points(items[at]) for at in thick]
    rectangles = [at for at, count in zip(thick, counts, strict=True) if count in {4, 5}]
    for edge in _EDGES:
        lines.append(places[rectangles][:, edge])
    edges: list[Box] = []
    for at, count in zip(thick, counts, strict=True):
        if count not in {4, 5} and 2 <= count <= _MOST_POINTS:
            _outline(items[at], count, outer, edges)
    if edges:
        lines.append(np.array(edges, np.float64))


def _outline(item: int, count: int, outer: Matrix, boxes: list[Box]) -> None:
    matrix = outer
    if _matrix(item, _AT[0]):
        matrix = _times(tuple(_FLOATS), outer)
    before: tuple[float, float] | None = None
    begun: tuple[float, float] | None = None
    for at in range(count):
        part = _point(item, at)
        if not part or not _point_at(part, _AT[0], _AT[1]):
            return
        here = _through(matrix, _FLOATS[0], _FLOATS[1])
        kind = _point_type(part)
        if kind == raw.FPDF_SEGMENT_MOVETO:
            if begun is not None and before is not None:
                _edge(before, begun, boxes)  # a filled path is closed without being told
            begun = here
        elif kind == raw.FPDF_SEGMENT_LINETO and before is not None:
            _edge(before, here, boxes)
        before = here
    if begun is not None and before is not None and before != begun:
        _edge(before, begun, boxes)


def _edge(
    a: tuple[float, float],
    b: tuple[float, float],
    boxes: list[Box],
) -> None:
    if abs(a[0] - b[0]) < 0.5 or abs(a[1] - b[1]) < 0.5:
        boxes.append((min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1])))


def _times(inner: Matrix, outer: Matrix) -> Matrix:
    a, b, c, d, e, f = inner
    g, h, i, j, k, m = outer
    return (
        a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j,
        e * g + f * i + k, e * h + f * j + m,
    )  # fmt: skip


def _through(matrix: Matrix, x: float, y: float) -> tuple[float, float]:
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f
