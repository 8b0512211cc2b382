"""What conversations in the terminal really sent, turn by turn, kept beside their transcripts.

The runtime keeps the messages. What goes with each of them (system prompt, tools, limits) is kept
here, one file of JSON lines for each conversation, so that a turn can be asked again under the
same conditions.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from pathlib import Path
from typing import Any, Literal
from uuid import UUID

from emily.errors import SettingError
from emily.settings import private_folder

__all__ = ["Conditions", "Look", "Sight", "Turn", "TurnLog"]

Sight = Literal["search", "summary", "open"]

_log = logging.getLogger("emily.assistant")


@dataclass(frozen=True, slots=True)
class Look:
    """A result that a model was given.

    Attributes:
        tool: which tool gave it.
        sight: what of documents it shows; ``None`` for nothing.
    """

    tool: str
    sight: Sight | None


@dataclass(frozen=True, slots=True)
class Conditions:
    """What goes with every message of an open session.

    Attributes:
        prompt: the system prompt.
        tools: name, description and schema of each.
        model: as it is set; empty for the runtime's own choice.
        most_turns: calls of the API for one message.
        runtime: version of the Agent SDK and of its runtime.
        health: what of Emily was down; it stands in the prompt too.
    """

    prompt: str
    tools: tuple[tuple[str, str, dict[str, Any]], ...]
    model: str
    most_turns: int
    runtime: str
    health: tuple[str, ...] = ()

    def differences(self, other: Conditions) -> list[str]:
        """What is not the same, in words."""
        mine, others = dict(_by_name(self)), dict(_by_name(other))
        names = [name for name in {**mine, **others} if mine.get(name) != others.get(name)]
        found = [f"the tool {name}" for name in names]
        if self.prompt != other.prompt:
            found.insert(0, "the system prompt (persona, instructions)")
        for name, what in (("model", "claude_model"), ("most_turns", "claude_turns")):
            if getattr(self, name) != getattr(other, name):
                found.append(f"the setting {what}")
        if self.runtime != other.runtime:
            found.append(f"the runtime ({self.runtime}, now {other.runtime})")
        return found


def _by_name(conditions: Conditions) -> dict[str, tuple[str, str]]:
    return {
        name: (description, json.dumps(schema, sort_keys=True))
        for name, description, schema in conditions.tools
    }


@dataclass(frozen=True, slots=True)
class Turn:
    """A message and the end of its answer.

    Attributes:
        message: what was asked.
        runtime: the runtime's session.
        last: the last message of the answer, by the runtime's id: where a fork goes on.
        model: that answered.
        ended_at: when the answer was whole.
        looks: the results of tools on the way, in order.
        tokens: that went in with the last call of the API.
        cost: of the turn in dollars, as the runtime reckons it.
        conditions: under which it was asked.
    """

    message: str
    runtime: str
    last: str
    model: str
    ended_at: datetime
    looks: tuple[Look, ...]
    tokens: int
    cost: float
    conditions: Conditions = field(compare=False)

    @property
    def sight(self) -> Sight | None:
        """What of documents was shown last in it."""
        return next((look.sight for look in reversed(self.looks) if look.sight), None)


class TurnLog:
    """The turns of one home folder."""

    def __init__(self, home: Path) -> None:
        """Name the folder; it need not exist.

        Args:
            home: the home folder.
        """
        self._folder = home / "chat" / "turns"

    def begin(self, conversation: UUID, conditions: Conditions) -> None:
        """Note under which conditions the next turns are asked."""
        self._append(conversation, {"conditions": asdict(conditions)})

    def add(self, conversation: UUID, turn: Turn) -> None:
        """Note a turn under the conditions that were noted last."""
        kept = {
            item.name: getattr(turn, item.name)
            for item in fields(turn)
            if item.name != "conditions"
        }
        kept |= {
            "ended_at": turn.ended_at.isoformat(),
            "looks": [[look.tool, look.sight] for look in turn.looks],
        }
        self._append(conversation, {"turn": kept})

    def conversations(self) -> Sequence[UUID]:
        """Those of which something is kept, the latest first."""
        try:
            found = sorted(
                self._folder.glob("*.jsonl"), key=lambda path: path.stat().st_mtime, reverse=True
            )
        except OSError:
            return []
        return [UUID(path.stem) for path in found if _is_id(path.stem)]

    def read(self, conversation: UUID) -> Sequence[Turn]:
        """The turns of a conversation in order; a line that was cut off is passed over."""
        try:
            text = self._path(conversation).read_text("utf-8")
        except OSError:
            return []
        found: list[Turn] = []
        conditions: Conditions | None = None
        for line in text.splitlines():
            try:
                given = json.loads(line)
                if "conditions" in given:
                    conditions = _conditions(given["conditions"])
                elif conditions is not None:
                    found.append(_turn(given["turn"], conditions))
            except (ValueError, KeyError, TypeError) as error:
                _log.warning("a line of %s cannot be read: %s", self._path(conversation), error)
        return found

    def _path(self, conversation: UUID) -> Path:
        return self._folder / f"{conversation}.jsonl"

    def _append(self, conversation: UUID, what: dict[str, Any]) -> None:
        # The answer counts for more than its record: one that cannot be kept is logged.
        try:
            private_folder(self._folder)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
            descriptor = os.open(self._path(conversation), flags, 0o600)
            with os.fdopen(descriptor, "a", encoding="utf-8") as file:
                file.write(json.dumps(what) + "\n")
        except (OSError, SettingError) as error:
            _log.warning("what was sent could not be kept in %s: %s", self._folder, error)


def _is_id(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def _conditions(given: dict[str, Any]) -> Conditions:
    given["tools"] = tuple((name, said, schema) for name, said, schema in given["tools"])
    return Conditions(**{**given, "health": tuple(given["health"])})


def _turn(given: dict[str, Any], conditions: Conditions) -> Turn:
    given["looks"] = tuple(Look(tool, sight) for tool, sight in given["looks"])
    given["ended_at"] = datetime.fromisoformat(given["ended_at"])
    return Turn(**given, conditions=conditions)
