"""The writing side of the archive: each document comes, changes or goes in one transaction."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from uuid import uuid4

from pgvector import HalfVector

from emily.errors import UnknownDocument
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
from emily.indexing.files import INSIDE, FileFacts, Twin, Written, is_there
from emily.indexing.pictures import forget_pictures, write_pictures
from emily.indexing.prepare import PreparedDocument
from emily.indexing.report import Outcome
from emily.indexing.text import DocumentText
from emily.indexing.versions import keep_version, not_needed
from emily.models.protocols import ModelIdentity
from emily.reading.pages import Facts, PictureReading
from emily.store import Connection, Database, statement

__all__ = ["Archive"]


class Archive:
    """Writes documents; one transaction each, one writer at a time."""

    def __init__(
        self,
        database: Database,
        model: ModelIdentity,
        fingerprint: str,
        embed: EmbedWords,
        engine: str = "",
        words_model: ModelIdentity | None = None,
        versions: int = 20,
    ) -> None:
        """Bind to a database and to what documents are indexed with.

        Args:
            database: the store.
            model: the embedder whose vectors are written.
            fingerprint: the settings that prepared documents depend on.
            embed: gives the vectors of vocabulary words; called for new words only.
            engine: what pictures are read by; what another left unread is read again.
            words_model: whose vectors ``embed`` gives; ``None`` for ``model``.
            versions: most earlier versions of a document that are kept.
        """
        self._versions = versions
        self._database = database
        self._model = model
        self._fingerprint = fingerprint
        self._embed = embed
        self._engine = engine
        self._words_model = words_model or model

    @property
    def model(self) -> ModelIdentity:
        """Whose vectors are written."""
        return self._model

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
        self,
        file: FileFacts,
        text: DocumentText,
        text_sha256: bytes,
        prepared: PreparedDocument,
        pictures: Sequence[PictureReading] = (),
    ) -> Written:
        """Put a file in: as a new document, in place of the one at its path, or not at all.

        Args:
            file: what is known of it.
            text: of all its pages.
            text_sha256: of the text without cosmetic differences, and of the files inside of it.
            prepared: what is derived from the text.
            pictures: that it holds.

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
            if file.into is not None and own is None:
                raise _Gone
            other = next(
                (
                    twin
                    for twin in twins
                    if not twin.same_path and (twin.same_bytes or twin.same_text)
                ),
                None,
            )
            if other is not None and (other.trashed_at is not None or file.into is not None):
                return Written("duplicate", other.id, other)
            if other is not None:
                forgotten: tuple[bytes, ...] = ()
                if own is not None and own.paths == (file.stored_path,):
                    forgotten = await _forget(connection, own.id)
                elif own is not None:
                    await _leave(connection, file, own)
                await self._link(connection, file, other)
                await run(connection, "bump_revision")
                return Written("duplicate", other.id, other, forgotten)
            if own is not None and own.same_bytes and own.current:
                return Written("unchanged", own.id)  # another process was faster
            if own is not None and file.into is None and own.current and _stands(own, file):
                return Written("duplicate", own.id, own)
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
                "parts_open": file.parts,
                **await _described(connection, file.facts),
            }
            outcome: Outcome = "added"
            forgotten = ()
            # One document holds these bytes, and one this text: it is renewed at all its paths.
            if own is not None and (
                own.paths == (file.stored_path,)
                or own.same_bytes
                or own.same_text
                or file.into is not None
            ):
                outcome, document = "replaced", own.id
                if not own.same_bytes:
                    forgotten = await keep_version(connection, document, self._versions)
                await forget_derived(connection, document, pages=True)
                await run(connection, "replace_document", {**values, "id": document})
                forgotten = await not_needed(connection, forgotten)
                if file.into is not None and file.standing is None:
                    await run(connection, "forget_all_sources", {"document_id": document})
            else:
                if own is not None:
                    await _leave(connection, file, own)
                document = (await row(connection, "add_document", values))["id"]
            await _add_source(connection, file, document)
            await copy_pages(connection, document, text)
            await write_pictures(connection, document, pictures, self._engine)
            words_model = await self._words_model_id(connection)
            await write_derived(connection, document, words_model, prepared, vectors, self._embed)
            await run(connection, "bump_revision")
            return Written(outcome, document, forgotten=forgotten, renewed=_renewed(own))

        try:
            return await self._database.run(work, idempotent=True)
        except _Gone:
            raise UnknownDocument(
                f"Document {file.into} is not there any more, so nothing was replaced."
            ) from None

    async def rewrite(
        self,
        document: int,
        text_sha256: bytes,
        prepared: PreparedDocument,
        first: Callable[[Connection], Awaitable[None]] | None = None,
    ) -> bool:
        """Replace all that is derived from a document's text; ``False`` if it is gone.

        Args:
            document: its id.
            text_sha256: of the text that ``prepared`` is of.
            prepared: what is derived from it.
            first: done before, in the same transaction.
        """

        vectors = await self._word_vectors(prepared)

        async def work(connection: Connection) -> bool:
            await run(connection, "lock_archive")
            if first is not None:
                await first(connection)
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
            words_model = await self._words_model_id(connection)
            await write_derived(connection, document, words_model, prepared, vectors, self._embed)
            await run(connection, "bump_revision")
            return True

        return await self._database.run(work, idempotent=True)

    async def write_note(
        self, document: int, name: str, text: DocumentText, prepared: PreparedDocument
    ) -> int | None:
        """Put in a note of the owner's on a document; its id, ``None`` if the document is gone.

        Args:
            document: that it is on.
            name: of that document, which its chunks are found by as well.
            text: of the note.
            prepared: what is derived from it.
        """
        vectors = await self._word_vectors(prepared)
        mark = uuid4().bytes * 2  # a note has no file, and two notes may say the same

        async def work(connection: Connection) -> int | None:
            await run(connection, "lock_archive")
            model_id = (await row(connection, "register_model", self._model.parameters))["id"]
            values = {
                "document_id": document,
                "name": name,
                "language": prepared.language,
                "text": text.text,
                "mark": mark,
                "bytes": len(text.text.encode()),
                "name_vector": _half(prepared.name_vector),
                "model_id": model_id,
                "fingerprint": self._fingerprint,
            }
            cursor = await connection.execute(statement("add_owner_note"), values)
            found = await cursor.fetchone()
            if found is None:
                return None
            note: int = found["id"]
            words_model = await self._words_model_id(connection)
            await copy_pages(connection, note, text)
            await write_derived(connection, note, words_model, prepared, vectors, self._embed)
            await run(connection, "bump_revision")
            return note

        return await self._database.run(work)

    async def given_name(self, file: FileFacts) -> str | None:
        """The name that the owner gave the document that a file is of, if there is one."""
        found = await self._database.fetch_one(
            "given_name", {"into": file.into, "path": file.stored_path}
        )
        name: str | None = None if found is None else found["given_name"]
        return name

    async def unneeded(self, digests: Sequence[bytes]) -> tuple[bytes, ...]:
        """Those files, by SHA-256, that no document and no version of one is made of."""
        async with self._database.transaction() as connection:
            return await not_needed(connection, digests)

    async def remove(
        self, document: int, first: Callable[[Connection], Awaitable[None]] | None = None
    ) -> tuple[bytes, ...]:
        """Forget a document whole, and those inside of it that lie nowhere else.

        Args:
            document: its id.
            first: done before, in the same transaction.

        Returns:
            SHA-256 of the files that went; none if it was not there.
        """

        async def work(connection: Connection) -> tuple[bytes, ...]:
            await run(connection, "lock_archive")
            if first is not None:
                await first(connection)
            forgotten = await _forget(connection, document)
            await run(connection, "bump_revision")
            return forgotten

        return await self._database.run(work)

    async def finish_parts(
        self, document: int, paths: Sequence[str], warnings: Sequence[str]
    ) -> tuple[bytes, ...]:
        """Note that the files inside of a document are all taken in.

        What lay inside of an earlier content of it, and nowhere else, is forgotten.

        Args:
            document: the outer one.
            paths: stored paths of those that it holds now.
            warnings: about those that could not be read.

        Returns:
            SHA-256 of the files that went.
        """

        async def work(connection: Connection) -> tuple[bytes, ...]:
            await run(connection, "lock_archive")
            values = {"document_id": document, "paths": list(paths), "warnings": list(warnings)}
            await run(connection, "forget_parts", values)
            await run(connection, "close_parts", values)
            forgotten = await _forget_orphans(connection)
            await run(connection, "bump_revision")
            return forgotten

        return await self._database.run(work, idempotent=True)

    async def picture(self, sha256: bytes) -> PictureReading | None:
        """What was read in a picture by the present engine, if it was."""
        found = await self._database.fetch_one(
            "known_picture", {"sha256": sha256, "engine": self._engine}
        )
        if found is None:
            return None
        return PictureReading(sha256, 1, found["route"], found["text"], found["confidence"])

    def _parameters(self, file: FileFacts, text_sha256: bytes | None) -> dict[str, Any]:
        """What ``find_twins`` is given."""
        return {
            "file_sha256": file.sha256,
            "text_sha256": text_sha256,
            "path": file.stored_path,
            "passwords": file.passwords,
            "engine": self._engine,
            "into": file.into,
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
                same_index=found["same_index"],
                incomplete=found["incomplete"],
                trashed_at=found["trashed_at"],
            )
            for found in await cursor.fetchall()
        ]

    async def _link(self, connection: Connection, file: FileFacts, twin: Twin) -> None:
        gone = [path for path in twin.paths if not is_there(path)]
        for path in gone:
            await _move_parts(connection, path, file.stored_path)
        await _add_source(connection, file, twin.id)
        await run(connection, "forget_sources", {"document_id": twin.id, "paths": gone})

    async def _word_vectors(self, prepared: PreparedDocument) -> dict[str, Vector]:
        """Vectors of the words that the vocabulary lacks; computed before the lock is taken."""
        async with self._database.transaction() as connection:
            words_model = await self._words_model_id(connection)
            surfaces = await missing_words(connection, words_model, prepared)
        return await asyncio.to_thread(embed_words, self._embed, surfaces)

    async def _words_model_id(self, connection: Connection) -> int:
        found = await row(connection, "register_model", self._words_model.parameters)
        identity: int = found["id"]
        return identity


