"""The stand-in keeps to what the real rerankers keep to."""

from __future__ import annotations

import pytest
from tests.contract.reranker import RerankerContract
from tests.fakes import WordsReranker


class TestWordsReranker(RerankerContract):
    @pytest.fixture
    def reranker(self) -> WordsReranker:
        return WordsReranker()
