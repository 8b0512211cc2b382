"""The queue: what waits, in the archive's own tables, with a job of procrastinate for each."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from emily.indexing.files import storable
from emily.indexing.report import FileOutcome
from emily.store import Connection, Database, statement
from emily.work.phases import INDEXING, Due

__all__ = ["MOST_LOST", "TASK", "Job", "JobStatus", "Queue", "WorkCounts"]

JobStatus = Literal["waiting", "running", "done", "failed"]

TASK = "emily.work"
MOST_LOST = 5
"""So many workers may be killed at one job before it is given up: it may be what kills them."""

# A document that waits to be indexed never stands behind one that waits for analysis.
_PRIORITY: Mapping[str, int] = {INDEXING: 100}
_LOST_PRIORITY = -50  # added for one at which a worker was killed more than once
_BATCH = 2_000


@dataclass(frozen=True, slots=True)
class Job:
    """Work of one phase on one file or document.

    Attributes:
        id: of the work.
        phase: ``indexing`` or ``analysis``.
        name: path of the file, or name of the document.
        path: the file, where the phase is one of files.
        document: the document that it is about or that it made.
        status: ``waiting``, ``running``, ``done`` or ``failed``.
        attempts: since it was queued; ``lost`` of them ended with their worker.
        error: the last one; ``None`` once it is done.
        outcome: what it came to.
        queued_at, started_at, finished_at: times; ``None`` where it has not come to that.
        next_at: not tried again before that; ``None`` where it waits for nothing but its turn.
    """

    id: int
    phase: str
    name: str
    path: Path | None
    document: int | None
    status: JobStatus
    attempts: int
    lost: int
    error: str | None
    outcome: str | None
    queued_at: dt.datetime
    started_at: dt.datetime | None
    finished_at: dt.datetime | None
    next_at: dt.datetime | None


@dataclass(frozen=True, slots=True)
class WorkCounts:
    """How much work there is.

    Attributes:
        phases: by phase, the number of jobs of each status.
        workers: how many workers are at work or wait for it.
    """

    phases: Mapping[str, Mapping[str, int]]
    workers: int

    def count(self, status: JobStatus) -> int:
        """Jobs of all phases that have this status."""
        return sum(found.get(status, 0) for found in self.phases.values())


class Queue:
    """Puts work into the queue and tells of it. All writes are whole or not at all."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add_files(self, paths: Sequence[Path], phase: str = INDEXING) -> int:
        """Queue files; gives how many. One that waits already keeps its place."""
        queued = 0
        for start in range(0, len(paths), _BATCH):
            batch = list(dict.fromkeys(paths[start : start + _BATCH]))
            values = {
                "phase": phase,
                "paths": [os.fsencode(path) for path in batch],
                "names": [storable(str(path)) for path in batch],
            }
            queued += len(await self._queued("queue_files", values, phase))
        return queued

    async def add_documents(self, due: Sequence[Due], phase: str) -> int:
        """Queue documents for a phase; gives how many were not in the queue and are now."""
        queued = 0
        for start in range(0, len(due), _BATCH):
            batch = due[start : start + _BATCH]
            values = {
                "phase": phase,
                "documents": [item.document for item in batch],
                "states": [item.state for item in batch],
            }
            queued += len(await self._queued("queue_documents", values, phase))
        return queued

    async def again(
        self, jobs: Iterable[tuple[int, str]], *, afresh: bool, statuses: Sequence[JobStatus]
    ) -> int:
        """Queue work anew that has one of these statuses; gives how much of it had.

        Args:
            jobs: id and phase of each.
            afresh: count its attempts from 0.
            statuses: of those to queue.
        """
        by_phase: dict[str, list[int]] = {}
        for identity, phase in jobs:
            by_phase.setdefault(phase, []).append(identity)
        queued = 0
        for phase, ids in by_phase.items():
            values = {"ids": ids, "afresh": afresh, "statuses": list(statuses)}
            queued += len(await self._queued("queue_again", values, phase))
        return queued

    async def _queued(self, name: str, values: dict[str, Any], phase: str) -> list[int]:
        async def work(connection: Connection) -> list[int]:
            cursor = await connection.execute(statement(name), values)
            ids = [row["id"] for row in await cursor.fetchall()]
            if ids:
                await self.give_jobs(connection, ids, phase)
            return ids

        return await self._database.run(work, idempotent=True)

    @staticmethod
    async def give_jobs(
        connection: Connection, ids: Sequence[int], phase: str, *, lost: bool = False
    ) -> None:
        """Give each its job, in the transaction at hand."""
        priority = _PRIORITY.get(phase, 0) + (_LOST_PRIORITY if lost else 0)
        await connection.execute(
            statement("queue_jobs"), {"ids": list(ids), "task": TASK, "priority": priority}
        )

    async def record(self, outcomes: Iterable[FileOutcome]) -> None:
        """Note what came of files that were added without the queue."""
        told = {
            item.path: item
            for item in outcomes
            if item.inside is None and item.outcome != "ignored"
        }
        if not told:
            return
        failed = [item.outcome == "failed" for item in told.values()]
        values = {
            "phase": INDEXING,
            "paths": [os.fsencode(path) for path in told],
            "names": [storable(str(path)) for path in told],
            "statuses": ["failed" if is_failed else "done" for is_failed in failed],
            "errors": [
                storable(item.reason or "") if is_failed else None
                for item, is_failed in zip(told.values(), failed, strict=True)
            ],
            "outcomes": [item.outcome for item in told.values()],
            "documents": [item.document for item in told.values()],
        }
        await self._database.execute("record_files", values)

    async def jobs(
        self,
        statuses: Sequence[JobStatus] = ("running", "waiting", "failed"),
        *,
        phase: str | None = None,
        limit: int | None = None,
    ) -> list[Job]:
        """Jobs: those at work, then those that wait, in their order; then failures."""
        values = {"statuses": list(statuses), "phase": phase, "limit": limit}
        return [_job(row) for row in await self._database.fetch("list_work", values)]

    async def jobs_on(self, documents: Sequence[int], given: str, path: Path) -> list[Job]:
        """All jobs on these documents, on the file at a path, or on files of a name."""
        values = {
            "documents": list(documents),
            "path": os.fsencode(path),
            "name": "" if "/" in given else storable(given),
        }
        return [_job(row) for row in await self._database.fetch("work_on", values)]

    async def counts(self, alive_seconds: float) -> WorkCounts:
        """How much of each phase waits, is at work, is done and has failed."""
        phases: dict[str, dict[str, int]] = {}
        for row in await self._database.fetch("work_counts"):
            phases.setdefault(row["phase"], {})[row["status"]] = row["count"]
        workers = await self._database.fetch("live_workers", {"seconds": alive_seconds})
        return WorkCounts(phases, len(workers))

    async def forget(self, ids: Sequence[int]) -> int:
        """Forget work on files that are gone; what is at work now stays."""
        return await self._database.execute("forget_work", {"ids": list(ids)})


def _job(row: dict[str, Any]) -> Job:
    path = None if row["path"] is None else Path(os.fsdecode(bytes(row["path"])))
    return Job(
        id=row["id"],
        phase=row["phase"],
        name=row["name"],
        path=path,
        document=row["document_id"],
        status=row["status"],
        attempts=row["attempts"],
        lost=row["lost"],
        error=row["error"],
        outcome=row["outcome"],
        queued_at=row["queued_at"],
        started_at=row["started_at"],
        finished_at=row["finished_at"],
        next_at=row["next_at"],
    )
