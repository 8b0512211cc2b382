"""Memory in conversations of the real runtime with a scripted API, as a program of its own.

``python -m tests.integration.brain.remembering_in_chat HOME`` where EMILY_DATABASE_URL names an
archive; it prints what was sent over the wire as JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from tests.contract.chat import ChatServer
from tests.fakes import WordsEmbedder
from tests.scripted_messages import ScriptedMessages, call, say

from emily.assistant.session import Fork, Session, open_session
from emily.brain import Brain
from emily.settings import load_settings

STATED = {
    "facts": [
        {
            "statement": "The owner lives in Camogli.",
            "original": "abito a Camogli",
            "subject": "owner",
            "attribute": "home city",
            "value": "Camogli",
            "kind": "new",
            "previous": "",
        }
    ]
}


async def ask(session: Session, message: str) -> dict[str, Any]:
    pieces = [piece async for piece in session.ask(message)]
    await session.settle()
    return {
        "text": "".join(piece.text for piece in pieces),
        "notices": [piece.notice for piece in pieces if piece.notice],
        "failure": next((piece.failure for piece in pieces if piece.failure), None),
    }


async def converse(home: Path) -> dict[str, Any]:
    chat = ChatServer(
        lambda _system, prompt, _number: json.dumps(
            STATED if "Camogli" in prompt.split("</external_content")[0] else {"facts": []}
        )
    )
    api = ScriptedMessages()
    told: dict[str, Any] = {}
    with chat.running():
        settings = load_settings(
            home, threshold=0.001, chat="ollama", chat_url=chat.url, chat_model="terse:1b"
        )
        async with api.served() as url, Brain.open(settings, embedder=WordsEmbedder()) as brain:
            os.environ |= {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "sk-scripted"}
            desk, memory = brain.assistant, brain.memory
            one = (await memory.add("The owner is left-handed.", core=True)).memory
            await memory.add("The owner's lawyer is called Prudenzio.")
            await memory.propose("The owner is a millionaire.", client="chat")
            assert one is not None

            # Core memories with the first message alone; facts drawn out behind the turn.
            api.script = [say("Ciao."), say("Bene.")]
            async with open_session(desk, settings) as session:
                first = session.conversation.id
                told["first"] = await ask(session, "Ciao Emily, ti dico che abito a Camogli.")
                told["extracted"] = [item.text for item in await memory.list()]
                told["second"] = await ask(session, "Va bene.")
                last = session.turn
            told["asked"] = chat.prompts
            # Found in a later session, where a model may propose and is not obeyed.
            api.script = [
                call("search_memory", query="where does the owner live, home Camogli"),
                call("search_memory", query="lawyer Prudenzio"),
                call("search_memory", query="millionaire"),
                call("propose_memory", text="The owner wants a boat.", original="una barca"),
                say("You live in Camogli."),
            ]
            async with open_session(desk, settings) as session:
                told["later"] = await ask(session, "Dove abito, lo sai?")
            told["proposed"] = [item.text for item in await memory.list("proposed")]
            # Resumed: the list of now.
            await memory.edit(one.id, "The owner is ambidextrous.")
            api.script = [say("So be it.")]
            async with open_session(desk, settings, resume=first) as session:
                told["resumed"] = await ask(session, "Resumed now?")
            # A turn asked again to be measured: nothing is added to what was really sent.
            before = len(api.requests)
            assert last is not None
            api.script = [say("Measured.")]
            fork = Fork(last.runtime, last.last, last.ended_at)
            async with open_session(desk, settings, resume=first, replay=fork) as session:
                told["replayed"] = await ask(session, "And this one, is it remembered as well?")
            told["replay_requests"] = api.requests[before:]
            # What goes wrong costs no answer.
            working = memory.core

            async def broken() -> Any:
                raise RuntimeError("the shelf fell down")

            memory.core = broken  # type: ignore[method-assign]
            api.script = [say("Without them.")]
            async with open_session(desk, settings) as session:
                told["broken"] = await ask(session, "Are they gone?")

            async def slow() -> Any:
                await asyncio.sleep(3600)

            memory.core = slow  # type: ignore[method-assign]
            api.script = [say("Without waiting.")]
            async with open_session(desk, settings) as session:
                told["slow"] = await ask(session, "Still slow?")
            memory.core = working  # type: ignore[method-assign]

            async def unheard(*_: Any, **__: Any) -> Any:
                raise RuntimeError("the ear is deaf")

            memory.hear = unheard  # type: ignore[method-assign]
            api.script = [say("Answered.")]
            async with open_session(desk, settings) as session:
                told["deaf"] = await ask(session, "I was born in a town with a lighthouse.")
            entries = await desk.egress.entries(limit=100)
            told["egress"] = [[item.client, item.tool, item.characters] for item in entries]
            told["messages"] = len(await memory.messages())
    told["requests"] = api.requests
    told["others"] = api.others
    return told


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(converse(Path(sys.argv[1])))))
