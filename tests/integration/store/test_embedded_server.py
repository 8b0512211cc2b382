"""The embedded server: created once, shared, private, and gone when stopped."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import psycopg
import pytest

from emily.errors import StoreError
from emily.store import EmbeddedServer
from emily.store.binaries import major_version

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    Child = Callable[..., subprocess.Popen[str]]

START = """
import sys
from pathlib import Path
from emily.store import EmbeddedServer
server = EmbeddedServer(Path(sys.argv[1]))
server.start()
print(server.running().process.pid)
"""

QUOTES = "quote'\"$(x)`x`"


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _ask(server: EmbeddedServer, sql: str) -> object:
    with psycopg.connect(server.conninfo()) as connection:
        row = connection.execute(sql).fetchone()
        return row[0] if row else None


def test_first_start_stop_and_second_start(short_folder: Path) -> None:
    own_server = EmbeddedServer(short_folder / "home")
    assert own_server.running() is None
    assert own_server.stop() is False
    own_server.start()
    first = own_server.running()
    assert first is not None
    assert first.ready
    own_server.start()  # nothing to do
    again = own_server.running()
    assert again is not None
    assert again.process.pid == first.process.pid
    with psycopg.connect(own_server.url()) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 1 AS one")
    assert own_server.stop() is True
    assert own_server.running() is None
    own_server.start()
    assert _ask(own_server, "SELECT one FROM kept") == 1


def test_everything_is_private(short_folder: Path) -> None:
    own_server = EmbeddedServer(short_folder / "home")
    before = os.umask(0)
    try:
        own_server.start()
    finally:
        os.umask(before)
    database = own_server.folder
    for folder in (own_server.home, database, database / "data", database / "run"):
        assert _mode(folder) == 0o700, folder
    for name in ("password", "server.log", "lock", "data/emily.conf"):
        assert _mode(database / name) == 0o600, name
    assert _mode(database / "run" / ".s.PGSQL.5432") == 0o700


def test_no_network_and_no_entry_without_the_password(running_server: EmbeddedServer) -> None:
    found = running_server.running()
    assert found is not None
    family = [found.process, *found.process.children(recursive=True)]
    assert [one for process in family for one in process.net_connections("inet")] == []
    assert _ask(running_server, "SHOW listen_addresses") == ""
    for password in ("wrong", ""):
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(running_server.conninfo(), password=password)
    rules = _ask(
        running_server,
        "SELECT string_agg(DISTINCT auth_method, ' ') FROM pg_hba_file_rules",
    )
    assert rules == "scram-sha-256"


def test_text_is_folded_by_unicode(running_server: EmbeddedServer) -> None:
    assert _ask(running_server, "SELECT lower('CITTÀ ÆØÅ')") == "città æøå"


def test_four_processes_that_start_at_once_share_one_server(
    short_folder: Path, child: Child
) -> None:
    own_server = EmbeddedServer(short_folder / "home")
    started = [child(START, own_server.home) for _ in range(4)]
    said = [process.communicate(timeout=120) for process in started]
    assert [process.returncode for process in started] == [0, 0, 0, 0], said
    assert len({output for output, _ in said}) == 1
    carrying = [
        process.pid
        for process in psutil.process_iter(["cmdline"])
        if str(own_server.data) in (process.info["cmdline"] or [])
    ]
    assert len(carrying) == 1


def test_pipe_of_the_starter_is_not_held_open(own_server: EmbeddedServer, child: Child) -> None:
    process = child(START, own_server.home)
    # communicate() returns at the end of file: when nobody holds the pipe any more.
    output, _ = process.communicate(timeout=60)
    found = own_server.running()
    assert found is not None
    assert int(output) == found.process.pid
    assert found.process.ppid() != os.getpid()


def test_environment_of_the_shell_does_not_redirect(
    own_server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = {
        "PGHOST": "db.invalid",
        "PGHOSTADDR": "192.0.2.1",
        "PGPORT": "1",
        "PGUSER": "nobody",
        "PGPASSWORD": "wrong",
        "PGDATABASE": "nothing",
        "PGOPTIONS": "-c search_path=nowhere",
        "PGDATA": "/nowhere",
    }
    for name, value in elsewhere.items():
        monkeypatch.setenv(name, value)
    own_server.start()
    assert _ask(own_server, "SHOW search_path") == '"$user", public'


@pytest.mark.parametrize(
    "name",
    ["two words/perché", "a,b", QUOTES, "日本" * 20],
    ids=["blank-accents", "comma", "quotes", "long"],
)
def test_home_of_any_name(short_folder: Path, seed: Path, name: str) -> None:
    server = EmbeddedServer(short_folder / name)
    if name != QUOTES:  # that one is made there, too
        shutil.copytree(seed, server.home)
    server.start()
    assert _ask(server, "SELECT 1") == 1
    with psycopg.connect(server.url()) as connection:
        connection.execute("SELECT 1")
    found = server.running()
    assert found is not None
    assert found.socket_folder is not None
    assert _mode(found.socket_folder) == 0o700
    server.stop()
    outside = found.socket_folder != server.folder / "run"
    assert found.socket_folder.exists() is not outside


def test_line_break_in_the_home_is_refused(short_folder: Path) -> None:
    with pytest.raises(StoreError, match="must hold no line break"):
        EmbeddedServer(short_folder / "a\nb").start()


def test_home_behind_a_link_is_the_same_home(running_server: EmbeddedServer) -> None:
    link = running_server.home.parent / "link"
    link.symlink_to(running_server.home)
    assert EmbeddedServer(link).running() is not None


def test_home_that_is_a_file(short_folder: Path) -> None:
    (short_folder / "home").touch()
    with pytest.raises(StoreError, match="cannot be used: Not a directory"):
        EmbeddedServer(short_folder / "home").start()


@pytest.mark.slow
def test_half_made_cluster_is_made_anew(short_folder: Path) -> None:
    own_server = EmbeddedServer(short_folder / "home")
    leftover = own_server.folder / "data.new-0123"
    leftover.mkdir(parents=True)
    (leftover / "PG_VERSION").write_text("18\n")
    own_server.start()
    assert not leftover.exists()


def test_cluster_folder_without_a_cluster_is_not_touched(short_folder: Path) -> None:
    own_server = EmbeddedServer(short_folder / "home")
    own_server.data.mkdir(parents=True)
    (own_server.data / "precious").touch()
    with pytest.raises(StoreError, match="holds no database"):
        own_server.start()
    assert (own_server.data / "precious").exists()


def test_cluster_of_another_version_is_refused(short_folder: Path) -> None:
    own_server = EmbeddedServer(short_folder / "home")
    own_server.data.mkdir(parents=True)
    (own_server.data / "PG_VERSION").write_text("16\n")
    with pytest.raises(StoreError, match=f"PostgreSQL 16, .* PostgreSQL {major_version()}"):
        own_server.start()


def test_lost_password_is_explained(own_server: EmbeddedServer) -> None:
    own_server.start()
    (own_server.folder / "password").unlink()
    with pytest.raises(StoreError, match="password of the database cannot be read"):
        own_server.conninfo()


def test_server_that_does_not_start_quotes_its_log(own_server: EmbeddedServer) -> None:
    own_server.start()
    own_server.stop()
    shutil.rmtree(own_server.data / "pg_wal")
    with pytest.raises(StoreError, match=r"did not start.*server\.log:\n(.*\n)*.*pg_wal"):
        own_server.start()


def test_log_holds_nothing_of_documents(running_server: EmbeddedServer) -> None:
    with psycopg.connect(running_server.conninfo(), autocommit=True) as connection:
        connection.execute("CREATE TABLE letter (text text PRIMARY KEY CHECK (text <> ''))")
        connection.execute("INSERT INTO letter VALUES (%s)", ["our secret"])
        for sql, parameters in (
            ("INSERT INTO letter VALUES (%s)", ["our secret"]),  # the key is quoted in the detail
            ("SELECT (%s || text)::integer FROM letter", ["our secret"]),  # in the message
            ("SELECT 'our secret' FROM nowhere", None),  # in the statement
        ):
            with pytest.raises(psycopg.Error, match=r"our secret|nowhere"):
                connection.execute(sql, parameters)
    assert "our secret" not in running_server.log.read_text()


def test_long_log_is_put_aside(own_server: EmbeddedServer) -> None:
    own_server.start()
    own_server.stop()
    with own_server.log.open("ab") as file:
        file.truncate(5_000_000)
    own_server.start()
    assert own_server.log.stat().st_size < 100_000
    assert (own_server.folder / "server.log.old").stat().st_size == 5_000_000
