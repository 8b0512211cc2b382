"""``inspect``, the filters of ``search`` and the passwords of ``add``."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest
from tests.unit.cli.conftest import Terminal

from emily.errors import PasswordRequired
from emily.retrieval.filters import Filters


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "lease.txt"
    path.write_text("x")
    return path


def test_inspect_shows_every_page_with_its_route(terminal: Terminal, file: Path) -> None:
    shown = terminal.run("inspect", str(file)).stdout
    assert "--- page 1, text, " in shown
    assert ", 1 picture" in shown
    assert "--- page 2, ocr, 18 characters, confidence 0.91" in shown
    assert "--- page 3, unread, 0 characters\nWarning: Page 3 is not read: broken.\n" in shown
    assert "Warning: The name ends in .txt, but the content is pdf.\n" in shown
    for said in ("Ada", "2026-02-27 (from its metadata)", "Bruno <b@x.org>", "plan.png"):
        assert said in shown
    assert "\x1b" not in shown


def test_long_pages_are_cut_unless_asked_for_whole(terminal: Terminal, file: Path) -> None:
    shown = terminal.run("inspect", str(file)).stdout
    assert "line 12\n… 8 more lines; --full shows all\n" in shown
    assert "line 13" not in shown
    assert "line 20" in terminal.run("inspect", str(file), "--full").stdout


def test_inspect_as_json(terminal: Terminal, file: Path) -> None:
    found = terminal.json("inspect", str(file))
    assert found["path"] == str(file)
    assert (found["kind"], found["title"], found["parts"]) == ("pdf", "Lease", ["plan.png"])
    assert (found["author"], found["date"], found["date_source"]) == (
        "Ada",
        "2026-02-27",
        "metadata",
    )
    assert found["correspondents"] == [{"role": "to", "name": "Bruno", "address": "b@x.org"}]
    assert [page["route"] for page in found["pages"]] == ["text", "ocr", "unread"]
    assert found["pages"][1]["confidence"] == 0.914
    assert found["pages"][1]["text"].startswith("Total 12")
    assert found["pages"][2]["warning"] == "Page 3 is not read: broken."


@pytest.mark.parametrize("given", ["", "."])
def test_inspect_wants_a_file(terminal: Terminal, given: str) -> None:
    result = terminal.run("inspect", given)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "is not a file" in result.stderr


def test_inspect_of_what_cannot_be_read(terminal: Terminal, file: Path) -> None:
    terminal.brain.fails = PasswordRequired("the PDF opens only with a password")
    result = terminal.run("inspect", str(file))
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        f"emily: {file} is not read: the PDF opens only with a password. Give it with --password "
        "or --password-file PATH.\n"
    )


@pytest.mark.parametrize("command", ["add", "inspect"])
def test_passwords_come_from_a_file(
    terminal: Terminal, file: Path, tmp_path: Path, command: str
) -> None:
    secrets = tmp_path / "secrets"
    secrets.write_text("one two\n\nthrée\n", encoding="utf-8")
    assert terminal.run(command, str(file), "--password-file", str(secrets)).exit_code == 0
    assert terminal.brain.asked[-1][-2:] == ("one two", "thrée")


@pytest.mark.parametrize("command", ["add", "inspect"])
def test_a_password_is_asked_for(
    terminal: Terminal, file: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr("getpass.getpass", lambda _: "s3cret")
    terminal.answers = ""
    assert terminal.run(command, str(file), "--password").exit_code == 0
    assert terminal.brain.asked[-1][-1] == "s3cret"
    terminal.answers = None
    result = terminal.run(command, str(file), "--password")
    assert result.exit_code == 1
    assert "There is no terminal to ask for a password on." in result.stderr


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00"])
def test_a_file_of_passwords_that_cannot_be_read(
    terminal: Terminal, file: Path, tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "secrets"
    if content is not None:
        path.write_bytes(content)
    result = terminal.run("add", str(file), "--password-file", str(path))
    assert result.exit_code == 1
    assert f"The file of passwords {str(path)!r} cannot be read" in result.stderr


def test_filters_reach_the_search(terminal: Terminal, tmp_path: Path) -> None:
    options = ("--from", "2024", "--to", "2024-02", "--type", "mail,pdf", "--lang", "it,en")
    assert terminal.run("search", "rent", *options, "--in", str(tmp_path)).exit_code == 0
    assert terminal.brain.filters == Filters(
        dt.date(2024, 1, 1),
        dt.date(2024, 2, 29),
        ("eml", "msg", "pdf"),
        ("it", "en"),
        str(tmp_path),
    )
    terminal.run("search", "rent")
    assert not terminal.brain.filters.active


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--from", "yesterday"), "The date 'yesterday' (from) is none."),
        (("--type", "papyrus"), "There is no type 'papyrus'. Types: mail, writing"),
        (("--lang", "italian"), "The language 'italian' is no ISO 639-1 code"),
        (("--from", "2025", "--to", "2024"), "No day lies from 2025-01-01 to 2024-12-31"),
        (("--in", ""), "The folder to search in is empty"),
    ],
)
def test_filters_that_make_no_sense(
    terminal: Terminal, options: tuple[str, ...], says: str
) -> None:
    result = terminal.run("search", "rent", *options)
    assert (result.exit_code, result.stdout) == (1, "")
    assert says in result.stderr
