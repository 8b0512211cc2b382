"""Queries that ask more than words: phrases, words left out, several at once, a budget."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import WordsEmbedder
from tests.integration.brain.conftest import OpenBrain, Shelf

from emily.brain import Answer, Brain, parse_filters, presets
from emily.errors import InputError

Write = Callable[[str, str], Path]

GARDEN = "\n\n".join(
    f"Giorno {n}. In giardino oggi si pota la siepe numero {n}, si raccolgono le foglie secche e "
    f"si annaffia il vaso {n} con due secchi di acqua piovana."
    for n in range(1, 30)
)
FILES = {
    "giardino.txt": GARDEN,
    "siepe.txt": "La siepe di bosso si pota in giugno, lontano dal sole forte del mezzogiorno.",
    "attrezzi.txt": "Per potare la siepe servono le cesoie lunghe e i guanti di cuoio.",
    "forte-sole.txt": "Un sole forte secca le foglie; la siepe di lauro lo teme più del bosso.",
    "hedge.txt": "The box hedge is trimmed in June with long shears.",
    "decisione.txt": "Verbale DEC-0054: la siepe del cortile, di che altezza, si decide a marzo.",
    "scadenza.txt": "租约于三月底到期。書類DEC-0077号の提出期限は五月。",
}


@pytest.fixture(scope="module")
async def archive(shelf: Shelf) -> AsyncIterator[Brain]:
    """An archive that no test changes."""
    async with shelf.filled(FILES, chunk_tokens=64, chunk_overlap=10, index_for="archive") as brain:
        yield brain


def shown(answer: Answer) -> set[str]:
    return {result.document.name for result in answer.results}


def ranked(answer: Answer) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = answer.trace["second_stage"]["candidates"]
    return records


@pytest.mark.parametrize("preset", presets())
@pytest.mark.parametrize(
    ("question", "holders"),
    [
        ('quando si pota "la siepe di bosso"', {"siepe.txt"}),
        ('"sole forte"', {"siepe.txt", "forte-sole.txt"}),
        ('"siepe di" bosso', {"siepe.txt", "forte-sole.txt"}),
        ("“LA SIEPE DÌ bosso”", {"siepe.txt"}),
        ('"di che"', {"decisione.txt"}),  # function words alone
        ('"DEC-0054" cortile', {"decisione.txt"}),
        ('"DEC-0077"', {"scadenza.txt"}),
        ('"三月底"', {"scadenza.txt"}),
        ('"siepe" "cesoie lunghe"', {"attrezzi.txt"}),
    ],
)
async def test_a_phrase_must_stand_in_every_candidate(
    archive: Brain, preset: str, question: str, holders: set[str]
) -> None:
    answer = await archive.search(question, preset=preset, threshold=0)
    assert {item["name"] for item in ranked(answer)} == holders
    assert shown(answer) == holders
    assert answer.query == question, "it is told as it was asked"


async def test_a_phrase_that_stands_nowhere_is_said(archive: Brain) -> None:
    for question in ('"bosso di siepe"', '"siepe di bos"', '"cesoie lunghe" "sole forte"'):
        answer = await archive.search(question)
        assert answer.results == ()
        assert any("word for word. Without the quotation marks" in n for n in answer.notices)
        assert answer.trace["phrases"]["chunks"] == 0
    without = await archive.search("bosso di siepe", threshold=0)
    assert "siepe.txt" in shown(without)


@pytest.mark.parametrize("preset", presets())
@pytest.mark.parametrize(
    ("question", "gone"),
    [
        ("potare la siepe -cesoie", {"attrezzi.txt"}),
        ("potare la siepe -giardino", {"giardino.txt"}),
        ('la siepe -"sole forte"', {"siepe.txt", "forte-sole.txt"}),
        ("siepe -DEC-0054 -lauro", {"decisione.txt", "forte-sole.txt"}),
        ("siepe -CESOIE.", {"attrezzi.txt"}),
    ],
)
async def test_what_is_left_out_is_in_no_candidate(
    archive: Brain, preset: str, question: str, gone: set[str]
) -> None:
    answer = await archive.search(question, preset=preset, threshold=0, limit=50)
    found = {item["name"] for item in ranked(answer)}
    assert found
    assert not found & gone
    word = question.split(" -")[0]
    everything = await archive.search(word, preset=preset, threshold=0, limit=50)
    assert {item["name"] for item in ranked(everything)} >= gone


async def test_what_is_left_out_takes_no_place_in_an_arm(
    open_brain: OpenBrain, write: Write
) -> None:
    """Forty chunks nearer to the question are left out; those behind them still come."""
    brain = await open_brain(arm_size=5, pool_size=5, chunk_tokens=64, chunk_overlap=0)
    near = "\n\n".join("La siepe, la siepe di tasso. " + f"Siepe {n}! " * 25 for n in range(40))
    far = "\n\n".join("Tra le altre cose, una siepe. " + f"Carta {n}! " * 25 for n in range(7))
    await brain.add([write("a.txt", near), write("b.txt", far)])
    everything = await brain.search("la siepe", threshold=0)
    assert {item["name"] for item in ranked(everything)} == {"a.txt"}
    answer = await brain.search("la siepe -tasso", threshold=0)
    for arm in ("vector_arm", "lexical_arm"):
        assert len(answer.trace[arm]["ranking"]) == 5
    assert {item["name"] for item in ranked(answer)} == {"b.txt"}


async def test_what_is_left_out_is_not_shown_beside_a_passage_either(archive: Brain) -> None:
    """A passage is widened by its neighbours, but not by one that holds the word."""
    (before,) = (await archive.search("giorno 7", limit=1, threshold=0)).results
    assert "Giorno 8." in before.passages[0].text
    (result,) = (await archive.search('giorno 7 -"Giorno 8"', limit=1, threshold=0)).results
    assert "Giorno 7." in result.passages[0].text
    assert "Giorno 8." not in result.passages[0].text


async def test_an_empty_answer_says_what_was_left_out(archive: Brain) -> None:
    answer = await archive.search("pota la siepe -bosso -DEC-0054", threshold=1)
    assert answer.results == ()
    (said,) = [notice for notice in answer.notices if "as the minus" in notice]
    assert said == (
        "3 passages that hold “bosso” or “DEC-0054” were left out, as the minus before it asks."
    )
    answer = await archive.search("siepe -zanzara", threshold=1)
    assert answer.results == ()
    assert answer.notices[-1] == "Not looked for, as the minus asks: “zanzara”."
    shown_some = await archive.search("la siepe -zanzara", threshold=0)
    assert shown_some.results
    assert not any("minus" in notice for notice in shown_some.notices)


async def test_an_empty_answer_says_that_a_phrase_bound_it(archive: Brain) -> None:
    said = "Only passages that hold “sole forte” word for word were looked at."
    answer = await archive.search('la siepe "sole forte"', threshold=1)
    assert answer.results == ()
    assert said in answer.notices
    assert said not in (await archive.search('la siepe "sole forte"', threshold=0)).notices
    several = await archive.search(['la siepe "sole forte"', "la siepe"], threshold=1)
    assert several.results == ()
    assert said not in several.notices, "the other wording is not bound by it"


async def test_words_that_only_leave_out_look_for_nothing(archive: Brain) -> None:
    answer = await archive.search("-siepe")
    assert answer.results == ()
    assert answer.notices[0] == (
        "The question only says what to leave out, so nothing was looked for."
    )
    assert not any("minus" in notice for notice in answer.notices)


async def test_without_operators_all_is_words(archive: Brain) -> None:
    answer = await archive.search('potare "bosso di siepe" -cesoie', operators=False, threshold=0)
    assert "attrezzi.txt" in shown(answer)
    assert "operators" not in answer.trace["query"]
    assert "cesoie" in answer.trace["query"]["words"]


async def test_a_phrase_and_a_filter(archive: Brain) -> None:
    (siepe,) = [info for info in await archive.list() if info.name == "siepe.txt"]
    filters = parse_filters(folder=siepe.path)
    answer = await archive.search('"sole forte"', filters=filters, threshold=0)
    assert shown(answer) == {"siepe.txt"}


# Several at once


@pytest.mark.parametrize("preset", presets())
async def test_several_questions_find_what_each_finds(archive: Brain, preset: str) -> None:
    questions = ["quando si pota la siepe di bosso", "when is the box hedge trimmed"]
    alone = [await archive.search(text, preset=preset, threshold=0) for text in questions]
    answer = await archive.search(questions, preset=preset, threshold=0)
    assert {alone[0].results[0].document.name, alone[1].results[0].document.name} <= shown(answer)
    assert answer.query == " / ".join(questions)
    assert [item["text"] for item in answer.trace["questions"]["asked"]] == questions
    chunks = [item["chunk"] for item in ranked(answer)]
    assert len(chunks) == len(set(chunks))
    # Each is as probable as the question that it answers best has it.
    likely: dict[int, list[float]] = {}
    for one in alone:
        for item in ranked(one):
            likely.setdefault(item["chunk"], []).append(item["probability"] or 0.0)
    assert {item["chunk"]: item["probability"] or 0.0 for item in ranked(answer)}.items() <= {
        chunk: max(values) for chunk, values in likely.items()
    }.items()
    assert [item["order"] for item in ranked(answer)] == sorted(
        (item["order"] for item in ranked(answer)), reverse=True
    )


async def test_one_question_is_the_same_alone_and_in_a_list(archive: Brain) -> None:
    text = await archive.search("siepe di bosso")
    listed = await archive.search(["siepe di bosso", "siepe di bosso"])
    assert ranked(text) == ranked(listed)
    assert text.results == listed.results


async def test_several_questions_are_embedded_at_once(open_brain: OpenBrain, write: Write) -> None:
    class Counting(WordsEmbedder):
        batches: list[int] = []  # noqa: RUF012 - of this test alone

        def embed_queries(self, queries):  # type: ignore[no-untyped-def]
            self.batches.append(len(queries))
            return super().embed_queries(queries)

    brain = await open_brain(Counting())
    await brain.add([write("a.txt", "La siepe di bosso.")])
    Counting.batches.clear()
    await brain.search(["siepe verde", "green hedge", "haie verte"])
    assert Counting.batches == [3]


async def test_what_one_wording_leaves_out_is_left_out_of_all(archive: Brain) -> None:
    answer = await archive.search(["potare la siepe -cesoie", "siepe guanti"], threshold=0)
    assert "attrezzi.txt" not in {item["name"] for item in ranked(answer)}


async def test_signs_among_questions_disturb_none(archive: Brain) -> None:
    answer = await archive.search(["?!", "siepe di bosso"], threshold=0)
    assert "siepe.txt" in shown(answer)
    assert (await archive.search(["?!", "…"])).results == ()


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ([], "0 questions are asked at once; 1 to 8 may be"),
        ([f"siepe {n}" for n in range(9)], "9 questions"),
        (["siepe", " "], "The question is empty"),
    ],
)
async def test_questions_that_cannot_be_asked(
    archive: Brain, given: list[str], reason: str
) -> None:
    with pytest.raises(InputError, match=reason):
        await archive.search(given)


async def test_several_questions_without_the_embedder(open_brain: OpenBrain, write: Write) -> None:
    embedder = WordsEmbedder()
    brain = await open_brain(embedder)
    await brain.add([write("a.txt", "La siepe di bosso."), write("b.txt", "The green hedge.")])
    embedder.down = True
    answer = await brain.search(["siepe bosso", "green hedge"])
    assert shown(answer) == {"a.txt", "b.txt"}
    assert sum("Searched by words alone" in notice for notice in answer.notices) == 1


# Budget


def tokens(brain: Brain, answer: Answer) -> int:
    return sum(
        brain._embedder.count(passage.text)
        for result in answer.results
        for passage in result.passages
    )


@pytest.mark.parametrize("preset", presets())
@pytest.mark.parametrize("budget", [1, 5, 25, 60, 150, 400, 1000])
async def test_passages_stay_within_their_budget(archive: Brain, preset: str, budget: int) -> None:
    answer = await archive.search(
        "potare la siepe in giardino", budget=budget, threshold=0, preset=preset
    )
    assert answer.results, "the best passage is always shown, cut where it has to be"
    assert 0 < tokens(archive, answer) <= budget


async def test_each_document_has_its_best_passage_before_any_has_a_second(archive: Brain) -> None:
    answer = await archive.search("potare la siepe in giardino", budget=150, threshold=0)
    chosen = answer.trace["selection"]["chosen"]
    owner = {item["chunk"]: item["document"] for item in ranked(answer)}
    documents = [owner[chunk] for chunk in chosen]
    distinct = list(dict.fromkeys(documents))
    assert documents[: len(distinct)] == distinct
    best = [next(c for c in answer.trace["threshold"]["passed"] if owner[c] == d) for d in distinct]
    assert chosen[: len(distinct)] == best
    assert any("did not fit into the budget of 150 tokens" in n for n in answer.notices)
    more = await archive.search("potare la siepe in giardino", budget=5000, threshold=0)
    assert len(more.results) == len(distinct)
    assert tokens(archive, more) > tokens(archive, answer)
    assert not any("budget" in notice for notice in more.notices)


async def test_a_limit_holds_beside_a_budget(archive: Brain) -> None:
    answer = await archive.search("potare la siepe", budget=5000, limit=2, threshold=0)
    assert len(answer.trace["selection"]["chosen"]) == 2


@pytest.mark.parametrize("budget", [0, -5, 1_000_001])
async def test_a_budget_out_of_bounds(archive: Brain, budget: int) -> None:
    with pytest.raises(InputError, match="from 1 to 1,000,000"):
        await archive.search("siepe", budget=budget)
