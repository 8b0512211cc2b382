"""PowerPoint presentations: a page per slide, shapes in reading order, notes and comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from lxml import etree

from emily.errors import EmptyDocument, ReadingError
from emily.reading.office.embedded import embedded_files, embedded_parts
from emily.reading.office.ooxml import Container, local
from emily.reading.office.slide_layouts import Layout
from emily.reading.office.slide_remarks import Authors, remarks_of
from emily.reading.office.slide_shapes import ShapeWriter
from emily.reading.pages import Page, Route
from emily.reading.pictures import UNREAD
from emily.reading.source import Draft, Source, check_length

__all__ = ["read_pptx"]

_SLIDE = re.compile(r"ppt/slides/slide(\d+)\.xml")
_NOT_NOTES = frozenset({"sldImg", "sldNum", "hdr", "ftr", "dt"})  # placeholders of a notes page
_NOT_SLIDE = frozenset({"sldNum"})


def read_pptx(source: Source) -> Draft:
    """A presentation; the page number is the number of the slide, its heading the slide's title.

    Speaker notes stand at the end of their slide behind ``Notes:``, then its comments. A slide or
    shape that is broken is named in the page's warning; the others are read.

    Raises:
        EmptyDocument: it has no slides.
        ReadingError: it is no presentation, or broken as a whole.
    """
    container = Container(source.path)
    try:
        main = container.main("ppt/presentation.xml")
        related = container.related(main)
        slides = _order(container, main, related)
        if not slides:
            raise EmptyDocument("the presentation has no slides")
        title, facts = container.properties()
    except BaseException:
        container.__exit__()
        raise
    deck = _Deck(container, source, Authors.of(container, related))
    draft = Draft("pptx", "pages", iter(()), title, facts=facts)
    draft.pages = _pages(deck, slides, draft)
    parts = [part for path in slides for part in embedded_parts(container.related(path))]
    draft.enclosed = embedded_files(source, parts)
    return draft


@dataclass(slots=True)
class _Deck:
    """What the slides of a presentation share."""

    container: Container
    source: Source
    authors: Authors
    layouts: dict[str, Layout] = field(default_factory=dict)
    footers: set[str] = field(default_factory=set)

    def layout(self, path: str) -> Layout:
        """The layout of a slide; one that is broken places nothing."""
        related = self.container.related(path).values()
        target = next((target for kind, target in related if kind == "slideLayout"), "")
        if target not in self.layouts:
            self.layouts[target] = Layout.of(self.container, target)
        return self.layouts[target]


def _pages(deck: _Deck, slides: list[str], draft: Draft) -> Iterator[Page]:
    characters = 0
    with deck.container:
        for number, path in enumerate(slides, 1):
            try:
                root = deck.container.xml(path)
            except ReadingError as error:
                warning = f"Slide {number} is not read: {error}."
                yield Page(number, "", "unread", warning=warning)
                continue
            if root.get("show") in {"0", "false"}:
                draft.warnings.append(f"Slide {number} is hidden; it is read.")
            page = _page(deck, path, number, root)
            characters += len(page.text)
            check_length(characters)
            yield page


def _order(container: Container, main: str, related: dict[str, tuple[str, str]]) -> list[str]:
    """Paths of the slides in the order in which they are shown."""
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


def _page(deck: _Deck, path: str, number: int, root: etree._Element) -> Page:
    container, source = deck.container, deck.source
    related = container.related(path)
    writer = ShapeWriter(container, source, related, number, deck.layout(path))
    writer.footers = deck.footers
    writer.shapes(root, _NOT_SLIDE)
    lines, tables, problems = writer.lines, writer.tables, writer.problems
    for kind, target in related.values():
        try:
            if kind == "notesSlide" and target in container:
                _add(lines, _notes(deck, target, number))
            elif kind == "comments" and target in container:
                _add(lines, remarks_of(container.xml(target), deck.authors))
        except ReadingError as error:
            what = "notes" if kind == "notesSlide" else "comments"
            problems.append(f"the {what} are not read: {error}")
    while lines and not lines[-1]:
        lines.pop()
    if not any(line and line != UNREAD for line in lines):
        if lines:
            problems.append("its pictures are not read")
        lines = []
    warning = f"Slide {number}: {'; '.join(problems)}." if problems else None
    route: Route = "text" if lines else "unread" if problems else "blank"
    pictures = source.pictures.on_page(number)
    return Page(number, "\n".join(lines), route, tuple(tables), warning, pictures=pictures)


def _add(lines: list[str], more: list[str]) -> None:
    if more:
        if lines and lines[-1]:
            lines.append("")
        lines += more


def _notes(deck: _Deck, path: str, number: int) -> list[str]:
    related = deck.container.related(path)
    writer = ShapeWriter(deck.container, deck.source, related, number, Layout())
    writer.headings = False
    writer.shapes(deck.container.xml(path), _NOT_NOTES)
    notes = writer.lines
    if not any(notes):
        return []
    first = next(at for at, text in enumerate(notes) if text)
    notes[first] = "Notes: " + notes[first]
    return notes
