"""What numbers, dates and account numbers mean, however they are written.

    1234.56      the value of 1.234,56 and 1,234.56 and 1 234,56
    2025-06-26   the day of 26/06/2025, 26.06.2025, 26 giugno 2025 and June 26, 2025

Where a way of writing is ambiguous every reading is given: 1.234 is a thousand or a unit and
some, 03/04/2025 is in March or in April. Tokens come in lower case. Standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

__all__ = ["MONTHS", "dates_in", "iban_at", "month_at", "spaced_number_at", "values_of"]

MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            "gennaio gen january jan januar janvier janv enero ene janeiro",
            "febbraio feb february februar fevrier febrero fevereiro",
            "marzo mar march marz mars marco",
            "aprile apr april avril abril",
            "maggio mag may mai mayo maio",
            "giugno giu june jun juni juin junio junho",
            "luglio lug july jul juli juillet julio julho",
            "agosto ago august aug aout",
            "settembre set sett september sep sept septembre septiembre setembro",
            "ottobre ott october oct oktober okt octobre octubre outubro",
            "novembre nov november noviembre novembro",
            "dicembre dic december dec dezember dez decembre diciembre dezembro",
        ),
        start=1,
    )
    for name in names.split()
}
"""Number of a month by its name or abbreviation: Italian, English, German, French, Spanish,
Portuguese; lower case, without accents."""

_LONGEST: Final = 32  # digits and signs; a longer run is no quantity
_SIGNS = re.compile(r"[.,'’]")
_ISO_DATE = re.compile(r"(?<!\d)(\d{4})([-./])(\d{1,2})\2(\d{1,2})(?!\d)")
_DATE = re.compile(r"(?<!\d)(\d{1,2})([-./])(\d{1,2})\2(\d{4}|\d{2})(?!\d)")
_NAMED_DATE = re.compile(r"(?<!\d)(\d{1,2})[-./]([^\W\d_]{3,10})[-./](\d{4}|\d{2})(?!\d)")
_ISO_MONTH = re.compile(r"(?<!\d)([12]\d{3})[-/](\d{2})(?![-/.]?\d)")
_MONTH = re.compile(r"(?<!\d)(?<!\d[-/.])(\d{1,2})[-/]([12]\d{3})(?!\d)")
_DAY = re.compile(r"([0-9]{1,2})(?:st|nd|rd|th|er)?")
_YEAR = re.compile(r"[12][0-9]{3}")
_GROUP = re.compile(r"([0-9]{3})(?:[.,]([0-9]{1,2}))?")
_OF = frozenset(["of", "di", "de", "del", "the"])
_CENTURY_TURNS: Final = 69  # 68 is 2068, 69 is 1969, as POSIX reads two digits of a year


def values_of(written: str) -> list[str]:
    """The values that digits with separators may have.

    Args:
        written: digits, with one of ``. , ' ’`` between groups of them.

    Returns:
        each as digits, a point and decimals without zeros at the end, or digits alone;
        none where the groups make no number, as in ``1.2.3``.
    """
    if len(written) > _LONGEST:
        return []
    groups = _SIGNS.split(written)
    signs = _SIGNS.findall(written)
    grouped = len(groups[0]) <= 3 and all(len(group) == 3 for group in groups[1:-1])
    values = []
    if signs and len(set(signs)) == 1 and grouped and len(groups[-1]) == 3 and groups[0] != "0":
        values.append(_value("".join(groups), ""))
    if len(signs) == 1 and signs[0] in ".,":
        values.append(_value(groups[0], groups[1]))
    if len(signs) > 1 and grouped and len(set(signs[:-1])) == 1 and signs[-1] not in signs[:-1]:
        values.append(_value("".join(groups[:-1]), groups[-1]))
    return list(dict.fromkeys(values))


def _value(whole: str, decimals: str) -> str:
    whole = whole.lstrip("0") or "0"
    decimals = decimals.rstrip("0")
    return f"{whole}.{decimals}" if decimals else whole


def dates_in(token: str) -> list[str]:
    """The dates that stand inside one token: ``80101911/26.06.2025``, ``26-giu-2025``, ``06/2025``.

    Args:
        token: any token in lower case.

    Returns:
        each day as ``yyyy-mm-dd``, followed by its month as ``yyyy-mm``; a month alone.
    """
    if len(token) < 6 or len(token) > 4 * _LONGEST or not any(sign in token for sign in "-./"):
        return []
    found: list[str] = []
    for match in _ISO_DATE.finditer(token):
        found += _day(int(match[1]), int(match[3]), int(match[4]))
    for match in _DATE.finditer(token):
        year = _full_year(match[4])
        found += _day(year, int(match[3]), int(match[1]))
        found += _day(year, int(match[1]), int(match[3]))
    for match in _NAMED_DATE.finditer(token):
        found += _day(_full_year(match[3]), MONTHS.get(match[2], 0), int(match[1]))
    for match in _ISO_MONTH.finditer(token):
        found += _month(int(match[1]), int(match[2]))
    for match in _MONTH.finditer(token):
        found += _month(int(match[2]), int(match[1]))
    return list(dict.fromkeys(found))


def _full_year(digits: str) -> int:
    year = int(digits)
    return year if len(digits) == 4 else year + (1900 if year >= _CENTURY_TURNS else 2000)


def _day(year: int, month: int, day: int) -> list[str]:
    """A day and its month; nothing where there is no such day."""
    if not (1000 <= year <= 2999 and 1 <= month <= 12 and 1 <= day <= 31):
        return []
    if (day > 30 and month in (4, 6, 9, 11)) or (day > 29 and month == 2):
        return []
    return [f"{year}-{month:02}-{day:02}", f"{year}-{month:02}"]


def _month(year: int, month: int) -> list[str]:
    return [f"{year}-{month:02}"] if 1 <= month <= 12 else []


def month_at(tokens: Sequence[str], at: int, fold: Callable[[str], str]) -> list[str]:
    """The date around the name of a month.

    ``26 giugno 2025``, ``26th of June 2025``, ``June 26, 2025`` give a day and its month,
    ``giugno 2025`` the month.

    Args:
        tokens: all tokens of the text, as written.
        at: index of the month's name.
        fold: gives a token in lower case without accents.
    """
    month = MONTHS[fold(tokens[at])]
    after = [fold(token) for token in tokens[at + 1 : at + 4]]
    before = [fold(token) for token in tokens[max(0, at - 2) : at]][::-1]
    if after and after[0] in _OF:
        after = after[1:]
    if before and before[0] in _OF:
        before = before[1:]
    if not after:
        return []
    if len(after) > 1 and (day := _DAY.fullmatch(after[0])) and _YEAR.fullmatch(after[1]):
        return _day(int(after[1]), month, int(day[1]))
    if not _YEAR.fullmatch(after[0]):
        return []
    day = _DAY.fullmatch(before[0]) if before else None
    found = _day(int(after[0]), month, int(day[1])) if day else []
    return found or [f"{after[0]}-{month:02}"]


def iban_at(tokens: Sequence[str], at: int) -> str | None:
    """An IBAN in groups with spaces between them, if its check digits are right.

    ISO 13616: country and check digits turned to the end, letters as 10 to 35, remainder 1 of 97.

    Args:
        tokens: all tokens of the text.
        at: index of the group with country and check digits.

    Returns:
        the account number in lower case without spaces, or ``None``.
    """
    whole = ""
    for token in tokens[at : at + 9]:
        if not (token.isascii() and token.isalnum() and len(token) <= 8):
            return None
        whole += token.lower()
        if len(whole) > 34:
            return None
        if len(whole) >= 15 and len(whole) > len(tokens[at]):
            turned = whole[4:] + whole[:4]
            if int("".join(str(int(sign, 36)) for sign in turned)) % 97 == 1:
                return whole
    return None


def spaced_number_at(tokens: Sequence[str], at: int) -> str | None:
    """The value of ``1 234 567,89``; needs decimals, since bare groups may be other numbers.

    Args:
        tokens: all tokens of the text.
        at: index of the first group, one to three digits.
    """
    whole = tokens[at]
    for token in tokens[at + 1 : at + 5]:
        match = _GROUP.fullmatch(token)
        if not match:
            return None
        whole += match[1]
        if match[2]:
            return _value(whole, match[2])
    return None
