"""Rows come from the store in any order; the fusion's order stays."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emily.retrieval.bm25 import Member, Statistics, TermGroup, ceiling, score
from emily.retrieval.candidate import Candidate
from emily.retrieval.gathering import attach

GROUPS = (TermGroup("rent", (Member("rent", 1.0),)), TermGroup("cat", (Member("cat", 1.0),)))
ARCHIVE = Statistics(chunks=100, average_terms=50.0, frequencies={"rent": 3, "cat": 40})


def row(chunk: int) -> dict[str, Any]:
    return {
        "id": chunk, "document_id": chunk // 10, "ordinal": chunk % 10, "start_at": chunk,
        "end_at": chunk + 9, "language": "en", "terms": 40 + chunk, "name": f"d{chunk}",
        "part": chunk / 1000,
    }  # fmt: skip


@given(
    chunks=st.lists(st.integers(1, 500), unique=True, min_size=1, max_size=30),
    seed=st.integers(0, 10_000),
)
def test_shuffled_rows_keep_the_order_of_the_candidates(chunks: list[int], seed: int) -> None:
    rows = [row(chunk) for chunk in chunks]
    random.Random(seed).shuffle(rows)
    pool = [Candidate(chunk, fused=1.0 - place / 100) for place, chunk in enumerate(chunks)]
    found = attach(pool, rows, {}, GROUPS, ARCHIVE)
    assert [item.chunk for item in found] == chunks
    for item in found:
        assert item.facts.name == f"d{item.chunk}", "each has its own row"
        assert item.vector == item.chunk / 1000
        assert not len(item.facts.sentences), "fetched for the pool only"


def test_both_arms_score_every_candidate() -> None:
    pool = [Candidate(1, vector=0.9, vector_rank=1), Candidate(2, lexical_rank=1)]
    matches = {2: {"rent": 2}}
    first, second = attach(pool, [row(2), row(1)], matches, GROUPS, ARCHIVE)
    assert first.vector == 0.001, "the score of the store, of the best part"
    assert first.lexical == 0
    assert second.vector == 0.002
    expected = score(GROUPS, {"rent": 2}, 42, ARCHIVE) / ceiling(GROUPS, ARCHIVE)
    assert second.lexical == pytest.approx(expected)
    assert 0 < expected < 1
    assert second.facts.matches == {"rent": 2}


def test_without_an_arm_its_score_is_absent() -> None:
    without_words = attach([Candidate(1)], [row(1)], {}, GROUPS, None)[0]
    assert without_words.lexical is None
    without_meaning = attach([Candidate(1)], [{**row(1), "part": None}], {}, GROUPS, ARCHIVE)[0]
    assert without_meaning.vector is None
    assert attach([Candidate(1)], [row(1)], {}, (), ARCHIVE)[0].lexical == 0


def test_a_chunk_that_went_meanwhile_is_left_out() -> None:
    found = attach([Candidate(1), Candidate(2)], [row(2)], {}, GROUPS, ARCHIVE)
    assert [item.chunk for item in found] == [2]
