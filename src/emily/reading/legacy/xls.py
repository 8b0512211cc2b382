"""The cells of Excel workbooks of 5.0 to 2003 ([MS-XLS], BIFF5 and BIFF8).

The section of [MS-XLS] is named where a structure is read.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from emily.errors import LimitExceeded, PasswordRequired, ReadingError
from emily.reading.limits import MOST_CHARACTERS
from emily.reading.office.drawings import anchored, store
from emily.reading.office.number_formats import BUILT_IN, shown_number
from emily.reading.office.sheet_cells import Row
from emily.reading.source import tidy

__all__ = ["ERRORS", "Sheet", "Xls", "compact_number"]

_BOF, _EOF, _CONTINUE, _CLOSED = 0x809, 0x0A, 0x3C, 0x2F
_CODE_PAGE, _DATES, _FORMAT, _XF, _SHEET, _STRINGS = 0x42, 0x22, 0x41E, 0xE0, 0x85, 0xFC
_OLD_FORMAT = 0x1E
_NUMBER, _RK, _MANY_RK, _SHARED, _LABEL, _RICH = 0x203, 0x27E, 0xBD, 0xFD, 0x204, 0xD6
_TRUTH, _FORMULA, _RESULT, _TEXT_BOX = 0x205, 0x06, 0x207, 0x1B6
_PICTURES, _DRAWING = 0xEB, 0xEC  # MsoDrawingGroup, MsoDrawing (2.4.171, 2.4.170)
_CELL_KINDS = frozenset({_NUMBER, _RK, _SHARED, _LABEL, _RICH, _TRUTH, _FORMULA})
_PLACE = struct.Struct("<HH")
_GOES_ON = _CONTINUE.to_bytes(2, "little")
_BIFF8 = 0x0600
_CELLS, _VISUAL_BASIC = 0, 6

ERRORS = {
    0x00: "#NULL!", 0x07: "#DIV/0!", 0x0F: "#VALUE!", 0x17: "#REF!", 0x1D: "#NAME?",
    0x24: "#NUM!", 0x2A: "#N/A", 0x2B: "#GETTING_DATA",
}  # fmt: skip
"""What cells show for the numbers of errors (2.5.10)."""


@dataclass(slots=True)
class Sheet:
    """A sheet of a workbook.

    Attributes:
        name: on one line.
        hidden: whether it is not shown.
        place: where it begins, as the format names it.
        cells: whether it has cells; sheets of charts have none.
    """

    name: str
    hidden: bool
    place: int | str
    cells: bool = True


@dataclass(slots=True)
class _Known:
    formats: dict[int, str] = field(default_factory=dict)
    styles: list[int] = field(default_factory=list)
    strings: list[str] = field(default_factory=list)
    from_1904: bool = False


class Xls:
    """A workbook.

    Args:
        stream: the stream ``Workbook`` or ``Book``.

    Attributes:
        sheets: in order.

    Raises:
        PasswordRequired: it is encrypted.
        ReadingError: it does not begin as a workbook of these versions.
    """

    def __init__(self, stream: bytes) -> None:
        self._stream = stream
        self.sheets: list[Sheet] = []
        self._known = _Known()
        self._last: tuple[Sheet, tuple[list[Row], list[str], bytes]] | None = None
        self._shared = bytearray()
        first = next(self._records(0), None)
        if first is None or first[0] != _BOF:
            raise ReadingError("the workbook does not begin as one of Excel 5.0 to 2003")
        self._new = _u16(first[1], 0) == _BIFF8
        self._coding = "cp1252"
        self._left = MOST_CHARACTERS
        self._read_globals()

    def rows(self, sheet: Sheet) -> list[Row]:
        """The rows of a sheet that hold something, from top to bottom."""
        return self._read_sheet(sheet)[0]

    def boxes(self, sheet: Sheet) -> list[str]:
        """Texts of boxes and remarks of a sheet: TxO (2.4.329)."""
        return self._read_sheet(sheet)[1]

    def pictures(self, sheet: Sheet) -> list[tuple[int, bytes | None]]:
        """The pictures of a sheet: the row (1-based) of each, and its file if it is there."""
        placed = anchored(self._read_sheet(sheet)[2])
        if not placed:
            return []
        stored = store(bytes(self._shared), b"")
        return [(row, stored[n - 1] if n <= len(stored) else None) for row, n in placed]

    def _read_sheet(self, sheet: Sheet) -> tuple[list[Row], list[str], bytes]:
        if self._last is not None and self._last[0] is sheet:
            return self._last[1]
        found: dict[int, dict[int, str]] = {}
        boxes: list[str] = []
        drawing = bytearray()
        waiting: tuple[int, int] | None = None
        for kind, data, more in self._records(int(sheet.place)):
            if kind in _CELL_KINDS and len(data) >= 7:
                row, column = _PLACE.unpack_from(data)
                if kind == _FORMULA and data[12:14] == b"\xff\xff" and not data[6]:
                    waiting = row, column
                elif text := self._cell(kind, data, more):
                    self._put(found, row, column, text)
            elif kind == _RESULT and waiting is not None:
                if text := _one_line(self._string(data, 0, 2)):
                    self._put(found, *waiting, text)
                waiting = None
            elif kind == _MANY_RK and len(data) >= 6:
                row, column = _PLACE.unpack_from(data)
                for at in range(4, len(data) - 7, 6):
                    self._put(found, row, column, self._rk(data, at))
                    column += 1
            elif kind == _DRAWING:
                drawing += b"".join([data, *more])
            elif kind == _TEXT_BOX and self._new and more:
                boxes.append(_one_line(_Pieces([b"", *more]).characters(_u16(data, 10))))
        rows = [Row(row + 1, dict(sorted(cells.items()))) for row, cells in sorted(found.items())]
        self._last = sheet, (rows, list(filter(None, boxes)), bytes(drawing))
        return self._last[1]

    def _records(self, at: int) -> Iterator[tuple[int, bytes, list[bytes]]]:
        """The records of a part up to its end, those of parts inside of it left out: type, data,
        and the data of the records that continue it."""
        depth = 0
        stream, end = self._stream, len(self._stream) - 3
        while at < end:
            kind, size = _PLACE.unpack_from(stream, at)
            at += 4 + size
            data = stream[at - size : at]
            more: list[bytes] = []
            while stream.startswith(_GOES_ON, at) and at < end:
                size = _u16(stream, at + 2)
                at += 4 + size
                more.append(stream[at - size : at])
            if kind == _BOF:
                depth += 1
            if depth <= 1:
                yield kind, data, more
            if kind == _EOF:
                depth -= 1
                if depth <= 0:
                    return

    def _read_globals(self) -> None:
        known = self._known
        for kind, data, more in self._records(0):
            if kind == _CLOSED:
                raise PasswordRequired("the xls file opens only with a password")
            if kind == _CODE_PAGE:
                page = _u16(data, 0)
                self._coding = {0x8000: "mac_roman", 0x8001: "cp1252"}.get(page, f"cp{page}")
            elif kind == _DATES:
                known.from_1904 = _u16(data, 0) == 1
            elif kind in {_FORMAT, _OLD_FORMAT}:
                text = self._string(data, 2, 2 if self._new else 1)
                known.formats[_u16(data, 0)] = text
            elif kind == _XF:
                known.styles.append(_u16(data, 2))
            elif kind == _SHEET:
                self._sheet(data)
            elif kind == _PICTURES:
                self._shared += b"".join([data, *more])
            elif kind == _STRINGS:
                self._read_strings([data, *more])

    def _sheet(self, data: bytes) -> None:
        """BoundSheet8 (2.4.28)."""
        if len(data) < 7 or data[5] == _VISUAL_BASIC:
            return
        name = _one_line(self._string(data, 6, 1))
        place = struct.unpack_from("<I", data, 0)[0]
        self.sheets.append(Sheet(name, bool(data[4] & 3), place, data[5] == _CELLS))

    def _read_strings(self, pieces: list[bytes]) -> None:
        """The shared texts: SST (2.4.265), XLUnicodeRichExtendedString (2.5.293)."""
        count = int.from_bytes(pieces[0][4:8], "little")
        reader = _Pieces(pieces, 8)
        for _ in range(count):
            head = reader.take(3)
            if len(head) < 3:
                return  # fewer than it declares
            size, flags = _u16(head, 0), head[2]
            runs = _u16(reader.take(2), 0) if flags & 8 else 0
            extra = int.from_bytes(reader.take(4), "little") if flags & 4 else 0
            text = reader.characters(size, flags & 1)
            reader.skip(4 * runs + extra)
            self._count(text)
            self._known.strings.append(_one_line(text))

    def _string(self, data: bytes, at: int, width: int) -> str:
        """A text with its length before it, in one or two bytes; flags follow in BIFF8."""
        count = int.from_bytes(data[at : at + width], "little")
        at += width
        if self._new:
            if data[at : at + 1] and data[at] & 1:
                return data[at + 1 : at + 1 + 2 * count].decode("utf-16-le", "replace")
            return data[at + 1 : at + 1 + count].decode("latin-1")
        try:
            return data[at : at + count].decode(self._coding, "replace")
        except LookupError:
            return data[at : at + count].decode("cp1252", "replace")

    def _cell(self, kind: int, data: bytes, more: list[bytes]) -> str:
        style = _u16(data, 4)
        if kind == _NUMBER and len(data) >= 14:
            return self._number(struct.unpack_from("<d", data, 6)[0], style)
        if kind == _RK and len(data) >= 10:
            return self._rk(data, 4)
        if kind == _SHARED and len(data) >= 10:
            at = struct.unpack_from("<I", data, 6)[0]
            strings = self._known.strings
            return strings[at] if at < len(strings) else ""
        if kind in {_LABEL, _RICH}:
            return _one_line(self._string(b"".join([data, *more]), 6, 2))
        if kind == _TRUTH and len(data) >= 8:
            return ERRORS.get(data[6], "#N/A") if data[7] else _truth(data[6])
        if kind == _FORMULA and len(data) >= 14:
            if data[12:14] != b"\xff\xff":
                return self._number(struct.unpack_from("<d", data, 6)[0], style)
            if data[6] == 1:
                return _truth(data[8])
            return ERRORS.get(data[8], "#N/A") if data[6] == 2 else ""
        return ""

    def _rk(self, data: bytes, at: int) -> str:
        """A style and a number in four bytes (2.5.218)."""
        return self._number(compact_number(data, at + 2), _u16(data, at))

    def _number(self, number: float, style: int) -> str:
        known = self._known
        code = known.styles[style] if style < len(known.styles) else 0
        text = known.formats.get(code, BUILT_IN.get(code, ""))
        return shown_number(number, text, from_1904=known.from_1904)

    def _put(self, found: dict[int, dict[int, str]], row: int, column: int, text: str) -> None:
        self._count(text)
        cells = found.get(row)
        if cells is None:
            cells = found[row] = {}
        cells[column] = text

    def _count(self, text: str) -> None:
        self._left -= len(text)
        if self._left < 0:
            raise LimitExceeded(
                f"the workbook holds more than {MOST_CHARACTERS:,} characters of text"
            )


class _Pieces:
    """The data of a record and of those that continue it."""

    def __init__(self, pieces: list[bytes], at: int = 0) -> None:
        self._pieces = pieces
        self._piece = 0
        self._at = at

    def _settle(self) -> bool:
        """Go on to the next piece at the end of one; whether it did."""
        moved = False
        while self._piece < len(self._pieces) and self._at >= len(self._pieces[self._piece]):
            self._at -= len(self._pieces[self._piece])
            self._piece += 1
            moved = True
        return moved

    def take(self, size: int) -> bytes:
        """So many bytes, or what is left."""
        found = b""
        if self._piece < len(self._pieces):
            piece = self._pieces[self._piece]
            if self._at + size <= len(piece):
                self._at += size
                return piece[self._at - size : self._at]
        while len(found) < size:
            self._settle()
            if self._piece >= len(self._pieces):
                break
            part = self._pieces[self._piece][self._at : self._at + size - len(found)]
            self._at += len(part)
            found += part
        return found

    def skip(self, size: int) -> None:
        """Pass over so many bytes."""
        self._at += size
        self._settle()

    def characters(self, count: int, wide: int = 0) -> str:
        """So many characters; each piece that goes on with them says anew how wide they are."""
        found = []
        while count > 0:
            if self._settle() and self._piece < len(self._pieces):
                wide = self._pieces[self._piece][self._at] & 1
                self._at += 1
            if self._piece >= len(self._pieces):
                break
            rest = self._pieces[self._piece][self._at :][: count * (1 + wide)]
            if len(rest) <= wide:  # half a character
                self._at += len(rest)
                continue
            found.append(rest.decode("utf-16-le" if wide else "latin-1", "replace"))
            self._at += len(rest)
            count -= len(rest) // (1 + wide)
        return "".join(found)


def compact_number(data: bytes, at: int) -> float:
    """RkNumber (2.5.218): 30 bits of a float or an integer, perhaps of hundredths."""
    given = int.from_bytes(data[at : at + 4], "little")
    if given & 2:
        number = float((given >> 2) - (1 << 30 if given & 1 << 31 else 0))
    else:
        number = float(struct.unpack("<d", bytes(4) + (given & ~3).to_bytes(4, "little"))[0])
    return number / 100 if given & 1 else number


def _truth(value: int) -> str:
    return "TRUE" if value else "FALSE"


def _one_line(text: str) -> str:
    if text.isalnum():  # most are, and need no more looking at
        return text
    return " ".join(tidy(text.replace("\0", "")).split())


def _u16(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 2], "little")
