"""The fixtures of the brain's tests, and a brain whose only phase of work is indexing."""

from __future__ import annotations

import pytest
from tests.integration.brain.conftest import (
    OpenBrain,
    detector,
    folder,
    open_brain,
    reader,
    write,
)

from emily.brain import Brain

__all__ = ["brain", "detector", "folder", "open_brain", "reader", "write"]


@pytest.fixture
async def brain(open_brain: OpenBrain) -> Brain:
    """An archive that waits for a file no longer than a test has to."""
    made = await open_brain(watch_rest_seconds=0.3, watch_poll_seconds=1.0)
    made.work._phases.clear()
    return made
