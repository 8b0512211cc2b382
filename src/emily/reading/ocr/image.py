"""Pictures of pages: photographs, screenshots, faxes and scans."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PIL import UnidentifiedImageError

from emily.errors import LimitExceeded, ReadingError
from emily.reading.furniture import AHEAD, Edge, Furniture
from emily.reading.layout import rejoin, without_ligatures
from emily.reading.ocr.edges import edges
from emily.reading.ocr.engine import OcrUnavailable, recognise
from emily.reading.ocr.ink import has_ink
from emily.reading.ocr.lines import Line, confidence, is_sparse, page_text
from emily.reading.ocr.raster import BROKEN, bound, flatten, opened
from emily.reading.ocr.sight import is_flattened_table
from emily.reading.pages import Page, Route
from emily.reading.source import Draft, Source, tidy

if TYPE_CHECKING:
    from collections.abc import Callable

    from PIL import Image

__all__ = [
    "BROKEN",
    "Recognised",
    "Scan",
    "Scans",
    "bound",
    "flatten",
    "has_ink",
    "ocr_page",
    "read_image",
    "recognised",
]

_MOST_FRAMES = 5_000
_PAGED = frozenset({"TIFF", "HEIF"})  # formats whose frames are pictures of their own
_LOST = 0.2  # share of the lines found from which it is said that they were not read
_FEW = 2  # fewer lines than that are not worth a word
_LONG = 3.0  # times its height that a line of words is wide
_SURE = 0.75  # mean confidence of OCR; clean print has .95 and more, unknown scripts .6


def read_image(source: Source) -> Draft:
    """A picture by OCR; TIFF and HEIF have a page per frame, of an animation the first is read."""
    try:
        image = opened(source.path)
    except UnidentifiedImageError:
        raise ReadingError("the picture is broken, or in no format that can be read") from None
    except BROKEN as error:
        raise ReadingError(f"the picture is broken: {_words(error)}") from None
    try:
        bound(image)
    except BaseException:
        image.close()
        raise
    draft = Draft("image", "pages", Scans().ahead(_pages(image, source)))
    frames = _frames(image)
    if frames > 1 and image.format not in _PAGED | {"MPO"}:
        draft.warnings.append(f"Only the first of {frames} frames of the animation is read.")
    return draft


def _frames(image: Image.Image) -> int:
    try:
        return int(getattr(image, "n_frames", 1))
    except BROKEN:
        return 1


def _pages(image: Image.Image, source: Source) -> Iterator[Scan]:
    with image, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Pillow warns of odd metadata, which is not read
        if image.format not in _PAGED:
            yield ocr_page(1, lambda: flatten(image), source)
            return
        frames = _frames(image)
        for number in range(1, frames + 1):
            if number > _MOST_FRAMES:
                warning = f"Only the first {_MOST_FRAMES:,} of {frames:,} pages are read."
                yield Scan(Page(number, "", "unread", warning=warning))
                return
            try:
                image.seek(number - 1)
                bound(image)
            except (LimitExceeded, *BROKEN) as error:
                warning = f"Page {number} is not read: {_words(error)}."
                yield Scan(Page(number, "", "unread", warning=warning))
                continue
            yield ocr_page(number, lambda: flatten(image), source)


@dataclass(frozen=True, slots=True)
class Recognised:
    """What was read in a picture.

    Attributes:
        route: ``ocr``, ``vision``, ``blank`` or ``unread``.
        text: what was read.
        confidence: of OCR, 0 to 1, or ``None``.
        problem: why it is unread or doubtful, as the end of a sentence; ``None`` if it is not.
        lines: what ``text`` was put together from, where OCR read it.
    """

    route: Route
    text: str = ""
    confidence: float | None = None
    problem: str | None = None
    lines: tuple[Line, ...] = ()


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
    lost = _lost(lines)
    text = written(lines)
    if not text.strip():
        return Recognised("ocr", problem=lost or "OCR found no text")
    sure = round(min(1.0, max(0.0, confidence(lines))), 4)
    doubt = f"OCR is unsure of what it read (mean confidence {sure:.2f} of 1)"
    return Recognised("ocr", text, sure, doubt if sure < _SURE else lost, tuple(lines))


def written(lines: Iterable[Line]) -> str:
    """The text of lines of OCR, in reading order, with words put together again."""
    return tidy(rejoin(without_ligatures(page_text(lines))))


def _lost(lines: Sequence[Line]) -> str | None:
    """What is said of lines that were found and not read, where they are more than a few.

    Short ones are left out: noise and ornaments look like them.
    """
    long = [line for line in lines if line.right - line.left > _LONG * line.height]
    lost = sum(not line.text.strip() or is_sparse(line) for line in long)
    if lost < _FEW or lost <= _LOST * len(long):
        return None
    return (
        f"OCR could not read {lost:,} of the {len(long):,} lines that it found: "
        "of some scripts it has no letters"
    )


def _words(error: Exception) -> str:
    """What a decoder says, on one line and without its full stop."""
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__


@dataclass(frozen=True, slots=True)
class Scan:
    """A page that was read by OCR, and the lines that its text was put together from.

    Attributes:
        page: as it was read.
        lines: empty where its text is not of OCR.
    """

    page: Page
    lines: tuple[Line, ...] = ()

    def without(self, left_out: Collection[int]) -> Page:
        """The page without some lines, unless they are most of it.

        Args:
            left_out: numbers of lines.
        """
        sizes = [len("".join(line.text.split())) for line in self.lines]
        if not left_out or 2 * sum(sizes[at] for at in left_out) >= sum(sizes):
            return self.page
        kept = [line for at, line in enumerate(self.lines) if at not in left_out]
        return replace(self.page, text=written(kept))


class Scans:
    """The scanned pages of a document, without what each page repeats of those before it."""

    def __init__(self) -> None:
        self._furniture = Furniture()

    def learn(self, scan: Scan) -> list[Edge]:
        """Take a page into account, before those of the pages ``AHEAD`` of it are finished."""
        found = edges(scan.lines)
        self._furniture.learn(scan.page.number, found)
        return found

    def finished(self, scan: Scan, found: Sequence[Edge]) -> Page:
        """A page without its running heads, footers and number.

        Args:
            scan: the page.
            found: what learning it gave.
        """
        return scan.without(self._furniture.repeated(scan.page.number, found))

    def ahead(self, scans: Iterable[Scan]) -> Iterator[Page]:
        """Pages in order; a few are held, to see what those after them repeat."""
        waiting: deque[tuple[Scan, list[Edge]]] = deque()
        for scan in scans:
            waiting.append((scan, self.learn(scan)))
            if len(waiting) > AHEAD:
                yield self.finished(*waiting.popleft())
        while waiting:
            yield self.finished(*waiting.popleft())


def ocr_page(number: int, render: Callable[[], Image.Image], source: Source) -> Scan:
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
        warning = f"Page {number} is not read: its picture is broken ({_words(error)})."
        return Scan(Page(number, "", "unread", warning=warning))
    if source.ocr is not None and len(source.scanned) >= source.slow.scanned and has_ink(image):
        warning = (
            f"Page {number} is not read: it is scanned, and OCR has read {source.slow.scanned:,} "
            "pages of this file (setting scanned_pages)."
        )
        return Scan(Page(number, "", "unread", warning=warning))
    found = recognised(image, source)
    if found.route != "blank":
        source.scanned.append(number)
    if found.problem is not None:
        what = f"Page {number} is not read" if found.route == "unread" else f"Page {number}"
        warning = f"{what}: {found.problem}."
    page = Page(number, found.text, found.route, warning=warning, confidence=found.confidence)
    return Scan(page, found.lines)
