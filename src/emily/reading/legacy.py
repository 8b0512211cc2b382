"""Word and PowerPoint before 2007, by their records; Word 6 and 95 by LibreOffice, if installed.

Damaged files are never given to LibreOffice: what it cannot parse it takes for plain text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from emily.errors import EmptyDocument, LimitExceeded, PasswordRequired, ReadingError
from emily.reading.blocks import Blocks
from emily.reading.compound import Compound
from emily.reading.drawings import picture_at
from emily.reading.encrypted import unlocked
from emily.reading.libreoffice import INSTALL, convert, program
from emily.reading.pages import Page, Route
from emily.reading.slidesbinary import Shape, SlidesBinary
from emily.reading.source import Draft, Source, check_length, single_page
from emily.reading.tables import markdown_table
from emily.reading.word import read_docx
from emily.reading.wordbinary import Paragraph, WordBinary

__all__ = ["read_doc", "read_ppt"]

_SAME_EDGE = 40  # twips (0.7 mm) within which edges of cells are one
_LEAST_COMMON = 0.5  # part of the words of a text that a conversion of it must have
_MOST_DROPPED = 10  # letters
_FIELD = re.compile("\x13[^\x13\x14\x15]*(?:\x14([^\x13\x14\x15]*))?\x15")
_OPEN_FIELD = re.compile("\x13[^\x13\x14\x15]*\x14")  # one that ends in a later paragraph
_SIGNS = str.maketrans({
    "\x0b": "\n", "\x0c": "\n", "\x0e": "\n", "\x1e": "-", "\x1f": None, "\x00": None,
    "\x01": None, "\x02": None, "\x03": None, "\x04": None, "\x05": None, "\x06": None,
    "\x07": None, "\x08": None, "\x13": None, "\x14": None, "\x15": None,
})  # fmt: skip


def read_doc(source: Source) -> Draft:
    """A document of Word 97 to 2003 as one page: pages exist only once a printer lays them out.

    Headers stand once at the start, footers once at the end, before notes and comments, which are
    marked. Deleted and hidden text is left out.

    Raises:
        PasswordRequired: it is encrypted.
        EmptyDocument: it holds no text.
        ReadingError: it is broken.
    """
    return _read(source, "doc", _read_doc)


def _read(source: Source, kind: str, reader: Callable[[Source], Draft]) -> Draft:
    """Read a file, without its encryption if it has one."""
    try:
        return reader(source)
    except PasswordRequired:
        return reader(unlocked(source, f"the {kind} file"))


def _by_libreoffice(source: Source, word: WordBinary) -> Draft | None:
    """A document of Word 6 or 95 by way of LibreOffice; ``None`` where that cannot read it.

    A file that LibreOffice does not know it takes for plain text. So what it gives must hold most
    of the words that the bare text has.
    """
    if source.scratch is None or program() is None:
        return None
    try:
        draft = read_docx(source.within(convert(source, "doc", "docx"), source.name))
        pages = list(draft.pages)
    except LimitExceeded:
        raise
    except ReadingError:
        return None
    own = set(" ".join(_clean(paragraph.text) for paragraph in word.text()).split())
    given = set(" ".join(page.text for page in pages).split())
    if len(own & given) < _LEAST_COMMON * len(own):
        return None
    draft.kind, draft.pages = "doc", iter(pages)
    return draft


def _read_doc(source: Source) -> Draft:
    ole = Compound(source.path)
    try:
        title, facts = ole.properties()
        tables = [ole.read(name) if name in ole else b"" for name in ("0Table", "1Table")]
        data = ole.read("Data") if "Data" in ole else b""
        word = WordBinary(ole.read("WordDocument"), (tables[0], tables[1]), data)
    finally:
        ole.close()
    if word.old and (draft := _by_libreoffice(source, word)) is not None:
        return draft
    writer = _Writer(source, word, data)
    feet = writer.letterheads()
    writer.write(word.text())
    writer.rest()
    for paragraphs in feet:
        writer.write(paragraphs)
    for kind, mark in (
        ("footnotes", "Footnote"), ("endnotes", "Endnote"), ("comments", "Comment")
    ):  # fmt: skip
        for name, paragraphs in word.notes(kind):
            note = " ".join(" ".join(_clean(paragraph.text) for paragraph in paragraphs).split())
            shown = f" ({name})" if name and kind == "comments" else f" {name}" if name else ""
            if note:
                writer.blocks.paragraph(f"{mark}{shown}: {note}")
    text = writer.blocks.text()
    check_length(len(text))
    if not text.strip():
        raise EmptyDocument("the Word document holds no text")
    pictures = source.pictures.on_page(1)
    page = Page(1, text, tables=tuple(writer.blocks.tables), pictures=pictures)
    draft = Draft("doc", "none", single_page(page), title, facts=facts)
    if word.old:
        draft.warnings.append(
            "The document is of Word 6 or 95: its text is read, without headings and pictures. "
            f"With LibreOffice these are read too. {INSTALL}"
        )
    return draft


def read_ppt(source: Source) -> Draft:
    """A presentation of PowerPoint 97 to 2003; the page number is the number of the slide.

    Speaker notes stand at the end of their slide behind ``Notes:``.

    Raises:
        PasswordRequired: it is encrypted.
        EmptyDocument: it has no slides.
        ReadingError: it is broken.
    """
    return _read(source, "ppt", _read_ppt)


def _read_ppt(source: Source) -> Draft:
    ole = Compound(source.path)
    try:
        title, facts = ole.properties()
        user, pictures = (
            ole.read(name) if name in ole else b"" for name in ("Current User", "Pictures")
        )
        slides = SlidesBinary(ole.read("PowerPoint Document"), user, pictures)
    finally:
        ole.close()
    if not len(slides):
        raise EmptyDocument("the presentation has no slides")
    return Draft("ppt", "pages", _slides(slides, source), title, facts=facts)


def _slides(slides: SlidesBinary, source: Source) -> Iterator[Page]:
    footers: set[str] = set()
    for number, slide in enumerate(slides.slides(), 1):
        if slide is None:
            warning = f"Slide {number} is not read: it is missing in the file."
            yield Page(number, "", "unread", warning=warning)
            continue
        blocks = Blocks()
        for shape in slide.shapes:
            _write_shape(blocks, shape)
            if (picture := slides.picture(shape)) is not None:
                blocks.insert(source.pictures.block(picture, number))
        for footer in slide.footers:  # once, not on every slide
            if footer not in footers:
                footers.add(footer)
                blocks.paragraph(footer)
        notes = Blocks()
        for shape in slide.notes:
            _write_shape(notes, replace(shape, is_title=False))
        if told := notes.text():
            blocks.paragraph(f"Notes: {told}")
        text = blocks.text()
        pictures = source.pictures.on_page(number)
        route: Route = "text" if text.strip() else "blank"
        yield Page(number, text, route, tuple(blocks.tables), pictures=pictures)


def _write_shape(blocks: Blocks, shape: Shape) -> None:
    lines = [_clean(line) for line in shape.lines]
    if shape.rows:
        blocks.table(shape.rows)
        return
    if shape.is_title:
        blocks.heading(" ".join(lines), 1)
        return
    single = sum(bool(line.strip()) for line in lines) < 2
    marks = shape.marks + [(0, None)] * (len(lines) - len(shape.marks))
    written = []
    for line, (level, bullet) in zip(lines, marks, strict=False):
        if bullet is None:
            bullet = shape.bulleted and not single
        first, *rest = [piece.strip() for piece in line.split("\n") if piece.strip()] or [""]
        if first:
            written.append(f"{'  ' * level}- {first}" if bullet else first)
            written += [f"{'  ' * level}  {piece}" if bullet else piece for piece in rest]
    blocks.insert(written)


def _clean(text: str) -> str:
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


class _Writer:
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
            text = "\n".join(_clean(paragraph.text) for paragraph in paragraphs).strip()
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
        text = self._dropped + _clean(paragraph.text)
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
                " ".join(_clean(inner.text).split()) for inner in self._boxes.pop(shape, ())
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
