"""The package of an OpenDocument file (ISO/IEC 26300): a ZIP of XML parts, or one flat XML file."""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import posixpath
import re
import zipfile
from pathlib import Path
from typing import Self
from urllib.parse import unquote

from lxml import etree

from emily.errors import PasswordRequired, ReadingError
from emily.reading.office.ooxml import Container, attribute, local
from emily.reading.pages import Facts
from emily.reading.xml import xml_root

__all__ = ["Package", "body_of", "first", "number", "properties"]

_MOST_PICTURE = 64 << 20  # bytes
_MOST_FLAT = 512 << 20  # bytes
_MANIFEST = "META-INF/manifest.xml"


class Package:
    """An open OpenDocument file.

    Attributes:
        content: root of ``content.xml``, or of the flat file.
        styles: root of ``styles.xml``, or of the flat file; ``None`` where it cannot be read.
        meta: root of ``meta.xml`` likewise.
        warnings: about parts that cannot be read.

    Raises:
        LimitExceeded: a part that unpacks to far more than a document has.
        PasswordRequired: its parts are encrypted.
        ReadingError: it is broken, or has no content.
    """

    def __init__(self, path: Path) -> None:
        self.warnings: list[str] = []
        self.content: etree._Element
        self.styles: etree._Element | None
        self.meta: etree._Element | None
        self._container: Container | None = None
        if not zipfile.is_zipfile(path):
            self.content = self.styles = self.meta = _flat(path)
            return
        self._container = Container(path)
        try:
            self._refuse_encrypted(self._container)
            self.content = self._container.xml("content.xml")
            self.styles = self._optional("styles.xml")
            self.meta = self._optional("meta.xml")
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        if self._container is not None:
            self._container.__exit__()

    @staticmethod
    def _refuse_encrypted(container: Container) -> None:
        if _MANIFEST not in container:
            return
        try:  # not as XML: older programs declare a document type, which parts must not
            manifest = b"".join(container.chunks(_MANIFEST))
        except ReadingError:
            return
        if b"encryption-data" in manifest or "encrypted-package" in container:
            raise PasswordRequired("the OpenDocument file opens only with a password")

    def _optional(self, name: str) -> etree._Element | None:
        assert self._container is not None
        if name not in self._container:
            return None
        try:
            return self._container.xml(name)
        except ReadingError as error:
            self.warnings.append(f"A part of the document is not read: {error}.")
            return None

    def embedded(self, element: etree._Element) -> etree._Element | None:
        """Root of the document that a ``draw:object`` embeds, or ``None`` for one elsewhere.

        Raises:
            ReadingError: it is missing or broken.
        """
        if len(element):  # in a flat file it stands inside of the element
            return element
        path = self._inside(element)
        if path is None or self._container is None:
            return None
        return self._container.xml(posixpath.join(path, "content.xml"))

    def picture(self, element: etree._Element) -> bytes | None:
        """The file of a ``draw:image``, or ``None`` for one that lies elsewhere.

        Raises:
            ReadingError: it is missing, damaged or too large.
        """
        for child in element:
            if local(child) == "binary-data":
                try:
                    return base64.b64decode("".join((child.text or "").split()))
                except (binascii.Error, ValueError):
                    raise ReadingError("a picture is damaged") from None
        path = self._inside(element)
        if path is None or self._container is None:
            return None
        pieces, size = [], 0
        for piece in self._container.chunks(path):
            size += len(piece)
            if size > _MOST_PICTURE:
                raise ReadingError(f"the picture {path!r} is larger than {_MOST_PICTURE >> 20} MiB")
            pieces.append(piece)
        return b"".join(pieces)

    @staticmethod
    def _inside(element: etree._Element) -> str | None:
        """Path inside of the package that an element refers to."""
        target = unquote(attribute(element, "href") or "").replace("\\", "/")
        if not target or re.match(r"[a-z][a-z0-9+.-]*:|/|\.\./|#", target, re.IGNORECASE):
            return None
        return posixpath.normpath(target)


def _flat(path: Path) -> etree._Element:
    data = path.read_bytes()
    if len(data) > _MOST_FLAT:
        raise ReadingError("the flat OpenDocument file is too large")
    root = xml_root(data, "the OpenDocument file")
    if local(root) != "document":
        raise ReadingError("the file is no OpenDocument file")
    return root


def first(root: etree._Element | None, name: str) -> etree._Element | None:
    """The first element of a name in a tree."""
    if root is None:
        return None
    return next((element for element in root.iter() if local(element) == name), None)


def _children(element: etree._Element | None) -> list[etree._Element]:
    return [] if element is None else list(element)


def body_of(package: Package, name: str) -> etree._Element:
    """The element of a name in a document's body, or whatever stands there instead.

    Raises:
        ReadingError: there is no body.
    """
    parts = [child for child in _children(first(package.content, "body")) if local(child)]
    if not parts:
        raise ReadingError("the OpenDocument file has no body")
    return next((part for part in parts if local(part) == name), parts[0])


def number(element: etree._Element, name: str, default: int = 1) -> int:
    """A whole number among an element's attributes, at least 0."""
    value = attribute(element, name) or ""
    return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else default


def properties(package: Package) -> tuple[str | None, Facts]:
    """Title and facts that the file gives itself; its date is that of saving, as for Office."""
    found: dict[str, str] = {}
    for element in _children(first(package.meta, "meta")):
        text = " ".join((element.text or "").split())
        if text:
            found.setdefault(local(element), text)
    author = found.get("initial-creator") or found.get("creator")
    date = None
    for name in ("date", "creation-date"):
        try:
            date = dt.date.fromisoformat(found.get(name, "")[:10])
        except ValueError:
            continue
        break
    facts = Facts(author=author, date=date, date_source="metadata" if date else None)
    return found.get("title"), facts
