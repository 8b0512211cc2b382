"""Backups: one file with all of an archive, as one moment saw it, while it is in use."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import os
import tempfile
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from emily.errors import InputError
from emily.settings import Settings, kept_in_file, private_folder
from emily.store.backup_file import BackupReader, BackupWriter, Manifest
from emily.store.database import Database
from emily.store.snapshot import Table, contents, in_use_by_others, put_back, write_table
from emily.store.statements import statement

if TYPE_CHECKING:
    from psycopg import AsyncConnection

__all__ = ["BackupReport", "RestoreReport", "back_up", "before_upgrade", "restore"]

Step = Callable[[str, int, int], None]
"""Told of progress: what is at hand, how much is done, of how much."""

_QUESTIONS = "questions.toml"
_NEVER = frozenset({"home", "database_url"})  # they are of the machine that it is put back on
_KEPT_BEFORE = 3  # backups that upgrades made


@dataclass(frozen=True, slots=True)
class BackupReport:
    """What a backup came to.

    Attributes:
        file: its place.
        bytes: its size.
        documents: how many documents it holds.
        originals: how many files; 0 where they were left out.
        missing: files that the archive should have and has not, by SHA-256.
    """

    file: Path
    bytes: int
    documents: int
    originals: int
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """What a restore came to.

    Attributes:
        made_at: when the backup was made.
        version: of the Emily that made it.
        documents: how many documents the archive holds now.
        originals: files that were put back; those that were there already are not counted.
        missing: files that the archive should have and that the backup does not hold.
        settings: names of settings that were written into ``settings.toml``, which was not there.
    """

    made_at: str
    version: str
    documents: int
    originals: int
    missing: tuple[str, ...]
    settings: tuple[str, ...]


async def back_up(
    database: Database, settings: Settings, file: Path, *, step: Step = lambda *_: None
) -> BackupReport:
    """Write all of an archive into one file; searches and adds go on meanwhile.

    Raises:
        InputError: there is a file already, or it cannot be written.
        StoreError: the database cannot be read.
    """
    async with database.transaction() as connection:
        return await _written(connection, settings, file, step=step, originals=True)


async def before_upgrade(
    connection: AsyncConnection[dict[str, Any]], settings: Settings, number: int
) -> Path | None:
    """Back the database up before migrations; ``None`` where there is nothing to lose.

    Originals are left out: no migration touches them.

    Args:
        connection: in autocommit mode.
        settings: of the home folder.
        number: of the last migration that it has had.

    Raises:
        InputError, StoreError: it cannot be written, so that the upgrade must not go on.
    """
    cursor = await connection.execute("SELECT EXISTS (SELECT FROM document) AS any")
    row = await cursor.fetchone()
    if row is None or not row["any"]:
        return None
    folder = private_folder(settings.home / "backups")
    now = dt.datetime.now().astimezone()
    file = folder / f"before-upgrade-{number:04d}-{now:%Y%m%d-%H%M%S}.backup"
    async with connection.transaction():
        await _written(connection, settings, file, step=lambda *_: None, originals=False)
    for old in sorted(
        folder.glob("before-upgrade-*.backup"), key=lambda path: path.stat().st_mtime
    )[:-_KEPT_BEFORE]:
        old.unlink(missing_ok=True)
    return file


async def restore(
    settings: Settings, file: Path, *, replace: bool = False, step: Step = lambda *_: None
) -> RestoreReport:
    """Put an archive back out of a backup, whole or not at all.

    Args:
        settings: of the home folder; its database is made if it is new.
        file: the backup.
        replace: whether what the archive holds may be taken away.
        step: told of progress.

    Raises:
        InputError: the file is no whole backup; the archive is not empty and ``replace`` is not
            given; or others use it. Nothing has changed then.
        StoreError: it is of a newer version, or the database refuses it. Nothing has changed.
    """
    private_folder(settings.home)
    step("checking the backup", 0, 1)
    with BackupReader.open(file) as backup:
        held = backup.manifest.contents
        async with Database.alone(settings) as connection:
            await _refuse(connection, settings, replace=replace)
            # Files first: one too many is harmless, one too few is not.
            originals = await asyncio.to_thread(_put_files, backup, settings, step)
            async with connection.transaction():
                await put_back(
                    connection, held, lambda table: backup.read(f"tables/{table.name}"), step
                )
        written = _put_settings(backup, settings)
        documents = next((item.rows for item in held.tables if item.name == "document"), 0)
        return RestoreReport(
            backup.manifest.made_at,
            backup.manifest.version,
            documents,
            originals,
            backup.missing,
            written,
        )


async def _refuse(
    connection: AsyncConnection[dict[str, Any]], settings: Settings, *, replace: bool
) -> None:
    """Refuse a restore that would take something away, or the ground from under others."""
    row = await (await connection.execute(statement("document_table"))).fetchone()
    if row is not None and row["present"] is not None and not replace:
        cursor = await connection.execute("SELECT count(*) AS documents FROM document")
        kept = await cursor.fetchone()
        if kept is not None and kept["documents"]:
            raise InputError(
                f"The archive in {settings.home} is not empty: it holds {kept['documents']} "
                "documents, notes and trash counted. A restore takes the place of all of it. Make "
                "a backup of it first, then give --replace."
            )
    others = await in_use_by_others(connection)
    if others:
        raise InputError(
            f"{others} other {'connection uses' if others == 1 else 'connections use'} the "
            "archive. End emily serve, emily worker and other commands, then try again."
        )


async def _written(
    connection: AsyncConnection[dict[str, Any]],
    settings: Settings,
    file: Path,
    *,
    step: Step,
    originals: bool,
) -> BackupReport:
    await connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
    held = await contents(connection)
    files = await _files(connection) if originals else []
    row = await (await connection.execute(statement("server_facts"))).fetchone()
    assert row is not None
    writer = BackupWriter(file)
    try:
        writer.manifest(
            Manifest(
                dt.datetime.now().astimezone().isoformat(timespec="seconds"),
                metadata.version("emily"),
                row["version"],
                originals,
                held,
            )
        )
        total = len(held.tables) + len(files)
        for place, table in enumerate(held.tables):
            step(table.name, place, total)
            await _add_table(connection, writer, table, file.parent)
        for name, data in _of_home(settings).items():
            writer.add_bytes(f"home/{name}", data)
        missing: list[str] = []
        kept = 0
        for place, digest in enumerate(files):
            step("originals", len(held.tables) + place, total)
            if await asyncio.to_thread(_add_original, writer, settings, digest):
                kept += 1
            else:
                missing.append(digest)
        size = await asyncio.to_thread(writer.finish, missing)
    except OSError as error:
        writer.give_up()
        raise InputError(f"{file} cannot be written: {error.strerror or error}.") from None
    except BaseException:
        writer.give_up()
        raise
    step("", total, total)
    documents = next((item.rows for item in held.tables if item.name == "document"), 0)
    return BackupReport(file, size, documents, kept, tuple(missing))


async def _files(connection: AsyncConnection[dict[str, Any]]) -> list[str]:
    cursor = await connection.execute(statement("known_files"))
    return sorted({bytes(row["file_sha256"]).hex() for row in await cursor.fetchall()})


async def _add_table(
    connection: AsyncConnection[dict[str, Any]], writer: BackupWriter, table: Table, folder: Path
) -> None:
    with tempfile.TemporaryFile(dir=folder) as spool:  # a tar wants the size first
        await write_table(connection, table, spool)
        size = spool.tell()
        spool.seek(0)
        await asyncio.to_thread(writer.add_stream, f"tables/{table.name}", spool, size)


def _add_original(writer: BackupWriter, settings: Settings, digest: str) -> bool:
    """Add the file with this digest; ``False`` where it is not there (any more)."""
    for path in sorted((settings.home / "originals" / digest[:2]).glob(f"{digest}*")):
        try:
            with path.open("rb") as stream:
                size = stream.seek(0, 2)
                stream.seek(0)
                writer.add_stream(f"originals/{digest[:2]}/{path.name}", stream, size)
        except FileNotFoundError:
            continue
        return True
    return False


def _of_home(settings: Settings) -> dict[str, bytes]:
    """Settings without secrets, and the owner's questions."""
    found: dict[str, bytes] = {}
    path = settings.home / "settings.toml"
    if path.is_file():
        values = tomllib.loads(path.read_text("utf-8"))
        told = {
            name: value
            for name, value in values.items()
            if name in Settings.model_fields
            and name not in _NEVER
            and "secret" not in (kept_in_file(name) or "")
        }
        found["settings.json"] = json.dumps(told, ensure_ascii=False).encode()
    questions = settings.home / _QUESTIONS
    if questions.is_file():
        found[_QUESTIONS] = questions.read_bytes()
    return found


