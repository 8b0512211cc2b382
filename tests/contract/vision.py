"""What every vision backend keeps to. A backend's test subclasses this and says how it speaks."""

from __future__ import annotations

import base64
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from emily.errors import ModelError, ModelUnavailable
from emily.models import VisionModel
from emily.models.untrusted import READING_RULE

PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(range(256))


class Server:
    """A server on loopback that answers as it is told, and keeps what it was asked.

    Attributes:
        url: its address.
        pieces: of the answer; an iterator may never end.
        end: the line that the answer ends with; "" where it breaks off.
        status: of the response.
        wait: seconds before it answers.
        requests: path, headers and body of each request.
    """

    def __init__(self, line: Callable[[str], str], end: str = "") -> None:
        self.end = end
        self.pieces: Iterator[str] | list[str] = ["Total ", "12 euro"]
        self.status = 200
        self.wait = 0.0
        self.sent = 0
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                size = int(self.headers["Content-Length"])
                body = json.loads(self.rfile.read(size))
                outer.requests.append((self.path, dict(self.headers), body))
                time.sleep(outer.wait)
                self.send_response(outer.status)
                self.end_headers()
                try:
                    for piece in outer.pieces:
                        self.wfile.write(line(piece).encode() + b"\n")
                        outer.sent += 1
                    self.wfile.write(outer.end.encode() + b"\n")
                except (BrokenPipeError, ConnectionResetError):
                    pass  # the client had enough

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    @contextmanager
    def running(self) -> Iterator[Server]:
        thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()


class VisionContract:
    path = ""

    def line(self, piece: str) -> str:
        """A piece of an answer as a line of the response."""
        raise NotImplementedError

    def ended(self, reason: str) -> str:
        """The line that an answer ends with; ``reason`` is ``stop`` or ``length``."""
        raise NotImplementedError

    def make(self, url: str, **values: Any) -> VisionModel:
        """The backend; ``values`` are ``seconds``, ``tokens``, ``allowed``, ``key``."""
        raise NotImplementedError

    def image_of(self, body: Any) -> bytes:
        """The picture in a request."""
        raise NotImplementedError

    def prompt_of(self, body: Any) -> str:
        """All text of a request, in order, the picture as ``<PICTURE>``."""
        raise NotImplementedError

    def tokens_of(self, body: Any) -> int:
        """The longest answer that a request allows."""
        raise NotImplementedError

    @pytest.fixture
    def server(self) -> Iterator[Server]:
        with Server(self.line, self.ended("stop")).running() as server:
            yield server

    async def test_it_reads_a_picture(self, server: Server) -> None:
        model = self.make(server.url, seconds=10, tokens=777)
        assert await model.read(PICTURE) == "Total 12 euro"
        ((path, headers, body),) = server.requests
        assert path == self.path
        assert self.image_of(body) == PICTURE
        assert self.tokens_of(body) == 777
        assert "Authorization" not in headers
        assert server.url in model.name

    async def test_the_picture_stands_inside_the_wrapper(self, server: Server) -> None:
        model = self.make(server.url, seconds=10, tokens=100)
        for _ in range(2):
            await model.read(PICTURE)
        marks = []
        for _, _, body in server.requests:
            prompt = self.prompt_of(body)
            match = re.search(
                re.escape(READING_RULE)
                + r'\s+<external_content mark="(\w+)">\s+.*\s+</external_content mark="\1">',
                prompt,
                re.DOTALL,
            )
            assert match, prompt
            marks.append(match[1])
        assert marks[0] != marks[1]

    async def test_a_key_is_sent_as_a_bearer_token(self, server: Server) -> None:
        await self.make(server.url, seconds=10, tokens=100, key="k").read(PICTURE)
        assert server.requests[0][1]["Authorization"] == "Bearer k"

    async def test_an_answer_that_repeats_itself_is_cut_off(self, server: Server) -> None:
        def for_ever() -> Iterator[str]:
            while True:
                yield "and so on, "

        server.pieces = for_ever()
        model = self.make(server.url, seconds=60, tokens=100)
        with pytest.raises(ModelError, match="repeats itself without end"):
            await model.read(PICTURE)

    async def test_an_answer_that_is_cut_is_refused(self, server: Server) -> None:
        model = self.make(server.url, seconds=10, tokens=1_234)
        loop = [f"{n}. The quick brown fox jumps over the dog.\n" for n in range(90)]
        for pieces in (["Row 1 of the table"], [], loop):
            server.pieces, server.end = pieces, self.ended("length")
            with pytest.raises(ModelError, match=r"cut at 1,234 tokens \(setting vision_tokens\)"):
                await model.read(PICTURE)

    async def test_an_answer_that_breaks_off_is_refused(self, server: Server) -> None:
        model = self.make(server.url, seconds=10, tokens=100)
        for pieces in (["Row 1 of the table"], [], ["one ", "two "]):
            server.pieces, server.end = pieces, ""
            with pytest.raises(ModelError, match="broke off"):
                await model.read(PICTURE)

    @pytest.mark.parametrize("status", [404, 500, 302])
    async def test_a_refusal_is_told(self, server: Server, status: int) -> None:
        server.status, server.pieces = status, ["model not found"]
        model = self.make(server.url, seconds=10, tokens=100)
        with pytest.raises(ModelUnavailable, match=f"answered {status}"):
            await model.read(PICTURE)

    async def test_a_server_that_is_slow_is_not_waited_for(self, server: Server) -> None:
        server.wait = 5
        with pytest.raises(ModelError, match=r"took more than 0.2 s \(setting vision_seconds\)"):
            await self.make(server.url, seconds=0.2, tokens=100).read(PICTURE)

    async def test_a_server_that_is_not_there(self, server: Server) -> None:
        with pytest.raises(ModelUnavailable, match="cannot be reached"):
            await self.make("http://127.0.0.1:9", seconds=10, tokens=100).read(PICTURE)

    async def test_an_answer_that_is_no_answer(self, server: Server) -> None:
        server.pieces = ["x"]
        model = self.make(server.url, seconds=10, tokens=100)
        type(self).broken = True
        try:
            with pytest.raises(ModelError, match="cannot be understood"):
                await model.read(PICTURE)
        finally:
            type(self).broken = False

    broken = False

    @pytest.mark.parametrize(
        "host", ["example.org", "10.0.0.7", "localhost.example.org", "127.0.0.1.example.org"]
    )
    async def test_a_server_elsewhere_is_refused_until_it_is_named(self, host: str) -> None:
        model = self.make(f"http://{host}:1", seconds=0.2, tokens=100)
        with pytest.raises(ModelUnavailable, match=r"allowed_servers") as caught:
            await model.read(PICTURE)
        assert repr(host) in str(caught.value)
        model = self.make(f"http://{host}:1", seconds=0.2, tokens=100, allowed=(host.upper(),))
        with pytest.raises(ModelError) as caught:  # refused no longer, and not there
            await model.read(PICTURE)
        assert "allowed_servers" not in str(caught.value)

    async def test_no_proxy_is_asked(self, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, "http://127.0.0.1:9")
        assert await self.make(server.url, seconds=10, tokens=100).read(PICTURE)


def decoded(data: str) -> bytes:
    """A picture as it stands in a request, base64."""
    return base64.b64decode(data.rpartition(",")[2], validate=True)
