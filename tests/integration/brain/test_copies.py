"""Backups, restores, exports and imports, on real databases."""

from __future__ import annotations

import asyncio
import io
import json
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import psycopg
import pytest
from psycopg.rows import dict_row
from tests.fakes import WordsEmbedder

from emily.brain import Brain
from emily.errors import InputError, ModelUnavailable, StoreError
from emily.models import servers
from emily.models.protocols import PartVectors
from emily.settings import Settings, load_settings
from emily.store import Database
from emily.store.backup import restore
from emily.store.migrate import load_migrations, migrate
from emily.store.registry import SettingRegistry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from emily.store import EmbeddedServer

TEXTS = {
    "heater.txt": "The greenhouse heater was bought in spring from the ironmonger.\n",
    "boat.txt": "The rowing boat lies under a tarpaulin behind the shed.\n",
    "bees.txt": "Four hives stand in the orchard and want sugar in winter.\n",
}
QUESTIONS = ("heater ironmonger", "where is the rowing boat", "hives sugar", "oars lent")


@pytest.fixture
def elsewhere(server: EmbeddedServer, tmp_path: Path) -> Iterator[Callable[[], Settings]]:
    """Settings of fresh homes, each on an empty database."""
    names: list[str] = []

    def administer(command: str) -> None:
        with psycopg.connect(server.conninfo(), autocommit=True) as connection:
            connection.execute(command)

    def fresh() -> Settings:
        names.append(f"test_{uuid4().hex}")
        administer(f"CREATE DATABASE {names[-1]}")
        home = tmp_path / f"home{len(names)}"
        return load_settings(home, database_url=server.url(names[-1]))

    yield fresh
    for name in names:
        administer(f"DROP DATABASE {name} WITH (FORCE)")


async def _filled(settings: Settings, folder: Path) -> None:
    """An archive with all that there is to keep."""
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    with zipfile.ZipFile(folder / "box.zip", "w") as box:
        box.writestr("inner.txt", "The key of the box is with the notary.")
    async with Brain.open(settings, embedder=WordsEmbedder()) as brain:
        await brain.add([folder])
        (folder / "heater.txt").write_text("The heater was replaced by a stove of cast iron.\n")
        await brain.add([folder])
        await brain.life.note("boat.txt", "The oars are lent to the neighbour.")
        await brain.life.rename("bees.txt", "Beekeeping")
        await brain.life.trash("inner.txt")
        await brain.pin("hives sugar", "Beekeeping")
        await SettingRegistry(brain._database, settings).set("result_limit", "4")
    (settings.home / "settings.toml").write_text(
        'widen = 0\nvision_key = "hush"\nlanguages = ["it", "en"]\n'
    )
    (settings.home / "questions.toml").write_text("# mine\n")


async def _answers(settings: Settings) -> list[Any]:
    async with Brain.open(settings, embedder=WordsEmbedder()) as brain:
        found = []
        for question in QUESTIONS:
            answer = await brain.search(question, threshold=0.0, log=False)
            found.append((answer.results, answer.present, answer.trace["second_stage"]))
        info, present, versions = await brain.life.versions("heater.txt")
        found.append((info, present, versions))
        found += [await brain.life.trashed(), await brain.pins.list(), brain.settings.result_limit]
        return found


def _originals(settings: Settings) -> dict[str, bytes]:
    folder = settings.home / "originals"
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


async def test_a_restore_on_a_fresh_home_gives_the_same_answers(
    settings: Settings, tmp_path: Path, elsewhere: Callable[[], Settings]
) -> None:
    await _filled(settings, tmp_path / "papers")
    file = tmp_path / "a.backup"
    async with Brain.open(settings, embedder=WordsEmbedder()) as brain:
        made = await brain.life.back_up(file)
    assert made.missing == ()
    assert made.bytes == file.stat().st_size
    assert file.stat().st_mode & 0o777 == 0o600
    assert b"hush" not in file.read_bytes()
    fresh = elsewhere()
    report = await restore(fresh, file)
    assert (report.documents, report.missing) == (made.documents, ())
    assert set(report.settings) == {"widen", "languages"}
    assert tomllib.loads((fresh.home / "settings.toml").read_text()) == {
        "widen": 0,
        "languages": ["it", "en"],
    }
    assert (fresh.home / "questions.toml").read_text() == "# mine\n"
    assert _originals(fresh) == _originals(settings)
    again = load_settings(fresh.home, database_url=fresh.database_url)
    before = load_settings(settings.home, database_url=settings.database_url)
    assert await _answers(again) == await _answers(before)
    async with Brain.open(again, embedder=WordsEmbedder()) as brain:
        checks = {check.name: check for check in await brain.doctor()}
        assert checks["orphans"].ok, checks["orphans"].detail
        assert checks["originals"].ok, checks["originals"].detail
        # Numbers go on where they were: what is added is not mistaken for what was.
        (tmp_path / "new.txt").write_text("A swing hangs from the walnut tree.\n")
        await brain.add([tmp_path / "new.txt"])
        assert (await brain.search("walnut swing", log=False)).results[0].document.name == "new.txt"
    # Again into the same place: refused, until it is said that it may.
    with pytest.raises(InputError, match=r"is not empty: it holds \d+ documents"):
        await restore(again, file)
    await restore(again, file, replace=True)
    assert await _answers(again) == await _answers(before)


