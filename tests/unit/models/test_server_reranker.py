"""Rerankers behind HTTP, against a server on loopback that misbehaves in each known way."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from tests.contract.reranker import QUESTION, RerankerContract, probabilities
from tests.fakes import shared_words

from emily.errors import ModelError, ModelUnavailable
from emily.models.rerankers.golden import GOLDEN, PASSAGES
from emily.models.rerankers.server import ServerReranker

Rows = list[dict[str, Any]]


class Server:
    """Scores by shared words.

    Attributes:
        spoil: changes its rows before they are sent; golden questions stay as they are.
        content: sent instead of JSON.
        status, wait: of the response.
        raw: whether its scores are logits.
        most: texts that it takes at once.
        requests: path, headers and body of each request but those of the golden pairs.
    """

    def __init__(self) -> None:
        self.spoil: Callable[[Rows], Rows] = lambda rows: rows
        self.spoil_golden = False
        self.content: bytes | None = None
        self.status = 200
        self.wait = 0.0
        self.raw = False
        self.most = 1000
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        self.golden = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                golden = body["query"] in {probe.question for probe in GOLDEN} and (
                    list(outer.texts(body)) == list(PASSAGES)
                )
                outer.golden += golden
                if not golden:
                    outer.requests.append((self.path, dict(self.headers), body))
                status, content = outer.answer(body, golden and not outer.spoil_golden)
                try:
                    self.send_response(status)
                    if status == 302:
                        self.send_header("Location", "http://127.0.0.1:9/")
                    self.send_header("Content-Length", str(len(content)))
                    self.end_headers()
                    self.wfile.write(content)
                except (BrokenPipeError, ConnectionResetError):
                    pass

            def log_message(self, *_: object) -> None: ...

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}"

    @staticmethod
    def texts(body: Any) -> list[str]:
        return body["texts"] if "texts" in body else body["documents"]

    def answer(self, body: Any, well: bool) -> tuple[int, bytes]:
        texts = self.texts(body)
        if len(texts) > self.most:
            return 413, b"too many texts"
        scores = [shared_words(body["query"], text) for text in texts]
        if self.raw:
            scores = [8 * score - 4 for score in scores]
        name = "score" if "texts" in body else "relevance_score"
        rows: Rows = [{"index": place, name: score} for place, score in enumerate(scores)]
        rows.sort(key=lambda row: -row[name])
        if not well:
            time.sleep(self.wait)
            if self.content is not None or self.status != 200:
                return self.status, self.content or b"out of memory"
            rows = self.spoil(rows)
        return 200, json.dumps(rows if "texts" in body else {"results": rows}).encode()


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    thread = threading.Thread(target=made.http.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.http.shutdown()
        made.http.server_close()
        thread.join()


def connect(server: Server | str, api: Any = "tei", **values: Any) -> ServerReranker:
    url = server if isinstance(server, str) else server.url
    return ServerReranker(url, api=api, **{"tokens": 512, "seconds": 20, **values})


class TestTei(RerankerContract):
    @pytest.fixture
    def reranker(self, server: Server) -> ServerReranker:
        return connect(server)


class TestJina(RerankerContract):
    @pytest.fixture
    def reranker(self, server: Server) -> ServerReranker:
        return connect(server.url + "/v1", "jina", model="reranker-m0")


async def test_what_text_embeddings_inference_is_asked(server: Server) -> None:
    found = await connect(server, key="k").rank("warm house", ["warm", "cold", "warm house"])
    assert found.order == (2, 0, 1)
    assert found.probabilities == (0.5, 0.0, 1.0)
    ((path, headers, body),) = server.requests
    assert path == "/rerank"
    assert headers["Authorization"] == "Bearer k"
    assert body == {
        "query": "warm house",
        "texts": ["warm", "cold", "warm house"],
        "raw_scores": False,
        "return_text": False,
        "truncate": False,
    }


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v1/rerank"])
async def test_what_jina_is_asked(server: Server, path: str) -> None:
    reranker = connect(server.url + path, "jina", model="reranker-m0")
    found = await reranker.rank("warm house", ["warm", "cold"])
    assert found.probabilities == (0.5, 0.0)
    ((asked, headers, body),) = server.requests
    assert asked == "/v1/rerank"
    assert "Authorization" not in headers
    assert body == {
        "model": "reranker-m0",
        "query": "warm house",
        "documents": ["warm", "cold"],
        "top_n": 2,
        "return_documents": False,
    }


@pytest.mark.parametrize("api", ["tei", "jina"])
async def test_raw_scores_become_probabilities_by_the_logistic(server: Server, api: Any) -> None:
    server.raw = True
    found = probabilities(await connect(server, api, scale="raw").rank("a b", ["a", "c", "a b"]))
    expected = [1 / (1 + math.exp(-logit)) for logit in (0, -4, 4)]
    assert found == pytest.approx(expected, abs=1e-9)
    if api == "tei":
        assert server.requests[0][2]["raw_scores"] is True


async def test_a_probability_is_not_put_through_the_logistic_again(server: Server) -> None:
    assert (await connect(server).rank("a b", ["a b"])).probabilities == (1.0,)


async def test_many_passages_go_in_several_requests(server: Server) -> None:
    server.most = 32
    texts = [f"word{place} warm" for place in range(70)]
    found = await connect(server).rank("warm word69", texts)
    assert found.order[0] == 69
    assert [len(body["texts"]) for _, _, body in server.requests] == [32, 32, 6]


async def test_positions_alone_are_an_order_without_probabilities(server: Server) -> None:
    server.spoil = lambda rows: [{"index": row["index"]} for row in rows]
    server.spoil_golden = True
    found = await connect(server).rank("warm house", ["warm", "cold", "warm house"])
    assert found.order == (2, 0, 1)
    assert found.probabilities is None


async def test_positions_in_the_wrong_order_fail_the_golden_pairs(server: Server) -> None:
    server.spoil = lambda rows: [{"index": place} for place in range(len(rows))]
    server.spoil_golden = True
    with pytest.raises(ModelUnavailable, match="cannot tell an answer from another subject"):
        await connect(server).rank("warm house", ["warm"])


async def test_positions_of_parts_cannot_be_joined(server: Server) -> None:
    server.spoil = lambda rows: [{"index": row["index"]} for row in rows]
    with pytest.raises(ModelError, match="set reranker_candidates to 32"):
        await connect(server).rank("warm", ["warm"] * 40)


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda rows: rows[:-1], r"answered for the passages \[2, 0\]; it was given 3"),
        (lambda rows: [*rows[:2], rows[0]], r"passages \[2, 0, 2\]; it was given 3"),
        (lambda rows: [*rows, {"index": 3, "score": 0.1}], r"\[2, 0, 1, 3\]; it was given 3"),
        (lambda rows: [{**row, "index": row["index"] - 1} for row in rows], "it was given 3"),
        (lambda rows: [{**row, "score": math.nan} for row in rows], "gave nan as a score"),
        (lambda rows: [{**row, "score": math.inf} for row in rows], "gave inf as a score"),
        (lambda rows: [{**row, "score": 7.5} for row in rows], 'set reranker_scores = "raw"'),
        (lambda rows: [{**row, "score": -3} for row in rows], "gave -3 as a probability"),
        (lambda rows: [{**row, "score": "0.4"} for row in rows], "TypeError: score '0.4'"),
        (lambda rows: [{**row, "score": True} for row in rows], "TypeError: score True"),
        (lambda rows: [{**row, "index": "1"} for row in rows], "TypeError: index '1'"),
        (lambda rows: [rows[0], {"index": 0}, {"index": 1}], "gave 1 scores for 3 passages"),
        (lambda rows: ["no", "rows", "here"], "cannot be understood: TypeError"),
    ],
)
async def test_an_answer_that_cannot_be_believed_is_refused(
    server: Server, spoil: Callable[[Rows], Rows], sentence: str
) -> None:
    server.spoil = spoil
    with pytest.raises(ModelError, match=sentence):
        await connect(server).rank("warm house", ["warm", "cold", "warm house"])


@pytest.mark.parametrize(
    "content", [b'[{"index": 0, "sco', b"", b"null", b"<html>", b'{"error": "x"}', b"\xff", b"[1]"]
)
async def test_an_answer_that_is_no_answer_is_refused(server: Server, content: bytes) -> None:
    server.content = content
    with pytest.raises(ModelError, match=r"cannot be understood|answered for the passages"):
        await connect(server).rank("warm", ["warm"])


async def test_an_answer_without_end_is_cut_off(server: Server) -> None:
    server.content = b"[" * (5 << 20)
    with pytest.raises(ModelError, match="answered more than 4 MiB"):
        await connect(server).rank("warm", ["warm"])


@pytest.mark.parametrize("status", [302, 401, 404, 413, 429, 500, 503])
async def test_a_refusal_is_told_without_the_key(server: Server, status: int) -> None:
    server.status, server.content = status, b"key s3cret is wrong"
    with pytest.raises(ModelUnavailable, match=f"answered {status}: key … is wrong"):
        await connect(server, key="s3cret").rank("warm", ["warm"])


async def test_a_slow_server_is_not_waited_for(server: Server) -> None:
    server.wait = 5
    reranker = connect(server)
    await reranker.prepare()
    reranker._seconds = 0.2
    with pytest.raises(ModelError, match=r"took more than 0.2 s \(setting reranker_seconds\)"):
        await reranker.rank("warm", ["warm"])


async def test_a_server_that_is_not_there() -> None:
    with pytest.raises(ModelUnavailable, match=r"at http://127.0.0.1:9 cannot be reached"):
        await connect("http://owner:s3cret@127.0.0.1:9").prepare()


async def test_one_score_for_everything_is_refused_at_the_first_question(server: Server) -> None:
    server.spoil = lambda rows: [{**row, "score": 0.998} for row in rows]
    server.spoil_golden = True
    with pytest.raises(ModelUnavailable, match=r"gives 0.998 to the passage .* and 0.998 to one"):
        await connect(server).rank("warm", ["warm"])
    assert not server.requests, "it was asked the owner's question before the golden ones"


async def test_the_golden_questions_are_put_once_and_again_after_a_failure(server: Server) -> None:
    reranker = connect(server)
    for _ in range(2):
        await reranker.rank("warm", ["warm"])
    assert server.golden == len(GOLDEN)
    server.status = 500
    with pytest.raises(ModelUnavailable):
        await reranker.rank("warm", ["warm"])
    server.status = 200
    await reranker.rank("warm", ["warm"])
    assert server.golden == 2 * len(GOLDEN)


@pytest.mark.parametrize("host", ["example.org", "10.0.0.7", "localhost.example.org"])
async def test_a_server_elsewhere_is_refused_until_it_is_named(host: str) -> None:
    with pytest.raises(ModelUnavailable, match=r"reranker_url\) is not on this machine") as caught:
        await connect(f"http://{host}:1").rank(QUESTION, ["text"])
    assert f'allowed_servers = ["{host}"]' in str(caught.value)
    with pytest.raises(ModelError) as caught:  # refused no longer, and not there
        await connect(f"http://{host}:1", seconds=0.3, allowed=(host,)).rank(QUESTION, ["text"])
    assert "allowed_servers" not in str(caught.value)


async def test_no_proxy_is_asked(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert (await connect(server).rank("warm", ["warm"])).order == (0,)
