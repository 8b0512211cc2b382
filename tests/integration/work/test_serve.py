"""``emily serve``: commands find it and print what they print alone; programs speak to its API."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.fakes import bundled_embedder
from tests.integration.brain.conftest import fresh_database
from typer.testing import CliRunner

from emily.brain import Brain
from emily.cli.app import app
from emily.cli.endpoint import described, is_held
from emily.cli.session import Session
from emily.store import EmbeddedServer
from emily.version import VERSION

_ROOT = Path(__file__).parents[3]
_PROGRAM = [sys.executable, "-c", "from emily.cli.program import main; main()"]


@dataclass
class Home:
    """A home with some files, and the server that runs in it."""

    folder: Path
    files: Path
    environment: dict[str, str]
    server: subprocess.Popen[str] | None = None
    said: list[str] = field(default_factory=list)
    log: list[str] = field(default_factory=list)

    def run(
        self, *arguments: str, cwd: Path | None = None, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*_PROGRAM, *arguments],
            capture_output=True,
            text=True,
            timeout=120,
            cwd=cwd or self.files,
            env={**self.environment, **environment},
            check=False,
        )

    def start(self, *, wait: bool = True, **environment: str) -> None:
        self.server = subprocess.Popen(
            [*_PROGRAM, "serve", "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**self.environment, **environment},
        )
        deadline = time.monotonic() + 60
        lock = self.folder / "serve" / "lock"
        while not (
            (described(self.folder) or {}).get("pid") == self.server.pid if wait else is_held(lock)
        ):
            assert self.server.poll() is None, self.server.communicate()[1]
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def stop(self, number: int = signal.SIGTERM) -> int:
        assert self.server is not None
        self.server.send_signal(number)
        said, logged = self.server.communicate(timeout=60)
        self.said.append(said)
        self.log.append(logged)
        return self.server.returncode

    def settle(self) -> None:
        """Wait until nothing is left to be done behind the server's back."""
        deadline = time.monotonic() + 60
        counts: dict[str, dict[str, int]] = {}
        with self.client() as client:
            while time.monotonic() < deadline:
                counts = client.get("/v1/jobs").json()["counts"]
                if counts.get("analysis") and not any(
                    found.get(status)
                    for found in counts.values()
                    for status in ("waiting", "running")
                ):
                    return
                time.sleep(0.2)
        raise AssertionError(counts)

    def client(self) -> httpx.Client:
        found = described(self.folder)
        assert found is not None
        return httpx.Client(
            transport=httpx.HTTPTransport(uds=found["socket"]), base_url="http://emily", timeout=60
        )


def make_home(top: Path, url: str) -> Home:
    files = top / "files"
    files.mkdir(parents=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("EMILY_")}
    environment = {
        **kept,
        "EMILY_HOME": str(top / "home"),
        "EMILY_DATABASE_URL": url,
        "PYTHONPATH": str(_ROOT / "src"),
        "PYTHONIOENCODING": "utf-8",
    }
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "COLUMNS"):
        environment.pop(name, None)
    return Home(top / "home", files, environment)


@pytest.fixture(scope="module")
def served(
    server: EmbeddedServer, template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Home]:
    with fresh_database(server, template) as url:
        made = make_home(tmp_path_factory.mktemp("s"), url)
        (made.files / "boiler.txt").write_text("The boiler of the flat was serviced in May.\n")
        (made.files / "rent.txt").write_text("L'affitto si paga il primo del mese.\n")
        made.start()
        try:
            assert made.run("add", ".").returncode == 0
            made.settle()
            yield made
        finally:
            made.stop()


def without_times(text: str) -> Any:
    document = json.loads(text)
    document.pop("timings_ms", None)
    return document


_COMMANDS = [
    "search boiler serviced",
    "search boiler --explain",
    "search boiler serviced --json",
    "search nothing-of-it --json",
    "search",
    "search boiler --limit 0",
    "search boiler --limit 0 --json",
    "search affitto --in .",
    "ask boiler.txt serviced?",
    "ask boiler.txt serviced? --json",
    "list",
    "list --json",
    "show boiler.txt",
    "show ./rent.txt --json",
    "show nothing.pdf --json",
    "add nowhere.txt",
    "add rent.txt",
    "add rent.txt --json",
    "alerts",
    "jobs --all",
    "retry boiler.txt",
    "retry",
    "status --nonsense",
]


