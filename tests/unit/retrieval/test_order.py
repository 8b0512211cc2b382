"""The order of the second stage is the sum that order.json says."""

from __future__ import annotations

from dataclasses import asdict, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emily.retrieval.order import Order, Signals, load_order

NOTHING = Signals(0, 0, 0, 0, 0, 0, 0)


def test_the_order_is_a_weighed_sum() -> None:
    order = Order(1, 2, 3, 4, 5, 6, 7)
    assert order.score(Signals(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 1)) == pytest.approx(16.1)
    assert order.score(NOTHING) == 0


@given(st.sampled_from(sorted(asdict(NOTHING))), st.floats(0, 1), st.floats(0.01, 1))
def test_no_signal_speaks_against_a_candidate(name: str, value: float, more: float) -> None:
    order = load_order()
    low = replace(NOTHING, **{name: value})
    high = replace(NOTHING, **{name: value + more})
    assert order.score(high) > order.score(low)
