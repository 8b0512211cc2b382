"""What servers of models elsewhere are sent: written down, and nothing of what is private."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from PIL import Image, ImageDraw
from tests.fakes import bundled_embedder
from tests.integration.brain.conftest import OpenBrain

from emily.brain import Brain
from emily.errors import EmilyError, ModelUnavailable
from emily.indexing.discretion import lies_in
from emily.models import servers
from emily.models.servers import Sending, admit, confidential, is_elsewhere, telling

Write = Callable[[str, str], Path]


class Sent:
    """A server of rerankings and embeddings; ``bodies`` is all that it was sent."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.look: Callable[[], Any] = lambda: None
        self.seen: list[Any] = []
        kept = self.bodies
        made = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
                kept.append(body)
                made.seen.append(made.look())
                if "texts" in body:
                    asked = set(body["query"].lower().split())
                    scores = [len(asked & set(text.lower().split())) for text in body["texts"]]
                    answer: Any = [
                        {"index": index, "score": 0.05 + 0.9 * score / (1 + max(scores))}
                        for index, score in enumerate(scores)
                    ]
                elif "messages" in body:
                    answer = {}
                else:
                    rows = body["input"] if isinstance(body["input"], list) else [body["input"]]
                    answer = {
                        "data": [
                            {"index": index, "embedding": vector.tolist()}
                            for index, vector in enumerate(bundled_embedder().embed_queries(rows))
                        ]
                    }
                content = json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: Any) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    @contextmanager
    def serving(self) -> Iterator[str]:
        thread = Thread(target=self.server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{self.server.server_port}"
        finally:
            self.server.shutdown()
            self.server.server_close()
            thread.join()


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Sent, str]]:
    """A server that counts as one elsewhere, with the owner's consent."""
    monkeypatch.setattr(servers, "is_loopback", lambda host: host == "localhost")
    made = Sent()
    with made.serving() as url:
        yield made, url


async def entries(brain: Brain) -> list[Any]:
    return list(await brain.assistant.egress.entries(limit=500))


@pytest.fixture
async def told_of() -> AsyncIterator[list[Sending]]:
    found: list[Sending] = []
    with telling(found.append):
        yield found


async def test_a_reranker_elsewhere_is_told_of_and_gets_nothing_private(
    open_brain: OpenBrain, write: Write, sent: tuple[Sent, str]
) -> None:
    server, url = sent
    brain = await open_brain(
        reranker="http", reranker_url=url, allowed_servers=["127.0.0.1"], threshold=0.001
    )
    await brain.add(
        [
            write("flat.txt", "The rent of the flat is 900 euros."),
            write("secret.txt", "The rent of the secret flat is 4711 euros."),
        ]
    )
    await brain.assistant.private.mark("secret.txt")
    async with brain.assistant.telling_of_servers():
        answer = await brain.search("rent of the flat")
    given = json.dumps(server.bodies)
    assert "900 euros" in given
    assert "4711" not in given
    assert {item.document.name for item in answer.results} == {"flat.txt", "secret.txt"}
    assert any("private and were not sent" in notice for notice in answer.notices)
    entry, *golden = await entries(brain)
    assert len(golden) + 1 == len(server.bodies), "each call, those of its own test too"
    assert (entry.role, entry.client, entry.local) == ("reranking", "127.0.0.1", False)
    assert entry.characters >= len("rent of the flat") + len("The rent of the flat is 900 euros.")


async def test_a_call_stands_in_the_ledger_before_it_leaves(
    open_brain: OpenBrain, write: Write, sent: tuple[Sent, str], rows: Callable[..., Any]
) -> None:
    server, url = sent
    brain = await open_brain(
        reranker="http", reranker_url=url, allowed_servers=["127.0.0.1"], threshold=0.001
    )
    await brain.add([write("flat.txt", "The rent of the flat is 900 euros.")])
    server.look = lambda: rows("SELECT count(*) FROM egress")[0][0]
    async with brain.assistant.telling_of_servers():
        await brain.search("rent of the flat")
        await brain.search("rent of the cellar")
        calls = len(server.bodies)
        assert server.seen == [*range(1, calls + 1)], "written down when the server is asked"
        # The server of the database was started anew in between: another connection.
        rows("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
             " WHERE query LIKE 'INSERT INTO egress%%'")  # fmt: skip
        await brain.search("rent of the attic")
        assert server.seen == [*range(1, calls + 2)]
        # Where it cannot be written down, nothing leaves.
        rows("ALTER TABLE egress ADD CONSTRAINT no_more CHECK (false) NOT VALID")
        answer = await brain.search("rent of the garage")
    assert len(server.bodies) == calls + 1
    assert "garage" not in json.dumps(server.bodies)
    assert any("not sent" in notice for notice in answer.notices)


