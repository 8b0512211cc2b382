"""What is derived from a document's text, as rows: pages, chunks, vectors, words, postings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector

from emily.errors import VectorError
from emily.indexing.prepare import PreparedDocument, Word
from emily.indexing.stems import NO_STEMMER, configuration
from emily.indexing.text import DocumentText
from emily.models.protocols import Matrix
from emily.store import Connection, statement

__all__ = [
    "EmbedWords",
    "Vector",
    "copy_pages",
    "copy_pages_of",
    "embed_words",
    "forget_derived",
    "missing_words",
    "row",
    "run",
    "write_derived",
    "write_derived_of",
]

EmbedWords = Callable[[Sequence[str]], Matrix]
"""Gives the vectors of words of the vocabulary."""

Vector = NDArray[np.float32]


def embed_words(embed: EmbedWords, surfaces: Sequence[str]) -> dict[str, Vector]:
    """Vectors of words; one on which the embedder fails is left out of the vocabulary."""
    if not surfaces:
        return {}
    try:
        return dict(zip(surfaces, embed(surfaces), strict=True))
    except VectorError:
        if len(surfaces) == 1:
            return {}
        middle = len(surfaces) // 2
        return embed_words(embed, surfaces[:middle]) | embed_words(embed, surfaces[middle:])


async def missing_words(
    connection: Connection, model_id: int, *prepared: PreparedDocument
) -> list[str]:
    """Surfaces of documents' words that the vocabulary does not hold."""
    wanted, known = await _vocabulary(connection, model_id, prepared)
    return sorted({surface for surface, language in wanted if (surface, language) not in known})


async def _vocabulary(
    connection: Connection, model_id: int, prepared: Sequence[PreparedDocument]
) -> tuple[list[Word], dict[Word, int]]:
    """The documents' words in order, and the ids of those that the vocabulary holds."""
    wanted = sorted(set().union(*(item.words for of in prepared for item in of.chunks)))
    values = {
        "model_id": model_id,
        "surfaces": [surface for surface, _ in wanted],
        "languages": [language for _, language in wanted],
    }
    cursor = await connection.execute(statement("known_words"), values)
    rows = await cursor.fetchall()
    return wanted, {(row["surface"], row["language"]): row["id"] for row in rows}


async def write_derived(
    connection: Connection,
    document: int,
    model_id: int,
    prepared: PreparedDocument,
    vectors: dict[str, Vector],
    embed: EmbedWords,
) -> None:
    """Write chunks, vectors, words and postings of a document whose row is there.

    Args:
        connection: inside the writing transaction, which holds the archive's lock.
        document: its id.
        model_id: the model whose vectors of words are written.
        prepared: what was computed of it.
        vectors: vectors of words that the vocabulary lacked when it was looked at.
        embed: gives those that it lacks by now.
    """
    await write_derived_of(connection, [(document, prepared)], model_id, vectors, embed)


async def write_derived_of(
    connection: Connection,
    documents: Sequence[tuple[int, PreparedDocument]],
    model_id: int,
    vectors: dict[str, Vector],
    embed: EmbedWords,
) -> None:
    """The same of several documents, whose rows go to the server together.

    Args:
        connection: as in ``write_derived``.
        documents: their ids, and what was computed of each.
        model_id: as in ``write_derived``.
        vectors: as in ``write_derived``.
        embed: as in ``write_derived``.
    """
    words = await _write_words(connection, documents, model_id, vectors, embed)
    count = sum(len(prepared.chunks) for _, prepared in documents)
    ids = iter(await _ids(connection, "chunk_ids", count))
    numbered = [
        (document, prepared, [next(ids) for _ in prepared.chunks])
        for document, prepared in documents
    ]
    columns = (
        "COPY chunk (id, document_id, ordinal, page, start_at, end_at, header, language, "
        "tokens, terms, words, sentences, digest) FROM STDIN"
    )
    async with connection.cursor() as cursor, cursor.copy(columns) as copy:
        for document, prepared, own in numbered:
            for identity, item, length in zip(own, prepared.chunks, prepared.lengths, strict=True):
                place = item.chunk
                await copy.write_row(
                    (
                        identity, document, place.ordinal, place.page, place.start, place.end,
                        place.header, item.language, place.tokens, length,
                        _array(sorted(words[word] for word in item.words if word in words)),
                        item.sentences, item.digest,
                    )
                )  # fmt: skip
    columns = "COPY chunk_vector (chunk_id, part, vector) FROM STDIN (FORMAT binary)"
    async with connection.cursor() as cursor, cursor.copy(columns) as copy:
        copy.set_types(["int8", "int2", "halfvec"])
        for _, prepared, own in numbered:
            for identity, item in zip(own, prepared.chunks, strict=True):
                for part, vector in enumerate(item.parts):
                    await copy.write_row((identity, part, HalfVector(vector)))
    columns = "COPY posting (term, document_id, chunk_ids, frequencies, lengths) FROM STDIN"
    async with connection.cursor() as cursor, cursor.copy(columns) as copy:
        for document, prepared, own in numbered:
            for term, posting in sorted(prepared.postings.items()):
                await copy.write_row(
                    (
                        term,
                        document,
                        _array(own[index] for index in posting.chunks),
                        _array(posting.frequencies),
                        _array(prepared.lengths[index] for index in posting.chunks),
                    )
                )
    for document, prepared, own in numbered:
        if prepared.whole is not None:
            await _write_whole(connection, document, own, prepared)


