"""When two facts are about the same thing, and when they say the same of it.

Words decide, by rules that can be read; vectors only bring together what is worded differently.
"""

from __future__ import annotations

import re

from emily.indexing.terms import fold

__all__ = [
    "attribute_terms",
    "denies",
    "figures",
    "is_many",
    "normalised",
    "same_subject",
    "same_value",
    "value_words",
]

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_DIGITS = re.compile(r"\d+(?:[.,:/-]\d+)*")
_NAME = re.compile(r"(?<![.!?]\s)(?<!\A)\b[^\W\d_a-zß-öø-ÿ][^\W\d_]+")
_EMPTY_LIST = """
a an the of is are was were be been has have had his her their its it he she they to in at on
with for and or that this s owner user
"""
_EMPTY = frozenset(_EMPTY_LIST.split())
_OWNER = frozenset({"", "i", "me", "my", "myself", "owner", "user", "self", "speaker", "writer"})
_DENIAL_LIST = """
not no never none nobody nothing neither nor cannot longer stopped quit without dislikes dislike
hates hate avoids avoid
"""
_DENIAL = frozenset(_DENIAL_LIST.split())
_NEGATED = re.compile(r"n['’]t\b")

# Of these one has several: one more does not take the place of those that are there.
_MANY_LIST = """
like love dislike hate enjoy allergy allergic intolerance friend child children son daughter
sibling brother sister cousin grandchild pet dog cat hobby interest language speak visit trip
travel holiday own possession book read film movie song band series plan appointment event task
errand reminder medicine medication skill course sport colleague neighbour neighbor subscription
member membership collection habit food drink knows experience memory news preference instrument
plant fear aversion
"""
_MANY = frozenset(_MANY_LIST.split())
# And of these one has one, whatever stands beside: "favourite food", "name of the dog".
_ONE_LIST = """
favourite favorite main current name age number date birthday birth day time hour address city
town size price cost rent code colour color count weight height status deadline
"""
_ONE = frozenset(_ONE_LIST.split())


def _words(text: str) -> list[str]:
    return [fold(word).removesuffix("'s").removesuffix("’s") for word in _WORD.findall(text)]


def _stem(word: str) -> str:
    """A word of English without the ending of its plural."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def normalised(text: str) -> str:
    """A sentence by its words: without case, accents, signs and articles."""
    return " ".join(word for word in _words(text) if word not in ("a", "an", "the"))


def value_words(text: str) -> frozenset[str]:
    """The words of a value that tell it from another one."""
    return frozenset(_stem(word) for word in _words(text) if word not in _EMPTY)


def same_subject(one: str, other: str) -> bool:
    """Whether two facts are of the same person or thing; one without a subject is the owner's."""
    first, second = (_bare(text) for text in (one, other))
    if first in _OWNER and second in _OWNER:
        return True
    return first == second and first not in _OWNER


def _bare(subject: str) -> str:
    # "the owner's sister" and "sister" are one person.
    words = [word for word in _words(subject) if word not in ("the", "a", "an")]
    kept = [word for word in words if word not in _OWNER]
    return " ".join(map(_stem, kept))


def attribute_terms(text: str) -> frozenset[str]:
    """The words of an attribute, in any order and number."""
    return frozenset(_stem(word) for word in _words(text) if word not in _EMPTY)


def is_many(attribute: str) -> bool:
    """Whether somebody may have several of it: children, allergies, but not an address."""
    words = attribute_terms(attribute)
    return bool(words & _MANY) and not words & _ONE


def same_value(one: str, other: str) -> bool | None:
    """Whether two values are the same.

    Returns:
        ``None`` where one of them is not told.
    """
    first, second = value_words(one), value_words(other)
    if not first or not second:
        return None
    return first == second


def figures(text: str) -> frozenset[str]:
    """Numbers and names: what no likeness of wording may pass over."""
    found = {number.replace(",", ".") for number in _DIGITS.findall(text)}
    return frozenset(found | {fold(name) for name in _NAME.findall(text)} - {"owner"})


def denies(text: str) -> bool:
    """Whether a sentence says that something is not so."""
    return bool(_NEGATED.search(text)) or bool(_DENIAL & set(_words(text)))
