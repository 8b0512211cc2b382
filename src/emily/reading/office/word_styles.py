"""Styles and numbering of a Word document: what is a heading, and what number a paragraph has."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from lxml import etree

from emily.reading.numerals import letters, roman
from emily.reading.office.ooxml import attribute, local

__all__ = ["Numbering", "Styles", "child", "value"]

_HEADING = re.compile(
    r"(?:heading|header|überschrift|titre|titolo|título|ttulo|rubrik|kop|overskrift|nagłówek|"
    r"заголовок|nadpis|otsikko|başlık|标题|標題|見出し)\s*([1-9])"
)
"""Names of heading styles. Word itself stores ``heading 1`` in every language; other programs
store the name that they show."""

_TITLES = frozenset({"title", "titel", "titre", "titolo", "título", "標題", "标题", "表題"})
_MOST_LEVELS = 9
_DEEPEST_STYLE = 20  # styles based on one another; Word allows 11


def child(element: etree._Element | None, *names: str) -> etree._Element | None:
    """The first child of a name, and of that the first of the next name, and so on."""
    for name in names:
        if element is None:
            return None
        element = next((inner for inner in element if local(inner) == name), None)
    return element


def value(element: etree._Element | None, *names: str) -> str | None:
    """The value (``w:val``) of a child that is found as by ``child``."""
    found = child(element, *names)
    return None if found is None else attribute(found, "val")


def _number(text: str | None) -> int | None:
    try:
        return None if text is None else int(text)
    except ValueError:
        return None


@dataclass(slots=True)
class _Style:
    name: str
    based_on: str | None
    level: int | None  # of outline, 0 is the highest
    numbered: str | None
    list_level: int | None


class Styles:
    """The paragraph styles of a document, out of ``styles.xml``."""

    def __init__(self, root: etree._Element | None) -> None:
        self._styles: dict[str, _Style] = {}
        self._default: str | None = None
        for element in root if root is not None else ():
            if local(element) != "style" or attribute(element, "styleId") is None:
                continue
            identity = attribute(element, "styleId") or ""
            properties = child(element, "pPr")
            numbering = child(properties, "numPr")
            self._styles[identity] = _Style(
                (value(element, "name") or "").lower().strip(),
                value(element, "basedOn"),
                _number(value(properties, "outlineLvl")),
                value(numbering, "numId"),
                _number(value(numbering, "ilvl")),
            )
            kind, default = attribute(element, "type"), attribute(element, "default")
            if kind == "paragraph" and default in {"1", "true", "on"}:
                self._default = identity

    def _chain(self, identity: str | None) -> Iterable[_Style]:
        identity = identity or self._default
        for _ in range(_DEEPEST_STYLE):
            style = self._styles.get(identity or "")
            if style is None:
                return
            yield style
            identity = style.based_on

    def heading(self, properties: etree._Element | None) -> int:
        """Level of the heading that a paragraph with these properties is, from 1; 0 for none."""
        own = _number(value(properties, "outlineLvl"))
        if own is not None:
            return own + 1 if 0 <= own < _MOST_LEVELS else 0
        identity = value(properties, "pStyle")
        for style in self._chain(identity):
            if style.level is not None:
                return style.level + 1 if 0 <= style.level < _MOST_LEVELS else 0
            if match := _HEADING.fullmatch(style.name):
                return int(match[1])
            if style.name in _TITLES:
                return 1
        if identity is not None and identity not in self._styles:  # no style of that id is stored
            if match := _HEADING.fullmatch(identity.lower()):
                return int(match[1])
            return int(identity.lower() in _TITLES)
        return 0

    def numbering(self, properties: etree._Element | None) -> tuple[str, int | None, str] | None:
        """Id of a paragraph's list, the level where one is stated, and the id of its style."""
        identity = value(properties, "pStyle") or self._default or ""
        own = child(properties, "numPr")
        number, level = value(own, "numId"), _number(value(own, "ilvl"))
        if number is None:
            for style in self._chain(identity):
                if style.numbered is not None:
                    number = style.numbered
                    level = style.list_level if level is None else level
                    break
        if number in {None, "0"}:
            return None
        return str(number), level, identity

    def list_of(self, identity: str) -> str | None:
        """Id of the list that a style stands for."""
        return next((style.numbered for style in self._chain(identity) if style.numbered), None)


@dataclass(slots=True)
class _Level:
    form: str = "decimal"
    text: str = ""
    start: int = 1
    style: str | None = None
    legal: bool = False


@dataclass(slots=True)
class _List:
    """One definition of a list, whose counters all paragraphs that refer to it share."""

    levels: dict[int, _Level] = field(default_factory=dict)
    link: str | None = None
    counts: dict[int, int] = field(default_factory=dict)


