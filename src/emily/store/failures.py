"""Errors of psycopg turned into Emily's, with a sentence for the user."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import psycopg
import psycopg_pool
from psycopg import errors

from emily.errors import StoreError, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "explained",
    "is_connection_loss",
    "is_gone",
    "is_refused_content",
    "is_rolled_back",
]

# Reported as OperationalError although the server is there and answers.
_ANSWERS = (
    errors.DeadlockDetected,
    errors.SerializationFailure,
    errors.QueryCanceled,
    errors.LockNotAvailable,
    errors.DiskFull,
    errors.OutOfMemory,
    errors.ConfigurationLimitExceeded,
    errors.ProgramLimitExceeded,
    errors.StatementTooComplex,
)
_HELP = "Look at: emily status"


def is_connection_loss(error: BaseException) -> bool:
    """Whether the error says that the connection is gone or could not be had.

    Such an error leaves open whether a statement in flight, or a commit, took place.
    """
    if isinstance(error, _ANSWERS):
        return False
    if isinstance(error, psycopg.InterfaceError):
        return "closed" in str(error) or "lost" in str(error)
    return isinstance(error, psycopg.OperationalError)


def is_refused_content(error: BaseException) -> bool:
    """Whether what was to be stored was refused, and not the statement as such.

    Classes 22 (data exception) and 54 (program limit exceeded) of SQLSTATE, and what the client
    does not even send (a NUL in a text; without SQLSTATE): another file may well be taken.
    """
    cause = error.__cause__ or error
    if isinstance(cause, psycopg.DataError) and cause.sqlstate is None:
        return True
    return isinstance(cause, psycopg.Error) and (cause.sqlstate or "")[:2] in ("22", "54")


def is_gone(error: BaseException) -> bool:
    """Whether a row refers to another that was removed meanwhile."""
    return isinstance(error.__cause__ or error, errors.ForeignKeyViolation)


def is_rolled_back(error: BaseException) -> bool:
    """Whether the server undid the transaction in favour of another, so that it may go again."""
    return isinstance(error, errors.DeadlockDetected | errors.SerializationFailure)


@contextlib.contextmanager
def explained(where: str) -> Iterator[None]:
    """Raise Emily's errors in place of psycopg's, which stay reachable as ``__cause__``.

    Args:
        where: the database as the user knows it, without its password.

    Raises:
        StoreUnavailable: the connection was lost or could not be had.
        StoreError: the server refused a statement.
    """
    try:
        yield
    except psycopg_pool.PoolTimeout as error:
        raise StoreUnavailable(
            f"No connection to {where} came free or could be made in time. {_HELP}"
        ) from error
    except psycopg.Error as error:
        if is_connection_loss(error):
            raise StoreUnavailable(
                f"{where} cannot be reached: {_sentence(error)} {_HELP}"
            ) from error
        raise StoreError(f"{where} refused a statement: {_sentence(error)}") from error


def _sentence(error: psycopg.Error) -> str:
    """The server's main sentence and code, without its detail, which quotes stored rows."""
    primary = error.diag.message_primary
    if primary:
        return f"{primary} (SQLSTATE {error.sqlstate})."
    text = " ".join(str(error).split())
    return text if text.endswith(".") else f"{text}."
