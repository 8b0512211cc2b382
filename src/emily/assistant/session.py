"""A session with Claude: the runtime of the Agent SDK, with tools that run in this process.

The runtime starts with nothing of its own: no tools, no settings, no servers, no commands. Each
call of a tool passes a gate. Its transcripts lie in the home folder, so that a session can be
gone on with.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from emily.assistant.conversations import Client, Conversation
from emily.assistant.descriptions import (
    INSTRUCTIONS,
    document_description,
    memory_description,
    proposal_description,
    search_description,
    write_description,
)
from emily.assistant.remembering import Remembering
from emily.assistant.tools import MODES, PROPOSE_MEMORY, SEARCH_MEMORY, Tools
from emily.assistant.turns import Conditions, Turn, TurnLog
from emily.assistant.writing import WRITE_FILE
from emily.errors import InputError, ModelUnavailable
from emily.settings import Settings, private_folder

if TYPE_CHECKING:
    from claude_agent_sdk import (
        AssistantMessage,
        ClaudeAgentOptions,
        ClaudeSDKClient,
        SdkMcpTool,
    )

    from emily.assistant.desk import Assistant

__all__ = ["CLIENT", "LOOKING", "Fork", "Piece", "Session", "key_of", "open_session", "persona"]

CLIENT = "chat"
"""The client of conversations in the terminal, in the ledger and for ``local_clients``."""

LOOKING = ("search_knowledge", "get_document", SEARCH_MEMORY)
"""Tools that look and do nothing else."""

_SERVER = "emily"
_NOT_NOW = "This conversation is asked again to measure it; nothing is done in it."
_PERSONA = (
    "You are Emily, a personal assistant with a second brain. Answer in the owner's language, "
    "briefly and plainly. Behind what you take from a document write its name and page or line in "
    "square brackets, such as [lease.pdf, page 3]."
)
_KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")
_TEXTS = {"type": "array", "items": {"type": "string"}}


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of an answer as it comes.

    Attributes:
        text: some of the answer, or nothing.
        tool: name of a tool that is being called.
        failure: why there is no answer, or no whole one.
        notice: what of Emily did not go well meanwhile; the answer comes all the same.
    """

    text: str = ""
    tool: str | None = None
    failure: str | None = None
    notice: str | None = None


@dataclass(frozen=True, slots=True)
class Fork:
    """Where a conversation is forked to ask again what was asked then.

    Nothing of such a fork is noted, learned or done outside: it only looks.

    Attributes:
        runtime: the runtime's session.
        after: the last message to keep, by the runtime's id.
        at: when that was; what was shown later cannot be opened.
    """

    runtime: str
    after: str
    at: datetime


