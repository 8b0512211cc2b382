"""A document's whole text with its pages and tables as offsets.

Offsets count code points of the whole text, 0-based, end exclusive.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from emily.indexing.normalise import normalise

if TYPE_CHECKING:
    from emily.reading.pages import Citation, Page, Reading, Route, Table

__all__ = ["PAGE_BREAK", "DocumentText", "PageSpan", "Span", "TableSpan"]

PAGE_BREAK = "\n\n"
"""What stands between two pages in the whole text; it belongs to neither."""

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class PageSpan:
    """Where a page lies in the whole text.

    Attributes:
        number: 1-based number of the page.
        start: offset of its first character.
        end: offset after its last character; equal to ``start`` for a page without text.
        route: how it was read.
        warning: what of it was not read and why, or ``None``.
        confidence: how sure OCR was, 0 to 1, or ``None``.
        pictures: how many pictures stand on it.
    """

    number: int
    start: int
    end: int
    route: Route
    warning: str | None = None
    confidence: float | None = None
    pictures: int = 0


@dataclass(frozen=True, slots=True)
class TableSpan:
    """Where a table lies in the whole text.

    Attributes:
        header: span of the header row, or ``None``.
        rows: spans of the body rows, in order.
    """

    header: Span | None
    rows: tuple[Span, ...]

    @property
    def start(self) -> int:
        """Offset of the first character of the header or the first row."""
        return self.header[0] if self.header else self.rows[0][0]

    @property
    def end(self) -> int:
        """Offset after the last row, or after the header of a table without rows."""
        return self.rows[-1][1] if self.rows else self.start_of_body

    @property
    def start_of_body(self) -> int:
        """Offset after the header, or of the first row where there is none."""
        return self.header[1] if self.header else self.rows[0][0]


@dataclass(frozen=True, slots=True)
class DocumentText:
    """A document's normalised text, whole, and what lies where in it.

    Attributes:
        text: all pages, joined by ``PAGE_BREAK``.
        pages: every page that was read, in order, empty ones too; at least one.
        tables: every table, in order of its offset.
        citation: what passages of this document are cited by.
    """

    text: str
    pages: tuple[PageSpan, ...]
    tables: tuple[TableSpan, ...]
    citation: Citation

    @classmethod
    def from_reading(cls, reading: Reading) -> DocumentText:
        """Join the pages of a reading.

        Raises:
            ValueError: a table names a line that its page does not have.
        """
        parts: list[str] = []
        pages: list[PageSpan] = []
        tables: list[TableSpan] = []
        offset = 0
        for page in reading.pages:
            text = normalise(page.text)
            if parts:
                offset += len(PAGE_BREAK)
            parts.append(text)
            end = offset + len(text)
            pages.append(
                PageSpan(
                    page.number,
                    offset,
                    end,
                    page.route,
                    page.warning,
                    page.confidence,
                    page.pictures,
                )
            )
            tables.extend(_tables(page, text, offset))
            offset = end
        tables.sort(key=lambda table: table.start)
        return cls(PAGE_BREAK.join(parts), tuple(pages), tuple(tables), reading.citation)

    def pages_of(self, start: int, end: int) -> tuple[int, int]:
        """Numbers of the first and the last page that ``start``..``end`` touches.

        A page break counts to the page before it.
        """
        starts = [page.start for page in self.pages]
        first = max(0, bisect_right(starts, start) - 1)
        last = max(first, bisect_right(starts, max(start, end - 1)) - 1)
        return self.pages[first].number, self.pages[last].number

    def lines_of(self, start: int, end: int) -> tuple[int, int]:
        """1-based numbers of the first and the last line that ``start``..``end`` touches.

        They are lines of the file where ``citation`` is ``lines``.
        """
        first = self.text.count("\n", 0, start) + 1
        return first, first + self.text.count("\n", start, max(start, end - 1))


def _tables(page: Page, text: str, offset: int) -> list[TableSpan]:
    """The tables of a page as offsets in the whole text."""
    if not page.tables:
        return []
    starts = [0]
    ends: list[int] = []
    at = text.find("\n")
    while at >= 0:
        ends.append(at)
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    ends.append(len(text))

    def span(lines: tuple[int, int]) -> Span:
        first, last = lines
        if not 0 <= first <= last < len(starts):
            raise ValueError(
                f"Page {page.number} has lines 0 to {len(starts) - 1}, "
                f"but a table row is at lines {first} to {last}."
            )
        return offset + starts[first], offset + ends[last]

    def spans(table: Table) -> TableSpan:
        header = span(table.header) if table.header else None
        return TableSpan(header, tuple(span(row) for row in table.rows))

    return [spans(table) for table in page.tables if table.header or table.rows]
