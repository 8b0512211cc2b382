"""Two thousand files are indexed by a server while it is searched; no search fails."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from benchmarks.serving import load, served

pytestmark = pytest.mark.slow


@pytest.mark.timeout(3600)
def test_no_search_fails_during_a_bulk_load(own_home: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "EMILY_HOME": str(own_home)}
    with served(environment, own_home) as client:
        found = load(client, tmp_path / "files", 200, 1_800)
        assert client.get("/v1/status").json()["documents"] == 2_000
    assert not found.failed
    assert len(found.loaded) > 100
