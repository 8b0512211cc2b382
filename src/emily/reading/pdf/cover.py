"""How much of a PDF page its pictures cover, and whether text is spread over it or in one place."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from emily.reading.layout import TextLine
from emily.reading.pdf.rules import Placed

__all__ = ["covers", "in_a_band", "most_over", "on_it", "stands_apart"]

_SCAN = 0.5  # share of the page that its pictures cover, for the page to be a scan
_CELLS = 100  # rows and columns that a page is parted into
_BAND = 0.2  # share of the rows that text in one place takes: a dozen lines of a letter's page
_FREE = 0.5  # share of the height that such text leaves free in one piece
_MOST_PICTURES = 5_000  # of a page that are looked at; a scan is stored as 110 strips or fewer


def covers(pictures: Sequence[Placed], size: tuple[float, float]) -> bool:
    """Whether pictures together cover most of a page, as a scan does, whole or in strips.

    Args:
        pictures: what stands on the page.
        size: its width and height, points.
    """
    width, height = size
    if not pictures or width <= 0 or height <= 0:
        return False
    places = np.array(
        [(p.left, p.base, p.right, p.top) for p in pictures[:_MOST_PICTURES]], np.float64
    ).clip(0, [width, height, width, height])
    areas = (places[:, 2] - places[:, 0]) * (places[:, 3] - places[:, 1])
    if areas.sum() <= _SCAN * width * height:
        return False
    x, y = ((np.arange(_CELLS) + 0.5) * side / _CELLS for side in size)
    seen = np.zeros((_CELLS, _CELLS), np.bool_)
    for left, base, right, top in places[areas > 0]:
        across = slice(*np.searchsorted(x, (left, right)))
        seen[slice(*np.searchsorted(y, (base, top))), across] = True
    return float(seen.mean()) > _SCAN


def in_a_band(lines: Sequence[TextLine], base: float, top: float) -> bool:
    """Whether the text between two heights stands in a narrow band or two: a header, a caption.

    It does if it takes at most a fifth of the rows and leaves half of the height free in one
    piece. The bounds are our own: the printed head of a mail takes 6 % of a page, a letter of
    fourteen lines a fifth.

    Args:
        lines: of the page.
        base, top: points from the foot of the page.
    """
    if top <= base:
        return False
    taken = np.zeros(_CELLS, np.bool_)
    step = (top - base) / _CELLS
    for line in lines:
        if line.height > 0:
            edge = line.height / 4
            first = int((line.base - edge - base) // step)
            last = int((line.base + line.height + edge - base) // step)
            taken[max(0, first) : max(0, last + 1)] = True
    return float(taken.mean()) <= _BAND and _longest(~taken) >= _FREE * _CELLS


def most_over(picture: Placed, lines: Sequence[TextLine]) -> bool:
    """Whether most of a page's text stands on a picture."""
    over = sum(len(line.text) for line in on_it(picture, lines))
    return 2 * over > sum(len(line.text) for line in lines if line.height)


def on_it(picture: Placed, lines: Sequence[TextLine]) -> list[TextLine]:
    """The lines that stand on a picture."""
    found = []
    for line in lines:
        if line.height:
            x, y = (line.left + line.right) / 2, line.base + line.height / 2
            if picture.left <= x <= picture.right and picture.base <= y <= picture.top:
                found.append(line)
    return found


def stands_apart(
    pictures: Sequence[Placed], lines: Sequence[TextLine], size: tuple[float, float]
) -> bool:
    """Whether one picture alone covers most of the page and its text stands beside it."""
    return any(
        covers([picture], size) and not most_over(picture, lines)
        for picture in pictures[:_MOST_PICTURES]
    )


def _longest(free: NDArray[np.bool_]) -> int:
    """The longest run of rows that are free."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], free, [False]]).astype(np.int8)))
    return int((edges[1::2] - edges[::2]).max(initial=0))
