"""BM25 by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emily.retrieval.bm25 import Member, Statistics, TermGroup, ceiling, inverse_frequency, score

ARCHIVE = Statistics(chunks=10, average_terms=100.0, frequencies={"rent": 2, "affit": 4, "cat": 9})


def group(*terms: str, weights: tuple[float, ...] = ()) -> TermGroup:
    chosen = weights or (1.0,) * len(terms)
    return TermGroup(terms[0], tuple(Member(t, w) for t, w in zip(terms, chosen, strict=True)))


def test_inverse_frequency() -> None:
    # ln(1 + (10 - 2 + .5) / (2 + .5)) = ln 4.4
    assert inverse_frequency(10, 2) == pytest.approx(math.log(4.4))
    assert inverse_frequency(10, 10) > 0, "a term of every chunk still counts a little"
    assert inverse_frequency(0, 0) == pytest.approx(math.log(2))


def test_a_chunk_of_average_length() -> None:
    # At average length the damping is k1 = 1.2; frequency 3 gives 3 · 2.2 / 4.2.
    found = score([group("rent")], {"rent": 3}, 100, ARCHIVE)
    assert found == pytest.approx(math.log(4.4) * 3 * 2.2 / 4.2)


def test_a_longer_chunk_scores_less() -> None:
    # Twice the average: damping 1.2 · (.25 + .75 · 2) = 2.1
    found = score([group("rent")], {"rent": 1}, 200, ARCHIVE)
    assert found == pytest.approx(math.log(4.4) * 2.2 / 3.1)


def test_of_a_group_the_best_member_counts_once() -> None:
    rent = score([group("rent")], {"rent": 1}, 100, ARCHIVE)
    both = score([group("rent", "affit")], {"rent": 1, "affit": 1}, 100, ARCHIVE)
    assert both == pytest.approx(rent)
    only = score([group("rent", "affit", weights=(1.0, 0.5))], {"affit": 1}, 100, ARCHIVE)
    assert only == pytest.approx(0.5 * inverse_frequency(10, 4))


def test_groups_add_up() -> None:
    groups = [group("rent"), group("cat")]
    apart = sum(score([item], {"rent": 1, "cat": 2}, 80, ARCHIVE) for item in groups)
    assert score(groups, {"rent": 1, "cat": 2}, 80, ARCHIVE) == pytest.approx(apart)


def test_nothing_that_matches_scores_nothing() -> None:
    assert score([group("rent")], {}, 100, ARCHIVE) == 0
    assert score([], {"rent": 1}, 100, ARCHIVE) == 0
    assert score([group("rent")], {"rent": 1}, 0, Statistics(0, 0.0, {})) >= 0


def test_the_ceiling_counts_a_term_that_is_nowhere_in_full() -> None:
    known = ceiling([group("rent")], ARCHIVE)
    assert known == pytest.approx(math.log(4.4) * 2.2)
    with_unknown = ceiling([group("rent"), group("qqxzvwmpl")], ARCHIVE)
    assert with_unknown - known == pytest.approx(inverse_frequency(10, 0) * 2.2)
    assert ceiling([], ARCHIVE) == 0


@given(
    frequencies=st.dictionaries(
        st.sampled_from("abcdef"), st.tuples(st.integers(1, 50), st.integers(1, 40)), max_size=6
    ),
    terms=st.integers(1, 1000),
    more=st.integers(1, 100),
)
def test_bounded_and_growing(frequencies, terms, more) -> None:
    groups = [group(term) for term in "abcdef"]
    archive = Statistics(50, 100.0, {term: held for term, (held, _) in frequencies.items()})
    matches = {term: often for term, (_, often) in frequencies.items()}
    found = score(groups, matches, terms, archive)
    assert 0 <= found <= ceiling(groups, archive) + 1e-9
    oftener = {term: often + more for term, often in matches.items()}
    assert score(groups, oftener, terms, archive) >= found
    assert score(groups, matches, terms + more, archive) <= found
