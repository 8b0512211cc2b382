"""OLE compound files: the container of Office before 2007, opened with suspicion."""

from __future__ import annotations

import contextlib
import datetime as dt
import warnings
from collections.abc import Iterator
from pathlib import Path

import olefile

from emily.errors import ReadingError
from emily.reading.pages import Facts
from emily.reading.source import tidy

__all__ = ["Compound", "unread_objects"]

_MOST_STREAM = 512 << 20
_SUMMARY = "\x05SummaryInformation"
_MOST_PROPERTIES, _MOST_PROPERTY = 1000, 4096  # of each, bytes
_NARROW, _WIDE, _MOMENT = 30, 31, 64  # types of values
_FIRST_DAY, _LAST_DAY = 138_792, 218_781  # 1981 and 2200, counted from 1601
# What olefile raises for containers that are broken in one place or another.
_BROKEN = (
    OSError,
    ValueError,
    TypeError,
    IndexError,
    KeyError,
    AttributeError,
    OverflowError,
    MemoryError,
    RecursionError,
)


class Compound:
    """An open compound file; streams are named by their path inside of it.

    Raises:
        ReadingError: the container is broken.
    """

    def __init__(self, path: Path) -> None:
        self._size = path.stat().st_size
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._ole = olefile.OleFileIO(str(path))
        except _BROKEN as error:
            raise ReadingError(
                f"the container is broken: {error or type(error).__name__}"
            ) from None

    def close(self) -> None:
        """Close the file."""
        self._ole.close()

    def __contains__(self, name: str) -> bool:
        with contextlib.suppress(*_BROKEN):
            return bool(self._ole.exists(name))
        return False

    def streams(self) -> Iterator[str]:
        """Paths of all streams, parted by ``/``."""
        with contextlib.suppress(*_BROKEN):
            for path in self._ole.listdir():
                yield "/".join(path)

    def objects(self) -> list[str]:
        """A warning about files of other programs inside of it, which Word keeps in the storage
        ``ObjectPool`` and Excel in ones that begin with ``MBD``."""
        found = set()
        for path in self.streams():
            top, _, rest = path.partition("/")
            if rest and top == "ObjectPool":
                found.add(rest.partition("/")[0])
            elif rest and top.startswith("MBD"):
                found.add(top)
        return unread_objects(len(found))

    def read(self, name: str) -> bytes:
        """A stream's bytes.

        Raises:
            ReadingError: it is missing or damaged.
        """
        try:
            if not self._ole.exists(name):
                raise ReadingError(f"the stream {name!r} is missing")
            size = self._ole.get_size(name)
            if size > min(self._size, _MOST_STREAM):  # more than the whole file has
                raise ReadingError(f"the stream {name!r} declares {size:,} bytes")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return bytes(self._ole.openstream(name).read())
        except ReadingError:
            raise
        except _BROKEN as error:
            what = error or type(error).__name__
            raise ReadingError(f"the stream {name!r} is damaged: {what}") from None

    def properties(self) -> tuple[str | None, Facts]:
        """The title and the facts among the file's properties ([MS-OSHARED] 2.3.3.2.1)."""
        try:
            found = _properties(self.read(_SUMMARY))
        except ReadingError:
            return None, Facts()
        page = int.from_bytes(found.get(1, (2, b""))[1][:2], "little") or 1252
        saved = next(filter(None, (_date(found.get(name)) for name in (13, 12))), None)
        facts = Facts(
            author=_text(found.get(4), page),
            date=saved,
            date_source="metadata" if saved else None,
        )
        return _text(found.get(2), page), facts


def _properties(stream: bytes) -> dict[int, tuple[int, bytes]]:
    """Type and value by number ([MS-OLEPS] 2.20 and 2.21). Not by olefile, which counts to what a
    damaged vector declares: for hours."""
    begin = int.from_bytes(stream[44:48], "little")
    section = stream[begin:]
    count = min(int.from_bytes(section[4:8], "little"), _MOST_PROPERTIES)
    found = {}
    for number in range(count):
        at = 8 + 8 * number
        name = int.from_bytes(section[at : at + 4], "little")
        place = int.from_bytes(section[at + 4 : at + 8], "little")
        kind = int.from_bytes(section[place : place + 4], "little")
        found[name] = kind, section[place + 4 : place + 4 + _MOST_PROPERTY]
    return found


def unread_objects(count: int) -> list[str]:
    """A warning about embedded objects, if there are any."""
    if not count:
        return []
    return [f"{count} embedded objects (charts, sheets or other files) in it are not read."]


def _text(value: tuple[int, bytes] | None, page: int) -> str | None:
    """A property on one line; its bytes are in the code page that the properties name."""
    kind, data = value or (0, b"")
    size = int.from_bytes(data[:4], "little")
    if kind == _WIDE or (kind == _NARROW and page == 1200):
        size = 2 * size if kind == _WIDE else size
        text = data[4 : 4 + size].decode("utf-16-le", "replace")
    elif kind == _NARROW:
        encoding = "utf-8" if page == 65001 else f"cp{page}"
        try:
            text = data[4 : 4 + size].decode(encoding)
        except (LookupError, UnicodeDecodeError):
            text = data[4 : 4 + size].decode("cp1252", "replace")
    else:
        return None
    return " ".join(tidy(text.replace("\0", " ")).split()) or None


def _date(value: tuple[int, bytes] | None) -> dt.date | None:
    """A date, of 100 ns since 1601; programs leave 1601 or 1979 where none is set."""
    if value is None or value[0] != _MOMENT:
        return None
    seconds = int.from_bytes(value[1][:8], "little") // 10_000_000
    days = seconds // 86_400
    if not _FIRST_DAY < days < _LAST_DAY:
        return None
    return dt.date(1601, 1, 1) + dt.timedelta(days=days)
