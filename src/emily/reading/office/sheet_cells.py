"""The cells of a workbook's sheets, read one row at a time: no more than what is really there."""

from __future__ import annotations

import datetime as dt
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import IO

from lxml import etree

from emily.errors import LimitExceeded, ReadingError
from emily.reading.limits import MOST_CHARACTERS
from emily.reading.office.number_formats import BUILT_IN, shown_number
from emily.reading.office.ooxml import Container, attribute, local
from emily.reading.source import tidy
from emily.reading.xml import declares_entities

__all__ = ["Book", "Row", "cell_name", "cell_place", "rows_of"]

_ENTITIES = "the part {!r} declares entities, which Office never does: refused"
_REFERENCE = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")
_HEX = re.compile("_x([0-9A-Fa-f]{4})_")


@dataclass(slots=True)
class Row:
    """A row with something in it.

    Attributes:
        number: 1-based.
        cells: text by column, 0-based; empty ones left out.
    """

    number: int
    cells: dict[int, str]


@dataclass(slots=True)
class Book:
    """What the sheets of a workbook share.

    Attributes:
        strings: the shared texts.
        formats: number format by style, as a cell names it.
        from_1904: whether days are counted from 1904.
        uncomputed: names of the sheets that have formulas without a stored value.
    """

    strings: list[str] = field(default_factory=list)
    formats: list[str] = field(default_factory=list)
    from_1904: bool = False
    uncomputed: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, container: Container, root: etree._Element, paths: dict[str, str]) -> Book:
        """The shared parts of a workbook.

        Args:
            container: the file.
            root: its main part.
            paths: paths of the parts by kind of relation.

        Raises:
            ReadingError: the shared texts are broken; without them nothing can be read.
        """
        book = cls()
        for element in root:
            if local(element) == "workbookPr":
                book.from_1904 = attribute(element, "date1904") in {"1", "true", "on"}
        if paths.get("sharedStrings", "") in container:
            book.strings = _shared(container, paths["sharedStrings"])
        if paths.get("styles", "") in container:
            book.formats = _formats(container.xml(paths["styles"]))
        return book


class _Stream(io.RawIOBase):
    """A part of the container as a file that lxml reads from."""

    def __init__(self, container: Container, path: str) -> None:
        self._path = path
        self._chunks = container.chunks(path)
        self._rest = b""
        self._tail = b""

    def read(self, size: int = -1) -> bytes:
        while not self._rest:
            piece = next(self._chunks, None)
            if piece is None:
                return b""
            if declares_entities(self._tail + piece):
                raise ReadingError(_ENTITIES.format(self._path))
            self._rest, self._tail = piece, piece[-20:]
        size = len(self._rest) if size is None or size < 0 else size
        data, self._rest = self._rest[:size], self._rest[size:]
        return data


def _elements(container: Container, path: str, names: tuple[str, ...]) -> Iterator[etree._Element]:
    """The elements of some names in a part, each once it is complete, and then forgotten.

    Raises:
        ReadingError: the part is missing, damaged, declares entities or is no XML.
    """
    stream: IO[bytes] = _Stream(container, path)  # type: ignore[assignment]
    checked = False
    try:
        for event, element in etree.iterparse(
            stream,
            events=("start", "end"),
            tag=[f"{{*}}{name}" for name in names],
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            huge_tree=True,
            recover=True,
        ):
            if not checked:
                checked = True
                if element.getroottree().docinfo.internalDTD is not None:
                    raise ReadingError(_ENTITIES.format(path))
            if event == "end":
                yield element
                element.clear()
                while (before := element.getprevious()) is not None:
                    parent = element.getparent()
                    if parent is None:
                        break
                    parent.remove(before)
    except etree.LxmlError as error:
        raise ReadingError(f"the part {path!r} is not XML: {error}") from None


def _shared(container: Container, path: str) -> list[str]:
    strings = []
    left = MOST_CHARACTERS
    for element in _elements(container, path, ("si",)):
        text = _text(element)
        left -= len(text)
        if left < 0:
            raise LimitExceeded(
                f"the workbook holds more than {MOST_CHARACTERS:,} characters of text"
            )
        strings.append(text)
    return strings


