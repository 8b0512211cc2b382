"""Embedders of servers, over real HTTP, against servers that misbehave in each known way."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.contract.embedding_server import MODEL, EmbeddingServer, ServedEmbedderContract

from emily.errors import ModelUnavailable
from emily.models.backed import BackedEmbedder
from emily.models.ollama import OllamaEncoder, known_faults
from emily.models.openai_compatible import OpenAiEncoder


class TestOllama(ServedEmbedderContract):
    path = "/api/embed"

    def encoder(self, url: str, model: str, **values: Any) -> OllamaEncoder:
        return OllamaEncoder(url, model, context=4096, **values)

    def test_text_is_refused_rather_than_cut_and_the_context_is_asked_for(
        self, make: Callable[..., BackedEmbedder], server: EmbeddingServer
    ) -> None:
        make().embed_queries(["x"])
        for _, _, body in server.requests:
            assert body["truncate"] is False
            assert body["options"] == {"num_ctx": 4096}

    def test_a_missing_model_names_the_command_that_gets_it(
        self, make: Callable[..., BackedEmbedder]
    ) -> None:
        with pytest.raises(ModelUnavailable, match="ollama pull other-model"):
            make(model="other-model").embed_queries(["x"])

    def test_lists_the_models_that_embed(self, server: EmbeddingServer) -> None:
        found = OllamaEncoder(server.url, "")
        assert list(found.models()) == [f"{MODEL}:latest"]
        found.close()

    def test_examining_names_the_version(self, make: Callable[..., BackedEmbedder]) -> None:
        assert "Ollama 0.23.0" in make().examine()


class TestOpenAi(ServedEmbedderContract):
    path = "/v1/embeddings"

    def encoder(self, url: str, model: str, **values: Any) -> OpenAiEncoder:
        return OpenAiEncoder(url, model, **values)

    def test_vectors_are_put_in_order_by_their_index(
        self, make: Callable[..., BackedEmbedder], server: EmbeddingServer
    ) -> None:
        texts = ["one thing", "another matter", "a third"]
        expected = make().embed_queries(texts)
        server.reorders = True
        assert (abs(make().embed_queries(texts) - expected) < 1e-6).all()

    @pytest.mark.parametrize("index", [5, "x", None, -1])
    def test_an_index_that_is_none_is_refused(
        self, make: Callable[..., BackedEmbedder], server: EmbeddingServer, index: Any
    ) -> None:
        items = [{"index": index, "embedding": [1.0] * 48} for _ in range(4)]
        server.answer = json.dumps({"data": items}).encode()
        with pytest.raises(ModelUnavailable, match="numbers the vectors"):
            make().embed_queries(["x"])

    def test_an_address_may_end_in_its_version(
        self, make: Callable[..., BackedEmbedder], server: EmbeddingServer
    ) -> None:
        make(url=f"{server.url}/v1").embed_queries(["x"])
        assert server.requests[0][0] == "/v1/embeddings"


@pytest.mark.parametrize(
    ("version", "model", "said"),
    [
        ("0.20.2", "bge-m3", "NaN"),
        ("0.20.2", "bge-m3:567m", "NaN"),
        ("0.11.0", "bge-m3", None),
        ("0.20.2", "nomic-embed-text", "truncate is ignored"),
        ("0.1.33", "nomic-embed-text", "update Ollama"),
        ("0.5.0", "nomic-embed-text", "num_ctx is not applied"),
        ("0.12.0", "nomic-embed-text", None),
        ("HEAD", "bge-m3", None),
    ],
)
def test_known_faults_are_named_by_version_and_model(
    version: str, model: str, said: str | None
) -> None:
    found = " ".join(known_faults(version, model))
    if said is None:
        assert not found
    else:
        assert said in found
