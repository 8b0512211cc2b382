"""What a reranker said, checked before anyone believes it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from emily.errors import ModelError
from emily.models.protocols import Judgement

__all__ = ["by_order", "by_probability", "probability"]

_ROUNDING = 1e-4  # a probability computed in half precision may lie so far outside of 0 to 1


def probability(logit: float) -> float:
    """The logistic of a logit; NaN for one that is not finite, so that it is found out."""
    if not math.isfinite(logit):
        return math.nan
    if logit >= 0:
        return 1.0 / (1.0 + math.exp(-logit))
    odds = math.exp(logit)
    return odds / (1.0 + odds)


def by_probability(name: str, scores: Sequence[float], passages: int, cut: int = 0) -> Judgement:
    """A judgement of probabilities, best first; equals stay in the order they were given.

    Args:
        name: of the reranker, for messages.
        scores: probabilities by position.
        passages: how many there must be.
        cut: passages that were cut to fit.

    Raises:
        ModelError: the count is wrong, or a score is not finite or outside of 0 to 1.
    """
    if len(scores) != passages:
        raise ModelError(f"the reranker {name} gave {len(scores)} scores for {passages} passages")
    for score in scores:
        if not math.isfinite(score):
            raise ModelError(f"the reranker {name} gave {score} as a score")
        if not -_ROUNDING <= score <= 1 + _ROUNDING:
            raise ModelError(
                f"the reranker {name} gave {score:g} as a probability, which lies from 0 to 1. "
                'If its scores are logits, set reranker_scores = "raw"'
            )
    clipped = tuple(min(1.0, max(0.0, float(score))) for score in scores)
    order = sorted(range(passages), key=lambda position: (-clipped[position], position))
    return Judgement(tuple(order), clipped, cut)


def by_order(name: str, positions: Sequence[int], passages: int, cut: int = 0) -> Judgement:
    """A judgement of positions alone, best first.

    Raises:
        ModelError: a position is missing, given twice or not among the passages.
    """
    if sorted(positions) != list(range(passages)):
        raise ModelError(
            f"the reranker {name} gave the positions {list(positions)[:20]} for {passages} "
            f"passages; each of 0 to {passages - 1} must stand there once"
        )
    return Judgement(tuple(positions), None, cut)
