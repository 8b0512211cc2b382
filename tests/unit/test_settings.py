"""Settings that cannot be used are refused by name, with the value and what is allowed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from emily.errors import SettingError
from emily.settings import home_folder, load_settings


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (os.fsdecode(b"/tmp/\xff"), "not valid UTF-8"),
        ("/tmp/" + "a" * 300, "File name too long"),
        ("~nosuchuser/x", "home directory"),
    ],
)
def test_a_home_that_cannot_be_is_refused(
    monkeypatch: pytest.MonkeyPatch, given: str, reason: str
) -> None:
    monkeypatch.setenv("EMILY_HOME", given)
    for refused in (home_folder, load_settings, lambda: load_settings(given)):
        with pytest.raises(SettingError) as caught:
            refused()
        assert repr(given) in str(caught.value)
        assert reason in str(caught.value)
        assert "EMILY_HOME or --home" in str(caught.value)


@pytest.mark.parametrize("given", ["", "a\0b"])
def test_a_home_that_is_no_path_is_refused(given: str) -> None:
    with pytest.raises(SettingError, match="The home folder"):
        load_settings(given)


def test_the_home_of_the_environment_may_begin_with_a_tilde(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("EMILY_HOME", "~/brain")
    assert load_settings().home == tmp_path / "brain"


@pytest.mark.parametrize("given", ["it,de", " it, de ", '["it","de"]'])
def test_languages_of_the_environment(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv("EMILY_LANGUAGES", given)
    assert load_settings().languages == ("it", "de")


def test_one_language(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMILY_LANGUAGES", "it")
    assert load_settings().languages == ("it",)


@pytest.mark.parametrize("given", ["", "[it", "italian", "it;en", "{}"])
def test_wrong_languages_are_blamed_on_the_environment(
    monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.setenv("EMILY_LANGUAGES", given)
    with pytest.raises(SettingError) as caught:
        load_settings()
    assert given in str(caught.value)
    assert "It comes from EMILY_LANGUAGES." in str(caught.value)
    assert "settings.toml" not in str(caught.value)


def test_the_form_of_a_list_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMILY_LANGUAGES", "[it")
    with pytest.raises(SettingError, match=r'give it as it,en or as \["it","en"\]'):
        load_settings()


def test_a_settings_file_that_is_none_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    assert load_settings(tmp_path).widen == 1, "a missing one is fine"
    file.mkdir()
    with pytest.raises(SettingError, match=f"{file} is not a file"):
        load_settings(tmp_path)
    file.rmdir()
    os.mkfifo(file)
    with pytest.raises(SettingError, match=f"{file} is not a file"):
        load_settings(tmp_path)


def test_an_overlap_is_less_than_half_of_a_chunk(tmp_path: Path) -> None:
    assert load_settings(tmp_path, chunk_tokens=101).chunk_overlap == 50
    with pytest.raises(SettingError) as caught:
        load_settings(tmp_path, chunk_tokens=100)
    assert str(caught.value) == (
        "Setting 'chunk_overlap' is 50: it must be less than half of 'chunk_tokens', which is 100."
    )


def test_a_value_of_the_file_is_blamed_on_the_file(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text("threshold = 9\ntreshold = 0.1\n", "utf-8")
    with pytest.raises(SettingError) as caught:
        load_settings(tmp_path, widen=7)
    wrong, unknown, argument = sorted(
        str(caught.value).splitlines(), key=lambda line: "widen" in line
    )
    for line in (wrong, unknown):
        assert line.endswith(f" It comes from {file}; mend it there.")
    assert "Did you mean threshold?" in str(caught.value)
    assert str(file) not in argument
