"""Memories in an export, and back: what is so, what was, and what the owner has declined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from emily.store import Connection, Database, statement

__all__ = ["exported_memories", "take_memories"]

_KEPT = (
    "text", "original", "language", "subject", "attribute", "value", "source", "state", "core",
    "client",
)  # fmt: skip
_TIMES = ("accepted_at", "said_at", "added_at", "ended_at")
_PAST = ("text", "original", "language", "value", "source", "reason")


async def exported_memories(database: Database) -> Sequence[dict[str, Any]]:
    """Every memory with its history; proposals that wait are left out.

    Raises:
        StoreError: the database cannot be read.
    """
    past: dict[int, list[dict[str, Any]]] = {}
    for row in await database.fetch("past_memories", {"id": None}):
        old = {name: row[name] for name in _PAST}
        old |= {name: _when(row[name]) for name in ("said_at", "ended_at")}
        past.setdefault(row["memory_id"], []).append(old)
    return [
        {name: row[name] for name in _KEPT}
        | {name: _when(row[name]) for name in _TIMES}
        | {
            "conversation": None if row["conversation_id"] is None else str(row["conversation_id"]),
            "past": past.get(row["id"], []),
        }
        for row in await database.fetch("memories", {"state": None, "core": None})
        if row["state"] != "proposed"
    ]


async def take_memories(database: Database, items: Sequence[Mapping[str, Any]]) -> int:
    """Take in those that are not there in the same words and state; gives how many.

    Raises:
        StoreError: the database cannot take them.
    """
    rows = await database.fetch("memories", {"state": None, "core": None})
    there = {(row["text"], row["state"]) for row in rows}
    new = [item for item in items if (item["text"], item["state"]) not in there]

    async def write(connection: Connection) -> None:
        await connection.execute(statement("lock_memories"))
        for item in new:
            values = {
                **item, "intent": "add", "target_id": None, "document_id": None,
                "conversation_id": item["conversation"],
            }  # fmt: skip
            row = await (await connection.execute(statement("add_memory"), values)).fetchone()
            assert row is not None
            for old in item["past"]:
                gone = {**old, "id": row["id"], "conversation_id": None}
                await connection.execute(statement("add_past_memory"), gone)

    await database.run(write)
    return len(new)


def _when(moment: Any) -> str | None:
    return None if moment is None else str(moment.isoformat())
