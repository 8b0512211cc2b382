"""When a page or picture goes on from OCR to the vision model, and how often in one document."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from emily.errors import ReadingError
from emily.reading.limits import MOST_CALLS
from emily.reading.ocr.golden import as_png

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["Sight", "SightUsedUp", "is_flattened_table"]

_MOST_SIDE = 1600  # pixels of the longer side of what the model is sent
_GAP = re.compile(r"\S {3,}\S")
_LEAST_LINES = 3


class SightUsedUp(ReadingError):
    """The document has used up its calls of the vision model."""


class Sight:
    """The vision model of one document, with its calls counted.

    Args:
        see: a picture as PNG in, what the model reads out; raises ``ReadingError``.
        calls: most calls for the document.
    """

    def __init__(self, see: Callable[[bytes], str], calls: int = MOST_CALLS) -> None:
        self._see = see
        self._calls = self._left = calls

    def read(self, image: Image) -> str:
        """What the model reads in a picture (mode RGB).

        Raises:
            SightUsedUp: the document has had its calls.
            ReadingError: the model failed, or read nothing.
        """
        if self._left == 0:
            raise SightUsedUp(
                f"the {self._calls} calls of the vision model for one document are used up "
                "(setting vision_calls)"
            )
        self._left -= 1
        small = image.copy()
        small.thumbnail((_MOST_SIDE, _MOST_SIDE))
        text = self._see(as_png(small))
        if not text.strip():
            raise ReadingError("the vision model read nothing")
        return text


def is_flattened_table(text: str) -> bool:
    """Whether OCR's text is a table whose columns have become blanks.

    That is so where runs of three or more blanks stand inside at least three lines and at least
    half of those that are not empty.
    """
    lines = [line for line in text.split("\n") if line.strip()]
    gapped = sum(_GAP.search(line) is not None for line in lines)
    return gapped >= _LEAST_LINES and 2 * gapped >= len(lines)
