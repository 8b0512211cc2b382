"""Lines in the making: paragraphs, headings, list items and tables, parted by blank lines."""

from __future__ import annotations

from collections.abc import Sequence

from emily.reading.pages import Page, Route, Table
from emily.reading.pictures import UNREAD
from emily.reading.source import Source, check_length, tidy
from emily.reading.tables import markdown_table, table_of

__all__ = ["Blocks", "flat_rows", "only_page"]

_MOST_LEVEL = 6  # of a heading in Markdown
_MOST_SHORT = 600  # characters of a cell; longer ones in a single column are text in a frame
_MOST_CELLS = 4_000_000  # of one table, those that only pad a row among them


class Blocks:
    """Builds a page's text and the tables in it, one block after the other.

    Attributes:
        lines: those finished so far.
        tables: those finished so far.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.tables: list[Table] = []
        self._after_item = False

    def text(self) -> str:
        """All lines, without blank ones at the end."""
        while self.lines and not self.lines[-1]:
            self.lines.pop()
        return "\n".join(self.lines)

    def gap(self) -> None:
        """A blank line, unless one stands there."""
        if self.lines and self.lines[-1]:
            self.lines.append("")
        self._after_item = False

    def paragraph(self, text: str) -> None:
        """A block of one or more lines; nothing for blanks."""
        if text := tidy(text).strip():
            self.gap()
            self.lines += [line.strip() for line in text.split("\n")]

    def heading(self, text: str, level: int) -> None:
        """A heading, on one line.

        Args:
            text: what it says.
            level: 1 for the highest.
        """
        if words := tidy(text).split():
            self.gap()
            self.lines.append(f"{'#' * min(max(level, 1), _MOST_LEVEL)} {' '.join(words)}")

    def item(self, text: str, label: str, depth: int) -> None:
        """An item of a list, or a further paragraph of one.

        Args:
            text: what it says.
            label: what stands before it: ``-``, ``1.``; empty for a further paragraph.
            depth: 0 for a list inside of no other.
        """
        if not (text := tidy(text).strip()):
            return
        if not self._after_item:
            self.gap()
        self._after_item = True
        indent = "  " * min(depth, 8)
        first, *rest = [line.strip() for line in text.split("\n")]
        self.lines.append(f"{indent}{label} {first}" if label else f"{indent}  {first}")
        self.lines += [f"{indent}  {line}" for line in rest]

    def table(self, rows: Sequence[Sequence[str]], *, header: bool | None = None) -> None:
        """A table; one of a single row and column is a frame around text, and stands as such.

        Args:
            rows: the cells of each row.
            header: whether the first row names the columns; ``None`` where the file does not say,
                which is then judged by the cells.
        """
        rows = [cells for cells in rows if any(cell.strip() for cell in cells)]
        width = max(map(len, rows), default=0)
        if width < 2 and (len(rows) < 2 or max(len(row[0]) for row in rows) > _MOST_SHORT):
            for cells in rows:
                self.paragraph(cells[0])
            return
        self.gap()
        if width * len(rows) > _MOST_CELLS:  # a few cells far apart, which Markdown would pad
            self.lines += [" | ".join(filter(None, cells)) for cells in rows]
        else:
            if header is None:
                judged = table_of([(at, at) for at in range(len(rows))], rows)
                header = judged is not None and judged.header == (0, 0)
            lines, table = markdown_table(rows, len(self.lines), header=header)
            self.lines += lines
            if table is not None:
                self.tables.append(table)
        self.gap()

    def append(self, other: Blocks) -> None:
        """The blocks of another page in the making."""
        lines = other.text().split("\n")
        if lines != [""]:
            self.gap()
            by = len(self.lines)
            self.lines += lines
            self.tables += [_moved(table, by) for table in other.tables]
            self.gap()

    def insert(self, lines: Sequence[str]) -> None:
        """Lines as they are, such as those of a picture."""
        if lines:
            self.gap()
            self.lines += lines
            self.gap()


def _moved(table: Table, by: int) -> Table:
    rows = tuple((first + by, last + by) for first, last in table.rows)
    header = table.header and (table.header[0] + by, table.header[1] + by)
    return Table(header, rows)


def only_page(out: Blocks, source: Source) -> Page:
    """The page of a file that has one.

    One that holds nothing but pictures that are not read is unread, and says so.

    Raises:
        LimitExceeded: it holds more text than is read.
    """
    text = out.text()
    check_length(len(text))
    pictures = source.pictures.on_page(1)
    lines = [line for line in text.split("\n") if line]
    if all(line == UNREAD for line in lines):
        warning = "The page holds pictures alone, which are not read." if lines else None
        route: Route = "unread" if lines else "blank"
        return Page(1, "", route, warning=warning, pictures=pictures)
    return Page(1, text, tables=tuple(out.tables), pictures=pictures)


def flat_rows(rows: Sequence[Sequence[str]]) -> str:
    """A table inside of a table's cell, on one line: ``a, b; c, d``."""
    joined = (", ".join(filter(None, cells)) for cells in rows)
    return "; ".join(filter(None, joined))
