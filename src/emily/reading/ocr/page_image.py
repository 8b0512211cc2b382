"""Pictures of pages made ready for OCR: a photographed sheet cut out, lit evenly, set straight.

Each step looks at a small grey copy first and is taken only where the copy leaves no doubt, so
that a clean scan costs about a tenth of a second and goes through as it is.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from emily.reading.ocr.photograph import Sheet, laid_flat, sheet_of

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["lines_stand", "prepared", "skew", "two_tone"]

Grey = NDArray[np.uint8]
"""A picture in grey levels, height x width."""

_SMALL = 1000  # pixels of the longer side of the copy that is looked at
_LEAST_INK = 400  # pixels of the copy below which nothing is told from a page's ink
_MOST_SKEW = 8.0  # degrees; more is no carelessness at the scanner
_LEAST_SKEW = 0.25  # degrees; less moves the ends of a line by less than half of its height
_LEAST_PALE = 15  # grey levels between ink and paper below which there is no print
_MOST_PALE = 70  # below which small print is overlooked; good print has 150 and more
_FAX_SIDE = 2400  # pixels of the longer side up to which a picture in two tones is enlarged
_BETWEEN = 0.05  # greys for each black pixel; print drawn by a computer has as many as blacks


def prepared(image: Image) -> Image:
    """A page as an OCR engine likes it: flat, straight, evenly lit, its lines running across.

    Whether it stands on its head is not seen here: that takes reading.

    Args:
        image: a page, mode RGB.

    Returns:
        The same picture where nothing is the matter with it, else a new one, mode RGB.
    """
    import cv2

    if min(image.size) < 32:
        return image
    try:
        return _prepared(image)
    except cv2.error:  # for want of memory, as a rule: then it is read as it is
        return image


def _prepared(image: Image) -> Image:
    from PIL import Image as Pictures

    page: NDArray[np.uint8] = np.asarray(image)
    changed = False
    small, scale = _small(page)
    sheet = sheet_of(small)
    if sheet is not None:
        page, changed = laid_flat(page, Sheet(sheet.corners / np.float32(scale))), True
        small, scale = _small(page)
    if two_tone(small, page):
        page, changed = _smoothed(page), True
        small, scale = _small(page)
    else:
        light = _light(small)
        if light is not None:
            page, changed = _evened(page, light), True
            small, scale = _small(page)
        if (levels := _pale(small)) is not None:
            page, changed = _spread(page, *levels), True
    ink = _ink(small)
    if lines_stand(ink):
        page, changed = np.ascontiguousarray(np.rot90(page)), True
        ink = np.ascontiguousarray(np.rot90(ink))
    degrees = skew(ink)
    if degrees:
        page, changed = _rotated(page, degrees), True
    return Pictures.fromarray(page) if changed else image


def _small(page: NDArray[np.uint8]) -> tuple[Grey, float]:
    """A grey copy of at most ``_SMALL`` pixels, and its scale."""
    import cv2

    scale = min(1.0, _SMALL / max(page.shape[:2]))
    size = (max(1, round(page.shape[1] * scale)), max(1, round(page.shape[0] * scale)))
    less = cv2.resize(page, size, interpolation=cv2.INTER_AREA) if scale < 1 else page
    return np.asarray(cv2.cvtColor(less, cv2.COLOR_RGB2GRAY), np.uint8), scale


def two_tone(small: Grey, page: NDArray[np.uint8]) -> bool:
    """Whether a page is black and white without greys between, as faxes are."""
    rows = page[:: max(1, page.shape[0] // 300), :, 0]
    black = int((rows < 8).sum())
    between = int(((rows >= 8) & (rows <= 247)).sum())
    return between < _BETWEEN * black and bool((small > 200).mean() > 0.5)


def _smoothed(page: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A page in two tones, up to twice as large, its steps smoothed and its speckles gone."""
    import cv2

    dots = (page[:, :, 0] < 128).astype(np.uint8)
    count, labels, stats, _ = cv2.connectedComponentsWithStats(dots, connectivity=8)
    lone = np.zeros(count, bool)
    lone[1:] = stats[1:, cv2.CC_STAT_AREA] <= 2
    solid = (dots == 1) & ~lone[labels]
    # A dot near to other ink may be that of an i, or a point; one far from any is dirt.
    near = cv2.dilate(solid.astype(np.uint8), np.ones((9, 9), np.uint8)) == 1
    kept = np.where(solid | ((dots == 1) & near), 0, 255).astype(np.uint8)
    scale = min(2.0, max(1.0, _FAX_SIDE / max(page.shape[:2])))
    size = (round(page.shape[1] * scale), round(page.shape[0] * scale))
    large = cv2.resize(kept, size, interpolation=cv2.INTER_CUBIC)
    large = cv2.GaussianBlur(large, (0, 0), 0.5 * scale)
    return np.asarray(cv2.cvtColor(large, cv2.COLOR_GRAY2RGB), np.uint8)


def _light(small: Grey) -> NDArray[np.float32] | None:
    """How bright the paper is, over a small copy of the page; ``None`` where it is even."""
    import cv2

    if float(np.median(small)) < 60:  # light writing on a dark ground
        return None
    tiny = cv2.resize(small, None, fx=0.25, fy=0.25, interpolation=cv2.INTER_AREA)
    # Ink is darker than the paper around it, and thinner than the window.
    paper = cv2.dilate(tiny, np.ones((9, 9), np.uint8))
    paper = cv2.medianBlur(paper, 21)
    low, high = np.percentile(paper, (3, 97))
    if high - low < 40 or low < 25:
        return None
    return np.asarray(cv2.GaussianBlur(paper, (0, 0), 6), np.float32)


