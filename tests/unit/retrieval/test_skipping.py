"""Leaving out what cannot change the top changes nothing at the top."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from emily.retrieval import skipping
from emily.retrieval.bm25 import K1, B, Member, Statistics, TermGroup, score
from emily.retrieval.chunk_table import ChunkTable
from emily.retrieval.postings import PostingList
from emily.retrieval.skipping import best_chunks, occurrences


@pytest.fixture(autouse=True)
def always_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skipping, "WORTH", 0)


def archive(
    seed: int, chunks: int, terms: int
) -> tuple[ChunkTable, dict[str, PostingList], Statistics, list[dict[str, int]]]:
    """Chunks whose terms occur as words do: the n-th in about 1/n of the chunks."""
    chance = np.random.default_rng(seed)
    counts = [
        {
            f"t{term}": int(chance.integers(1, 6))
            for term in range(terms)
            if chance.random() < 0.9 / (terms - term)
        }
        for _ in range(chunks)
    ]
    lengths = np.array([20 + sum(each.values()) for each in counts], np.int32)
    empty = ChunkTable.empty(8)
    table = ChunkTable(
        1, np.arange(1, chunks + 1) * 2, {**empty.columns, "terms": lengths},
        np.full(chunks, None, object), {}, float(lengths.mean()), empty.vectors, 2 * chunks,
    )  # fmt: skip
    lists = {}
    for term in range(terms):
        rows = np.array([row for row in range(chunks) if f"t{term}" in counts[row]], np.int32)
        frequencies = np.array([counts[row][f"t{term}"] for row in rows], np.int16)
        damping = K1 * (1 - B + B * lengths[rows] / table.average)
        gains = (frequencies * (K1 + 1) / (frequencies + damping)).astype(np.float32)
        lists[f"t{term}"] = PostingList(rows, frequencies, gains, float(gains.max(initial=0)))
    held = {term: len(found) for term, found in lists.items() if len(found)}
    return table, lists, Statistics(chunks, table.average, held), counts


def asked(seed: int, terms: int) -> tuple[TermGroup, ...]:
    """A question of up to eight words with up to three neighbours each."""
    chance = np.random.default_rng(seed)
    groups = []
    for word in chance.choice(terms, min(terms, int(chance.integers(1, 9))), replace=False):
        near = chance.choice(terms, int(chance.integers(0, 4)))
        members = [
            Member(f"t{term}", float(chance.uniform(0.4, 0.8))) for term in set(near.tolist())
        ]
        groups.append(TermGroup(f"t{word}", (Member(f"t{word}", 1.0), *members)))
    return tuple(groups)


@given(
    seed=st.integers(0, 10_000),
    chunks=st.integers(1, 300),
    limit=st.integers(1, 30),
    share=st.sampled_from([None, 0.0, 0.2, 0.9]),
)
def test_the_top_is_that_of_adding_up_everything(
    seed: int, chunks: int, limit: int, share: float | None
) -> None:
    table, lists, statistics, counts = archive(seed, chunks, 20)
    groups = asked(seed, 20)
    allowed: NDArray[np.bool_] | None = None
    if share is not None:
        allowed = np.random.default_rng(seed).random(chunks) < share
    exact = {}
    for row in range(chunks):
        value = score(groups, counts[row], int(table.lengths[row]), statistics)
        if value and (allowed is None or allowed[row]):
            exact[row] = value
    expected = sorted(exact, key=lambda row: (-exact[row], row))[:limit]
    for skip in (True, False):
        found = best_chunks(groups, lists, statistics, table, limit, allowed, skip=skip)
        assert found.rows == expected
        assert found.scores == [exact[row] for row in expected]


def test_the_commonest_words_are_left_out() -> None:
    table, lists, statistics, _ = archive(1, 6000, 40)
    # t39 is in nine of ten chunks, t0 in one of forty-four.
    groups = tuple(TermGroup(f"t{term}", (Member(f"t{term}", 1.0),)) for term in (0, 1, 2, 38, 39))
    found = best_chunks(groups, lists, statistics, table, 20)
    everything = best_chunks(groups, lists, statistics, table, 20, skip=False)
    assert found.rows == everything.rows
    assert everything.looked_at == everything.held
    assert found.looked_at < 0.5 * found.held


def test_how_often_terms_stand_in_chunks() -> None:
    _, lists, _, counts = archive(2, 50, 6)
    rows = np.array([3, 4, 40], np.int32)
    assert occurrences(lists, rows) == [counts[row] for row in rows.tolist()]
    assert occurrences({}, rows) == [{}, {}, {}]


def test_no_term_finds_nothing() -> None:
    table, lists, statistics, _ = archive(2, 50, 6)
    assert best_chunks((), lists, statistics, table, 5).rows == []
    assert best_chunks((), lists, statistics, table, 5).scores == pytest.approx([])
