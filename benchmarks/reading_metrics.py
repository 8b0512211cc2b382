"""How much of a file's text a reader gave back: words, their order, and the cells of tables.

Every text goes through the same ``words``, the truth and what each tool says, so that no tool
gains or loses by the marks that it sets.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import lxml.html
from rapidfuzz.distance import Levenshtein

__all__ = ["Score", "Truth", "all_words", "cells", "difference", "mean", "plain", "score", "words"]

MOST_ORDERED = 20_000
"""Words of a file whose order is compared."""

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_PICTURE = re.compile(r"\[(?:picture, [a-z A-Z]+|/picture)\]")
_TARGET = re.compile(
    r"(!?\[(?:[^\[\]\\]|\\.|\[[^\[\]]*\])*\])\((?:<[^<>]*>|[^()\s]|\([^()]*\))*(?:\s+\"(?:[^\"\\]|\\.)*\")?\)"
)
_FOOTNOTE = re.compile(r"\[\^[^\]\s]+\]:?")
_AUTOLINK = re.compile(r"<((?:https?|ftp|mailto|file):[^<>\s]*|[^<>\s@]+@[^<>\s@]+)>")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<\?[^<>]*\?>|<![A-Za-z\[][^<>]*>")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_FRONT = re.compile(
    r"(?m)^(?:[ \t>#]+|[-*+•‣◦▪–·][ \t]+"
    r"|\(?(?:\d{1,2}(?:\.\d{1,3})*|[A-Za-z]|[ivxlcIVXLC]{1,6})[.)][ \t]+(?=\S))+"
)
_SIGN = "\ue000"  # set before a word that numbers a line or heading; in no file's text
_BOX = re.compile(r"\[[ xX]\](?!\()|[☐☑☒]")
_HEADING = re.compile(r"(?m)^[ \t]*#{1,6}[ \t]+(?:\d+(?:\.\d+)*[.)]?[ \t]+)?")
_PART = re.compile(r"[^\W_]+")
_FENCE = re.compile(r"(?m)^[ \t]*(?:```+|~~~+)[ \t]*\{?[\w.+# -]*\}?[ \t]*$")
_STRESS = re.compile(r"\*+|`+|~~")
_FORMULA = re.compile(
    r"```[ ]?math\n.*?```|\$\$.+?\$\$|\$`[^`]*`\$"
    r"|(?<![\w$])\$(?=\S)[^$\n]*[\\^_{=][^$\n]*(?<=\S)\$(?![\w$])",
    re.DOTALL,
)
_BROKEN = re.compile(r"(?<=[^\W\d_])[-\u2010\u00ad]\n[ \t]*(?=[^\W\d_])")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff\x00]")
_MIDNIGHT = re.compile(r"(\d{4}-\d\d-\d\d)[ T]00:00:00(?:\.0+)?\b")
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")
_WHOLE = re.compile(r"(?<![\d.,])(\d+)\.0+(?![\d.,])")
_HAN = "\u2e80-\u2fdf\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_HAN}]|{_SIGN}?[^\W_{_HAN}]+")
_RULE = re.compile(r"\|?[\s:|=+-]+\|?")
_BAR = re.compile(r"(?<!\\)\|")
_TABLE = re.compile(r"<table\b.*?</table\s*>", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Truth:
    """What a file says.

    Attributes:
        text: its words in order, plain or as Markdown.
        cells: texts of the cells of its tables; ``None`` where they are not known.
        beside: text that the file holds beside that: page headers, comments, names of sheets.
            It is not asked for, and not held against a tool that gives it.
        kind: where this was taken from, a name of ``reading_truth.SOURCES``.
        also: the same text in another right order, such as notes where they are referred to.
        whole: whether all of the file's text is in it; if not, only recall is measured.
    """

    text: str
    cells: tuple[str, ...] | None = None
    beside: tuple[str, ...] = ()
    kind: str = ""
    also: str | None = None
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Score:
    """What one tool made of one file, each from 0 to 1.

    Attributes:
        recall: share of the truth's words that the tool gave, as multisets.
        precision: share of the tool's words that the truth has; ``None`` where the truth is
            not the whole text.
        order: 1 less the Levenshtein distance of the two sequences of words, divided by the
            length of the longer one.
        cells: share of the truth's cells that stand in a cell of the tool's tables; ``None``
            where the truth has none.
    """

    recall: float
    precision: float | None = None
    order: float | None = None
    cells: float | None = None

    def figures(self) -> tuple[float | None, ...]:
        """The four, in the order of the tables."""
        return self.recall, self.precision, self.order, self.cells


def plain(text: str) -> str:
    """Text without the marks of Markdown and HTML, in Unicode's compatibility form (NFKC).

    What numbers a line or heading stays, each word of it with a sign before it.
    """
    text = text.replace(_SIGN, " ")
    text = _BROKEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    text = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text))
    text = _COMMENT.sub(" ", text)
    text = _FENCE.sub(" ", _FORMULA.sub(" ", _PICTURE.sub(" ", text)))
    text = _TARGET.sub(r"\1 ", _TARGET.sub(r"\1 ", text))  # a picture in a link
    text = _FOOTNOTE.sub(" ", text)
    text = _AUTOLINK.sub(r" \1 ", text)
    text = _TAG.sub(_gap, text)
    text = html.unescape(_ESCAPE.sub(r"\1", _HEADING.sub(_signed, text)))
    text = _BOX.sub(" ", text)
    text = _STRESS.sub("", _FRONT.sub(_signed, text))
    text = _MIDNIGHT.sub(r"\1", text)
    text = _THOUSANDS.sub(lambda found: found.group().replace(",", ""), text)
    return _WHOLE.sub(r"\1", text)


def words(text: str) -> list[str]:
    """The words of a text in order, case folded.

    A word is a run of letters and digits; every Han character and every kana is one by itself.
    Marks of Markdown, of HTML and of picture blocks, the targets of links, boxes to tick,
    formulas in TeX, and the number or bullet at the start of a line or heading are none. A word
    that a hyphen breaks at the end of a line is one. Numbers lose their thousands commas and an
    empty fraction, timestamps an hour of midnight.
    """
    return [word for word in _signed_words(text) if word[0] != _SIGN]


def all_words(text: str) -> list[str]:
    """As ``words``, with those that number a line or heading."""
    return [word.lstrip(_SIGN) for word in _signed_words(text)]


def _signed_words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(plain(text))]


def _signed(front: re.Match[str]) -> str:
    """The front of a line with a sign before each word."""
    return _PART.sub(rf"{_SIGN}\g<0>", front.group())


def _given(asked: Sequence[str], text: str) -> list[str]:
    """The words of a tool's text; one that numbers a line only where the truth asks for it."""
    signed = _signed_words(text)
    missing = Counter(asked) - Counter(word for word in signed if word[0] != _SIGN)
    kept = []
    for word in signed:
        if word[0] == _SIGN:
            word = word[1:]
            if not missing[word]:
                continue
            missing[word] -= 1
        kept.append(word)
    return kept


