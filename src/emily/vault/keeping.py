"""Documents of a vault in the database: written in batches, moved, forgotten."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector

from emily.errors import ModelUnavailable, VectorError
from emily.indexing.chunking import Chunk
from emily.indexing.derived import (
    EmbedWords,
    Vector,
    copy_pages_of,
    embed_words,
    forget_derived,
    missing_words,
    row,
    run,
    write_derived_of,
)
from emily.indexing.files import storable
from emily.indexing.pictures import forget_pictures, write_pictures
from emily.indexing.prepare import PreparedDocument, Preparer, ReadyCut, Remembered
from emily.indexing.text import DocumentText
from emily.models.protocols import Matrix, ModelIdentity, PartVectors
from emily.reading.pages import Facts, PictureReading
from emily.retrieval.level_matrix import halves
from emily.store import Connection, Database, statement
from emily.vault.changes import FileState, KnownFile
from emily.vault.files import kind_of
from emily.vault.links import Link
from emily.vault.notes import stem_of
from emily.vault.resolving import key_of

__all__ = ["VERSION", "Draft", "Keeper", "Kept", "WordsOnly", "name_key"]

VERSION = 1
"""Raised when notes are cut or their links are read in another way: they are read again."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A file of a vault that was read and is to be written.

    Attributes:
        path: in the vault, as the store can hold it.
        state: as it lay on the disk.
        sha256: of its bytes.
        before: what was known of it, also under another path; ``None`` for a new one.
        kind: format: ``markdown``, ``pdf`` …
        text: its text; ``None`` where it could not be read.
        title: the title it goes by.
        facts: author and date.
        chunks: its passages; ``None`` to be cut by size.
        digests: of what is embedded of each passage.
        links: in the order in which they stand.
        aliases: other names of it.
        headings: texts of its headings.
        blocks: names of its marked blocks.
        problems: what is wrong with it, as sentences.
        pictures: that it holds.
        archived: the document of the archive that holds these bytes, where there is one.
    """

    path: str
    state: FileState
    sha256: bytes
    before: KnownFile | None
    kind: str = ""
    text: DocumentText | None = None
    title: str = ""
    facts: Facts = field(default_factory=Facts)
    chunks: tuple[Chunk, ...] | None = None
    digests: tuple[bytes, ...] = ()
    links: tuple[Link, ...] = ()
    aliases: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    pictures: tuple[PictureReading, ...] = ()
    archived: int | None = None

    @property
    def name(self) -> str:
        """Its file name."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Kept:
    """What writing files of a vault came to.

    Attributes:
        words_only: paths of those that are found by words alone.
        files: what is known of each now.
        led: paths of those whose links or names are others than before.
    """

    words_only: tuple[str, ...]
    files: tuple[KnownFile, ...]
    led: frozenset[str]


