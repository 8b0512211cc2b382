"""Changing the embedder of an archive that stays searchable, over a real server of embeddings."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.contract.embedding_server import DIMENSION, MODEL, EmbeddingServer
from tests.fakes import WordsEmbedder
from tests.integration.brain.conftest import OpenBrain

from emily.brain import Brain
from emily.errors import InputError, ModelMismatch, ModelUnavailable, SettingError
from emily.indexing.language import LanguageDetector
from emily.measure.questions import Question, Unanswerable
from emily.models import ModelIdentity, choosing
from emily.models.choosing import make_embedder
from emily.reading.reader import Reader
from emily.settings import load_settings
from emily.store import Database

Write = Callable[[str, str], Path]
Rows = Callable[..., list[tuple[Any, ...]]]


@pytest.fixture
def served() -> Iterator[EmbeddingServer]:
    with EmbeddingServer().running() as served:
        yield served


@pytest.fixture(autouse=True)
def bundled(monkeypatch: pytest.MonkeyPatch) -> WordsEmbedder:
    """Hashed words in place of the bundled encoder, which takes a second to load."""
    made = WordsEmbedder("bundled-words")
    monkeypatch.setattr(choosing, "UseEmbedder", lambda **_: made)
    return made


@pytest.fixture
async def make(
    database_url: str,
    home: Path,
    reader: Reader,
    detector: LanguageDetector,
    bundled: WordsEmbedder,
    served: EmbeddingServer,
) -> AsyncIterator[OpenBrain]:
    """Opens brains whose settings may name the server as their embedder."""
    home.mkdir()
    async with AsyncExitStack() as stack:

        async def build(*, by_server: bool = False) -> Brain:
            values: dict[str, Any] = {"database_url": database_url, "threshold": 0.0}
            if by_server:
                values |= {
                    "embedder": "ollama",
                    "embedder_model": MODEL,
                    "embedder_url": served.url,
                    "embedder_dimension": DIMENSION,
                }
            settings = load_settings(home, **values)
            database = await stack.enter_async_context(Database.open(settings))
            brain = Brain(settings, database, make_embedder(settings), detector, reader)
            close = getattr(brain._embedder, "close", None)
            if close:
                stack.callback(close)
            return brain

        yield build


@pytest.fixture
async def filled(make: OpenBrain, write: Write) -> Brain:
    brain = await make()
    paths = [
        write(f"note-{number}.txt", f"Rapporto {number}. La caldaia K{number:03} perde acqua.")
        for number in range(4)
    ]
    await brain.add(paths)
    return brain


def dimensions(rows: Rows) -> set[int]:
    return {row[0] for row in rows("SELECT vector_dims(vector) FROM chunk_vector")}


async def test_the_archive_is_searchable_all_the_time_and_switches_at_the_end(
    filled: Brain, make: OpenBrain, served: EmbeddingServer, rows: Rows, home: Path
) -> None:
    seen: list[tuple[str, int, int]] = []
    answers = []
    words = rows("SELECT count(*), min(id), max(id) FROM word")
    chunks = rows("SELECT id FROM chunk ORDER BY id")

    async def ask() -> None:
        while True:
            answer = await filled.search("caldaia K003", log=False)
            answers.append((answer.results[0].document.name, answer.trace["index"]["model"]))
            await asyncio.sleep(0.005)

    asking = asyncio.create_task(ask())
    await asyncio.sleep(0.1)
    change = await filled.use_model(
        f"ollama/{MODEL}", url=served.url, progress=lambda *at: seen.append(at)
    )
    asking.cancel()
    with pytest.raises((asyncio.CancelledError, ModelMismatch)):
        await asking
    assert len(answers) > 2
    assert {name for name, _ in answers} == {"note-3.txt"}
    assert all("bundled-words" in model for _, model in answers)
    assert [place for name, place, _ in seen if name] == [0, 1, 2, 3]
    assert (change.embedded, change.documents, change.failures) == (4, 4, ())
    assert change.identity == ModelIdentity(MODEL, "plain-1", DIMENSION)
    assert "golden pair" in change.detail

    with pytest.raises(ModelMismatch, match="emily models use bundled"):
        await filled.search("caldaia")
    written = (home / "settings.toml").read_text("utf-8")
    assert 'embedder = "ollama"' in written
    assert f"embedder_dimension = {DIMENSION}" in written, "asked of the server"
    new = await make(by_server=True)
    answer = await new.search("caldaia K003")
    assert answer.results[0].document.name == "note-3.txt"
    assert MODEL in answer.trace["index"]["model"]
    assert dimensions(rows) == {DIMENSION}
    assert rows("SELECT count(*), min(id), max(id) FROM word") == words, "words stay"
    assert rows("SELECT id FROM chunk ORDER BY id") == chunks, "chunks stay"
    assert not rows("SELECT FROM next_chunk"), "nothing is left behind"
    assert not rows("SELECT FROM next_document")
    assert (await new.status()).stale == 0


@pytest.mark.parametrize("first", [True, False], ids=["before", "after"])
async def test_a_search_across_the_switch_says_that_the_model_is_another(
    filled: Brain, served: EmbeddingServer, monkeypatch: pytest.MonkeyPatch, first: bool
) -> None:
    """Between two statements of one search: vectors of two lengths, or an answer of both models."""
    real = filled._database.fetch
    switched: list[str] = []

    async def switch() -> None:
        switched.append("yes")
        await filled.use_model(f"ollama/{MODEL}", url=served.url)

    async def fetch(name: str, parameters: Any = None) -> Any:
        if name != "pool_details" or switched:
            return await real(name, parameters)
        if first:
            await switch()
            return await real(name, parameters)
        rows = await real(name, parameters)
        await switch()
        return rows

    monkeypatch.setattr(filled._database, "fetch", fetch)
    with pytest.raises(ModelMismatch, match="emily models use bundled"):
        await filled.search("caldaia K003", log=False)
    assert switched


async def test_there_and_back_again(
    filled: Brain, make: OpenBrain, served: EmbeddingServer, rows: Rows
) -> None:
    before = rows("SELECT chunk_id, part, vector::text FROM chunk_vector ORDER BY 1, 2")
    await filled.use_model(f"ollama/{MODEL}", url=served.url)
    new = await make(by_server=True)
    change = await new.use_model("bundled")
    assert change.documents == 4
    assert rows("SELECT chunk_id, part, vector::text FROM chunk_vector ORDER BY 1, 2") == before
    answer = await (await make()).search("caldaia K001")
    assert answer.results[0].document.name == "note-1.txt"


async def test_an_interrupted_change_goes_on_where_it_ended(
    filled: Brain, served: EmbeddingServer, rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(name: str, done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await filled.use_model(f"ollama/{MODEL}", url=served.url, progress=stop)
    assert rows("SELECT count(*) FROM next_document") == [(2,)]
    assert dimensions(rows) == {64}
    assert (await filled.search("caldaia K003")).results[0].document.name == "note-3.txt"
    listed = {item.model: item for item in await filled.models()}
    assert listed[MODEL].waiting == 2
    assert listed["bundled"].share == 1.0
    change = await filled.use_model(f"ollama/{MODEL}", url=served.url)
    assert (change.embedded, change.documents) == (2, 4)


async def test_a_server_that_dies_in_the_middle_leaves_the_archive_as_it_was(
    filled: Brain, served: EmbeddingServer, rows: Rows
) -> None:
    def die(name: str, done: int, total: int) -> None:
        if done == 2:
            served.fault, served.poison = "nan", ""

    with pytest.raises(ModelUnavailable, match="Restart its server"):
        await filled.use_model(f"ollama/{MODEL}", url=served.url, progress=die)
    assert dimensions(rows) == {64}
    assert (await filled.search("caldaia K003")).results


async def test_documents_that_come_change_or_go_meanwhile(
    filled: Brain, make: OpenBrain, served: EmbeddingServer, write: Write, rows: Rows
) -> None:
    done: list[bool] = []
    real = filled._database.run

    async def meddle(name: str) -> None:
        await filled.add([write("new.txt", "Una nota nuova sulla stufa.")])
        await filled.add([write("note-0.txt", "Il rapporto 0 parla ora del camino.")])
        await filled.remove("note-1.txt")

    async def run(work: Any, **values: Any) -> Any:
        result = await real(work, **values)
        if rows("SELECT count(*) FROM next_document") == [(3,)] and not done:
            done.append(True)
            await meddle("")
        return result

    filled._database.run = run
    change = await filled.use_model(f"ollama/{MODEL}", url=served.url)
    assert done
    assert change.documents == 4
    new = await make(by_server=True)
    assert {info.name for info in await new.list()} == {
        "new.txt", "note-0.txt", "note-2.txt", "note-3.txt",
    }  # fmt: skip
    assert (await new.search("stufa")).results[0].document.name == "new.txt"
    assert (await new.search("camino")).results[0].document.name == "note-0.txt"
    assert dimensions(rows) == {DIMENSION}
    assert not rows(
        "SELECT FROM chunk c WHERE NOT EXISTS (SELECT FROM chunk_vector v WHERE v.chunk_id = c.id)"
    )


async def test_a_passage_without_a_vector_is_put_aside_and_told(
    filled: Brain, make: OpenBrain, served: EmbeddingServer, write: Write, rows: Rows
) -> None:
    await filled.add(
        [write("odd.txt", "Questo contiene poison e altro."), write("ok.txt", "Sano.")]
    )
    served.fault = "nan500"
    change = await filled.use_model(f"ollama/{MODEL}", url=served.url)
    (failure,) = change.failures
    assert failure.startswith("odd.txt: Passage 1")
    assert "found by words only" in failure
    new = await make(by_server=True)
    odd = await new.show("odd.txt")
    assert any("found by words only" in warning for warning in odd.info.warnings)
    assert any("1 chunks have no vector" in problem for problem in (await new.status()).problems)
    assert {r.document.name for r in (await new.search("poison")).results} >= {"odd.txt"}
    served.fault = ""
    back = await new.use_model("bundled")
    assert not back.failures
    assert not (await filled.show("odd.txt")).info.warnings, "what is mended is no longer told"


async def test_another_change_forgets_the_first(
    filled: Brain, served: EmbeddingServer, rows: Rows
) -> None:
    def stop(name: str, done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await filled.use_model(f"ollama/{MODEL}", url=served.url, progress=stop)
    await filled.use_model(f"openai/{MODEL}", url=served.url)
    assert not rows("SELECT FROM next_document")
    assert not rows("SELECT FROM next_chunk_vector")
    assert dimensions(rows) == {DIMENSION}


async def test_files_words_and_checks_with_the_new_model(
    filled: Brain, make: OpenBrain, served: EmbeddingServer, write: Write, rows: Rows
) -> None:
    await filled.use_model(f"ollama/{MODEL}", url=served.url)
    new = await make(by_server=True)
    (outcome,) = (await new.add([write("late.txt", "La stufa a legna scalda bene.")])).files
    assert outcome.outcome == "added"
    assert (await new.search("stufa legna")).results[0].document.name == "late.txt"
    models = rows("SELECT DISTINCT m.name FROM word w JOIN model m ON m.id = w.model_id")
    assert models == [("bundled-words",)]
    answer = await new.search("caldaia")
    assert answer.trace["vocabulary"]["words"] > 0, "words keep their neighbours"
    check = next(check for check in await new.doctor() if check.name == "embedder")
    assert check.ok
    assert "Ollama 0.23.0. Known fault: the option truncate is ignored" in check.detail
    assert (await new.add([write("late.txt", "La stufa a legna scalda bene.")])).files[
        0
    ].outcome == "unchanged"


async def test_a_server_that_is_down_is_told_and_words_still_find(
    filled: Brain, make: OpenBrain, served: EmbeddingServer
) -> None:
    await filled.use_model(f"ollama/{MODEL}", url=served.url)
    served.busy = 99
    new = await make(by_server=True)
    answer = await new.search("caldaia K003")
    assert answer.results[0].document.name == "note-3.txt"
    assert any("the embedder is down" in notice for notice in answer.notices)
    check = next(check for check in await new.doctor() if check.name == "embedder")
    assert not check.ok
    assert check.help == "emily models list"
    (alert,) = [alert for alert in await new.alerts.open() if alert.name == "embedder"]
    assert alert.level == "critical"
    assert "answered 503: busy" in alert.text
    served.busy = 0
    assert (await new.search("caldaia K003")).results[0].score is not None, "it is back by itself"
    assert "embedder" not in {alert.name for alert in await new.alerts.open()}


@pytest.mark.parametrize(
    ("model", "error", "said"),
    [
        ("", InputError, "names no embedder"),
        ("ollama", InputError, "names no embedder"),
        ("ollama/missing-model", ModelUnavailable, "ollama pull missing-model"),
        ("openai/x", SettingError, "--url"),
    ],
)
async def test_what_cannot_be_used_changes_nothing(
    make: OpenBrain,
    served: EmbeddingServer,
    model: str,
    error: type[Exception],
    said: str,
    home: Path,
) -> None:
    url = None if model.startswith("openai") else served.url
    with pytest.raises(error, match=said):
        await (await make()).use_model(model, url=url)
    assert not (home / "settings.toml").exists()


async def test_a_server_elsewhere_is_not_asked(make: OpenBrain, home: Path) -> None:
    with pytest.raises(ModelUnavailable, match="allowed_servers"):
        await (await make()).use_model("ollama/bge-m3", url="http://192.0.2.1:11434")
    assert not (home / "settings.toml").exists()


async def test_a_trial_compares_both_models_and_changes_nothing(
    filled: Brain, served: EmbeddingServer, rows: Rows, home: Path
) -> None:
    before = rows("SELECT md5(string_agg(vector::text, '' ORDER BY chunk_id)) FROM chunk_vector")
    await filled.search("caldaia K003")
    await filled.settle()
    questions = [
        Question("a", "quale caldaia K003 perde?", "note-3.txt", quote="K003 perde"),
        Question("b", "di chi è?", "not-there.txt"),
    ]
    seen: list[str] = []
    trial = await filled.try_model(
        f"ollama/{MODEL}",
        url=served.url,
        answerable=questions,
        unanswerable=[Unanswerable("u", "chi ha vinto la regata?", "off-topic")],
        sample=3,
        progress=lambda what, done, total: seen.append(what),
    )
    assert (trial.documents, trial.archive_documents) == (3, 4)
    assert (trial.questions, trial.left_out) == (1, 1)
    assert trial.before.model == "bundled"
    assert trial.after.identity == f"{MODEL}/plain-1 ({DIMENSION} dimensions)"
    assert trial.before.hit_1 == trial.after.hit_1 == 1.0, "the document that answers is there"
    assert trial.before.seconds > 0
    assert trial.before.whole_seconds > trial.before.seconds
    assert trial.after.megabytes == 7.0, "as its server says"
    assert trial.comparison is not None
    assert {item.metric for item in trial.comparison.metrics} >= {"ndcg_10", "hit_1", "empty"}
    assert trial.real is not None
    assert trial.real.asked == 1
    assert trial.real.same_first == 1.0
    assert "golden pair" in trial.detail
    assert seen
    after = rows("SELECT md5(string_agg(vector::text, '' ORDER BY chunk_id)) FROM chunk_vector")
    assert after == before
    assert not rows("SELECT FROM next_chunk")
    assert not (home / "settings.toml").exists()
    assert rows("SELECT count(*) FROM query_log") == [(1,)], "a trial is no question of the owner's"


async def test_a_trial_needs_an_archive(make: OpenBrain, served: EmbeddingServer) -> None:
    with pytest.raises(InputError, match="archive is empty"):
        await (await make()).try_model(f"ollama/{MODEL}", url=served.url)
