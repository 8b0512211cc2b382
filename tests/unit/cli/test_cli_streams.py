"""The program around its commands: streams that are closed or full, Ctrl-C from the start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")

INTERRUPTED = """
import sys

interrupted = sys.argv[1]
sys.argv = ["emily", "settings"]

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == interrupted:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupt())
from emily.cli.program import main
main()
"""


def run(redirection: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """``emily ARGUMENTS`` with streams as the shell redirects them."""
    command = f'exec "$0" -m emily.cli "$@" {redirection}'
    return _finished(["sh", "-c", command, sys.executable, *arguments])


def _finished(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_change_nothing_else(closed: str) -> None:
    done = run(closed, "settings", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("{") == (">&-" not in closed.replace("2>&-", ""))
    assert run(closed, "show").returncode == 2


@needs_full
@pytest.mark.parametrize("arguments", [("settings",), ("settings", "--json"), ("--help",)])
def test_a_full_stdout_is_one_line_on_stderr(arguments: tuple[str, ...]) -> None:
    done = run(">/dev/full", *arguments)
    assert done.returncode == 1
    assert done.stderr == (
        "emily: The result could not be written to stdout (No space left on device).\n"
    )


@needs_full
def test_an_error_is_told_where_stdout_is_full() -> None:
    done = run(">/dev/full", "add", "/no/such/file", "--json")
    assert done.returncode == 1
    assert done.stderr.startswith("emily: There is no such file or folder: '/no/such/file'\n")
    assert "Traceback" not in done.stderr


@needs_full
def test_a_full_stderr_leaves_work_and_exit_code_alone() -> None:
    done = run("2>/dev/full", "settings")
    assert done.returncode == 0
    assert "home = " in done.stdout
    assert run("2>/dev/full", "show").returncode == 2
    assert run("2>/dev/full", "add", "/no/such/file").returncode == 1
    assert run(">/dev/full 2>/dev/full", "settings").returncode == 1


@pytest.mark.parametrize(
    "module",
    ["emily.cli.streams", "emily.cli.app", "typer", "asyncio", "pydantic", "emily.cli.settings"],
)
def test_ctrl_c_while_the_program_is_imported(module: str) -> None:
    done = _finished([sys.executable, "-c", INTERRUPTED, module])
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "emily: Interrupted.\n")
