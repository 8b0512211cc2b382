"""The gate: the probability that a chunk helps to answer a question.

A logistic of four pieces of evidence. Each depends on the query, the chunk and its own
document alone, so what else the archive holds moves no probability. The coefficients lie in
``gate.json`` beside this module; ``benchmarks/fit_gate.py`` makes that file from public
question sets and states its error (docs/gate.md).
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from emily.retrieval.candidate import Evidence

__all__ = ["FIGURE_RARITY", "Gate", "coverage", "load_gate"]

# Nats: the commonest content words lie near 6, names and rare compounds beyond 20.
_COMMON, _RARE, _FLOOR = 6.0, 20.0, 4.0

FIGURE_RARITY = 16.0
"""What a number, a date or an identifier weighs in ``coverage``: as much as a rare word."""


@dataclass(frozen=True, slots=True)
class Gate:
    """Coefficients of the logistic."""

    intercept: float
    part: float
    sentence: float
    coverage: float
    figures: float

    def probability(self, evidence: Evidence) -> float:
        """Probability, 0 to 1, that a chunk with this evidence helps to answer."""
        z = (
            self.intercept
            + self.part * evidence.part
            + self.sentence * evidence.sentence
            + self.coverage * evidence.coverage
            + self.figures * evidence.figures
        )
        return 1.0 / (1.0 + math.exp(-z))


@cache
def load_gate() -> Gate:
    """The gate that comes with Emily."""
    text = resources.files(__package__).joinpath("gate.json").read_text(encoding="utf-8")
    return Gate(**json.loads(text)["coefficients"])


def coverage(match: NDArray[np.float32], rarity: NDArray[np.float32]) -> float:
    """Share of a query's words and figures that are covered, rare words weighing more; 0 to 1.

    Args:
        match: ``(n,)``, how well each word is matched, 0 to 1.
        rarity: ``(n,)``, nats. It comes from the embedder's own tokenizer, which learnt it
            from the language at large: a frozen weight, unlike one counted in the archive.
    """
    if not len(match):
        return 0.0
    weight = np.clip(rarity, _COMMON, _RARE) - _FLOOR
    return float((match * weight).sum() / weight.sum())
