"""How long each role's model stays loaded, by the settings."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
from tests.contract.chat import ChatServer
from tests.contract.embedding_server import DIMENSION, MODEL, EmbeddingServer

from emily.errors import SettingError
from emily.models.backed import BackedEmbedder
from emily.models.choosing import make_embedder
from emily.models.rerankers import reranker_of
from emily.models.rerankers.local import LocalReranker
from emily.parts import make_chat
from emily.settings import load_settings


@pytest.mark.parametrize(("given", "sent"), [({}, "15m"), ({"embedder_minutes": 7}, "7m")])
def test_an_embedder(home: Path, given: dict[str, int], sent: str) -> None:
    with EmbeddingServer().running() as server:
        settings = load_settings(
            home,
            embedder="ollama",
            embedder_model=MODEL,
            embedder_url=server.url,
            embedder_dimension=DIMENSION,
            **given,
        )
        embedder = make_embedder(settings)
        assert isinstance(embedder, BackedEmbedder)
        embedder.encoder.encode(["rent"], patient=False)
        asked = [body for _, _, body in server.requests if body.get("input") == ["rent"]]
        assert [body["keep_alive"] for body in asked] == [sent]
        embedder.close()
        gc.collect()


@pytest.mark.parametrize(("given", "sent"), [({}, "30m"), ({"chat_minutes": 90}, "90m")])
async def test_a_chat_model(home: Path, given: dict[str, int], sent: str) -> None:
    with ChatServer().running() as server:
        model = make_chat(load_settings(home, chat="ollama", chat_url=server.url, **given))
        assert model is not None
        await model.chat("Be terse.", "How much?", tokens=9)
        assert server.requests[0][2]["keep_alive"] == sent


@pytest.mark.parametrize(("given", "seconds"), [({}, 1800.0), ({"reranker_minutes": 2}, 120.0)])
def test_a_reranker(home: Path, given: dict[str, int], seconds: float) -> None:
    reranker = reranker_of(load_settings(home, reranker="cross-encoder", **given))
    assert isinstance(reranker, LocalReranker)
    assert reranker.resident.idle_seconds == seconds


def test_the_bounds(home: Path) -> None:
    with pytest.raises(SettingError, match="Allowed: 1 to 1440"):
        load_settings(home, chat_minutes=0)
