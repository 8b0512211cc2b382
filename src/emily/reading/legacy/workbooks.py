"""Excel workbooks of 5.0 to 2003 (XLS) and binary ones (XLSB): a page per sheet, as of XLSX."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from itertools import islice

from emily.errors import EmptyDocument, PasswordRequired, ReadingError
from emily.reading.legacy.compound import Compound
from emily.reading.legacy.xls import Sheet, Xls
from emily.reading.legacy.xlsb import Xlsb
from emily.reading.office.embedded import embedded_files, embedded_parts
from emily.reading.office.encrypted import unlocked
from emily.reading.office.ooxml import Container
from emily.reading.office.sheet_blocks import blocks_of, sheet_pages
from emily.reading.office.sheet_cells import Row, cell_name
from emily.reading.office.sheet_drawings import Floating, floating_of
from emily.reading.office.sheets import SheetWriter
from emily.reading.pages import Facts, Page
from emily.reading.source import Draft, Source

__all__ = ["MOST_ROWS", "read_workbook"]

MOST_ROWS = 100_000
"""Most rows with a value that are read of one sheet; where it cuts, the page says so."""


_LAST_ROW = 1 << 20  # of a sheet, at most


def read_workbook(source: Source) -> Draft:
    """A workbook; the page number is the number of the sheet, its heading the sheet's name.

    Formulas are read by the value that was stored with them, dates as ISO 8601. Pictures stand
    behind the table to whose rows they are anchored, charts and boxes of XLSB too; the texts of
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
    draft = _draft("xls", book, title, facts)
    draft.pages = _pages(
        book, source, lambda number, sheet: _floating_xls(book, source, sheet, number)
    )
    draft.warnings += warnings
    return draft


def _read_xlsb(source: Source) -> Draft:
    container = Container(source.path)
    try:
        title, facts = container.properties()
        book = Xlsb(container)
        draft = _draft("xlsb", book, title, facts)
    except BaseException:
        container.__exit__()
        raise
    draft.pages = _pages(
        book,
        source,
        lambda number, sheet: _floating_xlsb(container, book, source, sheet, number),
        container,
    )
    paths = [str(sheet.place) for sheet in book.sheets]
    parts = [part for path in paths for part in embedded_parts(container.related(path))]
    draft.enclosed = embedded_files(source, parts)
    return draft


def _draft(kind: str, book: Xls | Xlsb, title: str | None, facts: Facts) -> Draft:
    if not book.sheets:
        raise EmptyDocument("the workbook has no sheets")
    draft = Draft(kind, "pages", iter(()), title, facts=facts)
    draft.warnings += [
        f"Sheet {number} ({sheet.name}) is hidden; it is read."
        for number, sheet in enumerate(book.sheets, 1)
        if sheet.hidden
    ]
    return draft


def _floating_xls(book: Xls, source: Source, sheet: Sheet, page: int) -> Floating:
    """Pictures of an XLS sheet in their places; texts of its boxes and remarks at its end."""
    found = Floating()
    for row, data in book.pictures(sheet):
        if data is None:
            found.problems.append("a picture is not read: it is missing in the file")
        elif lines := source.pictures.block(data, page):
            found.figures.append((row, lines, None))
    found.figures.sort(key=lambda figure: figure[0])
    found.figures += [(_LAST_ROW, [text], None) for text in book.boxes(sheet)]
    return found


def _floating_xlsb(
    container: Container, book: Xlsb, source: Source, sheet: Sheet, page: int
) -> Floating:
    """What lies above the cells of an XLSB sheet: drawings are XML as in XLSX, remarks are not."""
    found = floating_of(container, source, str(sheet.place), page)
    try:
        for row, column, author, text in book.remarks(sheet):
            text = text.removeprefix(f"{author}:").strip() if author else text
            found.remark(cell_name(row, column), author, text)
    except ReadingError as error:
        found.problems.append(f"remarks are not read: {error}")
    return found


def _pages(
    book: Xls | Xlsb,
    source: Source,
    floating: Callable[[int, Sheet], Floating],
    container: Container | None = None,
) -> Iterator[Page]:
    def page(number: int, _: str) -> Page:
        sheet = book.sheets[number - 1]
        return _page(book, source, sheet, number, floating(number, sheet))

    with container or nullcontext():
        yield from sheet_pages([sheet.name for sheet in book.sheets], page)


def _page(book: Xls | Xlsb, source: Source, sheet: Sheet, number: int, floating: Floating) -> Page:
    writer = SheetWriter(floating)
    rows: Iterable[Row] = book.rows(sheet) if sheet.cells else ()
    given = iter(rows)
    for block in blocks_of(islice(given, MOST_ROWS)):
        writer.block(block)
    if next(given, None) is not None:
        writer.cut(MOST_ROWS)
    return writer.page(number, sheet.name, source)