class Numbering:
    """The lists of a document, out of ``numbering.xml``, and how far each has counted."""

    def __init__(self, root: etree._Element | None, styles: Styles) -> None:
        self._styles = styles
        self._lists: dict[str, _List] = {}
        self._numbers: dict[str, tuple[str, dict[int, int], dict[int, _Level]]] = {}
        self._begun: set[str] = set()
        for element in root if root is not None else ():
            if local(element) == "abstractNum":
                levels = (_level(inner) for inner in element if local(inner) == "lvl")
                self._lists[attribute(element, "abstractNumId") or ""] = _List(
                    dict(levels), value(element, "numStyleLink")
                )
            elif local(element) == "num":
                starts, levels_of = _overrides(element)
                self._numbers[attribute(element, "numId") or ""] = (
                    value(element, "abstractNumId") or "",
                    starts,
                    levels_of,
                )

    def label(self, properties: etree._Element | None) -> tuple[int, str] | None:
        """Count a paragraph.

        Returns:
            Its level in the list from 0, and its number as it is shown, ``-`` for a bullet; the
            number is empty where the list shows none. ``None`` for a paragraph outside of lists.
        """
        found = self._styles.numbering(properties)
        if found is None:
            return None
        number, level, style = found
        entry = self._numbers.get(number)
        if entry is None:
            return None
        abstract, starts, own = entry
        listed = self._resolve(abstract)
        levels = listed.levels | own
        if level is None:
            level = next((at for at, known in levels.items() if known.style == style), 0)
        level = max(0, min(level, _MOST_LEVELS - 1))
        if number not in self._begun:
            self._begun.add(number)
            for at in starts:
                listed.counts.pop(at, None)
        shown = levels.get(level)
        if shown is None:
            return level, "-"
        if shown.form == "bullet":
            return level, "-"
        start = starts.get(level, shown.start)
        for above in range(level):  # a level that was skipped counts as begun
            if above not in listed.counts:
                listed.counts[above] = levels.get(above, _Level()).start
        listed.counts[level] = listed.counts.get(level, start - 1) + 1
        for deeper in [at for at in listed.counts if at > level]:
            del listed.counts[deeper]
        return level, _label(shown, levels, listed.counts)

    def _resolve(self, abstract: str) -> _List:
        listed = self._lists.setdefault(abstract, _List())
        if listed.link and not listed.levels:
            number = self._styles.list_of(listed.link)
            target = self._numbers.get(number or "", ("", {}, {}))[0]
            if target in self._lists and target != abstract:
                return self._lists[target]
        return listed


def _level(element: etree._Element) -> tuple[int, _Level]:
    return _number(attribute(element, "ilvl")) or 0, _Level(
        _form(element),
        value(element, "lvlText") or "",
        _number(value(element, "start")) or 0 if child(element, "start") is not None else 1,
        value(element, "pStyle"),
        child(element, "isLgl") is not None,
    )


def _form(level: etree._Element) -> str:
    """The number format of a level; newer ones stand in an alternative that has a fallback."""
    for element in level.iter():
        if local(element) == "numFmt":
            return attribute(element, "val") or "decimal"
    return "decimal"


def _overrides(element: etree._Element) -> tuple[dict[int, int], dict[int, _Level]]:
    starts: dict[int, int] = {}
    levels: dict[int, _Level] = {}
    for override in element:
        if local(override) == "lvlOverride":
            at = _number(attribute(override, "ilvl")) or 0
            start = _number(value(override, "startOverride"))
            if start is not None:
                starts[at] = start
            level = child(override, "lvl")
            if level is not None:
                levels[at] = _level(level)[1]
    return starts, levels


def _label(shown: _Level, levels: dict[int, _Level], counts: dict[int, int]) -> str:
    def number(match: re.Match[str]) -> str:
        at = int(match[1]) - 1
        known = levels.get(at, _Level())
        form = "decimal" if shown.legal else known.form
        return _formatted(counts.get(at, known.start), form)

    return " ".join(re.sub(r"%([1-9])", number, shown.text).split())


def _formatted(count: int, form: str) -> str:
    match form:
        case "lowerLetter" | "upperLetter" if count > 0:
            letter = letters(count)
            return letter.upper() if form == "upperLetter" else letter
        case "lowerRoman" | "upperRoman" if 0 < count < 4000:
            return roman(count).lower() if form == "lowerRoman" else roman(count)
        case "decimalZero":
            return f"{count:02d}"
        case "none":
            return ""
        case "bullet":
            return ""
    return str(count)
