"""The pictures on a PDF page as files, so that each can be known by its bytes and read."""

from __future__ import annotations

import ctypes
import hashlib
import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pypdfium2
from PIL import Image
from pypdfium2 import raw

from emily.errors import LimitExceeded
from emily.reading.layout import TextLine
from emily.reading.ocr.raster import BROKEN, MOST_PIXELS
from emily.reading.pdf.cover import in_a_band, most_over, on_it
from emily.reading.pdf.rules import Placed
from emily.reading.pdf.text import function

if TYPE_CHECKING:
    from emily.reading.source import Source

__all__ = ["PagePictures", "Shown"]

_BACKGROUND = 0.25  # share of the page that a picture under most of its text covers
_LEAST_POINTS = 16.0  # of the shorter side: shown smaller it is an icon or a rule, no line of print
_MOST_A_PAGE = 60
_MOST_LOOKED_AT = 2_000  # of a page; the rest is counted
_SHRUNK_FROM = 40_000_000  # pixels; above, a picture is unpacked to fewer
_BROKEN_SHARE = 0.01  # of a page that a picture covers, for it to matter whether it is broken
_MOST_STORED = 64 << 20  # bytes
_KEPT, _MOST_KEPT = 8, 2 << 20  # files, and bytes of each
_JPEG = "DCTDecode"
_SIMPLE = frozenset({"FlateDecode", "LZWDecode", "ASCII85Decode", "ASCIIHexDecode"})
_TOO_MANY = f"only the first {_MOST_A_PAGE} pictures of a page are read"

_void, _int = ctypes.c_void_p, ctypes.c_int
_pixels = function(raw.FPDFImageObj_GetImagePixelSize, _int, _void, _void, _void)
_raw_size = function(raw.FPDFImageObj_GetImageDataRaw, ctypes.c_ulong, _void, _void, ctypes.c_ulong)
_decoded = function(
    raw.FPDFImageObj_GetImageDataDecoded, ctypes.c_ulong, _void, _void, ctypes.c_ulong
)
_filters = function(raw.FPDFImageObj_GetImageFilterCount, _int, _void)
_filter = function(
    raw.FPDFImageObj_GetImageFilter, ctypes.c_ulong, _void, _int, _void, ctypes.c_ulong
)

Shown = tuple[Placed, list[str]]
"""A picture and the lines to put in its place."""


class PagePictures:
    """Reads the pictures on the pages of one PDF.

    The bytes of a picture that was stored once for many pages, as a logo is, are kept for a
    while, so that it is not unpacked again for each.
    """

    def __init__(self, document: Any, source: Source) -> None:
        self._document = document
        self._source = source
        self._kept: dict[tuple[bytes, int, int], bytes] = {}

    def on(
        self,
        page: Any,
        pictures: Sequence[Placed],
        lines: Sequence[TextLine],
        size: tuple[float, float],
        number: int,
    ) -> Iterator[Shown]:
        """The pictures of a page that may hold text, read.

        Left out are those too small to read, and the one that most of the page's text is spread
        over: it is the page's background, or a scan whose text layer is read. A picture with a
        caption on it is none.

        Args:
            page: of PDFium.
            pictures: what stands on it.
            lines: its text.
            size: its width and height, points.
            number: of the page.
        """
        seen: set[tuple[int, ...]] = set()
        for at, picture in enumerate(pictures):
            if at >= _MOST_LOOKED_AT:
                yield picture, self._missed(number, "one-too-many", _TOO_MANY)
                break
            if not _readable(picture, self._source.slow.side) or _is_background(
                picture, lines, size
            ):
                continue
            place = tuple(map(round, (picture.left, picture.base, picture.right, picture.top)))
            if place in seen:
                continue  # drawn twice, as a shadow or for boldness
            seen.add(place)
            if len(seen) > _MOST_A_PAGE:
                block = self._missed(number, picture, _TOO_MANY)
                if len(seen) == _MOST_A_PAGE + 1:
                    yield picture, block
                continue
            try:
                data = self._data(page, picture)
            except LimitExceeded as error:
                yield picture, self._missed(number, picture, str(error))
            except MemoryError:
                yield picture, self._missed(number, picture, "it takes more memory than there is")
            except (pypdfium2.PdfiumError, *BROKEN):
                reason = "it is broken, or of a kind that is not read"
                yield picture, self._missed(number, picture, reason)
            else:
                if data is not None:
                    yield picture, self._source.pictures.block(data, number)

    def _missed(self, number: int, picture: Placed | str, reason: str) -> list[str]:
        """The lines in place of a picture that is not read."""
        if isinstance(picture, str):
            key = picture.encode()
        else:
            key = _stored(picture.handle) or repr(picture).encode()
        return self._source.pictures.missed(hashlib.sha256(key).digest(), number, reason)

    def broken(self, page: Any, pictures: Sequence[Placed], size: tuple[float, float]) -> bool:
        """Whether a picture of a page that shows nothing cannot be unpacked.

        Args:
            page: of PDFium.
            pictures: what stands on it.
            size: its width and height, points.
        """
        least = _BROKEN_SHARE * size[0] * size[1]
        for picture in pictures[:_MOST_A_PAGE]:
            area = (picture.right - picture.left) * (picture.top - picture.base)
            across, down = _size(picture)
            if area < least or across * down > MOST_PIXELS:
                continue
            item = ctypes.cast(picture.handle, raw.FPDF_PAGEOBJECT)
            try:
                bitmap = pypdfium2.PdfImage(item, page=page, pdf=self._document).get_bitmap()
            except pypdfium2.PdfiumError:
                return True
            bitmap.close()
            if _is_undecoded(picture.handle):
                return True
        return False

    def _data(self, page: Any, picture: Placed) -> bytes | None:
        """A picture as a file: a JPEG as it is stored, anything else as a PNG of its pixels.

        A PNG has no data that change, so that the same pixels always are the same bytes.
        """
        stored = _stored(picture.handle)
        item = ctypes.cast(picture.handle, raw.FPDF_PAGEOBJECT)
        if _only_filter(picture.handle) == _JPEG and stored and _is_plain(stored):
            return stored
        key = (
            hashlib.sha256(stored).digest(),
            round(picture.right - picture.left),
            round(picture.top - picture.base),
        )
        if key in self._kept:
            return self._kept[key]
        across, down = _size(picture)
        if across * down > MOST_PIXELS:
            raise LimitExceeded(
                f"it has {across:,} x {down:,} pixels; at most {MOST_PIXELS:,} are read"
            )
        image = pypdfium2.PdfImage(item, page=page, pdf=self._document)
        if across * down > _SHRUNK_FROM:
            found = image.get_bitmap(render=False).to_pil().reduce(2)
        else:
            bitmap = image.get_bitmap(render=True, scale_to_original=True)
            found = bitmap.to_pil()
        found = _on_white(found)  # of its own memory, which goes with the bitmap
        if _is_plain_ground(found) and _is_undecoded(picture.handle):
            raise ValueError("its data cannot be unpacked")
        if min(found.size) < self._source.slow.side:
            return None
        file = io.BytesIO()
        found.save(file, "PNG", compress_level=1)
        data = file.getvalue()
        if len(data) < _MOST_KEPT and stored:
            if len(self._kept) >= _KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = data
        return data


