"""What lies above the cells of a sheet: pictures, charts, text boxes and remarks."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field

from lxml import etree

from emily.errors import ReadingError
from emily.reading.office.charts import alternative_text, drawing_lines, drawing_part, run_text
from emily.reading.office.ooxml import Container, attribute, local
from emily.reading.office.sheet_cells import cell_place
from emily.reading.pages import Table
from emily.reading.source import Source, tidy

__all__ = ["Floating", "floating_of"]

_THREADED = "[Threaded comment]"


@dataclass(slots=True)
class Floating:
    """What is anchored to the rows of a sheet.

    Attributes:
        figures: row (1-based), lines, and the table among them, in the order of the rows.
        remarks: row, column and one line each, in the order of the cells.
        problems: what was not read and why.
    """

    figures: list[tuple[int, list[str], Table | None]] = field(default_factory=list)
    remarks: list[tuple[int, int, str]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def remark(self, reference: str, author: str, text: str) -> None:
        """Add a remark on a cell."""
        place = cell_place(reference)
        if text:
            who = f" ({author})" if author else ""
            row, column = place or (0, 0)
            self.remarks.append((row, column, f"Comment{who} on {reference}: {text}"))


def floating_of(container: Container, source: Source, path: str, page: int) -> Floating:
    """What is anchored to a sheet.

    Args:
        container: the workbook.
        source: the file, whose pictures are read.
        path: the sheet's part.
        page: its number.
    """
    found = Floating()
    related = container.related(path)
    kinds = {kind for kind, _ in related.values()}
    for kind, target in related.values():
        try:
            if kind == "drawing":
                _drawing(container, source, target, page, found)
            elif kind == "comments" and not target.endswith(".bin"):
                _comments(container.xml(target), found, threaded="threadedComment" in kinds)
            elif kind == "threadedComment":
                _threads(container.xml(target), _persons(container), found)
        except ReadingError as error:
            found.problems.append(f"what lies above the cells is not read: {error}")
    found.figures.sort(key=lambda figure: figure[0])
    found.remarks.sort(key=lambda remark: remark[:2])
    return found


def _drawing(container: Container, source: Source, path: str, page: int, found: Floating) -> None:
    related = container.related(path)
    for anchor in container.xml(path):
        row = _anchor_row(anchor)
        for element in _shown(anchor):
            name = local(element)
            lines: list[str] = []
            table = None
            try:
                if name in {"docPr", "cNvPr"}:
                    lines = list(filter(None, [alternative_text(element)]))
                elif name == "blip":
                    kind, target = related.get(attribute(element, "embed") or "", ("", ""))
                    if kind == "image" and target in container:
                        lines = source.pictures.block(container.data(target), page)
                elif name == "txBody":
                    lines = [line.strip() for line in run_text(element).split("\n")]
                    lines = list(filter(None, lines))
                elif (part := drawing_part(element)) is not None:
                    lines, table = drawing_lines(container, related, part)
            except ReadingError as error:
                found.problems.append(f"a picture or chart is not read: {error}")
            if lines:
                found.figures.append((row, lines, table))


def _shown(anchor: etree._Element) -> list[etree._Element]:
    """Elements of an anchor, without the second form of what is stored in two."""
    elements: list[etree._Element] = []
    stack = [anchor]
    while stack:
        element = stack.pop()
        elements.append(element)
        stack += [child for child in reversed(element) if local(child) != "Fallback"]
    return elements


def _anchor_row(anchor: etree._Element) -> int:
    for element in anchor.iter():
        if local(element) == "row":
            text = (element.text or "").strip()
            return int(text) + 1 if text.isascii() and text.isdigit() and len(text) < 9 else 1
    return 1


def _comments(root: etree._Element, found: Floating, *, threaded: bool) -> None:
    authors: list[str] = []
    for element in root.iter():
        if local(element) == "author":
            authors.append(" ".join((element.text or "").split()))
        elif local(element) == "comment":
            text = " ".join(tidy(_strings(element)).split())
            if threaded and text.startswith(_THREADED):
                continue  # a copy for older programs of what stands among the threads
            number = element.get("authorId") or ""
            at = int(number) if number.isascii() and number.isdigit() else len(authors)
            author = authors[at] if at < len(authors) else ""
            text = text.removeprefix(f"{author}:").strip() if author else text
            found.remark(element.get("ref") or "", author, text)


def _threads(root: etree._Element, persons: dict[str, str], found: Floating) -> None:
    for element in root.iter():
        if local(element) == "threadedComment":
            text = next((child.text or "" for child in element if local(child) == "text"), "")
            author = persons.get(element.get("personId") or "", "")
            found.remark(element.get("ref") or "", author, " ".join(tidy(text).split()))


def _strings(element: etree._Element) -> str:
    return "".join(inner.text or "" for inner in element.iter() if local(inner) == "t")


def _persons(container: Container) -> dict[str, str]:
    persons = {}
    for name in container.names():
        if posixpath.dirname(name) == "xl/persons":
            for element in container.xml(name):
                persons[element.get("id") or ""] = element.get("displayName") or ""
    return persons