def _stands(own: Twin, file: FileFacts) -> bool:
    """Whether a document keeps the bytes it has, though a file of it differs in its look.

    Those of the file that is cited count while it is there. Else two files of one text would take
    each other's place at every add.
    """
    cited = own.paths[0] if own.paths else file.stored_path
    return own.same_text and not own.same_bytes and cited != file.stored_path and is_there(cited)


def _renewed(own: Twin | None) -> str | None:
    """Why a document was written again, if its file is as it was."""
    if own is None or not own.same_bytes:
        return None
    if not own.same_index:
        return "It was indexed with other settings or by another model."
    return "It was not read or indexed whole before."


def _half(vector: Vector | None) -> HalfVector | None:
    return None if vector is None else HalfVector(vector)


async def _add_source(connection: Connection, file: FileFacts, document: int) -> None:
    outer = file.enclosure
    values = {
        "path": file.stored_path,
        "document_id": document,
        "parent_id": None if outer is None else outer.parent,
        "place": None if outer is None else outer.place,
    }
    await run(connection, "add_source", values)


async def _leave(connection: Connection, file: FileFacts, own: Twin) -> None:
    """Cite what lies inside of a document by another of its paths: at this one is another now."""
    others = [path for path in own.paths if path != file.stored_path]
    there = [path for path in others if is_there(path)]
    await _move_parts(connection, file.stored_path, (there or others)[0])


