"""PDF: page by page, by the text layer where it can be trusted, else by OCR."""

from __future__ import annotations

import contextlib
import ctypes
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pypdfium2
import pypdfium2.raw

from emily.errors import PasswordRequired, ReadingError
from emily.reading.annotations import typed_text
from emily.reading.image import has_ink, ocr_page
from emily.reading.layout import TextLine, is_garbage, paragraphs, without_ligatures
from emily.reading.pages import Page
from emily.reading.source import Draft, Source, check_length, tidy

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["SCANNED_BELOW", "read_pdf"]

SCANNED_BELOW = 16
"""A page with fewer extractable characters than this (blanks not counted) counts as scanned."""

_SPARSE_BELOW = 200  # characters; with so few, a picture that fills the page is read as well
_BETTER = 1.5  # times the characters that OCR must find there: else the layer had them all
_SCALE = 2.0  # pixels per point for OCR: 144 dpi
_LEAST_SIDE, _MOST_SIDE = 1200, 3600  # pixels of the longer side, for stamps and for posters
_HYPHEN = "\ufffe"  # what PDFium puts in place of a hyphen at a line's end
_BREAK = re.compile(f"{_HYPHEN}|\r\n|[\r\n]")
_BLANKS = re.compile(r"\s+")
_EMPTY_TITLE = re.compile(
    r"\(?(?:untitled|anonymous|unspecified)\)?|microsoft word - .*|.*\.(?:docx?|indd|qxd|dvi|tex)",
    re.I,
)


def read_pdf(source: Source) -> Draft:
    """A PDF.

    A page counts as scanned when its text layer has fewer than ``SCANNED_BELOW`` characters or
    is garbage. A page that shows nothing is ``blank``; one that is broken is ``unread``.

    Raises:
        PasswordRequired: it opens only with a password.
        ReadingError: it is broken beyond repair.
    """
    document = _open(source)
    try:
        count = len(document)
        if not count:
            raise ReadingError("the PDF has no pages that can be found: it is truncated or broken")
        title = _title(document)
    except BaseException:
        document.close()
        raise
    return Draft("pdf", "pages", _pages(document, count, source), title)


def _open(source: Source) -> Any:
    try:
        str(source.path).encode()
        given: Any = str(source.path)
    except UnicodeEncodeError:  # PDFium takes UTF-8 names only
        given = source.path.read_bytes()
    try:
        document = pypdfium2.PdfDocument(given)
        with contextlib.suppress(pypdfium2.PdfiumError):  # a broken form; its page is read
            document.init_forms()  # so that the values in a form can be read and are drawn
        return document
    except pypdfium2.PdfiumError as error:
        code = getattr(error, "err_code", None)
        if code == pypdfium2.raw.FPDF_ERR_PASSWORD:
            raise PasswordRequired("the PDF opens only with a password") from None
        if code == pypdfium2.raw.FPDF_ERR_SECURITY:
            raise ReadingError("the PDF is encrypted in a way that cannot be opened") from None
        raise ReadingError(f"the PDF is truncated or broken: {error}") from None


def _title(document: Any) -> str | None:
    title = " ".join(tidy(document.get_metadata_value("Title") or "").replace("\0", "").split())
    return title if title and not _EMPTY_TITLE.fullmatch(title) else None


def _pages(document: Any, count: int, source: Source) -> Iterator[Page]:
    try:
        characters = 0
        for at in range(count):
            page = _page(document, at, source)
            characters += len(page.text)
            check_length(characters)
            yield page
    finally:
        document.close()


def _page(document: Any, at: int, source: Source) -> Page:
    number = at + 1
    try:
        page = document[at]
    except pypdfium2.PdfiumError as error:
        return Page(number, "", "unread", warning=f"Page {number} is not read: broken ({error}).")
    try:
        try:
            text = _layer(page)
            if added := typed_text(document, page):
                text = "\n\n".join(filter(None, [text, "\n".join(added)]))
        except pypdfium2.PdfiumError:
            text = ""
        solid = len("".join(text.split()))
        garbage = is_garbage(text)
        if garbage or solid < SCANNED_BELOW:
            return _scanned(page, number, "" if garbage else text, source)
        if solid < _SPARSE_BELOW and source.ocr is not None and _is_picture(page):
            return _scanned(page, number, text, source, better=_BETTER)
        return Page(number, text)
    finally:
        page.close()


