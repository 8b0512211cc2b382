"""What a reader of one format is given, and what it gives back."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from emily.errors import LimitExceeded
from emily.reading.limits import MOST_CHARACTERS
from emily.reading.pages import Citation, Page

if TYPE_CHECKING:
    from emily.reading.ocr import Ocr

__all__ = ["Draft", "Source", "single_page", "tidy"]

_BREAKS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_HALF_PAIRS = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Source:
    """A file to read, and the means to do so.

    Attributes:
        path: the file.
        ocr: gives the OCR engine, loaded at the first call; ``None`` where it is switched off.
            Raises ``OcrUnavailable`` when it cannot be loaded.
        deadline: ``time.monotonic()`` after which slow work on further pages is left undone,
            and said so, rather than losing the whole file to the time limit.
        seconds: the time limit, for messages.
    """

    path: Path
    ocr: Callable[[], Ocr] | None
    deadline: float
    seconds: int

    def late(self) -> bool:
        """Whether the deadline has passed."""
        return time.monotonic() > self.deadline


@dataclass(slots=True)
class Draft:
    """A reading in the making: pages are produced one at a time, so that few are ever held.

    Attributes:
        kind: name of the format.
        citation: as in ``Reading``.
        pages: in order, numbered from 1.
        title: may be set while the pages are produced.
        warnings: about the file; may grow while the pages are produced.
    """

    kind: str
    citation: Citation
    pages: Iterator[Page]
    title: str | None = None
    warnings: list[str] = field(default_factory=list)


def tidy(text: str) -> str:
    r"""Text whose only line break is ``\n`` and that holds no half of a surrogate pair."""
    return _HALF_PAIRS.sub("\ufffd", _BREAKS.sub("\n", text))


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
