"""Categories without a chat model: by calibrated likeness to their names and examples.

A cosine alone says little: a long text is near everything, a short one near nothing. So what a
document has in common with a category is compared with what it has in common with forty subjects
of private papers (``_SUBJECTS``), and a logistic function, fitted to papers of our own, turns that
into a probability (docs/analysis.md).
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

__all__ = ["Anchor", "Likeness", "Match", "anchors_of"]

_SUBJECTS: Final = (
    "taxes", "tasse", "rent", "affitto", "health", "salute", "insurance", "assicurazione",
    "school", "scuola", "work", "lavoro", "travel", "viaggi", "cooking", "cucina", "car",
    "automobile", "garden", "giardino", "pets", "animali", "family", "famiglia", "bank", "banca",
    "electricity", "elettricità", "books", "libri", "music", "musica", "sport", "computers",
    "informatica", "law", "diritto", "science", "scienza", "house", "casa", "politics",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Anchor:
    """A text that stands for a category.

    Attributes:
        text: that is compared.
        shown: how a reason names it.
        example: whether it is one of the owner's examples.
    """

    text: str
    shown: str
    example: bool


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


def anchors_of(category: Category) -> list[Anchor]:
    """What stands for a category: its name, name and description together, each example."""
    anchors = [Anchor(category.name, "its name", False)]
    if category.description:
        both = f"{category.name}: {category.description}"
        anchors.append(Anchor(both, "its description", False))
    anchors += [Anchor(text, f"the example “{text[:60]}”", True) for text in category.examples]
    return anchors


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
        self._anchors = [anchors_of(item) for item in self._categories]

    def matches(
        self, sentences: Sequence[NDArray[np.float32]], description: str, bar: float
    ) -> list[Match]:
        """The categories of a document, surest first; none where none reaches the bar.

        Args:
            sentences: vectors of its summary's sentences, by this embedder.
            description: of the document.
            bar: least probability, 0 to 1.

        Raises:
            ModelUnavailable: the embedder cannot be loaded.
            VectorError: it fails on the description or on a category.
        """
        found = []
        for category, anchors, signals in zip(
            self._categories, self._anchors, self.signals(sentences, description), strict=True
        ):
            probability = _probability(signals)
            if probability >= bar:
                nearest = anchors[int(signals[-1])]
                found.append(Match(category, probability, f"It is like {nearest.shown}."))
        return sorted(found, key=lambda match: -match.probability)

    def signals(
        self, sentences: Sequence[NDArray[np.float32]], description: str
    ) -> list[tuple[float, ...]]:
        """What a document has in common with each category.

        Returns:
            for each category: the likeness of name and description, that of the examples (the
            former where there are none), both as deviations from that to other subjects; whether
            there are examples; the number of the nearest anchor.
        """
        own = self._embedder.embed_queries([description or "."])
        lines = np.vstack([own, *(vector[None] for vector in sentences)])
        centre = lines.mean(axis=0)
        centre /= float(np.linalg.norm(centre)) or 1.0

        def likeness(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
            """Of each anchor: mean of that to the whole, the description and the best sentence."""
            best = (vectors @ lines.T).max(axis=1)
            mean: NDArray[np.float64] = (vectors @ centre + vectors @ own[0] + best) / 3.0
            return mean

        others = likeness(self._subjects)
        low, spread = float(others.mean()), float(others.std()) or 1.0
        found: list[tuple[float, ...]] = []
        for anchors, vectors in zip(self._anchors, self._vectors, strict=True):
            values = (likeness(vectors) - low) / spread
            examples = np.array([anchor.example for anchor in anchors])
            named = float(values[~examples].max())
            like = float(values[examples].max()) if examples.any() else named
            found.append((named, like, float(examples.any()), float(values.argmax())))
        return found

    @cached_property
    def _subjects(self) -> NDArray[np.float32]:
        return self._embedder.embed_queries(list(_SUBJECTS))

    @cached_property
    def _vectors(self) -> list[NDArray[np.float32]]:
        return [
            self._embedder.embed_queries([anchor.text for anchor in anchors])
            for anchors in self._anchors
        ]


_INTERCEPT, _NAMED, _LIKE = -4.0, 1.5, 0.5


def _probability(signals: tuple[float, ...]) -> float:
    named, like = signals[:2]
    value = _INTERCEPT + _NAMED * named + _LIKE * like
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, value))))
