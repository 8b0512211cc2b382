"""The command ``emily chat``: a conversation with Claude in the terminal."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from emily.cli.plain import one_line, plain
from emily.cli.session import AsJson, guarded, say_json, session_of
from emily.errors import InputError, ModelError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emily.assistant.ledger import EgressEntry, SentDocument
    from emily.assistant.session import Session
    from emily.brain import Brain

__all__ = ["chat"]

_MOST_ENTRIES = 1000


@guarded
def chat(
    context: typer.Context,
    message: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MESSAGE]…",
            help="Ask this alone; without it you are asked for one message after the other.",
            show_default=False,
        ),
    ] = None,
    resume: Annotated[
        str | None,
        typer.Option(
            "--resume",
            metavar="ID",
            help="Go on with this conversation; last is the latest one.",
            show_default=False,
        ),
    ] = None,
    fork: Annotated[
        bool, typer.Option("--fork", help="With --resume: go on with a copy of it.")
    ] = False,
    listed: Annotated[bool, typer.Option("--list", help="List the conversations.")] = False,
    as_json: AsJson = False,
) -> None:
    """Talk with Claude, who looks into your archive and cites it.

    What you write and the passages that Claude asks for go to Anthropic: emily egress tells
    which, emily private keeps documents back. It needs the extra chat (pip install
    'emily[chat]') and a key in ANTHROPIC_API_KEY. persona.md in the home folder says who Emily
    is; an empty line or Ctrl-D ends the conversation.
    """
    session = session_of(context)
    if fork and resume is None:
        raise InputError("--fork needs --resume: the conversation to copy.")
    asked = " ".join(message or ())
    if as_json and not listed and not asked.strip():
        raise InputError("--json answers one message: emily chat 'MESSAGE' --json")

    async def work(brain: Brain) -> None:
        if listed:
            await _list(brain, as_json=as_json)
            return
        await _converse(brain, asked, resume, fork=fork, as_json=as_json)

    session.run(work, warm=not listed)


async def _list(brain: Brain, *, as_json: bool) -> None:
    from emily.assistant.session import CLIENT

    found = await brain.assistant.conversations.list(CLIENT)
    if as_json:
        from emily.cli.assistant_contract import conversations_output

        say_json(conversations_output(found))
        return
    from emily.cli.printing import output, table

    rows = [
        (str(item.id), f"{item.last_at.astimezone():%Y-%m-%d %H:%M}", item.title) for item in found
    ]
    console = output()
    if rows:
        console.print(table(("id", "last", "begins with"), rows))
    else:
        console.print("There is no conversation yet. Begin one with: emily chat")


async def _converse(
    brain: Brain, asked: str, resume: str | None, *, fork: bool, as_json: bool
) -> None:
    from emily.assistant.condition import condition
    from emily.assistant.session import open_session

    desk = brain.assistant
    identity = await _identity(brain, resume)
    health = await condition(brain)
    for line in health:
        typer.echo(f"emily: {plain(line)}", err=True)
    async with open_session(
        desk, brain.settings, health=health, resume=identity, fork=fork
    ) as session:
        if asked.strip():
            await _answer(brain, session, asked, health, as_json=as_json)
            if not as_json:
                _say_how_to_go_on(session)
            return
        while True:
            line = await asyncio.to_thread(_read)
            if not line.strip():
                break
            try:
                await _answer(brain, session, line, health, as_json=False)
            except ModelError as error:  # the next message may go well
                typer.echo(f"emily: {plain(str(error))}", err=True)
        _say_how_to_go_on(session)


def _say_how_to_go_on(session: Session) -> None:
    typer.echo(f"emily: Go on with: emily chat --resume {session.conversation.id}", err=True)


def _read() -> str:
    typer.echo("> ", nl=False, err=True)
    return sys.stdin.readline()


async def _identity(brain: Brain, resume: str | None) -> UUID | None:
    if resume is None:
        return None
    if resume == "last":
        from emily.assistant.session import CLIENT

        for item in await brain.assistant.conversations.list(CLIENT):
            if item.runtime is not None:
                return item.id
        raise InputError("There is no conversation to go on with. Begin one with: emily chat")
    try:
        return UUID(resume)
    except ValueError:
        raise InputError(
            f"--resume is {resume!r}; it must be the id of a conversation (emily chat --list), "
            "or last."
        ) from None


async def _answer(
    brain: Brain, session: Session, message: str, health: Sequence[str], *, as_json: bool
) -> None:
    before = {item.id for item in await _sent(brain, session)}
    text, tools = "", []
    notices: list[str] = []
    async for piece in session.ask(message.strip("\n")):
        if piece.failure is not None:
            if text and not as_json:
                typer.echo()
            raise ModelError(piece.failure)
        if piece.notice is not None:
            notices.append(piece.notice)
            typer.echo(f"emily: {plain(piece.notice)}", err=True)
        if piece.tool is not None:
            tools.append(piece.tool)
            if text and not as_json:
                typer.echo()
            typer.echo(f"emily: {_DOING.get(piece.tool, piece.tool)}", err=True)
        text += piece.text
        if not as_json and piece.text:
            typer.echo(plain(piece.text), nl=False)
    entries = [item for item in await _sent(brain, session) if item.id not in before]
    documents = {
        (sent.id, sent.places): sent for item in reversed(entries) for sent in item.documents
    }
    if as_json:
        from emily.cli.assistant_contract import ChatOutput, sent_documents

        say_json(
            ChatOutput(
                conversation=str(session.conversation.id),
                health=list(health),
                answer=text,
                tools=tools,
                documents=sent_documents(list(documents.values())),
                notices=notices,
            )
        )
        return
    typer.echo()
    await _cite(brain, text, list(documents.values()))


_DOING = {
    "search_knowledge": "searching the archive …",
    "get_document": "opening a document …",
    "search_memory": "looking into memory …",
    "propose_memory": "proposing a memory …",
}


async def _sent(brain: Brain, session: Session) -> list[EgressEntry]:
    found = await brain.assistant.egress.entries(client="chat", limit=_MOST_ENTRIES)
    return [item for item in found if item.conversation_id == session.conversation.id]


async def _cite(brain: Brain, answer: str, sent: Sequence[SentDocument]) -> None:
    """Under an answer the documents that it names, with the paths that open them."""
    named = [item for item in sent if item.name in answer or f"document {item.id}" in answer]
    if not named:
        return
    from rich.text import Text

    from emily.cli.printing import output

    paths = {item.id: item.path for item in await brain.list()}
    console = output()
    places: dict[int, list[str]] = {}
    for item in named:
        places.setdefault(item.id, []).extend(item.places)
    names = {item.id: item.name for item in named}
    console.print()
    for identity, found in places.items():
        path = paths.get(identity, "")
        line = Text(f"  {identity}  {one_line(names[identity])}, {', '.join(dict.fromkeys(found))}")
        if path.startswith("/") and "!/" not in path:
            from pathlib import Path

            line.stylize(f"link {Path(path).as_uri()}")
        line.append(f"  {one_line(path)}", "dim")
        console.print(line)
