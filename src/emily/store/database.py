"""The database of a home folder: opened, kept connected, and spoken to in named statements."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypeVar

import psycopg
from pgvector.psycopg import register_vector_async
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from emily.errors import InputError, StoreError, StoreUnavailable
from emily.store.address import check_address, redacted
from emily.store.failures import explained, is_connection_loss, is_rolled_back
from emily.store.fitness import ServerFacts, check_fitness
from emily.store.migrate import applied, load_migrations, migrate, pending
from emily.store.server import EmbeddedServer
from emily.store.statements import statement

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
    from datetime import datetime

    from emily.settings import Settings

__all__ = ["Connection", "Database", "DatabaseDescription"]

Connection: TypeAlias = psycopg.AsyncConnection[DictRow]
T = TypeVar("T")

_POOL_SIZE = 8
_CONNECT_SECONDS = 10
# A killed back-end makes the server reset all connections and recover, for about 3 s.
_CHECKOUT_SECONDS = 30
_ATTEMPTS = 3
_PAUSE_SECONDS = 0.05

_log = logging.getLogger("emily.store")

# Without a handler of its own, the pool's warnings about a lost connection would go to the
# user's terminal. The error that follows from it says the same in Emily's words.
logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())


@dataclass(frozen=True, slots=True)
class DatabaseDescription:
    """The database as ``emily status`` tells of it.

    Attributes:
        text: one line, such as ``embedded PostgreSQL 18.6, running since 2026-11-30 12:00``.
        embedded: whether it is the server that comes with Emily.
        location: the folder of the embedded server, or the address without its password.
        server_version: such as ``18.6``.
        vector_version: version of pgvector.
        bytes: size of the database on disk.
        started_at: when the server started, with its time zone.
    """

    text: str
    embedded: bool
    location: str
    server_version: str
    vector_version: str
    bytes: int
    started_at: datetime


class Database:
    """A pool of connections to the archive's database. Open it with ``Database.open``."""

    def __init__(
        self,
        pool: AsyncConnectionPool[Connection],
        server: EmbeddedServer | None,
        location: str,
        facts: ServerFacts,
        address: str,
    ) -> None:
        self._pool = pool
        self._server = server
        self._address = address
        self._where = location if server is None else f"The database in {location}"
        self.location = location
        self.facts = facts

    @classmethod
    @contextlib.asynccontextmanager
    async def open(cls, settings: Settings) -> AsyncIterator[Self]:
        """Start or find the server, bring its tables up to date, and connect.

        The embedded server goes on running after the block; ``EmbeddedServer.stop`` ends it.

        Args:
            settings: ``database_url`` names the owner's own server; unset, the embedded
                server of ``home`` is used.

        Raises:
            StoreUnavailable: the server did not start or cannot be reached.
            StoreError: the server or its tables are not fit (version, pgvector, encoding,
                migrations), or the address is malformed.
        """
        server, conninfo, location = await _reach(settings)
        where = location if server is None else f"The database in {location}"
        keywords = _keywords()
        with explained(where):
            facts = await _prepare(conninfo, keywords, where, settings)
            pool = AsyncConnectionPool(
                conninfo,
                connection_class=psycopg.AsyncConnection[DictRow],
                kwargs=keywords,
                min_size=1,
                max_size=_POOL_SIZE,
                open=False,
                configure=register_vector_async,
                check=AsyncConnectionPool.check_connection,
                timeout=_CHECKOUT_SECONDS,
                name="emily",
            )
            try:
                await pool.open(wait=True, timeout=_CHECKOUT_SECONDS)
            except BaseException:
                await pool.close()
                raise
        try:
            yield cls(pool, server, location, facts, conninfo)
        finally:
            await pool.close()

    @classmethod
    @contextlib.asynccontextmanager
    async def alone(cls, settings: Settings) -> AsyncIterator[Connection]:
        """One connection to the database as it is: nothing is migrated, no pool is opened.

        Raises:
            StoreUnavailable: the server did not start or cannot be reached.
            StoreError: the server is not fit, or refused a statement.
        """
        server, conninfo, location = await _reach(settings)
        where = location if server is None else f"The database in {location}"
        with explained(where):
            connection: Connection = await psycopg.AsyncConnection.connect(conninfo, **_keywords())
            async with connection:
                row = await (await connection.execute(statement("server_facts"))).fetchone()
                if row is None:
                    raise StoreError(f"{where} tells nothing of itself.")
                check_fitness(ServerFacts(**row), where)
                yield connection

    @contextlib.asynccontextmanager
    async def transaction(self) -> AsyncIterator[Connection]:
        """A connection inside a transaction: committed at the end, undone by an error.

        Once the block has ended without an error, what it wrote is on the disk. Errors of
        psycopg can be caught inside the block; out of it they come as Emily's, with the
        original as ``__cause__``.

        Raises:
            StoreUnavailable: the connection was lost, at the commit perhaps: then it is not
                known whether the writes took place.
            StoreError: a statement was refused.
        """
        async with self._connection() as connection, connection.transaction():
            yield connection

    async def run(
        self, work: Callable[[Connection], Awaitable[T]], *, idempotent: bool = False
    ) -> T:
        """Run ``work`` in a transaction, again where that is safe; gives its result.

        It runs again, up to three times in all, when the server undid it for a deadlock, and
        when the connection was lost and ``idempotent`` says that doing it twice is the same
        as once (a commit may have taken place unseen). So ``work`` must have no effect but
        through its connection.

        Raises:
            StoreUnavailable: the connection was lost, and it was not or could not be repeated.
            StoreError: a statement was refused.
        """
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                async with self.transaction() as connection:
                    return await work(connection)
            except StoreError as error:
                cause = error.__cause__
                lost = cause is not None and is_connection_loss(cause)
                again = (lost and idempotent) or (cause is not None and is_rolled_back(cause))
                if attempt == _ATTEMPTS or not again:
                    if lost and not idempotent:
                        raise StoreUnavailable(
                            f"{error} What was being written was not acknowledged; check it, "
                            "and do it again if it is missing."
                        ) from cause
                    raise
                # Let the transaction that won commit first.
                await asyncio.sleep(_PAUSE_SECONDS * attempt)
        raise AssertionError("unreachable")

    async def fetch(
        self, name: str, parameters: Mapping[str, Any] | None = None
    ) -> list[dict[str, Any]]:
        """Rows of a named statement that only reads; tried again once on a lost connection.

        Raises:
            StoreUnavailable: the database cannot be reached.
            StoreError: there is no such statement, or the server refused it.
        """
        text = statement(name)
        try:
            return await self._fetch(text, parameters)
        except StoreUnavailable as error:
            if isinstance(error.__cause__, PoolTimeout):  # that was a long wait already
                raise
            return await self._fetch(text, parameters)

    async def fetch_one(
        self, name: str, parameters: Mapping[str, Any] | None = None
    ) -> dict[str, Any] | None:
        """The first row of a named statement that only reads, ``None`` if it has none."""
        rows = await self.fetch(name, parameters)
        return rows[0] if rows else None

    async def execute(self, name: str, parameters: Mapping[str, Any] | None = None) -> int:
        """Run one named statement that writes; gives the number of rows it touched.

        It is a transaction of its own and never repeated.

        Raises:
            StoreUnavailable: the connection was lost; whether it took place is not known.
            StoreError: there is no such statement, or the server refused it.
        """
        text = statement(name)
        async with self._connection() as connection:
            cursor = await connection.execute(text, dict(parameters or {}))
            return cursor.rowcount

    def conninfo(self) -> str:
        """Address for libpq, with the password: for connecting, never for showing."""
        return self._address if self._server is None else self._server.conninfo()

    async def describe(self) -> DatabaseDescription:
        """Version, size and state of the database, for ``emily status``."""
        row = await self.fetch_one("server_condition")
        facts = await self.fetch_one("server_facts")
        if row is None or facts is None:
            raise StoreError(f"{self._where} tells nothing of itself.")
        since = row["started_at"].astimezone().strftime("%Y-%m-%d %H:%M")
        kind = "embedded" if self._server is not None else "your own"
        return DatabaseDescription(
            text=f"{kind} PostgreSQL {facts['version']}, running since {since}",
            embedded=self._server is not None,
            location=self.location,
            server_version=facts["version"],
            vector_version=facts["vector_installed"],
            bytes=row["bytes"],
            started_at=row["started_at"],
        )

    async def _fetch(self, text: str, parameters: Mapping[str, Any] | None) -> list[dict[str, Any]]:
        async with self._connection() as connection:
            # Binary: vectors and blobs arrive as they are, not as text to be parsed.
            cursor = await connection.execute(text, dict(parameters or {}), binary=True)
            return await cursor.fetchall()

    @contextlib.asynccontextmanager
    async def session(self) -> AsyncIterator[None]:
        """Keep one connection for all that is asked inside the block, by one after the other.

        A search asks the store several times; taking a connection and checking it costs as
        much each time as a small statement does. A connection that is lost on the way is
        replaced at the next call, as without a session.
        """
        if _session.get() is not None:
            yield  # the one around it serves
            return
        async with contextlib.AsyncExitStack() as held:
            token = _session.set(_Session(self, held))
            try:
                yield
            finally:
                _session.reset(token)

    async def give_back(self) -> None:
        """Give the session's connection back before a long wait; the next call takes another."""
        session = _session.get()
        if session is not None and session.database is self:
            async with session.lock:
                session.connection = None
                await session.held.aclose()

    @contextlib.asynccontextmanager
    async def _connection(self) -> AsyncIterator[Connection]:
        session = _session.get()
        if session is None or session.database is not self:
            async with self._checked_out() as connection:
                yield connection
            return
        async with session.lock:
            if session.connection is None or session.connection.closed:
                await session.held.aclose()
                session.connection = await session.held.enter_async_context(self._checked_out())
            with explained(self._where):
                yield session.connection

    @contextlib.asynccontextmanager
    async def _checked_out(self) -> AsyncIterator[Connection]:
        """A connection of the pool, which is checked."""
        with explained(self._where):
            # Nobody but us starts the embedded server again if it was killed; the pool
            # reconnects to it then, but would wait in vain before.
            if self._server is not None and self._server.running() is None:
                await asyncio.to_thread(self._server.start)
            async with self._pool.connection() as connection:
                yield connection


