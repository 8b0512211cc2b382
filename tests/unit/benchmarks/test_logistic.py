"""The fit of the gate: known coefficients come back, none is negative, the error is honest."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks import logistic
from hypothesis import given
from hypothesis import strategies as st


def sample(coefficients, rows=40_000, seed=3):
    chance = np.random.default_rng(seed)
    evidence = chance.random((rows, len(coefficients) - 1))
    said = logistic.predict(np.array(coefficients), evidence)
    return evidence, (chance.random(rows) < said).astype(float)


def test_known_coefficients_come_back():
    truth = [-3.0, 2.0, 0.5, 4.0]
    evidence, labels = sample(truth)
    found = logistic.fit(evidence, labels, np.ones(len(labels)))
    assert found == pytest.approx(truth, abs=0.15)


def test_a_coefficient_that_would_be_negative_is_zero_and_the_rest_is_fitted_without_it():
    evidence, labels = sample([-1.0, 3.0, -2.0])
    weights = np.ones(len(labels))
    found = logistic.fit(evidence, labels, weights)
    assert found[2] == 0.0
    assert found[:2] == pytest.approx(logistic.fit(evidence[:, :1], labels, weights))


def test_a_row_of_weight_two_counts_as_two_rows():
    evidence, labels = sample([-1.0, 2.0], rows=200)
    weights = np.ones(200)
    weights[:50] = 2.0
    doubled = logistic.fit(
        np.concatenate([evidence, evidence[:50]]),
        np.concatenate([labels, labels[:50]]),
        np.ones(250),
    )
    assert logistic.fit(evidence, labels, weights) == pytest.approx(doubled)


def test_a_true_gate_is_calibrated_and_a_wrong_one_is_not():
    evidence, labels = sample([-3.0, 5.0])
    right = logistic.predict(np.array([-3.0, 5.0]), evidence)
    wrong = logistic.predict(np.array([-1.0, 5.0]), evidence)
    assert logistic.calibration_error(right, labels) < 0.01
    assert logistic.calibration_error(wrong, labels) > 0.1
    assert logistic.brier(right, labels) < logistic.brier(wrong, labels)


def test_brier_by_hand():
    assert logistic.brier(np.array([0.5, 1.0]), np.array([1.0, 0.0])) == pytest.approx(0.625)


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=30),
    st.floats(0, 0.9),
)
def test_below_the_quantile_lies_at_most_the_share_and_no_larger_value_does(values, share):
    array, weights = np.array(values), np.ones(len(values))
    bar = logistic.quantile(array, weights, share)
    assert (array < bar).mean() <= share + 1e-9
    larger = array[array > bar]
    assert not len(larger) or (array < larger.min()).mean() > share


def test_weights_move_the_quantile():
    values = np.array([0.1, 0.2, 0.3])
    assert logistic.quantile(values, np.array([8.0, 1.0, 1.0]), 0.5) == 0.1
    assert logistic.quantile(values, np.array([1.0, 1.0, 8.0]), 0.5) == 0.3
