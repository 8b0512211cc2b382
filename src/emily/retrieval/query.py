"""What is made of a question before anything is looked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from emily.indexing.terms import Term, analyse, fold, prefix, words
from emily.models.protocols import Embedder
from emily.retrieval.bm25 import Member, TermGroup
from emily.retrieval.operators import Operators, read_operators
from emily.retrieval.vocabulary import Affinity, find_neighbours

__all__ = ["Meaning", "Query", "expand", "parse", "understand"]

# A pasted page is a legitimate question; its first terms say what it is about. More of them
# cost time in proportion and change nothing at the top.
MOST_TERMS = 64
_EXACT_SPELLING_WEIGHT = 0.1  # enough to rank first among equals, no more
_FIGURE_MARKS = "#@!"
_DAY = 2  # hyphens in the term of a day, @2026-12-15; a month has one


@dataclass(frozen=True, slots=True)
class Query:
    """A question as words.

    Attributes:
        text: as it was asked, white space folded, without what is no character.
        language: detected among the indexed ones, or ``None``.
        groups: its terms, each a group of its own until neighbours join.
        words: its distinct words that have a vector, in order.
        figures: numbers, dates and identifiers: for each the terms of which one must match.
        operators: what it asks beside its words, and its text without that.
    """

    text: str
    language: str | None
    groups: tuple[TermGroup, ...]
    words: tuple[str, ...]
    figures: tuple[frozenset[str], ...]
    operators: Operators

    @property
    def meant(self) -> str:
        """What is looked for: the text without signs of operators and what is left out."""
        return self.operators.text

    @property
    def asks(self) -> bool:
        """Whether there is a word or number to look for."""
        return any(character.isalnum() for character in self.meant)


@dataclass(frozen=True, slots=True)
class Meaning:
    """A question as vectors; what the embedder adds to ``Query``.

    Attributes:
        vector: ``(dimension,)``.
        word_vectors: ``(n_words, dimension)``, in the order of ``Query.words``.
        rarity: ``(n_words,)``, how rare each word is in the language at large, in nats.
    """

    vector: NDArray[np.float32]
    word_vectors: NDArray[np.float32]
    rarity: NDArray[np.float32]


def parse(
    text: str, languages: tuple[str, ...], language: str | None, *, operators: bool = True
) -> Query:
    """Take a question apart; any string is one.

    Args:
        text: the question.
        languages: of the archive; their function words carry no meaning.
        language: the question's own.
        operators: whether quotation marks and minuses mean something; without, all is words.
    """
    folded = " ".join(_characters(text).split())
    asked = read_operators(folded) if operators else Operators(folded)
    terms = analyse(asked.text, languages)
    groups: dict[str, TermGroup] = {}
    for term in terms:
        if len(groups) == MOST_TERMS:
            break
        if term.term not in groups:
            weight = _EXACT_SPELLING_WEIGHT if term.term.startswith("=") else 1.0
            groups[term.term] = TermGroup(term.surface, (Member(term.term, weight),))
    distinct = tuple(dict.fromkeys(words(asked.text, languages)))[:MOST_TERMS]
    return Query(folded, language, tuple(groups.values()), distinct, _figures(terms), asked)


def understand(query: Query, embedder: Embedder) -> Meaning:
    """Embed a question and its words; takes CPU time, so call it in a thread.

    Raises:
        ModelUnavailable: the embedder cannot be loaded.
        VectorError: it returned a vector that cannot be compared.
    """
    vectors = embedder.embed_queries([query.meant])
    return Meaning(
        vector=vectors[0],
        word_vectors=embedder.embed_words(query.words),
        rarity=embedder.rarity(query.words),
    )


def expand(query: Query, found: Affinity) -> tuple[TermGroup, ...]:
    """The query's groups with the neighbours of its words among the archive's.

    Names, numbers and identifiers have no word in the vocabulary's sense and stay as they are.
    """
    rows = {prefix(word): row for row, word in reversed(list(enumerate(query.words)))}
    groups = []
    for group in query.groups:
        own = group.members[0]
        row = rows.get(own.term)
        if row is None:
            groups.append(group)
            continue
        near = find_neighbours(found, row, own.term, query.language)
        members = [Member(item.term, item.weight, item.surface) for item in near]
        groups.append(TermGroup(group.surface, (own, *members)))
    return tuple(groups)


def _characters(text: str) -> str:
    """The text without what is no character: NUL, and halves of surrogate pairs."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


def _figures(terms: Sequence[Term]) -> tuple[frozenset[str], ...]:
    """The terms of every token that holds a digit, one set a token.

    Tokens that make one figure together (an account in groups of four, a date with the name of
    its month) are one: the parts need not stand in a text that writes the whole otherwise.
    """
    found: dict[int, set[str]] = {}
    surfaces: dict[int, str] = {}
    for term in terms:
        surfaces[term.position] = fold(term.surface)
        if any(character.isdigit() for character in term.surface) or term.term[0] == "@":
            found.setdefault(term.position, set()).add(term.term)
    for position in list(found):
        whole, parts = _whole(found.get(position, set()), position, surfaces)
        for part in parts:
            found.pop(part, None)
        if parts:
            found[position] = whole
    return tuple(_telling(group) for group in found.values())


def _telling(group: set[str]) -> frozenset[str]:
    """The terms of a figure that are it and no part of it."""
    # Where a token has a whole of its own, its parts alone are not it.
    marked = {term for term in group if term[0] in _FIGURE_MARKS} or group
    # Nor is the month of a day.
    days = {term for term in marked if term[0] == "@" and term.count("-") == _DAY}
    return frozenset(days | {term for term in marked if term[0] != "@"} if days else marked)


def _whole(group: set[str], position: int, surfaces: dict[int, str]) -> tuple[set[str], list[int]]:
    """The terms of a figure of several tokens, and the positions of the other tokens of it."""
    surface = surfaces[position]
    days = {term for term in group if term[0] == "@" and term.count("-") == _DAY}
    if days and surface.isalpha():  # the name of a month
        numbers = {number.lstrip("0") for day in days for number in day[1:].split("-")}
        near = (position - 2, position - 1, position + 1, position + 2)
        return days, [at for at in near if _number(surfaces.get(at, "")) in numbers]
    for term in group:
        rest = term.removeprefix("!")
        if term[0] != "!" or rest == surface or not rest.startswith(surface):
            continue
        rest = rest.removeprefix(surface)
        parts, at = [], position + 1
        while rest and surfaces.get(at) and rest.startswith(surfaces[at]):
            rest = rest.removeprefix(surfaces[at])
            parts.append(at)
            at += 1
        if not rest:
            return {term}, parts
    return group, []


def _number(surface: str) -> str:
    """A number without leading zeros and without the letters of an ordinal."""
    return surface.rstrip("stndrhº°").lstrip("0")
