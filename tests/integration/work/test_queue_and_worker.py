"""Files go into the queue and come out of it as documents, whatever happens meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from procrastinate.exceptions import ConnectorException
from procrastinate.manager import JobManager
from tests.fakes import WordsEmbedder

from emily.brain import Brain
from emily.errors import InputError, ModelUnavailable, UnknownDocument
from emily.work import Done, Due, Failed, Transient, Work
from emily.work.worker import Finished

Write = Callable[[str, str], Path]


async def work_off(brain: Brain, work: Work | None = None) -> list[Finished]:
    """Be a worker until nothing is left that can be done now."""
    ended: list[Finished] = []
    async with asyncio.timeout(60):
        await (work or brain.work).run(asyncio.Event(), until_empty=True, tell=ended.append)
    return ended


async def test_queued_files_become_documents_and_are_found(
    brain: Brain, write: Write, folder: Path
) -> None:
    write("boiler.txt", "The boiler of the flat was serviced in May.")
    write("rent.txt", "The rent is due on the first of the month.")
    write("~$rent.docx", "locked")
    queued = await brain.work.add_later([folder])
    assert (queued.files, queued.workers) == (2, 0)
    assert [item.path.name for item in queued.left_out] == ["~$rent.docx"]
    assert [(job.status, job.attempts) for job in await brain.work.jobs()] == [("waiting", 0)] * 2
    assert not (await brain.search("boiler")).results

    ended = await work_off(brain)

    assert [(item.phase, item.status, item.detail) for item in ended] == [
        ("indexing", "done", "added")
    ] * 2
    assert (await brain.search("boiler serviced")).results[0].document.name == "boiler.txt"
    assert await brain.work.jobs() == []
    done = await brain.work.jobs(("done",))
    assert all(job.document and job.finished_at and job.error is None for job in done)
    counts = await brain.work.counts()
    assert counts.phases == {"indexing": {"done": 2}}


async def test_a_file_that_is_queued_twice_has_one_job(brain: Brain, write: Write) -> None:
    path = write("boiler.txt", "The boiler of the flat.")
    await asyncio.gather(*(brain.work.add_later([path]) for _ in range(5)))
    assert len(await brain.work.jobs()) == 1
    assert len(await work_off(brain)) == 1
    assert len(await brain.list()) == 1


async def test_what_fails_for_good_is_tried_once_and_tells_why(
    brain: Brain, write: Write, folder: Path
) -> None:
    write("good.txt", "A good one.")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing more")
    await brain.work.add_later([folder])
    await work_off(brain)
    (failed,) = await brain.work.jobs()
    assert (failed.name.rpartition("/")[2], failed.status, failed.attempts) == (
        "broken.pdf",
        "failed",
        1,
    )
    assert failed.error
    assert failed.next_at is None
    assert [item.name for item in await brain.list()] == ["good.txt"]


async def test_a_model_that_was_down_is_waited_for(brain: Brain, write: Write) -> None:
    embedder = brain._embedder
    assert isinstance(embedder, WordsEmbedder)
    await brain.work.add_later([write("boiler.txt", "The boiler of the flat.")])
    embedder.down = True
    (ended,) = await work_off(brain)
    assert ended.status == "waiting"
    (job,) = await brain.work.jobs()
    assert (job.status, job.attempts) == ("waiting", 1)
    assert job.next_at is not None
    assert "not there" in str(job.error)
    assert (await brain.status()).documents == 0

    embedder.down = False
    retried = await brain.work.retry("boiler.txt")  # sooner than by itself
    assert [item.id for item in retried.jobs] == [job.id]
    (ended,) = await work_off(brain)
    assert ended.status == "done"
    assert (await brain.status()).documents == 1
    (job,) = await brain.work.jobs(("done",))
    assert job.error is None


async def test_it_is_tried_again_by_itself_when_its_time_has_come(
    brain: Brain, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("emily.work.worker.wait_seconds", lambda _: 0.3)
    embedder = brain._embedder
    assert isinstance(embedder, WordsEmbedder)
    await brain.work.add_later([write("boiler.txt", "The boiler of the flat.")])
    embedder.down = True
    ended: list[Finished] = []

    def tell(finished: Finished) -> None:
        ended.append(finished)
        embedder.down = len(ended) < 2
        if finished.status == "done":
            stop.set()

    stop = asyncio.Event()
    async with asyncio.timeout(60):
        await brain.work.run(stop, tell=tell)
    assert [item.status for item in ended] == ["waiting", "waiting", "done"]


async def test_retry_queues_or_refuses_and_never_merely_clears(
    brain: Brain, write: Write, folder: Path
) -> None:
    good = write("good.txt", "A good one.")
    broken = folder / "broken.pdf"
    broken.write_bytes(b"%PDF-1.7\nnothing more")
    with pytest.raises(InputError, match="Nothing failed"):
        await brain.work.retry(None)
    await brain.work.add_later([folder])
    with pytest.raises(InputError, match="waits for its turn"):
        await brain.work.retry(good)  # type: ignore[arg-type]
    await work_off(brain)
    with pytest.raises(InputError, match="did not fail"):
        await brain.work.retry("good.txt")
    with pytest.raises(UnknownDocument, match="no work on such a file"):
        await brain.work.retry("nowhere.txt")
    (failed,) = await brain.work.jobs()
    assert len((await brain.work.retry(None)).jobs) == 1
    (waiting,) = await brain.work.jobs()
    assert (waiting.status, waiting.error) == ("waiting", failed.error)  # until it is done
    (ended,) = await work_off(brain)
    assert ended.status == "failed"
    broken.unlink()
    with pytest.raises(InputError, match="not there any more"):
        await brain.work.retry(str(broken))
    (still,) = await brain.work.jobs()
    assert (still.status, still.error) == ("failed", failed.error)


async def test_what_an_add_could_not_read_can_be_retried(brain: Brain, folder: Path) -> None:
    broken = folder / "broken.pdf"
    broken.write_bytes(b"%PDF-1.7\nnothing more")
    await brain.add([folder])
    (failed,) = await brain.work.jobs()
    assert failed.status == "failed"
    broken.write_text("It is text now.")
    await brain.work.retry("broken.pdf")
    (ended,) = await work_off(brain)
    assert ended.status == "done"
    assert str(ended.detail).startswith("added")


class Analysis:
    """A later phase: every document is due once; some cannot be done."""

    name = "analysis"

    def __init__(self, brain: Brain) -> None:
        self._brain = brain
        self.done: list[int] = []
        self.log: list[str] = []
        self.fails: dict[int, Exception] = {}

    async def due(self) -> Sequence[Due]:
        return [Due(i.id, "1") for i in await self._brain.list() if i.id not in self.done]

    async def perform(self, document: int) -> Done:
        self.log.append(f"analysis {document}")
        if document in self.fails:
            raise self.fails[document]
        self.done.append(document)
        return Done(document, "analysed")


def with_analysis(brain: Brain) -> tuple[Work, Analysis]:
    phase = Analysis(brain)

    async def add(path: Path) -> Sequence[object]:
        phase.log.append("indexing")
        return await brain._take_in([path], (), lambda _: None)

    work = Work(brain._database, brain.settings, brain.alerts, add, [phase])  # type: ignore[arg-type]
    return work, phase


async def test_no_file_stands_behind_an_analysis(brain: Brain, write: Write) -> None:
    work, phase = with_analysis(brain)
    await brain.add([write("first.txt", "One that is indexed already.")])
    (first,) = await brain.list()
    await work.queue.add_documents([Due(first.id, "1")], "analysis")
    for number in range(6):
        await work.add_later([write(f"{number}.txt", f"Number {number} waits to be indexed.")])
    await work_off(brain, work)
    assert phase.log[:6] == ["indexing"] * 6
    assert len(phase.log) == 13
    assert sorted(phase.done) == [item.id for item in await brain.list()]


async def test_a_later_phase_follows_and_its_failures_are_its_own(
    brain: Brain, write: Write
) -> None:
    work, phase = with_analysis(brain)
    await brain.add([write(f"{n}.txt", f"Document number {n}.") for n in range(3)])
    one, two, three = (item.id for item in await brain.list())
    phase.fails = {
        one: Failed("It has no sentence."),
        two: ModelUnavailable("The chat model is away."),
    }
    await work_off(brain, work)
    found = {job.document: job for job in await work.jobs() if job.phase == "analysis"}
    assert (found[one].status, found[one].error) == ("failed", "It has no sentence.")
    assert (found[two].status, found[two].error) == ("waiting", "The chat model is away.")
    assert phase.done == [three]
    await work_off(brain, work)  # the one that failed for good is not tried again by itself
    assert phase.log.count(f"analysis {one}") == 1
    phase.fails = {two: Transient("busy")}
    await work.retry(one)
    await work_off(brain, work)
    assert sorted(phase.done) == [one, three]


async def test_a_fault_of_ours_fails_one_job_and_ends_no_worker(brain: Brain, write: Write) -> None:
    work, phase = with_analysis(brain)
    await brain.add([write(f"{n}.txt", f"Document number {n}.") for n in range(2)])
    one, two = (item.id for item in await brain.list())
    phase.fails = {one: ZeroDivisionError("division by zero")}
    await work_off(brain, work)
    assert phase.done == [two]
    (job,) = (job for job in await work.jobs() if job.phase == "analysis")
    assert str(job.error).startswith("Unexpected error, ZeroDivisionError")


async def test_work_on_a_document_that_is_removed_goes_with_it(brain: Brain, write: Write) -> None:
    work, _ = with_analysis(brain)
    await brain.add([write("boiler.txt", "The boiler.")])
    (item,) = await brain.list()
    await work.queue.add_documents([Due(item.id, "1")], "analysis")
    await brain.remove(item.id)
    await work_off(brain, work)
    assert await work.jobs(("waiting", "running", "failed", "done")) == []


async def test_a_worker_that_is_told_to_end_gives_its_job_back(
    brain: Brain, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("emily.work.worker._CLOSE_SECONDS", 0.2)
    begun = asyncio.Event()

    async def add(path: Path) -> Sequence[object]:
        begun.set()
        await asyncio.sleep(60)
        return ()

    work = Work(brain._database, brain.settings, brain.alerts, add)  # type: ignore[arg-type]
    await work.add_later([write("boiler.txt", "The boiler.")])
    stop = asyncio.Event()
    async with asyncio.timeout(30):
        running = asyncio.create_task(work.run(stop))
        await begun.wait()
        assert [job.status for job in await work.jobs()] == ["running"]
        assert (await work.counts()).workers == 1
        stop.set()
        await running
    (job,) = await work.jobs()
    assert (job.status, job.error) == ("waiting", None)
    assert (await work.counts()).workers == 0
    (ended,) = await work_off(brain)
    assert ended.status == "done"


async def test_a_delay_raises_an_alert_until_it_is_over(
    brain: Brain, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("emily.work.worker.wait_seconds", lambda _: 0.05)
    monkeypatch.setattr("emily.work.worker._SWEEP_SECONDS", 0.1)
    embedder = brain._embedder
    assert isinstance(embedder, WordsEmbedder)
    embedder.down = True
    await brain.work.add_later([write("boiler.txt", "The boiler of the flat.")])
    stop = asyncio.Event()
    async with asyncio.timeout(60):
        running = asyncio.create_task(brain.work.run(stop))
        while not (found := [a for a in await brain.alerts.open() if a.name == "work:indexing"]):
            await asyncio.sleep(0.1)
        assert "1 job waits for indexing" in found[0].text
        embedder.down = False
        while [a for a in await brain.alerts.open() if a.name == "work:indexing"]:
            await asyncio.sleep(0.1)
        stop.set()
        await running
    assert len(await brain.list()) == 1


async def test_when_an_outage_is_over_nothing_waits_any_longer(
    brain: Brain, write: Write, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wait of each has grown to ten minutes; one tries, and all others follow it."""
    monkeypatch.setattr("emily.work.worker.wait_seconds", lambda _: 600.0)
    monkeypatch.setattr("emily.work.worker._SWEEP_SECONDS", 0.1)
    embedder = brain._embedder
    assert isinstance(embedder, WordsEmbedder)
    embedder.down = True
    for number in range(4):
        write(f"{number}.txt", f"The boiler of flat {number}.")
    await brain.work.add_later([folder])
    ended = await work_off(brain)
    assert [item.status for item in ended] == ["waiting"] * 4
    # While it lasts, one tries now and then, and the others keep their time.
    stop = asyncio.Event()
    async with asyncio.timeout(60):
        running = asyncio.create_task(brain.work.run(stop, tell=ended.append))
        await asyncio.sleep(0.5)
        assert len(ended) == 4, "nothing is tried within a minute of the last attempt"
        monkeypatch.setattr("emily.work.worker._PROBE_SECONDS", 0.3)
        while len(ended) < 6:
            await asyncio.sleep(0.05)
        assert sorted(job.attempts for job in await brain.work.jobs()) <= [1, 1, 2, 3]
        embedder.down = False
        while await brain.work.jobs():
            await asyncio.sleep(0.05)
        stop.set()
        await running
    assert len(await brain.list()) == 4


