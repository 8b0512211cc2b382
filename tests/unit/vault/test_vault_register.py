"""Which folders are vaults, kept beside the database."""

from __future__ import annotations

from pathlib import Path

import pytest

from emily.errors import InputError, StoreError
from emily.vault.register import Register, named_like


def test_a_vault_is_named_after_its_folder_and_found_by_name_or_folder(tmp_path: Path) -> None:
    register = Register(tmp_path / "home")
    first = register.add(tmp_path / "Notes")
    second = register.add(tmp_path / "work" / "notes")
    assert (first.name, second.name) == ("Notes", "notes 2")
    assert register.add(tmp_path / "Notes") == first
    assert register.resolve("NOTES") == first
    assert register.resolve(str(tmp_path / "work/notes")) == second
    assert register.placed("notes 2") == second.path
    assert register.placed("elsewhere") == "elsewhere"
    assert register.around(f"{first.path}/a/b.md") == first
    assert register.around(f"{first.path}2/a.md") is None
    register.remove(first)
    assert Register(tmp_path / "home").all() == (second,)


@pytest.mark.parametrize("name", ["", " x", "12", "a/b", "../x", "\n"])
def test_a_name_that_would_be_taken_for_something_else_is_refused(
    tmp_path: Path, name: str
) -> None:
    with pytest.raises(InputError, match="cannot be used"):
        Register(tmp_path).add(tmp_path / "notes", name)


def test_what_cannot_be_is_refused_with_what_helps(tmp_path: Path) -> None:
    register = Register(tmp_path)
    register.add(tmp_path / "notes", "one")
    with pytest.raises(InputError, match="emily vault remove one"):
        register.add(tmp_path / "notes", "two")
    with pytest.raises(InputError, match="lie in each other"):
        register.add(tmp_path / "notes/inner")
    with pytest.raises(InputError, match="already"):
        register.add(tmp_path / "other", "ONE")
    with pytest.raises(InputError, match="Vaults: one"):
        register.resolve("none")
    register.file.write_text("{", encoding="utf-8")
    with pytest.raises(StoreError, match="emily vault add"):
        register.all()


def test_any_folder_gives_a_name() -> None:
    assert named_like("2024", []) == "vault 2024"
    assert named_like("..", []) == "vault"
    assert named_like("a*b", ["a b"]) == "a b 2"
