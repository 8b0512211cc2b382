"""The shapes of a slide as lines of text: titles, lists, tables, charts, pictures."""

from __future__ import annotations

from collections.abc import Mapping

from lxml import etree

from emily.errors import ReadingError
from emily.reading.office.charts import alternative_text, drawing_lines, drawing_part, run_text
from emily.reading.office.ooxml import Container, attribute, local
from emily.reading.office.reading_order import in_reading_order
from emily.reading.office.slide_layouts import Box, Layout, box_of, bullet_of, placeholder_of
from emily.reading.office.word_styles import child
from emily.reading.pages import Table
from emily.reading.source import Source
from emily.reading.tables import markdown_table, moved

__all__ = ["ShapeWriter"]

_SHAPES = frozenset({"sp", "pic", "graphicFrame", "grpSp", "cxnSp", "contentPart"})
_TITLES = frozenset({"title", "ctrTitle"})
_FOOTERS = frozenset({"ftr", "dt"})
_DEEPEST_LEVEL = 9


class ShapeWriter:
    """Builds the lines of one slide, or of its notes.

    Attributes:
        lines: what was written.
        tables: where among the lines tables are.
        problems: what was not read and why.
        headings: whether a title becomes a heading.
        footers: those that stood on slides before, which are not repeated.
    """

    def __init__(
        self,
        container: Container,
        source: Source,
        related: Mapping[str, tuple[str, str]],
        page: int,
        layout: Layout,
    ) -> None:
        self.lines: list[str] = []
        self.tables: list[Table] = []
        self.problems: list[str] = []
        self.headings = True
        self.footers: set[str] = set()
        self._container = container
        self._source = source
        self._related = related
        self._page = page
        self._layout = layout

    def shapes(self, root: etree._Element, skipped: frozenset[str]) -> None:
        """All shapes of a slide but the placeholders of some types."""
        for tree in root.iter():
            if local(tree) == "spTree":
                self._group(tree, skipped)
                return

    def _group(self, tree: etree._Element, skipped: frozenset[str]) -> None:
        found = [
            shape
            for shape in _members(tree)
            if not ((at := placeholder_of(shape)) and at[0] in skipped)
        ]
        for shape in self._ordered(found):
            placeholder = placeholder_of(shape)
            if local(shape) == "grpSp":
                self._group(shape, skipped)
            elif placeholder and placeholder[0] in _FOOTERS:
                text = run_text(shape).strip()
                if text and text not in self.footers:
                    self.footers.add(text)
                    self._add(text.split("\n"))
            else:
                self._content(shape, placeholder)

    def _ordered(self, shapes: list[etree._Element]) -> list[etree._Element]:
        """Titles first, then by place; the stored order where a place is unknown."""
        titles = [s for s in shapes if (at := placeholder_of(s)) and at[0] in _TITLES]
        others = [s for s in shapes if s not in titles]
        feet = [s for s in others if (at := placeholder_of(s)) and at[0] in _FOOTERS]
        others = [s for s in others if s not in feet]
        boxes = [self._box(shape) for shape in others]
        known = [box for box in boxes if box is not None]
        if len(known) == len(boxes):
            others = [others[at] for at in in_reading_order(known)]
        return titles + others + feet

    def _box(self, shape: etree._Element) -> Box | None:
        box = box_of(shape)
        if box is None and (placeholder := placeholder_of(shape)) is not None:
            return self._layout.box(placeholder)
        return box

    def _content(self, element: etree._Element, placeholder: tuple[str, str] | None) -> None:
        """Text, table, chart and picture of a shape, in their order."""
        for inner in element:
            name = local(inner)
            try:
                if name == "txBody":
                    self._paragraphs(inner, placeholder)
                elif name == "tbl":
                    self._table(inner)
                elif name == "cNvPr":
                    self._add(list(filter(None, [alternative_text(inner)])))
                elif name == "blip":
                    self._picture(attribute(inner, "embed"))
                elif (part := drawing_part(inner)) is not None:
                    lines, table = drawing_lines(self._container, self._related, part)
                    self._add(lines, table)
                elif name != "Fallback" and len(inner):
                    self._content(inner, placeholder)
            except ReadingError as error:
                self.problems.append(f"a picture, chart or diagram is not read: {error}")

    def _picture(self, identity: str | None) -> None:
        kind, path = self._related.get(identity or "", ("", ""))
        if kind == "image" and path in self._container:
            self._add(self._source.pictures.block(self._container.data(path), self._page))

    def _add(self, lines: list[str], table: Table | None = None) -> None:
        if not lines:
            return
        if self.lines and self.lines[-1]:
            self.lines.append("")
        if table is not None:
            self.tables.append(moved(table, len(self.lines)))
        self.lines += lines

    def _table(self, element: etree._Element) -> None:
        rows = [
            [" ".join(run_text(cell).split()) for cell in row if local(cell) == "tc"]
            for row in element
            if local(row) == "tr"
        ]
        properties = child(element, "tblPr")
        header = properties is None or properties.get("firstRow") in {"1", "true"}
        self._add(*markdown_table(rows, 0, header=header))

    def _paragraphs(self, body: etree._Element, placeholder: tuple[str, str] | None) -> None:
        paragraphs = [element for element in body if local(element) == "p"]
        if self.headings and placeholder and placeholder[0] in _TITLES:
            title = " ".join(" ".join(map(run_text, paragraphs)).split())
            self._add([f"# {title}"] if title else [])
            return
        style = child(body, "lstStyle")
        lines: list[str] = []
        counts: dict[int, int] = {}
        single = sum(bool(run_text(paragraph).strip()) for paragraph in paragraphs) < 2
        for paragraph in paragraphs:
            text = [line.strip() for line in run_text(paragraph).split("\n") if line.strip()]
            if not text:
                continue
            properties = child(paragraph, "pPr")
            level = _level(properties)
            bullet = bullet_of(properties)
            if bullet is None:
                bullet = bullet_of(child(style, f"lvl{level + 1}pPr"))
            if bullet is None and placeholder and not single:
                bullet = self._layout.bullet(placeholder, level)
            for deeper in [at for at in counts if at > level or (at == level and bullet != "1")]:
                del counts[deeper]
            if bullet == "1":
                counts[level] = counts.get(level, _start(properties) - 1) + 1
                bullet = f"{counts[level]}."
            indent = "  " * level if bullet else ""
            lines += [f"{indent}{bullet} {text[0]}" if bullet else text[0]]
            lines += [f"{indent}  {line}" if bullet else line for line in text[1:]]
        self._add(lines)


def _members(tree: etree._Element) -> list[etree._Element]:
    """The shapes of a group; of a shape that is stored in two forms the first."""
    members: list[etree._Element] = []
    for element in tree:
        if local(element) in _SHAPES:
            members.append(element)
        elif local(element) == "AlternateContent":
            for form in element:
                shapes = _members(form)
                if shapes:
                    members += shapes
                    break
    return members


def _level(properties: etree._Element | None) -> int:
    text = "" if properties is None else properties.get("lvl") or ""
    return min(int(text), _DEEPEST_LEVEL - 1) if text.isascii() and text.isdigit() else 0


def _start(properties: etree._Element | None) -> int:
    numbered = child(properties, "buAutoNum")
    text = "" if numbered is None else numbered.get("startAt") or ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 1