def _is_background(picture: Placed, lines: Sequence[TextLine], size: tuple[float, float]) -> bool:
    area = (picture.right - picture.left) * (picture.top - picture.base)
    if area < _BACKGROUND * size[0] * size[1]:
        return False
    if not most_over(picture, lines):
        return False
    return not in_a_band(on_it(picture, lines), picture.base, picture.top)


def _readable(picture: Placed, side: int) -> bool:
    if min(picture.right - picture.left, picture.top - picture.base) < _LEAST_POINTS:
        return False
    across, down = _size(picture)
    return min(across, down) >= side


def _size(picture: Placed) -> tuple[int, int]:
    """Pixels across and down."""
    across, down = ctypes.c_uint(0), ctypes.c_uint(0)
    _pixels(picture.handle, ctypes.addressof(across), ctypes.addressof(down))
    return across.value, down.value


def _is_plain_ground(image: Image.Image) -> bool:
    """Whether a picture has one colour only."""
    extremes = image.getextrema()
    bands = [extremes] if isinstance(extremes[0], (int, float)) else extremes
    return all(low == high for low, high in bands)


def _is_undecoded(handle: int) -> bool:
    """Whether Flate or LZW failed from the start: PDFium then hands out the packed bytes."""
    count = _filters(handle)
    names = {_filter_name(handle, at) for at in range(count)}
    if not names or not names <= _SIMPLE:
        return False
    return _decoded(handle, None, 0) in {0, _raw_size(handle, None, 0)}


def _stored(handle: int) -> bytes:
    size = _raw_size(handle, None, 0)
    if not 0 < size < _MOST_STORED:
        return b""
    buffer = ctypes.create_string_buffer(size)
    _raw_size(handle, ctypes.addressof(buffer), size)
    return buffer.raw


def _only_filter(handle: int) -> str:
    if _filters(handle) != 1:
        return ""
    return _filter_name(handle, 0)


def _filter_name(handle: int, at: int) -> str:
    name = ctypes.create_string_buffer(64)
    _filter(handle, at, ctypes.addressof(name), 64)
    return name.value.decode("ascii", "replace")


def _is_plain(data: bytes) -> bool:
    """Whether a JPEG can be read by itself: CMYK is inverted or not as the PDF says."""
    with Image.open(io.BytesIO(data)) as image:
        return image.mode in {"RGB", "L"}


def _on_white(image: Image.Image) -> Image.Image:
    if "A" in image.getbands():
        paper = Image.new("RGBA", image.size, "white")
        return Image.alpha_composite(paper, image.convert("RGBA")).convert("RGB")
    return image.convert("RGB") if image.mode not in {"RGB", "L"} else image.copy()
