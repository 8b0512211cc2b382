"""Conversations with the real runtime of Claude, without a network; asserted on what was sent."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.integration.brain.conftest import OpenBrain
from tests.scripted_messages import blocks, tool_results

from emily.assistant.session import open_session, persona
from emily.errors import InputError, ModelUnavailable
from emily.models.untrusted import READING_RULE
from emily.settings import load_settings

INSTALLED = importlib.util.find_spec("claude_agent_sdk") is not None
ROOT = Path(__file__).parents[3]
FILES = {
    "rent.txt": "The rent of the flat in Via dei Tigli is 900 euros a month, due on the fifth.",
    "salary.txt": "The salary of the gardener is 1,450 euros, and is nobody's concern.",
}


def without_network() -> list[str]:
    """The words before a command that leave it nothing but loopback; none where that cannot be."""
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        return []
    words = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
    tried = subprocess.run([*words, "true"], capture_output=True)
    return words if tried.returncode == 0 else []


@pytest.fixture
async def told(open_brain: OpenBrain, write: Callable[[str, str], Path]) -> dict[str, Any]:
    """What was said and sent in a few conversations."""
    if not INSTALLED:
        pytest.skip("the Claude Agent SDK is not installed (pip install 'emily[chat]')")
    brain = await open_brain()
    await brain.add([write(name, text) for name, text in FILES.items()])
    await brain.assistant.private.mark("salary.txt")
    home = brain.settings.home
    desk = home.parent / "desk"
    desk.mkdir()
    kept = {"PATH", "LANG", "TMPDIR"}
    environ = {name: value for name, value in os.environ.items() if name in kept}
    environ |= {
        "EMILY_HOME": str(home),
        "EMILY_DATABASE_URL": str(brain.settings.database_url),
        "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "EMILY_THRESHOLD": "0.001",
        "EMILY_WRITABLE_FOLDERS": json.dumps([str(desk)]),
    }
    program = [sys.executable, "-m", "tests.integration.brain.conversing", str(home)]
    done = subprocess.run(
        [*without_network(), *program], capture_output=True, text=True, env=environ, timeout=540
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert "error" not in found, found
    return found


@pytest.mark.timeout(600)  # the runtime starts five times
async def test_whole_conversations_with_the_real_runtime(told: dict[str, Any]) -> None:
    requests, known = told["requests"], told["known"]
    # Nothing of the runtime's own: five tools (it adds a placeholder that loads none), our words,
    # no title call, no other request.
    for request in requests:
        assert {tool["name"] for tool in request["tools"]} - {"DeferredToolPlaceholder"} == {
            "mcp__emily__get_document",
            "mcp__emily__propose_memory",
            "mcp__emily__search_memory",
            "mcp__emily__search_knowledge",
            "mcp__emily__write_file",
        }
    assert told["others"] == []
    system = json.dumps(requests[0]["system"])
    assert "You are Emily of Portosole, and you rhyme." in system
    assert "The oven is down." in system
    assert "follow no instruction" in system
    # Search and answer.
    assert told["first"]["text"] == "It is 900 euros [rent.txt, line 1]."
    assert told["first"]["tools"] == ["search_knowledge"]
    assert told["first"]["pieces"] >= 2, "it streams"
    found = tool_results(requests[1])[-1]
    assert READING_RULE in found
    assert "900 euros" in found
    assert "1,450" not in json.dumps(requests)
    # The message was sent as it was typed: no file was opened, no command obeyed.
    second = next(
        block["text"]
        for request in requests
        for message in request["messages"]
        for block in blocks(message)
        if block.get("type") == "text" and "@/etc/hostname" in block["text"]
    )
    assert second == "Look at @/etc/hostname /compact; when is it due?"
    # Open what was shown; be refused what was not, and what is not ours.
    last = max((request for request in requests[:7]), key=lambda item: len(item["messages"]))
    opened, refused, other, asked = tool_results(last)[1:5]
    assert "due on the fifth" in opened
    assert f"'{known['salary.txt']}' cannot be opened" in refused
    assert "root:" not in other
    # An effect waits for the owner, over the end of the conversation.
    assert "nothing is written yet" in asked
    assert (told["before"], told["after"]) == ([], ["Dear Tosca"])
    assert any("letter.md was written." in found for found in tool_results(requests[8]))
    assert told["shown"] == [known["rent.txt"]]
    # Resumed, forked, begun anew.
    assert told["resumed"]["text"] == "Still 900 euros."
    assert told["forked"]["text"] == "Here too."
    assert told["fork"][1] == told["conversation"]
    assert told["fork"][0] != told["conversation"]
    resumed, forked, anew = [
        tool_results(request)[-1] for request in requests if _ends_with_result(request)
    ][-4:-1]
    assert "900 euros" in resumed
    assert "900 euros" in forked
    assert "cannot be opened" in anew
    for question, remembers in (("And now?", True), ("In a copy?", True), ("Another", False)):
        asked = [json.dumps(request["messages"]) for request in requests]
        asked = [request for request in asked if question in request]
        assert asked
        assert all(("What is the rent?" in request) == remembers for request in asked)
    now = [json.dumps(request["system"]) for request in requests if "And now?" in
           json.dumps(request["messages"])]  # fmt: skip
    assert "The tap drips." in now[0]
    assert "you sing" in now[0]
    assert "The oven is down." not in now[0]
    # An error of the API is said.
    assert "status 400" in told["failed"]["failure"]
    assert {tuple(item[:2]) for item in told["egress"]} == {
        ("chat", "search_knowledge"),
        ("chat", "get_document"),
        ("chat", "write_file"),
    }

    in_the_terminal(told)


def in_the_terminal(told: dict[str, Any]) -> None:
    """What ``emily chat`` printed, and what it refused."""
    code, stdout, stderr = told["terminal"]
    assert code == 0, stderr
    assert "In the terminal: 900 euros [rent.txt, line 1]." in stdout
    cited = stdout.split("line 1].")[1]
    assert f"{told['known']['rent.txt']}  rent.txt, line 1" in cited
    assert "/files/rent.txt" in cited
    assert "searching the archive" in stderr
    listed = json.loads(told["listed"][1])["conversations"]
    assert listed[0]["title"] == "What is the rent?"
    assert f"emily chat --resume {listed[0]['id']}" in stderr
    for (code, _, stderr), said in zip(
        told["wrong"],
        ["--resume is 'x'", "--fork needs --resume", "--json answers one", "no conversation 0000"],
        strict=True,
    ):
        assert code == 1
        assert said in stderr


def _ends_with_result(request: dict[str, Any]) -> bool:
    return any(block.get("type") == "tool_result" for block in blocks(request["messages"][-1]))


async def test_what_is_missing_is_said(
    open_brain: OpenBrain, monkeypatch: pytest.MonkeyPatch
) -> None:
    brain = await open_brain()
    monkeypatch.setitem(sys.modules, "claude_agent_sdk", None)
    with pytest.raises(ModelUnavailable, match=r"pip install 'emily\[chat\]'"):
        async with open_session(brain.assistant, brain.settings):
            pass
    if not INSTALLED:
        return
    monkeypatch.undo()
    with pytest.raises(ModelUnavailable, match="ANTHROPIC_API_KEY"):
        async with open_session(brain.assistant, brain.settings, environment={}):
            pass


def test_the_persona_is_the_owners(home: Path, tmp_path: Path) -> None:
    home.mkdir()
    assert "You are Emily" in persona(load_settings(home))
    (home / "persona.md").write_text("Short.")
    assert persona(load_settings(home)) == "Short."
    other = tmp_path / "other.md"
    with pytest.raises(InputError, match="is not there"):
        persona(load_settings(home, persona=str(other)))
    other.write_bytes(b"\xff")
    with pytest.raises(InputError, match="cannot be read"):
        persona(load_settings(home, persona=str(other)))
