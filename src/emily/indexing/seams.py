"""Where a page may be cut: how good each gap between two words is, and seams inside of a word.

A gap is named by the word after it: gap ``k`` lies before word ``k``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Final

from emily.indexing.sentences import plain_sentences

__all__ = [
    "BLANK",
    "COMMA",
    "LINE",
    "SECTION",
    "SEMICOLON",
    "SENTENCE",
    "cut_word",
    "rank_gaps",
]

SECTION: Final = 6
"""Before a heading."""
BLANK: Final = 5
"""A blank line."""
LINE: Final = 4
"""The end of a line that is also the end of a sentence, an item or a row."""
SENTENCE: Final = 3
"""The end of a sentence inside of a line."""
SEMICOLON: Final = 2
"""After a semicolon or the border of a cell."""
COMMA: Final = 1
"""After a comma or a colon, or where a line only wraps. Any other gap ranks 0."""

_HEADING = re.compile(r"#{1,6}\s")
_FENCE = re.compile(r"`{3,}|~{3,}")
_LONGEST_TITLE: Final = 80


def rank_gaps(
    text: str, start: int, end: int, starts: Sequence[int], ends: Sequence[int]
) -> list[int]:
    """How good each gap between the words of a page is to cut at.

    The gap after a heading is none to cut at, whatever it looks like: a heading stays with what
    follows. ``#`` inside a code fence is no heading. A line alone between blank lines that reads
    as a title keeps half of that bond: the gap after it ranks as a line, not as a blank one.

    Args:
        text: the whole text.
        start: offset of the page's first character.
        end: offset after its last.
        starts: offset of each word of the page.
        ends: offset after each word.

    Returns:
        a rank per word, 0 (worst) to ``SECTION``; that of the first word means nothing.
    """
    stops = {start + stop for _, stop in plain_sentences(text[start:end])}
    ranks = [0] * len(starts)
    fence = ""
    heading = bool(starts) and _is_heading(text, starts[0])
    if starts and (opening := _FENCE.match(text, starts[0])):
        fence = opening[0]
    block, lines = 0, 1
    for k in range(1, len(starts)):
        before, after = ends[k - 1], starts[k]
        breaks = 0
        if after - before > 1 or text[before : before + 1] == "\n":
            breaks = text.count("\n", before, after)
        if not breaks:
            ranks[k] = SENTENCE if before in stops else _inside_line(text, before, after)
            continue
        rank = BLANK if breaks > 1 else LINE if before in stops else COMMA
        if heading:
            rank = 0
        elif rank == BLANK and lines == 1 and _reads_as_title(text[starts[block] : before]):
            rank = LINE
        opening = _FENCE.match(text, after)
        if opening and not fence:
            fence = opening[0]
        elif fence and text.startswith(fence, after):
            fence = ""
        heading = not fence and _is_heading(text, after)
        ranks[k] = SECTION if heading and rank else rank
        block, lines = (k, 1) if breaks > 1 else (block, lines + 1)
    return ranks


def _inside_line(text: str, before: int, after: int) -> int:
    """Rank of a gap inside of a line and of a sentence."""
    sign = text[before - 1]
    if sign in ";；|":
        return SEMICOLON
    return COMMA if sign in ",，、:：" or text[after : after + 1] == "|" else 0


def _is_heading(text: str, at: int) -> bool:
    return text[at] == "#" and _HEADING.match(text, at) is not None


def _reads_as_title(line: str) -> bool:
    return (
        len(line) <= _LONGEST_TITLE
        and line[-1] not in ".!?;:,|…。"
        and (line[0].isupper() or line[0].isdigit())
    )


def cut_word(
    text: str, start: int, end: int, count: Callable[[str], int], most: int
) -> list[tuple[int, int, int]]:
    """Cut a run of characters without white space into pieces of at most ``most`` tokens.

    Each piece is cut at the best seam near its end: the stop of a sentence in a script without
    spaces, a semicolon, a comma, any other sign, a change between letters and digits; else
    between two characters, but neither in a number nor before a combining mark, unless there is
    no other place.

    Args:
        text: the whole text.
        start: offset of the run.
        end: offset after it.
        count: tokens of a text.
        most: tokens of a piece; a single character may have more.

    Returns:
        start, end and tokens of each piece, in order, without gaps.
    """
    pieces: list[tuple[int, int, int]] = []
    reach = 3 * most  # characters; follows what the pieces so far have shown
    while start < end:
        stop = _seam_before(text, start, min(end, start + reach), end)
        size = count(text[start:stop])
        while size > most and stop - start > 1:
            reach = max(1, min(stop - start - 1, int((stop - start) * most / size * 0.95)))
            stop = _seam_before(text, start, start + reach, end)
            size = count(text[start:stop])
        pieces.append((start, stop, size))
        if size < 0.8 * most:
            growth = min(4.0, 0.9 * most / max(size, 1))
            reach = min(64 * most, max(reach + 1, int(reach * growth)))
        start = stop
    return pieces


_LOOK_BACK: Final = 400
_SEAMS = (
    re.compile(r"[。！？｡]+[」』”’）]*"),
    re.compile(r"[；;|]+"),
    re.compile(r"[，、：]+|[,:]+(?!\d)"),
    re.compile(r"(?<!\d)[^\w\s]+|[^\w\s]+(?!\d)"),
    re.compile(r"(?<=\d)(?=[^\W\d])|(?<=[^\W\d])(?=\d)"),
)


def _seam_before(text: str, start: int, stop: int, end: int) -> int:
    """Where to cut a run of characters: at ``stop`` or in the last third before it."""
    if stop >= end:
        return end
    low = max(stop - (stop - start) // 3, stop - _LOOK_BACK, start + 1)
    for seam in _SEAMS:
        last = 0
        for match in seam.finditer(text, low, stop):
            if _is_whole(text, match.end()):
                last = match.end()
        if last > start:
            return last
    for parts_number in (False, True):
        for at in range(stop, low - 1, -1):
            if _is_whole(text, at) and (parts_number or not _in_number(text, at)):
                return at
    return stop


def _in_number(text: str, at: int) -> bool:
    """Whether a cut before ``at`` would part the digits of a number."""
    before, after = text[at - 1], text[at]
    if before.isdigit():
        return after.isdigit() or (after in ".,'" and text[at + 1 : at + 2].isdigit())
    return before in ".,'" and after.isdigit() and text[at - 2 : at - 1].isdigit()


def _is_whole(text: str, at: int) -> bool:
    """Whether a cut before ``at`` leaves every sign with the marks that belong to it."""
    if at >= len(text):
        return True
    sign = text[at]
    return not (
        unicodedata.category(sign)[0] == "M"
        or sign in "\u200d\u200c"
        or text[at - 1] == "\u200d"
        or "\U0001f3fb" <= sign <= "\U0001f3ff"  # a skin tone
    )
