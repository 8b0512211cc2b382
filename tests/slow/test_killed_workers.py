"""kill -9 of worker, database server and inference server at random moments, for real.

Three hundred files are queued and the three are killed fifty times, while files are indexed and
while a chat model analyses them over HTTP. In the end every file is
indexed once and analysed once, and there is no orphan of any kind: no job, no worker, no word, no
document without a file, no copy without a document.
"""

from __future__ import annotations

import json
import os
import random
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row
from tests.slow import chat_process
from tests.slow.test_killed_add import check_whole, make_files

from emily.store import EmbeddedServer

pytestmark = pytest.mark.slow

_ROOT = Path(__file__).parents[2]
_FILES = 299  # and a table
_KILLS = 50
_BEFORE = 25  # kills before analysis must have begun
_LEAST = 5  # kills of each kind
_STANDING = "SELECT phase, status, count(*) AS n FROM work GROUP BY 1, 2 ORDER BY 1"
_OPEN = "SELECT * FROM work WHERE status IN ('waiting', 'running') ORDER BY id LIMIT 5"

# An embedder that needs the inference server, as one of Ollama does: without it, it is down.
_WORKER = """
import asyncio, json, logging, socket, sys, time
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
sys.path.insert(0, sys.argv[1])
from emily.brain import Brain
from emily.errors import ModelUnavailable
from tests.fakes import WordsEmbedder

class Served(WordsEmbedder):
    asked = 0.0
    def _load(self):
        if time.monotonic() - self.asked < 0.05:  # not for each of a thousand texts
            return
        self.asked = time.monotonic()
        try:
            socket.create_connection(("127.0.0.1", int(sys.argv[3])), timeout=5).close()
        except OSError as error:
            raise ModelUnavailable(f"The server of the embedder is away: {error}") from None

async def main():
    def tell(job):
        print(json.dumps([job.phase, job.status, job.name, job.detail]), flush=True)
    async with Brain.open(home=sys.argv[2], embedder=Served()) as brain:
        if sys.argv[4] == "queue":
            print((await brain.work.add_later([sys.argv[5]])).files, flush=True)
        else:
            await brain.work.run(asyncio.Event(), until_empty=sys.argv[4] == "once", tell=tell)

asyncio.run(main())
"""


def start(home: Path, port: int, *arguments: str, seconds: int = 20) -> subprocess.Popen[bytes]:
    with (home.parent / "log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-c", _WORKER, str(_ROOT), str(home), str(port), *arguments],
            stdout=subprocess.PIPE,
            stderr=log,
            bufsize=0,
            env={
                **os.environ,
                "PYTHONPATH": str(_ROOT / "src"),
                "EMILY_OCR": "false",
                "EMILY_CHAT": "ollama",
                "EMILY_CHAT_MODEL": "terse:1b",
                "EMILY_CHAT_URL": f"http://127.0.0.1:{port}",
                "EMILY_CHAT_SECONDS": str(seconds),
            },
        )


def listen(process: subprocess.Popen[bytes], seconds: float, first: bytes | None = None) -> bool:
    """Read what it tells for so long; with ``first`` until it tells that. Whether it did."""
    assert process.stdout is not None
    told = b""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0 and process.poll() is None:
        ready, _, _ = select.select([process.stdout], [], [], left)
        if ready:
            told += os.read(process.stdout.fileno(), 65_536)
            if first is not None and first in told:
                return True
    return bool(told) and first is None


def rows(home: Path, sql: str) -> list[dict[str, Any]]:
    with psycopg.connect(EmbeddedServer(home).conninfo(), row_factory=dict_row) as connection:
        return connection.execute(sql).fetchall()


def left(home: Path) -> int:
    EmbeddedServer(home).start()
    (row,) = rows(home, "SELECT count(*) AS n FROM work WHERE status IN ('waiting', 'running')")
    return int(row["n"])


