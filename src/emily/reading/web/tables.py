"""Tables of web pages: which are tables to a reader, and where their cells stand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from lxml import html

__all__ = ["Grid", "is_inline_row", "is_layout"]

_CELLS = frozenset({"td", "th"})
_HEADINGS = frozenset({"h1", "h2", "h3", "form"})
_PARAGRAPHS = frozenset({
    "p", "div", "ul", "ol", "dl", "pre", "blockquote", "section", "article", "h4", "h5", "h6",
    "figure", "fieldset",
}) | _HEADINGS  # fmt: skip
_MOST_COLUMNS = 1000
_MOST_PARAGRAPHS = 10  # in a cell of a table; with more it is a column of a page
_MOST_LETTERS = 2000


@dataclass(slots=True)
class Grid:
    """A table in the making: cells are put where rows and columns that span leave room.

    Attributes:
        rows: texts by row and column.
        head: whether the first row with text consists of header cells.
    """

    rows: list[list[str]] = field(default_factory=list)
    head: bool = False
    _taken: dict[int, int] = field(default_factory=dict)  # column to rows that it is taken for
    _heads: bool = True

    def row(self) -> None:
        """Begin a row."""
        self._close()
        self.rows.append([])
        self._taken = {column: left - 1 for column, left in self._taken.items() if left > 1}
        self._heads = True

    def cell(self, text: str, *, head: bool, across: int, down: int) -> None:
        """Add a cell that spans columns and rows; its text stands in the first of them."""
        if not self.rows:
            self.row()
        cells = self.rows[-1]
        while len(cells) in self._taken:
            cells.append("")
        if text:
            self._heads = self._heads and head
        for place in range(max(1, min(across, _MOST_COLUMNS))):
            if down > 1:
                self._taken[len(cells)] = down
            cells.append("" if place else text)

    def _close(self) -> None:
        if self.rows and self._heads and any(self.rows[-1]):
            self.head = self.head or not any(any(row) for row in self.rows[:-1])

    def finish(self) -> list[list[str]]:
        """The rows with text, as wide as the widest, without columns that are empty."""
        self._close()
        rows = [row for row in self.rows if any(row)]
        width = max(map(len, rows), default=0)
        rows = [row + [""] * (width - len(row)) for row in rows]
        filled = [at for at in range(width) if any(row[at] for row in rows)]
        return [[row[at] for at in filled] for row in rows]


@dataclass(slots=True)
class _Cell:
    paragraphs: int = 0
    letters: int = 0
    headings: bool = False


def _own(table: html.HtmlElement) -> Iterator[html.HtmlElement]:
    """Elements of a table, those of tables inside of it left out (but not these themselves)."""
    stack = list(reversed(table))
    while stack:
        element = stack.pop()
        if isinstance(element.tag, str):
            yield element
            if element.tag != "table":
                stack += reversed(element)


def is_layout(table: html.HtmlElement) -> bool:
    """Whether a table merely places things on the page, as in newsletters and old pages."""
    rows: list[list[_Cell]] = []
    nested = False
    for element in _own(table):
        tag = element.tag
        if tag in {"th", "caption"}:
            return False
        if tag == "table":
            nested = True
        elif tag == "tr":
            rows.append([])
        elif tag == "td":
            if not rows:
                rows.append([])
            rows[-1].append(_Cell())
        elif rows and rows[-1]:
            cell = rows[-1][-1]
            cell.paragraphs += tag in _PARAGRAPHS
            cell.headings = cell.headings or tag in _HEADINGS
        if rows and rows[-1]:
            if tag != "table":
                rows[-1][-1].letters += len((element.text or "").strip())
            if tag != "td" and tag != "tr":
                rows[-1][-1].letters += len((element.tail or "").strip())
    cells = [cell for row in rows for cell in row]
    if not cells:
        return True
    if nested and (
        len(rows) < 2
        or any(len(row) < 2 for row in rows)
        or 2 * sum(bool(cell.letters) for cell in cells) < len(cells)
    ):
        return True
    if table.get("role") in {"presentation", "none"}:
        full = [row for row in rows if sum(bool(c.letters) for c in row) > 1]
        return len(full) < 2 or any(cell.paragraphs > 1 for cell in cells)
    if all(len(row) < 2 for row in rows) or len(rows) == 1:
        return len(cells) == 1 or any(cell.paragraphs > 1 for cell in cells)
    return any(
        cell.paragraphs > (3 if cell.headings else _MOST_PARAGRAPHS) or cell.letters > _MOST_LETTERS
        for cell in cells
    )


def is_inline_row(row: html.HtmlElement) -> bool:
    """Whether the cells of a row of a layout stand on one line."""
    cells = [cell for cell in row if cell.tag in _CELLS]
    return len(cells) > 1 and not any(
        element.tag in _PARAGRAPHS or element.tag in {"table", "br"}
        for cell in cells
        for element in _own(cell)
    )
