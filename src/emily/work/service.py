"""What a brain's work is asked for: queue files, tell of jobs, try again, be a worker."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from emily.errors import AmbiguousDocument, InputError, UnknownDocument
from emily.indexing.catalogue import Catalogue
from emily.indexing.report import FileOutcome
from emily.places import absolute
from emily.reading.walk import Found, refuse_empty, walk
from emily.settings import Settings
from emily.store import Database
from emily.store.alerts import Alerts
from emily.work.phases import FilePhase, Phase
from emily.work.queue import Job, JobStatus, Queue, WorkCounts
from emily.work.worker import ALIVE_SECONDS, Finished, Worker

if TYPE_CHECKING:
    from emily.work.watching import Watcher

__all__ = ["Job", "Queued", "Retried", "Work", "WorkCounts"]


@dataclass(frozen=True, slots=True)
class Queued:
    """Files that were put into the queue.

    Attributes:
        files: how many.
        left_out: what was ignored or cannot be read, with the reason.
        workers: how many workers there are to do it.
    """

    files: int
    left_out: tuple[Found, ...]
    workers: int


@dataclass(frozen=True, slots=True)
class Retried:
    """Work that is tried again: the jobs as they were, and the workers that there are."""

    jobs: tuple[Job, ...]
    workers: int


class Work:
    """The work of one archive.

    Args:
        database: the archive's.
        settings: of the home.
        alerts: that tell of delays.
        add: takes in one file; gives what came of it and of what lies inside.
        phases: what is done with documents after they were indexed.
        settled: called when no file is left to be indexed, after some were.
        trash: puts the document of a file that was deleted in a watched folder into the trash.
        tidy: clears what killed processes left on the disk.
    """

    def __init__(
        self,
        database: Database,
        settings: Settings,
        alerts: Alerts,
        add: Callable[[Path], Awaitable[Sequence[FileOutcome]]],
        phases: Sequence[Phase] = (),
        settled: Callable[[], Awaitable[Any]] | None = None,
        trash: Callable[[int], Awaitable[Any]] | None = None,
        tidy: Callable[[], Any] | None = None,
    ) -> None:
        self.queue = Queue(database)
        self._database = database
        self._settings = settings
        self._catalogue = Catalogue(database)
        self._alerts = alerts
        self._files = FilePhase(add)
        self._phases = {phase.name: phase for phase in phases}
        self._settled = settled
        self._trash = trash
        self._tidy = tidy

    async def add_later(self, paths: Sequence[Path | str]) -> Queued:
        """Queue files, and all those in folders, to be indexed by a worker.

        Raises:
            InputError: a path is empty.
            StoreError: the database cannot take it.
        """
        refuse_empty(paths)
        found = await asyncio.to_thread(lambda: tuple(walk(paths, self._settings.home)))
        files = [item.path for item in found if item.state == "file"]
        queued = await self.queue.add_files(files)
        left_out = tuple(item for item in found if item.state != "file")
        return Queued(queued, left_out, (await self.counts()).workers)

    async def jobs(
        self, statuses: Sequence[JobStatus] = ("running", "waiting", "failed"), limit: int = 0
    ) -> list[Job]:
        """Jobs of these statuses; at most ``limit`` of them, where that is not 0."""
        return await self.queue.jobs(statuses, limit=limit or None)

    async def jobs_on(self, document: str | int) -> list[Job]:
        """All jobs on a document or file, given by id, exact name or path.

        Raises:
            UnknownDocument: there is neither such a document nor work on such a file.
            AmbiguousDocument: it is the name of several.
        """
        given = str(document)
        path = Path(absolute(given))
        try:
            documents = [await self._catalogue.resolve(document)]
        except UnknownDocument:
            documents = []
        found = await self.queue.jobs_on(documents, given, path)
        exact = [job for job in found if job.path == path or job.document in documents]
        if not exact and len({job.path for job in found}) > 1:
            paths = ", ".join(job.name for job in found)
            raise AmbiguousDocument(f"Several files are called {given!r}. Give the path: {paths}")
        if not (exact or found) and not documents:
            raise UnknownDocument(
                f"There is no document {given!r}, and no work on such a file. A document goes by "
                "its id, its exact name or its path; emily list and emily jobs show them."
            )
        return exact or found

    async def counts(self) -> WorkCounts:
        """How much work there is, by phase and status, and how many workers."""
        return await self.queue.counts(ALIVE_SECONDS)

    async def retry(self, document: str | int | None) -> Retried:
        """Try again what failed, or what waits after a failure, now.

        Args:
            document: id, exact name or path; ``None`` for all that failed.

        Raises:
            UnknownDocument, AmbiguousDocument: it is not one document or file.
            InputError: nothing of it can be queued; the message says why. The error stays.
        """
        if document is None:
            found = await self.queue.jobs(("waiting", "failed"))
            tried = [job for job in found if _refusal(job) is None]
            if not tried:
                raise InputError("Nothing failed that can be tried again. See: emily jobs")
        else:
            found = await self.jobs_on(document)
            tried = [job for job in found if _refusal(job) is None]
            if not tried:
                reasons = list(dict.fromkeys(filter(None, map(_refusal, found)))) or [
                    "It was never in the queue; emily add reads its file again."
                ]
                raise InputError(
                    f"Nothing of {str(document)!r} is tried again: {' '.join(reasons)}"
                )
        queued = await self.queue.again(
            [(job.id, job.phase) for job in tried], afresh=True, statuses=("waiting", "failed")
        )
        if not queued:  # it ended in the moment between
            raise InputError("It is not waiting or failed any more. See: emily jobs")
        return Retried(tuple(tried), (await self.counts()).workers)

    def worker(self) -> Worker:
        """A worker on this archive."""
        return Worker(
            self._database,
            self._database.conninfo,
            self.queue,
            self._files,
            self._phases,
            self._alerts,
            concurrency=self._settings.worker_concurrency,
            settled=self._settled,
        )

    async def setting_rows(self) -> Mapping[str, Any]:
        """The settings that are kept in the database now, for who keeps a brain open."""
        return {row["name"]: row["value"] for row in await self._database.fetch("setting_rows")}

    @cached_property
    def watcher(self) -> Watcher:
        """The folders that are followed."""
        from emily.work.watching import Watcher

        return Watcher(self._database, self.queue, self._alerts, self._settings, self._trash)

    async def watch(self, stop: asyncio.Event) -> None:
        """Follow the watched folders until ``stop`` is set; a worker does the rest."""
        await self.watcher.run(stop)

    async def run(
        self,
        stop: asyncio.Event,
        *,
        until_empty: bool = False,
        tell: Callable[[Finished], None] | None = None,
    ) -> None:
        """Be a worker until ``stop`` is set; see ``Worker.run``."""
        if self._tidy is not None:
            await asyncio.to_thread(self._tidy)
        await self.worker().run(stop, until_empty=until_empty, tell=tell)


def _refusal(job: Job) -> str | None:
    """Why a job cannot be tried again; ``None`` where it can."""
    if job.status == "running":
        return f"The {job.phase} of {job.name} is at work now."
    if job.status == "done":
        return f"The {job.phase} of {job.name} did not fail."
    if job.status == "waiting" and job.error is None:
        return f"The {job.phase} of {job.name} waits for its turn already."
    if job.path is not None and not os.path.lexists(job.path):
        return f"{job.name} is not there any more."
    if (
        job.status == "failed"
        and job.error is not None
        and "opens only with a password" in job.error
    ):
        return f"{job.name} opens only with a password: emily add FILE --password"
    return None
