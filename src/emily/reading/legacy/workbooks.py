"""Excel workbooks of 5.0 to 2003 (XLS) and binary ones (XLSB): a page per sheet, as of XLSX."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from itertools import islice

from emily.errors import EmptyDocument, PasswordRequired
from emily.reading.legacy.compound import Compound
from emily.reading.legacy.xls import Sheet, Xls
from emily.reading.legacy.xlsb import Xlsb
from emily.reading.office.encrypted import unlocked
from emily.reading.office.ooxml import Container
from emily.reading.office.sheet_blocks import block_lines, blocks_of, sheet_pages
from emily.reading.office.sheet_cells import Row
from emily.reading.pages import Facts, Page, Table
from emily.reading.source import Draft, Source
from emily.reading.tables import moved

__all__ = ["MOST_ROWS", "read_workbook"]

MOST_ROWS = 100_000
"""Most rows with a value that are read of one sheet; where it cuts, the page says so."""


def read_workbook(source: Source) -> Draft:
    """A workbook; the page number is the number of the sheet, its heading the sheet's name.

    Formulas are read by the value that was stored with them, dates as ISO 8601. The texts of
    boxes and remarks of an XLS file stand at the end of their sheet.

    Raises:
        PasswordRequired: it is encrypted, and no password opens it.
        EmptyDocument: it has no sheets.
        ReadingError: it is broken as a whole.
    """
    with source.path.open("rb") as file:
        packed = file.read(2) == b"PK"
    if packed:
        return _read_xlsb(source)
    try:
        return _read_xls(source)
    except PasswordRequired:
        return _read_xls(unlocked(source, "the xls file"))


def _read_xls(source: Source) -> Draft:
    ole = Compound(source.path)
    try:
        title, facts = ole.properties()
        warnings = ole.objects()
        name = next((name for name in ("Workbook", "Book") if name in ole), "Workbook")
        book = Xls(ole.read(name))
    finally:
        ole.close()
    draft = _draft("xls", book, None, title, facts)
    draft.warnings += warnings
    return draft


def _read_xlsb(source: Source) -> Draft:
    container = Container(source.path)
    try:
        title, facts = container.properties()
        return _draft("xlsb", Xlsb(container), container, title, facts)
    except BaseException:
        container.__exit__()
        raise


def _draft(
    kind: str, book: Xls | Xlsb, container: Container | None, title: str | None, facts: Facts
) -> Draft:
    if not book.sheets:
        raise EmptyDocument("the workbook has no sheets")
    draft = Draft(kind, "pages", _pages(book, container), title, facts=facts)
    draft.warnings += [
        f"Sheet {number} ({sheet.name}) is hidden; it is read."
        for number, sheet in enumerate(book.sheets, 1)
        if sheet.hidden
    ]
    return draft


def _pages(book: Xls | Xlsb, container: Container | None) -> Iterator[Page]:
    with container or nullcontext():
        yield from sheet_pages(
            [sheet.name for sheet in book.sheets],
            lambda number, _: _page(book, number, book.sheets[number - 1]),
        )


def _page(book: Xls | Xlsb, number: int, sheet: Sheet) -> Page:
    rows: Iterable[Row] = book.rows(sheet) if sheet.cells else ()
    given = iter(rows)
    lines: list[str] = []
    tables: list[Table] = []
    for block in blocks_of(islice(given, MOST_ROWS)):
        added, table = block_lines(block)
        lines.append("")
        tables += [moved(table, len(lines) + 1)] if table else []
        lines += added
    for text in book.boxes(sheet) if isinstance(book, Xls) else ():
        lines += ["", text]
    if not lines:
        return Page(number, "", "blank")
    warning = None
    if next(given, None) is not None:
        warning = (
            f"Sheet {number} ({sheet.name}) has more than {MOST_ROWS:,} rows; "
            f"only the first {MOST_ROWS:,} are read."
        )
    return Page(number, "\n".join([f"# {sheet.name}", *lines]), "text", tuple(tables), warning)
