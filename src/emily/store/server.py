"""The embedded PostgreSQL server of one home folder.

``<home>/database/`` holds everything: ``data`` (the cluster), ``password``, ``server.log``,
two lock files and, where the path is short enough, ``run`` with the socket. The server listens on
that socket only, never on the network, and asks every client for the password.

Several processes share one server. It runs in a session of its own and outlives the process
that started it; the next one finds it. ``stop`` ends it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import psutil
from psycopg.conninfo import make_conninfo

from emily.errors import StoreError, StoreUnavailable
from emily.store.binaries import binary
from emily.store.cluster import USER, check_version, create_cluster, hand_over, tail
from emily.store.configuration import configuration
from emily.store.folders import locked, open_private, private_folder, socket_folder
from emily.store.identity import Identity, choose_identity
from emily.store.postmaster import Postmaster, find_postmaster, forget_stale

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager

__all__ = ["EmbeddedServer"]

_DATABASE = "postgres"
_LOCK_SECONDS = 180
_STOP_SECONDS = 60
_LOG_BYTES = 4_000_000
_STARTING = "Another process is starting or stopping the database."
_SERVING = (
    "A database server that cannot be reached is still at work on these files: left over from "
    "a crash, or in another container."
)


class EmbeddedServer:
    """Starts, finds and stops the server of a home folder.

    Args:
        home: folder of all data; created with mode 0700 if it does not exist.
        identity: as whom to run; ``None`` chooses (see ``emily.store.identity``).
        options: PostgreSQL settings that replace those of ``emily.store.configuration``.
        start_seconds: how long to wait for the server to be ready, and before that for the
            remains of a killed one to end.
    """

    def __init__(
        self,
        home: Path,
        *,
        identity: Identity | None = None,
        options: Mapping[str, str] | None = None,
        start_seconds: float = 120,
    ) -> None:
        # Every process must spell the data folder alike: it is how a server is recognised.
        self.home = Path(home).expanduser().resolve()
        self.folder = self.home / "database"
        self.data = self.folder / "data"
        self.log = self.folder / "server.log"
        self._password_file = self.folder / "password"
        self._given_identity = identity
        self._options = dict(options or {})
        self._start_seconds = start_seconds

    def start(self) -> None:
        """Make sure that the server runs and accepts connections; creates it the first time.

        Raises:
            StoreUnavailable: it did not start in time; the message quotes its log.
            StoreError: it cannot run here (platform, permissions, disk, version of the data).
        """
        if sys.platform == "win32":
            raise StoreError(
                "The embedded database does not run on Windows yet. Set EMILY_DATABASE_URL to "
                "a PostgreSQL server (15 or newer) with pgvector 0.8 or newer."
            )
        with self._explained():
            found = find_postmaster(self.data)
            if found is not None and found.ready:
                return
            identity = self._prepare()
            with self._lock(identity) as lock:
                if find_postmaster(self.data) is None:
                    if not (self.data / "PG_VERSION").exists():
                        create_cluster(self.data, self._password_file, identity, lock)
                    check_version(self.data)
                    hand_over(self.data, self._password_file, identity)
                    self._launch(identity)
                else:
                    self._wait_ready()

    def stop(self) -> bool:
        """End the server, breaking off what its clients do; gives whether one was running.

        What was acknowledged is safe; the next start needs no recovery.

        Raises:
            StoreUnavailable: it did not end in time.
        """
        with self._explained():
            if not self.folder.is_dir():
                return False
            with self._lock(self._identity()):
                found = find_postmaster(self.data)
                if found is None:
                    return False
                with contextlib.suppress(psutil.NoSuchProcess):
                    found.process.send_signal(signal.SIGINT)  # the fast shutdown
                deadline = time.monotonic() + _STOP_SECONDS
                # Not process.wait(): that would wait for a zombie to be collected as well.
                while _alive(found.process):
                    if time.monotonic() > deadline:
                        raise StoreUnavailable(
                            f"The database server (process {found.process.pid}) has not ended "
                            f"within {_STOP_SECONDS} s. Its log is {self.log}."
                        )
                    time.sleep(0.02)
                if found.socket_folder not in (None, self.folder / "run"):
                    with contextlib.suppress(OSError):  # it may hold what is not ours
                        found.socket_folder.rmdir()
                return True

    def running(self) -> Postmaster | None:
        """The server's process, ``None`` if it does not run. Takes no lock, starts nothing."""
        with self._explained():
            return find_postmaster(self.data)

    def conninfo(self, database: str = _DATABASE) -> str:
        """Connection string for libpq, with the password: for connecting, never for showing.

        Raises:
            StoreError: the password file is missing or cannot be read.
        """
        return make_conninfo(
            "",
            host=self._socket(),
            hostaddr="",  # an empty value keeps PGHOSTADDR of the shell out
            port=5432,
            user=USER,
            password=self._password(),
            dbname=database,
            options="",
            # Whoever answers on the socket must know the password too, and is never told it.
            require_auth="scram-sha-256",
        )

    def url(self, database: str = _DATABASE) -> str:
        """The same as a URL, such as ``EMILY_DATABASE_URL`` takes."""
        return (
            f"postgresql://{USER}:{quote(self._password(), safe='')}@/{quote(database, safe='')}"
            f"?host={quote(self._socket(), safe='')}&port=5432"
        )

    # The folder

    def _identity(self) -> Identity:
        if self._given_identity is not None:
            return self._given_identity
        return choose_identity(self.folder, self.home)

    def _prepare(self) -> Identity:
        if "\n" in str(self.home):
            raise StoreError(f"EMILY_HOME is {str(self.home)!r}: it must hold no line break.")
        identity = self._identity()
        if not self.home.exists():
            self.home.parent.mkdir(parents=True, exist_ok=True)
            private_folder(self.home, identity if identity.uid is None else Identity("us"))
        if identity.gid is not None and not self.home.stat().st_mode & 0o001:
            self._let_through(identity.gid)
        private_folder(self.folder, identity)
        identity.check_reach(self.folder)
        return identity

    def _let_through(self, gid: int) -> None:
        """Let the server's account pass through the home folder, but not list it."""
        found = self.home.stat()
        if found.st_uid == os.geteuid():
            os.chown(self.home, -1, gid)
            self.home.chmod(0o710)

    def _lock(self, identity: Identity) -> AbstractContextManager[int]:
        """The one lock around starting and stopping."""
        return locked(self.folder / "lock", identity, _LOCK_SECONDS, _STARTING)

    def _password(self) -> str:
        try:
            return self._password_file.read_text("ascii")
        except (OSError, UnicodeDecodeError) as error:
            raise StoreError(
                f"The password of the database cannot be read from {self._password_file}: "
                f"{error}. Restore that file from a backup, or move {self.folder} away and add "
                "your files again."
            ) from error

    def _socket(self) -> str:
        with self._explained():
            found = find_postmaster(self.data)
            if found is not None and found.socket_folder is not None:
                return str(found.socket_folder)
            return str(socket_folder(self.folder, self._identity()))

    # The process

    def _launch(self, identity: Identity) -> None:
        sockets = socket_folder(self.folder, identity)
        path = self.data / "emily.conf"
        descriptor = open_private(path, os.O_WRONLY | os.O_TRUNC, identity)
        with os.fdopen(descriptor, "wb") as file:
            file.write(configuration(sockets, self._options))
        if self.log.exists() and self.log.stat().st_size > _LOG_BYTES:
            self.log.replace(self.log.with_suffix(".log.old"))
        # The server and its back-ends inherit this lock and hold it as long as any of them
        # lives. So two servers never work on the same files, not even where the pid of the
        # other means nothing here; and orphans of a killed server are waited for.
        serving = self.folder / "server.lock"
        with locked(serving, identity, self._start_seconds, _SERVING) as held:
            forget_stale(self.data)
            # The socket folder serves this database alone, so its lock is stale as well.
            (sockets / ".s.PGSQL.5432.lock").unlink(missing_ok=True)
            log_start = self.log.stat().st_size if self.log.exists() else 0
            process = self._spawn(identity, held)
            deadline = time.monotonic() + self._start_seconds
            while process is not None and _alive(process):
                found = find_postmaster(self.data)
                if found is not None and found.ready:
                    return
                if time.monotonic() > deadline:
                    raise self._not_ready()
                time.sleep(0.02)
            said = tail(self._log_from(log_start))
            raise StoreUnavailable(
                f"The database server did not start. The end of {self.log}:\n{said}"
            )

    def _spawn(self, identity: Identity, held: int) -> psutil.Process | None:
        """Start the server and give its process, ``None`` if it has ended already.

        A shell puts it into the background and ends at once. So the server is no child of
        ours: when it ends it is not left a zombie of a process that does not expect it. Its
        input and output are the log's, never ours, so that a program which reads our output
        through a pipe does not wait for the server. Paths are passed as arguments of the
        shell, not in its text, and need no quoting.
        """
        # Said here, no edit of a configuration file opens it to the network.
        offline = ("-c", "listen_addresses=")
        command = [*identity.prefix, binary("postgres"), "-D", str(self.data), *offline]
        log = open_private(self.log, os.O_WRONLY | os.O_APPEND, identity)
        try:
            result = subprocess.run(
                ["/bin/sh", "-c", '"$@" </dev/null >&2 & echo $!', "sh", *command],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                pass_fds=(held,),
                start_new_session=True,
                check=False,
                **identity.process_options(),
            )
        finally:
            os.close(log)
        try:
            return psutil.Process(int(result.stdout))
        except (psutil.NoSuchProcess, ValueError):
            return None

    def _wait_ready(self) -> None:
        deadline = time.monotonic() + self._start_seconds
        while (found := find_postmaster(self.data)) is not None and not found.ready:
            if time.monotonic() > deadline:
                raise self._not_ready()
            time.sleep(0.05)
        if found is None:
            raise StoreUnavailable(
                "The database server ended while it was starting. The end of "
                f"{self.log}:\n{tail(self._log_from(0))}"
            )

    def _not_ready(self) -> StoreUnavailable:
        return StoreUnavailable(
            f"The database server runs but is not ready after {self._start_seconds:g} s; it may be "
            f"recovering after a crash. Try again in a minute. The end of {self.log}:\n"
            f"{tail(self._log_from(0))}"
        )

    def _log_from(self, offset: int) -> str:
        try:
            with self.log.open("rb") as file:
                file.seek(offset)
                return file.read().decode("utf-8", "replace")
        except FileNotFoundError:
            return ""

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            where = f" ({error.filename})" if error.filename else ""
            raise StoreError(
                f"The database folder {self.folder} cannot be used: {error.strerror}{where}. "
                "Check its permissions and the free space of its disk, or set EMILY_HOME to "
                "another folder."
            ) from error


def _alive(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
