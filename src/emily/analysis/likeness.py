"""Categories without a chat model: by calibrated likeness to their names and examples.

A cosine alone says little: a vague description is near everything, a terse one near nothing. So
what a description has in common with a category is taken as a deviation from what it has in
common with subjects of private papers in general (``_SUBJECTS``), and a logistic function makes a
probability of it. The function was fitted to 55 short papers of our own with 12 categories
(``benchmarks/category_papers.py``); what it is worth on other papers is in docs/analysis.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from emily.analysis.categories import Category
from emily.models import Embedder

__all__ = ["WEIGHTS", "Likeness", "Match", "Signals", "probability_of"]

_SUBJECTS: Final = (
    "taxes", "tasse", "rent", "affitto", "health", "salute", "insurance", "assicurazione",
    "school", "scuola", "work", "lavoro", "travel", "viaggi", "cooking", "cucina", "car",
    "automobile", "garden", "giardino", "pets", "animali", "family", "famiglia", "bank", "banca",
    "electricity", "elettricità", "books", "libri", "music", "musica", "sport", "computers",
    "informatica", "law", "diritto", "science", "scienza", "house", "casa", "politics",
)  # fmt: skip

WEIGHTS: Final = {
    # Whether the category has a description, and examples: intercept, then the weight of the
    # likeness to its name, to name and description together, to the nearest example.
    (False, False): (-4.417, 1.542, 0.0, 0.0),
    (True, False): (-5.502, 1.005, 0.693, 0.0),
    (False, True): (-4.624, 1.405, 0.0, 0.382),
    (True, True): (-5.582, 0.919, 0.631, 0.361),
}


@dataclass(frozen=True, slots=True)
class Signals:
    """What a document has in common with a category, in deviations from what is usual for it.

    Attributes:
        name: with the category's name.
        description: with name and description together; 0 where there is no description.
        example: with the nearest example; 0 where there is none.
        nearest: which example that is; ``None`` where there is none.
    """

    name: float
    description: float
    example: float
    nearest: str | None


@dataclass(frozen=True, slots=True)
class Match:
    """A category that a document is like.

    Attributes:
        category: which.
        probability: that the owner would put the document there, 0 to 1.
        reason: to what of it the document is most like.
    """

    category: Category
    probability: float
    reason: str


class Likeness:
    """Compares documents with the owner's categories."""

    def __init__(self, embedder: Embedder, categories: Sequence[Category]) -> None:
        """Prepare; the categories are embedded at first use.

        Args:
            embedder: of documents and categories.
            categories: the owner's.
        """
        self._embedder = embedder
        self._categories = list(categories)

    def matches(self, description: str, bar: float) -> list[Match]:
        """The categories of a document, surest first; none where none reaches the bar.

        Args:
            description: of the document.
            bar: least probability, 0 to 1.

        Raises:
            ModelUnavailable: the embedder cannot be loaded.
            VectorError: it fails on the description or on a category.
        """
        if not description.strip() or not self._categories:
            return []
        found = []
        for category, signals in zip(self._categories, self.signals(description), strict=True):
            weights = WEIGHTS[bool(category.description), bool(category.examples)]
            probability = probability_of(signals, weights)
            if probability >= bar:
                found.append(Match(category, probability, _reason(signals, weights)))
        return sorted(found, key=lambda match: -match.probability)

    def signals(self, description: str) -> list[Signals]:
        """What a document has in common with each category.

        Raises:
            ModelUnavailable, VectorError: as ``matches``.
        """
        own = self._embedder.embed_queries([description])[0]
        others = self._subjects @ own
        low, spread = float(others.mean()), float(others.std()) or 1.0

        def deviation(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
            values: NDArray[np.float64] = (vectors @ own - low) / spread
            return values

        found = []
        for category, (named, described, examples) in zip(
            self._categories, self._vectors, strict=True
        ):
            likes = deviation(examples)
            place = int(likes.argmax()) if len(likes) else None
            found.append(
                Signals(
                    name=float(deviation(named)[0]),
                    description=float(deviation(described)[0]) if len(described) else 0.0,
                    example=0.0 if place is None else float(likes[place]),
                    nearest=None if place is None else category.examples[place],
                )
            )
        return found

    @cached_property
    def _subjects(self) -> NDArray[np.float32]:
        return self._embedder.embed_queries(list(_SUBJECTS))

    @cached_property
    def _vectors(self) -> list[tuple[NDArray[np.float32], ...]]:
        """Of each category: its name, name and description, its examples."""
        embed = self._embedder.embed_queries
        return [
            (
                embed([item.name]),
                embed([f"{item.name}: {item.description}"] if item.description else []),
                embed(list(item.examples)),
            )
            for item in self._categories
        ]


def probability_of(signals: Signals, weights: tuple[float, float, float, float]) -> float:
    """The probability, 0 to 1, that signals make with one of ``WEIGHTS``."""
    intercept, name, description, example = weights
    value = intercept + name * signals.name
    value += description * signals.description + example * signals.example
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, value))))


def _reason(signals: Signals, weights: tuple[float, float, float, float]) -> str:
    """What of the category counted most."""
    _, name, description, example = weights
    if signals.nearest is not None and example * signals.example > max(
        name * signals.name, description * signals.description
    ):
        return f"It is like the example “{signals.nearest[:80]}”."
    if description * signals.description > name * signals.name:
        return "It is like its description."
    return "It is like its name."
