"""The tables of OpenDocument files, whose cells and rows may be repeated a million times."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from lxml import etree

from emily.errors import LimitExceeded
from emily.reading.limits import MOST_CHARACTERS
from emily.reading.office.ooxml import local
from emily.reading.opendocument.package import number

__all__ = ["MOST_ROWS", "Grid", "grid", "only_cells", "table_rows"]

MOST_ROWS = 100_000
"""Most rows with a value that are read of one table or sheet."""

_MOST_SHORT = 600  # characters of a cell in a table of one column; longer ones are text
_MOST_COLUMNS = 16_384  # of a spreadsheet program
_CELLS = frozenset({"table-cell", "covered-table-cell"})
_ROW_GROUPS = frozenset({
    "table-rows", "table-row-group", "table-header-rows", "table-row-groups",
})  # fmt: skip


@dataclass(slots=True)
class Grid:
    """The cells of a table.

    Attributes:
        rows: those with a value, and an empty one for each gap between them.
        header: whether the table says that it begins with a header row.
        capped: whether more rows with a value were there than are read.
    """

    rows: list[list[str]] = field(default_factory=list)
    header: bool = False
    capped: bool = False


def table_rows(table: etree._Element) -> Iterator[tuple[etree._Element, bool]]:
    """The rows of a table in order, and whether each is a header."""
    waiting = [(child, False) for child in reversed(table)]
    while waiting:
        element, header = waiting.pop()
        name = local(element)
        if name == "table-row":
            yield element, header
        elif name in _ROW_GROUPS:
            header = header or name == "table-header-rows"
            waiting += [(child, header) for child in reversed(element)]


def only_cells(table: etree._Element) -> list[etree._Element]:
    """The cells of a table that is a frame around text; none for a real table.

    A frame has one column, and one row or much text in a cell.
    """
    found: list[etree._Element] = []
    for row, _ in table_rows(table):
        cells = [cell for cell in row if local(cell) in _CELLS]
        if len(cells) != 1 or number(cells[0], "number-columns-repeated") > 1:
            return []
        if number(row, "number-rows-repeated") == 1:
            found += cells
    long = any(sum(map(len, cell.itertext())) > _MOST_SHORT for cell in found)
    return found if len(found) == 1 or long else []


def grid(
    table: etree._Element,
    read: Callable[[etree._Element], str],
    *,
    left: int = MOST_CHARACTERS,
    rows: int = MOST_ROWS,
) -> Grid:
    """The cells of a table, real ones only.

    A merged cell's text stands in its first place, and the places that it covers are empty.

    Args:
        table: a ``table:table``.
        read: gives the text of a cell.
        left: most characters that are read.
        rows: most rows with a value that are read.

    Raises:
        LimitExceeded: it holds more characters.
    """
    found = Grid()
    count = 0
    for row, header in table_rows(table):
        if count >= rows:  # whatever follows is looked at only for having a value
            if any(map(read, row)):
                found.capped = True
                break
            continue
        cells = _cells(row, read, left)
        if not cells:
            if found.rows and found.rows[-1]:
                found.rows.append([])
            continue
        found.header = found.header or (header and not found.rows)
        wanted = number(row, "number-rows-repeated")
        times = min(max(1, wanted), rows - count)
        found.capped = found.capped or times < wanted
        count += times
        left -= times * (sum(map(len, cells)) + 3 * len(cells))
        if left < 0:
            raise LimitExceeded(f"a table holds more than {MOST_CHARACTERS:,} characters of text")
        found.rows += [cells] * times
    while found.rows and not found.rows[-1]:
        found.rows.pop()
    return found


def _cells(row: etree._Element, read: Callable[[etree._Element], str], left: int) -> list[str]:
    cells: list[str] = []
    empty = 0  # that a later cell would make room for
    for cell in row:
        name = local(cell)
        if name not in _CELLS:
            continue
        times = max(1, number(cell, "number-columns-repeated"))
        text = read(cell) if name == "table-cell" else ""
        if not text:
            empty += times
            continue
        cells += [""] * min(empty, max(0, _MOST_COLUMNS - len(cells)))
        empty = 0
        times = min(times, max(1, _MOST_COLUMNS - len(cells)))
        left -= times * len(text)
        if left < 0:
            raise LimitExceeded(f"a table holds more than {MOST_CHARACTERS:,} characters of text")
        cells += [text] * times
    return cells
