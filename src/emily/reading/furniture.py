"""Running headers, footers and page numbers: what stands at the same place of page after page.

It is kept on the first page where it stands, so that a letterhead, a file number or the name of a
report is found, and left out of those that follow.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from emily.reading.layout import TextLine

__all__ = ["AHEAD", "Edge", "Furniture", "edges", "shape"]

AHEAD = 6
"""Pages after the one at hand that are looked at for the same line."""

_EDGE = 0.13  # of the page's height, at its top and its foot
_MOST = 4  # lines at either
_ALIKE = 3  # pages within reach that show a line, for it to be furniture
_PLACE = 4.0  # points that it may wander
_DIGITS = re.compile(r"\d{1,6}")
_ROMAN = re.compile(r"[ivxlc]{1,7}|[IVXLC]{1,7}")
_OF = r"(?:\W*\b(?:of|von|di|de|sur|van|av|af|z|aus)\b\W*\d{1,6}|\s*[/|]\s*\d{1,6})"
_WORD = r"(?:page|seite|pagina|página|blatt|folio|side|sida|strona|oldal|pag\.|pg\.|p\.|s\.)"
_ALONE = re.compile(rf"\W*(?:{_WORD}\W*)?\d{{1,6}}{_OF}?\W*", re.I)
_INSIDE = re.compile(
    rf"\b{_WORD}\s*\d{{1,6}}{_OF}?\b|[|·•–—]\s*\d{{1,6}}\W*$|^\W*\d{{1,6}}\s*[|·•–—]", re.I
)


@dataclass(frozen=True, slots=True)
class _Mark:
    page: int
    place: float
    numbers: tuple[int, ...]


@dataclass(slots=True)
class Edge:
    """A line near the top or the foot of a page.

    Attributes:
        lines: numbers of the stretches that it is made of.
        shape: its text, with ``#`` for the number of the page.
        place: points from the top, or negative from the foot.
        numbers: what ``#`` stands for.
    """

    lines: list[int]
    shape: str
    place: float
    numbers: tuple[int, ...]


def edges(lines: Sequence[TextLine], taken: set[int], height: float) -> list[Edge]:
    """The lines near the top and foot of a page that stand apart from what follows.

    Args:
        lines: of the page.
        taken: numbers of those that belong to a table.
        height: of the page, points.
    """
    placed = sorted(
        (at for at, line in enumerate(lines) if line.height and line.base > -line.height),
        key=lambda at: -lines[at].base,
    )
    rows: list[list[int]] = []
    for at in placed:
        if rows and lines[rows[-1][0]].base - lines[at].base < 0.4 * lines[at].height:
            rows[-1].append(at)
        else:
            rows.append([at])
    found = []
    for outward in (rows, rows[::-1]):
        top = outward is rows
        group: list[list[int]] = []
        for number, row in enumerate(outward[: _MOST + 1]):
            line = lines[row[0]]
            depth = height - line.base if top else line.base + line.height
            if depth > _EDGE * height + line.height or not taken.isdisjoint(row):
                break
            following = outward[number + 1] if number + 1 < len(outward) else None
            group.append(row)
            if following is None or _apart(lines, row, following):
                found += [_edge(lines, item, height, top=top) for item in group]
                group = []
        if len(found) and len(rows) <= len(found):
            break
    return found


def _apart(lines: Sequence[TextLine], row: Sequence[int], following: Sequence[int]) -> bool:
    """Whether more than the usual blank is left between two rows."""
    a, b = lines[row[0]], lines[following[0]]
    upper, lower = (a, b) if a.base > b.base else (b, a)
    return upper.base - (lower.base + lower.height) > 0.6 * min(a.height, b.height)


def _edge(lines: Sequence[TextLine], row: Sequence[int], height: float, *, top: bool) -> Edge:
    ordered = sorted(row, key=lambda at: lines[at].left)
    base = lines[row[0]].base
    shapes, numbers = [], []
    for at in ordered:
        text, found = shape(lines[at].text)
        shapes.append(text)
        numbers += found
    place = height - base if top else -base - 1
    return Edge(list(row), " ".join(shapes), place, tuple(numbers))


def shape(text: str) -> tuple[str, list[int]]:
    """A stretch of a line with ``#`` for the number of a page, and these numbers.

    Other numbers stay as they are: that of an invoice in a file of many may count as pages do.
    """
    if _ROMAN.fullmatch(text):
        return "~", []
    found = _ALONE.fullmatch(text) or _INSIDE.search(text)
    if found is None:
        return text, []
    given = text[: found.start()] + _DIGITS.sub("#", found[0]) + text[found.end() :]
    return given, list(map(int, _DIGITS.findall(found[0])))


class Furniture:
    """What the pages of one document repeat, learnt page by page."""

    def __init__(self) -> None:
        self._seen: dict[str, list[_Mark]] = defaultdict(list)

    def learn(self, page: int, found: Sequence[Edge]) -> None:
        """Take a page's lines into account, before those of the pages ``AHEAD`` of it are."""
        for edge in found:
            marks = self._seen[edge.shape]
            marks.append(_Mark(page, edge.place, edge.numbers))
            if len(marks) > 4 * AHEAD:  # the first, and those near by
                del marks[1 : -3 * AHEAD]
        if len(self._seen) > 20_000:
            self._seen = defaultdict(
                list, {shape: marks for shape, marks in self._seen.items() if len(marks) > 1}
            )

    def repeated(self, page: int, found: Sequence[Edge]) -> set[int]:
        """Numbers of a page's stretches of lines that an earlier page shows as well."""
        left_out: set[int] = set()
        for edge in found:
            marks = self._seen[edge.shape]
            if len(marks) < 2:
                continue
            alike = [mark for mark in marks if _same(mark, edge, page)]
            near = {mark.page for mark in alike if abs(mark.page - page) <= 2 * AHEAD} | {page}
            if any(mark.page < page for mark in alike) and len(near) >= _ALIKE:
                left_out.update(edge.lines)
        return left_out


def _same(mark: _Mark, edge: Edge, page: int) -> bool:
    """Whether a line of another page is the same one, or one that counts the pages."""
    if abs(mark.place - edge.place) > _PLACE:
        return False
    if len(mark.numbers) != len(edge.numbers):
        return False
    if not mark.numbers:
        return True
    moved = [a - b for a, b in zip(edge.numbers, mark.numbers, strict=True)]
    return all(by == 0 for by in moved[1:]) and (
        moved[0] == page - mark.page or (moved[0] == 0 and edge.shape != "#")
    )
