"""OpenDocument presentations and drawings: a page per slide, with tables, groups and notes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree

from emily.errors import EmptyDocument
from emily.reading.office.ooxml import attribute, local
from emily.reading.opendocument.package import Package, body_of, properties
from emily.reading.opendocument.styles import Styles
from emily.reading.opendocument.text import TextWriter
from emily.reading.pages import Page, Route
from emily.reading.source import Draft, Source

__all__ = ["read_odp"]

_NOT_TEXT = frozenset({"page", "handout", "header", "footer", "date-time", "page-number"})
_USUAL_NAME = re.compile(r"page ?\d*")  # what LibreOffice calls a slide that nobody named


def read_odp(source: Source) -> Draft:
    """A presentation or drawing; the page number is the number of the slide.

    The slide's title is a heading; speaker notes stand at its end behind ``Notes:``.
    """
    package = Package(source.path)
    try:
        body = body_of(package, "presentation")
        slides = [child for child in body if local(child) == "page"]
        if not slides:
            raise EmptyDocument("the presentation has no slides")
        title, facts = properties(package)
    except BaseException:
        package.close()
        raise
    pages = _pages(package, slides, source)
    return Draft("odp", "pages", pages, title, list(package.warnings), facts)


def _pages(package: Package, slides: list[etree._Element], source: Source) -> Iterator[Page]:
    with package:
        styles = Styles(package.styles, package.content)
        footers = _footers(package)
        for at, slide in enumerate(slides, 1):
            writer = TextWriter(package, styles, source.pictures, at)
            # What stands at the foot of every slide is read on the first that shows it.
            footer = footers.pop(attribute(slide, "use-footer-name") or "", "")
            _slide(writer, slide, footer)
            told = writer.told()
            text = writer.out.text()
            route: Route = "text" if text.strip() else "unread" if told else "blank"
            yield Page(
                at,
                text,
                route,
                tuple(writer.out.tables),
                f"Slide {at}: {' '.join(told)}" if told else None,
                pictures=source.pictures.on_page(at),
            )


def _footers(package: Package) -> dict[str, str]:
    """Texts for the foot of slides, by the name that slides use them by."""
    return {
        attribute(child, "name") or "": child.text or ""
        for child in body_of(package, "presentation")
        if local(child) == "footer-decl"
    }


def _slide(writer: TextWriter, slide: etree._Element, footer: str) -> None:
    titles: list[etree._Element] = []
    shapes: list[etree._Element] = []
    for shape in slide:
        kind = attribute(shape, "class") or ""
        if kind in _NOT_TEXT or local(shape) in {"notes", "annotation"}:
            continue
        (titles if kind == "title" else shapes).append(shape)
    if not titles and not _USUAL_NAME.fullmatch(name := attribute(slide, "name") or ""):
        writer.out.heading(name, 1)
    for shape in titles:
        if attribute(shape, "placeholder") != "true":
            writer.out.heading(writer.flat([shape]), 1)
    writer.blocks(shapes)
    writer.out.paragraph(footer)
    for shape in slide:
        if local(shape) == "annotation":
            writer.comment(shape)
    writer.behind()
    before = len(writer.out.lines)
    for notes in slide:
        if local(notes) == "notes":
            writer.blocks(
                shape for shape in notes if (attribute(shape, "class") or "") not in _NOT_TEXT
            )
    # Tables keep their line numbers: the mark goes before the first line, not above it.
    for line in range(before, len(writer.out.lines)):
        if writer.out.lines[line]:
            writer.out.lines[line] = "Notes: " + writer.out.lines[line]
            break
