"""Servers that a test may kill, each in a folder of short path, and a user who is not root."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from emily.store import EmbeddedServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SOURCE = Path(__file__).parents[3] / "src"


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A private folder whose path leaves room for a socket; servers in it are stopped."""
    folder = Path(tempfile.mkdtemp(prefix="e")).resolve()
    try:
        yield folder
    finally:
        for pid_file in folder.glob("**/database/data/postmaster.pid"):
            with contextlib.suppress(Exception):  # the folder goes in any case
                EmbeddedServer(pid_file.parents[2]).stop()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def seed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose cluster is made and whose server is stopped, to be copied."""
    made = EmbeddedServer(tmp_path_factory.mktemp("seed") / "home")
    made.start()
    made.stop()
    return made.home


@pytest.fixture
def own_server(short_folder: Path, seed: Path) -> EmbeddedServer:
    """A server of this test alone, made but not running, with the settings that users get."""
    home = short_folder / "home"
    shutil.copytree(seed, home)
    return EmbeddedServer(home)


@pytest.fixture(scope="module")
def running_server(seed: Path) -> Iterator[EmbeddedServer]:
    """A server with the settings that users get, running, that no test of a module harms."""
    with tempfile.TemporaryDirectory(prefix="e") as name:
        home = Path(name).resolve() / "home"
        shutil.copytree(seed, home)
        # Not even such a line opens it to the network.
        with (home / "database" / "data" / "postgresql.conf").open("a") as file:
            file.write("listen_addresses = '*'\n")
        running = EmbeddedServer(home)
        try:
            running.start()
            yield running
        finally:
            running.stop()


@pytest.fixture
def child() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Runs Python code in other processes, which are killed when the test ends."""
    started: list[subprocess.Popen[str]] = []

    def start(code: str, *arguments: object) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", code, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(_SOURCE)},
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()
