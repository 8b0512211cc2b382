"""Lines of a PDF page become paragraphs, and words cut at a line's end are made whole."""

from __future__ import annotations

import re
import statistics
import unicodedata
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

__all__ = [
    "TextLine",
    "is_garbage",
    "is_item",
    "paragraphs",
    "rejoin",
    "right_to_left",
    "vocabulary",
    "without_ligatures",
]

_LIGATURES = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
)
_GLYPH_IDS = re.compile(r"\(cid:\d+\)|(?:/[A-Za-z]{0,3}\d{1,4}\b\s*){3,}")
_ODD = re.compile("[\ufffd\ue000-\uf8ff\x00-\x1f\x7f-\x9f]")
_LIGATURE = re.compile("[ﬀﬁﬂﬃﬄﬅﬆ]")
_DIGIT = re.compile(r"\d")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U0001efff]")
_ITEM = re.compile(r"(?:[•▪◦‣·●■□○►–—*\uf000-\uf0ff-]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])\s")
_LEADER = re.compile(r"(?:\. ?){5,}|…{2,}|_{6,}")
_BULLET = re.compile(r"[•▪◦‣●■○►\uf000-\uf0ff]\s+(?=\S)")
_SUSPENDED = frozenset({
    "und", "oder", "bzw", "and", "or", "e", "ed", "o", "od", "y", "u", "et", "ou", "en", "of",
    "och", "eller", "ni", "sowie", "bis",
})  # fmt: skip
_SPANS = re.compile(r" \w+-\w")  # "short- to medium-term"; alone, "to" ends many Italian words
_INNER = frozenset({
    "in", "of", "the", "to", "by", "up", "on", "at", "for", "and", "de", "du", "la", "le", "sur",
    "en",
})  # fmt: skip
_KEEPS_HYPHEN = frozenset({
    "self", "non", "anti", "co", "ex", "quasi", "all", "cross", "half", "well", "multi", "semi",
    "pseudo", "vice",
})  # fmt: skip
_CELL_GAP = 1.2  # times the height of a line; justified text seldom parts its words so far
_CUT = re.compile(r"(\w+)-\n(\w+)")


@dataclass(slots=True)
class TextLine:
    """A line of a page's text layer and where it stands, in points from the lower left corner.

    A line without a place (``height`` 0) is never joined to another. None is ever changed; it is
    not frozen since a page has hundreds, and a frozen one takes three times as long to make.
    """

    text: str
    left: float = 0.0
    right: float = 0.0
    base: float = 0.0
    height: float = 0.0
    gap: float = 0.0  # the widest between two words
    size: float = 0.0  # of its font, points; 0 where it is not known
    bold: bool = False
    row: int = 0  # number of the line that it is a stretch of

    @property
    def step(self) -> float:
        """Mean width of a character, points; large where a line has gaps, as table rows do."""
        return (self.right - self.left) / max(1, len(self.text))


def without_ligatures(text: str) -> str:
    """Typographic ligatures as the letters that they stand for."""
    return text.translate(_LIGATURES) if _LIGATURE.search(text) else text


def is_garbage(text: str) -> bool:
    """Whether a text layer is not what the page shows, so that OCR reads it better.

    It is when glyph ids, private-use or control characters or U+FFFD make up a share of it, or
    when most of its letters stand alone, on a line or between blanks.
    """
    words = text.split()
    solid = "".join(words)
    if not solid:
        return False
    if "(cid:" in text or text.count("/") > 2:
        ids = sum(len(found.replace(" ", "")) for found in _GLYPH_IDS.findall(text))
        if ids > 0.3 * len(solid):
            return True
    if len(_ODD.findall(solid)) > 0.15 * len(solid):
        return True
    if len(solid) > 4 * len(words):
        return False  # words of a usual length
    lines = [line for line in (line.strip() for line in text.splitlines()) if line]
    if sum(len(line) == 1 for line in lines) > max(8, 0.6 * len(solid)):
        return True
    single = sum(len(word) == 1 and word.isalpha() and ord(word) < 0x2E80 for word in words)
    return len(words) >= 20 and single > 0.6 * len(solid)


