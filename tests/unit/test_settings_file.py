"""Settings are written for the owner one by one; all else in the file stays as it stands."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emily.errors import SettingError
from emily.settings import load_settings
from emily.settings_file import change_settings


def test_a_new_file_is_the_owners_alone(home: Path) -> None:
    written = change_settings(home, {"embedder": "ollama", "embedder_dimension": 1024})
    assert written.path.read_text() == 'embedder = "ollama"\nembedder_dimension = 1024\n'
    assert written.path.stat().st_mode & 0o777 == 0o600
    assert written.lines == ('embedder = "ollama"', "embedder_dimension = 1024")
    assert load_settings(home).embedder == "ollama"


def test_comments_and_other_settings_stay(home: Path) -> None:
    home.mkdir()
    path = home / "settings.toml"
    path.write_text('# mine\nthreads = 3\nembedder = "openai" # once\nembedder_url = "http://a"\n')
    path.chmod(0o640)
    change_settings(home, {"embedder": "bundled", "embedder_url": None, "embedder_model": None})
    assert path.read_text() == '# mine\nthreads = 3\nembedder = "bundled"\n'
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_link_is_followed(home: Path, tmp_path: Path) -> None:
    home.mkdir()
    (tmp_path / "kept.toml").write_text("threads = 3")
    (home / "settings.toml").symlink_to(tmp_path / "kept.toml")
    change_settings(home, {"embedder": "ollama"})
    assert (tmp_path / "kept.toml").read_text() == 'threads = 3\nembedder = "ollama"\n'
    assert (home / "settings.toml").is_symlink()


@pytest.mark.parametrize(
    "text", ["threads = ", '"embedder" = "openai"\n', "embedder = '''a\nb'''\n"]
)
def test_a_file_that_cannot_be_changed_is_left_alone(home: Path, text: str) -> None:
    home.mkdir()
    (home / "settings.toml").write_text(text)
    with pytest.raises(SettingError, match=r'Set in .*settings.toml: embedder = "ollama"'):
        change_settings(home, {"embedder": "ollama"})
    assert (home / "settings.toml").read_text() == text


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written(home: Path) -> None:
    home.mkdir(mode=0o500)
    with pytest.raises(SettingError, match="cannot be changed"):
        change_settings(home, {"embedder": "ollama"})


def test_a_variable_that_wins_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMILY_EMBEDDER", "bundled")
    assert change_settings(home, {"embedder": "ollama"}).overridden == ("EMILY_EMBEDDER",)
    assert change_settings(home, {"embedder": "bundled"}).overridden == ()


@given(value=st.text(st.characters(exclude_categories=("Cs",))), number=st.integers(0, 10**9))
def test_any_value_comes_back(tmp_path: Path, value: str, number: int) -> None:
    change_settings(tmp_path, {"a": value, "b": number})
    assert tomllib.loads((tmp_path / "settings.toml").read_text("utf-8")) == {
        "a": value,
        "b": number,
    }
