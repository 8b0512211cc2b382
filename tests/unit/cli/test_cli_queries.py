"""What reaches the search of more than words, and what the settings show under a preset."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from emily.cli.settings import list_settings
from emily.settings import load_settings

if TYPE_CHECKING:
    from tests.unit.cli.conftest import Terminal


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        (["two", "words"], "two words"),
        (['"two words" -three'], '"two words" -three'),
        (["--", "rent", "-garage"], "rent -garage"),
        (["rent", "--also", "canone", "--also", "loyer"], ["rent", "canone", "loyer"]),
    ],
)
def test_queries_reach_the_search(
    terminal: Terminal, arguments: list[str], asked: str | list[str]
) -> None:
    result = terminal.run("search", *arguments)
    assert result.exit_code == 0
    assert terminal.brain.asked[0][1] == asked


def test_budget_and_preset_reach_the_search(terminal: Terminal) -> None:
    terminal.run("search", "rent", "--budget", "500", "--preset", "vault")
    assert (terminal.brain.budget, terminal.brain.preset) == (500, "vault")
    terminal.run("search", "rent")
    assert (terminal.brain.budget, terminal.brain.preset) == (None, None)


def test_settings_show_the_values_of_the_preset(home: Path) -> None:
    home.mkdir()
    (home / "settings.toml").write_text('preset = "archive"\nwiden = 2\n')
    found = {item.name: item for item in list_settings(load_settings(home), given_home=True)}
    assert (found["threshold"].value, found["threshold"].default) == (0.005, 0.005)
    assert (found["fusion"].value, found["fusion"].source) == ("rrf", "default")
    assert (found["widen"].value, found["widen"].default) == (2, 1)
    assert found["index_for"].value == []
