"""Scores against numbers computed by hand and by brute force."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emily.measure.scores import auc, hit_rate, mean_reciprocal_rank, ndcg

SCORES = st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.5001, 1.0]), min_size=1, max_size=12)
RANKS = st.lists(st.none() | st.integers(1, 8), min_size=1)


def test_mean_reciprocal_rank_counts_what_was_not_found_as_nothing():
    assert mean_reciprocal_rank([1, 2, None, 4]) == pytest.approx((1 + 1 / 2 + 0 + 1 / 4) / 4)


def test_hit_rate():
    ranks = [1, 3, 4, None]
    assert [hit_rate(ranks, at) for at in (1, 3, 5)] == [0.25, 0.5, 0.75]


def test_ndcg_of_ranks_one_and_three_out_of_two():
    ideal = 1 + 1 / math.log2(3)
    assert ndcg([1, 3], 2, 10) == pytest.approx((1 + 1 / 2) / ideal)


def test_ndcg_looks_no_further_than_asked():
    assert ndcg([11], 1, 10) == 0.0
    assert ndcg([1], 5, 1) == 1.0


def test_auc_with_a_tie():
    # Pairs: .9>.8, .9>.3, .8=.8, .8>.3, .1<.8, .1<.3
    assert auc([0.9, 0.8, 0.1], [0.8, 0.3]) == pytest.approx((1 + 1 + 0.5 + 1 + 0 + 0) / 6)


def test_nothing_has_no_score():
    values = [auc([], [1.0]), auc([1.0], []), hit_rate([], 3), mean_reciprocal_rank([])]
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


@given(st.sets(st.integers(1, 20), min_size=1), st.integers(0, 5), st.integers(1, 20))
def test_ndcg_is_a_share(ranks, unfound, at):
    assert 0 <= ndcg(ranks, len(ranks) + unfound, at) <= 1 + 1e-12
