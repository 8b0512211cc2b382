"""Where files lie, and whether they still do."""

from __future__ import annotations

from pathlib import Path

import pytest

from emily.indexing.files import is_there


@pytest.mark.parametrize(
    "inside", ["", "!/n.txt", "!/a/n.txt", "!/z.zip!/n.txt", "!/" + "n" * 5000]
)
def test_what_lies_in_a_file_is_there_while_the_file_is(tmp_path: Path, inside: str) -> None:
    outer = tmp_path / "so!" / "a.zip"
    outer.parent.mkdir()
    assert not is_there(f"{outer}{inside}")
    outer.touch()
    assert is_there(f"{outer}{inside}")