async def test_an_embedder_elsewhere_gets_nothing_private(
    open_brain: OpenBrain, write: Write, sent: tuple[Sent, str]
) -> None:
    from emily.models.choosing import embedder_of
    from emily.settings import load_settings

    server, url = sent
    plain = await open_brain()
    embedder = embedder_of(
        load_settings(
            plain.settings.home,
            embedder="openai",
            embedder_url=url,
            embedder_model="some",
            embedder_dimension=bundled_embedder().identity.dimension,
            allowed_servers=["127.0.0.1"],
        )
    )
    brain = await open_brain(embedder)
    await brain.assistant.private.mark(write("health/x.txt", "x").parent)
    async with brain.assistant.telling_of_servers():
        report = await brain.add(
            [
                write("flat.txt", "The rent of the flat is 900 euros."),
                write("health/blood.txt", "The iron was at 4711 in June."),
            ]
        )
    by_name = {item.path.name: item for item in report.files}
    assert by_name["flat.txt"].outcome == "added"
    assert by_name["blood.txt"].outcome == "failed"
    assert "is private, and nothing of it is sent to '127.0.0.1'" in str(
        by_name["blood.txt"].reason
    )
    given = json.dumps(server.bodies)
    assert "900 euros" in given
    assert "4711" not in given
    assert {entry.role for entry in await entries(brain)} == {"embedding"}


async def test_models_that_see_and_write_elsewhere_get_nothing_private(
    open_brain: OpenBrain, write: Write, sent: tuple[Sent, str]
) -> None:
    server, url = sent
    there = {"allowed_servers": ["127.0.0.1"]}
    brain = await open_brain(
        vision="openai", vision_url=url, chat="openai", chat_url=url, ocr=False, **there
    )
    secret = write("health/x.txt", "x").parent
    await brain.assistant.private.mark(secret)
    for path, colour in ((secret.parent / "shown.png", 90), (secret / "kept.png", 200)):
        image = Image.new("RGB", (400, 300), (colour, 10, 10))
        ImageDraw.Draw(image).text((20, 20), path.stem)
        image.save(path)
    texts = [
        write("flat.txt", "The rent of the flat is 900 euros. " * 40),
        write("health/blood.txt", "The iron was at 4711 in June. " * 40),
    ]
    async with brain.assistant.telling_of_servers():
        await brain.add([secret.parent / "shown.png", secret / "kept.png"])
        pictures, server.bodies[:] = [json.dumps(body) for body in server.bodies], []
        await brain.add(texts)
        for item in await brain.list():
            if item.name in ("flat.txt", "blood.txt"):
                with suppress(EmilyError):  # the server answers what no chat model does
                    await brain.analysis.analyse(item.id)
    assert len(pictures) == 1, "the other picture is of a private document"
    given = json.dumps(server.bodies)
    assert "900 euros" in given
    assert "4711" not in given
    roles = {entry.role: entry for entry in await entries(brain)}
    assert set(roles) == {"vision", "chat"}
    assert roles["vision"].bytes > 0


def test_what_stays_on_the_machine_is_neither_told_nor_kept_back(told_of: list[Sending]) -> None:
    with confidential():
        admit("http://127.0.0.1:1", (), "chat_url", Sending("chat", "ask", 3))
        admit("http://[::1]:1/x", (), "chat_url", Sending("chat", "ask", 3))
    assert told_of == []


async def test_what_leaves_is_told_and_what_is_private_stays(told_of: list[Sending]) -> None:
    def go() -> None:
        admit("https://Box.example/v1", ["box.example"], "chat_url", Sending("chat", "ask", 3, 4))

    go()
    assert told_of == [Sending("chat", "ask", 3, 4, "box.example")]
    told = r"private.*'box.example' \(setting chat_url\)"
    with confidential(), pytest.raises(ModelUnavailable, match=told):
        await asyncio.to_thread(go)
    with (
        confidential(),
        confidential(private=False),
        pytest.raises(ModelUnavailable, match="private"),
    ):
        go()
    with confidential(private=False):
        go()
    with pytest.raises(ModelUnavailable, match="allowed_servers"):
        admit("https://other.example", ["box.example"], "chat_url", Sending("chat", "ask"))
    assert len(told_of) == 2


def test_what_cannot_be_understood_is_elsewhere() -> None:
    assert is_elsewhere("http://[::1")
    assert is_elsewhere("http://localhost.example")
    assert not is_elsewhere("http://localhost:11434")


def test_where_a_private_place_ends() -> None:
    places = ["/a/health", "/a/mail.eml"]
    for inside in ("/a/health", "/a/health/x", "/a/mail.eml", "/a/mail.eml!/x.pdf"):
        assert lies_in(inside, places)
    for outside in ("/a/healthy", "/a", "/a/mail.eml.bak", "/b/health/x"):
        assert not lies_in(outside, places)
    assert lies_in("/anything", ["/"])
