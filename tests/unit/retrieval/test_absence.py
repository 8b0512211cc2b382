"""The signal of absence: the best probability, and how far the first document stands out."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emily.retrieval.absence import AbsenceModel, Signs, load_absence, signs_of
from emily.retrieval.candidate import Candidate, Gathered


def item(chunk: int, document: int, order: float, probability: float | None) -> Candidate:
    facts = Gathered(document=document, ordinal=0, start=0, end=1, language="en", terms=1, name="x")
    return Candidate(chunk, order=order, probability=probability, gathered=facts)


def test_the_first_document_is_compared_with_those_behind_it() -> None:
    ranked = [
        item(1, 1, 1.5, 0.2),
        item(2, 1, 1.4, 0.9),  # the same document: it does not stand behind itself
        item(3, 2, 1.0, 0.1),
        item(4, 3, 0.8, None),
    ]
    assert signs_of(ranked) == Signs(probability=0.9, margin=pytest.approx(0.6))


def test_no_more_than_nine_behind() -> None:
    ranked = [item(1, 1, 1.0, 0.5)] + [item(n, n, 0.5, 0.1) for n in range(2, 11)]
    with_more = ranked + [item(n, n, 0.0, 0.1) for n in range(11, 20)]
    assert signs_of(with_more) == signs_of(ranked)


def test_there_may_be_nothing_to_tell_by() -> None:
    assert signs_of([]) is None
    assert signs_of([item(1, 1, 1.0, 0.9), item(2, 1, 0.5, 0.1)]) is None, "one document"
    assert signs_of([item(1, 1, 1.0, None), item(2, 2, 0.5, None)]) is None, "by words alone"


def test_the_model_is_a_logistic() -> None:
    model = AbsenceModel(intercept=-1.0, probability=0.5, margin=2.0)
    expected = 1 / (1 + math.exp(1.0 - 0.5 * math.log(3) - 0.6))
    assert model.present(Signs(0.75, 0.3)) == pytest.approx(expected)


@given(st.floats(0, 1), st.floats(0, 2), st.floats(0, 1))
def test_more_of_either_speaks_for_an_answer(
    probability: float, margin: float, more: float
) -> None:
    model = load_absence()
    found = model.present(Signs(probability, margin))
    assert 0 < found < 1
    assert model.present(Signs(min(1.0, probability + more), margin)) >= found
    assert model.present(Signs(probability, margin + more)) >= found
