"""Words of a question in a passage."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.cli.fake_brain import ANSWER

from emily.cli.excerpts import WordFinder, best_window

LANGUAGES = ("it", "en")


def _found(query: str, text: str) -> list[str]:
    finder = WordFinder(replace(ANSWER, query=query, trace={}), LANGUAGES)
    return [text[start:end] for start, end in finder.spans(text)]


@pytest.mark.parametrize(
    ("query", "text", "found"),
    [
        ("the rent", "Rent: the RENTAL, not rant", ["Rent"]),
        ("perche", "Perché no? PERCHE", ["Perché", "PERCHE"]),
        ("contract TM-X200/4", "our contracts for tmx200/4", ["contracts", "tmx200/4"]),
        ("1234.56", "fa 1.234,56 euro", ["1.234,56"]),
        ("di il the", "di il the", []),
        ("?!", "what?!", []),
    ],
)
def test_words_are_found_as_the_lexical_arm_does(query: str, text: str, found: list[str]) -> None:
    assert _found(query, text) == found


def test_neighbours_of_other_languages_are_found() -> None:
    text = "The rent, il canone"
    finder = WordFinder(replace(ANSWER, query="rent"), LANGUAGES)
    assert [text[start:end] for start, end in finder.spans(text)] == ["rent", "canone"]
    assert finder.support("il canone") == {"rent": 0.61}
    assert finder.support("canone, rent") == {"rent": 1.0}


def test_different_words_count_before_repeated_ones() -> None:
    many = [{"rent": 1.0}, {"rent": 1.0}, {"rent": 1.0}, {}, {"rent": 1.0}, {"flat": 0.5}]
    assert best_window(many, 2) == 4


def test_the_middle_of_equal_windows_is_taken() -> None:
    support: list[dict[str, float]] = [{}] * 20
    support[10] = {"rent": 1.0}
    assert best_window(support, 5) == 8
    assert best_window([{}] * 20, 5) == 0


@given(
    st.lists(
        st.dictionaries(st.sampled_from("abc"), st.floats(0.1, 1.0), max_size=3),
        min_size=3,
        max_size=30,
    ),
    st.integers(1, 3),
)
def test_no_window_is_better(support: list[dict[str, float]], size: int) -> None:
    def words(at: int) -> float:
        lines = support[at : at + size]
        return sum(max(line.get(word, 0.0) for line in lines) for word in "abc")

    chosen = best_window(support, size)
    assert 0 <= chosen <= len(support) - size
    assert words(chosen) == pytest.approx(max(words(at) for at in range(len(support) - size + 1)))
