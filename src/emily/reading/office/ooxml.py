"""The container of Word, Excel and PowerPoint files: a ZIP of XML parts, opened with suspicion."""

from __future__ import annotations

import datetime as dt
import lzma
import posixpath
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from lxml import etree

from emily.errors import LimitExceeded, ReadingError
from emily.reading.pages import Facts
from emily.reading.xml import declares_entities, xml_root

__all__ = ["Container", "attribute", "local"]

_MOST_PARTS = 20_000
_MOST_PART_MB = 200
_MOST_RATIO = 200  # of sizes unpacked and packed; ordinary Office XML stays below 60
_SUSPECT_MB = 20  # smaller parts may have any ratio
# What zipfile raises for members that are damaged; the names of a damaged header are no UTF-8.
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    NotImplementedError,
    UnicodeDecodeError,
)
_MEDIA = frozenset({
    "png", "jpg", "jpeg", "gif", "bmp", "tif", "tiff", "emf", "wmf", "svg", "wdp", "mp4", "mov",
    "avi", "wmv", "mp3", "wav", "m4a", "bin", "ttf", "odttf", "fntdata",
})  # fmt: skip


class Container:
    """An open OOXML file; parts are named by their path inside of it.

    Raises:
        LimitExceeded: a part that is unpacked to far more than an Office file has.
        ReadingError: the container is broken.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, OSError, ValueError) as error:
            raise ReadingError(f"the container is broken: {error}") from None
        self._members = {
            member.filename.replace("\\", "/").lstrip("/").lower(): member
            for member in self._zip.infolist()
        }
        self._refuse_bombs()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def _refuse_bombs(self) -> None:
        if len(self._members) > _MOST_PARTS:
            raise LimitExceeded(
                f"the file packs {len(self._members):,} parts; at most {_MOST_PARTS:,} are opened"
            )
        for name, member in self._members.items():
            if name.rpartition(".")[2] in _MEDIA:
                continue  # only unpacked by ``data``, which has a limit of its own
            size = member.file_size
            ratio = size / max(1, member.compress_size)
            if size > _MOST_PART_MB << 20 or (size > _SUSPECT_MB << 20 and ratio > _MOST_RATIO):
                raise LimitExceeded(
                    f"the part {name!r} unpacks from {member.compress_size:,} to {size:,} bytes "
                    f"(at most {_MOST_PART_MB} MiB, and {_MOST_RATIO} times its packed size): "
                    "this looks like a decompression bomb"
                )

    def names(self) -> list[str]:
        """Paths of all parts, lower case."""
        return list(self._members)

    def __contains__(self, name: str) -> bool:
        return name.lower() in self._members

    def chunks(self, name: str, size: int = 1 << 20) -> Iterator[bytes]:
        """A part's bytes in pieces.

        Raises:
            ReadingError: the part is missing or damaged.
        """
        member = self._members.get(name.lower())
        if member is None:
            raise ReadingError(f"the part {name!r} is missing")
        left = member.file_size
        try:
            with self._zip.open(member) as part:
                while data := part.read(size):
                    left -= len(data)
                    if left < 0:
                        raise ReadingError(f"the part {name!r} is larger than it declares")
                    yield data
        except _BROKEN as error:
            raise ReadingError(f"the part {name!r} is damaged: {error}") from None
        except RuntimeError as error:  # what zipfile raises for an encrypted member
            raise ReadingError(f"the part {name!r} cannot be opened: {error}") from None

    def data(self, name: str, most: int = _MOST_PART_MB << 20) -> bytes:
        """A part's bytes, such as a picture's.

        Raises:
            LimitExceeded: it unpacks to more than ``most`` bytes.
            ReadingError: the part is missing or damaged.
        """
        member = self._members.get(name.lower())
        if member is not None and member.file_size > most:
            raise LimitExceeded(
                f"the part {name!r} unpacks to {member.file_size:,} bytes; at most {most:,} are"
            )
        return b"".join(self.chunks(name))

    def xml(self, name: str) -> etree._Element:
        """A part as a tree, entities unresolved and nothing fetched.

        Raises:
            ReadingError: the part is missing, damaged, declares entities or is no XML.
        """
        data = b"".join(self.chunks(name))
        if declares_entities(data):  # in an attribute they would be expanded by the parser
            raise ReadingError(
                f"the part {name!r} declares entities, which Office never does: refused"
            )
        return xml_root(data, f"the part {name!r}")

    def related(self, name: str) -> dict[str, tuple[str, str]]:
        """Parts that a part refers to: id to (last word of the relation's type, path).

        External targets are left out. A part without relations has none; broken ones too.
        """
        folder, base = posixpath.split(name)
        path = posixpath.join(folder, "_rels", base + ".rels")
        if path not in self:
            return {}
        try:
            root = self.xml(path)
        except ReadingError:
            return {}
        found = {}
        for element in root:
            target = element.get("Target")
            if not target or element.get("TargetMode") == "External":
                continue
            target = target.replace("\\", "/")
            full = target.lstrip("/") if target.startswith("/") else posixpath.join(folder, target)
            kind = (element.get("Type") or "").rpartition("/")[2]
            found[element.get("Id") or ""] = (kind, posixpath.normpath(full))
        return found

    def main(self, usual: str) -> str:
        """Path of the part that the file is about, by the root relation or the usual name."""
        for kind, path in self.related("").values():
            if kind == "officeDocument" and path in self:
                return path
        if usual in self:
            return usual
        raise ReadingError(f"the part {usual!r} is missing")

    def title(self) -> str | None:
        """The title among the file's properties."""
        return self.properties()[0]

    def properties(self) -> tuple[str | None, Facts]:
        """The title and the facts among the file's properties; the date is that of saving."""
        path = next(
            (path for kind, path in self.related("").values() if kind == "core-properties"),
            "docprops/core.xml",
        )
        try:
            root = self.xml(path)
        except ReadingError:
            return None, Facts()
        found: dict[str, str] = {}
        for element in root:
            text = " ".join((element.text or "").split())
            if text:
                found.setdefault(local(element), text)
        if _TEMPLATES & set(found.values()):
            found.pop("lastModifiedBy", None)
        found = {key: text for key, text in found.items() if text not in _TEMPLATES}
        saved = next(filter(None, (_date(found.get(key)) for key in ("modified", "created"))), None)
        facts = Facts(
            author=found.get("creator") or found.get("lastModifiedBy"),
            date=saved,
            date_source="metadata" if saved else None,
        )
        return found.get("title"), facts


# What the templates of python-docx, python-pptx and openpyxl say: nobody wrote a file made of
# them on that day, or is called so.
_TEMPLATES = frozenset({
    "2013-12-23T23:15:00Z", "2013-01-27T09:14:16Z", "2013-01-27T09:15:58Z", "python-docx",
    "openpyxl",
})  # fmt: skip


def _date(text: str | None) -> dt.date | None:
    """A date of a file's properties (W3C-DTF); absent where a program wrote the epoch instead."""
    try:
        date = dt.date.fromisoformat((text or "")[:10])
    except ValueError:
        return None
    return date if 1980 < date.year < 2200 else None


def local(element: etree._Element) -> str:
    """An element's name without its namespace (which differs in the strict variant)."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def attribute(element: etree._Element, name: str) -> str | None:
    """An attribute by its name without namespace."""
    for key, value in element.attrib.items():
        if str(key).rpartition("}")[2] == name:
            return str(value)
    return None
