"""Throw-away archives are gone afterwards: at the end, after Ctrl-C, and after a kill."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psycopg
import pytest
from tests.fakes import WordsEmbedder

from emily.errors import StoreError, StoreUnavailable
from emily.measure.sets import SetDocument
from emily.measure.throwaway import open_throwaway, remove_leftovers, throwaway_settings
from emily.settings import load_settings
from emily.store import EmbeddedServer

DOCUMENTS = [
    SetDocument("a", "Boiler", "The boiler is serviced.\fEvery October."),
    SetDocument("b", "", "   "),
    SetDocument("c", "a/b", "Gli alveari stanno dietro il frutteto."),
    SetDocument("d", "Twin", "Gli alveari stanno dietro il frutteto."),
]


async def test_documents_go_in_as_they_are(settings):
    told = []
    async with open_throwaway(settings, WordsEmbedder()) as archive:
        await archive.index(DOCUMENTS, told.append)
        assert sorted(archive.names.values()) == [["a"], ["c", "d"]]
        assert archive.without_text == ["b"]
        assert told == [1, 2, 3]
        names = [
            row["name"] for row in await archive.database.fetch("list_documents", {"id": None})
        ]
        assert names == ["Boiler.txt", "a b.txt"]
        assert archive.settings.home != settings.home
        found = await archive.retriever(threshold=0.0).search("boiler October")
        assert archive.names[found.results[0].document.id] == ["a"]
        home = archive.settings.home
    assert not home.exists()


async def test_what_fails_inside_leaves_nothing_behind(settings, database_url):
    with pytest.raises(ValueError, match="broken"):
        async with open_throwaway(settings, WordsEmbedder()):
            raise ValueError("broken")
    with psycopg.connect(database_url) as connection:
        rows = connection.execute("SELECT datname FROM pg_database WHERE datname ~ 'emily_eval'")
        assert rows.fetchall() == []


async def test_a_server_that_gives_no_database_is_explained(home, database_url):
    name = "emily_nobody"
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'x' NOCREATEDB")
    try:
        address = psycopg.conninfo.make_conninfo(database_url, user=name, password="x")
        with pytest.raises(StoreError, match="does not let this user create a database"):
            async with throwaway_settings(load_settings(home, database_url=address)):
                pass
    finally:
        with psycopg.connect(database_url, autocommit=True) as connection:
            connection.execute(f"DROP ROLE {name}")
    nowhere = "postgresql://nobody@127.0.0.1:1/nothing"
    with pytest.raises(StoreUnavailable, match="No database can be made to measure in"):
        async with throwaway_settings(load_settings(home, database_url=nowhere)):
            pass


def test_what_a_killed_run_left_is_removed(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"],
                           capture_output=True, text=True, check=True).stdout.strip()  # fmt: skip
    left = tmp_path / f"emily-eval-{ended}-abc"
    running = tmp_path / f"emily-eval-{os.getpid()}-abc"
    other = tmp_path / "emily-eval-notes"
    for folder in (left, running, other):
        (folder / "home").mkdir(parents=True)
    remove_leftovers()
    assert [left.exists(), running.exists(), other.exists()] == [False, True, True]


def test_ctrl_c_ends_the_server_and_removes_its_folder(question_set, home):
    with tempfile.TemporaryDirectory(prefix="ev-", dir="/tmp") as place:  # a socket's path is short
        process = subprocess.Popen(
            [sys.executable, "-m", "emily.cli", "eval", "--set", str(question_set)],
            env={**os.environ, "EMILY_HOME": str(home), "TMPDIR": place},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        assert process.stderr is not None
        try:
            first = process.stderr.readline()
            process.send_signal(signal.SIGINT)
            _, rest = process.communicate(timeout=120)
        finally:
            process.kill()
        assert first.startswith("indexed: 1 of 7"), first + rest
        assert (process.returncode, "Interrupted." in rest) == (130, True), rest
        assert list(Path(place).glob("emily-eval-*")) == []
    assert not (home / "database").exists(), "the owner's archive was not opened"


async def test_a_start_that_is_cut_off_ends_the_server_too(home, monkeypatch, tmp_path):
    """Cancelled while the server starts: it is awaited and then ended."""
    calls = []
    began = asyncio.Event()
    loop = asyncio.get_running_loop()

    def start(self: EmbeddedServer) -> None:
        loop.call_soon_threadsafe(began.set)
        time.sleep(0.2)
        calls.append("started")

    monkeypatch.setattr(EmbeddedServer, "start", start)
    monkeypatch.setattr(EmbeddedServer, "stop", lambda self: calls.append("stopped"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    async def run() -> None:
        async with throwaway_settings(load_settings(home)):
            raise AssertionError("it never got so far")

    task = asyncio.create_task(run())
    await began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert calls == ["started", "stopped"]
    assert list(Path(tmp_path).iterdir()) == []
