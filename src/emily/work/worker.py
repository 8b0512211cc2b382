"""The worker: takes jobs out of the queue, does them, and brings back those of killed workers.

Each phase has a lane of its own. Indexing takes up to ``worker_concurrency`` jobs at once. The
lane of a later phase takes one at a time, and none while a file is ready to be indexed: so no
file waits for an analysis that has not begun, and not for one that has either.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import procrastinate
import psycopg
import psycopg_pool
from procrastinate import exceptions as job_errors
from procrastinate import jobs as procrastinate_jobs
from procrastinate.manager import JobManager

from emily.errors import EmilyError, StoreError
from emily.indexing.files import storable
from emily.store import Connection, Database, statement
from emily.store.alerts import Alerts
from emily.work.phases import (
    INDEXING,
    Done,
    Failed,
    FilePhase,
    Phase,
    is_transient,
    wait_seconds,
)
from emily.work.queue import MOST_LOST, TASK, Queue

__all__ = ["ALIVE_SECONDS", "Finished", "Worker"]

HEARTBEAT_SECONDS = 5.0
ALIVE_SECONDS = 20.0
"""A worker that has not told of itself for so long is dead; its jobs are given to others."""

_SWEEP_SECONDS = 10.0
_POLL_SECONDS = 2.0  # notifications come at once; this is for those that were lost
_CLOSE_SECONDS = 20.0  # for the job at hand, when the worker is told to end
_TROUBLE = 3  # attempts after which a delay is told of by an alert
_OUTAGE = 2  # jobs in a row that failed by what may pass: something that all need is away
_PROBE_SECONDS = 60.0  # so often one job of a phase tries whether it is back
_TOGETHER_SECONDS = 30.0  # so often at most all that waited are tried at once
_POOL_SIZE = 4

_log = logging.getLogger("emily.work")
# It logs every step; what matters is said by the lines of this module.
logging.getLogger("procrastinate").addHandler(logging.NullHandler())
logging.getLogger("procrastinate").propagate = False


@dataclass(frozen=True, slots=True)
class Finished:
    """A job that ended, for whoever follows.

    Attributes:
        phase: of the job.
        name: of the file or document.
        status: ``done``, ``failed``, or ``waiting`` where it is tried again.
        detail: what it came to, or why not.
    """

    phase: str
    name: str
    status: str
    detail: str | None


class _Registration:
    """The one entry of this process among the workers: its lanes are one worker, not several.

    Attributes:
        unfinished: jobs that ended and could not be taken out of the database, for its disk was
            full. This worker lives, so no other takes them for lost; and while they are there
            their work is given to nobody.
    """

    def __init__(self, manager: JobManager) -> None:
        self.unfinished: set[int] = set()
        self._manager = manager
        self._registering: asyncio.Future[int] | None = None

    async def number(self) -> int:
        """Its number; registered by whoever asks first."""
        if self._registering is None:
            self._registering = asyncio.ensure_future(self._manager.register_worker())
            # Who was cut off does not ask what became of it.
            self._registering.add_done_callback(lambda task: task.cancelled() or task.exception())
        return await asyncio.shield(self._registering)

    async def forget(self) -> None:
        """Take it out of the database, once no lane is at work."""
        if self._registering is not None:
            with contextlib.suppress(job_errors.ConnectorException, psycopg_pool.PoolTimeout):
                await self._manager.unregister_worker(await self._registering)


class _Manager(JobManager):
    """Gives out jobs to a lane, under the number of the process."""

    def __init__(self, connector: procrastinate.BaseConnector, registration: _Registration) -> None:
        super().__init__(connector)
        self._registration = registration

    async def register_worker(self) -> int:
        return await self._registration.number()

    async def finish_job(
        self,
        job: procrastinate_jobs.Job,
        status: procrastinate_jobs.Status,
        delete_job: bool,
    ) -> None:
        try:
            await super().finish_job(job, status, delete_job)
        except BaseException:
            if job.id is not None:
                self._registration.unfinished.add(job.id)
            raise

    async def unregister_worker(self, worker_id: int) -> None:
        """Nothing yet: another lane may still be at work under this number."""


class _LaterManager(_Manager):
    """Gives out no job while a file is ready to be indexed."""

    def __init__(
        self,
        connector: procrastinate.BaseConnector,
        registration: _Registration,
        database: Database,
    ) -> None:
        super().__init__(connector, registration)
        self._database = database

    async def fetch_job(
        self, queues: Iterable[str] | None, worker_id: int
    ) -> procrastinate_jobs.Job | None:
        ready = await self._database.fetch_one("phase_is_ready", {"phase": INDEXING})
        if ready is not None and ready["ready"]:
            return None
        return await super().fetch_job(queues=queues, worker_id=worker_id)


class Worker:
    """Does the work of a queue until it is told to end.

    Args:
        database: the archive's.
        conninfo: its address, for the connections of the queue; called at every start.
        queue: where more is put in.
        files: the phase of indexing.
        phases: the later ones.
        alerts: tell of work that is delayed again and again.
        concurrency: files that are indexed at once.
        settled: called when no file is left to be indexed, after some were.
    """

    def __init__(
        self,
        database: Database,
        conninfo: Callable[[], str],
        queue: Queue,
        files: FilePhase,
        phases: Mapping[str, Phase],
        alerts: Alerts,
        *,
        concurrency: int = 1,
        settled: Callable[[], Any] | None = None,
    ) -> None:
        self._database = database
        self._conninfo = conninfo
        self._queue = queue
        self._files = files
        self._phases = dict(phases)
        self._alerts = alerts
        self._concurrency = concurrency
        self._settled = settled
        self._unsettled = False
        self._tell: Callable[[Finished], None] = lambda _: None
        # By phase, the failures in a row; what an earlier worker left may be due to an outage.
        self._failures = dict.fromkeys((INDEXING, *self._phases), _OUTAGE)
        self._brought: dict[str, float] = {}  # by phase, when all were brought forward

    async def run(
        self,
        stop: asyncio.Event,
        *,
        until_empty: bool = False,
        tell: Callable[[Finished], None] | None = None,
    ) -> None:
        """Work until ``stop`` is set; the job at hand is finished, or goes back to the queue.

        A database that goes away is waited for.

        Args:
            stop: ends it.
            until_empty: end as well when nothing is left that can be done now.
            tell: called with each job that ended.
        """
        self._tell = tell or self._tell
        pause = 1.0
        while not stop.is_set():
            began = asyncio.get_running_loop().time()
            try:
                if await self._work(stop, until_empty) or stop.is_set():
                    return
                _log.warning("the worker's connection to the queue ended; it begins anew")
            except (StoreError, psycopg.Error, psycopg_pool.PoolTimeout) as error:
                _log.warning("the worker waits for the database: %s", error)
            except job_errors.ConnectorException as error:
                _log.warning("the worker waits for the database: %s", error.__cause__ or error)
            if asyncio.get_running_loop().time() - began > 60:
                pause = 1.0
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), pause)
            pause = min(pause * 2, 15.0)

    async def _work(self, stop: asyncio.Event, until_empty: bool) -> bool:
        """One life of the lanes; whether it ended as it should, and not by a lost connection."""
        await self.sweep_lost()  # through the archive's pool, which starts a server that is down
        async with self._connector() as connector:
            registration = _Registration(JobManager(connector))
            lanes = [self._lane(_Manager(connector, registration), INDEXING)]
            if self._phases:
                later = _LaterManager(connector, registration, self._database)
                lanes.append(self._lane(later, *self._phases))
            ended: set[asyncio.Task[Any]] = {asyncio.create_task(stop.wait(), name="stop")}
            if until_empty:
                ended.add(asyncio.create_task(self._emptied(connector), name="emptied"))
            sweeper = asyncio.create_task(
                self._sweep_for_ever(connector, registration), name="sweeper"
            )
            tasks: set[asyncio.Task[Any]] = {*lanes, *ended, sweeper}
            try:
                done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                await registration.forget()
            for task in done:
                if not task.cancelled() and (error := task.exception()) is not None:
                    raise error
            return bool(done & ended)

    @contextlib.asynccontextmanager
    async def _connector(self) -> AsyncIterator[procrastinate.PsycopgConnector]:
        async def into_schema(connection: psycopg.AsyncConnection[Any]) -> None:
            await connection.execute("SET search_path TO emily_jobs")
            await connection.commit()

        connector = procrastinate.PsycopgConnector(
            conninfo=self._conninfo(),
            kwargs={"connect_timeout": 10, "application_name": "emily worker"},
            configure=into_schema,
            min_size=1,
            max_size=_POOL_SIZE + self._concurrency,
            timeout=10,
            reconnect_timeout=10,
            name="emily-work",
        )
        try:
            await connector.open_async()
            yield connector
        finally:
            await connector.close_async()

    def _lane(self, manager: _Manager, *phases: str) -> asyncio.Task[None]:
        app = self._app(manager.connector)
        app.job_manager = manager
        first = phases == (INDEXING,)
        return asyncio.create_task(
            app.run_worker_async(
                queues=list(phases),
                name="-".join(phases),
                concurrency=self._concurrency if first else 1,
                delete_jobs="always",  # what came of it stands in the archive's own table
                install_signal_handlers=False,
                update_heartbeat_interval=HEARTBEAT_SECONDS,
                stalled_worker_timeout=ALIVE_SECONDS,
                fetch_job_polling_interval=_POLL_SECONDS,
                shutdown_graceful_timeout=_CLOSE_SECONDS,
            ),
            name=f"lane {phases[0]}",
        )

    def _app(self, connector: procrastinate.BaseConnector) -> procrastinate.App:
        app = procrastinate.App(connector=connector)
        app.task(name=TASK)(self.perform)
        return app

    async def perform(self, work: int) -> None:
        """Do one job.

        What may succeed later gets another job for later; this one ends in any case.

        Args:
            work: id of the work.
        """
        row = await self._started(work)
        if row is None:  # the document was removed meanwhile
            return
        name, phase = row["name"], row["phase"]
        try:
            done = await self._done(row)
        except asyncio.CancelledError:  # the worker is told to end
            with contextlib.suppress(StoreError):
                await asyncio.shield(self._put_off(row, row["error"], 0))
            raise
        except Failed as error:
            await self._finished(work, "failed", error=str(error), document=error.document)
            self._say(Finished(phase, name, "failed", str(error)))
        except Exception as error:  # noqa: BLE001 - a fault in one job must not end the others
            reason = str(error) or type(error).__name__
            if is_transient(error):
                self._failures[phase] = self._failures.get(phase, 0) + 1
                await self._put_off(row, reason, wait_seconds(row["attempts"]))
                self._say(Finished(phase, name, "waiting", reason))
                return
            if not isinstance(error, EmilyError):
                _log.exception("%s of %s failed by a fault in Emily", phase, name)
                reason = f"Unexpected error, {type(error).__name__}: {reason}"
            await self._finished(work, "failed", error=reason)
            self._say(Finished(phase, name, "failed", reason))
        else:
            await self._finished(work, "done", outcome=done.outcome, document=done.document)
            self._say(Finished(phase, name, "done", done.outcome))
            self._unsettled = self._unsettled or phase == INDEXING
            await self._succeeded(phase)

    async def _succeeded(self, phase: str) -> None:
        """Where an outage is over, let nothing that waits for its end wait any longer."""
        failures, self._failures[phase] = self._failures.get(phase, 0), 0
        now = asyncio.get_running_loop().time()
        since = now - self._brought.get(phase, -_TOGETHER_SECONDS)
        if failures < _OUTAGE or since < _TOGETHER_SECONDS:
            return
        self._brought[phase] = now
        with contextlib.suppress(StoreError):  # then they wait for their time
            rows = await self._database.fetch("put_off_in", {"phase": phase})
            await self._queue.again(
                [(row["id"], phase) for row in rows], afresh=False, statuses=("waiting",)
            )

    async def _started(self, work: int) -> dict[str, Any] | None:
        async def start(connection: Connection) -> dict[str, Any] | None:
            cursor = await connection.execute(statement("start_work"), {"id": work})
            return await cursor.fetchone()

        return await self._database.run(start)

    async def _done(self, row: dict[str, Any]) -> Done:
        if row["phase"] == INDEXING:
            return await self._files.perform(Path(os.fsdecode(bytes(row["path"]))))
        phase = self._phases.get(row["phase"])
        if phase is None:
            raise Failed(f"This version of Emily knows no phase {row['phase']!r}.")
        return await phase.perform(row["document_id"])

    async def _put_off(self, row: dict[str, Any], reason: str | None, seconds: float) -> None:
        """Let a job wait, with another in the queue for then."""
        values = {
            "id": row["id"],
            "error": None if reason is None else storable(reason),
            "seconds": seconds,
        }

        async def put_off(connection: Connection) -> None:
            cursor = await connection.execute(statement("put_off_work"), values)
            if await cursor.fetchone() is not None:
                await self._queue.give_jobs(connection, [row["id"]], row["phase"])

        await self._database.run(put_off, idempotent=True)

    async def _finished(
        self,
        work: int,
        status: str,
        *,
        error: str | None = None,
        outcome: str | None = None,
        document: int | None = None,
    ) -> None:
        values = {
            "id": work,
            "status": status,
            "error": None if error is None else storable(error),
            "outcome": None if outcome is None else storable(outcome),
            "document_id": document,
        }

        async def finish(connection: Connection) -> None:
            await connection.execute(statement("finish_work"), values)

        await self._database.run(finish, idempotent=True)

    def _say(self, finished: Finished) -> None:
        detail = "" if finished.detail is None else f": {finished.detail}"
        level = logging.WARNING if finished.status == "failed" else logging.INFO
        _log.log(level, "%s %s, %s%s", finished.phase, finished.status, finished.name, detail)
        self._tell(finished)

    # What was left behind

    async def _sweep_for_ever(
        self, connector: procrastinate.PsycopgConnector, registration: _Registration
    ) -> None:
        while True:
            if registration.unfinished:
                left = list(registration.unfinished)
                await self._database.execute("drop_jobs", {"ids": left})
                registration.unfinished.difference_update(left)
            await self.sweep(connector)
            await asyncio.sleep(_SWEEP_SECONDS)

    async def sweep(self, connector: procrastinate.PsycopgConnector) -> bool:
        """Bring back jobs of workers that are dead, and queue what waits for a later phase.

        Returns:
            ``False`` if another sweep was at it.
        """
        manager = self._app(connector).job_manager
        async with self._database.transaction() as connection:
            row = await (await connection.execute(statement("lock_sweep"))).fetchone()
            if row is None or not row["ours"]:
                return False
            for job in await manager.get_stalled_jobs(seconds_since_heartbeat=ALIVE_SECONDS):
                await self._bring_back(manager, job)
            await manager.prune_stalled_workers(ALIVE_SECONDS)
        await self.sweep_lost()
        await self._queue_due()
        await self._probe()
        await self._tell_delays()
        await self._settle()
        return True

    async def _bring_back(self, manager: JobManager, job: procrastinate_jobs.Job) -> None:
        work = job.task_kwargs.get("work")
        if job.id is None or job.task_name != TASK or not isinstance(work, int):
            return
        values = {
            "id": work,
            "most": MOST_LOST,
            "error": "The worker ended while it was at it (killed, or the machine stopped).",
        }

        async def lose(connection: Connection) -> dict[str, Any] | None:
            cursor = await connection.execute(statement("lose_work"), values)
            found = await cursor.fetchone()
            if found is not None and found["status"] == "waiting":
                # Behind those that killed nobody, from the second time on.
                await self._queue.give_jobs(
                    connection, [work], found["phase"], lost=found["lost"] > 1
                )
            return found

        found = await self._database.run(lose)
        await manager.finish_job_by_id_async(
            job_id=job.id, status=procrastinate_jobs.Status.FAILED, delete_job=True
        )
        if found is None:  # it was done, or had not begun: then ``sweep_lost`` gives it a job
            return
        if found["status"] == "failed":
            _log.error("job %s is given up: %d workers were killed at it", work, MOST_LOST)
        else:
            _log.warning("job %s of a dead worker is back in the queue", work)

    async def sweep_lost(self) -> None:
        """Give a job to open work that has none: it was interrupted between the two."""
        rows = await self._database.fetch("work_without_job")
        if rows:
            await self._queue.again(
                [(row["id"], row["phase"]) for row in rows],
                afresh=False,
                statuses=("waiting", "running"),
            )

    async def _probe(self) -> None:
        """Where all of a phase waits after failures, let one try whether the outage is over.

        Its own wait may be ten minutes by then. One that took long fails as long again, so it is
        given twice that time.
        """
        for phase in (INDEXING, *self._phases):
            values = {"phase": phase, "seconds": _PROBE_SECONDS}
            for row in await self._database.fetch("work_to_probe", values):
                await self._queue.again([(row["id"], phase)], afresh=False, statuses=("waiting",))

    async def _queue_due(self) -> None:
        for phase in self._phases.values():
            due = await phase.due()
            if due:
                await self._queue.add_documents(due, phase.name)

    async def _tell_delays(self) -> None:
        """Have an alert tell of a phase that fails again and again by what may pass."""
        rows = await self._database.fetch("delayed_work", {"attempts": _TROUBLE})
        delayed = {row["phase"]: row for row in rows}
        open_alerts = {alert.name: alert for alert in await self._alerts.open()}
        for phase in (INDEXING, *self._phases):
            name = f"work:{phase}"
            if phase in delayed:
                row = delayed[phase]
                text = (
                    f"{row['count']} {'job waits' if row['count'] == 1 else 'jobs wait'} for "
                    f"{phase} and could not be done so far: {row['error']} See: emily jobs"
                )
                if name not in open_alerts or open_alerts[name].text != text:
                    await self._alerts.raise_alert(name, "warning", text)
            elif name in open_alerts:
                await self._alerts.resolve(name)

    async def _settle(self) -> None:
        if not self._unsettled or self._settled is None:
            return
        left = await self._database.fetch_one("phase_is_ready", {"phase": INDEXING})
        if left is not None and not left["ready"]:
            self._unsettled = False
            await self._settled()

    async def _emptied(self, connector: procrastinate.PsycopgConnector) -> None:
        """Ends when nothing is left that can be done now."""
        while True:
            left = await self._database.fetch_one("work_left")
            if left is not None and not left["now"]:
                swept = await self.sweep(connector)  # what was indexed may be due for more
                left = await self._database.fetch_one("work_left")
                if swept and left is not None and not left["now"]:
                    return
            await asyncio.sleep(0.2)
