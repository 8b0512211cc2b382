"""What every chat backend keeps to, and a server on loopback that misbehaves as it is told."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from emily.errors import AnswerError, ModelError, ModelUnavailable
from emily.models import ChatModel

SYSTEM = "You are terse."


@dataclass
class Reply:
    """How a server answers one request.

    Attributes:
        text: of the answer; an iterator of pieces may never end.
        status: of the response; other than 200, ``text`` is its error.
        wait: seconds before it answers.
        cut: whether it says that its cap cut it off.
        read: tokens that it says it read; ``None`` for as many as there are words.
        wrote: tokens that it says it wrote.
        vanish: whether it goes away before the end.
        raw: sent instead of the text, as it is.
    """

    text: str | Iterator[str] = "Ten euro."
    status: int = 200
    wait: float = 0.0
    cut: bool = False
    read: int | None = None
    wrote: int = 5
    vanish: bool = False
    raw: str | None = None


class ChatServer:
    """Speaks as Ollama does (``/api/chat``) and as OpenAI does (``/v1/chat/completions``).

    Attributes:
        url: its address.
        reply: gives the answer to a request's system prompt, prompt and number, from 1.
        requests: path, headers and body of each request to chat.
    """

    def __init__(
        self, reply: Callable[[str, str, int], Reply | str] | None = None, port: int = 0
    ) -> None:
        self.reply = reply or (lambda *_: Reply())
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        self.models = ["terse:1b"]
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                known: dict[str, Any] = {
                    "/api/version": {"version": "0.23.0"},
                    "/api/tags": {"models": [{"name": name} for name in outer.models]},
                    "/v1/models": {"data": [{"id": name} for name in outer.models]},
                }
                self.send_response(200 if self.path in known else 404)
                self.end_headers()
                self.wfile.write(json.dumps(known.get(self.path, {})).encode())

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append((self.path, dict(self.headers), body))
                system, prompt = (item["content"] for item in body["messages"])
                given = outer.reply(system, prompt, len(outer.requests))
                reply = Reply(given) if isinstance(given, str) else given
                time.sleep(reply.wait)
                self.send_response(reply.status)
                self.end_headers()
                with suppress(BrokenPipeError, ConnectionResetError):  # the client had enough
                    self._answer(reply, system + prompt)

            def _answer(self, reply: Reply, asked: str) -> None:
                if reply.status != 200:
                    self.wfile.write(json.dumps({"error": str(reply.text)}).encode())
                    return
                if reply.raw is not None:
                    self.wfile.write(reply.raw.encode() + b"\n")
                    return
                pieces = [reply.text] if isinstance(reply.text, str) else reply.text
                ollama = self.path == "/api/chat"
                for piece in pieces:
                    self._line(
                        {"message": {"content": piece}, "done": False}
                        if ollama
                        else {"choices": [{"delta": {"content": piece}}]},
                        ollama,
                    )
                if reply.vanish:
                    return
                read = len(asked.split()) * 2 if reply.read is None else reply.read
                reason = "length" if reply.cut else "stop"
                if ollama:
                    end = {"done": True, "done_reason": reason, "message": {"content": ""}}
                    counts = {"prompt_eval_count": read, "eval_count": reply.wrote}
                    self._line({**end, **counts}, ollama)
                else:
                    self._line({"choices": [{"delta": {}, "finish_reason": reason}]}, ollama)
                    usage = {"prompt_tokens": read, "completion_tokens": reply.wrote}
                    self._line({"choices": [], "usage": usage}, ollama)
                    self.wfile.write(b"data: [DONE]\n\n")

            def _line(self, message: dict[str, Any], ollama: bool) -> None:
                head, tail = ("", "\n") if ollama else ("data: ", "\n\n")
                self.wfile.write((head + json.dumps(message) + tail).encode())

            def log_message(self, *_: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            request_queue_size = 128  # a connection that finds no place waits for a second

        self._server = Server(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    @property
    def prompts(self) -> list[str]:
        """What was asked, without the system prompt."""
        return [body["messages"][1]["content"] for _, _, body in self.requests]

    @contextmanager
    def running(self) -> Iterator[ChatServer]:
        thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()


class ChatContract:
    path = ""

    def make(self, url: str, **values: Any) -> ChatModel:
        """The backend; ``values`` are ``seconds``, ``allowed``, ``key``, ``context``, ``model``."""
        raise NotImplementedError

    def tokens_of(self, body: Any) -> int:
        """The longest answer that a request allows."""
        raise NotImplementedError

    def schema_of(self, body: Any) -> Any:
        """The schema that a request asks for."""
        raise NotImplementedError

    @pytest.fixture
    def server(self) -> Iterator[ChatServer]:
        with ChatServer().running() as server:
            yield server

    def always(self, server: ChatServer, reply: Reply) -> None:
        server.reply = lambda *_: reply

    async def test_it_answers(self, server: ChatServer) -> None:
        model = self.make(server.url)
        self.always(server, Reply(iter(["Ten ", "euro."]), read=77, wrote=4))
        answer = await model.chat(SYSTEM, "How much?", tokens=55)
        assert (answer.text, answer.whole) == ("Ten euro.", True)
        assert (answer.prompt_tokens, answer.answer_tokens) == (77, 4)
        ((path, headers, body),) = server.requests
        assert path == self.path
        assert self.tokens_of(body) == 55
        assert body["model"] == "terse:1b"
        assert [item["role"] for item in body["messages"]] == ["system", "user"]
        assert body["messages"][0]["content"] == SYSTEM
        assert "Authorization" not in headers
        assert self.schema_of(body) is None
        assert server.url in model.name

    async def test_a_schema_is_asked_for(self, server: ChatServer) -> None:
        schema = {"type": "object", "properties": {"a": {"type": "string"}}}
        await self.make(server.url).chat(SYSTEM, "?", tokens=9, schema=schema)
        assert self.schema_of(server.requests[0][2]) == schema

    async def test_a_key_is_sent_as_a_bearer_token(self, server: ChatServer) -> None:
        await self.make(server.url, key="k").chat(SYSTEM, "?", tokens=9)
        assert server.requests[0][1]["Authorization"] == "Bearer k"

    async def test_one_that_is_cut_off_is_not_whole(self, server: ChatServer) -> None:
        self.always(server, Reply("Ten euro and", cut=True, wrote=3))
        assert not (await self.make(server.url).chat(SYSTEM, "?", tokens=100)).whole

    async def test_one_that_reaches_its_cap_is_not_whole_whatever_it_says(
        self, server: ChatServer
    ) -> None:
        self.always(server, Reply("Ten euro and", wrote=100))
        assert not (await self.make(server.url).chat(SYSTEM, "?", tokens=100)).whole

    @pytest.mark.parametrize(
        "text",
        [
            "<think>Hm.\nIs it ten?</think>\n\nTen.",
            "<THINK>Hm.</THINK>Ten.<think>or</think>",
            "Hm, is it ten?</think> Ten.",
        ],
    )
    async def test_thoughts_are_taken_out(self, server: ChatServer, text: str) -> None:
        self.always(server, Reply(text))
        assert (await self.make(server.url).chat(SYSTEM, "?", tokens=100)).text == "Ten."

    @pytest.mark.parametrize("text", ["", "  \n", "<think>I am still thinking about it"])
    async def test_an_empty_answer_is_none(self, server: ChatServer, text: str) -> None:
        self.always(server, Reply(text))
        with pytest.raises(AnswerError, match="answered nothing"):
            await self.make(server.url).chat(SYSTEM, "?", tokens=100)

    async def test_a_prompt_that_was_cut_in_silence_is_noticed(self, server: ChatServer) -> None:
        self.always(server, Reply(read=2048))
        with pytest.raises(AnswerError, match=r"read 2,048 tokens of a prompt of at least 4,003"):
            await self.make(server.url).chat(SYSTEM, "word " * 4000, tokens=100)

    async def test_one_that_repeats_itself_is_cut_off(self, server: ChatServer) -> None:
        def for_ever() -> Iterator[str]:
            while True:
                yield "and so on, "

        self.always(server, Reply(for_ever()))
        with pytest.raises(AnswerError, match="repeats itself without end"):
            await self.make(server.url).chat(SYSTEM, "?", tokens=1000)

    async def test_one_that_ignores_its_cap_is_cut_off(self, server: ChatServer) -> None:
        def for_ever() -> Iterator[str]:
            number = 0
            while True:
                number += 1
                yield f"{number} and "

        self.always(server, Reply(for_ever()))
        with pytest.raises(AnswerError, match="does not stop"):
            await self.make(server.url).chat(SYSTEM, "?", tokens=50)

    @pytest.mark.parametrize("status", [500, 503, 302, 404, 401])
    async def test_a_refusal_is_told(self, server: ChatServer, status: int) -> None:
        self.always(server, Reply("no such model", status=status))
        with pytest.raises(ModelUnavailable, match="no such model"):
            await self.make(server.url).chat(SYSTEM, "?", tokens=9)

    async def test_a_refused_prompt_is_no_reason_to_ask_again(self, server: ChatServer) -> None:
        self.always(server, Reply("too long", status=400))
        with pytest.raises(AnswerError, match="answered 400: too long"):
            await self.make(server.url).chat(SYSTEM, "?", tokens=9)

    async def test_one_that_hangs_is_not_waited_for(self, server: ChatServer) -> None:
        self.always(server, Reply(wait=3))
        with pytest.raises(ModelError, match=r"took more than 0.2 s \(setting chat_seconds\)"):
            await self.make(server.url, seconds=0.2).chat(SYSTEM, "?", tokens=9)

    async def test_one_that_goes_away_in_mid_answer(self, server: ChatServer) -> None:
        self.always(server, Reply("Ten eu", vanish=True))
        with pytest.raises(ModelUnavailable, match="went away in mid-answer"):
            await self.make(server.url).chat(SYSTEM, "?", tokens=9)

    async def test_one_that_is_not_there(self) -> None:
        with pytest.raises(ModelUnavailable, match=r"cannot be reached.*chat_url"):
            await self.make("http://127.0.0.1:9").chat(SYSTEM, "?", tokens=9)

    @pytest.mark.parametrize("raw", ["x", "[1]", '{"message": 5, "choices": 7}'])
    async def test_nonsense_is_told(self, server: ChatServer, raw: str) -> None:
        self.always(server, Reply(raw=raw))
        with pytest.raises(AnswerError, match="cannot be understood"):
            await self.make(server.url).chat(SYSTEM, "?", tokens=9)

    @pytest.mark.parametrize("raw", ['{"message": {"content": "Ten', 'data: {"choices": [{"del'])
    async def test_a_line_that_breaks_off_is_a_server_that_went_away(
        self, server: ChatServer, raw: str
    ) -> None:
        self.always(server, Reply(raw=raw))
        with pytest.raises(ModelUnavailable, match="went away in mid-answer"):
            await self.make(server.url).chat(SYSTEM, "?", tokens=9)

    async def test_an_error_within_the_answer(self, server: ChatServer) -> None:
        self.always(server, Reply(raw='{"error": "out of memory"}'))
        with pytest.raises(ModelUnavailable, match="out of memory"):
            await self.make(server.url).chat(SYSTEM, "?", tokens=9)

    @pytest.mark.parametrize("host", ["example.org", "10.0.0.7", "localhost.example.org"])
    async def test_a_server_elsewhere_is_refused_until_it_is_named(self, host: str) -> None:
        model = self.make(f"http://{host}:1", seconds=0.2)
        for ask in (model.chat(SYSTEM, "?", tokens=9), model.describe()):
            with pytest.raises(ModelUnavailable, match="allowed_servers") as caught:
                await ask
            assert repr(host) in str(caught.value)
        model = self.make(f"http://{host}:1", seconds=0.2, allowed=(host.upper(),))
        with pytest.raises(ModelError) as named:  # refused no longer, and not there
            await model.chat(SYSTEM, "?", tokens=9)
        assert "allowed_servers" not in str(named.value)

    async def test_no_proxy_is_asked(
        self, server: ChatServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, "http://127.0.0.1:9")
        assert (await self.make(server.url).chat(SYSTEM, "?", tokens=9)).text

    async def test_it_says_what_it_is(self, server: ChatServer) -> None:
        assert "8,192" in await self.make(server.url).describe()
        with pytest.raises(ModelUnavailable, match=r"other:2b.*(terse:1b|ollama pull)"):
            await self.make(server.url, model="other:2b").describe()
