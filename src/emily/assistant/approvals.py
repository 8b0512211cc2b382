"""Approvals: what a model wants to have done outside waits for the owner's decision.

A wish is recorded with exactly what is to be done. It is decided once, by a person on a surface
that knows who that is, and before it expires; then that is done and nothing else. All of it lies
in the database, so that neither the model nor the program has to wait.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from psycopg.types.json import Jsonb

from emily.assistant.conversations import Conversation
from emily.errors import EmilyError, InputError
from emily.store import Connection, Database, statement

__all__ = ["Action", "Approval", "ApprovalState", "Approvals"]

ApprovalState = Literal["waiting", "approved", "done", "failed", "denied", "expired"]

Action = Callable[[Mapping[str, Any]], Awaitable[str]]
"""Does what was approved, with its arguments; gives what came of it. Doing it twice is the same
as once."""


@dataclass(frozen=True, slots=True)
class Approval:
    """A wish and what became of it.

    Attributes:
        id: its number.
        conversation_id: in which it was asked for.
        client: who asked.
        action: what is to be done.
        arguments: with what, exactly.
        digest: SHA-256 of both, hex: a decision names what it was shown.
        state: ``waiting``; ``approved`` and not done yet; ``done``, ``failed``, ``denied``,
            ``expired``.
        asked_at: when it was asked for.
        expires_at: when it can no longer be decided.
        decided_at: when it was.
        decided_by: who did, and where.
        outcome: what came of it.
    """

    id: int
    conversation_id: UUID
    client: str
    action: str
    arguments: dict[str, Any]
    digest: str
    state: ApprovalState
    asked_at: datetime
    expires_at: datetime
    decided_at: datetime | None
    decided_by: str | None
    outcome: str | None


class Approvals:
    """The one manager of effects outside."""

    def __init__(self, database: Database, actions: Mapping[str, Action], hours: int) -> None:
        """Bind to a database.

        Args:
            database: the store.
            actions: what can be done, by name.
            hours: for which a wish waits.
        """
        self._database = database
        self._actions = actions
        self._hours = hours

    async def ask(
        self, conversation: Conversation, action: str, arguments: Mapping[str, Any]
    ) -> Approval:
        """Ask for an approval; the same wish of a conversation is one, whatever became of it.

        Raises:
            InputError: there is no such action.
            StoreError: the database cannot take it.
        """
        if action not in self._actions:
            raise InputError(f"There is no action {action!r}. Actions: {', '.join(self._actions)}")
        await self._database.execute("expire_approvals")
        digest = _digest(action, arguments)
        values = {
            "key": f"{conversation.id}:{digest}",
            "conversation": conversation.id,
            "client": conversation.client,
            "action": action,
            "arguments": Jsonb(dict(arguments)),
            "digest": digest,
            "hours": self._hours,
        }

        async def write(connection: Connection) -> dict[str, Any] | None:
            return await (await connection.execute(statement("ask_approval"), values)).fetchone()

        row = await self._database.run(write, idempotent=True)
        assert row is not None
        return Approval(**row)

    async def find(
        self, conversation: Conversation, action: str, arguments: Mapping[str, Any]
    ) -> Approval | None:
        """The approval that this conversation has asked for already, if it has."""
        await self._database.execute("expire_approvals")
        key = f"{conversation.id}:{_digest(action, arguments)}"
        row = await self._database.fetch_one("find_approval", {"id": None, "key": key})
        return None if row is None else Approval(**row)

    async def list(self, *, everything: bool = False, limit: int = 100) -> Sequence[Approval]:
        """Those that wait, the latest first; or all."""
        await self._database.execute("expire_approvals")
        values = {"all": everything, "limit": limit}
        return [Approval(**row) for row in await self._database.fetch("list_approvals", values)]

    async def get(self, identity: int) -> Approval:
        """One of them.

        Raises:
            InputError: there is none of that number.
        """
        await self._database.execute("expire_approvals")
        row = await self._database.fetch_one("find_approval", {"id": identity, "key": None})
        if row is None:
            raise InputError(f"There is no approval {identity}. See: emily approvals --all")
        return Approval(**row)

    async def decide(self, identity: int, digest: str, *, approve: bool, by: str) -> Approval:
        """Decide, and do what was approved.

        Args:
            identity: of the approval.
            digest: of what the person was shown.
            approve: whether it is to be done.
            by: who decided, and on which surface.

        Raises:
            InputError: it was decided already, has expired, or is not what was shown.
        """
        values = {
            "id": identity,
            "digest": digest,
            "state": "approved" if approve else "denied",
            "by": by,
        }
        decided = await self._database.execute("decide_approval", values)
        approval = await self.get(identity)
        if not decided:
            if approval.state == "waiting":
                raise InputError(f"Approval {identity} is not what was shown; look at it again.")
            raise InputError(f"Approval {identity} is {approval.state}; it is decided once.")
        return await self._carry_out(approval) if approve else approval

    async def resume(self) -> Sequence[Approval]:
        """Do what was approved before a program ended in the middle of it."""
        found = [item for item in await self.list() if item.state == "approved"]
        return [await self._carry_out(item) for item in found]

    async def _carry_out(self, approval: Approval) -> Approval:
        if _digest(approval.action, approval.arguments) != approval.digest:
            state, outcome = "failed", "what is kept is not what was approved"
        else:
            try:
                outcome = await self._actions[approval.action](approval.arguments)
                state = "done"
            except EmilyError as error:
                state, outcome = "failed", str(error)
        values = {"id": approval.id, "state": state, "outcome": outcome}
        await self._database.execute("close_approval", values)
        return await self.get(approval.id)


def _digest(action: str, arguments: Mapping[str, Any]) -> str:
    text = json.dumps([action, dict(arguments)], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
