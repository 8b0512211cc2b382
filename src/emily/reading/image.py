"""Pictures of pages: photographs, screenshots, faxes and scans."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PIL import Image, ImageOps, UnidentifiedImageError

from emily.errors import LimitExceeded, ReadingError
from emily.reading.layout import rejoin, without_ligatures
from emily.reading.lines import confidence, page_text
from emily.reading.ocr import OcrUnavailable, recognise
from emily.reading.pages import Page, Route
from emily.reading.sight import is_flattened_table
from emily.reading.source import Draft, Source, tidy

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "BROKEN",
    "Recognised",
    "bound",
    "flatten",
    "has_ink",
    "ocr_page",
    "read_image",
    "recognised",
]

_MOST_PIXELS = 120_000_000
"""Largest picture that is decoded: an A3 sheet at 800 dpi; 360 MB as RGB."""

_MOST_FRAMES = 5_000
_SURE = 0.75  # mean confidence of OCR; clean print has .95 and more, unknown scripts .6
_JPEG_SIDE = 4_800  # a larger JPEG is decoded at a half, a quarter or an eighth of its size
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


def read_image(source: Source) -> Draft:
    """A picture by OCR; a TIFF has a page per frame, of an animation the first frame is read."""
    Image.MAX_IMAGE_PIXELS = None  # own limit below, which knows what can be scaled
    try:
        image = Image.open(source.path)
    except (UnidentifiedImageError, *BROKEN) as error:
        raise ReadingError(f"the picture is broken: {error}") from None
    try:
        bound(image)
    except BaseException:
        image.close()
        raise
    draft = Draft("image", "pages", _pages(image, source))
    frames = _frames(image)
    if frames > 1 and image.format not in {"TIFF", "MPO"}:
        draft.warnings.append(f"Only the first of {frames} frames of the animation is read.")
    return draft


def _frames(image: Image.Image) -> int:
    try:
        return int(getattr(image, "n_frames", 1))
    except BROKEN:
        return 1


def bound(image: Image.Image) -> None:
    """Refuse a picture too large to decode, unless it is a JPEG that can be decoded smaller."""
    if image.format == "JPEG" and max(image.size) > _JPEG_SIDE:
        scale = _JPEG_SIDE / max(image.size)
        image.draft("RGB", (int(image.width * scale) or 1, int(image.height * scale) or 1))
    pixels = image.width * image.height
    if pixels > _MOST_PIXELS:
        raise LimitExceeded(
            f"the picture has {image.width:,} x {image.height:,} pixels "
            f"({pixels / 1e6:,.0f} million; at most {_MOST_PIXELS / 1e6:,.0f} million are decoded)"
        )


def _pages(image: Image.Image, source: Source) -> Iterator[Page]:
    with image, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Pillow warns of odd metadata, which is not read
        if image.format != "TIFF":
            yield ocr_page(1, lambda: flatten(image), source)
            return
        frames = _frames(image)
        for number in range(1, frames + 1):
            if number > _MOST_FRAMES:
                warning = f"Only the first {_MOST_FRAMES:,} of {frames:,} pages are read."
                yield Page(number, "", "unread", warning=warning)
                return
            try:
                image.seek(number - 1)
                bound(image)
            except (LimitExceeded, *BROKEN) as error:
                warning = f"Page {number} is not read: {error}."
                yield Page(number, "", "unread", warning=warning)
                continue
            yield ocr_page(number, lambda: flatten(image), source)


def flatten(image: Image.Image) -> Image.Image:
    """The picture upright as its EXIF data say, on white, in mode RGB."""
    image = ImageOps.exif_transpose(image)
    if image.mode in {"I", "F"} or image.mode.startswith("I;"):
        import numpy as np

        grey = np.asarray(image, dtype=np.float64)
        low, span = grey.min(), np.ptp(grey) or 1.0
        return Image.fromarray(((grey - low) * (255 / span)).astype(np.uint8)).convert("RGB")
    if "A" in image.getbands() or "transparency" in image.info:
        layer = image.convert("RGBA")
        paper = Image.new("RGBA", layer.size, "white")
        return Image.alpha_composite(paper, layer).convert("RGB")
    return image.convert("RGB")


def has_ink(image: Image.Image) -> bool:
    """Whether a page shows anything: grey levels that differ by more than the grain of paper."""
    small = image.convert("L")
    small.thumbnail((1600, 1600))
    low, high = small.getextrema()
    return float(high) - float(low) > 40  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Recognised:
    """What was read in a picture.

    Attributes:
        route: ``ocr``, ``vision``, ``blank`` or ``unread``.
        text: what was read.
        confidence: of OCR, 0 to 1, or ``None``.
        problem: why it is unread or doubtful, as the end of a sentence; ``None`` if it is not.
    """

    route: Route
    text: str = ""
    confidence: float | None = None
    problem: str | None = None


def recognised(image: Image.Image, source: Source) -> Recognised:
    """Read a picture by OCR, and by the vision model where OCR finds nothing or a flattened table.

    Never raises for what is wrong with the picture, the engine or the model.

    Args:
        image: mode RGB.
        source: the file that it belongs to.
    """
    if not has_ink(image):
        return Recognised("blank")
    found = _by_ocr(image, source)
    if source.sight is None or (found.text.strip() and not is_flattened_table(found.text)):
        return found
    try:
        return Recognised("vision", tidy(source.sight.read(image)))
    except ReadingError as error:
        problem = f"{found.problem}, and {error}" if found.problem else str(error)
        if found.text.strip():
            return replace(found, problem=problem)
        return Recognised("unread", problem=problem)


def _by_ocr(image: Image.Image, source: Source) -> Recognised:
    if source.ocr is None:
        return Recognised("unread", problem="it is scanned and OCR is off (setting ocr)")
    if source.late():
        return Recognised(
            "unread",
            problem="it is scanned and the file has used up its time of "
            f"{source.seconds} s (setting reading_seconds)",
        )
    try:
        lines = recognise(source.ocr(), image)
    except OcrUnavailable as error:
        return Recognised("unread", problem=f"it is scanned and {error}")
    except ReadingError as error:
        return Recognised("unread", problem=str(error))
    text = tidy(rejoin(without_ligatures(page_text(lines))))
    if not text.strip():
        return Recognised("ocr", problem="OCR found no text")
    sure = confidence(lines)
    doubt = f"OCR is unsure of what it read (mean confidence {sure:.2f} of 1)"
    return Recognised("ocr", text, sure, doubt if sure < _SURE else None)


def ocr_page(number: int, render: Callable[[], Image.Image], source: Source) -> Page:
    """A page read by OCR; where it cannot be, the page is ``unread`` and says why.

    Args:
        number: of the page.
        render: gives the picture, mode RGB.
        source: the file that is read.
    """
    warning: str | None = None
    try:
        image = render()
    except BROKEN as error:
        warning = f"Page {number} is not read: its picture is broken ({error})."
        return Page(number, "", "unread", warning=warning)
    found = recognised(image, source)
    if found.problem is not None:
        what = f"Page {number} is not read" if found.route == "unread" else f"Page {number}"
        warning = f"{what}: {found.problem}."
    return Page(number, found.text, found.route, warning=warning, confidence=found.confidence)
