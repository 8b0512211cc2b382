"""PowerPoint presentations: a page per slide, with tables, charts, groups and notes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree

from emily.errors import EmptyDocument, ReadingError
from emily.reading.charts import drawing_lines, drawing_part, run_text
from emily.reading.ooxml import Container, local
from emily.reading.pages import Page, Route, Table
from emily.reading.source import Draft, Source
from emily.reading.tables import moved

__all__ = ["read_pptx"]

_SLIDE = re.compile(r"ppt/slides/slide(\d+)\.xml")
_NOT_NOTES = frozenset({"sldImg", "sldNum", "hdr", "ftr", "dt"})  # placeholders of a notes page
_NOT_SLIDE = frozenset({"sldNum"})


def read_pptx(source: Source) -> Draft:
    """A presentation; the page number is the number of the slide.

    Speaker notes stand at the end of their slide behind ``Notes:``. A slide or shape that is
    broken is named in the page's warning; the others are read.
    """
    container = Container(source.path)
    try:
        slides = _order(container)
        if not slides:
            raise EmptyDocument("the presentation has no slides")
        title = container.title()
    except BaseException:
        container.__exit__()
        raise
    return Draft("pptx", "pages", _pages(container, slides), title)


def _pages(container: Container, slides: list[str]) -> Iterator[Page]:
    with container:
        for number, path in enumerate(slides, 1):
            try:
                root = container.xml(path)
            except ReadingError as error:
                warning = f"Slide {number} is not read: {error}."
                yield Page(number, "", "unread", warning=warning)
                continue
            yield _Slide(container, path).page(number, root)


def _order(container: Container) -> list[str]:
    """Paths of the slides in the order in which they are shown."""
    main = container.main("ppt/presentation.xml")
    related = container.related(main)
    listed = []
    for element in container.xml(main).iter():
        if local(element) == "sldId":
            # The plain attribute "id" is a number; the one in a namespace is the relation.
            ids = [str(value) for key, value in element.attrib.items() if "}" in str(key)]
            listed += [related[key][1] for key in ids if key in related]
    if not listed:  # no readable list: by their file names
        found = [(int(m[1]), name) for name in container.names() if (m := _SLIDE.fullmatch(name))]
        listed = [name for _, name in sorted(found)]
    return listed


class _Slide:
    """Builds the lines of one slide."""

    def __init__(self, container: Container, path: str) -> None:
        self.container = container
        self.path = path
        self.related = container.related(path)
        self.lines: list[str] = []
        self.tables: list[Table] = []
        self.problems: list[str] = []
        self.pictures = 0

    def page(self, number: int, root: etree._Element) -> Page:
        """The finished page."""
        self._shapes(root, _NOT_SLIDE)
        for kind, path in self.related.values():
            if kind == "notesSlide" and path in self.container:
                self._notes(path)
        while self.lines and not self.lines[-1]:
            self.lines.pop()
        if self.pictures:
            self.problems.append(f"{self.pictures} pictures are not read")
        warning = f"Slide {number}: {'; '.join(self.problems)}." if self.problems else None
        text = "\n".join(self.lines)
        route: Route = "text" if text.strip() else "unread" if self.problems else "blank"
        return Page(number, text, route, tuple(self.tables), warning)

    def _notes(self, path: str) -> None:
        before = len(self.lines)
        try:
            self._shapes(self.container.xml(path), _NOT_NOTES)
        except ReadingError as error:
            self.problems.append(f"the notes are not read: {error}")
            return
        notes = self.lines[before:]
        if any(notes):
            first = next(at for at, line in enumerate(notes) if line)
            notes[first] = "Notes: " + notes[first]
        self.lines[before:] = notes

    def _shapes(self, parent: etree._Element, skipped: frozenset[str]) -> None:
        for element in parent:
            name = local(element)
            if name == "sp" and _placeholder(element) in skipped:
                continue
            if name == "txBody":
                self._paragraphs(element)
            elif name == "tbl":
                self._table(element)
            elif (part := drawing_part(element)) is not None:
                self._drawing(part)
            elif name == "pic":
                self.pictures += 1
            elif name != "Fallback" and len(element):
                self._shapes(element, skipped)

    def _paragraphs(self, body: etree._Element) -> None:
        lines = [line for p in body if local(p) == "p" for line in run_text(p).split("\n")]
        lines = [line.strip() for line in lines if line.strip()]
        if lines:
            self._gap()
            self.lines += lines

    def _gap(self) -> None:
        if self.lines and self.lines[-1]:
            self.lines.append("")

    def _table(self, element: etree._Element) -> None:
        self._gap()
        spans = []
        for row in element:
            if local(row) != "tr":
                continue
            cells = [" ".join(run_text(cell).split()) for cell in row if local(cell) == "tc"]
            if any(cells):
                spans.append((len(self.lines), len(self.lines)))
                self.lines.append(" | ".join(cells))
        if len(spans) > 1:
            self.tables.append(Table(spans[0], tuple(spans[1:])))

    def _drawing(self, part: str) -> None:
        try:
            lines, table = drawing_lines(self.container, self.related, part)
        except ReadingError as error:
            self.problems.append(f"a chart or diagram is not read: {error}")
            return
        if lines:
            self._gap()
            if table is not None:
                self.tables.append(moved(table, len(self.lines)))
            self.lines += lines


def _placeholder(shape: etree._Element) -> str:
    for element in shape.iter():
        if local(element) == "ph":
            return element.get("type") or ""
        if local(element) == "txBody":
            break
    return ""
