"""Chat models behind one protocol: Ollama, and any server that speaks as OpenAI's does."""

from __future__ import annotations

import asyncio
import json
import re
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import httpx

from emily.errors import AnswerError, ModelError, ModelUnavailable
from emily.models.profiles import bare_name
from emily.models.protocols import ChatAnswer
from emily.models.repetition import repeats
from emily.models.servers import Sending, admit, check_consent

__all__ = ["OllamaChat", "OpenAiChat", "chat_model", "least_tokens", "without_thoughts"]

_CONNECT_SECONDS = 5.0
_SHORT_SECONDS = 10.0  # for a question about the server itself
_CHARACTERS_PER_TOKEN = 12  # no answer of so many tokens is longer; what is longer has no cap
_SHORTEST_CAP = 2_000
_READ = 0.9  # share of the fewest tokens that a prompt can have, below which it was cut

_WORD = re.compile(r"[^\W\d_]+")
_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT_END = re.compile(r"\A.*?</think>", re.DOTALL | re.IGNORECASE)


def least_tokens(text: str) -> int:
    """The fewest tokens that a text can have: no tokenizer joins two words in one."""
    return sum(1 for _ in _WORD.finditer(text))


def without_thoughts(text: str) -> str:
    """An answer without what a model thought aloud between ``<think>`` and ``</think>``.

    Where the beginning is missing, which some templates write into the prompt, all up to the
    end of the thought goes; where the end is missing, all that follows.
    """
    text = _THOUGHT.sub("", text)
    return _THOUGHT_END.sub("", text).strip()


@dataclass(slots=True)
class _Heard:
    """What has come of an answer so far."""

    text: str = ""
    ended: bool = False
    cut: bool = False
    prompt_tokens: int | None = None
    answer_tokens: int | None = None