async def test_a_backup_is_one_moment_of_an_archive_that_changes(
    settings: Settings, tmp_path: Path, elsewhere: Callable[[], Settings]
) -> None:
    await _filled(settings, tmp_path / "papers")
    async with Brain.open(settings, embedder=WordsEmbedder()) as brain:
        done = asyncio.Event()

        async def load() -> None:
            number = 0
            while not done.is_set() or number < 3:
                path = tmp_path / f"load{number}.txt"
                path.write_text(f"Load number {number} of the ferry, {'x' * number}.\n")
                await brain.add([path])
                if number % 3 == 2:
                    await brain.remove(path.name)
                number += 1

        loading = asyncio.create_task(load())
        files = []
        for number in range(3):
            files.append(tmp_path / f"{number}.backup")
            await brain.life.back_up(files[-1])
        done.set()
        await loading
    for file in files[1:]:
        fresh = elsewhere()
        await restore(fresh, file)
        async with Brain.open(fresh, embedder=WordsEmbedder()) as brain:
            assert (await brain.search("where is the rowing boat", log=False)).results
            checks = {check.name: check for check in await brain.doctor()}
            assert checks["orphans"].ok, checks["orphans"].detail
            for item in await brain.list():
                assert item.chunks > 0


def _cut(file: Path, to: Path, share: float) -> Path:
    data = file.read_bytes()
    to.write_bytes(data[: int(len(data) * share)])
    return to


def _rewritten(file: Path, to: Path, change: Callable[[str, bytes], bytes]) -> Path:
    """A backup with other members, of which its digests do not know."""
    with tarfile.open(file) as old, tarfile.open(to, "w") as new:
        for member in old:
            stream = old.extractfile(member)
            assert stream is not None
            data = change(member.name, stream.read())
            member.size = len(data)
            new.addfile(member, io.BytesIO(data))
    return to


async def test_what_is_no_whole_backup_is_refused_and_nothing_is_lost(
    settings: Settings, tmp_path: Path
) -> None:
    await _filled(settings, tmp_path / "papers")
    file = tmp_path / "a.backup"
    async with Brain.open(settings, embedder=WordsEmbedder()) as brain:
        await brain.life.back_up(file)
        with pytest.raises(InputError, match="is there already"):
            await brain.life.back_up(file)
        with pytest.raises(InputError, match="cannot be written"):
            await brain.life.back_up(tmp_path / "nowhere" / "a.backup")
    before = await _answers(settings)

    def newer(name: str, data: bytes) -> bytes:
        if name == "manifest.json":
            told = json.loads(data)
            return json.dumps({**told, "form": 2, "version": "9.0"}).encode()
        return data

    def flipped(name: str, data: bytes) -> bytes:
        if name != "tables/chunk":
            return data
        middle = len(data) // 2
        return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]

    (tmp_path / "foreign.backup").write_bytes(b"PGDMP and so on")
    (tmp_path / "empty.backup").write_bytes(b"")
    with tarfile.open(tmp_path / "other.backup", "w") as tar:
        tar.add(tmp_path / "papers" / "boat.txt", "boat.txt")
    for wrong, said in (
        (_cut(file, tmp_path / "half.backup", 0.5), "damaged or was cut off"),
        (_cut(file, tmp_path / "most.backup", 0.9), "damaged or was cut off"),
        (_rewritten(file, tmp_path / "flipped.backup", flipped), "damaged or was cut off"),
        (_rewritten(file, tmp_path / "newer.backup", newer), "made by Emily 9.0 in form 2"),
        (tmp_path / "foreign.backup", "no backup of Emily's"),
        (tmp_path / "empty.backup", "no backup of Emily's"),
        (tmp_path / "other.backup", "no backup of Emily's"),
        (tmp_path / "nothing.backup", "cannot be read"),
    ):
        with pytest.raises(InputError, match=said):
            await restore(settings, wrong, replace=True)
    assert await _answers(settings) == before


