"""Memory in conversations with the real runtime of Claude; asserted on what was sent."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from tests.integration.brain.conftest import OpenBrain
from tests.integration.brain.test_conversation_with_claude import INSTALLED, ROOT, without_network
from tests.scripted_messages import blocks, tool_results

from emily.models.untrusted import READING_RULE

LIST = "What the owner has told and wants you to know"


@pytest.fixture
async def told(open_brain: OpenBrain) -> dict[str, Any]:
    if not INSTALLED:
        pytest.skip("the Claude Agent SDK is not installed (pip install 'emily[chat]')")
    brain = await open_brain()
    kept = {"PATH", "LANG", "TMPDIR"}
    environ = {name: value for name, value in os.environ.items() if name in kept}
    environ |= {
        "EMILY_HOME": str(brain.settings.home),
        "EMILY_DATABASE_URL": str(brain.settings.database_url),
        "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    module = "tests.integration.brain.remembering_in_chat"
    program = [sys.executable, "-m", module, str(brain.settings.home)]
    done = subprocess.run(
        [*without_network(), *program], capture_output=True, text=True, env=environ, timeout=540
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout.splitlines()[-1]))


def texts(request: dict[str, Any]) -> list[str]:
    """The blocks of text in the messages of a request."""
    found = [block for message in request["messages"] for block in blocks(message)]
    return [block["text"] for block in found if block.get("type") == "text"]


def asked(told: dict[str, Any], message: str) -> dict[str, Any]:
    """The first request that holds a message."""
    return next(item for item in told["requests"] if message in texts(item))


@pytest.mark.timeout(600)  # the runtime starts seven times
async def test_memory_in_conversations_with_the_real_runtime(told: dict[str, Any]) -> None:
    assert told["others"] == []
    # Core memories, with the first message alone, and nothing that is not core.
    first = asked(told, "Ciao Emily, ti dico che abito a Camogli.")
    (given,) = [text for text in texts(first) if LIST in text]
    assert "- The owner is left-handed. [memory 1]" in given
    assert "Prudenzio" not in json.dumps(first)
    assert "millionaire" not in json.dumps(first["messages"])
    second = asked(told, "Va bene.")
    assert sum(LIST in text for text in texts(second)) == 1
    assert told["first"]["text"] == "Ciao."
    assert told["first"]["notices"] == []
    # Drawn out behind the turn by the chat model; the short one is not looked at.
    assert "The owner lives in Camogli." in told["extracted"]
    assert len(told["asked"]) == 1
    assert "abito a Camogli" in told["asked"][0]
    # Found in a later session: outside of the wrapper only what the owner accepted.
    last = max(
        (item for item in told["requests"] if "Dove abito, lo sai?" in texts(item)),
        key=lambda item: len(item["messages"]),
    )
    home, lawyer, rich, boat = tool_results(last)
    above, _, inside = home.partition(READING_RULE)
    assert "Camogli" not in above
    assert 'The owner lives in Camogli. ("abito a Camogli")' in inside
    assert "Prudenzio" in lawyer.partition(READING_RULE)[0]
    assert "millionaire" not in rich
    assert "waits for the owner" in boat
    assert told["proposed"] == ["The owner is a millionaire.", "The owner wants a boat."]
    # Resumed: the list as it is now, beside the older one.
    resumed = [text for text in texts(asked(told, "Resumed now?")) if LIST in text]
    assert len(resumed) == 2
    assert "ambidextrous" in resumed[1]
    assert "in the place of any earlier list" in " ".join(resumed[1].split())
    # Asked again to be measured: as it was, and nothing is learned.
    (measured,) = told["replay_requests"]
    assert sum(LIST in text for text in texts(measured)) == 1
    assert "ambidextrous" not in json.dumps(measured)
    # A failure is said to the owner and to the model, and costs no answer.
    for name, message, why in (
        ("broken", "Are they gone?", "the shelf fell down"),
        ("slow", "Still slow?", "took more than"),
    ):
        assert told[name]["failure"] is None
        assert told[name]["text"].startswith("Without")
        assert why in told[name]["notices"][0]
        assert any(
            why in text and "Say so to the owner" in text for text in texts(asked(told, message))
        )
    assert told["deaf"]["text"] == "Answered."
    assert "the ear is deaf" in told["deaf"]["notices"][0]
    assert told["messages"] == 0
    # All that left stands in the ledger.
    sent = [tool for client, tool, _ in told["egress"] if client == "chat"]
    assert sent.count("core_memories") == 4
    assert sent.count("search_memory") == 3
    assert sent.count("propose_memory") == 1
    assert all(characters > 0 for _, _, characters in told["egress"])