def paragraphs(
    lines: Sequence[TextLine],
    *,
    level: Callable[[Sequence[TextLine]], int] = lambda _: 0,
    known: Collection[str] | None = None,
) -> str:
    """The text of a page: a paragraph on one line, a blank line where the page leaves one.

    Lines are joined only inside a block of running text: set alike, one below the other, and
    broken where the next word did not fit. Lines of tables, lists, addresses and headings stay.

    Args:
        lines: in reading order.
        level: of the heading that a block of lines is, 1 to 6; 0 if it is none.
        known: words of the page (``vocabulary``) by which cut ones are judged; by default of
            ``lines``.
    """
    out: list[str] = []
    cut_short = False  # by a hyphen at the end of the block before, as at a column's end
    for block in _blocks(_whole_rows(lines)):
        goes_on = cut_short and block[0].text[:1].islower()
        cut_short = (
            len(block) > 1 and block[-1].text.endswith("-") and block[-1].text[-2:-1].isalpha()
        )
        depth = level(block)
        if depth:
            if out:
                out.append("")
            out.append(f"{'#' * depth} " + _joined([line.text for line in block]))
            continue
        if out and not goes_on:
            out.append("")
        right = max(line.right for line in block)
        joins = _is_running(block)
        for at, line in enumerate(block):
            before = block[at - 1] if at else None
            if before is None:
                if goes_on:
                    out[-1] += "\n" + line.text
                else:
                    out.append(_bulleted(line.text))
            elif joins and _wraps(before, line, right):
                cut = before.text.endswith("-") and out[-1].endswith("-")
                out[-1] += ("\n" if cut else " ") + line.text
            else:
                out.append(_bulleted(line.text))
        cut_short = cut_short and joins
    return rejoin("\n".join(out), known)


def _bulleted(text: str) -> str:
    """A line whose bullet is that of Markdown."""
    found = _BULLET.match(text)
    return f"- {text[found.end() :]}" if found else text


def _joined(texts: Sequence[str]) -> str:
    """Lines as one; a word that was cut is left for ``rejoin``."""
    whole = texts[0]
    for text in texts[1:]:
        whole += ("\n" if whole.endswith("-") else " ") + text
    return whole


def is_item(text: str) -> bool:
    """Whether a line begins as the item of a list does."""
    return _ITEM.match(text) is not None


def right_to_left(text: str) -> bool:
    """Whether most letters of a text are of a script that is written from right to left."""
    if _RIGHT_TO_LEFT.search(text, 0, 600) is None:
        return False
    kinds = [unicodedata.bidirectional(char) for char in text[:600]]
    return sum(kind in {"R", "AL"} for kind in kinds) > sum(kind == "L" for kind in kinds)


def vocabulary(text: str) -> set[str]:
    """The words of a text and its compounds, in lower case, those cut at a line's end left out."""
    words = re.findall(r"\w+(?:-\w+)*", _CUT.sub(" ", text))
    return {word.lower() for word in words}


def rejoin(text: str, known: Collection[str] | None = None) -> str:
    """Words cut by a hyphen at the line's end made whole, where that is sure.

    The hyphen of a compound stays (``n-octanal``, ``self-test``, ``mother-in-law``), as does that
    of a suspended one (``Vor- und Nachteile``), which is followed by a space.

    Args:
        text: with a line break after the hyphen.
        known: words by which cut ones are judged; by default those of the text.
    """
    if "-\n" not in text:
        return text
    lowered = vocabulary(text) if known is None else known

    def whole(match: re.Match[str]) -> str:
        first, second = match[1], match[2]
        kept, joined = f"{first}-{second}", f"{first}{second}"
        spans = second == "to" and _SPANS.match(text, match.end()) is not None
        if (second.lower() in _SUSPENDED or spans) and joined.lower() not in lowered:
            return f"{first}- {second}"
        if kept.lower() in lowered:
            return kept
        if joined.lower() in lowered:
            return joined
        if first.lower() in _INNER and text[match.start() - 1 : match.start()] == "-":
            return kept
        if len(first) < 2 or first.lower() in _KEEPS_HYPHEN or not second[0].islower():
            return kept
        if not first.isalpha() or not second.isalpha():
            return kept
        if (
            first.lower() in lowered
            and second.lower() in lowered
            and min(len(first), len(second)) > 3
        ):
            return kept
        return joined

    return _CUT.sub(whole, text)


