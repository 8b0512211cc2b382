"""Evaluation of answers that are written by hand: each stage in turn loses the document."""

from __future__ import annotations

import math

import pytest

from emily.measure.evaluation import Asked, Tools, evaluate, length_of, outcome
from emily.measure.standing import is_cut
from emily.retrieval.answer import Answer, DocumentRef, Passage, Result

WANTED = 10
QUESTION = Asked("a", "where?", {WANTED: 1}, quotes=("under  the\nstairs",))
# Chunks 1 and 2 are the wanted document's, the others belong to documents of their own.
OWNERS = {1: WANTED, 2: WANTED, 3: 30, 4: 40, 5: 50}


def made(vector, lexical, pool, ranked, passed, chosen, *, shown=None, text="", probability=0.5):
    documents = dict.fromkeys(OWNERS[chunk] for chunk in chosen) if shown is None else shown
    passage = Passage(text, 0, len(text), None, None, "text", 0.5)
    found = {
        chunk: {
            "chunk": chunk,
            "document": OWNERS[chunk],
            "vector": 0.5 if chunk in vector else None,
            "vector_rank": vector.index(chunk) + 1 if chunk in vector else None,
            "lexical": 0.5 if chunk in lexical else None,
            "lexical_rank": lexical.index(chunk) + 1 if chunk in lexical else None,
        }
        for chunk in {**dict.fromkeys(vector), **dict.fromkeys(lexical)}
    }
    trace = {
        "vector_arm": {"ranking": [{"chunk": chunk} for chunk in vector]},
        "lexical_arm": {"ranking": [{"chunk": chunk} for chunk in lexical]},
        "fusion": {"name": "sum", "candidates": list(found.values()), "pool": pool},
        "second_stage": {
            "candidates": [
                {**found[chunk], "probability": probability / place, "start": 0, "end": 3}
                for place, chunk in enumerate(ranked, start=1)
            ]
        },
        "threshold": {"passed": passed},
        "selection": {"chosen": chosen},
    }
    results = tuple(
        Result(DocumentRef(document, "name", "/", "pdf", None), 0.5, (passage,))
        for document in documents
    )
    return Answer("where?", results, (), {"embed": 1.5, "fusion": 2.0}, trace, "")


def test_places_are_those_of_distinct_documents():
    found = outcome(
        QUESTION, made([3, 1], [4, 3, 2], [4, 2, 1], [3, 4, 1, 2], [3, 4, 1], [3, 4, 1])
    )
    assert found.places == {
        "vector_arm": 2,
        "lexical_arm": 3,
        "pool": 2,
        "second_stage": 3,
        "threshold": 3,
        "result": 3,
    }
    assert found.lost_by is None
    assert (found.shown, found.probability, found.milliseconds) == ((30, 40, WANTED), 0.5, 3.5)
    assert found.slots == (1, 1, 1)
    # Two chunks of one document before the wanted one are one place.
    other = Asked("b", "where?", {30: 1})
    assert outcome(other, made([1, 2, 3], [], [1, 2, 3], [1, 2, 3], [], [])).places["pool"] == 2


