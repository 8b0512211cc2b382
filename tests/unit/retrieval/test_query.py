"""What is made of a question before anything is looked for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes import WordsEmbedder

from emily.errors import ModelUnavailable
from emily.retrieval.query import MOST_TERMS, expand, parse, understand
from emily.retrieval.vocabulary import Words, affinity

LANGUAGES = ("it", "en")


def terms(text: str) -> list[str]:
    return [group.members[0].term for group in parse(text, LANGUAGES, None).groups]


@given(st.text() | st.text(st.characters(min_codepoint=33, max_codepoint=64)))
def test_any_string_is_a_question(text: str) -> None:
    query = parse(text, LANGUAGES, None)
    assert len(query.groups) <= MOST_TERMS
    assert len(query.words) <= MOST_TERMS
    assert len({group.members[0].term for group in query.groups}) == len(query.groups)
    assert len(set(query.words)) == len(query.words)
    # What the store and the tokenizer cannot take is gone.
    for part in (query.text, *query.words, *(group.members[0].term for group in query.groups)):
        assert "\0" not in part
        part.encode("utf-8")
    assert all(query.figures), "no figure without a term"


def test_white_space_is_folded_and_half_characters_go() -> None:
    assert parse("  quanto\n costa\0ora ", LANGUAGES, "it").text == "quanto costa ora"
    assert parse("a \ud800 b", LANGUAGES, None).text == "a ? b"


def test_function_words_carry_no_meaning() -> None:
    assert terms("what is the of and") == []
    assert terms("Quanto costa la caldaia?") == ["costa", "calda"]


def test_a_pasted_page_is_bounded() -> None:
    text = " ".join(f"parola{chr(97 + i % 26)}{chr(97 + i // 26)}xyz" for i in range(300))
    query = parse(" ".join(f"{chr(97 + i % 26)}{chr(97 + i // 26)}word" for i in range(600)) + text,
                  LANGUAGES, None)  # fmt: skip
    assert len(query.groups) == MOST_TERMS
    assert len(query.words) == MOST_TERMS


def test_the_exact_spelling_counts_a_little() -> None:
    weights = {
        g.members[0].term: g.members[0].weight
        for g in parse("perché città", LANGUAGES, "it").groups
    }
    assert weights["citta"] == 1.0
    assert 0 < weights["=città"] < 0.5


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("fattura DEC-0054", 1),
        ("TM-X200/4 manual and 2026-12-15", 2),
        ("the rent of 2024", 1),
        ("IT60X0542811101000000123456", 1),
        ("no number at all", 0),
    ],
)
def test_figures_are_numbers_dates_and_identifiers(text: str, figures: int) -> None:
    assert len(parse(text, LANGUAGES, None).figures) == figures


def test_a_figure_is_the_whole_not_its_parts() -> None:
    (wanted,) = parse("1.234,56", LANGUAGES, "it").figures
    assert wanted & set(terms("1,234.56")), "the same amount, written the English way"
    assert not wanted & set(terms("1.235,56"))
    (identifier,) = parse("DEC-0054", LANGUAGES, None).figures
    assert not identifier & set(terms("DEC-0055"))


def test_understanding_gives_a_vector_a_word() -> None:
    query = parse("la caldaia perde acqua", LANGUAGES, "it")
    meaning = understand(query, WordsEmbedder())
    assert meaning.vector.shape == (64,)
    assert meaning.word_vectors.shape == (len(query.words), 64)
    assert meaning.rarity.shape == (len(query.words),)
    embedder = WordsEmbedder()
    embedder.down = True
    with pytest.raises(ModelUnavailable):
        understand(query, embedder)


def test_neighbours_join_the_group_of_their_word() -> None:
    query = parse("schermo rotto 12", LANGUAGES, "it")
    assert query.words == ("schermo", "rotto")
    words = Words.of([1, 2], ["screen", "oven"], ["en", "en"], np.eye(2, 3))
    vectors = np.array([[0.9, 0.1, 0.4], [0.0, 0.2, 0.97]], np.float32)
    groups = {g.surface: g for g in expand(query, affinity(words, query.words, vectors))}
    near = groups["schermo"].members
    assert [member.term for member in near] == ["scher", "scree"]
    assert near[1].surface == "screen"
    assert near[1].weight == pytest.approx(1.1 * 0.9**2)
    assert len(groups["rotto"].members) == 1
    assert len(groups["12"].members) == 1


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("IT60 X054 2811 1010 0000 0123 456", "!it60x0542811101000000123456"),
        ("conto IT60 X054 2811 1010 0000 0123 456?", "!it60x0542811101000000123456"),
        ("consegna 15 dicembre 2026", "@2026-12-15"),
        ("due on December 15, 2026", "@2026-12-15"),
        ("due on the 3rd of March 2026", "@2026-03-03"),
    ],
)
def test_figures_of_several_tokens_are_one(text: str, whole: str) -> None:
    figures = parse(text, LANGUAGES, None).figures
    assert figures == (frozenset([whole]),)


def test_figures_beside_each_other_stay_two() -> None:
    assert len(parse("pagine 15 e 20 di dicembre", LANGUAGES, None).figures) == 2
    assert len(parse("IT60 e X054", LANGUAGES, None).figures) == 2


def test_a_day_is_not_its_month() -> None:
    (day,) = parse("2026-12-15", LANGUAGES, None).figures
    assert day == {"@2026-12-15"}
    assert any("@2026-12" in figure for figure in parse("dicembre 2026", LANGUAGES, None).figures)
