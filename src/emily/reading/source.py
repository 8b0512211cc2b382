"""What a reader of one format is given, and what it gives back."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from emily.errors import LimitExceeded
from emily.reading.limits import MOST_CHARACTERS, SlowWork
from emily.reading.pages import Citation, Facts, Page

if TYPE_CHECKING:
    from emily.reading.ocr.engine import Ocr
    from emily.reading.ocr.sight import Sight
    from emily.reading.pictures import Pictures

__all__ = ["Draft", "Enclosed", "Source", "check_length", "single_page", "tidy"]

_BREAKS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_ODD_BREAKS = "\r\x0b\x0c\x85\u2028\u2029"
_HALF_PAIRS = re.compile("[\ud800-\udfff]")


@dataclass(slots=True)
class Source:
    """A file to read, and the means to do so.

    Attributes:
        path: the file; for one out of another file, where its bytes lie meanwhile.
        ocr: gives the OCR engine, loaded at the first call; ``None`` where it is switched off.
            Raises ``OcrUnavailable`` when it cannot be loaded.
        deadline: ``time.monotonic()`` after which slow work on further pages is left undone,
            and said so, rather than losing the whole file to the time limit.
        seconds: the time limit, for messages.
        name: the file's name as its owner knows it.
        passwords: tried on what is encrypted, in order.
        scratch: an empty folder for files in between, deleted afterwards; ``None`` only where a
            reader that needs none is called by itself.
        sight: the vision model; ``None`` where none is configured.
        slow: how much slow work it may ask for.
        scanned: pages that OCR has read of it so far.
        pictures: reads the pictures inside of the file, and keeps count of them.
    """

    path: Path
    ocr: Callable[[], Ocr] | None
    deadline: float
    seconds: int
    name: str = ""
    passwords: tuple[str, ...] = ()
    scratch: Path | None = None
    sight: Sight | None = None
    slow: SlowWork = field(default_factory=SlowWork)
    scanned: list[int] = field(default_factory=list)
    pictures: Pictures = field(init=False)

    def __post_init__(self) -> None:
        from emily.reading.pictures import Pictures

        self.name = self.name or self.path.name
        self.pictures = Pictures(self)

    def late(self) -> bool:
        """Whether the deadline has passed."""
        return time.monotonic() > self.deadline

    def within(self, path: Path, name: str) -> Source:
        """The same means for a file that was unpacked out of this one and is read in its place."""
        inner = replace(self, path=path, name=name)
        inner.pictures = self.pictures
        return inner


@dataclass(frozen=True, slots=True)
class Enclosed:
    """A file inside a file, on its way to become a document of its own.

    Attributes:
        name: as the file that holds it names it; a path with ``/`` inside of an archive.
        data: its bytes in pieces, read when it is their turn. May raise ``ReadingError``, which
            concerns this one alone.
    """

    name: str
    data: Iterable[bytes]


@dataclass(slots=True)
class Draft:
    """A reading in the making: pages are produced one at a time, so that few are ever held.

    Attributes:
        kind: name of the format.
        citation: as in ``Reading``.
        pages: in order, numbered from 1.
        title: may be set while the pages are produced.
        warnings: about the file; may grow while the pages are produced.
        facts: may be set while the pages are produced.
        enclosed: the files inside of it, produced once the pages are through.
    """

    kind: str
    citation: Citation
    pages: Iterator[Page]
    title: str | None = None
    warnings: list[str] = field(default_factory=list)
    facts: Facts = field(default_factory=Facts)
    enclosed: Iterable[Enclosed] = ()


def tidy(text: str) -> str:
    r"""Text whose only line break is ``\n`` and that holds no half of a surrogate pair."""
    if any(mark in text for mark in _ODD_BREAKS):
        text = _BREAKS.sub("\n", text)
    try:
        text.encode()  # in less time than a search takes
    except UnicodeEncodeError:
        return _HALF_PAIRS.sub("\ufffd", text)
    return text


def single_page(page: Page) -> Iterator[Page]:
    """The pages of a file that has one."""
    yield page


def check_length(characters: int) -> None:
    """Refuse a document with more text than is read.

    Raises:
        LimitExceeded: it has more than ``MOST_CHARACTERS``.
    """
    if characters > MOST_CHARACTERS:
        raise LimitExceeded(
            f"the file holds {characters:,} characters of text or more; "
            f"at most {MOST_CHARACTERS:,} are read. Split it into several files."
        )
