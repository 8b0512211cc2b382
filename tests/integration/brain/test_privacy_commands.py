"""``emily egress`` and ``emily private`` on a real archive, as the owner types them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.integration.brain.conftest import OpenBrain
from typer.testing import CliRunner, Result

from emily.assistant import Client
from emily.cli.app import app

Write = Callable[..., Any]


@pytest.fixture
async def command(
    open_brain: OpenBrain, write: Write, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Any]:
    """Runs a command beside an archive from which something was sent."""
    brain = await open_brain()
    await brain.add([write("rent.txt", "The rent is 900 euros."), write("tax.txt", "Tax: 12.")])
    tools = await brain.assistant.tools(Client("desk"))
    await tools.search_knowledge("rent in euros")
    monkeypatch.setenv("EMILY_DATABASE_URL", str(brain.settings.database_url))

    async def run(*arguments: str) -> Result:
        return await asyncio.to_thread(CliRunner().invoke, app, arguments)

    return run


async def test_the_owner_sees_what_left_and_marks_what_never_does(
    command: Callable[..., Any],
) -> None:
    listed = await command("egress")
    assert listed.exit_code == 0, listed.output
    assert "search_knowledge" in listed.stdout
    assert "rent.txt: line 1" in listed.stdout
    entry = json.loads((await command("egress", "--json")).stdout)["entries"][0]
    assert entry["client"] == "desk"
    assert entry["documents"][0]["places"] == ["line 1"]
    for by in ("day", "client", "document"):
        total = json.loads((await command("egress", "--by", by, "--json")).stdout)["totals"]
        assert total
        assert (await command("egress", "--by", by)).exit_code == 0
    wrong = await command("egress", "--by", "hour")
    assert (wrong.exit_code, "day, client, document" in wrong.stderr) == (1, True)
    assert "2026-03-15" in (await command("egress", "--from", "soon")).stderr
    assert json.loads((await command("egress", "--from", "2999-01-01", "--json")).stdout) == {
        "schema_version": 1, "by": None, "entries": [], "totals": [], "cleared": None,
    }  # fmt: skip
    assert "Nothing is private" in (await command("private")).stdout
    marked = await command("private", "tax.txt")
    assert "1 document is private." in marked.stdout
    places = json.loads((await command("private", "--json")).stdout)
    assert [place["name"] for place in places["places"]] == ["tax.txt"]
    assert len(places["documents"]) == 1
    assert "neither a document" in (await command("private", "nothing")).stderr
    assert "needs a document" in (await command("private", "--undo")).stderr
    assert "Nothing is private" in (await command("private", "--undo", "tax.txt")).stdout
    assert "1 entry was forgotten." in (await command("egress", "--clear")).stdout
    assert "Nothing has left." in (await command("egress")).stdout
