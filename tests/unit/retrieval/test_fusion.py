"""Fusion: rankings become one pool."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emily.retrieval.candidate import Candidate
from emily.retrieval.fusion import (
    LEXICAL_WEIGHT,
    fuse_by_rank,
    fuse_by_score,
    interleave,
    merge_arms,
)

X, A, B, C, Y = 1, 2, 3, 4, 5


def ranked(*chunks: int) -> list[tuple[int, float]]:
    return [(chunk, 1.0 - place / 10) for place, chunk in enumerate(chunks)]


def test_the_item_of_both_rankings_is_first() -> None:
    pool = fuse_by_rank(merge_arms(ranked(X, A, Y), ranked(B, C, Y)), 20)
    assert pool[0].chunk == Y
    assert pool[0].fused == pytest.approx(2 / 63), "ranks start at 1"
    # Equals stay in the order of their chunks, and an absent item adds 0.
    assert [item.chunk for item in pool] == [Y, X, B, A, C]
    assert pool[1].fused == pytest.approx(1 / 61)


def test_arms_are_merged_with_their_ranks() -> None:
    found = {item.chunk: item for item in merge_arms(ranked(X, Y), ranked(Y, A))}
    assert (found[X].vector_rank, found[X].lexical_rank) == (1, None)
    assert (found[Y].vector_rank, found[Y].lexical_rank) == (2, 1)
    assert (found[A].vector_rank, found[A].lexical_rank) == (None, 2)
    assert found[X].vector == 1.0
    assert found[Y].lexical is None, "the lexical score is filled in by gathering"
    assert merge_arms([], []) == []


def test_scores_are_added() -> None:
    pool = fuse_by_score(
        [
            Candidate(1, vector=0.5, lexical=0.5),
            Candidate(2, vector=0.9),
            Candidate(3, lexical=1.0),
            Candidate(4),
        ],
        3,
    )
    assert [item.chunk for item in pool] == [2, 1, 3]
    assert [item.fused for item in pool] == pytest.approx(
        [0.9, 0.5 + LEXICAL_WEIGHT / 2, LEXICAL_WEIGHT]
    )


def test_a_lone_result_keeps_its_score() -> None:
    assert fuse_by_score([Candidate(7, vector=0.4, lexical=0.0)], 20)[0].fused == 0.4


def test_equals_stay_in_the_order_of_their_chunks() -> None:
    same = [Candidate(chunk, vector=0.3) for chunk in (9, 2, 5)]
    assert [item.chunk for item in fuse_by_score(same, 20)] == [2, 5, 9]


score = st.none() | st.floats(-1, 1)
rank = st.none() | st.integers(1, 1000)
candidates = st.lists(
    st.builds(
        Candidate,
        chunk=st.integers(1, 10_000),
        vector=score,
        vector_rank=rank,
        lexical=score,
        lexical_rank=rank,
    ),
    unique_by=lambda item: item.chunk,
    max_size=40,
)


@pytest.mark.parametrize("fuse", [fuse_by_score, fuse_by_rank, interleave])
@given(given=candidates, size=st.integers(1, 30))
def test_the_pool_is_the_sorted_best_of_what_came(fuse, given, size) -> None:
    pool = fuse(given, size)
    assert len(pool) == min(size, len(given))
    assert {item.chunk for item in pool} <= {item.chunk for item in given}
    scores = [item.fused for item in pool]
    assert scores == sorted(scores, reverse=True)
    everything = {item.chunk: item.fused for item in fuse(given, len(given) + 1)}
    left_out = everything.keys() - {item.chunk for item in pool}
    assert all(everything[chunk] <= scores[-1] for chunk in left_out)
    # The order in which candidates come decides nothing.
    assert pool == fuse(given[::-1], size)


def test_two_places_for_meaning_and_one_for_words() -> None:
    merged = merge_arms(ranked(1, 2, 3, 4, 5), ranked(9, 2, 8, 7))
    assert [item.chunk for item in interleave(merged, 20)] == [1, 2, 9, 3, 4, 8, 5, 7]
    assert [item.chunk for item in interleave(merged, 4)] == [1, 2, 9, 3]
    assert [item.fused for item in interleave(merged, 3)] == [1, 1 / 2, 1 / 3]


def test_an_arm_goes_on_alone_when_the_other_has_ended() -> None:
    assert [item.chunk for item in interleave(merge_arms(ranked(1, 2, 3), []), 9)] == [1, 2, 3]
    assert [item.chunk for item in interleave(merge_arms([], ranked(6, 5)), 9)] == [6, 5]
    assert [item.chunk for item in interleave([Candidate(3), Candidate(2)], 9)] == [2, 3]
    assert interleave([], 9) == []


chunks = st.lists(st.integers(1, 60), unique=True, max_size=30)


@given(meaning=chunks, words=chunks)
def test_every_three_places_hold_two_of_meaning(meaning: list[int], words: list[int]) -> None:
    merged = merge_arms(ranked(*meaning), ranked(*words))
    pool = [item.chunk for item in interleave(merged, 1000)]
    assert len(pool) == len(set(pool)), "no chunk stands twice"
    assert set(pool) == {*meaning, *words}, "and none is lost"
    for k in range(1, len(pool) // 3 + 1):
        first = pool[: 3 * k]
        left_meaning = [chunk for chunk in meaning if chunk not in pool[: 3 * (k - 1)]]
        left_words = [chunk for chunk in words if chunk not in pool[: 3 * (k - 1)]]
        if len(left_meaning) < 3 or len(left_words) < 3:
            break  # one of them does not last
        # Two places go down the one ranking, one down the other.
        assert first[:2] == meaning[:2]
        assert sum(chunk in meaning for chunk in first) >= 2 * k
        assert set(meaning[: 2 * k]) <= set(first)
        assert set(words[:k]) <= set(first)
