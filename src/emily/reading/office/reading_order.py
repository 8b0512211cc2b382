"""The order in which boxes on a slide are read."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["in_reading_order"]

_SHRINK = 0.1  # of a box's side at each end: frames of text overlap a little, their text does not
_DEEPEST = 50

_Box = tuple[float, float, float, float]


def in_reading_order(boxes: Sequence[tuple[int, int, int, int]]) -> list[int]:
    """Places of boxes in the order in which they are read.

    The boxes are parted at the widest free strip, across or down, and so on in either part
    (recursive XY-cut, Nagy and Seth 1984). Where no strip is free, they follow from top to bottom.

    Args:
        boxes: left, top, right, bottom of each.
    """
    shrunk = []
    for left, top, right, bottom in boxes:
        across, down = _SHRINK * (right - left), _SHRINK * (bottom - top)
        shrunk.append((left + across, top + down, right - across, bottom - down))
    return _cut(shrunk, list(range(len(boxes))), 0)


def _cut(boxes: Sequence[_Box], places: list[int], depth: int) -> list[int]:
    if len(places) < 2 or depth > _DEEPEST:
        return places
    down, below = _gap(boxes, places, 1)
    across, beside = _gap(boxes, places, 0)
    if max(down, across) <= 0:
        return sorted(places, key=lambda at: (boxes[at][1], boxes[at][0], at))
    columns = min(len(beside), len(places) - len(beside)) > 1  # a lone box is no column
    first = below if down >= across or (down > 0 and not columns) else beside
    rest = [at for at in places if at not in first]
    return _cut(boxes, first, depth + 1) + _cut(boxes, rest, depth + 1)


def _gap(boxes: Sequence[_Box], places: list[int], axis: int) -> tuple[float, list[int]]:
    """Width of the widest free strip, and the boxes on its near side."""
    order = sorted(places, key=lambda at: (boxes[at][axis], at))
    widest, cut = 0.0, 0
    end = boxes[order[0]][axis + 2]
    for place, at in enumerate(order[1:], 1):
        gap = boxes[at][axis] - end
        if gap > widest:
            widest, cut = gap, place
        end = max(end, boxes[at][axis + 2])
    near = set(order[:cut])
    return widest, [at for at in places if at in near]
