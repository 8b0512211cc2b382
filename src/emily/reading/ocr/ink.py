"""Whether a page shows anything: a sheet that was scanned on both sides often has an empty one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["has_ink"]

_SIDE = 900  # pixels of the longer side of the copy looked at: 77 dpi of an A4 sheet
_LEAST_CONTRAST = 7.0  # grey levels; pale print on grey paper has 15 and more on this copy
_GRAIN = 5.5  # times the grain of the paper; a normal grain reaches it once in 10^7 pixels
_NORMAL = 0.6745  # median of the size of what is normally distributed, in standard deviations
_LEAST_SIZE = 5  # pixels; a digit of 9 points is 8 high on this copy, speckles are 1 to 3
_LEAST_AREA = 9  # pixels
_SHEET = 200  # pixels of the shorter side from which a picture may be a scanned sheet
_MARGIN = 0.03  # of the longer side: what touches the rim and ends within this is no print
_ALONG = 0.25  # of a side: what touches the rim and is as long goes along it
_CORE = 0.35  # of a mark's greatest contrast
_LARGE = 25  # pixels: a mark of this size is none of dirt
_BLACK = 60  # grey level below which the rim is the scanner's lid
_MANY = 200  # speckles from which a page is dirty
_SHADOW = 2  # pixels from the rim: what touches it is the scanner's lid, not print


def has_ink(image: Image) -> bool:
    """Whether a page shows anything besides grain, speckles, a dark rim or a shadow.

    Ink is what differs from its surroundings by more than the paper's grain does, and hangs
    together over the size of a small letter. What goes along the rim of a sheet is taken for the
    scanner's edge.

    Args:
        image: mode RGB.

    Returns:
        Also true where that cannot be told for want of memory: OCR, which takes more, says so.
    """
    try:
        import cv2
    except ImportError:
        return True
    try:
        return _shows(image)
    except cv2.error:
        return True


def _shows(image: Image) -> bool:
    import cv2

    scale = min(1.0, _SIDE / max(image.size))
    size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    grey = np.asarray(image.convert("L"), np.uint8)
    small = cv2.resize(grey, size, interpolation=cv2.INTER_AREA) if scale < 1 else grey
    if min(small.shape) < 3 or np.ptp(small) < _LEAST_CONTRAST:
        return False
    smooth = cv2.GaussianBlur(small.astype(np.float32), (0, 0), 0.8)
    window = max(9, min(max(small.shape) // 20, min(small.shape)) | 1)
    # The median of the surroundings steps where a shadow does; a mean would not. Beyond a black
    # rim there is paper, so that it differs from its surroundings up to the edge.
    paper = _middle(small)
    wider = cv2.copyMakeBorder(small, window, window, window, window, cv2.BORDER_REPLICATE)
    if paper > 2 * _BLACK:
        for rim in (wider[:window], wider[-window:], wider[:, :window], wider[:, -window:]):
            rim[rim < _BLACK] = paper
    coarse = cv2.medianBlur(wider, window)[window:-window, window:-window]
    difference = np.abs(smooth - coarse)
    marked = (difference > _contrast(difference)).astype(np.uint8)
    count, labels, stats, _ = cv2.connectedComponentsWithStats(marked, connectivity=8)
    edges = _at_rim(stats, small.shape)
    edges[0] = True  # the paper
    large = stats[~edges, 2:4].max(axis=1, initial=0) >= _LARGE
    # A mark is as large as the part of it that is dark: a black dot throws a wide grey shade.
    peaks = np.zeros(count, np.float32)
    at = np.flatnonzero(marked)
    mark, depth = labels.ravel()[at], difference.ravel()[at]
    np.maximum.at(peaks, mark, depth)
    dark = np.zeros_like(marked)
    dark.ravel()[at] = (depth > _CORE * peaks[mark]) & ~edges[mark]
    count, _, stats, _ = cv2.connectedComponentsWithStats(dark, connectivity=8)
    sizes, areas = stats[1:, 2:4].max(axis=1), stats[1:, cv2.CC_STAT_AREA]
    dirty = int((sizes < _LEAST_SIZE).sum()) > _MANY
    least = 2 * _LEAST_SIZE if dirty else _LEAST_SIZE  # dots that are many touch each other
    if large.any() and not dirty:
        return True
    return bool(((sizes >= least) & (areas >= (3 if dirty else 1) * _LEAST_AREA)).any())


def _middle(grey: NDArray[Any]) -> int:
    """The median of grey levels, 0 to 255, by counting them: sorting takes ten times as long."""
    import cv2

    below = cv2.calcHist([grey], [0], None, [256], [0, 256]).astype(np.int64).cumsum()
    low, high = np.searchsorted(below, [(grey.size + 1) // 2, grey.size // 2 + 1])
    return int(low + high) // 2


def _contrast(difference: NDArray[np.float32]) -> float:
    """Grey levels that ink differs by at least, for the grain of the paper."""
    even = 0.999 * _LEAST_CONTRAST / _GRAIN * _NORMAL
    if 2 * np.count_nonzero(difference <= even) > difference.size + 2:
        return _LEAST_CONTRAST  # as is most of what is printed; sorting would only say the same
    grain = float(np.median(difference)) / _NORMAL
    return max(_LEAST_CONTRAST, _GRAIN * grain)


def _at_rim(stats: NDArray[np.int32], shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Which marks (left, top, width, height, area) are the scanner's rim, a fold or a streak.

    They go along the rim or lie within a narrow margin of it, or go from end to end. A small
    picture has no such rim: its print may fill it to the edge.
    """
    height, width = shape
    if min(shape) < _SHEET:
        return np.zeros(len(stats), np.bool_)
    left, top, wide, high = stats[:, 0], stats[:, 1], stats[:, 2], stats[:, 3]
    right, bottom = left + wide, top + high
    edge, margin = _SHADOW, max(_SHADOW, round(_MARGIN * max(shape)))
    touches = (left < edge) | (top < edge) | (right > width - edge) | (bottom > height - edge)
    long = (wide > _ALONG * width) | (high > _ALONG * height)
    outside = (
        (right < margin) | (bottom < margin) | (left > width - margin) | (top > height - margin)
    )
    thin = np.minimum(wide, high) <= 3
    whole = (wide > 0.9 * width) | (high > 0.9 * height)
    return np.asarray((touches & (long | outside)) | (thin & whole), np.bool_)
