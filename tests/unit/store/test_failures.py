"""Which errors mean a lost connection, and what the user reads."""

from __future__ import annotations

import psycopg
import psycopg_pool
import pytest
from psycopg import errors

from emily.errors import StoreError, StoreUnavailable
from emily.store.failures import (
    explained,
    is_connection_loss,
    is_refused_content,
    is_rolled_back,
)


@pytest.mark.parametrize(
    ("error", "loss", "again"),
    [
        (psycopg.OperationalError("server closed the connection unexpectedly"), True, False),
        (errors.AdminShutdown("terminating connection"), True, False),
        (errors.CrashShutdown("terminating connection"), True, False),
        (errors.CannotConnectNow("the database system is starting up"), True, False),
        (errors.TooManyConnections("too many clients"), True, False),
        (psycopg.InterfaceError("the connection is closed"), True, False),
        (psycopg_pool.PoolTimeout("couldn't get a connection after 30.00 sec"), True, False),
        (errors.DeadlockDetected("deadlock detected"), False, True),
        (errors.SerializationFailure("could not serialize"), False, True),
        (errors.QueryCanceled("canceling statement"), False, False),
        (errors.DiskFull("no space left"), False, False),
        (errors.UniqueViolation("duplicate key"), False, False),
        (psycopg.InterfaceError("parameters must be a mapping"), False, False),
        (ValueError("no error of the database"), False, False),
    ],
)
def test_kinds_of_errors(error: Exception, loss: bool, again: bool) -> None:
    assert is_connection_loss(error) is loss
    assert is_rolled_back(error) is again


def test_lost_connection_is_unavailable() -> None:
    cause = psycopg.OperationalError("connection refused\n\tIs the server running")
    with pytest.raises(StoreUnavailable) as error, explained("postgresql://ada@db/brain"):
        raise cause
    assert str(error.value) == (
        "postgresql://ada@db/brain cannot be reached: connection refused Is the server "
        "running. Look at: emily status"
    )
    assert error.value.__cause__ is cause


def test_pool_that_is_exhausted_is_unavailable() -> None:
    with pytest.raises(StoreUnavailable, match="in time"), explained("The database"):
        raise psycopg_pool.PoolTimeout("couldn't get a connection after 30.00 sec")


def test_refused_statement_is_a_store_error() -> None:
    refused = pytest.raises(StoreError, match="refused a statement: no such thing")
    with refused as error, explained("The database"):
        raise errors.UndefinedTable("no such thing")
    assert not isinstance(error.value, StoreUnavailable)


def test_other_errors_pass() -> None:
    with pytest.raises(ZeroDivisionError), explained("The database"):
        _ = 1 / 0


@pytest.mark.parametrize(
    ("error", "refused"),
    [
        (errors.UntranslatableCharacter("\\u0000 cannot be converted to text"), True),
        (errors.ProgramLimitExceeded("index row size 2712 exceeds 2704"), True),
        (psycopg.DataError("PostgreSQL text fields cannot contain NUL (0x00) bytes"), True),
        (errors.UndefinedTable("no such table"), False),
        (psycopg.OperationalError("connection refused"), False),
        (ValueError("x"), False),
    ],
)
def test_content_that_is_refused_is_told_from_a_wrong_statement(
    error: Exception, refused: bool
) -> None:
    assert is_refused_content(error) is refused
    wrapped = StoreError("refused a statement")
    wrapped.__cause__ = error
    assert is_refused_content(wrapped) is refused
