"""Who calls, and in which conversation: from what authenticated the call, never from its text."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol
from uuid import UUID, uuid4

from emily.assistant.conversations import conversation_of
from emily.errors import InputError

if TYPE_CHECKING:
    from mcp.server.mcpserver import Context

__all__ = ["CONVERSATION_HEADER", "Caller", "Callers", "HttpCallers", "StdioCallers"]

CONVERSATION_HEADER = "emily-conversation"
"""Names the conversation to go on with; it must be one of the client that the token names."""

_IDLE_SECONDS = 30 * 60


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls.

    Attributes:
        client: by the name that the owner gave it.
        declared: what it calls itself.
        conversation: whose set of documents counts.
    """

    client: str
    declared: str | None
    conversation: UUID


class Callers(Protocol):
    """Tells who calls."""

    def of(self, context: Context[Any, Any]) -> Caller:
        """The caller of a request."""
        ...


class StdioCallers:
    """The one client that started this process; the process is one conversation.

    A client that names its session goes on with that conversation when it starts anew.
    """

    def __init__(
        self, client: str, *, session: str | None = None, conversation: UUID | None = None
    ) -> None:
        """Bind to a client.

        Args:
            client: its name.
            session: its own name for what it is doing, if it has one.
            conversation: to go on with.
        """
        self._client = client
        named = uuid4() if session is None else conversation_of(client, session)
        self._conversation = conversation or named

    def of(self, context: Context[Any, Any]) -> Caller:
        """The caller of a request."""
        return Caller(self._client, declared(context), self._conversation)


class HttpCallers:
    """Clients by their tokens; a conversation by the header, else by the session of the protocol.

    A client whose protocol has no sessions is in one conversation until it has been silent for
    half an hour.
    """

    def __init__(self) -> None:
        self._rolling: dict[str, tuple[float, UUID]] = {}

    def of(self, context: Context[Any, Any]) -> Caller:
        """The caller of a request.

        Raises:
            InputError: the header names no conversation.
        """
        headers: Mapping[str, str] = context.headers or {}
        scope = getattr(context.request_context.request, "scope", {})
        client = str(scope["emily.client"])  # the guard has put it there
        return Caller(client, declared(context), self._conversation(client, headers))

    def _conversation(self, client: str, headers: Mapping[str, str]) -> UUID:
        given = headers.get(CONVERSATION_HEADER)
        if given is not None:
            try:
                return UUID(given)
            except ValueError:
                raise InputError(
                    f"The header {CONVERSATION_HEADER} is {given[:60]!r}; it must be a UUID."
                ) from None
        session = headers.get("mcp-session-id")
        if session is not None:
            return conversation_of(client, session)
        now = time.monotonic()
        last, identity = self._rolling.get(client, (now, uuid4()))
        if now - last > _IDLE_SECONDS:
            identity = uuid4()
        self._rolling[client] = (now, identity)
        return identity


def declared(context: Context[Any, Any]) -> str | None:
    """What the client calls itself, for the ledger alone."""
    parameters = context.session.client_params
    if parameters is None:
        return None
    return f"{parameters.client_info.name} {parameters.client_info.version}".strip()
