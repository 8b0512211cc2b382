"""Word documents: body in order, tables, headers and footers, notes, comments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lxml import etree

from emily.errors import EmptyDocument, ReadingError
from emily.reading.charts import drawing_lines, drawing_part
from emily.reading.ooxml import Container, attribute, local
from emily.reading.pages import Page, Table
from emily.reading.source import Draft, Source, check_length, single_page, tidy

__all__ = ["read_docx"]

_DELETED = frozenset({"del", "moveFrom", "Fallback", "rPr", "pPr", "tblPr", "trPr", "tcPr"})
_DOUBLED = frozenset({"instrText", "delText", "delInstrText", "sdtPr", "sdtEndPr"})
_WORDS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": "\t"}


def read_docx(source: Source) -> Draft:
    """A Word document as one page: pages exist only once a printer lays them out.

    Each table row is one line, ``cell | cell``. Headers stand once at the start, footers once at
    the end, before foot- and endnotes and comments, which are marked. Deleted text is left out.
    """
    warnings: list[str] = []
    with Container(source.path) as container:
        main = container.main("word/document.xml")
        root = container.xml(main)
        parts = _parts(container, main, warnings)
        title = container.title()
        related = container.related(main)
        drawings = {
            drawn: drawing_lines(container, related, drawn)
            for element in root.iter()
            if (drawn := drawing_part(element)) is not None and drawn in related
        }
    writer = _Writer(drawings)
    for part in parts["header"]:
        writer.blocks(part)
    body = next((child for child in root if local(child) == "body"), None)
    if body is None:
        raise ReadingError("the Word document has no body")
    writer.blocks(body)
    for part in parts["footer"]:
        writer.blocks(part)
    for kind, mark in (("footnotes", "Footnote"), ("endnotes", "Endnote"), ("comments", "Comment")):
        for part in parts[kind]:
            for note in part:
                if attribute(note, "type") is None:  # a separator line is of a type
                    author = attribute(note, "author")
                    writer.note(f"{mark} ({author}): " if author else f"{mark}: ", note)
    text = writer.text()
    check_length(len(text))
    if not text.strip():
        pictures = " (it may hold pictures, which are not read)" if writer.pictures else ""
        raise EmptyDocument(f"the Word document holds no text{pictures}")
    if writer.pictures:
        warnings.append(f"{writer.pictures} pictures in the document are not read.")
    page = Page(1, text, tables=tuple(writer.tables))
    return Draft("docx", "none", single_page(page), title, warnings)


def _parts(container: Container, main: str, warnings: list[str]) -> dict[str, list[etree._Element]]:
    """The other parts with text. A letterhead that several sections share is taken once."""
    found: dict[str, list[etree._Element]] = {
        kind: [] for kind in ("header", "footer", "footnotes", "endnotes", "comments")
    }
    seen = set()
    for kind, path in container.related(main).values():
        if kind not in found or path not in container:
            continue
        try:
            part = container.xml(path)
        except ReadingError as error:
            warnings.append(f"A part of the document is not read: {error}.")
            continue
        text = "".join(element.text or "" for element in part.iter() if local(element) == "t")
        if kind in {"header", "footer"}:
            if not text.strip() or text in seen:
                continue
            seen.add(text)
        found[kind].append(part)
    return found


class _Writer:
    """Builds lines out of the blocks of a Word part."""

    def __init__(self, drawings: Mapping[str, list[str]] | None = None) -> None:
        self.drawings = drawings or {}
        self.lines: list[str] = []
        self.tables: list[Table] = []
        self.pictures = 0
        self._after_list = False
        self._drawn: list[str] = []

    def text(self) -> str:
        """All lines, without blank ones at either end."""
        while self.lines and not self.lines[-1]:
            self.lines.pop()
        return "\n".join(self.lines)

    def blocks(self, parent: etree._Element) -> None:
        """Paragraphs and tables in order; what merely wraps blocks is looked into."""
        for element in parent:
            name = local(element)
            if name == "p":
                self._paragraph(element)
            elif name == "tbl":
                self._table(element)
            elif name not in _DELETED and name not in _DOUBLED:
                self.blocks(element)

    def note(self, mark: str, element: etree._Element) -> None:
        """A footnote, endnote or comment, in one paragraph behind its mark."""
        text = _flat(element)
        if text:
            self._gap()
            self.lines.append(mark + text)

    def _gap(self) -> None:
        if self.lines and self.lines[-1]:
            self.lines.append("")

    def _paragraph(self, element: etree._Element) -> None:
        boxes: list[etree._Element] = []
        self._drawn = []
        text = tidy(self._inline(element, boxes)).strip()
        in_list = any(local(child) == "numPr" for child in _properties(element))
        if text:
            if not (in_list and self._after_list):
                self._gap()
            self.lines += [line.rstrip() for line in text.split("\n")]
            self._after_list = in_list
        if drawn := self._drawn:
            self._gap()
            self.lines += drawn
        for box in boxes:
            self.blocks(box)

    def _inline(self, element: etree._Element, boxes: list[etree._Element]) -> str:
        """Text of a paragraph; text boxes that hang on it are put aside."""
        pieces = []
        for child in element:
            name = local(child)
            if name == "t":
                pieces.append(child.text or "")
            elif name in _WORDS:
                pieces.append(_WORDS[name])
            elif (part := drawing_part(child)) is not None:
                self._drawn += self.drawings.get(part, [])
            elif name == "txbxContent":
                boxes.append(child)
            elif name in {"blip", "imagedata"}:
                self.pictures += 1
            elif name not in _DELETED and name not in _DOUBLED and len(child):
                pieces.append(self._inline(child, boxes))
        return "".join(pieces)

    def _table(self, element: etree._Element) -> None:
        rows = [_wrapped(row, "tc") for row in _wrapped(element, "tr")]
        if max(map(len, rows), default=0) == 1:  # a frame around text, no table to a reader
            for cells in rows:
                self.blocks(cells[0])
            return
        self._gap()
        spans = []
        for cells in rows:
            texts = [_flat(cell) for cell in cells]
            if any(texts):
                spans.append((len(self.lines), len(self.lines)))
                self.lines.append(" | ".join(texts))
        if len(spans) > 1:
            self.tables.append(Table(header=spans[0], rows=tuple(spans[1:])))
        self._after_list = False
        self.lines.append("")


def _properties(paragraph: etree._Element) -> Iterable[etree._Element]:
    return next((child for child in paragraph if local(child) == "pPr"), ())


def _wrapped(parent: etree._Element, name: str) -> list[etree._Element]:
    """Children of a name, also those inside content controls and tracked insertions."""
    found = []
    for child in parent:
        if local(child) == name:
            found.append(child)
        elif local(child) in {"sdt", "sdtContent", "customXml", "ins", "smartTag"}:
            found += _wrapped(child, name)
    return found


def _flat(cell: etree._Element) -> str:
    """A cell on one line; the rows of a table inside of it are parted by semicolons."""
    writer = _Writer()
    for block in cell:
        if local(block) == "tbl":
            rows = (
                ", ".join(filter(None, map(_flat, _wrapped(row, "tc"))))
                for row in _wrapped(block, "tr")
            )
            writer.lines.append("; ".join(filter(None, rows)))
        elif local(block) == "p":
            writer._paragraph(block)
        elif local(block) not in _DELETED:
            writer.blocks(block)
    return " ".join(" ".join(writer.lines).split())