def test_scores_of_every_ranking_with_grades():
    asked = Asked("a", "where?", {WANTED: 2, 30: 1}, missing=(1,))
    found = outcome(asked, made([4, 3, 1], [1], [1, 4, 3], [4, 1, 3], [1], [1]))
    best = 2 + 1 / math.log2(3) + 1 / 2
    assert found.rankings["pool"].ndcg_10 == pytest.approx((2 + 1 / 2) / best)
    assert found.rankings["second_stage"].ndcg_10 == pytest.approx((2 / math.log2(3) + 0.5) / best)
    assert found.rankings["vector_arm"].recall_20 == pytest.approx(2 / 3)
    assert found.rankings["result"].ndcg_10 == pytest.approx(2 / best)
    assert (found.pool_recall, found.precision) == (pytest.approx(2 / 3), 1.0)
    assert found.metrics()["candidate_recall"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("answer", "stage"),
    [
        (made([3], [4], [3, 4], [3, 4], [3, 4], [3]), "arms"),
        (made([3, 1], [4], [3, 4], [3, 4], [3, 4], [3]), "fusion"),
        (made([3, 1], [4], [1, 3], [3], [3], [3]), "second stage"),
        (made([3, 1], [4], [1, 3], [3, 1], [3], [3]), "threshold"),
        (made([3, 1], [4], [1, 3], [3, 1], [3, 1], [3]), "second stage"),
        (made([3, 1], [4], [3, 1], [3, 1], [3, 1], [3]), "selection"),
        (made([3, 1], [4], [3, 1], [3, 1], [3, 1], [3, 1], shown=[30]), "passages"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_stage_that_lost_the_document_is_named(answer, stage):
    assert outcome(QUESTION, answer).lost_by == stage


def test_a_question_that_was_not_looked_for_is_lost_by_the_arms():
    trace = {"threshold": {"passed": []}, "selection": {"chosen": []}}
    found = outcome(QUESTION, Answer("?", (), (), {}, trace, ""))
    assert found.lost_by == "arms"
    assert found.probability == 0.0
    assert (found.empty_arms, math.isnan(found.precision)) == ((), True)
    assert found.metrics()["ndcg_10"] == 0.0


@pytest.mark.parametrize(
    ("text", "shown"), [("it is under the \n stairs.", True), ("it is under stairs", False)]
)
def test_a_quote_is_looked_for_with_white_space_collapsed(text, shown):
    answer = made([1], [1], [1], [1], [1], [1], text=text)
    assert outcome(QUESTION, answer).quote_shown is shown


def test_a_quote_in_another_document_does_not_count():
    answer = made([3, 1], [3], [3, 1], [3, 1], [3, 1], [3], text="under the stairs")
    assert outcome(QUESTION, answer).quote_shown is False


def test_a_question_without_a_quote_says_nothing_of_quotes():
    answer = made([1], [1], [1], [1], [1], [1])
    assert outcome(Asked("a", "where?", {WANTED: 1}), answer).quote_shown is None


def test_candidates_without_a_probability_count_as_zero():
    answer = made([], [1], [1], [1], [1], [1])
    answer.trace["second_stage"]["candidates"][0]["probability"] = None
    found = outcome(QUESTION, answer)
    assert (found.probability, found.empty_arms) == (0.0, ("vector_arm",))


def test_a_preset_without_probabilities_signals_otherwise():
    answer = made([1], [1], [1], [1], [1], [1])
    stage = answer.trace["second_stage"]
    stage["signals"] = {"coverage": 0.8, "similarity": 0.4}
    assert outcome(QUESTION, answer).probability == 0.5, "it has some"
    stage["candidates"][0]["probability"] = None
    assert outcome(QUESTION, answer).probability == pytest.approx(0.6)


async def test_a_part_that_was_down_is_told_of():
    answer = made([], [1], [1], [1], [1], [1])
    answer.trace["embed"] = {"down": "not there"}
    answer.trace["reranking"] = {"model": "m", "skipped_because": "the embedder is down"}
    notices = ("Searched by meaning alone: the lexical arm is down, so names may be missed.",)
    answer = Answer("where?", answer.results, notices, {}, answer.trace, "")

    async def search(_):
        return answer

    found = await evaluate(search, [QUESTION, QUESTION])
    assert found.down() == {"embedder": 2, "lexical arm": 2, "reranker": 2}


@pytest.mark.parametrize(
    ("text", "behind", "cut"),
    [
        ("The parts are:\n", "\n- a valve\n- a pump", True),
        ("- a valve\n", "- a pump\n", True),
        ("| a | 1 |\n", "| b | 2 |\n", True),
        ("1. first\n", "2. second", True),
        ("the pressure must stay ", "between 1.2 and 1.8 bar.", True),
        ("the pressure must stay\n", "between 1.2 and 1.8 bar.", True),
        ("It is done. ", "The next one begins.", False),
        ("È fatto».", " Segue altro.", False),
        ("A heading\n\n", "A paragraph begins.", False),
        ("- the last item\n\n", "A paragraph begins.", False),
        ("the end without a stop", "", False),
        ("the end without a stop", " \n", False),
        ("", "Something", False),
    ],
)
def test_a_text_is_cut_where_it_goes_on(text, behind, cut):
    assert is_cut(text, behind) is cut


async def test_continuations_that_reach_the_reader_are_counted():
    # Chunks 1 and 3 end at 3, in the middle of a sentence; passages end there or later.
    answer = made([1, 3], [], [1, 3], [1, 3], [1, 3], [1, 3])
    longer = Passage("one two three", 0, 13, None, None, "text", 0.5)
    shorter = Passage("one", 0, 3, None, None, "text", 0.5)
    results = tuple(
        Result(result.document, 0.5, (passage,))
        for result, passage in zip(answer.results, (longer, shorter), strict=True)
    )
    answer = Answer("where?", results, (), {}, answer.trace, "")

    async def search(_):
        return answer

    async def follows(_):
        return ["", " two"]

    found = await evaluate(search, [QUESTION], tools=Tools(follows, lambda text: len(text.split())))
    scores = found.scores()
    assert (scores.cut, scores.continued, scores.cut_passages, scores.passages) == (2, 1, 1, 2)
    assert (scores.characters, scores.tokens) == (16, 4)


@pytest.mark.parametrize(
    ("words", "group"),
    [(1, "1 to 3 words"), (3, "1 to 3 words"), (4, "4 to 8 words"), (9, "9 to 15 words"),
     (16, "16 words and more")],
)  # fmt: skip
def test_questions_are_grouped_by_length(words, group):
    assert length_of(" ".join(["word"] * words)) == group


async def test_aggregates_over_questions_computed_by_hand():
    answers = {
        "first": made([1], [1], [1], [1], [1], [1], text="under the stairs", probability=0.9),
        "third": made([3, 4, 1], [3], [3, 4, 1], [3, 4, 1], [3, 4, 1], [3, 4, 1], probability=0.4),
        "lost": made([3], [], [3], [3], [3], [3], probability=0.4),
        "near": made([3], [3], [3], [3], [3], [3], probability=0.4),
        "far": made([3], [3], [3], [3], [], [], probability=0.1),
        "twice": made([1, 2], [], [1, 2], [1, 2], [1, 2], [1, 2], probability=0.4),
    }

    async def search(asked):
        return answers[asked.text]

    quotes = ("under the stairs",)
    asked = [
        Asked("1", "first", {WANTED: 1}, quotes=quotes, pair="it→it"),
        Asked("2", "third", {WANTED: 1}, quotes=quotes, pair="it→en"),
        Asked("3", "lost", {WANTED: 1}, pair="it→en", slices={"kind": "odd"}),
        Asked("4", "near", absence="near-miss"),
        Asked("5", "far", absence="off-topic"),
    ]
    told = []
    # In the order that the arms gave: the fusion of these answers is not looked at.
    for answer in answers.values():
        for place, record in enumerate(answer.trace["fusion"]["candidates"]):
            record["vector"], record["lexical"] = 1 - place / 10, 0.0
    found = await evaluate(search, asked, told=told.append)
    assert told == [1, 2, 3, 4, 5]

    scores = found.scores()
    assert (scores.questions, scores.documents) == (3, pytest.approx(5 / 3))
    assert (scores.hit_1, scores.hit_3, scores.hit_5) == pytest.approx((1 / 3, 2 / 3, 2 / 3))
    assert scores.mrr == pytest.approx((1 + 1 / 3) / 3)
    assert scores.ndcg_10 == pytest.approx((1 + 1 / 2) / 3)
    assert scores.recall_20 == scores.candidate_recall == pytest.approx(2 / 3)
    assert scores.precision == pytest.approx((1 + 1 / 3 + 0) / 3)
    assert (scores.quote_shown, scores.quotes) == (pytest.approx(1 / 2), 2)
    assert (scores.single_document, scores.empty) == (pytest.approx(2 / 3), 0.0)
    assert (scores.one_took_all, scores.losses) == (0.0, {"arms": 1})
    assert scores.empty_arms == {"vector_arm": 0.0, "lexical_arm": pytest.approx(1 / 3)}
    assert scores.stages["lexical_arm"].hit_3 == pytest.approx(1 / 3)

    assert found.groups()["pair"] == ("it→en", "it→it")
    assert found.groups()["kind"] == ("odd",)
    assert found.scores({"pair": "it→en"}).hit_3 == 0.5
    assert found.scores({"pair": "it→en", "kind": "odd"}).hit_3 == 0.0
    assert math.isnan(found.scores({"pair": "de→de"}).ndcg_10)

    assert found.kinds() == ("near-miss", "off-topic")
    assert found.absence().absent_empty == 0.5
    assert found.absence(kind="near-miss").absent_empty == 0.0
    assert found.absence(kind="off-topic").absent_empty == 1.0
    assert found.absence().present_empty == 0.0
    # .9, .4, .4 against .4: one won, two ties; against .1: all won.
    assert found.absence(kind="near-miss").auc == pytest.approx(2 / 3)
    assert found.absence().auc == pytest.approx(5 / 6)
    assert found.empty_arms() == {"lexical_arm": 1}

    one = await evaluate(search, [Asked("6", "twice", {WANTED: 1})])
    assert one.scores().one_took_all == 1.0


async def test_a_part_of_the_questions_is_told_apart_from_those_without_an_answer():
    answers = {"a": made([1], [1], [1], [1], [1], [1], probability=0.9),
               "b": made([1], [1], [1], [1], [1], [1], probability=0.1),
               "c": made([1], [1], [1], [1], [1], [1], probability=0.5)}  # fmt: skip

    async def search(asked):
        return answers[asked.text]

    asked = [
        Asked("a", "a", {WANTED: 1}),
        Asked("b", "b", {WANTED: 1}),
        Asked("b", "c", absence="removed"),
    ]
    found = await evaluate(search, asked, counterparts=frozenset("a"))
    assert (found.absence().present, found.absence().auc) == (1, 1.0)
