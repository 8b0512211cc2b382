"""Vision models behind one protocol: Ollama, and any server that speaks as OpenAI's does."""

from __future__ import annotations

import asyncio
import base64
import json
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import httpx

from emily.errors import ModelError, ModelUnavailable
from emily.models.repetition import repeats
from emily.models.servers import Sending, admit
from emily.models.untrusted import READING_RULE, marks

__all__ = ["OllamaVision", "OpenAiVision", "vision_model"]

_TASK = (
    "You read pictures for a search index. Write down every word that the picture shows, in its "
    "own language and in reading order; tables as Markdown tables with every cell. If it shows "
    "no text, say in one or two sentences what it shows. Add no remark of your own."
)
_MOST_CHARACTERS = 60_000
_CONNECT_SECONDS = 5.0


class _Server(ABC):
    """What both kinds of server have in common.

    Args:
        url: address of the server.
        model: to ask for.
        seconds: longest wait for one picture.
        tokens: longest answer.
        allowed: names of servers elsewhere that the owner consents to.
        key: sent as a bearer token, where there is one.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        seconds: float,
        tokens: int,
        allowed: Sequence[str] = (),
        key: str | None = None,
    ) -> None:
        self._allowed = tuple(allowed)
        self._url = url.rstrip("/")
        self._model = model
        self._seconds = seconds
        self._tokens = tokens
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}

    @property
    def name(self) -> str:
        """The model and its server, without a password in its address."""
        scheme, _, rest = self._url.partition("://")
        return f"{self._model} at {scheme}://{rest.rpartition('@')[2]}"

    async def read(self, image: bytes) -> str:
        """What a picture shows; see ``emily.models.protocols.VisionModel``."""
        sending = Sending("vision", "read a picture", bytes=len(image))
        admit(self._url, self._allowed, "vision_url", sending)
        try:
            async with asyncio.timeout(self._seconds):
                return await self._read(image)
        except TimeoutError:
            raise ModelError(
                f"the vision model {self.name} took more than {self._seconds:g} s "
                "(setting vision_seconds)"
            ) from None
        except httpx.HTTPError as error:
            raise ModelUnavailable(
                f"the vision model {self.name} cannot be reached: {error or type(error).__name__}"
            ) from None

    async def _read(self, image: bytes) -> str:
        # No proxy and no redirect: what the owner keeps goes where he said, and nowhere else.
        async with (
            httpx.AsyncClient(
                timeout=httpx.Timeout(self._seconds, connect=_CONNECT_SECONDS),
                headers=self._headers,
                follow_redirects=False,
                trust_env=False,
            ) as client,
            client.stream("POST", self._address(), json=self._body(image)) as response,
        ):
            if response.status_code != 200:
                detail = (await response.aread())[:300].decode(errors="replace").strip()
                raise ModelUnavailable(
                    f"the vision model {self.name} answered {response.status_code}: {detail}"
                )
            text, end = "", None
            async for piece, told in _pieces(response, self._piece):
                text += piece
                end = end or told
                if repeats(text) or len(text) > _MOST_CHARACTERS:
                    raise ModelError(f"the vision model {self.name} repeats itself without end")
        if end is None:
            raise ModelError(f"the answer of the vision model {self.name} broke off")
        if end == "length":
            raise ModelError(
                f"the answer of the vision model {self.name} was cut at {self._tokens:,} tokens "
                "(setting vision_tokens)"
            )
        return text.strip()

    @abstractmethod
    def _address(self) -> str: ...

    @abstractmethod
    def _body(self, image: bytes) -> dict[str, Any]: ...

    @abstractmethod
    def _piece(self, message: dict[str, Any]) -> tuple[str, str | None]:
        """The text in a message, and why the answer ends with it: ``length`` if it is cut."""


class OllamaVision(_Server):
    """A model of an Ollama server (``/api/chat``)."""

    def _address(self) -> str:
        return f"{self._url}/api/chat"

    def _body(self, image: bytes) -> dict[str, Any]:
        first, last = marks()
        return {
            "model": self._model,
            "stream": True,
            "options": {"temperature": 0, "num_predict": self._tokens},
            "messages": [
                {"role": "system", "content": _TASK},
                {
                    "role": "user",
                    "content": f"{READING_RULE}\n{first}\n(the attached picture)\n{last}",
                    "images": [base64.b64encode(image).decode()],
                },
            ],
        }

    def _piece(self, message: dict[str, Any]) -> tuple[str, str | None]:
        if "error" in message:
            raise ModelUnavailable(f"the vision model {self.name} answered: {message['error']}")
        text = str((message.get("message") or {}).get("content") or "")
        return text, str(message.get("done_reason") or "stop") if message.get("done") else None


class OpenAiVision(_Server):
    """A model of a server that speaks as OpenAI's does (``/v1/chat/completions``)."""

    def _address(self) -> str:
        return f"{self._url.removesuffix('/v1')}/v1/chat/completions"

    def _body(self, image: bytes) -> dict[str, Any]:
        first, last = marks()
        kind = "png" if image.startswith(b"\x89PNG") else "jpeg"
        data = f"data:image/{kind};base64,{base64.b64encode(image).decode()}"
        return {
            "model": self._model,
            "stream": True,
            "temperature": 0,
            "max_tokens": self._tokens,
            "messages": [
                {"role": "system", "content": _TASK},
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": f"{READING_RULE}\n{first}"},
                        {"type": "image_url", "image_url": {"url": data}},
                        {"type": "text", "text": last},
                    ],
                },
            ],
        }

    def _piece(self, message: dict[str, Any]) -> tuple[str, str | None]:
        if "error" in message:
            raise ModelUnavailable(f"the vision model {self.name} answered: {message['error']}")
        choice = (message.get("choices") or [{}])[0]
        text = str((choice.get("delta") or {}).get("content") or "")
        end = choice.get("finish_reason")
        return text, str(end) if end else None


async def _pieces(
    response: httpx.Response, piece: Callable[[dict[str, Any]], tuple[str, str | None]]
) -> AsyncIterator[tuple[str, str | None]]:
    """The text of an answer as it comes, and why it ends where it does.

    A JSON object a line, or a server-sent event a line.
    """
    async for line in response.aiter_lines():
        data = line.removeprefix("data:").strip()
        if data == "[DONE]":
            yield "", "stop"
            return
        if not data or line.startswith((":", "event:", "id:", "retry:")):
            continue
        try:
            message = json.loads(data)
            if not isinstance(message, dict):
                raise ValueError(f"a {type(message).__name__}")
            yield piece(message)
        except (ValueError, AttributeError, IndexError, TypeError, KeyError) as error:
            raise ModelError(f"the vision model's answer cannot be understood: {error}") from None


def vision_model(
    api: str,
    url: str,
    model: str,
    *,
    seconds: float,
    tokens: int,
    allowed: Sequence[str] = (),
    key: str | None = None,
) -> OllamaVision | OpenAiVision | None:
    """The vision model of the settings; ``None`` for ``none``.

    A server elsewhere that the owner has not consented to is refused when it would be sent
    something, so that all else goes on working.
    """
    if api == "none":
        return None
    kind = OllamaVision if api == "ollama" else OpenAiVision
    return kind(url, model, seconds=seconds, tokens=tokens, allowed=allowed, key=key)
