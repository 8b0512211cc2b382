"""Pinned questions: "this must find that document", asked again after every change of the index."""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from emily.errors import InputError, StoreUnavailable
from emily.measure.checks import Check
from emily.measure.loss import loss_of
from emily.retrieval.answer import Answer
from emily.retrieval.precedents import Precedents
from emily.store import Connection, Database, statement
from emily.store.alerts import Alerts

__all__ = ["Pin", "Pins"]

Search = Callable[[str], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Pin:
    """A question with the document that it must find.

    Attributes:
        id: to remove it by.
        question: what is asked.
        document_id: the document; ``None`` where it is no longer in the archive.
        name: of the document.
        path: of its file.
        pinned_at: when it was pinned.
        checked_at: when it was asked last; ``None`` if never.
        rank: place of the document among those that were shown; ``None`` if it was not.
        lost_by: the stage that lost it; ``archive`` where the document is gone.
    """

    id: int
    question: str
    document_id: int | None
    name: str
    path: str
    pinned_at: datetime
    checked_at: datetime | None
    rank: int | None
    lost_by: str | None

    @property
    def found(self) -> bool | None:
        """Whether the document was shown; ``None`` if the question was never asked."""
        return None if self.checked_at is None else self.rank is not None


class Pins:
    """The pinned questions of one archive."""

    def __init__(self, database: Database, search: Search, alerts: Alerts) -> None:
        """Bind to an archive.

        Args:
            database: the store.
            search: answers a question, unseen by the query log.
            alerts: where a lost document is told of.
        """
        self._database = database
        self._search = search
        self._alerts = alerts
        self._precedents = Precedents(database)

    async def add(self, question: str, document: int, name: str, path: str) -> Pin:
        """Pin a question to a document, and ask it.

        Args:
            question: what is asked.
            document: id of the document that it must find.
            name: of the document.
            path: of its file.

        Raises:
            InputError: the question is empty or pinned to this document already.
            EmilyError: as in ``Brain.search``.
        """
        asked = (await self._search(question)).query  # folded, and it can be searched at all
        values = {"question": asked, "document_id": document, "name": name, "path": path}

        async def write(connection: Connection) -> dict[str, Any] | None:
            cursor = await connection.execute(statement("add_pin"), values)
            return await cursor.fetchone()

        row = await self._database.run(write)
        if row is None:
            raise InputError(f"{asked!r} is pinned to {name} already. See: emily pins")
        await self.check(row["id"])
        return next(pin for pin in await self.list() if pin.id == row["id"])

    async def list(self) -> Sequence[Pin]:
        """All of them, the oldest first, with what was found when they were asked last."""
        return [Pin(**row) for row in await self._database.fetch("list_pins")]

    async def remove(self, identity: int) -> Pin:
        """Forget a pinned question, and the alert that it may have raised.

        Raises:
            InputError: there is no such one.
        """
        for pin in await self.list():
            if pin.id == identity:
                await self._database.execute("remove_pin", {"id": identity})
                await self._alerts.resolve(_alert_name(pin))
                return pin
        raise InputError(f"No pinned question has the id {identity}. See: emily pins")

    async def check(self, identity: int | None = None) -> Sequence[Pin]:
        """Ask all pinned questions, or one; raise an alert for what is lost, resolve for found.

        Raises:
            StoreUnavailable: the database cannot be reached.
            EmilyError: as in ``Brain.search``.
        """
        # A document that came back under the path it had is the pinned one.
        await self._database.execute("rebind_pins")
        asked = [pin for pin in await self.list() if identity in (None, pin.id)]
        for pin in asked:
            rank, stage = await self._ask(pin)
            values = {"id": pin.id, "rank": rank, "lost_by": stage}
            await self._database.execute("note_pin", values)
        ids = {pin.id for pin in asked}
        seen = [pin for pin in await self.list() if pin.id in ids]
        for pin in seen:
            if pin.found:
                await self._alerts.resolve(_alert_name(pin))
            else:
                await self._alerts.raise_alert(_alert_name(pin), "warning", lost(pin))
        return seen

    async def _ask(self, pin: Pin) -> tuple[int | None, str | None]:
        if pin.document_id is None:
            return None, "archive"
        answer = await self._search(pin.question)
        await self._precedents.note(pin.question, answer.signs, answered=True)
        found = loss_of(answer, pin.document_id)
        return found.rank, found.stage

    async def notices(self) -> tuple[str, ...]:
        """Ask them after a change of the index: a sentence for each that is lost, or found again.

        Nothing where there are none. A question that cannot be asked is told of and raises
        nothing, for the change itself went well.
        """
        before = {pin.id: pin for pin in await self.list()}
        if not before:
            return ()
        try:
            seen = await self.check()
        except StoreUnavailable:
            raise
        except Exception as error:  # noqa: BLE001 - the change is done, and must be reported
            return (f"The pinned questions could not be asked: {error}",)
        told = [
            lost(pin, found_before=pin.id in before and before[pin.id].found is True)
            for pin in seen
            if not pin.found
        ]
        for pin in seen:
            if pin.found and before[pin.id].found is False:
                told.append(f"The pinned question {pin.question!r} finds {pin.name} again.")
        return tuple(told)

    async def standing(self) -> Check:
        """Ask them all, as a check of the doctor."""
        if not await self.list():
            return Check("pins", True, "no question is pinned")
        try:
            seen = await self.check()
        except Exception as error:  # noqa: BLE001 - the doctor goes on with the other parts
            return Check("pins", False, f"The pinned questions could not be asked: {error}")
        gone = [lost(pin) for pin in seen if not pin.found]
        if gone:
            return Check("pins", False, " ".join(gone), "emily pins")
        noun = "question finds its document" if len(seen) == 1 else "questions find their documents"
        return Check("pins", True, f"{len(seen)} pinned {noun}")


def lost(pin: Pin, *, found_before: bool = False) -> str:
    """The sentence about a pinned question whose document is not found.

    Args:
        pin: as it was asked last.
        found_before: whether it is known to have found its document before.
    """
    if pin.document_id is None:
        return (
            f"The pinned question {pin.question!r} has lost its document: {pin.name} is no longer "
            f"in the archive. Add it again, bring it back out of the trash, or: emily pins "
            f"--remove {pin.id}"
        )
    finds = "no longer finds" if found_before else "does not find"
    # A question that begins with a minus would be read as an option.
    asked, document = shlex.quote(pin.question), f"--doc {pin.document_id}"
    dashed = pin.question.startswith("-")
    command = f"emily why {document} -- {asked}" if dashed else f"emily why {asked} {document}"
    return (
        f"The pinned question {pin.question!r} {finds} {pin.name}; lost by: {pin.lost_by}. "
        f"See: {command}"
    )


def _alert_name(pin: Pin) -> str:
    return f"pin:{pin.id}"
