"""The cells of binary workbooks ([MS-XLSB]): records in the parts of a container.

The section of [MS-XLSB] is named where a structure is read.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from emily.errors import LimitExceeded, ReadingError
from emily.reading.legacy.xls import ERRORS, Sheet, compact_number
from emily.reading.limits import MOST_CHARACTERS
from emily.reading.office.number_formats import BUILT_IN, shown_number
from emily.reading.office.ooxml import Container
from emily.reading.office.sheet_cells import Row
from emily.reading.source import tidy

__all__ = ["Xlsb"]

_ROW, _RK, _ERROR, _TRUTH, _NUMBER, _TEXT, _SHARED = 0, 2, 3, 4, 5, 6, 7
_FORMULA_TEXT, _FORMULA_NUMBER, _FORMULA_TRUTH, _FORMULA_ERROR, _RICH = 8, 9, 10, 11, 62
_STRING, _FORMAT, _STYLE, _PROPERTIES, _SHEET = 19, 44, 47, 153, 156
_STYLES_BEGIN, _STYLES_END = 617, 618
_AUTHOR, _REMARK, _REMARK_TEXT = 632, 635, 637
_MOST_PART = 512 << 20  # bytes


class Xlsb:
    """A workbook.

    Args:
        container: the file, open.

    Attributes:
        sheets: in order.

    Raises:
        ReadingError: its main part is missing or damaged.
    """

    def __init__(self, container: Container) -> None:
        self._container = container
        self.sheets: list[Sheet] = []
        self._from_1904 = False
        self._strings: list[str] = []
        self._formats: dict[int, str] = {}
        self._styles: list[int] = []
        self._left = MOST_CHARACTERS
        main = container.main("xl/workbook.bin")
        related = container.related(main)
        for kind, data in self._records(main):
            if kind == _PROPERTIES and data:
                self._from_1904 = bool(data[0] & 1)
            elif kind == _SHEET and len(data) >= 12:  # BrtBundleSh (2.4.304)
                identity, at = _wide(data, 8)
                name, _ = _wide(data, at)
                of, path = related.get(identity, ("", ""))
                hidden = _u32(data, 0) in {1, 2}
                self.sheets.append(Sheet(_one_line(name), hidden, path, of == "worksheet"))
        paths = dict(related.values())
        if paths.get("sharedStrings", "") in container:
            for kind, data in self._records(paths["sharedStrings"]):
                if kind == _STRING:
                    self._strings.append(self._kept(_wide(data, 1)[0]))
        if paths.get("styles", "") in container:
            self._read_styles(paths["styles"])

    def rows(self, sheet: Sheet) -> Iterator[Row]:
        """The rows of a sheet that hold something, from top to bottom."""
        number = 0
        cells: dict[int, str] = {}
        for kind, data in self._records(str(sheet.place)):
            if kind == _ROW and len(data) >= 4:
                if cells:
                    yield Row(number, cells)
                number, cells = _u32(data, 0) + 1, {}
            elif len(data) >= 9 and (text := self._cell(kind, data)):
                cells[_u32(data, 0)] = text
        if cells:
            yield Row(number, cells)

    def remarks(self, sheet: Sheet) -> Iterator[tuple[int, int, str, str]]:
        """Remarks on cells (2.1.7.8): row and column, both from 1, author and text."""
        authors: list[str] = []
        row = column = 0
        author = ""
        for of, path in self._container.related(str(sheet.place)).values():
            if of != "comments" or path not in self._container:
                continue
            for kind, data in self._records(path):
                if kind == _AUTHOR:
                    authors.append(_one_line(_wide(data, 0)[0]))
                elif kind == _REMARK and len(data) >= 20:  # BrtBeginComment (2.4.33)
                    number, row, column = _u32(data, 0), _u32(data, 4) + 1, _u32(data, 12) + 1
                    author = authors[number] if number < len(authors) else ""
                elif kind == _REMARK_TEXT:
                    yield row, column, author, self._kept(_wide(data, 1)[0])

    def _read_styles(self, path: str) -> None:
        inside = False
        for kind, data in self._records(path):
            if kind == _FORMAT:
                self._formats[int.from_bytes(data[:2], "little")] = _wide(data, 2)[0]
            elif kind in {_STYLES_BEGIN, _STYLES_END}:
                inside = kind == _STYLES_BEGIN
            elif kind == _STYLE and inside:
                self._styles.append(int.from_bytes(data[2:4], "little"))

    def _cell(self, kind: int, data: bytes) -> str:
        """A cell (2.5.9): its column, its style, its value."""
        if kind == _RK and len(data) >= 12:
            return self._number(compact_number(data, 8), data)
        if kind in {_NUMBER, _FORMULA_NUMBER} and len(data) >= 16:
            return self._number(struct.unpack_from("<d", data, 8)[0], data)
        if kind == _SHARED and len(data) >= 12:
            at = _u32(data, 8)
            return self._strings[at] if at < len(self._strings) else ""
        if kind in {_TEXT, _FORMULA_TEXT}:
            return self._kept(_wide(data, 8)[0])
        if kind == _RICH:
            return self._kept(_wide(data, 9)[0])
        if kind in {_TRUTH, _FORMULA_TRUTH}:
            return "TRUE" if data[8] else "FALSE"
        return ERRORS.get(data[8], "#N/A") if kind in {_ERROR, _FORMULA_ERROR} else ""

    def _number(self, number: float, data: bytes) -> str:
        style = int.from_bytes(data[4:7], "little")
        code = self._styles[style] if style < len(self._styles) else 0
        text = self._formats.get(code, BUILT_IN.get(code, ""))
        return shown_number(number, text, from_1904=self._from_1904)

    def _kept(self, text: str) -> str:
        self._left -= len(text)
        if self._left < 0:
            raise LimitExceeded(
                f"the workbook holds more than {MOST_CHARACTERS:,} characters of text"
            )
        return _one_line(text)

    def _records(self, path: str) -> Iterator[tuple[int, bytes]]:
        """The records of a part (2.1.4): type and size in 7 bits a byte, then the data."""
        rest, size = b"", 0
        for piece in self._container.chunks(path):
            size += len(piece)
            if size > _MOST_PART:
                raise LimitExceeded(
                    f"the part {path!r} unpacks to more than {_MOST_PART >> 20} MiB"
                )
            data, at = rest + piece, 0
            while (head := _head(data, at)) is not None:
                kind, length, begin = head
                if begin + length > len(data):
                    break
                yield kind, data[begin : begin + length]
                at = begin + length
            rest = data[at:]
        if rest:
            raise ReadingError(f"the part {path!r} is cut off")


def _head(data: bytes, at: int) -> tuple[int, int, int] | None:
    """Type and size of a record, and where its data begin; ``None`` if it is cut off."""
    values = []
    for most in (2, 4):
        value = 0
        for shift in range(0, 7 * most, 7):
            if at >= len(data):
                return None
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
        values.append(value)
    return values[0], values[1], at


def _wide(data: bytes, at: int) -> tuple[str, int]:
    """A text with its length before it (2.5.168), and where it ends."""
    end = at + 4 + 2 * _u32(data, at)
    if end > len(data):
        return "", len(data)
    return data[at + 4 : end].decode("utf-16-le", "replace"), end


def _one_line(text: str) -> str:
    return " ".join(tidy(text.replace("\0", "")).split())


def _u32(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "little")
