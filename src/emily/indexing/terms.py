"""The analyser of the lexical arm, the same for documents and for queries.

A text becomes terms, each at the position of the token it comes from. The first character of a
term tells its kind:

    contr        a word: lower case, accents off, first five letters (all of a shorter one)
    2026         a number as it is written
    =perché      a word that has accents, whole and with them: the exact spelling ranks first
    #1234.56     the value of a number, however its thousands and decimals are marked
    @2025-06-26  a date, however it is written; also its month, @2025-06
    !tmx2004     an identifier (TM-X200/4) without its separators; its parts follow as terms

Five-letter prefixes bridge related languages and beat stemmers across them. Nothing here is a
syntax: every string is a text, and none raises. Standard library only.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from typing import Final, NamedTuple

from emily.indexing.figures import MONTHS, dates_in, iban_at, month_at, spaced_number_at, values_of
from emily.indexing.normalise import bound_marks
from emily.indexing.stopwords import stop_words

__all__ = [
    "DEFAULT_LANGUAGES",
    "UNSPACED",
    "Term",
    "analyse",
    "fold",
    "frequencies",
    "prefix",
    "words",
]

DEFAULT_LANGUAGES: Final = ("it", "en")
PREFIX: Final = 5
"""Letters of a word that are kept."""
LONGEST: Final = 64
"""A longer token (base64, a hash chain) is kept as its first 40 characters and a digest."""
MOST_PARTS: Final = 64
"""Parts of one token beyond these are not terms of their own."""


class Term(NamedTuple):
    """One term of a text.

    Attributes:
        term: what is compared, see the module.
        surface: the token it comes from, as written (NFKC).
        position: 0-based number of that token in the text; terms of one token share it.
    """

    term: str
    surface: str
    position: int


# Scripts that put no spaces between words: Thai, Lao, Myanmar, Khmer, kana, Han.
_THAI = "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff"
_KANA = "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3099\u309a"
_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
UNSPACED: Final = f"{_THAI}{_KANA}{_HAN}"
"""Characters of scripts without spaces, as the inside of a class of a regular expression."""
_RUN = re.compile(
    f"[{_HAN}]+|[\u3041-\u3096\u309d-\u309f\u3099\u309a]+|[\u30a1-\u30fa\u30fc-\u30ff\u3099\u309a]+"
    f"|[\u0e01-\u0e7f]+|[\u0e80-\u0eff]+|[\u1000-\u109f]+|[\u1780-\u17ff]+"
)
# Letters and digits, and the marks that stay inside words of Hebrew, Arabic and Indic scripts.
_ALNUM = (
    rf"(?:[^\W_{UNSPACED}]|[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    rf"\u0900-\u0903\u093a-\u094f\u0980-\u0983\u09bc-\u09cd\u0a3c-\u0a4d\u0abc-\u0acd"
    rf"\u0b3c-\u0b4d\u0bbe-\u0bcd\u0c3e-\u0c4d\u0cbc-\u0ccd\u0d3e-\u0d4d])"
)
_TOKEN = re.compile(
    rf"[{UNSPACED}]+"
    rf"|(?<![^\W_])[A-Za-z](?:\+\+|\#)(?![^\W_])"  # C#, C++
    rf"|{_ALNUM}++(?:(?:[-_/.@:+&'’·‐‑]|(?<=\d),(?=\d)){_ALNUM}++)*+"
)
# The same for a text of ASCII, where it takes a third of the time, and a sixth without C# and C++,
# because a search for a pattern that begins with a set of characters goes from one to the next.
_ASCII_TOKEN = re.compile(
    r"(?<![A-Za-z0-9])[A-Za-z](?:\+\+|\#)(?![A-Za-z0-9])"
    r"|[A-Za-z0-9]++(?:(?:[-_/.@:+&']|(?<=[0-9]),(?=[0-9]))[A-Za-z0-9]++)*+"
)
_PLAIN_TOKEN = re.compile(
    r"[A-Za-z0-9](?:[A-Za-z0-9]*+(?:(?:[-_/.@:+&']|(?<=[0-9]),(?=[0-9]))[A-Za-z0-9]++)*+)"
)
_LETTER_SHARP = re.compile(r"#(?<=[A-Za-z]#)")
_SEPARATOR = re.compile(r"[-_/.@:+&'’·,‐‑]")
_WORD = re.compile(rf"(?<!{_ALNUM}){_ALNUM}{{3,64}}+(?!{_ALNUM})")
_CAMEL = re.compile(r"[a-zß-ÿ][A-ZÀ-Þ]")
_HUMP = re.compile(r"[A-ZÀ-Þ]+(?=[A-ZÀ-Þ][a-zß-ÿ])|[A-ZÀ-Þ]?[a-zß-ÿ]+|[A-ZÀ-Þ]+|\d+|.")
_KIND_RUN = re.compile(r"\d+|\D+")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
# 1.234,56 alone or with a unit or currency before or after it (EUR1.234,56, 2,5kg).
_QUANTITY = re.compile(r"([^\W\d_]{0,4})(\d+(?:[.,'’]\d+)+)([^\W\d_]{0,4})")
_IBAN_START = re.compile(r"[A-Za-z]{2}\d{2}(?:[A-Za-z0-9]{4})?")
# Signs of ordinals go (NFKC would make letters of them), digits of other scripts become ASCII.
_ZEROS = "٠۰०০੦૦୦௦౦೦൦๐໐༠၀"
_UNIFIED: dict[int, str | None] = {
    **{ord(zero) + digit: str(digit) for zero in _ZEROS for digit in range(10)},
    **dict.fromkeys(map(ord, "ºª°")),
}
_MARKS = re.compile("[\u0300-\u036f]+")
_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th"}
)

# What an apostrophe leaves of an article, a preposition or a pronoun (Italian, French).
_ELIDED_LIST = """
l dell all dall nell sull coll un d c n s m t v j qu quell quest bell sant tutt mezz anch com
dov cos cent nient pover buon grand senz jusqu lorsqu puisqu gl altr nessun alcun
"""
_ELIDED = frozenset(_ELIDED_LIST.split())
_CLITICS = frozenset(["s", "t", "re", "ve", "ll", "d", "m"])


def fold(word: str) -> str:
    """Lower case without accents: ``PERCHÉ`` and ``perche`` are the same word."""
    return _folded(word) if len(word) <= LONGEST else _fold(word)


def _fold(word: str) -> str:
    low = word.casefold()
    if low.isascii():
        return low
    bare = _MARKS.sub("", unicodedata.normalize("NFD", low))
    return unicodedata.normalize("NFC", bare.translate(_LETTERS))


_folded = lru_cache(maxsize=65_536)(_fold)


def prefix(word: str) -> str:
    """The term of one word: its first five letters, folded."""
    return fold(word)[:PREFIX]


def words(text: str, languages: tuple[str, ...] = DEFAULT_LANGUAGES) -> list[str]:
    """The words of a text that can have neighbours in another language.

    Args:
        text: any string.
        languages: whose function words are left out.

    Returns:
        surface forms in order, lower case with their accents, of three letters and more;
        nothing with a digit, no function words.
    """
    stops = stop_words(languages)
    found = []
    for match in _WORD.finditer(_compose(text)):
        word = match[0]
        if word.isalpha() and fold(word) not in stops:
            found.append(unicodedata.normalize("NFC", word.lower()))
    return found


def analyse(text: str, languages: tuple[str, ...] = DEFAULT_LANGUAGES) -> list[Term]:
    """The terms of a text in order.

    Args:
        text: any string: a document, a chunk, a query; no character is special.
        languages: whose function words are dropped.

    Returns:
        terms; none for a text of function words alone. A date whose day and month could be
        exchanged gives both dates.
    """
    tokens = _tokens(text)
    found: list[Term] = []
    new = tuple.__new__
    for position, token in enumerate(tokens):
        # A token of megabytes is not one to remember.
        of = _remembered if len(token) <= 4 * LONGEST else _terms_of
        terms, special = of(token, languages)
        for term in terms:
            found.append(new(Term, (term, token, position)))
        if special:
            for term in _across(tokens, position):
                found.append(new(Term, (term, token, position)))
    return found


def frequencies(text: str, languages: tuple[str, ...] = DEFAULT_LANGUAGES) -> dict[str, int]:
    """How often each term of ``analyse`` stands in a text, in a fraction of its time.

    Args:
        text: any string.
        languages: whose function words are dropped.
    """
    known = _known(languages)
    # No token goes over a blank, so what stands between two is looked up as it is written.
    words = text.split()
    found: dict[str, int] = Counter(chain.from_iterable(map(known.__getitem__, words)))
    if not known.special.isdisjoint(words):
        tokens = _tokens(text)
        special = known.special
        for position in [at for at, token in enumerate(tokens) if token in special]:
            for term in _across(tokens, position):
                found[term] = found.get(term, 0) + 1
    return found


_MOST_KNOWN: Final = 200_000


class _Known(dict[str, tuple[str, ...]]):
    """The terms of what was met between two blanks: a plain look-up is several times as fast.

    Attributes:
        languages: whose function words are dropped.
        special: tokens that those around them may make more of, and what holds them.
    """

    __slots__ = ("languages", "special")

    def __init__(self, languages: tuple[str, ...]) -> None:
        super().__init__()
        self.languages = languages
        self.special: set[str] = set()

    def __missing__(self, word: str) -> tuple[str, ...]:
        found: list[str] = []
        for token in _tokens(word):
            of = _remembered if len(token) <= 4 * LONGEST else _terms_of
            terms, special = of(token, self.languages)
            found += terms
            if special:
                self.special |= {token, word}
        terms = tuple(found)
        if len(word) <= LONGEST:
            self[word] = terms
        return terms


_KNOWN: Final[dict[tuple[str, ...], _Known]] = {}


def _known(languages: tuple[str, ...]) -> _Known:
    """What is known in some languages; a new one where that is much, for another thread reads."""
    known = _KNOWN.get(languages)
    if known is None or len(known) > _MOST_KNOWN:
        known = _KNOWN[languages] = _Known(languages)
    return known


def _tokens(text: str) -> list[str]:
    if text.isascii():
        plain = "++" not in text and ("#" not in text or not _LETTER_SHARP.search(text))
        return (_PLAIN_TOKEN if plain else _ASCII_TOKEN).findall(text)
    return _TOKEN.findall(_compose(text))


def _compose(text: str) -> str:
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", bound_marks(text.translate(_UNIFIED)))


def _terms_of(token: str, languages: tuple[str, ...]) -> tuple[tuple[str, ...], bool]:
    """The terms of one token, and whether the tokens around it may make more of it."""
    stops = stop_words(languages)
    if token.isascii() and token.isalpha() and token[1:].islower():  # most are
        folded = token.lower()
        return () if folded in stops else (folded[:PREFIX],), folded in MONTHS
    if token.isascii() and token[0].isdigit():  # and of these
        if token.isdigit():
            return tuple(_digits(token)), len(token) <= 3
        if token.replace(",", "").isdigit() and (values := values_of(token)):
            return tuple(dict.fromkeys([token, *map(_number_term, values)])), False
    if _RUN.match(token):
        return tuple(_bigrams(token)), False
    folded = fold(token)
    if folded.isalpha():
        return tuple(_word_terms(token, folded, stops)), folded in MONTHS
    if folded.isdigit():
        return tuple(_digits(folded)), len(folded) <= 3
    if token[-1] in "#+":
        return ("!" + folded, folded[0]), False
    bare = _without_apostrophes(token, stops)
    if bare != token:
        return _terms_of(bare, languages) if bare else ((), False)
    return tuple(dict.fromkeys(_compound(token, folded, stops))), bool(
        _IBAN_START.fullmatch(token) or _ORDINAL.fullmatch(folded)
    )


_remembered = lru_cache(maxsize=131_072)(_terms_of)


def _word_terms(word: str, folded: str, stops: frozenset[str]) -> list[str]:
    """Terms of a word of letters only."""
    if folded in stops:
        return []
    terms = [folded[:PREFIX]]
    if _CAMEL.search(word):
        terms.append("!" + _bounded(folded))
        humps = [fold(hump) for hump in _HUMP.findall(word)]
        terms += [h[:PREFIX] for h in humps[:MOST_PARTS] if len(h) > 1 and h not in stops]
        terms = list(dict.fromkeys(terms))
    if not word.isascii():
        exact = unicodedata.normalize("NFC", word.casefold())
        if exact != folded:
            terms.append("=" + _bounded(exact))
    return terms


def _digits(digits: str) -> list[str]:
    """Terms of a number without any sign, of identifiers with leading zeros too."""
    terms = [_bounded(digits)]
    if len(digits) > 2 and digits[0] == "0" and digits.strip("0"):
        terms.append(_bounded(digits.lstrip("0")))
    return terms


def _without_apostrophes(token: str, stops: frozenset[str]) -> str:
    """``dell'acqua`` as ``acqua``, ``John's`` as ``John``; ``O'Brien`` and all else as they are."""
    if "'" not in token and "’" not in token:
        return "" if fold(token) in stops else token
    parts = token.replace("’", "'").split("'")
    while len(parts) > 1 and fold(parts[-1]) in _CLITICS:
        parts.pop()
    first = 0
    for part in parts[:-1]:
        if fold(part) not in _ELIDED and fold(part) not in stops:
            break
        first += 1
    if first == len(parts) - 1 and fold(parts[first]) in stops:
        return ""
    if first == 0 and len(parts) == token.count("'") + token.count("’") + 1:
        return token
    return "'".join(parts[first:])


