"""The server over stdin and stdout, as a client starts it."""

from __future__ import annotations

import os
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING
from uuid import UUID

from emily.gateways.mcp.callers import StdioCallers
from emily.gateways.mcp.server import make_server
from emily.gateways.mcp.waking import Waking

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from emily.brain import Brain
    from emily.settings import Settings

__all__ = ["SESSION_VARIABLES", "brain_in_background", "serve_stdio"]

SESSION_VARIABLES = ("EMILY_CONVERSATION_SESSION", "CLAUDE_CODE_SESSION_ID")
"""Variables by which a client names its own session to the servers that it starts."""


async def serve_stdio(settings: Settings, client: str, conversation: UUID | None = None) -> None:
    """Serve until stdin ends. Every line of stdout is a message of the protocol.

    Args:
        settings: of the home folder.
        client: name of who started this process.
        conversation: to go on with; else the one of the client's own session, or a new one.
    """
    session = next(filter(None, map(os.environ.get, SESSION_VARIABLES)), None)
    callers = StdioCallers(client, session=session, conversation=conversation)
    waking = Waking(lambda: brain_in_background(settings))
    async with waking.running():
        await make_server(waking, callers, settings).run_stdio_async()


def brain_in_background(settings: Settings) -> AbstractAsyncContextManager[Brain]:
    """The brain, imported and opened beside what answers the client meanwhile."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[Brain]:
        import asyncio

        # The first messages of the client come first: imports hold the interpreter.
        await asyncio.sleep(0.3)
        brain = await asyncio.to_thread(_imported)
        from emily.gateways.mcp.patient import PatientEmbedder
        from emily.parts import make_embedder

        embedder = PatientEmbedder(make_embedder(settings), settings.mcp_seconds / 2)
        async with brain.open(settings, embedder=embedder) as it:
            yield it

    return opened()


def _imported() -> type[Brain]:
    from emily.brain import Brain

    return Brain
