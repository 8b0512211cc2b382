"""A recorded conversation and its replays, with the real runtime and a scripted API.

``python -m tests.integration.brain.looking HOME short`` (or ``whole``) on an empty archive; it
prints as JSON what was measured and what was sent.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.fakes import WordsEmbedder
from tests.integration.brain.conversing import command
from tests.scripted_messages import Reply, ScriptedMessages, call, say

from emily.assistant.conversations import Conversation
from emily.assistant.session import open_session
from emily.assistant.turns import TurnLog
from emily.brain import Brain
from emily.errors import EmilyError
from emily.measure.looking import Looking, look_again, planned
from emily.settings import load_settings

ASKED = ("What is the lease about?", "When is the rent due?", "Who is the landlord?",
         "Show me the passage.", "And the deposit?")  # fmt: skip
SUMMARY = "A lease of a flat in Via dei Tigli for four years."


def searching(text: str) -> list[Reply]:
    return [call("search_knowledge", queries=["rent of the flat"]), say(text)]


def opening(document: int, text: str) -> list[Reply]:
    return [
        call("get_document", document=document, mode="answer", question="when is the rent due?"),
        say(text),
    ]


def figures(found: Looking) -> list[dict[str, Any]]:
    return [
        {
            "name": cell.name,
            "question": cell.question,
            "looked": [run.looked for run in cell.runs],
            "tools": [list(run.tools) for run in cell.runs],
            "answers": [run.answer for run in cell.runs],
            "failures": [run.failure for run in cell.runs],
            "share": [cell.looked.mean, cell.looked.low, cell.looked.high],
            "calls": [cell.calls.mean, cell.calls.low, cell.calls.high],
        }
        for cell in found.cells
    ]


async def fill(brain: Brain, folder: Path) -> int:
    """A document with a summary; gives its number."""
    lease = folder / "lease.txt"
    lease.write_text(
        "The lease of the flat: the rent is due on the fifth. The landlord is Tosca Rinaldi."
    )
    await brain.add([lease])
    async with brain._database.transaction() as connection:
        await connection.execute(
            "INSERT INTO analysis (document_id, text_sha256, method, model, summary, fingerprint)"
            " SELECT id, text_sha256, 'extractive', 'm', %s, 'f' FROM document",
            (SUMMARY,),
        )
    return next(item.id for item in await brain.list())


async def measure(home: Path, *, whole: bool) -> dict[str, Any]:
    settings = load_settings(home, threshold=0.001)
    api, told = ScriptedMessages(), {}
    runs = 8 if whole else 2
    async with api.served() as url, Brain.open(settings, embedder=WordsEmbedder()) as brain:
        os.environ |= {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "sk-scripted"}
        desk, log = brain.assistant, TurnLog(home)
        document = await fill(brain, home.parent)
        told["empty"] = await command("replay", "--yes")

        await brain.assistant.memory.add("The owner's flat is in Via dei Tigli.", core=True)
        # The session to be recorded: a summary, two further questions, an open, a search.
        api.script = [
            *searching("I found a lease."),
            call("get_document", document=document, mode="summary"),
            say("A lease [lease.txt]."),
            say("It does not say."),
            say("It does not say that either."),
            *opening(document, "Due on the fifth."),
            say("The deposit is 1,800 euros."),
        ]
        async with open_session(desk, settings, health=["The oven is down."]) as session:
            for question in ("Which papers are there?", *ASKED):
                told.setdefault("recorded", []).append(
                    "".join([piece.text async for piece in session.ask(question)])
                )
            conversation = session.conversation.id
        told["turns"] = [
            [turn.message, turn.sight, turn.tokens > 0, turn.cost > 0]
            for turn in log.read(conversation)
        ]
        told["sent"], api.requests = api.requests, []
        before = await desk.conversations.list()

        # Some look again behind a search.
        script: list[Reply] = []
        for number in range(runs):
            again = number in (1, 4, 6)
            script += opening(document, f"Looked {number}.") if again else [say(f"No {number}.")]
        api.script = script
        plan = planned(log, cells=["search"], runs=runs)
        told["plan"] = [plan.questions, plan.most_calls, plan.tokens, plan.cost]
        steps: list[list[Any]] = []
        found = await look_again(
            desk, settings, plan, progress=lambda *step: steps.append(list(step))
        )
        told["search"], told["steps"] = figures(found), steps
        told["search_sent"], api.requests = api.requests, []
        if not whole:
            told["left"] = await left(brain, home, before)
            return told

        # Behind a summary the first question looks never, the second always; behind an open one
        # run wants an effect.
        api.script = [
            *(reply for number in range(runs)
              for reply in (say("No."), *opening(document, f"Looked {number}."))),
            call("write_file", name="note.md", text="x"), say("Not now."),
            *[say("No.")] * (runs - 1),
        ]  # fmt: skip
        cells = ["summary", "summary-second", "open"]
        found = await look_again(desk, settings, planned(log, cells=cells, runs=runs))
        told["others"] = figures(found)
        told["others_sent"], api.requests = api.requests, []
        told["approvals"] = len(await desk.approvals.list(everything=True))
        told["left"] = await left(brain, home, before)

        # The command.
        api.script = [say("No."), *opening(document, "Looked.")]
        told["command"] = await command(
            "replay", "--cell", "search", "--runs", "2", "--question", "Is there a cellar?",
            "--yes", "--json",
        )  # fmt: skip
        told["table"] = await command("replay", "--cell", "search", "--runs", "1", "--yes")
        told["list"] = await command("replay", "--list", "--json")
        told["unasked"] = await command("replay")
        told["wrong"] = [
            await command("replay", "--cell", "x", "--yes"),
            await command("replay", "nonsense"),
            await command("replay", "00000000-0000-0000-0000-000000000000", "--yes"),
        ]

        # Other conditions than then are refused, or said.
        (home / "persona.md").write_text("You are another Emily.")
        told["changed"] = await command("replay", "--cell", "open", "--runs", "1", "--yes")
        api.requests, api.script = [], [say("No.")]
        told["as_now"] = await command(
            "replay", "--cell", "open", "--runs", "1", "--yes", "--as-now", "--json"
        )
        told["as_now_sent"] = api.requests
        (home / "persona.md").unlink()
        api.status = 400
        told["failing"] = await command("replay", "--cell", "open", "--yes")
        api.status = 0
        for name in ("ANTHROPIC_API_KEY",):
            del os.environ[name]
        told["no_key"] = await command("replay", "--yes")
    return told


async def left(brain: Brain, home: Path, before: Sequence[Conversation]) -> list[Any]:
    """What replays leave: conversations, those there were before, transcripts, records."""
    return [
        [str(item.id) for item in await brain.assistant.conversations.list()],
        [str(item.id) for item in before],
        len(list((home / "chat" / "projects").glob("*/*.jsonl"))),
        len(TurnLog(home).conversations()),
    ]


def main() -> None:
    try:
        told = asyncio.run(measure(Path(sys.argv[1]), whole=sys.argv[2] == "whole"))
    except EmilyError as error:
        told = {"error": str(error)}
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main()
