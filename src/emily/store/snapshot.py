"""The rows of a database as one moment saw them: written out table by table, and put back.

PostgreSQL's own binary COPY, table by table, in one REPEATABLE READ transaction: it needs no
program beside the connection, reads a server of the owner's as it does the embedded one, and what
it wrote is read by another major version. The queue of jobs (schema ``emily_jobs``) is left out:
what waits is a row of ``work``, and is queued anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from psycopg import sql

from emily.errors import StoreError
from emily.store.migrate import load_migrations, migrate
from emily.store.statements import statement

if TYPE_CHECKING:
    from psycopg import AsyncConnection

__all__ = ["Contents", "Table", "contents", "in_use_by_others", "put_back", "write_table"]

_BLOCK = 1 << 20
_RECORD = "emily_migration"  # made by the migrations themselves
# All of Emily's own goes: tables, and the schema of the queue. Extensions stay.
_DROP_ALL = """
DO $$
DECLARE
    found record;
BEGIN
    DROP SCHEMA IF EXISTS emily_jobs CASCADE;
    FOR found IN
        SELECT c.oid::regclass AS name FROM pg_class c
        WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
          AND NOT EXISTS (SELECT FROM pg_depend d
                          WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid
                            AND d.deptype = 'e')
    LOOP
        EXECUTE format('DROP TABLE IF EXISTS %s CASCADE', found.name);
    END LOOP;
END;
$$
"""


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its name, its columns in order, and its rows as they are counted."""

    name: str
    columns: tuple[str, ...]
    rows: int


@dataclass(frozen=True, slots=True)
class Contents:
    """What a database holds.

    Attributes:
        migrations: number, name and SHA-256 of those it has had.
        tables: in an order in which each comes after those that it refers to.
        sequences: last value by name; ``None`` for one that was never used.
    """

    migrations: tuple[tuple[int, str, str], ...]
    tables: tuple[Table, ...]
    sequences: Mapping[str, int | None]

    def as_json(self) -> dict[str, Any]:
        """For a file."""
        return {
            "migrations": [list(item) for item in self.migrations],
            "tables": [
                {"name": item.name, "columns": list(item.columns), "rows": item.rows}
                for item in self.tables
            ],
            "sequences": dict(self.sequences),
        }

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Contents:
        """Out of a file.

        Raises:
            KeyError, TypeError, ValueError: it is not what ``as_json`` gave.
        """
        return cls(
            tuple((int(item[0]), str(item[1]), str(item[2])) for item in given["migrations"]),
            tuple(
                Table(str(item["name"]), tuple(map(str, item["columns"])), int(item["rows"]))
                for item in given["tables"]
            ),
            {str(name): value for name, value in given["sequences"].items()},
        )


async def contents(connection: AsyncConnection[dict[str, Any]]) -> Contents:
    """What the database holds, as the connection's transaction sees it."""
    cursor = await connection.execute(statement("applied_migrations"))
    applied = tuple((row["number"], row["name"], row["sha256"]) for row in await cursor.fetchall())
    cursor = await connection.execute(statement("own_tables"))
    rows = {row["name"]: row for row in await cursor.fetchall() if row["name"] != _RECORD}
    tables = []
    for name in _ordered({name: set(row["refers_to"]) for name, row in rows.items()}):
        cursor = await connection.execute(
            sql.SQL("SELECT count(*) AS rows FROM {}").format(sql.Identifier(name))
        )
        counted = await cursor.fetchone()
        assert counted is not None
        tables.append(Table(name, tuple(rows[name]["columns"]), counted["rows"]))
    cursor = await connection.execute(statement("own_sequences"))
    sequences = {row["name"]: row["last_value"] for row in await cursor.fetchall()}
    return Contents(applied, tuple(tables), sequences)


async def write_table(
    connection: AsyncConnection[dict[str, Any]], table: Table, file: BinaryIO
) -> None:
    """Write a table's rows, as the connection's transaction sees them."""
    command = sql.SQL("COPY {} ({}) TO STDOUT (FORMAT binary)").format(
        sql.Identifier(table.name), _names(table)
    )
    async with connection.cursor() as cursor, cursor.copy(command) as copy:
        async for block in copy:
            file.write(block)


async def in_use_by_others(connection: AsyncConnection[dict[str, Any]]) -> int:
    """How many other connections the database has, those of other programs among them."""
    row = await (await connection.execute(statement("other_connections"))).fetchone()
    assert row is not None
    count: int = row["count"]
    return count


async def put_back(
    connection: AsyncConnection[dict[str, Any]],
    held: Contents,
    opened: Callable[[Table], BinaryIO],
    step: Callable[[str, int, int], None],
) -> None:
    """Make the database hold what was written out, and nothing else; then bring it up to date.

    Inside one transaction of the caller's: until it is committed, nothing has changed.

    Args:
        connection: inside that transaction.
        held: what is put back.
        opened: gives the bytes of a table.
        step: told the table at hand, how many are done, of how many.

    Raises:
        StoreError: this version of Emily does not know one of its migrations.
        psycopg.Error: the rows are not what they were.
    """
    known = load_migrations()
    missing = [
        f"{number:04d}_{name}"
        for number, name, digest in held.migrations
        if number > len(known) or known[number - 1].sha256 != digest
    ]
    if missing:
        raise StoreError(
            f"It was made by a newer version of Emily, or by another one: this version does not "
            f"know its migration {', '.join(missing)}. Update with: pip install --upgrade emily"
        )
    row = await (await connection.execute(statement("revision_if_any"))).fetchone()
    before = 0 if row is None or row["present"] is None else await _revision(connection)
    await connection.execute(_DROP_ALL)
    await migrate(connection, known[: len(held.migrations)])
    names = [sql.Identifier(table.name) for table in held.tables]
    if names:  # what migrations put into tables
        await connection.execute(sql.SQL("TRUNCATE {}").format(sql.SQL(", ").join(names)))
    for place, table in enumerate(held.tables):
        step(table.name, place, len(held.tables))
        command = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT binary)").format(
            sql.Identifier(table.name), _names(table)
        )
        with opened(table) as file:
            async with connection.cursor() as cursor, cursor.copy(command) as copy:
                while block := await asyncio.to_thread(file.read, _BLOCK):
                    await copy.write(block)
    for name, value in held.sequences.items():
        if value is not None:
            await connection.execute(statement("set_sequence"), {"name": name, "value": value})
    await migrate(connection)
    # Whatever a process remembers of this database is old.
    await connection.execute(statement("raise_revision"), {"above": before})
    step("", len(held.tables), len(held.tables))


async def _revision(connection: AsyncConnection[dict[str, Any]]) -> int:
    row = await (await connection.execute(statement("revision_number"))).fetchone()
    return 0 if row is None else int(row["number"])


def _names(table: Table) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, table.columns))


def _ordered(refers: Mapping[str, set[str]]) -> Sequence[str]:
    """Names in an order in which each comes after those that it refers to.

    Raises:
        StoreError: two tables refer to each other.
    """
    order: list[str] = []
    left = {name: {other for other in others if other != name} for name, others in refers.items()}
    while left:
        free = sorted(name for name, others in left.items() if not others & left.keys())
        if not free:
            raise StoreError(f"The tables {', '.join(sorted(left))} refer to each other.")
        order += free
        for name in free:
            del left[name]
    return order
