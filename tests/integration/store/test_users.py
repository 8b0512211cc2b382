"""As whom the server runs: a normal user, root, a number without a name, an account of root's."""

from __future__ import annotations

import os
import pwd
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from emily.errors import StoreError
from emily.store import EmbeddedServer
from emily.store.identity import account, choose_identity, namespace

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0, reason="only root can become another user; as one, the rest of the suite ran"
)

# Everything is imported before root is given up: the interpreter may be root's alone.
AS_USER = """
import os, sys
from pathlib import Path
import encodings.ascii, encodings.idna
import psycopg
from emily.errors import StoreError
from emily.store import EmbeddedServer
from emily.store.identity import account, choose_identity
user = int(sys.argv[2])
os.setgroups([])
os.setresgid(user, user, user)
os.setresuid(user, user, user)
os.environ["HOME"] = os.environ["TMPDIR"] = sys.argv[1]
server = EmbeddedServer(Path(sys.argv[1], sys.argv[3]))
try:
    server.start()
    with psycopg.connect(server.conninfo()) as connection:
        print(connection.execute("SELECT 'it works'").fetchone()[0])
    print(server.running().process.uids().real, server.folder.stat().st_uid)
    server.stop()
except StoreError as error:
    print(error)
"""
NOBODY = pwd.getpwnam("nobody").pw_uid
NUMBER = 54321  # of no account


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder of short path that every user may enter, and only its owner write to."""
    folder = Path(tempfile.mkdtemp(prefix="e")).resolve()
    folder.chmod(0o755)
    yield folder
    for pid_file in folder.glob("**/database/data/postmaster.pid"):
        EmbeddedServer(pid_file.parents[2]).stop()
    shutil.rmtree(folder)


def _as_user(user: int, folder: Path, home: str = "home") -> str:
    result = subprocess.run(
        [sys.executable, "-c", AS_USER, folder, str(user), home],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3] / "src")},
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def _select(server: EmbeddedServer) -> object:
    with psycopg.connect(server.conninfo()) as connection:
        return connection.execute("SELECT 'it works'").fetchone()


def test_normal_user(open_folder: Path) -> None:
    os.chown(open_folder, NOBODY, NOBODY)
    assert _as_user(NOBODY, open_folder) == f"it works\n{NOBODY} {NOBODY}\n"
    mode = stat.S_IMODE((open_folder / "home" / "database").stat().st_mode)
    assert mode == 0o700


def test_user_without_an_account(open_folder: Path) -> None:
    if namespace() is None:
        pytest.skip("user namespaces are not permitted here")
    os.chown(open_folder, NUMBER, NUMBER)
    said = _as_user(NUMBER, open_folder)
    if "is no account of this machine" in said:
        pytest.skip("user namespaces are permitted to root only")
    assert said == f"it works\n{NUMBER} {NUMBER}\n"


def test_folder_that_cannot_be_written(open_folder: Path) -> None:
    said = _as_user(NOBODY, open_folder)
    assert "cannot be used: Permission denied" in said
    assert "set EMILY_HOME to another folder" in said


def test_database_of_somebody_else(open_folder: Path) -> None:
    os.chown(open_folder, NOBODY, NOBODY)
    (open_folder / "home" / "database").mkdir(parents=True)
    said = _as_user(NOBODY, open_folder)
    assert "belongs to user 0, and Emily runs as user" in said


def test_root_stays_the_owner_of_all_files(own_server: EmbeddedServer) -> None:
    if namespace() is None:
        pytest.skip("user namespaces are not permitted here")
    own_server.start()
    assert _select(own_server) == ("it works",)
    owners = {path.lstat().st_uid for path in own_server.home.rglob("*")}
    assert owners == {0}


def test_root_uses_the_database_of_a_normal_user_as_that_user(open_folder: Path) -> None:
    os.chown(open_folder, NOBODY, NOBODY)
    assert "it works" in _as_user(NOBODY, open_folder)
    server = EmbeddedServer(open_folder / "home")
    server.start()
    assert _select(server) == ("it works",)
    found = server.running()
    assert found is not None
    assert found.process.uids().real == NOBODY
    server.stop()
    owners = {path.lstat().st_uid for path in (open_folder / "home").rglob("*")}
    assert owners == {NOBODY}
    assert "it works" in _as_user(NOBODY, open_folder)  # and root left nothing in the way


def test_new_database_in_a_home_of_a_normal_user_is_that_users(open_folder: Path) -> None:
    os.chown(open_folder, NOBODY, NOBODY)
    chosen = choose_identity(open_folder / "database", open_folder)
    assert chosen.uid == NOBODY


def test_account_without_namespaces(open_folder: Path, seed: Path) -> None:
    """Where no namespace is permitted, files that root had made are handed over."""
    home = open_folder / "home"
    shutil.copytree(seed, home)
    server = EmbeddedServer(home, identity=account("nobody"))
    server.start()
    assert _select(server) == ("it works",)
    found = server.running()
    assert found is not None
    assert found.process.uids().real == NOBODY
    assert server.data.stat().st_uid == NOBODY
    assert stat.S_IMODE(server.folder.stat().st_mode) == 0o700
    # The home stays root's: the account may pass through and no more.
    assert home.stat().st_uid == 0
    assert stat.S_IMODE(home.stat().st_mode) == 0o710
    server.stop()


def test_account_that_cannot_reach_the_home(open_folder: Path) -> None:
    closed = open_folder / "closed"
    closed.mkdir()
    closed.chmod(0o700)
    server = EmbeddedServer(closed / "home", identity=account("nobody"))
    with pytest.raises(
        StoreError, match=f"'nobody', as whom it would run, cannot enter {closed}, on the way"
    ):
        server.start()
    assert stat.S_IMODE(closed.stat().st_mode) == 0o700
    assert stat.S_IMODE(open_folder.stat().st_mode) == 0o755


def test_account_that_does_not_exist() -> None:
    with pytest.raises(StoreError, match="user 54321, which is not an account"):
        account(NUMBER)
