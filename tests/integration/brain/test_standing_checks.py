"""Standing checks on a real archive: a fault raises an alert, its end resolves it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from emily.brain import Brain, Check
from emily.measure.watch import CHECK_EVERY

Write = Callable[[str, str], Path]
Rows = Callable[..., list[tuple[Any, ...]]]
OpenBrain = Callable[..., Awaitable[Brain]]

STANDING = {"arms", "slots", "separation", "latency", "vectors", "stale"}
SUBJECTS = ("rent", "boiler", "cake", "bicycle", "dentist", "garden")


@pytest.fixture
async def filled(brain: Brain, write: Write) -> Brain:
    await brain.add(
        [
            write(f"{name}.txt", f"The {name} is on page one.\nMore of the {name}.\n")
            for name in SUBJECTS
        ]
    )
    return brain


async def _ask(brain: Brain, count: int) -> None:
    for place in range(count):
        await brain.search(f"where is the {SUBJECTS[place % len(SUBJECTS)]} number {place}")
        await brain.settle()


async def _open(brain: Brain) -> set[str]:
    return {alert.name for alert in await brain.alerts.open()}


def _check(checks: Sequence[Check], name: str) -> Check:
    return next(check for check in checks if check.name == name)


async def test_a_healthy_archive_raises_nothing(filled: Brain) -> None:
    await _ask(filled, 30)
    assert await _open(filled) == set()
    checks = [check for check in await filled.doctor() if check.name in STANDING]
    assert {check.name for check in checks} == STANDING
    assert all(check.ok for check in checks), checks
    assert "lexical arm was empty in 0 of 30" in _check(checks, "arms").detail


async def test_an_arm_that_died_is_told_of_and_resolved(
    filled: Brain, open_brain: OpenBrain, rows: Rows
) -> None:
    rows("CREATE TABLE kept AS SELECT * FROM posting")
    rows("DELETE FROM posting")
    rows("UPDATE revision SET number = number + 1")
    await _ask(filled, CHECK_EVERY - 1)
    assert await _open(filled) == set()
    await _ask(filled, 1)
    (alert,) = await filled.alerts.open()
    assert (alert.name, alert.level) == ("arms", "critical")
    assert "The lexical arm brought nothing in 25 of the last 25 searches." in alert.text
    assert (await filled.status()).alerts == (alert,)
    checks = await filled.doctor()
    assert not _check(checks, "arms").ok
    assert "arms (critical)" in _check(checks, "alerts").detail
    rows("INSERT INTO posting SELECT * FROM kept")
    again = await open_brain()  # another process: this one holds the empty index in memory
    await _ask(again, CHECK_EVERY)
    assert await _open(filled) == set()
    assert (await filled.alerts.resolved())[0].name == "arms"
    assert _check(await filled.doctor(), "alerts").ok


async def test_without_a_log_traffic_is_not_judged(open_brain: OpenBrain, write: Write) -> None:
    brain = await open_brain(query_log=False)
    await brain.add([write("rent.txt", "The rent.\n")])
    await _ask(brain, CHECK_EVERY)
    found = _check(await brain.doctor(), "arms")
    assert found.ok
    assert "no questions are kept (setting query_log)" in found.detail


@pytest.mark.parametrize(
    ("damage", "said", "level"),
    [
        (
            "UPDATE chunk_vector SET vector = array_fill(0, ARRAY[64])::vector::halfvec"
            " WHERE chunk_id = (SELECT min(chunk_id) FROM chunk_vector)",
            "1 vectors are not finite, zero or not of length 1 (document",
            "critical",
        ),
        (
            "UPDATE chunk_vector SET vector = (vector::real[] || vector::real[])::vector::halfvec"
            " WHERE chunk_id = (SELECT min(chunk_id) FROM chunk_vector)",
            "1 vectors are not of the dimension of words/1",
            "critical",
        ),
        (
            "DELETE FROM chunk_vector WHERE chunk_id = (SELECT min(chunk_id) FROM chunk_vector)",
            "1 of 6 chunks have no vector",
            "warning",
        ),
    ],
)
async def test_a_vector_that_cannot_be_compared(
    filled: Brain, rows: Rows, damage: str, said: str, level: str
) -> None:
    rows("CREATE TABLE kept AS SELECT * FROM chunk_vector")
    rows(damage)
    found = _check(await filled.doctor(), "vectors")
    assert not found.ok
    assert said in found.detail
    (alert,) = await filled.alerts.open()
    assert (alert.name, alert.level) == ("vectors", level)
    rows("DELETE FROM chunk_vector")
    rows("INSERT INTO chunk_vector SELECT * FROM kept")
    assert _check(await filled.doctor(), "vectors").ok
    assert await _open(filled) == set()


async def test_rows_of_other_settings(filled: Brain, rows: Rows) -> None:
    rows("UPDATE document SET fingerprint = 'older' WHERE name = 'rent.txt'")
    found = _check(await filled.doctor(), "stale")
    assert found.detail == "1 of 6 documents were indexed with other settings."
    assert await _open(filled) == {"stale"}
    await filled.reindex()
    assert _check(await filled.doctor(), "stale").ok
    assert await _open(filled) == set()


async def test_checks_that_cannot_run_cost_no_answer(
    filled: Brain, rows: Rows, caplog: pytest.LogCaptureFixture
) -> None:
    rows("ALTER TABLE alert RENAME TO hidden")
    await _ask(filled, CHECK_EVERY)
    assert "the standing checks could not run" in caplog.text
    assert (await filled.search("rent")).results
    found = _check(await filled.doctor(), "standing checks")
    assert 'relation "alert" does not exist' in found.detail
