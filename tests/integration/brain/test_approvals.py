"""What a model wants to have done waits for its owner; then that is done, and nothing else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.integration.brain.conftest import OpenBrain
from typer.testing import CliRunner, Result

from emily.assistant import Client, Tools
from emily.brain import Brain
from emily.cli.app import app
from emily.cli.session import Session
from emily.errors import InputError

Rows = Callable[..., list[tuple[Any, ...]]]


@pytest.fixture
def desk_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "desk"
    folder.mkdir()
    return folder


@pytest.fixture
async def brain(open_brain: OpenBrain, desk_folder: Path) -> Brain:
    return await open_brain(writable_folders=[str(desk_folder)])


async def tools_of(brain: Brain) -> Tools:
    return await brain.assistant.tools(Client("model"))


async def test_a_file_is_written_after_the_owner_approved_it_and_not_before(
    brain: Brain, desk_folder: Path
) -> None:
    tools = await tools_of(brain)
    manager = brain.assistant.approvals
    asked = await tools.write_file("letter.md", "Dear Tosca,\nthe boiler drips.\n")
    assert not asked.refused
    assert "nothing is written yet" in asked.text
    assert list(desk_folder.iterdir()) == []
    again = await tools.write_file("letter.md", "Dear Tosca,\nthe boiler drips.\n")
    assert again.text == asked.text, "one wish"
    (wish,) = await manager.list()
    assert wish.arguments == {
        "path": str(desk_folder / "letter.md"),
        "text": "Dear Tosca,\nthe boiler drips.\n",
    }
    with pytest.raises(InputError, match="not what was shown"):
        await manager.decide(wish.id, "0" * 64, approve=True, by="x")
    done = await manager.decide(wish.id, wish.digest, approve=True, by="owner in a test")
    assert (done.state, done.decided_by) == ("done", "owner in a test")
    written = desk_folder / "letter.md"
    assert written.read_bytes() == b"Dear Tosca,\nthe boiler drips.\n"
    assert [path.name for path in desk_folder.iterdir()] == ["letter.md"]
    told = await tools.write_file("letter.md", "Dear Tosca,\nthe boiler drips.\n")
    assert "was written" in told.text
    with pytest.raises(InputError, match="is done; it is decided once"):
        await manager.decide(wish.id, wish.digest, approve=True, by="x")
    refused = await tools.write_file("letter.md", "Other words.")
    assert refused.refused
    assert "not written over" in refused.text


async def test_a_wish_that_is_denied_or_nobody_decides_is_not_done(
    brain: Brain, desk_folder: Path, rows: Rows
) -> None:
    tools = await tools_of(brain)
    manager = brain.assistant.approvals
    await tools.write_file("a.txt", "x")
    await tools.write_file("b.txt", "x")
    second, first = await manager.list()
    await manager.decide(first.id, first.digest, approve=False, by="owner")
    rows("UPDATE approval SET expires_at = now() - interval '1 s' WHERE id = %s", second.id)
    with pytest.raises(InputError, match="is expired"):
        await manager.decide(second.id, second.digest, approve=True, by="owner")
    assert "has denied it" in (await tools.write_file("a.txt", "x")).text
    assert "nobody decided" in (await tools.write_file("b.txt", "x")).text
    assert await manager.list() == []
    assert [item.state for item in await manager.list(everything=True)] == ["expired", "denied"]
    assert list(desk_folder.iterdir()) == []


async def test_a_decision_survives_a_program_that_ended_before_it_was_done(
    open_brain: OpenBrain, desk_folder: Path, rows: Rows
) -> None:
    first = await open_brain(writable_folders=[str(desk_folder)])
    await (await tools_of(first)).write_file("a.txt", "text of a")
    await (await tools_of(first)).write_file("b.txt", "text of b")
    await (await tools_of(first)).write_file("c.txt", "text of c")
    rows("UPDATE approval SET state = 'approved'")
    (desk_folder / "b.txt").write_text("text of b")  # it ended between writing and noting it
    rows('UPDATE approval SET arguments = arguments || \'{"text": "forged"}\' WHERE id = 3')
    later = await open_brain(writable_folders=[str(desk_folder)])
    done = {item.arguments["path"][-5:]: item for item in await later.assistant.approvals.resume()}
    assert {name: item.state for name, item in done.items()} == {
        "a.txt": "done", "b.txt": "done", "c.txt": "failed",
    }  # fmt: skip
    assert "not what was approved" in str(done["c.txt"].outcome)
    assert (desk_folder / "a.txt").read_text() == "text of a"
    assert not (desk_folder / "c.txt").exists()


async def test_two_who_decide_at_once_do_it_once(brain: Brain, desk_folder: Path) -> None:
    await (await tools_of(brain)).write_file("a.txt", "x")
    manager = brain.assistant.approvals
    (wish,) = await manager.list()
    decided = await asyncio.gather(
        *(manager.decide(wish.id, wish.digest, approve=True, by=f"{n}") for n in range(4)),
        return_exceptions=True,
    )
    assert sum(isinstance(item, InputError) for item in decided) == 3
    assert (desk_folder / "a.txt").read_text() == "x"


@pytest.mark.parametrize(
    ("name", "text", "folder", "said"),
    [
        ("../x.txt", "x", "", "without a folder"),
        ("/etc/x.txt", "x", "", "without a folder"),
        (".profile.txt", "x", "", "without a folder"),
        ("", "x", "", "without a folder"),
        ("a\nb.txt", "x", "", "may not"),
        ("a\\b.txt", "x", "", "may not"),
        ("run.sh", "x", "", "must end in"),
        ("a" * 300 + ".txt", "x", "", "longer than"),
        ("a.txt", "", "", "1 to 200,000"),
        ("a.txt", "x" * 200_001, "", "1 to 200,000"),
        ("a.txt", "x\0", "", "1 to 200,000"),
        ("a.txt", "\ud800", "", "1 to 200,000"),
        ("a.txt", "x", "/etc", "not one of those"),
        ("a.txt", "x", "..", "not one of those"),
    ],
)
async def test_a_wish_that_could_not_be_done_is_refused_at_once(
    brain: Brain, name: str, text: str, folder: str, said: str
) -> None:
    answer = await (await tools_of(brain)).write_file(name, text, folder)
    assert answer.refused
    assert said in answer.text
    assert await brain.assistant.approvals.list() == []


async def test_nothing_is_written_over_or_into_a_vault_or_the_home(
    open_brain: OpenBrain, desk_folder: Path, tmp_path: Path
) -> None:
    vault = tmp_path / "vault"
    (vault / "inner").mkdir(parents=True)
    (vault / "note.md").write_text("# A note")
    link = tmp_path / "link"
    link.symlink_to(vault / "inner")
    home = tmp_path / "home" / "x"
    named = [vault / "inner", link, home, desk_folder, tmp_path / "missing"]
    brain = await open_brain(writable_folders=[str(item) for item in named])
    home.mkdir()
    await brain.vaults.add(str(vault))
    tools = await tools_of(brain)
    for folder, said in (("inner", "in a vault"), ("link", "in a vault"), ("x", "home folder"),
                         ("missing", "is not there")):  # fmt: skip
        answer = await tools.write_file("a.txt", "x", folder)
        assert answer.refused
        assert said in answer.text, folder
    # What comes into the way between the wish and the decision is not written over either.
    await tools.write_file("a.txt", "mine", "desk")
    (desk_folder / "a.txt").symlink_to(tmp_path / "elsewhere.txt")
    (wish,) = await brain.assistant.approvals.list()
    failed = await brain.assistant.approvals.decide(wish.id, wish.digest, approve=True, by="owner")
    assert failed.state == "failed"
    assert "not written over" in str(failed.outcome)
    assert not (tmp_path / "elsewhere.txt").exists()


async def test_the_owner_sees_it_whole_and_decides_in_a_terminal(
    brain: Brain, desk_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMILY_DATABASE_URL", str(brain.settings.database_url))
    monkeypatch.setenv("EMILY_WRITABLE_FOLDERS", json.dumps([str(desk_folder)]))

    async def run(*arguments: str, typed: str | None = None) -> Result:
        session = Session(interactive=lambda: typed is not None)
        return await asyncio.to_thread(
            CliRunner().invoke, app, ["approvals", *arguments], input=typed, obj=session
        )

    assert "Nothing waits" in (await run()).stdout
    tools = await tools_of(brain)
    await tools.write_file("a.txt", "first line\n\x1b[2Jsecond line")
    listed = await run()
    assert "write_file" in listed.stdout
    assert str(desk_folder / "a.txt") in listed.stdout
    shown = await run("1")
    assert "  | first line" in shown.stdout
    assert "  | \\x1b[2Jsecond line" in shown.stdout
    alone = await run("1", "--approve")
    assert alone.exit_code == 1
    assert "by a person in a terminal" in alone.stderr
    unsure = await run("1", "--approve", typed="y\n")
    assert "Nothing was decided" in unsure.stderr
    assert not list(desk_folder.iterdir())
    done = await run("1", "--approve", typed="yes\n")
    assert done.exit_code == 0, done.output
    assert "second line" in done.stderr, "it is shown before it is asked"
    assert "was written" in done.stdout
    assert (desk_folder / "a.txt").exists()
    await tools.write_file("b.txt", "x")
    denied = json.loads((await run("2", "--deny", "--json")).stdout)
    assert denied["approvals"][0]["state"] == "denied"
    assert len(json.loads((await run("--all", "--json")).stdout)["approvals"]) == 2
    for wrong in (["--approve"], ["1", "--approve", "--deny"], ["9"]):
        assert (await run(*wrong, typed="yes\n")).exit_code == 1


async def test_without_a_folder_of_the_owners_there_is_no_such_tool(
    open_brain: OpenBrain, brain: Brain
) -> None:
    from mcp.client.client import Client as McpClient

    from emily.gateways.mcp.callers import StdioCallers
    from emily.gateways.mcp.server import make_server
    from emily.gateways.mcp.waking import awake

    async def names(it: Brain) -> dict[str, Any]:
        waking = awake(it)
        server = make_server(waking, StdioCallers("m"), it.settings)
        async with waking.running(), McpClient(server, mode="legacy") as client:
            return {tool.name: tool for tool in (await client.list_tools()).tools}

    offered = await names(brain)
    assert offered["write_file"].annotations.read_only_hint is False
    assert "desk" in offered["write_file"].description
    plain = await open_brain()
    assert "write_file" not in await names(plain)
    refused = await (await tools_of(plain)).write_file("a.txt", "x")
    assert refused.refused
    assert "named no folder" in refused.text
