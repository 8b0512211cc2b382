"""The package of an EPUB book: its documents in order, and what it says of itself."""

from __future__ import annotations

import datetime as dt
import posixpath
import re
from urllib.parse import unquote, urlsplit

from lxml import etree

from emily.errors import ReadingError
from emily.reading.office.ooxml import Container, attribute, local
from emily.reading.pages import Facts
from emily.reading.xml import xml_root

__all__ = ["Book"]

_MOST_TITLE = 300  # characters
_DOCUMENTS = frozenset({
    "application/xhtml+xml", "text/html", "application/x-dtbook+xml", "image/svg+xml",
    "text/x-oeb1-document", "application/xml", "text/xml", "",
})  # fmt: skip
_FONT_SCRAMBLING = frozenset({
    "http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC",
})  # fmt: skip
_ENTITIES = re.compile(rb"<!ENTITY\b", re.IGNORECASE)
_DOCTYPE = re.compile(rb"<!DOCTYPE[^<>\[]*(?:\[[^\]]*\]\s*)?>", re.IGNORECASE)
_DATES = ("publication", "", "original-publication", "creation", "modification")


class Book:
    """What an EPUB's package says.

    Attributes:
        spine: paths of its documents in reading order, navigation left out.
        titles: path to the title that the table of contents gives it.
        title: of the book.
        facts: author and date of publication.
        warnings: about parts that cannot be read.

    Raises:
        ReadingError: the package is missing or broken.
    """

    def __init__(self, container: Container) -> None:
        self._container = container
        self.warnings: list[str] = []
        self._path = self._package()
        root = _tree(container, self._path)
        self._items: dict[str, tuple[str, str, str]] = {}  # id to path, media type, properties
        order: list[str] = []
        self._toc = ""
        for element in root.iter():
            name = local(element)
            if name == "item":
                key, target = attribute(element, "id") or "", attribute(element, "href") or ""
                kind = (attribute(element, "media-type") or "").strip().lower()
                self._items[key] = (
                    _joined(self._path, target),
                    kind,
                    attribute(element, "properties") or "",
                )
            elif name == "itemref":
                order.append(attribute(element, "idref") or "")
            elif name == "spine":
                self._toc = attribute(element, "toc") or ""
        self.spine = self._readable(order)
        self.title, self.facts = _facts(root)
        self.titles = {path: t for path, t in self._titles().items() if t != self.title}

    def _package(self) -> str:
        """Path of the package document."""
        if "META-INF/container.xml" in self._container:
            for element in _tree(self._container, "META-INF/container.xml").iter():
                path = attribute(element, "full-path") if local(element) == "rootfile" else None
                if path and unquote(path) in self._container:
                    return unquote(path)
        found = [name for name in self._container.names() if name.endswith(".opf")]
        if not found:
            raise ReadingError("the book has no package document")
        return found[0]

    def _readable(self, order: list[str]) -> list[str]:
        """The documents of the spine; without one, all that the package lists."""
        listed = [key for key in order if key in self._items]
        if unknown := len(order) - len(listed):
            self.warnings.append(f"{unknown} documents of the spine are not in the book.")
        if not listed:
            listed = [key for key, item in self._items.items() if "html" in item[1]]
        chosen = (self._items[key] for key in dict.fromkeys(listed))
        return list(
            dict.fromkeys(
                path
                for path, kind, properties in chosen
                if kind in _DOCUMENTS and "nav" not in properties.split()
            )
        )

    def _titles(self) -> dict[str, str]:
        """What the table of contents calls each document: the first entry that points to it."""
        found: dict[str, str] = {}
        ncx = self._items.get(self._toc, ("", "", ""))[0]
        for path, kind, properties in self._items.values():
            is_nav = "nav" in properties.split()
            if not is_nav and kind != "application/x-dtbncx+xml" and path != ncx:
                continue
            try:
                root = _tree(self._container, path)
            except ReadingError:
                continue  # the titles alone are lost, which stand in the text too
            for target, words in _nav_links(root) if is_nav else _ncx_points(root):
                title = " ".join(words.split())
                # What points into a document names a part of it, often not the first.
                if title and len(title) <= _MOST_TITLE and "#" not in target:
                    found.setdefault(_joined(path, target), title)
        return found

    def locked(self) -> bool:
        """Whether documents of the spine are encrypted; scrambled fonts do not count."""
        if "META-INF/encryption.xml" not in self._container:
            return False
        try:
            root = _tree(self._container, "META-INF/encryption.xml")
        except ReadingError:
            return False
        spine = {path.lower() for path in self.spine}
        for data in root.iter():
            if local(data) != "EncryptedData":
                continue
            methods = [attribute(e, "Algorithm") for e in data.iter() if _is_method(e)]
            if set(methods) & _FONT_SCRAMBLING:
                continue
            for element in data.iter():
                if local(element) == "CipherReference":
                    target = unquote(attribute(element, "URI") or "").lstrip("/").lower()
                    if target in spine:
                        return True
        return False


def _is_method(element: etree._Element) -> bool:
    return local(element) == "EncryptionMethod"


def _tree(container: Container, path: str) -> etree._Element:
    """A part as a tree. Books may name a document type, but entities of their own are refused."""
    data = b"".join(container.chunks(path))
    if _ENTITIES.search(data):
        raise ReadingError(f"the part {path!r} declares entities: refused")
    return xml_root(_DOCTYPE.sub(b"", data, count=1), f"the part {path!r}")


def _joined(base: str, target: str) -> str:
    """Path of what a part refers to, without its fragment."""
    path = unquote(urlsplit(target.replace("\\", "/")).path) if target else ""
    return posixpath.normpath(posixpath.join(posixpath.dirname(base), path)).lstrip("/")


def _nav_links(root: etree._Element) -> list[tuple[str, str]]:
    """Targets and words of the links of an EPUB 3 table of contents."""
    found = []
    for nav in root.iter():
        if local(nav) != "nav" or (attribute(nav, "type") or "toc") != "toc":
            continue
        for link in nav.iter():
            target = attribute(link, "href") if local(link) == "a" else None
            if target:
                found.append((target, "".join(str(piece) for piece in link.itertext())))
    return found


def _ncx_points(root: etree._Element) -> list[tuple[str, str]]:
    """Targets and words of the entries of an EPUB 2 table of contents."""
    found = []
    for point in root.iter():
        if local(point) != "navPoint":
            continue
        words = target = ""
        for child in point:
            if local(child) == "navLabel":
                words = "".join(str(piece) for piece in child.itertext())
            elif local(child) == "content":
                target = attribute(child, "src") or ""
        if target:
            found.append((target, words))
    return found


def _facts(root: etree._Element) -> tuple[str | None, Facts]:
    titles: list[str] = []
    authors: list[str] = []
    dates: dict[str, str] = {}
    for element in root.iter():
        name = local(element)
        if name not in {"title", "creator", "date"}:
            continue
        text = " ".join("".join(str(piece) for piece in element.itertext()).split())
        if not text:
            continue
        if name == "title":
            titles.append(text)
        elif name == "creator":
            authors.append(text)
        else:
            dates.setdefault((attribute(element, "event") or "").lower(), text)
    date = next(filter(None, (_date(dates[event]) for event in _DATES if event in dates)), None)
    facts = Facts(
        author=", ".join(dict.fromkeys(authors)) or None,
        date=date,
        date_source="metadata" if date else None,
    )
    return (titles[0] if titles else None), facts


def _date(text: str) -> dt.date | None:
    """A whole date; a year alone is none."""
    try:
        return dt.date.fromisoformat(text[:10])
    except ValueError:
        return None