def _put_files(backup: BackupReader, settings: Settings, step: Step) -> int:
    """Put the originals in their places; gives how many were not there."""
    put = 0
    names = backup.names("originals")
    for place, name in enumerate(names):
        step("originals", place, len(names))
        _, folder, base = [*name.split("/"), "", ""][:3]
        if len(folder) != 2 or not base.startswith(folder) or "/" in base or base.startswith("."):
            raise InputError(f"The backup holds a file of a name that no backup has: {name!r}.")
        target = settings.home / "originals" / folder / base
        if target.exists():
            continue
        private_folder(target.parent)
        handle, part = tempfile.mkstemp(dir=target.parent, prefix=".part-")
        made = Path(part)
        try:
            with os.fdopen(handle, "wb") as copy, backup.read(name) as stream:
                while block := stream.read(1 << 20):
                    copy.write(block)
            made.replace(target)
        except BaseException:
            made.unlink(missing_ok=True)
            raise
        put += 1
    return put


def _put_settings(backup: BackupReader, settings: Settings) -> tuple[str, ...]:
    """Write settings and questions where the home has none; names of the settings."""
    there = set(backup.names("home"))
    questions = settings.home / _QUESTIONS
    if f"home/{_QUESTIONS}" in there and not questions.exists():
        questions.write_bytes(backup.read(f"home/{_QUESTIONS}").read())
    if "home/settings.json" not in there or (settings.home / "settings.toml").exists():
        return ()
    values = json.loads(backup.read("home/settings.json").read())
    # Texts, numbers, truths and lists of texts are written in TOML as in JSON, but for one sign.
    lines = [
        f"{name} = {json.dumps(value, ensure_ascii=False)}\n".replace("\x7f", "\\u007f")
        for name, value in values.items()
    ]
    path = settings.home / "settings.toml"
    path.touch(0o600)
    path.write_text("".join(lines), "utf-8")
    return tuple(sorted(values))
