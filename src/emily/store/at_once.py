"""Statements that must be written before something else may happen, from whatever thread.

A connection of its own, opened at the first statement: neither the event loop nor the pool has to
be free, so that nothing can wait for what waits for it.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import psycopg

from emily.store.database import Database
from emily.store.failures import explained
from emily.store.statements import statement

__all__ = ["AtOnce"]

_CONNECT_SECONDS = 5
_OPTIONS = "-c statement_timeout=5000 -c lock_timeout=5000"


class AtOnce:
    """Writes single statements; each is on the disk when the call comes back."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._connection: psycopg.Connection[Any] | None = None

    def execute(self, name: str, parameters: Mapping[str, Any]) -> None:
        """Run a statement.

        Raises:
            StoreUnavailable: the database cannot be reached.
            StoreError: it was refused.
        """
        with self._lock, explained(self._database.location):
            try:
                self._open().execute(statement(name), parameters)
            except (psycopg.OperationalError, psycopg.InterfaceError):
                # The server was started anew, say; on a second failure it is told.
                self._drop()
                self._open().execute(statement(name), parameters)

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._drop()

    def _open(self) -> psycopg.Connection[Any]:
        if self._connection is None or self._connection.closed:
            self._connection = psycopg.connect(
                self._database.conninfo(),
                autocommit=True,
                connect_timeout=_CONNECT_SECONDS,
                options=_OPTIONS,
            )
        return self._connection

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(psycopg.Error):
                connection.close()
