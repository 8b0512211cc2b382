"""A throw-away archive: a database of its own that is gone afterwards, and its parts laid open.

It never touches the owner's archive. Without a server of the owner's own it is an embedded
server in a temporary home; with one it is a new database beside the owner's.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import psutil
import psycopg
from psycopg import sql

from emily.errors import EmilyError, StoreError, StoreUnavailable
from emily.indexing.archive import Archive
from emily.indexing.files import FileFacts
from emily.indexing.language import LanguageDetector
from emily.indexing.normalise import fingerprint_text
from emily.indexing.prepare import PreparedDocument, Preparer
from emily.indexing.text import DocumentText
from emily.measure.sets import SetDocument
from emily.models import Embedder, Reranker
from emily.reading.pages import Page, Reading
from emily.retrieval.reranking import Reranking
from emily.retrieval.retriever import Retriever
from emily.settings import Settings
from emily.store import Database, EmbeddedServer
from emily.store.alerts import Alerts

__all__ = ["Throwaway", "open_throwaway", "remove_leftovers", "throwaway_settings"]

_UNSAFE = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
"""What is measured is quality; nothing outlives the run, so nothing needs to survive a crash."""

_PREFIX = "emily-eval-"
_PAGE_END = "\f"


@dataclass(slots=True)
class Throwaway:
    """The parts of a throw-away archive.

    Attributes:
        settings: the owner's, but for home and database.
        database: its store.
        embedder: shared by all parts.
        languages: shared as well.
        preparer: computes what is indexed.
        archive: writes it.
        reranker: orders candidates anew, if there is one.
        names: the ids that a set gives to a document, by the archive's id, in the order they
            came. Several where the set holds one text twice.
        without_text: ids of documents that hold no text and were not indexed.
    """

    settings: Settings
    database: Database
    embedder: Embedder
    languages: LanguageDetector
    preparer: Preparer
    archive: Archive
    reranker: Reranker | None = None
    names: dict[int, list[str]] = field(default_factory=dict)
    without_text: list[str] = field(default_factory=list)

    def retriever(self, **settings: Any) -> Retriever:
        """A retriever on this archive, with some settings changed."""
        chosen = self.settings.model_copy(update=settings)
        reranking = Reranking(self.reranker, Alerts(self.database), chosen.reranker_candidates)
        return Retriever(
            self.database,
            self.embedder,
            self.languages,
            chosen,
            self.preparer.fingerprint,
            reranking,
        )

    async def index(
        self, documents: Iterable[SetDocument], told: Callable[[int], None] | None = None
    ) -> None:
        """Put documents in as they are, without files; the name of each is its title.

        Args:
            documents: in the order that decides their ids.
            told: called with the number of documents that are in.
        """
        waiting: tuple[int, SetDocument, DocumentText, asyncio.Task[PreparedDocument]] | None = None
        done = 0
        try:
            for number, document in enumerate(documents):
                if not document.text.strip():
                    self.without_text.append(document.id)
                    continue
                text = _text(document)
                # One is prepared while the one before it is written.
                task = asyncio.create_task(self.preparer.prepared(text, _name(document)))
                if waiting is not None:
                    before, waiting = waiting, (number, document, text, task)
                    await self._put(*before)
                    done += 1
                    if told is not None:
                        told(done)
                else:
                    waiting = (number, document, text, task)
            if waiting is not None:
                await self._put(*waiting)
                if told is not None:
                    told(done + 1)
        finally:
            if waiting is not None and not waiting[3].done():
                waiting[3].cancel()
                await asyncio.gather(waiting[3], return_exceptions=True)

    async def _put(
        self,
        number: int,
        document: SetDocument,
        text: DocumentText,
        task: asyncio.Task[PreparedDocument],
    ) -> None:
        content = document.text.encode("utf-8", "replace")
        file = FileFacts(
            path=Path(f"/set/{number}/{_name(document)}"),
            sha256=hashlib.sha256(content).digest(),
            bytes=len(content),
            kind="txt",
        )
        digest = hashlib.sha256(fingerprint_text(text.text).encode("utf-8")).digest()
        written = await self.archive.write(file, text, digest, await task)
        self.names.setdefault(written.document, []).append(document.id)


@asynccontextmanager
async def throwaway_settings(owner: Settings, *, safe: bool = False) -> AsyncIterator[Settings]:
    """Settings of a new home with a database of its own; both are gone afterwards.

    Args:
        owner: whose other settings are kept.
        safe: keep the store's usual safety, which costs time; needed where time is measured.

    Raises:
        StoreError: no database can be made.
    """
    await asyncio.to_thread(remove_leftovers)
    with tempfile.TemporaryDirectory(
        prefix=f"{_PREFIX}{os.getpid()}-", ignore_cleanup_errors=True
    ) as folder:
        home = Path(folder) / "home"
        if owner.database_url:
            async with _beside(owner.database_url) as address:
                yield owner.model_copy(update={"home": home, "database_url": address})
            return
        server = EmbeddedServer(home, options={} if safe else _UNSAFE)
        starting = asyncio.create_task(asyncio.to_thread(server.start))
        try:
            # A thread cannot be stopped: what is cancelled while the server starts ends it too.
            await asyncio.shield(starting)
            yield owner.model_copy(update={"home": home, "database_url": None})
        finally:
            await asyncio.wait([starting])
            await asyncio.to_thread(server.stop)


@asynccontextmanager
async def open_throwaway(
    owner: Settings, embedder: Embedder, reranker: Reranker | None = None
) -> AsyncIterator[Throwaway]:
    """An empty archive that is gone afterwards, its parts laid open.

    Args:
        owner: whose settings are kept, but for home and database.
        embedder: of documents and questions.
        reranker: orders candidates anew, if there is one.

    Raises:
        StoreError: no database can be made.
    """
    async with throwaway_settings(owner) as settings, Database.open(settings) as database:
        languages = LanguageDetector(settings.languages, owner.home / "cache")
        preparer = Preparer(embedder, languages, settings)
        archive = Archive(
            database,
            embedder.identity,
            preparer.fingerprint,
            embedder.embed_words,
            words_model=embedder.words_identity,
        )
        yield Throwaway(settings, database, embedder, languages, preparer, archive, reranker)


def remove_leftovers() -> None:
    """Remove what a measurement that was killed has left, its database server included."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        process = folder.name.removeprefix(_PREFIX).partition("-")[0]
        with contextlib.suppress(OSError, EmilyError):
            if not process.isdecimal() or psutil.pid_exists(int(process)):
                continue
            if folder.stat().st_uid == os.getuid():
                EmbeddedServer(folder / "home").stop()
                shutil.rmtree(folder, ignore_errors=True)


