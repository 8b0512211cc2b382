"""What a memory is, what it was, and what a chat model may say of a message."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "LONGEST",
    "Fact",
    "Facts",
    "Intent",
    "Memory",
    "MemoryCounts",
    "Past",
    "Source",
    "State",
]

LONGEST = 1_000
"""Most characters of a memory: it is a fact, not a text."""

Source = Literal["owner", "conversation", "model", "document"]
State = Literal["current", "proposed", "declined", "ended"]
Intent = Literal["add", "replace", "retract"]


class Fact(BaseModel):
    """One fact that a message states. A model says what is stated, and decides nothing.

    Attributes:
        statement: the fact, a sentence in English.
        original: the words of the message that state it.
        subject: of whom or what it is; ``owner`` for who writes.
        attribute: what of it, such as ``home city``.
        value: what that is, such as ``Turin``.
        kind: ``new``; ``update`` where the message says that something has changed; ``retract``
            where it says that something is no longer so, or never was.
        previous: what it was before, where the message says so.
    """

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    statement: str = Field(min_length=3, max_length=400)
    original: str = Field(min_length=1, max_length=LONGEST)
    subject: str = Field(max_length=80)
    attribute: str = Field(max_length=80)
    value: str = Field(max_length=200)
    kind: Literal["new", "update", "retract"]
    previous: str = Field(default="", max_length=200)


class Facts(BaseModel):
    """All facts of a message; none is a usual answer."""

    model_config = ConfigDict(extra="forbid")

    facts: list[Fact] = Field(max_length=8)


@dataclass(frozen=True, slots=True)
class Memory:
    """Something that is remembered of the owner, or proposed to be.

    Attributes:
        id: its number; it stays the same when the memory changes.
        text: in English.
        original: as it was said, where that is known.
        language: of the original.
        subject, attribute, value: of whom it is, what of it, and what that is; empty where the
            owner wrote it.
        source: ``owner``; ``conversation``: out of the owner's words by a chat model; ``model``
            and ``document``: proposed by a model, from a document in the second case.
        state: ``current``, ``proposed``, ``declined``, ``ended``.
        core: whether every conversation begins with it.
        accepted_at: when the owner said that it is so; ``None``: nobody has.
        intent: what a proposal would do.
        target_id: the memory that it would replace or end.
        client: who proposed it.
        conversation_id: in which it was said.
        document_id: that a proposal comes from.
        said_at: when it was said.
        added_at: when it was first remembered.
        ended_at: when it ceased to be so.
    """

    id: int
    text: str
    original: str | None
    language: str | None
    subject: str
    attribute: str
    value: str
    source: Source
    state: State
    core: bool
    accepted_at: datetime | None
    intent: Intent
    target_id: int | None
    client: str | None
    conversation_id: UUID | None
    document_id: int | None
    said_at: datetime
    added_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class Past:
    """What a memory said before.

    Attributes:
        memory_id: which one.
        text, original, language, value, source, conversation_id, said_at: as in ``Memory``.
        ended_at: when other words took its place.
        reason: ``replaced`` by what the owner said later, or ``edited`` by the owner.
    """

    id: int
    memory_id: int
    text: str
    original: str | None
    language: str | None
    value: str
    source: Source
    conversation_id: UUID | None
    said_at: datetime
    ended_at: datetime
    reason: Literal["replaced", "edited"]


@dataclass(frozen=True, slots=True)
class MemoryCounts:
    """How memory stands.

    Attributes:
        current: memories.
        core: of these, with which every conversation begins.
        proposed: that wait for the owner.
        ended: that are no longer so.
        waiting: messages whose facts are still to be drawn out.
        failed: messages of which that failed.
        off: why nothing is drawn out of messages; ``None`` where it is.
    """

    current: int
    core: int
    proposed: int
    ended: int
    waiting: int
    failed: int
    off: str | None = field(default=None)

    def as_json(self) -> dict[str, int]:
        """The numbers alone."""
        return {
            "current": self.current,
            "core": self.core,
            "proposed": self.proposed,
            "waiting": self.waiting,
            "failed": self.failed,
        }

    def told(self) -> str:
        """How it stands, in a sentence."""
        found = [f"{self.current:,} remembered, {self.core} core"]
        if self.proposed:
            found.append(f"{self.proposed} wait for your decision (emily memory list --proposed)")
        if self.waiting:
            found.append(f"{self.waiting} messages wait to be looked through")
        return "; ".join([*found, *([self.off] if self.off else [])])