def _is_picture(page: Any) -> bool:
    """Whether one picture covers most of the page, as a scan with a fax's line above it does."""
    width, height = page.get_size()
    for picture in page.get_objects(filter=[pypdfium2.raw.FPDF_PAGEOBJ_IMAGE], max_depth=3):
        left, bottom, right, top = picture.get_bounds()
        seen = max(0.0, min(right, width) - max(left, 0.0)) * max(
            0.0, min(top, height) - max(bottom, 0.0)
        )
        if seen > 0.5 * width * height:
            return True
    return False


def _scanned(page: Any, number: int, layer: str, source: Source, *, better: float = 1.0) -> Page:
    """A page whose text layer does not do; what it holds is kept if OCR does not find more.

    Args:
        page: of PDFium.
        number: of the page.
        layer: its text layer, empty if that is garbage.
        source: the file.
        better: how many times the layer's characters OCR must find to be preferred.
    """
    try:
        image = _render(page)
    except (pypdfium2.PdfiumError, MemoryError, ValueError) as error:
        warning = f"Page {number} cannot be drawn for OCR ({error})."
        return Page(number, layer, "text" if layer.strip() else "unread", warning=warning)
    if not has_ink(image):
        return Page(number, layer, "text" if layer.strip() else "blank")
    read = ocr_page(number, lambda: image, source)
    if len("".join(read.text.split())) > better * len("".join(layer.split())) or not layer.strip():
        return read
    return Page(number, layer, "text", warning=read.warning if read.route == "unread" else None)


def _render(page: Any) -> Image:
    width, height = page.get_size()
    longer = max(width, height, 1.0)
    scale = max(_SCALE, _LEAST_SIDE / longer)
    scale = min(scale, _MOST_SIDE / longer, 8.0)
    bitmap = page.render(scale=scale)
    try:
        image: Image = bitmap.to_pil().convert("RGB")
    finally:
        bitmap.close()
    return image


def _layer(page: Any) -> str:
    """The text layer as paragraphs, in PDFium's order (the order in which it was written)."""
    textpage = page.get_textpage()
    try:
        count = textpage.count_chars()
        if count <= 0:
            return ""
        raw = textpage.get_text_range(0, count)
        placed = len(raw) == count  # only then do positions in the text number its characters
        lines = []
        start = 0
        for match in _BREAK.finditer(raw):
            hyphen = match[0] == _HYPHEN
            lines.append(_line(textpage, raw, start, match.start(), hyphen, placed))
            start = match.end()
        lines.append(_line(textpage, raw, start, len(raw), False, placed))
    finally:
        textpage.close()
    return tidy(paragraphs(lines))


def _line(textpage: Any, raw: str, start: int, end: int, hyphen: bool, placed: bool) -> TextLine:
    text = raw[start:end]
    solid = text.strip()
    shown = without_ligatures(solid) + ("-" if hyphen else "")
    if not solid or not placed:
        return TextLine(shown)
    first = start + len(text) - len(text.lstrip())
    a = _box(textpage, first)
    b = _box(textpage, first + len(solid) - 1)
    if a is None or b is None:
        return TextLine(shown)
    height = max(a.top - a.bottom, b.top - b.bottom)
    if height <= 0 or abs(a.bottom - b.bottom) > height:  # upright text only
        return TextLine(shown)
    gap = 0.0
    for blank in _BLANKS.finditer(solid):
        before = _box(textpage, first + blank.start() - 1)
        after = _box(textpage, first + blank.end())
        if before is not None and after is not None:
            gap = max(gap, after.left - before.right)
    return TextLine(shown, min(a.left, b.left), max(a.right, b.right), a.bottom, height, gap)


def _box(textpage: Any, at: int) -> Any:
    """The box of a character by its font's size, so that letters of a line stand alike."""
    box = pypdfium2.raw.FS_RECTF()
    found = pypdfium2.raw.FPDFText_GetLooseCharBox(textpage.raw, at, ctypes.byref(box))
    return box if found else None
