"""The server: its tools, described for a model, with progress, cancellation and a deadline."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from importlib import metadata
from typing import TYPE_CHECKING, Annotated, Any, Literal

from mcp.server.mcpserver import Context, MCPServer
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field

from emily.assistant.descriptions import (
    INSTRUCTIONS,
    document_description,
    memory_description,
    proposal_description,
    search_description,
    write_description,
)
from emily.assistant.sheets import for_model, said
from emily.errors import EmilyError

if TYPE_CHECKING:
    from emily.assistant import Tools, ToolText
    from emily.gateways.mcp.callers import Callers
    from emily.gateways.mcp.waking import Waking
    from emily.settings import Settings

__all__ = ["make_server"]

_TELL_SECONDS = 1.0
_READING = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)

_ASKING = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)

_log = logging.getLogger("emily.mcp")

Queries = Annotated[
    list[str],
    Field(
        default_factory=list,
        max_length=8,
        description="Three or four wordings: the question, its translation, the documents' words.",
    ),
]
Query = Annotated[str, Field(description="A single question, where there is but one wording.")]
Day = Annotated[str, Field(description="Year, month or day: 2024, 2024-03, 2024-03-15.")]
Types = Annotated[
    list[str],
    Field(default_factory=list, description="Only these types: pdf, mail, sheet, image, web …"),
]
Languages = Annotated[
    list[str],
    Field(default_factory=list, description="Only documents in these languages: it, en …"),
]
Folder = Annotated[str, Field(description="Only documents in this folder.")]
Budget = Annotated[
    int,
    Field(
        ge=0,
        le=10_000,
        description="Most tokens of all passages together; 0: as many as a search shows.",
    ),
]
Document = Annotated[int, Field(description="Number of the document, from search_knowledge.")]
Mode = Annotated[
    Literal["summary", "answer"],
    Field(description="answer: passages for your question; summary: what it is about."),
]
Question = Annotated[str, Field(description="What you want to know from it; for mode answer.")]

About = Annotated[str, Field(description="What you want to know, a question or some words.")]
Remembered = Annotated[str, Field(description="One lasting fact, a sentence in English.")]
Said = Annotated[str, Field(description="The words in which it was said, in their language.")]
From = Annotated[int, Field(ge=0, description="Number of the document it comes from; 0: none.")]

FileName = Annotated[str, Field(description="Name of the file, such as notes.md; no folder in it.")]
FileText = Annotated[str, Field(description="The whole text of the file.")]
FileFolder = Annotated[str, Field(description="Which of the folders, where there are several.")]


def make_server(waking: Waking, callers: Callers, settings: Settings) -> MCPServer:
    """An MCP server over a brain that may still be asleep.

    Args:
        waking: the brain.
        callers: tells who calls.
        settings: descriptions of the tools, and the deadline.
    """
    server = MCPServer(
        "emily",
        title="Emily",
        instructions=INSTRUCTIONS,
        version=metadata.version("emily"),
        log_level="WARNING",
        subscriptions=False,
    )

    async def called(
        context: Context[Any, Any], use: Callable[[Tools], Coroutine[Any, Any, ToolText]]
    ) -> CallToolResult:
        return await _called(waking, callers, settings.mcp_seconds, context, use)

    async def search_knowledge(
        context: Context,
        queries: Queries,
        types: Types,
        languages: Languages,
        query: Query = "",
        date_from: Day = "",
        date_to: Day = "",
        folder: Folder = "",
        budget: Budget = 0,
    ) -> CallToolResult:
        asked = [*([query] if query.strip() else []), *queries]
        return await called(
            context,
            lambda tools: tools.search_knowledge(
                asked,
                since=date_from,
                until=date_to,
                types=types,
                languages=languages,
                folder=folder,
                budget=budget or None,
            ),
        )

    async def get_document(
        context: Context,
        document: Document,
        mode: Mode = "answer",
        question: Question = "",
    ) -> CallToolResult:
        return await called(context, lambda tools: tools.get_document(document, mode, question))

    server.add_tool(
        search_knowledge,
        title="Search the archive",
        description=search_description(settings),
        annotations=_READING,
        structured_output=False,
    )
    server.add_tool(
        get_document,
        title="Look into a document",
        description=document_description(settings),
        annotations=_READING,
        structured_output=False,
    )

    async def search_memory(context: Context, query: About) -> CallToolResult:
        return await called(context, lambda tools: tools.search_memory(query))

    async def propose_memory(
        context: Context, text: Remembered, original: Said = "", document: From = 0
    ) -> CallToolResult:
        return await called(
            context, lambda tools: tools.propose_memory(text, original, document or None)
        )

    server.add_tool(
        search_memory,
        title="Look into what is remembered",
        description=memory_description(settings),
        annotations=_READING,
        structured_output=False,
    )
    server.add_tool(
        propose_memory,
        title="Propose something to remember",
        description=proposal_description(settings),
        annotations=_ASKING,
        structured_output=False,
    )

    async def write_file(
        context: Context, name: FileName, text: FileText, folder: FileFolder = ""
    ) -> CallToolResult:
        return await called(context, lambda tools: tools.write_file(name, text, folder))

    if settings.writable_folders:
        server.add_tool(
            write_file,
            title="Ask to write a new file",
            description=write_description(settings),
            annotations=_ASKING,
            structured_output=False,
        )
    return server


async def _called(
    waking: Waking,
    callers: Callers,
    seconds: float,
    context: Context[Any, Any],
    use: Callable[[Tools], Coroutine[Any, Any, ToolText]],
) -> CallToolResult:
    """Run a tool, telling of progress, within the time that a client waits."""
    started = time.monotonic()

    async def tell(elapsed: float, what: str) -> None:
        with suppress(Exception):  # a client that cannot be told gets its result all the same
            await context.report_progress(elapsed, seconds, what)

    async def work() -> ToolText:
        caller = callers.of(context)
        brain = await waking.brain(seconds * 0.8, tell)
        desk = brain.assistant
        tools = await desk.tools(desk.client(caller.client, caller.declared), caller.conversation)
        return await use(tools)

    ticking = asyncio.create_task(_tick(started, tell))
    try:
        async with asyncio.timeout(seconds):
            answer = await work()
    except TimeoutError:
        return _result(
            [
                f"This took more than {seconds:g} s and was given up, so nothing was looked for "
                "(setting mcp_seconds). Ask again in a moment, or more narrowly."
            ]
        )
    except EmilyError as error:
        return _result([for_model(line) for line in str(error).split("\n")])
    except Exception:  # noqa: BLE001 - its text may quote a document and stays here
        _log.exception("a tool failed")
        return _result(["Something went wrong in Emily; her log on stderr has it."])
    finally:
        ticking.cancel()
    return CallToolResult(
        content=[TextContent(type="text", text=answer.text)], is_error=answer.refused
    )


async def _tick(started: float, tell: Callable[[float, str], Awaitable[None]]) -> None:
    while True:
        await asyncio.sleep(_TELL_SECONDS)
        await tell(time.monotonic() - started, "looking")


def _result(notices: list[str]) -> CallToolResult:
    text = "\n".join(said(notices))
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)
