"""Conversations of the real runtime with a scripted API, as a program of its own.

``python -m tests.integration.brain.conversing HOME`` where EMILY_DATABASE_URL names an archive;
it prints what was sent over the wire as JSON. So it can run where there is no network but
loopback.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from tests.fakes import WordsEmbedder
from tests.scripted_messages import ScriptedMessages, call, say
from typer.testing import CliRunner

from emily.assistant.condition import condition
from emily.assistant.session import open_session
from emily.brain import Brain
from emily.cli.app import app
from emily.cli.session import Session
from emily.errors import EmilyError
from emily.settings import load_settings


async def command(*arguments: str) -> list[Any]:
    """Exit code, stdout and stderr of a command on the same archive."""
    session = Session(
        open_brain=lambda settings, _: Brain.open(settings, embedder=WordsEmbedder()),
        interactive=lambda: False,
    )
    done = await asyncio.to_thread(CliRunner().invoke, app, arguments, obj=session)
    return [done.exit_code, done.stdout, done.stderr]


async def converse(home: Path) -> dict[str, Any]:
    settings = load_settings(home, threshold=0.001)
    (home / "persona.md").write_text("You are Emily of Portosole, and you rhyme.")
    api = ScriptedMessages()
    told: dict[str, Any] = {}
    async with api.served() as url, Brain.open(settings, embedder=WordsEmbedder()) as brain:
        os.environ |= {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "sk-scripted"}
        known = {item.name: item.id for item in await brain.list()}
        desk = brain.assistant
        health = await condition(brain)
        told["health"] = list(health)

        async def ask(session: Any, message: str) -> dict[str, Any]:
            pieces = [piece async for piece in session.ask(message)]
            return {
                "text": "".join(piece.text for piece in pieces),
                "pieces": sum(bool(piece.text) for piece in pieces),
                "tools": [piece.tool for piece in pieces if piece.tool],
                "failure": next((piece.failure for piece in pieces if piece.failure), None),
            }

        # Search, answer with a citation, open what was shown, be refused what was not.
        api.script = [
            call("search_knowledge", queries=["rent of the flat", "affitto"]),
            say("It is 900 euros [rent.txt, line 1]."),
            call("get_document", document=known["rent.txt"], mode="answer", question="due when?"),
            call("get_document", document=known["salary.txt"], mode="answer", question="salary"),
            call("Bash", command="cat /etc/passwd"),
            call("write_file", name="letter.md", text="Dear Tosca"),
            say("Due on the fifth; the other one I may not open."),
        ]
        async with open_session(desk, settings, health=["The oven is down."]) as session:
            first = session.conversation.id
            told["first"] = await ask(session, "What is the rent?")
            told["second"] = await ask(session, "Look at @/etc/hostname /compact; when is it due?")
        told["shown"] = list(await desk.conversations.shown(first))
        # The owner decides while no conversation is open.
        desk_folder = Path(settings.writable_folders[0])
        told["before"] = [item.name for item in desk_folder.iterdir()]
        (wish,) = await desk.approvals.list()
        await desk.approvals.decide(wish.id, wish.digest, approve=True, by="owner")
        told["after"] = [item.read_text() for item in desk_folder.iterdir()]
        # Resumed in another process of the runtime: it may still open what it was shown.
        api.script = [
            call("write_file", name="letter.md", text="Dear Tosca"),
            call("get_document", document=known["rent.txt"], mode="answer", question="rent"),
            say("Still 900 euros."),
        ]
        # Under the persona and with the health of now.
        (home / "persona.md").write_text("You are Emily of Portosole, and you sing.")
        async with open_session(desk, settings, resume=first, health=["The tap drips."]) as session:
            told["resumed"] = await ask(session, "And now?")
        api.script = [
            call("get_document", document=known["rent.txt"], mode="answer", question="rent"),
            say("Here too."),
        ]
        async with open_session(desk, settings, resume=first, fork=True) as session:
            told["forked"] = await ask(session, "In a copy?")
            told["fork"] = [str(session.conversation.id), str(session.conversation.forked_from)]
        api.script = [
            call("get_document", document=known["rent.txt"], mode="answer", question="rent"),
            say("I may not."),
        ]
        async with open_session(desk, settings) as session:
            told["anew"] = await ask(session, "Another conversation?")
            api.status = 400
            told["failed"] = await ask(session, "Are you there?")
        api.status = 0
        api.script = [
            call("search_knowledge", queries=["rent of the flat"]),
            say("In the terminal: 900 euros [rent.txt, line 1]."),
        ]
        told["terminal"] = await command("chat", "What", "is", "the", "rent?")
        told["listed"] = await command("chat", "--list", "--json")
        told["wrong"] = [
            await command("chat", "--resume", "x", "hello"),
            await command("chat", "--fork", "hello"),
            await command("chat", "--json"),
            await command("chat", "--resume", "00000000-0000-0000-0000-000000000000", "hello"),
        ]
        entries = await desk.egress.entries(limit=100)
        told["egress"] = [
            [item.client, item.tool, [sent.name for sent in item.documents]] for item in entries
        ]
        told["conversation"] = str(first)
        told["known"] = known
    told["requests"] = api.requests
    told["others"] = api.others
    return told


def main() -> None:
    try:
        told = asyncio.run(converse(Path(sys.argv[1])))
    except EmilyError as error:
        told = {"error": str(error)}
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main()
