"""A cross-encoder behind the built-in second stage, and what happens when it cannot be used."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import WordsEmbedder, WordsReranker, shared_words
from tests.integration.brain.conftest import OpenBrain

from emily.brain import Answer, Brain
from emily.errors import ModelUnavailable
from emily.models import Judgement
from emily.models.rerankers.judging import by_probability

Write = Callable[[str, str], Path]

NOTES = {
    "boiler.txt": "La caldaia perde acqua dal tubo di scarico.",
    "roof.txt": "Il tetto perde tegole dopo il temporale.",
    "garden.txt": "Il giardino vuole acqua ogni sera d'estate.",
    "lease.txt": "The lease of the garden ends in March.",
}
QUESTION = "acqua giardino estate"


class Preferring(WordsReranker):
    """Likes passages by a word of its own choice."""

    def __init__(self, **liked: float) -> None:
        super().__init__()
        self.liked = liked

    async def rank(self, query: str, passages: Sequence[str]) -> Judgement:
        await super().rank(query, passages)
        scores = [
            next((score for word, score in self.liked.items() if word in passage), 0.0)
            for passage in passages
        ]
        found = by_probability(self.name, scores, len(passages))
        return Judgement(found.order, None) if self.orders_only else found


@pytest.fixture
async def fill(open_brain: OpenBrain, write: Write) -> Callable[..., Any]:
    async def make(judge: WordsReranker | None = None, **values: Any) -> Brain:
        brain = await open_brain(reranked_by=judge, **values)
        await brain.add([write(name, text) for name, text in NOTES.items()])
        return brain

    return make


def names(answer: Answer) -> list[str]:
    return [result.document.name for result in answer.results]


def plain(answer: Answer) -> list[tuple[str, float | None]]:
    return [(result.document.name, result.score) for result in answer.results]


async def test_its_order_and_its_probabilities_are_shown(fill: Callable[..., Any]) -> None:
    brain = await fill(Preferring(tegole=0.8, scarico=0.6, giardino=0.001))
    answer = await brain.search(QUESTION, threshold=0.05)
    assert plain(answer) == [("roof.txt", 0.8), ("boiler.txt", 0.6)]
    stage = answer.trace["reranking"]
    assert (stage["model"], stage["looked_at"], stage["probabilities"]) == ("words", 4, True)
    first = answer.trace["second_stage"]["candidates"][0]
    assert first["reranked"] is True
    assert first["probability"] == 0.8
    assert first["gate"] != 0.8
    assert "reranking" in answer.timings_ms
    assert not [notice for notice in answer.notices if "rerank" in notice.casefold()]


async def test_it_reads_the_question_and_each_passage(fill: Callable[..., Any]) -> None:
    reranker = WordsReranker()
    await (await fill(reranker)).search(QUESTION)
    ((query, passages),) = reranker.asked
    assert query == QUESTION
    assert sorted(passages) == sorted(NOTES.values())


async def test_a_row_of_a_table_is_read_with_its_header(
    open_brain: OpenBrain, write: Write
) -> None:
    reranker = WordsReranker()
    brain = await open_brain(reranked_by=reranker)
    rows = "\n".join(f"fornitura {place},{place * 7},via Verdi {place}" for place in range(400))
    await brain.add([write("orders.csv", f"merce,quantita,indirizzo\n{rows}\n")])
    await brain.search("quantita fornitura 399")
    ((_, passages),) = reranker.asked
    assert len(passages) > 1
    assert all("quantita" in passage.splitlines()[0] for passage in passages)


async def test_a_probability_is_neither_stretched_nor_squeezed(fill: Callable[..., Any]) -> None:
    brain = await fill(Preferring(giardino=0.06, tegole=0.04))
    answer = await brain.search(QUESTION, threshold=0.05)
    assert plain(answer) == [("garden.txt", 0.06)], "a lone result is not 0, and not 1"
    assert not (await brain.search(QUESTION, threshold=0.07)).results


async def test_what_it_did_not_look_at_stands_behind(fill: Callable[..., Any]) -> None:
    without = await (await fill()).search(QUESTION, threshold=0.0)
    brain = await fill(Preferring(acqua=0.01), reranker_candidates=1)
    answer = await brain.search(QUESTION, threshold=0.0)
    records = answer.trace["second_stage"]["candidates"]
    assert [record.get("reranked", False) for record in records] == [True, False, False, False]
    assert [record["chunk"] for record in records] == [
        record["chunk"] for record in without.trace["second_stage"]["candidates"]
    ]
    assert records[0]["probability"] == 0.01
    assert plain(answer)[1:] == plain(without)[1:]
    assert answer.trace["reranking"]["looked_at"] == 1
    assert any(
        "did not look at 3 of the passages (setting reranker_candidates)" in notice
        for notice in answer.notices
    )


async def test_positions_alone_switch_the_threshold_off(fill: Callable[..., Any]) -> None:
    reranker = Preferring(tegole=0.8, scarico=0.6)
    reranker.orders_only = True
    answer = await (await fill(reranker)).search(QUESTION, threshold=1.0)
    assert names(answer)[:2] == ["roof.txt", "boiler.txt"]
    assert len(answer.results) == 4
    assert {result.score for result in answer.results} == {None}
    assert any(
        "gives an order and no probabilities: the threshold was not applied" in notice
        for notice in answer.notices
    )


async def test_a_reranker_that_is_down_is_told_of_and_never_imitated(
    fill: Callable[..., Any],
) -> None:
    reranker = WordsReranker()
    brain = await fill(reranker)
    reranker.fails = ModelUnavailable("The reranker words cannot be loaded: no file.")
    answer = await brain.search(QUESTION)
    without = await (await fill()).search(QUESTION)
    assert plain(answer) == plain(without)
    assert answer.trace["reranking"]["down"] == str(reranker.fails)
    assert not any(record.get("reranked") for record in answer.trace["second_stage"]["candidates"])
    assert any(
        notice.startswith("Not reranked: ordered by the built-in second stage, with its own")
        and "cannot be loaded: no file" in notice
        for notice in answer.notices
    )
    (alert,) = await brain.alerts.open()
    assert (alert.name, alert.level) == ("reranker", "critical")
    assert "cannot be loaded: no file" in alert.text
    await brain.search(QUESTION)
    assert (await brain.alerts.open())[0].count == 2
    check = next(check for check in await brain.doctor() if check.name == "reranker")
    assert not check.ok
    assert 'set reranker = "none"' in (check.help or "")

    reranker.fails = None
    assert "down" not in (await brain.search(QUESTION)).trace["reranking"]
    assert await brain.alerts.open() == []


async def test_an_alert_ends_when_the_owner_turns_it_off(
    fill: Callable[..., Any], open_brain: OpenBrain
) -> None:
    reranker = WordsReranker()
    brain = await fill(reranker)
    reranker.fails = ModelUnavailable("The reranker words cannot be loaded: no file.")
    await brain.search(QUESTION)
    assert await brain.alerts.open()
    brain = await open_brain()
    check = next(check for check in await brain.doctor() if check.name == "reranker")
    assert check.ok
    assert await brain.alerts.open() == []


async def test_who_cannot_cross_languages_is_told_of(fill: Callable[..., Any]) -> None:
    reranker = WordsReranker()
    reranker.warnings = ("The reranker words does not cross languages: ….",)
    brain = await fill(reranker, languages=("it", "en"))
    answer = await brain.search("il contratto del giardino finisce a marzo")
    languages = {record["language"] for record in answer.trace["second_stage"]["candidates"]}
    assert languages >= {"it", "en"}, "the archive holds both"
    assert reranker.warnings[0] in answer.notices
    (alert,) = await brain.alerts.open()
    assert (alert.name, alert.level) == ("reranker-languages", "warning")
    check = next(check for check in await brain.doctor() if check.name == "reranker")
    assert check.ok
    assert check.detail == reranker.warnings[0]


async def test_without_the_embedder_it_is_not_asked(fill: Callable[..., Any]) -> None:
    embedder, reranker = WordsEmbedder(), WordsReranker()
    brain = await fill(reranker, embedder=embedder)
    embedder.down = True
    answer = await brain.search(QUESTION)
    assert answer.results
    assert not reranker.asked
    assert "The reranker words was not asked, because the embedder is down." in answer.notices


async def test_a_document_is_asked_by_its_probabilities(
    open_brain: OpenBrain, write: Write
) -> None:
    text = "\n\n".join(
        f"Il {place}° giorno il cantiere avanza. " + "Si lavora e si annota. " * 60
        for place in range(12)
    )
    reranker = Preferring(**{"Il 7°": 0.9, "Il 3°": 0.4, "Il 5°": 0.2})
    brain = await open_brain(reranked_by=reranker, reranker_candidates=12)
    await brain.add([write("site.txt", text)])
    answer = await brain.ask("site.txt", "cosa avanza nel cantiere?", limit=5)
    passed = set(answer.trace["threshold"]["passed"])
    scores = {
        record["probability"]
        for record in answer.trace["second_stage"]["candidates"]
        if record["chunk"] in passed
    }
    assert answer.trace["threshold"]["threshold"] == pytest.approx(0.27)
    assert {0.9, 0.4} <= scores
    assert 0.2 not in scores


class Server:
    """Answers as text-embeddings-inference does, until it is told otherwise."""

    def __init__(self) -> None:
        self.spoil: bytes | None = None
        self.hold = threading.Event()
        self.waiting = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                rows = [
                    {"index": place, "score": shared_words(body["query"], text)}
                    for place, text in enumerate(body["texts"])
                ]
                content = json.dumps(rows).encode() if outer.spoil is None else outer.spoil
                if content == b"wait":
                    outer.waiting.set()
                    outer.hold.wait(60)
                try:
                    self.send_response(500 if content == b"fail" else 200)
                    self.send_header("Content-Length", str(len(content)))
                    self.end_headers()
                    self.wfile.write(content)
                except (BrokenPipeError, ConnectionResetError):
                    pass

            def log_message(self, *_: object) -> None: ...

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}"


@pytest.fixture
def ranker() -> Iterator[Server]:
    made = Server()
    thread = threading.Thread(target=made.http.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.hold.set()
        made.http.shutdown()
        made.http.server_close()
        thread.join()


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (b"fail", "answered 500: fail"),
        (b"wait", "took more than 1 s (setting reranker_seconds)"),
        (b'[{"index": 0, "sc', "cannot be understood"),
        (b"[]", "it was given 4, and each of 0 to 3 must stand there once"),
        (
            b'[{"index": 0, "score": NaN}, {"index": 1, "score": 1}, '
            b'{"index": 2, "score": 1}, {"index": 3, "score": 1}]',
            "gave nan as a score",
        ),
    ],
    ids=["500", "slow", "truncated", "too few", "NaN"],
)
async def test_a_server_that_misbehaves(
    fill: Callable[..., Any], ranker: Server, spoil: bytes, sentence: str
) -> None:
    brain = await fill(reranker="http", reranker_url=ranker.url, reranker_seconds=20)
    good = await brain.search(QUESTION)
    assert good.trace["reranking"]["looked_at"] == 4
    assert good.results[0].document.name == "garden.txt"
    assert good.results[0].score == 1.0
    brain._reranker._seconds = 1  # type: ignore[union-attr]
    ranker.spoil = spoil
    answer = await brain.search(QUESTION)
    assert answer.results
    assert sentence in answer.trace["reranking"]["down"]
    assert any(sentence in notice for notice in answer.notices)
    assert [alert.name for alert in await brain.alerts.open()] == ["reranker"]


async def test_the_loop_goes_on_while_a_server_is_waited_for(
    fill: Callable[..., Any], ranker: Server
) -> None:
    brain = await fill(reranker="http", reranker_url=ranker.url, reranker_seconds=30)
    ranker.spoil = b"wait"
    searches = [asyncio.create_task(brain.search(QUESTION)) for _ in range(12)]
    while not ranker.waiting.is_set():
        await asyncio.sleep(0.01)
    assert await brain.list(), "nothing else was answered meanwhile"
    assert not any(search.done() for search in searches)
    ranker.spoil = None
    ranker.hold.set()
    assert all(answer.results for answer in await asyncio.gather(*searches))
