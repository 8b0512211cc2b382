"""A Messages API on loopback that says what a script has it say, and keeps what it was sent.

The real runtime of Claude holds whole conversations with it. A script is a list of replies, each
a function from the body of a request to blocks: ``{"type": "text", "text": …}`` or ``{"type":
"tool_use", "name": …, "input": {…}}``.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

__all__ = ["Reply", "ScriptedMessages", "call", "say", "tool_results"]

Reply = Callable[[dict[str, Any]], list[dict[str, Any]]]


def say(text: str) -> Reply:
    """Answers with a text."""
    return lambda _: [{"type": "text", "text": text}]


def call(name: str, /, **given: Any) -> Reply:
    """Calls a tool, found by the end of its name."""

    def reply(body: dict[str, Any]) -> list[dict[str, Any]]:
        named = [tool["name"] for tool in body.get("tools", [])]
        whole = next((item for item in named if item.endswith(name)), name)
        return [{"type": "tool_use", "name": whole, "input": given}]

    return reply


def blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def tool_results(body: dict[str, Any]) -> list[str]:
    """The texts of all results of tools in a request, in order."""
    found = []
    for message in body["messages"]:
        for block in blocks(message):
            if block.get("type") != "tool_result":
                continue
            content = block.get("content") or ""
            found.append(
                content
                if isinstance(content, str)
                else "\n".join(item.get("text", "") for item in content)
            )
    return found


class ScriptedMessages:
    """The API. ``async with ScriptedMessages([...]).served() as url``.

    Attributes:
        requests: bodies of the requests for messages, in order.
        others: other requests: method and path.
        status: answer with this error instead, if it is not 0.
    """

    def __init__(self, script: Sequence[Reply] = ()) -> None:
        self.script = list(script)
        self.requests: list[dict[str, Any]] = []
        self.others: list[str] = []
        self.status = 0
        self._numbers = itertools.count(1)

    @asynccontextmanager
    async def served(self) -> AsyncIterator[str]:
        """Serve on a port of its own; gives the address."""
        app = Starlette(
            routes=[
                Route("/v1/messages", self._messages, methods=["POST"]),
                Route("/{rest:path}", self._other, methods=["GET", "POST", "HEAD"]),
            ]
        )
        config = uvicorn.Config(app, port=0, log_level="error", lifespan="off")
        server = uvicorn.Server(config)
        running = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        finally:
            server.should_exit = True
            await running

    async def _other(self, request: Request) -> Response:
        self.others.append(f"{request.method} {request.url.path}")
        return JSONResponse({"type": "error"}, status_code=404)

    async def _messages(self, request: Request) -> Response:
        body = await request.json()
        self.requests.append(body)
        if self.status:
            error = {"type": "invalid_request_error", "message": "scripted failure"}
            return JSONResponse({"type": "error", "error": error}, status_code=self.status)
        said = self.script.pop(0)(body) if self.script else [{"type": "text", "text": "(end)"}]
        number = next(self._numbers)
        for place, block in enumerate(said):
            if block["type"] == "tool_use":
                block["id"] = f"toolu_{number:04d}_{place}"
        stop = "tool_use" if said[-1]["type"] == "tool_use" else "end_turn"
        usage = {"input_tokens": 10, "output_tokens": 10}
        message = {
            "id": f"msg_{number:06d}", "type": "message", "role": "assistant",
            "model": body["model"], "content": [], "stop_reason": None, "stop_sequence": None,
            "usage": usage,
        }  # fmt: skip
        if not body.get("stream"):
            return JSONResponse({**message, "content": said, "stop_reason": stop})
        events = self._events(message, said, stop, usage)
        return StreamingResponse(events, media_type="text/event-stream")

    @staticmethod
    async def _events(
        message: dict[str, Any], said: list[dict[str, Any]], stop: str, usage: dict[str, int]
    ) -> AsyncIterator[str]:
        def event(name: str, **data: Any) -> str:
            return f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n"

        yield event("message_start", message=message)
        for index, block in enumerate(said):
            if block["type"] == "text":
                empty, half = {"type": "text", "text": ""}, max(1, len(block["text"]) // 2)
                pieces = [block["text"][:half], block["text"][half:]]
                deltas = [{"type": "text_delta", "text": piece} for piece in pieces]
            else:
                empty = {**block, "input": {}}
                given = json.dumps(block["input"])
                deltas = [{"type": "input_json_delta", "partial_json": given}]
            yield event("content_block_start", index=index, content_block=empty)
            for delta in deltas:
                yield event("content_block_delta", index=index, delta=delta)
            yield event("content_block_stop", index=index)
        yield event(
            "message_delta", delta={"stop_reason": stop, "stop_sequence": None}, usage=usage
        )
        yield event("message_stop")
