"""Servers and clients that are killed: what was acknowledged stays, and work goes on."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import psycopg
import pytest

from emily.errors import StoreError, StoreUnavailable
from emily.settings import load_settings
from emily.store import Connection, Database, EmbeddedServer
from emily.store.identity import namespace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Child = Callable[..., subprocess.Popen[str]]

# Writes numbers one by one and says each that was acknowledged.
WRITER = """
import sys
from pathlib import Path
import psycopg
from emily.store import EmbeddedServer
server = EmbeddedServer(Path(sys.argv[1]))
server.start()
with psycopg.connect(server.conninfo(), autocommit=True) as connection:
    connection.execute("CREATE TABLE IF NOT EXISTS written (number integer)")
    for number in range(1_000_000):
        connection.execute("INSERT INTO written VALUES (%s)", [number])
        print(number, flush=True)
"""

START = """
import sys
from pathlib import Path
from emily.store import EmbeddedServer
EmbeddedServer(Path(sys.argv[1])).start()
"""


def _read_until(process: subprocess.Popen[str], last: int) -> list[int]:
    assert process.stdout is not None
    found = []
    for line in process.stdout:
        found.append(int(line))
        if found[-1] >= last:
            return found
    pytest.fail("the writer ended early")


def _written(server: EmbeddedServer) -> set[int]:
    with psycopg.connect(server.conninfo()) as connection:
        return {row[0] for row in connection.execute("SELECT number FROM written")}


def _kill_server(server: EmbeddedServer) -> None:
    found = server.running()
    assert found is not None
    found.process.kill()


def test_killed_server_starts_again_with_all_that_was_acknowledged(
    own_server: EmbeddedServer, child: Child
) -> None:
    writer = child(WRITER, own_server.home)
    acknowledged = _read_until(writer, 200)
    _kill_server(own_server)
    output, _ = writer.communicate(timeout=60)
    acknowledged += [int(line) for line in output.splitlines()]
    assert own_server.running() is None
    own_server.start()
    assert set(acknowledged) <= _written(own_server)


def test_killed_client_leaves_the_server_usable(own_server: EmbeddedServer, child: Child) -> None:
    writer = child(WRITER, own_server.home)
    acknowledged = _read_until(writer, 50)
    found = own_server.running()
    assert found is not None
    os.kill(writer.pid, signal.SIGKILL)
    writer.wait()
    again = own_server.running()
    assert again is not None
    assert again.process.pid == found.process.pid
    assert set(acknowledged) <= _written(own_server)


def test_server_that_was_killed_does_not_mislead_by_its_pid(own_server: EmbeddedServer) -> None:
    own_server.start()
    _kill_server(own_server)
    for pid_file in (
        own_server.data / "postmaster.pid",
        own_server.folder / "run" / ".s.PGSQL.5432.lock",
    ):
        rest = pid_file.read_text().split("\n", 1)[1]
        pid_file.write_text(f"{os.getpid()}\n{rest}")  # the pid is somebody else's by now: ours
    assert own_server.running() is None
    own_server.start()
    found = own_server.running()
    assert found is not None
    assert found.process.pid != os.getpid()


@pytest.mark.slow
def test_start_waits_for_orphans_of_a_killed_server(own_server: EmbeddedServer) -> None:
    own_server.start()
    # A back-end that computes does not notice that its server is gone until it is done.
    with psycopg.connect(own_server.conninfo(), autocommit=True) as connection:
        connection.execute("SELECT 1")
        backend = connection.info.backend_pid
        os.kill(backend, signal.SIGSTOP)
        _kill_server(own_server)
        resumed = subprocess.Popen(["sh", "-c", f"sleep 3; kill -CONT {backend}"])
        begun = time.monotonic()
        own_server.start()
        waited = time.monotonic() - begun
        resumed.wait()
    assert waited > 2
    with psycopg.connect(own_server.conninfo()) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_server_that_this_process_cannot_see_is_not_doubled(own_server: EmbeddedServer) -> None:
    own_server.start()
    # As in another container: the pid of the server means nothing here.
    (own_server.data / "postmaster.pid").rename(own_server.data / "hidden")
    impatient = EmbeddedServer(own_server.home, start_seconds=0.5)
    with pytest.raises(StoreUnavailable, match=r"still at work on these files.*server\.lock"):
        impatient.start()
    (own_server.data / "hidden").rename(own_server.data / "postmaster.pid")
    own_server.stop()


@pytest.mark.slow
def test_start_that_is_killed_at_any_moment_does_no_harm(short_folder: Path, child: Child) -> None:
    chance = random.Random(7)
    server = EmbeddedServer(short_folder / "home")
    for _ in range(8):
        starter = child(START, server.home)
        time.sleep(chance.uniform(0.2, 2.5))
        starter.kill()
        starter.wait()
        if chance.random() < 0.5:
            server.stop()
    server.start()
    with psycopg.connect(server.conninfo()) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    assert [path.name for path in server.folder.glob("data.new-*")] == []


@pytest.mark.slow
def test_server_killed_again_and_again_loses_nothing(
    own_server: EmbeddedServer, child: Child
) -> None:
    chance = random.Random(11)
    acknowledged: set[int] = set()
    for _ in range(5):
        writer = child(WRITER, own_server.home)
        acknowledged |= set(_read_until(writer, chance.randrange(20, 300)))
        _kill_server(own_server)
        output, _ = writer.communicate(timeout=60)
        acknowledged |= {int(line) for line in output.splitlines()}
        own_server.start()
        assert acknowledged <= _written(own_server)


def test_full_disk_is_explained(short_folder: Path) -> None:
    tool = shutil.which("unshare")
    if os.geteuid() != 0 or tool is None or namespace() is None:
        pytest.skip("only root can mount a small disk")
    (short_folder / "disk").mkdir()
    code = (
        "import sys; from pathlib import Path; from emily.store import EmbeddedServer\n"
        "from emily.errors import StoreError\n"
        "try: EmbeddedServer(Path(sys.argv[1])).start()\n"
        "except StoreError as error: print(error)\n"
    )
    mount = 'mount -t tmpfs -o size=4m none "$1" || exit 77; exec "$2" -c "$3" "$1/home"'
    result = subprocess.run(
        [tool, "--mount", "sh", "-c", mount, "sh", short_folder / "disk", sys.executable, code],
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode == 77:
        pytest.skip("this machine does not permit mounting a small disk")
    assert "The database could not be created" in result.stdout, result.stderr
    assert "No space left on device" in result.stdout


class TestOpenDatabase:
    """The pool, while what it is connected to breaks."""

    async def test_killed_server_is_started_again_at_the_next_use(
        self, own_server: EmbeddedServer
    ) -> None:
        async with Database.open(load_settings(own_server.home)) as database:
            _kill_server(own_server)
            row = await database.fetch_one("server_condition")
            assert row is not None
            async with database.transaction() as connection:
                await connection.execute("SELECT 1")

    async def test_killed_backend_resets_all_and_the_pool_reconnects(
        self, own_server: EmbeddedServer
    ) -> None:
        async with Database.open(load_settings(own_server.home)) as database:
            async with database.transaction() as connection:
                backend = connection.info.backend_pid
            os.kill(backend, signal.SIGKILL)
            facts = await asyncio.gather(*(database.fetch("server_facts") for _ in range(6)))
            assert {row["encoding"] for rows in facts for row in rows} == {"UTF8"}

    async def test_repeatable_work_survives_a_killed_backend(
        self, own_server: EmbeddedServer
    ) -> None:
        backends = []

        async def work(connection: Connection) -> str:
            backends.append(connection.info.backend_pid)
            if len(backends) == 1:
                os.kill(backends[0], signal.SIGKILL)
            cursor = await connection.execute("SELECT 'done' AS word")
            row = await cursor.fetchone()
            assert row is not None
            return str(row["word"])

        async with Database.open(load_settings(own_server.home)) as database:
            assert await database.run(work, idempotent=True) == "done"
        assert len(backends) == 2

    async def test_open_starts_a_stopped_server_and_leaves_it_running(
        self, own_server: EmbeddedServer
    ) -> None:
        settings = load_settings(own_server.home, database_url="")  # empty means unset
        async with Database.open(settings) as database:
            described = await database.describe()
        assert own_server.running() is not None
        assert described.embedded
        assert described.text.startswith("embedded PostgreSQL 18.")
        assert described.location == str(own_server.folder)
        assert described.bytes > 1_000_000

    async def test_wrong_password_is_reported_without_it(self, own_server: EmbeddedServer) -> None:
        (own_server.folder / "password").write_text("not-the-one")
        with pytest.raises(StoreUnavailable, match="password authentication failed") as error:
            async with Database.open(load_settings(own_server.home)):
                pytest.fail("it was opened")
        assert "not-the-one" not in str(error.value)
        assert isinstance(error.value, StoreError)
