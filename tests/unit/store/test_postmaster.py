"""Telling a running server from a pid that merely exists."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import psutil
import pytest

from emily.store.postmaster import find_postmaster, forget_stale

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SLEEP = [sys.executable, "-c", "import sys; print(flush=True); sys.stdin.read()"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


@pytest.fixture
def stand_in(data: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that carries the data folder on its command line, as a server does."""
    with subprocess.Popen(
        [*SLEEP, "-D", str(data)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()  # before it runs, its command line is still ours
        yield process
        process.kill()


def _write(data: Path, pid: int, state: str = "ready   ") -> Path:
    path = data / "postmaster.pid"
    path.write_text(f"{pid}\n{data}\n1796039632\n5432\n/run/emily\n\n  2146371  4\n{state}\n")
    return path


def test_running_server_is_found(data: Path, stand_in: subprocess.Popen[bytes]) -> None:
    _write(data, stand_in.pid)
    found = find_postmaster(data)
    assert found is not None
    assert found.process.pid == stand_in.pid
    assert found.ready
    assert str(found.socket_folder) == "/run/emily"
    assert found.started_at == datetime.fromtimestamp(1796039632, UTC)


def test_starting_server_is_found_but_not_ready(
    data: Path, stand_in: subprocess.Popen[bytes]
) -> None:
    _write(data, stand_in.pid, "starting")
    found = find_postmaster(data)
    assert found is not None
    assert not found.ready
    (data / "postmaster.pid").write_text(f"{stand_in.pid}\n{data}\n")  # half-written
    found = find_postmaster(data)
    assert found is not None
    assert (found.ready, found.socket_folder) == (False, None)


def test_file_of_a_running_server_is_kept(data: Path, stand_in: subprocess.Popen[bytes]) -> None:
    path = _write(data, stand_in.pid)
    forget_stale(data)
    assert path.exists()


def test_pid_of_another_process_is_no_server(data: Path) -> None:
    with subprocess.Popen(SLEEP, stdin=subprocess.PIPE) as stranger:
        path = _write(data, stranger.pid)
        assert find_postmaster(data) is None
        forget_stale(data)
        assert not path.exists()
        assert stranger.poll() is None
        stranger.kill()


def test_server_of_another_folder_whose_name_begins_alike_is_not_ours(
    data: Path, stand_in: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    other = tmp_path / "dat"
    other.mkdir()
    _write(other, stand_in.pid)
    assert find_postmaster(other) is None


def test_zombie_is_no_server(data: Path) -> None:
    with subprocess.Popen([*SLEEP, str(data)], stdin=subprocess.PIPE) as process:
        process.kill()
        watched = psutil.Process(process.pid)
        while watched.status() != psutil.STATUS_ZOMBIE:
            pass
        path = _write(data, process.pid)
        assert find_postmaster(data) is None
        forget_stale(data)
        assert not path.exists()


def test_pid_that_is_gone_is_left_to_postgres(data: Path) -> None:
    process = subprocess.run(["true"], check=False)
    assert process.returncode == 0
    path = _write(data, 2**30)
    assert find_postmaster(data) is None
    forget_stale(data)
    assert path.exists()


@pytest.mark.parametrize("content", ["", "\n", "no number\n", "-5\n", "9" * 40 + "\n"])
def test_nonsense_is_no_server(data: Path, content: str) -> None:
    (data / "postmaster.pid").write_text(content)
    assert find_postmaster(data) is None
    forget_stale(data)


def test_no_file_is_no_server(data: Path) -> None:
    assert find_postmaster(data) is None
    assert find_postmaster(data / "missing") is None
    forget_stale(data)
