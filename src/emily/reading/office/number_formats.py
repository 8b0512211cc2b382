"""Number formats of spreadsheets: a stored number as the text that stands for it."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from functools import lru_cache

__all__ = ["BUILT_IN", "shown_number"]

BUILT_IN = {
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00",
    12: "# ?/?", 13: "# ??/??", 14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy",
    18: "h:mm", 19: "h:mm:ss", 20: "h:mm", 21: "h:mm:ss", 22: "yyyy-mm-dd h:mm",
    27: "yyyy-mm-dd", 28: "yyyy-mm-dd", 29: "yyyy-mm-dd", 30: "yyyy-mm-dd", 31: "yyyy-mm-dd",
    32: "h:mm", 33: "h:mm:ss", 34: "yyyy-mm-dd", 35: "yyyy-mm-dd", 36: "yyyy-mm-dd",
    37: "#,##0", 38: "#,##0", 39: "#,##0.00", 40: "#,##0.00", 45: "mm:ss", 46: "[h]:mm:ss",
    47: "mm:ss", 48: "##0.0E+0", 50: "yyyy-mm-dd", 51: "yyyy-mm-dd", 52: "yyyy-mm-dd",
    53: "yyyy-mm-dd", 54: "yyyy-mm-dd", 55: "yyyy-mm-dd", 56: "yyyy-mm-dd", 57: "yyyy-mm-dd",
    58: "yyyy-mm-dd",
}  # fmt: skip
"""The formats that a workbook names by number alone (ECMA-376, 18.8.30). Those of money differ
with the language of the program that shows them, and are read as plain numbers."""

_PIECE = re.compile(
    r'"([^"]*)"|\\(.)|_.|\*.|\[\$([^\]-]*)[^\]]*\]|\[(h+|m+|s+)\]|\[[^\]]*\]|(AM/PM|A/P)|(General)|(.)',
    re.IGNORECASE | re.DOTALL,
)
_DATE_LETTERS = frozenset("yYdDeEgGbB")
_TIME_LETTERS = frozenset("hHsS")
_MONEY = re.compile(r"[€$£¥₽₹₺₩₪฿₴]|\b(?:EUR|USD|GBP|CHF|JPY|Fr\.?|kr\.?|zł|Kč|Ft|lei|R\$)\B|"
                    r"\b(?:EUR|USD|GBP|CHF|JPY)\b")  # fmt: skip
_MOST_MASKED = 1e15  # above, a number has no whole digits to put in places
_LAST_DAY = 2_958_465  # 9999-12-31


@dataclass(frozen=True, slots=True)
class _Section:
    """One part of a format: what stands before and behind the number, and how it is written."""

    before: str = ""
    body: str = ""
    behind: str = ""
    percent: bool = False
    mask: tuple[str, ...] = ()  # places of digits and text between them, where there is any
    date: bool = False
    time: bool = False
    elapsed: bool = False

    @property
    def decimals(self) -> int:
        return sum(sign in "0#?" for sign in re.split("[Ee]", self.body)[0].partition(".")[2])


@lru_cache(maxsize=4096)
def _sections(code: str) -> tuple[_Section, ...]:
    parts: list[list[tuple[str, str]]] = [[]]
    for match in _PIECE.finditer(code[:1000]):
        quoted, escaped, symbol, elapsed, noon, general, sign = match.groups()
        if sign == ";":
            parts.append([])
        elif quoted is not None or escaped is not None or symbol is not None:
            parts[-1].append(("text", quoted or escaped or symbol or ""))
        elif elapsed:
            parts[-1].append(("elapsed", elapsed))
        elif noon:
            parts[-1].append(("noon", noon))
        elif general:
            parts[-1].append(("body", "General"))
        elif sign is not None:
            parts[-1].append(("sign", sign))
    return tuple(_section(part) for part in parts)


def _section(pieces: list[tuple[str, str]]) -> _Section:
    letters = "".join(piece for kind, piece in pieces if kind == "sign")
    number = any(sign in "0#?" for sign in letters)
    elapsed = any(kind == "elapsed" for kind, _ in pieces)
    plain = re.sub("[Ee][+-]", "", letters)
    if not number or elapsed or set("yhd") & set(plain.lower()):
        day = bool(_DATE_LETTERS & set(plain))
        time = bool(_TIME_LETTERS & set(plain)) or any(kind == "noon" for kind, _ in pieces)
        month = "m" in plain.lower()
        if elapsed or day or time or month:
            return _Section(date=day or (month and not time and not elapsed), time=time or elapsed,
                            elapsed=elapsed)  # fmt: skip
    places = [at for at, (kind, piece) in enumerate(pieces) if _is_place(kind, piece)]
    if not places:
        return _Section(before="".join(piece for _, piece in pieces))
    first, last = places[0], places[-1] + 1
    inner = pieces[first:last]
    body = "".join(piece for _, piece in inner)
    mask: tuple[str, ...] = ()
    if not set(body) & set(".Ee/") and any(
        kind == "text" or piece not in "0#?,%" for kind, piece in inner
    ):
        mask = tuple("0" if _is_place(kind, piece) else piece for kind, piece in inner)
    return _Section(
        "".join(piece for _, piece in pieces[:first]),
        body,
        "".join(piece for _, piece in pieces[last:] if piece != ","),  # a comma divides by 1,000
        percent=any(kind == "sign" and piece == "%" for kind, piece in pieces),
        mask=mask,
    )


def _is_place(kind: str, piece: str) -> bool:
    """Whether a piece of a format stands for digits."""
    return (kind == "sign" and piece in "0#?") or kind == "body"


def shown_number(number: float, code: str, *, from_1904: bool = False) -> str:
    """A number as text.

    Dates and times come out as ISO 8601, percentages and money with their sign and rounded as
    the format says, but never to less than two decimals that are there. Other numbers keep all
    of their digits; none has separators of thousands, whose sign differs between languages.

    Args:
        number: as it is stored.
        code: the format (ECMA-376, 18.8.31); empty for none.
        from_1904: whether days are counted from 1904-01-01, not from 1900-01-01.
    """
    if not code:
        return _plain(number)
    if number != number or number in {float("inf"), float("-inf")}:
        return str(number)
    sections = _sections(code)
    chosen = sections[0]
    negative = number < 0
    if negative and len(sections) > 1:
        chosen = sections[1]
    elif number == 0 and len(sections) > 2:
        chosen = sections[2]
    if chosen.date or chosen.time:
        return _moment(number, chosen, from_1904) or _plain(number)
    return _written(number, chosen, signed=not (negative and len(sections) > 1))


def _plain(number: float) -> str:
    return format(number, ".15g")


def _rounded(number: float, decimals: int) -> str:
    """Rounded to the decimals of the format, or to two where it has less and they are there."""
    exact = f"{number:.{decimals}f}"
    finer = f"{number:.2f}"
    return finer if decimals < 2 and float(finer) != float(exact) else exact


def _written(number: float, section: _Section, *, signed: bool) -> str:
    before, behind = section.before, section.behind
    size = abs(number)
    if not section.body or (number == 0 and not set("0#") & set(section.body)):
        text = "" if section.body != "General" else "0"
        return (before + text + behind).strip() or _plain(number)
    if section.percent:
        text = _rounded(size * 100, section.decimals)
    elif "/" in section.body or section.body == "General":
        text = _plain(size)
    elif "E" in section.body.upper():
        text = _scientific(size)
    elif section.mask and size == int(size) and size < _MOST_MASKED:
        text = _masked(int(size), section.mask)
    elif _MONEY.search(before) or _MONEY.search(behind):
        text = _rounded(size, section.decimals)
    else:
        text = _plain(size)
        whole = section.body.partition(".")[0]
        zeros = whole.count("0")
        if zeros > 1 and "," not in whole and "e" not in text:
            left, point, right = text.partition(".")
            text = left.zfill(zeros) + point + right
    minus = "-" if number < 0 and signed and "-" not in before else ""
    return f"{minus}{before}{text}{behind}".strip()


def _masked(number: int, mask: tuple[str, ...]) -> str:
    """Digits in their places from the right, as for ``000-0000``; what is left over is first."""
    digits = list(str(number).zfill(mask.count("0")))
    pieces = [digits.pop() if place == "0" else place for place in reversed(mask)]
    return "".join(digits) + "".join(reversed(pieces))


def _scientific(size: float) -> str:
    mantissa, _, exponent = f"{size:.14E}".partition("E")
    return f"{mantissa.rstrip('0').rstrip('.')}E{exponent}"


def _moment(number: float, section: _Section, from_1904: bool) -> str | None:
    """A date, a time or both; ``None`` for a number that is none of them."""
    if section.elapsed:
        seconds = round(abs(number) * 86_400)
        minus = "-" if number < 0 else ""
        return f"{minus}{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    if not 0 <= number <= _LAST_DAY:
        return None
    days, seconds = divmod(round(number * 86_400), 86_400)
    clock = (dt.datetime.min + dt.timedelta(seconds=seconds)).time()
    if not section.date:
        return clock.isoformat()
    if from_1904:
        day = dt.date(1904, 1, 1) + dt.timedelta(days=min(days, _LAST_DAY - 1462))
    else:  # the 29th of February 1900, which never was, is day 60
        day = dt.date(1899, 12, 31 if days < 60 else 30) + dt.timedelta(days=days)
    if section.time:
        return f"{day.isoformat()} {clock.isoformat()}"
    return day.isoformat()
