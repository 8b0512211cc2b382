"""Tables as Markdown, and which of a table's rows is its header."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from emily.reading.pages import Table

__all__ = ["is_value", "markdown_table", "moved", "nested_text", "table_of"]

_LONGEST_NESTED = 300  # letters
_VALUE = re.compile(r"[-+(]?[€$£]?\s*\d[\d.,'’ /:T+-]*\s*[)%€$£Z]?")


def is_value(cell: str) -> bool:
    """Whether a cell holds a number, a date or a sum of money, and so names no column."""
    return bool(_VALUE.fullmatch(cell.strip()))


def moved(table: Table, by: int) -> Table:
    """A table further down the page by a number of lines."""
    header = None if table.header is None else (table.header[0] + by, table.header[1] + by)
    return Table(header, tuple((begin + by, end + by) for begin, end in table.rows))


def nested_text(rows: Sequence[Sequence[str]]) -> str | None:
    """A table inside of a cell as part of the cell's line: ``a, b; c, d``.

    Returns:
        The text, or ``None`` for one that is too long and better stands behind the table around.
    """
    if len(rows) > 1 and max(map(len, rows)) > 1:
        letters = sum(len(cell) for row in rows for cell in row)
        if letters > _LONGEST_NESTED:
            return None
    return "; ".join(", ".join(filter(None, row)) for row in rows)


def table_of(spans: Sequence[tuple[int, int]], rows: Sequence[Sequence[str]]) -> Table | None:
    """The table that rows of cells make.

    Rows before the first that fills at least half of the usual number of cells (a title, a bank's
    preamble) are text above the table. Its first row is a header where others follow and none of
    its cells is a number or a date.

    Args:
        spans: first and last line of each row, in the page's text.
        rows: the cells of each row.

    Returns:
        The table, or ``None`` for less than two rows or for rows of a single cell.
    """
    filled = [sum(bool(cell.strip()) for cell in cells) for cells in rows]
    if len(rows) < 2 or max(filled) < 2:
        return None
    usual = Counter(count for count in filled if count > 1).most_common(1)[0][0]
    first = next(at for at, count in enumerate(filled) if 2 * count >= usual and count > 1)
    named = [cell.strip() for cell in rows[first] if cell.strip()]
    body = tuple(spans[first:])
    if len(body) > 1 and not any(map(is_value, named)):
        return Table(body[0], body[1:])
    return Table(None, body)


def markdown_table(
    rows: Sequence[Sequence[str]], line: int, *, header: bool = True
) -> tuple[list[str], Table | None]:
    """A table as lines of Markdown, one line a row, every row as wide as the widest.

    Markdown knows no table without a header: where the first row is none, it stands in its place
    all the same, but is not repeated with later chunks.

    Args:
        rows: the cells of each row, line breaks and bars among them allowed.
        line: number of the page's line at which the table begins.
        header: whether the first row names the columns.

    Returns:
        The lines, and the table for the page; ``None`` for fewer than two rows with text.
    """
    width = max((len(cells) for cells in rows), default=0)
    filled = [
        [" ".join(cell.split()).replace("|", "\\|") for cell in cells] + [""] * (width - len(cells))
        for cells in rows
        if any(cell.strip() for cell in cells)
    ]
    lines = [f"| {' | '.join(cells)} |" for cells in filled]
    if len(lines) < 2:
        return lines, None
    lines.insert(1, f"|{' --- |' * width}")
    first = (line, line + 1)
    body = [(line + at, line + at) for at in range(2, len(lines))]
    if header:
        return lines, Table(header=first, rows=tuple(body))
    return lines, Table(header=None, rows=(first, *body))
