"""The nearest chunks in memory are those of comparing every vector."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from emily.retrieval import level_matrix, part_vectors
from emily.retrieval.chunk_table import integers
from emily.retrieval.level_matrix import LevelMatrix, halves
from emily.retrieval.part_vectors import PartMatrix

DIMENSION = 100  # no multiple of 64


def made(seed: int, chunks: int) -> tuple[PartMatrix, NDArray[np.float16], NDArray[np.intp]]:
    """A matrix of chunks with none to four parts, put in by two steps; its vectors and counts."""
    chance = np.random.default_rng(seed)
    counts = chance.integers(0, 5, chunks).astype(np.intp)
    # Around a few centres, as texts are about a few things, with some that are the same.
    centres = chance.standard_normal((5, DIMENSION))
    vectors = centres[chance.integers(0, 5, counts.sum())]
    vectors = vectors + 0.7 * chance.standard_normal(vectors.shape)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    exact = vectors.astype(np.float16)
    exact[1::7] = exact[::7][: len(exact[1::7])]
    middle = chunks // 2
    matrix = PartMatrix.empty(DIMENSION)
    start = 0
    for part in (counts[:middle], counts[middle:]):
        size = int(part.sum())
        matrix = matrix.grown(size)
        assert matrix.put(start, exact[start : start + size]) == start + size
        matrix = matrix.counted(part)
        start += size
    return matrix, exact, counts


def question(seed: int) -> NDArray[np.float32]:
    vector = np.random.default_rng(seed + 1).standard_normal(DIMENSION).astype(np.float32)
    return vector / np.linalg.norm(vector)


@given(
    seed=st.integers(0, 10_000),
    chunks=st.integers(0, 400),
    limit=st.integers(1, 50),
    share=st.sampled_from([None, 0.0, 0.1, 0.9]),
)
def test_nearest_as_by_comparing_all(
    seed: int, chunks: int, limit: int, share: float | None
) -> None:
    matrix, exact, counts = made(seed, chunks)
    vector = question(seed)
    allowed = None if share is None else np.random.default_rng(seed).random(chunks) < share
    owners = np.repeat(np.arange(chunks), counts)
    cosines = exact.astype(np.float32) @ vector
    best = {
        chunk: float(cosines[owners == chunk].max())
        for chunk in set(owners.tolist())
        if allowed is None or allowed[chunk]
    }
    expected = sorted(best, key=lambda chunk: (-round(best[chunk], 5), chunk))[:limit]
    rows, scores = matrix.nearest(vector, limit, allowed)
    assert scores.tolist() == pytest.approx([best[chunk] for chunk in rows.tolist()], abs=1e-6)
    assert [round(best[chunk], 5) for chunk in rows.tolist()] == pytest.approx(
        [round(best[chunk], 5) for chunk in expected], abs=2e-5
    )
    asked = np.arange(chunks)[::3]
    assert matrix.cosines(vector, asked) == [
        None if not counts[chunk] else pytest.approx(cosines[owners == chunk].max(), abs=1e-6)
        for chunk in asked.tolist()
    ]


def test_equals_come_in_the_order_of_their_rows() -> None:
    matrix = PartMatrix.empty(DIMENSION).grown(6)
    vector = question(0)
    matrix.put(0, np.tile(vector.astype(np.float16), (6, 1)))
    rows, _ = matrix.counted(np.ones(6, np.intp)).nearest(vector, 4)
    assert rows.tolist() == [0, 1, 2, 3]


def test_chunks_that_are_gone() -> None:
    matrix, exact, counts = made(3, 100)
    kept = np.arange(100) % 3 > 0
    small = matrix.kept(kept)
    vector = question(3)
    rows, scores = small.nearest(vector, 20)
    before, same = matrix.nearest(vector, 20, kept)
    assert np.flatnonzero(kept)[rows].tolist() == before.tolist()
    assert scores.tolist() == same.tolist()
    assert len(small) == counts[kept].sum() < len(exact)


@pytest.mark.parametrize("gone", [(), (0,), (99,), (3, 4, 50), range(100), range(0, 100, 2)])
def test_chunks_that_are_gone_leave_room_for_new_ones(gone: Sequence[int]) -> None:
    matrix, exact, counts = made(3, 100)
    kept = np.ones(100, bool)
    kept[list(gone)] = False
    more = exact[:7]
    grown = matrix.kept(kept, 7)
    grown.put(int(grown.starts[-1]), more)
    grown = grown.counted(np.array([3, 4]))
    parts = np.repeat(kept, counts)
    expected = PartMatrix.empty(DIMENSION).grown(int(parts.sum()) + 7)
    expected.put(0, np.concatenate([exact[parts], more]))
    expected = expected.counted(np.append(counts[kept], [3, 4]))
    assert np.array_equal(grown.starts, expected.starts)
    assert np.array_equal(grown.signs, expected.signs)
    for own, other in zip(grown.vectors._arrays(), expected.vectors._arrays(), strict=True):
        assert np.array_equal(own, other)


def test_rows_are_copied_by_runs_as_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = np.arange(30).reshape(10, 3)
    kept = np.array([0, 1, 1, 0, 1, 0, 1, 1, 1, 0], bool)
    by_runs = level_matrix.spliced(numbers, kept)
    monkeypatch.setattr(level_matrix, "_MOST_RUNS", 0)
    assert (
        level_matrix.spliced(numbers, kept).tolist() == by_runs.tolist() == numbers[kept].tolist()
    )


def test_by_signs_most_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part_vectors, "SIGNS_KEPT", 800)
    matrix, exact, _ = made(5, 2000)
    found = kept = 0
    for seed in range(20):
        # Questions have near answers: pure noise is near nothing.
        vector = exact[97 * seed].astype(np.float32) + question(seed) * 0.5
        vector /= np.linalg.norm(vector)
        exactly, _ = matrix.nearest(vector, 20, by_signs=False)
        by_signs, scores = matrix.nearest(vector, 20, by_signs=True)
        assert scores.tolist() == sorted(scores.tolist(), reverse=True)
        found += len(set(exactly.tolist()) & set(by_signs.tolist()))
        kept += len(exactly)
        inside = np.arange(2000) % 2 == 0
        assert inside[matrix.nearest(vector, 20, inside, by_signs=True)[0]].all()
    assert found / kept > 0.9


def test_what_the_bytes_lost_bounds_the_error() -> None:
    chance = np.random.default_rng(1)
    vectors = chance.standard_normal((200, DIMENSION)).astype(np.float16)
    vectors[3] = 0
    matrix = LevelMatrix.of(vectors)
    queries = chance.standard_normal((3, DIMENSION)).astype(np.float32)
    rough, errors = matrix.rough(queries)
    exact = vectors.astype(np.float32) @ queries.T
    assert (np.abs(rough - exact) <= errors[:, None]).all()


def test_halves_become_the_same_floats() -> None:
    every = np.arange(2**16, dtype=np.uint32).astype(np.uint16).view(np.float16)
    finite = every[np.isfinite(every)].reshape(-1, 4)
    matrix = LevelMatrix(finite, np.empty(0, np.int8), *(np.empty(0, np.float32),) * 2)
    assert (matrix.floats(np.arange(len(finite))) == finite.astype(np.float32)).all()


def test_as_the_store_sends_them() -> None:
    sent = b"\x00\x02\x00\x00" + np.array([1.5, -2.0], ">f2").tobytes()
    assert halves(sent * 3, 2).tolist() == [[1.5, -2.0]] * 3
    assert halves(None, 2).shape == (0, 2)
    head = np.array([1, 0, 20, 2, 1], ">i4").tobytes()
    body = b"".join(
        np.array([8], ">i4").tobytes() + np.array([n], ">i8").tobytes() for n in (7, -1)
    )
    assert integers(head + body, 8).tolist() == [7, -1]
    assert integers(None, 8).tolist() == []
    assert integers(np.array([0, 0, 20], ">i4").tobytes(), 8).tolist() == []
