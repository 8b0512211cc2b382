"""Memories as the owner keeps them, on the real database."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from tests.fakes import WordsEmbedder

from emily.errors import InputError
from emily.indexing.language import LanguageDetector
from emily.life.remembered import exported_memories, take_memories
from emily.memory import Memories
from emily.settings import Settings, load_settings
from emily.store import Database


@pytest.fixture(scope="module")
def detector() -> LanguageDetector:
    return LanguageDetector(("it", "en"))


@pytest.fixture
def memory(settings: Settings, database: Database, detector: LanguageDetector) -> Memories:
    return Memories(settings, database, WordsEmbedder(), detector, None)


async def test_added_edited_and_known(memory: Memories) -> None:
    done = await memory.add(
        "The owner's cat is called Briciola.", original="La mia gatta si chiama Briciola, è nera."
    )
    assert done.memory is not None
    kept = done.memory
    assert (kept.source, kept.core, kept.language) == ("owner", False, "it")
    assert kept.accepted_at is not None
    again = await memory.add("The owner's cat is called BRICIOLA")
    assert (again.action, again.memory) == ("known", kept)
    edited = await memory.edit(kept.id, "The owner's cat is called Brina.")
    assert (edited.id, edited.original) == (kept.id, None)
    now, past = await memory.history(kept.id)
    assert now.text == "The owner's cat is called Brina."
    assert [(item.text, item.reason) for item in past] == [(kept.text, "edited")]
    assert past[0].said_at == kept.said_at < past[0].ended_at
    (hit,) = (await memory.search("Brina")).found
    assert hit.memory.id == kept.id


@pytest.mark.parametrize("text", ["", "  \0 ", "x" * 1001])
async def test_what_is_no_memory(memory: Memories, text: str) -> None:
    with pytest.raises(InputError):
        await memory.add(text)
    assert await memory.list(None) == []


async def test_core_is_the_owners_choice(memory: Memories) -> None:
    one = (await memory.add("The owner is left-handed.")).memory
    assert one is not None
    assert await memory.core() == []
    await memory.set_core(one.id, core=True)
    assert await memory.core() == [(one.id, one.text)]
    await memory.set_core(one.id, core=False)
    assert await memory.core() == []
    waiting = (await memory.propose("The owner flies kites.", client="desk")).memory
    assert waiting is not None
    with pytest.raises(InputError, match="emily memory accept"):
        await memory.set_core(waiting.id, core=True)
    with pytest.raises(InputError, match="no memory 999"):
        await memory.set_core(999, core=True)


async def test_proposals_wait_for_the_owner(memory: Memories) -> None:
    proposed = await memory.propose("The owner sings in a choir.", client="desk")
    assert proposed.action == "proposed"
    assert proposed.memory is not None
    assert (await memory.search("choir")).found == ()
    assert (await memory.propose("the owner sings in a choir", client="other")).action == "proposed"
    assert len(await memory.list("proposed")) == 1
    accepted = (await memory.accept(proposed.memory.id)).memory
    assert accepted is not None
    assert (accepted.state, accepted.source, accepted.core) == ("current", "model", False)
    assert accepted.accepted_at is not None
    assert len((await memory.search("choir")).found) == 1
    assert (await memory.propose("The owner sings in a choir.", client="desk")).action == "known"
    other = (await memory.propose("The owner collects stamps.", client="desk")).memory
    assert other is not None
    assert (await memory.decline(other.id)).state == "declined"
    again = await memory.propose("The owner collects stamps!", client="desk")
    assert again.action == "declined"
    for wrong in (memory.accept, memory.decline):
        with pytest.raises(InputError, match="declined"):
            await wrong(other.id)


async def test_forgetting_leaves_nothing(
    memory: Memories, database: Database, settings: Settings
) -> None:
    one = (await memory.add("The owner's secret word is zanzibar.", original="zanzibarra")).memory
    other = (await memory.add("The owner likes pears.")).memory
    assert one is not None
    assert other is not None
    await memory.edit(one.id, "The owner's secret word is zanzibar no more.")
    await database.execute(
        "queue_message",
        {"conversation": uuid4(), "client": "chat", "text": "my secret word is zanzibar, you know"},
    )
    await database.execute(
        "queue_message", {"conversation": uuid4(), "client": "chat", "text": "I bought a boat"}
    )
    assert await traces(database, "zanzibar") == {"memory", "memory_past", "memory_message"}
    with pytest.raises(InputError):
        await memory.forget([one.id, 999])
    (gone,) = await memory.forget([one.id])
    assert gone.id == one.id
    assert await traces(database, "zanzibar") == set()
    assert await memory.list(None) == [await memory.get(other.id)]
    assert [item.text for item in await memory.messages()] == ["I bought a boat"]


async def traces(database: Database, word: str) -> set[str]:
    """The tables in which a word stands, whatever their columns."""
    found = set()
    async with database.transaction() as connection:
        cursor = await connection.execute(
            "SELECT quote_ident(table_schema) || '.' || quote_ident(table_name) AS name, table_name"
            " FROM information_schema.tables WHERE table_type = 'BASE TABLE'"
            " AND table_schema NOT IN ('pg_catalog', 'information_schema')"
        )
        for row in await cursor.fetchall():
            held = await connection.execute(
                f"SELECT 1 FROM {row['name']} t WHERE t::text ILIKE %s LIMIT 1", [f"%{word}%"]
            )
            if await held.fetchone():
                found.add(row["table_name"])
    return found


async def test_another_embedder_embeds_memories_anew(
    settings: Settings, database: Database, detector: LanguageDetector
) -> None:
    first = Memories(settings, database, WordsEmbedder(), detector, None)
    await first.add("The owner plays the oboe.")
    other = Memories(settings, database, WordsEmbedder("other", dimension=32), detector, None)
    (hit,) = (await other.search("plays what")).found
    assert hit.cosine is not None
    rows = await vectors(database)
    assert rows == [("other", 32)]


async def vectors(database: Database) -> list[tuple[str, int]]:
    async with database.transaction() as connection:
        cursor = await connection.execute("SELECT model, dimension FROM memory ORDER BY id")
        return [(row["model"], row["dimension"]) for row in await cursor.fetchall()]


async def test_a_search_without_the_embedder_says_so(
    settings: Settings, database: Database, detector: LanguageDetector
) -> None:
    embedder = WordsEmbedder()
    embedder.down = True
    memory = Memories(settings, database, embedder, detector, None)
    await memory.add("The owner's dentist is in Via Lunga.")
    answer = await memory.search("dentist")
    assert [item.memory.text for item in answer.found] == ["The owner's dentist is in Via Lunga."]
    assert "words alone" in answer.notices[0]
    assert (await memory.search("helicopter")).found == ()
    with pytest.raises(InputError):
        await memory.search("  ")


async def test_without_a_chat_model_it_says_so(
    memory: Memories, home: Any, database_url: str, database: Database, detector: LanguageDetector
) -> None:
    assert "chat model" in str((await memory.counts()).off)
    heard = await memory.hear("I moved to Lucca last week.", client="chat", conversation=uuid4())
    assert heard is None
    assert await memory.messages() == []
    assert await memory.extract() == []
    switched = load_settings(home, database_url=database_url, memory_extract=False)
    off = Memories(switched, database, WordsEmbedder(), detector, None).off
    assert "memory_extract" in str(off)


async def test_exported_and_taken_in_again(memory: Memories, database: Database) -> None:
    one = (await memory.add("The owner keeps bees.", original="Tengo le api", core=True)).memory
    assert one is not None
    await memory.edit(one.id, "The owner keeps two hives.")
    await memory.propose("The owner wants a boat.", client="desk")
    items = json.loads(json.dumps(await exported_memories(database)))
    assert [item["text"] for item in items] == ["The owner keeps two hives."], "none that waits"
    assert await take_memories(database, items) == 0, "it is there"
    now, past = await memory.history(one.id)
    await memory.forget_all()
    assert await take_memories(database, items) == 1
    (again,) = await memory.list(None)
    assert again == replace(now, id=again.id)
    assert [item.text for item in (await memory.history(again.id))[1]] == [
        item.text for item in past
    ]
    assert len((await memory.search("hives")).found) == 1
