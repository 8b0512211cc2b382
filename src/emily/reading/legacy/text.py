"""The text of old Word documents: paragraphs, lists, tables and pictures as lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from emily.reading.blocks import Blocks
from emily.reading.legacy.word import Paragraph, WordBinary
from emily.reading.office.drawings import picture_at
from emily.reading.source import Source
from emily.reading.tables import markdown_table

__all__ = ["DocumentWriter", "cleaned"]

_SAME_EDGE = 40  # twips (0.7 mm) within which edges of cells are one
_MOST_DROPPED = 10  # letters
_FIELD = re.compile("\x13[^\x13\x14\x15]*(?:\x14([^\x13\x14\x15]*))?\x15")
_OPEN_FIELD = re.compile("\x13[^\x13\x14\x15]*\x14")  # one that ends in a later paragraph
_SIGNS = str.maketrans({
    "\x0b": "\n", "\x0c": "\n", "\x0e": "\n", "\x1e": "-", "\x1f": None, "\x00": None,
    "\x01": None, "\x02": None, "\x03": None, "\x04": None, "\x05": None, "\x06": None,
    "\x07": None, "\x08": None, "\x13": None, "\x14": None, "\x15": None,
})  # fmt: skip


def cleaned(text: str) -> str:
    """What is shown of a paragraph: of a field its result, no signs that only Word knows."""
    while (shorter := _FIELD.sub(lambda field: field[1] or "", text)) != text:
        text = shorter
    text = _OPEN_FIELD.sub("", text)
    return text.translate(_SIGNS)


class _Rows:
    """A table in the making; a cell holds texts and tables."""

    def __init__(self) -> None:
        self.rows: list[tuple[list[list[str | _Rows]], tuple[int, ...]]] = []
        self.cells: list[list[str | _Rows]] = []
        self.cell: list[str | _Rows] = []

    def end_cell(self) -> None:
        self.cells.append(self.cell)
        self.cell = []

    def end_row(self, edges: tuple[int, ...] = ()) -> None:
        if self.cell:
            self.end_cell()
        if self.cells:
            self.rows.append((self.cells, edges))
        self.cells = []

    def inner(self) -> list[_Rows]:
        """The tables in its cells."""
        return [
            piece
            for cells, _ in self.rows
            for cell in cells
            for piece in cell
            if isinstance(piece, _Rows)
        ]

    def aligned(self) -> list[list[str]]:
        """The texts on one grid: a cell stands in the column where its left edge is, so that one
        that spans several leaves the others empty."""
        grid: list[int] = []
        for edge in sorted({edge for cells, edges in self.rows for edge in edges[: len(cells)]}):
            if not grid or edge - grid[-1] > _SAME_EDGE:
                grid.append(edge)
        rows = []
        for cells, edges in self.rows:
            row: list[str] = []
            for at, cell in enumerate(cells):
                if len(edges) == len(cells) + 1:
                    column = sum(other <= edges[at] for other in grid) - 1
                    row += [""] * (column - len(row))
                row.append(" ".join(piece for piece in cell if isinstance(piece, str) and piece))
            rows.append(row)
        return rows


class DocumentWriter:
    """Builds the lines of a document out of its paragraphs."""

    def __init__(self, source: Source, word: WordBinary, data: bytes) -> None:
        self.blocks = Blocks()
        self._source = source
        self._word = word
        self._data = data
        self._boxes = word.boxes()
        self._drawn = word.drawn()
        self._open: list[_Rows] = []
        self._dropped = ""

    def letterheads(self) -> list[list[Paragraph]]:
        """Write each header once; returns the footers, each once."""
        seen = set()
        feet = []
        for is_header, paragraphs in self._word.letterheads():
            text = "\n".join(cleaned(paragraph.text) for paragraph in paragraphs).strip()
            if text in seen or not (text or any(item.pictures for item in paragraphs)):
                continue
            seen.add(text)
            if is_header:
                self.write(paragraphs)
            else:
                feet.append(paragraphs)
        return feet

    def write(self, paragraphs: Iterable[Paragraph]) -> None:
        """All paragraphs of a part."""
        above, self._open = self._open, []
        for paragraph in paragraphs:
            self._take(paragraph)
        self._close(0)
        self._open = above

    def rest(self) -> None:
        """Text boxes and pictures that hang on no paragraph, such as those in groups."""
        for shape in list(self._boxes):
            self._shape(shape)
        for shape in list(self._drawn):
            self._shape(shape)

    def _take(self, paragraph: Paragraph) -> None:
        self._close(paragraph.depth)
        while len(self._open) < paragraph.depth:
            self._open.append(_Rows())
        text = self._dropped + cleaned(paragraph.text)
        self._dropped = ""
        if paragraph.dropped and len(text) <= _MOST_DROPPED and not paragraph.cell_end:
            self._dropped = text
            return
        if not self._open:
            self._outside(paragraph, text)
            return
        table = self._open[-1]
        if paragraph.row_end:
            table.end_row(paragraph.edges)
            return
        label = paragraph.label if paragraph.label not in {None, "-"} else ""
        table.cell.append(" ".join(f"{label} {text}".split()))
        table.cell += self._pictures(paragraph.pictures)
        for shape in paragraph.shapes:
            table.cell += [
                " ".join(cleaned(inner.text).split()) for inner in self._boxes.pop(shape, ())
            ]
            if (picture := self._drawn.pop(shape, None)) is not None:
                table.cell += self._source.pictures.block(picture, 1)
        if paragraph.cell_end:
            table.end_cell()

    def _close(self, depth: int) -> None:
        """End the tables that are deeper than what comes next."""
        while len(self._open) > depth:
            table = self._open.pop()
            table.end_row()
            if self._open:
                self._open[-1].cell.append(table)
            else:
                self._table(table)

    def _table(self, table: _Rows) -> None:
        if max((len(cells) for cells, _ in table.rows), default=0) == 1 and table.inner():
            for (cell,), _ in table.rows:  # a frame around text and tables
                for piece in cell:
                    if isinstance(piece, str):
                        self.blocks.paragraph(piece)
                    else:
                        self._table(piece)
            return
        rows = table.aligned()
        if max(map(len, rows), default=0) == 1 and len(rows) > 1:  # a list that is set as a table
            self.blocks.gap()
            lines, made = markdown_table(rows, len(self.blocks.lines))
            self.blocks.lines += lines
            self.blocks.tables += [made] if made else []
            self.blocks.gap()
        else:
            self.blocks.table(rows)
        for inner in table.inner():
            self._table(inner)

    def _outside(self, paragraph: Paragraph, text: str) -> None:
        label = paragraph.label or ""
        if paragraph.heading:
            self.blocks.heading(f"{label} {text}" if label != "-" else text, paragraph.heading)
        elif paragraph.label is not None:
            self.blocks.item(text, label, paragraph.level)
        else:
            self.blocks.paragraph(text)
        self.blocks.insert(self._pictures(paragraph.pictures))
        for shape in paragraph.shapes:
            self._shape(shape)

    def _shape(self, shape: int) -> None:
        self.write(self._boxes.pop(shape, ()))
        if (picture := self._drawn.pop(shape, None)) is not None:
            self.blocks.insert(self._source.pictures.block(picture, 1))

    def _pictures(self, places: Sequence[int]) -> list[str]:
        lines: list[str] = []
        for place in places:
            if (picture := picture_at(self._data, place)) is not None:
                lines += self._source.pictures.block(picture, 1)
        return lines
