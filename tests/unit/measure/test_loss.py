"""Which stage lost a document, read off a trace made by hand."""

from __future__ import annotations

from typing import Any

import pytest

from emily.measure.loss import Loss, loss_of
from emily.measure.quotes import find_quote
from emily.retrieval.answer import Answer, DocumentRef, Result

# Chunk 10 * document + place; documents 1 to 4 with one chunk each.
CANDIDATES = [{"chunk": 10 * document, "document": document} for document in (1, 2, 3, 4)]


def _answer(
    pool: list[int], passed: list[int], chosen: list[int], shown: list[int], brought: int = 4
) -> Answer:
    trace: dict[str, Any] = {
        "fusion": {"candidates": CANDIDATES[:brought], "pool": pool},
        "threshold": {"passed": passed},
        "selection": {"chosen": chosen},
    }
    results = tuple(
        Result(DocumentRef(number, f"{number}.txt", "", "text", None), None, ()) for number in shown
    )
    return Answer("q", results, (), {}, trace, "")


@pytest.mark.parametrize(
    ("answer", "rank", "stage"),
    [
        (_answer([40, 20], [40, 20], [40], [2, 4]), 2, None),
        (_answer([10, 20], [10, 20], [10], [1], brought=3), None, "arms"),
        (_answer([10, 20], [10, 20], [10], [1]), None, "fusion"),
        (_answer([10, 40], [10], [10], [1]), None, "threshold"),
        (_answer([40, 10], [10, 40], [10], [1]), None, "second stage"),
        (_answer([10, 40], [10, 40], [10], [1]), None, "selection"),
        (_answer([10, 40], [10, 40], [10, 40], [1]), None, "passages"),
        (_answer([], [], [], []), None, "fusion"),
    ],
)
def test_the_stage_that_lost_document_4(answer: Answer, rank: int, stage: Loss) -> None:
    found = loss_of(answer, 4)
    assert (found.rank, found.stage) == (rank, stage)


def test_an_answer_without_stages() -> None:
    assert loss_of(Answer("q", (), (), {}, {}, ""), 4).stage == "arms"


@pytest.mark.parametrize(
    ("quote", "held"),
    [
        ("the rent is", "The rent\n  is"),
        ("950 EURO", "950 euro"),
        ("950, euro", "950 euro"),  # punctuation gives way where nothing else is found
        ("rent (was)", None),
    ],
)
def test_a_quote_is_found_for_all_its_white_space(quote: str, held: str | None) -> None:
    text = "The rent\n  is 950 euro."
    span = find_quote(text, quote)
    assert (None if span is None else text[slice(*span)]) == held