def test_a_served_command_prints_what_it_prints_alone(
    served: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in served.environment.items():
        monkeypatch.setenv(name, value)
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(served.files)
    session = Session(open_brain=lambda s, _: Brain.open(s, embedder=bundled_embedder()))
    for command in _COMMANDS:
        arguments = command.split()
        ours = served.run(*arguments)
        alone = CliRunner().invoke(app, arguments, prog_name="emily", obj=session)
        assert ours.returncode == alone.exit_code, command
        if "--explain" in arguments:  # it shows times
            assert ours.stdout.splitlines()[:4] == alone.stdout.splitlines()[:4]
        elif "--json" in arguments:
            assert without_times(ours.stdout) == without_times(alone.stdout), command
        else:
            assert ours.stdout == alone.stdout, command
        assert ours.stderr == alone.stderr, command


def test_the_socket_is_its_owners_alone(served: Home) -> None:
    found = described(served.folder)
    assert found is not None
    place = Path(found["socket"])
    assert stat.S_IMODE(place.stat().st_mode) & 0o077 == 0
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE((served.folder / "serve").stat().st_mode) == 0o700
    assert stat.S_IMODE((served.folder / "serve" / "server.json").stat().st_mode) == 0o600


def test_a_second_server_is_refused_and_the_first_goes_on(served: Home) -> None:
    second = served.run("serve")
    assert second.returncode == 1
    assert served.server is not None
    assert f"runs already (process {served.server.pid})" in second.stderr
    assert served.run("list").stderr == ""


def test_one_that_must_not_be_used_is_not_and_that_is_said(served: Home) -> None:
    other = served.run("list", EMILY_THRESHOLD="0.5")
    assert (other.returncode, "boiler.txt" in other.stdout) == (0, True)
    assert "is not used: it was started with another value of EMILY_THRESHOLD." in other.stderr

    place = served.folder / "serve" / "server.json"
    code = "import emily.version; emily.version.VERSION = '9.9'; " + _PROGRAM[-1]
    newer = subprocess.run(
        [sys.executable, "-c", code, "list"],
        capture_output=True,
        text=True,
        env=served.environment,
        check=False,
    )
    assert (newer.returncode, "boiler.txt" in newer.stdout) == (0, True)
    assert f"is not used: it is of version {VERSION}, and this is 9.9." in newer.stderr

    # The description of this home's server, copied into another home.
    elsewhere = served.folder.parent / "elsewhere"
    (elsewhere / "serve").mkdir(parents=True)
    (elsewhere / "serve" / "server.json").write_text(place.read_text())
    (elsewhere / "serve" / "server.json").chmod(0o600)
    copied = served.run("list", EMILY_HOME=str(elsewhere))
    assert copied.returncode == 0
    assert f"is not used: it serves {served.folder.resolve()}." in copied.stderr


def test_programs_speak_json_to_it(served: Home) -> None:
    with served.client() as client:
        assert client.get("/v1/").json()["version"] == VERSION
        found = client.post("/v1/search", json={"query": "boiler serviced"})
        assert found.status_code == 200
        assert found.json()["results"][0]["document"]["name"] == "boiler.txt"
        alone = without_times(served.run("search", "boiler serviced", "--json").stdout)
        assert without_times(found.text) == alone
        assert len(client.get("/v1/documents").json()["documents"]) >= 2
        assert client.get("/v1/documents/boiler.txt").json()["document"]["name"] == "boiler.txt"
        assert client.get("/v1/status").json()["documents"] >= 2
        assert client.get("/v1/alerts").json()["alerts"] == []
        assert client.get("/v1/jobs").json()["workers"] == 1
        asked = client.post("/v1/ask", json={"document": "rent.txt", "question": "affitto"})
        assert asked.json()["results"]
        missing = client.get("/v1/documents/nothing.pdf")
        assert (missing.status_code, missing.json()["error"]["type"]) == (404, "UnknownDocument")
        wrong = client.post("/v1/search", json={"query": "x", "limmit": 3})
        assert (wrong.status_code, "limmit" in wrong.text) == (400, True)
        empty = client.post("/v1/search", json={"query": ""})
        assert (empty.status_code, empty.json()["error"]["type"]) == (400, "InputError")
        refused = client.post("/v1/retry", json={"document": "boiler.txt"})
        assert (refused.status_code, "did not fail" in refused.text) == (400, True)


def test_queued_and_watched_files_are_indexed_behind_its_back(served: Home) -> None:
    later = served.files / "later.txt"
    later.write_text("A parcel from Lisbon waits at the post office.\n")
    queued = served.run("add", "--later", "later.txt")
    assert queued.returncode == 0
    assert "No worker" not in queued.stdout
    deadline = time.monotonic() + 45
    while "later.txt" not in served.run("search", "parcel Lisbon").stdout:
        assert time.monotonic() < deadline, served.run("jobs").stdout
        time.sleep(0.3)
    watched = served.files.parent / "watched"
    watched.mkdir()
    assert "Watched from now on" in served.run("watch", "../watched").stdout
    (watched / "kite.txt").write_text("The kite flies over the beach of Ostia.\n")
    while "kite.txt" not in served.run("search", "kite beach").stdout:
        assert time.monotonic() < deadline + 45, served.run("jobs").stdout
        time.sleep(0.3)
    removed = served.run("watch", "--remove", "../watched")
    assert "No longer watched" in removed.stdout


def test_changed_settings_are_taken_up(served: Home) -> None:
    file = served.folder / "settings.toml"
    try:
        file.write_text("result_limit = 1\n")
        found = json.loads(served.run("search", "boiler affitto parcel", "--json").stdout)
        assert sum(len(item["passages"]) for item in found["results"]) <= 1
        file.write_text("result_limit = 0\n")
        wrong = served.run("list", "--json")
        assert wrong.returncode == 1
        assert json.loads(wrong.stdout)["error"]["type"] == "SettingError"
        assert "'result_limit' is 0" in wrong.stderr
    finally:
        file.unlink()
    deadline = time.monotonic() + 60
    while served.run("list").returncode:
        assert time.monotonic() < deadline
        time.sleep(0.5)


def test_an_interrupted_add_tells_what_it_finished(served: Home) -> None:
    folder = served.files.parent / "many"
    folder.mkdir()
    for number in range(300):
        (folder / f"{number:03}.txt").write_text(f"Letter {number} of the great correspondence.\n")
    process = subprocess.Popen(
        [*_PROGRAM, "add", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=served.environment,
    )
    assert process.stderr is not None
    process.stderr.readline()  # one is finished
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Run the same command again to go on." in told
    listed = json.loads(served.run("list", "--json").stdout)["documents"]
    assert 0 < sum("/many/" in item["path"] for item in listed) < 300


def test_it_ends_cleanly_and_a_dead_ones_socket_is_no_obstacle(
    server: EmbeddedServer, template: str, tmp_path: Path
) -> None:
    with fresh_database(server, template) as url:
        home = make_home(tmp_path / ("long" * 30), url)  # too long for a socket inside of it
        (home.files / "a.txt").write_text("A text about a lighthouse.\n")
        home.start()
        found = described(home.folder)
        assert found is not None
        assert len(found["socket"]) < 100
        assert home.run("add", "a.txt").returncode == 0
        home.settle()  # a description would stand in the list
        home.stop(signal.SIGKILL)
        told = json.loads(home.said[0])
        assert home.server is not None
        assert (told["socket"], told["process"]) == (found["socket"], home.server.pid)
        assert (home.folder / "serve" / "server.json").exists()
        alone = home.run("list")
        assert (alone.returncode, alone.stderr) == (0, "")
        assert "a.txt" in alone.stdout
        home.start(wait=False)  # what the dead one wrote of itself is still there
        stopped = home.run("stop")
        assert (stopped.returncode, "emily serve has ended." in stopped.stdout) == (0, True)
        assert home.server is not None
        home.log.append(home.server.communicate(timeout=30)[1])
        assert home.server.returncode == 0
        assert not (home.folder / "serve" / "server.json").exists()
        assert not Path(found["socket"]).exists()


def test_a_socket_that_hangs_is_another_users_matter(served: Home, tmp_path: Path) -> None:
    """A description that leads to no server of ours does no harm."""
    folder = tmp_path / "h"
    (folder / "serve").mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as listening:
        place = Path(os.path.realpath(served.folder)).parent / "x"
        listening.bind(str(place))
        (folder / "serve" / "server.json").write_text(
            json.dumps({"pid": 1, "version": VERSION, "home": str(folder), "socket": str(place)})
        )
        refused = served.run("list", EMILY_HOME=str(folder))  # nobody listens there
    assert (refused.returncode, refused.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "number"),
    [(["worker"], signal.SIGINT), (["watch", ".", "--run"], signal.SIGTERM)],
)
def test_what_runs_until_it_is_stopped_says_so_and_ends_cleanly(
    server: EmbeddedServer, template: str, tmp_path: Path, arguments: list[str], number: int
) -> None:
    with fresh_database(server, template) as url:
        home = make_home(tmp_path, url)
        process = subprocess.Popen(
            [*_PROGRAM, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=home.files,
            env=home.environment,
        )
        assert process.stderr is not None
        said = process.stderr.readline()
        while said and "End with Ctrl-C." not in said:
            said = process.stderr.readline()
        assert said
        process.send_signal(number)
        _, rest = process.communicate(timeout=60)
        assert process.returncode == 0
        assert "Interrupted" not in rest
