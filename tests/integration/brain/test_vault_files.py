"""A vault in the database follows its folder: what a search shows is what the files say now."""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from tests.fakes import WordsEmbedder

from emily.brain import Brain
from emily.errors import InputError
from emily.vault.changes import FileState
from emily.vault.syncing import certain

FERRY = (
    "# Ferry\n\nThe ferry to the island leaves at seven.\n\n## Return\n\nIt comes back at nine.\n"
)
BREAD = "---\ntags: [kitchen]\n---\n\n# Bread\n\nFlour, water, salt and time make bread.\n"

Write = Callable[[str, str], Path]


@pytest.fixture
def embedder() -> WordsEmbedder:
    return WordsEmbedder()


@pytest.fixture
async def brain(open_brain: Callable[..., Awaitable[Brain]], embedder: WordsEmbedder) -> Brain:
    return await open_brain(embedder)


@pytest.fixture
async def vault(brain: Brain, folder: Path, write: Write) -> Path:
    write("travel/ferry.md", FERRY)
    write("bread.md", BREAD)
    await brain.vaults.add(folder, name="notes")
    return folder


def _hashes(folder: Path) -> dict[str, tuple[str, int]]:
    return {
        str(path): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


async def _first(brain: Brain, question: str) -> str | None:
    answer = await brain.search(question)
    return answer.results[0].document.name if answer.results else None


async def _id_of(brain: Brain, name: str) -> int:
    return next(info.id for info in await brain.list() if info.name == name)


async def test_a_note_is_found_with_its_lines(brain: Brain, vault: Path) -> None:
    answer = await brain.search("when does the ferry come back")
    result = answer.results[0]
    assert result.document.name == "ferry.md"
    assert result.document.path == str(vault / "travel/ferry.md")
    passage = result.passages[0]
    assert passage.lines is not None
    lines = (vault / "travel/ferry.md").read_text(encoding="utf-8").split("\n")
    assert "\n".join(lines[passage.lines[0] - 1 : passage.lines[1]]) == passage.text


async def test_an_edit_is_found_by_the_next_search(brain: Brain, vault: Path) -> None:
    (vault / "bread.md").write_text("# Bread\n\nRye and caraway now.\n", encoding="utf-8")
    answer = await brain.search("caraway")
    assert answer.results[0].passages[0].text.endswith("Rye and caraway now.")
    assert not [
        passage
        for result in (await brain.search("flour water salt time")).results
        for passage in result.passages
        if "Flour" in passage.text
    ]


def test_a_file_that_may_change_again_under_its_date_is_looked_at_again() -> None:
    now = time.time_ns()
    recent = FileState(3, now // 1000 * 1000 + 7, "1:1", note=True)
    coarse = FileState(3, now // 1_000_000_000 * 1_000_000_000, "1:1", note=True)
    old = FileState(3, now - 3_000_000_000, "1:1", note=True)
    assert certain(recent).modified_ns == 0
    assert certain(coarse).modified_ns == 0
    assert certain(old) == old


async def test_deleted_renamed_and_new_files_are_right_at_once(brain: Brain, vault: Path) -> None:
    (vault / "travel/ferry.md").unlink()
    (vault / "lamp.md").write_text("# Lamp\n\nThe lamp wants a new bulb.\n", encoding="utf-8")
    (vault / "bread.md").rename(vault / "loaf.md")
    assert await _first(brain, "lamp bulb") == "lamp.md"
    assert await _first(brain, "flour water salt") == "loaf.md"
    assert {info.name for info in await brain.list()} == {"lamp.md", "loaf.md"}


async def test_a_moved_note_keeps_its_identity_and_its_vectors(
    brain: Brain, embedder: WordsEmbedder, vault: Path
) -> None:
    before = await _id_of(brain, "ferry.md")
    embedder.calls.clear()
    (vault / "trips").mkdir()
    (vault / "travel/ferry.md").rename(vault / "trips/ferry.md")
    assert await _first(brain, "ferry island seven") == "ferry.md"
    assert await _id_of(brain, "ferry.md") == before
    assert embedder.calls == []


async def test_a_note_that_was_moved_and_edited_keeps_its_identity(
    brain: Brain, vault: Path
) -> None:
    before = await _id_of(brain, "ferry.md")
    path = (vault / "travel/ferry.md").rename(vault / "boat.md")
    with path.open("a", encoding="utf-8") as file:
        file.write("\nBring a coat.\n")
    assert await _first(brain, "bring a coat") == "boat.md"
    assert await _id_of(brain, "boat.md") == before


async def test_only_the_passages_that_changed_are_embedded(
    brain: Brain, embedder: WordsEmbedder, vault: Path
) -> None:
    embedder.calls.clear()
    path = vault / "travel/ferry.md"
    path.write_text(FERRY.replace("comes back at nine", "returns at ten"), encoding="utf-8")
    await brain.search("ferry")
    assert len(embedder.calls) == 1
    assert "returns at ten" in embedder.calls[0]
    embedder.calls.clear()
    await brain.search("ferry")
    os.utime(path)
    await brain.search("ferry")
    assert embedder.calls == []


async def test_a_passage_is_embedded_with_title_and_trail(
    brain: Brain, embedder: WordsEmbedder, folder: Path, write: Write
) -> None:
    late = f"{'late ' * 190}\n\n" * 3
    write("a.md", f"# Boats\n\n{'word ' * 200}\n\n## Return\n\n### Evening\n\n{late}")
    embedder.calls.clear()
    await brain.vaults.add(folder)
    assert any(call.startswith("Boats › Return › Evening") for call in embedder.calls)


async def test_nothing_is_written_into_the_folder(brain: Brain, vault: Path) -> None:
    before = _hashes(vault)
    await brain.search("ferry")
    await brain.vaults.sync()
    await brain.vaults.remove("notes")
    assert _hashes(vault) == before


async def test_a_folder_that_is_away_loses_nothing(brain: Brain, vault: Path) -> None:
    away = vault.rename(vault.with_name("away"))
    answer = await brain.search("ferry island")
    assert answer.results[0].document.name == "ferry.md"
    assert any("cannot be looked at now" in notice for notice in answer.notices)
    away.rename(vault)
    answer = await brain.search("ferry island")
    assert not any("cannot be looked at now" in notice for notice in answer.notices)


async def test_an_empty_mount_point_loses_nothing(
    brain: Brain, vault: Path, rows: Callable[..., list[tuple[object, ...]]]
) -> None:
    rows("UPDATE vault SET device = 'another'")
    vault.rename(vault.with_name("away"))
    vault.mkdir()
    answer = await brain.search("ferry island")
    assert answer.results[0].document.name == "ferry.md"
    assert any("another disk" in notice for notice in answer.notices)


async def test_a_folder_that_was_emptied_is_empty(brain: Brain, vault: Path) -> None:
    shutil.rmtree(vault)
    vault.mkdir()
    assert not (await brain.search("ferry island")).results
    assert not await brain.list()


async def test_a_lost_database_costs_a_rebuild(
    brain: Brain, vault: Path, rows: Callable[..., list[tuple[object, ...]]]
) -> None:
    rows("TRUNCATE vault, vault_file, vault_link, document CASCADE")
    answer = await brain.search("ferry island")
    assert any("emily vault sync notes" in notice for notice in answer.notices)
    await brain.vaults.sync()
    assert await _first(brain, "ferry island") == "ferry.md"


async def test_two_notes_with_the_same_text_are_two_documents(
    brain: Brain, folder: Path, write: Write
) -> None:
    write("a.md", "# Plan\n\nThe same words.\n")
    write("b/a.md", "# Plan\n\nThe same words.\n")
    await brain.vaults.add(folder)
    assert len(await brain.list()) == 2


async def test_an_empty_note_is_a_document_without_passages(
    brain: Brain, folder: Path, write: Write
) -> None:
    write("empty.md", "")
    write("blank.md", "\n\n   \n")
    report = await brain.vaults.add(folder)
    assert set(report.added) == {"empty.md", "blank.md"}
    assert not report.failed


async def test_what_the_archive_held_becomes_the_vaults(
    brain: Brain, folder: Path, write: Write
) -> None:
    path = write("ferry.md", FERRY)
    await brain.add([path])
    before = await _id_of(brain, "ferry.md")
    await brain.vaults.add(folder, name="notes")
    assert await _id_of(brain, "ferry.md") == before
    report = await brain.add([path])
    assert report.files[0].outcome == "ignored"
    assert "vault notes" in (report.files[0].reason or "")
    with pytest.raises(InputError, match="emily vault remove notes"):
        await brain.remove(before)


async def test_a_vault_that_is_removed_leaves_nothing(
    brain: Brain, vault: Path, rows: Callable[..., list[tuple[object, ...]]]
) -> None:
    await brain.vaults.remove("notes")
    for table in ("document", "chunk", "posting", "word", "vault_file", "vault_link", "source"):
        assert rows(f"SELECT count(*) FROM {table}") == [(0,)], table
    assert not await brain.vaults.vaults()


async def test_notes_of_the_owner_do_not_go_unasked(brain: Brain, vault: Path) -> None:
    await brain.life.note("ferry.md", "Ask Oreste in May.")
    with pytest.raises(InputError, match=r"1 note that you added .* --yes"):
        await brain.vaults.remove("notes")
    assert len(await brain.life.notes()) == 1
    await brain.vaults.remove("notes", notes=True)
    assert not await brain.vaults.vaults()


async def test_notes_are_found_by_words_while_the_embedder_is_down(
    brain: Brain, embedder: WordsEmbedder, vault: Path
) -> None:
    embedder.down = True
    (vault / "lamp.md").write_text("# Lamp\n\nThe lamp wants a new bulb.\n", encoding="utf-8")
    answer = await brain.search("lamp bulb")
    assert answer.results[0].document.name == "lamp.md"
    assert any("words alone" in notice for notice in answer.notices)
    embedder.down = False
    embedder.calls.clear()
    await brain.vaults.sync()
    assert len(embedder.calls) == 1
    info = (await brain.vaults.vaults())[0]
    assert info.incomplete == 0


async def test_other_settings_are_brought_in_by_reindex(
    open_brain: Callable[..., object], folder: Path, write: Write
) -> None:
    write("ferry.md", FERRY)
    first = await open_brain()  # type: ignore[misc]
    await first.vaults.add(folder)
    second = await open_brain(language_confidence=0.5)  # type: ignore[misc]
    answer = await second.search("ferry")
    assert any("emily reindex" in notice for notice in answer.notices)
    report = await second.reindex()
    assert report.documents == 1
    answer = await second.search("ferry")
    assert not any("emily reindex" in notice for notice in answer.notices)


@pytest.mark.parametrize("other", ["files/travel", "."])
async def test_a_file_belongs_to_one_vault(brain: Brain, vault: Path, other: str) -> None:
    with pytest.raises(InputError, match="lie in each other"):
        await brain.vaults.add(vault.parent / other)


async def test_a_folder_that_is_none_is_refused(brain: Brain, folder: Path, write: Write) -> None:
    with pytest.raises(InputError, match="does not exist"):
        await brain.vaults.add(folder / "none")
    with pytest.raises(InputError, match="is not a folder"):
        await brain.vaults.add(write("a.md", "x"))
