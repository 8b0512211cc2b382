"""Chat models of Ollama and of OpenAI-compatible servers."""

from __future__ import annotations

from typing import Any

from tests.contract.chat import SYSTEM, ChatContract, ChatServer

from emily.models import ChatModel
from emily.models.chat import OllamaChat, OpenAiChat, chat_model, least_tokens, without_thoughts


class TestOllama(ChatContract):
    path = "/api/chat"

    def make(self, url: str, **values: Any) -> OllamaChat:
        return OllamaChat(url, values.pop("model", "terse:1b"), **values)

    def tokens_of(self, body: Any) -> int:
        return int(body["options"]["num_predict"])

    def schema_of(self, body: Any) -> Any:
        return body.get("format")

    async def test_context_residency_and_thinking_are_asked_for(self, server: ChatServer) -> None:
        model = OllamaChat(server.url, "terse:1b", context=4096, minutes=12)
        await model.chat(SYSTEM, "?", tokens=9)
        body = server.requests[0][2]
        assert body["options"] == {"temperature": 0, "num_ctx": 4096, "num_predict": 9}
        assert body["keep_alive"] == "12m"
        assert body["think"] is False


class TestOpenAi(ChatContract):
    path = "/v1/chat/completions"

    def make(self, url: str, **values: Any) -> OpenAiChat:
        return OpenAiChat(url, values.pop("model", "terse:1b"), **values)

    def tokens_of(self, body: Any) -> int:
        return int(body["max_tokens"])

    def schema_of(self, body: Any) -> Any:
        wanted = body.get("response_format")
        return wanted and wanted["json_schema"]["schema"]

    async def test_an_address_with_v1_is_the_same(self, server: ChatServer) -> None:
        await self.make(f"{server.url}/v1/").chat(SYSTEM, "?", tokens=9)
        assert server.requests[0][0] == self.path


def test_both_are_chat_models() -> None:
    for api in ("ollama", "openai"):
        model = chat_model(api, "http://127.0.0.1:1", "m", context=4096, seconds=1)
        assert isinstance(model, ChatModel)
        assert (model.context, model.model) == (4096, "m")
    assert chat_model("none", "", "", context=4096, seconds=1) is None


def test_a_password_in_an_address_is_not_shown() -> None:
    assert OllamaChat("http://ada:secret@127.0.0.1:1", "m").name == "m at http://127.0.0.1:1"


def test_the_fewest_tokens_of_a_text() -> None:
    assert least_tokens("L'affitto è di 950 euro.") == 5
    assert least_tokens("") == 0


def test_what_is_no_thought_stays() -> None:
    assert without_thoughts("I think so. <thinking> is a word.") == (
        "I think so. <thinking> is a word."
    )
