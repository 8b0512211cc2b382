"""How commands fail: one message on stderr, an exit code, no traceback."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from emily.cli.logs import configure_logs, log_level
from emily.errors import AmbiguousDocument, SettingError, StoreUnavailable

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.cli.conftest import Terminal

COMMANDS = {
    "search": ("search", "x"),
    "ask": ("ask", "1", "x"),
    "list": ("list",),
    "show": ("show", "1"),
    "remove": ("remove", "1", "--yes"),
    "reindex": ("reindex",),
    "status": ("status",),
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS.keys())
def test_an_error_is_a_message(terminal: Terminal, command: tuple[str, ...]) -> None:
    terminal.brain.fails = StoreUnavailable("The database is away. \x1b[2J\nTry again.")
    result = terminal.run(*command)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr == "emily: The database is away. \\x1b[2J\nTry again.\n"


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS.keys())
def test_an_unexpected_error_names_its_type(terminal: Terminal, command: tuple[str, ...]) -> None:
    terminal.brain.fails = ZeroDivisionError("division by zero")
    result = terminal.run(*command)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr == (
        "emily: Unexpected error, ZeroDivisionError: division by zero\n"
        "Run the command again with EMILY_DEBUG=1 to see where it comes from.\n"
    )
    assert terminal.json(*command, exit_code=1)["error"]["type"] == "ZeroDivisionError"


def test_debug_shows_the_traceback(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal.brain.fails = AmbiguousDocument("2 documents are called 'a'.")
    assert "Traceback" not in terminal.run("list").stderr
    monkeypatch.setenv("EMILY_DEBUG", "1")
    result = terminal.run("list")
    assert result.exit_code == 1
    assert result.stderr.startswith("Traceback")
    assert result.stderr.endswith("emily: 2 documents are called 'a'.\n")
    assert result.stdout == ""


def test_ctrl_c(terminal: Terminal) -> None:
    terminal.brain.fails = KeyboardInterrupt()
    result = terminal.run("search", "x")
    assert (result.exit_code, result.stderr) == (130, "emily: Interrupted.\n")


def test_a_wrong_setting_is_explained(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMILY_THRESHOLD", "7")
    result = terminal.run("list")
    assert result.exit_code == 1
    assert result.stderr.startswith("emily: Setting 'threshold' is '7': ")


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("fly",),
        ("search",),
        ("search", "x", "--limit", "many"),
        ("search", "x", "--nothing"),
        ("ask", "1"),
        ("add",),
        ("--home",),
    ],
)
def test_wrong_usage_exits_with_2(terminal: Terminal, arguments: tuple[str, ...]) -> None:
    result = terminal.run(*arguments)
    assert result.exit_code == 2
    assert terminal.brain.asked == []


def test_home(terminal: Terminal, tmp_path: Path) -> None:
    terminal.run("--home", str(tmp_path / "other"), "list")
    assert terminal.brain.settings is not None
    assert terminal.brain.settings.home == tmp_path / "other"


def test_home_of_the_environment(terminal: Terminal, home: Path) -> None:
    terminal.run("list")
    assert terminal.brain.settings is not None
    assert terminal.brain.settings.home == home


@pytest.mark.parametrize(
    ("given", "verbose", "level"),
    [
        (None, False, logging.WARNING),
        (None, True, logging.INFO),
        ("", False, logging.WARNING),
        ("debug", False, logging.DEBUG),
        ("DEBUG", True, logging.DEBUG),
        ("error", False, logging.ERROR),
        ("error", True, logging.INFO),
    ],
)
def test_log_level(
    monkeypatch: pytest.MonkeyPatch, given: str | None, verbose: bool, level: int
) -> None:
    if given is not None:
        monkeypatch.setenv("EMILY_LOG", given)
    assert log_level(verbose) == level


def test_an_unknown_log_level_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMILY_LOG", "loud")
    with pytest.raises(SettingError) as caught:
        log_level(False)
    assert str(caught.value) == "EMILY_LOG is 'loud'. Values: debug, info, warning, error."


def test_logs_go_to_stderr_and_are_harmless(
    terminal: Terminal, capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logs(logging.INFO)
    log = logging.getLogger("emily.test")
    log.debug("too quiet")
    log.info("file read: %s", "/tmp/\x1b[31mx\ny")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert "file read" in captured.err
    assert "\x1b" not in captured.err
    assert "too quiet" not in captured.err


def test_an_empty_path_is_refused(terminal: Terminal, tmp_path: Path) -> None:
    for paths in ([""], [str(tmp_path), ""]):
        result = terminal.run("add", *paths)
        assert result.exit_code == 1
        assert result.stderr == (
            "emily: A path is empty: ''. Give the path of a file or folder; '.' is the current "
            "folder.\n"
        )
    assert terminal.brain.asked == []


def test_an_empty_home_is_refused(terminal: Terminal) -> None:
    result = terminal.run("--home", "", "list")
    assert result.exit_code == 1
    assert result.stderr.startswith("emily: The home folder '' cannot be used (it is empty).")


def test_a_user_that_does_not_exist_is_a_name(terminal: Terminal) -> None:
    result = terminal.run("add", "~nosuchuser/x")
    assert result.exit_code == 1
    assert result.stderr == "emily: There is no such file or folder: '~nosuchuser/x'\n"
