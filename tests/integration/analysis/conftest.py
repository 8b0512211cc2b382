"""The fixtures of the brain's tests serve those of analysis as well."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.contract.chat import ChatServer
from tests.integration.brain.conftest import (
    brain,
    detector,
    folder,
    open_brain,
    reader,
    rows,
    write,
)

__all__ = ["brain", "chat", "detector", "folder", "open_brain", "reader", "rows", "write"]


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    """A chat server that answers as a test tells it."""
    with ChatServer().running() as server:
        yield server
