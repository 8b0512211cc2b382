"""The list of settings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from emily.cli.settings import list_settings
from emily.settings import Settings, load_settings

if TYPE_CHECKING:
    from tests.unit.cli.conftest import Terminal

    from emily.cli.settings import SettingInfo


def _listed(home: Path | None = None) -> dict[str, SettingInfo]:
    found = list_settings(load_settings(home), given_home=home is not None)
    return {item.name: item for item in found}


def test_every_setting_is_listed_with_what_it_is_for() -> None:
    found = _listed()
    assert [*found] == [*Settings.model_fields]
    assert all(item.description for item in found.values())


def test_where_values_come_from(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home.mkdir()
    (home / "settings.toml").write_text("result_limit = 9\nthreshold = 0.3\n")
    monkeypatch.setenv("EMILY_THRESHOLD", "0.2")
    found = _listed()
    assert (found["threshold"].value, found["threshold"].source) == (0.2, "environment")
    assert (found["result_limit"].value, found["result_limit"].source) == (9, "file")
    assert (found["widen"].value, found["widen"].source) == (1, "default")
    assert (found["home"].value, found["home"].source) == (str(home), "environment")
    assert _listed(home)["home"].source == "option"


def test_bounds_and_what_gets_stale() -> None:
    found = _listed()
    bounds = {name: item.bounds for name, item in found.items()}
    assert bounds["chunk_tokens"] == "64 to 512"
    assert bounds["language_confidence"] == "0.0 to 1.0"
    assert bounds["languages"] == "1 to 12 values"
    assert bounds["fusion"] == "sum or rrf or interleave"
    assert bounds["ocr"] == "true or false"
    assert bounds["database_url"] is None
    assert found["chunk_tokens"].stale == "chunks"
    assert found["threshold"].stale is None


def test_a_password_is_not_shown(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMILY_DATABASE_URL", "postgresql://ada:hunter2@db.example/emily")
    for arguments in (("settings",), ("settings", "--json")):
        shown = terminal.run(*arguments).stdout
        assert "db.example" in shown
        assert "hunter2" not in shown


def test_what_people_read(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMILY_CHUNK_TOKENS", "256")
    lines = terminal.run("settings").stdout.splitlines()
    at = lines.index("chunk_tokens = 256  (from environment)")
    assert lines[at + 1] == (
        "    Largest size of a chunk, tokens of the embedder. Default: 512. Allowed: 64 to 512. "
        "A change makes stale: chunks."
    )
    assert "database_url = not set  (the default)" in lines
