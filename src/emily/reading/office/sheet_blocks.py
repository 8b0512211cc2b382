"""The rows of a sheet as blocks: tables, titles above them, and notes, parted by empty space."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from emily.errors import LimitExceeded, ReadingError
from emily.reading.limits import MOST_CHARACTERS
from emily.reading.office.sheet_cells import Row
from emily.reading.pages import Page, Table
from emily.reading.tables import is_value, markdown_table

__all__ = ["Block", "block_lines", "blocks_of", "sheet_pages"]

_SPARSE_WIDTH = 40  # columns; narrower blocks are written with all of their empty cells
_SPARSE_FILL = 0.2  # part of the cells that are filled; with less, the empty ones are left out


def sheet_pages(names: Sequence[str], read: Callable[[int, str], Page]) -> Iterator[Page]:
    """A page for each sheet; one that is broken is ``unread`` and stops no other.

    Args:
        names: of the sheets, in order.
        read: gives the page of a sheet by its number, from 1, and its name.

    Raises:
        LimitExceeded: the workbook holds more text than is read.
    """
    left = MOST_CHARACTERS
    for number, name in enumerate(names, 1):
        try:
            page = read(number, name)
        except LimitExceeded:
            raise
        except ReadingError as error:
            warning = f"Sheet {number} ({name}) is not read: {error}."
            yield Page(number, "", "unread", warning=warning)
            continue
        left -= len(page.text)
        if left < 0:
            raise LimitExceeded(
                f"the workbook holds more than {MOST_CHARACTERS:,} characters of text"
            )
        yield page


@dataclass(slots=True)
class Block:
    """Rows that follow one another, in columns that do.

    Attributes:
        first: number of the first row, 1-based.
        rows: cells by row and column.
    """

    first: int
    rows: list[list[str]]


def blocks_of(rows: Iterable[Row]) -> Iterator[Block]:
    """Blocks from top to bottom, side by side from left to right."""
    group: list[Row] = []
    for row in rows:
        if group and row.number > group[-1].number + 1:
            yield from _split(group)
            group = []
        group.append(row)
    if group:
        yield from _split(group)


def _split(group: list[Row]) -> Iterator[Block]:
    """Part a group of rows at the empty columns that have a table on either side."""
    used = sorted({column for row in group for column in row.cells})
    spans: list[list[int]] = []
    for column in used:
        if spans and column == spans[-1][-1] + 1:
            spans[-1].append(column)
        else:
            spans.append([column])
    parts: list[list[int]] = []
    for span in spans:
        if parts and not (_is_table(group, parts[-1]) and _is_table(group, span)):
            parts[-1] += span
        else:
            parts.append(span)
    for part in parts:
        kept = [row for row in group if any(column in row.cells for column in part)]
        yield Block(kept[0].number, [[row.cells.get(c, "") for c in part] for row in kept])


def _is_table(group: list[Row], columns: Sequence[int]) -> bool:
    """Whether columns hold a table by themselves: its own header, and a row below it.

    Without one on either side the columns belong to one row each, parted by a narrow empty
    column, and are kept together.
    """
    rows = [row for row in group if any(column in row.cells for column in columns)]
    if len(rows) < 2 or len(columns) < 2:
        return False
    names = [rows[0].cells.get(column, "") for column in columns]
    return all(names) and not any(map(is_value, names))


def block_lines(block: Block) -> tuple[list[str], Table | None]:
    """A block as lines: every cell between bars, what makes a table as a table.

    Returns:
        The lines, and where among them the table is, counted from the first.
    """
    counts = [sum(map(bool, row)) for row in block.rows]
    width = len(block.rows[0])
    if max(counts) < 2:
        return [_row(row) for row in block.rows], None
    if width > _SPARSE_WIDTH and sum(counts) < _SPARSE_FILL * width * len(counts):
        return [_row(row) for row in block.rows], None
    usual = Counter(count for count in counts if count > 1).most_common(1)[0][0]
    first = next(at for at, count in enumerate(counts) if 2 * count >= usual and count > 1)
    lines = [_row(row) for row in block.rows[:first]]
    if lines:
        lines.append("")
    rows = block.rows[first:]
    filled = [at for at in range(width) if any(row[at] for row in rows)]
    rows = [[row[at] for at in filled] for row in rows]
    header = len(rows) > 1 and not any(is_value(cell) for cell in rows[0])
    table_lines, table = markdown_table(rows, len(lines), header=header)
    return lines + table_lines, table


def _row(cells: list[str]) -> str:
    """A row that belongs to no table, without its empty cells."""
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells if cell)} |"
