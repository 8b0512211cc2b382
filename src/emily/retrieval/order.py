"""The order of the second stage: a sum of signals, whose weights lie in ``order.json``.

Unlike the gate it may use what is relative to this archive: what is rare in it, and which
language a candidate is in. ``benchmarks/quality.py`` tells what each weight is worth.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources

__all__ = ["Order", "Signals", "load_order"]


@dataclass(frozen=True, slots=True)
class Signals:
    """What a candidate is ordered by.

    Attributes:
        part: cosine of the question with the best part.
        sentence: cosine with the best sentence.
        lexical: BM25 of the chunk over what the question could score, 0 to 1.
        document: the same of the whole document.
        coverage: share of the question's words that it has, see ``Evidence``.
        name: cosine with the document's name.
        other_language: 1 if question and chunk differ in language, else 0.
    """

    part: float
    sentence: float
    lexical: float
    document: float
    coverage: float
    name: float
    other_language: float


@dataclass(frozen=True, slots=True)
class Order:
    """A weight for each signal."""

    part: float
    sentence: float
    lexical: float
    document: float
    coverage: float
    name: float
    other_language: float

    def score(self, signals: Signals) -> float:
        """The sum of the weighed signals; it means something within one search only."""
        return (
            self.part * signals.part
            + self.sentence * signals.sentence
            + self.lexical * signals.lexical
            + self.document * signals.document
            + self.coverage * signals.coverage
            + self.name * signals.name
            + self.other_language * signals.other_language
        )


@cache
def load_order() -> Order:
    """The order that comes with Emily."""
    text = resources.files(__package__).joinpath("order.json").read_text(encoding="utf-8")
    return Order(**json.loads(text)["weights"])
