"""The run of an ``add``: files are read ahead while those before them are embedded and written."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from emily.indexing.intake import Intake, Opened
from emily.indexing.report import FileOutcome, Progress
from emily.reading.walk import Found

__all__ = ["add_found", "add_version"]

# Files that were read and wait to be embedded; more would only hold their text in memory.
_AHEAD = 2


async def add_found(
    found: Sequence[Found], intake: Intake, tell: Callable[[Progress], None]
) -> list[FileOutcome]:
    """Take in files, and what lies inside of them. A file that fails stops no other.

    Args:
        found: the files, and what was ignored with the reason.
        intake: takes in one.
        tell: called when a file is begun and when it is finished.

    Returns:
        what came of each, in the order they were finished.

    Raises:
        ModelUnavailable: the embedder cannot be loaded.
        StoreUnavailable: the database is lost; what was finished stays.
    """
    outcomes: list[FileOutcome] = []
    total = len(found)
    ready: asyncio.Queue[Opened | FileOutcome | None] = asyncio.Queue(_AHEAD)

    async def read() -> None:
        for item in found:
            if item.state == "file":
                tell(Progress(item.path, len(outcomes), total))
                opened = await intake.open(item.path)
                try:
                    await ready.put(opened)
                except asyncio.CancelledError:  # while there was no room for it
                    if isinstance(opened, Opened):
                        intake.release(opened)
                    raise
            else:
                await ready.put(FileOutcome(item.path, item.state, None, item.reason))
        await ready.put(None)

    def finished(outcome: FileOutcome) -> None:
        outcomes.append(outcome)
        tell(Progress(outcome.path, len(outcomes), total, outcome))

    async def take(item: Opened | FileOutcome) -> FileOutcome:
        """Put in a file and what lies inside of it, which is finished first."""
        nonlocal total
        if isinstance(item, FileOutcome):
            return item
        try:
            outcome = await intake.put(item)
            inner = []
            parts = list(intake.parts(item, outcome))
            total += len(parts)
            for part in parts:
                tell(Progress(part.shown, len(outcomes), total))
                inner.append(await take(await intake.open(part.path, part.enclosure)))
                finished(inner[-1])
            return await intake.finish(item, outcome, inner)
        finally:  # also of what was cut off
            intake.release(item)

    reading = asyncio.create_task(read())
    try:
        while (item := await _next(ready, reading)) is not None:
            finished(await take(item))
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        while not ready.empty():
            left = ready.get_nowait()
            if isinstance(left, Opened):
                intake.release(left)
    return outcomes


async def add_version(
    path: Path, intake: Intake, into: int, standing: tuple[str, str] | None = None
) -> FileOutcome:
    """Take in a file as a new version of a document, and what lies inside of it.

    Args:
        path: where its bytes lie.
        intake: takes in one.
        into: the document's id.
        standing: stored path and name that the document keeps; ``None`` gives it the file's.

    Raises:
        UnknownDocument: the document is not there any more.
        ModelUnavailable, StoreUnavailable: as in ``add_found``.
    """
    return await _taken(await intake.open(path, into=into, standing=standing), intake)


async def _taken(item: Opened | FileOutcome, intake: Intake) -> FileOutcome:
    if isinstance(item, FileOutcome):
        return item
    try:
        outcome = await intake.put(item)
        inner = [
            await _taken(await intake.open(part.path, part.enclosure), intake)
            for part in intake.parts(item, outcome)
        ]
        return await intake.finish(item, outcome, inner)
    finally:
        intake.release(item)


async def _next(
    ready: asyncio.Queue[Opened | FileOutcome | None], reading: asyncio.Task[None]
) -> Opened | FileOutcome | None:
    """The next file that was read; if reading itself failed, that error."""
    getting = asyncio.create_task(ready.get())
    try:
        await asyncio.wait({getting, reading}, return_when=asyncio.FIRST_COMPLETED)
    except asyncio.CancelledError:
        getting.cancel()
        raise
    if not getting.done() and reading.done() and reading.exception() is not None:
        getting.cancel()
        reading.result()
    return await getting
