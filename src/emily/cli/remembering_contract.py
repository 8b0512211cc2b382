"""The JSON of ``emily memory``, a part of the contract in docs/json.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from emily.cli.contract import Output

if TYPE_CHECKING:
    from datetime import datetime

    from emily.memory import Answered, Learned, Memory, MemoryCounts, Message, Outcome, Past

__all__ = [
    "MemoriesOutput",
    "MemoryExtractOutput",
    "MemoryHistoryOutput",
    "MemoryOutcomesOutput",
    "MemorySearchOutput",
    "MemoryStandingOutput",
    "extract_output",
    "history_output",
    "memories_output",
    "outcomes_output",
    "search_output",
    "standing_output",
]


@dataclass(frozen=True, kw_only=True)
class RememberedPart:
    """Something that is remembered, or proposed to be."""

    id: Annotated[int, "Its number; it stays the same when the memory changes."]
    text: Annotated[str, "The fact, in English."]
    original: Annotated[str | None, "As it was said."]
    language: Annotated[str | None, "Of the original."]
    subject: Annotated[str, "Of whom or what it is; empty where you wrote it."]
    attribute: Annotated[str, "What of it."]
    value: Annotated[str, "What that is."]
    source: Annotated[
        str, "`owner`, `conversation` (drawn out of your messages), `model`, `document`."
    ]
    state: Annotated[str, "`current`, `proposed`, `declined`, `ended`."]
    core: Annotated[bool, "Whether every conversation begins with it."]
    accepted_at: Annotated[str | None, "When you said that it is so, ISO 8601."]
    intent: Annotated[str, "What a proposal would do: `add`, `replace`, `retract`."]
    target: Annotated[int | None, "The memory that a proposal would replace or end."]
    client: Annotated[str | None, "Who proposed it, or in whose conversation it was said."]
    conversation: Annotated[str | None, "The conversation in which it was said."]
    document: Annotated[int | None, "The document that a proposal comes from."]
    said_at: Annotated[str, "When it was said, ISO 8601."]
    ended_at: Annotated[str | None, "When it ceased to be so, ISO 8601."]


@dataclass(frozen=True, kw_only=True)
class MemoriesOutput(Output):
    """`emily memory list`, `edit`, `core`, `decline`, `forget`."""

    memories: Annotated[list[RememberedPart], "By number."]


@dataclass(frozen=True, kw_only=True)
class MemoryOutcomePart:
    """What became of a sentence."""

    action: Annotated[
        str,
        "`added`, `accepted`, `known`, `replaced`, `retracted`, `proposed`, or `nothing`.",
    ]
    why: Annotated[str, "By which rule."]
    memory: Annotated[RememberedPart | None, "The memory as it is now."]


@dataclass(frozen=True, kw_only=True)
class MemoryOutcomesOutput(Output):
    """`emily memory add`, `accept`."""

    outcomes: Annotated[list[MemoryOutcomePart], "In the order in which they were given."]


@dataclass(frozen=True, kw_only=True)
class LearnedPart:
    """What one message came to."""

    message: Annotated[int, "Its number in the queue."]
    outcomes: Annotated[list[MemoryOutcomePart], "Of its facts."]
    problem: Annotated[str | None, "Why there are none."]


@dataclass(frozen=True, kw_only=True)
class MemoryExtractOutput(Output):
    """`emily memory extract`."""

    messages: Annotated[list[LearnedPart], "In the order in which they were said."]


@dataclass(frozen=True, kw_only=True)
class PastMemoryPart:
    """What a memory said before."""

    text: Annotated[str, "In English."]
    original: Annotated[str | None, "As it was said."]
    source: Annotated[str, "As of a memory."]
    said_at: Annotated[str, "When it was said, ISO 8601."]
    ended_at: Annotated[str, "When other words took its place, ISO 8601."]
    reason: Annotated[str, "`replaced` by what you said later, or `edited`."]


@dataclass(frozen=True, kw_only=True)
class MemoryHistoryOutput(Output):
    """`emily memory history`."""

    memory: Annotated[RememberedPart, "As it is now."]
    past: Annotated[list[PastMemoryPart], "What it said before, the oldest first."]


@dataclass(frozen=True, kw_only=True)
class FoundMemoryPart:
    """A memory that a question finds."""

    score: Annotated[float, "What orders them: cosine and share of the words, added."]
    cosine: Annotated[float | None, "Of question and memory; `null` without the embedder."]
    words: Annotated[float, "BM25 as a share of what the question could have, 0 to 1."]
    memory: Annotated[RememberedPart, "The memory."]


@dataclass(frozen=True, kw_only=True)
class MemorySearchOutput(Output):
    """`emily memory search`."""

    found: Annotated[list[FoundMemoryPart], "Best first."]
    notices: Annotated[list[str], "What could not be done."]


@dataclass(frozen=True, kw_only=True)
class FailedMessagePart:
    """A message whose facts could not be drawn out."""

    message: Annotated[int, "Its number in the queue."]
    said_at: Annotated[str, "When it was written, ISO 8601."]
    problem: Annotated[str | None, "What went wrong."]


@dataclass(frozen=True, kw_only=True)
class MemoryStandingOutput(Output):
    """`emily memory`."""

    current: Annotated[int, "Memories."]
    core: Annotated[int, "Of these, with which every conversation begins."]
    proposed: Annotated[int, "Proposals that wait for you."]
    ended: Annotated[int, "What is no longer so."]
    waiting: Annotated[int, "Messages whose facts are still to be drawn out."]
    failed: Annotated[list[FailedMessagePart], "Messages of which that failed."]
    off: Annotated[str | None, "Why nothing is drawn out of messages; `null` where it is."]


def _part(item: Memory) -> RememberedPart:
    return RememberedPart(
        id=item.id,
        text=item.text,
        original=item.original,
        language=item.language,
        subject=item.subject,
        attribute=item.attribute,
        value=item.value,
        source=item.source,
        state=item.state,
        core=item.core,
        accepted_at=_when(item.accepted_at),
        intent=item.intent,
        target=item.target_id,
        client=item.client,
        conversation=None if item.conversation_id is None else str(item.conversation_id),
        document=item.document_id,
        said_at=item.said_at.isoformat(),
        ended_at=_when(item.ended_at),
    )


def _when(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _outcome(item: Outcome) -> MemoryOutcomePart:
    memory = None if item.memory is None else _part(item.memory)
    return MemoryOutcomePart(action=item.action, why=item.why, memory=memory)


def memories_output(found: Sequence[Memory]) -> MemoriesOutput:
    """Memories."""
    return MemoriesOutput(memories=[_part(item) for item in found])


def outcomes_output(outcomes: Sequence[Outcome]) -> MemoryOutcomesOutput:
    """What became of sentences."""
    return MemoryOutcomesOutput(outcomes=[_outcome(item) for item in outcomes])


def extract_output(learned: Sequence[Learned]) -> MemoryExtractOutput:
    """What messages came to."""
    return MemoryExtractOutput(
        messages=[
            LearnedPart(
                message=item.message,
                outcomes=[_outcome(outcome) for outcome in item.outcomes],
                problem=item.problem,
            )
            for item in learned
        ]
    )


def history_output(memory: Memory, past: Sequence[Past]) -> MemoryHistoryOutput:
    """A memory and what it was."""
    return MemoryHistoryOutput(
        memory=_part(memory),
        past=[
            PastMemoryPart(
                text=item.text,
                original=item.original,
                source=item.source,
                said_at=item.said_at.isoformat(),
                ended_at=item.ended_at.isoformat(),
                reason=item.reason,
            )
            for item in past
        ],
    )


def search_output(answer: Answered) -> MemorySearchOutput:
    """What a question finds."""
    return MemorySearchOutput(
        found=[
            FoundMemoryPart(
                score=item.score, cosine=item.cosine, words=item.words, memory=_part(item.memory)
            )
            for item in answer.found
        ],
        notices=list(answer.notices),
    )


def standing_output(counts: MemoryCounts, failed: Sequence[Message]) -> MemoryStandingOutput:
    """How memory stands."""
    return MemoryStandingOutput(
        current=counts.current,
        core=counts.core,
        proposed=counts.proposed,
        ended=counts.ended,
        waiting=counts.waiting,
        failed=[
            FailedMessagePart(
                message=item.id, said_at=item.said_at.isoformat(), problem=item.problem
            )
            for item in failed
        ],
        off=counts.off,
    )
