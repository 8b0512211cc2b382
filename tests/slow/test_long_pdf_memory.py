"""A PDF of 4,000 pages needs no more memory than one of 40."""

from __future__ import annotations

import asyncio

import pytest
from benchmarks.reading_speed import memory

pytestmark = pytest.mark.slow


def test_four_thousand_pages_fit_into_400_megabytes() -> None:
    found = asyncio.run(memory(4_000))
    assert found["short_pages"] == 40
    assert found["long_mb"] < 400
    assert found["memory_ratio"] < 2
