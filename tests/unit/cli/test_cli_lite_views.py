"""The views of ``emily lite``: the same as of the file that runs without any package."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from emily.cli.app import app


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--problems",), "odd.md"),
        (("--links", "boat"), "shed"),
        (("--links", "*"), "shed"),
        (("--map",), "theme"),
        (("--terms", "lant"), "lantern"),
    ],
)
def test_emily_lite_has_the_views(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "boat.md").write_text("# Boat\n\nThe lantern hangs in [[shed]].\n", "utf-8")
    (notes / "odd.md").write_bytes(b"# Odd\n\nA l\xffantern.\n")
    home = ("--home", str(tmp_path / "home"))
    result = CliRunner().invoke(app, [*home, "lite", str(notes), *options, "--no-cache"])
    assert result.exit_code == 0
    assert said in result.stdout
