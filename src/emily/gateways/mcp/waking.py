"""The brain of a server that answers before it is open: it wakes in the background."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import TYPE_CHECKING

from emily.errors import EmilyError, StoreUnavailable

if TYPE_CHECKING:
    from emily.brain import Brain

__all__ = ["OpenBrain", "Waking", "awake"]

OpenBrain = Callable[[], AbstractAsyncContextManager["Brain"]]
Tell = Callable[[float, str], Awaitable[None]]

_LOOK_SECONDS = 0.5

_log = logging.getLogger("emily.mcp")


class Waking:
    """A brain that is opened in the background, and again after a failure."""

    def __init__(self, open_brain: OpenBrain) -> None:
        self._open = open_brain
        self._brain: Brain | None = None
        self._task: asyncio.Task[None] | None = None
        self._failure: EmilyError | None = None
        self._close = asyncio.Event()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Wake it up; close it at the end."""
        self._wake()
        try:
            yield
        finally:
            self._close.set()
            if self._task is not None:
                if self._brain is None:
                    self._task.cancel()
                with suppress(asyncio.CancelledError):
                    await self._task

    async def brain(self, seconds: float, tell: Tell) -> Brain:
        """The open brain.

        Args:
            seconds: longest wait.
            tell: told the seconds that were waited and what for.

        Raises:
            StoreUnavailable: it is not open yet.
            EmilyError: why it cannot be opened; the next call tries again.
        """
        started = time.monotonic()
        while self._brain is None:
            if self._task is None or self._task.done():
                if self._failure is not None:
                    failure, self._failure, self._task = self._failure, None, None
                    raise failure
                self._wake()
            waited = time.monotonic() - started
            if waited > seconds:
                raise StoreUnavailable(
                    f"The archive is still being opened; it was waited for {waited:.0f} s and "
                    "nothing was looked for. Ask again in a moment."
                )
            await tell(waited, "opening the archive")
            await asyncio.sleep(min(_LOOK_SECONDS, max(0.01, seconds - waited)))
        return self._brain

    def _wake(self) -> None:
        self._task = asyncio.create_task(self._awake())

    async def _awake(self) -> None:
        try:
            async with self._open() as brain:
                self._brain = brain
                _log.info("the archive is open")
                await self._close.wait()
        except EmilyError as error:
            _log.warning("the archive cannot be opened: %s", error)
            self._failure = error
        finally:
            self._brain = None


def awake(brain: Brain) -> Waking:
    """A brain that is open already, and stays so; it is closed by whoever opened it."""

    @asynccontextmanager
    async def given() -> AsyncIterator[Brain]:
        yield brain

    return Waking(given)
