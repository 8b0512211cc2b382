"""Copies of the archive, from the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from emily.errors import InputError

if TYPE_CHECKING:
    from tests.unit.cli.conftest import Terminal


def test_an_export_says_what_it_holds_and_what_is_missing(terminal: Terminal) -> None:
    said = terminal.run("export", "out").stdout
    assert said == (
        f"{Path('out').absolute()} holds 2 documents, 1 note, 0 earlier versions, 1 pin, "
        "0 memories.\n"
        "Missing: the file of torta.md\n"
    )
    assert terminal.json("export", "/out") == {
        "schema_version": 1,
        "folder": "/out",
        "documents": 2,
        "notes": 1,
        "versions": 0,
        "pins": 1,
        "memories": 0,
        "missing": ["torta.md"],
    }


def test_an_import_fails_where_something_was_not_taken_in(terminal: Terminal) -> None:
    assert terminal.run("import", "/out").stdout == (
        "1 document added, 1 known already; 1 note, 0 earlier versions, 0 pins, 0 settings, "
        "0 memories.\n"
    )
    terminal.brain.life.problems = ["lease.pdf: its file is not in the folder"]
    failed = terminal.run("import", "/out")
    assert (failed.exit_code, "Not taken in: lease.pdf: its file" in failed.stdout) == (1, True)
    assert terminal.json("import", "/out", exit_code=1)["problems"] != []


def test_a_backup_names_its_file_and_what_it_lacks(terminal: Terminal) -> None:
    said = terminal.run("backup", "/safe/a.backup").stdout
    assert said.startswith("/safe/a.backup holds 2 documents and 2 files, ")
    assert "Missing: the file with the digest abababababababab…" in said
    assert terminal.json("backup", "/safe/a.backup")["bytes"] == 2048


def test_a_restore_says_of_when_the_archive_is(terminal: Terminal) -> None:
    assert terminal.run("restore", "/safe/a.backup").stdout == (
        "The archive is that of 2026-03-01T09:30:00+00:00: 2 documents, 2 files put back.\n"
        "Written into settings.toml: widen\n"
    )
    assert terminal.json("restore", "/safe/a.backup", "--replace")["version"] == "0.1.0"
    assert terminal.brain.asked == [
        ("restore", Path("/safe/a.backup"), False),
        ("restore", Path("/safe/a.backup"), True),
    ]
    terminal.brain.fails = InputError("/safe/a.backup is no backup of Emily's.")
    refused = terminal.run("restore", "/safe/a.backup")
    assert (refused.exit_code, refused.stderr) == (
        1,
        "emily: /safe/a.backup is no backup of Emily's.\n",
    )


@pytest.mark.parametrize("command", ["export", "import", "backup", "restore"])
def test_an_empty_path_is_refused(terminal: Terminal, command: str) -> None:
    assert "is empty. Give a path." in terminal.run(command, "").stderr
