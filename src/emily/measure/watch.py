"""The watch: what happens after an answer was given, in the background, without delaying it.

Each question of the owner's goes into the log; after every so many the standing checks run.
Nothing of it can fail a search: what goes wrong is logged and raises an alert.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from emily.errors import EmilyError
from emily.measure.query_log import QueryLog
from emily.store.alerts import Alerts

__all__ = ["CHECK_EVERY", "Watch"]

CHECK_EVERY = 25
"""Questions from one run of the standing checks to the next: a window of 50 moves by half."""

_CLOSING_SECONDS = 5.0  # a database that hangs must not keep the program

_log = logging.getLogger("emily.watch")

Check = Callable[[], Awaitable[object]]


class Watch:
    """Writes the log of one brain and starts its standing checks."""

    def __init__(self, log: QueryLog, alerts: Alerts, check: Check) -> None:
        """Bind to an archive.

        Args:
            log: to write to.
            alerts: to raise when that fails.
            check: runs the standing checks and raises their alerts itself.
        """
        self._query_log = log
        self._alerts = alerts
        self._check = check
        self._tasks: set[asyncio.Task[None]] = set()
        self._failed: bool | None = None  # unknown, until something was written

    def note(self, entry: Callable[[], Mapping[str, Any]]) -> None:
        """Write an entry of the log soon; returns at once and raises nothing.

        Args:
            entry: makes the parameters of ``QueryLog.write``.
        """
        task = asyncio.create_task(self._note(entry))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def settle(self) -> None:
        """Wait for what is under way, for a few seconds at most; the rest is given up."""
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=_CLOSING_SECONDS)
            for task in late:
                task.cancel()
            if late:
                _log.warning(
                    "%d entries of the query log were given up: the database hangs", len(late)
                )
                await asyncio.wait(late, timeout=1.0)

    async def _note(self, entry: Callable[[], Mapping[str, Any]]) -> None:
        try:
            place = await self._query_log.write(entry())
        except Exception as error:  # noqa: BLE001 - the answer is given; this must not end it
            _log.warning("the query log could not be written: %s", error)
            if not self._failed:
                with suppress(EmilyError):  # of the database, which the log has told of
                    await self._alerts.raise_alert(
                        "query_log",
                        "warning",
                        f"A question could not be written to the query log: {error} The standing "
                        "checks see nothing of it. See: emily doctor",
                    )
            self._failed = True
            return
        if self._failed is not False:
            self._failed = False
            with suppress(EmilyError):
                await self._alerts.resolve("query_log")
        if place % CHECK_EVERY == 0:
            try:
                await self._check()
            except Exception as error:  # noqa: BLE001 - as above
                _log.warning("the standing checks could not run: %s", error)
