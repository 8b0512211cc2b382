"""Statements, transactions and repetition on an open database."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import numpy as np
import psycopg
import pytest
from pgvector import HalfVector
from psycopg import errors

from emily.errors import StoreError, StoreUnavailable
from emily.store import Connection, Database

if TYPE_CHECKING:
    from emily.settings import Settings

MODEL = "INSERT INTO model (name, profile, dimension) VALUES (%s, 'p', 3) RETURNING id"
COUNT = "SELECT count(*)::integer AS count FROM model"


async def _insert(connection: Connection, name: str = "m") -> int:
    row = await (await connection.execute(MODEL, [name])).fetchone()
    assert row is not None
    return int(row["id"])


async def _count(database: Database) -> int:
    async with database.transaction() as connection:
        row = await (await connection.execute(COUNT)).fetchone()
    assert row is not None
    return int(row["count"])


async def _end(connection: Connection) -> None:
    """End the connection from the server's side, in the middle of its work."""
    await connection.execute("SELECT pg_terminate_backend(pg_backend_pid())")


async def test_fetch_gives_rows_as_dictionaries(database: Database) -> None:
    rows = await database.fetch("applied_migrations")
    assert rows[0]["number"] == 1
    assert rows[0]["name"] == "archive"
    first = await database.fetch_one("applied_migrations")
    assert first == rows[0]


async def test_fetch_one_of_nothing_is_none(database: Database) -> None:
    async with database.transaction() as connection:
        await connection.execute("DELETE FROM emily_migration")
    assert await database.fetch_one("applied_migrations") is None


async def test_execute_gives_the_number_of_rows(database: Database) -> None:
    record = {"number": 9999, "name": "later", "sha256": "00"}
    assert await database.execute("record_migration", record) == 1


async def test_unknown_statement_is_refused(database: Database) -> None:
    for call in (database.fetch, database.fetch_one, database.execute):
        with pytest.raises(StoreError, match="No statement is called 'nothing'"):
            await call("nothing")


async def test_refused_statement_does_not_show_stored_rows(database: Database) -> None:
    with pytest.raises(StoreError, match="SQLSTATE 23505") as error:
        await database.execute(
            "record_migration", {"number": 1, "name": "our secret", "sha256": "00"}
        )
    assert isinstance(error.value.__cause__, errors.UniqueViolation)
    assert "Key (number)" not in str(error.value)


async def test_transaction_is_committed_or_undone_whole(database: Database) -> None:
    async with database.transaction() as connection:
        await _insert(connection, "kept")

    async def fail() -> None:
        async with database.transaction() as connection:
            await _insert(connection, "undone")
            _ = 1 / 0

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert await _count(database) == 1


async def test_error_of_the_server_can_be_caught_inside(database: Database) -> None:
    async with database.transaction() as connection:
        await _insert(connection)
        with pytest.raises(psycopg.errors.UniqueViolation):
            async with connection.transaction():
                await _insert(connection)
        await _insert(connection, "other")
    assert await _count(database) == 2


async def test_vectors_go_in_and_come_out(database: Database) -> None:
    vector = np.array([0.5, -1.0, 2.0], dtype=np.float32)
    async with database.transaction() as connection:
        cursor = await connection.execute(
            "SELECT %(v)s::halfvec AS half, %(h)s AS same, %(v)s::vector <=> %(v)s AS far",
            {"v": vector, "h": HalfVector(vector)},
        )
        row = await cursor.fetchone()
    assert row is not None
    assert row["half"].to_list() == row["same"].to_list() == [0.5, -1.0, 2.0]
    assert row["far"] == 0


async def test_more_readers_than_connections(database: Database) -> None:
    found = await asyncio.gather(*(database.fetch("server_facts") for _ in range(40)))
    assert len(found) == 40


async def test_fetch_on_lost_connections_reconnects(database: Database) -> None:
    await asyncio.gather(*(database.fetch("server_facts") for _ in range(4)))
    async with database.transaction() as connection:
        await connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    assert await database.fetch("server_facts")


async def test_write_on_a_lost_connection_is_reported_and_not_repeated(
    database: Database,
) -> None:
    calls = 0

    async def work(connection: Connection) -> None:
        nonlocal calls
        calls += 1
        await _insert(connection)
        await _end(connection)

    with pytest.raises(StoreUnavailable, match="was not acknowledged"):
        await database.run(work)
    assert calls == 1
    assert await _count(database) == 0