class WordsOnly:
    """Stands in for an embedder that is down: what is written then is found by its words.

    Args:
        identity: of the embedder that is down.
        words_identity: of its words.
    """

    max_tokens = 512
    reserved = 2

    def __init__(self, identity: ModelIdentity, words_identity: ModelIdentity) -> None:
        self.identity = identity
        self.words_identity = words_identity

    def count(self, text: str) -> int:
        """About as many tokens as a tokenizer would count."""
        return max(1, len(text) // 4)

    def embed_queries(self, queries: Sequence[str]) -> Matrix:  # noqa: ARG002
        """Nothing."""
        raise VectorError("the embedder is down")

    def embed_words(self, words: Sequence[str]) -> Matrix:  # noqa: ARG002
        """Nothing."""
        raise VectorError("the embedder is down")

    def rarity(self, words: Sequence[str]) -> NDArray[np.float32]:  # noqa: ARG002
        """Nothing."""
        raise VectorError("the embedder is down")

    def embed_parts(self, parts: Sequence[Sequence[str]]) -> list[PartVectors]:  # noqa: ARG002
        """Nothing."""
        raise VectorError("the embedder is down")


class Keeper:
    """Writes documents of vaults.

    Args:
        database: the store.
        preparer: computes what is kept of them.
        words_only: the same without an embedder.
        model: the embedder whose vectors are written.
        words_model: the model of the vocabulary.
        embed: gives the vectors of words.
        engine: what pictures are read by.
    """

    def __init__(
        self,
        database: Database,
        preparer: Preparer,
        words_only: Preparer,
        model: ModelIdentity,
        words_model: ModelIdentity,
        embed: EmbedWords,
        engine: str,
    ) -> None:
        self._database = database
        self._preparer = preparer
        self._words_only = words_only
        self._model = model
        self._words_model = words_model
        self._embed = embed
        self._engine = engine

    async def write(self, vault: int, folder: str, drafts: Sequence[Draft]) -> Kept:
        """Write files of a vault in one transaction, and embed what of them is new.

        Args:
            vault: its id.
            folder: its path.
            drafts: what to write.

        Returns:
            what came of it.

        Raises:
            StoreUnavailable: the database is lost; none of them was written.
        """
        read = [draft for draft in drafts if draft.text is not None and draft.archived is None]
        prepared = dict(
            zip((draft.path for draft in read), await self._prepared(read), strict=True)
        )
        vectors = await self._word_vectors(prepared.values())

        async def work(connection: Connection) -> tuple[list[KnownFile], set[str]]:
            await run(connection, "lock_archive")
            models = await self._models(connection)
            named = await _names_before(connection, vault, drafts)
            now = await _as_it_is(connection, vault, drafts)
            documents = [
                await self._put_document(
                    connection, vault, folder, draft, prepared.get(draft.path), models[0]
                )
                for draft in now
            ]
            texts, derived = [], []
            for draft, document in zip(now, documents, strict=True):
                if document is not None and draft.path in prepared and draft.text is not None:
                    texts.append((document, draft.text))
                    derived.append((document, prepared[draft.path]))
            await copy_pages_of(connection, texts)
            await write_derived_of(connection, derived, models[1], vectors, self._words_or_none)
            files, led = [], set()
            for draft, document in zip(now, documents, strict=True):
                of = prepared.get(draft.path)
                file, other = await self._put_file(connection, vault, draft, document, of)
                files.append(file)
                if other or named.get(draft.path) != _names_of(draft):
                    led.add(draft.path)
            await run(connection, "bump_revision")

            return files, led

        files, led = await self._database.run(work, idempotent=True)
        poor = tuple(draft.path for draft in read if prepared[draft.path].failures)
        return Kept(poor, tuple(files), frozenset(led))

    async def forget(self, folder: str, files: Iterable[KnownFile]) -> None:
        """Forget files of the vault in a folder that are gone, with their documents."""
        gone = list(files)
        if not gone:
            return

        async def work(connection: Connection) -> None:
            await run(connection, "lock_archive")
            for file in gone:
                if file.document is not None:
                    await _forget_document(connection, file.document)
            places = {"paths": [f"{folder}/{file.path}" for file in gone]}
            await run(connection, "forget_places", places)
            await run(connection, "forget_vault_files", {"ids": [file.id for file in gone]})
            await run(connection, "bump_links")
            await run(connection, "bump_revision")

        await self._database.run(work, idempotent=True)

    async def seen(self, files: Sequence[tuple[KnownFile, FileState]]) -> None:
        """Note the dates of files that turned out to be as they were."""
        if files:
            await self._database.execute(
                "seen_vault_files",
                {
                    "ids": [file.id for file, _ in files],
                    "sizes": [state.size for _, state in files],
                    "times": [state.modified_ns for _, state in files],
                    "inodes": [state.inode for _, state in files],
                },
            )

    async def _prepared(self, drafts: Sequence[Draft]) -> list[PreparedDocument]:
        remembered = await self._remembered(drafts)
        names = await self._names(drafts)
        try:
            return await asyncio.to_thread(_all, self._preparer, drafts, remembered, names)
        except ModelUnavailable:
            return await asyncio.to_thread(_all, self._words_only, drafts, remembered, names)

    async def _remembered(self, drafts: Sequence[Draft]) -> dict[bytes, Remembered]:
        digests = sorted({digest for draft in drafts for digest in draft.digests})
        if not digests:
            return {}
        rows = await self._database.fetch(
            "remembered_vectors", {"digests": digests, **self._model.parameters}
        )
        width = self._model.dimension
        return {
            bytes(found["digest"]): Remembered(
                halves(found["vectors"], width).astype(np.float32),
                bytes(found["sentences"]),
                None
                if found["whole"] is None
                else halves(found["whole"], width).astype(np.float32)[0],
            )
            for found in rows
        }

    async def _names(self, drafts: Sequence[Draft]) -> dict[int, tuple[str, NDArray[np.float32]]]:
        documents = [d.before.document for d in drafts if d.before and d.before.document]
        if not documents:
            return {}
        rows = await self._database.fetch(
            "remembered_names", {"documents": documents, **self._model.parameters}
        )
        return {
            found["id"]: (
                found["name"],
                halves(found["name_vector"], self._model.dimension).astype(np.float32)[0],
            )
            for found in rows
        }

    async def _word_vectors(self, prepared: Iterable[PreparedDocument]) -> dict[str, Vector]:
        surfaces: set[str] = set()
        async with self._database.transaction() as connection:
            _, words = await self._models(connection)
            surfaces.update(await missing_words(connection, words, *prepared))
        return await asyncio.to_thread(self._embedded_words, sorted(surfaces))

    def _embedded_words(self, surfaces: Sequence[str]) -> dict[str, Vector]:
        try:
            return embed_words(self._embed, surfaces)
        except ModelUnavailable:
            return {}

    async def _models(self, connection: Connection) -> tuple[int, int]:
        own = (await row(connection, "register_model", self._model.parameters))["id"]
        words = (await row(connection, "register_model", self._words_model.parameters))["id"]
        return own, words

    async def _put_file(
        self,
        connection: Connection,
        vault: int,
        draft: Draft,
        document: int | None,
        prepared: PreparedDocument | None,
    ) -> tuple[KnownFile, bool]:
        """Write what is known of a file; whether its links are others than before."""
        before = draft.before
        if before is not None and before.path != draft.path:
            await run(connection, "move_vault_file", {"id": before.id, "path": draft.path})
        file = await row(
            connection,
            "put_vault_file",
            {
                "vault_id": vault,
                "path": draft.path,
                "note": draft.state.note,
                "document_id": document,
                "bytes": draft.state.size,
                "modified_ns": draft.state.modified_ns,
                "inode": draft.state.inode,
                "sha256": draft.sha256,
                "version": VERSION,
                # A document of the archive may go without the vault being asked.
                "complete": draft.archived is None and (prepared is None or not prepared.failures),
                "title": draft.title,
                "aliases": list(draft.aliases),
                "headings": list(draft.headings),
                "blocks": list(draft.blocks),
                "problems": list(draft.problems),
            },
        )
        other = await _copy_links(connection, file["id"], draft.links, fresh=before is None)
        complete = draft.archived is None and (prepared is None or not prepared.failures)
        known = KnownFile(
            file["id"], draft.path, draft.state.note, document, draft.state.size,
            draft.state.modified_ns, draft.state.inode, draft.sha256, VERSION, complete=complete,
        )  # fmt: skip
        return known, other or (before is not None and before.path != draft.path)

    def _words_or_none(self, surfaces: Sequence[str]) -> Matrix:
        """Vectors of words that the vocabulary lost meanwhile; none if the embedder is down."""
        try:
            return self._embed(surfaces)
        except ModelUnavailable as error:
            raise VectorError(str(error)) from error

    async def _put_document(
        self,
        connection: Connection,
        vault: int,
        folder: str,
        draft: Draft,
        prepared: PreparedDocument | None,
        model: int,
    ) -> int | None:
        """Write the row of a document and its place; what was derived before of it is gone.

        Returns:
            its id; ``None`` of a file that is not read.
        """
        place = {"path": f"{folder}/{draft.path}", "parent_id": None, "place": None}
        known = None if draft.before is None else draft.before.document
        if prepared is None:
            if draft.archived is not None:
                await run(connection, "add_source", {**place, "document_id": draft.archived})
            elif known is not None:
                await _forget_document(connection, known)
            return draft.archived
        document = await self._put_row(connection, vault, draft, prepared, model)
        if draft.pictures:
            await write_pictures(connection, document, draft.pictures, self._engine)
        if draft.before is not None:
            await run(connection, "forget_sources_of", {"document_id": document})
        await run(connection, "add_source", {**place, "document_id": document})
        return document

    async def _put_row(
        self,
        connection: Connection,
        vault: int,
        draft: Draft,
        prepared: PreparedDocument,
        model: int,
    ) -> int:
        assert draft.text is not None
        text = draft.text
        values: dict[str, Any] = {
            "name": draft.name,
            "kind": draft.kind,
            "title": draft.title or None,
            "language": prepared.language,
            "citation": text.citation,
            "text": text.text,
            "tables": json.dumps([[table.header, table.rows] for table in text.tables]),
            "file_sha256": draft.sha256,
            "text_sha256": draft.sha256,
            "bytes": draft.state.size,
            "warnings": [*draft.problems, *prepared.failures],
            "name_vector": None
            if prepared.name_vector is None
            else HalfVector(prepared.name_vector),
            "model_id": model,
            "fingerprint": self._preparer.fingerprint,
            "author": draft.facts.author,
            "dated": draft.facts.date,
            "date_source": draft.facts.date_source,
            "vault_id": vault,
        }
        known = draft.before.document if draft.before is not None else None
        if known is not None:
            cursor = await connection.execute(statement("replace_note"), {**values, "id": known})
            if await cursor.fetchone() is not None:  # else it is one of the archive, or gone
                await forget_derived(connection, known, pages=True)
                await forget_pictures(connection, known)
                return known
        identity: int = (await row(connection, "add_note", values))["id"]
        return identity


def _all(
    preparer: Preparer,
    drafts: Sequence[Draft],
    remembered: dict[bytes, Remembered],
    names: dict[int, tuple[str, NDArray[np.float32]]],
) -> list[PreparedDocument]:
    """Prepare documents; what is to be embedded of all of them is embedded at once."""
    wanted: dict[bytes, tuple[Chunk, str]] = {}
    for draft in drafts:
        assert draft.text is not None
        for item, digest in zip(draft.chunks or (), draft.digests, strict=True):
            if digest not in remembered:
                wanted.setdefault(digest, (item, draft.text.text[item.start : item.end]))
    found = preparer.remember(
        [item for item, _ in wanted.values()], [text for _, text in wanted.values()]
    )
    known = remembered | {
        digest: item for digest, item in zip(wanted, found, strict=True) if item is not None
    }
    own = [_name_of(draft, names) for draft in drafts]
    missing = [draft.name for draft, vector in zip(drafts, own, strict=True) if vector is None]
    fresh = iter(preparer.names(missing) if missing else [])
    vectors = [vector if vector is not None else next(fresh) for vector in own]
    prepared = []
    for draft, vector in zip(drafts, vectors, strict=True):
        assert draft.text is not None
        cut = None
        if draft.chunks is not None:
            cut = ReadyCut(draft.chunks, draft.digests, known, vector)
        prepared.append(preparer.prepare(draft.text, draft.name, None, cut))
    return prepared


def _name_of(
    draft: Draft, names: dict[int, tuple[str, NDArray[np.float32]]]
) -> NDArray[np.float32] | None:
    """The vector of a document's name, where it had that name before."""
    if draft.before is None or draft.before.document is None:
        return None
    name, vector = names.get(draft.before.document, ("", None))
    return vector if name == draft.name else None


_Names = tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]


