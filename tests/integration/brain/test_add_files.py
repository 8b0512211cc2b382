"""Files come, change, move and go."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from emily.brain import Brain, Progress
from emily.errors import AmbiguousDocument, UnknownDocument
from emily.indexing import intake
from emily.reading.pages import Reading
from emily.reading.reader import Reader

Write = Callable[[str, str], Path]
Rows = Callable[..., list[tuple[Any, ...]]]

LEASE = "Contratto di affitto. Il canone mensile è di 900 euro. La disdetta va data sei mesi prima."
RECIPE = "Torta di mele. Sbattere le uova con lo zucchero e infornare per quaranta minuti."

TABLES = ("source", "page", "chunk", "posting", "document_word")


async def found(brain: Brain, question: str) -> list[str]:
    return [result.document.name for result in (await brain.search(question)).results]


async def outcomes(brain: Brain, *paths: Path) -> list[str]:
    return [file.outcome for file in (await brain.add(paths)).files]


async def test_a_file_is_added_once(brain: Brain, write: Write, rows: Rows) -> None:
    path = write("lease.txt", LEASE)
    (first,) = (await brain.add([path])).files
    assert (first.outcome, first.chunks, first.pages, first.reason) == ("added", 1, 1, None)
    assert first.path == path
    (again,) = (await brain.add([path])).files
    assert (again.outcome, again.document) == ("unchanged", first.document)
    assert await found(brain, "canone affitto") == ["lease.txt"]
    info = (await brain.show(first.document)).info
    assert (info.path, info.language, info.kind) == (str(path), "it", "text")
    assert (info.characters, info.bytes) == (len(LEASE), path.stat().st_size)
    kept = list((brain.settings.home / "originals").glob("??/*"))
    assert [item.read_bytes() for item in kept] == [path.read_bytes()]


async def test_the_same_bytes_elsewhere_are_a_duplicate(brain: Brain, write: Write) -> None:
    first, second = write("a.txt", LEASE), write("b.txt", LEASE)
    report = await brain.add([first, second])
    assert [file.outcome for file in report.files] == ["added", "duplicate"]
    assert report.files[1].document == report.files[0].document
    assert (
        report.files[1].reason == f"The same bytes as document {report.files[0].document}, a.txt."
    )
    assert report.counts() == {"added": 1, "duplicate": 1}
    (info,) = await brain.list()
    assert info.paths == (str(first), str(second))
    assert await outcomes(brain, second) == ["unchanged"]


async def test_the_same_text_in_other_bytes_is_a_duplicate(brain: Brain, write: Write) -> None:
    write("a.txt", LEASE)
    other = write("b.txt", LEASE.replace(". ", ".  ") + "\n\n")
    report = await brain.add([other.with_name("a.txt"), other])
    assert [file.outcome for file in report.files] == ["added", "duplicate"]
    assert "The same text as document" in (report.files[1].reason or "")
    assert len(list((brain.settings.home / "originals").glob("??/*"))) == 1


async def test_invoices_alike_but_for_one_number_are_two(brain: Brain, write: Write) -> None:
    for number in ("1041", "1042"):
        write(f"fattura-{number}.txt", f"Fattura n. {number} del 3 maggio. Totale 250,00 euro.")
    report = await brain.add([write("x.txt", "altro").parent])
    assert report.counts() == {"added": 3}
    assert (await found(brain, "fattura 1042"))[0] == "fattura-1042.txt"
    assert (await found(brain, "fattura 1041"))[0] == "fattura-1041.txt"


async def test_a_changed_file_replaces_its_old_content_whole(
    brain: Brain, write: Write, rows: Rows
) -> None:
    path = write("note.txt", "La caldaia xilofono perde acqua.")
    (before,) = (await brain.add([path])).files
    await brain.search("xilofono")
    path.write_text("Il contatore kazoo segna poco.")
    (after,) = (await brain.add([path])).files
    assert (after.outcome, after.document) == ("replaced", before.document)
    (again,) = (await brain.add([path])).files
    assert again.outcome == "unchanged"
    answer = await brain.search("xilofono")
    assert answer.trace["lexical_arm"]["ranking"] == []
    assert all("xilofono" not in result.passages[0].text for result in answer.results)
    assert await found(brain, "kazoo contatore") == ["note.txt"]
    assert rows("SELECT count(*) FROM word WHERE surface = 'xilofono'") == [(0,)]
    assert rows("SELECT count(*) FROM posting WHERE term = 'xilof'") == [(0,)]
    assert rows("SELECT count(*) FROM document") == [(1,)]
    kept = {item.read_text() for item in (brain.settings.home / "originals").glob("??/*")}
    assert kept == {path.read_text(), "La caldaia xilofono perde acqua."}  # a version is kept


@pytest.mark.parametrize(
    ("changed", "outcome", "kept"),
    [("a.txt", "replaced", {LEASE + "\n\n", LEASE}), ("b.txt", "duplicate", {LEASE})],
    ids=["cited", "other"],
)
async def test_a_copy_that_changes_its_look_alone_stays_one_document(
    brain: Brain, write: Write, changed: str, outcome: str, kept: set[str]
) -> None:
    """The bytes of the file that is cited are kept; what they were is a version."""
    first, second = write("a.txt", LEASE), write("b.txt", LEASE)
    await brain.add([first, second])
    write(changed, LEASE + "\n\n")
    assert await outcomes(brain, first.with_name(changed)) == [outcome]
    (info,) = await brain.list()
    assert info.paths == (str(first), str(second))
    originals = (brain.settings.home / "originals").glob("??/*")
    assert {item.read_text() for item in originals} == kept


async def test_two_files_of_one_text_do_not_take_each_others_place(
    brain: Brain, write: Write
) -> None:
    first, second = write("a.txt", LEASE), write("b.txt", LEASE.replace(". ", ".  ") + "\n\n")
    assert await outcomes(brain, first, second) == ["added", "duplicate"]
    for _ in range(2):
        assert await outcomes(brain, first, second) == ["unchanged", "duplicate"]
    assert (await brain.life.versions("a.txt"))[1:] == (1, [])
    first.unlink()
    assert [*await outcomes(brain, second), *await outcomes(brain, second)] == [
        "replaced",
        "unchanged",
    ]


async def test_a_file_with_copies_is_read_again_where_its_index_is_old(
    brain: Brain, write: Write, rows: Rows
) -> None:
    first, second = write("a.txt", LEASE), write("b.txt", LEASE)
    await brain.add([first, second])
    rows("UPDATE document SET fingerprint = 'old'")
    assert await outcomes(brain, second, first) == ["replaced", "unchanged"]
    (info,) = await brain.list()
    assert info.paths == (str(first), str(second))
    assert rows("SELECT count(*) FROM document WHERE fingerprint = 'old'") == [(0,)]
    assert len(list((brain.settings.home / "originals").glob("??/*"))) == 1


async def test_a_changed_copy_leaves_the_other_alone(brain: Brain, write: Write) -> None:
    first, second = write("a.txt", LEASE), write("b.txt", LEASE)
    await brain.add([first, second])
    second.write_text(RECIPE)
    (changed,) = (await brain.add([second])).files
    assert changed.outcome == "added"
    assert {info.paths for info in await brain.list()} == {(str(first),), (str(second),)}


async def test_a_file_that_becomes_a_copy_goes_as_a_document(
    brain: Brain, write: Write, rows: Rows
) -> None:
    first, second = write("a.txt", LEASE), write("b.txt", RECIPE)
    await brain.add([first, second])
    second.write_text(LEASE)
    assert await outcomes(brain, second) == ["duplicate"]
    (info,) = await brain.list()
    assert info.paths == (str(first), str(second))
    assert rows("SELECT count(*) FROM posting WHERE term = 'torta'") == [(0,)]
    assert len(list((brain.settings.home / "originals").glob("??/*"))) == 1


async def test_a_moved_file_keeps_its_document(brain: Brain, write: Write) -> None:
    path = write("old.txt", LEASE)
    (before,) = (await brain.add([path])).files
    moved = path.rename(path.with_name("new.txt"))
    (after,) = (await brain.add([moved])).files
    assert (after.outcome, after.document) == ("duplicate", before.document)
    assert after.reason == (
        f"Moved: it was {path}. It is still called old.txt; emily rename {after.document} "
        "--file-name gives it the name of its file."
    )
    (info,) = await brain.list()
    assert (info.name, info.paths) == ("old.txt", (str(moved),))
    assert (await brain.life.rename(info.id, None)).name == "new.txt"
    (path.parent / "sub").mkdir()
    further = moved.rename(path.parent / "sub" / "new.txt")
    assert (await brain.add([further])).files[0].reason == f"Moved: it was {moved}."


async def test_removing_forgets_a_document_whole(brain: Brain, write: Write, rows: Rows) -> None:
    path = write("lease.txt", LEASE)
    other = write("recipe.txt", RECIPE)
    await brain.add([path, other])
    await brain.search("canone")
    removed = (await brain.remove("lease.txt")).document
    assert removed.path == str(path)
    assert path.read_text() == LEASE, "the owner's file stays"
    for table in TABLES:
        assert rows(f"SELECT count(*) FROM {table} WHERE document_id = %s", removed.id) == [(0,)]
    assert rows("SELECT count(*) FROM chunk_vector") == rows("SELECT count(*) FROM chunk")
    words = {row[0] for row in rows("SELECT surface FROM word")}
    assert "canone" not in words
    assert "zucchero" in words
    assert [item.read_text() for item in (brain.settings.home / "originals").glob("??/*")] == [
        RECIPE
    ]
    assert "lease.txt" not in await found(brain, "canone affitto")
    with pytest.raises(UnknownDocument, match="emily list"):
        await brain.remove("lease.txt")
    assert await outcomes(brain, path) == ["added"], "it may come again"
    await brain.remove("lease.txt")
    await brain.remove("recipe.txt")
    for table in ("document", *TABLES, "chunk_vector", "word"):
        assert rows(f"SELECT count(*) FROM {table}") == [(0,)], f"{table} holds something still"


async def test_a_document_goes_by_id_name_or_path(brain: Brain, write: Write) -> None:
    one, two = write("x/same.txt", LEASE), write("y/same.txt", RECIPE)
    report = await brain.add([one, two])
    first, second = (file.document for file in report.files)
    assert (await brain.show(first)).info.id == first
    assert (await brain.show(str(second))).info.id == second
    assert (await brain.show(str(two))).info.id == second
    with pytest.raises(AmbiguousDocument, match=f"{first}, {second}"):
        await brain.show("same.txt")
    for unknown in ("", "nothing.txt", "999", "9" * 40, "\0", "\ud800", "'; DROP TABLE document"):
        with pytest.raises(UnknownDocument):
            await brain.show(unknown)


async def test_a_folder_with_good_bad_hidden_and_lock_files(brain: Brain, write: Write) -> None:
    write("a.txt", LEASE)
    write("sub/b.md", "# Ricetta\n\n" + RECIPE)
    write("empty.txt", "")
    write("blank.txt", " \n\t\n ")
    write("broken.pdf", "%PDF-1.7\nthis is no PDF at all")
    write(".hidden", "x")
    write("~$lock.docx", "x")
    write("Thumbs.db", "x")
    write(".git/config", "x")
    top = write("z.csv", "nome,prezzo\npane,2\nlatte,1\n").parent
    seen: list[Progress] = []
    report = await brain.add([top, top / "nowhere.txt"], progress=seen.append)
    by_name = {file.path.name: file for file in report.files}
    assert {name: file.outcome for name, file in by_name.items()} == {
        "a.txt": "added", "b.md": "added", "z.csv": "added",
        "empty.txt": "failed", "blank.txt": "failed", "broken.pdf": "failed",
        "nowhere.txt": "failed",
        ".hidden": "ignored", "~$lock.docx": "ignored", "Thumbs.db": "ignored", ".git": "ignored",
    }  # fmt: skip
    assert all(file.reason for file in report.files if file.outcome in ("failed", "ignored"))
    assert all(file.document is None for file in report.files if file.outcome == "failed")
    finished = [item for item in seen if item.outcome is not None]
    assert [item.outcome for item in finished] == list(report.files)
    assert [item.done for item in finished] == list(range(1, len(report.files) + 1))
    assert len(await brain.list()) == 3


async def test_a_file_that_can_no_longer_be_read_keeps_its_old_content(
    brain: Brain, write: Write
) -> None:
    path = write("a.txt", LEASE)
    (before,) = (await brain.add([path])).files
    path.write_text("")
    (after,) = (await brain.add([path])).files
    assert (after.outcome, after.document) == ("failed", before.document)
    assert f"still holds its earlier content (document {before.document})" in (after.reason or "")
    assert await found(brain, "canone affitto") == ["a.txt"]


async def test_two_adds_at_once_in_one_process(brain: Brain, write: Write) -> None:
    for number in range(8):
        write(f"{number}.txt", f"{LEASE} Copia {number // 2}.")
    folder = write("8.txt", RECIPE).parent
    one, two = await asyncio.gather(brain.add([folder]), brain.add([folder]))
    assert len(await brain.list()) == 5
    for file in (*one.files, *two.files):
        assert file.outcome in ("added", "duplicate", "unchanged"), file
        assert file.document is not None


_ADDER = """
import asyncio, json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from emily.brain import Brain
from emily.settings import load_settings
from tests.fakes import WordsEmbedder

