"""Rows of settings in a real database: in force for what opens it, above file and default."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.fakes import WordsEmbedder

from emily.brain import Brain
from emily.errors import SettingError
from emily.settings import Settings, load_settings
from emily.store.registry import SettingRegistry, in_force

if TYPE_CHECKING:
    from pathlib import Path

    from emily.store import Database

LINES = [
    "The greenhouse needs a new heater before the frost.",
    "The heater of the greenhouse was bought in the spring.",
    "A heater that hums is a heater that lives, says the gardener.",
    "Seeds of the heater plant do not exist, however often asked for.",
]


def _folder(at: Path) -> Path:
    at.mkdir()
    for number, line in enumerate(LINES):
        (at / f"note{number}.md").write_text(f"{line}\n")
    return at


async def test_a_row_is_read_by_every_stage_that_it_is_for(
    settings: Settings, database: Database, tmp_path: Path
) -> None:
    registry = SettingRegistry(database, settings)
    async with Brain.open(settings, embedder=WordsEmbedder()) as brain:
        await brain.add([_folder(tmp_path / "in")])
        found = await brain.search("heater greenhouse")
        assert len(found.trace["fusion"]["pool"]) == 4
    for name, value in {
        "arm_size": "3",
        "pool_size": "2",
        "result_limit": "1",
        "threshold": "0.01",
        "widen": "0",
        "lexical_score": "lexemes",
        "fusion": "rrf",
        "neighbours": "false",
        "ask_pool_size": "1",
        "ask_threshold_share": "0.9",
        "query_log": "false",
    }.items():
        await registry.set(name, value)
    async with Brain.open(settings, embedder=WordsEmbedder()) as brain:
        assert brain.settings.from_rows >= {"arm_size", "query_log"}
        found = await brain.search("heater greenhouse")
        trace = found.trace
        assert len(trace["vector_arm"]["ranking"]) == 3
        assert len(trace["fusion"]["pool"]) == 2
        assert (trace["fusion"]["name"], trace["preset"]["fusion"]) == ("rrf", "rrf")
        assert trace["threshold"]["threshold"] == 0.01
        assert len(trace["selection"]["chosen"]) == 1
        assert trace["preset"]["lexical_score"] == "lexemes"
        asked = await brain.ask("note0.md", "heater")
        assert len(asked.trace["fusion"]["pool"]) == 1
        best = asked.trace["second_stage"]["candidates"][0]["probability"]
        assert asked.trace["threshold"]["threshold"] == pytest.approx(max(0.05, 0.9 * best))
        await brain.settle()
        assert await brain.queries.count() == 1  # the one before


async def test_chunks_and_languages_of_a_row_are_those_of_new_documents(
    settings: Settings, database: Database, tmp_path: Path
) -> None:
    registry = SettingRegistry(database, settings)
    await registry.set("chunk_overlap", "8")
    await registry.set("chunk_tokens", "64")
    await registry.set("languages", "en")
    (tmp_path / "long.txt").write_text(
        "\n\n".join(f"{line} {at}" for at, line in enumerate(LINES * 20))
    )
    async with Brain.open(settings, embedder=WordsEmbedder()) as brain:
        await brain.add([tmp_path / "long.txt"])
        (info,) = await brain.list()
        assert info.chunks > 8
        assert info.language == "en"
        assert (await brain.status()).stale == 0
    await registry.unset("chunk_tokens")
    await registry.unset("chunk_overlap")
    async with Brain.open(settings, embedder=WordsEmbedder()) as brain:
        assert (await brain.status()).stale == 1


async def test_an_argument_stands_above_a_row_and_so_does_what_a_program_changed(
    settings: Settings, database: Database, home: Path
) -> None:
    await SettingRegistry(database, settings).set("widen", "3")
    async with Brain.open(settings, embedder=WordsEmbedder()) as brain:
        assert brain.settings.widen == 3
    given = load_settings(home, database_url=settings.database_url, widen=2)
    for mine in (given, settings.model_copy(update={"widen": 2})):
        async with Brain.open(mine, embedder=WordsEmbedder()) as brain:
            assert brain.settings.widen == 2


async def test_a_row_that_cannot_be_used_stops_the_archive_and_not_its_removal(
    settings: Settings, database: Database
) -> None:
    await database.execute("set_setting", {"name": "widen", "value": "17"})
    with pytest.raises(SettingError, match="emily config unset NAME"):
        async with Brain.open(settings, embedder=WordsEmbedder()):
            pass
    async with SettingRegistry.open(settings) as registry:
        change = await registry.unset("widen")
    assert (change.before, change.value) == (17, 1)
    async with Brain.open(settings, embedder=WordsEmbedder()) as brain:
        assert brain.settings.widen == 1


async def test_what_opens_no_archive_knows_the_rows_too(
    settings: Settings, database: Database
) -> None:
    await SettingRegistry(database, settings).set("scanned_pages", "7")
    assert (await in_force(settings)).scanned_pages == 7
    elsewhere = load_settings(settings.home / "new", database_url="")
    assert (await in_force(elsewhere)).scanned_pages == 2_000  # no database is made for it
    assert not (settings.home / "new").exists()
