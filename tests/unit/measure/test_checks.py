"""Each check of the traffic fires on its fault, and on nothing but that."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from emily.measure.checks import (
    FEWEST,
    Check,
    arms_check,
    latency_check,
    separation_check,
    slots_check,
    staleness_check,
    vectors_check,
)
from emily.measure.query_log import LoggedQuery

NAMES = {number: f"{number}.txt" for number in range(20)}
CHECKS: dict[str, Callable[[Sequence[LoggedQuery]], Check]] = {
    "arms": arms_check,
    "slots": lambda queries: slots_check(queries, NAMES),
    "separation": separation_check,
    "latency": latency_check,
}


def _query(place: int, **values: Any) -> LoggedQuery:
    """A healthy search: both arms full, several documents, a probable answer, about 60 ms."""
    chance = random.Random(place)
    best = chance.uniform(0.02, 0.9)
    found = LoggedQuery(
        id=1000 - place,
        asked_at=datetime(2026, 3, 1, tzinfo=UTC),
        kind="search",
        text=f"question {place}",
        document_id=None,
        options={},
        preset="default",
        model="m",
        archive=40,
        arms={"vector": 20, "lexical": chance.choice([20, 20, 20, 20, 3])},
        terms=4,
        candidates=20,
        pool=12,
        slots=tuple(chance.sample(range(20), 3)),
        best=best,
        median=best / 8,
        timings={"vector_arm": 20.0, "lexical_arm": 30.0},
        total_ms=chance.uniform(50.0, 70.0),
        warm=True,
    )
    return replace(found, **values)


def _healthy(count: int = 60) -> list[LoggedQuery]:
    return [_query(place) for place in range(count)]


def _spoilt(count: int, **values: Any) -> list[LoggedQuery]:
    """The latest ``count`` of 60 searches with a fault."""
    return [_query(place, **(values if place < count else {})) for place in range(60)]


@pytest.mark.parametrize("name", CHECKS)
def test_a_healthy_archive_passes(name: str) -> None:
    found = CHECKS[name](_healthy())
    assert found.ok, found.detail
    assert found.name == name
    assert found.judged
    assert "to judge by" not in found.detail


@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize("count", [0, 1, FEWEST - 1])
def test_too_few_searches_say_nothing(name: str, count: int) -> None:
    faults = {"arms": {"vector": 0, "lexical": 0}, "slots": (1, 1, 1), "best": 0.5, "median": 0.5}
    found = CHECKS[name]([_query(place, **faults) for place in range(count)])
    assert (found.ok, found.judged) == (True, False)
    assert found.detail.startswith("not enough searches yet: ")


def test_one_search_is_not_several() -> None:
    assert "1 search to judge by" in arms_check([_query(0, arms={"vector": 1})]).detail
    assert "0 searches to judge by" in arms_check([]).detail


@pytest.mark.parametrize("arm", ["vector", "lexical"])
def test_an_arm_that_brings_nothing(arm: str) -> None:
    arms = {"vector": 20, "lexical": 20} | {arm: 0}
    found = arms_check(_spoilt(15, arms=arms))
    assert not found.ok
    assert found.level == "critical"
    assert found.detail == f"The {arm} arm brought nothing in 15 of the last 30 searches."
    assert arms_check(_spoilt(14, arms=arms)).ok


def test_a_question_without_terms_is_none_of_the_lexical_arms() -> None:
    assert arms_check(_spoilt(30, arms={"vector": 20, "lexical": 0}, terms=0)).ok


@pytest.mark.parametrize(
    "values",
    [
        {"text": 'where is "nuvola rossa" kept'},
        {"text": "rent -flat"},
        {"options": {"filters": {"lang": ["de"]}}},
    ],
)
def test_what_a_question_narrows_itself_is_no_empty_arm(values: dict[str, Any]) -> None:
    empty = {"vector": 0, "lexical": 0}
    assert arms_check(_spoilt(30, arms=empty, **values)).ok
    # Where operators are off, quotation marks are characters like others.
    words = {"text": '"nuvola rossa"', "options": {"operators": False}}
    assert not arms_check(_spoilt(30, arms=empty, **words)).ok


def test_one_document_that_takes_every_slot() -> None:
    found = slots_check(_spoilt(15, slots=(7, 7, 7)), NAMES)
    assert not found.ok
    assert "Document 7, 7.txt, takes every place in 15 of the last 30" in found.detail
    assert slots_check(_spoilt(14, slots=(7, 7, 7)), NAMES).ok


def test_searches_that_show_one_document_each() -> None:
    alone = [_query(place, slots=(place % 20,) * 3) for place in range(27)]
    found = slots_check([*alone, *_healthy()], NAMES)
    assert not found.ok
    assert "One document takes every place in 27 of the last 30" in found.detail
    assert slots_check([*alone[:26], *_healthy()], NAMES).ok


def test_the_same_question_again_says_no_more() -> None:
    asked = [_query(place, text="Rent?", slots=(7, 7, 7)) for place in range(40)]
    assert slots_check(asked, NAMES).ok


def test_a_small_archive_has_no_other_documents_to_show() -> None:
    assert slots_check([_query(place, slots=(7, 7, 7), pool=2) for place in range(60)], NAMES).ok


@pytest.mark.parametrize(("best", "middle"), [(0.998, 0.9979), (0.001, 0.001), (0.5, 0.4)])
def test_scores_that_do_not_separate(best: float, middle: float) -> None:
    found = separation_check(_spoilt(30, best=best, median=middle))
    assert not found.ok
    assert "The scores do not separate" in found.detail
    assert found.level == "critical"


def test_questions_without_an_answer_separate_too() -> None:
    """All are improbable, yet the best is well above the middle one."""
    assert separation_check(_spoilt(60, best=0.01, median=0.001)).ok


def test_a_certain_score_is_no_error() -> None:
    assert separation_check(_spoilt(60, best=1.0, median=0.0)).ok


def test_searches_that_got_slower() -> None:
    slow = {"total_ms": 400.0, "timings": {"vector_arm": 20.0, "lexical_arm": 370.0}}
    found = latency_check(_spoilt(20, **slow))
    assert not found.ok
    assert "took 400 ms each (median)" in found.detail
    assert "the stage lexical_arm grew most" in found.detail
    assert latency_check(_spoilt(9, **slow)).ok


@pytest.mark.parametrize("milliseconds", [115.0, 155.0])
def test_a_little_slower_is_no_drift(milliseconds: float) -> None:
    """Less than twice as slow, or not by a tenth of a second."""
    assert latency_check(_spoilt(20, total_ms=milliseconds)).ok


def test_first_searches_are_compared_with_first_searches() -> None:
    """The models load with the first one: it is slow, and was before."""
    mixed = [_query(place, total_ms=1500.0, warm=False) for place in range(30)]
    assert latency_check([*mixed, *_healthy()]).ok


def _facts(**values: int) -> dict[str, Any]:
    return {
        "documents": 9,
        "chunks": 30,
        "stale": 0,
        "other_model": 0,
        "without_vector": 0,
        "example": None,
        **values,
    }


def _seen(**values: int) -> dict[str, Any]:
    return {"vectors": 40, "wrong_dimension": 0, "wrong_length": 0, "example": None, **values}


def test_vectors_and_rows_of_a_healthy_index() -> None:
    assert vectors_check(_facts(), _seen(), "m").ok
    assert staleness_check(_facts()).ok


@pytest.mark.parametrize(
    ("facts", "seen", "level", "said"),
    [
        ({"other_model": 2}, {}, "critical", "2 documents have vectors of another model than m"),
        ({}, {"wrong_dimension": 3}, "critical", "3 vectors are not of the dimension of m"),
        ({}, {"wrong_length": 1, "example": 4}, "critical", "zero or not of length 1 (document 4)"),
        ({"without_vector": 1, "example": 5}, {}, "warning", "1 of 30 chunks have no vector"),
    ],
)
def test_vectors_that_cannot_be_compared(
    facts: dict[str, int], seen: dict[str, int], level: str, said: str
) -> None:
    found = vectors_check(_facts(**facts), _seen(**seen), "m")
    assert (found.ok, found.level) == (False, level)
    assert said in found.detail


def test_stale_rows() -> None:
    found = staleness_check(_facts(stale=2))
    assert not found.ok
    assert found.detail == "2 of 9 documents were indexed with other settings."
    assert found.help == "emily reindex"