async def _names_before(
    connection: Connection, vault: int, drafts: Sequence[Draft]
) -> dict[str, _Names]:
    """Title, aliases, headings and blocks of files as they were known, by path."""
    paths = [draft.path for draft in drafts]
    values = {"vault_id": vault, "ids": [], "paths": paths}
    cursor = await connection.execute(statement("vault_file_rows"), values)
    return {
        row["path"]: (
            row["title"], tuple(row["aliases"]), tuple(row["headings"]), tuple(row["blocks"])
        )
        for row in await cursor.fetchall()
    }  # fmt: skip


def _names_of(draft: Draft) -> _Names:
    return draft.title, draft.aliases, draft.headings, draft.blocks


async def _as_it_is(connection: Connection, vault: int, drafts: Sequence[Draft]) -> list[Draft]:
    """The drafts with what is known of their files by now: another process may have been faster."""
    values = {
        "vault_id": vault,
        "ids": [draft.before.id for draft in drafts if draft.before is not None],
        "paths": [draft.path for draft in drafts],
    }
    cursor = await connection.execute(statement("vault_file_rows"), values)
    rows = await cursor.fetchall()
    by_path = {row["path"]: row for row in rows}
    by_id = {row["id"]: row for row in rows}
    found = []
    for draft in drafts:
        there = by_path.get(draft.path)
        if there is None and draft.before is not None:
            there = by_id.get(draft.before.id)
        before = None
        if there is not None:
            before = KnownFile(
                there["id"], there["path"], draft.state.note, there["document_id"], 0, 0, "", b"",
                0, complete=False,
            )  # fmt: skip
        found.append(replace(draft, before=before))
    return found


