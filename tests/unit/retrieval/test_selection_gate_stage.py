"""The threshold, the gate and the second stage."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from emily.retrieval.candidate import Candidate, Evidence, Gathered
from emily.retrieval.gate import Gate, coverage, load_gate
from emily.retrieval.query import Meaning, parse
from emily.retrieval.second_stage import order_by_words, second_stage
from emily.retrieval.selection import above_threshold, best, relative_threshold
from emily.retrieval.vocabulary import Words, affinity

LANGUAGES = ("it", "en")


def test_the_threshold_keeps_the_order() -> None:
    items = [Candidate(i, probability=p) for i, p in enumerate([0.2, 0.9, 0.05, 0.049, 0.5])]
    assert [item.chunk for item in above_threshold(items, 0.05)] == [0, 1, 2, 4]
    assert above_threshold([], 0.5) == []


def test_without_a_probability_all_pass() -> None:
    assert len(above_threshold([Candidate(1), Candidate(2)], 0.9)) == 2


@pytest.mark.parametrize(
    ("probabilities", "bar"),
    [([0.9, 0.3], 0.27), ([0.1], 0.05), ([0.01], 0.05), ([], 0.05), ([None], 0.05)],
)
def test_the_bar_inside_a_document(probabilities: list[float | None], bar: float) -> None:
    items = [Candidate(i, probability=p) for i, p in enumerate(probabilities)]
    assert relative_threshold(items) == pytest.approx(bar)


def test_the_first_are_the_best() -> None:
    assert [item.chunk for item in best([Candidate(i) for i in (3, 1, 2)], 2)] == [3, 1]


numbers = st.floats(0, 1, width=32)


@given(
    st.integers(0, 12).flatmap(
        lambda n: st.tuples(
            arrays(np.float32, n, elements=numbers),
            arrays(np.float32, n, elements=st.floats(-5, 300, width=32)),
        )
    )
)
def test_coverage_is_a_share(given_: tuple[np.ndarray, np.ndarray]) -> None:
    match, rarity = given_
    found = coverage(match, rarity)
    assert 0 <= found <= 1 + 1e-6
    if len(match):
        assert found >= match.min() - 1e-6
        assert found <= match.max() + 1e-6
        assert coverage(np.ones_like(match), rarity) == pytest.approx(1)
        assert coverage(np.zeros_like(match), rarity) == 0


def test_rare_words_weigh_more() -> None:
    rarity = np.array([7, 18], np.float32)
    assert coverage(np.array([0, 1], np.float32), rarity) > 0.7
    assert coverage(np.array([1, 0], np.float32), rarity) < 0.3
    assert coverage(np.array([], np.float32), np.array([], np.float32)) == 0


evidence = st.builds(
    Evidence,
    part=st.floats(-1, 1),
    sentence=st.floats(-1, 1),
    coverage=st.floats(0, 1),
    figures=st.floats(0, 1),
)


@given(evidence)
def test_the_gate_gives_a_probability_that_grows_with_the_evidence(found: Evidence) -> None:
    gate = load_gate()
    probability = gate.probability(found)
    assert 0 < probability < 1
    for name in ("part", "sentence", "coverage", "figures"):
        more = replace(found, **{name: getattr(found, name) + 0.1})
        assert gate.probability(more) >= probability, f"{name} speaks for a chunk"


def test_the_gate_is_a_logistic() -> None:
    gate = Gate(intercept=-1.0, part=1.0, sentence=2.0, coverage=3.0, figures=4.0)
    found = gate.probability(Evidence(0.5, 0.25, 0.1, 0.2))
    assert found == pytest.approx(1 / (1 + np.exp(1 - 0.5 - 0.5 - 0.3 - 0.8)))


# The second stage over candidates made by hand.

WORDS = Words.of(
    [1, 2, 3],
    ["rent", "affitto", "eggs"],
    ["en", "it", "en"],
    np.array([[1, 0, 0], [0.8, 0.6, 0], [0, 0, 1]]),
)


def gathered(**values: object) -> Gathered:
    base = Gathered(
        document=1, ordinal=0, start=0, end=9, language="en", terms=5,
        words=np.array([3]), sentences=np.array([[0, 0, 1]], np.float32),
        name="note.txt",
    )  # fmt: skip
    return replace(base, **values)  # type: ignore[arg-type]


def ranked(text: str, *pool: Candidate, language: str | None = "en") -> list[Candidate]:
    query = parse(text, LANGUAGES, language)
    vectors = np.array([[1, 0, 0]] * len(query.words), np.float32).reshape(-1, 3)
    meaning = Meaning(
        np.array([1, 0, 0], np.float32), vectors, np.full(len(query.words), 9, np.float32)
    )
    found = affinity(WORDS, query.words, vectors)
    return second_stage(pool, query, meaning, found, load_gate(), LANGUAGES)


def one(text: str, **values: object) -> Evidence:
    (item,) = ranked(text, Candidate(1, vector=0.5, lexical=0.2, gathered=gathered(**values)))
    assert item.evidence is not None
    return item.evidence


def test_the_best_sentence_counts() -> None:
    sentences = np.array([[0, 1, 0], [0.6, 0.8, 0], [0, 0, 1]], np.float32)
    assert one("rent", sentences=sentences).sentence == pytest.approx(0.6)
    assert one("rent", sentences=np.empty((0, 3), np.float32)).sentence == 0


def test_a_neighbour_in_meaning_covers_in_part() -> None:
    assert one("rent", words=np.array([1])).coverage == 1
    assert one("rent", words=np.array([2])).coverage == pytest.approx(0.8 * 0.8, rel=1e-3)
    assert one("rent", words=np.array([3])).coverage == 0


def test_the_name_covers_too() -> None:
    assert one("rent", name="rent_contract-2024.pdf").coverage == 1
    assert one("DEC-0054", name="DEC-0054.pdf").figures == 1


def test_figures_are_counted() -> None:
    terms = [g.members[0].term for g in parse("2024 TM-X200/4", LANGUAGES, None).groups]
    assert one("2024 TM-X200/4").figures == 0
    assert one("2024 TM-X200/4", matches=dict.fromkeys(terms, 1)).figures == 1
    assert one("2024 TM-X200/4", matches={terms[0]: 1}).figures == 0.5
    assert one("rent").figures == 1, "none asked for, none missing"


@pytest.mark.parametrize("text", ["K014", "2026-12-15 TM-X200/4", "租约到期", "9"])
def test_a_question_without_words_is_covered_by_its_terms(text: str) -> None:
    terms = [group.members[0].term for group in parse(text, LANGUAGES, None).groups]
    assert one(text, matches=dict.fromkeys(terms, 1)).coverage == 1
    assert one(text).coverage == 0
    assert one(text, name=f"{text.replace('/', '-')}.pdf").coverage > 0


def test_a_question_of_function_words_alone() -> None:
    assert one("what is the").coverage == 0


def test_the_order_may_differ_from_the_probability() -> None:
    foreign = Candidate(1, vector=0.5, lexical=0.2, gathered=gathered(language="it"))
    own = Candidate(2, vector=0.5, lexical=0.2, gathered=gathered(language="en"))
    first, second = ranked("rent", own, foreign)
    assert (first.chunk, second.chunk) == (1, 2), "the embedder leans towards the own language"
    assert first.probability == second.probability
    # What the archive knows of rarity moves the order and no probability.
    rare = Candidate(3, vector=0.5, lexical=0.9, gathered=gathered())
    first, second = ranked("rent", own, rare)
    assert first.chunk == 3
    assert first.probability == second.probability


def test_by_words_there_is_no_probability() -> None:
    pool = [Candidate(1, lexical=0.1), Candidate(2, lexical=0.5), Candidate(3, lexical=0.1)]
    found = order_by_words(pool)
    assert [item.chunk for item in found] == [2, 1, 3]
    assert all(item.probability is None for item in found)
