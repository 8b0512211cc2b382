"""Which commands are handed to a server, and which the program does itself."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata

import pytest
from typer.main import get_command

from emily.cli.app import app
from emily.cli.relay import RELAYED, parse
from emily.version import VERSION


@pytest.mark.parametrize(
    ("arguments", "home"),
    [
        (["search", "boiler"], None),
        (["--home", "/h", "list"], "/h"),
        (["--home=/h", "add", "a.txt", "--later"], "/h"),
        (["remove", "3", "--yes"], None),
        (["remove", "-y", "3"], None),
        (["search", "--", "--help"], None),
        (["watch", "folder"], None),
    ],
)
def test_these_are_relayed(arguments: list[str], home: str | None) -> None:
    found = parse(arguments)
    assert found is not None
    assert found[0] == home
    assert found[1] == [item for item in arguments if item not in ("--home", "/h", "--home=/h")]


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--version"],
        ["-v", "search", "boiler"],
        ["search", "--help"],
        ["search", "-h"],
        ["add", "a.zip", "--password"],
        ["add", "a.zip", "--password-file=p"],
        ["remove", "3"],
        ["watch", "--run"],
        ["worker"],
        ["serve"],
        ["stop"],
        ["doctor"],
        ["nonsense"],
        ["--home"],
    ],
    ids=" ".join,
)
def test_these_are_done_here(arguments: list[str]) -> None:
    assert parse(arguments) is None


def test_every_relayed_command_exists() -> None:
    assert set(get_command(app).commands) >= RELAYED  # type: ignore[attr-defined]


def test_the_version_is_that_of_the_package() -> None:
    assert metadata.version("emily") == VERSION


def test_to_be_relayed_takes_next_to_no_import() -> None:
    code = (
        "import sys; before = set(sys.modules); import emily.cli.program, emily.cli.relay, "
        "emily.cli.streams, emily.version; print(*sorted(set(sys.modules) - before))"
    )
    loaded = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "emily.cli.relay" in loaded
    heavy = {"typing", "typer", "rich", "numpy", "psycopg", "pydantic", "asyncio", "socket"}
    assert not heavy & set(loaded)
