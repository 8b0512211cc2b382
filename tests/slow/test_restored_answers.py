"""A restored archive answers as the one that was backed up: ``emily eval``, equal to the digit."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from examples.archive import build

pytestmark = pytest.mark.slow


def _run(home: Path, *arguments: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "emily.cli", "--home", str(home), *arguments, "--json"],
        capture_output=True,
        text=True,
        check=False,
        env={name: value for name, value in os.environ.items() if not name.startswith("EMILY_")},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _without_times(found: Any) -> Any:
    if isinstance(found, dict):
        return {name: _without_times(item) for name, item in found.items() if name != "timings"}
    return [_without_times(item) for item in found] if isinstance(found, list) else found


def test_a_restored_archive_measures_the_same(own_home: Path, tmp_path: Path) -> None:
    from emily.store import EmbeddedServer

    _run(own_home, "add", str(build.FILES))
    questions = Path(build.__file__).with_name("questions.toml")
    shutil.copyfile(questions, own_home / questions.name)
    _run(own_home, "note", "norvane-w740-manual.pdf", "The spare belt is in the cupboard.")
    _run(own_home, "config", "set", "result_limit", "6")
    before = _run(own_home, "eval")
    assert before["scores"]["questions"] == 60
    file = tmp_path / "archive.backup"
    _run(own_home, "backup", str(file))
    other = own_home.with_name("other")
    try:
        assert _run(other, "restore", str(file))["missing"] == []
        assert _without_times(_run(other, "eval")) == _without_times(before)
    finally:
        EmbeddedServer(other).stop()
