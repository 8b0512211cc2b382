"""The runtime's own transcripts: what it kept of a session, and of each request that it sent.

A transcript is a file of JSON lines. Messages point at the one before them; lines of the kind
``api-request`` say by digests what each call of the API held.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from emily.errors import InputError

__all__ = ["Request", "Transcript"]

_CONTEXT = ("message", "attachment")


@dataclass(frozen=True, slots=True)
class Request:
    """A call of the API as the runtime noted it.

    Attributes:
        shape: digest of system prompt and tools.
        parameters: model, thinking, limits and the like.
        messages: a digest of each message.
    """

    shape: str
    parameters: dict[str, Any]
    messages: tuple[str, ...]


class Transcript:
    """A session of the runtime."""

    def __init__(self, path: Path) -> None:
        """Read a transcript.

        Args:
            path: of its file.

        Raises:
            InputError: it cannot be read.
        """
        self.path = path
        try:
            lines = path.read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"The transcript {path} cannot be read: {error}") from None
        self._lines: list[dict[str, Any]] = []
        for line in lines:
            try:
                found = json.loads(line)
            except ValueError:  # cut off where the runtime was killed
                continue
            if isinstance(found, dict):
                self._lines.append(found)
        self._places = {
            line["uuid"]: place for place, line in enumerate(self._lines) if line.get("uuid")
        }

    @classmethod
    def of(cls, home: Path, session: str) -> Transcript:
        """The transcript of a session.

        Args:
            home: the home folder.
            session: the runtime's id.

        Raises:
            InputError: there is none.
        """
        found = sorted((home / "chat" / "projects").glob(f"*/{session}.jsonl"))
        if not found:
            raise InputError(f"The transcript of the session {session} is no longer there.")
        return cls(found[0])

    def context(self, last: str) -> Sequence[tuple[str, str]]:
        """What the model had before it up to a message: kind and content, the first first.

        Raises:
            InputError: there is no such message.
        """
        found: list[tuple[str, str]] = []
        at: str | None = last
        while at is not None:
            if at not in self._places or len(found) > len(self._lines):
                raise InputError(f"The transcript {self.path} does not hold the message {at}.")
            line = self._lines[self._places[at]]
            content = {name: _lasting(line.get(name)) for name in _CONTEXT}
            found.append((str(line.get("type")), json.dumps(content, sort_keys=True)))
            at = line.get("parentUuid")
        return found[::-1]

    def request(self, message: str, *, after: bool = False) -> Request | None:
        """The last call of the API before a message, or the first one after it.

        Gives ``None`` where the runtime noted none.
        """
        if message not in self._places:
            return None
        calls: dict[str, tuple[str, ...]] = {}
        found: Request | None = None
        for place, line in enumerate(self._lines):
            if place > self._places[message] and not after:
                break
            if line.get("type") != "api-request":
                continue
            try:
                kept = calls.get(line.get("base", ""), ())[: line["keep"]]
                messages = (*kept, *line["tail"])
                calls[line["id"]] = messages
                found = Request(line["shapeHash"], line["params"], messages)
            except (KeyError, TypeError):  # another version notes it in another way
                return None
            if after and place > self._places[message]:
                return found
        return None if after else found


def _lasting(content: Any) -> Any:
    """A message without what belongs to the copy alone."""
    if isinstance(content, dict):
        return {name: value for name, value in content.items() if name != "usage"}
    return content
