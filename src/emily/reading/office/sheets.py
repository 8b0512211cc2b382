"""Excel workbooks: a page per sheet, its tables in Markdown, values as a person writes them."""

from __future__ import annotations

from collections.abc import Iterator

from emily.errors import EmptyDocument, LimitExceeded
from emily.reading.limits import MOST_CHARACTERS
from emily.reading.office.embedded import embedded_files, embedded_parts
from emily.reading.office.ooxml import Container, attribute, local
from emily.reading.office.sheet_blocks import Block, block_lines, blocks_of, sheet_pages
from emily.reading.office.sheet_cells import Book, Row, rows_of
from emily.reading.office.sheet_drawings import Floating, floating_of
from emily.reading.pages import Page, Route, Table
from emily.reading.pictures import UNREAD
from emily.reading.source import Draft, Source, tidy
from emily.reading.tables import moved

__all__ = ["MOST_ROWS", "SheetWriter", "read_xlsx"]

MOST_ROWS = 100_000
"""Most rows with a value that are read of one sheet; where it cuts, the page says so."""

_Sheet = tuple[str, str]  # name, path


def read_xlsx(source: Source) -> Draft:
    """A workbook; the page number is the number of the sheet, its heading the sheet's name.

    Formulas are read by the value that was stored with them, dates as ISO 8601. Pictures and
    charts stand behind the table to whose rows they are anchored, remarks at the end.

    Raises:
        EmptyDocument: it has no sheets.
        ReadingError: it is no workbook, or broken as a whole.
    """
    container = Container(source.path)
    try:
        main = container.main("xl/workbook.xml")
        root = container.xml(main)
        related = container.related(main)
        title, facts = container.properties()
        draft = Draft("xlsx", "pages", iter(()), title, facts=facts)
        sheets: list[_Sheet] = []
        for element in root.iter():
            if local(element) != "sheet":
                continue
            name = " ".join(tidy(attribute(element, "name") or "").split())
            ids = [str(value) for key, value in element.attrib.items() if "}" in str(key)]
            path = next((related[key][1] for key in ids if key in related), "")
            sheets.append((name, path))
            if attribute(element, "state") in {"hidden", "veryHidden"}:
                draft.warnings.append(f"Sheet {len(sheets)} ({name}) is hidden; it is read.")
        if not sheets:
            raise EmptyDocument("the workbook has no sheets")
        book = Book.of(container, root, dict(related.values()))
    except BaseException:
        container.__exit__()
        raise
    draft.pages = _pages(container, source, book, sheets, draft)
    parts = (part for _, path in sheets for part in embedded_parts(container.related(path)))
    draft.enclosed = embedded_files(source, list(parts))
    return draft


def _pages(
    container: Container, source: Source, book: Book, sheets: list[_Sheet], draft: Draft
) -> Iterator[Page]:
    with container:
        yield from sheet_pages(
            [name for name, _ in sheets],
            lambda number, name: _page(
                container, source, book, number, name, sheets[number - 1][1]
            ),
        )
    if book.uncomputed:
        draft.warnings.append(
            f"{len(book.uncomputed)} sheets have formulas without a stored value, which are left "
            "empty. Open the file in a spreadsheet program and save it to store them."
        )


def _page(
    container: Container, source: Source, book: Book, number: int, name: str, path: str
) -> Page:
    floating = floating_of(container, source, path, number)
    writer = SheetWriter(floating)
    if _is_sheet(path):
        capped = _Capped(rows_of(container, path, book))
        for block in blocks_of(capped):
            writer.block(block)
        if capped.cut:
            writer.cut(MOST_ROWS)
    return writer.page(number, name, source)


def _is_sheet(path: str) -> bool:
    """Whether a part has cells; sheets of charts, dialogs and macros of old have none."""
    return not any(f"/{kind}sheets/" in f"/{path.lower()}" for kind in ("chart", "dialog"))


class _Capped:
    """Rows up to the cap on rows and on characters."""

    def __init__(self, rows: Iterator[Row]) -> None:
        self._rows = rows
        self.cut = False

    def __iter__(self) -> Iterator[Row]:
        left = MOST_CHARACTERS
        for count, row in enumerate(self._rows):
            if count == MOST_ROWS:
                self.cut = True
                return
            left -= sum(map(len, row.cells.values()))
            if left < 0:
                raise LimitExceeded(
                    f"the workbook holds more than {MOST_CHARACTERS:,} characters of text"
                )
            yield row


class SheetWriter:
    """Builds the lines of a sheet.

    Args:
        floating: what is anchored to its rows.

    Attributes:
        lines: what was written so far.
        tables: tables in them.
    """

    def __init__(self, floating: Floating) -> None:
        self.lines: list[str] = []
        self.tables: list[Table] = []
        self._figures = floating.figures
        self._remarks = floating.remarks
        self._problems = floating.problems
        self._next = 0

    def block(self, block: Block) -> None:
        """A block of cells, and what is anchored to its rows."""
        self._figures_before(block.first)
        lines, table = block_lines(block)
        self._add(lines, table)

    def cut(self, rows: int) -> None:
        """Say that only so many rows were read."""
        self._problems.append(f"it has more than {rows:,} rows; only the first {rows:,} are read")

    def page(self, number: int, name: str, source: Source) -> Page:
        """The page, with what is anchored below the last row, and the remarks.

        Args:
            number: of the sheet, from 1.
            name: of the sheet.
            source: the file, whose pictures were read.
        """
        self._figures_before(1 << 30)
        self._add([text for _, _, text in self._remarks], None)
        problems = self._problems
        if not any(line and line != UNREAD for line in self.lines):
            if self.lines:
                problems.append("its pictures are not read")
            self.lines = []
        warning = f"Sheet {number} ({name}): {'; '.join(problems)}." if problems else None
        route: Route = "text" if self.lines else "unread" if problems else "blank"
        text = "\n".join([f"# {name}", "", *self.lines]) if self.lines else ""
        tables = tuple(moved(table, 2) for table in self.tables)
        pictures = source.pictures.on_page(number)
        return Page(number, text, route, tables, warning, pictures=pictures)

    def _figures_before(self, row: int) -> None:
        while self._next < len(self._figures) and self._figures[self._next][0] < row:
            _, lines, table = self._figures[self._next]
            self._next += 1
            self._add(lines, table)

    def _add(self, lines: list[str], table: Table | None) -> None:
        if not lines:
            return
        if self.lines:
            self.lines.append("")
        if table is not None:
            self.tables.append(moved(table, len(self.lines)))
        self.lines += lines
