"""Sources to read without a worker process."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from emily.reading.pages import Page
from emily.reading.source import Draft, Source


@pytest.fixture
def source(tmp_path: Path) -> Callable[..., Source]:
    """A file with the given bytes, without OCR."""

    def make(content: bytes, name: str = "file") -> Source:
        path = tmp_path / name
        path.write_bytes(content)
        return Source(path, ocr=None, deadline=time.monotonic() + 60, seconds=60)

    return make


@pytest.fixture
def at() -> Callable[[Path], Source]:
    """A source for a file that is there already."""
    return lambda path: Source(path, ocr=None, deadline=time.monotonic() + 60, seconds=60)


@pytest.fixture
def pages() -> Callable[[Draft], list[Page]]:
    """All pages of a draft."""
    return lambda draft: list(draft.pages)
