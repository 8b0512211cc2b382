"""Excel workbooks: a page per sheet, a line per row, values as a person would write them."""

from __future__ import annotations

import datetime as dt
import re
import warnings
import zipfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import ParseError

import openpyxl
from defusedxml.common import DefusedXmlException
from lxml import etree
from openpyxl.utils.exceptions import InvalidFileException

from emily.errors import EmptyDocument, LimitExceeded, ReadingError
from emily.reading.limits import MOST_CHARACTERS
from emily.reading.ooxml import Container
from emily.reading.pages import Page, Table
from emily.reading.source import Draft, Source, tidy
from emily.reading.tables import table_of

if TYPE_CHECKING:
    from openpyxl.workbook import Workbook

__all__ = ["MOST_ROWS", "read_xlsx"]

MOST_ROWS = 100_000
"""Most rows with a value that are read of one sheet; where it cuts, the page says so."""

_UNCOMPUTED = re.compile(
    rb"</(?:\w+:)?f>\s*(?:</(?:\w+:)?c>|<(?:\w+:)?v\s*/>|<v></v>)|<f[^>]*/>\s*</c>"
)
# What openpyxl raises for workbooks that are broken in one place or another.
_BROKEN = (
    KeyError,
    ValueError,
    TypeError,
    AttributeError,
    IndexError,
    OSError,
    ParseError,
    etree.LxmlError,
    zipfile.BadZipFile,
    InvalidFileException,
    AssertionError,
    OverflowError,
)


def read_xlsx(source: Source) -> Draft:
    """A workbook; the page number is the number of the sheet, its first line the sheet's name.

    Formulas are read by the value that was stored with them. Dates come out as ISO 8601.
    """
    with Container(source.path) as container:
        uncomputed = sum(
            1
            for name in container.names()
            if name.startswith("xl/worksheets/") and name.endswith(".xml")
            if _has_uncomputed(container, name)
        )
        title = container.title()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # openpyxl warns of styles and extensions it drops
            book = openpyxl.load_workbook(source.path, read_only=True, data_only=True)
    except DefusedXmlException as error:
        raise ReadingError(f"the workbook declares XML entities: refused ({error})") from None
    except _BROKEN as error:
        raise ReadingError(f"the workbook is broken: {error}") from None
    if not book.sheetnames:
        raise EmptyDocument("the workbook has no sheets")
    draft = Draft("xlsx", "pages", _pages(book), title)
    if uncomputed:
        draft.warnings.append(
            f"{uncomputed} sheets have formulas without a stored value, which are left empty. "
            "Open the file in a spreadsheet program and save it to store them."
        )
    return draft


def _has_uncomputed(container: Container, name: str) -> bool:
    tail = b""
    for data in container.chunks(name):
        if _UNCOMPUTED.search(tail + data):
            return True
        tail = data[-64:]
    return False


def _pages(book: Workbook) -> Iterator[Page]:
    try:
        left = MOST_CHARACTERS
        for number, sheet in enumerate(book.worksheets, 1):
            name = tidy(sheet.title).replace("\n", " ")
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    rows, capped = _rows(sheet, left)
            except DefusedXmlException as error:
                raise ReadingError(f"the sheet {name!r} declares XML entities: {error}") from None
            except _BROKEN as error:
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
    finally:
        book.close()


def _page(name: str, rows: list[list[str]]) -> tuple[str, tuple[Table, ...]]:
    """Text of a sheet and the tables in it, which empty rows part."""
    lines = [name, ""]
    tables: list[Table | None] = []
    block: list[list[str]] = []
    for cells in [*rows, []]:
        if cells:
            block.append(cells)
        elif block:
            begin = len(lines)
            lines += [" | ".join(row) for row in block]
            tables.append(table_of([(at, at) for at in range(begin, len(lines))], block))
            lines.append("")
            block = []
    return "\n".join(lines[:-1]), tuple(table for table in tables if table)


def _rows(sheet: Any, left: int) -> tuple[list[list[str]], bool]:
    """Rows that hold a value, an empty one for each gap, and whether more were there."""
    if hasattr(sheet, "reset_dimensions"):
        sheet.reset_dimensions()  # the declared range may name a million empty rows
    rows: list[list[str]] = []
    count = 0
    for row in sheet.iter_rows(values_only=True):
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
        case None:
            return ""
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