@pytest.mark.timeout(2400)
def test_fifty_kills_lose_nothing_and_do_nothing_twice(own_home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    make_files(folder, _FILES)
    mode = tmp_path / "mode"
    mode.write_text("well")
    port = chat_process.free_port()
    rng = random.Random("fifty kills")
    model = chat_process.start(port, mode)
    kills = {"worker": 0, "database": 0, "model": 0}
    worker: subprocess.Popen[bytes] | None = None
    try:
        queued = start(own_home, port, "queue", str(folder))
        assert queued.communicate(timeout=120)[0].strip() == str(_FILES + 1).encode()
        for number in range(_KILLS):
            if worker is None or worker.poll() is not None:
                worker = start(own_home, port, "go on")
                listen(worker, 60, b"\n")
            if number >= _BEFORE:
                began = listen(worker, 900, b'["analysis", "done"')
                assert began, (
                    f"{kills} {rows(own_home, _STANDING)} {rows(own_home, _OPEN)}\n"
                    + (own_home.parent / "log").read_text()[-8000:]
                )
            listen(worker, rng.uniform(0.0, 1.0))
            victim = rng.choice(["worker", "worker", "database", "model"])
            kills[victim] += 1
            if victim == "worker":
                worker.send_signal(signal.SIGKILL)
                worker.communicate()
            elif victim == "database":
                running = EmbeddedServer(own_home).running()
                if running is not None:
                    running.process.send_signal(signal.SIGKILL)
            else:
                model.send_signal(signal.SIGKILL)
                model.wait()
                listen(worker, rng.uniform(0.0, 0.5))
                model = chat_process.start(port, mode)
        assert min(kills.values()) >= _LEAST, kills
        if worker is not None:
            worker.kill()
            worker.communicate()
        # Killed workers' jobs come back by themselves; what waits for its time is waited for.
        worker = start(own_home, port, "go on")
        deadline = time.monotonic() + 700
        while left(own_home) or not rows(
            own_home, f"SELECT FROM work WHERE phase = 'analysis' OFFSET {_FILES}"
        ):
            assert time.monotonic() < deadline, rows(own_home, "SELECT * FROM work LIMIT 5")
            listen(worker, 1.0)
        worker.terminate()
        listen(worker, 30)
        worker.kill()
        worker.communicate()
        time.sleep(22)  # then its last sign of life is old
        last = start(own_home, port, "once")  # it clears away what the killed ones left
        told = [json.loads(line) for line in last.communicate(timeout=120)[0].splitlines()]
        assert told == []
    finally:
        model.kill()
        model.wait()
        if worker is not None and worker.poll() is None:
            worker.kill()
            worker.communicate()

    there = check_whole(own_home)  # every document is what indexing its text gives
    assert sorted(there) == sorted(path.name for path in folder.iterdir())
    assert rows(own_home, _STANDING) == [
        {"phase": "analysis", "status": "done", "n": _FILES + 1},
        {"phase": "indexing", "status": "done", "n": _FILES + 1},
    ]
    (count,) = rows(
        own_home,
        "SELECT (SELECT count(*) FROM analysis) AS analyses,"
        " (SELECT count(*) FROM analysis WHERE method = 'model' AND failure IS NULL) AS analysed,"
        " (SELECT count(*) FROM analysis_failure) AS failures,"
        " (SELECT count(*) FROM emily_jobs.procrastinate_jobs) AS jobs,"
        " (SELECT count(*) FROM emily_jobs.procrastinate_workers) AS workers,"
        " (SELECT count(*) FROM source) AS sources,"
        " (SELECT count(*) FROM alert WHERE resolved_at IS NULL AND name LIKE 'work:%') AS alerts",
    )
    assert count == {
        "analysed": _FILES + 1,
        "analyses": _FILES + 1,
        "failures": 0,
        "jobs": 0,
        "workers": 0,
        "sources": _FILES + 1,
        "alerts": 0,
    }
    # No copy without a document, and nothing half-copied.
    known = {
        row["d"] for row in rows(own_home, "SELECT encode(file_sha256, 'hex') AS d FROM document")
    }
    kept = [path.name for path in (own_home / "originals").glob("??/*")]
    assert sorted(name.partition(".")[0] for name in kept) == sorted(known), kept
    assert not list((own_home / "spool").glob("*"))