def _blocks(lines: Sequence[TextLine]) -> list[list[TextLine]]:
    """Runs of lines that stand one below the other at an even distance, in one size."""
    blocks: list[list[TextLine]] = []
    leading = 0.0
    for line in lines:
        if not line.text:
            continue
        block = blocks[-1] if blocks else None
        if block is not None and _follows(block[-1], line, leading):
            if len(block) == 1:
                leading = block[-1].base - line.base
            block.append(line)
        else:
            blocks.append([line])
            leading = 0.0
    return blocks


def _follows(above: TextLine, line: TextLine, leading: float) -> bool:
    if not above.height or not line.height:
        return not above.height and not line.height
    height, less = above.height, line.height
    if less > height:
        height, less = less, height
    drop = above.base - line.base
    if abs(drop) < 0.5 * height:
        return True  # a piece of the same row
    if drop < 0 or drop > 1.8 * height or (leading > 0.5 * height and drop > 1.3 * leading):
        return False
    if less < 0.8 * height or (above.bold and not line.bold):
        return False
    return line.left < above.right + height and line.right > above.left - height


def _is_running(block: Sequence[TextLine]) -> bool:
    """Running text: long lines of letters, set without gaps."""
    if len(block) < 2 or any(not line.height for line in block):
        return False
    if statistics.median([len(line.text) for line in block]) < 25:
        return False
    if sum([line.gap > _CELL_GAP * line.height for line in block]) > 0.3 * len(block):
        return False  # rows of a table
    steps = [line.step for line in block]
    usual = statistics.median(steps)
    gapped = sum([step > 1.35 * usual for step in steps])
    text = "".join(line.text for line in block)
    digits = len(_DIGIT.findall(text))
    return gapped <= 0.2 * len(block) and digits < 0.2 * len(text) and usual < block[0].height


def _whole_rows(lines: Sequence[TextLine]) -> list[TextLine]:
    """Lines with the pieces of a row, as the cells of a table may come, made into one."""
    rows: list[TextLine] = []
    for line in lines:
        before = rows[-1] if rows else None
        if before is None or not line.text or not _continues(before, line):
            rows.append(line)
            continue
        rows[-1] = TextLine(
            f"{before.text} {line.text}",
            before.left,
            max(before.right, line.right),
            before.base,
            max(before.height, line.height),
            max(before.gap, line.gap, line.left - before.right),
            size=before.size,
            bold=before.bold and line.bold,
            row=before.row,
        )
    return rows


def _continues(before: TextLine, line: TextLine) -> bool:
    """Whether a piece stands to the right of the one before, in the same row."""
    height = before.height if before.height > line.height else line.height
    if not height or abs(before.base - line.base) > 0.4 * height:
        return False
    return line.left >= before.right - 0.5 * height


def _wraps(above: TextLine, line: TextLine, right: float) -> bool:
    """Whether a line goes on where the one above ended for want of room."""
    if abs(above.base - line.base) < 0.5 * line.height:
        return False
    if max(above.gap, line.gap) > 2 * _CELL_GAP * line.height:
        return False
    if _ITEM.match(line.text) or _LEADER.search(above.text):
        return False
    if line.left > above.left + 0.8 * line.height and not _ITEM.match(above.text):
        return False  # the indent of a new paragraph
    word = line.text.split(maxsplit=1)[0]
    return above.right + len(word) * line.step > right - 0.5 * line.height
