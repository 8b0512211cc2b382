"""Numbered migrations: each applied once, in order, in a transaction, under a lock.

A migration is a file ``NNNN_name.sql``. What was applied is recorded with the SHA-256 of the
file, so that a database made by another version of a file is noticed and not guessed at.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

from emily.errors import StoreError
from emily.store.statements import statement

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from psycopg import AsyncConnection

__all__ = ["Migration", "applied", "load_migrations", "migrate", "pending"]

_FILE = re.compile(r"(?P<number>\d{4})_(?P<name>[a-z0-9_]+)\.sql")
# Any constant will do, as long as no other program locks it: the first bytes of
# SHA-256("emily migrations") as a positive bigint.
_LOCK = int.from_bytes(hashlib.sha256(b"emily migrations").digest()[:8], "big") >> 1
_TABLE = """
CREATE TABLE IF NOT EXISTS emily_migration (
    number     integer     PRIMARY KEY,
    name       text        NOT NULL,
    sha256     text        NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
)
"""


@dataclass(frozen=True, slots=True)
class Migration:
    """One migration: its number (from 1), name, SQL and the SHA-256 of the SQL in hex."""

    number: int
    name: str
    sql: str

    @property
    def sha256(self) -> str:
        """Digest of the SQL with line ends as ``\\n``, so that a checkout does not change it."""
        return hashlib.sha256(self.sql.replace("\r\n", "\n").encode()).hexdigest()

    def __str__(self) -> str:
        return f"{self.number:04d}_{self.name}"


def load_migrations() -> tuple[Migration, ...]:
    """The migrations of this program, in order.

    Raises:
        StoreError: a file is misnamed, or a number is missing or used twice.
    """
    folder = resources.files("emily.store") / "migrations"
    return read_migrations(
        (item.name, item.read_text("utf-8"))
        for item in folder.iterdir()
        if item.name.endswith(".sql")
    )


def read_migrations(files: Iterable[tuple[str, str]]) -> tuple[Migration, ...]:
    """Migrations out of pairs of file name and SQL; see ``load_migrations``."""
    found = []
    for file, sql in sorted(files):
        match = _FILE.fullmatch(file)
        if not match:
            raise StoreError(f"Migration {file} is misnamed: it must be like 0007_add_notes.sql.")
        found.append(Migration(int(match["number"]), match["name"], sql))
    numbers = [item.number for item in found]
    if numbers != list(range(1, len(found) + 1)):
        raise StoreError(f"Migrations must be numbered 1, 2, 3, …; found {numbers}.")
    return tuple(found)


def pending(
    known: Sequence[Migration], applied: Sequence[tuple[int, str, str]]
) -> tuple[Migration, ...]:
    """What is still to be applied.

    Args:
        known: the migrations of this program.
        applied: number, name and SHA-256 of what the database has had, in order.

    Raises:
        StoreError: the database is newer than this program, has a gap, or had another
            version of a migration.
    """
    by_number = {item.number: item for item in known}
    newer = [f"{number:04d}_{name}" for number, name, _ in applied if number not in by_number]
    if newer:
        raise StoreError(
            f"The database is newer than this version of Emily: it has had {', '.join(newer)}, "
            f"and this version knows migrations up to {len(known):04d}. Update with: "
            "pip install --upgrade emily"
        )
    numbers = [number for number, _, _ in applied]
    if numbers != list(range(1, len(applied) + 1)):
        raise StoreError(
            f"The database's record of migrations has a gap: {numbers}. It was changed by hand; "
            "restore the database from a backup, or start a new one and add your files again."
        )
    for number, name, digest in applied:
        item = by_number[number]
        if item.sha256 != digest:
            raise StoreError(
                f"Migration {item} is not the one that this database was made with "
                f"({number:04d}_{name}, SHA-256 {digest[:12]}…, here {item.sha256[:12]}…). "
                "Install the version of Emily that made the database, or start a new database "
                "and add your files again."
            )
    return tuple(known[len(applied) :])


async def migrate(
    connection: AsyncConnection[dict[str, Any]], known: Sequence[Migration] | None = None
) -> tuple[Migration, ...]:
    """Bring the database up to this program; gives what was applied now.

    Args:
        connection: in autocommit mode, with rows as dictionaries.
        known: the migrations, ``None`` for this program's.

    Raises:
        StoreError: see ``pending``.
        psycopg.Error: a migration failed; it and the later ones are not applied.
    """
    migrations = load_migrations() if known is None else known
    done: list[Migration] = []
    # The common case costs two reads and no lock.
    while pending(migrations, await applied(connection)):
        async with connection.transaction():
            await connection.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
            # Another process may have been here while we waited.
            left = pending(migrations, await applied(connection))
            if not left:
                break
            if left[0].number == 1:
                await connection.execute(_TABLE)
            # Without parameters a text of several statements is one request.
            await connection.execute(left[0].sql)
            await connection.execute(
                statement("record_migration"),
                {"number": left[0].number, "name": left[0].name, "sha256": left[0].sha256},
            )
        done.append(left[0])
    return tuple(done)


async def applied(connection: AsyncConnection[dict[str, Any]]) -> list[tuple[int, str, str]]:
    """Number, name and SHA-256 of what the database has had, in order."""
    row = await (await connection.execute(statement("migration_table"))).fetchone()
    if row is None or not row["present"]:
        return []
    cursor = await connection.execute(statement("applied_migrations"))
    return [(row["number"], row["name"], row["sha256"]) for row in await cursor.fetchall()]
