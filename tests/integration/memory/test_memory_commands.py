"""``emily memory`` in the terminal, and its JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import WordsEmbedder
from typer.testing import CliRunner, Result

from emily.brain import Brain
from emily.cli.app import app
from emily.cli.session import Session
from emily.settings import load_settings

Run = Callable[..., Result]


@pytest.fixture
def run(home: Path, database_url: str, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the program on this test's own archive; a person may sit in front of it."""
    monkeypatch.setenv("EMILY_DATABASE_URL", database_url)

    def invoke(*arguments: str, person: bool = False, typed: str = "") -> Result:
        session = Session(
            open_brain=lambda settings, _: Brain.open(settings, embedder=WordsEmbedder()),
            interactive=lambda: person,
        )
        return CliRunner().invoke(app, ["memory", *arguments], obj=session, input=typed)

    return invoke


def told(result: Result) -> Any:
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_a_memory_from_beginning_to_end(run: Run) -> None:
    standing = run()
    assert standing.exit_code == 0
    assert "needs a chat model" in " ".join(standing.stdout.split())
    (added,) = told(run("add", "The owner keeps bees.", "--original", "Tengo le api", "--json"))[
        "outcomes"
    ]
    assert added["action"] == "added"
    number = str(added["memory"]["id"])
    assert added["memory"]["original"] == "Tengo le api"
    assert "Known: memory" in run("add", "the owner keeps bees").stdout
    assert "core" in run("core", number).stdout
    (core,) = told(run("list", "--core", "--json"))["memories"]
    assert core["text"] == "The owner keeps bees."
    assert run("edit", number, "The owner keeps two hives of bees.").exit_code == 0
    shown = told(run("history", number, "--json"))
    assert shown["memory"]["core"] is True
    assert [item["text"] for item in shown["past"]] == ["The owner keeps bees."]
    assert "edited" in run("history", number).stdout
    (found,) = told(run("search", "bees", "hives", "--json"))["found"]
    assert found["memory"]["id"] == int(number)
    assert "hives" in run("search", "bees").stdout
    assert "Nothing is remembered" in run("search", "submarine").stdout
    assert run("core", number, "--off").exit_code == 0
    assert told(run("list", "--core", "--json"))["memories"] == []
    refused = run("forget", number)
    assert (refused.exit_code, "--yes" in refused.stderr) == (1, True)
    assert run("forget", number, person=True, typed="n\n").exit_code == 1
    assert "is forgotten" in run("forget", number, "--yes").stdout
    assert told(run("list", "--all", "--json"))["memories"] == []
    assert told(run("--json"))["current"] == 0


async def test_status_and_doctor_say_how_memory_stands(database_url: str, home: Path) -> None:
    settings = load_settings(home, database_url=database_url)
    async with Brain.open(settings, embedder=WordsEmbedder()) as brain:
        await brain.memory.add("The owner keeps bees.", core=True)
        await brain.memory.propose("The owner wants a boat.", client="desk")
        status = await brain.status()
        assert status.memory == {
            "current": 1, "core": 1, "proposed": 1, "waiting": 0, "failed": 0,
        }  # fmt: skip
        check = await brain.memory_check()
        assert (check.name, check.ok) == ("memory", True)
        assert "1 wait for your decision" in check.detail
        assert "chat model" in check.detail
        async with brain._database.transaction() as connection:
            await connection.execute(
                "INSERT INTO memory_message (conversation_id, client, text, state)"
                " VALUES (gen_random_uuid(), 'chat', 'x', 'failed')"
            )
        check = await brain.memory_check()
        assert (check.ok, check.help) == (False, "emily memory")


def test_forgetting_all(run: Run) -> None:
    run("add", "The owner keeps bees.")
    run("add", "The owner is afraid of bees.")
    assert len(told(run("forget", "--all", "--yes", "--json"))["memories"]) == 2
    assert "nothing to forget" in run("forget", "--all", "--yes").stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("add", "  "), "The text is empty"),
        (("edit", "7", "x y z"), "There is no memory 7"),
        (("core", "7"), "There is no memory 7"),
        (("history", "7"), "There is no memory 7"),
        (("accept", "7"), "There is no memory 7"),
        (("decline", "7"), "There is no memory 7"),
        (("forget", "7", "--yes"), "There is no memory 7"),
        (("forget", "--yes"), "or --all"),
        (("list", "--core", "--all"), "three lists"),
        (("search", " "), "The question is empty"),
        (("extract",), "needs a chat model"),
    ],
)
def test_what_cannot_be_done_is_said(run: Run, arguments: tuple[str, ...], said: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 1
    assert said in result.stderr
    assert "Traceback" not in result.stderr