async def test_repeatable_work_is_repeated_on_a_lost_connection(database: Database) -> None:
    calls = 0

    async def work(connection: Connection) -> int:
        nonlocal calls
        calls += 1
        await _insert(connection)
        if calls == 1:
            await _end(connection)
        return calls

    assert await database.run(work, idempotent=True) == 2
    assert await _count(database) == 1


async def test_repetition_ends(database: Database) -> None:
    calls = 0

    async def work(connection: Connection) -> None:
        nonlocal calls
        calls += 1
        await _end(connection)

    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        await database.run(work, idempotent=True)
    assert calls == 3


async def test_deadlock_is_resolved_by_repetition(database: Database) -> None:
    async with database.transaction() as connection:
        ids = [await _insert(connection, name) for name in ("a", "b")]
    both_hold_one = asyncio.Barrier(2)
    calls = 0

    async def work(connection: Connection, first: int, second: int) -> None:
        nonlocal calls
        calls += 1
        touch = "UPDATE model SET dimension = dimension + 1 WHERE id = %s"
        await connection.execute(touch, [first])
        if calls <= 2:
            await both_hold_one.wait()
        await connection.execute(touch, [second])

    await asyncio.gather(
        database.run(lambda connection: work(connection, ids[0], ids[1])),
        database.run(lambda connection: work(connection, ids[1], ids[0])),
    )
    assert calls > 2
    async with database.transaction() as connection:
        rows = await (await connection.execute("SELECT dimension FROM model")).fetchall()
    assert [row["dimension"] for row in rows] == [5, 5]


async def test_refusal_is_not_repeated(database: Database) -> None:
    calls = 0

    async def work(connection: Connection) -> None:
        nonlocal calls
        calls += 1
        await connection.execute("SELECT nothing")

    with pytest.raises(StoreError, match='column "nothing" does not exist'):
        await database.run(work, idempotent=True)
    assert calls == 1


async def test_cancelled_work_gives_its_connection_back(database: Database) -> None:
    async def sleep() -> None:
        async with database.transaction() as connection:
            await connection.execute("SELECT pg_sleep(30)")

    tasks = [asyncio.create_task(sleep()) for _ in range(8)]  # as many as there are connections
    await asyncio.sleep(0.5)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert await asyncio.wait_for(database.fetch("server_facts"), 10)


async def test_description_of_the_owners_server(database: Database, settings: Settings) -> None:
    described = await database.describe()
    assert described.text.startswith("your own PostgreSQL 18.")
    assert not described.embedded
    assert described.location.startswith("postgresql://emily@")
    assert described.vector_version == "0.8.6"
    assert described.started_at.tzinfo is not None
    assert settings.database_url is not None
    assert not settings.home.exists()


async def test_a_session_keeps_to_one_connection(database: Database) -> None:
    """All that is asked inside takes turns with one back-end; a lost one is replaced."""

    async def backend() -> int:
        async with database.transaction() as connection:
            return connection.info.backend_pid

    async with database.session():
        first = await backend()
        facts = await asyncio.gather(*(database.fetch("server_facts") for _ in range(5)))
        assert len(facts) == 5
        async with database.session():
            assert set(await asyncio.gather(*(backend() for _ in range(3)))) == {first}
        with pytest.raises(StoreError):
            async with database.transaction() as connection:
                await connection.execute("SELECT nothing FROM nowhere")
        assert await backend() == first, "an error of a statement loses no connection"
        with pytest.raises(StoreError):
            async with database.transaction() as connection:
                await connection.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        assert (await database.fetch("server_facts"))[0]["version"]
        assert await backend() != first


async def test_more_sessions_than_connections(database: Database) -> None:
    """Each needs one connection only, so they wait for each other and never for ever."""

    async def search() -> int:
        async with database.session():
            await database.fetch("server_facts")
            async with database.transaction():
                pass
            await asyncio.gather(database.fetch("server_facts"), database.fetch("server_facts"))
            return 1

    assert sum(await asyncio.gather(*(search() for _ in range(30)))) == 30
