"""Scores of rankings, worked out from grades and ranks alone.

A rank starts at 1; ``None`` is a thing not found. What has no value, the mean of nothing say,
is not a number.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Interval",
    "auc",
    "bootstrap",
    "hit_rate",
    "mean",
    "mean_reciprocal_rank",
    "ndcg",
    "precision",
    "recall",
    "wilson",
]

Ranks = Sequence[int | None]

RESAMPLES = 10_000
"""Of a bootstrap; with so many the ends of the interval move by about 1 % of its width."""

SEED = 20_240
"""Of everything here that is drawn by chance, so that it is the same at every run."""

_BLOCK = 2_000_000  # numbers that a bootstrap holds at once


def mean(values: Collection[float]) -> float:
    """Arithmetic mean."""
    return sum(values) / len(values) if values else math.nan


def hit_rate(ranks: Ranks, at: int) -> float:
    """Share of the ranks that are ``at`` or better."""
    return mean([rank is not None and rank <= at for rank in ranks])


def mean_reciprocal_rank(ranks: Ranks) -> float:
    """Mean of 1 / rank; what was not found adds 0."""
    return mean([0.0 if rank is None else 1.0 / rank for rank in ranks])


def ndcg(ranking: Sequence[float], grades: Collection[float], at: int) -> float:
    """Normalised discounted cumulative gain of one question (Järvelin and Kekäläinen, 2002).

    The gain is the grade itself, as in trec_eval and BEIR, and the thing at rank r adds
    grade / log2(r + 1). The sum is divided by that of the best ranking there could be.

    Args:
        ranking: the grade of each thing that was found, in the order found; 0 for what is not
            relevant. No thing twice.
        grades: of everything that is relevant, found or not; at least one above 0.
        at: only ranks up to this one count.
    """
    return _gain(ranking, at) / _gain(sorted(grades, reverse=True), at)


def _gain(grades: Sequence[float], at: int) -> float:
    return sum(
        grade / math.log2(rank + 1) for rank, grade in enumerate(grades[:at], start=1) if grade > 0
    )


def recall(ranking: Sequence[float], grades: Collection[float], at: int | None = None) -> float:
    """Share of the relevant things (grade above 0) that stand among the first ``at``.

    Args:
        ranking, grades: as in ``ndcg``.
        at: how many count; ``None`` for all that were found.
    """
    return sum(grade > 0 for grade in ranking[:at]) / sum(grade > 0 for grade in grades)


def precision(ranking: Sequence[float]) -> float:
    """Share of what was found that is relevant."""
    return mean([grade > 0 for grade in ranking])


def auc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Chance that a random positive lies above a random negative; a tie counts one half.

    Area under the receiver operating characteristic (Hanley and McNeil, 1982). Not a number
    where one of them is empty.
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


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and where it lies with 95 % confidence; not a number where there is no value."""

    mean: float
    low: float
    high: float

    @property
    def noise(self) -> bool:
        """Whether the interval holds 0, so that the mean says nothing."""
        return not (self.low > 0 or self.high < 0)


def wilson(successes: int, trials: int) -> Interval:
    """A share with its score interval at 95 % (Wilson, 1927), fit for few trials."""
    if not trials:
        return Interval(math.nan, math.nan, math.nan)
    z = 1.959964
    share = successes / trials
    middle = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    half = (
        z
        / (1 + z * z / trials)
        * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    )
    return Interval(share, max(0.0, middle - half), min(1.0, middle + half))


def bootstrap(differences: Sequence[float]) -> Interval:
    """The mean of paired differences with its bootstrap interval (Efron, 1979).

    Questions are drawn again with replacement, ``RESAMPLES`` times with a fixed seed; the
    interval goes from the 2.5th to the 97.5th percentile of the means (Sakai, "Evaluating
    evaluation metrics based on the bootstrap", 2006). The mean itself always lies inside.
    """
    values = np.asarray(differences, np.float64)
    if not len(values):
        return Interval(math.nan, math.nan, math.nan)
    middle = mean(list(differences))
    if (values == values[0]).all():
        return Interval(middle, middle, middle)
    means = np.sort(_resampled(values))
    low, high = np.quantile(means, [0.025, 0.975])
    return Interval(middle, min(float(low), middle), max(float(high), middle))


def _resampled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    chance = np.random.default_rng(SEED)
    count = len(values)
    at_once = max(1, _BLOCK // count)
    means = [
        values[chance.integers(count, size=(min(at_once, RESAMPLES - start), count))].mean(axis=1)
        for start in range(0, RESAMPLES, at_once)
    ]
    return np.concatenate(means)
