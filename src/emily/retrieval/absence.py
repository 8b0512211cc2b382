"""The signal of absence: how probable it is that the archive answers a question at all.

It is a figure of the search, not of a passage, and never mixed with the gate: it may use what is
relative to the other candidates. A document that answers stands out from those behind it; where
none does, the first ten are much alike.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from emily.retrieval.candidate import Candidate

__all__ = ["AbsenceModel", "Signs", "load_absence", "signs_of"]

_BEHIND = 10
"""The first document is compared with those behind it, up to this place."""
_SURE = 1e-6


@dataclass(frozen=True, slots=True)
class Signs:
    """What tells whether a search has an answer.

    Attributes:
        probability: the best of all candidates, 0 to 1, as the gate gives it.
        margin: the order of the first document over the mean of those behind it.
    """

    probability: float
    margin: float


@dataclass(frozen=True, slots=True)
class AbsenceModel:
    """Coefficients of a logistic; ``probability`` is that of the log odds."""

    intercept: float
    probability: float
    margin: float

    def present(self, signs: Signs) -> float:
        """Probability, 0 to 1, that the archive holds an answer."""
        sure = min(max(signs.probability, _SURE), 1 - _SURE)
        z = (
            self.intercept
            + self.probability * math.log(sure / (1 - sure))
            + self.margin * signs.margin
        )
        return 1.0 / (1.0 + math.exp(-z))


def signs_of(ranked: Sequence[Candidate]) -> Signs | None:
    """The signs of a ranking.

    Args:
        ranked: scored candidates, best first.

    Returns:
        ``None`` where there is nothing to tell by: no probability, or a single document.
    """
    known = [item.probability for item in ranked if item.probability is not None]
    best: dict[int, float] = {}
    for item in ranked:
        best.setdefault(item.facts.document, item.order or 0.0)
    first, *behind = list(best.values())[:_BEHIND] or [0.0]
    if not known or not behind:
        return None
    return Signs(probability=max(known), margin=first - sum(behind) / len(behind))


@cache
def load_absence() -> AbsenceModel:
    """The model that comes with Emily."""
    text = resources.files(__package__).joinpath("absence.json").read_text(encoding="utf-8")
    return AbsenceModel(**json.loads(text)["coefficients"])
