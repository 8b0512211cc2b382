"""The writing side of the archive: each document comes, changes or goes in one transaction."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector

from emily.errors import VectorError
from emily.indexing.prepare import PreparedDocument, Word
from emily.indexing.report import Outcome
from emily.indexing.text import DocumentText
from emily.models.protocols import Matrix, ModelIdentity
from emily.store import Connection, Database, statement

__all__ = ["Archive", "FileFacts", "Twin", "Written", "storable"]

EmbedWords = Callable[[Sequence[str]], Matrix]
Vector = NDArray[np.float32]


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
        parameters = _twin_parameters(file, text_sha256)
        async with self._database.transaction() as connection:
            return await self._twins(connection, parameters)

    async def link(self, file: FileFacts, twin: Twin) -> None:
        """Note that a document is kept at one more path, and forget paths that are gone."""

        async def work(connection: Connection) -> None:
            await _run(connection, "lock_archive")
            await self._link(connection, file, twin)
            await _run(connection, "bump_revision")

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
            await _run(connection, "lock_archive")
            twins = await self._twins(connection, _twin_parameters(file, text_sha256))
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
                await _run(connection, "bump_revision")
                return Written("duplicate", other.id, other, forgotten)
            if own is not None and own.same_bytes and own.current:
                return Written("unchanged", own.id)  # another process was faster
            model_id = (await _row(connection, "register_model", _identity(self._model)))["id"]
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
                    old = await _row(connection, "file_of", {"document_id": document})
                    forgotten = bytes(old["file_sha256"])
                await _forget_derived(connection, document, pages=True)
                await _run(connection, "replace_document", {**values, "id": document})
            else:
                document = (await _row(connection, "add_document", values))["id"]
                await _add_source(connection, file, document)
            await _copy_pages(connection, document, text)
            await self._write_derived(connection, document, model_id, prepared, vectors)
            await _run(connection, "bump_revision")
            return Written(outcome, document, forgotten=forgotten)

        return await self._database.run(work, idempotent=True)

    async def rewrite(self, document: int, text_sha256: bytes, prepared: PreparedDocument) -> bool:
        """Replace all that is derived from a document's text; ``False`` if it is gone."""

        vectors = await self._word_vectors(prepared)

        async def work(connection: Connection) -> bool:
            await _run(connection, "lock_archive")
            model_id = (await _row(connection, "register_model", _identity(self._model)))["id"]
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
            await _forget_derived(connection, document, pages=False)
            await self._write_derived(connection, document, model_id, prepared, vectors)
            await _run(connection, "bump_revision")
            return True

        return await self._database.run(work, idempotent=True)

    async def remove(self, document: int) -> bytes | None:
        """Forget a document whole; gives its file's SHA-256, ``None`` if it was not there."""

        async def work(connection: Connection) -> bytes | None:
            await _run(connection, "lock_archive")
            sha256 = await _forget(connection, document)
            await _run(connection, "bump_revision")
            return sha256

        return await self._database.run(work)

    async def _twins(self, connection: Connection, parameters: dict[str, Any]) -> list[Twin]:
        cursor = await connection.execute(statement("find_twins"), parameters)
        rows = await cursor.fetchall()
        model_id = None
        if rows:
            found = await _row(connection, "register_model", _identity(self._model))
            model_id = found["id"]
        return [
            Twin(
                id=row["id"],
                name=row["name"],
                paths=tuple(row["paths"] or ()),
                same_path=row["same_path"],
                same_bytes=row["same_bytes"],
                same_text=bool(row["same_text"]),
                current=row["fingerprint"] == self._fingerprint
                and row["model_id"] == model_id
                and not row["incomplete"],
            )
            for row in rows
        ]

    async def _link(self, connection: Connection, file: FileFacts, twin: Twin) -> None:
        gone = [path for path in twin.paths if not Path(path).exists()]
        await _add_source(connection, file, twin.id)
        await _run(connection, "forget_sources", {"document_id": twin.id, "paths": gone})

    async def _word_vectors(self, prepared: PreparedDocument) -> dict[str, Vector]:
        """Vectors of the words that the vocabulary lacks; computed before the lock is taken."""
        wanted = sorted(set().union(*(item.words for item in prepared.chunks)))
        async with self._database.transaction() as connection:
            row = await _row(connection, "register_model", _identity(self._model))
            known = await _words(connection, "known_words", wanted, {"model_id": row["id"]})
        surfaces = sorted({word[0] for word in wanted if word not in known})
        return await asyncio.to_thread(self._embed_words, surfaces)

    def _embed_words(self, surfaces: Sequence[str]) -> dict[str, Vector]:
        """Vectors of words; one on which the embedder fails is left out of the vocabulary."""
        if not surfaces:
            return {}
        try:
            return dict(zip(surfaces, self._embed(surfaces), strict=True))
        except VectorError:
            if len(surfaces) == 1:
                return {}
            middle = len(surfaces) // 2
            return self._embed_words(surfaces[:middle]) | self._embed_words(surfaces[middle:])

    async def _write_derived(
        self,
        connection: Connection,
        document: int,
        model_id: int,
        prepared: PreparedDocument,
        vectors: dict[str, Vector],
    ) -> None:
        """Chunks, vectors, words and postings of a document whose row is there."""
        words = await self._write_words(connection, document, model_id, prepared, vectors)
        ids = await _ids(connection, "chunk_ids", len(prepared.chunks))
        columns = (
            "COPY chunk (id, document_id, ordinal, page, start_at, end_at, header, language, "
            "tokens, terms, words, sentences) FROM STDIN"
        )
        async with connection.cursor() as cursor, cursor.copy(columns) as copy:
            for identity, item, length in zip(ids, prepared.chunks, prepared.lengths, strict=True):
                place = item.chunk
                await copy.write_row(
                    (
                        identity, document, place.ordinal, place.page, place.start, place.end,
                        place.header, item.language, place.tokens, length,
                        _array(sorted(words[word] for word in item.words if word in words)),
                        item.sentences,
                    )
                )  # fmt: skip
        columns = "COPY chunk_vector (chunk_id, part, vector) FROM STDIN (FORMAT binary)"
        async with connection.cursor() as cursor, cursor.copy(columns) as copy:
            copy.set_types(["int8", "int2", "halfvec"])
            for identity, item in zip(ids, prepared.chunks, strict=True):
                for part, vector in enumerate(item.parts):
                    await copy.write_row((identity, part, HalfVector(vector)))
        columns = "COPY posting (term, document_id, chunk_ids, frequencies, lengths) FROM STDIN"
        async with connection.cursor() as cursor, cursor.copy(columns) as copy:
            for term, posting in sorted(prepared.postings.items()):
                await copy.write_row(
                    (
                        term,
                        document,
                        _array(ids[index] for index in posting.chunks),
                        _array(posting.frequencies),
                        _array(prepared.lengths[index] for index in posting.chunks),
                    )
                )

    async def _write_words(
        self,
        connection: Connection,
        document: int,
        model_id: int,
        prepared: PreparedDocument,
        vectors: dict[str, Vector],
    ) -> dict[Word, int]:
        """Ids of the document's words, new ones added with their vectors."""
        wanted = sorted(set().union(*(item.words for item in prepared.chunks)))
        known = await _words(connection, "known_words", wanted, {"model_id": model_id})
        # A word may have gone with another document since its vector was looked for.
        gone = {word[0] for word in wanted if word not in known and word[0] not in vectors}
        vectors = vectors | self._embed_words(sorted(gone))
        fresh = [word for word in wanted if word not in known and word[0] in vectors]
        ids = await _ids(connection, "word_ids", len(fresh))
        known |= dict(zip(fresh, ids, strict=True))
        # The lock makes this process the only writer, so no other can add the same word.
        columns = "COPY word (id, surface, language, model_id, vector) FROM STDIN (FORMAT binary)"
        async with connection.cursor() as cursor, cursor.copy(columns) as copy:
            copy.set_types(["int8", "text", "text", "int4", "halfvec"])
            for (surface, language), identity in zip(fresh, ids, strict=True):
                vector = HalfVector(vectors[surface])
                await copy.write_row((identity, surface, language, model_id, vector))
        async with (
            connection.cursor() as cursor,
            cursor.copy("COPY document_word (document_id, word_id) FROM STDIN") as copy,
        ):
            for identity in sorted(known.values()):
                await copy.write_row((document, identity))
        return known


