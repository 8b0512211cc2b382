"""A large model: loaded once behind a lock, one caller at a time, gone when nobody asks."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from emily.models.residency import Resident, off_the_loop


class Model:
    pass


def test_callers_at_once_load_it_once_and_have_it_in_turn() -> None:
    loads: list[int] = []
    inside: list[int] = []
    most: list[int] = []

    def load() -> Model:
        loads.append(1)
        time.sleep(0.05)
        return Model()

    resident = Resident(load)

    def use(_: int) -> Model:
        with resident.use(60) as model:
            inside.append(1)
            most.append(len(inside))
            time.sleep(0.01)
            inside.pop()
            return model

    with ThreadPoolExecutor(8) as pool:
        models = list(pool.map(use, range(16)))
    assert len(loads) == 1
    assert len(set(map(id, models))) == 1
    assert max(most) == 1
    resident.close()
    assert not resident.loaded


def test_a_load_that_fails_is_tried_again() -> None:
    outcomes = [OSError("no file"), Model()]

    def load() -> Model:
        outcome = outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    resident = Resident(load)
    with pytest.raises(OSError, match="no file"), resident.use(1):
        pass
    assert not resident.loaded
    with resident.use(1) as model:
        assert isinstance(model, Model)
    resident.close()


def test_who_waits_too_long_for_it_is_told() -> None:
    resident = Resident(Model)
    with resident.use(1), pytest.raises(TimeoutError), resident.use(0.01):
        pass
    resident.close()


def test_it_is_not_taken_from_whoever_has_it() -> None:
    now = [0.0]
    resident = Resident(Model, idle_seconds=10, clock=lambda: now[0])
    with resident.use(1):
        now[0] = 100.0
        assert not resident.release_if_idle()
        resident.close()
        assert resident.loaded
    assert not resident.loaded


def test_it_goes_by_itself_when_nobody_asked_for_long() -> None:
    resident = Resident(Model, idle_seconds=0.05)
    with resident.use(1):
        pass
    gone = threading.Event()
    for _ in range(600):
        if not resident.loaded:
            gone.set()
            break
        time.sleep(0.05)
    assert gone.is_set()


async def test_the_loop_goes_on_while_a_thread_works() -> None:
    blocked, ticks = threading.Event(), 0

    async def tick() -> None:
        nonlocal ticks
        while not blocked.is_set():
            ticks += 1
            if ticks == 5:
                blocked.set()
            await asyncio.sleep(0)

    work = asyncio.create_task(off_the_loop(lambda: blocked.wait(60)))
    await tick()
    assert await work is True
    assert ticks >= 5


async def test_what_a_thread_raises_reaches_the_caller() -> None:
    def fail() -> None:
        raise LookupError("nothing there")

    with pytest.raises(LookupError, match="nothing there"):
        await off_the_loop(fail)


async def test_nobody_needs_to_wait_for_a_thread() -> None:
    ended = threading.Event()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.02):
            await off_the_loop(lambda: ended.wait(60))
    ended.set()
