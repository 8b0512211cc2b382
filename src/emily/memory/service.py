"""The memories of one archive: ``brain.memory``."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from emily.errors import AnswerError, InputError, ModelError, ModelUnavailable
from emily.indexing.language import LanguageDetector
from emily.memory.deciding import Near, decide, known
from emily.memory.extracting import SHORTEST, Extractor
from emily.memory.facts import LONGEST, Fact, Memory, MemoryCounts, Past
from emily.memory.finding import Found, found, hybrid
from emily.memory.likeness import normalised, same_subject, value_words
from emily.models import ChatModel, Embedder
from emily.settings import Settings
from emily.store import Connection, Database, statement

__all__ = ["Answered", "Learned", "Memories", "Message", "Outcome"]

MOST_PROPOSED = 200
"""Proposals that may wait at once; a model cannot fill the owner's list."""

_NEAR = 10  # memories that the chat model is shown, and whose attributes are compared
_BATCH = 64
_MOST_ATTRIBUTES = 2_000
_ATTEMPTS = 5
_SAID_AGAIN = 0.5  # share of a memory's words in a message from which it goes with the memory

# The class has a method of the name "list".
_Lines = list[str]
_Outcomes = list["Outcome"]
_Learnings = list["Learned"]

_log = logging.getLogger("emily.memory")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a sentence.

    Attributes:
        action: ``added``, ``known``, ``replaced``, ``retracted``, ``proposed``, ``nothing``.
        memory: the one that it became, that knows it, or that it changed.
        why: the rule, or a sentence for the owner.
    """

    action: str
    memory: Memory | None
    why: str


@dataclass(frozen=True, slots=True)
class Answered:
    """What a search of memories finds, best first, and what could not be done."""

    found: tuple[Found, ...]
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Message:
    """A message whose facts are still to be drawn out, or of which that failed."""

    id: int
    conversation_id: UUID
    client: str
    text: str
    said_at: datetime
    state: str
    attempts: int
    problem: str | None


@dataclass(frozen=True, slots=True)
class Learned:
    """What one message came to: its outcomes, or why there are none."""

    message: int
    outcomes: tuple[Outcome, ...] = ()
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class _Held:
    memory: Memory
    vector: NDArray[np.float32] | None


class Memories:
    """What is remembered of the owner."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        embedder: Embedder,
        detector: LanguageDetector,
        chat: ChatModel | None,
    ) -> None:
        """Join the parts; nothing is loaded or asked yet.

        Args:
            settings: of this home folder.
            database: an open store.
            embedder: of the index.
            detector: of the indexed languages.
            chat: draws facts out of messages; without one nothing is drawn out.
        """
        self._settings = settings
        self._database = database
        self._embedder = embedder
        self._detector = detector
        self._chat = chat
        self._learning = asyncio.Lock()
        self._attributes: dict[str, NDArray[np.float32]] = {}  # the same few come again and again

    @property
    def off(self) -> str | None:
        """Why nothing is drawn out of conversations; ``None`` where it is."""
        if not self._settings.memory_extract:
            return "Nothing is remembered from conversations (setting memory_extract)."
        if self._chat is None:
            return (
                "Nothing is remembered from conversations by itself: that needs a chat model "
                "(setting chat). emily memory add works without one."
            )
        return None

    async def counts(self) -> MemoryCounts:
        """How memory stands."""
        row = await self._database.fetch_one("count_memories")
        assert row is not None
        return MemoryCounts(**row, off=self.off)

    async def list(
        self, state: str | None = "current", *, core: bool | None = None
    ) -> Sequence[Memory]:
        """Memories by number: those of one state, or all."""
        rows = await self._database.fetch("memories", {"state": state, "core": core})
        return [Memory(**row) for row in rows]

    async def get(self, identity: int) -> Memory:
        """One of them.

        Raises:
            InputError: there is none of that number.
        """
        row = await self._database.fetch_one("find_memory", {"id": identity})
        if row is None:
            raise InputError(f"There is no memory {identity}. See: emily memory list --all")
        return Memory(**row)

    async def history(self, identity: int) -> tuple[Memory, Sequence[Past]]:
        """A memory, and what it said before, the oldest first.

        Raises:
            InputError: there is none of that number.
        """
        memory = await self.get(identity)
        rows = await self._database.fetch("past_memories", {"id": identity})
        return memory, [Past(**row) for row in rows]

    async def add(self, text: str, *, original: str | None = None, core: bool = False) -> Outcome:
        """Remember what the owner writes down; what is known already is not added again.

        Raises:
            InputError: the text is empty or too long.
            StoreError: the database cannot take it.
        """
        text = _storable(text)
        near = await self._near(text)
        said = known(text, near)
        if said is not None:
            if core and not said.core:
                said = await self.set_core(said.id, core=True)
            return Outcome("known", said, "it is known in these words")
        values = self._values(text, original, "owner") | {
            "accepted_at": datetime.now(UTC), "core": core,
        }  # fmt: skip
        identity = await self._insert(values)
        await self._embed_stale()
        return Outcome("added", await self.get(identity), "the owner wrote it down")

    async def edit(self, identity: int, text: str, original: str | None = None) -> Memory:
        """Put other words in a memory's place; the old ones stay in its history.

        Raises:
            InputError: there is no such current memory, or the text is empty or too long.
        """
        text = _storable(text)
        await self._current(identity)
        values = self._values(text, original, "owner") | {
            "id": identity, "accepted_at": datetime.now(UTC), "reason": "edited",
        }  # fmt: skip

        async def write(connection: Connection) -> None:
            await connection.execute(statement("lock_memories"))
            await connection.execute(statement("keep_past_memory"), values)
            await connection.execute(statement("change_memory"), values)

        await self._database.run(write)
        await self._embed_stale()
        return await self.get(identity)

    async def set_core(self, identity: int, *, core: bool) -> Memory:
        """Have every conversation begin with a memory, or no longer; it is accepted by that.

        Raises:
            InputError: there is no such current memory.
        """
        await self._current(identity)
        await self._database.execute("set_core_memory", {"id": identity, "core": core})
        return await self.get(identity)

    async def core(self) -> Sequence[tuple[int, str]]:
        """Number and text of what every conversation begins with: one statement, no model."""
        return [(row["id"], row["text"]) for row in await self._database.fetch("core_memories")]

    async def forget(self, identities: Sequence[int]) -> Sequence[Memory]:
        """Forget memories for good: texts, vectors, history, proposals to change them.

        Messages that still wait and say the same go too. Conversations keep what was said in
        them, and so do backups and exports.

        Raises:
            InputError: there is none of a number; then none is forgotten.
        """
        gone = [await self.get(identity) for identity in dict.fromkeys(identities)]
        said = [text for item in gone for text in (item.text, item.original)]
        for item in gone:
            for old in (await self.history(item.id))[1]:
                said += [old.text, old.original]
        words = [value_words(text) for text in said if text]

        async def write(connection: Connection) -> None:
            await connection.execute(statement("lock_memories"))
            rows = await (
                await connection.execute(statement("queued_messages"), {"state": None})
            ).fetchall()
            same = [row["id"] for row in rows if _says(row["text"], words)]
            await connection.execute(statement("drop_messages"), {"ids": same})
            await connection.execute(
                statement("forget_memories"), {"ids": [item.id for item in gone]}
            )

        await self._database.run(write, idempotent=True)
        return gone

    async def forget_all(self) -> Sequence[Memory]:
        """Forget all there is, proposals and waiting messages too."""
        gone = await self.list(None)

        async def write(connection: Connection) -> None:
            await connection.execute(statement("lock_memories"))
            await connection.execute(statement("forget_all_memories"))
            await connection.execute(statement("drop_all_messages"))

        await self._database.run(write, idempotent=True)
        return gone

    async def propose(
        self,
        text: str,
        *,
        original: str | None = None,
        client: str,
        conversation: UUID | None = None,
        document: int | None = None,
    ) -> Outcome:
        """Keep what a model wants to have remembered until the owner accepts it.

        Raises:
            InputError: the text is empty or too long, or too many wait already.
        """
        text = _storable(text)
        said = known(text, await self._near(text))
        if said is not None:
            return Outcome("known", said, "it is known in these words")
        words = normalised(text)
        others = [*await self.list("proposed"), *await self.list("declined")]
        for item in others:
            if normalised(item.text) == words:
                return Outcome(item.state, item, "it was proposed before")
        if sum(item.state == "proposed" for item in others) >= MOST_PROPOSED:
            raise InputError(
                f"{MOST_PROPOSED} proposals wait already; the owner decides them with: "
                "emily memory list --proposed"
            )
        source = "model" if document is None else "document"
        values = self._values(text, original, source) | {
            "state": "proposed",
            "client": client,
            "conversation_id": conversation,
            "document_id": document,
        }
        return Outcome("proposed", await self.get(await self._insert(values)), "it waits")

    async def accept(self, identity: int) -> Outcome:
        """Take a proposal as true, or a memory that was drawn out of a conversation.

        Raises:
            InputError: there is none that could be accepted.
        """
        memory = await self.get(identity)
        now = datetime.now(UTC)
        if memory.state == "current":
            await self._settle(memory, "current", accepted_at=memory.accepted_at or now)
            return Outcome("accepted", await self.get(identity), "the owner says that it is so")
        if memory.state != "proposed":
            raise InputError(f"Memory {identity} is {memory.state}; only a proposal is accepted.")
        if memory.target_id is not None:
            return await self._accept_change(memory, now)
        said = known(memory.text, await self._near(memory.text))
        if said is not None:
            await self._database.execute("forget_memories", {"ids": [identity]})
            return Outcome("known", said, "it is known in these words")
        await self._settle(memory, "current", accepted_at=now)
        await self._embed_stale()
        return Outcome("accepted", await self.get(identity), "the owner says that it is so")

    async def decline(self, identity: int) -> Memory:
        """Say that a proposal is not to be remembered; it is not proposed again.

        Raises:
            InputError: there is no such proposal.
        """
        memory = await self.get(identity)
        if memory.state != "proposed":
            raise InputError(f"Memory {identity} is {memory.state}; only a proposal is declined.")
        await self._settle(memory, "declined", ended_at=datetime.now(UTC))
        return await self.get(identity)

    async def search(self, query: str, limit: int = 5) -> Answered:
        """Current memories that a question finds, by words and by likeness.

        Raises:
            InputError: the question is empty.
            StoreError: the database cannot be asked.
        """
        if not query.strip():
            raise InputError("The question is empty.")
        notices: _Lines = []
        asked = None
        held: Sequence[_Held] = ()
        try:
            asked = await asyncio.to_thread(self._embedder.embed_queries, [query])
            await self._embed_stale(strict=True)
        except ModelError as error:
            notices.append(f"Memories were searched by words alone, the embedder is down: {error}")
        held = await self._held()
        rows = hybrid(
            query,
            [f"{item.memory.text}\n{item.memory.original or ''}" for item in held],
            [item.vector for item in held],
            asked,
            self._settings.languages,
        )
        hits = found([item.memory for item in held], rows[:limit])
        return Answered(tuple(hits), tuple(notices))

    async def hear(self, text: str, *, client: str, conversation: UUID) -> int | None:
        """Keep a message of the owner's until its facts are drawn out; quick, asks no model.

        Returns:
            its number; ``None`` where nothing is drawn out, or it is too short.
        """
        text = text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
        if self.off is not None or len(text.strip()) < SHORTEST:
            return None

        async def write(connection: Connection) -> int:
            values = {"conversation": conversation, "client": client, "text": text}
            row = await (await connection.execute(statement("queue_message"), values)).fetchone()
            assert row is not None
            return int(row["id"])

        return await self._database.run(write)

    async def messages(self, state: str | None = None) -> Sequence[Message]:
        """Messages whose facts are still to be drawn out, or of which that failed."""
        return [
            Message(**row)
            for row in await self._database.fetch("queued_messages", {"state": state})
        ]

    async def extract(self, *, again: bool = False) -> Sequence[Learned]:
        """Draw the facts out of the messages that wait, in the order in which they were said.

        A model that is not there leaves them waiting; an answer that cannot be used, asked for
        twice, is recorded with the message.

        Args:
            again: those that failed, too.

        Raises:
            StoreError: the database cannot be asked.
        """
        if self._chat is None:
            return []
        learned: _Learnings = []
        async with self._learning:  # one at a time: a local model has no room for two
            if again:
                await self._database.execute("retry_messages")
            extractor = Extractor(self._chat, self._detector, self._settings.language_confidence)
            for message in await self.messages("waiting"):
                done = await self._learn(extractor, message)
                learned.append(done)
                if done.problem is not None and not done.outcomes and await self._waits(message.id):
                    break  # the model is not there; it would not be for the next one either
        return learned

    async def _waits(self, message: int) -> bool:
        return any(item.id == message for item in await self.messages("waiting"))

    async def _learn(self, extractor: Extractor, message: Message) -> Learned:
        try:
            near = (await self.search(message.text, _NEAR)).found
            facts = await extractor.facts(
                message.text, message.said_at, [item.memory for item in near]
            )
            return Learned(message.id, await self.take(facts, message))
        except ModelError as error:
            away = isinstance(error, ModelUnavailable)
            spent = isinstance(error, AnswerError) or message.attempts + 1 >= _ATTEMPTS
            state = "failed" if spent and not away else "waiting"
            _log.warning("the facts of message %s could not be drawn out: %s", message.id, error)
            await self._database.execute(
                "note_message_problem", {"id": message.id, "state": state, "problem": str(error)}
            )
            return Learned(message.id, problem=str(error))

    async def take(self, facts: Sequence[Fact], message: Message) -> tuple[Outcome, ...]:
        """Decide what becomes of the facts of a message, and do it, all or nothing.

        Args:
            facts: as the message states them.
            message: that waits; where it is gone meanwhile, forgotten by the owner, nothing is
                remembered.
        """
        outcomes: _Outcomes = []
        vectors = await self._vectors([fact.statement for fact in facts])

        async def write(connection: Connection) -> None:
            outcomes.clear()  # it may run again
            await connection.execute(statement("lock_memories"))
            gone = await connection.execute(statement("drop_message"), {"id": message.id})
            if await gone.fetchone() is None:
                return
            for fact, vector in zip(facts, vectors, strict=True):
                outcomes.append(await self._taken(connection, fact, vector, message))

        await self._embed_stale()
        await self._database.run(write)
        await self._embed_stale()
        return tuple(outcomes)

    async def _taken(
        self,
        connection: Connection,
        fact: Fact,
        vector: NDArray[np.float32] | None,
        message: Message,
    ) -> Outcome:
        held = await self._held(connection)
        near = self._compared(vector, held)
        near = await self._by_attribute(fact, near)
        decision = decide(fact, near)
        memory = decision.memory
        values = self._values(fact.statement, fact.original, "conversation") | {
            "subject": fact.subject,
            "attribute": fact.attribute,
            "value": fact.value,
            "client": message.client,
            "conversation_id": message.conversation_id,
            "said_at": message.said_at,
        }
        if decision.action == "add":
            identity = await _inserted(connection, values)
            row = await _row(connection, identity)
            if vector is not None:
                await self._keep_vector(connection, row, vector)
            return Outcome("added", row, decision.why)
        if memory is None or decision.action in ("drop", "nothing"):
            action = "known" if decision.action == "drop" else "nothing"
            return Outcome(action, memory, decision.why)
        if memory.core:
            # The owner set it; a model's reading of a message does not unset it.
            waiting = values | {
                "state": "proposed",
                "intent": "replace" if decision.action == "replace" else "retract",
                "target_id": memory.id,
            }
            identity = await _inserted(connection, waiting)
            why = f"it would change memory {memory.id}, which is core: {decision.why}"
            return Outcome("proposed", await _row(connection, identity), why)
        if memory.said_at > message.said_at:  # an older message, read late
            await connection.execute(
                statement("add_past_memory"),
                values | {"id": memory.id, "ended_at": memory.said_at, "reason": "replaced"},
            )
            return Outcome("known", memory, "what is remembered was said later")
        if decision.action == "retract":
            await _ended(connection, memory, message.said_at)
            return Outcome("retracted", await _row(connection, memory.id), decision.why)
        await _replaced(connection, memory, values)
        row = await _row(connection, memory.id)
        if vector is not None:
            await self._keep_vector(connection, row, vector)
        return Outcome("replaced", row, decision.why)

    async def _accept_change(self, proposal: Memory, now: datetime) -> Outcome:
        """Do to a memory what a proposal wants; the memory stays core if it was."""
        target = await self.get(proposal.target_id or 0)

        async def write(connection: Connection) -> None:
            await connection.execute(statement("lock_memories"))
            if proposal.intent == "retract":
                await _ended(connection, target, proposal.said_at)
            else:
                values = {
                    name: getattr(proposal, name)
                    for name in ("text", "original", "language", "subject", "attribute", "value",
                                 "source", "conversation_id", "said_at")
                }  # fmt: skip
                await _replaced(connection, target, values | {"accepted_at": now})
            await connection.execute(statement("forget_memories"), {"ids": [proposal.id]})

        if target.state != "current":
            raise InputError(
                f"Memory {target.id}, which proposal {proposal.id} would change, is "
                f"{target.state}. Decline it: emily memory decline {proposal.id}"
            )
        await self._database.run(write)
        await self._embed_stale()
        action = "retracted" if proposal.intent == "retract" else "replaced"
        return Outcome(action, await self.get(target.id), "the owner accepted it")

    async def _settle(
        self,
        memory: Memory,
        state: str,
        *,
        accepted_at: datetime | None = None,
        ended_at: datetime | None = None,
    ) -> None:
        core = memory.core and state == "current"
        values = {"id": memory.id, "state": state, "accepted_at": accepted_at, "ended_at": ended_at}
        await self._database.execute("settle_memory", values)
        if core:
            await self._database.execute("set_core_memory", {"id": memory.id, "core": True})

    async def _current(self, identity: int) -> Memory:
        memory = await self.get(identity)
        if memory.state != "current":
            help_line = (
                f" Accept it first: emily memory accept {identity}"
                if memory.state == "proposed"
                else ""
            )
            raise InputError(f"Memory {identity} is {memory.state}, not current.{help_line}")
        return memory

    def _values(self, text: str, original: str | None, source: str) -> dict[str, Any]:
        """The columns of a new memory."""
        said = None if original is None else _storable(original)
        language = None
        if said is not None:
            code, probability = self._detector.detect(said)
            language = code if probability >= self._settings.language_confidence else None
        return {
            "text": text, "original": said, "language": language, "subject": "", "attribute": "",
            "value": "", "source": source, "state": "current", "core": False,
            "accepted_at": None, "intent": "add", "target_id": None, "client": None,
            "conversation_id": None, "document_id": None, "said_at": None, "added_at": None,
            "ended_at": None,
        }  # fmt: skip

    async def _insert(self, values: dict[str, Any]) -> int:
        async def write(connection: Connection) -> int:
            await connection.execute(statement("lock_memories"))
            return await _inserted(connection, values)

        return await self._database.run(write)

    async def _held(self, connection: Connection | None = None) -> Sequence[_Held]:
        """Current memories with vectors of the embedder at hand."""
        values = self._embedder.identity.parameters
        if connection is None:
            rows = await self._database.fetch("memories_to_search", values)
        else:
            cursor = await connection.execute(statement("memories_to_search"), values)
            rows = await cursor.fetchall()
        made = []
        for row in rows:
            data = row.pop("vector")
            vector = None if data is None else np.frombuffer(data, dtype="<f2").astype(np.float32)
            made.append(_Held(Memory(**row), vector))
        return made

    async def _near(self, text: str) -> Sequence[Near]:
        await self._embed_stale()
        (vector,) = await self._vectors([text])
        return self._compared(vector, await self._held())

    @staticmethod
    def _compared(vector: NDArray[np.float32] | None, held: Sequence[_Held]) -> Sequence[Near]:
        return [
            Near(
                item.memory,
                None if vector is None or item.vector is None else float(vector @ item.vector),
            )
            for item in held
        ]

    async def _by_attribute(self, fact: Fact, near: Sequence[Near]) -> Sequence[Near]:
        """The nearest ones of the same subject with the likeness of their attributes."""
        if not fact.attribute:
            return list(near)
        same = [
            item
            for item in near
            if item.memory.attribute and same_subject(fact.subject, item.memory.subject)
        ]
        same = sorted(same, key=lambda item: -(item.cosine or 0.0))[:_NEAR]
        if not same:
            return list(near)
        names = [fact.attribute, *(item.memory.attribute for item in same)]
        if len(self._attributes) > _MOST_ATTRIBUTES:
            self._attributes.clear()
        new = [name for name in dict.fromkeys(names) if name not in self._attributes]
        for name, vector in zip(new, await self._vectors(new), strict=True):
            if vector is not None:
                self._attributes[name] = vector
        vectors = [self._attributes.get(name) for name in names]
        mine, *others = vectors
        if mine is None:
            return list(near)
        likeness = {
            item.memory.id: float(mine @ other)
            for item, other in zip(same, others, strict=True)
            if other is not None
        }
        return [replace(item, attributes=likeness.get(item.memory.id)) for item in near]

    async def _vectors(self, texts: Sequence[str]) -> Sequence[NDArray[np.float32] | None]:
        """Vectors of sentences; none of any where the embedder is down."""
        if not texts:
            return []
        try:
            parts = await asyncio.to_thread(self._embedder.embed_parts, [[text] for text in texts])
        except ModelError as error:
            _log.warning("memories are compared by words alone: %s", error)
            return [None] * len(texts)
        return [part.part for part in parts]

    async def _embed_stale(self, *, strict: bool = False) -> None:
        """Embed what has no vector of the embedder at hand, by batches.

        Raises:
            ModelError: it cannot be done, where ``strict`` asks for that.
        """
        stale = [item.memory for item in await self._held() if item.vector is None]
        for start in range(0, len(stale), _BATCH):
            batch = stale[start : start + _BATCH]
            if strict:
                parts = await asyncio.to_thread(
                    self._embedder.embed_parts, [[item.text] for item in batch]
                )
                vectors: Sequence[NDArray[np.float32] | None] = [part.part for part in parts]
            else:
                vectors = await self._vectors([item.text for item in batch])
            for item, vector in zip(batch, vectors, strict=True):
                if vector is None:
                    return
                await self._database.execute("keep_memory_vector", self._packed(item, vector))

    async def _keep_vector(
        self, connection: Connection, memory: Memory, vector: NDArray[np.float32]
    ) -> None:
        await connection.execute(statement("keep_memory_vector"), self._packed(memory, vector))

    def _packed(self, memory: Memory, vector: NDArray[np.float32]) -> dict[str, Any]:
        return {
            "id": memory.id,
            "text": memory.text,
            "vector": vector.astype("<f2").tobytes(),
            **self._embedder.identity.parameters,
        }


