"""Notes, names, versions and the trash, on a real database."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

import pytest
from tests.fakes import WordsEmbedder

from emily.brain import Brain
from emily.errors import InputError, UnknownDocument

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from emily.settings import Settings

HEATER = "The greenhouse heater was bought in spring from the ironmonger.\n"
BOAT = "The rowing boat lies under a tarpaulin behind the shed.\n"
BEES = "Four hives stand in the orchard and want sugar in winter.\n"


@pytest.fixture
async def brain(settings: Settings) -> AsyncIterator[Brain]:
    async with Brain.open(settings, embedder=WordsEmbedder()) as opened:
        yield opened


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    for name, text in {"heater.txt": HEATER, "boat.txt": BOAT, "bees.txt": BEES}.items():
        (folder / name).write_text(text)
    return folder


async def _found(brain: Brain, question: str) -> list[str]:
    answer = await brain.search(question, threshold=0.0, log=False)
    return [result.document.name for result in answer.results]


async def _passages(brain: Brain, question: str, document: str) -> list[tuple[str, str]]:
    answer = await brain.search(question, threshold=0.0, log=False)
    return [
        (passage.source, passage.text)
        for result in answer.results
        if result.document.name == document
        for passage in result.passages
    ]


async def test_a_document_goes_by_the_end_of_its_path_and_a_name_without_case(
    brain: Brain, papers: Path
) -> None:
    await brain.add([papers])
    boat = (await brain.show("boat.txt")).info.id
    assert (await brain.show("Papers/Boat.txt")).info.id == boat
    assert (await brain.show("BOAT.TXT")).info.id == boat
    with pytest.raises(UnknownDocument, match=rf"Near it: boat\.txt \({boat}\)"):
        await brain.show("baot.txt")
    with pytest.raises(UnknownDocument, match=r"no document 'oat\.txt'"):
        await brain.show("oat.txt")
    with pytest.raises(UnknownDocument, match="no document '999'"):
        await brain.show(999)


async def test_a_note_is_found_and_stands_before_the_text_of_its_document(
    brain: Brain, papers: Path
) -> None:
    await brain.add([papers])
    await brain.search("warm up", log=False)  # what is in memory must learn of the note
    note = await brain.life.note("heater.txt", "The warranty of the heater ends in zephyrmonth.")
    assert (await _found(brain, "zephyrmonth warranty"))[0] == "heater.txt"
    found = await _passages(brain, "greenhouse heater ironmonger warranty", "heater.txt")
    assert found == [
        ("note", "The warranty of the heater ends in zephyrmonth."),
        ("original", HEATER.strip()),
    ]
    # It is no document, and no place of the document's own text.
    assert len(await brain.list()) == 3
    assert (await brain.status()).documents == 3
    answer = await brain.search("zephyrmonth warranty", log=False)
    assert "a note of the owner's" in answer.text
    assert answer.results[0].passages[0].pages is None
    asked = await brain.ask("heater.txt", "zephyrmonth warranty")
    assert asked.results[0].passages[0].source == "note"
    other = await brain.ask("boat.txt", "zephyrmonth warranty")
    assert all(p.source == "original" for r in other.results for p in r.passages)
    await brain.life.remove_note(note.id)
    assert await brain.life.notes() == []
    assert "zephyrmonth" not in (await brain.search("zephyrmonth", log=False)).text


async def test_the_five_are_chosen_before_notes_are_put_under_their_documents(
    brain: Brain, papers: Path
) -> None:
    await brain.add([papers])
    before = await brain.search("heater boat hives", limit=2, threshold=0.0, log=False)
    await brain.life.note("bees.txt", "Nothing that was asked for stands here.")
    after = await brain.search("heater boat hives", limit=2, threshold=0.0, log=False)
    # A note that is not among the best changes nothing: no document comes in, none goes.
    assert [r.document.id for r in after.results] == [r.document.id for r in before.results]
    await brain.life.note("boat.txt", "heater boat hives")
    chosen = await brain.search("heater boat hives", limit=1, threshold=0.0, log=False)
    (result,) = chosen.results  # the note took the one place, and stands under its document
    assert result.document.name == "boat.txt"
    assert [passage.source for passage in result.passages] == ["note"]
    assert (
        chosen.trace["selection"]["chosen"]
        == [item["chunk"] for item in chosen.trace["second_stage"]["candidates"] if "note" in item][
            :1
        ]
    )


async def test_memory_and_store_show_the_same_notes(settings: Settings, papers: Path) -> None:
    seen = []
    for memory in (0, 512):
        mine = settings.model_copy(update={"search_memory_mb": memory})
        async with Brain.open(mine, embedder=WordsEmbedder()) as brain:
            await brain.add([papers])
            if not seen:
                await brain.life.note("boat.txt", "The oars are lent to the neighbour.")
            for _ in range(2):
                answer = await brain.search("oars of the boat", threshold=0.0, log=False)
            seen.append(
                [
                    (result.document.id, [(item.source, item.text) for item in result.passages])
                    for result in answer.results
                ]
            )
    assert seen[0] == seen[1]
    assert seen[0][0][1][0] == ("note", "The oars are lent to the neighbour.")


async def test_a_filter_holds_for_the_notes_of_a_document_too(brain: Brain, papers: Path) -> None:
    from emily.brain import parse_filters

    await brain.add([papers])
    await brain.life.note("bees.txt", "The extractor is borrowed.")
    await brain.life.note("boat.txt", "The extractor is not here.")
    inside = await brain.search(
        "extractor",
        filters=parse_filters(folder=str(papers / "boat.txt")),
        threshold=0.0,
        log=False,
    )
    assert {result.document.name for result in inside.results} == {"boat.txt"}
    assert inside.trace["filters"]["documents"] == 1


async def test_a_note_outlives_a_changed_file_and_a_rename(brain: Brain, papers: Path) -> None:
    await brain.add([papers])
    await brain.life.note("heater.txt", "Serial plate: quillwort seven.")
    (papers / "heater.txt").write_text("A new heater came, with a brass grille.\n")
    report = await brain.add([papers])
    assert [item.outcome for item in report.files].count("replaced") == 1
    assert await _found(brain, "quillwort") != []
    info = await brain.life.rename("heater.txt", "Warmth of the glasshouse")
    assert info.name == "Warmth of the glasshouse"
    found = await brain.search("glasshouse warmth", threshold=0.0, log=False)
    assert found.results[0].document.id == info.id
    assert {p.source for p in found.results[0].passages} == {"note", "original"}
    (papers / "heater.txt").write_text("The third heater hums in a low voice.\n")
    await brain.add([papers])
    assert (await brain.show(info.id)).info.name == "Warmth of the glasshouse"
    assert (await brain.life.rename(info.id, None)).name == "heater.txt"


async def test_versions_are_kept_read_and_gone_back_to(brain: Brain, papers: Path) -> None:
    await brain.add([papers])
    (papers / "boat.txt").write_text("The boat was sold to a ferryman.\n")
    await brain.add([papers])
    info, present, found = await brain.life.versions("boat.txt")
    assert (present, [item.version for item in found]) == (2, [1])
    assert (await brain.life.read_version(info.id, 1)).text.strip() == BOAT.strip()
    assert "tarpaulin" not in (await brain.search("tarpaulin", threshold=0.0, log=False)).text
    done = await brain.life.restore_version(info.id, 1)
    assert (done.version, done.kept, done.document.path) == (3, 2, str(papers / "boat.txt"))
    assert (await _found(brain, "tarpaulin"))[0] == "boat.txt"
    assert "ferryman" in (await brain.life.read_version(info.id, 2)).text
    with pytest.raises(InputError, match="made of these bytes"):
        await brain.life.restore_version(info.id, 1)
    with pytest.raises(InputError, match=r"no earlier version 9\. Kept are: 1, 2"):
        await brain.life.read_version(info.id, 9)
    checks = {check.name: check for check in await brain.doctor()}
    assert checks["originals"].ok, checks["originals"].detail


async def test_a_document_is_replaced_by_another_file_and_keeps_its_id(
    brain: Brain, papers: Path, tmp_path: Path
) -> None:
    await brain.add([papers])
    new = tmp_path / "boat2026.txt"
    new.write_text("The boat has a mast now, of ash.\n")
    before = (await brain.show("boat.txt")).info
    await brain.life.note("boat.txt", "Ask the sailmaker about canvas.")
    done = await brain.life.replace("boat.txt", new)
    assert (done.document.id, done.document.path, done.version, done.kept) == (
        before.id,
        str(new),
        2,
        1,
    )
    assert done.document.name == "boat2026.txt"
    assert len(await brain.list()) == 3
    assert len(await brain.life.notes(before.id)) == 1
    for wrong, said in (
        (papers / "bees.txt", "is document"),
        (new, "made of these bytes"),
        (papers / "nothing", "is not a file"),
    ):
        with pytest.raises(InputError, match=said):
            await brain.life.replace(before.id, wrong)
    copy = tmp_path / "copy.txt"
    copy.write_text(BEES)
    with pytest.raises(InputError, match="same bytes as document"):
        await brain.life.replace(before.id, copy)
    assert len(await brain.list()) == 3
    assert (await brain.show("bees.txt")).info.paths == (str(papers / "bees.txt"),)


async def test_only_so_many_versions_are_kept_with_their_files(
    settings: Settings, papers: Path
) -> None:
    mine = settings.model_copy(update={"versions_kept": 2})
    async with Brain.open(mine, embedder=WordsEmbedder()) as brain:
        for number in range(5):
            (papers / "boat.txt").write_text(f"The boat has {number} oars.\n")
            await brain.add([papers / "boat.txt"])
        _, present, found = await brain.life.versions("boat.txt")
        assert (present, [item.version for item in found]) == (5, [3, 4])
    files = [path for path in (settings.home / "originals").rglob("*") if path.is_file()]
    assert len(files) == 3


async def test_what_is_in_the_trash_is_never_found_and_comes_back(
    brain: Brain, papers: Path
) -> None:
    await brain.add([papers])
    await brain.life.note("bees.txt", "Queen marked in cobalt.")
    info, count = await brain.life.trash("bees.txt")
    assert count == 1
    for question in ("hives orchard sugar", "cobalt queen", "bees"):
        assert "bees.txt" not in await _found(brain, question)
    with pytest.raises(UnknownDocument, match=f"emily trash restore {info.id}"):
        await brain.show("bees.txt")
    with pytest.raises(UnknownDocument, match="in the trash"):
        await brain.ask(info.id, "hives")
    assert {item.name for item in await brain.list()} == {"boat.txt", "heater.txt"}
    # Added again, it says where it is; nothing is added.
    report = await brain.add([papers])
    (outcome,) = [item for item in report.files if item.path.name == "bees.txt"]
    assert outcome.outcome == "duplicate"
    assert f"emily trash restore {info.id}" in (outcome.reason or "")
    assert len(await brain.list()) == 2
    (trashed,) = await brain.life.trashed()
    assert (trashed.name, trashed.notes, trashed.path) == (
        "bees.txt",
        1,
        str(papers / "bees.txt"),
    )
    await brain.life.restore("bees.txt")
    assert (await _found(brain, "hives orchard sugar"))[0] == "bees.txt"
    assert (await _found(brain, "cobalt queen"))[0] == "bees.txt"
    assert await brain.life.trashed() == []
    assert (await brain.status()).stale == 0


async def test_a_path_that_is_taken_by_then_leaves_both_documents(
    brain: Brain, papers: Path
) -> None:
    await brain.add([papers])
    info, _ = await brain.life.trash("boat.txt")
    (papers / "boat.txt").write_text("Another boat, a punt with a pole.\n")
    report = await brain.add([papers])
    assert [item.outcome for item in report.files].count("added") == 1
    await brain.life.restore(info.id)
    assert (await _found(brain, "tarpaulin"))[0] == "boat.txt"
    assert (await _found(brain, "punt pole"))[0] == "boat.txt"
    back = (await brain.show(info.id)).info
    assert back.path.startswith(str(brain.settings.home / "originals"))


async def test_what_lies_inside_goes_and_comes_with_it(brain: Brain, tmp_path: Path) -> None:
    outer = tmp_path / "box.zip"
    with zipfile.ZipFile(outer, "w") as box:
        box.writestr("a.txt", HEATER)
        box.writestr("b.txt", BOAT)
    await brain.add([outer])
    there = len(await brain.list())
    info, count = await brain.life.trash("box.zip")
    assert count == there
    assert await brain.list() == []
    _, back = await brain.life.restore(info.id)
    assert back == there
    assert (await _found(brain, "tarpaulin"))[0] == "b.txt"


async def test_an_emptied_trash_leaves_nothing(
    brain: Brain, papers: Path, settings: Settings
) -> None:
    from emily.store import Database

    await brain.add([papers])
    info = (await brain.show("boat.txt")).info
    (papers / "boat.txt").write_text("The boat is painted in the colour oxblood.\n")
    await brain.add([papers])
    await brain.life.note("boat.txt", "Oarlocks are in the drawer.")
    await brain.search("boat painted in the colour oxblood")
    await brain.pin("boat oxblood", "boat.txt")
    async with brain._database.transaction() as connection:  # as a model was told of it
        await connection.execute(
            "INSERT INTO egress (role, client, local, characters) VALUES ('chat', 'c', true, 9)"
        )
        await connection.execute(
            "INSERT INTO egress_document "
            "SELECT id, %s, 'oxblood boat.txt', '{oxblood}', 9 FROM egress",
            [info.id],
        )
    await brain.settle()
    assert await brain.queries.count() == 1
    await brain.life.trash("boat.txt")
    assert [item.id for item in await brain.life.empty_trash(["boat.txt"])] == [info.id]
    assert await brain.life.trashed() == []
    assert await brain.queries.count() == 0
    async with Database.open(settings) as database, database.transaction() as connection:
        rows = await (
            await connection.execute(
                "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' "
                "AND table_type = 'BASE TABLE'"
            )
        ).fetchall()
        for row in rows:
            name = row["table_name"]
            told = "tarpaulin|oxblood|oarlock"
            cursor = await connection.execute(
                f"SELECT count(*) AS n FROM \"{name}\" t WHERE t::text ~* '{told}'"
            )
            found = await cursor.fetchone()
            assert found is not None
            assert found["n"] == 0, name
    left = b"".join(
        path.read_bytes() for path in (settings.home / "originals").rglob("*") if path.is_file()
    )
    assert b"tarpaulin" not in left
    assert b"oxblood" not in left
    assert b"ironmonger" in left
    # It can be added as if it had never been there.
    report = await brain.add([papers])
    assert [item.outcome for item in report.files].count("added") == 1


async def test_a_file_that_two_need_stays_when_one_is_forgotten(brain: Brain, papers: Path) -> None:
    await brain.add([papers])
    (papers / "boat.txt").write_text("The boat is on the lake.\n")
    await brain.add([papers])
    (papers / "old.txt").write_text(BOAT)  # the first version again, as a document of its own
    await brain.add([papers])
    await brain.life.forget("old.txt")
    assert (await brain.life.restore_version("boat.txt", 1)).version == 3


@pytest.mark.parametrize("text", ["", "  \n ", "\0"])
async def test_an_empty_note_is_refused(brain: Brain, papers: Path, text: str) -> None:
    await brain.add([papers])
    with pytest.raises(InputError, match="is empty"):
        await brain.life.note("boat.txt", text)
    with pytest.raises(InputError, match="at most 100,000"):
        await brain.life.note("boat.txt", "ab " * 50_000)
    with pytest.raises(InputError, match="There is no note 999"):
        await brain.life.remove_note(999)


@pytest.mark.parametrize("name", ["", " ", "a\nb", "x" * 256])
async def test_what_is_no_name_is_refused(brain: Brain, papers: Path, name: str) -> None:
    await brain.add([papers / "boat.txt"])
    with pytest.raises(InputError):
        await brain.life.rename("boat.txt", name)
