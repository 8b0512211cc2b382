"""What a question may ask beside its words: phrases in quotation marks, and words to leave out.

Nothing else is a syntax, and no string can fail: a quotation mark that is not closed, one after
a number (inches), a minus inside a word or before a number are characters like others.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from emily.indexing.stopwords import stop_words
from emily.indexing.terms import LONGEST, UNSPACED, analyse, fold, prefix

__all__ = ["Operators", "Phrase", "folded_words", "read_operators"]

# A mark opens where a word could begin and closes where one could end.
_QUOTED = re.compile(
    r"""(?<![^\s(\[{,;:]) (?P<minus>-?)
        (?: "(?P<a>[^"]+)" | “(?P<b>[^“”]+)” | „(?P<c>[^„“”]+)[“”] | «(?P<d>[^«»]+)» )
        (?![^\W_])""",
    re.VERBOSE,
)
# Of three letters and more: -l and -xz are options of programs that somebody asks about.
_LEFT_OUT = re.compile(
    r"(?<!\S)-(?P<word>[^\W\d_]{3}(?:[\w.@/:+&'’·‐-]*[^\W_])?)(?=[.,;:!?)\]}]*(?:\s|$))"
)
_TOKEN = re.compile(r"[^\W_]+")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)")
_LEAST_DIGITS = 4  # of a number that is surely a term of its own


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words that must stand in a chunk in this order, whatever signs stand between them.

    Attributes:
        text: as it was written.
        needle: its words, folded, as ``held_by`` compares them.
        pattern: finds ``needle`` where no word goes on at either end.
    """

    text: str
    needle: str
    pattern: re.Pattern[str]

    def held_by(self, folded: str) -> bool:
        """Whether a text that was folded by ``folded_words`` holds the phrase."""
        return self.needle in folded and self.pattern.search(folded) is not None

    def terms(self, languages: tuple[str, ...]) -> list[str]:
        """Terms of the lexical arm that every chunk with the phrase has; maybe none."""
        stops = stop_words(languages)
        found: list[str] = []
        for word in self.needle.split():
            if re.search(f"[{UNSPACED}]", word):
                run = re.sub(f"[^{UNSPACED}]", "", word)
                found += [term.term for term in analyse(run, languages)] if run == word else []
            elif word.isalpha():
                found += [prefix(word)] if len(word) > 2 and word not in stops else []
            elif word.isdigit():
                found += [word] if len(word) >= _LEAST_DIGITS else []
            elif len(word) <= LONGEST and not _ORDINAL.fullmatch(word):
                found.append("!" + word)
        return list(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class Operators:
    """What a question asks beside its words.

    Attributes:
        text: the question without signs of operators and without what is to be left out.
        phrases: that a chunk must hold.
        left_out: that a chunk must not hold.
    """

    text: str
    phrases: tuple[Phrase, ...] = ()
    left_out: tuple[Phrase, ...] = ()

    @property
    def active(self) -> bool:
        """Whether anything is asked beside words."""
        return bool(self.phrases or self.left_out)


def read_operators(text: str) -> Operators:
    """Take operators out of a question.

    Args:
        text: any string.

    Returns:
        the rest of it: a phrase stays without its marks, what is left out goes.
    """
    phrases: list[Phrase] = []
    left_out: list[Phrase] = []

    def quoted(match: re.Match[str]) -> str:
        inner = next(part for part in match.group("a", "b", "c", "d") if part is not None)
        phrase = _phrase(inner.strip())
        if phrase is None:
            return match[0]
        (left_out if match["minus"] else phrases).append(phrase)
        return " " if match["minus"] else inner

    def single(match: re.Match[str]) -> str:
        phrase = _phrase(match["word"])
        if phrase is None:
            return match[0]
        left_out.append(phrase)
        return " "

    # What stands inside of quotation marks is no operator itself.
    pieces: list[str] = []
    last = 0
    for match in _QUOTED.finditer(text):
        pieces += [_LEFT_OUT.sub(single, text[last : match.start()]), quoted(match)]
        last = match.end()
    pieces.append(_LEFT_OUT.sub(single, text[last:]))
    return Operators(" ".join("".join(pieces).split()), tuple(phrases), tuple(left_out))


def folded_words(text: str) -> str:
    """The words and numbers of a text, lower case and without accents, one blank between."""
    return " ".join(_TOKEN.findall(fold(unicodedata.normalize("NFKC", text))))


def _phrase(text: str) -> Phrase | None:
    """A phrase, if there is a word or number in it."""
    needle = folded_words(text)
    if not needle:
        return None
    spaced = rf"[^\W{UNSPACED}]"  # a character of a word that ends at a blank
    before = rf"(?<!{spaced})" if re.match(spaced, needle[0]) else ""
    after = rf"(?!{spaced})" if re.match(spaced, needle[-1]) else ""
    return Phrase(text, needle, re.compile(f"{before}{re.escape(needle)}{after}"))
