"""Jobs of workers that are dead come back by themselves, and work without a job gets one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.integration.work.test_queue_and_worker import work_off

from emily.brain import Brain

Write = Callable[[str, str], Path]


async def take(brain: Brain, name: str, silent_seconds: int) -> None:
    """Have a worker take the job on a file, and tell nothing of itself for so long."""
    async with brain._database.transaction() as connection:
        cursor = await connection.execute(
            "INSERT INTO emily_jobs.procrastinate_workers (last_heartbeat) "
            "VALUES (now() - make_interval(secs => %s)) RETURNING id",
            [silent_seconds],
        )
        row = await cursor.fetchone()
        assert row is not None
        cursor = await connection.execute(
            "UPDATE work SET status = 'running', attempts = attempts + 1 "
            "WHERE name LIKE %s RETURNING id",
            [f"%/{name}"],
        )
        work = await cursor.fetchone()
        assert work is not None
        await connection.execute(
            "UPDATE emily_jobs.procrastinate_jobs SET status = 'doing', worker_id = %s "
            "WHERE lock = %s",
            [row["id"], f"work:{work['id']}"],
        )


async def test_the_job_of_a_dead_worker_is_done_by_the_next(brain: Brain, write: Write) -> None:
    await brain.work.add_later([write("boiler.txt", "The boiler of the flat.")])
    await take(brain, "boiler.txt", 60)
    (ended,) = await work_off(brain)
    assert ended.status == "done"
    (job,) = await brain.work.jobs(("done",))
    assert (job.attempts, job.lost, job.error) == (2, 0, None)
    assert (await brain.work.counts()).workers == 0
    rows = await brain._database.fetch("live_workers", {"seconds": 10**6})
    assert rows == []  # the dead one is forgotten


async def test_one_that_lives_keeps_its_job(brain: Brain, write: Write) -> None:
    await brain.work.add_later([write("boiler.txt", "The boiler of the flat.")])
    await take(brain, "boiler.txt", 8)
    assert not await brain.work.worker()._database.fetch("work_without_job")
    async with brain.work.worker()._connector() as connector:
        assert await brain.work.worker().sweep(connector)
    (job,) = await brain.work.jobs()
    assert (job.status, job.lost) == ("running", 0)


async def test_what_kills_worker_after_worker_is_given_up_and_stands_behind_the_others(
    brain: Brain, write: Write
) -> None:
    await brain.work.add_later([write("bad.txt", "It kills."), write("good.txt", "It does not.")])
    worker = brain.work.worker()
    priorities = []
    for _ in range(5):
        await take(brain, "bad.txt", 60)
        async with worker._connector() as connector:
            assert await worker.sweep(connector)
        async with brain._database.transaction() as connection:
            cursor = await connection.execute(
                "SELECT priority FROM emily_jobs.procrastinate_jobs j "
                "JOIN work w ON j.lock = 'work:' || w.id WHERE w.name LIKE '%/bad.txt'"
            )
            priorities += [row["priority"] for row in await cursor.fetchall()]
    assert priorities == [100, 50, 50, 50]
    (failed,) = (job for job in await brain.work.jobs() if job.status == "failed")
    assert (failed.name.rpartition("/")[2], failed.lost) == ("bad.txt", 5)
    assert "killed" in str(failed.error)
    (ended,) = await work_off(brain)
    assert ended.name.endswith("good.txt")
    await brain.work.retry("bad.txt")  # the owner may know better
    (ended,) = await work_off(brain)
    assert ended.status == "done"


@pytest.mark.parametrize("status", ["waiting", "running"])
async def test_work_that_lost_its_job_gets_another(brain: Brain, write: Write, status: str) -> None:
    await brain.work.add_later([write("boiler.txt", "The boiler of the flat.")])
    async with brain._database.transaction() as connection:
        await connection.execute("UPDATE work SET status = %s", [status])
        await connection.execute("DELETE FROM emily_jobs.procrastinate_jobs")
    (ended,) = await work_off(brain)
    assert ended.status == "done"


async def test_a_file_that_changes_while_it_is_indexed_is_indexed_again(
    brain: Brain, write: Write
) -> None:
    path = write("boiler.txt", "The boiler of the flat.")
    await brain.work.add_later([path])
    await take(brain, "boiler.txt", 60)
    path.write_text("The bicycle of the neighbour.")
    await brain.work.add_later([path])  # as the watcher does
    (job,) = await brain.work.jobs()
    assert job.status == "running"
    assert [item.status for item in await work_off(brain)] == ["done"]
    assert (await brain.search("bicycle neighbour")).results
