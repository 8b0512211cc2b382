"""The owner's editor is started with a list of arguments."""

from __future__ import annotations

from pathlib import Path

import pytest

from emily.errors import InputError
from emily.vault.editor import editor_command, parse_place

NOTE = Path("/notes/a b.md")


def _command(
    chosen: str = "", line: int | None = 3, there: str = "*", **environment: str
) -> object:
    return editor_command(
        NOTE,
        line,
        chosen=chosen,
        environment=environment,
        which=lambda name: name if there == "*" or name in there.split() else None,
        platform="linux",
    )


@pytest.mark.parametrize(
    ("chosen", "command"),
    [
        ("code", ["code", "-g", "/notes/a b.md:3"]),
        ("code -g", ["code", "-g", "/notes/a b.md:3"]),
        ("code --wait", ["code", "--wait", "-g", "/notes/a b.md:3"]),
        ("/usr/bin/nvim", ["/usr/bin/nvim", "+3", "/notes/a b.md"]),
        ("subl", ["subl", "/notes/a b.md:3"]),
        ("kate", ["kate", "-l", "3", "/notes/a b.md"]),
        ("notepad; rm -rf x", ["notepad;", "rm", "-rf", "x", "/notes/a b.md"]),
        ("obsidian", ["xdg-open", "obsidian://open?path=%2Fnotes%2Fa%20b.md"]),
    ],
)
def test_each_editor_is_told_the_line_in_its_way(chosen: str, command: list[str]) -> None:
    assert _command(chosen) == command


def test_the_setting_comes_before_the_variables() -> None:
    assert _command("nano", VISUAL="vim", EDITOR="vi") == ["nano", "+3", str(NOTE)]
    assert _command(VISUAL="vim", EDITOR="vi") == ["vim", "+3", str(NOTE)]
    assert _command(EDITOR="vi", line=None) == ["vi", str(NOTE)]
    assert _command() == ["code", "-g", f"{NOTE}:3"]
    assert _command(there="xdg-open") == ["xdg-open", str(NOTE)]


def test_without_an_editor_the_error_says_how_to_set_one() -> None:
    with pytest.raises(InputError, match="EMILY_EDITOR, VISUAL"):
        _command(there="none")
    with pytest.raises(InputError, match="'pico' is not there"):
        _command("pico", there="code")
    with pytest.raises(InputError, match="cannot be understood"):
        _command("vim 'x")


def test_a_place_is_a_path_and_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert parse_place("a/b.md:12") == ("a/b.md", 12)
    assert parse_place("a/b.md") == ("a/b.md", None)
    assert parse_place("a:b.md") == ("a:b.md", None)
    Path("odd:7").write_text("x", encoding="utf-8")
    assert parse_place("odd:7") == ("odd:7", None)