async def _inserted(connection: Connection, values: dict[str, Any]) -> int:
    row = await (await connection.execute(statement("add_memory"), values)).fetchone()
    assert row is not None
    return int(row["id"])


async def _row(connection: Connection, identity: int) -> Memory:
    row = await (await connection.execute(statement("find_memory"), {"id": identity})).fetchone()
    assert row is not None
    return Memory(**row)


async def _replaced(connection: Connection, memory: Memory, values: dict[str, Any]) -> None:
    changed = values | {"id": memory.id, "reason": "replaced"}
    if not changed["attribute"]:
        changed |= {"subject": memory.subject, "attribute": memory.attribute}
    await connection.execute(statement("keep_past_memory"), changed)
    await connection.execute(statement("change_memory"), changed)


async def _ended(connection: Connection, memory: Memory, at: datetime) -> None:
    values = {
        "id": memory.id, "state": "ended", "accepted_at": memory.accepted_at, "ended_at": at,
    }  # fmt: skip
    await connection.execute(statement("settle_memory"), values)


def _storable(text: str) -> str:
    """A memory's text as the database takes it.

    Raises:
        InputError: it is empty, or longer than a memory may be.
    """
    kept = " ".join(text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8").split())
    if not kept:
        raise InputError("The text is empty. A memory is a sentence, such as: The owner has a dog.")
    if len(kept) > LONGEST:
        raise InputError(
            f"The text has {len(kept):,} characters; a memory has at most {LONGEST:,}. What is "
            "longer belongs into a document: emily add FILE"
        )
    return kept


def _says(message: str, memories: Sequence[frozenset[str]]) -> bool:
    """Whether a message holds so much of a memory's words that it would bring it back."""
    words = value_words(message)
    return any(said and len(said & words) >= _SAID_AGAIN * len(said) for said in memories)