async def _write_whole(
    connection: Connection, document: int, ids: Sequence[int], prepared: PreparedDocument
) -> None:
    """Write what the preset ``archive`` looks in: stems and a vector of each chunk."""
    assert prepared.whole is not None
    spoken = [item.language for item in prepared.chunks]
    values = {
        "document_id": document,
        "chunks": list(ids),
        "languages": [language or NO_STEMMER for language in spoken],
        "configurations": [configuration(language) for language in spoken],
        "texts": [text for text, _ in prepared.whole],
    }
    await run(connection, "add_stems", values)
    columns = "COPY chunk_whole (chunk_id, vector) FROM STDIN (FORMAT binary)"
    async with connection.cursor() as cursor, cursor.copy(columns) as copy:
        copy.set_types(["int8", "halfvec"])
        for identity, (_, vector) in zip(ids, prepared.whole, strict=True):
            if vector is not None:
                await copy.write_row((identity, HalfVector(vector)))


async def forget_derived(connection: Connection, document: int, *, pages: bool) -> None:
    """Forget what is derived from a document's text, with its pages if they are read anew."""
    names = ["forget_words", "forget_chunks", "forget_postings", "forget_stems"]
    for name in [*names, "forget_pages"] if pages else names:
        await run(connection, name, {"document_id": document})


async def copy_pages(connection: Connection, document: int, text: DocumentText) -> None:
    """Write the pages of a document whose row is there."""
    await copy_pages_of(connection, [(document, text)])


async def copy_pages_of(
    connection: Connection, documents: Sequence[tuple[int, DocumentText]]
) -> None:
    """Write the pages of several documents whose rows are there."""
    columns = (
        "COPY page (document_id, number, start_at, end_at, route, warning, confidence, pictures) "
        "FROM STDIN"
    )
    async with connection.cursor() as cursor, cursor.copy(columns) as copy:
        for document, text in documents:
            for page in text.pages:
                await copy.write_row(
                    (
                        document,
                        page.number,
                        page.start,
                        page.end,
                        page.route,
                        page.warning,
                        page.confidence,
                        page.pictures,
                    )
                )


async def _write_words(
    connection: Connection,
    documents: Sequence[tuple[int, PreparedDocument]],
    model_id: int,
    vectors: dict[str, Vector],
    embed: EmbedWords,
) -> dict[Word, int]:
    """Ids of the documents' words, new ones added with their vectors."""
    wanted, known = await _vocabulary(connection, model_id, [item for _, item in documents])
    # A word may have gone with another document since its vector was looked for.
    gone = {word[0] for word in wanted if word not in known and word[0] not in vectors}
    vectors = vectors | embed_words(embed, sorted(gone))
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
        for document, prepared in documents:
            own = set().union(*(item.words for item in prepared.chunks))
            for identity in sorted(known[word] for word in own if word in known):
                await copy.write_row((document, identity))
    return known


async def run(connection: Connection, name: str, parameters: dict[str, Any] | None = None) -> None:
    """Run a named statement."""
    await connection.execute(statement(name), parameters or {})


async def row(
    connection: Connection, name: str, parameters: dict[str, Any] | None = None
) -> dict[str, Any]:
    """The one row of a named statement that always has one."""
    cursor = await connection.execute(statement(name), parameters or {})
    found = await cursor.fetchone()
    assert found is not None
    return found


async def _ids(connection: Connection, name: str, count: int) -> list[int]:
    """Numbers from a sequence, for rows that are copied in."""
    cursor = await connection.execute(statement(name), {"count": count})
    return [row["id"] for row in await cursor.fetchall()]


def _array(numbers: Iterable[int]) -> str:
    """Integers as COPY reads an array; the driver's own way takes most of the time of writing."""
    return "{" + ",".join(map(str, numbers)) + "}"
