"""Passwords out of a file, whatever editor wrote it."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import Mock

import pytest

from emily.cli.passwords import given_passwords


@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["without", "with a mark of order"])
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_passwords_one_a_line(tmp_path: Path, mark: str, end: str) -> None:
    path = tmp_path / "passwords"
    path.write_bytes(f"{mark}più giù{end}{end} a b {end}x".encode())
    assert given_passwords(Mock(), False, str(path)) == ("più giù", " a b ", "x")
