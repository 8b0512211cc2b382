"""Archives to work with: real databases, one reading worker for all, an embedder of choice."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from tests.fakes import WordsEmbedder

from emily.brain import Brain
from emily.indexing.language import LanguageDetector
from emily.models import Embedder, Reranker
from emily.models.rerankers import reranker_of
from emily.reading.reader import Reader
from emily.settings import load_settings
from emily.store import Database, EmbeddedServer

OpenBrain = Callable[..., Awaitable[Brain]]


@contextmanager
def fresh_database(server: EmbeddedServer, template: str) -> Iterator[str]:
    """Address of an empty, migrated database that goes at the end."""
    name = f"brain_{uuid4().hex}"
    with psycopg.connect(server.conninfo(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        try:
            yield server.url(name)
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="session")
async def reader() -> AsyncIterator[Reader]:
    """One worker for all tests; it takes a second to start."""
    async with Reader(
        seconds=60, memory_mb=1024, file_mb=64, ocr=False, threads=1, languages=("it", "en")
    ) as shared:
        yield shared


@pytest.fixture(scope="session")
def detector() -> LanguageDetector:
    return LanguageDetector(("it", "en"))


async def join(
    stack: AsyncExitStack,
    url: str,
    home: Path,
    reader: Reader,
    detector: LanguageDetector,
    embedder: Embedder | None = None,
    reranked_by: Reranker | None = None,
    **values: Any,
) -> Brain:
    """A brain over a database, as ``Brain.open`` makes it, with the shared reader."""
    if embedder is None or isinstance(embedder, WordsEmbedder):
        # Its cosines are not those that the gate was fitted to.
        values.setdefault("threshold", 0.001)
    settings = load_settings(home, database_url=url, **values)
    database = await stack.enter_async_context(Database.open(settings))
    if "languages" in values:
        detector = LanguageDetector(settings.languages)
    judge = reranked_by or reranker_of(settings)
    brain = Brain(settings, database, embedder or WordsEmbedder(), detector, reader, reranker=judge)
    stack.push_async_callback(brain.settle)  # before the database closes
    return brain


@dataclass(frozen=True)
class Shelf:
    """What an archive that a whole module reads is made of."""

    server: EmbeddedServer
    template: str
    reader: Reader
    detector: LanguageDetector
    folders: pytest.TempPathFactory

    @asynccontextmanager
    async def filled(
        self, files: Mapping[str, str], embedder: Embedder | None = None, **values: Any
    ) -> AsyncIterator[Brain]:
        """A brain whose archive holds these files, by name; every one of them is added."""
        top = self.folders.mktemp("shelf")
        (top / "files").mkdir()
        for name, text in files.items():
            (top / "files" / name).write_text(text, encoding="utf-8")
        with fresh_database(self.server, self.template) as url:
            async with AsyncExitStack() as stack:
                brain = await join(
                    stack, url, top / "home", self.reader, self.detector, embedder, **values
                )
                report = await brain.add([top / "files"])
                assert report.counts() == {"added": len(files)}, report
                yield brain


@pytest.fixture(scope="module")
def shelf(
    server: EmbeddedServer,
    template: str,
    reader: Reader,
    detector: LanguageDetector,
    tmp_path_factory: pytest.TempPathFactory,
) -> Shelf:
    return Shelf(server, template, reader, detector, tmp_path_factory)


@pytest.fixture
async def open_brain(
    database_url: str, home: Path, reader: Reader, detector: LanguageDetector
) -> AsyncIterator[OpenBrain]:
    """Opens brains over this test's own database; settings and embedder may differ."""
    home.mkdir()
    async with AsyncExitStack() as stack:

        async def make(embedder: Embedder | None = None, **values: Any) -> Brain:
            return await join(stack, database_url, home, reader, detector, embedder, **values)

        yield make


@pytest.fixture
async def brain(open_brain: OpenBrain) -> Brain:
    """An empty archive with the embedder that hashes words."""
    return await open_brain()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder for the files of a test."""
    made = tmp_path / "files"
    made.mkdir()
    return made


@pytest.fixture
def write(folder: Path) -> Callable[[str, str], Path]:
    """Writes a text file."""

    def make(name: str, text: str) -> Path:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return make


@pytest.fixture
def rows(database_url: str) -> Callable[..., list[tuple[Any, ...]]]:
    """Runs SQL beside the brain, to look at what it wrote."""

    def run(sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        with psycopg.connect(database_url, autocommit=True) as connection:
            cursor = connection.execute(sql, parameters)
            return cursor.fetchall() if cursor.description else []

    return run
