"""Residency: a model that is large is loaded at its first use and let go when nobody asks."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Generic, TypeVar

__all__ = ["IDLE_SECONDS", "Resident", "off_the_loop"]

T = TypeVar("T")

IDLE_SECONDS = 30 * 60.0
"""A model that nobody asked for so long gives its memory back."""


class Resident(Generic[T]):
    """Holds one model: loads it once, serves one caller at a time, releases it when idle."""

    def __init__(
        self,
        load: Callable[[], T],
        *,
        idle_seconds: float = IDLE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare without loading.

        Args:
            load: makes the model; what it raises reaches the caller, and the next one tries
                again.
            idle_seconds: after the last use it is released.
            clock: seconds from any point on.
        """
        self._load = load
        self._idle = idle_seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._model: T | None = None
        self._used = 0.0
        self._closing = False
        self._timer: threading.Timer | None = None

    @property
    def idle_seconds(self) -> float:
        """After the last use it is released."""
        return self._idle

    @property
    def loaded(self) -> bool:
        """Whether the model is in memory."""
        return self._model is not None

    @contextmanager
    def use(self, seconds: float) -> Iterator[T]:
        """The model, for this caller alone; loaded if it is not there.

        Args:
            seconds: longest wait for whoever has it.

        Raises:
            TimeoutError: it was not free within that time.
        """
        if not self._lock.acquire(timeout=max(0.0, seconds)):
            raise TimeoutError
        try:
            if self._model is None:
                self._model = self._load()
            yield self._model
        finally:
            self._used = self._clock()
            if self._closing:
                self._forget()
            if self._model is not None and self._timer is None:
                self._wake_in(self._idle)
            self._lock.release()

    def release_if_idle(self) -> bool:
        """Let the model go if it was not used for long; tells whether it is gone."""
        if not self._lock.acquire(blocking=False):
            return False  # it is in use
        try:
            if self._model is None:
                return True
            if self._clock() - self._used < self._idle:
                return False
            self._forget()
            return True
        finally:
            self._lock.release()

    def close(self) -> None:
        """Let the model go now, or as soon as whoever has it gives it back."""
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
        self._closing = True
        if self._lock.acquire(blocking=False):
            try:
                self._forget()
            finally:
                self._lock.release()

    def _forget(self) -> None:
        self._model, self._closing = None, False
        gc.collect()  # networks hold cycles, and their weights with them

    def _wake_in(self, seconds: float) -> None:
        self._timer = threading.Timer(seconds, self._awake)
        self._timer.daemon = True
        self._timer.start()

    def _awake(self) -> None:
        if self._timer is None:  # closed meanwhile
            return
        self._timer = None
        if not self.release_if_idle():
            self._wake_in(max(1.0, self._idle - (self._clock() - self._used)))


async def off_the_loop(work: Callable[[], T]) -> T:
    """Run what blocks in a thread of its own, which keeps no program from ending.

    The pool of ``asyncio.to_thread`` is waited for when a program ends, and a model that takes
    minutes to load would hold up a command whose answer is long there.
    """
    loop = asyncio.get_running_loop()
    result: asyncio.Future[T] = loop.create_future()

    def settle(value: T | None, error: BaseException | None) -> None:
        if result.done():  # nobody waits any more
            return
        if error is not None:
            result.set_exception(error)
        else:
            result.set_result(value)  # type: ignore[arg-type]  # None only where T is

    def run() -> None:
        value: T | None = None
        failure: BaseException | None = None
        try:
            value = work()
        except BaseException as error:  # noqa: BLE001 - it is the caller's
            failure = error
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(settle, value, failure)

    threading.Thread(target=run, name="emily-model", daemon=True).start()
    return await result
