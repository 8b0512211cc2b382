"""OpenDocument spreadsheets: a page per sheet, cells as they are shown."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree

from emily.errors import EmptyDocument
from emily.reading.limits import MOST_CHARACTERS
from emily.reading.office.ooxml import attribute, local
from emily.reading.opendocument.package import Package, body_of, properties
from emily.reading.opendocument.styles import Styles
from emily.reading.opendocument.tables import MOST_ROWS, grid
from emily.reading.opendocument.text import SHAPES, TextWriter
from emily.reading.pages import Page, Route
from emily.reading.source import Draft, Source

__all__ = ["read_ods"]

_TIME = re.compile(r"PT(\d{1,6})H(\d{1,2})M(\d{1,2})(?:[.,]\d+)?S")
_TOO_NARROW = re.compile("#+")  # what a program shows in a column too narrow for the number


def read_ods(source: Source) -> Draft:
    """A spreadsheet; the page number is the number of the sheet, its first line the sheet's name.

    Numbers are read as they are shown, dates as ISO 8601, formulas by the value that was stored
    with them.
    """
    package = Package(source.path)
    try:
        body = body_of(package, "spreadsheet")
        sheets = [child for child in body if local(child) == "table"]
        if not sheets:
            raise EmptyDocument("the spreadsheet has no sheets")
        title, facts = properties(package)
    except BaseException:
        package.close()
        raise
    draft = Draft("ods", "pages", iter(()), title, list(package.warnings), facts)
    draft.pages = _pages(package, sheets, source, draft)
    return draft


def _pages(
    package: Package, sheets: list[etree._Element], source: Source, draft: Draft
) -> Iterator[Page]:
    with package:
        styles = Styles(package.styles, package.content)
        left = MOST_CHARACTERS
        uncomputed = 0
        for at, element in enumerate(sheets, 1):
            sheet = _Sheet(TextWriter(package, styles, source.pictures, at))
            page = sheet.page(element, at, left)
            left -= len(page.text)
            uncomputed += sheet.uncomputed
            yield page
        if uncomputed:
            draft.warnings.append(
                f"{uncomputed} formulas have no stored value and are left empty. "
                "Open the file in a spreadsheet program and save it to store them."
            )


class _Sheet:
    """Builds the page of one sheet."""

    def __init__(self, writer: TextWriter) -> None:
        self.writer = writer
        self.uncomputed = 0
        self._shapes: list[etree._Element] = []  # that hang on cells

    def page(self, sheet: etree._Element, at: int, left: int) -> Page:
        """The finished page, with its tables, drawings and comments in this order."""
        name = " ".join((attribute(sheet, "name") or f"Sheet {at}").split())
        out = self.writer.out
        out.lines += [f"# {name}", ""]
        found = grid(sheet, self.shown, left=left)
        block: list[list[str]] = []
        for cells in [*found.rows, []]:
            if cells:
                block.append(cells)
            elif block:
                out.table(_without_empty_columns(block))
                block = []
        self.writer.blocks(child for child in sheet if local(child) == "shapes")
        self.writer.blocks(self._shapes)
        self.writer.behind()
        problems = self.writer.told()
        if found.capped:
            problems.append(
                f"Sheet {at} ({name}) has more than {MOST_ROWS:,} rows with a value; "
                f"only the first {MOST_ROWS:,} are read."
            )
        warning = " ".join(problems) or None
        pictures = self.writer.pictures.on_page(at)
        text = out.text()
        if text == f"# {name}":
            route: Route = "unread" if problems else "blank"
            return Page(at, "", route, warning=warning, pictures=pictures)
        return Page(at, text, "text", tuple(out.tables), warning, pictures=pictures)

    def shown(self, cell: etree._Element) -> str:
        """What a cell shows: numbers as they are formatted, dates as ISO 8601."""
        kind = cell.get(_OFFICE + "value-type")
        text = self._text(cell)
        if kind == "date":
            date = cell.get(_OFFICE + "date-value") or ""
            return _date(date) or text
        if kind == "time":
            match = _TIME.fullmatch(cell.get(_OFFICE + "time-value") or "")
            return f"{int(match[1]):02}:{int(match[2]):02}:{int(match[3]):02}" if match else text
        if kind == "string":
            text = text or " ".join((cell.get(_OFFICE + "string-value") or "").split())
        elif kind is not None and (not text or _TOO_NARROW.fullmatch(text)):
            value = cell.get(_OFFICE + ("boolean-value" if kind == "boolean" else "value")) or ""
            return value.upper() if kind == "boolean" else _plain(value)
        if not text and cell.get(_TABLE + "formula") and kind is None:
            self.uncomputed += 1
        return text

    def _text(self, cell: etree._Element) -> str:
        if not len(cell):
            return ""
        if len(cell) == 1 and not len(cell[0]) and local(cell[0]) == "p":
            return " ".join((cell[0].text or "").split())
        words = []
        for child in cell:
            name = local(child)
            if name == "annotation":
                self.writer.comment(child)
            elif name in SHAPES:
                self._shapes.append(child)
            else:
                words.append(child)
        return self.writer.flat(words)


_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"


def _date(value: str) -> str:
    """A date as ISO 8601 without a midnight or fractions of seconds; empty for what is none."""
    match = re.fullmatch(r"(-?\d{4,}-\d\d-\d\d)(?:T(\d\d:\d\d(?::\d\d)?)(?:[.,]\d+)?Z?)?", value)
    if match is None:
        return ""
    if match[2] is None or match[2].strip("0:") == "":
        return match[1]
    return f"{match[1]} {match[2]}"


def _plain(value: str) -> str:
    """A number without the noise of its binary form."""
    try:
        return format(float(value), ".15g")
    except ValueError:
        return " ".join(value.split())


def _without_empty_columns(rows: list[list[str]]) -> list[list[str]]:
    width = max(map(len, rows))
    used = [False] * width
    for cells in rows:
        for at, cell in enumerate(cells):
            if cell:
                used[at] = True
    if all(used):
        return rows
    return [[cell for at, cell in enumerate(cells) if used[at]] for cells in rows]
