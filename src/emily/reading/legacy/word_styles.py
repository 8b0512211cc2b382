"""Styles and lists of the binary Word format ([MS-DOC]): what is a heading, and which number a
paragraph has."""

from __future__ import annotations

from dataclasses import dataclass, field

from emily.reading.legacy.word_records import flag, properties, u16, u32
from emily.reading.numerals import letters, roman

__all__ = ["LEVEL", "LIST", "Lists", "Styles"]

LEVEL, LIST = 0x260A, 0x460B  # properties of a paragraph: its level in a list, and which list
_TITLE = 62
_PARAGRAPH_STYLE = 1
_BULLET = 23
_MOST_STYLES = 4095
_DEEPEST_STYLE = 20  # styles based on one another; Word allows 11
_LEVELS = 9


class Styles:
    """The style sheet: STSH (2.9.271), STD (2.9.260).

    Attributes:
        headings: level of the styles that are headings; of all files styles 1 to 9 are.
        lists: number of the list and the level in it of the styles that are items of one.
    """

    def __init__(self, sheet: bytes) -> None:
        self.headings: dict[int, int] = {style: style for style in range(1, 10)}
        self.lists: dict[int, tuple[int, int]] = {}
        based: dict[int, int] = {}
        base, at = u16(sheet, 4), 2 + u16(sheet, 0)
        for style in range(min(u16(sheet, 2), _MOST_STYLES)):
            size = u16(sheet, at)
            entry = sheet[at + 2 : at + 2 + size]
            at += 2 + size
            if base < 10 or len(entry) < base + 2:
                continue
            kind = u16(entry, 0) & 0xFFF
            if 1 <= kind <= 9 or kind == _TITLE:
                self.headings[style] = 1 if kind == _TITLE else kind
            if u16(entry, 2) & 0xF != _PARAGRAPH_STYLE:
                continue
            based[style] = u16(entry, 2) >> 4
            own = base + 2 + 2 * u16(entry, base) + 2  # behind the name
            found = dict(properties(entry[own + 4 : own + 2 + u16(entry, own)]))
            if LIST in found:
                self.lists[style] = u16(found[LIST], 0), flag(found, LEVEL)
        for style, parent in based.items():
            for _ in range(_DEEPEST_STYLE):
                if style not in self.lists and parent in self.lists:
                    self.lists[style] = self.lists[parent]
                if style not in self.headings and parent in self.headings:
                    self.headings[style] = self.headings[parent]
                if parent not in based:
                    break
                parent = based[parent]


@dataclass(slots=True)
class _Level:
    form: int
    start: int
    text: str


@dataclass(slots=True)
class _List:
    levels: list[_Level]
    counts: dict[int, int] = field(default_factory=dict)


class Lists:
    """The lists, and how far each has counted: PlfLst (2.9.202), LVLF (2.9.150), PlfLfo (2.9.201).

    Args:
        table: the table stream.
        place, size: where the definitions stand in it; their levels follow.
        overrides: the lists that paragraphs refer to.
    """

    def __init__(self, table: bytes, place: int, size: int, overrides: bytes) -> None:
        self._lists: dict[int, _List] = {}
        self._names: dict[int, int] = {}
        given, at = table[place : place + size], place + size
        for number in range(min(u16(given, 0), len(given) // 28)):
            entry = given[2 + 28 * number :][:28]
            levels = []
            for _ in range(1 if entry[26] & 1 else _LEVELS):
                head = table[at : at + 28]
                if len(head) < 28:
                    return
                at += 28 + head[24] + head[25]
                length = u16(table, at)
                text = table[at + 2 : at + 2 + 2 * length].decode("utf-16-le", "replace")
                at += 2 + 2 * length
                start = u32(head, 0)
                levels.append(_Level(head[4], start if start < 1 << 15 else 1, text))
            self._lists[u32(entry, 0)] = _List(levels)
        for number in range(min(u32(overrides, 0), (len(overrides) - 4) // 16)):
            self._names[number + 1] = u32(overrides, 4 + 16 * number)

    def label(self, number: int, level: int) -> str | None:
        """Count a paragraph.

        Returns:
            Its number as it is shown, ``-`` for a bullet, empty where the list shows none;
            ``None`` if there is no such list.
        """
        listed = self._lists.get(self._names.get(number, -1))
        if listed is None:
            return None
        shown = listed.levels[min(level, len(listed.levels) - 1)]
        if shown.form == _BULLET:
            return "-"
        for above in range(level):  # a level that was skipped counts as begun
            listed.counts.setdefault(above, self._start(listed, above))
        listed.counts[level] = listed.counts.get(level, self._start(listed, level) - 1) + 1
        for deeper in [at for at in listed.counts if at > level]:
            del listed.counts[deeper]
        pieces = [
            sign if ord(sign) >= _LEVELS else self._numbered(listed, ord(sign))
            for sign in shown.text
        ]
        return " ".join("".join(pieces).split())

    @staticmethod
    def _start(listed: _List, level: int) -> int:
        return listed.levels[min(level, len(listed.levels) - 1)].start

    def _numbered(self, listed: _List, level: int) -> str:
        count = listed.counts.get(level, self._start(listed, level))
        match listed.levels[min(level, len(listed.levels) - 1)].form:
            case 1 | 2 as form if 0 < count < 4000:
                return roman(count) if form == 1 else roman(count).lower()
            case 3 | 4 as form if count > 0:
                letter = letters(count)
                return letter.upper() if form == 3 else letter
            case 22:
                return f"{count:02d}"
            case 23 | 255:
                return ""
        return str(count)
