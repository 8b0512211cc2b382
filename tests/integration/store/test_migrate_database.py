"""Migrations on a real database: applied once, in order, whole or not at all."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from uuid import uuid4

import psycopg
import pytest
from psycopg.rows import dict_row

from emily.errors import StoreError
from emily.settings import load_settings
from emily.store import Database, EmbeddedServer
from emily.store.migrate import Migration, load_migrations, migrate

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

FIRST = Migration(1, "notes", "CREATE TABLE note (id integer); INSERT INTO note VALUES (1);")
SECOND = Migration(2, "tags", "CREATE TABLE tag (id integer);")
BROKEN = Migration(2, "broken", "CREATE TABLE half (id integer); SELECT nothing;")


@pytest.fixture
def empty_url(server: EmbeddedServer) -> Iterator[str]:
    """Address of a database without any tables."""
    name = f"empty_{uuid4().hex}"
    with psycopg.connect(server.conninfo(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield server.url(name)
    with psycopg.connect(server.conninfo(), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@asynccontextmanager
async def _connect(url: str) -> AsyncIterator[psycopg.AsyncConnection[dict[str, object]]]:
    connection = await psycopg.AsyncConnection.connect(url, autocommit=True, row_factory=dict_row)
    async with connection:
        yield connection


async def _names(url: str) -> list[str]:
    async with _connect(url) as connection:
        cursor = await connection.execute("SELECT name FROM emily_migration ORDER BY number")
        return [str(row["name"]) for row in await cursor.fetchall()]


async def test_migrations_are_applied_in_order_and_once(empty_url: str) -> None:
    async with _connect(empty_url) as connection:
        assert await migrate(connection, [FIRST]) == (FIRST,)
        assert await migrate(connection, [FIRST, SECOND]) == (SECOND,)
        assert await migrate(connection, [FIRST, SECOND]) == ()
        rows = await (await connection.execute("SELECT id FROM note")).fetchall()
    assert rows == [{"id": 1}]


async def test_failed_migration_leaves_nothing_behind(empty_url: str) -> None:
    async with _connect(empty_url) as connection:
        with pytest.raises(psycopg.errors.UndefinedColumn):
            await migrate(connection, [FIRST, BROKEN])
        row = await (await connection.execute("SELECT to_regclass('half') AS half")).fetchone()
        assert row == {"half": None}
        # The one before it stays, and a mended one goes on from there.
        assert await migrate(connection, [FIRST, SECOND]) == (SECOND,)


async def test_processes_that_migrate_at_once_apply_each_once(empty_url: str) -> None:
    slow = Migration(1, "notes", f"SELECT pg_sleep(0.3); {FIRST.sql}")

    async def one() -> tuple[Migration, ...]:
        async with _connect(empty_url) as connection:
            return await migrate(connection, [slow, SECOND])

    done = await asyncio.gather(*(one() for _ in range(4)))
    assert sorted(item.number for applied in done for item in applied) == [1, 2]
    assert await _names(empty_url) == ["notes", "tags"]


async def test_newer_database_is_not_touched(empty_url: str) -> None:
    async with _connect(empty_url) as connection:
        await migrate(connection, [FIRST, SECOND])
        with pytest.raises(StoreError, match=r"newer than this version of Emily: .*0002_tags"):
            await migrate(connection, [FIRST])


async def test_open_brings_an_empty_database_up_to_date(empty_url: str, home: Path) -> None:
    async with Database.open(load_settings(home, database_url=empty_url)):
        pass
    assert await _names(empty_url) == [item.name for item in load_migrations()]


async def test_open_refuses_a_database_of_a_changed_migration(
    database_url: str, home: Path
) -> None:
    async with _connect(database_url) as connection:
        await connection.execute("UPDATE emily_migration SET sha256 = repeat('0', 64)")
    with pytest.raises(StoreError, match="0001_archive is not the one"):
        async with Database.open(load_settings(home, database_url=database_url)):
            pytest.fail("it was opened")
