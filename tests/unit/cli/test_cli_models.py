"""``emily models list``, ``try`` and ``use``: what is asked of the brain, and what is printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from emily.errors import ModelUnavailable

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.cli.conftest import Terminal


def test_list(terminal: Terminal) -> None:
    said = terminal.run("models", "list").stdout
    assert "ollama/x" in said
    assert "100%" in said
    first, second = terminal.json("models", "list")["models"]
    assert first == {
        "model": "bundled",
        "backend": "bundled",
        "profile": "parts-1",
        "dimension": 512,
        "chosen": True,
        "reachable": True,
        "detail": "here",
        "documents": 2,
        "waiting": 0,
        "share": 1.0,
    }
    assert second["dimension"] is None
    assert second["waiting"] == 1


def test_use(terminal: Terminal) -> None:
    result = terminal.run("models", "use", "ollama/x", "--url", "http://127.0.0.1:1")
    assert terminal.brain.asked[-1] == ("use_model", "ollama/x", "http://127.0.0.1:1")
    assert result.exit_code == 0
    assert "2 documents changed to it, 1 of them embedded now." in result.stdout
    assert "Warning: torta.md: Passage 1" in result.stdout
    assert 'embedder = "ollama"; embedder_model = "x"' in result.stdout
    assert "EMILY_EMBEDDER says something else and wins" in result.stdout
    assert "0/2 lease.pdf" in result.stderr
    assert terminal.json("models", "use", "ollama/x") == {
        "schema_version": 1,
        "model": "ollama/x",
        "identity": "x/plain-1 (8 dimensions)",
        "detail": "tried",
        "embedded": 1,
        "documents": 2,
        "failures": ["torta.md: Passage 1 (page 1) has no vector and is found by words only: …"],
        "settings": ['embedder = "ollama"', 'embedder_model = "x"'],
        "overridden": ["EMILY_EMBEDDER"],
    }


def test_use_says_how_to_go_on_when_it_is_interrupted(terminal: Terminal) -> None:
    terminal.brain.fails = KeyboardInterrupt()  # type: ignore[assignment]
    result = terminal.run("models", "use", "ollama/x")
    assert result.exit_code == 130
    assert "Run the same command again to go on." in result.stderr
    error = terminal.json("models", "use", "ollama/x", exit_code=130)["error"]
    assert error["type"] == "Interrupted"


@pytest.mark.parametrize("command", ["use", "try"])
def test_a_model_that_cannot_be_used(terminal: Terminal, command: str) -> None:
    terminal.brain.fails = ModelUnavailable("Get it with: ollama pull x")
    result = terminal.run("models", command, "x")
    assert result.exit_code == 1
    assert "ollama pull x" in result.stderr


def test_try(terminal: Terminal, home: Path) -> None:
    said = terminal.run("models", "try", "ollama/x", "--sample", "7", "--queries", "3").stdout
    _, model, given = terminal.brain.asked[-1]
    assert model == "ollama/x"
    assert (given["sample"], given["queries"], given["answerable"]) == (7, 3, [])
    assert "2 of 20 documents (4 of 40 chunks), 2 questions of yours, 1 left out" in said
    assert "-0.100 to +1.000" in said
    assert "Of 3 real searches 67% show the same document first" in said
    assert "Notice: A notice." in said
    found = terminal.json("models", "try", "ollama/x")
    assert found["before"]["ndcg_10"] is None
    assert found["after"]["hit_1"] == 1.0
    assert found["changes"][0]["gains"] == 1
    assert found["real"]["different"] == [["rent", None, "lease.pdf"]]


def test_try_takes_the_questions_of_the_home(terminal: Terminal, home: Path) -> None:
    home.mkdir()
    (home / "questions.toml").write_text(
        '[[answerable]]\nid = "a"\ntext = "Rent?"\ndocument = "lease.pdf"\n'
    )
    terminal.run("models", "try", "x")
    assert [item.text for item in terminal.brain.asked[-1][2]["answerable"]] == ["Rent?"]
    other = home / "other.toml"
    assert terminal.run("models", "try", "x", "--questions", str(other)).exit_code == 1
