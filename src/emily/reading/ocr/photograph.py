"""The sheet of paper in a photograph: found by its corners, and laid flat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Sheet", "laid_flat", "sheet_of"]

Grey = NDArray[np.uint8]
"""A picture in grey levels, height x width."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """Where a sheet of paper lies in a photograph.

    Attributes:
        corners: 4 x 2, x and y in pixels: upper left, upper right, lower right, lower left.
    """

    corners: NDArray[np.float32]

    def size(self) -> tuple[int, int]:
        """Width and height of the sheet laid flat, pixels: the longer of its opposite sides."""
        one, two, three, four = self.corners
        width = max(np.linalg.norm(two - one), np.linalg.norm(three - four))
        height = max(np.linalg.norm(four - one), np.linalg.norm(three - two))
        return max(1, round(float(width))), max(1, round(float(height)))


def sheet_of(small: Grey) -> Sheet | None:
    """The sheet in a photograph: a bright shape of four corners on a darker ground.

    Sure only where the picture's rim is ground for the most part, the shape fills a good part of
    the picture, is filled by its four corners, and is clearly brighter than what lies around it.

    Args:
        small: the picture, grey.
    """
    import cv2

    height, width = small.shape
    blurred = cv2.GaussianBlur(small, (0, 0), 3)
    level, _ = cv2.threshold(blurred, 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    side = max(9, max(small.shape) // 25 | 1)
    kernel = np.ones((side, side), np.uint8)
    for share in (1.0, 0.8, 0.6, 1.2):  # light falls off over a sheet
        bright = (blurred > level * share).astype(np.uint8)
        rim = np.concatenate([bright[:3].ravel(), bright[-3:].ravel(),
                              bright[:, :3].ravel(), bright[:, -3:].ravel()])  # fmt: skip
        if rim.mean() > 0.35:
            continue
        padded = cv2.copyMakeBorder(bright, side, side, side, side, cv2.BORDER_CONSTANT, value=0)
        closed = cv2.morphologyEx(padded, cv2.MORPH_CLOSE, kernel)[side:-side, side:-side]
        found, _ = cv2.findContours(
            np.ascontiguousarray(closed), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE
        )
        if not found:
            continue
        hull = cv2.convexHull(max(found, key=cv2.contourArea))
        area = cv2.contourArea(hull)
        if area < 0.3 * height * width:
            continue
        corners = _four(hull)
        if corners is None or abs(cv2.contourArea(corners) - area) > 0.04 * area:
            continue
        inside = np.zeros_like(small)
        cv2.fillConvexPoly(inside, np.round(corners).astype(np.int32), 1)
        filled = float(closed[inside == 1].mean())
        ground = small[inside == 0]
        if filled < 0.93 or ground.size == 0:
            continue
        if float(np.median(small[inside == 1])) - float(np.median(ground)) < 35:
            continue
        return Sheet(corners)
    return None


def _four(hull: NDArray[Any]) -> NDArray[np.float32] | None:
    """The four corners of an outline, in order; ``None`` where it has not just four."""
    import cv2

    around = cv2.arcLength(hull, True)
    for share in (0.01, 0.02, 0.03, 0.04):
        points = cv2.approxPolyDP(hull, share * around, True).reshape(-1, 2)
        if len(points) <= 4:
            break
    if len(points) != 4:
        return None
    centre = points.mean(axis=0)
    turns = np.arctan2(points[:, 1] - centre[1], points[:, 0] - centre[0])
    ordered = points[np.argsort(turns)].astype(np.float32)
    # Clockwise from the upper left, which is the nearest to the picture's origin.
    ordered = np.roll(ordered, -int(ordered.sum(axis=1).argmin()), axis=0)
    for at in range(4):
        one, two = ordered[at - 1] - ordered[at], ordered[(at + 1) % 4] - ordered[at]
        lengths = float(np.linalg.norm(one) * np.linalg.norm(two))
        if lengths == 0 or abs(float(one @ two)) / lengths > 0.5:  # a corner of 60 to 120 degrees
            return None
    return np.asarray(ordered, np.float32)


def laid_flat(page: NDArray[np.uint8], sheet: Sheet) -> NDArray[np.uint8]:
    """What lies between a sheet's corners, height x width x 3, as a page of its own."""
    import cv2

    width, height = sheet.size()
    inset = 0.004 * min(width, height)  # the sheet's edge itself would be a line on the page
    target = np.array(
        [[-inset, -inset], [width + inset, -inset],
         [width + inset, height + inset], [-inset, height + inset]], np.float32)  # fmt: skip
    matrix = cv2.getPerspectiveTransform(sheet.corners, target)
    flat = cv2.warpPerspective(
        page, matrix, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
    )
    return np.asarray(flat, np.uint8)