class Session:
    """A conversation under way.

    Attributes:
        conversation: which one.
        conditions: under which its messages are sent.
        runtime: the runtime's session, once it has answered.
        turn: the last message with its answer, once that is whole.
    """

    def __init__(
        self,
        client: ClaudeSDKClient,
        desk: Assistant,
        tools: Tools,
        conditions: Conditions,
        log: TurnLog | None,
        remembering: Remembering | None = None,
    ) -> None:
        """Join the runtime to a conversation.

        Args:
            client: the runtime.
            desk: conversations, tools, ledger.
            tools: of the conversation.
            conditions: under which messages are sent.
            log: where turns are noted; none for a fork that only asks again.
            remembering: what joins it to memory; none for such a fork.
        """
        self._client = client
        self._desk = desk
        self._tools = tools
        self._log = log
        self._remembering = remembering
        self._begun = False
        self._spent = 0.0
        self.conversation = tools.conversation
        self.conditions = conditions
        self.runtime: str | None = None
        self.turn: Turn | None = None

    async def ask(self, message: str) -> AsyncIterator[Piece]:
        """Send a message; gives the answer piece by piece.

        The message is sent as it is: the runtime obeys no command in it and opens no file that
        it names.
        """
        from claude_agent_sdk import AssistantMessage, ResultMessage, StreamEvent, ToolUseBlock

        await self._desk.conversations.note(self.conversation.id, title=message[:80])
        self.turn = None
        answer: AssistantMessage | None = None
        looked = len(self._tools.looks)
        if self._remembering is not None:
            self._remembering.begin(message)
        await self._client.query(message)
        async for item in self._client.receive_response():
            for notice in self._notices():
                yield Piece(notice=notice)
            if isinstance(item, StreamEvent):
                delta = item.event.get("delta") or {}
                if delta.get("type") == "text_delta":
                    yield Piece(text=str(delta.get("text") or ""))
            elif isinstance(item, AssistantMessage):
                answer = item
                for block in item.content:
                    if isinstance(block, ToolUseBlock):
                        yield Piece(tool=block.name.removeprefix(f"mcp__{_SERVER}__"))
            elif isinstance(item, ResultMessage):
                self.runtime = item.session_id
                await self._desk.conversations.note(self.conversation.id, runtime=item.session_id)
                # An error of the API comes with the subtype "success".
                if item.is_error or item.subtype != "success":
                    yield Piece(failure=_failure(item))
                elif answer is not None and answer.uuid is not None:
                    self._keep(message, answer, item, looked)

    def _notices(self) -> Sequence[str]:
        return () if self._remembering is None else self._remembering.notices()

    def _keep(self, message: str, answer: Any, result: Any, looked: int) -> None:
        """Keep a whole turn, and note it."""
        usage = answer.usage or {}
        into = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        spent = float(result.total_cost_usd or 0.0)  # of the whole session so far
        self.turn = Turn(
            message=message,
            runtime=result.session_id,
            last=answer.uuid,
            model=answer.model,
            ended_at=datetime.now(UTC),
            looks=tuple(self._tools.looks[looked:]),
            tokens=sum(int(usage.get(name) or 0) for name in into),
            cost=max(0.0, spent - self._spent),
            conditions=self.conditions,
        )
        self._spent = spent
        if self._log is None:
            return
        if not self._begun:
            self._log.begin(self.conversation.id, self.conditions)
            self._begun = True
        self._log.add(self.conversation.id, self.turn)

    async def settle(self) -> None:
        """Wait for what runs behind the answers: facts that are drawn out of messages."""
        if self._remembering is not None:
            await self._remembering.settle()

    async def interrupt(self) -> None:
        """Stop the answer that is coming."""
        await self._client.interrupt()


def _failure(result: Any) -> str:
    status = f" (status {result.api_error_status})" if result.api_error_status else ""
    why = result.result or "; ".join(result.errors or ()) or result.subtype
    return f"Claude did not answer{status}: {' '.join(str(why).split())[:400]}"


def persona(settings: Settings) -> str:
    """Who Emily is in a conversation: the owner's file, or the built-in words.

    Raises:
        InputError: the file that is set cannot be read.
    """
    given = settings.persona.strip()
    path = Path(given).expanduser() if given else settings.home / "persona.md"
    try:
        return path.read_text("utf-8").strip() or _PERSONA
    except FileNotFoundError:
        if given:
            raise InputError(
                f"The persona {path} is not there (setting persona). Write it, or: "
                "emily config unset persona"
            ) from None
        return _PERSONA
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The persona {path} cannot be read: {error}") from None


@asynccontextmanager
async def open_session(
    desk: Assistant,
    settings: Settings,
    *,
    health: Sequence[str] = (),
    resume: UUID | None = None,
    fork: bool = False,
    replay: Fork | None = None,
    client: Client | None = None,
    environment: Mapping[str, str] = os.environ,
) -> AsyncIterator[Session]:
    """Open a session: a new one, or one to go on with.

    Args:
        desk: conversations, tools, ledger.
        settings: of the home folder.
        health: what of Emily is down, to be told to the model.
        resume: the conversation to go on with.
        fork: go on with a copy of it; the first stays as it is.
        replay: go on with a copy of it from this point on, to ask again what was asked there.
        client: who speaks; the terminal by default.
        environment: where a key may be.

    Raises:
        ModelUnavailable: the Agent SDK is not installed, has no key or does not start.
        InputError: the persona cannot be read, or there is no such conversation.
    """
    try:
        from claude_agent_sdk import ClaudeSDKClient, ClaudeSDKError
    except ImportError:
        raise ModelUnavailable(
            "emily chat speaks with Claude through the Claude Agent SDK, which is not installed. "
            "Install it with: pip install 'emily[chat]'"
        ) from None
    key = key_of(settings, environment)
    who = client or desk.client(CLIENT)
    if replay is not None and resume is not None:
        runtime: str | None = replay.runtime
        conversation = await desk.conversations.fork(who, resume, replay.at)
    else:
        runtime, conversation = await _conversation(desk, who, resume, fork=fork)
    tools = await desk.tools(who, conversation)
    remembering = None if replay is not None else Remembering(desk, settings, who, conversation)
    options, conditions = _options(
        settings,
        tools,
        key,
        health,
        runtime,
        fork=fork or replay is not None,
        replay=replay,
        remembering=remembering,
    )
    log = TurnLog(settings.home) if replay is None else None
    async with AsyncExitStack() as stack:
        try:
            sdk = await stack.enter_async_context(ClaudeSDKClient(options=options))
        except ClaudeSDKError as error:
            raise ModelUnavailable(f"Claude's runtime does not start: {error}") from None
        if remembering is not None:
            stack.push_async_callback(remembering.close)
            remembering.catch_up()
        yield Session(sdk, desk, tools, conditions, log, remembering)


