"""Rerankers behind HTTP: ``/rerank`` as text-embeddings-inference and as Jina speak it.

Cohere, vLLM, llama.cpp and LocalAI speak as Jina does.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from emily.errors import ModelError, ModelUnavailable
from emily.models.protocols import Judgement
from emily.models.rerankers.golden import GOLDEN, PASSAGES, verdict
from emily.models.rerankers.judging import by_order, by_probability, probability
from emily.models.servers import Sending, admit, is_elsewhere
from emily.settings import RerankerApi, RerankerScores

__all__ = ["ServerReranker"]

_CONNECT_SECONDS = 5.0
_MOST_BYTES = 4 << 20
_TEI_TEXTS = 32  # its own limit for one request, unless it was started with another
_BYTES_A_TOKEN = 3  # of UTF-8; European languages take more, Chinese no fewer


class ServerReranker:
    """A reranker of a server, on this machine or elsewhere by consent."""

    def __init__(
        self,
        url: str,
        *,
        api: RerankerApi,
        model: str | None = None,
        scale: RerankerScores = "auto",
        tokens: int,
        seconds: float,
        allowed: Sequence[str] = (),
        key: str | None = None,
    ) -> None:
        """Prepare without asking.

        Args:
            url: of the server, with the path before ``/rerank`` where there is one.
            api: shape of request and response.
            model: to ask for; ``tei`` serves one and wants no name.
            scale: what its scores are; ``auto`` takes them for probabilities.
            tokens: longest passage, estimated at three bytes a token.
            seconds: longest time for one question.
            allowed: names of servers elsewhere that the owner consents to.
            key: sent as a bearer token, where there is one.
        """
        self._url = url.rstrip("/").removesuffix("/rerank")
        self._api = api
        self._model = model
        self._raw = scale == "raw"
        self._bytes = tokens * _BYTES_A_TOKEN
        self._seconds = seconds
        self._allowed = tuple(allowed)
        self._key = key
        self._prepared = False
        self._warnings: tuple[str, ...] = ()
        self._lock = asyncio.Lock()

    @property
    def name(self) -> str:
        """The model and its server, without a password in its address."""
        scheme, _, rest = self._url.partition("://")
        server = f"{scheme}://{rest.rpartition('@')[2]}"
        return f"{self._model} at {server}" if self._model else f"at {server}"

    @property
    def elsewhere(self) -> bool:
        """Whether what it is sent leaves this machine."""
        return is_elsewhere(self._url)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the golden pairs showed that it cannot do."""
        return self._warnings

    async def prepare(self) -> None:
        """Put the golden pairs to it; see ``emily.models.protocols.Reranker``."""
        await self._in_time([])

    async def rank(self, query: str, passages: Sequence[str]) -> Judgement:
        """Judge passages; see ``emily.models.protocols.Reranker``."""
        (judgement,) = await self._in_time([(query, passages)])
        return judgement

    def close(self) -> None:
        """Have it put to the golden pairs again before it is next believed."""
        self._prepared = False

    async def _in_time(self, asked: Sequence[tuple[str, Sequence[str]]]) -> list[Judgement]:
        """Judgements of questions, after the golden pairs where those are due."""
        try:
            # No proxy and no redirect: what the owner keeps goes where he said, nowhere else.
            async with (
                asyncio.timeout(self._seconds),
                httpx.AsyncClient(
                    timeout=httpx.Timeout(self._seconds, connect=_CONNECT_SECONDS),
                    headers={"Authorization": f"Bearer {self._key}"} if self._key else {},
                    follow_redirects=False,
                    trust_env=False,
                    # To load certificates takes a while, and plain HTTP shows none.
                    verify=self._url.startswith("https:"),
                ) as client,
            ):
                async with self._lock:
                    if not self._prepared:
                        await self._put_golden(client)
                return [await self._judged(client, query, texts) for query, texts in asked]
        except TimeoutError:
            self._prepared = False
            raise ModelError(
                f"the reranker {self.name} took more than {self._seconds:g} s "
                "(setting reranker_seconds)"
            ) from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            self._prepared = False
            raise ModelUnavailable(
                f"the reranker {self.name} cannot be reached: {error or type(error).__name__}"
            ) from None
        except ModelError:
            self._prepared = False
            raise

    async def _put_golden(self, client: httpx.AsyncClient) -> None:
        judged = [await self._judged(client, probe.question, PASSAGES) for probe in GOLDEN]
        self._warnings = verdict(self.name, judged)
        self._prepared = True

    async def _judged(
        self, client: httpx.AsyncClient, query: str, passages: Sequence[str]
    ) -> Judgement:
        if not passages:
            return Judgement((), ())
        texts = [self._short(text) for text in passages]
        cut = sum(len(text) < len(whole) for text, whole in zip(texts, passages, strict=True))
        size = _TEI_TEXTS if self._api == "tei" else len(texts)
        scores: list[float] = []
        for first in range(0, len(texts), size):
            part = texts[first : first + size]
            found = self._read(await self._post(client, _storable(query), part), len(part))
            if isinstance(found, list):
                scores += found
            elif len(part) == len(texts):
                return by_order(self.name, found, len(texts), cut)
            else:
                raise ModelError(
                    f"the reranker {self.name} gives positions without scores, and takes "
                    f"{_TEI_TEXTS} passages at once: set reranker_candidates to {_TEI_TEXTS}"
                )
        if self._raw:
            scores = [probability(score) for score in scores]
        return by_probability(self.name, scores, len(texts), cut)

    async def _post(self, client: httpx.AsyncClient, query: str, texts: Sequence[str]) -> bytes:
        characters = len(query) + sum(map(len, texts))
        sending = Sending("reranking", "judge passages", characters=characters)
        admit(self._url, self._allowed, "reranker_url", sending)
        async with client.stream(
            "POST", f"{self._url}/rerank", json=self._body(query, texts)
        ) as response:
            content = b""
            async for piece in response.aiter_bytes():
                content += piece
                if len(content) > _MOST_BYTES:
                    raise ModelError(
                        f"the reranker {self.name} answered more than {_MOST_BYTES >> 20} MiB"
                    )
        if response.status_code != 200:
            detail = content[:300].decode(errors="replace").strip()
            if self._key:
                detail = detail.replace(self._key, "…")
            raise ModelUnavailable(
                f"the reranker {self.name} answered {response.status_code}: {detail}"
            )
        return content

    def _body(self, query: str, texts: Sequence[str]) -> dict[str, Any]:
        if self._api == "tei":
            # Too long a passage shall be an error there: a cut may fall into a template.
            return {
                "query": query,
                "texts": texts,
                "raw_scores": self._raw,
                "return_text": False,
                "truncate": False,
            }
        body = {
            "query": query,
            "documents": texts,
            "top_n": len(texts),
            "return_documents": False,
        }
        return body if self._model is None else {"model": self._model, **body}

    def _read(self, content: bytes, passages: int) -> list[float] | tuple[int, ...]:
        """Scores by position, or positions, best first, where there are no scores."""
        try:
            answer = json.loads(content)
            rows = answer if isinstance(answer, list) else answer["results"]
            found = [(_index(row), _score(row)) for row in rows]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise ModelError(
                f"the answer of the reranker {self.name} cannot be understood: "
                f"{type(error).__name__}: {error}"
            ) from None
        positions = tuple(index for index, _ in found)
        if sorted(positions) != list(range(passages)):
            raise ModelError(
                f"the reranker {self.name} answered for the passages {list(positions)[:20]}; "
                f"it was given {passages}, and each of 0 to {passages - 1} must stand there once"
            )
        scores = {index: score for index, score in found if score is not None}
        if not scores:
            return positions
        if len(scores) < passages:
            raise ModelError(
                f"the reranker {self.name} gave {len(scores)} scores for {passages} passages"
            )
        return [scores[place] for place in range(passages)]

    def _short(self, text: str) -> str:
        return text.encode("utf-8", "replace")[: self._bytes].decode("utf-8", "ignore")


def _index(row: Mapping[str, Any]) -> int:
    index = row["index"]
    if isinstance(index, bool) or not isinstance(index, int):
        raise TypeError(f"index {index!r}")
    return index


def _score(row: Mapping[str, Any]) -> float | None:
    score = row.get("score", row.get("relevance_score"))
    if score is None:
        return None
    if isinstance(score, bool) or not isinstance(score, (int, float)):
        raise TypeError(f"score {score!r}")
    return float(score)


def _storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
