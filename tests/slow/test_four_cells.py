"""Four cells of eight runs by the real runtime, and the command that measures them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.integration.brain.looking import ASKED
from tests.integration.brain.test_looking_again import asking, plain, run, same_context
from tests.scripted_messages import blocks

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def test_four_cells_of_eight_runs(own_home: Path) -> None:
    own_home.mkdir(parents=True)
    told = run(own_home, "whole")
    assert same_context(told) == 3 * 8
    # Three of eight looked again.
    (cell,) = told["search"]
    assert cell["looked"] == [number in (1, 4, 6) for number in range(8)]
    assert cell["answers"][0] == "No 0."
    assert cell["answers"][1] == "Looked 1."
    assert cell["failures"] == [None] * 8
    assert cell["share"] == pytest.approx([3 / 8, 0.1368, 0.6943], abs=1e-4)
    assert cell["calls"][0] == 3 / 8
    # The other cells.
    first, second, opened = told["others"]
    assert [first["name"], first["question"]] == ["summary", ASKED[1]]
    assert first["looked"] == [False] * 8
    assert [second["name"], second["question"]] == ["summary-second", ASKED[2]]
    assert second["looked"] == [True] * 8
    assert opened["looked"] == [False] * 8
    assert opened["tools"] == [["write_file"], *[[]] * 7]
    assert told["approvals"] == 0, "a replay asks for nothing outside"
    now, before, transcripts, logs = told["left"]
    assert now == before
    assert (transcripts, logs) == (1, 1)
    # The second question behind a summary stands behind the answer to the first one.
    sent = [item for item in told["others_sent"] if asking(item, ASKED[2])]
    (then,) = [item for item in told["sent"] if asking(item, ASKED[2])]
    assert len(sent) == 8
    for request in sent:
        mine, recorded = plain(request)["messages"], plain(then)["messages"]
        assert mine[:-2] == recorded[:-2]
        assert blocks(mine[-2])[0]["text"] == "No."
    the_command(told)


def the_command(told: dict[str, Any]) -> None:
    """It says what it will do, and refuses what it cannot."""
    code, stdout, stderr = told["command"]
    assert code == 0, stderr
    found = json.loads(stdout)
    (cell,) = found["cells"]
    assert (cell["looked"], cell["counted"], cell["question"]) == (1, 2, "Is there a cellar?")
    assert "2 questions in 1 cells of 2 runs: 2 to" in stderr
    assert "$" in stderr
    assert "done" in stderr
    assert "0 of 1" in told["table"][1]
    points = json.loads(told["list"][1])["points"]
    assert [item["sight"] for item in points] == ["search", "summary", "open"]
    assert points[1]["questions"] == [ASKED[1], ASKED[2]]
    for name, said in (
        ("empty", "nothing to ask again"),
        ("unasked", "needs --yes"),
        ("changed", "under other conditions: the system prompt"),
        ("failing", "No run went well. Claude did not answer (status 400)"),
        ("no_key", "ANTHROPIC_API_KEY"),
    ):
        assert told[name][0] == 1, told[name]
        assert said in told[name][2].replace("\n", " "), name
    for (code, _, stderr), said in zip(
        told["wrong"], ["no cell 'x'", "is 'nonsense'", "nothing to ask again"], strict=True
    ):
        assert code == 1
        assert said in stderr
    code, stdout, stderr = told["as_now"]
    assert code == 0, stderr
    assert "conditions of now: the system prompt" in json.loads(stdout)["notices"][0]
    assert "You are another Emily." in json.dumps(told["as_now_sent"][0]["system"])
