"""The description without a chat model: the facts first, then what the document is nearest to."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from emily.analysis.amounts import total_amount
from emily.analysis.extractive import is_whole
from emily.analysis.papers import Paper, names_paper, paper_of, paper_words
from emily.analysis.sentences import Sentence
from emily.indexing.dates import fold
from emily.indexing.prepare import readable_name
from emily.reading.pages import Correspondent, Role

__all__ = ["DescribedDocument", "described", "facts_line"]

_SENTENCES: Final = 2
_MOST_WORDS: Final = 60  # of one of them
_SHORT: Final = 25  # words of one that is no whole sentence
_NAMED: Final = 0.15  # what it is worth to name the sort of paper, the party or the date
_ALIKE: Final = 0.9  # the second sentence must not be the first one again
_LONGEST_PARTY: Final = 80

_PARTIES: Final[tuple[Role, ...]] = ("seller", "from", "to", "buyer")
_ABOUT_MONEY: Final = frozenset({
    "invoice", "credit_note", "bill", "receipt", "till_receipt", "transfer", "reminder", "order",
    "quote",
})  # fmt: skip
_COMPANY = re.compile(
    r"(?:[^\W\d_][\w&.'’-]*[ ]){0,5}[^\W\d_][\w&.'’-]*,?[ ]"
    r"(?:S\.?p\.?A|S\.?r\.?l|S\.?n\.?c|S\.?a\.?s|Soc\.? Coop|GmbH|AG|KG|Ltd|Limited|LLP|PLC|plc|LLC"
    r"|Inc|Corp|S\.?A|S\.?L|SARL|SAS|B\.?V|N\.?V)\b\.?"
)
_COMPANY_LINES: Final = 12


@dataclass(frozen=True, slots=True)
class DescribedDocument:
    """What a description is made from.

    Attributes:
        name: of its file.
        kind: its format.
        title: that it gives itself.
        text: all of it.
        language: of the text.
        author: by its file's properties.
        date: its own.
        correspondents: who it is from and to.
    """

    name: str
    kind: str
    title: str | None
    text: str
    language: str | None
    author: str | None
    date: dt.date | None
    correspondents: tuple[Correspondent, ...]

    @property
    def paper(self) -> Paper | None:
        """What sort of paper it is."""
        return paper_of(self.text, self.title, self.name, self.kind)

    @property
    def party(self) -> str | None:
        """Who it is from: seller, sender, a company that its head names, else its author."""
        for role in _PARTIES[:2]:
            for person in self.correspondents:
                if person.role == role and (person.name or person.address):
                    return (person.name or person.address or "")[:_LONGEST_PARTY]
        lines = [line for line in self.text[:3_000].split("\n") if line.strip()]
        for line in lines[:_COMPANY_LINES]:
            match = _COMPANY.search(line)
            if match is not None:
                return match[0].strip(" ,")[:_LONGEST_PARTY]
        if self.author:
            return self.author[:_LONGEST_PARTY]
        for person in self.correspondents:
            if person.name:
                return person.name[:_LONGEST_PARTY]
        return None


def facts_line(document: DescribedDocument) -> str:
    """``Invoice, ACME Ltd, 2025-06-26, € 120.00``: what is known of these four, or its title."""
    paper = document.paper
    facts = [
        None if paper is None else paper_words(paper, document.language),
        document.party,
        None if document.date is None else document.date.isoformat(),
    ]
    if paper in _ABOUT_MONEY:
        facts.append(total_amount(document.text, without_label=True))
    known = [fact for fact in facts if fact]
    if len(known) < 2:  # too little to tell it by
        called = " ".join((document.title or readable_name(document.name)).split())
        known.insert(len(known) if paper else 0, called[:_LONGEST_PARTY])
    return ", ".join(known)


def described(
    document: DescribedDocument,
    summary: Sequence[Sentence],
    everything: Sequence[Sentence],
    count: Callable[[str], int],
    tokens: int,
) -> str:
    """Describe a document by its facts and one or two of its summary's sentences.

    Args:
        document: what is known of it.
        summary: the sentences of its summary.
        everything: all its sentences, which give its centre.
        count: tokens of a text.
        tokens: most tokens of the description.

    Returns:
        the facts as a sentence, and the sentences nearest the document's centre, of which those
        that name its sort, its party or its date come first; empty where it has none of all.
    """
    facts = facts_line(document)
    lines = [f"{facts.rstrip('.')}."] if facts else []
    for sentence in _nearest(document, summary, everything):
        if count(" ".join([*lines, sentence.text])) > tokens:
            break
        lines.append(sentence.text)
    return _within(" ".join(lines), count, tokens)


def _nearest(
    document: DescribedDocument, summary: Sequence[Sentence], everything: Sequence[Sentence]
) -> list[Sentence]:
    usable = [item for item in summary if item.words <= _MOST_WORDS and is_whole(item)]
    if not usable:  # rows of a table describe nothing
        usable = [item for item in summary if item.words <= _SHORT and "|" not in item.text]
    if not usable:
        return []
    centre = np.mean([item.vector for item in everything or summary], axis=0)
    length = float(np.linalg.norm(centre)) or 1.0
    paper, party = document.paper, fold(document.party or "")
    dates = _date_marks(document.date)

    def score(item: Sentence) -> tuple[bool, float]:
        """Whether it names one of the three, and how near it is to the centre."""
        line = fold(item.text)
        named = [
            paper is not None and names_paper(item.text, paper),
            bool(party) and party in line,
            any(mark in line for mark in dates),
        ]
        return any(named), float(item.vector @ centre) / length + _NAMED * sum(named)

    ranked = sorted(usable, key=score, reverse=True)
    chosen = ranked[:1]
    for item in ranked[1:]:
        if len(chosen) == _SENTENCES:
            break
        if max(float(item.vector @ other.vector) for other in chosen) < _ALIKE:
            chosen.append(item)
    return sorted(chosen, key=lambda item: item.start)


def _date_marks(day: dt.date | None) -> list[str]:
    """Ways in which a sentence may name a day."""
    if day is None:
        return []
    return [
        day.isoformat(), f"{day:%d/%m/%Y}", f"{day:%d.%m.%Y}", f"{day.day}/{day.month}/{day.year}",
    ] + [f"{day.day} {name} {day.year}" for name in _MONTH_NAMES[day.month - 1]]  # fmt: skip


_MONTH_NAMES: Final = (
    ("gennaio", "january"), ("febbraio", "february"), ("marzo", "march"), ("aprile", "april"),
    ("maggio", "may"), ("giugno", "june"), ("luglio", "july"), ("agosto", "august"),
    ("settembre", "september"), ("ottobre", "october"), ("novembre", "november"),
    ("dicembre", "december"),
)  # fmt: skip


def _within(text: str, count: Callable[[str], int], tokens: int) -> str:
    """A text cut between words to at most so many tokens."""
    if count(text) <= tokens:
        return text
    words = text.split()
    while words and count(" ".join(words)) > tokens:
        words = words[: max(1, len(words) * 9 // 10)] if len(words) > 1 else []
    return " ".join(words)
