"""Chosen chunks become passages that neither overlap nor touch."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from emily.retrieval.widening import ChunkSpan, Span, fit_budget, limit_spans, widen


def made(start: int, end: int, first: int, last: int, *chosen: int) -> Span:
    return Span(start, end, first, last, chosen)


# Ten chunks of 100 characters, two characters between them.
ROW = {i: ChunkSpan(i, i * 102, i * 102 + 100) for i in range(10)}


def test_widens_by_one_chunk_a_side() -> None:
    assert widen([4], ROW, 1) == [made(306, 610, 3, 5, 4)]
    assert widen([4], ROW, 0) == [made(408, 508, 4, 4, 4)]


def test_stops_at_the_edges_of_the_document() -> None:
    assert widen([0, 9], ROW, 1) == [made(0, 202, 0, 1, 0), made(816, 1018, 8, 9, 9)]


def test_merges_what_overlaps_or_touches() -> None:
    assert widen([5, 3], ROW, 1) == [made(204, 712, 2, 6, 5, 3)], "both hold chunk 4"
    assert widen([6, 3], ROW, 1) == [made(204, 814, 2, 7, 6, 3)], "4 and 5 follow each other"
    assert len(widen([7, 3], ROW, 1)) == 2, "chunk 5 lies between"
    assert widen([4, 5], ROW, 0) == [made(408, 610, 4, 5, 4, 5)]


def test_passages_come_in_the_order_of_their_best_chunk() -> None:
    assert [span.chosen for span in widen([9, 0, 5], ROW, 0)] == [(9,), (0,), (5,)]


def test_the_header_is_that_of_the_first_chunk() -> None:
    chunks = {
        0: ChunkSpan(0, 0, 9),
        1: ChunkSpan(1, 10, 19, "a | b"),
        2: ChunkSpan(2, 20, 29, "a | b"),
    }
    assert widen([2], chunks, 1)[0].header == "a | b"
    assert widen([1], chunks, 1)[0].header == "", "it begins before the table"


def test_overlapping_chunks_are_shown_once() -> None:
    chunks = {0: ChunkSpan(0, 0, 100), 1: ChunkSpan(1, 80, 180), 2: ChunkSpan(2, 160, 260)}
    assert widen([1], chunks, 1) == [made(0, 260, 0, 2, 1)]


def test_keeps_to_the_limit() -> None:
    spans, left_out = limit_spans([4, 8, 1], ROW, 1, 600)
    assert sum(span.size for span in spans) <= 600
    assert (4,) in [span.chosen for span in spans], "the best comes first, and wide"
    assert spans[0] == made(306, 610, 3, 5, 4)
    assert left_out == 0, "the others fit as they are"
    spans, left_out = limit_spans([4, 8, 1], ROW, 1, 310)
    assert (spans, left_out) == ([made(306, 610, 3, 5, 4)], 2)


def test_the_best_chunk_is_kept_if_it_alone_is_too_long() -> None:
    (span,), left_out = limit_spans([4, 5], ROW, 1, 50)
    assert (span.first, span.last, left_out) == (4, 4, 1)
    assert span.size > 50
    assert limit_spans([], ROW, 1, 50) == ([], 0)


@st.composite
def documents(draw: st.DrawFn) -> dict[int, ChunkSpan]:
    """Chunks in order, some overlapping the one before, some after a gap."""
    chunks: dict[int, ChunkSpan] = {}
    sizes = draw(st.lists(st.integers(1, 300), min_size=1, max_size=25))
    start = 0
    for ordinal, size in enumerate(sizes):
        chunks[ordinal] = ChunkSpan(ordinal, start, start + size, draw(st.sampled_from(["", "h"])))
        # As the chunker has it: an overlap never reaches behind the chunk before.
        most = (min(size, *sizes[ordinal + 1 : ordinal + 2], 80) - 1) // 2
        start += size - draw(st.integers(-6, most))
    return chunks


@given(chunks=documents(), data=st.data(), by=st.integers(0, 3))
def test_passages_hold_their_chunks_and_lie_apart(chunks, data, by) -> None:
    chosen = data.draw(st.lists(st.sampled_from(sorted(chunks)), unique=True, min_size=1))
    spans = widen(chosen, chunks, by)
    rank = {ordinal: place for place, ordinal in enumerate(chosen)}
    assert sorted(ordinal for span in spans for ordinal in span.chosen) == sorted(chosen)
    for span in spans:
        assert list(span.chosen) == sorted(span.chosen, key=rank.__getitem__)
        for ordinal in span.chosen:
            assert span.start <= chunks[ordinal].start
            assert chunks[ordinal].end <= span.end
        assert 0 <= span.start < span.end <= max(chunk.end for chunk in chunks.values())
    best = [rank[span.chosen[0]] for span in spans]
    assert best == sorted(best)
    by_place = sorted(spans, key=lambda span: span.start)
    for one, next_ in pairwise(by_place):
        assert next_.first > one.last + 1, "a chunk lies between"
        assert next_.start >= one.end, "they do not overlap"


@given(chunks=documents(), data=st.data(), by=st.integers(0, 3), most=st.integers(1, 3000))
def test_a_limited_answer_keeps_to_its_limit(chunks, data, by, most) -> None:
    chosen = data.draw(st.lists(st.sampled_from(sorted(chunks)), unique=True, min_size=1))
    spans, left_out = limit_spans(chosen, chunks, by, most)
    kept = [ordinal for span in spans for ordinal in span.chosen]
    assert len(kept) + left_out == len(chosen)
    assert len(set(kept)) == len(kept)
    assert set(kept) <= set(chosen)
    assert kept
    if len(kept) > 1:
        assert sum(span.size for span in spans) <= most


# Three documents of ten chunks each, 10 to 19 tokens.
SHELF = {
    document: {i: ChunkSpan(i, i * 102, i * 102 + 100, tokens=10 + i) for i in range(10)}
    for document in (1, 2, 3)
}


def test_a_budget_is_given_out_in_order() -> None:
    # 14 tokens alone, 13 + 14 + 15 with its neighbours.
    found, left_out = fit_budget([(1, 4), (2, 4), (1, 8)], SHELF, 1, 42 + 14)
    assert found == {1: [made(306, 610, 3, 5, 4)], 2: [made(408, 508, 4, 4, 4)]}
    assert left_out == 1, "the third fits neither widened nor alone"
    found, left_out = fit_budget([(1, 4), (2, 9), (3, 0)], SHELF, 0, 24)
    assert set(found) == {1, 3}, "what does not fit makes room for the next"
    assert left_out == 1


def test_the_first_is_kept_also_where_it_alone_is_too_long() -> None:
    found, left_out = fit_budget([(1, 4), (2, 4)], SHELF, 1, 3)
    assert found == {1: [made(408, 508, 4, 4, 4)]}
    assert left_out == 1
    assert fit_budget([], SHELF, 1, 3) == ({}, 0)


places = st.lists(
    st.tuples(st.integers(1, 3), st.integers(0, 9)), unique=True, min_size=1, max_size=12
)


@given(chosen=places, by=st.integers(0, 3), budget=st.integers(1, 400))
def test_passages_of_any_choice_fit_their_budget(
    chosen: list[tuple[int, int]], by: int, budget: int
) -> None:
    found, left_out = fit_budget(chosen, SHELF, by, budget)
    spans = [(document, span) for document, listed in found.items() for span in listed]
    kept = [(document, ordinal) for document, span in spans for ordinal in span.chosen]
    assert sorted(kept) == sorted(set(kept))
    assert len(kept) == len(chosen) - left_out
    assert set(kept) <= set(chosen)
    assert chosen[0] in kept, "the best is always shown"
    tokens = sum(
        SHELF[document][place].tokens
        for document, span in spans
        for place in range(span.first, span.last + 1)
    )
    assert tokens <= budget or kept == [chosen[0]]
    # Documents stand in the order in which they first got room.
    order = [document for document, _ in chosen if document in found]
    assert list(found) == list(dict.fromkeys(order))
