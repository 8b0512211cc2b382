"""The API of ``emily serve``, on a socket of the owner's: JSON as ``--json`` prints it.

Later faces put authentication on top of the brain, not on top of this: whoever can open the
socket is the owner.
"""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from emily.cli.contract import (
    Output,
    add_output,
    alerts_output,
    as_text,
    error_output,
    list_output,
    search_output,
    show_output,
    status_output,
)
from emily.cli.local_conversations import Chatting, approval, approvals, decided
from emily.cli.plain import plain
from emily.cli.served import Command, Terminal
from emily.cli.working_contract import add_later_output, jobs_output, retry_output
from emily.errors import (
    EmilyError,
    InputError,
    ModelUnavailable,
    StoreUnavailable,
    UnknownDocument,
)
from emily.retrieval.filters import parse_filters
from emily.version import VERSION

if TYPE_CHECKING:
    from emily.brain import Brain

__all__ = ["LocalApi"]

_log = logging.getLogger("emily.serve")


class _Given(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Search(_Given):
    query: str | list[str]
    limit: int | None = None
    threshold: float | None = None
    preset: str | None = None
    budget: int | None = None
    operators: bool = True
    since: str | None = None
    until: str | None = None
    types: list[str] = []
    languages: list[str] = []
    folder: str | None = None
    explain: bool = False


class _Ask(_Given):
    document: str | int
    question: str
    limit: int | None = None
    explain: bool = False


class _Add(_Given):
    paths: list[str] = Field(min_length=1)
    later: bool = False
    passwords: list[str] = []


class _Retry(_Given):
    document: str | int | None = None


class _Relayed(BaseModel):
    version: str
    home: str
    arguments: list[str]
    folder: str | None
    environment: dict[str, str] = {}
    terminal: dict[str, Any] = {}


class LocalApi:
    """The API over one brain.

    Args:
        use: gives the open brain for the time of a request; it waits while none is open.
        home: that is served, resolved.
        environment: the variables that were settings when the server began.
    """

    def __init__(
        self,
        use: Callable[[], AbstractAsyncContextManager[Brain]],
        home: str,
        environment: Mapping[str, str],
    ) -> None:
        self._use = use
        self._home = home
        self._environment = dict(environment)
        self._commands: dict[int, Command] = {}
        self._numbers = itertools.count(1)

    def application(self) -> Starlette:
        """The ASGI application."""
        routes = [
            Route("/v1/", self._about, methods=["GET"]),
            Route("/v1/command", self._command, methods=["POST"]),
            Route("/v1/command/{number:int}/interrupt", self._interrupt, methods=["POST"]),
            Route("/v1/status", self._plain(_status), methods=["GET"]),
            Route("/v1/documents", self._plain(_documents), methods=["GET"]),
            Route("/v1/documents/{document:path}", self._plain(_document), methods=["GET"]),
            Route("/v1/search", self._plain(_searched), methods=["POST"]),
            Route("/v1/ask", self._plain(_asked), methods=["POST"]),
            Route("/v1/add", self._plain(_added), methods=["POST"]),
            Route("/v1/jobs", self._plain(_jobs), methods=["GET"]),
            Route("/v1/retry", self._plain(_retried), methods=["POST"]),
            Route("/v1/chat", Chatting(self._use).answer, methods=["POST"]),
            Route("/v1/approvals", self._plain(approvals), methods=["GET"]),
            Route("/v1/approvals/{number:int}", self._plain(approval), methods=["GET"]),
            Route("/v1/approvals/{number:int}", self._plain(decided), methods=["POST"]),
            Route("/v1/alerts", self._plain(_alerts), methods=["GET"]),
            Route(
                "/v1/alerts/{name:path}/acknowledge", self._plain(_acknowledged), methods=["POST"]
            ),
        ]
        return Starlette(routes=routes)

    async def _about(self, _request: Request) -> Response:
        return JSONResponse({"version": VERSION, "home": self._home})

    def _plain(
        self, work: Callable[[Brain, Request], Awaitable[Output]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """A route that gives one JSON document, or an error as one."""

        async def answer(request: Request) -> Response:
            try:
                async with self._use() as brain:
                    return _json(await work(brain, request))
            except ValidationError as error:
                first = error.errors()[0]
                place = ".".join(map(str, first["loc"])) or "the body"
                return _json(error_output("InputError", f"{place}: {first['msg']}"), 400)
            except UnknownDocument as error:
                return _json(error_output(type(error).__name__, str(error)), 404)
            except InputError as error:
                return _json(error_output(type(error).__name__, str(error)), 400)
            except (StoreUnavailable, ModelUnavailable) as error:
                return _json(error_output(type(error).__name__, str(error)), 503)
            except EmilyError as error:
                return _json(error_output(type(error).__name__, str(error)), 500)
            except ClientDisconnect:
                return Response(status_code=400)
            except Exception as error:  # noqa: BLE001 - a fault in one request must not end others
                _log.exception("a request failed by a fault in Emily")
                name = type(error).__name__
                return _json(error_output(name, f"Unexpected error, {name}: {error}"), 500)

        return answer

    async def _command(self, request: Request) -> Response:
        """Run a command of the command line; its output comes as events, one a line."""
        try:
            given = _Relayed.model_validate_json(await request.body())
        except ValidationError:
            return JSONResponse({"reason": "it does not understand this version."}, 409)
        reason = self._refused(given)
        if reason is not None:
            return JSONResponse({"reason": reason}, 409)
        return StreamingResponse(self._events(given), media_type="application/x-ndjson")

    def _refused(self, given: _Relayed) -> str | None:
        """Why the server must not run a command for that program; ``None`` if it may."""
        if given.version != VERSION:
            return (
                f"it is of version {VERSION}, and this is {given.version}. Start it again: "
                "emily stop, then emily serve"
            )
        if given.home != self._home:
            return f"it serves {self._home}."
        if given.folder is None:
            return "the current folder is gone."
        other = sorted(
            name
            for name in {*given.environment, *self._environment}
            if given.environment.get(name) != self._environment.get(name)
        )
        if other:
            return f"it was started with another value of {', '.join(other)}."
        return None

    async def _events(self, given: _Relayed) -> AsyncIterator[bytes]:
        try:
            async for event in self._ran(given):
                yield _line(event)
        except EmilyError as error:  # the brain could not be opened
            if "--json" in given.arguments:
                encoding = str(given.terminal.get("encoding") or "utf-8")
                text = as_text(error_output(type(error).__name__, str(error)), encoding)
                yield _line({"out": f"{text}\n"})
            yield _line({"err": f"emily: {plain(str(error))}\n"})
            yield _line({"exit": 1})

    async def _ran(self, given: _Relayed) -> AsyncIterator[dict[str, Any]]:
        loop = asyncio.get_running_loop()
        events: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        number = next(self._numbers)

        def send(event: dict[str, Any] | None) -> None:
            loop.call_soon_threadsafe(events.put_nowait, event)

        async with self._use() as brain:
            terminal = Terminal(
                out=given.terminal.get("out") is True,
                err=given.terminal.get("err") is True,
                encoding=str(given.terminal.get("encoding") or "utf-8"),
                columns=given.terminal.get("columns"),
                environment=given.terminal.get("environment") or {},
            )
            command = Command(brain, loop, given.arguments, given.folder or "/", terminal, send)
            self._commands[number] = command

            async def run() -> None:
                code = 1
                try:
                    code = await run_in_threadpool(command.run)
                except Exception:
                    _log.exception("a command failed by a fault in Emily")
                    raise
                finally:
                    send({"exit": code})
                    send(None)

            running = asyncio.create_task(run())
            try:
                yield {"command": number}
                while (event := await events.get()) is not None:
                    yield event
            finally:
                del self._commands[number]
                if not running.done():  # the other end has gone
                    command.interrupt()
                await asyncio.gather(running, return_exceptions=True)

    async def _interrupt(self, request: Request) -> Response:
        command = self._commands.get(request.path_params["number"])
        if command is not None:
            command.interrupt()
        return JSONResponse({"interrupted": command is not None})


def _line(event: dict[str, Any]) -> bytes:
    return json.dumps(event).encode("ascii") + b"\n"


def _json(document: Output, status: int = 200) -> Response:
    # A name of a file may hold what UTF-8 cannot; ASCII with escapes can say it.
    body = json.dumps(dataclasses.asdict(document), allow_nan=False)
    return Response(body, status, media_type="application/json")


async def _status(brain: Brain, _request: Request) -> Output:
    return status_output(await brain.status())


async def _documents(brain: Brain, _request: Request) -> Output:
    return list_output(await brain.list())


async def _document(brain: Brain, request: Request) -> Output:
    return show_output(await brain.show(request.path_params["document"]))


async def _searched(brain: Brain, request: Request) -> Output:
    given = _Search.model_validate_json(await request.body())
    filters = parse_filters(
        since=given.since,
        until=given.until,
        kinds=given.types,
        languages=given.languages,
        folder=given.folder,
    )
    answer = await brain.search(
        given.query,
        limit=given.limit,
        threshold=given.threshold,
        filters=filters,
        preset=given.preset,
        budget=given.budget,
        operators=given.operators,
    )
    return search_output(answer, explain=given.explain)


async def _asked(brain: Brain, request: Request) -> Output:
    given = _Ask.model_validate_json(await request.body())
    answer = await brain.ask(given.document, given.question, limit=given.limit)
    return search_output(answer, explain=given.explain)


async def _added(brain: Brain, request: Request) -> Output:
    given = _Add.model_validate_json(await request.body())
    if given.later:
        if given.passwords:
            raise InputError("A password is never stored, so 'later' takes none.")
        return add_later_output(await brain.work.add_later(given.paths))
    return add_output(await brain.add(given.paths, passwords=given.passwords))


async def _jobs(brain: Brain, _request: Request) -> Output:
    return jobs_output(await brain.work.jobs(), await brain.work.counts())


async def _retried(brain: Brain, request: Request) -> Output:
    given = _Retry.model_validate_json(await request.body() or b"{}")
    return retry_output(await brain.work.retry(given.document))


async def _alerts(brain: Brain, _request: Request) -> Output:
    return alerts_output(await brain.alerts.open(), await brain.alerts.resolved())


async def _acknowledged(brain: Brain, request: Request) -> Output:
    await brain.alerts.acknowledge(request.path_params["name"])
    return alerts_output(await brain.alerts.open(), ())
