"""Properties of an Outlook message, which a compound file holds as streams (MS-OXMSG)."""

from __future__ import annotations

import datetime as dt
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from emily.errors import ReadingError
from emily.reading.legacy.compound import Compound
from emily.reading.mail.charsets import decoded
from emily.reading.source import tidy

__all__ = ["INTERNET_PAGE", "Folder", "charset"]

INTERNET_PAGE = 0x3FDE
"""The property that names the code page of a message's HTML."""

_MESSAGE_PAGE = 0x3FFD
_MOST_OBJECTS = 5_000  # recipients, or attachments, of one message
_EPOCH = dt.datetime(1601, 1, 1, tzinfo=dt.UTC)
_Tree = dict[str, tuple[dict[str, str], dict[str, None]]]  # folder: its streams, its folders


@dataclass(slots=True)
class Folder:
    """A storage of the compound file: a message, a recipient or an attachment.

    Attributes:
        fixed: properties of a fixed size, by number.
        folders: names of the storages inside of it.
    """

    compound: Compound
    path: str
    streams: dict[str, str]
    folders: list[str]
    fixed: dict[int, bytes] = field(default_factory=dict)
    page: int = 1252
    _tree: _Tree = field(default_factory=dict)

    @classmethod
    def top(cls, compound: Compound) -> Folder:
        """The message that the file is."""
        tree: _Tree = {}
        for name in compound.streams():
            folder, _, last = name.rpartition("/")
            tree.setdefault(folder, ({}, {}))[0][last.lower()] = name
            while folder:
                parent, _, inner = folder.rpartition("/")
                tree.setdefault(parent, ({}, {}))[1][inner] = None
                folder = parent
        return cls._at(compound, "", 32, tree, 1252)

    @classmethod
    def _at(
        cls,
        compound: Compound,
        path: str,
        header: int,
        tree: _Tree,
        page: int,
    ) -> Folder:
        streams, folders = tree.get(path, ({}, {}))
        found = cls(compound, path, streams, list(folders), _tree=tree, page=page)
        data = found.stream("__properties_version1.0")
        for at in range(header, len(data) - 15, 16):
            number = struct.unpack_from("<H", data, at + 2)[0]
            found.fixed[number] = data[at + 8 : at + 16]
        own = found.integer(_MESSAGE_PAGE) or found.integer(INTERNET_PAGE)
        found.page = own or page
        return found

    def inside(self, prefix: str, header: int) -> Iterator[Folder]:
        """Storages whose names begin so."""
        names = sorted(name for name in self.folders if name.lower().startswith(prefix))
        for name in names[:_MOST_OBJECTS]:
            path = f"{self.path}/{name}" if self.path else name
            yield self._at(self.compound, path, header, self._tree, self.page)

    def stream(self, name: str) -> bytes:
        """A stream's bytes; none where it is missing or damaged."""
        path = self.streams.get(name.lower())
        try:
            return self.compound.read(path) if path is not None else b""
        except ReadingError:
            return b""

    def binary(self, number: int) -> bytes:
        """A property that is bytes."""
        return self.stream(f"__substg1.0_{number:04X}0102")

    def text(self, number: int) -> str:
        """A property that is text, in Unicode or in the message's code page."""
        wide = self.stream(f"__substg1.0_{number:04X}001F")
        if wide:
            text = wide.decode("utf-16-le", "replace")
        else:
            text = decoded(self.stream(f"__substg1.0_{number:04X}001E"), charset(self.page))[0]
        return tidy(text.replace("\0", ""))

    def line(self, number: int) -> str:
        """A property that is text, on one line."""
        return " ".join(self.text(number).split())

    def integer(self, number: int) -> int:
        """A property that is a number; 0 where it is missing."""
        data = self.fixed.get(number)
        return int(struct.unpack_from("<i", data)[0]) if data else 0

    def time(self, number: int) -> dt.datetime | None:
        """A property that is a time, in UTC."""
        data = self.fixed.get(number)
        ticks = struct.unpack_from("<Q", data)[0] if data else 0
        try:
            return _EPOCH + dt.timedelta(microseconds=ticks // 10) if ticks else None
        except OverflowError:
            return None


def charset(page: int) -> str:
    """The name of an encoding by the number of its code page."""
    return {65001: "utf-8", 1200: "utf-16-le", 20127: "ascii", 28591: "iso-8859-1"}.get(
        page, f"iso-8859-{page - 28590}" if 28591 < page < 28606 else f"cp{page}"
    )
