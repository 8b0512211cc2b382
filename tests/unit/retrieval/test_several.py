"""Several rankings become one, worked out by hand and for any rankings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emily.retrieval.candidate import Candidate
from emily.retrieval.several import join


def of(chunk: int, order: float, probability: float | None = None) -> Candidate:
    return Candidate(chunk, vector=order / 2, order=order, probability=probability)


def test_the_mean_of_orders_and_the_best_probability() -> None:
    one = [of(1, 0.9, 0.8), of(2, 0.6, 0.3), of(3, 0.2, 0.1)]
    two = [of(2, 0.8, 0.7), of(4, 0.4, 0.2)]
    joined = join([one, two], 10)
    # 1: (.9 + .4) / 2, 2: (.6 + .8) / 2, 3: (.2 + .4) / 2, 4: (.2 + .4) / 2
    assert [item.chunk for item in joined] == [2, 1, 3, 4]
    assert [item.order for item in joined] == pytest.approx([0.7, 0.65, 0.3, 0.3])
    assert [item.probability for item in joined] == [0.7, 0.8, 0.1, 0.2]
    assert joined[0].vector == 0.4, "all else comes from the question it answers best"
    assert [item.chunk for item in join([one, two], 1)] == [2]


def test_a_question_that_finds_nothing_has_no_say() -> None:
    one = [of(1, 0.9, 0.8), of(2, 0.6)]
    assert join([one, []], 10) == one
    assert join([[], []], 10) == []


rankings = st.lists(
    st.lists(
        st.builds(
            Candidate,
            chunk=st.integers(1, 20),
            order=st.floats(-1, 3),
            probability=st.none() | st.floats(0, 1),
        ),
        unique_by=lambda item: item.chunk,
        max_size=12,
    ),
    max_size=5,
)


@given(rankings)
def test_nothing_is_lost_or_twice_and_the_order_of_questions_is_none(
    found: list[list[Candidate]],
) -> None:
    joined = join(found, 1000)
    chunks = [item.chunk for item in joined]
    assert len(chunks) == len(set(chunks))
    assert set(chunks) == {item.chunk for ranking in found for item in ranking}
    orders = [item.order or 0.0 for item in joined]
    assert orders == sorted(orders, reverse=True)
    again = {item.chunk: (item.order, item.probability) for item in join(found[::-1], 1000)}
    for item in joined:
        order, probability = again[item.chunk]
        assert order == pytest.approx(item.order)
        assert probability == item.probability
