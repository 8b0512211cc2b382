"""The dates that stand in a text or in the name of a file.

A date that cannot be read is absent. Which reading ``03/04/2025`` has:

- with dots the day comes first, in every language;
- in Italian, German, French, Spanish and every other language but English the day comes first;
- in English the month comes first, unless the same text proves otherwise: a date such as
  ``25/12/2024``, the same day written out, or euros, pounds, VAT or an IBAN without a dollar;
- where the language is not known the day comes first, unless other dates prove the month.

What is possible in one order only is read in that order everywhere.
"""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from emily.indexing.figures import MONTHS

__all__ = ["Found", "dates_in", "fold", "name_date"]

FIRST_YEAR: Final = 1900
"""The earliest year that is believed."""


_MONTHS: Final = {
    **MONTHS,
    **{
        name: number
        for number, names in enumerate(
            (
                "genn januari janner", "febbr februari febr fevr fev feber", "maart mrt mrz",
                "avr abr", "mei", "giu giugn", "lugl juil", "augustus", "setiembre", "", "", "",
            ),
            start=1,
        )
        for name in names.split()
    },
}  # fmt: skip
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_YEAR_FIRST = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)")
_HAN = re.compile(r"(\d{4})\s?[年년]\s?(\d{1,2})\s?[月월]\s?(\d{1,2})\s?[日일]")
_YEAR_LAST = re.compile(r"(\d{1,2})( ?)([-/.])\2(\d{1,2})\2\3\2(\d{4}|\d{2})(?!\d)")
_DAY_NAMED = re.compile(
    rf"(\d{{1,2}})(?:st|nd|rd|th|er|re|[°ºª.])?([ \t/.-]{{0,2}})(?:(?:of|di|de|del)[ \t]+)?"
    rf"({_MONTH})\b\.?,?(?:(?:[ \t]*\n)?[ \t]*|[/.-])(?:(?:of|di|de|del)[ \t]+)?"
    rf"(\d{{4}}|['’]\d{{2}}|\d{{2}})(?!\d)"
)
_NAMED_DAY = re.compile(
    rf"(?<![^\W_])({_MONTH})\.?[ \t]+(\d{{1,2}})(?:st|nd|rd|th)?(?:[ \t]?,[ \t]*|[ \t]+)"
    r"(\d{4})(?!\d)"
)
_AFTER_SHORT_YEAR = re.compile(r"[ \t]*(?:$|\n|\||[,;)\]]|  )")
_TIME = re.compile(r" {1,2}\d{1,2}[:.]\d\d(?!\d)")
_VERSION = re.compile(r"(?:\bv|\bver|\bversione?|\brev|\brelease|\brevisione?|\bbuild)\W{0,3}\Z")
_EUROPE = re.compile(r"[€£]|\b(?:EUR|GBP|VAT|IBAN|Ltd|plc|GmbH)\b")
_AMERICA = re.compile(r"\$|\b(?:USD|ZIP|EIN|SSN|LLC|Sales Tax|sales tax)\b")


@dataclass(frozen=True, slots=True)
class Found:
    """A date in a text.

    Attributes:
        date: the day.
        start: offset of its first character in the text.
        end: offset after its last.
        iso: whether it is written year first, which can be read in one way only.
        sure: whether no other order of its numbers makes a day.
    """

    date: dt.date
    start: int
    end: int
    iso: bool = False
    sure: bool = True


@dataclass(frozen=True, slots=True)
class _Numbers:
    """A date in numbers whose order is still to be decided."""

    first: int
    second: int
    year: int
    dotted: bool
    start: int
    end: int


def fold(text: str) -> str:
    """Lower case without accents; every character stays in its place."""
    if text.isascii():
        return text.lower()
    return "".join(map(_fold_sign, text))


def _fold_sign(sign: str) -> str:
    return sign.lower() if sign.isascii() else unicodedata.normalize("NFD", sign)[0].lower()[:1]


