"""PDF: page by page, by the text layer where it can be trusted, else by OCR."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pypdfium2
import pypdfium2.raw
from PIL import Image

from emily.errors import LimitExceeded, PasswordRequired, ReadingError
from emily.reading.furniture import AHEAD, Edge, Furniture, edges
from emily.reading.layout import is_garbage
from emily.reading.ocr.image import Scan, Scans, has_ink, ocr_page
from emily.reading.pages import Page
from emily.reading.pdf.annotations import typed_text
from emily.reading.pdf.cover import covers, in_a_band, stands_apart
from emily.reading.pdf.facts import attached, facts, title
from emily.reading.pdf.headings import Fonts
from emily.reading.pdf.page import Laid, lay_out
from emily.reading.pdf.pictures import PagePictures
from emily.reading.pdf.rules import Drawn, drawn
from emily.reading.pdf.streams import MOST_UNPACKED, examine, holds_broken_stream
from emily.reading.pdf.tables import Grid
from emily.reading.pdf.text import Layer, Segments, read_layer
from emily.reading.source import Draft, Enclosed, Source, check_length, tidy

__all__ = ["SCANNED_BELOW", "read_pdf"]

SCANNED_BELOW = 16
"""A page with fewer extractable characters than this (blanks not counted) counts as scanned."""

_SPARSE_BELOW = 200  # characters; with so few, pictures that fill the page are read as well
_BETTER = 1.5  # times the characters that OCR must find there: else the layer had most of them
_STACKED = 0.6  # share of letters that stand one below the other
_SCALE = 2.0  # pixels per point for OCR: 144 dpi
_LEAST_SIDE, _MOST_SIDE = 1200, 3600  # pixels of the longer side, for stamps and for posters


def read_pdf(source: Source) -> Draft:
    """A PDF.

    A page counts as scanned when its text layer has fewer than ``SCANNED_BELOW`` characters or
    is garbage. A page that shows nothing is ``blank``; one that is broken is ``unread``. Running
    headers, footers and page numbers are kept on the first page that shows them.

    Raises:
        PasswordRequired: it opens only with a password, and with none of those given.
        LimitExceeded: a compressed part of it is a bomb.
        ReadingError: it is broken beyond repair.
    """
    packed = examine(source.path)
    if packed.bomb:
        raise LimitExceeded(
            f"a compressed part of the PDF unpacks to more than {MOST_UNPACKED >> 20} MiB"
        )
    document = _open(source)
    try:
        count = len(document)
        if not count:
            raise ReadingError("the PDF has no pages that can be found: it is truncated or broken")
        draft = Draft("pdf", "pages", iter(()), title(document), facts=facts(document))
        if packed.broken and pypdfium2.raw.FPDF_GetSecurityHandlerRevision(document.raw) < 0:
            draft.warnings.append(_broken(packed.broken))
    except BaseException:
        document.close()
        raise
    draft.pages = _Pages(document, source).produced(count)
    if pypdfium2.raw.FPDFDoc_GetAttachmentCount(document.raw) > 0:
        draft.enclosed = _enclosed(source)
    return draft


def _open(source: Source) -> Any:
    try:
        str(source.path).encode()
        given: Any = str(source.path)
    except UnicodeEncodeError:  # PDFium takes UTF-8 names only
        given = source.path.read_bytes()
    code = None
    for password in (None, *source.passwords):
        try:
            document = pypdfium2.PdfDocument(given, password=password)
            with contextlib.suppress(pypdfium2.PdfiumError):  # a broken form; its page is read
                document.init_forms()  # so that the values in a form can be read and are drawn
            return document
        except pypdfium2.PdfiumError as error:
            code = getattr(error, "err_code", None)
            if code == pypdfium2.raw.FPDF_ERR_SECURITY:
                reason = "the PDF is encrypted in a way that cannot be opened"
                raise ReadingError(reason) from None
            if code != pypdfium2.raw.FPDF_ERR_PASSWORD:
                raise ReadingError(f"the PDF is truncated or broken: {error}") from None
    tried = " and none of those known fits" if source.passwords else ""
    raise PasswordRequired(f"the PDF opens only with a password{tried}")


def _broken(count: int) -> str:
    parts, they = (
        ("1 compressed part", "it") if count == 1 else (f"{count:,} compressed parts", "they")
    )
    verb = "is" if count == 1 else "are"
    return (
        f"{parts} of the PDF {verb} broken: what {they} held from the break on is missing, "
        "such as the rest of a page."
    )


def _enclosed(source: Source) -> Iterator[Enclosed]:
    document = _open(source)
    try:
        yield from attached(document)
    finally:
        document.close()


@dataclass(slots=True)
class _Waiting:
    """A page that was laid out and waits for those after it, which show what repeats."""

    page: Page
    laid: Laid | None = None
    edges: Sequence[Edge] = ()
    scan: Scan | None = None


class _Pages:
    def __init__(self, document: Any, source: Source) -> None:
        self._document = document
        self._source = source
        self._fonts = Fonts()
        self._furniture = Furniture()
        self._scans = Scans()
        self._pictures = PagePictures(document, source)
        self._broken: bool | None = None

    def produced(self, count: int) -> Iterator[Page]:
        """The pages in order; a few are held, none stays open."""
        waiting: deque[_Waiting] = deque()
        characters = 0
        try:
            for number in range(1, count + 1):
                waiting.append(self._page(number))
                if len(waiting) > AHEAD:
                    page = self._finished(waiting.popleft())
                    characters += len(page.text)
                    check_length(characters)
                    yield page
            while waiting:
                page = self._finished(waiting.popleft())
                characters += len(page.text)
                check_length(characters)
                yield page
        finally:
            self._document.close()

    def _finished(self, held: _Waiting) -> Page:
        page = held.page
        if held.scan is not None:
            return self._scans.finished(held.scan, held.edges)
        if held.laid is None:
            return page
        left_out = self._furniture.repeated(page.number, held.edges)
        if left_out and not held.laid.holds_more(left_out):
            left_out = set()  # the page says nothing else
        text, tables = held.laid.text(self._fonts, left_out)
        return Page(
            page.number,
            tidy(text),
            page.route,
            tables=tables,
            warning=page.warning,
            pictures=self._source.pictures.on_page(page.number),
        )

    def _page(self, number: int) -> _Waiting:
        try:
            page = self._document[number - 1]
        except pypdfium2.PdfiumError as error:
            warning = f"Page {number} is not read: broken ({error})."
            return _Waiting(Page(number, "", "unread", warning=warning))
        try:
            return self._read(page, number)
        finally:
            page.close()

    def _read(self, page: Any, number: int) -> _Waiting:
        plain, found = "", Segments.none(page)
        with contextlib.suppress(pypdfium2.PdfiumError):
            plain, found = read_layer(page, _layer)
        added: list[str] = []
        with contextlib.suppress(pypdfium2.PdfiumError):
            added = typed_text(self._document, page)
        garbage = is_garbage(plain) or found.stacked > _STACKED
        on_page = drawn(page, found.turn)
        solid = len("".join(plain.split())) + sum(map(len, added))
        laid = lay_out(found, on_page)
        laid.added = added
        if garbage:
            laid = _legible(laid, solid)
            return self._scanned(page, number, laid, on_page, better=0.0)
        if solid < SCANNED_BELOW:
            return self._scanned(page, number, laid, on_page)
        if _is_headed_scan(laid, on_page, solid):
            return self._headed(page, number, laid, on_page, upright=found.turn)
        return self._with_pictures(page, number, laid, on_page)

    def _with_pictures(
        self, page: Any, number: int, laid: Laid, on_page: Drawn, warning: str | None = None
    ) -> _Waiting:
        laid.shown = list(self._pictures.on(page, on_page.pictures, laid.lines, laid.size, number))
        return self._text(number, laid, warning)

    def _headed(
        self, page: Any, number: int, laid: Laid, on_page: Drawn, *, upright: int
    ) -> _Waiting:
        """A page of pictures with a little text: OCR's if that finds much more, else both.

        Args:
            page: of PDFium.
            number: of the page.
            laid: its text layer.
            on_page: its pictures.
            upright: quarter turns clockwise that set the layer's text upright.
        """
        solid = laid.characters
        try:
            image = _render(page)
        except (pypdfium2.PdfiumError, MemoryError, ValueError) as error:
            warning = f"Page {number} cannot be drawn for OCR ({error})."
            return self._with_pictures(page, number, laid, on_page, warning)
        if upright == page.get_rotation() // 90 % 4 and not has_ink(_without(image, laid)):
            return self._text(number, laid)  # nothing is seen beside the text
        scan = ocr_page(number, lambda: image, self._source)
        read = scan.page
        if read.route == "unread":
            return self._text(number, laid, read.warning)
        more = len("".join(read.text.split()))
        if more > _BETTER * solid:
            return self._scan(scan)
        if more < solid + SCANNED_BELOW:
            return self._text(number, laid)
        return self._with_pictures(page, number, laid, on_page)

    def _text(self, number: int, laid: Laid, warning: str | None = None) -> _Waiting:
        self._fonts.learn(laid.lines)
        found = edges(laid.lines, laid.taken, laid.size[1])
        self._furniture.learn(number, found)
        return _Waiting(Page(number, "", warning=warning), laid, found)

    def _scan(self, scan: Scan) -> _Waiting:
        return _Waiting(scan.page, edges=self._scans.learn(scan), scan=scan)

    def _scanned(
        self, page: Any, number: int, laid: Laid, on_page: Drawn, *, better: float = 1.0
    ) -> _Waiting:
        """A page whose text layer does not do; what it holds is kept if OCR does not find more.

        Args:
            page: of PDFium.
            number: of the page.
            laid: its text layer, empty if that is garbage.
            on_page: its pictures.
            better: how many times the layer's characters OCR must find to be preferred.
        """
        solid = laid.characters
        try:
            image = _render(page)
        except (pypdfium2.PdfiumError, MemoryError, ValueError) as error:
            warning = f"Page {number} cannot be drawn for OCR ({error})."
            if solid:
                return self._text(number, laid, warning)
            return _Waiting(Page(number, "", "unread", warning=warning))
        scan = ocr_page(number, lambda: image, self._source)
        read = scan.page
        if read.route == "blank":
            if solid:
                return self._text(number, laid)
            return _Waiting(self._blank(page, number, on_page) or read)
        if not solid or len("".join(read.text.split())) > better * solid:
            return self._scan(scan)
        return self._text(number, laid, read.warning if read.route == "unread" else None)

    def _blank(self, page: Any, number: int, on_page: Drawn) -> Page | None:
        """A page that shows nothing because what it should show is broken, if it is so."""
        reason = None
        if self._pictures.broken(page, on_page.pictures, page.get_size()):
            reason = "its picture is broken"
        elif pypdfium2.raw.FPDFPage_CountObjects(page) == 0 and self._holds_broken():
            reason = "it shows nothing, and a compressed part of the file is broken"
        if reason is None:
            return None
        return Page(number, "", "unread", warning=f"Page {number} is not read: {reason}.")

    def _holds_broken(self) -> bool:
        """Whether a part of the file, which is looked through once, cannot be unpacked."""
        if self._broken is None:
            open_ = pypdfium2.raw.FPDF_GetSecurityHandlerRevision(self._document) < 0
            self._broken = open_ and holds_broken_stream(self._source.path)
        return self._broken


def _is_headed_scan(laid: Laid, on_page: Drawn, solid: int) -> bool:
    """Whether pictures fill the page and its text stands in one place, as a fax's line does.

    A picture that fills the page beside its text is read in its place, as others are.
    """
    if not covers(on_page.pictures, laid.size):
        return False
    if solid < _SPARSE_BELOW:
        return True
    return in_a_band(laid.lines, 0, laid.size[1]) and not stands_apart(
        on_page.pictures, laid.lines, laid.size
    )


def _without(image: Image.Image, laid: Laid) -> Image.Image:
    """A drawn page whose text is painted over with what is around it."""
    pixels = np.array(image)
    scale = image.height / max(laid.size[1], 1.0)
    for line in laid.lines:
        if not 0 < line.height < laid.size[1] / 10:
            continue
        edge = line.height / 3
        top = image.height - round((line.base + line.height + edge) * scale)
        foot = image.height - round((line.base - edge) * scale)
        left, right = round((line.left - edge) * scale), round((line.right + edge) * scale)
        box = pixels[max(0, top) : max(0, foot), max(0, left) : max(0, right)]
        if box.size:
            box[:] = np.median(box.reshape(-1, 3), axis=0)
    return Image.fromarray(pixels)


def _legible(laid: Laid, solid: int) -> Laid:
    """What is left of a page's layer without the lines that are garbage.

    Where a font without names for its glyphs set a part of the page only, the rest is kept for
    the case that OCR cannot read it.
    """
    keep = Laid(laid.lines, laid.size, added=laid.added)
    keep.order = [
        item
        for item in laid.order
        if isinstance(item, Grid) or not is_garbage(laid.lines[item].text)
    ]
    text = "".join(laid.lines[item].text for item in keep.order if not isinstance(item, Grid))
    if 2 * len("".join(text.split())) < solid or is_garbage(text):
        return Laid([], laid.size, added=laid.added)
    return keep


def _layer(layer: Layer) -> tuple[str, Segments]:
    return layer.plain, layer.segments()


def _render(page: Any) -> Image.Image:
    width, height = page.get_size()
    longer = max(width, height, 1.0)
    scale = max(_SCALE, _LEAST_SIDE / longer)
    scale = min(scale, _MOST_SIDE / longer, 8.0)
    bitmap = page.render(scale=scale)
    try:
        image: Image.Image = bitmap.to_pil().convert("RGB")
    finally:
        bitmap.close()
    return image
