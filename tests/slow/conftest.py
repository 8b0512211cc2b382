"""Homes with a server of their own that a test may kill."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from emily.store import EmbeddedServer


@pytest.fixture
def own_home() -> Iterator[Path]:
    """A home with the settings that users get; its server is stopped at the end."""
    folder = Path(tempfile.mkdtemp(prefix="e")).resolve()
    try:
        yield folder / "home"
    finally:
        with contextlib.suppress(Exception):  # the folder goes in any case
            EmbeddedServer(folder / "home").stop()
        shutil.rmtree(folder, ignore_errors=True)
