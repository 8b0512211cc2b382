"""What OpenDocument styles say that a reader must know: what is hidden, how lists are numbered."""

from __future__ import annotations

from dataclasses import dataclass, field

from lxml import etree

from emily.reading.numerals import roman
from emily.reading.office.ooxml import attribute, local
from emily.reading.opendocument.package import number

__all__ = ["Level", "Numbering", "Styles"]

_MOST_PARENTS = 20  # of a style, one above the other


@dataclass(frozen=True, slots=True)
class Level:
    """How one level of a list is labelled.

    Attributes:
        form: ``1``, ``a``, ``A``, ``i`` or ``I``; empty for no number; ``None`` for a bullet.
        before: what stands before the number.
        after: what stands behind it.
        start: the first number.
        shown: how many levels the label shows: 2 for ``1.1``.
    """

    form: str | None
    before: str = ""
    after: str = ""
    start: int = 1
    shown: int = 1


@dataclass(slots=True)
class Numbering:
    """The numbers that a list has reached, by level from 1."""

    reached: dict[int, int] = field(default_factory=dict)

    def advance(self, level: int, start: int, *, restart: int | None = None) -> None:
        """Go to the next item of a level; deeper levels begin anew."""
        if restart is not None:
            self.reached[level] = restart
        else:
            self.reached[level] = self.reached.get(level, start - 1) + 1
        for deeper in [key for key in self.reached if key > level]:
            del self.reached[deeper]

    def label(self, levels: dict[int, Level], level: int) -> str:
        """What stands before the item that was reached: ``-``, ``1.``, ``2.1``, ``b)``."""
        how = levels.get(level, Level(None))
        if how.form is None:
            return "-"
        if not how.form:
            return (how.before + how.after).strip()
        parts = []
        for upper in range(max(1, level - how.shown + 1), level + 1):
            form = levels.get(upper, how).form
            if form:
                parts.append(_written(self.reached.get(upper, 1), form))
        label = f"{how.before}{'.'.join(parts)}{how.after}".strip()
        return label + "." if label.isdigit() else label


def _written(value: int, form: str) -> str:
    """A number as a list writes it."""
    if form in {"a", "A"} and 0 < value < 1000:
        letters = ""
        while value:
            value, rest = divmod(value - 1, 26)
            letters = chr(97 + rest) + letters
        return letters.upper() if form == "A" else letters
    if form in {"i", "I"} and 0 < value < 4000:
        return roman(value) if form == "I" else roman(value).lower()
    return str(value)


class Styles:
    """The styles of a document.

    Attributes:
        lists: name of a list style to its levels.
        outline: levels by which headings are numbered.
    """

    def __init__(self, *roots: etree._Element | None) -> None:
        self.lists: dict[str, dict[int, Level]] = {}
        self.outline: dict[int, Level] = {}
        self._hidden: dict[tuple[str, str], bool] = {}
        self._parents: dict[tuple[str, str], str] = {}
        for root in roots:
            for group in () if root is None else root:
                if local(group) in {"styles", "automatic-styles"}:
                    self._take(group)

    def _take(self, group: etree._Element) -> None:
        for element in group:
            name = local(element)
            if name == "style":
                key = (attribute(element, "family") or "", attribute(element, "name") or "")
                self._parents[key] = attribute(element, "parent-style-name") or ""
                for child in element:
                    if local(child) in {"text-properties", "section-properties"}:
                        shown = child.get(_TEXT + "display") or ""
                        if shown:
                            self._hidden[key] = shown == "none"
            elif name == "list-style":
                self.lists[attribute(element, "name") or ""] = _levels(element)
            elif name == "outline-style":
                self.outline = _levels(element)

    def hidden(self, family: str, name: str | None) -> bool:
        """Whether text of a style is not shown."""
        for _ in range(_MOST_PARENTS):
            if not name:
                return False
            if (family, name) in self._hidden:
                return self._hidden[family, name]
            name = self._parents.get((family, name))
        return False

    def is_title(self, name: str | None) -> bool:
        """Whether a paragraph style is that of the document's title."""
        for _ in range(_MOST_PARENTS):
            if not name:
                return False
            if name == "Title":
                return True
            name = self._parents.get(("paragraph", name))
        return False


_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_BULLETS = frozenset({"list-level-style-bullet", "list-level-style-image"})


def _levels(style: etree._Element) -> dict[int, Level]:
    levels = {}
    for element in style:
        at = number(element, "level")
        if local(element) in _BULLETS:
            levels[at] = Level(None)
        else:
            levels[at] = Level(
                attribute(element, "num-format") or "",
                attribute(element, "num-prefix") or "",
                attribute(element, "num-suffix") or "",
                number(element, "start-value"),
                max(1, number(element, "display-levels")),
            )
    return levels
