"""Which failures may pass, and how long is waited after them."""

from __future__ import annotations

import errno

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg import errors as sql

from emily.errors import (
    EmptyDocument,
    LimitExceeded,
    ModelMismatch,
    ModelUnavailable,
    PasswordRequired,
    StoreError,
    StoreUnavailable,
    UnsupportedKind,
    VectorError,
)
from emily.work.phases import Transient, is_transient, wait_seconds


def caused(cause: psycopg.Error) -> StoreError:
    error = StoreError("The database refused a statement.")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    "error",
    [
        Transient("busy"),
        StoreUnavailable("The database cannot be reached."),
        ModelUnavailable("The server is away."),
        ConnectionResetError("reset"),
        TimeoutError("too slow"),
        OSError(errno.ENOSPC, "No space left on device"),
        OSError(errno.EIO, "Input/output error"),
        caused(sql.DiskFull("could not extend file")),
        caused(sql.OutOfMemory("out of memory")),
        caused(sql.AdminShutdown("terminating connection")),
        caused(sql.DeadlockDetected("deadlock")),
        caused(sql.QueryCanceled("canceling statement")),
        caused(sql.IoError("could not write")),
    ],
    ids=repr,
)
def test_what_may_pass_is_tried_again(error: Exception) -> None:
    assert is_transient(error)


@pytest.mark.parametrize(
    "error",
    [
        PasswordRequired("the file opens only with a password"),
        UnsupportedKind("no reader"),
        EmptyDocument("no text"),
        LimitExceeded("too long"),
        VectorError("NaN"),
        ModelMismatch("another model"),
        OSError(errno.ENOENT, "No such file"),
        OSError(errno.EACCES, "Permission denied"),
        StoreError("refused"),
        caused(sql.UniqueViolation("duplicate key")),
        caused(sql.UndefinedTable("no table")),
        caused(sql.CharacterNotInRepertoire("invalid byte")),
        ZeroDivisionError("a fault"),
    ],
    ids=repr,
)
def test_what_would_fail_again_is_not(error: Exception) -> None:
    assert not is_transient(error)


@given(st.integers(min_value=1, max_value=10**6))
def test_waits_grow_to_ten_minutes(attempts: int) -> None:
    assert 5 <= wait_seconds(attempts) <= wait_seconds(attempts + 1) <= 600


def test_the_first_wait_is_short() -> None:
    assert [wait_seconds(n) for n in (1, 2, 3, 8)] == [5, 10, 20, 600]
