"""Scores of rankings, from ranks alone. A rank starts at 1; ``None`` is a thing not found."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

__all__ = ["auc", "hit_rate", "mean", "mean_reciprocal_rank", "ndcg"]

Ranks = Sequence[int | None]


def mean(values: Collection[float]) -> float:
    """Arithmetic mean; of nothing it is not a number."""
    return sum(values) / len(values) if values else math.nan


def hit_rate(ranks: Ranks, at: int) -> float:
    """Share of the ranks that are ``at`` or better."""
    return mean([rank is not None and rank <= at for rank in ranks])


def mean_reciprocal_rank(ranks: Ranks) -> float:
    """Mean of 1 / rank; what was not found adds 0."""
    return mean([0.0 if rank is None else 1.0 / rank for rank in ranks])


def ndcg(ranks: Collection[int], relevant: int, at: int) -> float:
    """Normalised discounted cumulative gain of one question (Järvelin and Kekäläinen, 2002).

    Args:
        ranks: of the relevant things that were found.
        relevant: how many relevant things there are, at least one.
        at: only ranks up to this one count.
    """
    gained = sum(1.0 / math.log2(rank + 1) for rank in ranks if rank <= at)
    best = sum(1.0 / math.log2(rank + 1) for rank in range(1, min(relevant, at) + 1))
    return gained / best


def auc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Chance that a random positive lies above a random negative; a tie counts one half.

    Not a number where one of them is empty.
    """
    if not positive or not negative:
        return math.nan
    everything = sorted([*((value, 1) for value in positive), *((value, 0) for value in negative)])
    wins = 0.0
    below = place = 0
    while place < len(everything):
        value, ups, downs = everything[place][0], 0, 0
        while place < len(everything) and everything[place][0] == value:
            ups += everything[place][1]
            downs += 1 - everything[place][1]
            place += 1
        wins += ups * (below + downs / 2)
        below += downs
    return wins / (len(positive) * len(negative))