def _evened(page: NDArray[np.uint8], light: NDArray[np.float32]) -> NDArray[np.uint8]:
    import cv2

    size = (page.shape[1], page.shape[0])
    grey = cv2.cvtColor(page, cv2.COLOR_RGB2GRAY)
    paper = cv2.resize(light, size, interpolation=cv2.INTER_LINEAR)
    even = cv2.divide(grey.astype(np.float32), np.maximum(paper, 1), scale=235)
    plain = np.clip(even, 0, 255).astype(np.uint8)
    return np.asarray(cv2.cvtColor(plain, cv2.COLOR_GRAY2RGB), np.uint8)


def _pale(small: Grey) -> tuple[float, float] | None:
    """The grey levels of ink and paper where they are near to each other; else ``None``."""
    paper = float(np.median(small))
    ink = float(np.percentile(small, 0.5))
    if not _LEAST_PALE < paper - ink < _MOST_PALE:
        return None
    return ink, paper


def _spread(page: NDArray[np.uint8], ink: float, paper: float) -> NDArray[np.uint8]:
    """A pale page with its ink dark and its paper bright."""
    import cv2

    scale = 180 / (paper - ink)
    table = np.clip((np.arange(256) - ink) * scale + 60, 0, 255).astype(np.uint8)
    return np.asarray(cv2.LUT(cv2.GaussianBlur(page, (0, 0), 0.7), table), np.uint8)


def _ink(small: Grey) -> Grey:
    """Where a page has ink: 1 for pixels darker than what lies around them."""
    import cv2

    window = max(15, max(small.shape) // 30 | 1)
    around = cv2.blur(small, (window, window)).astype(np.int16)
    return np.asarray(small.astype(np.int16) < around - 12, np.uint8)


def _sharpness(down: NDArray[np.float64], along: NDArray[np.float64], degrees: float) -> float:
    """How sharply rows of ink part from the gaps between, for lines tilted by an angle.

    The criterion is Postl's (1986, "Detection of linear oblique structures and skew scan in
    digitized documents"): the sum of squared differences of neighbouring rows' ink.
    """
    rows = np.rint(down - along * math.tan(math.radians(degrees))).astype(np.int64)
    profile = np.bincount(rows - rows.min()).astype(np.float64)
    return float((np.diff(profile) ** 2).sum())


def _points(ink: Grey) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Row and column of each pixel of ink, thinned to as many as are needed."""
    down, along = np.nonzero(ink)
    if down.size < _LEAST_INK:
        return None
    step = max(1, down.size // 60_000)
    return down[::step].astype(np.float64), along[::step].astype(np.float64)


def lines_stand(ink: Grey) -> bool:
    """Whether the lines of a page run from top to bottom, and surely so.

    Args:
        ink: 1 where there is ink, else 0.
    """
    points = _points(ink)
    if points is None:
        return False
    down, along = points
    angles = np.arange(-6, 6.1, 1.0)
    lying = max(_sharpness(down, along, float(angle)) for angle in angles)
    standing = max(_sharpness(along, down, float(angle)) for angle in angles)
    return standing > 1.6 * lying


def skew(ink: Grey) -> float:
    """By how much a page's lines are tilted, degrees: positive ones fall to the right.

    0 where they are straight, where there is too little ink, or where no angle stands out.

    Args:
        ink: 1 where there is ink, else 0.
    """
    points = _points(ink)
    if points is None:
        return 0.0
    down, along = points
    coarse = {
        float(angle): _sharpness(down, along, float(angle))
        for angle in np.arange(-_MOST_SKEW, _MOST_SKEW + 0.1, 0.5)
    }
    best = max(coarse, key=coarse.__getitem__)
    if abs(best) >= _MOST_SKEW or coarse[best] < 1.5 * float(np.median(list(coarse.values()))):
        return 0.0
    fine = {
        float(angle): _sharpness(down, along, float(angle))
        for angle in np.arange(best - 0.4, best + 0.41, 0.1)
    }
    best = max(fine, key=fine.__getitem__)
    straight = coarse[0.0]
    return best if abs(best) >= _LEAST_SKEW and fine[best] > 1.1 * straight else 0.0


def _rotated(page: NDArray[np.uint8], degrees: float) -> NDArray[np.uint8]:
    """A page turned so that lines which fall to the right by an angle lie straight."""
    import cv2

    height, width = page.shape[:2]
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), degrees, 1)
    sine, cosine = abs(matrix[0, 1]), abs(matrix[0, 0])
    size = (round(height * sine + width * cosine), round(height * cosine + width * sine))
    matrix[:, 2] += (size[0] - width) / 2, (size[1] - height) / 2
    rim = np.concatenate([page[:2].reshape(-1, 3), page[-2:].reshape(-1, 3)])
    paper = tuple(float(value) for value in np.median(rim, axis=0))
    turned = cv2.warpAffine(page, matrix, size, flags=cv2.INTER_CUBIC, borderValue=paper)
    return np.asarray(turned, np.uint8)
