"""The rankings of the benchmark of quality, worked out by hand from a trace."""

from __future__ import annotations

from typing import Any

import pytest
from benchmarks.quality import (
    _by_rank,
    _found,
    _joined,
    _reordered,
    _twin,
    _two_to_one,
    _without,
    merged,
)

from emily.measure.sets import QuestionSet, SetDocument, SetQuestion


def candidate(chunk: int, vector: int | None, lexical: int | None, **values: Any) -> dict[str, Any]:
    return {
        "chunk": chunk, "document": chunk // 10, "vector_rank": vector, "lexical_rank": lexical,
        "lexical": 0.0, "document_lexical": 0.0, "name_similarity": 0.0, "language": "en",
        "evidence": {"part": 0.0, "sentence": 0.0, "coverage": 0.0, "figures": 1.0},
    } | values  # fmt: skip


CANDIDATES = [
    candidate(10, 1, None), candidate(20, 2, 2), candidate(30, 3, None), candidate(40, None, 1),
]  # fmt: skip


def trace(candidates: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "query": {"language": "it"},
        "fusion": {"candidates": candidates},
        "second_stage": {"candidates": candidates},
    }


def test_joined_by_rank_and_interleaved() -> None:
    # 1/62 + 1/62 is more than 1/61.
    assert _joined(trace(CANDIDATES), _by_rank) == [2, 1, 4, 3]
    assert _joined(trace(CANDIDATES), _two_to_one) == [1, 2, 4, 3]


def test_one_signal_can_be_left_out() -> None:
    near = candidate(10, 1, None, evidence={"part": 0.9, "sentence": 0, "coverage": 0})
    wordy = candidate(20, None, 1) | {"lexical": 0.5}
    assert _reordered(trace([wordy, near]), _without("coverage")) == [1, 2]
    assert _reordered(trace([near, wordy]), _without("part")) == [2, 1]
    foreign, own = candidate(10, 1, 1), candidate(20, 1, 1, language="it")
    assert _reordered(trace([own, foreign]), _without("coverage")) == [1, 2]


@pytest.mark.parametrize(
    ("name", "twin"),
    [("it-scalc/1", "en-scalc/1"), ("tldr:en-ls", "tldr:it-ls"), ("scifact:it-1", "scifact:it-1"),
     ("4983", "4983")],
)  # fmt: skip
def test_twins(name: str, twin: str) -> None:
    assert _twin(name) == twin


def test_merged_sets_share_documents_and_twins() -> None:
    pages = (SetDocument("en-ls", "", "list"), SetDocument("it-ls", "", "elenca"))
    asked = (SetQuestion("q", "elenca", "it", {"en-ls": 1}),)
    whole = merged(
        [
            QuestionSet("tldr-it2en", pages[:1], asked),
            QuestionSet("tldr-en2it", pages, ()),
            QuestionSet("scifact", (SetDocument("en-ls", "", "other"),), ()),
        ]
    )
    assert [item.id for item in whole.documents] == [
        "tldr:en-ls", "tldr:it-ls", "scifact:en-ls",
    ]  # fmt: skip
    (question,) = whole.questions
    assert set(question.relevant) == {"tldr:en-ls", "tldr:it-ls"}
    assert question.slices["kind"] == "tldr-it2en"


@pytest.mark.parametrize(
    ("relevant", "expected"),
    [({"it-a": 1, "en-a": 1}, 1.0), ({"lohelp:it-a": 1, "lohelp:en-a": 1}, 1.0),
     ({"en-a": 1}, None), ({"123": 1, "456": 1}, None)],
)  # fmt: skip
def test_the_other_language_counts_where_both_answer(
    relevant: dict[str, int], expected: float | None
) -> None:
    question = SetQuestion("q", "elenca", "it", relevant)
    found = _found(question, [9, 1, 2], {1, 2}, {2})
    assert found.other_3 == expected
    assert (found.hit_3, found.recall_20) == (1.0, 1.0)
