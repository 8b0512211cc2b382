"""Watched folders: what is new, changed, moved or gone in them is followed.

What counts is what a look at the folder finds, compared with what the last one found and the
database keeps. Events of the system only say when to look; where none come, every
``watch_poll_seconds``. So nothing is missed that happened while nobody watched.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import logging
import os
import stat
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from watchfiles import awatch

from emily.errors import InputError, StoreError
from emily.indexing.files import storable
from emily.places import absolute
from emily.reading.walk import walk
from emily.settings import Settings
from emily.store import Connection, Database, statement
from emily.store.alerts import Alerts
from emily.vault.register import Register
from emily.work.queue import Queue

__all__ = ["WatchedFolder", "Watcher"]

_SAFETY_SECONDS = 600.0  # a look where events come: they can be lost when there are too many
_SETTLE_SECONDS = 0.3  # after an event, for those that come with it
_FOLDERS_SECONDS = 2.0  # how soon a folder is followed that another process added
_MISSING_ALERT = "watch:missing"

# No event tells of what another machine, or the host of a virtual one, changes there.
_WITHOUT_EVENTS = {
    "9p",
    "afs",
    "afpfs",
    "ceph",
    "cifs",
    "davfs",
    "drvfs",
    "fuse.rclone",
    "fuse.sshfs",
    "fuse.vmhgfs-fuse",
    "nfs",
    "nfs4",
    "prl_fs",
    "smb2",
    "smb3",
    "smbfs",
    "vboxsf",
    "virtiofs",
    "webdav",
}

_log = logging.getLogger("emily.watch")

_State = tuple[int, int]  # size, time of the last change in nanoseconds


@dataclass(frozen=True, slots=True)
class WatchedFolder:
    """A folder that is followed.

    Attributes:
        path: absolute.
        since: when it was added.
        files: that were seen in it; ``missing`` of them are gone and still held.
        looked_at: when it was looked at last; ``None`` if it never was.
        trouble: why it cannot be looked at.
    """

    id: int
    path: Path
    since: dt.datetime
    files: int
    missing: int
    looked_at: dt.datetime | None
    trouble: str | None


@dataclass(slots=True)
class _Following:
    """What a follower keeps in mind of one folder."""

    id: int
    path: Path
    rests: dict[bytes, tuple[_State, float]] = field(default_factory=dict)
    gone: dict[bytes, float] = field(default_factory=dict)
    alarm: asyncio.Event = field(default_factory=asyncio.Event)


class Watcher:
    """Follows folders.

    Args:
        database: of the archive.
        queue: takes the files that are to be indexed.
        alerts: tell of folders that are away and of files that are gone.
        settings: how long files must rest, and how often to look.
        trash: puts the document of a deleted file into the trash; without it the document stays,
            is marked, and an alert tells of it.
    """

    def __init__(
        self,
        database: Database,
        queue: Queue,
        alerts: Alerts,
        settings: Settings,
        trash: Callable[[int], Awaitable[Any]] | None = None,
    ) -> None:
        self._database = database
        self._queue = queue
        self._alerts = alerts
        self._home = settings.home
        self._rest = settings.watch_rest_seconds
        self._poll = settings.watch_poll_seconds
        self._trash = trash
        self._following: dict[int, _Following] = {}

    async def add(self, folder: Path | str) -> WatchedFolder:
        """Follow a folder from now on.

        Raises:
            InputError: it is not a folder, or lies inside of, or around, Emily's own or another
                watched one.
        """
        path = Path(absolute(folder))
        if not path.is_dir():
            what = "is a file" if path.exists() else "does not exist"
            raise InputError(f"{path} {what}; only a folder can be watched.")
        home = self._home.resolve()
        if path.resolve() == home or home in path.resolve().parents:
            raise InputError(f"{path} is Emily's own data; it is not watched.")
        for vault in Register(self._home).all():
            if path == vault.folder or vault.folder in path.parents:
                raise InputError(
                    f"{path} is looked at by each search already: it is the vault {vault.name}, or "
                    "lies in it. See: emily vault status"
                )
        for other in await self.folders():
            if other.path != path and (other.path in path.parents or path in other.path.parents):
                raise InputError(
                    f"{other.path} is watched already, and one lies inside of the other. End that "
                    f"first: emily watch --remove {other.path}"
                )
        values = {"path": os.fsencode(path)}

        async def watch(connection: Connection) -> None:
            await connection.execute(statement("watch_folder"), values)

        await self._database.run(watch, idempotent=True)
        return next(item for item in await self.folders() if item.path == path)

    async def remove(self, folder: Path | str) -> WatchedFolder:
        """Follow a folder no longer; its documents stay.

        Raises:
            InputError: it is not watched.
        """
        path = Path(absolute(folder))
        found = next((item for item in await self.folders() if item.path == path), None)
        if found is None:
            listed = ", ".join(str(item.path) for item in await self.folders()) or "none"
            raise InputError(f"{path} is not watched. Watched folders: {listed}")
        await self._database.execute("unwatch_folder", {"path": os.fsencode(path)})
        await self._alerts.resolve(_alert_name(found.id))
        await self._tell_missing()
        return found

    async def folders(self) -> Sequence[WatchedFolder]:
        """The folders that are followed, the oldest first."""
        return [
            WatchedFolder(
                id=row["id"],
                path=Path(os.fsdecode(bytes(row["path"]))),
                since=row["since"],
                files=row["files"],
                missing=row["missing"],
                looked_at=row["looked_at"],
                trouble=row["trouble"],
            )
            for row in await self._rows()
        ]

    async def _rows(self) -> list[dict[str, Any]]:
        return await self._database.fetch("watched_folders")

    async def run(self, stop: asyncio.Event) -> None:
        """Follow all folders until ``stop`` is set; a database that goes away is waited for."""
        tasks: dict[int, asyncio.Task[None]] = {}
        try:
            while not stop.is_set():
                try:
                    wanted = {item.id: item.path for item in await self.folders()}
                except StoreError as error:
                    _log.warning("the watcher waits for the database: %s", error)
                    wanted = {number: self._following[number].path for number in tasks}
                for number in [*tasks]:
                    if number not in wanted or tasks[number].done():
                        await _end(tasks.pop(number))
                        self._following.pop(number, None)
                for number, path in wanted.items():
                    if number not in tasks:
                        self._following[number] = _Following(number, path)
                        tasks[number] = asyncio.create_task(self._follow(self._following[number]))
                await _wait(stop, _FOLDERS_SECONDS)
        finally:
            await asyncio.gather(*(_end(task) for task in tasks.values()))
            self._following.clear()

    async def _follow(self, folder: _Following) -> None:
        events: asyncio.Task[None] | None = None
        try:
            while True:
                with_events = await asyncio.to_thread(_tells_events, folder.path)
                if with_events and (events is None or events.done()):
                    events = asyncio.create_task(self._listen(folder))
                    await asyncio.sleep(0)
                folder.alarm.clear()
                try:
                    soon = await self.look(folder.id, folder.path)
                except StoreError as error:
                    _log.warning("%s is looked at later: %s", folder.path, error)
                    soon = self._poll
                if soon is None:
                    heard = events is not None and not events.done()
                    soon = max(self._poll, _SAFETY_SECONDS) if heard else self._poll
                if await _wait(folder.alarm, soon):
                    await asyncio.sleep(_SETTLE_SECONDS)
        finally:
            if events is not None:
                await _end(events)

    async def _listen(self, folder: _Following) -> None:
        """Raise the alarm at each event; ends where no more can come."""
        try:
            async for _ in awatch(
                folder.path,
                watch_filter=None,
                debounce=400,
                step=50,
                rust_timeout=1000,
                yield_on_timeout=False,
                force_polling=False,
                ignore_permission_denied=True,
            ):
                folder.alarm.set()
                if not folder.path.is_dir():
                    return
        except (OSError, RuntimeError) as error:
            if folder.path.is_dir():
                _log.warning(
                    "%s tells of no changes (%s); it is looked at every %g s",
                    folder.path,
                    error,
                    self._poll,
                )

    async def look(self, number: int, path: Path) -> float | None:
        """Look at a folder once, and queue what has changed and rests.

        Returns:
            after how many seconds to look again because something is not settled; ``None`` if all
            is.

        Raises:
            StoreError: the database cannot be asked.
        """
        folder = self._following.setdefault(number, _Following(number, path))
        known: dict[bytes, tuple[_State, bool]] = {
            bytes(row["path"]): (
                (row["bytes"], row["modified_ns"]),
                row["missing_since"] is not None,
            )
            for row in await self._database.fetch("watched_files", {"folder_id": number})
        }
        row = next((item for item in await self._rows() if item["id"] == number), None)
        if row is None:  # it is watched no longer
            return None
        trouble, seen, identity = await asyncio.to_thread(_scan, path, self._home, self._rest)
        held = sum(not missing for _, missing in known.values())
        if trouble is None and not seen and held and identity != row["identity"]:
            trouble = (
                f"{path} is another folder than before, and an empty one; it held {held} files. A "
                "disk may not be mounted, so nothing is taken for deleted."
            )
        await self._note_trouble(folder, row["trouble"], trouble, identity)
        if trouble is not None:
            folder.rests.clear()
            folder.gone.clear()
            return None
        ready = self._rested(folder, seen, known)
        if ready:
            await self._queue.add_files([Path(os.fsdecode(name)) for name in ready])
            await self._see(folder, {name: seen[name].state for name in ready})
        vanished = await self._vanished(folder, known, seen)
        if vanished and await self._all_settled():
            await self._decide(folder, vanished)
        return max(self._rest, 0.5) if folder.rests or folder.gone else None

    def _rested(
        self,
        folder: _Following,
        seen: Mapping[bytes, _Seen],
        known: Mapping[bytes, tuple[_State, bool]],
    ) -> list[bytes]:
        """Files that changed, and keep size and date for long enough: half-copied ones wait."""
        now = time.monotonic()
        changed = {
            name: item for name, item in seen.items() if known.get(name) != (item.state, False)
        }
        rests, ready = {}, []
        for name, item in changed.items():
            state, since = folder.rests.get(name, (None, now))
            if state != item.state:
                since = now
            if item.old or (state == item.state and now - since >= self._rest):
                ready.append(name)
            else:
                rests[name] = (item.state, since)
        folder.rests = rests
        return ready

    async def _see(self, folder: _Following, states: Mapping[bytes, _State]) -> None:
        values = {
            "folder_id": folder.id,
            "paths": list(states),
            "sizes": [size for size, _ in states.values()],
            "times": [modified for _, modified in states.values()],
        }
        await self._database.execute("see_files", values)

    async def _vanished(
        self,
        folder: _Following,
        known: Mapping[bytes, tuple[_State, bool]],
        seen: Mapping[bytes, _Seen],
    ) -> list[bytes]:
        """Files that have been gone for a while: a moved one has turned up by then."""
        absent = [name for name in known if name not in seen]
        there = await asyncio.to_thread(lambda: [name for name in absent if os.path.lexists(name)])
        if there:  # ignored by now; the document stays
            await self._database.execute("forget_watched", {"folder_id": folder.id, "paths": there})
        now = time.monotonic()
        folder.gone = {
            name: folder.gone.get(name, now)
            for name in absent
            if name not in set(there) and not known[name][1]
        }
        grace = self._rest + 1.0
        return [name for name, since in folder.gone.items() if now - since >= grace]

    async def _all_settled(self) -> bool:
        """Whether no file waits that one of those that are gone may have become."""
        if any(other.rests for other in self._following.values()):
            return False
        row = await self._database.fetch_one("open_work_in", {"folder": b""})
        return row is None or not row["count"]

    async def _decide(self, folder: _Following, vanished: Sequence[bytes]) -> None:
        """Find out which files moved and which were deleted."""
        places = {storable(os.fsdecode(name)): name for name in vanished}
        rows = await self._database.fetch("documents_at", {"paths": list(places)})
        held = {row["path"]: (row["document_id"], row["places"]) for row in rows}
        forget, miss = [], []
        for place, name in places.items():
            if place not in held:  # it moved, or never became a document
                forget.append(name)
                continue
            document, count = held[place]
            if count > 1:  # it lies elsewhere too
                await self._leave(place)
                forget.append(name)
            elif self._trash is not None:
                await self._trash(document)
                _log.info("document %s is in the trash: %s was deleted", document, place)
                forget.append(name)
            else:
                miss.append(name)
        if forget:
            await self._database.execute("forget_work_on", {"paths": forget})
            await self._database.execute(
                "forget_watched", {"folder_id": folder.id, "paths": forget}
            )
        if miss:
            await self._database.execute("miss_watched", {"folder_id": folder.id, "paths": miss})
        for name in vanished:
            folder.gone.pop(name, None)
        await self._tell_missing()

    async def _leave(self, place: str) -> None:
        async def leave(connection: Connection) -> None:
            await connection.execute(statement("lock_archive"))
            await connection.execute(statement("forget_place"), {"path": place})
            await connection.execute(statement("bump_revision"))

        await self._database.run(leave, idempotent=True)

    async def _note_trouble(
        self, folder: _Following, before: str | None, trouble: str | None, identity: str | None
    ) -> None:
        trouble = None if trouble is None else storable(trouble)
        values = {
            "folder_id": folder.id,
            "trouble": trouble,
            "identity": identity if trouble is None else None,
        }
        await self._database.execute("looked_at_folder", values)
        name = _alert_name(folder.id)
        if trouble is not None and trouble != before:
            await self._alerts.raise_alert(
                name,
                "warning",
                f"{trouble} It is followed again when it is back; to end that: emily watch "
                "--remove FOLDER",
            )
        elif trouble is None and before is not None:
            await self._alerts.resolve(name)

    async def _tell_missing(self) -> None:
        """Have an alert tell of documents whose files were deleted, while there are some."""
        folders = [item for item in await self.folders() if item.missing]
        open_now = {alert.name: alert for alert in await self._alerts.open()}
        if not folders:
            if _MISSING_ALERT in open_now:
                await self._alerts.resolve(_MISSING_ALERT)
            return
        count = sum(item.missing for item in folders)
        noun = "file was" if count == 1 else "files were"
        text = (
            f"{count} {noun} deleted in {', '.join(str(item.path) for item in folders)}, and the "
            "archive still holds their documents. emily remove DOC forgets one."
        )
        if _MISSING_ALERT not in open_now or open_now[_MISSING_ALERT].text != text:
            await self._alerts.raise_alert(_MISSING_ALERT, "warning", text)


@dataclass(frozen=True, slots=True)
class _Seen:
    """A file as a look found it; ``old`` if nobody can be writing it."""

    state: _State
    old: bool


def _scan(path: Path, home: Path, rest: float) -> tuple[str | None, dict[bytes, _Seen], str | None]:
    """Why a folder cannot be looked at, the files in it to be indexed, and which folder it is."""
    try:
        own = path.stat()
    except OSError:
        return f"{path} is not there.", {}, None
    if not stat.S_ISDIR(own.st_mode):
        return f"{path} is no folder any more.", {}, None
    seen: dict[bytes, _Seen] = {}
    trouble = None
    now = time.time()
    for found in walk([path], home):
        if found.state == "failed" and found.path == path:
            trouble = f"{path} cannot be looked at: {found.reason}."
        if found.state != "file":
            continue
        try:
            status = found.path.stat()
        except OSError:
            continue  # it went meanwhile
        # Both: a copy may have been given the date of its original.
        age = now - max(status.st_mtime, status.st_ctime)
        state = (status.st_size, status.st_mtime_ns)
        seen[os.fsencode(found.path)] = _Seen(state, age > max(rest, 0.5) * 2)
    return trouble, seen, f"{own.st_dev}:{own.st_ino}"


def _tells_events(path: Path) -> bool:
    """Whether the system tells of changes in a folder: not on disks of other machines."""
    try:
        real = path.resolve()
        if not real.is_dir():
            return False
        mounts = {part.mountpoint: part.fstype for part in psutil.disk_partitions(all=True)}
    except (OSError, RuntimeError):
        return False
    for place in (real, *real.parents):
        if str(place) in mounts:
            return mounts[str(place)].lower() not in _WITHOUT_EVENTS
    return True


def _alert_name(number: int) -> str:
    return f"watch:{number}"


async def _wait(event: asyncio.Event, seconds: float) -> bool:
    """Wait for an event or so long; whether it was the event."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)
    return event.is_set()


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError, Exception):
        await task