@dataclass(slots=True)
class _Session:
    """The connection that one task and those it starts take turns with."""

    database: Database
    held: contextlib.AsyncExitStack
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    connection: Connection | None = None


_session: ContextVar[_Session | None] = ContextVar("emily_session", default=None)


async def _reach(settings: Settings) -> tuple[EmbeddedServer | None, str, str]:
    """The embedded server, started, or ``None`` for one of the owner's; its address; its place."""
    if settings.database_url:  # an empty variable is an unset one
        check_address(settings.database_url)
        return None, settings.database_url, redacted(settings.database_url)
    # A service of the owner's shell would take precedence over where our server is.
    os.environ.pop("PGSERVICE", None)
    server = EmbeddedServer(settings.home)
    await asyncio.to_thread(server.start)
    return server, server.conninfo(), str(server.folder)


def _keywords() -> dict[str, Any]:
    return {
        "row_factory": dict_row,
        "autocommit": True,
        "connect_timeout": _CONNECT_SECONDS,
        "client_encoding": "UTF8",
        "application_name": "emily",
    }


async def _upgrade(connection: Connection, settings: Settings) -> None:
    """Bring the tables up to date; what they hold is backed up first.

    Raises:
        StoreError: the backup cannot be made, so that nothing was changed.
    """
    had = await applied(connection)
    if had and pending(load_migrations(), had):
        from emily.store.backup import before_upgrade  # needs this module

        try:
            file = await before_upgrade(connection, settings, had[-1][0])
        except InputError as error:
            raise StoreError(
                "The database is of an earlier version of Emily. It is backed up before its tables "
                f"are changed, and that failed: {error} Nothing was changed."
            ) from error
        if file is not None:
            _log.warning(
                "the tables are brought up to date; before that they were saved in %s", file
            )
    await migrate(connection)


async def _prepare(
    conninfo: str, keywords: dict[str, Any], where: str, settings: Settings
) -> ServerFacts:
    """Check the server and migrate it, over a connection of its own."""
    connection: Connection = await psycopg.AsyncConnection.connect(conninfo, **keywords)
    async with connection:
        row = await (await connection.execute(statement("server_facts"))).fetchone()
        if row is None:
            raise StoreError(f"{where} tells nothing of itself.")
        facts = ServerFacts(**row)
        check_fitness(facts, where)
        try:
            await _upgrade(connection, settings)
        except psycopg.errors.InsufficientPrivilege as error:
            raise StoreError(
                f"{where} does not let this user create what Emily needs: "
                f"{error.diag.message_primary}. Let the owner of the server run in the "
                "database: CREATE EXTENSION IF NOT EXISTS vector; and grant this user CREATE "
                "on the database and its schema."
            ) from error
    return facts
