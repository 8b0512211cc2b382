"""Logistic regression with coefficients that are not negative, and what tells how good it is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["brier", "calibration_error", "deciles", "fit", "predict", "quantile"]

Array = NDArray[np.float64]

_RIDGE = 1e-4
"""Weight of the squared coefficients beside a total weight of 1; it only keeps them finite."""
_STEPS, _CLOSE = 100, 1e-10


def fit(evidence: Array, labels: Array, weights: Array) -> Array:
    """Coefficients by iteratively reweighted least squares.

    A coefficient that comes out negative is held at zero, and the others are fitted again.

    Args:
        evidence: ``(n, k)``.
        labels: ``(n,)``, 0 or 1.
        weights: ``(n,)``, how much each row counts.

    Returns:
        ``(k + 1,)``: the intercept, then one coefficient for each column, none negative.
    """
    kept = list(range(evidence.shape[1]))
    share = weights / weights.sum()
    while True:
        found = _fit(evidence[:, kept], labels, share)
        negative = [column for column, value in zip(kept, found[1:], strict=True) if value < 0]
        if not negative:
            break
        kept = [column for column in kept if column not in negative]
    coefficients = np.zeros(evidence.shape[1] + 1)
    coefficients[0] = found[0]
    coefficients[[column + 1 for column in kept]] = found[1:]
    return coefficients


def predict(coefficients: Array, evidence: Array) -> Array:
    """Probabilities, ``(n,)``."""
    logits = coefficients[0] + evidence @ coefficients[1:]
    return np.asarray(1.0 / (1.0 + np.exp(-logits)))


def brier(probabilities: Array, labels: Array) -> float:
    """Mean squared difference of probability and label."""
    return float(((probabilities - labels) ** 2).mean())


def deciles(probabilities: Array, labels: Array) -> list[tuple[float, float]]:
    """Mean probability and share of positives in ten groups of equal size, lowest first."""
    groups = np.array_split(np.argsort(probabilities, kind="stable"), 10)
    return [(float(probabilities[g].mean()), float(labels[g].mean())) for g in groups if len(g)]


def calibration_error(probabilities: Array, labels: Array) -> float:
    """Mean over the deciles of how far probability and share of positives lie apart."""
    return float(np.mean([abs(said - seen) for said, seen in deciles(probabilities, labels)]))


def quantile(values: Array, weights: Array, share: float) -> float:
    """The largest value below which at most ``share`` of the weight lies."""
    order = np.argsort(values)
    below = np.cumsum(weights[order]) - weights[order]
    allowed = np.flatnonzero(below <= share * weights.sum() + 1e-12)
    return float(values[order][allowed[-1]])


def _fit(evidence: Array, labels: Array, share: Array) -> Array:
    design = np.column_stack([np.ones(len(evidence)), evidence])
    ridge = np.full(design.shape[1], _RIDGE)
    ridge[0] = 0.0
    found = np.zeros(design.shape[1])
    for _ in range(_STEPS):
        chance = 1.0 / (1.0 + np.exp(-(design @ found)))
        gradient = design.T @ (share * (labels - chance)) - ridge * found
        curvature = (design * (share * chance * (1 - chance))[:, None]).T @ design
        step = np.linalg.solve(curvature + np.diag(ridge), gradient)
        found = found + step
        if np.abs(step).max() < _CLOSE:
            return found
    raise ArithmeticError(f"The fit moves by {np.abs(step).max():.2g} after {_STEPS} steps.")
