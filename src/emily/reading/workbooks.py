"""Workbooks of Excel before 2007 (XLS) and binary ones (XLSB): a page per sheet."""

from __future__ import annotations

import contextlib
import datetime as dt
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import python_calamine

from emily.errors import EmptyDocument, LimitExceeded, PasswordRequired, ReadingError
from emily.reading.blocks import Blocks
from emily.reading.compound import Compound
from emily.reading.limits import MOST_CHARACTERS
from emily.reading.ooxml import Container
from emily.reading.pages import Facts, Page, Table
from emily.reading.source import Draft, Source, tidy

if TYPE_CHECKING:
    from python_calamine import CalamineSheet, CalamineWorkbook

__all__ = ["MOST_ROWS", "read_workbook"]

MOST_ROWS = 100_000
"""Most rows with a value that are read of one sheet; where it cuts, the page says so."""

_MOST_SPREAD = 20_000_000
"""Most cells between the first and the last of a sheet: the parser takes 24 bytes for each, full
or empty. A whole sheet of the old format has 65,536 x 256 = 16.8 million."""

_MOST_PART_MB = 200


def read_workbook(source: Source) -> Draft:
    """A workbook; the page number is the number of the sheet, its first line the sheet's name.

    Formulas are read by the value that was stored with them. Dates come out as ISO 8601.

    Raises:
        PasswordRequired: it is encrypted.
        LimitExceeded: a sheet spreads over more cells than are held.
        ReadingError: it is broken.
    """
    with source.path.open("rb") as file:
        packed = file.read(2) == b"PK"
    title, facts = _check_packed(source.path) if packed else _check_compound(source.path)
    with _parser("the workbook is broken"):
        book = python_calamine.load_workbook(str(source.path))
    sheets = [sheet for sheet in book.sheets_metadata if "Vba" not in str(sheet.typ)]
    if not sheets:
        raise EmptyDocument("the workbook has no sheets")
    names = [sheet.name for sheet in sheets]
    return Draft("xlsb" if packed else "xls", "pages", _pages(book, names), title, facts=facts)


def _check_compound(path: Path) -> tuple[str | None, Facts]:
    """The properties of an XLS file.

    Raises:
        PasswordRequired: its records are encrypted ([MS-XLS] 2.4.117, FilePass).
    """
    ole = Compound(path)
    try:
        for name in ("Workbook", "Book"):
            if name in ole and _is_closed(ole.read(name)):
                raise PasswordRequired("the xls file opens only with a password")
        return ole.properties()
    finally:
        ole.close()


def _is_closed(stream: bytes) -> bool:
    """Whether a FilePass record stands among the first of a stream, before any sheet."""
    at = 0
    for _ in range(50):
        if at + 4 > len(stream):
            return False
        record, size = struct.unpack_from("<HH", stream, at)
        if record == 0x2F:
            return True
        if record == 0x85:  # the list of sheets begins
            return False
        at += 4 + size
    return False


def _check_packed(path: Path) -> tuple[str | None, Facts]:
    """The properties of an XLSB file, whose parts are looked at before the parser unpacks them."""
    with Container(path) as container:
        for name in container.names():
            if not name.startswith("xl/") or not name.endswith(".bin"):
                continue
            left = _MOST_PART_MB << 20
            spread = _Spread() if name.startswith("xl/worksheets/sheet") else None
            for data in container.chunks(name):
                left -= len(data)
                if left < 0:
                    raise LimitExceeded(
                        f"the part {name!r} unpacks to more than {_MOST_PART_MB} MiB"
                    )
                if spread is not None:
                    spread.take(data)
            if spread is not None and spread.cells > _MOST_SPREAD:
                raise LimitExceeded(
                    f"the part {name!r} spreads over {spread.cells:,} cells, most of them empty; "
                    f"at most {_MOST_SPREAD:,} are read"
                )
        return container.title(), Facts()


