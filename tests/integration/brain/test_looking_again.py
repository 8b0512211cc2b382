"""Recorded conversations are asked again by the real runtime; asserted on what was sent."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.integration.brain.looking import ASKED
from tests.integration.brain.test_conversation_with_claude import INSTALLED, without_network
from tests.scripted_messages import blocks

from emily.settings import Settings

ROOT = Path(__file__).parents[3]


def run(home: Path, which: str, **environment: str) -> dict[str, Any]:
    """What the program of a recorded conversation and its replays tells."""
    if not INSTALLED:
        pytest.skip("the Claude Agent SDK is not installed (pip install 'emily[chat]')")
    desk = home.parent / "desk"
    desk.mkdir()
    environ = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    environ |= {
        "EMILY_HOME": str(home),
        "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "EMILY_THRESHOLD": "0.001",
        "EMILY_WRITABLE_FOLDERS": json.dumps([str(desk)]),
        **environment,
    }
    program = [sys.executable, "-m", "tests.integration.brain.looking", str(home), which]
    done = subprocess.run(
        [*without_network(), *program], capture_output=True, text=True, env=environ, timeout=540
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert "error" not in found, found
    return found


def asking(request: dict[str, Any], question: str) -> bool:
    """Whether a request is the first one of a question."""
    texts = [block.get("text") for block in blocks(request["messages"][-1])]
    return texts == [question]


def plain(request: dict[str, Any]) -> dict[str, Any]:
    """A request without what is of one session alone: its id, and the marks of the cache."""
    kept = {name: value for name, value in request.items() if name != "metadata"}

    def unmarked(item: Any) -> Any:
        if isinstance(item, dict):
            return {name: unmarked(value) for name, value in item.items()
                    if name != "cache_control"}  # fmt: skip
        return [unmarked(part) for part in item] if isinstance(item, list) else item

    return unmarked(kept) | {"messages": [unmarked(m) for m in kept["messages"]]}


def same_context(told: dict[str, Any]) -> int:
    """Every first request of a replay is the recorded one, byte for byte; gives how many."""
    seen = 0
    for sent in ("search_sent", "others_sent"):
        for request in told.get(sent, ()):
            for question in (ASKED[0], ASKED[1], ASKED[4]):
                if not asking(request, question):
                    continue
                (then,) = [item for item in told["sent"] if asking(item, question)]
                assert json.dumps(plain(request)) == json.dumps(plain(then))
                assert "The oven is down." in json.dumps(request["system"])
                # Core memories stand behind the first message, and not once more.
                held = ["Via dei Tigli. [memory 1]" in json.dumps(message)
                        for message in request["messages"]]  # fmt: skip
                assert sum(held) == 1
                assert any(held[:2])
                seen += 1
    return seen


@pytest.mark.timeout(300)
def test_a_recorded_question_is_asked_again_under_the_recorded_context(
    home: Path, database_url: str
) -> None:
    told = run(home, "short", EMILY_DATABASE_URL=database_url)
    assert [turn[1] for turn in told["turns"]] == ["search", "summary", None, None, "open", None]
    assert all(tokens and cost for _, _, tokens, cost in told["turns"])
    assert same_context(told) == 2
    (cell,) = told["search"]
    assert (cell["name"], cell["question"]) == ("search", ASKED[0])
    assert cell["looked"] == [False, True]
    assert cell["tools"] == [[], ["get_document"]]
    assert cell["answers"] == ["No 0.", "Looked 1."]
    assert cell["failures"] == [None, None]
    assert told["plan"][:2] == [2, 2 * Settings.model_fields["claude_turns"].default]
    assert told["steps"][0][1:] == [0, 2]
    assert told["steps"][-1] == ["done", 2, 2]
    now, before, transcripts, logs = told["left"]
    assert now == before
    assert (transcripts, logs) == (1, 1)
    assert "nothing to ask again" in told["empty"][2]
