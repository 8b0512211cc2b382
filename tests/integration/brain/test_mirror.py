"""The index in memory says what the store says, whoever changes the archive."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.integration.brain.conftest import OpenBrain

from emily.brain import Brain, parse_filters
from emily.retrieval import mirror as mirror_module
from emily.retrieval.answer import Answer

Write = Callable[[str, str], Path]
Rows = Callable[..., list[tuple[Any, ...]]]

TEXTS = {
    "boiler.txt": "La caldaia perde acqua. Il tecnico della caldaia viene il 12 marzo 2025.\n" * 3,
    "boiler-manual.txt": "The boiler leaks water when the valve is worn. Replace the valve.\n" * 40,
    "lease.txt": "The lease of the flat ends in March. The deposit is 1,200 euro.\n" * 5,
    "recipe.md": "# Torta\n\nTre uova, zucchero, farina e acqua. Infornare a 180 gradi.\n",
    "log.txt": "\n".join(
        f"Entry {n}: the valve and the water meter read {n * 17}." for n in range(400)
    ),
}
QUESTIONS = (
    "caldaia perde acqua",
    "valve of the boiler",
    "the water",
    "deposit 1,200",
    "entry 17 meter",
    "qqxzvwmpl",
    "uova e zucchero",
)


def seen(answer: Answer) -> dict[str, Any]:
    """What was found."""
    trace = answer.trace
    return {
        "arms": [
            [item["chunk"] for item in trace[name]["ranking"]]
            for name in ("vector_arm", "lexical_arm")
        ],
        "pool": trace["fusion"]["pool"],
        "ranked": [
            (item["chunk"], item["matches"], item["ordinal"], item["name"])
            for item in trace["second_stage"]["candidates"]
        ],
        "results": [
            (result.document.id, [passage.text for passage in result.passages])
            for result in answer.results
        ],
    }


def scores(answer: Answer) -> list[float]:
    """By which scores."""
    trace = answer.trace
    return [
        *(
            item["score"]
            for name in ("vector_arm", "lexical_arm")
            for item in trace[name]["ranking"]
        ),
        *(item["order"] for item in trace["second_stage"]["candidates"]),
        *(item["probability"] for item in trace["second_stage"]["candidates"]),
    ]


async def compare(memory: Brain, store: Brain, **options: Any) -> None:
    for question in QUESTIONS:
        by_memory = await memory.search(question, **options)
        by_store = await store.search(question, **options)
        assert by_memory.trace["mirror"]["in_memory"]
        assert not by_store.trace["mirror"]["in_memory"]
        assert seen(by_memory) == seen(by_store), question
        assert scores(by_memory) == pytest.approx(scores(by_store), abs=2e-6), question


@pytest.fixture
async def both(open_brain: OpenBrain, write: Write) -> tuple[Brain, Brain]:
    """A brain with the index in memory and one that asks the store, over the same archive."""
    memory, store = await open_brain(), await open_brain(search_memory_mb=0)
    await store.add([write(name, text) for name, text in TEXTS.items()])
    return memory, store


async def test_memory_and_store_agree(both: tuple[Brain, Brain]) -> None:
    memory, store = both
    await compare(memory, store)
    await compare(memory, store, limit=40)
    await compare(memory, store, filters=parse_filters(kinds=["markdown"]))
    await compare(memory, store, filters=parse_filters(languages=["en"]), limit=2)
    for question in QUESTIONS:
        inside = [await brain.ask("log.txt", question) for brain in both]
        assert seen(inside[0]) == seen(inside[1])


async def test_what_another_process_changes_is_seen(
    both: tuple[Brain, Brain], write: Write, rows: Rows
) -> None:
    memory, store = both
    await compare(memory, store)
    await store.add([write("new.txt", "A new valve was bought for the boiler, and uova.\n")])
    await compare(memory, store)
    changed = write("boiler.txt", "La caldaia nuova non perde acqua: la valvola regge.\n" * 4)
    await store.add([changed])
    await compare(memory, store)
    await store.remove("log.txt")
    await compare(memory, store)
    assert not (await memory.search("entry 17 meter")).trace["vector_arm"]["ranking"] or all(
        result.document.name != "log.txt" for result in (await memory.search("entry 17")).results
    )
    for name in list(TEXTS)[1:4]:
        await store.remove(name)
    await store.add(
        [write("back.txt", TEXTS["lease.txt"]), write("more.txt", "The water, again.\n")]
    )
    await compare(memory, store)
    # What is kept in memory is what is there, and no more.
    table = memory._retriever._mirror._table
    assert table.ids.tolist() == [row[0] for row in rows("SELECT id FROM chunk ORDER BY id")]
    assert len(table.vectors) == rows("SELECT count(*) FROM chunk_vector")[0][0]
    assert set(table.names.values()) == {row[0] for row in rows("SELECT name FROM document")}


async def test_a_large_index_is_loaded_by_the_second_search(
    both: tuple[Brain, Brain], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirror_module, "AT_ONCE", 3)
    monkeypatch.setattr(mirror_module, "_BATCH_CHUNKS", 4)
    memory, store = both
    assert not (await memory.search("valve")).trace["mirror"]["in_memory"]
    await compare(memory, store)


async def test_an_index_beyond_its_memory_is_asked_of_the_store(
    both: tuple[Brain, Brain], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, store = both
    monkeypatch.setattr(memory._retriever._mirror, "_memory", 3_000)
    answer = await memory.search("the valve")
    assert not answer.trace["mirror"]["in_memory"]
    assert seen(answer) == seen(await store.search("the valve"))
    for name in ("log.txt", "boiler-manual.txt"):
        await store.remove(name)
    await compare(memory, store)
