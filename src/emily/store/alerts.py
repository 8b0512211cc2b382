"""Alerts: what is wrong with Emily now, kept until it is right again.

They are for failures that look like success: a search that answers, but by half of its parts.
Whoever finds one raises it by a name, and resolves it by that name when it is over.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args

from emily.errors import InputError
from emily.store.database import Connection, Database
from emily.store.statements import statement

__all__ = ["Alert", "AlertLevel", "Alerts"]

AlertLevel = Literal["warning", "critical"]

_KEPT_DAYS = 90  # after they were resolved

_log = logging.getLogger("emily.alerts")


@dataclass(frozen=True, slots=True)
class Alert:
    """Something that is wrong, or was.

    Attributes:
        name: what it is about, such as ``reranker``; one alert is open per name.
        level: ``critical`` where answers are wrong or missing, else ``warning``.
        text: the fact, and the command that helps.
        first_at: when it was raised first.
        last_at: when it was raised last.
        count: how often it was raised.
        acknowledged_at: when the owner took note of it.
        resolved_at: when it was over; ``None`` while it is open.
    """

    name: str
    level: AlertLevel
    text: str
    first_at: datetime
    last_at: datetime
    count: int
    acknowledged_at: datetime | None
    resolved_at: datetime | None


class Alerts:
    """The alerts of one archive."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def raise_alert(self, name: str, level: AlertLevel, text: str) -> Alert:
        """Open an alert, or count on the one that is open under this name.

        One that rises from ``warning`` to ``critical`` is no longer acknowledged. The first
        time is logged as a warning or an error, the others as information.

        Args:
            name: what it is about; small letters, digits, ``_``, ``-`` and ``:`` by custom.
            level: ``warning`` or ``critical``.
            text: the fact, and the command that helps; the latest one is kept.

        Raises:
            InputError: the name or the text is empty, or there is no such level.
            StoreError: the database cannot take it.
        """
        if not name.strip() or not text.strip():
            raise InputError(f"An alert needs a name and a text; they are {name!r} and {text!r}.")
        if level not in get_args(AlertLevel):
            raise InputError(
                f"The level of an alert is {level!r}. Levels: {', '.join(get_args(AlertLevel))}."
            )
        parameters = {"name": name, "level": level, "text": _storable(text)}

        async def write(connection: Connection) -> dict[str, Any] | None:
            cursor = await connection.execute(statement("raise_alert"), parameters)
            return await cursor.fetchone()

        row = await self._database.run(write)
        assert row is not None
        alert = _alert(row)
        if alert.count > 1:
            urgency = logging.INFO
        else:
            urgency = logging.ERROR if level == "critical" else logging.WARNING
        _log.log(urgency, "alert %s (%s): %s", name, level, alert.text)
        return alert

    async def resolve(self, name: str) -> bool:
        """Close the alert of this name, if one is open; tells whether there was one.

        Raises:
            StoreError: the database cannot take it.
        """
        found = await self._database.execute("resolve_alert", {"name": name}) > 0
        if found:
            _log.info("alert %s is resolved", name)
            await self._database.execute("forget_resolved_alerts", {"days": _KEPT_DAYS})
        return found

    async def acknowledge(self, name: str) -> bool:
        """Note that the owner has seen an open alert; tells whether it was news.

        Raises:
            InputError: no alert of this name is open.
            StoreError: the database cannot take it.
        """
        if await self._database.execute("acknowledge_alert", {"name": name}):
            _log.info("alert %s is acknowledged", name)
            return True
        names = [alert.name for alert in await self.open()]
        if name not in names:
            listed = ", ".join(names) or "none"
            raise InputError(f"No alert {name!r} is open. Open alerts: {listed}. See: emily alerts")
        return False

    async def open(self) -> Sequence[Alert]:
        """Those that are not resolved: critical ones first, then the oldest first."""
        return [_alert(row) for row in await self._database.fetch("open_alerts")]

    async def resolved(self, limit: int = 20) -> Sequence[Alert]:
        """Those that are over, the latest first; they are kept for 90 days."""
        rows = await self._database.fetch("resolved_alerts", {"limit": limit})
        return [_alert(row) for row in rows]


def _storable(text: str) -> str:
    """The text without what PostgreSQL refuses; it may quote a file or a question."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


def _alert(row: dict[str, Any]) -> Alert:
    return Alert(**{name: value for name, value in row.items() if name != "id"})
