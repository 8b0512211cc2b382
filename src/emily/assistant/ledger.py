"""The ledger of what left for a model: when, to whom, which documents, how much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any, Literal
from uuid import UUID

from emily.store import Connection, Database, statement

__all__ = ["Egress", "EgressEntry", "EgressTotal", "Grouping", "Role", "SentDocument"]

Role = Literal["assistant", "chat", "vision", "embedding", "reranking", "ocr"]
Grouping = Literal["day", "client", "document"]


@dataclass(frozen=True, slots=True)
class SentDocument:
    """A document of which something was sent.

    Attributes:
        id: of the document; it may be gone by now.
        name: as it was called then.
        places: what was sent of it, as it was cited: ``page 3``, ``lines 10-24``, ``summary``.
        characters: how many, its name and description included.
    """

    id: int
    name: str
    places: tuple[str, ...]
    characters: int


@dataclass(frozen=True, slots=True)
class EgressEntry:
    """One thing that was sent.

    Attributes:
        id: in the order of sending.
        at: when it was written down, just before it left.
        role: what it was sent for: a tool of the assistant, or a model on a server.
        client: who got it: a client by its name, or a server.
        local: whether the owner calls that a part of this machine.
        conversation_id: the conversation, of a tool.
        tool: which tool.
        characters: of the whole text that was sent.
        bytes: of pictures.
        documents: what of it came from documents.
    """

    id: int
    at: datetime
    role: Role
    client: str
    local: bool
    conversation_id: UUID | None
    tool: str | None
    characters: int
    bytes: int
    documents: tuple[SentDocument, ...]


@dataclass(frozen=True, slots=True)
class EgressTotal:
    """What was sent on one day, to one client or of one document.

    Attributes:
        key: the day, the client's name or the document's id.
        name: of the document, where it is one.
        calls: how many things were sent.
        characters: all of them together.
        bytes: of pictures.
        last_at: when the last one was.
    """

    key: str
    name: str | None
    calls: int
    characters: int
    bytes: int
    last_at: datetime


class Egress:
    """The ledger of one archive."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def record(
        self,
        role: Role,
        client: str,
        *,
        characters: int,
        local: bool = False,
        conversation: UUID | None = None,
        tool: str | None = None,
        bytes: int = 0,  # noqa: A002
        documents: Sequence[SentDocument] = (),
    ) -> int:
        """Write down what is about to be sent; gives the entry's id.

        A conversation may open from now on the documents of which it is shown something: that is
        written in the same transaction. Nothing may be sent where this raises.

        Raises:
            StoreError: it could not be written down.
        """
        values = {
            "role": role,
            "client": client,
            "local": local,
            "conversation": conversation,
            "tool": tool,
            "characters": characters,
            "bytes": bytes,
        }

        async def write(connection: Connection) -> int:
            row = await (await connection.execute(statement("record_egress"), values)).fetchone()
            assert row is not None
            identity = int(row["id"])
            if documents:
                await connection.execute(
                    statement("record_egress_documents"),
                    {
                        "egress": identity,
                        "documents": [item.id for item in documents],
                        "names": [item.name for item in documents],
                        "places": ["\n".join(item.places) for item in documents],
                        "characters": [item.characters for item in documents],
                    },
                )
                if conversation is not None:
                    await connection.execute(
                        statement("show_documents"),
                        {"id": conversation, "documents": [item.id for item in documents]},
                    )
            return identity

        return await self._database.run(write)

    async def entries(
        self,
        *,
        since: date | None = None,
        until: date | None = None,
        client: str | None = None,
        document: int | None = None,
        limit: int = 50,
    ) -> Sequence[EgressEntry]:
        """What was sent, the latest first.

        Args:
            since: from the first moment of this day on.
            until: up to the last moment of this day.
            client: to this client alone.
            document: of this document alone, as it was numbered.
            limit: so many at most.
        """
        values = {**_span(since, until), "client": client, "document": document, "limit": limit}
        return [_entry(row) for row in await self._database.fetch("list_egress", values)]

    async def totals(
        self,
        by: Grouping,
        *,
        since: date | None = None,
        until: date | None = None,
        client: str | None = None,
    ) -> Sequence[EgressTotal]:
        """What was sent, added up by day, client or document; arguments as in ``entries``."""
        values: dict[str, Any] = {**_span(since, until), "client": client}
        if by == "day":  # as the owner's clock has it
            values["offset"] = datetime.now().astimezone().utcoffset()
        rows = await self._database.fetch(f"egress_by_{by}", values)
        return [EgressTotal(**{"name": None, **row}) for row in rows]

    async def clear(self, before: date | None = None) -> int:
        """Forget the entries from before a day, or all; gives how many there were."""
        return await self._database.execute("clear_egress", {"before": _start(before)})


def _span(since: date | None, until: date | None) -> dict[str, datetime | None]:
    return {
        "since": _start(since),
        "until": None if until is None else _start(until + timedelta(days=1)),
    }


def _start(day: date | None) -> datetime | None:
    """The first moment of a day where the owner is."""
    return None if day is None else datetime.combine(day, time()).astimezone()


def _entry(row: dict[str, Any]) -> EgressEntry:
    sent = [
        SentDocument(number, name, tuple(places), characters)
        for number, name, places, characters in row.pop("documents")
    ]
    return EgressEntry(**row, documents=tuple(sent))
