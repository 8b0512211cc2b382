"""Rows come from the store in any order; the fusion's order stays."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emily.indexing.vectors import pack
from emily.retrieval.bm25 import Member, Statistics, TermGroup, ceiling, score
from emily.retrieval.candidate import Candidate
from emily.retrieval.gathering import attach

GROUPS = (TermGroup("rent", (Member("rent", 1.0),)), TermGroup("cat", (Member("cat", 1.0),)))
ARCHIVE = Statistics(chunks=100, average_terms=50.0, frequencies={"rent": 3, "cat": 40})


def row(chunk: int) -> dict[str, Any]:
    return {
        "id": chunk, "document_id": chunk // 10, "ordinal": chunk % 10, "page": 1,
        "start_at": chunk, "end_at": chunk + 9, "language": "en", "terms": 40 + chunk,
        "words": [chunk, chunk + 1], "sentences": pack(np.eye(2, 4, dtype=np.float32)),
        "name": f"d{chunk}", "description": None, "part": chunk / 1000, "name_similarity": None,
    }  # fmt: skip


@given(
    chunks=st.lists(st.integers(1, 500), unique=True, min_size=1, max_size=30),
    seed=st.integers(0, 10_000),
)
def test_shuffled_rows_keep_the_order_of_the_candidates(chunks: list[int], seed: int) -> None:
    rows = [row(chunk) for chunk in chunks]
    random.Random(seed).shuffle(rows)
    pool = [Candidate(chunk, fused=1.0 - place / 100) for place, chunk in enumerate(chunks)]
    found = attach(pool, rows, {}, GROUPS, ARCHIVE, 4)
    assert [item.chunk for item in found] == chunks
    for item in found:
        assert item.facts.name == f"d{item.chunk}", "each has its own row"
        assert item.vector == item.chunk / 1000
        assert item.facts.words.tolist() == [item.chunk, item.chunk + 1]
        assert item.facts.sentences.shape == (2, 4)


def test_both_arms_score_every_candidate() -> None:
    pool = [Candidate(1, vector=0.9, vector_rank=1), Candidate(2, lexical_rank=1)]
    matches = {2: {"rent": 2}}
    first, second = attach(pool, [row(2), row(1)], matches, GROUPS, ARCHIVE, 4)
    assert first.vector == 0.001, "the score of the store, of the best part"
    assert first.lexical == 0
    assert second.vector == 0.002
    expected = score(GROUPS, {"rent": 2}, 42, ARCHIVE) / ceiling(GROUPS, ARCHIVE)
    assert second.lexical == pytest.approx(expected)
    assert 0 < expected < 1
    assert second.facts.matches == {"rent": 2}


def test_without_an_arm_its_score_is_absent() -> None:
    without_words = attach([Candidate(1)], [row(1)], {}, GROUPS, None, 4)[0]
    assert without_words.lexical is None
    without_meaning = attach([Candidate(1)], [{**row(1), "part": None}], {}, GROUPS, ARCHIVE, 4)[0]
    assert without_meaning.vector is None
    assert attach([Candidate(1)], [row(1)], {}, (), ARCHIVE, 4)[0].lexical == 0


def test_a_chunk_that_went_meanwhile_is_left_out() -> None:
    found = attach([Candidate(1), Candidate(2)], [row(2)], {}, GROUPS, ARCHIVE, 4)
    assert [item.chunk for item in found] == [2]


def test_a_chunk_without_vectors_has_no_sentences() -> None:
    found = attach([Candidate(1)], [{**row(1), "sentences": b"", "part": None}], {}, GROUPS,
                   ARCHIVE, 4)  # fmt: skip
    assert found[0].facts.sentences.shape == (0, 4)
