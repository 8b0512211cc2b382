"""Folders are followed: what is new, changed, moved or deleted, and what is still being written."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from emily.brain import Brain
from emily.errors import InputError

Write = Callable[[str, str], Path]


@asynccontextmanager
async def following(brain: Brain) -> AsyncIterator[None]:
    stop = asyncio.Event()
    async with asyncio.timeout(90):
        side = asyncio.gather(brain.work.run(stop), brain.work.watch(stop))
        try:
            yield
        finally:
            stop.set()
            await side


async def until(is_so: Callable[[], Awaitable[object]]) -> None:
    async with asyncio.timeout(45):
        while not await is_so():
            await asyncio.sleep(0.1)


async def paths(brain: Brain) -> dict[str, int]:
    return {Path(path).name: item.id for item in await brain.list() for path in item.paths}


async def test_what_happens_in_a_folder_is_followed(
    brain: Brain, write: Write, folder: Path
) -> None:
    write("old.txt", "It was here before the folder was watched.")
    write("~$old.docx", "locked")
    (folder / ".DS_Store").write_bytes(b"\0\1")
    (folder / "download.part").write_text("half of it")
    added = await brain.work.watcher.add(folder)
    assert (added.path, added.files) == (folder, 0)
    async with following(brain):
        await until(lambda: _has(brain, {"old.txt"}))
        old = (await paths(brain))["old.txt"]

        write("new.txt", "A new file about a boiler.")
        await until(lambda: _has(brain, {"old.txt", "new.txt"}))

        write("old.txt", "Its text is another now, about a bicycle.")

        async def is_found() -> bool:
            found = (await brain.search("bicycle")).results
            return [item.document.id for item in found] == [old]

        await until(is_found)

        (folder / "sub").mkdir()
        (folder / "old.txt").rename(folder / "sub" / "moved.txt")
        await until(lambda: _has(brain, {"moved.txt", "new.txt"}))
        assert (await paths(brain))["moved.txt"] == old  # it keeps its identity

        (folder / "new.txt").unlink()
        await until(lambda: _has(brain, {"moved.txt"}))
    assert [item.name for item in await brain.life.trashed()] == ["new.txt"]
    assert not await brain.alerts.open()
    (state,) = await brain.work.watcher.folders()
    assert (state.files, state.missing) == (1, 0)


async def _has(brain: Brain, names: set[str]) -> bool:
    return set(await paths(brain)) == names


async def test_a_deleted_file_is_told_of_where_there_is_no_trash(
    brain: Brain, write: Write, folder: Path
) -> None:
    brain.work._trash = None
    write("one.txt", "The first one.")
    two = write("two.txt", "The second one.")
    await brain.work.watcher.add(folder)

    async def missing() -> int:
        (state,) = await brain.work.watcher.folders()
        return state.missing

    async with following(brain):
        await until(lambda: _has(brain, {"one.txt", "two.txt"}))
        two.unlink()
        await until(missing)
        assert len(await brain.list()) == 2  # nothing is forgotten behind the owner's back
        (alert,) = await brain.alerts.open()
        assert (alert.name, str(folder) in alert.text) == ("watch:missing", True)
        write("two.txt", "The second one.")  # it is back

        async def found() -> bool:
            return not await missing()

        await until(found)
    await brain.work.watcher.remove(folder)
    assert not await brain.alerts.open()


async def test_a_copy_that_is_deleted_leaves_the_other(
    brain: Brain, write: Write, folder: Path
) -> None:
    write("one.txt", "The same text twice.")
    write("copy.txt", "The same text twice.")
    await brain.work.watcher.add(folder)
    async with following(brain):
        await until(lambda: _has(brain, {"one.txt", "copy.txt"}))
        (folder / "one.txt").unlink()
        await until(lambda: _has(brain, {"copy.txt"}))
    assert len(await brain.list()) == 1


async def test_a_file_that_is_being_copied_is_waited_for(brain: Brain, folder: Path) -> None:
    await brain.work.watcher.add(folder)
    target = folder / "long.txt"
    async with following(brain):
        with target.open("w") as file:
            for number in range(8):
                file.write(f"Sentence number {number} of a file that takes its time.\n")
                file.flush()
                await asyncio.sleep(0.15)
                assert not await brain.work.jobs(("waiting", "running", "done", "failed"))
            file.write("The very end.\n")
        await until(lambda: brain.work.jobs(("done",)))
        (done,) = await brain.work.jobs(("done",))
    assert done.attempts == 1  # read once, when it was complete
    assert (await brain.search("very end")).results


async def test_changes_made_while_nobody_watched_are_found(
    brain: Brain, write: Write, folder: Path
) -> None:
    write("one.txt", "The first one.")
    write("two.txt", "The second one.")
    await brain.work.watcher.add(folder)
    async with following(brain):
        await until(lambda: _has(brain, {"one.txt", "two.txt"}))
    known = await paths(brain)
    (folder / "one.txt").rename(folder / "uno.txt")
    write("three.txt", "A third one.")
    async with following(brain):
        await until(lambda: _has(brain, {"uno.txt", "two.txt", "three.txt"}))
    assert (await paths(brain))["uno.txt"] == known["one.txt"]
    # What did not change was not read again.
    attempts = {Path(job.name).name: job for job in await brain.work.jobs(("done",))}
    assert attempts["two.txt"].outcome == "added"


async def test_a_folder_that_is_away_deletes_nothing(
    brain: Brain, write: Write, folder: Path
) -> None:
    write("one.txt", "The first one.")
    write("two.txt", "The second one.")
    watched = await brain.work.watcher.add(folder)
    look = brain.work.watcher.look

    async def looked() -> str | None:
        await look(watched.id, folder)
        (state,) = await brain.work.watcher.folders()
        return state.trouble

    for path in folder.iterdir():
        os.utime(path, (1_600_000_000, 1_600_000_000))
    await asyncio.sleep(1.1)  # nobody can be writing them
    assert await looked() is None
    assert len(await brain.work.jobs()) == 2
    aside = folder.with_name("aside")
    folder.rename(aside)
    assert "is not there" in str(await looked())
    folder.mkdir()  # the place at which its disk would be mounted
    assert "may not be mounted" in str(await looked())
    (alert,) = await brain.alerts.open()
    assert alert.name == f"watch:{watched.id}"
    folder.rmdir()
    aside.rename(folder)
    assert await looked() is None
    assert not await brain.alerts.open()
    (state,) = await brain.work.watcher.folders()
    assert (state.files, state.missing) == (2, 0)


async def test_what_emilyignore_names_is_left_out(brain: Brain, write: Write, folder: Path) -> None:
    (folder / ".emilyignore").write_text("*.log\nbuild/\n!keep.log\n")
    (folder / "build").mkdir()
    (folder / "sub").mkdir()
    (folder / "sub" / ".emilyignore").write_text("!wanted.log\nsecret.txt\n")
    for name in (
        "a.txt",
        "b.log",
        "keep.log",
        "build/c.txt",
        "sub/wanted.log",
        "sub/secret.txt",
        "secret.txt",
    ):
        write(name, f"The text of {name}.")
    queued = await brain.work.add_later([folder])
    names = {str(job.path.relative_to(folder)) for job in await brain.work.jobs() if job.path}
    assert names == {"a.txt", "keep.log", "sub/wanted.log", "secret.txt"}
    reasons = {str(item.path.relative_to(folder)): item.reason for item in queued.left_out}
    assert reasons["b.log"] == f"by {folder / '.emilyignore'}"
    assert reasons["build"] == f"by {folder / '.emilyignore'}"
    assert reasons["sub/secret.txt"] == f"by {folder / 'sub' / '.emilyignore'}"


async def test_a_folder_is_watched_once_and_not_within_another(
    brain: Brain, write: Write, folder: Path
) -> None:
    await brain.work.watcher.add(folder)
    await brain.work.watcher.add(folder)
    assert len(await brain.work.watcher.folders()) == 1
    (folder / "sub").mkdir()
    with pytest.raises(InputError, match="is watched already"):
        await brain.work.watcher.add(folder / "sub")
    with pytest.raises(InputError, match="does not exist"):
        await brain.work.watcher.add(folder / "nowhere")
    with pytest.raises(InputError, match="is a file"):
        await brain.work.watcher.add(write("a.txt", "A text."))
    with pytest.raises(InputError, match="own data"):
        await brain.work.watcher.add(brain.settings.home)
    with pytest.raises(InputError, match="is not watched"):
        await brain.work.watcher.remove(folder / "sub")
    notes = folder.parent / "notes"
    (notes / "sub").mkdir(parents=True)
    brain.vaults.register.add(notes)
    for inside in (notes, notes / "sub"):
        with pytest.raises(InputError, match="the vault notes"):
            await brain.work.watcher.add(inside)


async def test_it_looks_by_itself_where_no_event_comes(
    brain: Brain, write: Write, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("emily.work.watching._tells_events", lambda _: False)
    await brain.work.watcher.add(folder)
    async with following(brain):
        await asyncio.sleep(0.5)
        began = time.monotonic()
        write("one.txt", "Nobody tells of it.")
        await until(lambda: _has(brain, {"one.txt"}))
    assert time.monotonic() - began < 40