def _beside(truth: Truth) -> Counter[str]:
    """The words that may stand in a tool's text and need not."""
    numbers = Counter(all_words(truth.text)) - Counter(words(truth.text))
    return numbers + Counter(all_words("\n".join(truth.beside)))


def cells(text: str) -> Iterator[str]:
    """The cells of the Markdown and HTML tables in a text that are not empty, normalised."""
    for line in text.splitlines():
        row = line.strip().lstrip("> ")
        if row.startswith("|") and row.count("|") > 1 and not _RULE.fullmatch(row):
            for cell in _BAR.split(row)[1:-1] if row.endswith("|") else _BAR.split(row)[1:]:
                if shown := normal(cell):
                    yield shown
    for found in _TABLE.findall(text):
        for element in lxml.html.fragment_fromstring(found, create_parent=True).iter("td", "th"):
            if shown := normal(lxml.html.tostring(element, encoding="unicode", with_tail=False)):
                yield shown


def normal(cell: str) -> str:
    """A cell as it is compared: its words."""
    return " ".join(words(cell.strip()))


def score(truth: Truth, text: str | None, more: Iterable[str] = ()) -> Score:
    """Compare what a tool says with the truth.

    Args:
        truth: of the file; with at least one word.
        text: what the tool says; ``None`` where it failed, which counts as nothing.
        more: cells of tables that it marks otherwise than in Markdown or HTML.
    """
    asked = words(truth.text)
    given = _given(asked, text or "")
    wanted, found = Counter(asked), Counter(given)
    shared = (wanted & found).total()
    recall = shared / len(asked)
    if not truth.whole:
        return Score(recall)
    surplus = (found - wanted) & _beside(truth)
    counted = found.total() - surplus.total()
    precision = shared / counted if counted else 0.0
    order = _order(asked, given, surplus)
    if truth.also is not None:
        also = words(truth.also)
        order = max(order, _order(also, _given(also, text or ""), surplus))
    return Score(recall, precision, order, _cell_recall(truth, text or "", more))


def difference(truth: Truth, text: str) -> tuple[Counter[str], Counter[str]]:
    """Words of the truth that a text lacks, and words that it has beyond the truth."""
    asked = words(truth.text)
    wanted, found = Counter(asked), Counter(_given(asked, text))
    return wanted - found, found - wanted - _beside(truth)


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of those that are there; ``None`` where none is."""
    there = [value for value in values if value is not None]
    return sum(there) / len(there) if there else None


def _gap(tag: re.Match[str]) -> str:
    """Tags of inline elements part no words; all others do."""
    inline = r"</?(?:a|abbr|b|code|del|em|font|i|ins|mark|s|small|span|strong|sub|sup|u)\b"
    return "" if re.match(inline, tag.group(), re.IGNORECASE) else " "


def _order(asked: Sequence[str], given: Sequence[str], free: Counter[str]) -> float:
    """1 less the normalised distance, putting in words of ``free`` costing nothing."""
    left, right = asked[:MOST_ORDERED], given[:MOST_ORDERED]
    numbers: dict[str, int] = {}
    coded = [[numbers.setdefault(word, len(numbers)) for word in side] for side in (left, right)]
    freed = 0
    if free:
        edits = Levenshtein.editops(*coded)
        put_in = Counter(right[edit.dest_pos] for edit in edits if edit.tag == "insert")
        freed, distance = (put_in & free).total(), len(edits)
    else:
        distance = Levenshtein.distance(*coded)
    longest = max(len(left), len(right) - freed)
    return 1 - (distance - freed) / longest if longest else 1.0


def _cell_recall(truth: Truth, text: str, more: Iterable[str]) -> float | None:
    if truth.cells is None:
        return None
    wanted = Counter(shown for cell in truth.cells if (shown := normal(cell)))
    if not wanted:
        return None
    return (wanted & Counter([*cells(text), *map(normal, more)])).total() / wanted.total()