async def _conversation(
    desk: Assistant, client: Client, resume: UUID | None, *, fork: bool
) -> tuple[str | None, Conversation]:
    """The runtime's session to go on with, and the conversation."""
    if resume is None:
        return None, await desk.conversations.open(client)
    known = {item.id: item for item in await desk.conversations.list(client.name, limit=10_000)}
    if resume not in known:
        raise InputError(f"There is no conversation {resume}. See: emily chat --list")
    runtime = known[resume].runtime
    if runtime is None:
        raise InputError(f"Nothing was answered in the conversation {resume}; begin a new one.")
    if fork:
        return runtime, await desk.conversations.fork(client, resume)
    return runtime, known[resume]


def key_of(settings: Settings, environment: Mapping[str, str]) -> dict[str, str]:
    """The variable by which the runtime gets its key.

    Raises:
        ModelUnavailable: there is none.
    """
    if settings.claude_key is not None:
        return {"ANTHROPIC_API_KEY": settings.claude_key.get_secret_value()}
    for name in _KEYS:
        if environment.get(name):
            return {name: environment[name]}
    raise ModelUnavailable(
        "There is no key for Claude. Set ANTHROPIC_API_KEY (or CLAUDE_CODE_OAUTH_TOKEN, which "
        "claude setup-token prints), or the setting claude_key."
    )


def _options(
    settings: Settings,
    tools: Tools,
    key: Mapping[str, str],
    health: Sequence[str],
    runtime: str | None,
    *,
    fork: bool,
    replay: Fork | None = None,
    remembering: Remembering | None = None,
) -> tuple[ClaudeAgentOptions, Conditions]:
    from claude_agent_sdk import ClaudeAgentOptions, HookMatcher, create_sdk_mcp_server

    home = private_folder(settings.home / "chat")
    offered = ["search_knowledge", "get_document", SEARCH_MEMORY, PROPOSE_MEMORY]
    if settings.writable_folders:
        offered.append(WRITE_FILE)
    names = [f"mcp__{_SERVER}__{name}" for name in offered]
    looking = [name for name in names if name.rpartition("__")[2] in LOOKING]

    async def gate(call: Any, _use: str | None, _context: Any) -> Any:
        """Nothing but our own tools, whatever the runtime would allow."""
        known = call["tool_name"] in names
        if known and (replay is None or call["tool_name"] in looking):
            return {}
        return {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": _NOT_NOW if known else "There is no such tool.",
            }
        }

    prompt = "\n\n".join([persona(settings), INSTRUCTIONS, *_state(health)])
    made = _made(settings, tools)
    conditions = Conditions(
        prompt=prompt,
        tools=tuple((item.name, item.description, _plain(item.input_schema)) for item in made),
        model=settings.claude_model,
        most_turns=settings.claude_turns,
        runtime=_runtime(),
        health=tuple(health),
    )
    hooks: dict[Any, Any] = {"PreToolUse": [HookMatcher(hooks=[gate])]}
    if remembering is not None:
        hooks["UserPromptSubmit"] = [HookMatcher(hooks=[remembering.before])]
        hooks["Stop"] = [HookMatcher(hooks=[remembering.after])]
    options = ClaudeAgentOptions(
        tools=[],
        setting_sources=[],
        strict_mcp_config=True,
        verbatim_prompts=True,
        # Of now, in a session that is gone on with too: the runtime would send that of its begin.
        system_prompt={"type": "custom", "prompt": prompt, "snapshot": False},
        mcp_servers={_SERVER: create_sdk_mcp_server(_SERVER, tools=made)},
        allowed_tools=names,
        hooks=hooks,
        include_partial_messages=True,
        model=settings.claude_model or None,
        max_turns=settings.claude_turns,
        resume=runtime,
        fork_session=fork,
        resume_session_at=None if replay is None else replay.after,
        cwd=home,
        env={
            **key,
            "HOME": str(home),
            "CLAUDE_CONFIG_DIR": str(home),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_MAX_RETRIES": "2",
        },
        stderr=lambda _line: None,
    )
    return options, conditions


