"""The sentences about how much there is, how much is shown, and why nothing is."""

from __future__ import annotations

import pytest

from emily.retrieval.candidate import Candidate
from emily.retrieval.notices import extent, narrowed
from emily.retrieval.operators import read_operators
from emily.retrieval.passages import Cut


@pytest.mark.parametrize(
    ("left_out", "budget", "said"),
    [
        (1, 200, "1 more passage did not fit into the budget of 200 tokens."),
        (2, 1, "2 more passages did not fit into the budget of 1 token."),
        (1, None, "1 more passage was left out: one question shows"),
        (2, None, "2 more passages were left out: one question shows"),
    ],
)
def test_one_is_not_several(left_out: int, budget: int | None, said: str) -> None:
    item = Candidate(1, probability=0.5)
    assert extent([item], [item], [item], None, 0.05, Cut((), left_out, False), budget)[
        0
    ].startswith(said)


@pytest.mark.parametrize(("count", "said"), [(1, "1 candidate has"), (2, "2 candidates has")])
def test_candidates_below_the_threshold_are_counted(count: int, said: str) -> None:
    ranked = [Candidate(number, probability=0.01) for number in range(count)]
    (notice,) = extent(ranked, [], [], None, 0.05, Cut((), 0, True))
    assert f"the best of {said} a probability of 1.0%, below the threshold of 5.0%" in notice


@pytest.mark.parametrize(
    ("question", "dropped", "ranked", "said"),
    [
        ("trip", 0, False, []),
        ("trip -hotel", 0, False, ["Not looked for, as the minus asks: “hotel”."]),
        (
            "trip -hotel",
            1,
            False,
            ["1 passage that holds “hotel” was left out, as the minus before it asks."],
        ),
        (
            'trip -hotel -"night train"',
            3,
            True,
            [
                "3 passages that hold “hotel” or “night train” were left out, "
                "as the minus before it asks."
            ],
        ),
        ('"night train"', 0, False, []),
        (
            '"night train" "to Turin"',
            0,
            True,
            ["Only passages that hold “night train” and “to Turin” word for word were looked at."],
        ),
    ],
)
def test_operators_that_leave_nothing_are_said(
    question: str, dropped: int, ranked: bool, said: list[str]
) -> None:
    asked = read_operators(question)
    assert narrowed(asked.phrases, asked.left_out, dropped, ranked=ranked) == said