async def test_a_job_that_ended_and_could_not_be_taken_away_stops_nothing(
    brain: Brain, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a full disk the queue cannot note that a job ended; the worker lives and goes on."""
    monkeypatch.setattr("emily.work.worker.wait_seconds", lambda _: 0.1)
    monkeypatch.setattr("emily.work.worker._SWEEP_SECONDS", 0.1)
    embedder = brain._embedder
    assert isinstance(embedder, WordsEmbedder)
    embedder.down = True
    finish = JobManager.finish_job
    refused: list[object] = []

    async def full(self: JobManager, *arguments: object) -> None:
        if len(refused) < 2:
            refused.append(arguments)
            embedder.down = len(refused) < 2
            raise ConnectorException("No space left on device")
        await finish(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(JobManager, "finish_job", full)
    await brain.work.add_later([write("boiler.txt", "The boiler of the flat.")])
    stop = asyncio.Event()
    async with asyncio.timeout(60):
        running = asyncio.create_task(brain.work.run(stop))
        while [job.status for job in await brain.work.jobs(("done",))] != ["done"]:
            await asyncio.sleep(0.05)
        stop.set()
        await running
    assert len(refused) == 2
    (job,) = await brain.work.jobs(("done",))
    assert (job.attempts, job.lost) == (3, 0)
