"""Settings in the database, from the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.cli.conftest import Terminal


def _source(terminal: Terminal, name: str) -> tuple[object, str]:
    found = terminal.json("config", "get", name)["setting"]
    return found["value"], found["source"]


def test_a_row_stands_above_file_and_default_while_it_exists(
    terminal: Terminal, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.mkdir()
    (home / "settings.toml").write_text("result_limit = 9\n")
    assert _source(terminal, "result_limit") == (9, "file")
    said = terminal.run("config", "set", "result_limit", "7").stdout
    assert said == "result_limit = 7 (it was 9)\n"
    assert _source(terminal, "result_limit") == (7, "database")
    monkeypatch.setenv("EMILY_RESULT_LIMIT", "3")
    assert _source(terminal, "result_limit") == (3, "environment")
    assert (
        "EMILY_RESULT_LIMIT stands above"
        in terminal.run("config", "set", "result_limit", "8").stdout
    )
    monkeypatch.delenv("EMILY_RESULT_LIMIT")
    assert _source(terminal, "result_limit") == (8, "database")
    assert terminal.json("config", "unset", "result_limit") == {
        "schema_version": 1,
        "name": "result_limit",
        "before": 8,
        "value": 9,
        "stale": None,
        "overridden": None,
    }
    assert _source(terminal, "result_limit") == (9, "file")


def test_what_a_change_makes_stale_is_said(terminal: Terminal) -> None:
    said = terminal.run("config", "set", "chunk_tokens", "256").stdout
    assert said == (
        "chunk_tokens = 256 (it was 512)\n"
        "This makes stale: chunks. Index it again with: emily reindex\n"
    )
    assert "stale" not in terminal.run("config", "set", "chunk_tokens", "256").stdout
    said = terminal.run("config", "set", "chat_model", "another").stdout
    assert "This makes stale: summaries. Make it anew with: emily analyse" in said


def test_only_a_row_that_is_the_cause_is_blamed(terminal: Terminal) -> None:
    assert "rows of the database" not in terminal.run("config", "set", "threshold", "abc").stderr
    terminal.run("config", "set", "chunk_overlap", "100")
    said = terminal.run("config", "set", "chunk_tokens", "128").stderr
    assert "rows of the database give chunk_overlap:" in said


def test_a_misspelt_setting_is_answered_with_the_one_that_was_meant(terminal: Terminal) -> None:
    said = terminal.run("config", "set", "treshold", "0.1").stderr
    assert "Did you mean threshold?" in said
    assert "emily config list" in said
    assert len(said) < 200


def test_a_list_and_a_word_are_typed_as_they_are(terminal: Terminal) -> None:
    terminal.run("config", "set", "languages", "it,en,de")
    assert _source(terminal, "languages") == (["it", "en", "de"], "database")
    terminal.run("config", "set", "ocr", "false")
    assert _source(terminal, "ocr") == (False, "database")


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("result_limit", "0", "Setting 'result_limit' is '0'"),
        ("result_limit", "101", "Allowed: 1 to 100."),
        ("threshold", "much", "Setting 'threshold' is 'much'"),
        ("chunk_overlap", "300", "Allowed: 0 to 200."),
        ("chunk_tokens", "64", "'chunk_overlap' is 50: it must be less than half"),
        ("colour", "red", "Setting 'colour' does not exist."),
        ("database_url", "postgresql://x", "it says where the database is"),
        ("home", "/tmp", "it says where the database is"),
        ("vision_key", "abc", "it is a secret"),
        ("embedder", "ollama", "emily models use MODEL changes it"),
        ("allowed_servers", "api.example", "what may leave this machine"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_kept(
    terminal: Terminal, name: str, value: str, said: str
) -> None:
    result = terminal.run("config", "set", name, value)
    assert result.exit_code == 1
    assert said in result.stderr
    assert terminal.brain.rows.kept == {}


def test_a_row_that_cannot_be_used_is_named_and_can_be_taken_out(terminal: Terminal) -> None:
    terminal.brain.rows.kept = {"result_limit": "0", "colour": '"red"', "widen": "2"}
    assert "emily config unset colour" in terminal.run("config", "list").stderr
    assert terminal.run("config", "unset", "colour").exit_code == 0
    assert "config unset NAME" in terminal.run("config", "list").stderr
    assert terminal.run("config", "set", "result_limit", "4").exit_code == 0
    assert _source(terminal, "result_limit") == (4, "database")


def test_what_has_no_row_cannot_be_unset(terminal: Terminal) -> None:
    assert "has no row" in terminal.run("config", "unset", "widen").stderr
    assert "does not exist" in terminal.run("config", "unset", "colour").stderr
    assert "does not exist" in terminal.run("config", "get", "colour").stderr


def test_both_lists_are_the_same(terminal: Terminal) -> None:
    terminal.run("config", "set", "widen", "2")
    assert terminal.json("config", "list") == terminal.json("settings")
    assert "widen = 2  (from database)" in terminal.run("settings").stdout
