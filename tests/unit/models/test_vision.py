"""Vision backends against scripted servers, and what guards them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.contract.vision import PICTURE, VisionContract, decoded

from emily.errors import ModelUnavailable
from emily.models import VisionModel
from emily.models.repetition import repeats
from emily.models.servers import is_loopback
from emily.models.vision import OllamaVision, OpenAiVision, vision_model


class TestOllama(VisionContract):
    path = "/api/chat"

    def line(self, piece: str) -> str:
        if self.broken:
            return "no JSON"
        return json.dumps({"message": {"content": piece}, "done": False})

    def ended(self, reason: str) -> str:
        return json.dumps({"message": {"content": ""}, "done": True, "done_reason": reason})

    def make(self, url: str, **values: Any) -> VisionModel:
        return OllamaVision(url, "qwen", **values)

    def image_of(self, body: Any) -> bytes:
        return decoded(body["messages"][1]["images"][0])

    def prompt_of(self, body: Any) -> str:
        return str(body["messages"][1]["content"])

    def tokens_of(self, body: Any) -> int:
        return int(body["options"]["num_predict"])


class TestOpenAi(VisionContract):
    path = "/v1/chat/completions"

    def line(self, piece: str) -> str:
        if self.broken:
            return "data: [1]"
        return "data: " + json.dumps({"choices": [{"delta": {"content": piece}}]}) + "\n"

    def ended(self, reason: str) -> str:
        choice = {"delta": {}, "finish_reason": reason}
        return "data: " + json.dumps({"choices": [choice]}) + "\n\ndata: [DONE]\n"

    def make(self, url: str, **values: Any) -> VisionModel:
        return OpenAiVision(url + "/v1", "qwen", **values)

    def image_of(self, body: Any) -> bytes:
        return decoded(body["messages"][1]["content"][1]["image_url"]["url"])

    def prompt_of(self, body: Any) -> str:
        parts = body["messages"][1]["content"]
        return "\n".join(part.get("text", "<PICTURE>") for part in parts)

    def tokens_of(self, body: Any) -> int:
        return int(body["max_tokens"])


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST",
        "localhost.",
        "127.0.0.1",
        "127.8.8.8",
        "::1",
        "::1%lo",
        "::ffff:127.0.0.1",
    ],
)
def test_this_machine(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host",
    [
        "",
        "example.org",
        "0.0.0.0",
        "10.0.0.1",
        "localhost.org",
        "127.0.0.1.org",
        "127.0.0.1%.org",
        "127.0.0.1%2eorg",
        "2130706433",
    ],
)
def test_other_machines(host: str) -> None:
    assert not is_loopback(host)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:abc", "http://127.0.0.1:99999", "http://[::1", "http://localhost\0"]
)
async def test_what_is_no_address_is_told_of(url: str) -> None:
    model = vision_model("ollama", url, "m", seconds=1, tokens=64)
    assert model is not None
    with pytest.raises(ModelUnavailable, match="vision_url cannot be understood"):
        await model.read(PICTURE)


@pytest.mark.parametrize(
    "text",
    [
        "word " * 100,
        "A line of a table | 12 | 13\n" * 20,
        "Once. " + "The model says this sentence again and again, and again. " * 9,
        "." * 450,
        "".join(f"sentence {n} about the weather of that day; " for n in range(12)) * 12,
    ],
)
def test_a_piece_said_over_and_over_is_noticed(text: str) -> None:
    assert repeats(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no no no no no",
        "Chapter 1 " + "." * 200 + " 7",
        "| a | b |\n" + "|  |  |\n" * 20,
        "\n".join(f"line {number} of the list, and its price" for number in range(200)),
    ],
)
def test_what_documents_hold_is_not_taken_for_it(text: str) -> None:
    assert not repeats(text)


@given(st.text(min_size=1, max_size=50), st.integers(0, 30), st.text(max_size=400))
def test_repetition_is_told_by_the_end(piece: str, times: int, start: str) -> None:
    text = start + piece * times
    if repeats(text):
        assert len(text) >= 400
    if len(piece) * times >= 400 and times >= 12:
        assert repeats(text)


def test_none_is_none() -> None:
    assert vision_model("none", "http://127.0.0.1:1", "m", seconds=1, tokens=64) is None
    assert isinstance(
        vision_model("openai", "http://127.0.0.1:1", "m", seconds=1, tokens=64), OpenAiVision
    )
    assert len(PICTURE) > 8
