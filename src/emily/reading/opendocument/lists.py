"""Where in its lists an OpenDocument text is: what stands before the next item."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from lxml import etree

from emily.reading.office.ooxml import attribute, local
from emily.reading.opendocument.package import number
from emily.reading.opendocument.styles import Level, Numbering, Styles

__all__ = ["Label", "Lists"]


class Label(NamedTuple):
    """What stands before a paragraph of a list.

    Attributes:
        text: ``-``, ``1.``, ``b)``; empty inside of an item, or where the list shows none.
        depth: 0 in a list inside of no other.
        begins: whether an item begins here.
    """

    text: str = ""
    depth: int = 0
    begins: bool = False


class _Place(NamedTuple):
    level: int
    levels: dict[int, Level]
    numbering: Numbering


class _Item(NamedTuple):
    """An item of which no paragraph was read yet."""

    restart: int | None
    bare: bool


class Lists:
    """The lists around the paragraph that is being read, and the numbers that all have reached."""

    def __init__(self, styles: Styles) -> None:
        self._styles = styles
        self._numberings: dict[str, Numbering] = {}
        self._chapters = Numbering()
        self._last: str | None = None  # style of the list before
        self._place: _Place | None = None
        self._item: _Item | None = None
        self._spoken = False  # whether a paragraph was read since the last list began

    @property
    def inside(self) -> bool:
        """Whether a list is around."""
        return self._place is not None

    def is_new(self, element: etree._Element) -> bool:
        """Whether a list stands by itself and does not look like the one before it."""
        if self._place is not None:
            return False
        before, self._last = self._last, attribute(element, "style-name")
        return before != self._last

    @contextmanager
    def outside(self) -> Iterator[None]:
        """Text that no list is around, such as that of a cell or note."""
        around = self._place, self._item
        self._place, self._item = None, None
        try:
            yield
        finally:
            self._place, self._item = around

    @contextmanager
    def within(self, element: etree._Element) -> Iterator[None]:
        """The items of a ``text:list``."""
        around, waiting = self._place, self._item
        style = attribute(element, "style-name")
        if around is None:
            levels = self._styles.lists.get(style or "", {})
            self._place = _Place(1, levels, self._numbering(element, style or ""))
        else:
            level = around.level + 1
            levels = self._styles.lists.get(style, around.levels) if style else around.levels
            if attribute(element, "continue-numbering") != "true":
                around.numbering.reached.pop(level, None)
            self._place = _Place(level, levels, around.numbering)
        self._item = waiting
        self._spoken = False
        try:
            yield
        finally:
            # An item inside speaks for the one around it, which gets no number of its own.
            self._place, self._item = around, None if self._spoken else waiting

    def open_item(self, item: etree._Element) -> None:
        """An item or list header begins."""
        restart = attribute(item, "start-value") or ""
        start = int(restart) if restart.isascii() and restart.isdigit() else None
        self._item = _Item(start, local(item) == "list-header")

    @contextmanager
    def within_numbered(self, element: etree._Element) -> Iterator[None]:
        """A ``text:numbered-paragraph``, which is an item without a list around it."""
        around = self._place, self._item
        style = attribute(element, "style-name") or ""
        key = f"numbered {attribute(element, 'list-id') or style}"
        numbering = self._numberings.setdefault(key, Numbering())
        levels = self._styles.lists.get(style, {})
        self._place = _Place(number(element, "level"), levels, numbering)
        self._item = _Item(None, False)
        try:
            yield
        finally:
            self._place, self._item = around

    def label(self) -> Label:
        """What stands before the paragraph that is read now."""
        if self._place is None:
            return Label()
        level, levels, numbering = self._place
        item, self._item = self._item, None
        self._spoken = True
        if item is None:
            return Label(depth=level - 1)
        if item.bare:
            return Label("", level - 1, begins=True)
        start = levels[level].start if level in levels else 1
        numbering.advance(level, start, restart=item.restart)
        return Label(numbering.label(levels, level), level - 1, begins=True)

    def chapter(self, heading: etree._Element, level: int) -> str:
        """The number of the chapter that a heading begins; empty where it has none."""
        levels = self._styles.outline
        if level not in levels or attribute(heading, "is-list-header") == "true":
            return ""
        how = levels[level]
        restart = attribute(heading, "restart-numbering") == "true"
        start = number(heading, "start-value", how.start) if restart else None
        self._chapters.advance(level, how.start, restart=start)
        return self._chapters.label(levels, level) if how.form else ""

    def _numbering(self, element: etree._Element, style: str) -> Numbering:
        """The numbers that a list goes on from."""
        own = attribute(element, "id")
        goes_on = attribute(element, "continue-list")
        found = self._numberings.get(f"id {goes_on}") if goes_on else None
        if found is None and attribute(element, "continue-numbering") == "true":
            found = self._numberings.get(f"style {style}")
        found = found or Numbering()
        self._numberings[f"style {style}"] = found
        if own:
            self._numberings[f"id {own}"] = found
        return found
