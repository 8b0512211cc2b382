"""The log of the owner's questions: what is kept, what is not, and that no search waits for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from emily.brain import Brain, parse_filters
from emily.errors import InputError
from emily.measure import watch

Write = Callable[[str, str], Path]
Rows = Callable[..., list[tuple[Any, ...]]]
OpenBrain = Callable[..., Awaitable[Brain]]

LEASE = "The monthly rent of the flat is 950 euro.\n"
CAKE = "The apple cake takes three eggs and flour.\n"


@pytest.fixture
async def filled(brain: Brain, write: Write) -> Brain:
    await brain.add([write("lease.txt", LEASE), write("cake.txt", CAKE)])
    return brain


async def test_a_search_is_logged_with_what_each_stage_made_of_it(filled: Brain) -> None:
    answer = await filled.search("rent of the flat", limit=2)
    await filled.settle()
    (entry,) = await filled.queries.recent()
    shown = answer.results[0].document.id
    assert (entry.kind, entry.text, entry.document_id) == ("search", "rent of the flat", None)
    assert entry.options == {"limit": 2}
    assert entry.arms == {"vector": 2, "lexical": 1}
    assert (entry.terms, entry.candidates, entry.pool, entry.archive) == (2, 2, 2, 2)
    assert entry.slots[0] == shown
    probabilities = [item["probability"] for item in answer.trace["second_stage"]["candidates"]]
    assert entry.best == pytest.approx(max(probabilities), rel=1e-5)
    assert entry.median == pytest.approx(sum(probabilities) / 2, rel=1e-5)
    assert entry.preset == "default"
    assert entry.model.startswith("words/1")
    assert entry.timings == answer.timings_ms
    assert entry.total_ms >= max(entry.timings.values())
    assert not entry.warm


async def test_a_question_to_one_document_is_logged_with_it(filled: Brain) -> None:
    await filled.search("eggs", filters=parse_filters(kinds=["text"]))
    answer = await filled.ask("cake.txt", "how many eggs")
    await filled.settle()
    asked, searched = await filled.queries.recent()
    assert (asked.kind, asked.document_id) == ("ask", answer.results[0].document.id)
    assert asked.warm
    assert searched.options == {"filters": {"type": ["text"]}}
    assert (await filled.queries.recent(1)) == [asked]


async def test_all_that_a_replay_needs_is_kept(filled: Brain) -> None:
    await filled.search(["rent", "l'affitto"], threshold=0.0, budget=100)
    await filled.search("-rent", operators=False)
    await filled.settle()
    words, several = await filled.queries.recent()
    assert several.text == "rent / l'affitto"
    assert several.options == {"threshold": 0.0, "budget": 100, "also": ["l'affitto"]}
    assert several.arms == {"vector": 2, "lexical": 1}
    assert words.options == {"operators": False}


async def test_what_is_no_question_of_the_owners_is_not_logged(filled: Brain) -> None:
    await filled.search("rent", log=False)
    with pytest.raises(InputError):
        await filled.search(" ")
    await filled.settle()
    assert await filled.queries.count() == 0


async def test_the_log_can_be_turned_off(open_brain: OpenBrain) -> None:
    brain = await open_brain(query_log=False)
    await brain.search("rent")
    await brain.settle()
    assert await brain.queries.count() == 0


async def test_a_question_without_an_answer_is_logged(brain: Brain) -> None:
    await brain.search("anything at all")
    await brain.search("?!")
    await brain.settle()
    marks, words = await brain.queries.recent()
    assert (words.arms, words.slots, words.best, words.archive) == (
        {"vector": 0, "lexical": 0},
        (),
        None,
        0,
    )
    assert words.empty_arms == ("vector", "lexical")
    assert (marks.arms, marks.terms) == ({}, 0)


async def test_the_log_keeps_within_its_bounds(open_brain: OpenBrain, rows: Rows) -> None:
    brain = await open_brain(query_log_days=30, query_log_size=100)
    rows(
        "INSERT INTO query_log (asked_at, kind, text, options, preset, model, archive, arms, terms,"
        " candidates, pool, slots, timings, total_ms, warm)"
        " SELECT now() - make_interval(days => n), 'search', 'question ' || n, '{}', 'default',"
        " 'm', 1, '{}', 1, 0, 0, '{}', '{}', 1, true FROM generate_series(200, 1, -1) AS n"
    )
    await brain.search("the newest")
    await brain.settle()
    kept = [entry.text for entry in await brain.queries.recent()]
    assert kept[0] == "the newest"
    assert kept[-1] == "question 29"
    rows("UPDATE query_log SET asked_at = now()")
    for _ in range(4):
        rows(
            "INSERT INTO query_log (kind, text, options, preset, model, archive, arms, terms,"
            " candidates, pool, slots, timings, total_ms, warm) SELECT kind, text, options,"
            " preset, model, archive, arms, terms, candidates, pool, slots, timings, total_ms,"
            " warm FROM query_log LIMIT 30"
        )
    assert await brain.queries.trim() == 30 + 120 - 100
    assert await brain.queries.count() == 100


async def test_the_owner_clears_one_question_or_all(filled: Brain) -> None:
    for question in ("rent", "eggs", "flour"):
        await filled.search(question)
        await filled.settle()
    latest = (await filled.queries.recent(1))[0]
    assert await filled.queries.clear(latest.id) == 1
    with pytest.raises(InputError, match=rf"no question {latest.id}\. See: emily queries"):
        await filled.queries.clear(latest.id)
    assert [entry.text for entry in await filled.queries.recent()] == ["eggs", "rent"]
    assert await filled.queries.clear() == 2
    assert await filled.queries.count() == 0


async def test_with_the_log_go_the_alerts_that_rest_on_it(filled: Brain) -> None:
    await filled.alerts.raise_alert("arms", "critical", "The lexical arm brought nothing.")
    await filled.alerts.raise_alert("stale", "warning", "One document is stale.")
    await filled.search("rent")
    await filled.settle()
    latest = (await filled.queries.recent(1))[0]
    await filled.queries.clear(latest.id)
    assert {alert.name for alert in await filled.alerts.open()} == {"arms", "stale"}
    await filled.queries.clear()
    assert {alert.name for alert in await filled.alerts.open()} == {"stale"}


async def test_phrases_that_stand_nowhere_are_no_empty_arm_of_a_replay(filled: Brain) -> None:
    for question in ("rent", 'the "nuvola rossa"'):
        await filled.search(question)
        await filled.settle()
    found = (await filled.replay()).behaviour()
    assert found.questions == 2
    assert found.empty == 0.5
    assert found.empty_arms == {"vector_arm": 0, "lexical_arm": 0}


async def test_a_log_that_cannot_be_written_costs_no_answer(
    filled: Brain, rows: Rows, caplog: pytest.LogCaptureFixture
) -> None:
    rows("ALTER TABLE query_log RENAME TO hidden")
    for _ in range(2):
        assert (await filled.search("rent of the flat")).results
        await filled.settle()
    (alert,) = await filled.alerts.open()
    assert (alert.name, alert.level, alert.count) == ("query_log", "warning", 1)
    assert 'relation "query_log" does not exist' in alert.text
    assert "the query log could not be written" in caplog.text
    rows("ALTER TABLE hidden RENAME TO query_log")
    await filled.search("rent of the flat")
    await filled.settle()
    assert await filled.queries.count() == 1
    assert not await filled.alerts.open()


async def test_an_answer_does_not_wait_for_the_log(filled: Brain, rows: Rows) -> None:
    """While somebody holds the table, answers come; they are written when it is free."""
    async with filled._database.transaction() as connection:
        await connection.execute("LOCK TABLE query_log")
        assert (await filled.search("rent of the flat")).results
        assert await connection.execute("SELECT count(*) FROM query_log")
    await filled.settle()
    assert await filled.queries.count() == 1


async def test_a_database_that_hangs_does_not_keep_the_program(
    filled: Brain, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(watch, "_CLOSING_SECONDS", 0.2)
    async with filled._database.transaction() as connection:
        await connection.execute("LOCK TABLE query_log")
        assert (await filled.search("rent of the flat")).results
        await filled.settle()
    assert "1 entries of the query log were given up" in caplog.text
    await filled.search("rent of the flat")
    await filled.settle()
    assert await filled.queries.count() == 1


@pytest.mark.parametrize("identity", [-1, 0, 2**63, 10**30])
async def test_a_number_that_can_be_no_id_is_not_in_the_log(filled: Brain, identity: int) -> None:
    with pytest.raises(InputError, match=f"The log holds no question {identity}"):
        await filled.queries.clear(identity)
