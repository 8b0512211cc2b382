"""Tables of Word documents: cells in the columns of the grid that they stand on."""

from __future__ import annotations

from collections.abc import Callable

from lxml import etree

from emily.reading.office.ooxml import local
from emily.reading.office.word_styles import child, value

__all__ = ["grid", "grid_text", "is_layout"]

_MOST_COLUMNS = 1000  # Word itself allows 63
_WRAPPERS = frozenset({"sdt", "sdtContent", "customXml", "ins", "moveTo", "smartTag"})
_LONG_CELL = 3  # blocks; a row of cells with that many is a page's layout
_LONG_TEXT = 600  # letters; as many in a column of single cells are framed text


def grid(table: etree._Element) -> list[list[etree._Element | None]]:
    """The cells of a table by row and column; ``None`` where a merged cell goes on."""
    rows: list[list[etree._Element | None]] = []
    for row in _wrapped(table, "tr"):
        properties = child(row, "trPr")
        if child(properties, "del") is not None:
            continue
        cells: list[etree._Element | None] = [None] * _count(value(properties, "gridBefore"), 0)
        for cell in _wrapped(row, "tc"):
            own = child(cell, "tcPr")
            if child(own, "cellDel") is not None:
                continue
            cells.append(cell)
            cells += [None] * (_count(value(own, "gridSpan"), 1) - 1)
        rows.append(cells)
    return rows


def grid_text(
    cells: list[list[etree._Element | None]], text: Callable[[etree._Element], str]
) -> list[list[str]]:
    """The text of the cells by row and column, without rows and columns that hold none."""
    rows = [["" if cell is None else text(cell) for cell in row] for row in cells]
    width = max(map(len, rows), default=0)
    rows = [row + [""] * (width - len(row)) for row in rows if any(row)]
    filled = [at for at in range(width) if any(row[at] for row in rows)]
    return [[row[at] for at in filled] for row in rows]


def is_layout(cells: list[list[etree._Element | None]]) -> bool:
    """Whether a table only frames text or puts it side by side, and is none to a reader."""
    found = [cell for row in cells for cell in row if cell is not None]
    if len(found) <= 1:
        return not found or _blocks(found[0]) > 1 or _is_long(found[0])
    if len(cells) == 1 and any(_blocks(cell) >= _LONG_CELL for cell in found):
        return True
    single = all(sum(cell is not None for cell in row) <= 1 for row in cells)
    return single and any(_is_long(cell) for cell in found)


def _is_long(cell: etree._Element) -> bool:
    """Whether a cell holds a table, or more text than a cell of one usually does."""
    length = 0
    for inner in cell.iter():
        if local(inner) == "tbl":
            return True
        if local(inner) == "t":
            length += len(inner.text or "")
    return length > _LONG_TEXT


def _blocks(cell: etree._Element) -> int:
    """Paragraphs with text in a cell; a table counts for as many as make a layout."""
    count = 0
    for block in cell:
        name = local(block)
        if name == "tbl":
            return _LONG_CELL
        if name == "p" and any(local(inner) == "t" and inner.text for inner in block.iter()):
            count += 1
    return count


def _count(text: str | None, least: int) -> int:
    if text is None or not text.isascii() or not text.isdigit():
        return least
    return max(least, min(int(text[:6]), _MOST_COLUMNS))


def _wrapped(parent: etree._Element, name: str) -> list[etree._Element]:
    """Children of a name, also those inside content controls and tracked insertions."""
    found = []
    for inner in parent:
        if local(inner) == name:
            found.append(inner)
        elif local(inner) in _WRAPPERS:
            found += _wrapped(inner, name)
    return found
