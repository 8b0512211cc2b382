"""The JSON of the queue, its worker and the watched folders, a part of docs/json.md."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from emily.cli.contract import Output

if TYPE_CHECKING:
    from pathlib import Path

    from emily.work import Job, Queued, Retried, WorkCounts
    from emily.work.watching import WatchedFolder

__all__ = [
    "AddLaterOutput",
    "JobsOutput",
    "RetryOutput",
    "ServeOutput",
    "WatchOutput",
    "WorkerOutput",
    "add_later_output",
    "jobs_output",
    "retry_output",
    "serve_output",
    "watch_output",
    "worker_output",
]


@dataclass(frozen=True, kw_only=True)
class LeftOutPart:
    """A file that was not put into the queue."""

    path: Annotated[str, "Its absolute path."]
    outcome: Annotated[Literal["failed", "ignored"], "`failed` or `ignored`."]
    reason: Annotated[str | None, "Why."]


@dataclass(frozen=True, kw_only=True)
class AddLaterOutput(Output):
    """`emily add --later`."""

    queued: Annotated[int, "Files that wait to be indexed now."]
    left_out: Annotated[list[LeftOutPart], "What was not queued, and why."]
    workers: Annotated[int, "Workers that there are to index them."]


@dataclass(frozen=True, kw_only=True)
class JobPart:
    """Work of one phase on one file or document."""

    id: Annotated[int, "Its id."]
    phase: Annotated[str, "`indexing` or `analysis`."]
    name: Annotated[str, "Path of the file, or name of the document."]
    document: Annotated[int | None, "Id of the document, where there is one."]
    status: Annotated[
        Literal["waiting", "running", "done", "failed"],
        "`waiting`, `running`, `done` or `failed`.",
    ]
    attempts: Annotated[int, "Since it was queued."]
    lost: Annotated[int, "Of these, how many ended with a worker that was killed."]
    error: Annotated[str | None, "The last error; `null` once it is done."]
    outcome: Annotated[str | None, "What it came to."]
    queued_at: Annotated[str, "When it was queued, ISO 8601 with time zone."]
    started_at: Annotated[str | None, "When it was begun last."]
    finished_at: Annotated[str | None, "When that ended."]
    next_at: Annotated[str | None, "After a failure that may pass: not tried again before."]


@dataclass(frozen=True, kw_only=True)
class JobsOutput(Output):
    """`emily jobs`."""

    jobs: Annotated[list[JobPart], "Those at work, then those that wait, in their order."]
    counts: Annotated[dict[str, dict[str, int]], "By phase, how many there are of each status."]
    workers: Annotated[int, "How many workers there are."]


@dataclass(frozen=True, kw_only=True)
class RetryOutput(Output):
    """`emily retry`."""

    retried: Annotated[list[JobPart], "What is tried again, as it was before."]
    workers: Annotated[int, "Workers that there are to do it."]


@dataclass(frozen=True, kw_only=True)
class WorkerOutput(Output):
    """`emily worker`, when it ends."""

    done: Annotated[int, "Jobs that it did."]
    failed: Annotated[int, "Jobs that failed for good."]
    delayed: Annotated[int, "Attempts that failed by what may pass, and are made again."]


@dataclass(frozen=True, kw_only=True)
class ServeOutput(Output):
    """`emily serve`, from the moment at which it answers."""

    home: Annotated[str, "The home folder that it serves."]
    socket: Annotated[str, "Path of the socket that it listens on."]
    process: Annotated[int, "Its process id."]


@dataclass(frozen=True, kw_only=True)
class WatchedFolderPart:
    """A folder that is followed."""

    path: Annotated[str, "Its absolute path."]
    since: Annotated[str, "When it was added, ISO 8601 with time zone."]
    files: Annotated[int, "Files that were seen in it."]
    missing: Annotated[int, "Of these, how many were deleted while their documents stay."]
    looked_at: Annotated[str | None, "When it was looked at last; `null` if it never was."]
    trouble: Annotated[str | None, "Why it cannot be looked at."]


@dataclass(frozen=True, kw_only=True)
class WatchOutput(Output):
    """`emily watch`."""

    folders: Annotated[list[WatchedFolderPart], "The folders that are followed."]
    added: Annotated[list[str], "Those that were added now."]
    removed: Annotated[list[str], "Those that are followed no longer."]
    served: Annotated[bool, "Whether a server runs that follows them."]


def serve_output(home: Path, socket: str, process: int) -> ServeOutput:
    """What ``emily serve --json`` prints."""
    return ServeOutput(home=str(home), socket=socket, process=process)


def watch_output(
    folders: Sequence[WatchedFolder], added: Sequence[str], removed: Sequence[str], *, served: bool
) -> WatchOutput:
    """The watched folders."""
    return WatchOutput(
        folders=[
            WatchedFolderPart(
                path=str(item.path),
                since=item.since.isoformat(),
                files=item.files,
                missing=item.missing,
                looked_at=_moment(item.looked_at),
                trouble=item.trouble,
            )
            for item in folders
        ],
        added=list(added),
        removed=list(removed),
        served=served,
    )


def add_later_output(queued: Queued) -> AddLaterOutput:
    """What was put into the queue."""
    return AddLaterOutput(
        queued=queued.files,
        left_out=[
            LeftOutPart(
                path=str(item.path),
                outcome="failed" if item.state == "failed" else "ignored",
                reason=item.reason,
            )
            for item in queued.left_out
        ],
        workers=queued.workers,
    )


def jobs_output(jobs: Sequence[Job], counts: WorkCounts) -> JobsOutput:
    """The jobs."""
    return JobsOutput(
        jobs=[_job(job) for job in jobs],
        counts={phase: dict(found) for phase, found in counts.phases.items()},
        workers=counts.workers,
    )


def retry_output(retried: Retried) -> RetryOutput:
    """What is tried again."""
    return RetryOutput(retried=[_job(job) for job in retried.jobs], workers=retried.workers)


def worker_output(done: int, failed: int, delayed: int) -> WorkerOutput:
    """What a worker did."""
    return WorkerOutput(done=done, failed=failed, delayed=delayed)


def _job(job: Job) -> JobPart:
    return JobPart(
        id=job.id,
        phase=job.phase,
        name=job.name,
        document=job.document,
        status=job.status,
        attempts=job.attempts,
        lost=job.lost,
        error=job.error,
        outcome=job.outcome,
        queued_at=job.queued_at.isoformat(),
        started_at=_moment(job.started_at),
        finished_at=_moment(job.finished_at),
        next_at=_moment(job.next_at),
    )


def _moment(at: dt.datetime | None) -> str | None:
    return None if at is None else at.isoformat()
