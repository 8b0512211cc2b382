"""The guard before a server on HTTP: who is asked for, from where, and who asks.

A page of a stranger's in the owner's browser can send requests to this machine, also under a name
of its own that leads here (DNS rebinding). It cannot forge ``Host`` and ``Origin``, and has no
token.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from emily.errors import SettingError
from emily.gateways.tokens import Tokens
from emily.models.servers import is_loopback

__all__ = ["Guard"]

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


class Guard:
    """Lets through what asks for this machine, from nowhere else, with a token.

    The client of the token stands in the scope as ``emily.client``.
    """

    def __init__(self, app: Application, tokens: Tokens, hosts: Iterable[str] = ()) -> None:
        """Stand before an application.

        Args:
            app: the ASGI application.
            tokens: of the clients.
            hosts: names of this machine beside those of loopback.
        """
        self._app = app
        self._tokens = tokens
        self._hosts = {host.lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        given: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            given.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        hosts = given.get("host", [])
        if len(hosts) != 1 or not self._is_ours(hosts[0]):
            await _refuse(send, 421, "This server is not the one that is asked for (Host).")
            return
        origins = given.get("origin", [])
        if any(origin not in (f"http://{hosts[0]}", f"https://{hosts[0]}") for origin in origins):
            await _refuse(send, 403, "Pages of other places may not ask this server (Origin).")
            return
        try:
            client = self._client(given.get("authorization", []))
        except SettingError as error:
            await _refuse(send, 503, str(error))
            return
        if client is None:
            await _refuse(
                send,
                401,
                "No valid token. The owner shows one with: emily mcp token",
                (b"www-authenticate", b'Bearer realm="emily", error="invalid_token"'),
            )
            return
        await self._app({**scope, "emily.client": client}, receive, send)

    def _is_ours(self, host: str) -> bool:
        try:
            parts = urlsplit(f"//{host}")
            name = parts.hostname or ""
            parts.port  # noqa: B018 - raises for what is no number
        except ValueError:
            return False
        if parts.username is not None or parts.path or parts.query or parts.fragment:
            return False
        return is_loopback(name) or name.lower() in self._hosts

    def _client(self, given: list[str]) -> str | None:
        if len(given) != 1:
            return None
        scheme, _, token = given[0].partition(" ")
        return self._tokens.client_of(token.strip()) if scheme.lower() == "bearer" else None


async def _refuse(send: Send, status: int, why: str, *headers: tuple[bytes, bytes]) -> None:
    body = json.dumps({"error": why}).encode()
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [
                (b"content-type", b"application/json"),
                (b"content-length", str(len(body)).encode()),
                *headers,
            ],
        }
    )
    await send({"type": "http.response.body", "body": body})