async def _forget_document(connection: Connection, document: int) -> None:
    """Forget a document of a vault; one of the archive stays."""
    cursor = await connection.execute(statement("vault_of_document"), {"document_id": document})
    if await cursor.fetchone() is not None:
        await run(connection, "forget_words", {"document_id": document})
        await forget_pictures(connection, document)
        await run(connection, "forget_document", {"document_id": document})


async def _copy_links(
    connection: Connection, file: int, links: Sequence[Link], *, fresh: bool
) -> bool:
    """Write the links of a file; whether they are others than before but for their lines."""
    if fresh and not links:
        return False
    cursor = await connection.execute(statement("links_of_file"), {"file_id": file})
    before = [tuple(found.values()) for found in await cursor.fetchall()]
    rows = [_columns(link) for link in links]
    now = [
        (kind, target, heading, block, embed, line)
        for kind, target, _, heading, block, embed, line in rows
    ]
    if before == now:
        return False
    if [item[:-1] for item in before] == [item[:-1] for item in now]:
        lines = [item[-1] for item in now]
        moved = {"file_id": file, "ordinals": list(range(len(lines))), "lines": lines}
        await run(connection, "move_links", moved)
        return False
    await run(connection, "bump_links")
    await run(connection, "forget_links_of", {"file_id": file})
    columns = (
        "COPY vault_link (file_id, ordinal, kind, target, key, heading, block, embed, line) "
        "FROM STDIN"
    )
    async with connection.cursor() as cursor, cursor.copy(columns) as copy:
        for ordinal, columns_of_link in enumerate(rows):
            await copy.write_row((file, ordinal, *columns_of_link))
    return True


def _columns(link: Link) -> tuple[str, str, str, str | None, str | None, bool, int]:
    """Kind, target, key, heading, block, embed and line of a link."""
    heading, block = (
        None if part is None else storable(part) for part in (link.heading, link.block)
    )
    target = storable(link.target)
    key = target.casefold() if link.kind == "tag" else name_key(target)
    return link.kind, target, key, heading, block, link.embed, link.line


def name_key(name: str) -> str:
    """The last part of a path, title or alias, as names are compared, without ``.md``."""
    last = key_of(name.replace("\\", "/").rstrip("/").rpartition("/")[2])
    return stem_of(last) if kind_of(last) == "markdown" else last
