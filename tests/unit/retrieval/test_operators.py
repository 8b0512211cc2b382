"""Phrases and words to leave out; every other sign is a character like any."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emily.retrieval.operators import folded_words, read_operators
from emily.retrieval.query import parse

LANGUAGES = ("it", "en")


def read(text: str) -> tuple[str, list[str], list[str]]:
    found = read_operators(text)
    return (
        found.text,
        [phrase.text for phrase in found.phrases],
        [phrase.text for phrase in found.left_out],
    )


@pytest.mark.parametrize(
    ("text", "rest", "phrases", "left_out"),
    [
        ('costa "la caldaia nuova"?', "costa la caldaia nuova?", ["la caldaia nuova"], []),
        ("“città alta” «perché no»", "città alta perché no", ["città alta", "perché no"], []),
        ("„Haus am See“ -Garten", "Haus am See", ["Haus am See"], ["Garten"]),
        ("canone -garage", "canone", [], ["garage"]),
        ('canone -"posto auto" mensile', "canone mensile", [], ["posto auto"]),
        ('"DEC-0054" -DEC-0055', "DEC-0054", ["DEC-0054"], ["DEC-0055"]),
        ("canone (-garage)", "canone (-garage)", [], []),
        ("spese -condominio, acqua", "spese , acqua", [], ["condominio"]),
        ('"东京都" 2026', "东京都 2026", ["东京都"], []),
        # No operators at all.
        ("multi-agent e TM-X200/4", "multi-agent e TM-X200/4", [], []),
        ("temperatura -5 gradi", "temperatura -5 gradi", [], []),
        ("saldo -1.200,00", "saldo -1.200,00", [], []),
        ("prima - dopo", "prima - dopo", [], []),
        ("il comando ls -la", "il comando ls -la", [], []),
        ("opzione --force", "opzione --force", [], []),
        ('schermo da 24" e da 27" nuovo', 'schermo da 24" e da 27" nuovo', [], []),
        ('una virgoletta " sola', 'una virgoletta " sola', [], []),
        ('"" e "?!"', '"" e "?!"', [], []),
        ('l\'"acqua"', 'l\'"acqua"', [], []),
        ("vedi apt-get`, -install` e altro", "vedi apt-get`, -install` e altro", [], []),
    ],
)
def test_what_is_an_operator(text: str, rest: str, phrases: list[str], left_out: list[str]) -> None:
    assert read(text) == (rest, phrases, left_out)


SIGNS = st.text(st.sampled_from(" -\"“”„«»'\\()[]{}*?+|^$.,;:!&%#@=~`<>/aàB東7"), max_size=40)


@given(st.text() | SIGNS)
def test_no_string_fails_and_none_loses_its_words(text: str) -> None:
    found = read_operators(text)
    for phrase in (*found.phrases, *found.left_out):
        assert phrase.needle
        assert phrase.held_by(folded_words(phrase.text))
        assert phrase.held_by(folded_words(f"prima {phrase.text} dopo"))
        assert all(term for term in phrase.terms(LANGUAGES))
    # Whatever is not left out is still looked for.
    kept = folded_words(found.text).split()
    gone = [word for phrase in found.left_out for word in phrase.needle.split()]
    words = folded_words(text).split()
    assert sorted(kept + gone) == sorted(words)
    if not found.active:
        assert found.text == " ".join(text.split())


@given(st.text() | SIGNS)
def test_what_is_left_out_is_not_looked_for(text: str) -> None:
    query = parse(text, LANGUAGES, None)
    assert query.meant == query.operators.text
    plain = parse(text, LANGUAGES, None, operators=False)
    assert plain.meant == plain.text == query.text
    assert not plain.operators.active


@pytest.mark.parametrize(
    ("phrase", "text", "held"),
    [
        ('"canone annuo"', "Il CANONE\n annuo è dovuto", True),
        ('"canone annuo"', "annuo canone", False),
        ('"canone annuo"', "canone di locazione annuo", False),
        ('"canone annuo"', "canone annuoso", False),
        ('"canone annuo"', "subcanone annuo", False),
        ('"città"', "la citta' vecchia", True),
        ('"DEC-0054"', "prot. DEC 0054/b", True),
        ('"DEC-0054"', "DEC-00541", False),
        ('"DEC-0054"', "東京DEC-0054号", True),
        ('"東京"', "北海道東京都", True),
        ('"1.200,00"', "euro 1.200,00 l'anno", True),
    ],
)
def test_a_phrase_stands_in_a_text_or_does_not(phrase: str, text: str, held: bool) -> None:
    (found,) = read_operators(phrase).phrases
    assert found.held_by(folded_words(text)) is held


def test_a_phrase_of_function_words_has_no_term_to_look_by() -> None:
    (phrase,) = read_operators('"di che"').phrases
    assert phrase.terms(LANGUAGES) == []
    assert phrase.held_by(folded_words("non so di che cosa parli"))
