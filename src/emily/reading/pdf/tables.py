"""A table on a PDF page, and what ruled and aligned ones have in common."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from emily.reading.layout import rejoin, right_to_left

__all__ = ["BULLET", "VALUE", "Grid", "in_direction", "joined", "without_units"]

BULLET = re.compile(r"[•▪◦‣●■□○►–*\uf000-\uf0ff-]")
"""What stands before the item of a list."""

VALUE = re.compile(r"[-–—+(]*[€$£]?\s*\d[\d.,'’ /:%-]*\)?%?|[-–—]")
"""A cell that holds a number and names no column."""

_UNIT = re.compile(r"(?:[$€£¥₹(]|US\$|CHF|EUR|USD|Fr\.)+")
_TRAILING = re.compile(r"\s([$€£¥])$")
_AFTER = re.compile(r"[%)]+|[%)]*\(\d\)|pts?")


@dataclass(slots=True)
class Grid:
    """A table.

    Attributes:
        rows: the cells' texts; as many in each row.
        lines: numbers of the stretches of lines that it is made of.
        top: where it begins, points from the page's lower edge.
        base: where it ends.
    """

    rows: list[list[str]]
    lines: list[int]
    top: float = 0.0
    base: float = 0.0

    @property
    def header(self) -> bool:
        """Whether the first row names the columns."""
        named = [cell for cell in self.rows[0] if cell]
        return len(named) > 1 and not any(VALUE.fullmatch(cell) for cell in named)


def joined(lines: Sequence[str]) -> str:
    """The lines of a cell as one; words cut at a line's end are made whole."""
    text = ""
    for line in lines:
        text += ("\n" if text.endswith("-") else " ") + line if text else line
    return rejoin(text).replace("\n", " ")


def without_units(cells: list[list[str]]) -> list[list[str]]:
    """Columns that hold only currency signs or closing marks joined to the numbers they go with."""
    across = len(cells[0])
    column = 0
    for row in cells:
        for at in range(across - 1):
            if row[at + 1] and (mark := _TRAILING.search(row[at])):
                row[at], row[at + 1] = row[at][: mark.start()], f"{mark[1]}{row[at + 1]}"
    while column < across and across > 1:
        held = [row[column] for row in cells if row[column]]
        over = column + 1 < across and all(
            not (row[column] and row[column + 1]) or _UNIT.fullmatch(row[column]) for row in cells
        )
        bullets = column + 1 < across and held and all(map(BULLET.fullmatch, held))
        units = list(map(_UNIT.fullmatch, held))
        before = column + 1 < across and held and (all(units) or (over and any(units)))
        after = column > 0 and held and all(map(_AFTER.fullmatch, held))
        if before or after or bullets:
            into = column - 1 if after and not before else column + 1
            for row in cells:
                sign = row[column]
                if sign and into > column:
                    row[into] = f"{sign} {row[into]}".strip() if bullets else f"{sign}{row[into]}"
                elif sign:
                    row[into] += sign
                del row[column]
            across -= 1
        else:
            column += 1
    return cells


def in_direction(rows: list[list[str]]) -> list[list[str]]:
    """Rows that begin on the right where the script does."""
    if right_to_left("".join("".join(row) for row in rows)):
        return [row[::-1] for row in rows]
    return rows
