"""What joins a conversation to memory: core memories before it, facts drawn out behind a turn.

Neither may cost the owner an answer. Before the first message the core memories are read by one
statement, with a deadline of its own; behind a turn the message is kept, and a task draws its
facts out meanwhile. What goes wrong is said to the owner and to the model, and nothing waits.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from emily.assistant.conversations import Client, Conversation
from emily.models.untrusted import neutralise
from emily.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emily.assistant.desk import Assistant

__all__ = ["CORE_MEMORIES", "Remembering", "core_block"]

CORE_MEMORIES = "core_memories"
"""What the ledger calls them."""

_BEFORE_SECONDS = 3.0  # the runtime would wait a minute, and then drop the message
_AFTER_SECONDS = 3.0

_log = logging.getLogger("emily.assistant")


def core_block(memories: Sequence[tuple[int, str]], most: int) -> tuple[str, int]:
    """What a conversation begins with, and how many memories found no room in it.

    Args:
        memories: number and text of each, the oldest first.
        most: characters of the whole; a hook's text of over 10,000 would be cut by the runtime.
    """
    head = (
        "What the owner has told and wants you to know in every conversation; it stands in the "
        "place of any earlier list:"
    )
    room = most - len(head) - 120  # for the line about those that are left out
    lines: list[str] = []
    for number, text in memories:
        line = f"- {neutralise(' '.join(text.split()))} [memory {number}]"
        if len(line) + 1 > room:
            break
        room -= len(line) + 1
        lines.append(line)
    left_out = len(memories) - len(lines)
    more = [f"({left_out} more found no room here; search_memory finds them.)"] if left_out else []
    return "\n".join([head, *lines, *more]), left_out


class Remembering:
    """The hooks of one open session."""

    def __init__(
        self, desk: Assistant, settings: Settings, client: Client, conversation: Conversation
    ) -> None:
        """Bind to a session.

        Args:
            desk: memory and ledger.
            settings: of the home folder.
            client: who speaks.
            conversation: which one.
        """
        self._desk = desk
        self._most = settings.memory_core_characters
        self._client = client
        self._conversation = conversation
        self._message: str | None = None
        self._told = False
        self._notices: list[str] = []
        self._due = False
        self._task: asyncio.Task[Any] | None = None

    def begin(self, message: str) -> None:
        """A message of the owner's is about to be sent."""
        self._message = message

    def notices(self) -> Sequence[str]:
        """What went wrong and has not been said yet."""
        found, self._notices = self._notices, []
        return found

    async def before(self, _given: Any, _use: str | None, _context: Any) -> Any:
        """The hook UserPromptSubmit: core memories, on the first message of the session."""
        if self._told:
            return {}
        self._told = True
        try:
            async with asyncio.timeout(_BEFORE_SECONDS):
                text = await self._core()
        except TimeoutError:
            text = self._failed(f"they took more than {_BEFORE_SECONDS:g} s")
        except Exception as error:  # noqa: BLE001 - a hook that raises would hide itself
            text = self._failed(str(error) or type(error).__name__)
        if not text:
            return {}
        return {
            "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": text}
        }

    async def after(self, _given: Any, _use: str | None, _context: Any) -> Any:
        """The hook Stop: the message is kept, and a task draws its facts out."""
        message, self._message = self._message, None  # once, however often the runtime stops
        if message is None:
            return {}
        try:
            async with asyncio.timeout(_AFTER_SECONDS):
                kept = await self._desk.memory.hear(
                    message, client=self._client.name, conversation=self._conversation.id
                )
        except Exception as error:  # noqa: BLE001 - the turn is done, and stays so
            why = str(error) or type(error).__name__
            _log.warning("a message was not kept for memory: %s", why)
            self._notices.append(f"What you wrote is not remembered: {_line(why)}")
            return {}
        if kept is not None:
            self.catch_up()
        return {}

    def catch_up(self) -> None:
        """Have the facts of what waits drawn out behind the conversation."""
        self._due = True
        if self._desk.memory.off is None and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._extract())

    async def settle(self) -> None:
        """Wait until the facts of what was said are drawn out."""
        while self._task is not None and not self._task.done():
            await asyncio.wait([self._task])

    async def close(self) -> None:
        """Let what is not done be: it waits for the next conversation, or for a worker."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _core(self) -> str:
        memories = await self._desk.memory.core()
        if not memories:
            return ""
        text, left_out = core_block(memories, self._most)
        if left_out:
            self._notices.append(
                f"{left_out} of {len(memories)} core memories found no room in the conversation "
                "(setting memory_core_characters)."
            )
        await self._desk.egress.record(
            "assistant",
            self._client.name,
            characters=len(text),
            local=self._client.local,
            conversation=self._conversation.id,
            tool=CORE_MEMORIES,
        )
        return text

    def _failed(self, why: str) -> str:
        _log.warning("core memories could not be given: %s", why)
        told = f"The core memories are not in this conversation: {_line(why)}"
        self._notices.append(told)
        return f"Notice: {neutralise(told)}. Say so to the owner in a sentence."

    async def _extract(self) -> None:
        try:
            while self._due:  # said meanwhile
                self._due = False
                for item in await self._desk.memory.extract():
                    if item.problem is not None:
                        self._notices.append(
                            f"Nothing is remembered of a message: {_line(item.problem)}"
                        )
        except Exception as error:  # noqa: BLE001 - behind the conversation: told, not raised
            _log.warning("nothing was drawn out of the conversation: %s", error)
            self._notices.append(f"Nothing new is remembered now: {_line(str(error))}")


def _line(text: str) -> str:
    return " ".join(text.split()).removesuffix(".")