def _compound(token: str, folded: str, stops: frozenset[str]) -> list[str]:
    """Terms of a token with separators, or of letters and digits together."""
    terms = [f"@{date}" for date in dates_in(folded)]
    parts = [part for part in _SEPARATOR.split(token) if part]
    if terms and len(parts) == 3:
        return [*terms, *(part for part in parts if len(part) == 4)]
    quantity = _QUANTITY.fullmatch(folded)
    values = values_of(quantity[2]) if quantity else []
    if quantity and values:
        terms += [quantity[2], *map(_number_term, values)]
        units = (quantity[1], quantity[3])
        if not any(units):
            return terms
        parts = [unit for unit in units if unit]
    joined = "".join(map(fold, _SEPARATOR.split(token)))
    ordinal = _ORDINAL.fullmatch(joined)
    if ordinal:
        return [*terms, ordinal[1]]
    terms.append("!" + _bounded(joined))
    if joined.isalpha() and "-" in token:
        terms.append(joined[:PREFIX])  # e-mail is found as email
    for part in parts[:MOST_PARTS]:
        terms.extend(_part(part, stops))
    return terms


def _part(part: str, stops: frozenset[str]) -> list[str]:
    """Terms of one part of a compound token."""
    folded = fold(part)
    if len(folded) < 2:
        return []
    if folded.isalpha():
        return _word_terms(part, folded, stops)
    if folded.isdigit():
        return _digits(folded)
    ordinal = _ORDINAL.fullmatch(folded)
    if ordinal:
        return [ordinal[1]]
    terms = ["!" + _bounded(folded)]
    runs = _KIND_RUN.findall(folded)
    if len(runs) <= 3:
        for run in runs:
            if len(run) > 1:
                terms += _digits(run) if run.isdigit() else [run[:PREFIX]] * (run not in stops)
    return terms


def _across(tokens: list[str], at: int) -> list[str]:
    """Terms of several tokens: a date with the month's name, an IBAN or a number with spaces."""
    token = tokens[at]
    if fold(token) in MONTHS:
        return [f"@{date}" for date in month_at(tokens, at, fold)]
    if token.isdigit():
        value = spaced_number_at(tokens, at)
        return [_number_term(value)] if value else []
    account = iban_at(tokens, at)
    return [f"!{account}"] if account else []


def _number_term(value: str) -> str:
    """A value with decimals has a mark; an integer is the same term as its digits alone."""
    return f"#{value}" if "." in value else value


def _bigrams(token: str) -> list[str]:
    """Two characters each of a text without spaces, never over a change of script."""
    terms: list[str] = []
    for run in _RUN.findall(token):
        terms += [run] if len(run) == 1 else [run[at : at + 2] for at in range(len(run) - 1)]
    return terms


def _bounded(term: str) -> str:
    """A term of at most 64 characters; a longer one ends in a digest of the whole."""
    if len(term) <= LONGEST:
        return term
    digest = blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{term[:40]}~{digest}"
