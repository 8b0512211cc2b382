"""Phases of work on a document: what each room hands in, and which failures are tried again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import psycopg
from psycopg import errors as sql

from emily.errors import ModelUnavailable, StoreError, StoreUnavailable
from emily.indexing.passing import is_passing
from emily.indexing.report import FileOutcome

__all__ = [
    "ANALYSIS",
    "INDEXING",
    "Done",
    "Due",
    "Failed",
    "FilePhase",
    "Phase",
    "Transient",
    "is_transient",
    "wait_seconds",
]

INDEXING = "indexing"
ANALYSIS = "analysis"

_FIRST_SECONDS = 5.0
_LONGEST_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Due:
    """A document that waits for a phase.

    Attributes:
        document: its id.
        state: what it waits for, such as the digest of its text and the settings: where the
            phase failed for good, it is not tried again before this changes.
    """

    document: int
    state: str


@dataclass(frozen=True, slots=True)
class Done:
    """What a job came to.

    Attributes:
        document: the document that holds the result, if there is one.
        outcome: in a word or a sentence.
    """

    document: int | None = None
    outcome: str | None = None


class Transient(Exception):
    """A job could not be done now and may be done later; the text says why."""


class Failed(Exception):
    """A job cannot be done, and trying again would not help; the text says why."""

    def __init__(self, reason: str, document: int | None = None) -> None:
        super().__init__(reason)
        self.document = document


class Phase(Protocol):
    """Work on documents that are in the archive, such as their analysis.

    Attributes:
        name: of the phase, and of its queue.
    """

    name: str

    async def due(self) -> Sequence[Due]:
        """The documents that wait for it; called often, so it must be quick.

        Raises:
            StoreError: the database cannot be asked.
        """
        ...

    async def perform(self, document: int) -> Done:
        """Do it for one document, whole or not at all; done twice it is as done once.

        Raises:
            Transient: it may succeed later.
            Failed: it never will.
            EmilyError: ``is_transient`` decides.
        """
        ...


class FilePhase:
    """Indexing: files become documents.

    Args:
        add: takes in one file, and gives what came of it and of what lies inside.
    """

    name = INDEXING

    def __init__(self, add: Callable[[Path], Awaitable[Sequence[FileOutcome]]]) -> None:
        self._add = add

    async def perform(self, path: Path) -> Done:
        """Index a file.

        Raises:
            Transient, Failed: as in ``Phase``.
        """
        outcomes = await self._add(path)
        own = next((item for item in outcomes if item.inside is None), None)
        if own is None:
            raise Failed("It is a folder without a file.")
        passing = next((item for item in outcomes if item.transient), None)
        if passing is not None:
            raise Transient(passing.reason or "It could not be read now.")
        if own.outcome == "failed":
            raise Failed(own.reason or "It could not be read.", own.document)
        detail = own.outcome if own.reason is None else f"{own.outcome}: {own.reason}"
        return Done(own.document, detail)


def is_transient(error: BaseException) -> bool:
    """Whether what failed by this error may succeed later, with nobody doing anything about it.

    A model or a server that is away, a lost connection, a full disk. Not a broken file, a
    password, a limit, a content that the database refuses.
    """
    if isinstance(error, Transient | StoreUnavailable | ModelUnavailable | TimeoutError):
        return True
    if isinstance(error, StoreError):
        cause = error.__cause__
        if isinstance(cause, OSError):
            return is_passing(cause)
        if isinstance(cause, sql.SerializationFailure | sql.DeadlockDetected | sql.QueryCanceled):
            return True
        # Classes 53 (insufficient resources), 57 (operator intervention), 58 (system error).
        return isinstance(cause, psycopg.Error) and (cause.sqlstate or "")[:2] in ("53", "57", "58")
    return isinstance(error, OSError) and is_passing(error)


def wait_seconds(attempts: int) -> float:
    """How long to wait after so many attempts: 5 s, then twice as long each time, 10 min at most.

    Args:
        attempts: that were made, from 1.
    """
    return min(_FIRST_SECONDS * 2.0 ** min(attempts - 1, 30), _LONGEST_SECONDS)
