"""Conversations with models: who has them, and which documents each was shown.

The set of documents that a conversation may open is kept here, in the database, by the code
alone: nothing that a document or a model says adds to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4, uuid5

from emily.errors import InputError
from emily.store import Connection, Database, statement

__all__ = ["Client", "Conversation", "Conversations", "conversation_of"]

_SESSIONS = UUID("5a2c2f0e-7c0b-4f1e-9d0a-3b6f8f1d9a41")
"""Namespace of conversations that are known by a client's own session."""


@dataclass(frozen=True, slots=True)
class Client:
    """Who asks: a program that was let in.

    Attributes:
        name: as the owner set it up, by a token or in the client's own settings; never what the
            client calls itself.
        local: whether the owner says that what it is sent stays on this machine.
        declared: what it calls itself, for the ledger alone.
    """

    name: str
    local: bool = False
    declared: str | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation of a client.

    Attributes:
        id: to go on with it.
        client: whose it is.
        declared: what that client calls itself.
        runtime: session of the agent's runtime, where there is one.
        title: its first words, where they are known.
        forked_from: the conversation that it was copied from.
        started_at: when it began.
        last_at: when something was last asked in it.
    """

    id: UUID
    client: str
    declared: str | None
    runtime: str | None
    title: str | None
    forked_from: UUID | None
    started_at: datetime
    last_at: datetime


def conversation_of(client: str, session: str) -> UUID:
    """The id of the conversation that a client knows by a session of its own.

    Args:
        client: its name; another client's session of the same name is another conversation.
        session: as the client names it.
    """
    return uuid5(_SESSIONS, f"{client}\n{session}")


class Conversations:
    """The conversations of one archive."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def open(self, client: Client, identity: UUID | None = None) -> Conversation:
        """Begin a conversation, or go on with one: then it may open what it was shown before.

        Args:
            client: whose it is.
            identity: of the one to go on with; a new one by default.

        Raises:
            InputError: it is another client's.
            StoreError: the database cannot take it.
        """
        values = {
            "id": identity or uuid4(),
            "client": client.name,
            "declared": _storable(client.declared),
        }
        row = await self._one("open_conversation", values)
        if row is None:
            raise InputError(f"The conversation {identity} is not one of {client.name!r}.")
        return Conversation(**row)

    async def fork(
        self, client: Client, identity: UUID, until: datetime | None = None
    ) -> Conversation:
        """A copy of a conversation, which may open what that one was shown so far.

        Args:
            client: whose it is.
            identity: of the conversation.
            until: as it was at that moment; now by default.

        Raises:
            InputError: there is none of that id, or it is another client's.
            StoreError: the database cannot take it.
        """
        values = {"id": identity, "fork": uuid4(), "client": client.name, "until": until}

        async def write(connection: Connection) -> dict[str, Any] | None:
            cursor = await connection.execute(statement("fork_conversation"), values)
            row = await cursor.fetchone()
            if row is not None:
                await connection.execute(statement("fork_shown_documents"), values)
            return row

        row = await self._database.run(write)
        if row is None:
            raise InputError(f"There is no conversation {identity} of {client.name!r}.")
        return Conversation(**row)

    async def drop(self, identity: UUID) -> None:
        """Let a conversation be gone; what left in it stays in the ledger."""
        await self._database.execute("drop_conversation", {"id": identity})

    async def list(self, client: str | None = None, limit: int = 50) -> Sequence[Conversation]:
        """Conversations, the latest first; those of one client, or of all."""
        values = {"client": client, "limit": limit}
        rows = await self._database.fetch("list_conversations", values)
        return [Conversation(**row) for row in rows]

    async def note(
        self, identity: UUID, *, runtime: str | None = None, title: str | None = None
    ) -> None:
        """Note the session of the runtime, and the first words; a title stays as it is."""
        values = {"id": identity, "runtime": runtime, "title": _storable(title)}
        await self._database.execute("note_conversation", values)

    async def shown(self, identity: UUID) -> tuple[int, ...]:
        """The documents that the conversation may open, in the order in which they came up."""
        rows = await self._database.fetch("shown_documents", {"id": identity})
        return tuple(row["document_id"] for row in rows)

    async def _one(self, name: str, values: dict[str, Any]) -> dict[str, Any] | None:
        async def write(connection: Connection) -> dict[str, Any] | None:
            return await (await connection.execute(statement(name), values)).fetchone()

        return await self._database.run(write, idempotent=True)


def _storable(text: str | None) -> str | None:
    """The text as the database takes it: a client may call itself anything."""
    if text is None:
        return None
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")[:200]
