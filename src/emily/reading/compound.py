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
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = self._ole.get_metadata()
        except _BROKEN:
            return None, Facts()
        page = found.codepage if isinstance(found.codepage, int) else 1252
        saved = next(filter(None, map(_date, (found.last_saved_time, found.create_time))), None)
        facts = Facts(
            author=_text(found.author, page),
            date=saved,
            date_source="metadata" if saved else None,
        )
        return _text(found.title, page), facts


def unread_objects(count: int) -> list[str]:
    """A warning about embedded objects, if there are any."""
    if not count:
        return []
    return [f"{count} embedded objects (charts, sheets or other files) in it are not read."]


def _text(value: object, page: int) -> str | None:
    """A property on one line; its bytes are in the code page that the properties name."""
    if isinstance(value, bytes):
        encoding = "utf-8" if page in {65001, -535} else f"cp{page % 65536}"
        try:
            text = value.decode(encoding)
        except (LookupError, UnicodeDecodeError):
            text = value.decode("cp1252", "replace")
    elif isinstance(value, str):
        text = value
    else:
        return None
    return " ".join(tidy(text.replace("\0", " ")).split()) or None


def _date(value: object) -> dt.date | None:
    """A date of a file; programs leave 1601 (and some 1970 or later than now) where none is set."""
    if not isinstance(value, dt.datetime) or not 1980 < value.year < 2200:
        return None
    return value.date()
