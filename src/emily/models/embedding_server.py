"""Speaking with a server of embeddings: consent, patience, and what each refusal means."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import httpx
import numpy as np
from numpy.typing import NDArray

from emily.errors import ModelUnavailable
from emily.models.encoding import BatchTooSlow, TextRefused, TextTooLong
from emily.models.servers import Sending, admit, check_consent

__all__ = ["EmbeddingServer", "as_vectors"]

_CONNECT_SECONDS = 5.0
_QUESTION_SECONDS = 20.0  # a question is rather answered by words alone than waited for
# Half a second, 1, 2, 4: a server that restarts is back within seconds, one that loads a model
# answers late and refuses nobody.
_ATTEMPTS, _ATTEMPTS_OF_A_QUESTION = 5, 2
_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE = 30.0
_BUSY = {408, 425, 429, 502, 503, 504}
_TOO_LONG = ("context length", "context size", "too long", "too large", "maximum context", "tokens")
_NAN = ("nan", "unsupported value", "inf")


class EmbeddingServer:
    """A server of embeddings over HTTP, with the owner's consent.

    Args:
        url: its address.
        model: to ask for.
        seconds: longest wait for one request.
        allowed: names of servers elsewhere that the owner consents to.
        key: sent as a bearer token, where there is one.
        pause: waits for some seconds; tests do not.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        seconds: float = 120.0,
        allowed: Sequence[str] = (),
        key: str | None = None,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.url = url.rstrip("/")
        self.model = model
        self._seconds = seconds
        self._allowed = tuple(allowed)
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._pause = pause
        self._client: httpx.Client | None = None
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The model and its server, without a password in its address."""
        scheme, _, rest = self.url.partition("://")
        return f"{self.model} at {scheme}://{rest.rpartition('@')[2]}"

    def get(self, path: str) -> Any:
        """The JSON of a short question about the server itself.

        Raises:
            ModelUnavailable: it cannot be reached, or answers something else.
        """
        return self._json(self._asked("GET", path, None, _QUESTION_SECONDS, 1))

    def post(self, path: str, body: Mapping[str, Any], *, patient: bool) -> Any:
        """The JSON that a request is answered with.

        Args:
            path: of the request.
            body: of the request.
            patient: whether to wait for a server that is busy or restarts.

        Raises:
            TextRefused, TextTooLong, BatchTooSlow: it is about the texts of this request.
            ModelUnavailable: it is about the server or the model; the message says what helps.
        """
        seconds = self._seconds if patient else min(self._seconds, _QUESTION_SECONDS)
        attempts = _ATTEMPTS if patient else _ATTEMPTS_OF_A_QUESTION
        response = self._asked("POST", path, body, seconds, attempts)
        return self._json(response)

    def close(self) -> None:
        """Close the connections; the next request opens them again."""
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    def memory(self) -> int | None:
        """Bytes that the model takes in its server, where it says."""
        return None

    def missing(self, detail: str) -> ModelUnavailable:
        """The error for a model that the server does not have."""
        return ModelUnavailable(
            f"The server of embeddings does not have the model {self.name}: {detail}"
        )

    def _asked(
        self, method: str, path: str, body: Mapping[str, Any] | None, seconds: float, attempts: int
    ) -> httpx.Response:
        for attempt in range(1, attempts + 1):
            last = attempt == attempts
            if body is None:
                check_consent(self.url, self._allowed, "embedder_url")
            else:  # at each attempt: each is a call that leaves
                sending = Sending("embedding", "embed texts", characters=_characters(body))
                admit(self.url, self._allowed, "embedder_url", sending)
            try:
                response = self._http().request(
                    method,
                    self.url + path,
                    json=body,
                    timeout=httpx.Timeout(seconds, connect=_CONNECT_SECONDS),
                )
            except httpx.ConnectTimeout as error:
                failure: Exception = self._unreachable(error)
            except httpx.TimeoutException:
                raise BatchTooSlow(
                    f"The embedder {self.name} took more than {seconds:g} s "
                    "(setting embedder_seconds)."
                ) from None
            except httpx.HTTPError as error:
                failure = self._unreachable(error)
            else:
                refused = self._refusal(response)
                if refused is None:
                    return response
                failure, again = refused
                if not again or (isinstance(failure, TextRefused) and attempt > 1):
                    raise failure
                if not last:
                    self._pause(_wished(response) or _PAUSE_SECONDS * 2 ** (attempt - 1))
                    continue
            if last:
                raise failure from None
            self._pause(_PAUSE_SECONDS * 2 ** (attempt - 1))
        raise AssertionError("unreachable")  # pragma: no cover - the last attempt raises

    def _refusal(self, response: httpx.Response) -> tuple[Exception, bool] | None:
        """What a response that is no success means, and whether to ask again."""
        status = response.status_code
        if status == 200:
            return None
        detail = _detail(response)
        small = detail.lower()
        told = f"The embedder {self.name} answered {status}: {detail}"
        if status == 404:
            return self.missing(detail), False
        if status in (401, 403):
            return ModelUnavailable(f"{told} (setting embedder_key)"), False
        if status in (400, 413, 422, 500) and any(word in small for word in _TOO_LONG):
            return TextTooLong(told), False
        if status == 500 and any(word in small for word in _NAN):
            return TextRefused(told), False
        if status in _BUSY:
            return ModelUnavailable(told), True
        if status >= 500:
            return TextRefused(told), True
        if status in (400, 413, 422):
            return TextRefused(told), False
        return ModelUnavailable(told), False

    def _json(self, response: httpx.Response) -> Any:
        try:
            return response.json()
        except ValueError as error:
            raise ModelUnavailable(
                f"The answer of the embedder {self.name} cannot be understood: {error}"
            ) from None

    def _unreachable(self, error: httpx.HTTPError) -> ModelUnavailable:
        return ModelUnavailable(
            f"The embedder {self.name} cannot be reached: {error or type(error).__name__}. "
            "Start its server, or correct the setting embedder_url."
        )

    def _http(self) -> httpx.Client:
        with self._lock:
            if self._client is None:
                # No proxy and no redirect: what the owner keeps goes where he said.
                self._client = httpx.Client(
                    headers=self._headers, follow_redirects=False, trust_env=False
                )
            return self._client


def as_vectors(rows: Any, name: str) -> NDArray[np.float32]:
    """Lists of numbers as ``(n, dimension)``; ``null`` stands for NaN.

    Raises:
        ModelUnavailable: they are something else, or of different lengths.
    """
    try:
        made = [np.array([np.nan if x is None else x for x in row], np.float64) for row in rows]
        if len({len(row) for row in made}) > 1:
            lengths = sorted({len(row) for row in made})
            raise ValueError(f"vectors of {lengths} dimensions in one answer")
        stacked = np.stack(made) if made else np.empty((0, 0))
        if stacked.ndim != 2:
            raise ValueError("no list of vectors")
    except (TypeError, ValueError) as error:
        raise ModelUnavailable(
            f"The answer of the embedder {name} cannot be understood: {error}"
        ) from None
    with np.errstate(over="ignore"):
        return stacked.astype(np.float32)


def _characters(body: Mapping[str, Any]) -> int:
    """Characters of the texts that are to be embedded."""
    given = body.get("input", "")
    return sum(map(len, given)) if isinstance(given, list) else len(str(given))


def _detail(response: httpx.Response) -> str:
    """What a server says of a refusal, in a line."""
    try:
        body = response.json()
        found = body.get("error", body.get("detail", body.get("message", body)))
        text = str(found.get("message", found) if isinstance(found, dict) else found)
    except (ValueError, AttributeError):
        text = response.text
    return " ".join(text.split())[:300] or response.reason_phrase


def _wished(response: httpx.Response) -> float | None:
    """How long the server asks to be left alone, within reason."""
    try:
        return min(float(response.headers["Retry-After"]), _LONGEST_PAUSE)
    except (KeyError, ValueError):
        return None