async def main():
    root, home, url, *paths = sys.argv[1:]
    settings = load_settings(home, database_url=url)
    async with Brain.open(settings, embedder=WordsEmbedder()) as brain:
        await brain._files().start()
        print("ready", flush=True)
        sys.stdin.readline()
        report = await brain.add(paths)
        print(json.dumps([[file.outcome, file.document] for file in report.files]), flush=True)

asyncio.run(main())
"""


async def test_two_processes_at_once(
    brain: Brain, write: Write, rows: Rows, database_url: str
) -> None:
    """The same files, and files of the same text, from two processes: one document each."""
    for number in range(6):
        write(f"same/{number}.txt", f"{LEASE} Numero {number}.")
        write(f"left/{number}.txt", f"{RECIPE} Numero {number}.")
        write(f"right/{number}.txt", f"{RECIPE}   Numero {number}.\n")
    top = write("x", "x").parent
    root = Path(__file__).parents[3]
    command = [sys.executable, "-c", _ADDER, str(root), str(brain.settings.home), database_url]
    running = [
        subprocess.Popen(
            [*command, str(top / "same"), str(top / own)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(root / "src")},
        )
        for own in ("left", "right")
    ]
    for process in running:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in running:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    said = [json.loads(process.communicate(timeout=60)[0]) for process in running]
    assert all(process.returncode == 0 for process in running)
    for one, two in zip(*said, strict=True):
        assert one[1] == two[1], "both name the same document"
        assert sorted([one[0], two[0]]) in (["added", "duplicate"], ["added", "unchanged"])
    assert rows("SELECT count(*) FROM document") == [(12,)]
    assert rows("SELECT count(*) FROM source") == [(18,)]
    kept = {path.stem for path in (brain.settings.home / "originals").glob("??/*")}
    assert kept == {bytes(row[0]).hex() for row in rows("SELECT file_sha256 FROM document")}


class GrowingFile:
    """A reader whose file grows while it is read, so many times."""

    def __init__(self, reader: Reader, times: int) -> None:
        self._reader, self._times = reader, times
        self.release = reader.release

    async def read(self, path: Path, **more: Any) -> Reading:
        reading = await self._reader.read(path, **more)
        if self._times:
            self._times -= 1
            with path.open("a") as file:
                file.write(" Ancora una riga sul kazoo.")
        return reading


@pytest.mark.parametrize(("times", "outcome"), [(2, "added"), (1_000, "failed")])
async def test_a_file_that_is_still_being_written_is_waited_for(
    brain: Brain,
    write: Write,
    reader: Reader,
    monkeypatch: pytest.MonkeyPatch,
    times: int,
    outcome: str,
) -> None:
    monkeypatch.setattr(intake, "_PAUSE_SECONDS", 0.01)
    brain._reader = GrowingFile(reader, times)
    path = write("copy.txt", "Appena cominciato.")
    (file,) = (await brain.add([path])).files
    assert file.outcome == outcome
    if outcome == "added":
        assert (await brain.show("copy.txt")).info.characters == len(path.read_text())
        assert await found(brain, "kazoo riga") == ["copy.txt"]
    else:
        assert file.reason == "It keeps changing; add it again when it is complete."
        assert await brain.list() == []
