"""Analysis by an inference server that hangs, answers 500, talks nonsense and goes away.

A worker runs all the time. Nothing is analysed twice or in part, and once the server is well
again all is analysed soon: what waited after failures does not wait for its long pause.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.slow import chat_process
from tests.slow.test_killed_add import make_files
from tests.slow.test_killed_workers import rows, start

from emily.brain import Brain
from emily.settings import load_settings

pytestmark = pytest.mark.slow

_FILES = 29  # and a table
_AWAY = 60.0  # seconds for which the server is not there


def wait_until(there: Callable[[], Any], seconds: float) -> Any:
    deadline = time.monotonic() + seconds
    while not (found := there()):
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.3)
    return found


@pytest.mark.timeout(900)
async def test_each_is_analysed_once_in_the_end(own_home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    make_files(folder, _FILES)
    mode = tmp_path / "mode"
    mode.write_text("hangs")
    port = chat_process.free_port()
    model = chat_process.start(port, mode)

    def count(what: str) -> int:
        (row,) = rows(own_home, f"SELECT count(*) AS n FROM {what}")
        return int(row["n"])

    def errors(text: str) -> int:
        return count(f"work WHERE phase = 'analysis' AND error LIKE '%{text}%'")

    queued = start(own_home, port, "queue", str(folder))
    queued.communicate(timeout=120)
    worker = start(own_home, port, "go on", seconds=2)
    try:
        wait_until(lambda: errors("took more than 2 s") >= 3, 120)
        assert count("analysis_failure WHERE transient") >= 3
        mode.write_text("500")
        wait_until(lambda: errors("answered 500: out of memory") >= 5, 120)
        assert count("analysis") == 0
        done = f"work WHERE phase = 'indexing' AND status = 'done' HAVING count(*) > {_FILES}"
        wait_until(lambda: rows(own_home, f"SELECT count(*) FROM {done}"), 120)
        # Nonsense is not asked for again by itself: each failure is recorded, with its reason.
        mode.write_text("nonsense")
        wait_until(lambda: count("work WHERE phase = 'analysis' AND status = 'failed'") >= 3, 180)
        model.kill()
        model.wait()
        time.sleep(_AWAY)
        assert count("work WHERE phase = 'indexing' AND status = 'done'") == _FILES + 1
        assert count("alert WHERE resolved_at IS NULL AND name = 'work:analysis'") == 1
        mode.write_text("well")
        model = chat_process.start(port, mode)
        wait_until(
            lambda: not count("work WHERE phase = 'analysis' AND status IN ('waiting', 'running')"),
            240,  # far less than the pauses that each would make by then
        )
        failed = count("work WHERE phase = 'analysis' AND status = 'failed'")
        assert failed >= 3
        assert count("analysis") == _FILES + 1 - failed
        async with Brain.open(load_settings(own_home)) as brain:
            assert len((await brain.work.retry(None)).jobs) == failed
        wait_until(lambda: count("analysis") == _FILES + 1, 60)
        wait_until(lambda: not count("work WHERE status <> 'done'"), 30)
    finally:
        worker.kill()
        worker.communicate()
        model.kill()
        model.wait()
    assert count("work WHERE phase = 'analysis' AND status = 'done'") == _FILES + 1
    assert count("analysis WHERE method = 'model' AND failure IS NULL") == _FILES + 1
    assert count("analysis_failure") == 0
    assert count("emily_jobs.procrastinate_jobs") == 0