def dates_in(text: str, language: str | None, *, last_year: int | None = None) -> list[Found]:
    """Every day that a text names with day, month and year.

    Versions, telephone numbers, addresses of the network, account numbers and numbers of
    documents are none, impossible days and years outside of 1900 to ``last_year`` neither. Two
    digits of a year are the latest such year that is not after ``last_year``.

    Args:
        text: any text.
        language: ISO 639-1, or ``None`` where it is not known.
        last_year: the latest year that is believed; by default the one after this.

    Returns:
        in order; none overlaps another.
    """
    last = dt.date.today().year + 1 if last_year is None else last_year
    folded = fold(text)
    named = _named(folded, last)
    year_first = _year_first(folded, last)
    numbers = _year_last(folded, last)
    day_first = _day_first(text, language, numbers, named + year_first)
    found = year_first + named + [f for n in numbers if (f := _resolve(n, day_first)) is not None]
    found.sort(key=lambda one: (one.start, -one.end))
    kept: list[Found] = []
    for one in found:
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return kept


def _day(year: int, month: int, day: int, last: int) -> dt.date | None:
    if not FIRST_YEAR <= year <= last:
        return None
    try:
        return dt.date(year, month, day)
    except ValueError:
        return None


def _year(written: str, last: int) -> int:
    digits = written.lstrip("'’")
    if len(digits) == 4:
        return int(digits)
    year = last // 100 * 100 + int(digits)
    return year if year <= last else year - 100


