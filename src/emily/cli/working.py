"""The commands of the queue: ``worker``, ``jobs``, ``retry``, and ``add --later``."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from emily.cli.plain import one_line
from emily.cli.session import AsJson, Session, guarded, say_json, session_of
from emily.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from emily.brain import Brain
    from emily.work import Job, WorkCounts
    from emily.work.queue import JobStatus
    from emily.work.worker import Finished

__all__ = ["add_later", "jobs", "retry", "stopped_by_signals", "tell_finished", "worker"]

_SHOWN = 50
_NOBODY = "No worker is at work. Start one with: emily serve, or emily worker"


def add_later(session: Session, paths: list[str], as_json: bool) -> None:
    """Queue files and folders, to be indexed by a worker."""
    queued = session.run(lambda brain: brain.work.add_later(paths))
    if as_json:
        from emily.cli.working_contract import add_later_output

        say_json(add_later_output(queued))
    else:
        from emily.cli.printing import output, table

        console = output()
        if queued.left_out:
            rows = [(item.state, item.path, item.reason) for item in queued.left_out]
            console.print(table(("outcome", "file", "reason"), rows))
        noun = "file waits" if queued.files == 1 else "files wait"
        console.print(f"{queued.files} {noun} to be indexed. See: emily jobs")
        if queued.files and not queued.workers:
            console.print(f"Notice: {_NOBODY}")
    if any(item.state == "failed" for item in queued.left_out):
        raise typer.Exit(1)


@guarded
def jobs(
    context: typer.Context,
    document: Annotated[
        str | None,
        typer.Argument(
            metavar="[DOC]",
            help="Id, exact name or path of a document or file: all work on it.",
            show_default=False,
        ),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Also what is done.")] = False,
    failed: Annotated[bool, typer.Option("--failed", help="Only what failed.")] = False,
    limit: Annotated[
        int, typer.Option("--limit", help="List at most so many; 0 for all.", min=0)
    ] = _SHOWN,
    as_json: AsJson = False,
) -> None:
    """List what waits to be indexed and analysed, what is at work, and what failed.

    A failure that may pass (a model or the database away, a full disk) is tried again by itself,
    after 5 seconds at first, after 10 minutes at last. One that would only fail again (a broken
    file, a missing password) is not; emily retry tries it nevertheless.
    """
    if everything and failed:
        raise InputError("Give --all or --failed, not both.")
    statuses: tuple[JobStatus, ...] = ("running", "waiting", "failed")
    if failed:
        statuses = ("failed",)
    elif everything or document is not None:
        statuses = ("running", "waiting", "failed", "done")

    async def work(brain: Brain) -> tuple[Sequence[Job], WorkCounts]:
        counts = await brain.work.counts()
        if document is None:
            return await brain.work.jobs(statuses, limit), counts
        found = await brain.work.jobs_on(document)
        return [job for job in found if job.status in statuses], counts

    found, counts = session_of(context).run(work)
    if as_json:
        from emily.cli.working_contract import jobs_output

        say_json(jobs_output(found, counts))
        return
    from emily.cli.printing import output, table

    console = output()
    if found:
        columns = ("status", "phase", "what", "document", "attempts", "since", "again", "why")
        rows = [
            (
                job.status,
                job.phase,
                job.name,
                job.document,
                job.attempts,
                f"{(job.started_at or job.queued_at).astimezone():%Y-%m-%d %H:%M}",
                None if job.next_at is None else f"{job.next_at.astimezone():%H:%M:%S}",
                job.error or job.outcome,
            )
            for job in found
        ]
        console.print(table(columns, rows))
    for phase, by_status in sorted(counts.phases.items(), reverse=True):
        parts = (f"{by_status[s]} {s}" for s in ("running", "waiting", "failed", "done")
                 if s in by_status)  # fmt: skip
        console.print(f"{phase}: {', '.join(parts)}")
    if not counts.phases:
        console.print("Nothing waits. Queue files with: emily add --later PATH")
    elif (counts.count("waiting") or counts.count("running")) and not counts.workers:
        console.print(f"Notice: {_NOBODY}")


@guarded
def retry(
    context: typer.Context,
    document: Annotated[
        str | None,
        typer.Argument(
            metavar="[DOC]",
            help="Id, exact name or path of a document or file.",
            show_default=False,
        ),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All that failed.")] = False,
    as_json: AsJson = False,
) -> None:
    """Try again what failed, now.

    It is put into the queue, or refused with the reason; its error stays until it is done.
    """
    if everything is (document is not None):
        raise InputError("Say what to try again: emily retry DOC, or emily retry --all")
    retried = session_of(context).run(lambda brain: brain.work.retry(document))
    if as_json:
        from emily.cli.working_contract import retry_output

        say_json(retry_output(retried))
        return
    from emily.cli.printing import output

    console = output()
    for job in retried.jobs:
        console.print(f"In the queue: {job.phase} of {one_line(job.name)}")
    if not retried.workers:
        console.print(f"Notice: {_NOBODY}")


@guarded
def worker(
    context: typer.Context,
    once: Annotated[
        bool, typer.Option("--once", help="End when nothing is left that can be done now.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Index and analyse what waits, until it is stopped (Ctrl-C or SIGTERM).

    What is at work then is finished or goes back into the queue. Several workers may share a
    database, on several machines if the files have the same paths there. emily serve has a worker
    in it.
    """
    counted: Counter[str] = Counter()
    begun = False

    def tell(finished: Finished) -> None:
        counted[finished.status] += 1
        tell_finished(finished)

    async def work(brain: Brain) -> None:
        nonlocal begun
        with stopped_by_signals() as stop:
            begun = True
            if not once:
                typer.echo("Indexing and analysing what waits. End with Ctrl-C.", err=True)
            await brain.work.run(stop, until_empty=once, tell=tell)

    try:
        session_of(context).run(work, warm=True)
    except KeyboardInterrupt:
        if begun:  # told a second time, while it ended
            raise
    done, failed, delayed = (counted[status] for status in ("done", "failed", "waiting"))
    if as_json:
        from emily.cli.working_contract import worker_output

        say_json(worker_output(done, failed, delayed))
    else:
        typer.echo(f"{done} done, {failed} failed, {delayed} delayed")
    if failed and once:
        raise typer.Exit(1)


def tell_finished(finished: Finished) -> None:
    """A line on stderr for each job that ended."""
    detail = "" if finished.detail is None else f": {one_line(finished.detail)}"
    status = "delayed" if finished.status == "waiting" else finished.status
    typer.echo(f"{finished.phase} {status} {one_line(finished.name)}{detail}", err=True)


@contextmanager
def stopped_by_signals() -> Iterator[asyncio.Event]:
    """An event that Ctrl-C and SIGTERM set; a second Ctrl-C ends the program as usual."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def told() -> None:
        stop.set()
        loop.remove_signal_handler(signal.SIGINT)

    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, told)
    except NotImplementedError:  # Windows: Ctrl-C interrupts
        yield stop
        return
    try:
        yield stop
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
