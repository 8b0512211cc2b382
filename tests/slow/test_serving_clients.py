"""A real ``emily serve``: MCP clients at its port, conversations and approvals at its socket."""

from __future__ import annotations

import asyncio
import json
import socket
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from tests.integration.brain.conftest import fresh_database
from tests.integration.brain.test_conversation_with_claude import INSTALLED
from tests.integration.work.test_serve import Home, make_home
from tests.scripted_messages import ScriptedMessages, call, say, tool_results

from emily.cli.endpoint import described
from emily.gateways.tokens import Tokens
from emily.store import EmbeddedServer

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

RENT = "The rent of the flat in Via dei Tigli is 900 euros a month, due on the fifth."


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@asynccontextmanager
async def connected(url: str, token: str) -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http,
        Client(streamable_http_client(url, http_client=http), mode="legacy") as client,
    ):
        yield client


async def clients_at_once(url: str, token: str) -> None:
    """Twenty, each with a conversation of its own."""

    async def one() -> None:
        async with connected(url, token) as client:
            found = await client.call_tool("search_knowledge", {"query": "rent of the flat"})
            assert "900 euros" in found.content[0].text
            opened = await client.call_tool("get_document", {"document": 1, "question": "due?"})
            assert not opened.is_error
            refused = await client.call_tool("get_document", {"document": 2, "question": "due?"})
            assert refused.is_error

    await asyncio.gather(*(one() for _ in range(20)))


async def strangers(url: str, token: str) -> None:
    hello = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    good = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
    async with httpx.AsyncClient() as http:
        for headers, status in (
            ({"Authorization": f"Bearer {token}x"}, 401),
            ({"Authorization": ""}, 401),
            ({"Host": "evil.example"}, 421),
            ({"Host": "127.0.0.1.evil.example"}, 421),
            ({"Origin": "http://evil.example"}, 403),
            ({"Origin": "null"}, 403),
        ):
            answer = await http.post(url, json=hello, headers={**good, **headers})
            assert answer.status_code == status, headers


async def said(home: Home, **body: Any) -> tuple[str, list[dict[str, Any]]]:
    """A message by the socket: the text of the answer, and every event."""
    place = (described(home.folder) or {})["socket"]
    async with httpx.AsyncClient(
        transport=httpx.AsyncHTTPTransport(uds=place), base_url="http://emily", timeout=120
    ) as http:
        answer = await http.post("/v1/chat", json=body)
    events = [json.loads(line) for line in answer.text.splitlines()]
    return "".join(event.get("text", "") for event in events), events


async def test_clients_conversations_and_approvals_over_a_restart(
    server: EmbeddedServer, template: str, tmp_path: Path
) -> None:
    if not INSTALLED:
        pytest.skip("the Claude Agent SDK is not installed (pip install 'emily[chat]')")
    api, port = ScriptedMessages(), free_port()
    desk = tmp_path / "desk"
    desk.mkdir()
    with fresh_database(server, template) as database:
        async with api.served() as claude:
            home = make_home(tmp_path / "s", database)
            home.environment |= {
                "EMILY_MCP_PORT": str(port),
                "EMILY_WRITABLE_FOLDERS": json.dumps([str(desk)]),
                "ANTHROPIC_BASE_URL": claude,
                "ANTHROPIC_API_KEY": "sk-scripted",
            }
            (home.files / "rent.txt").write_text(RENT)
            await asyncio.to_thread(home.start)
            try:
                added = await asyncio.to_thread(home.run, "add", "rent.txt")
                assert added.returncode == 0, added.stderr
                mode = Path((described(home.folder) or {})["socket"]).stat().st_mode
                assert stat.S_IMODE(mode) == 0o600
                url, token = f"http://127.0.0.1:{port}/mcp", Tokens(home.folder).of("crowd")
                await strangers(url, token)
                await clients_at_once(url, token)
                wishes = await over_a_restart(home, api, desk)
            finally:
                assert home.stop() == 0
    assert "Dear Tosca" not in home.log[-1], "a log tells nothing of what was said"
    assert len(wishes) == 1


async def over_a_restart(home: Home, api: ScriptedMessages, desk: Path) -> list[dict[str, Any]]:
    """A wish waits while the service is started anew; then it is decided, done and told."""
    wish = call("write_file", name="letter.md", text="Dear Tosca")
    api.script = [wish, say("It waits.")]
    text, events = await said(home, message="Write to Tosca.", client="page")
    assert text == "It waits."
    assert {"tool": "write_file"} in events
    assert events[-1] == {"end": True}
    conversation = events[0]["conversation"]
    assert "nothing is written yet" in tool_results(api.requests[-1])[-1]
    assert list(desk.iterdir()) == []

    def ask(method: str, path: str, **body: Any) -> httpx.Response:
        with home.client() as client:
            return client.request(method, path, **({"json": body} if body else {}))

    (waiting,) = ask("GET", "/v1/approvals").json()["approvals"]
    decision = {"digest": waiting["digest"], "approve": True, "by": "Tosca's owner on the page"}
    refused = ask("POST", f"/v1/approvals/{waiting['id']}", **decision)
    assert refused.status_code == 400
    assert "decide_by_socket" in refused.text
    # Started anew, by an owner who lets a surface of his own decide.
    assert home.stop() == 0
    (home.folder / "settings.toml").write_text("decide_by_socket = true\n")
    await asyncio.to_thread(home.start)
    api.script = [wish, say("It still waits.")]
    assert (await said(home, message="And?", conversation=conversation, client="page"))[0] == (
        "It still waits."
    )
    forged = ask("POST", f"/v1/approvals/{waiting['id']}", **(decision | {"digest": "0" * 64}))
    assert forged.status_code == 400
    assert list(desk.iterdir()) == []
    done = ask("POST", f"/v1/approvals/{waiting['id']}", **decision).json()["approvals"][0]
    assert (done["state"], done["decided_by"]) == ("done", f"{decision['by']} by the socket")
    assert (desk / "letter.md").read_text() == "Dear Tosca"
    twice = ask("POST", f"/v1/approvals/{waiting['id']}", **decision)
    assert "it is decided once" in twice.text
    api.script = [wish, say("Written.")]
    await said(home, message="And now?", conversation=conversation, client="page")
    assert "letter.md was written." in tool_results(api.requests[-1])[-1]
    # Another surface cannot go on with the conversation; what is malformed is refused.
    _, events = await said(home, message="Me too", conversation=conversation, client="other")
    assert "There is no conversation" in events[-1]["failure"]
    assert ask("POST", "/v1/chat", message="").status_code == 400
    assert ask("GET", "/v1/approvals/99").status_code == 400
    return list(ask("GET", "/v1/approvals?all=1").json()["approvals"])
