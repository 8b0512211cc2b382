"""EPUB books (EPUB 2 and 3): a page per document of the spine, in reading order."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from urllib.parse import unquote, urlsplit

from emily.errors import EmptyDocument, LimitExceeded, PasswordRequired, ReadingError
from emily.reading.encodings import decode_text
from emily.reading.limits import MOST_CHARACTERS
from emily.reading.office.ooxml import Container
from emily.reading.pages import Page, Route, Table
from emily.reading.pictures import UNREAD
from emily.reading.source import Draft, Source
from emily.reading.web.book_package import Book
from emily.reading.web.page import html_text, inline_picture

__all__ = ["read_epub"]

_MOST_PICTURE = 64 << 20  # bytes
_MOST_CHAPTER = 64 << 20  # bytes
_HEADING = re.compile(r"^#{1,6} ", re.MULTILINE)
_ENCODING = re.compile(rb"""<\?xml[^>]+encoding\s*=\s*["']([\w.:-]+)""")
_SVG_IMAGE = re.compile(
    r"""<image\b[^>]*?\b(?:xlink:)?href\s*=\s*["']([^"']+)["'][^>]*?>""", re.IGNORECASE
)
_SVG = re.compile(r"<svg\b[^>]*>(.*?)</svg\s*>", re.IGNORECASE | re.DOTALL)


def read_epub(source: Source) -> Draft:
    """A book; the page number is the number of the document in the spine, mostly a chapter.

    A chapter without any heading gets the title above it that the table of contents gives it. A
    navigation document is left out: it repeats those titles. A chapter that is broken is named in
    its page's warning.

    Raises:
        PasswordRequired: the book's text is locked by digital rights management.
        EmptyDocument: the spine names no document.
        ReadingError: the package is broken.
    """
    container = Container(source.path)
    try:
        book = Book(container)
        if book.locked():
            raise PasswordRequired(
                "the book is locked by its shop (digital rights management); "
                "only its own reading program opens it"
            )
        if not book.spine:
            raise EmptyDocument("the book names no documents to read")
    except BaseException:
        container.__exit__()
        raise
    pages = _pages(container, book, source)
    return Draft("epub", "pages", pages, book.title, list(book.warnings), book.facts)


def _pages(container: Container, book: Book, source: Source) -> Iterator[Page]:
    with container:
        left = MOST_CHARACTERS
        for number, path in enumerate(book.spine, 1):
            chapter = _Chapter(container, path, number, source)
            try:
                text, tables = chapter.read()
            except LimitExceeded:
                raise
            except ReadingError as error:
                warning = f"Page {number} ({book.titles.get(path, path)}) is not read: {error}."
                yield Page(number, "", "unread", warning=warning)
                continue
            left -= len(text)
            if left < 0:
                raise LimitExceeded(
                    f"the book holds more than {MOST_CHARACTERS:,} characters of text"
                )
            yield _page(number, text, tables, book.titles.get(path), chapter)


def _page(
    number: int, text: str, tables: tuple[Table, ...], title: str | None, chapter: _Chapter
) -> Page:
    pictures = chapter.source.pictures.on_page(number)
    missing = (
        f"Page {number}: {chapter.missing} pictures are missing or damaged."
        if chapter.missing
        else None
    )
    lines = [line for line in text.split("\n") if line.strip()]
    if not [line for line in lines if line != UNREAD]:
        route: Route = "unread" if lines or missing else "blank"
        if lines:
            missing = f"Page {number} holds pictures alone, which are not read."
        return Page(number, "", route, warning=missing, pictures=pictures)
    if title and _bare(title) not in _bare(text) and not _HEADING.search(text):
        text = f"# {title}\n\n{text}"
        tables = tuple(_lower(table) for table in tables)
    return Page(number, text, "text", tables, missing, pictures=pictures)


def _lower(table: Table) -> Table:
    """A table two lines further down."""
    header = table.header and (table.header[0] + 2, table.header[1] + 2)
    return Table(header, tuple((first + 2, last + 2) for first, last in table.rows))


def _bare(text: str) -> str:
    """Letters and digits alone, to compare titles by."""
    return "".join(char for char in text.casefold() if char.isalnum())


class _Chapter:
    """One document of the spine.

    Attributes:
        missing: pictures that it names and the book does not hold.
    """

    def __init__(self, container: Container, path: str, number: int, source: Source) -> None:
        self.source = source
        self.missing = 0
        self._container = container
        self._path = path
        self._number = number

    def read(self) -> tuple[str, tuple[Table, ...]]:
        """Its text and tables.

        Raises:
            ReadingError: it is missing, damaged or too large.
        """
        data = _bytes(self._container, self._path, _MOST_CHAPTER)
        match = _ENCODING.search(data[:200])
        markup, _ = decode_text(data, match[1].decode("ascii", "replace") if match else None)
        markup = _SVG.sub(_svg_pictures, markup)
        text, tables, _ = html_text(_without_selfclosed(markup), self._picture)
        return text, tables

    def _picture(self, target: str) -> list[str]:
        data = inline_picture(target)
        if data is None:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc or not parts.path:
                return []
            path = posixpath.join(posixpath.dirname(self._path), unquote(parts.path))
            try:
                data = _bytes(self._container, posixpath.normpath(path), _MOST_PICTURE)
            except ReadingError:
                self.missing += 1
                return []
        return self.source.pictures.block(data, self._number)


def _bytes(container: Container, path: str, most: int) -> bytes:
    pieces, size = [], 0
    for piece in container.chunks(path):
        size += len(piece)
        if size > most:
            raise ReadingError(f"the part {path!r} is larger than {most >> 20} MiB")
        pieces.append(piece)
    return b"".join(pieces)


def _svg_pictures(match: re.Match[str]) -> str:
    """An SVG drawing as the pictures that it shows, which is how covers are often put in."""
    found = _SVG_IMAGE.findall(match[1])
    return "".join(f'<p><img src="{target}"/></p>' for target in found) if found else match[0]


_SELF_CLOSED = re.compile(
    r"<(a|b|i|em|strong|span|div|p|script|style|title|td|th|li|section|h[1-6]|sup|sub|small|ins|del"
    r"|iframe|textarea|video|audio|canvas|object)(\s[^<>]*?)?/>",
    re.IGNORECASE,
)


def _without_selfclosed(markup: str) -> str:
    """XHTML as HTML: ``<a id="x"/>`` is an empty element there, and an open one here."""
    return _SELF_CLOSED.sub(lambda match: f"<{match[1]}{match[2] or ''}></{match[1]}>", markup)
