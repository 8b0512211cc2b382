"""What the doctor says helps where the embedder does not work."""

from __future__ import annotations

from pathlib import Path

from emily.measure.health import _embedder
from emily.models.choosing import embedder_of
from emily.settings import Settings


async def test_an_embedder_that_is_half_chosen_is_not_mended_by_installing(tmp_path: Path) -> None:
    check = await _embedder(embedder_of(Settings(home=tmp_path, embedder="ollama")))
    assert not check.ok
    assert "'embedder_model' is not set" in check.detail
    assert check.help == "emily models list"