async def test_a_backup_of_later_tables_is_refused_and_nothing_is_lost(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _filled(settings, tmp_path / "papers")
    file = tmp_path / "a.backup"
    async with Brain.open(settings, embedder=WordsEmbedder()) as brain:
        await brain.life.back_up(file)
    before = await _answers(settings)
    known = load_migrations()
    with monkeypatch.context() as patched:
        patched.setattr("emily.store.snapshot.load_migrations", lambda: known[:-1])
        with pytest.raises(StoreError, match="newer version of Emily"):
            await restore(settings, file, replace=True)
    # Cut off in the middle of putting back, by rows that the tables refuse.
    with monkeypatch.context() as patched:
        broken = "emily.store.snapshot.write_table"
        assert broken
        patched.setattr("emily.store.snapshot._revision", _fails)
        with pytest.raises(RuntimeError):
            await restore(settings, file, replace=True)
    assert await _answers(settings) == before


async def _fails(_: object) -> int:
    raise RuntimeError("cut off")


async def test_others_that_use_the_archive_are_not_left_on_sand(
    settings: Settings, tmp_path: Path
) -> None:
    await _filled(settings, tmp_path / "papers")
    file = tmp_path / "a.backup"
    async with Brain.open(settings, embedder=WordsEmbedder()) as brain:
        await brain.life.back_up(file)
        with pytest.raises(InputError, match="End emily serve"):
            await restore(settings, file, replace=True)
        assert (await brain.search("rowing boat", log=False)).results


async def test_tables_are_backed_up_before_they_are_changed(
    elsewhere: Callable[[], Settings], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = elsewhere()
    known = load_migrations()
    assert fresh.database_url
    connection = await psycopg.AsyncConnection.connect(
        fresh.database_url, autocommit=True, row_factory=dict_row
    )
    async with connection:
        await migrate(connection, known[:5])  # as an earlier version left it
        await connection.execute("INSERT INTO model (name, profile, dimension) VALUES ('m', '', 8)")
        await connection.execute(
            "INSERT INTO document (name, kind, citation, text, file_sha256, text_sha256, bytes, "
            "model_id, fingerprint) VALUES ('a.txt', 'text', 'lines', 'Kept.', %s, %s, 5, 1, '')",
            [b"1" * 32, b"2" * 32],
        )
    fresh.home.mkdir(parents=True)
    backups = fresh.home / "backups"
    backups.write_text("in the way")
    with pytest.raises(StoreError, match="Nothing was changed"):
        async with Database.open(fresh):
            pass
    backups.unlink()
    async with Database.open(fresh) as database:
        assert (await database.fetch("documents_to_export")) == [{"id": 1}]
    (file,) = backups.iterdir()
    assert file.name.startswith("before-upgrade-0005-")
    # It goes back, and is brought up to date on the way.
    other = elsewhere()
    report = await restore(other, file)
    assert report.documents == 1
    async with Database.open(other) as database:
        row = await database.fetch_one("export_documents", {"document_id": 1})
        assert row is not None
        assert row["text"] == "Kept."


async def test_an_export_holds_all_that_is_the_owners(
    settings: Settings, tmp_path: Path, elsewhere: Callable[[], Settings]
) -> None:
    """Private places, versions and categories go and come; what was asked and sent goes."""
    await _filled(settings, tmp_path / "papers")
    folder = tmp_path / "export"
    async with Brain.open(settings, embedder=WordsEmbedder()) as brain:
        await brain.assistant.private.mark(tmp_path / "papers" / "bees.txt")
        await brain.analysis.categories.add("Garden", "plants", ["a hive"])
        await brain.search("hives sugar")
    async with Brain.open(settings, embedder=WordsEmbedder()) as brain:  # the log is written
        await brain.life.export(folder)
        before = await brain.life.versions("heater.txt")
        old = await brain.life.read_version("heater.txt", 1)

    def lines(name: str) -> list[Any]:
        return [json.loads(line) for line in (folder / name).read_text().splitlines()]

    assert [item["path"] for item in lines("private.jsonl")] == [
        str(tmp_path / "papers" / "bees.txt")
    ]
    assert [(item["text"], item["kind"]) for item in lines("asked.jsonl")] == [
        ("hives sugar", "search")
    ]
    assert lines("ledger.jsonl") == []
    embedder = _Discreet()
    async with Brain.open(elsewhere(), embedder=embedder) as brain:
        report = await brain.life.take_export(folder)
        assert (report.added, report.versions, report.categories, report.private) == (3, 1, 1, 1)
        (problem,) = report.problems
        assert problem == "Beekeeping: it is private, and this embedder is elsewhere"
        assert "want sugar" not in embedder.seen
        assert "rowing boat" in embedder.seen
        _, _, versions = await brain.life.versions("heater.txt")
        assert versions == before[2]
        assert await brain.life.read_version("heater.txt", 1) == old
        (category,) = await brain.analysis.categories.all()
        assert (category.name, category.examples) == ("Garden", ("a hive",))
        again = await brain.life.take_export(folder)
        assert (again.added, again.versions, again.categories, again.private) == (0, 0, 0, 0)
        checks = {check.name: check for check in await brain.doctor()}
        assert checks["originals"].ok, checks["originals"].detail
        # One more version stands behind those that came along.
        (tmp_path / "papers" / "heater.txt").write_text("The stove was sold to the neighbour.\n")
        await brain.add([tmp_path / "papers" / "heater.txt"])
        assert [item.version for item in (await brain.life.versions("heater.txt"))[2]] == [1, 2]


class _Discreet(WordsEmbedder):
    """One of a server elsewhere: nothing of a private document is sent to it."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = ""

    def embed_parts(self, parts: Sequence[Sequence[str]]) -> list[PartVectors]:
        if servers._confidential.get():
            raise ModelUnavailable("it is private, and this embedder is elsewhere")
        self.seen += " ".join(" ".join(part) for part in parts)
        return super().embed_parts(parts)


async def test_an_export_is_readable_and_comes_back(
    settings: Settings, tmp_path: Path, elsewhere: Callable[[], Settings]
) -> None:
    await _filled(settings, tmp_path / "papers")
    folder = tmp_path / "export"
    async with Brain.open(settings, embedder=WordsEmbedder()) as brain:
        report = await brain.life.export(folder)
        with pytest.raises(InputError, match="is not empty"):
            await brain.life.export(folder)
        listed = {item.name: item for item in await brain.list()}
    assert (report.documents, report.notes, report.versions, report.pins) == (4, 1, 1, 1)
    assert report.missing == ()
    lines = [json.loads(line) for line in (folder / "documents.jsonl").read_text().splitlines()]
    assert {line["name"] for line in lines} == listed.keys()
    told = (folder / "README.md").read_text()
    for path in folder.iterdir():
        assert f"`{path.name}" in told or path.name == "README.md", path.name
    boat = next(line for line in lines if line["name"] == "boat.txt")
    assert (folder / boat["original"]).read_text() == TEXTS["boat.txt"]
    assert (folder / boat["text"]).read_text().strip() == TEXTS["boat.txt"].strip()
    assert "hush" not in (folder / "settings.json").read_text()
    fresh = elsewhere()
    async with Brain.open(fresh, embedder=WordsEmbedder()) as brain:
        first = await brain.life.take_export(folder)
        assert (first.added, first.known, first.notes, first.pins, first.settings) == (
            4,
            0,
            1,
            1,
            1,
        )
        assert first.problems == []
        again = await brain.life.take_export(folder)
        assert (again.added, again.known, again.notes, again.pins) == (0, 4, 0, 0)
        back = {item.name: item for item in await brain.list()}
        for name, item in listed.items():
            assert (back[name].path, back[name].pages, back[name].date) == (
                item.path,
                item.pages,
                item.date,
            )
        found = await brain.search("oars lent neighbour", threshold=0.0, log=False)
        assert found.results[0].passages[0].source == "note"
        assert (await brain.search("hives sugar", log=False)).results[
            0
        ].document.name == "Beekeeping"
    async with Brain.open(fresh, embedder=WordsEmbedder()) as brain:
        assert brain.settings.result_limit == 4
        checks = {check.name: check for check in await brain.doctor()}
        assert checks["orphans"].ok, checks["orphans"].detail
        assert checks["originals"].ok, checks["originals"].detail
    # What is damaged or leads elsewhere is told of, or refused.
    (folder / boat["original"]).write_text("forged")
    other = elsewhere()
    async with Brain.open(other, embedder=WordsEmbedder()) as brain:
        damaged = await brain.life.take_export(folder)
        assert len(damaged.problems) == 2  # the file, and the note on it
        lines[0]["original"] = "../../etc/passwd"
        (folder / "documents.jsonl").write_text(json.dumps(lines[0]))
        with pytest.raises(InputError, match="leads out of"):
            await brain.life.take_export(folder)
        (folder / "documents.jsonl").write_text(json.dumps({**boat, "form": 7}))
        with pytest.raises(InputError, match="of form 7"):
            await brain.life.take_export(folder)
        with pytest.raises(InputError, match="no whole export"):
            await brain.life.take_export(tmp_path / "papers")
