"""The text of OpenDocument files: paragraphs, headings, lists, tables, shapes, notes."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lxml import etree

from emily.errors import ReadingError
from emily.reading.blocks import Blocks, flat_rows
from emily.reading.office.ooxml import attribute, local
from emily.reading.opendocument.lists import Lists
from emily.reading.opendocument.objects import form_values, formula
from emily.reading.opendocument.package import Package, number
from emily.reading.opendocument.styles import Styles
from emily.reading.opendocument.tables import grid, only_cells
from emily.reading.pictures import Pictures
from emily.reading.source import tidy

__all__ = ["SHAPES", "TextWriter"]

_MOST_DEPTH = 120  # elements in one another, beyond which only their words are taken
_MOST_SPACES = 100  # of one text:s
_MOST_PROBLEMS = 20  # that are told one by one
_MOST_EMBEDDED = 3  # documents in one another
_PASSED_OVER = frozenset({
    "tracked-changes", "sequence-decls", "variable-decls", "user-field-decls",
    "dde-connection-decls", "forms", "change", "change-start", "change-end", "bookmark",
    "bookmark-start", "bookmark-end", "script", "event-listeners", "table-of-content-source",
    "illustration-index-source", "table-index-source", "object-index-source",
    "user-index-source", "alphabetical-index-source", "bibliography-source", "note-citation",
    "annotation-end", "soft-page-break", "title", "desc", "glue-point", "image-map",
    "contour-polygon", "contour-path", "named-expressions", "par", "page-thumbnail", "notes",
    "ruby-text", "alphabetical-index-mark", "list-level-style-number",
})  # fmt: skip
SHAPES = frozenset({
    "frame", "g", "a", "custom-shape", "rect", "ellipse", "circle", "line", "polyline", "polygon",
    "path", "connector", "measure", "caption", "regular-polygon", "control", "scene", "page-anchor",
})  # fmt: skip
_SPACES = re.compile(r"[ \t\r\n]+")


class TextWriter:
    """Writes the blocks of an OpenDocument text, slide or cell.

    Attributes:
        out: where the blocks go.
        notes: what stands behind the text: (mark, text) of foot- and endnotes and comments.
        problems: what is not read and why.
        hidden: how many hidden passages are left out.
        letterhead: whether it is a header or footer, whose page numbers say nothing.
    """

    def __init__(
        self,
        package: Package,
        styles: Styles,
        pictures: Pictures,
        page: int = 1,
        *,
        letterhead: bool = False,
    ) -> None:
        self.out = Blocks()
        self.notes: dict[str, list[str]] = {"Footnote": [], "Endnote": [], "Comment": []}
        self.problems: list[str] = []
        self.hidden = 0
        self.letterhead = letterhead
        self.styles = styles
        self.forms = form_values(package.content)
        self._package = package
        self.pictures = pictures
        self._page = page
        self._depth = 0
        self._embedded = 0
        self._cell = 0  # how many table cells or notes around
        self._hung: list[etree._Element] = []  # shapes that hang on the paragraph
        self._waiting: list[list[str]] = []  # lines of pictures inside of a table
        self._lists = Lists(styles)

    def blocks(self, parent: Iterable[etree._Element]) -> None:
        """Blocks in order; what merely wraps them is looked into."""
        self._depth += 1
        for element in parent:
            self._block(element)
        self._depth -= 1

    def flat(self, parent: Iterable[etree._Element]) -> str:
        """The blocks of a cell, note or comment, on one line."""
        outer, self.out = self.out, Blocks()
        hung, self._hung = self._hung, []
        self._cell += 1
        try:
            with self._lists.outside():
                self.blocks(parent)
            return " ".join(self.out.text().split())
        finally:
            self._cell -= 1
            self.out = outer
            self._hung = hung

    def behind(self) -> None:
        """Write the notes and comments that were met, each a paragraph behind its mark."""
        for mark, texts in self.notes.items():
            for text in texts:
                self.out.paragraph(f"{mark}{'' if text.startswith(' (') else ': '}{text}")
            texts.clear()

    def told(self) -> list[str]:
        """What is not read and why, in sentences."""
        sentences = [f"A part is not read: {text}." for text in dict.fromkeys(self.problems)]
        if len(sentences) > _MOST_PROBLEMS:
            rest = len(sentences) - _MOST_PROBLEMS
            sentences[_MOST_PROBLEMS:] = [f"{rest} more parts are not read."]
        if self.hidden:
            sentences.append(f"{self.hidden} hidden passages are left out.")
        return sentences

    def comment(self, element: etree._Element) -> None:
        """Keep a comment for ``behind``."""
        author = next((c.text for c in element if local(c) == "creator" and c.text), None)
        text = self.flat(c for c in element if local(c) in {"p", "list"})
        if text:
            by = " ".join(tidy(author or "").split())
            self.notes["Comment"].append(f" ({by}): {text}" if by else text)

    def _block(self, element: etree._Element) -> None:
        name = local(element)
        if not name or name in _PASSED_OVER:
            return
        if self._depth > _MOST_DEPTH:
            self.out.paragraph(" ".join(_words(element)))
            return
        match name:
            case "p" | "h":
                self._paragraph(element)
            case "list":
                self._items(element)
            case "numbered-paragraph":
                with self._lists.within_numbered(element):
                    self.blocks(element)
            case "table":
                self._table(element)
            case "annotation":
                self.comment(element)
            case "section" if attribute(element, "display") == "none" or self.styles.hidden(
                "section", attribute(element, "style-name")
            ):
                self.hidden += 1
            case _ if name in SHAPES:
                self._shape(element)
            case _:
                self.blocks(element)

    # Paragraphs

    def _paragraph(self, element: etree._Element) -> None:
        around, self._hung = self._hung, []
        style = attribute(element, "style-name")
        if self.styles.hidden("paragraph", style) or _is_hidden_paragraph(element):
            self.hidden += bool("".join(_words(element)).strip())
        else:
            self._write(element, self._inline(element).strip(), style)
        hung, self._hung = self._hung, around
        for shape in hung:
            self._shape(shape)

    def _write(self, element: etree._Element, text: str, style: str | None) -> None:
        if local(element) == "h" and not self._cell:
            level = number(element, "outline-level")
            chapter = self._lists.label().text or self._lists.chapter(element, level)
            # What is no number of a chapter, such as a bullet, says nothing in a heading.
            numbered = text and chapter not in {"", "-"}
            self.out.heading(f"{chapter} {text}" if numbered else text, level)
        elif self._lists.inside:
            label = self._lists.label()
            if label.begins and not label.text and label.depth == 0:
                self.out.paragraph(text)  # an item of a list that shows no numbers
            else:
                self.out.item(text, label.text, label.depth)
        elif not self._cell and self.styles.is_title(style):
            self.out.heading(text, 1)
        else:
            self.out.paragraph(text)

    def _inline(self, element: etree._Element) -> str:
        """Text of a paragraph; shapes that hang on it are put aside."""
        self._depth += 1
        pieces = [_SPACES.sub(" ", element.text or "")]
        for child in element:
            pieces.append(self._piece(child))
            pieces.append(_SPACES.sub(" ", child.tail or ""))
        self._depth -= 1
        return "".join(pieces)

    def _piece(self, child: etree._Element) -> str:
        name = local(child)
        if self._depth > _MOST_DEPTH:
            return "".join(_words(child))
        match name:
            case "s":
                return " " * min(number(child, "c"), _MOST_SPACES)
            case "tab":
                return "\t"
            case "line-break":
                return "\n"
            case "note":
                self._note(child)
            case "annotation":
                self.comment(child)
            case "page-number" | "page-count" if self.letterhead:
                pass
            case "hidden-text" | "hidden-paragraph":
                self.hidden += 1
            case "span" if self.styles.hidden("text", attribute(child, "style-name")):
                self.hidden += 1
            case "a" if child.tag == _DRAW + "a":
                self._hung.append(child)
            case "frame" if (inline := self._inline_formula(child)) is not None:
                return inline
            case _ if name in SHAPES and name != "a":
                self._hung.append(child)
            case _ if name and name not in _PASSED_OVER:
                return self._inline(child)
        return ""

    def _inline_formula(self, frame: etree._Element) -> str | None:
        """A formula in the flow of the text; ``None`` for any other frame."""
        for child in frame:
            if local(child) == "object":
                try:
                    root = self._package.embedded(child)
                except ReadingError:
                    return None
                return formula(root) if root is not None else None
        return None

    def _note(self, element: etree._Element) -> None:
        mark = "Endnote" if attribute(element, "note-class") == "endnote" else "Footnote"
        body = next((child for child in element if local(child) == "note-body"), None)
        if body is not None and (text := self.flat(body)):
            self.notes[mark].append(text)

    def _items(self, element: etree._Element) -> None:
        if self._lists.is_new(element):
            self.out.gap()
        with self._lists.within(element):
            for item in element:
                if local(item) in {"list-item", "list-header"}:
                    self._lists.open_item(item)
                    self.blocks(item)

    # Tables

    def _table(self, element: etree._Element) -> None:
        if self._depth > _MOST_DEPTH // 2:
            self.out.paragraph(" ".join(_words(element)))
            return
        if not self._cell and (framed := only_cells(element)):
            with self._lists.outside():
                for cell in framed:
                    self.blocks(cell)
            return
        found = grid(element, self.flat)
        if found.capped:
            self.problems.append("a table has more rows than are read")
        if self._cell:
            self.out.paragraph(flat_rows(found.rows))
            return
        self.out.table(found.rows, header=True if found.header else None)
        waiting, self._waiting = self._waiting, []
        for lines in waiting:
            self.out.insert(lines)

    # Shapes

    def _shape(self, element: etree._Element) -> None:
        if self._depth > _MOST_DEPTH:
            return
        name = local(element)
        if name == "control":
            if value := self.forms.get(attribute(element, "control") or ""):
                self.out.paragraph(value)
            return
        if attribute(element, "placeholder") == "true":
            return  # a prompt such as "click to add text", which is not shown
        if name == "g" or name != "frame":
            self._names(element)
            self.blocks(element)
            return
        drawn = [child for child in element if local(child) in {"object", "object-ole", "image"}]
        self._names(element)
        if drawn:
            self._drawn(drawn)
        self.blocks(child for child in element if child not in drawn)

    def _names(self, element: etree._Element) -> None:
        """What a shape is called for those who cannot see it."""
        texts = [
            _SPACES.sub(" ", child.text).strip()
            for child in element
            if local(child) in {"title", "desc"} and child.text
        ]
        for text in dict.fromkeys(texts):
            self.out.paragraph(text)

    def _drawn(self, drawn: list[etree._Element]) -> None:
        """Several ways to draw the same thing, of which the first that can be read counts."""
        for element in drawn:
            try:
                if local(element) == "image":
                    data = self._package.picture(element)
                    if data is None:
                        self.problems.append("a picture lies outside of the file")
                        continue
                    lines = self.pictures.block(data, self._page)
                    if self._cell:
                        self._waiting.append(lines)
                    else:
                        self.out.insert(lines)
                    self.blocks(child for child in element if local(child) in {"p", "list"})
                    return
                if local(element) == "object" and self._object(element):
                    return
            except ReadingError as error:
                self.problems.append(str(error))

    def _object(self, element: etree._Element) -> bool:
        """A document inside of the document; whether it could be read."""
        root = self._package.embedded(element)
        if root is None or self._embedded >= _MOST_EMBEDDED:
            return False
        if (text := formula(root)) is not None:
            self.out.paragraph(text)
            return True
        body = next((child for child in root.iter() if local(child) == "body"), None)
        if body is None:
            return False
        self._embedded += 1
        self.blocks(body)
        self._embedded -= 1
        return True


_DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"


def _words(element: etree._Element) -> list[str]:
    """Whatever text stands in an element."""
    return [str(piece) for piece in element.itertext()]


def _is_hidden_paragraph(element: etree._Element) -> bool:
    return any(
        local(child) == "hidden-paragraph" and attribute(child, "is-hidden") == "true"
        for child in element
    )
