"""Scores against numbers computed by hand and by brute force."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from emily.measure.scores import (
    auc,
    bootstrap,
    hit_rate,
    mean,
    mean_reciprocal_rank,
    ndcg,
    precision,
    recall,
)

SCORES = st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.5001, 1.0]), min_size=1, max_size=12)
RANKS = st.lists(st.none() | st.integers(1, 8), min_size=1)


def test_mean_reciprocal_rank_counts_what_was_not_found_as_nothing():
    assert mean_reciprocal_rank([1, 2, None, 4]) == pytest.approx((1 + 1 / 2 + 0 + 1 / 4) / 4)


def test_hit_rate():
    ranks = [1, 3, 4, None]
    assert [hit_rate(ranks, at) for at in (1, 3, 5)] == [0.25, 0.5, 0.75]


def test_ndcg_of_ranks_one_and_three_out_of_two():
    ideal = 1 + 1 / math.log2(3)
    assert ndcg([1, 0, 1], [1, 1], 10) == pytest.approx((1 + 1 / 2) / ideal)


def test_ndcg_with_graded_judgements():
    # Found: grade 1 first, 3 second, 2 fourth. The best order is 3, 2, 1.
    gained = 1 + 3 / math.log2(3) + 2 / math.log2(5)
    best = 3 + 2 / math.log2(3) + 1 / math.log2(4)
    assert ndcg([1, 3, 0, 2], [3, 2, 1], 10) == pytest.approx(gained / best)


def test_ndcg_of_tied_grades_does_not_ask_which_comes_first():
    assert ndcg([2, 2, 1], [2, 1, 2], 10) == 1.0


def test_ndcg_counts_what_was_not_found_in_the_best_there_could_be():
    best = 2 + 2 / math.log2(3) + 1 / math.log2(4)
    assert ndcg([0, 2], [2, 2, 1], 10) == pytest.approx((2 / math.log2(3)) / best)
    assert ndcg([], [1], 10) == 0.0


def test_ndcg_looks_no_further_than_asked():
    assert ndcg([0] * 10 + [1], [1], 10) == 0.0
    assert ndcg([1], [1] * 5, 1) == 1.0


def test_recall_counts_what_is_relevant_and_not_how_much():
    assert recall([0, 2, 1], [2, 1, 1], 2) == pytest.approx(1 / 3)
    assert recall([0, 2, 1], [2, 1, 1]) == pytest.approx(2 / 3)


def test_precision_of_what_was_found():
    assert precision([2, 0, 1, 0]) == 0.5
    assert math.isnan(precision([]))


def test_the_bootstrap_of_equal_differences_is_that_difference():
    found = bootstrap([0.25] * 7)
    assert (found.mean, found.low, found.high, found.noise) == (0.25, 0.25, 0.25, False)


def test_a_difference_that_could_be_chance_is_called_noise():
    assert bootstrap([0.1, -0.1, 0.05, -0.04, 0.0]).noise
    assert not bootstrap([0.1, 0.2, 0.15, 0.05, 0.1]).noise
    assert bootstrap([0.0] * 9).noise


def test_the_bootstrap_interval_is_that_of_the_normal_where_there_are_many():
    # 400 zeros and ones in equal parts: standard error 0.5 / 20 = 0.025, 1.96 of them each way.
    found = bootstrap([0.0, 1.0] * 200)
    assert found.low == pytest.approx(0.5 - 1.96 * 0.025, abs=0.004)
    assert found.high == pytest.approx(0.5 + 1.96 * 0.025, abs=0.004)


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=30))
def test_the_bootstrap_interval_holds_the_mean_and_is_the_same_again(differences):
    found = bootstrap(differences)
    assert found.low <= found.mean <= found.high
    assert found.mean == pytest.approx(mean(differences), abs=1e-12)
    assert min(differences) - 1e-9 <= found.low
    assert found.high <= max(differences) + 1e-9
    assert found == bootstrap(differences)


def test_auc_with_a_tie():
    # Pairs: .9>.8, .9>.3, .8=.8, .8>.3, .1<.8, .1<.3
    assert auc([0.9, 0.8, 0.1], [0.8, 0.3]) == pytest.approx((1 + 1 + 0.5 + 1 + 0 + 0) / 6)


def test_nothing_has_no_score():
    values = [auc([], [1.0]), auc([1.0], []), hit_rate([], 3), bootstrap([]).mean]
    assert all(math.isnan(value) for value in values)


@given(SCORES, SCORES)
def test_auc_is_the_share_of_pairs_won(positive, negative):
    won = sum((a > b) + (a == b) / 2 for a in positive for b in negative)
    assert auc(positive, negative) == pytest.approx(won / (len(positive) * len(negative)))


@given(SCORES, SCORES)
def test_auc_of_both_sides_exchanged_adds_up_to_one(positive, negative):
    assert auc(positive, negative) + auc(negative, positive) == pytest.approx(1)


@given(RANKS)
def test_reciprocal_rank_lies_between_the_hits_at_one_and_at_any_rank(ranks):
    assert hit_rate(ranks, 1) <= mean_reciprocal_rank(ranks) <= hit_rate(ranks, 8)


@given(st.lists(st.integers(0, 3), max_size=20), st.lists(st.integers(1, 3)), st.integers(1, 20))
def test_ndcg_and_recall_are_shares(ranking, missing, at):
    grades = [grade for grade in ranking if grade] + missing
    assume(grades)
    assert 0 <= ndcg(ranking, grades, at) <= 1 + 1e-12
    assert 0 <= recall(ranking, grades, at) <= recall(ranking, grades) <= 1


@given(st.lists(st.integers(0, 3), min_size=1, max_size=12))
def test_no_order_has_a_higher_ndcg_than_the_best(ranking):
    assume(any(ranking))
    grades = [grade for grade in ranking if grade]
    assert ndcg(sorted(ranking, reverse=True), grades, 10) == pytest.approx(1)
    assert ndcg(ranking, grades, 10) <= 1 + 1e-12
