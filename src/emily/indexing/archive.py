"""The writing side of the archive: each document comes, changes or goes in one transaction."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pgvector import HalfVector

from emily.indexing.derived import (
    EmbedWords,
    Vector,
    copy_pages,
    embed_words,
    forget_derived,
    missing_words,
    row,
    run,
    write_derived,
)
from emily.indexing.prepare import PreparedDocument
from emily.indexing.report import Outcome
from emily.indexing.text import DocumentText
from emily.models.protocols import ModelIdentity
from emily.store import Connection, Database, statement

__all__ = ["Archive", "FileFacts", "Twin", "Written", "storable"]


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What is known of a file beside its text.

    Attributes:
        path: absolute; undecodable bytes of its name as surrogate escapes.
        sha256: digest of its bytes.
        bytes: its size.
        kind: format as decided by content.
        title: the title it gives itself, or ``None``.
        warnings: what of it was not read.
    """

    path: Path
    sha256: bytes
    bytes: int
    kind: str = ""
    title: str | None = None
    warnings: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """File name as the store can hold it."""
        return storable(self.path.name)

    @property
    def stored_path(self) -> str:
        """Path as the store can hold it."""
        return storable(str(self.path))


@dataclass(frozen=True, slots=True)
class Twin:
    """A document that shares a file's path, bytes or text.

    Attributes:
        id: the document.
        name: its name.
        paths: where its file lies, the path that is cited first.
        same_path: it is known by the file's path.
        same_bytes: it has the file's bytes.
        same_text: it has the file's text, cosmetic differences aside.
        current: it was read whole, and indexed by the present model with the present settings.
    """

    id: int
    name: str
    paths: tuple[str, ...]
    same_path: bool
    same_bytes: bool
    same_text: bool
    current: bool


@dataclass(frozen=True, slots=True)
class Written:
    """What writing a file came to.

    Attributes:
        outcome: ``added``, ``replaced``, ``unchanged`` or ``duplicate``.
        document: the document that holds its content.
        twin: of a duplicate, the document that was there.
        forgotten: SHA-256 of a file that no document needs any longer.
    """

    outcome: Outcome
    document: int
    twin: Twin | None = None
    forgotten: bytes | None = None


