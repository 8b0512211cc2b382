"""The blocks of a Word document as lines: paragraphs, lists, tables, and what hangs on them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from lxml import etree

from emily.errors import ReadingError
from emily.reading.office.charts import alternative_text, drawing_lines, drawing_part
from emily.reading.office.equations import linear
from emily.reading.office.ooxml import Container, attribute, local
from emily.reading.office.symbols import symbol
from emily.reading.office.word_styles import Numbering, Styles, child, value
from emily.reading.office.word_tables import grid, grid_text, is_layout
from emily.reading.pages import Table
from emily.reading.source import Source, check_length, tidy
from emily.reading.tables import markdown_table, moved, nested_text

__all__ = ["BodyWriter", "WordFile"]

_Figure = tuple[list[str], Table | None]
_SKIPPED = frozenset({
    "del", "moveFrom", "rPr", "pPr", "tblPr", "trPr", "tcPr", "sectPr", "instrText", "delText",
    "delInstrText", "sdtPr", "sdtEndPr", "rt", "docPr", "cNvPr",
})  # fmt: skip
_CHANGES = frozenset({"ins", "del", "moveFrom", "moveTo"})
_WORDS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": "\t"}
_REFERENCES = {"footnoteReference": "footnotes", "endnoteReference": "endnotes"}
_COUNTED = re.compile(r"-|\d+[.)]?")  # numbers that say no more than the order does
_LONGEST_HEADING = 300  # letters; longer paragraphs in a heading's style are text


@dataclass(slots=True)
class WordFile:
    """What all parts of one Word file share.

    Attributes:
        changes: how many tracked changes were met.
        hidden: how many runs of hidden text were left out.
        notes: the numbers of the foot- and endnotes that the text has referred to.
    """

    container: Container
    source: Source
    styles: Styles
    numbering: Numbering
    warnings: list[str] = field(default_factory=list)
    changes: int = 0
    hidden: int = 0
    notes: dict[tuple[str, str], int] = field(default_factory=dict)

    def refer(self, kind: str, identity: str) -> int:
        """The number of a foot- or endnote, by the order in which the text refers to them."""
        counted = sum(1 for known, _ in self.notes if known == kind)
        return self.notes.setdefault((kind, identity), counted + 1)

    def warn(self, what: str, error: ReadingError) -> None:
        """Say once that something was not read."""
        warning = f"{what} is not read: {error}."
        if warning not in self.warnings:
            self.warnings.append(warning)


class BodyWriter:
    """Builds lines out of the blocks of a Word part.

    Args:
        file: the document.
        related: the parts that the part at hand refers to.
        in_cell: whether it writes a table's cell, where there are no headings and tables.
    """

    def __init__(
        self, file: WordFile, related: Mapping[str, tuple[str, str]], *, in_cell: bool = False
    ) -> None:
        self.file = file
        self.related = related
        self.in_cell = in_cell
        self.lines: list[str] = []
        self.tables: list[Table] = []
        self.behind: list[_Figure] = []  # what is to follow a table
        self._after_list = False
        self._pending = ""  # text of a paragraph whose end was deleted
        self._figures: list[_Figure] = []
        self._boxes: list[etree._Element] = []
        self._length = 0

    def text(self) -> str:
        """All lines, without blank ones at either end."""
        while self.lines and not self.lines[-1]:
            self.lines.pop()
        return "\n".join(self.lines)

    def part(self, root: etree._Element, related: Mapping[str, tuple[str, str]]) -> None:
        """All blocks of a part."""
        self.related = related
        self.blocks(root)

    def blocks(self, parent: Iterable[etree._Element]) -> None:
        """Paragraphs and tables in order; what merely wraps blocks is looked into."""
        for element in parent:
            name = local(element)
            if name in _CHANGES:
                self.file.changes += 1
            if name == "p":
                self._paragraph(element)
            elif name == "tbl":
                self._table(element)
            elif name == "altChunk":
                self._chunk(element)
            elif name == "AlternateContent":
                self.blocks(_alternative(element))
            elif name in {"oMathPara", "oMath"}:
                self._put(linear(element), "")
            elif name not in _SKIPPED:
                self.blocks(element)

    def note(self, mark: str, element: etree._Element) -> None:
        """A footnote, endnote or comment, in one paragraph behind its mark."""
        text = self._cell(element)
        if text:
            self.gap()
            self.lines.append(mark + text)
        self._follow()

    def gap(self) -> None:
        """A blank line, unless there is one."""
        if self.lines and self.lines[-1]:
            self.lines.append("")

    def add(self, lines: list[str], table: Table | None = None) -> None:
        """A block of lines; the table in it counts from their first."""
        if lines:
            self.gap()
            if table is not None:
                self.tables.append(moved(table, len(self.lines)))
            self.lines += [*lines, ""]
            self._after_list = False

    def _paragraph(self, element: etree._Element) -> None:
        properties = child(element, "pPr")
        label = self.file.numbering.label(properties)
        own, frame = child(properties, "rPr"), child(properties, "framePr")
        boxes, self._boxes = self._boxes, []
        text = tidy(self._inline(element))
        text = self._pending + (text.lstrip(" ") if self._pending.endswith(" ") else text)
        self._pending = ""
        if child(own, "del") is not None or child(own, "moveFrom") is not None:
            self.file.changes += 1
            # Word would glue the two; where one sentence ends and the next begins, both are lost.
            self._pending, text = f"{text.strip()} " if text.strip() else "", ""
        elif frame is not None and attribute(frame, "dropCap") in {"drop", "margin"}:
            self._pending, text = text.strip(), ""
        if text.strip():
            heading = 0 if self.in_cell else self.file.styles.heading(properties)
            self._put(text.strip(), label, heading)
        figures, self._figures = self._figures, []
        if self.in_cell:
            self.behind += figures
        else:
            for lines, table in figures:
                self.add(lines, table)
        inner, self._boxes = self._boxes, boxes
        for box in inner:
            self.blocks(box)

    def _put(self, text: str, label: tuple[int, str] | str | None, heading: int = 0) -> None:
        self._length += len(text)
        check_length(self._length)
        lines = [line.rstrip() for line in text.split("\n")]
        if heading > 0 and len(text) <= _LONGEST_HEADING:
            number = f"{label[1]} " if label and label[1] not in {"", "-"} else ""
            self.gap()
            self.lines += [f"{'#' * min(heading, 6)} {number}{' '.join(text.split())}", ""]
            self._after_list = False
        elif label:
            level, number = int(label[0]), label[1]
            if self.in_cell and _COUNTED.fullmatch(number):
                number = ""
            indent = "" if self.in_cell else "  " * level
            if not self._after_list:
                self.gap()
            lines[0] = f"{number} {lines[0]}" if number else lines[0]
            self.lines += [indent + line if line else "" for line in lines]
            self._after_list = True
        else:
            self.gap()
            self.lines += lines
            self._after_list = False

    def _inline(self, element: etree._Element) -> str:
        """Text of a paragraph; text boxes, pictures and charts in it are put aside."""
        pieces = []
        for inner in element:
            name = local(inner)
            if name == "t":
                pieces.append(inner.text or "")
            elif name in _WORDS:
                pieces.append(_WORDS[name])
            elif name in _SKIPPED:
                if name in _CHANGES:
                    self.file.changes += 1
                if name in {"docPr", "cNvPr"}:
                    self._describe(inner)
            elif name == "r" and _is_hidden(inner):
                self.file.hidden += 1
            elif name == "AlternateContent":
                pieces.append(self._inline(_alternative(inner)))
            elif name == "txbxContent":
                self._boxes.append(inner)
            elif name in {"blip", "imagedata"}:
                self._picture(attribute(inner, "embed") or attribute(inner, "id"))
            elif (part := drawing_part(inner)) is not None:
                self._drawing(part)
            elif (special := self._special(name, inner)) is not None:
                pieces.append(special)
            elif len(inner):
                if name in _CHANGES:
                    self.file.changes += 1
                pieces.append(self._inline(inner))
        return "".join(pieces)

    def _special(self, name: str, element: etree._Element) -> str | None:
        """Text of what is neither a run nor a wrapper of runs; ``None`` for these."""
        if name == "oMathPara":
            return f"\n{linear(element)}\n"
        if name == "oMath":
            return linear(element)
        if name in _REFERENCES and attribute(element, "customMarkFollows") is None:
            return f"[{self.file.refer(_REFERENCES[name], attribute(element, 'id') or '')}]"
        if name == "sym":
            try:
                code = int(attribute(element, "char") or "", 16)
            except ValueError:
                return ""
            return symbol(code, attribute(element, "font") or "")
        if name == "ruby":
            base, reading = child(element, "rubyBase"), child(element, "rt")
            text = self._inline(base) if base is not None else ""
            above = self._inline(reading) if reading is not None else ""
            return f"{text}({above})" if above.strip() else text
        if name == "ffData":
            return _form_field(element)
        if name == "textpath":
            return attribute(element, "string") or ""
        return None

    def _describe(self, properties: etree._Element) -> None:
        """Alternative text of a drawing, once where the drawing and its picture have the same."""
        alternative = alternative_text(properties)
        if alternative and ([alternative], None) not in self._figures:
            self._figures.append(([alternative], None))

    def _picture(self, identity: str | None) -> None:
        kind, path = self.related.get(identity or "", ("", ""))
        if kind != "image" or path not in self.file.container:
            return
        try:
            data = self.file.container.data(path)
        except ReadingError as error:
            self.file.warn("A picture in the document", error)
            return
        lines = self.file.source.pictures.block(data, 1)
        if lines:
            self._figures.append((lines, None))

    def _drawing(self, part: str) -> None:
        if part not in self.related:
            return
        try:
            lines, table = drawing_lines(self.file.container, self.related, part)
        except ReadingError as error:
            self.file.warn("A chart or diagram in the document", error)
            return
        if lines:
            self._figures.append((lines, table))

    def _table(self, element: etree._Element) -> None:
        cells = grid(element)
        if is_layout(cells):
            for row in cells:
                for cell in row:
                    if cell is not None:
                        self.blocks(cell)
            return
        before = len(self.behind)
        rows = grid_text(cells, self._cell)
        self.file.changes += sum(
            1 for row in element.iter() if local(row) in {"cellIns", "cellDel"}
        )
        inner = nested_text(rows) if self.in_cell else None
        if inner is not None:
            self.lines.append(inner)
        elif self.in_cell:
            self.behind.insert(before, markdown_table(rows, 0))
        else:
            lines, table = markdown_table(rows, 0)
            self._length += sum(map(len, lines))
            check_length(self._length)
            self.add(lines, table)
            self._follow()

    def _follow(self) -> None:
        """Write what stands in the cells of the table before and does not fit into them."""
        behind, self.behind = self.behind, []
        for lines, table in behind:
            self.add(lines, table)

    def _cell(self, cell: etree._Element) -> str:
        """A cell on one line; tables and pictures in it are put behind the table."""
        inner = BodyWriter(self.file, self.related, in_cell=True)
        inner.blocks(cell)
        self.behind += inner.behind
        return " ".join(" ".join(inner.lines).split())

    def _chunk(self, element: etree._Element) -> None:
        """A document of another format that is part of this one."""
        from emily.reading.office.word_chunks import chunk_pages

        _, path = self.related.get(attribute(element, "id") or "", ("", ""))
        if not path:
            return
        try:
            pages = chunk_pages(self.file.container, self.file.source, path)
        except ReadingError as error:
            self.file.warn("A document inside of the document", error)
            return
        for page in pages:
            self.gap()
            self.tables += [moved(table, len(self.lines)) for table in page.tables]
            self.lines += page.text.split("\n")
        self._after_list = False


def _alternative(element: etree._Element) -> etree._Element:
    """Of several forms of one thing the first that shows anything."""
    for form in element:
        if any(
            (local(inner) == "t" and inner.text)
            or local(inner) in {"blip", "imagedata", "chart", "relIds"}
            for inner in form.iter()
        ):
            return form
    return element[0] if len(element) else element


def _form_field(element: etree._Element) -> str:
    """What a form field of the old kind shows beside its text: its tick, or its choice."""
    box = child(element, "checkBox")
    if box is not None:
        state = child(box, "checked")
        if state is None:
            state = child(box, "default")
        ticked = state is not None and (attribute(state, "val") or "1") in {"1", "true", "on"}
        return "☒ " if ticked else "☐ "
    choices = child(element, "ddList")
    if choices is not None:
        entries = [
            attribute(entry, "val") or "" for entry in choices if local(entry) == "listEntry"
        ]
        chosen = value(choices, "result") or value(choices, "default") or "0"
        if chosen.isdigit() and int(chosen) < len(entries):
            return entries[int(chosen)]
    return ""


def _is_hidden(run: etree._Element) -> bool:
    """Whether a run's own format hides it (``w:vanish``); nobody sees it, on paper or screen."""
    properties = child(run, "rPr")
    vanish = None if properties is None else child(properties, "vanish")
    return vanish is not None and attribute(vanish, "val") not in {"0", "false", "off"}
