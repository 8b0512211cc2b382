"""Conversations and approvals in the API of ``emily serve``, for surfaces of the owner's.

A gateway (a page, a messenger) carries the owner's messages to Claude here and shows what waits
for a decision. It has let the person in itself; the socket, of mode 0600, lets in the owner's
programs alone. Since a model's client with a shell is such a program too, decisions are taken here
only where the owner has said so in the file (setting ``decide_by_socket``).
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from emily.cli.assistant_contract import approvals_output
from emily.errors import EmilyError, InputError

if TYPE_CHECKING:
    from emily.brain import Brain
    from emily.cli.contract import Output

__all__ = ["Chatting", "approval", "approvals", "decided"]

GATEWAY = "gateway"
"""The client of conversations whose surface gives itself no name."""


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid")

    message: str = Field(min_length=1)
    conversation: UUID | None = None
    fork: bool = False
    client: str = Field(GATEWAY, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")


class _Decision(BaseModel):
    model_config = ConfigDict(extra="forbid")

    digest: str
    approve: bool
    by: str = Field(min_length=1, max_length=200)


async def approvals(brain: Brain, request: Request) -> Output:
    """What waits for a decision; all of them with ``?all=1``."""
    manager = brain.assistant.approvals
    await manager.resume()
    everything = request.query_params.get("all", "") not in ("", "0")
    return approvals_output(await manager.list(everything=everything))


async def approval(brain: Brain, request: Request) -> Output:
    """One of them, whole."""
    return approvals_output([await brain.assistant.approvals.get(request.path_params["number"])])


async def decided(brain: Brain, request: Request) -> Output:
    """Decide one, by the digest of what the person was shown.

    Raises:
        InputError: decisions are not taken here, or it is not what was shown.
    """
    if not brain.settings.decide_by_socket:
        raise InputError(
            "Decisions are taken in a terminal (emily approvals). To take those of a surface of "
            "your own too, set decide_by_socket = true in settings.toml."
        )
    given = _Decision.model_validate_json(await request.body())
    found = await brain.assistant.approvals.decide(
        request.path_params["number"],
        given.digest,
        approve=given.approve,
        by=f"{given.by} by the socket",
    )
    return approvals_output([found])


class Chatting:
    """Answers messages of a surface: each in a session of the runtime that is gone on with."""

    def __init__(self, use: Callable[[], AbstractAsyncContextManager[Brain]]) -> None:
        """Bind to the server.

        Args:
            use: gives the open brain for the time of a request.
        """
        self._use = use

    async def answer(self, request: Request) -> Response:
        """One message; its answer comes as events, one a line."""
        try:
            given = _Message.model_validate_json(await request.body())
        except ValueError as error:
            where = "; ".join(
                f"{'.'.join(map(str, item['loc'])) or 'the body'}: {item['msg']}"
                for item in getattr(error, "errors", list)()
            )
            return JSONResponse({"error": {"type": "InputError", "message": where}}, 400)
        return StreamingResponse(self._lines(given), media_type="application/x-ndjson")

    async def _lines(self, given: _Message) -> AsyncIterator[bytes]:
        try:
            async for event in self._events(given):
                yield json.dumps(event).encode("ascii") + b"\n"
        except EmilyError as error:
            failure = {"failure": str(error), "type": type(error).__name__}
            yield json.dumps(failure).encode("ascii") + b"\n"

    async def _events(self, given: _Message) -> AsyncIterator[dict[str, Any]]:
        from emily.assistant.condition import condition
        from emily.assistant.session import open_session

        async with self._use() as brain:
            desk = brain.assistant
            health = list(await condition(brain))
            async with open_session(
                desk,
                brain.settings,
                health=health,
                resume=given.conversation,
                fork=given.fork,
                client=desk.client(given.client),
            ) as session:
                yield {"conversation": str(session.conversation.id), "health": health}
                async for piece in session.ask(given.message):
                    for name in ("text", "tool", "notice", "failure"):
                        if value := getattr(piece, name):
                            yield {name: value}
                await session.settle()
            yield {"end": True}