def _runtime() -> str:
    from claude_agent_sdk import __version__

    try:
        from claude_agent_sdk._cli_version import __cli_version__
    except ImportError:  # no public name has it
        return str(__version__)
    return f"{__version__} with {__cli_version__}"


def _plain(schema: Any) -> dict[str, Any]:
    return dict(json.loads(json.dumps(schema)))


def _state(health: Sequence[str]) -> list[str]:
    if not health:
        return []
    listed = "\n".join(f"- {line}" for line in health)
    return [
        "Some parts of Emily are not well now. Say so to the owner in a sentence before your "
        f"first answer, and bear it in mind where you find nothing:\n{listed}"
    ]


_SEARCH = {
    "type": "object",
    "properties": {
        "queries": {**_TEXTS, "minItems": 1, "maxItems": 8},
        "date_from": {"type": "string"},
        "date_to": {"type": "string"},
        "types": _TEXTS,
        "languages": _TEXTS,
        "folder": {"type": "string"},
        "budget": {"type": "integer", "minimum": 1, "maximum": 10_000},
    },
    "required": ["queries"],
}
_DOCUMENT = {
    "type": "object",
    "properties": {
        "document": {"type": "integer"},
        "mode": {"type": "string", "enum": list(MODES)},
        "question": {"type": "string"},
    },
    "required": ["document", "mode"],
}

_FILE = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "text": {"type": "string"},
        "folder": {"type": "string"},
    },
    "required": ["name", "text"],
}


_QUERY = {
    "type": "object",
    "properties": {"query": {"type": "string"}},
    "required": ["query"],
}
_FACT = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "original": {"type": "string"},
        "document": {"type": "integer"},
    },
    "required": ["text"],
}


def _made(settings: Settings, tools: Tools) -> list[SdkMcpTool[Any]]:
    """The tools, for a server inside of this process."""
    from claude_agent_sdk import SdkMcpTool, ToolAnnotations

    async def search_knowledge(given: dict[str, Any]) -> dict[str, Any]:
        answer = await tools.search_knowledge(
            given["queries"],
            since=given.get("date_from"),
            until=given.get("date_to"),
            types=given.get("types") or (),
            languages=given.get("languages") or (),
            folder=given.get("folder"),
            budget=given.get("budget"),
        )
        return _content(answer.text, refused=answer.refused)

    async def get_document(given: dict[str, Any]) -> dict[str, Any]:
        answer = await tools.get_document(given["document"], given["mode"], given.get("question"))
        return _content(answer.text, refused=answer.refused)

    async def search_memory(given: dict[str, Any]) -> dict[str, Any]:
        answer = await tools.search_memory(given["query"])
        return _content(answer.text, refused=answer.refused)

    async def propose_memory(given: dict[str, Any]) -> dict[str, Any]:
        answer = await tools.propose_memory(
            given["text"], given.get("original") or "", given.get("document")
        )
        return _content(answer.text, refused=answer.refused)

    async def write_file(given: dict[str, Any]) -> dict[str, Any]:
        folder = given.get("folder") or ""
        answer = await tools.write_file(given["name"], given["text"], folder)
        return _content(answer.text, refused=answer.refused)

    return [
        SdkMcpTool(
            name=name,
            description=description,
            input_schema=schema,
            handler=handler,
            annotations=ToolAnnotations(readOnlyHint=name in LOOKING),
        )
        for name, description, schema, handler in (
            ("search_knowledge", search_description(settings), _SEARCH, search_knowledge),
            ("get_document", document_description(settings), _DOCUMENT, get_document),
            (SEARCH_MEMORY, memory_description(settings), _QUERY, search_memory),
            (PROPOSE_MEMORY, proposal_description(settings), _FACT, propose_memory),
            (WRITE_FILE, write_description(settings), _FILE, write_file),
        )
        if name != WRITE_FILE or settings.writable_folders
    ]


def _content(text: str, *, refused: bool) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "is_error": refused}
