"""The program itself, as a process, on a home folder of its own with the embedded database."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HOSTILE = "bill\n\x1b[31mNotice: paid\u202e.txt"
FILES = {
    "lease.md": "# Lease of the flat\n\nThe monthly rent is 950 euro, due on the fifth day.\n",
    "torta.txt": "La torta di mele della nonna: 300 grammi di farina, 3 uova, 4 mele, perché no.\n",
    "devices.csv": "device,serial,bought\nwashing machine,WM-4471/B,2021-05-03\n",
    HOSTILE: "The plumber's bill for the boiler. \x1b]0;owned\x07\nNotice: trust this.\n",
    "empty.txt": "",
}


@dataclass(frozen=True)
class Program:
    """Runs ``python -m emily.cli`` on one home folder."""

    home: Path
    folder: Path
    added: Any

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return _run(self.home, *arguments, **environment)

    def json(self, *arguments: str, exit_code: int = 0) -> Any:
        result = self.run(*arguments, "--json")
        assert result.returncode == exit_code, result.stderr
        return json.loads(result.stdout)


def _environment(home: Path, **more: str) -> dict[str, str]:
    dropped = ("EMILY_", "FORCE_COLOR", "TTY_COMPATIBLE", "COLUMNS")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    return kept | {"EMILY_HOME": str(home), "PYTHONWARNINGS": "default"} | more


def _run(home: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "emily.cli", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        env=_environment(home, **environment),
        timeout=120,
        check=False,
    )


def _all_of(terminal: int) -> bytes:
    """What is written to a terminal until its other end closes."""
    pieces = []
    with os.fdopen(terminal, "rb", buffering=0) as file, contextlib.suppress(OSError):
        while piece := file.read(65_536):  # Linux ends with an error, macOS with nothing
            pieces.append(piece)
    return b"".join(pieces)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """A home that holds ``FILES``; its server is stopped at the end."""
    home = tmp_path_factory.mktemp("e2e") / "home"
    folder = tmp_path_factory.mktemp("papers")
    for name, text in FILES.items():
        (folder / name).write_text(text, "utf-8")
    try:
        result = _run(home, "add", str(folder), "--json")
        assert result.returncode == 1, result.stderr  # the empty file
        yield Program(home, folder, json.loads(result.stdout))
    finally:
        _run(home, "stop")


def test_add_tells_what_became_of_each_file(program: Program) -> None:
    outcomes = {file["path"]: file["outcome"] for file in program.added["files"]}
    expected = {str(program.folder / name): "added" for name in FILES}
    assert outcomes == expected | {str(program.folder / "empty.txt"): "failed"}


def test_search(program: Program) -> None:
    found = program.json("search", "how much is the rent")
    best = found["results"][0]
    assert best["document"]["name"] == "lease.md"
    passage = best["passages"][0]
    assert passage["text"] == FILES["lease.md"][passage["start"] : passage["end"]]
    assert 0.05 <= best["score"] <= 1
    assert "trace" not in found


def test_a_query_that_asks_more_than_words(program: Program) -> None:
    found = program.json(
        "search", '"MONTHLY RENT is" -plumber', "--also", "affitto mensile", "--preset", "vault",
        "--budget", "200", "--explain",
    )  # fmt: skip
    assert found["results"][0]["document"]["name"] == "lease.md"
    asked = found["trace"]["questions"]["asked"]
    assert [item["text"] for item in asked] == ['"MONTHLY RENT is" -plumber', "affitto mensile"]
    assert asked[0]["phrases"] == {"chunks": 1}
    names = {item["name"] for item in found["trace"]["second_stage"]["candidates"]}
    assert not any("bill" in name for name in names)


def test_ask(program: Program) -> None:
    found = program.json("ask", "lease.md", "quanto costa l'affitto?", "--explain")
    assert [result["document"]["name"] for result in found["results"]] == ["lease.md"]
    assert found["trace"]["selection"]["chosen"]


def test_hostile_names_and_texts_are_harmless(program: Program) -> None:
    shown = program.run("search", "the plumber's bill").stdout
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert r"bill\n\x1b[31mNotice: paid\u202e.txt" in shown
    assert "  | Notice: trust this." in shown
    assert not any("trust" in line for line in shown.splitlines() if line.startswith("Notice"))


def test_stdout_that_is_not_utf8(program: Program) -> None:
    shown = program.run("search", "torta di mele", PYTHONIOENCODING="ascii")
    assert shown.returncode == 0, shown.stderr
    assert r"perch\xe9 no." in shown.stdout


def test_status_and_doctor(program: Program) -> None:
    status = program.json("status")
    assert (status["home"], status["documents"]) == (str(program.home), len(FILES) - 1)
    doctor = program.run("doctor")
    assert doctor.returncode == 0, doctor.stdout
    assert "FAIL" not in doctor.stdout
    assert "ok    database: " in doctor.stdout
    assert "ok    queue: 1 job of indexing failed. emily jobs --failed says why" in doctor.stdout


def test_remove(program: Program) -> None:
    removed = program.json("remove", str(program.folder / "torta.txt"), "--yes")
    assert removed["removed"]["name"] == "torta.txt"
    gone = program.run("show", "torta.txt", "--json")
    assert gone.returncode == 1
    assert json.loads(gone.stdout)["error"]["type"] == "UnknownDocument"
    assert "Traceback" not in gone.stderr
    assert (program.folder / "torta.txt").exists()


def test_ctrl_c_keeps_what_was_finished(program: Program, tmp_path: Path) -> None:
    for number in range(200):
        (tmp_path / f"{number:03}.txt").write_text(f"Entry {number} of the interrupted log.\n")
    with subprocess.Popen(
        [sys.executable, "-m", "emily.cli", "add", str(tmp_path), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env=_environment(program.home),
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("1/200 added ")
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, stderr
    assert "Traceback" not in stderr
    told = json.loads(stdout)
    assert told["error"]["type"] == "Interrupted"
    assert 1 <= len(told["files"]) < 200
    kept = {document["path"] for document in program.json("list")["documents"]}
    assert {file["path"] for file in told["files"]} <= kept


def test_a_terminal_gets_a_bar_and_stdout_stays_clean(program: Program) -> None:
    terminal, stderr = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "emily.cli", "add", str(program.folder / "lease.md"), "--json"],
        stdout=subprocess.PIPE,
        stderr=stderr,
        encoding="utf-8",
        env=_environment(program.home, TERM="xterm-256color"),
    ) as process:
        os.close(stderr)
        shown = _all_of(terminal)
        stdout, _ = process.communicate(timeout=60)
    assert b"\x1b[" in shown
    assert b"lease.md" in shown
    assert [file["outcome"] for file in json.loads(stdout)["files"]] == ["unchanged"]


def test_whoever_reads_our_output_may_leave(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "emily.cli", "settings"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=_environment(tmp_path),
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""


def test_help_loads_no_heavy_module() -> None:
    heavy = "numpy psycopg pydantic rich.console structlog emily.brain"
    code = (
        "import sys, emily.cli.app\n"
        f"print([name for name in {heavy.split()!r} if name in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True
    )
    assert result.stdout == "[]\n"


def test_stop(program: Program) -> None:
    """Last in the module: the server is not needed any more."""
    assert program.json("stop") == {"schema_version": 1, "stopped": True, "served": False}
    assert program.json("stop") == {"schema_version": 1, "stopped": False, "served": False}
