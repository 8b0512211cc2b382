"""A PDF page put together: its lines in reading order, its tables and pictures in their places."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from emily.reading.layout import TextLine, paragraphs, vocabulary
from emily.reading.pages import Table
from emily.reading.pdf.aligned import aligned_tables
from emily.reading.pdf.columns import regions
from emily.reading.pdf.headings import Fonts
from emily.reading.pdf.pictures import Shown
from emily.reading.pdf.ruled import ruled_tables
from emily.reading.pdf.rules import Drawn
from emily.reading.pdf.tables import Grid
from emily.reading.pdf.text import Segments
from emily.reading.tables import markdown_table

__all__ = ["Laid", "lay_out"]


@dataclass(slots=True)
class Laid:
    """A page before its text is written out: what repeats is known only some pages later.

    Attributes:
        lines: stretches of lines in the order in which they were written.
        size: width and height of the page, points.
        order: what stands on the page in reading order: a number in ``lines``, or a table.
        taken: numbers of the lines that belong to tables.
        shown: its pictures.
        added: lines after all others: form fields and typed remarks.
    """

    lines: list[TextLine]
    size: tuple[float, float]
    order: list[int | Grid] = field(default_factory=list)
    taken: set[int] = field(default_factory=set)
    shown: list[Shown] = field(default_factory=list)
    added: list[str] = field(default_factory=list)

    @property
    def characters(self) -> int:
        """How many the page's text has, blanks not counted."""
        texts = list(self.added)
        for item in self.order:
            if isinstance(item, Grid):
                texts += [cell for row in item.rows for cell in row]
            else:
                texts.append(self.lines[item].text)
        return len("".join("\n".join(texts).split()))

    def holds_more(self, left_out: Collection[int]) -> bool:
        """Whether most of the page's text is beside these lines."""
        without = sum(len("".join(self.lines[at].text.split())) for at in left_out)
        return 2 * without < self.characters

    def text(self, fonts: Fonts, left_out: Collection[int]) -> tuple[str, tuple[Table, ...]]:
        """The page's text, and where it holds tables.

        Args:
            fonts: of the document.
            left_out: numbers of lines that are not written.
        """
        out: list[str] = []
        tables: list[Table] = []
        waiting: list[TextLine] = []
        cut = any(line.text.endswith("-") for line in self.lines)
        known = vocabulary("\n".join(line.text for line in self.lines)) if cut else ()

        def write() -> None:
            if waiting:
                text = paragraphs(waiting, level=fonts.level, known=known)
                waiting.clear()
                if text:
                    put(text.split("\n"))

        def put(block: list[str]) -> None:
            if out:
                out.append("")
            out.extend(block)

        pictures = self._placed()
        for at, item in enumerate(self.order):
            for block in pictures.get(at, ()):
                write()
                put(block)
            if isinstance(item, Grid):
                write()
                first = len(out) + 1 if out else 0
                rows, table = markdown_table(item.rows, first, header=item.header)
                if table is not None:
                    tables.append(table)
                put(rows)
            elif item not in left_out:
                waiting.append(self.lines[item])
        write()
        for block in pictures.get(len(self.order), ()):
            put(block)
        if self.added:
            put(self.added)
        return "\n".join(out), tuple(tables)

    def _placed(self) -> dict[int, list[list[str]]]:
        """The pictures' lines by the place in ``order`` that they come before."""
        found: dict[int, list[list[str]]] = {}
        for picture, block in self.shown:
            if not block:
                continue
            best, goes = float("inf"), len(self.order)
            middle = (picture.base + picture.top) / 2
            for at, item in enumerate(self.order):
                if isinstance(item, Grid):
                    left, right, base, top = picture.left, picture.right, item.base, item.top
                else:
                    line = self.lines[item]
                    if not line.height:
                        continue
                    left, right = line.left, line.right
                    base, top = line.base, line.base + line.height
                away = max(base - picture.top, picture.base - top, 0.0)
                away += 2 * max(left - picture.right, picture.left - right, 0.0)
                if away < best:
                    best, goes = away, at + ((base + top) / 2 > middle)
            found.setdefault(self._paragraph_end(goes), []).append(block)
        return found

    def _paragraph_end(self, at: int) -> int:
        """The place itself, or where the paragraph ends that it is in the middle of."""
        while 0 < at < len(self.order):
            above, below = self.order[at - 1], self.order[at]
            if isinstance(above, Grid) or isinstance(below, Grid):
                break
            a, b = self.lines[above], self.lines[below]
            drop = a.base - b.base
            if not (0 < drop < 1.5 * a.height and abs(a.height - b.height) < 0.2 * a.height):
                break
            at += 1
        return at


def lay_out(found: Segments, on_page: Drawn) -> Laid:
    """Order a page's lines and find its tables."""
    lines = found.lines
    page = Laid(lines, found.size)
    grids: list[Grid] = []
    if _side_by_side(lines):
        grids = ruled_tables(found, on_page) if len(on_page.level) else []
        page.taken.update(at for grid in grids for at in grid.lines)
        rest = [at for at in range(len(lines)) if at not in page.taken]
        for grid in aligned_tables(lines, rest):
            grids.append(grid)
            page.taken.update(grid.lines)
    items, boxes = _with_tables(lines, grids, page.taken)
    for part in regions(boxes):
        page.order += _in_part(lines, [items[at] for at in part], page.taken)
    return page


def _side_by_side(lines: Sequence[TextLine]) -> bool:
    """Whether anything on a page stands beside something else, as cells do."""
    seen: set[int] = set()
    beside = 0
    for line in lines:
        if line.height:
            place = round((line.base + line.height / 2) / 3)
            if place in seen or place - 1 in seen or place + 1 in seen:
                beside += 1
                if beside > 1:
                    return True
            seen.add(place)
    return False


def _with_tables(
    lines: Sequence[TextLine], grids: Sequence[Grid], taken: set[int]
) -> tuple[list[int | Grid], list[TextLine]]:
    """Lines and tables in the order in which they were written, and a box for each."""
    starts = {min(grid.lines): grid for grid in grids}
    items: list[int | Grid] = []
    boxes: list[TextLine] = []
    for at, line in enumerate(lines):
        if at in starts:
            grid = starts[at]
            held = [lines[n] for n in grid.lines]
            left, right = min(n.left for n in held), max(n.right for n in held)
            base = min(n.base for n in held)
            top = max(n.base + n.height for n in held)
            items.append(grid)
            boxes.append(TextLine("table", left, right, base, top - base))
        elif at not in taken:
            items.append(at)
            boxes.append(line)
    return items, boxes


def _in_part(
    lines: Sequence[TextLine], part: Sequence[int | Grid], taken: set[int]
) -> list[int | Grid]:
    """A part of the page with the tables that only show once its columns are parted."""
    plain = [item for item in part if isinstance(item, int)]
    grids = aligned_tables(lines, plain) if len(plain) != len(lines) else []
    if not grids:
        return list(part)
    owner = {at: grid for grid in grids for at in grid.lines}
    taken.update(owner)
    order: list[int | Grid] = []
    written: list[Grid] = []
    for item in part:
        grid = owner.get(item) if isinstance(item, int) else None
        if grid is None:
            order.append(item)
        elif not any(grid is other for other in written):
            written.append(grid)
            order.append(grid)
    return order