class _Spread:
    """How many cells lie between the corners of a sheet: a walk over its records ([MS-XLSB] 2.1.4:
    a type and a size in 7 bits a byte, then the data), in pieces."""

    _ROW = 0
    _CELLS = range(2, 12)  # BrtCellRk to BrtFmlaError; 1 is an empty one

    def __init__(self) -> None:
        self._rest = b""
        self._row = 0
        self._corners: list[int] = []

    @property
    def cells(self) -> int:
        if not self._corners:
            return 0
        top, left, bottom, right = self._corners
        return (bottom - top + 1) * (right - left + 1)

    def take(self, data: bytes) -> None:
        data = self._rest + data
        at = 0
        while (head := _record(data, at)) is not None:
            record, size, begin = head
            if begin + size > len(data):
                break
            if size >= 4:
                number = int.from_bytes(data[begin : begin + 4], "little")
                if record == self._ROW:
                    self._row = number
                elif record in self._CELLS:
                    self._meet(self._row, number)
            at = begin + size
        self._rest = data[at:]

    def _meet(self, row: int, column: int) -> None:
        if not self._corners:
            self._corners = [row, column, row, column]
            return
        top, left, bottom, right = self._corners
        self._corners = [min(top, row), min(left, column), max(bottom, row), max(right, column)]


def _record(data: bytes, at: int) -> tuple[int, int, int] | None:
    """Type and size of a record, and where its data begin; ``None`` if it is cut off."""
    values = []
    for most in (2, 4):
        value = shift = 0
        for _ in range(most):
            if at >= len(data):
                return None
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        values.append(value)
    return values[0], values[1], at


def _pages(book: CalamineWorkbook, names: Sequence[str]) -> Iterator[Page]:
    left = MOST_CHARACTERS
    for number, raw in enumerate(names, 1):
        name = " ".join(tidy(raw).split())
        try:
            with _parser("its cells are broken"):
                sheet = book.get_sheet_by_name(raw)
                rows, capped = _rows(sheet, left)
        except LimitExceeded:
            raise
        except ReadingError as error:
            warning = f"Sheet {number} ({name}) is not read: {error}."
            yield Page(number, "", "unread", warning=warning)
            continue
        if not rows:
            yield Page(number, "", "blank")
            continue
        cut = None
        if capped:
            cut = (
                f"Sheet {number} ({name}) has more than {MOST_ROWS:,} rows; "
                f"only the first {MOST_ROWS:,} are read."
            )
        text, tables = _page(name, rows)
        left -= len(text)
        yield Page(number, text, "text", tables, cut)


def _page(name: str, rows: list[list[str]]) -> tuple[str, tuple[Table, ...]]:
    """Text of a sheet and the tables in it, which empty rows part."""
    blocks = Blocks()
    blocks.heading(name, 1)
    block: list[list[str]] = []
    for cells in [*rows, []]:
        if cells:
            block.append(cells)
        else:
            blocks.table(block)
            block = []
    return blocks.text(), tuple(blocks.tables)


def _rows(sheet: CalamineSheet, left: int) -> tuple[list[list[str]], bool]:
    """Rows that hold a value, an empty one for each gap, and whether more were there."""
    rows: list[list[str]] = []
    count = 0
    for row in sheet.iter_rows():
        cells = [_shown(value) for value in row]
        while cells and not cells[-1]:
            cells.pop()
        if not cells:
            if rows and rows[-1]:
                rows.append([])
            continue
        if count == MOST_ROWS:
            return rows, True
        count += 1
        left -= sum(map(len, cells)) + 3 * len(cells)
        if left < 0:
            raise LimitExceeded(
                f"the workbook holds more than {MOST_CHARACTERS:,} characters of text"
            )
        rows.append(cells)
    return rows, False


def _shown(value: object) -> str:
    """A cell's value: ISO dates, whole numbers without a point, text on one line."""
    match value:
        case bool():
            return "TRUE" if value else "FALSE"
        case float():
            return format(value, ".15g")
        case dt.datetime():
            if value.time() == dt.time.min:
                return value.date().isoformat()
            return value.replace(microsecond=0).isoformat(" ")
        case dt.date() | dt.time():
            return value.isoformat()
        case str():
            return " ".join(tidy(value).split())
        case _:
            return str(value)


@contextlib.contextmanager
def _parser(what: str) -> Iterator[None]:
    """What the parser raises, as errors of ours; a panic of its Rust code is one too."""
    try:
        yield
    except (ReadingError, MemoryError):
        raise
    except python_calamine.PasswordError:
        raise PasswordRequired("the workbook opens only with a password") from None
    except Exception as error:  # noqa: BLE001 - its own errors share no base with each other
        raise ReadingError(f"{what}: {error}") from None
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            raise ReadingError(f"{what}: its parser gave up on it ({error})") from None
        raise
