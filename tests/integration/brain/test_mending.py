"""Stale documents: counted, told of, indexed anew by a worker's phase, stopped and gone on with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fakes import WordsEmbedder

from emily.brain import Brain
from emily.store.registry import SettingRegistry

if TYPE_CHECKING:
    from pathlib import Path

    from emily.settings import Settings
    from emily.store import Database

TEXTS = {
    "heater.txt": "The greenhouse heater was bought in spring from the ironmonger.\n",
    "boat.txt": "The rowing boat lies under a tarpaulin behind the shed.\n",
    "bees.txt": "Four hives stand in the orchard and want sugar in winter.\n",
}


async def test_a_worker_mends_what_a_changed_setting_made_stale(
    settings: Settings, database: Database, tmp_path: Path
) -> None:
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text)
    async with Brain.open(settings, embedder=WordsEmbedder()) as worker:
        await worker.add([tmp_path / name for name in TEXTS])
        await worker.life.note("boat.txt", "The oars are lent.")
        await SettingRegistry(database, settings).set("chunk_overlap", "20")
        async with Brain.open(settings, embedder=WordsEmbedder()) as brain:
            assert (await brain.status()).stale == 3  # a note counts with its document
            answer = await brain.search("rowing boat tarpaulin", log=False)
            assert answer.results[0].document.name == "boat.txt"
            (notice,) = [text for text in answer.notices if "emily reindex" in text]
            assert "3 of 3 documents" in notice
            assert "chunk_overlap 50 → 20" in notice
            assert await worker.mending.due() == []  # nobody asked for it
            await brain.mending.ask()
            # The worker began before the setting was changed, and works by the new one.
            due = await worker.mending.due()
            assert len(due) == 4
            await worker.mending.perform(due[0].document)
            assert (await brain.search("rowing boat", log=False)).results
            assert await brain.mending.stop()
            done = await worker.mending.perform(due[1].document)
            assert "stopped" in (done.outcome or "")
            assert (await brain.mending.left(), await worker.mending.due()) == (3, [])
            await brain.mending.ask()
            # The queue leaves alone what is done for the same state; another request is another.
            assert {item.state for item in await worker.mending.due()} != {due[0].state}
            for item in await worker.mending.due():
                await worker.mending.perform(item.document)
            assert await worker.mending.due() == []
            assert not await brain.mending.stop()  # with nothing left it is over by itself
            status = await brain.status()
            assert (status.stale, status.problems) == (0, ())
            answer = await brain.search("oars lent", log=False)
            assert answer.results[0].passages[0].source == "note"
            assert not [text for text in answer.notices if "emily reindex" in text]


async def test_a_trashed_document_is_not_stale_and_comes_back_mended(
    settings: Settings, database: Database, tmp_path: Path
) -> None:
    (tmp_path / "boat.txt").write_text(TEXTS["boat.txt"])
    async with Brain.open(settings, embedder=WordsEmbedder()) as brain:
        await brain.add([tmp_path / "boat.txt"])
        await brain.life.trash("boat.txt")
    await SettingRegistry(database, settings).set("chunk_overlap", "20")
    async with Brain.open(settings, embedder=WordsEmbedder()) as brain:
        assert await brain.mending.left() == 0
        await brain.life.restore("boat.txt")
        assert await brain.mending.left() == 0
        assert (await brain.search("rowing boat", log=False)).results
