"""A throw-away home with the parts of a brain laid open, for measuring single parts of it."""

from __future__ import annotations

import asyncio
import hashlib
import math
import tempfile
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.public_data import PublicDocument, PublicSet
from emily.indexing.archive import Archive
from emily.indexing.files import FileFacts
from emily.indexing.language import LanguageDetector
from emily.indexing.normalise import fingerprint_text
from emily.indexing.prepare import Preparer
from emily.indexing.text import DocumentText
from emily.models import Embedder, UseEmbedder
from emily.reading.pages import Page, Reading
from emily.retrieval.retriever import Retriever
from emily.settings import Settings, load_settings
from emily.store import Database, EmbeddedServer

__all__ = ["Bench", "open_bench", "open_set", "percentile", "throwaway_home"]

# What is measured on a bench is computation and quality; nothing on it outlives the run.
_UNSAFE = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


@dataclass(slots=True)
class Bench:
    """The parts of an archive.

    Attributes:
        settings: of the throw-away home.
        database: its store.
        embedder: shared by all parts.
        languages: shared as well.
        preparer: computes what is indexed.
        archive: writes it.
        names: the ids that a set gives to a document, by the archive's id. Several where the
            set holds one text twice.
    """

    settings: Settings
    database: Database
    embedder: Embedder
    languages: LanguageDetector
    preparer: Preparer
    archive: Archive
    names: dict[int, set[str]] = field(default_factory=dict)

    def retriever(self, **settings: Any) -> Retriever:
        """A retriever on this archive with other settings."""
        chosen = self.settings.model_copy(update=settings)
        return Retriever(
            self.database, self.embedder, self.languages, chosen, self.preparer.fingerprint
        )

    async def index(self, documents: Iterable[PublicDocument]) -> None:
        """Put documents in as they are, without files; the name of each is its title."""
        for number, document in enumerate(documents):
            if document.text.strip():
                known = await self._put(number, document)
                self.names.setdefault(known, set()).add(document.id)

    async def _put(self, number: int, document: PublicDocument) -> int:
        title = document.title.strip().replace("/", " ")[:120] or document.id.replace("/", " ")
        content = document.text.encode("utf-8")
        file = FileFacts(
            path=Path(f"/set/{number}/{title}.txt"),
            sha256=hashlib.sha256(content).digest(),
            bytes=len(content),
            kind="txt",
        )
        text = DocumentText.from_reading(Reading("txt", (Page(1, document.text),), "lines"))
        prepared = await asyncio.to_thread(self.preparer.prepare, text, file.name)
        digest = hashlib.sha256(fingerprint_text(text.text).encode("utf-8")).digest()
        return (await self.archive.write(file, text, digest, prepared)).document


@asynccontextmanager
async def throwaway_home(*, safe: bool = True) -> AsyncIterator[Settings]:
    """Settings of a new home whose server runs; both are gone afterwards.

    Args:
        safe: keep the store's usual safety, which costs time; needed where time is measured.
    """
    with tempfile.TemporaryDirectory(prefix="emily-bench-") as folder:
        home = Path(folder) / "home"
        server = EmbeddedServer(home, options={} if safe else _UNSAFE)
        await asyncio.to_thread(server.start)
        try:
            yield load_settings(home)
        finally:
            await asyncio.to_thread(server.stop)


@asynccontextmanager
async def open_bench(embedder: Embedder | None = None) -> AsyncIterator[Bench]:
    """An empty archive in a throw-away home, its parts laid open."""
    async with throwaway_home(safe=False) as settings, Database.open(settings) as database:
        model = embedder or UseEmbedder(threads=settings.threads)
        languages = LanguageDetector(settings.languages)
        preparer = Preparer(model, languages, settings)
        archive = Archive(database, model.identity, preparer.fingerprint, model.embed_words)
        yield Bench(settings, database, model, languages, preparer, archive)


@asynccontextmanager
async def open_set(chosen: PublicSet, embedder: Embedder) -> AsyncIterator[Bench]:
    """An archive that holds the documents of a set."""
    async with open_bench(embedder) as bench:
        started = time.perf_counter()
        await bench.index(chosen.documents)
        _say(chosen, time.perf_counter() - started)
        yield bench


def percentile(values: Sequence[float], share: float) -> float:
    """The least value that ``share`` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def _say(chosen: PublicSet, seconds: float) -> None:
    print(
        f"{chosen.name}: {len(chosen.documents)} documents indexed in {seconds:.0f} s, "
        f"{len(chosen.questions)} questions",
        flush=True,
    )
