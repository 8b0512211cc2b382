"""Where recorded conversations are forked, what a transcript tells, and how runs are counted."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from emily.assistant.transcripts import Transcript
from emily.assistant.turns import Conditions, Look, Sight, Turn, TurnLog
from emily.errors import InputError
from emily.measure.looking import Cell, Run, planned, points
from emily.measure.scores import wilson

THEN = Conditions("You are Emily.", (("search_knowledge", "Search.", {"a": 1}),), "", 20, "1")


def turn(message: str, sight: Sight | None = None, **values: Any) -> Turn:
    looks = (Look("search_knowledge", "search"), Look("get_document", sight)) if sight else ()
    given: dict[str, Any] = {
        "message": message, "runtime": "r", "last": "m", "model": "claude",
        "ended_at": datetime.now(UTC), "looks": looks, "tokens": 1000, "cost": 0.01,
        "conditions": THEN,
    }  # fmt: skip
    return Turn(**(given | values))


def record(home: Path, *turns: Turn) -> UUID:
    log, identity = TurnLog(home), uuid4()
    log.begin(identity, THEN)
    for item in turns:
        log.add(identity, item)
    return identity


@pytest.mark.parametrize(
    ("looked", "runs", "low", "high"),
    [(0, 8, 0.0, 0.3244), (3, 8, 0.1368, 0.6943), (8, 8, 0.6756, 1.0), (50, 100, 0.4038, 0.5962)],
)
def test_the_interval_of_a_share(looked: int, runs: int, low: float, high: float) -> None:
    found = wilson(looked, runs)
    assert found.mean == looked / runs
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-4)


def test_nothing_counted_has_no_share() -> None:
    assert math.isnan(wilson(0, 0).mean)
    cell = Cell("open", uuid4(), 1, "?", (Run(failure="x"),))
    assert math.isnan(cell.looked.mean)
    assert math.isnan(cell.calls.mean)


def test_only_counted_runs_and_only_looks_count() -> None:
    runs = (
        Run(("search_knowledge", "get_document")), Run(("write_file",)), Run(),
        Run(("get_document",), failure="another context"),
    )  # fmt: skip
    cell = Cell("search", uuid4(), 1, "?", runs)
    assert cell.looked == wilson(1, 3)
    assert cell.calls.mean == 1.0


def test_a_turn_is_kept_as_it_was(home: Path) -> None:
    kept = [turn("one\n\ud800", "summary"), turn("two")]
    identity = record(home, *kept)
    log = TurnLog(home)
    assert list(log.read(identity)) == kept
    assert log.read(identity)[0].conditions == THEN
    (path,) = (home / "chat" / "turns").iterdir()
    assert path.stat().st_mode & 0o077 == 0
    with path.open("a") as file:
        file.write('{"turn": {"message": "cut o')
    assert len(log.read(identity)) == 2
    assert log.read(uuid4()) == []
    assert log.conversations() == [identity]


def test_a_record_that_cannot_be_written_stops_nobody(
    home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (home / "chat").mkdir(parents=True)
    (home / "chat" / "turns").write_text("in the way")
    record(home, turn("one"))
    assert "could not be kept" in caplog.text


def test_each_cell_gets_a_place_that_has_its_questions(home: Path) -> None:
    identity = record(
        home, turn("a", "summary"), turn("b"), turn("c", "open"), turn("d"), turn("e", "search")
    )
    plan = planned(TurnLog(home), runs=8)
    chosen = {point.turn.sight: (point.number, point.questions) for point in plan.points}
    assert chosen == {"summary": (1, ("b", "c")), "open": (3, ("d",))}
    assert plan.cells == ("summary", "summary-second", "open")
    assert (plan.questions, plan.most_calls, plan.tokens) == (24, 480, 1000)
    assert plan.cost == pytest.approx(0.24)
    assert plan.missing == (
        "search: no recorded conversation has a search and one further question behind it "
        "(1 without; give questions with --question).",
    )
    given = planned(TurnLog(home), cells=["search"], questions=["f"], conversation=identity)
    assert given.points[0].questions == ("f",)
    first = planned(TurnLog(home), cells=["summary"])
    assert first.points[0].questions == ("b",)
    second = planned(TurnLog(home), cells=["summary-second"], questions=["x"])
    assert second.points[0].questions == ("x", "c")
    assert [point.number for point in points(TurnLog(home))] == [1, 3, 5]


def test_what_cannot_be_planned_is_refused(home: Path) -> None:
    with pytest.raises(InputError, match="no cell 'x'"):
        planned(TurnLog(home), cells=["x"])  # type: ignore[list-item]
    with pytest.raises(InputError, match="nothing to ask again"):
        planned(TurnLog(home))


def test_what_differs_is_named() -> None:
    other = Conditions(
        "Other.", (("search_knowledge", "Other.", {"a": 1}), ("more", "", {})), "opus", 5, "2"
    )
    assert THEN.differences(THEN) == []
    assert THEN.differences(other) == [
        "the system prompt (persona, instructions)", "the tool search_knowledge", "the tool more",
        "the setting claude_model", "the setting claude_turns", "the runtime (1, now 2)",
    ]  # fmt: skip


def line(kind: str, uuid: str, parent: str | None, text: str) -> dict[str, Any]:
    return {"type": kind, "uuid": uuid, "parentUuid": parent, "message": {"content": text}}


def called(identity: str, keep: int, tail: list[str], **more: str) -> dict[str, Any]:
    return {"type": "api-request", "id": identity, "keep": keep, "tail": tail,
            "shapeHash": "s", "params": {"model": "m"}, **more}  # fmt: skip


def test_a_transcript_tells_context_and_requests(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    lines = [
        line("user", "1", None, "hello"), called("a", 0, ["h1", "h2"]),
        line("assistant", "2", "1", "hi"), line("user", "x", "1", "left aside"),
        line("user", "3", "2", "more"), called("b", 1, ["h3"], base="a"),
        line("assistant", "4", "3", "well"),
    ]  # fmt: skip
    path.write_text("".join(json.dumps(item) + "\n" for item in lines) + '{"cut')
    found = Transcript(path)
    assert [json.loads(text)["message"]["content"] for _, text in found.context("4")] == [
        "hello", "hi", "more", "well"]  # fmt: skip
    assert found.request("2").messages == ("h1", "h2")  # type: ignore[union-attr]
    assert found.request("2", after=True).messages == ("h1", "h3")  # type: ignore[union-attr]
    assert found.request("4", after=True) is None
    assert found.request("9") is None
    with pytest.raises(InputError, match="does not hold the message 9"):
        found.context("9")
    with pytest.raises(InputError, match="no longer there"):
        Transcript.of(tmp_path, "t")


def test_a_transcript_that_goes_in_a_ring_or_is_of_another_version(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    lines = [line("user", "1", "2", "a"), line("user", "2", "1", "b"), {"type": "api-request"}]
    path.write_text("".join(json.dumps(item) + "\n" for item in lines))
    with pytest.raises(InputError, match="does not hold"):
        Transcript(path).context("1")
    assert Transcript(path).request("1", after=True) is None
