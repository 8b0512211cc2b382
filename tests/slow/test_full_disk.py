"""A disk that is full while files are indexed: all waits, nothing is lost, nothing is in part."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.rows import dict_row
from tests.slow.test_killed_add import check_whole, make_files

from emily.store import EmbeddedServer

pytestmark = pytest.mark.slow

_ROOT = Path(__file__).parents[2]
_FILES = 79  # and a table

_WORKER = """
import asyncio, logging, sys
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
sys.path.insert(0, sys.argv[1])
from emily.brain import Brain
from tests.fakes import WordsEmbedder

async def main():
    async with Brain.open(home=sys.argv[2], embedder=WordsEmbedder()) as brain:
        if sys.argv[3] == "queue":
            print((await brain.work.add_later([sys.argv[4]])).files)
        else:
            await brain.work.run(asyncio.Event(), tell=lambda job: print(job, flush=True))

asyncio.run(main())
"""


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A file system of 420 MB of its own; it takes root to make one."""
    folder = Path(tempfile.mkdtemp(prefix="e")).resolve()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=420m", "tmpfs", str(folder)], check=False
    )
    if made.returncode:
        folder.rmdir()
        pytest.skip("no file system can be mounted here: run it as root")
    try:
        yield folder
    finally:
        with contextlib.suppress(Exception):
            EmbeddedServer(folder / "home").stop()
        subprocess.run(["umount", "-l", str(folder)], check=False)
        folder.rmdir()


def start(home: Path, log: Path, *arguments: str) -> subprocess.Popen[bytes]:
    with log.open("wb") as told:
        return subprocess.Popen(
            [sys.executable, "-c", _WORKER, str(_ROOT), str(home), *arguments],
            stdout=subprocess.PIPE,
            stderr=told,
            env={**os.environ, "PYTHONPATH": str(_ROOT / "src"), "EMILY_OCR": "false"},
        )


def statuses(home: Path) -> dict[str, int]:
    EmbeddedServer(home).start()
    with psycopg.connect(EmbeddedServer(home).conninfo(), row_factory=dict_row) as connection:
        found = connection.execute(
            "SELECT status, count(*) AS n FROM work WHERE phase = 'indexing' GROUP BY 1"
        ).fetchall()
    return {row["status"]: row["n"] for row in found}


@pytest.mark.timeout(900)
def test_a_full_disk_is_waited_for(small_disk: Path, tmp_path: Path) -> None:
    home = small_disk / "home"
    folder = tmp_path / "files"
    make_files(folder, _FILES)
    log = tmp_path / "log"
    queued = start(home, log, "queue", str(folder))
    assert queued.communicate(timeout=180)[0].strip() == str(_FILES + 1).encode()

    ballast = small_disk / "ballast"
    with ballast.open("wb") as file, contextlib.suppress(OSError):
        while True:
            file.write(b"\0" * (1 << 16))
            file.flush()
    assert os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_frsize < 1 << 20
    worker = start(home, log, "work")
    try:
        time.sleep(25)
        assert worker.poll() is None, log.read_text()[-3000:]
        ballast.unlink()
        found = statuses(home)
        assert found.get("failed", 0) == 0, found
        assert found.get("waiting", 0) + found.get("running", 0) > 0, found
        deadline = time.monotonic() + 600
        while (found := statuses(home)) != {"done": _FILES + 1}:
            assert time.monotonic() < deadline, (found, log.read_text()[-3000:])
            assert worker.poll() is None, log.read_text()[-3000:]
            time.sleep(1)
    finally:
        worker.kill()
        worker.communicate()
    assert sorted(check_whole(home)) == sorted(path.name for path in folder.iterdir())
    kept = [path.name for path in (home / "originals").glob("??/*")]
    assert len(kept) == _FILES + 1
    assert not [name for name in kept if name.startswith(".")]