def storable(text: str) -> str:
    """Text as PostgreSQL can hold it: surrogate escapes as ``\\udcNN``, no NUL."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "")


def _array(numbers: Iterable[int]) -> str:
    """Integers as COPY reads an array; the driver's own way takes most of the time of writing."""
    return "{" + ",".join(map(str, numbers)) + "}"


def _half(vector: Vector | None) -> HalfVector | None:
    return None if vector is None else HalfVector(vector)


async def _run(connection: Connection, name: str, parameters: dict[str, Any] | None = None) -> None:
    await connection.execute(statement(name), parameters or {})


async def _row(
    connection: Connection, name: str, parameters: dict[str, Any] | None = None
) -> dict[str, Any]:
    cursor = await connection.execute(statement(name), parameters or {})
    row = await cursor.fetchone()
    assert row is not None
    return row


async def _ids(connection: Connection, name: str, count: int) -> list[int]:
    """Numbers from a sequence, for rows that are copied in."""
    cursor = await connection.execute(statement(name), {"count": count})
    return [row["id"] for row in await cursor.fetchall()]


async def _words(
    connection: Connection, name: str, words: Sequence[Word], parameters: dict[str, Any]
) -> dict[Word, int]:
    values = {
        "surfaces": [surface for surface, _ in words],
        "languages": [language for _, language in words],
        **parameters,
    }
    cursor = await connection.execute(statement(name), values)
    return {(row["surface"], row["language"]): row["id"] for row in await cursor.fetchall()}


async def _add_source(connection: Connection, file: FileFacts, document: int) -> None:
    await _run(connection, "add_source", {"path": file.stored_path, "document_id": document})


async def _forget(connection: Connection, document: int) -> bytes | None:
    await _run(connection, "forget_words", {"document_id": document})
    cursor = await connection.execute(statement("forget_document"), {"document_id": document})
    row = await cursor.fetchone()
    return bytes(row["file_sha256"]) if row else None


async def _forget_derived(connection: Connection, document: int, *, pages: bool) -> None:
    names = ["forget_words", "forget_chunks", "forget_postings"]
    for name in [*names, "forget_pages"] if pages else names:
        await _run(connection, name, {"document_id": document})


async def _copy_pages(connection: Connection, document: int, text: DocumentText) -> None:
    columns = "COPY page (document_id, number, start_at, end_at, route, warning) FROM STDIN"
    async with connection.cursor() as cursor, cursor.copy(columns) as copy:
        for page in text.pages:
            await copy.write_row(
                (document, page.number, page.start, page.end, page.route, page.warning)
            )


def _tables_as_json(text: DocumentText) -> str:
    return json.dumps([[table.header, table.rows] for table in text.tables])


def _twin_parameters(file: FileFacts, text_sha256: bytes | None) -> dict[str, Any]:
    return {
        "file_sha256": file.sha256,
        "text_sha256": text_sha256,
        "path": file.stored_path,
    }


def _identity(model: ModelIdentity) -> dict[str, Any]:
    return {"name": model.name, "profile": model.profile, "dimension": model.dimension}