def _text(element: etree._Element) -> str:
    """Text of a shared or inline string on one line; how to pronounce it is left out."""
    pieces = []
    for child in element:
        if local(child) == "t":
            pieces.append(child.text or "")
        elif local(child) == "r":
            pieces += [inner.text or "" for inner in child if local(inner) == "t"]
    return _one_line("".join(pieces))


def _one_line(text: str) -> str:
    if "_x" in text:
        text = _HEX.sub(lambda match: chr(int(match[1], 16)), text)
    return " ".join(tidy(text.replace("\0", "")).split())


def _formats(root: etree._Element) -> list[str]:
    own: dict[str, str] = {}
    styles: list[str] = []
    for group in root:
        if local(group) == "numFmts":
            for element in group:
                own[attribute(element, "numFmtId") or ""] = attribute(element, "formatCode") or ""
        elif local(group) == "cellXfs":
            for element in group:
                if local(element) == "xf":
                    styles.append(attribute(element, "numFmtId") or "0")
    return [_code(number, own) for number in styles]


def _code(number: str, own: dict[str, str]) -> str:
    if number in own:
        return own[number]
    return BUILT_IN.get(int(number), "") if number.isascii() and number.isdigit() else ""


def cell_name(row: int, column: int) -> str:
    """``B3`` for row 3 and column 2, both counted from 1."""
    letters = ""
    while column > 0:
        column, digit = divmod(column - 1, 26)
        letters = chr(65 + digit) + letters
    return f"{letters}{row}"


def cell_place(reference: str) -> tuple[int, int] | None:
    """Row (1-based) and column (0-based) of a reference such as ``B3``."""
    match = _REFERENCE.fullmatch(reference)
    return None if match is None else (int(match[2]), _column(match[1]))


@lru_cache(maxsize=20_000)
def _column(letters: str) -> int:
    column = 0
    for letter in letters:
        column = 26 * column + ord(letter) - 64
    return column - 1


def rows_of(container: Container, path: str, book: Book) -> Iterator[Row]:
    """The rows of a sheet that hold something.

    Raises:
        ReadingError: the sheet is missing, damaged, declares entities or is no XML.
    """
    number = 0
    for element in _elements(container, path, ("row",)):
        stated = element.get("r") or ""
        number = int(stated) if stated.isascii() and stated.isdigit() else number + 1
        cells: dict[int, str] = {}
        column = -1
        for cell in element:
            if local(cell) != "c":
                continue
            match = _REFERENCE.fullmatch(cell.get("r") or "")
            column = column + 1 if match is None else _column(match[1])
            text = _cell(cell, book, path)
            if text:
                cells[column] = text
        if cells:
            yield Row(number, cells)


def _cell(cell: etree._Element, book: Book, path: str) -> str:
    kind = cell.get("t") or "n"
    stored: str | None = None
    formula = False
    for child in cell:
        name = local(child)
        if name == "v":
            stored = child.text or ""
        elif name == "f":
            formula = True
        elif name == "is":
            return _text(child)
    if stored is None or (not stored and formula and kind != "str"):
        if formula:
            book.uncomputed.add(path)
        return ""
    match kind:
        case "s":
            at = int(stored) if stored.strip().isdigit() else -1
            return book.strings[at] if 0 <= at < len(book.strings) else ""
        case "b":
            return "TRUE" if stored.strip() in {"1", "true"} else "FALSE"
        case "n":
            return _number(stored.strip(), cell.get("s") or "", book)
        case "d":
            return _iso(stored.strip())
    return _one_line(stored)


def _number(stored: str, style: str, book: Book) -> str:
    try:
        number = float(stored)
    except ValueError:
        return _one_line(stored)
    at = int(style) if style.isascii() and style.isdigit() else -1
    code = book.formats[at] if 0 <= at < len(book.formats) else ""
    return shown_number(number, code, from_1904=book.from_1904)


def _iso(stored: str) -> str:
    try:
        moment = dt.datetime.fromisoformat(stored)
    except ValueError:
        return _one_line(stored)
    if moment.time() == dt.time.min:
        return moment.date().isoformat()
    return moment.replace(microsecond=0, tzinfo=None).isoformat(" ")
