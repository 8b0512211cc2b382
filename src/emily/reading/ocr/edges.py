"""The lines at the top and the foot of a scanned page that may be furniture.

A scan shifts from page to page, and OCR takes one sign for another. So places are measured from
the outermost line, in half lines, and texts are compared without blanks, accents and signs, and
with the letters alike that OCR confuses. Digits have to be the same: the numbers of two invoices
are no error of reading.
"""

from __future__ import annotations

import re
import statistics
import unicodedata
from collections.abc import Sequence

from emily.reading.furniture import Edge, shape
from emily.reading.ocr.lines import Line, rows

__all__ = ["edges"]

_DEPTH = 0.15  # of the height of all lines, at their top and their foot
_MOST = 4  # rows at either
_APART = 0.45  # times its height that a row keeps from the text; lines of a text keep 0 to 0.3
_LEAST_ROWS = 5  # of a page; with fewer none is told from the text
_CONFUSED = str.maketrans({"l": "i", "1": "i", "|": "i", "!": "i", "0": "o"})
_WORD = re.compile(r"\S+")
_COUNTED = re.compile(r"(\d{1,4})\s+(?=\D)(.+)|(.+\D)\s+(\d{1,4})")


def edges(lines: Sequence[Line]) -> list[Edge]:
    """The rows at the top and the foot of a page that stand apart from what follows.

    Args:
        lines: of the page.

    Returns:
        With numbers of lines, and places in half lines from the outermost row: from 0 on at the
        top, below 0 at the foot.
    """
    held = [(at, line) for at, line in enumerate(lines) if line.text.strip()]
    if not held:
        return []
    number = {id(line): at for at, line in held}
    page = rows([line for _, line in held])
    if len(page) < _LEAST_ROWS:
        return []
    size = max(1.0, statistics.median(line.height for _, line in held))
    first, last = min(line.top for _, line in held), max(line.bottom for _, line in held)
    found: list[Edge] = []
    for outward in (page, page[::-1]):
        top = outward is page
        group: list[list[Line]] = []
        for at, row in enumerate(outward[:_MOST]):
            depth = _bottom(row) - first if top else last - _top(row)
            if depth > max(_DEPTH * (last - first), 2 * size) or at + 1 == len(outward):
                break
            group.append(row)
            following = outward[at + 1]
            upper, lower = (row, following) if top else (following, row)
            if _top(lower) - _bottom(upper) > _APART * min(_height(row), _height(following)):
                for item in group:
                    away = _top(item) - first if top else last - _bottom(item)
                    place = 2 * away / size
                    found.append(_edge(item, number, place if top else -place - 1))
                group = []
    return found


def _edge(row: Sequence[Line], number: dict[int, int], place: float) -> Edge:
    shapes, numbers = [], []
    for line in row:
        text, counted = _shape(line.text.strip())
        shapes.append(text)
        numbers += counted
    return Edge([number[id(line)] for line in row], " ".join(shapes), place, tuple(numbers))


def _shape(text: str) -> tuple[str, list[int]]:
    """A piece of a row with ``#`` for the number of a page, folded; and these numbers.

    OCR often makes one piece of a heading and the number beside it.
    """
    found, numbers = shape(text)
    if not numbers and found != "~" and (match := _COUNTED.fullmatch(text)):
        before, head, name, after = match.groups()
        found, numbers = (f"# {head}", [int(before)]) if before else (f"{name} #", [int(after)])
    return "".join(_folded(word) for word in _WORD.findall(found)), numbers


def _folded(word: str) -> str:
    plain = unicodedata.normalize("NFKD", word).casefold()
    if any(sign.isalpha() for sign in plain):
        plain = plain.translate(_CONFUSED)
    return "".join(sign for sign in plain if sign.isalnum() or sign in "#~")


def _top(row: Sequence[Line]) -> float:
    return min(line.top for line in row)


def _bottom(row: Sequence[Line]) -> float:
    return max(line.bottom for line in row)


def _height(row: Sequence[Line]) -> float:
    return statistics.median(line.height for line in row)
