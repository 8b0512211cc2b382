"""The server over streamable HTTP, to stand alone or inside of another application."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecuritySettings

from emily.errors import SettingError
from emily.gateways.guard import Application, Guard, Receive, Scope, Send
from emily.gateways.mcp.callers import HttpCallers
from emily.gateways.mcp.server import make_server
from emily.gateways.mcp.waking import awake
from emily.gateways.tokens import Tokens

if TYPE_CHECKING:
    from emily.brain import Brain
    from emily.gateways.mcp.waking import Waking
    from emily.settings import Settings

__all__ = ["PATH", "McpOverHttp", "serve_beside", "serve_http"]

PATH = "/mcp"

_log = logging.getLogger("emily.mcp")


class McpOverHttp:
    """The ASGI application of the MCP server.

    Mount ``app`` where you like and keep ``running`` entered while it serves::

        mcp = McpOverHttp(awake(brain), settings)
        async with mcp.running():
            ...  # serve mcp.app

    Attributes:
        app: the guarded application; it answers at ``/mcp``.
    """

    def __init__(self, waking: Waking, settings: Settings, hosts: Iterable[str] = ()) -> None:
        """Make the application.

        Args:
            waking: the brain.
            settings: of the home folder, where the tokens are.
            hosts: names of this machine beside those of loopback.
        """
        self._waking = waking
        server = make_server(waking, HttpCallers(), settings)
        # The guard has looked at Host and Origin, on every path.
        off = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        inner = server.streamable_http_app(streamable_http_path=PATH, transport_security=off)
        self._sessions = server.session_manager
        self.app: Application = Guard(_known(inner), Tokens(settings.home), hosts)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep sessions, and the brain awake."""
        async with self._waking.running(), self._sessions.run():
            yield


def _known(app: Application) -> Application:
    """Tell the protocol's own sessions who opened them: no other client may use one."""

    async def known(scope: Scope, receive: Receive, send: Send) -> None:
        client = str(scope["emily.client"])
        token = AccessToken(token="", client_id=client, scopes=[])
        await app({**scope, "user": AuthenticatedUser(token)}, receive, send)

    return known


async def serve_beside(brain: Brain, settings: Settings, ended: asyncio.Event) -> None:
    """Serve on the loopback port of the setting ``mcp_port``, beside other work, until it ends.

    Where nothing can listen there, that is logged, and the other work goes on.

    Args:
        brain: open, and kept so by whoever opened it.
        settings: of the home folder; no port, nothing served.
        ended: when to stop.
    """
    if not settings.mcp_port:
        return
    import uvicorn

    class Beside(uvicorn.Server):
        """Leaves the signals of the process to whoever owns it."""

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    try:
        listening = socket.create_server(("127.0.0.1", settings.mcp_port))
    except OSError as error:
        _log.error(
            "MCP is not served: nothing can listen on 127.0.0.1:%d (%s). Choose another port with "
            "the setting mcp_port.", settings.mcp_port, error.strerror,
        )  # fmt: skip
        return
    tokens = Tokens(settings.home)
    with listening:
        try:
            if not tokens.all():
                tokens.of("default")
        except SettingError as error:
            _log.error("MCP is not served: %s", error)
            return
        mcp = McpOverHttp(awake(brain), settings)
        config = uvicorn.Config(
            mcp.app,
            lifespan="off",
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=3,
        )
        server = Beside(config)
        async with mcp.running():
            serving = asyncio.create_task(server.serve(sockets=[listening]))
            await asyncio.wait(
                [serving, stopping := asyncio.create_task(ended.wait())],
                return_when=asyncio.FIRST_COMPLETED,
            )
            stopping.cancel()
            server.should_exit = True
            await serving


async def serve_http(
    waking: Waking, settings: Settings, host: str, port: int, hosts: Iterable[str] = ()
) -> None:
    """Serve until the process is told to end.

    Args:
        waking: the brain.
        settings: of the home folder.
        host: address to listen on.
        port: to listen on.
        hosts: names of this machine beside those of loopback.
    """
    import uvicorn

    mcp = McpOverHttp(waking, settings, hosts)
    config = uvicorn.Config(
        mcp.app,
        host=host,
        port=port,
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=3,
    )
    async with mcp.running():
        await uvicorn.Server(config).serve()
