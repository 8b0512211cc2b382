"""Which words of the archive a query word is also looked for as."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emily.indexing.terms import prefix
from emily.retrieval.vocabulary import (
    COVERING_WEIGHT,
    MOST_OTHER,
    MOST_SAME,
    OTHER_LANGUAGE_COSINE,
    OTHER_LANGUAGE_WEIGHT,
    SAME_LANGUAGE_WEIGHT,
    Affinity,
    Words,
    affinity,
    find_neighbours,
)


def vocabulary(*entries: tuple[str, str, float]) -> tuple[Words, np.ndarray]:
    """Words of a language with their cosine to the query word; the query's vector."""
    cosines = np.array([cosine for *_, cosine in entries], np.float32)
    vectors = np.stack([cosines, np.sqrt(1 - cosines**2)], axis=1).astype(np.float32)
    surfaces, languages, _ = zip(*entries, strict=True)
    words = Words.of(range(10, 10 * len(entries) + 1, 10), surfaces, languages, vectors)
    return words, np.array([[1.0, 0.0]], np.float32)


def compare(word: str, *entries: tuple[str, str, float]) -> Affinity:
    words, vector = vocabulary(*entries)
    return affinity(words, [word], vector)


def test_near_words_of_other_languages_nearest_first() -> None:
    found = compare(
        "schermo",
        ("display", "en", 0.7),
        ("screen", "en", 0.9),
        ("oven", "en", OTHER_LANGUAGE_COSINE - 0.01),
    )
    near = find_neighbours(found, 0, "scher", "it")
    assert [item.surface for item in near] == ["screen", "display"]
    assert near[0].weight == pytest.approx(0.9**2 * OTHER_LANGUAGE_WEIGHT, rel=1e-3)
    assert near[0].language == "en"


def test_words_of_the_own_language_must_be_nearer() -> None:
    found = compare("schermo", ("monitor", "it", 0.7), ("display", "it", 0.8))
    near = find_neighbours(found, 0, "scher", "it")
    assert [item.surface for item in near] == ["display"]
    assert near[0].weight == pytest.approx(0.8 * SAME_LANGUAGE_WEIGHT, rel=1e-3)
    # Without a known language each is another's.
    assert len(find_neighbours(found, 0, "scher", None)) == 2


def test_the_own_term_and_repeated_terms_are_no_neighbours() -> None:
    found = compare(
        "contract", ("contratto", "it", 0.95), ("accordo", "it", 0.9), ("accordi", "it", 0.8)
    )
    near = find_neighbours(found, 0, prefix("contract"), "en")
    assert [item.surface for item in near] == ["accordo"], "contr- and accor- come once"


def test_no_more_than_so_many() -> None:
    entries = [(f"{chr(97 + i)}word", "en", 0.95 - i / 100) for i in range(10)]
    entries += [(f"{chr(97 + i)}parola", "it", 0.95 - i / 100) for i in range(10)]
    near = find_neighbours(compare("schermo", *entries), 0, "scher", "it")
    assert sum(item.language == "en" for item in near) == MOST_OTHER
    assert sum(item.language == "it" for item in near) == MOST_SAME
    cosines = [item.cosine for item in near]
    assert cosines == sorted(cosines, reverse=True)


def test_a_chunk_is_matched_by_its_best_word() -> None:
    found = compare("schermo", ("schermi", "it", 0.2), ("screen", "en", 0.9), ("oven", "en", 0.1))
    assert found.of_chunk(np.array([10]))[0] == 1.0, "the same term matches in full"
    assert found.of_chunk(np.array([20, 30]))[0] == pytest.approx(0.9 * COVERING_WEIGHT, rel=1e-3)
    assert found.of_chunk(np.array([30]))[0] == 0
    assert found.of_chunk(np.array([], dtype=np.int64))[0] == 0
    # Words that came after the vocabulary was read match nothing.
    assert found.of_chunk(np.array([31, 99]))[0] == 0


def test_a_sure_translation_counts_nearly_as_the_word_and_a_guess_hardly() -> None:
    found = compare("schermo", ("screen", "en", 0.96), ("glass", "en", 0.57), ("oven", "en", 0.54))
    near = find_neighbours(found, 0, "scher", "it")
    assert [item.surface for item in near] == ["screen", "glass"]
    assert near[0].weight == 1.0, "never more than the word itself"
    assert near[1].weight == pytest.approx(1.1 * 0.57**2, rel=1e-2)
    # The gate covers by its own rule: what is that far covers nothing.
    assert found.of_chunk(np.array([10]))[0] == pytest.approx(0.8 * 0.96, rel=1e-3)
    assert found.of_chunk(np.array([20]))[0] == 0


def test_an_empty_vocabulary() -> None:
    empty = Words.empty(2)
    found = affinity(empty, ["schermo"], np.ones((1, 2), np.float32))
    assert find_neighbours(found, 0, "scher", "it") == []
    assert found.of_chunk(np.array([1, 2])).tolist() == [0]


@given(seed=st.integers(0, 10_000), first=st.integers(0, 300))
def test_what_was_compared_before_is_not_compared_again(seed: int, first: int) -> None:
    """A vocabulary that grew gives for a known word what it gives for an unknown one."""
    chance = np.random.default_rng(seed)
    vectors = chance.standard_normal((300, 6)).astype(np.float16).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    surfaces = [f"{chr(97 + row % 26)}{chr(97 + row // 26)}word" for row in range(300)]
    languages = ["it", "en", "de"] * 100
    ids = range(1, 301)
    asked = ["aaword", "never"]
    query = vectors[[0, 7]]
    small = Words.of(ids[:first], surfaces[:first], languages[:first], vectors[:first])
    known = dict(zip(asked, affinity(small, asked, query).near, strict=True))
    assert all(item.seen == first for item in known.values())
    grown = small.extended(
        ids[first:], surfaces[first:], languages[first:], vectors[first:].astype(np.float16)
    )
    found, anew = affinity(grown, asked, query, known), affinity(grown, asked, query)
    for row in (0, 1):
        assert found.near[row].rows.tolist() == anew.near[row].rows.tolist()
        exact = vectors.astype(np.float16).astype(np.float32) @ query[row]
        expected = np.flatnonzero(exact >= OTHER_LANGUAGE_COSINE)
        assert found.near[row].rows.tolist() == expected.tolist(), "none is lost by the bytes"
    words = np.sort(chance.choice(np.arange(1, 301), 40, replace=False))
    best = found.of_chunk(words)
    for row in (0, 1):
        one_by_one = [found.of_chunk(words[place : place + 1])[row] for place in range(40)]
        assert best[row] == max(one_by_one)
