"""A server of embeddings on loopback that misbehaves on demand, and what every backend that speaks
to one must keep to. A backend's test subclasses the contract and says how it is made.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest
from tests.contract.embedder import EmbedderContract
from tests.fakes import WordsEmbedder

from emily.errors import ModelError, ModelUnavailable, VectorError
from emily.models.backed import BackedEmbedder
from emily.models.profiles import EmbedderProfile

DIMENSION = 48
MODEL = "hashed-words"


class EmbeddingServer:
    """Speaks as Ollama and as OpenAI do; texts are near each other as far as they share words.

    Attributes:
        model: the one it has.
        dimension: of its vectors.
        reads: words of a text that it reads; the rest is dropped without a word.
        drops: which end of a long text it drops.
        refuses: words over which it refuses a text as too long.
        poison: a text that holds this word gets the vector of ``fault``.
        fault: ``nan500``, ``null``, ``nan``, ``zero``, ``infinity`` or ``crash``.
        spoils: whether one bad text spoils all vectors of its batch.
        busy: how often it still answers with ``busy_status``.
        resets: how often it still closes the connection in the middle.
        wait: seconds before it answers, for each text.
        reorders: whether it gives vectors in another order, ``index`` with them.
        lies: the same without a true ``index``.
        most: most vectors that it returns.
        counts: whether it tells how many tokens it read.
        answer: given instead of all this.
        requests: path, headers and body of each request.
    """

    def __init__(self) -> None:
        self.model = MODEL
        self.dimension = DIMENSION
        self.reads: int | None = None
        self.drops = "end"
        self.refuses: int | None = None
        self.poison = "poison"
        self.fault = ""
        self.spoils = False
        self.busy, self.busy_status, self.retry_after = 0, 503, ""
        self.resets = 0
        self.wait = 0.0
        self.reorders = self.lies = False
        self.most: int | None = None
        self.counts = True
        self.answer: bytes | None = None
        self.version = "0.23.0"
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append((self.path, dict(self.headers), body))
                outer._answer(self, body)

            def do_GET(self) -> None:
                outer.requests.append((self.path, dict(self.headers), None))
                found = {
                    "/api/version": {"version": outer.version},
                    "/api/tags": {
                        "models": [
                            {"name": f"{outer.model}:latest", "details": {"families": ["bert"]}},
                            {"name": "chat:8b", "details": {"families": ["llama"]}},
                        ]
                    },
                    "/api/ps": {"models": [{"name": f"{outer.model}:latest", "size": 7_000_000}]},
                    "/v1/models": {"data": [{"id": outer.model}]},
                }.get(self.path)
                outer._send(self, 200 if found else 404, found or {"error": "no such page"})

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    @contextmanager
    def running(self) -> Iterator[EmbeddingServer]:
        thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()

    @property
    def texts(self) -> list[str]:
        """Every text that it was sent, in order."""
        return [text for _, _, body in self.requests if body for text in body["input"]]

    def _answer(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        texts: list[str] = body["input"]
        time.sleep(self.wait * len(texts))
        if self.resets:
            self.resets -= 1
            handler.close_connection = True
            return
        if self.busy:
            self.busy -= 1
            self._send(handler, self.busy_status, {"error": "busy"}, self.retry_after)
            return
        if self.answer is not None:
            self._send(handler, 200, self.answer)
            return
        if body["model"] != self.model:
            said = f'model "{body["model"]}" not found, try pulling it first'
            self._send(handler, 404, {"error": said})
            return
        if self.refuses is not None and any(len(text.split()) > self.refuses for text in texts):
            self._send(handler, 400, {"error": "the input length exceeds the context length"})
            return
        bad = [self.poison in text and bool(self.fault) for text in texts]
        if any(bad) and self.fault in ("nan500", "crash"):
            said = "json: unsupported value: NaN" if self.fault == "nan500" else "runner terminated"
            self._send(handler, 500, {"error": said})
            return
        read = [self._read(text) for text in texts]
        rows: list[Any] = [self._row(text) for text in read]
        for place in range(len(rows)):
            if bad[place] or (self.spoils and any(bad)):
                rows[place] = self._faulty()
        rows = rows[: self.most]
        tokens = sum(len(text.split()) + 2 for text in read)
        self._send(handler, 200, self._document(handler.path, rows, tokens))

    def _read(self, text: str) -> str:
        words = text.split()
        if self.reads is None or len(words) <= self.reads:
            return text
        return " ".join(words[: self.reads] if self.drops == "end" else words[-self.reads :])

    def _row(self, text: str) -> list[float]:
        return _hashed(text, self.dimension)

    def _faulty(self) -> list[Any]:
        value = {"null": None, "nan": float("nan"), "zero": 0.0, "infinity": float("inf")}
        return [value[self.fault]] * self.dimension

    def _document(self, path: str, rows: list[Any], tokens: int) -> dict[str, Any]:
        if path == "/api/embed":
            if self.reorders or self.lies:
                rows = rows[::-1]
            counted = {"prompt_eval_count": tokens} if self.counts else {}
            return {"model": self.model, "embeddings": rows, **counted}
        items = [{"index": place, "embedding": row} for place, row in enumerate(rows)]
        if self.reorders:
            items = items[::-1]
        if self.lies:
            items = [{**item, "index": place} for place, item in enumerate(items[::-1])]
        usage = {"usage": {"prompt_tokens": tokens, "total_tokens": tokens}} if self.counts else {}
        return {"object": "list", "data": items, "model": self.model, **usage}

    def _send(
        self, handler: BaseHTTPRequestHandler, status: int, body: Any, retry_after: str = ""
    ) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        try:
            handler.send_response(status)
            if retry_after:
                handler.send_header("Retry-After", retry_after)
            handler.send_header("Content-Length", str(len(data)))
            handler.end_headers()
            handler.wfile.write(data)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the client did not wait


@lru_cache(maxsize=4096)
def _hashed(text: str, dimension: int) -> list[float]:
    """A vector of a text, not of length 1."""
    encoder = WordsEmbedder(dimension=dimension)
    return [3.0 * float(x) for x in encoder.embed_queries([text])[0]]


PARTS = (
    ("The boiler leaks.", "It must be replaced."),
    ("Rent is due on the first.",),
    ("Three eggs.", "Some sugar.", "Half an hour."),
)


class ServedEmbedderContract(EmbedderContract):
    """What an embedder keeps to whose model runs in a server."""

    path = ""

    def encoder(self, url: str, model: str, **values: Any) -> Any:
        """The backend; ``values`` are ``seconds``, ``allowed``, ``key``, ``pause``."""
        raise NotImplementedError

    @pytest.fixture
    def server(self) -> Iterator[EmbeddingServer]:
        with EmbeddingServer().running() as server:
            yield server

    @pytest.fixture
    def pauses(self) -> list[float]:
        """How long was waited between attempts."""
        return []

    @pytest.fixture
    def make(
        self, server: EmbeddingServer, pauses: list[float]
    ) -> Iterator[Callable[..., BackedEmbedder]]:
        made: list[BackedEmbedder] = []

        def build(
            profile: EmbedderProfile | None = None,
            url: str | None = None,
            model: str = MODEL,
            **values: Any,
        ) -> BackedEmbedder:
            values.setdefault("pause", pauses.append)
            values.setdefault("seconds", 10)
            chosen = profile or EmbedderProfile("plain-1", dimension=DIMENSION, tokens=1.0)
            encoder = self.encoder(url or server.url, model, **values)
            made.append(BackedEmbedder(encoder, model, chosen, WordsEmbedder()))
            return made[-1]

        yield build
        for embedder in made:
            embedder.close()

    @pytest.fixture
    def embedder(self, make: Callable[..., BackedEmbedder]) -> BackedEmbedder:
        return make()

    def test_words_are_those_of_the_bundled_encoder(self, embedder: BackedEmbedder) -> None:
        words = ["schermo", "screen"]
        bundled = WordsEmbedder()
        assert embedder.words_identity == bundled.identity != embedder.identity
        np.testing.assert_array_equal(embedder.embed_words(words), bundled.embed_words(words))
        np.testing.assert_array_equal(embedder.rarity(words), bundled.rarity(words))
        assert embedder.count("one two") == bundled.count("one two")

    def test_prefixes_are_those_of_the_profile(
        self, make: Callable[..., BackedEmbedder], server: EmbeddingServer
    ) -> None:
        profile = EmbedderProfile(
            "e5-1", query="query: ", document="passage: ", dimension=DIMENSION, tokens=1.0
        )
        embedder = make(profile)
        assert embedder.identity.profile == "e5-1"
        embedder.embed_queries(["when is rent due"])
        embedder.embed_parts([("Rent is due.", "Pay it.")])
        assert "query: when is rent due" in server.texts
        assert {"passage: Rent is due. Pay it.", "passage: Rent is due."} <= set(server.texts)

    def test_a_prefix_finds_room_in_the_window(
        self, make: Callable[..., BackedEmbedder], server: EmbeddingServer
    ) -> None:
        profile = EmbedderProfile(
            "p-1", query="in two words: ", document="p: ", window=64, dimension=DIMENSION, tokens=1
        )
        server.refuses = 64 - 4
        embedder = make(profile)
        long = " ".join(f"word{number}" for number in range(500))
        found = embedder.embed_parts([(long,), ("x" * 3000,), ("Short.",)])
        embedder.embed_queries([long])
        assert all(len(text.split()) <= 60 for text in server.texts)
        assert {word for text in server.texts for word in text.split()} >= set(long.split())
        assert len(found) == 3

    def test_a_long_text_is_the_mean_of_its_pieces(
        self, make: Callable[..., BackedEmbedder]
    ) -> None:
        profile = EmbedderProfile("plain-1", window=24, dimension=DIMENSION, tokens=1.0)
        embedder = make(profile)
        halves = ["a b c d e f g h i j", "k l m n o p q r s t u"]
        first, last = embedder.embed_queries(halves)
        (whole,) = embedder.embed_queries([" ".join(halves)])
        assert embedder.room == 20
        assert whole @ first > 0.5
        assert whole @ last > 0.5

    @pytest.mark.parametrize("fault", ["nan500", "null", "nan", "zero", "infinity", "crash"])
    @pytest.mark.parametrize("spoils", [False, True])
    def test_the_one_bad_text_is_found_and_named(
        self,
        make: Callable[..., BackedEmbedder],
        server: EmbeddingServer,
        fault: str,
        spoils: bool,
    ) -> None:
        server.fault, server.spoils = fault, spoils
        embedder = make()
        texts = [f"Passage {number} of the report." for number in range(12)]
        texts[7] = "This one is a poison to the model."
        with pytest.raises(VectorError, match="This one is a poison") as raised:
            embedder.embed_parts([(text,) for text in texts])
        assert "Nothing of it was stored" in str(raised.value)
        asked = len(server.requests)
        rest = [(text,) for text in texts if "poison" not in text]
        assert len(embedder.embed_parts(rest)) == 11
        assert len(server.requests) == asked, "what was right is not computed again"

    def test_a_server_that_has_gone_mad_is_no_fault_of_a_text(
        self, make: Callable[..., BackedEmbedder], server: EmbeddingServer
    ) -> None:
        embedder = make()
        embedder.embed_parts(PARTS)
        server.fault, server.poison = "nan", ""
        with pytest.raises(ModelUnavailable, match=r"now fails on every text|begun to return NaN"):
            embedder.embed_parts([("A new text.",)])

    @pytest.mark.parametrize("fault", ["nan", "zero", "nan500", "crash"])
    def test_a_server_that_is_mad_from_the_start(
        self, make: Callable[..., BackedEmbedder], server: EmbeddingServer, fault: str
    ) -> None:
        server.fault, server.poison = fault, ""
        with pytest.raises(ModelUnavailable, match="plain sentence"):
            make().embed_queries(["x"])

    def test_text_that_is_cut_in_silence_is_noticed(
        self, make: Callable[..., BackedEmbedder], server: EmbeddingServer
    ) -> None:
        for drops, counts in (("end", False), ("beginning", False), ("end", True)):
            server.reads, server.drops, server.counts = 300, drops, counts
            with pytest.raises(ModelUnavailable, match="cuts off long texts") as raised:
                make().embed_parts(PARTS)
            assert f"the {drops} of a text of 508 tokens changes nothing" in str(raised.value)
            assert "embedder_window" in str(raised.value)
        server.reads = None
        assert make().embed_parts(PARTS)

    def test_what_the_server_counts_shows_a_cut(
        self, make: Callable[..., BackedEmbedder], server: EmbeddingServer
    ) -> None:
        embedder = make()
        embedder.embed_parts(PARTS)
        server.reads = 40  # it was restarted with a smaller context
        long = " ".join(f"word{number}" for number in range(400))
        sent = len(server.texts)
        (found,) = embedder.embed_parts([(long,)])
        pieces = [text for text in server.texts[sent:] if len(text.split()) <= 100]
        assert {word for text in pieces for word in text.split()} == set(long.split())
        assert np.isfinite(found.part).all()

    def test_a_text_that_is_refused_as_too_long_is_embedded_in_pieces(
        self, make: Callable[..., BackedEmbedder], server: EmbeddingServer
    ) -> None:
        embedder = make()
        embedder.embed_parts(PARTS)
        server.refuses = 30
        long = " ".join(f"word{number}" for number in range(100))
        (found,) = embedder.embed_parts([(long, "A short one.")])
        assert np.isfinite(found.sentences).all()

    def test_another_dimension_is_refused(
        self, make: Callable[..., BackedEmbedder], server: EmbeddingServer
    ) -> None:
        server.dimension = 32
        with pytest.raises(ModelUnavailable, match="32 dimensions, expected 48"):
            make().embed_queries(["x"])

    def test_a_dimension_that_changes_between_calls(
        self, make: Callable[..., BackedEmbedder], server: EmbeddingServer
    ) -> None:
        embedder = make()
        embedder.embed_parts(PARTS)
        server.dimension = 64
        with pytest.raises(ModelUnavailable, match="64 dimensions, expected 48"):
            embedder.embed_parts([("A new text.",)])

    @pytest.mark.parametrize("most", [0, 1, 3])
    def test_too_few_vectors_are_refused(
        self, make: Callable[..., BackedEmbedder], server: EmbeddingServer, most: int
    ) -> None:
        server.most = most
        with pytest.raises(ModelUnavailable, match=f"{most} vectors for 4 texts"):
            make().embed_queries(["x"])

    def test_texts_that_are_mixed_up_in_a_batch(
        self, make: Callable[..., BackedEmbedder], server: EmbeddingServer
    ) -> None:
        server.lies = True
        with pytest.raises(ModelUnavailable, match="mixes up the texts of a batch"):
            make().embed_queries(["x"])

    @pytest.mark.parametrize("status", [429, 502, 503, 504])
    def test_a_busy_server_is_asked_again_later(
        self,
        make: Callable[..., BackedEmbedder],
        server: EmbeddingServer,
        pauses: list[float],
        status: int,
    ) -> None:
        server.busy, server.busy_status = 3, status
        assert len(make().embed_parts(PARTS)) == 3
        assert pauses == [0.5, 1.0, 2.0]

    def test_a_server_says_how_long_it_wants_to_be_left_alone(
        self, make: Callable[..., BackedEmbedder], server: EmbeddingServer, pauses: list[float]
    ) -> None:
        server.busy, server.busy_status, server.retry_after = 2, 429, "7"
        make().embed_parts(PARTS)
        assert pauses == [7.0, 7.0]

    def test_a_server_that_stays_busy(
        self, make: Callable[..., BackedEmbedder], server: EmbeddingServer, pauses: list[float]
    ) -> None:
        server.busy = 99
        with pytest.raises(ModelUnavailable, match="answered 503: busy"):
            make().embed_parts(PARTS)
        assert pauses == [0.5, 1.0, 2.0, 4.0]
        pauses.clear()
        with pytest.raises(ModelUnavailable, match="answered 503: busy"):
            make().embed_queries(["x"])
        assert pauses == [0.5], "a question does not wait long"

    def test_a_server_that_restarts(
        self, make: Callable[..., BackedEmbedder], server: EmbeddingServer, pauses: list[float]
    ) -> None:
        embedder = make()
        embedder.embed_parts(PARTS)
        server.resets = 2
        assert embedder.embed_parts([("A new text.",)])
        assert pauses == [0.5, 1.0]

    def test_a_server_that_is_not_there(self, make: Callable[..., BackedEmbedder]) -> None:
        with pytest.raises(ModelUnavailable, match=r"cannot be reached.*embedder_url"):
            make(url="http://127.0.0.1:9").embed_queries(["x"])

    def test_a_slow_batch_is_made_smaller(
        self, make: Callable[..., BackedEmbedder], server: EmbeddingServer
    ) -> None:
        embedder = make()
        embedder.embed_parts(PARTS)
        embedder.encoder._seconds = 0.25
        server.wait = 0.06
        assert len(embedder.embed_parts([(f"Text {number}.",) for number in range(6)])) == 6

    def test_a_server_that_never_answers(
        self, make: Callable[..., BackedEmbedder], server: EmbeddingServer
    ) -> None:
        server.wait = 2.0
        with pytest.raises(ModelUnavailable, match=r"took more than 0.1 s .setting embedder_sec"):
            make(seconds=0.1).embed_queries(["x"])

    def test_a_model_that_is_missing(self, make: Callable[..., BackedEmbedder]) -> None:
        with pytest.raises(ModelUnavailable, match="does not have the model") as raised:
            make(model="other-model").embed_queries(["x"])
        assert "other-model" in str(raised.value)

    @pytest.mark.parametrize(
        "answer", [b"", b"<html>", b"[]", b"{}", b'{"embeddings": 3, "data": 3}', b"null"]
    )
    def test_an_answer_that_is_none(
        self, make: Callable[..., BackedEmbedder], server: EmbeddingServer, answer: bytes
    ) -> None:
        server.answer = answer
        with pytest.raises(ModelUnavailable, match="cannot be understood"):
            make().embed_queries(["x"])

    def test_vectors_of_different_lengths_in_one_answer(
        self, make: Callable[..., BackedEmbedder], server: EmbeddingServer
    ) -> None:
        rows = [[1.0] * DIMENSION, [1.0] * 3, [1.0] * DIMENSION, [1.0] * DIMENSION]
        server.answer = json.dumps(
            {"embeddings": rows, "data": [{"embedding": row} for row in rows]}
        ).encode()
        with pytest.raises(ModelUnavailable, match="3, 48"):
            make().embed_queries(["x"])

    @pytest.mark.parametrize("host", ["example.org", "10.0.0.7", "localhost.example.org"])
    def test_a_server_elsewhere_is_refused_until_it_is_named(
        self, make: Callable[..., BackedEmbedder], host: str, server: EmbeddingServer
    ) -> None:
        with pytest.raises(ModelUnavailable, match="allowed_servers") as raised:
            make(url=f"http://{host}:1").embed_queries(["private words"])
        assert repr(host) in str(raised.value)
        assert not server.requests

    def test_a_server_elsewhere_that_is_named_is_asked(
        self, make: Callable[..., BackedEmbedder]
    ) -> None:
        with pytest.raises(ModelError) as raised:
            make(url="http://emily.invalid:1", allowed=("EMILY.invalid",)).embed_queries(["x"])
        assert "allowed_servers" not in str(raised.value)

    def test_a_key_is_sent_as_a_bearer_token(
        self, make: Callable[..., BackedEmbedder], server: EmbeddingServer
    ) -> None:
        make(key="k").embed_queries(["x"])
        assert server.requests[0][1]["Authorization"] == "Bearer k"
        make().embed_queries(["x"])
        assert "Authorization" not in server.requests[-1][1]

    def test_no_proxy_is_asked(
        self, make: Callable[..., BackedEmbedder], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, "http://127.0.0.1:9")
        assert len(make().embed_queries(["x"])) == 1

    def test_it_asks_at_its_own_path(
        self, make: Callable[..., BackedEmbedder], server: EmbeddingServer
    ) -> None:
        make().embed_queries(["x"])
        assert {path for path, _, _ in server.requests} == {self.path}

    def test_examining_tells_what_was_seen(self, make: Callable[..., BackedEmbedder]) -> None:
        said = make().examine()
        assert "golden pair" in said
        assert "it does not cross languages" in said, "hashed words know no other language"
        assert "reads texts of 508 tokens to their end" in said

    def test_a_model_of_anything_else_fails_its_golden_pair(
        self, make: Callable[..., BackedEmbedder], server: EmbeddingServer
    ) -> None:
        server.answer = json.dumps(
            {
                "embeddings": [[1.0] * DIMENSION] * 4,
                "data": [{"embedding": [1.0] * DIMENSION}] * 4,
            }
        ).encode()
        with pytest.raises(ModelUnavailable, match=r"golden pair|vectors for 1 texts"):
            make().embed_queries(["x"])
