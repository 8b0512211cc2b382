"""Tables in XML, of HTML and of CALS, as rows of cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lxml import etree

from emily.reading.office.ooxml import local

__all__ = ["table_rows"]

_ROWS = frozenset({"tr", "row"})
_CELLS = frozenset({"td", "th", "entry", "cell"})
_MOST_SPAN = 200
_MOST_TAKEN = 200_000  # places of merged cells that are kept count of


def table_rows(
    table: etree._Element, text_of: Callable[[etree._Element], str]
) -> tuple[list[list[str]], bool]:
    """The rows of a table. A merged cell has its text in the first of its places.

    Args:
        table: an element with rows somewhere inside of it; tables in its cells are text of these.
        text_of: gives the text of a cell on one line.

    Returns:
        the rows, none of them longer than the file has cells; and whether the first names the
        columns: it stands in a ``thead``, or is made of ``th``.
    """
    names = _column_names(table)
    grid: list[list[str]] = []
    taken: dict[tuple[int, int], None] = {}  # places that a cell above reaches into
    heads = False
    for at, row in enumerate(_rows(table)):
        cells: list[str] = []
        found = [cell for cell in row if local(cell).lower() in _CELLS]
        for cell in found:
            if cell.get("namest") in names:
                while len(cells) < names.index(cell.get("namest") or ""):
                    cells.append("")
            while (at, len(cells)) in taken:
                cells.append("")
            wide, high = _spans(cell, names)
            for down in range(1, high if len(taken) < _MOST_TAKEN else 1):
                for right in range(wide):
                    taken[at + down, len(cells) + right] = None
            cells += [text_of(cell), *[""] * (wide - 1)]
        if not grid and found:
            parent = row.getparent()
            in_head = parent is not None and local(parent).lower() == "thead"
            heads = in_head or all(local(cell).lower() == "th" for cell in found)
        grid.append(cells)
    return [cells for cells in grid if any(cells)], heads


def _rows(table: etree._Element) -> Iterator[etree._Element]:
    """Rows of a table, without those of tables inside of its cells."""
    for child in table:
        name = local(child).lower()
        if name in _ROWS:
            yield child
        elif name in {"thead", "tbody", "tfoot", "tgroup", "table"}:
            yield from _rows(child)


def _column_names(table: etree._Element) -> list[str]:
    return [element.get("colname") or "" for element in table.iter() if local(element) == "colspec"]


def _spans(cell: etree._Element, names: list[str]) -> tuple[int, int]:
    """How many columns and rows a cell takes."""
    first, last = cell.get("namest"), cell.get("nameend")
    wide = _number(cell.get("colspan"))
    if first in names and last in names:
        wide = max(1, names.index(last or "") - names.index(first or "") + 1)
    high = _number(cell.get("rowspan"))
    if cell.get("morerows"):
        high = _number(cell.get("morerows")) + 1
    return wide, high


def _number(written: str | None) -> int:
    text = (written or "").strip()
    return min(_MOST_SPAN, max(1, int(text))) if text.isdecimal() and len(text) < 9 else 1
