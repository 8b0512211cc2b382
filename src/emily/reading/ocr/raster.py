"""Files of pictures: opened within bounds, and made plain pictures of pages."""

from __future__ import annotations

from pathlib import Path
from typing import IO

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from emily.errors import LimitExceeded
from emily.reading.ocr.ink import has_ink

__all__ = ["BROKEN", "MOST_PIXELS", "bound", "flatten", "opened"]

MOST_PIXELS = 120_000_000
"""Of a picture that is decoded: 360 MB in colour."""

"""Largest picture that is decoded: an A3 sheet at 800 dpi; 360 MB as RGB."""

_JPEG_SIDE = 4_800  # a larger JPEG is decoded at a half, a quarter or an eighth of its size
_ODD_PIXELS = 1.2  # sides of a pixel in proportion from which it is not square; faxes have 2
_LONGEST_PIXELS = 4.5  # the same, from which the file is taken to be wrong
_LEAST_SPAN = 0.04  # of the grey levels that a picture of 16 bits can have, to be spread out
BROKEN = (
    OSError,
    ValueError,
    SyntaxError,
    TypeError,
    IndexError,
    KeyError,
    EOFError,
    AttributeError,
    OverflowError,
    ZeroDivisionError,
    NotImplementedError,
)
"""What Pillow raises for broken pictures."""


def opened(file: Path | IO[bytes]) -> Image.Image:
    """A picture whose header is read, its pixels not yet.

    Raises:
        UnidentifiedImageError: it is in no format that is known.
        BROKEN: it is broken.
    """
    Image.MAX_IMAGE_PIXELS = None  # ``bound`` has a limit of its own, and knows what can be scaled
    try:
        return Image.open(file)
    except UnidentifiedImageError:
        # HEIC is the one format of telephones that Pillow has no decoder for.
        from pi_heif import register_heif_opener

        register_heif_opener(thumbnails=False)
        return Image.open(file)


def bound(image: Image.Image) -> None:
    """Refuse a picture too large to decode, unless it is a JPEG that can be decoded smaller.

    Raises:
        LimitExceeded: it has more pixels than are decoded.
    """
    # A progressive JPEG is held whole while it is decoded, however small it comes out.
    if image.format in {"JPEG", "MPO"} and not image.info.get("progressive"):
        longer = max(image.size)
        if longer > _JPEG_SIDE:
            scale = _JPEG_SIDE / longer
            image.draft("RGB", (int(image.width * scale) or 1, int(image.height * scale) or 1))
    pixels = image.width * image.height
    if pixels > MOST_PIXELS:
        raise LimitExceeded(
            f"the picture has {image.width:,} x {image.height:,} pixels "
            f"({pixels / 1e6:,.0f} million; at most {MOST_PIXELS / 1e6:,.0f} million are decoded)"
        )


def flatten(image: Image.Image) -> Image.Image:
    """The picture upright as its EXIF data say, with square pixels, on white, in mode RGB.

    What is transparent lies on black where nothing is to be seen of it on white.
    """
    longer = _longer_pixels(image)
    image = _squared(ImageOps.exif_transpose(image), longer)
    if image.mode in {"I", "F"} or image.mode.startswith("I;"):
        return Image.fromarray(_spread(image)).convert("RGB")
    if "A" in image.getbands() or "a" in image.getbands() or "transparency" in image.info:
        layer = image.convert("RGBA")
        on_white = _laid(layer, "white")
        if has_ink(on_white) or not has_ink(on_black := _laid(layer, "black")):
            return on_white
        return on_black
    if image.mode == "LAB":  # Pillow turns it into no other; its first band is how light it is
        return image.getchannel(0).convert("RGB")
    return image.convert("RGB")


def _laid(layer: Image.Image, colour: str) -> Image.Image:
    return Image.alpha_composite(Image.new("RGBA", layer.size, colour), layer).convert("RGB")


def _longer_pixels(image: Image.Image) -> float:
    """How many times higher than wide the pixels of a TIFF are, once it is upright; else 1.

    A fax has 204 dots on an inch of width, and 98 or 196 on one of height (ITU-T T.4).
    """
    if image.format != "TIFF":
        return 1.0
    try:
        across, down = map(float, image.info.get("dpi", (1, 1)))
        turned = int(image.getexif().get(0x0112, 1)) >= 5
    except BROKEN:
        return 1.0
    if not (across > 0 and down > 0):
        return 1.0
    proportion = down / across if turned else across / down
    return proportion if 1 / _LONGEST_PIXELS < proportion < _LONGEST_PIXELS else 1.0


def _squared(image: Image.Image, proportion: float) -> Image.Image:
    """A picture whose pixels are ``proportion`` times as high as wide, with square ones."""
    if 1 / _ODD_PIXELS < proportion < _ODD_PIXELS:
        return image
    wide, high = image.size
    size = (wide, round(high * proportion)) if proportion > 1 else (round(wide / proportion), high)
    if size[0] * size[1] > MOST_PIXELS:
        return image
    grey = image.convert("L") if image.mode == "1" else image
    return grey.resize(size, Image.Resampling.BICUBIC if grey.mode != "P" else None)


def _spread(image: Image.Image) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """Grey levels of more than 8 bits as 8 bits: those that occur, spread out where they differ."""
    grey = np.nan_to_num(np.asarray(image, dtype=np.float64))
    low, high = float(grey.min()), float(grey.max())
    most = next((top for top in (1.0, 255.0, 4095.0, 65535.0) if high <= top), high)
    if high - low < _LEAST_SPAN * most or high == low:  # an empty sheet's grain
        low, high = 0.0, most
    return ((grey - low) * (255 / (high - low))).astype(np.uint8)
