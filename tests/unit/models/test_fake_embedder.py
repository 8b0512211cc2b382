"""The stand-in that other tests use keeps to the contract of the real embedder."""

from __future__ import annotations

import pytest
from tests.contract.embedder import EmbedderContract
from tests.fakes import WordsEmbedder

from emily.errors import ModelUnavailable, VectorError


class TestWordsEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> WordsEmbedder:
        return WordsEmbedder()


def test_can_be_down() -> None:
    embedder = WordsEmbedder()
    embedder.down = True
    with pytest.raises(ModelUnavailable):
        embedder.embed_queries(["x"])


def test_can_return_nan_for_one_text() -> None:
    embedder = WordsEmbedder()
    embedder.broken.add("poison")
    embedder.embed_queries(["fine"])
    with pytest.raises(VectorError, match="poison"):
        embedder.embed_queries(["fine", "a poison here"])