class Archive:
    """Writes documents; one transaction each, one writer at a time."""

    def __init__(
        self, database: Database, model: ModelIdentity, fingerprint: str, embed: EmbedWords
    ) -> None:
        """Bind to a database and to what documents are indexed with.

        Args:
            database: the store.
            model: the embedder whose vectors are written.
            fingerprint: the settings that prepared documents depend on.
            embed: gives the vectors of vocabulary words; called for new words only.
        """
        self._database = database
        self._model = model
        self._fingerprint = fingerprint
        self._embed = embed

    async def twins(self, file: FileFacts, text_sha256: bytes | None = None) -> list[Twin]:
        """Documents that share the file's path, bytes or (where given) text."""
        parameters = self._parameters(file, text_sha256)
        async with self._database.transaction() as connection:
            return await self._twins(connection, parameters)

    async def link(self, file: FileFacts, twin: Twin) -> None:
        """Note that a document is kept at one more path, and forget paths that are gone."""

        async def work(connection: Connection) -> None:
            await run(connection, "lock_archive")
            await self._link(connection, file, twin)
            await run(connection, "bump_revision")

        await self._database.run(work, idempotent=True)

    async def write(
        self, file: FileFacts, text: DocumentText, text_sha256: bytes, prepared: PreparedDocument
    ) -> Written:
        """Put a file in: as a new document, in place of the one at its path, or not at all.

        Safe against two adds at once: what is a duplicate is decided inside the transaction.

        Raises:
            StoreUnavailable: the connection was lost; nothing is half-written.
            StoreError: the server refused a statement; nothing was written.
        """

        vectors = await self._word_vectors(prepared)

        async def work(connection: Connection) -> Written:
            await run(connection, "lock_archive")
            twins = await self._twins(connection, self._parameters(file, text_sha256))
            own = next((twin for twin in twins if twin.same_path), None)
            other = next(
                (
                    twin
                    for twin in twins
                    if not twin.same_path and (twin.same_bytes or twin.same_text)
                ),
                None,
            )
            if other is not None:
                forgotten = None
                if own is not None and own.paths == (file.stored_path,):
                    forgotten = await _forget(connection, own.id)
                await self._link(connection, file, other)
                await run(connection, "bump_revision")
                return Written("duplicate", other.id, other, forgotten)
            if own is not None and own.same_bytes and own.current:
                return Written("unchanged", own.id)  # another process was faster
            model_id = (await row(connection, "register_model", self._model.parameters))["id"]
            values: dict[str, Any] = {
                "name": file.name,
                "kind": file.kind,
                "title": file.title,
                "language": prepared.language,
                "citation": text.citation,
                "text": text.text,
                "tables": _tables_as_json(text),
                "file_sha256": file.sha256,
                "text_sha256": text_sha256,
                "bytes": file.bytes,
                "warnings": [*file.warnings, *prepared.failures],
                "name_vector": _half(prepared.name_vector),
                "model_id": model_id,
                "fingerprint": self._fingerprint,
            }
            outcome: Outcome = "added"
            forgotten = None
            if own is not None and own.paths == (file.stored_path,):
                outcome, document = "replaced", own.id
                if not own.same_bytes:
                    old = await row(connection, "file_of", {"document_id": document})
                    forgotten = bytes(old["file_sha256"])
                await forget_derived(connection, document, pages=True)
                await run(connection, "replace_document", {**values, "id": document})
            else:
                document = (await row(connection, "add_document", values))["id"]
                await _add_source(connection, file, document)
            await copy_pages(connection, document, text)
            await write_derived(connection, document, model_id, prepared, vectors, self._embed)
            await run(connection, "bump_revision")
            return Written(outcome, document, forgotten=forgotten)

        return await self._database.run(work, idempotent=True)

    async def rewrite(self, document: int, text_sha256: bytes, prepared: PreparedDocument) -> bool:
        """Replace all that is derived from a document's text; ``False`` if it is gone."""

        vectors = await self._word_vectors(prepared)

        async def work(connection: Connection) -> bool:
            await run(connection, "lock_archive")
            model_id = (await row(connection, "register_model", self._model.parameters))["id"]
            values = {
                "id": document,
                "language": prepared.language,
                "name_vector": _half(prepared.name_vector),
                "model_id": model_id,
                "fingerprint": self._fingerprint,
                "text_sha256": text_sha256,
            }
            cursor = await connection.execute(statement("refresh_document"), values)
            if await cursor.fetchone() is None:
                return False
            await forget_derived(connection, document, pages=False)
            await write_derived(connection, document, model_id, prepared, vectors, self._embed)
            await run(connection, "bump_revision")
            return True

        return await self._database.run(work, idempotent=True)

    async def remove(self, document: int) -> bytes | None:
        """Forget a document whole; gives its file's SHA-256, ``None`` if it was not there."""

        async def work(connection: Connection) -> bytes | None:
            await run(connection, "lock_archive")
            sha256 = await _forget(connection, document)
            await run(connection, "bump_revision")
            return sha256

        return await self._database.run(work)

    def _parameters(self, file: FileFacts, text_sha256: bytes | None) -> dict[str, Any]:
        """What ``find_twins`` is given."""
        return {
            "file_sha256": file.sha256,
            "text_sha256": text_sha256,
            "path": file.stored_path,
            "fingerprint": self._fingerprint,
            **self._model.parameters,
        }

    async def _twins(self, connection: Connection, parameters: dict[str, Any]) -> list[Twin]:
        cursor = await connection.execute(statement("find_twins"), parameters)
        return [
            Twin(
                id=found["id"],
                name=found["name"],
                paths=tuple(found["paths"] or ()),
                same_path=found["same_path"],
                same_bytes=found["same_bytes"],
                same_text=bool(found["same_text"]),
                current=found["same_index"] and not found["incomplete"],
            )
            for found in await cursor.fetchall()
        ]

    async def _link(self, connection: Connection, file: FileFacts, twin: Twin) -> None:
        gone = [path for path in twin.paths if not Path(path).exists()]
        await _add_source(connection, file, twin.id)
        await run(connection, "forget_sources", {"document_id": twin.id, "paths": gone})

    async def _word_vectors(self, prepared: PreparedDocument) -> dict[str, Vector]:
        """Vectors of the words that the vocabulary lacks; computed before the lock is taken."""
        async with self._database.transaction() as connection:
            model = await row(connection, "register_model", self._model.parameters)
            surfaces = await missing_words(connection, model["id"], prepared)
        return await asyncio.to_thread(embed_words, self._embed, surfaces)


def storable(text: str) -> str:
    """Text as PostgreSQL can hold it: surrogate escapes as ``\\udcNN``, no NUL."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "")


def _half(vector: Vector | None) -> HalfVector | None:
    return None if vector is None else HalfVector(vector)


async def _add_source(connection: Connection, file: FileFacts, document: int) -> None:
    await run(connection, "add_source", {"path": file.stored_path, "document_id": document})


async def _forget(connection: Connection, document: int) -> bytes | None:
    await run(connection, "forget_words", {"document_id": document})
    cursor = await connection.execute(statement("forget_document"), {"document_id": document})
    row = await cursor.fetchone()
    return bytes(row["file_sha256"]) if row else None


def _tables_as_json(text: DocumentText) -> str:
    return json.dumps([[table.header, table.rows] for table in text.tables])