def _stands_apart(text: str, start: int, end: int, separator: str) -> bool:
    """Whether a date in numbers is not a part of something longer."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if before[-1:].isalnum() or before[-1:] == "+" or after[:1].isalpha():
        return after[:1] == "t" and after[1:].isdigit() and not before[-1:].isalnum()
    if len(before) == 2 and before[1] == separator and before[0].isalnum():
        return False
    if before[-1:] in {",", "."} and before[:1].isdigit() and len(before) == 2:
        return False
    if len(after) == 2 and after[0] == separator and after[1].isalnum():
        return False
    return not (separator == "." and after[:1] == "," and after[1:].isdigit())


def _year_first(text: str, last: int) -> list[Found]:
    found = []
    for match in _YEAR_FIRST.finditer(text):
        tight = len(match[3]) == len(match[4]) == 2
        before, after = text[max(0, match.start() - 2) : match.start()], text[match.end() :][:2]
        joined = {"-", "."} if match[2] == "-" and tight else {"-", ".", "/"}
        if before[-1:].isalnum() or (before[-1:] in joined and before[:1].isalnum()):
            continue  # INV/2023/03/08, 978-2023-03-20; but 80101911/2025-06-26 is a date
        if after[:1].isalpha() and not (after[0] == "t" and after[1:].isdigit()):
            continue
        if match[2] == "." and (not tight or (after[:1] == "." and after[1:].isdigit())):
            continue  # a version
        if match[2] == "/" and after[:1] == "/" and after[1:].isalnum():
            continue
        if _VERSION.search(text[max(0, match.start() - 14) : match.start()]):
            continue
        day = _day(int(match[1]), int(match[3]), int(match[4]), last)
        if day is not None:
            found.append(Found(day, match.start(), match.end(), iso=True))
    for match in _HAN.finditer(text):
        day = _day(int(match[1]), int(match[2]), int(match[3]), last)
        if day is not None and not text[max(0, match.start() - 1) : match.start()].isdigit():
            found.append(Found(day, match.start(), match.end(), iso=True))
    return found


def _year_last(text: str, last: int) -> list[_Numbers]:
    found: list[_Numbers] = []
    at = 0
    while (match := _YEAR_LAST.search(text, at)) is not None:
        start, end = match.span()
        at = start + 1
        spaced, separator, year = match[2], match[3], match[5]
        if not _stands_apart(text, start, end, separator):
            continue
        if _VERSION.search(text[max(0, start - 14) : start]):
            continue
        if len(year) == 2:
            tight = len(match[1]) == len(match[4]) == 2
            follows = bool(found) and start - found[-1].end <= 3
            before = text[max(0, start - 2) : start]
            among_digits = before[:1].isdigit() and not before[-1:].isalnum() and not follows
            if spaced or (separator != "/" and not tight) or (among_digits and "\n" not in before):
                continue
            after = text[end : end + 2]
            if (
                after[:1] in {" ", "-", "."}
                and after[1:].isdigit()
                and separator == "-"
                and not _TIME.match(text, end)
            ):
                continue  # 06-12-10 44: a telephone
        found.append(
            _Numbers(int(match[1]), int(match[4]), _year(year, last), separator == ".", start, end)
        )
        if _day(found[-1].year, 1, 1, last) is None:
            found.pop()
            continue
        at = end
    return found


def _named(text: str, last: int) -> list[Found]:
    found = []
    for match in _DAY_NAMED.finditer(text):
        start, end = match.span()
        before = text[max(0, start - 2) : start]
        if before[-1:].isalnum() or (before[-1:] in set(".,/-") and before[:1].isdigit()):
            continue
        if text[end : end + 1].isalpha() or (len(match[4]) == 4 and _decimal(text, end)):
            continue
        if len(match[4]) == 2 and match[2] not in {"-", "/", "."}:
            if not _AFTER_SHORT_YEAR.match(text, end):
                continue  # 7 May 10 people
        elif len(match[4]) == 2 and text[end : end + 1] == ":":
            continue
        day = _day(_year(match[4], last), _MONTHS[match[3]], int(match[1]), last)
        if day is not None:
            found.append(Found(day, start, end))
    for match in _NAMED_DAY.finditer(text):
        day = _day(int(match[3]), _MONTHS[match[1]], int(match[2]), last)
        if day is not None and not text[match.end() : match.end() + 1].isalpha():
            found.append(Found(day, match.start(), match.end()))
    return found


def _decimal(text: str, end: int) -> bool:
    return text[end : end + 1] in {".", ","} and text[end + 1 : end + 2].isdigit()


def _day_first(
    text: str, language: str | None, numbers: list[_Numbers], known: list[Found]
) -> bool:
    """Whether an ambiguous date has the day before the month."""
    if language is not None and language != "en":
        return True
    sure = {one.date for one in known}
    votes = 0
    for one in numbers:
        if one.dotted or one.first == one.second:
            continue
        if one.first > 12 or one.second > 12:
            votes += 1 if one.first > 12 else -1
        elif sure:
            day, month = (one.year, one.second, one.first), (one.year, one.first, one.second)
            votes += (dt.date(*day) in sure) - (dt.date(*month) in sure)
    if votes or language is None:
        return votes >= 0
    return bool(_EUROPE.search(text)) and not _AMERICA.search(text)


def _resolve(numbers: _Numbers, day_first: bool) -> Found | None:
    first, second = numbers.first, numbers.second
    ambiguous = first != second and 1 <= first <= 12 and 1 <= second <= 12
    order = [(first, second), (second, first)]  # day and month
    if not (day_first or numbers.dotted):
        order.reverse()
    if numbers.dotted:
        order = order[:1]
    for day, month in order:
        try:
            date = dt.date(numbers.year, month, day)
        except ValueError:
            continue
        sure = not ambiguous or numbers.dotted
        return Found(date, numbers.start, numbers.end, sure=sure)
    return None


_NAME_YEAR_FIRST = re.compile(r"(?<!\d)((?:19|20)\d\d)([-_. ]?)([01]\d)\2([0-3]\d)(?!\d)")
_NAME_YEAR_LAST = re.compile(r"(?<!\d)(\d{1,2})([-_. ])(\d{1,2})\2((?:19|20)\d\d)(?!\d)")


def name_date(name: str, *, last_year: int | None = None) -> dt.date | None:
    """The date in a file's name: ``2024-03-15 bolletta.pdf``, ``IMG_20240315_101500.jpg``.

    Year first, else day first, else month first where that alone is possible; names of months
    too. Nothing for a month or a year alone.
    """
    last = dt.date.today().year + 1 if last_year is None else last_year
    for match in _NAME_YEAR_FIRST.finditer(name):
        day = _day(int(match[1]), int(match[3]), int(match[4]), last)
        if day is not None:
            return day
    for match in _NAME_YEAR_LAST.finditer(name):
        for numbers in ((match[3], match[1]), (match[1], match[3])):
            day = _day(int(match[4]), int(numbers[0]), int(numbers[1]), last)
            if day is not None:
                return day
    found = _named(fold(name.replace("_", " ")), last)
    return found[0].date if found else None
