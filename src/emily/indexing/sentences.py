"""Where sentences begin and end, in prose, lists, tables and OCR lines.

Two views of the same text: ``plain_sentences`` are what a reader would call sentences, the
seams a chunk may be cut at; ``sentence_spans`` are units to embed, with long ones divided and
crumbs joined to a neighbour.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["plain_sentences", "sentence_spans"]

Span = tuple[int, int]

LONGEST: Final = 60
"""Words above which a sentence is divided: tables and lists that never stop."""
IDEAL: Final = 45
"""Most words of a piece of a divided sentence, and of two units that are joined."""
SHORTEST: Final = 6
"""Fewest words of a piece of a divided sentence."""
CRUMB: Final = 3
"""A unit with fewer words than this is joined to a neighbour."""

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
_CLOSERS = "\"'”’»)\\]"
_STOP = re.compile(
    rf"(?<![.!?…])[.!?…]++[{_CLOSERS}]*+(?=\s|\Z)|(?<![。！？｡])[。！？｡]++[」』”’）]*+"
)
# Where a script has no spaces, two characters count as a word; 24 characters of anything else do.
_UNIT = re.compile(rf"[{_CJK}]{{1,2}}|[^\s{_CJK}]{{1,24}}")
_ITEM = re.compile(
    r"(?:[-*+•–—·▪◦‣●○■□☐☑✓]|\(?(?:\d{1,3}|[A-Za-z])[.)])\s|\[[ xX]\]\s|#{1,6}\s|\||>\s"
)
_HEADING = re.compile(r"#{1,6}\s")
_SPACE = re.compile(r"\s*")

# A full stop after one of these ends no sentence. Lower case, without the last stop.
_ABBREVIATIONS_LIST = """
abbr acc adr allegr apr arch art artt aut avv bibl bld blvd bros ca cap capp cav cfr cod col
comm cons corp cpv dec dep dept dic disp dott dr dra edd eg ep es esp etal fasc fatt feb ff fig
figg fl geom gg gen gi giu giur gov ggf ie ill inc ind ing inkl jan jr lett lic loc ltd lug mag
mer mgr min mod mons mr mrs msgr mus nov nro num obs occ op orig ott p pag pagg pp prec pref
pres prof proff prot prov pubbl racc rag rec ref resp rev rif rist sez seg sen sens sept sett
sgg sig sigg sigra sp spec spett sr sra st str succ suppl tab tav tel tit trad univ urg ved vol
voll vs zb bzw evtl abs av apt ave gebr hl bd
"""
_ABBREVIATIONS = frozenset(_ABBREVIATIONS_LIST.split())
_ONLY_BEFORE_DIGIT = frozenset(["n", "no", "nos", "nr", "v", "ver", "vers", "ch", "sec", "par"])
_MAY_END = frozenset(["ecc", "etc", "usw", "cet"])
_MONTH_LIST = """
januar februar märz april mai juni juli august september oktober november dezember
"""
_MONTHS = frozenset(_MONTH_LIST.split())


def plain_sentences(text: str) -> list[Span]:
    """The sentences of a text.

    A blank line ends a sentence; a line break does where the line is a heading, an item of a
    list, a row of a table or shorter than the lines around it, else it only wraps. A full stop
    inside a number, after an abbreviation or an initial, or before a small letter ends none.

    Args:
        text: any text whose line break is ``\\n``.

    Returns:
        spans in order, without white space at either side; together they hold every character
        that is not white space, and no two overlap.
    """
    spans: list[Span] = []
    for start, end in _segments(text):
        at = start
        for stop in _STOP.finditer(text, start, end):
            after = stop.end()
            if _ends(text, start, end, stop):
                spans.append((at, after))
                at = _skip(text, after, end)
        if at < end:
            spans.append((at, end))
    return spans


def sentence_spans(text: str) -> list[Span]:
    """The units of a text that are embedded one by one.

    Sentences of more than 60 words are divided at line breaks, semicolons and commas into pieces
    of 6 to 45 words; a unit of fewer than 3 words (a short heading, "Yes.") is joined to the next
    one, even over a blank line, else to the one before.

    Args:
        text: any text whose line break is ``\\n``.

    Returns:
        spans in order, without white space at either side; together they hold every character
        that is not white space, and no two overlap.
    """
    units: list[tuple[int, int, int]] = []
    crumb: tuple[int, int, int] | None = None
    for start, end, words in _divided(text, plain_sentences(text)):
        if crumb is not None:
            # The last line of an address belongs to it, a lone title to what follows.
            tail = (
                bool(units)
                and _is_blank(text, crumb[1], start)
                and not _is_blank(text, units[-1][1], crumb[0])
            )
            if crumb[2] + words <= IDEAL and not tail:
                start, words = crumb[0], words + crumb[2]
            else:
                _append(units, crumb)
            crumb = None
        if words < CRUMB:
            crumb = (start, end, words)
        else:
            units.append((start, end, words))
    if crumb is not None:
        _append(units, crumb)
    return [(start, end) for start, end, _ in units]


def _append(units: list[tuple[int, int, int]], crumb: tuple[int, int, int]) -> None:
    """Join a crumb to the last unit, or let it be one where there is none."""
    if units:
        start, _, words = units.pop()
        units.append((start, crumb[1], words + crumb[2]))
    else:
        units.append(crumb)


def _is_blank(text: str, start: int, end: int) -> bool:
    """Whether a blank line lies in the white space between two spans."""
    return text.count("\n", start, end) > 1


def _skip(text: str, at: int, end: int) -> int:
    match = _SPACE.match(text, at, end)
    return match.end() if match else at


def _segments(text: str) -> list[Span]:
    """Groups of lines in which a line break only wraps."""
    segments: list[Span] = []
    block: list[tuple[int, str]] = []
    at = 0
    for line in text.split("\n"):
        stripped = line.strip()
        if stripped:
            lead = len(line) - len(line.lstrip())
            block.append((at + lead, stripped))
        elif block:
            segments.extend(_lines(block))
            block = []
        at += len(line) + 1
    segments.extend(_lines(block))
    return segments


def _lines(block: list[tuple[int, str]]) -> list[Span]:
    """Divide lines that no blank line parts where a break is more than wrapping."""
    if not block:
        return []
    segments: list[Span] = []
    width = max(len(line) for _, line in block)
    start, line = block[0]
    end = start + len(line)
    for at, following in block[1:]:
        if _breaks(line, following, width):
            segments.append((start, end))
            start = at
        end = at + len(following)
        line = following
    segments.append((start, end))
    return segments


def _breaks(line: str, following: str, width: int) -> bool:
    """Whether the break between two lines of a block of this width ends a sentence."""
    if _ITEM.match(following) or _HEADING.match(line):
        return True
    if " | " in line or "\t" in line or line[0] == "|":
        return True
    continues = following[0].islower() and line[-1] not in ".:;!?"
    if width < 30:
        return True
    if width < 45:
        return not continues
    if width > 200:  # nobody wraps that wide: each line is a paragraph
        return len(line) > 120 or not continues
    return len(line) < 0.6 * width and not continues


def _ends(text: str, start: int, end: int, stop: re.Match[str]) -> bool:
    """Whether a stop inside the segment ``start``..``end`` ends a sentence."""
    sign = text[stop.start()]
    if sign in "。！？｡":
        return True
    after = _skip(text, stop.end(), end)
    if after >= end:
        return True
    following = text[after]
    if following.islower():
        return False
    if sign != "." or (stop.end() - stop.start() > 1 and text[stop.start() + 1] == "."):
        return True
    at = stop.start()
    before = text[max(start, at - 24) : at].split()
    if not before or text[at - 1].isspace():
        return True
    token = before[-1].lstrip("([{\"'“‘«")
    low = token.lower()
    if low in _ONLY_BEFORE_DIGIT:
        return not following.isdigit()
    if low in _ABBREVIATIONS:
        return False
    if low in _MAY_END:
        return following.isupper()
    if following.isdigit() and len(token) <= 4 and token.isalpha() and token.islower():
        return False  # conf. 50, mod. 730: few sentences begin with a digit
    if len(token) == 1 and token.isalpha():
        return not token.isupper()
    if "." in token and all(len(part) <= 3 and part.isalpha() for part in token.split(".")):
        return False
    if token.isdigit():
        first = at - len(token)
        if len(token) <= 3 and (first == start or text[first - 1] == "\n"):
            return False  # the number of a list item
        word = text[after : after + 10].split()
        return not (word and word[0].lower().rstrip(",.;") in _MONTHS)
    return True


def _divided(text: str, spans: list[Span]) -> list[tuple[int, int, int]]:
    """Spans with their number of words, long ones in pieces."""
    pieces: list[tuple[int, int, int]] = []
    for start, end in spans:
        words = len(_UNIT.findall(text, start, end))
        if words <= LONGEST:
            pieces.append((start, end, words))
        else:
            pieces.extend(_pieces(text, start, end))
    return pieces


def _pieces(text: str, start: int, end: int) -> list[tuple[int, int, int]]:
    """Divide one long span, each time at the last seam of the best kind within reach."""
    words = [match.span() for match in _UNIT.finditer(text, start, end)]
    seams = [_seam(text, words[at - 1][1], words[at][0]) for at in range(1, len(words))]
    pieces: list[tuple[int, int, int]] = []
    first = 0
    while len(words) - first > IDEAL:
        last = min(first + IDEAL, len(words) - SHORTEST)
        cut, best = last, -1
        for at in range(last, first + SHORTEST - 1, -1):
            seam = seams[at - 1]
            if seam > best:
                cut, best = at, seam
        pieces.append((words[first][0], words[cut - 1][1], cut - first))
        first = cut
    pieces.append((words[first][0], end, len(words) - first))
    return pieces


def _seam(text: str, before: int, after: int) -> int:
    """How good a place between two words is to divide at: 0 is inside a run of characters."""
    sign = text[before - 1]
    if before == after:
        return 2 if sign in "，、；：" else 0
    if "\n" in text[before:after]:
        return 5
    if sign in ";|；":
        return 4
    if sign in ",:，、：":
        return 3
    return 1
