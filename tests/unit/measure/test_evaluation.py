"""Evaluation of answers that are written by hand: each stage in turn loses the document."""

from __future__ import annotations

import pytest

from emily.measure.evaluation import evaluate, outcome
from emily.measure.questions import Question, Unanswerable
from emily.retrieval.answer import Answer, DocumentRef, Passage, Result

WANTED = "wanted.pdf"
QUESTION = Question("a", "where?", WANTED, quote="under  the\nstairs")
# Chunks 1 and 2 are the wanted document's, the others belong to documents of their own.
NAMES = {1: WANTED, 2: WANTED, 3: "three", 4: "four", 5: "five"}


def made(vector, lexical, pool, ranked, passed, chosen, *, shown=None, text="", probability=0.5):
    names = dict.fromkeys(NAMES[chunk] for chunk in chosen) if shown is None else shown
    passage = Passage(text, 0, len(text), None, None, "text", 0.5)
    trace = {
        "vector_arm": {"ranking": [{"chunk": chunk} for chunk in vector]},
        "lexical_arm": {"ranking": [{"chunk": chunk} for chunk in lexical]},
        "fusion": {
            "candidates": [{"chunk": c, "name": NAMES[c]} for c in {*vector, *lexical}],
            "pool": pool,
        },
        "second_stage": {
            "candidates": [
                {"chunk": chunk, "probability": probability / place}
                for place, chunk in enumerate(ranked, start=1)
            ]
        },
        "threshold": {"passed": passed},
        "selection": {"chosen": chosen},
    }
    results = tuple(
        Result(DocumentRef(1, name, "/", "pdf", None), 0.5, (passage,)) for name in names
    )
    return Answer("where?", results, (), {"embed": 1.5, "fusion": 2.0}, trace, "")


def test_ranks_are_those_of_the_best_chunk_and_of_the_document():
    found = outcome(
        QUESTION, made([3, 1], [4, 3, 2], [4, 2, 1], [3, 4, 1, 2], [3, 4, 1], [3, 4, 1])
    )
    ranks = found.ranks
    assert (ranks.vector, ranks.lexical, ranks.pool) == (2, 3, 2)
    assert (ranks.second_stage, ranks.threshold, ranks.result) == (3, 3, 3)
    assert found.lost_by is None
    assert (found.documents, found.probability, found.milliseconds) == (3, 0.5, 3.5)


@pytest.mark.parametrize(
    ("answer", "stage"),
    [
        (made([3], [4], [3, 4], [3, 4], [3, 4], [3]), "arms"),
        (made([3, 1], [4], [3, 4], [3, 4], [3, 4], [3]), "fusion"),
        (made([3, 1], [4], [1, 3], [3, 1], [3], [3]), "threshold"),
        (made([3, 1], [4], [1, 3], [3, 1], [3, 1], [3]), "second stage"),
        (made([3, 1], [4], [3, 1], [3, 1], [3, 1], [3]), "selection"),
        (made([3, 1], [4], [3, 1], [3, 1], [3, 1], [3, 1], shown=["three"]), "passages"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_stage_that_lost_the_document_is_named(answer, stage):
    assert outcome(QUESTION, answer).lost_by == stage


def test_a_question_that_was_not_looked_for_is_lost_by_the_arms():
    trace = {"threshold": {"passed": []}, "selection": {"chosen": []}, "second_stage": {}}
    found = outcome(QUESTION, Answer("?", (), (), {}, trace, ""))
    assert found.lost_by == "arms"
    assert found.probability == 0.0
    assert found.empty_arms == ("vector_arm", "lexical_arm")


@pytest.mark.parametrize(
    ("text", "shown"), [("it is under the \n stairs.", True), ("it is under stairs", False)]
)
def test_a_quote_is_looked_for_with_white_space_collapsed(text, shown):
    answer = made([1], [1], [1], [1], [1], [1], text=text)
    assert outcome(QUESTION, answer).quote_shown is shown


def test_a_question_without_a_quote_says_nothing_of_quotes():
    answer = made([1], [1], [1], [1], [1], [1])
    assert outcome(Question("a", "where?", WANTED), answer).quote_shown is None


def test_candidates_without_a_probability_count_as_zero():
    answer = made([], [1], [1], [1], [1], [1])
    answer.trace["second_stage"]["candidates"][0]["probability"] = None
    found = outcome(QUESTION, answer)
    assert (found.probability, found.empty_arms) == (0.0, ("vector_arm",))


async def test_aggregates_over_questions_computed_by_hand():
    answers = {
        "first": made([1], [1], [1], [1], [1], [1], text="under the stairs", probability=0.9),
        "third": made([3, 4, 1], [3], [3, 4, 1], [3, 4, 1], [3, 4, 1], [3, 4, 1], probability=0.4),
        "lost": made([3], [], [3], [3], [3], [3], probability=0.4),
        "near": made([3], [3], [3], [3], [3], [3], probability=0.4),
        "far": made([3], [3], [3], [3], [], [], probability=0.1),
    }

    async def search(text):
        return answers[text]

    asked = [
        Question("1", "first", WANTED, "under the stairs", "it", "it"),
        Question("2", "third", WANTED, "under the stairs", "it", "en", cross=True),
        Question("3", "lost", WANTED, "", "it", "en", cross=True),
    ]
    absent = [Unanswerable("4", "near", "near-miss"), Unanswerable("5", "far", "off-topic")]
    found = await evaluate(search, asked, absent)

    scores = found.scores()
    assert (scores.questions, scores.documents) == (3, pytest.approx(5 / 3))
    assert (scores.hit_1, scores.hit_3, scores.hit_5) == pytest.approx((1 / 3, 2 / 3, 2 / 3))
    assert scores.mrr == pytest.approx((1 + 1 / 3) / 3)
    assert scores.candidate_recall == pytest.approx(2 / 3)
    assert scores.quote_shown == pytest.approx(1 / 2)
    assert (scores.single_document, scores.empty) == (pytest.approx(2 / 3), 0.0)
    assert scores.losses == {"arms": 1}

    assert found.pairs() == ("it→it", "it→en")
    assert found.scores("it→en").hit_3 == 0.5
    assert (found.empty_when_absent(), found.empty_when_absent("near-miss")) == (0.5, 0.0)
    assert found.empty_when_absent("off-topic") == 1.0
    # .9, .4, .4 against .4: one won, two ties; against .1: all won.
    assert found.absence_auc("near-miss") == pytest.approx(2 / 3)
    assert found.absence_auc() == pytest.approx(5 / 6)
    assert found.empty_arms() == {"lexical_arm": 1}
