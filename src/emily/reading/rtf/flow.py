"""A run of paragraphs in a Rich Text file: its body, a header, a footnote, a text box."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from emily.reading.blocks import Blocks, flat_rows

__all__ = ["Flow", "Format", "Role", "Row"]

Role = Literal["body", "header", "footer", "Footnote", "Endnote", "Comment", "box"]

_MOST_LEVELS = 20  # of tables in one another
_NEAR = 60  # twips between edges that are one to the eye
_BULLETS = frozenset("o§·vØüq-–—*")


@dataclass(slots=True)
class Format:
    """What a paragraph is, as far as reading it goes.

    Attributes:
        depth: how many tables it stands in.
        heading: level of a heading from 1; 0 for none.
        listed: whether it belongs to a list.
        level: of the list, from 0.
    """

    depth: int = 0
    heading: int = 0
    listed: bool = False
    level: int = 0


@dataclass(slots=True)
class Row:
    r"""What is said of a table's row.

    Attributes:
        edges: right edges of its cells in twips, the row's left edge before them.
        header: whether it repeats on every page.
    """

    edges: list[int] = field(default_factory=list)
    header: bool = False


@dataclass(slots=True)
class _Level:
    """A table that is open."""

    blocks: list[str] = field(default_factory=list)  # of the cell being read
    cells: list[str] = field(default_factory=list)  # of the row being read
    rows: list[tuple[list[str], Row]] = field(default_factory=list)


class Flow:
    """Builds blocks out of the text, paragraph ends and cell ends of a file.

    Attributes:
        role: what the flow is to the document.
        out: its finished blocks.
        author: of a comment.
    """

    def __init__(self, role: Role, author: str = "") -> None:
        self.role = role
        self.author = author
        self.out = Blocks()
        self.row_open = False
        self._pieces: list[str] = []
        self._label: list[str] | None = None
        self._tables: list[_Level] = []
        self._hung: list[list[str]] = []

    def add(self, text: str) -> None:
        """Text of the paragraph being read."""
        self._pieces.append(text)

    def label(self, text: str) -> None:
        """Text of the number or bullet that stands before the paragraph."""
        if self._label is None:
            self._label = []
        self._label.append(text)

    def hang(self, lines: Sequence[str]) -> None:
        """Lines that stand behind the paragraph being read, or behind the table around it."""
        if lines:
            self._hung.append(list(lines))

    def paragraph(self, form: Format) -> None:
        """The paragraph being read ends."""
        text, label = self._take()
        depth = min(form.depth, _MOST_LEVELS)
        if depth == 0 and self.row_open:
            depth = 1  # a row has begun, though the paragraph does not say that it is part of it
        if not text and depth > len(self._tables):
            return
        self._to(depth)
        if self._tables:
            self._tables[-1].blocks.append(f"{label} {text}" if label and text else text)
            return
        if form.heading and text:
            self.out.heading(f"{label} {text}" if label not in {"", "-"} else text, form.heading)
        elif label or form.listed:
            self.out.item(text, label, form.level)
        else:
            self.out.paragraph(text)
        self._show_hung()

    def cell(self, depth: int) -> None:
        """A cell ends, in a table that lies so deep."""
        text, label = self._take()
        self._to(min(depth, _MOST_LEVELS))
        level = self._tables[-1]
        level.blocks.append(f"{label} {text}" if label and text else text)
        level.cells.append(" ".join(filter(None, level.blocks)))
        level.blocks = []

    def row(self, depth: int, row: Row) -> None:
        """A row ends."""
        text, _ = self._take()
        self._to(min(depth, _MOST_LEVELS))
        level = self._tables[-1]
        left = " ".join(filter(None, [*level.blocks, text]))
        cells = [*level.cells, left] if left else level.cells
        if cells:
            level.rows.append((cells, row))
        level.cells, level.blocks = [], []
        if depth == 1:
            self.row_open = False

    def finish(self) -> Blocks:
        """The blocks, those included that were still open."""
        self.row_open = False
        text, label = self._take()
        if self._tables and text:
            self._tables[-1].blocks.append(text)
            text = ""
        self._to(0)
        if label:
            self.out.item(text, label, 0)
        else:
            self.out.paragraph(text)
        self._show_hung()
        return self.out

    def _take(self) -> tuple[str, str]:
        text = _paired("".join(self._pieces)).strip()
        label = ""
        if self._label is not None:
            label = "".join(_paired("".join(self._label)).split())
            if not any(char.isalnum() for char in label) or label in _BULLETS:
                label = "-"
            elif label.isdigit():
                label += "."
        self._pieces, self._label = [], None
        return text, label

    def _to(self, depth: int) -> None:
        """Close tables that lie deeper, open those that are missing."""
        while len(self._tables) > depth:
            level = self._tables.pop()
            left = " ".join(filter(None, level.blocks))
            cells = [*level.cells, left] if left else level.cells
            if cells:
                level.rows.append((cells, Row()))
            if self._tables:
                self._tables[-1].blocks.append(flat_rows([cells for cells, _ in level.rows]))
            elif level.rows:
                header = True if level.rows[0][1].header else None
                self.out.table(_aligned(level.rows), header=header)
                self._show_hung()
        while len(self._tables) < depth:
            self._tables.append(_Level())

    def _show_hung(self) -> None:
        for lines in self._hung:
            self.out.insert(lines)
        self._hung = []


def _paired(text: str) -> str:
    """A text whose halves of characters are joined, those without a partner replaced."""
    if any("\ud800" <= char <= "\udfff" for char in text):
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _aligned(rows: Sequence[tuple[list[str], Row]]) -> list[list[str]]:
    """The rows of a table with each cell in the column in which its left edge stands.

    A wide cell covers several columns, the later ones of which stay empty. Rows stay as they are
    where their edges make more columns than any of them has cells: then they share no grid.
    """
    plain = [cells for cells, _ in rows]
    if len({len(cells) for cells in plain}) < 2:
        return plain
    if any(len(row.edges) != len(cells) + 1 for cells, row in rows):
        return plain
    edges: list[int] = []
    for edge in sorted({edge for _, row in rows for edge in row.edges}):
        if not edges or edge - edges[-1] > _NEAR:
            edges.append(edge)
    if len(edges) - 1 != max(map(len, plain)):
        return plain
    placed = []
    for cells, row in rows:
        line = [""] * (len(edges) - 1)
        for (left, _), cell in zip(pairwise(row.edges), cells, strict=True):
            at = max((i for i, edge in enumerate(edges[:-1]) if edge <= left), default=0)
            line[at] = f"{line[at]} {cell}".strip()
        placed.append(line)
    return placed
