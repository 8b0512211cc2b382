"""Text in one form: the same letters always as the same code points, and no invisible ones.

Everything that cites lines or marks tables by line depends on one promise: a line break is
never added or removed here.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

__all__ = ["bound_marks", "fingerprint_text", "normalise"]

_REMOVED = [
    *(code for code in range(0x20) if chr(code) not in "\t\n\r\v\f"),
    *range(0x7F, 0x85),
    *range(0x86, 0xA0),
    0x00AD,  # soft hyphen
    0x034F,  # combining grapheme joiner
    0x061C,  # Arabic letter mark
    0x180E,  # Mongolian vowel separator
    0x200B,  # zero-width space
    0x200E,  # left-to-right mark
    0x200F,  # right-to-left mark
    *range(0x202A, 0x202F),  # bidirectional embeddings
    *range(0x2060, 0x2070),  # word joiner, isolates, deprecated controls
    0xFEFF,  # byte order mark
    *range(0xFFF9, 0xFFFC),  # interlinear annotation marks
    *range(0xE0001, 0xE0002),  # language tag
]
_SPACES = "\r\v\f\x85\u00a0\u1680\u202f\u205f\u2028\u2029\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
_TABLE: dict[int, str | None] = {
    **dict.fromkeys(_REMOVED),
    **{ord(space): " " for space in _SPACES},
    **{ord(sign): letters for sign, letters in _LIGATURES.items()},
    **dict.fromkeys(range(0xD800, 0xE000), "\ufffd"),  # half of a pair cannot be stored
}
_SPECIAL = re.compile(
    "["
    + "".join(f"\\U{code:08x}" for code in sorted(_TABLE) if not 0xD800 <= code < 0xE000)
    + "\ud800-\udfff]"
)

# Joiners carry meaning between letters of the scripts that shape them (Arabic, the Indic family)
# and between emoji; anywhere else they only hide a word from a search. The letter before one may
# bear a nukta and a virama. No other mark may stand beside it: canonical order could move that
# mark once a joiner is gone, and the next pass would see other neighbours.
_SHAPING = (range(0x0600, 0x1100), range(0x1700, 0x1D00))
_EMOJI = "\u2190-\u21ff\u2600-\u27bf\u2b00-\u2bff\ufe0f\U0001f000-\U0001faff"


def _shaping(combining: int) -> str:
    """Characters of the shaping scripts of one canonical combining class."""
    return "".join(
        chr(code)
        for codes in _SHAPING
        for code in codes
        if unicodedata.combining(chr(code)) == combining and chr(code).isprintable()
    )


@cache
def _idle_joiner() -> re.Pattern[str]:
    """Joiners without a task; compiled when the first one is met, for few texts hold any."""
    base = f"[{_EMOJI}{_shaping(0)}]"
    nukta = f"[{_shaping(7)}]"
    virama = f"[{_shaping(9)}]"
    return re.compile(
        f"(?<!{base})(?<!{base}{virama})(?<!{base}{nukta}{virama})[\u200c\u200d]"
        f"|[\u200c\u200d](?!{base})"
    )


_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u064b-\u065f"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
)
_MARK_RUN = re.compile(f"([{_MARKS}]{{30}})[{_MARKS}]+")

_QUOTES = {
    **dict.fromkeys(map(ord, "“”„‟«»❝❞〝〞＂"), '"'),
    **dict.fromkeys(map(ord, "‘’‚‛‹›ʼ′＇"), "'"),
    **dict.fromkeys(map(ord, "‐‑‒–—―−﹣－"), "-"),
    ord("…"): "...",
}
_HYPHENATED = re.compile(r"(?<=[^\W\d_])-[ \t]*\n\s*(?=[^\W\d_])")
_SPACE_RUN = re.compile(r"\s+")


def bound_marks(text: str) -> str:
    """Keep at most 30 combining marks in a row, as Unicode's stream-safe format does (UAX 15).

    No language needs more, and putting a longer run in canonical order takes time that grows
    with the square of its length.
    """
    return text if text.isascii() else _MARK_RUN.sub(r"\1", text)


def normalise(text: str) -> str:
    r"""One form for text from any source.

    NFC; control, zero-width and soft-hyphen characters out (``\n`` and ``\t`` stay); Latin
    ligatures as letters; every Unicode space, ``\r``, ``\v``, ``\f`` and the Unicode line and
    paragraph separators as a space; spaces at line ends out; unpaired surrogates as U+FFFD.

    Args:
        text: any string whose only line break is ``\n``.

    Returns:
        text with the same number of ``\n``; ``normalise`` leaves it as it is.
    """
    if _SPECIAL.search(text):
        text = text.translate(_TABLE)
    if not text.isascii():
        text = unicodedata.normalize("NFC", bound_marks(text))
        if "\u200d" in text or "\u200c" in text:
            text = unicodedata.normalize("NFC", bound_marks(_idle_joiner().sub("", text)))
    if " \n" in text or "\t\n" in text or text.endswith((" ", "\t")):
        text = "\n".join(line.rstrip(" \t") for line in text.split("\n"))
    return text


def fingerprint_text(text: str) -> str:
    """What two exports of the same text have in common.

    Runs of white space (page and line breaks too) become one space, a word hyphenated at a line
    end is joined, typographic quotes, dashes and ellipses become ASCII. Letters keep their case
    and accents, and digits and signs stay: two invoices alike but for one number differ.

    Args:
        text: any string; it is normalised first.

    Returns:
        the text to hash; two documents with equal ones are the same text.
    """
    text = normalise(text).translate(_QUOTES)
    text = _HYPHENATED.sub("", text)
    return _SPACE_RUN.sub(" ", text).strip()
