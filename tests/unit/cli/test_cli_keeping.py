"""Notes, names, versions and the trash, from the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.unit.cli.conftest import Terminal


def test_a_note_is_put_on_listed_and_forgotten(terminal: Terminal) -> None:
    assert terminal.run("note", "lease.pdf").stdout == "It has no note.\n"
    said = terminal.run("note", "lease.pdf", "Ask about the deposit.").stdout
    assert said == "Note 9 is on document 1, lease.pdf.\n"
    assert "  | Ask about the deposit.\n" in terminal.run("note", "lease.pdf", "--list").stdout
    assert terminal.json("note", "lease.pdf") == {
        "schema_version": 1,
        "notes": [
            {
                "id": 9,
                "document": 1,
                "name": "lease.pdf",
                "text": "Ask about the deposit.",
                "added_at": "2026-03-03T08:00:00+00:00",
            }
        ],
        "added": None,
        "removed": None,
    }
    assert "no note 8 on" in terminal.run("note", "lease.pdf", "--remove", "8").stderr
    assert terminal.json("note", "lease.pdf", "--remove", "9")["removed"] == 9
    wrong = terminal.run("note", "lease.pdf", "text", "--list")
    assert (wrong.exit_code, "one of them" in wrong.stderr) == (1, True)


def test_a_document_is_renamed(terminal: Terminal) -> None:
    assert terminal.run("rename", "1", "Flat").stdout == "Document 1 is called Flat.\n"
    assert terminal.json("rename", "1", "--file-name")["name"] == "lease.pdf"
    for wrong in (("rename", "1"), ("rename", "1", "Flat", "--file-name")):
        assert "Give NAME or --file-name" in terminal.run(*wrong).stderr


def test_versions_are_listed_read_and_restored(terminal: Terminal) -> None:
    assert terminal.run("versions", "1").stdout.endswith(
        "Document 1, lease.pdf: version 2, 1 earlier version\n"
    )
    assert terminal.run("show", "1", "--versions").stdout == terminal.run("versions", "1").stdout
    assert terminal.json("versions", "1")["versions"][0]["version"] == 1
    assert terminal.run("versions", "1", "--read", "1").stdout == "The old \\x1b rent.\n"
    assert terminal.json("versions", "1", "--read", "1")["pages"] == [[1, 0, 15]]
    assert terminal.run("versions", "1", "--restore", "1").stdout == (
        "Document 1, lease.pdf, is version 3; what it was is version 2.\n"
    )
    assert terminal.run("replace", "1", "new.pdf").stdout == (
        "Document 1, lease.pdf, is version 2; what it was is version 1.\nNot read: page 2 of 2.\n"
    )
    assert "not both" in terminal.run("versions", "1", "--read", "1", "--restore", "1").stderr


def test_the_trash_is_listed_emptied_and_given_back(terminal: Terminal) -> None:
    assert terminal.run("trash", "list").stdout == "The trash is empty.\n"
    terminal.run("remove", "1")
    assert "lease.pdf" in terminal.run("trash", "list").stdout
    assert terminal.json("trash", "list")["trash"][0]["inside"] == 1
    assert terminal.run("trash", "restore", "1").stdout == (
        "Document 1 is back: lease.pdf, and 1 inside of it\n"
    )


@pytest.mark.parametrize("answer", [None, "n\n"])
def test_emptying_wants_a_yes(terminal: Terminal, answer: str | None) -> None:
    terminal.run("remove", "1")
    terminal.answers = answer
    assert terminal.run("trash", "empty").exit_code == 1
    assert len(terminal.brain.life.bin) == 1
    said = terminal.run("trash", "empty", "--yes").stdout
    assert said == (
        "Document 1 is forgotten: lease.pdf\n"
        "A copy can remain in backups and exports that you made.\n"
    )
    assert terminal.run("trash", "empty", "--yes").stdout == "The trash is empty.\n"