class _Server(ABC):
    """What both kinds of server have in common.

    Args:
        url: address of the server.
        model: to ask for.
        context: tokens that prompt and answer may have together.
        seconds: longest wait for one answer.
        allowed: names of servers elsewhere that the owner consents to.
        key: sent as a bearer token, where there is one.
        minutes: the server is asked to keep the model loaded so long after an answer.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        context: int = 8192,
        seconds: float = 600.0,
        allowed: Sequence[str] = (),
        key: str | None = None,
        minutes: float = 30.0,
    ) -> None:
        self._allowed = tuple(allowed)
        self._url = url.rstrip("/")
        self.model = model
        self.context = context
        self._seconds = seconds
        self._minutes = minutes
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}

    @property
    def name(self) -> str:
        """The model and its server, without a password in its address."""
        scheme, _, rest = self._url.partition("://")
        return f"{self.model} at {scheme}://{rest.rpartition('@')[2]}"

    async def chat(
        self, system: str, prompt: str, *, tokens: int, schema: Mapping[str, Any] | None = None
    ) -> ChatAnswer:
        """Answer one prompt; see ``emily.models.protocols.ChatModel``."""
        sending = Sending("chat", "answer a prompt", characters=len(system) + len(prompt))
        admit(self._url, self._allowed, "chat_url", sending)
        try:
            async with asyncio.timeout(self._seconds):
                heard = await self._heard(system, prompt, tokens, schema)
        except TimeoutError:
            raise ModelError(
                f"The chat model {self.name} took more than {self._seconds:g} s "
                "(setting chat_seconds)."
            ) from None
        except httpx.HTTPError as error:
            raise self._unreachable(error) from None
        self._check_read(heard, system + prompt)
        text = without_thoughts(heard.text)
        if not text:
            raise AnswerError(f"The chat model {self.name} answered nothing.")
        return ChatAnswer(text, not heard.cut, heard.prompt_tokens, heard.answer_tokens)

    async def describe(self) -> str:
        """What the server says of itself; see ``emily.models.protocols.ChatModel``."""
        check_consent(self._url, self._allowed, "chat_url")
        try:
            async with self._client(_SHORT_SECONDS) as client:
                return await self._described(client)
        except httpx.HTTPError as error:
            raise self._unreachable(error) from None

    async def _heard(
        self, system: str, prompt: str, tokens: int, schema: Mapping[str, Any] | None
    ) -> _Heard:
        body = self._body(system, prompt, tokens, schema)
        heard = _Heard()
        most = max(_SHORTEST_CAP, tokens * _CHARACTERS_PER_TOKEN)
        async with (
            self._client(self._seconds) as client,
            client.stream("POST", self._address, json=body) as response,
        ):
            if response.status_code != 200:
                raise self._refusal(response.status_code, await response.aread())
            async for message in self._messages(response):
                self._hear(message, heard)
                if repeats(heard.text):
                    raise AnswerError(f"The chat model {self.name} repeats itself without end.")
                if len(heard.text) > most:
                    raise AnswerError(
                        f"The chat model {self.name} does not stop: {len(heard.text):,} "
                        f"characters where at most {tokens} tokens were asked for."
                    )
        if not heard.ended:
            raise self._broken_off()
        heard.cut = heard.cut or (heard.answer_tokens or 0) >= tokens
        return heard

    async def _messages(self, response: httpx.Response) -> AsyncIterator[dict[str, Any]]:
        """The answer as it comes: a JSON object a line, or a server-sent event a line."""
        async for line in response.aiter_lines():
            data = line.removeprefix("data:").strip()
            if not data or line.startswith((":", "event:", "id:", "retry:")):
                continue
            if data == "[DONE]":
                yield {}
                continue
            try:
                message = json.loads(data)
            except ValueError as error:
                if data.startswith("{") and not data.endswith("}"):  # its server was killed
                    raise self._broken_off() from None
                raise self._senseless(error) from None
            if not isinstance(message, dict):
                raise self._senseless(f"a {type(message).__name__}")
            if "error" in message:
                raise ModelUnavailable(
                    f"The chat model {self.name} answered: {_said(message['error'])}"
                )
            yield message

    def _hear(self, message: dict[str, Any], heard: _Heard) -> None:
        try:
            self._take(message, heard)
        except (AttributeError, IndexError, TypeError, KeyError) as error:
            raise self._senseless(error) from None

    def _check_read(self, heard: _Heard, prompt: str) -> None:
        """Notice a server that read only the end of the prompt and does not say so."""
        fewest = least_tokens(prompt)
        if heard.prompt_tokens is not None and heard.prompt_tokens < _READ * fewest:
            raise AnswerError(
                f"The chat model {self.name} read {heard.prompt_tokens:,} tokens of a prompt of "
                f"at least {fewest:,}: its server cuts off what is longer. Give it a context of "
                f"{self.context:,} tokens, or lower the setting chat_context to what it has."
            )

    def _refusal(self, status: int, content: bytes) -> ModelError:
        detail = " ".join(content[:600].decode(errors="replace").split())[:300]
        with suppress(ValueError, AttributeError):
            detail = _said(json.loads(content).get("error", detail))
        told = f"The chat model {self.name} answered {status}: {detail}"
        if status == 404:
            return self._missing(detail)
        if status in (401, 403):
            return ModelUnavailable(f"{told} (setting chat_key)")
        if status in (400, 413, 422):
            return AnswerError(told)
        return ModelUnavailable(told)

    def _missing(self, detail: str) -> ModelUnavailable:
        return ModelUnavailable(f"The server does not have the chat model {self.name}: {detail}")

    def _senseless(self, error: object) -> AnswerError:
        return AnswerError(
            f"The answer of the chat model {self.name} cannot be understood: {error}"
        )

    def _broken_off(self) -> ModelUnavailable:
        return ModelUnavailable(f"The chat model {self.name} went away in mid-answer.")

    def _unreachable(self, error: httpx.HTTPError) -> ModelUnavailable:
        return ModelUnavailable(
            f"The chat model {self.name} cannot be reached: {error or type(error).__name__}. "
            "Start its server, or correct the setting chat_url."
        )

    def _client(self, seconds: float) -> httpx.AsyncClient:
        # No proxy and no redirect: what the owner keeps goes where he said, and nowhere else.
        return httpx.AsyncClient(
            timeout=httpx.Timeout(seconds, connect=_CONNECT_SECONDS),
            headers=self._headers,
            follow_redirects=False,
            trust_env=False,
        )

    async def _json(self, client: httpx.AsyncClient, address: str) -> dict[str, Any]:
        response = await client.get(address)
        if response.status_code != 200:
            raise self._refusal(response.status_code, response.content)
        try:
            found = response.json()
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise ModelUnavailable(f"The server of {self.name} answers {address} with no object.")
        return found

    @property
    @abstractmethod
    def _address(self) -> str: ...

    @abstractmethod
    def _body(
        self, system: str, prompt: str, tokens: int, schema: Mapping[str, Any] | None
    ) -> dict[str, Any]: ...

    @abstractmethod
    def _take(self, message: dict[str, Any], heard: _Heard) -> None: ...

    @abstractmethod
    async def _described(self, client: httpx.AsyncClient) -> str: ...


class OllamaChat(_Server):
    """A model of an Ollama server (``/api/chat``)."""

    @property
    def _address(self) -> str:
        return f"{self._url}/api/chat"

    def _body(
        self, system: str, prompt: str, tokens: int, schema: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.model,
            "stream": True,
            "think": False,
            "keep_alive": f"{self._minutes:g}m",
            "options": {"temperature": 0, "num_ctx": self.context, "num_predict": tokens},
            "messages": [
                {"role": "system", "content": system},
                {"role": "user", "content": prompt},
            ],
        }
        if schema is not None:
            body["format"] = dict(schema)
        return body

    def _take(self, message: dict[str, Any], heard: _Heard) -> None:
        heard.text += str((message.get("message") or {}).get("content") or "")
        if message.get("done"):
            heard.ended = True
            heard.cut = message.get("done_reason") == "length"
            heard.prompt_tokens = _count(message.get("prompt_eval_count"))
            heard.answer_tokens = _count(message.get("eval_count"))

    async def _described(self, client: httpx.AsyncClient) -> str:
        version = (await self._json(client, f"{self._url}/api/version")).get("version", "?")
        listed = (await self._json(client, f"{self._url}/api/tags")).get("models") or []
        names = {bare_name(str(item.get("name"))) for item in listed if isinstance(item, dict)}
        if bare_name(self.model) not in names:
            raise self._missing(f"it has {', '.join(sorted(names)) or 'none'}")
        return f"{self.name}, Ollama {version}, context {self.context:,}"

    def _missing(self, detail: str) -> ModelUnavailable:
        return ModelUnavailable(
            f"Ollama does not have the model {self.name} ({detail}). "
            f"Get it with: ollama pull {self.model}"
        )


class OpenAiChat(_Server):
    """A model of a server that speaks as OpenAI's does (``/v1/chat/completions``)."""

    @property
    def _address(self) -> str:
        return f"{self._base}/chat/completions"

    @property
    def _base(self) -> str:
        return f"{self._url.removesuffix('/v1')}/v1"

    def _body(
        self, system: str, prompt: str, tokens: int, schema: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.model,
            "stream": True,
            "stream_options": {"include_usage": True},
            "temperature": 0,
            "max_tokens": tokens,
            "messages": [
                {"role": "system", "content": system},
                {"role": "user", "content": prompt},
            ],
        }
        if schema is not None:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "answer", "strict": True, "schema": dict(schema)},
            }
        return body

    def _take(self, message: dict[str, Any], heard: _Heard) -> None:
        if not message:  # [DONE]
            heard.ended = True
            return
        usage = message.get("usage")
        if usage:
            heard.prompt_tokens = _count(usage.get("prompt_tokens"))
            heard.answer_tokens = _count(usage.get("completion_tokens"))
        for choice in message.get("choices") or ():
            heard.text += str((choice.get("delta") or {}).get("content") or "")
            if choice.get("finish_reason"):
                heard.ended = True
                heard.cut = choice["finish_reason"] == "length"

    async def _described(self, client: httpx.AsyncClient) -> str:
        listed = (await self._json(client, f"{self._base}/models")).get("data") or []
        names = {str(item.get("id")) for item in listed if isinstance(item, dict)}
        if names and self.model not in names:
            raise self._missing(f"it has {', '.join(sorted(names))}")
        return f"{self.name}, OpenAI-compatible, context {self.context:,}"


def chat_model(
    api: str,
    url: str,
    model: str,
    *,
    context: int,
    seconds: float,
    allowed: Sequence[str] = (),
    key: str | None = None,
    minutes: float = 30.0,
) -> OllamaChat | OpenAiChat | None:
    """The chat model of the settings; ``None`` for ``none``.

    A server elsewhere that the owner has not consented to is refused when it would be sent
    something, so that all else goes on working.
    """
    if api == "none":
        return None
    kind = OllamaChat if api == "ollama" else OpenAiChat
    return kind(
        url,
        model,
        context=context,
        seconds=seconds,
        allowed=allowed,
        key=key,
        minutes=minutes,
    )


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _said(error: Any) -> str:
    return str(error.get("message", error) if isinstance(error, dict) else error)