@asynccontextmanager
async def _beside(address: str) -> AsyncIterator[str]:
    """The address of a new database on the owner's own server."""
    name = f"emily_eval_{uuid4().hex[:12]}"
    await _administer(address, sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    try:
        yield psycopg.conninfo.make_conninfo(address, dbname=name)
    finally:
        await _administer(
            address, sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
        )


async def _administer(address: str, command: sql.Composed) -> None:
    try:
        async with await psycopg.AsyncConnection.connect(address, autocommit=True) as connection:
            await connection.execute(command)
    except psycopg.errors.InsufficientPrivilege as error:
        raise StoreError(
            "Your own server does not let this user create a database to measure in: "
            f"{error.diag.message_primary}. Grant CREATEDB, or measure on the embedded server: "
            "EMILY_DATABASE_URL= emily eval …"
        ) from error
    except psycopg.Error as error:
        raise StoreUnavailable(f"No database can be made to measure in: {error}") from error


def _name(document: SetDocument) -> str:
    title = " ".join(document.title.replace("/", " ").replace("\0", " ").split())[:120]
    return f"{title or document.id.replace('/', ' ')}.txt"


def _text(document: SetDocument) -> DocumentText:
    pages = tuple(
        Page(number, page) for number, page in enumerate(document.text.split(_PAGE_END), start=1)
    )
    return DocumentText.from_reading(Reading("txt", pages, "lines"))