async def _move_parts(connection: Connection, old: str, new: str) -> None:
    values = {"old": old, "new": new, "inside": old + INSIDE}
    await run(connection, "move_parts", values)


class _Gone(Exception):
    """The document that a file was to become a version of is not there; never seen outside."""


async def _forget(connection: Connection, document: int) -> tuple[bytes, ...]:
    """Forget a document, and those that lay inside of it alone; SHA-256 of their files."""
    gone = (
        *await _forget_one(connection, document),
        *await _forget_orphans(connection),
    )
    return await not_needed(connection, gone)


async def _forget_orphans(connection: Connection) -> tuple[bytes, ...]:
    """Forget documents that lie nowhere: the file that held them is gone or holds others now."""
    forgotten: list[bytes] = []
    while True:  # an orphan may have held others
        cursor = await connection.execute(statement("orphans"))
        orphans = await cursor.fetchall()
        if not orphans:
            return tuple(forgotten)
        for orphan in orphans:
            forgotten += await _forget_one(connection, orphan["id"])


async def _forget_one(connection: Connection, document: int) -> tuple[bytes, ...]:
    cursor = await connection.execute(statement("ids_of_notes"), {"document_id": document})
    for note in await cursor.fetchall():
        await _forget_one(connection, note["id"])
    await run(connection, "forget_words", {"document_id": document})
    await forget_pictures(connection, document)
    cursor = await connection.execute(statement("files_of_versions"), {"document_id": document})
    versions = [bytes(version["file_sha256"]) for version in await cursor.fetchall()]
    cursor = await connection.execute(statement("forget_document"), {"document_id": document})
    gone = await cursor.fetchone()
    return (bytes(gone["file_sha256"]), *versions) if gone else ()


async def _described(connection: Connection, facts: Facts) -> dict[str, Any]:
    """The columns of a document's facts; a mail joins the thread of what it answers."""
    thread = None
    if facts.message_id is not None:
        known = {"message_id": facts.message_id, "references": list(facts.references)}
        cursor = await connection.execute(statement("thread_of"), known)
        found = await cursor.fetchone()
        first = facts.references[0] if facts.references else facts.message_id
        thread = found["thread"] if found else first
        if thread != facts.message_id:
            await run(connection, "join_thread", {**known, "thread": thread})
    return {
        "author": facts.author,
        "dated": facts.date,
        "date_source": facts.date_source,
        "correspondents": json.dumps(
            [[person.role, person.name, person.address] for person in facts.correspondents]
        ),
        "message_id": facts.message_id,
        "thread": thread,
    }


def _tables_as_json(text: DocumentText) -> str:
    return json.dumps([[table.header, table.rows] for table in text.tables])
