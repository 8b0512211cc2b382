"""Changing the embedder of an archive that stays searchable.

Vectors of the new model grow beside those in use, document by document, and can be interrupted
and taken up again. When every document has them, one transaction puts them in their place. What
a document is cut into, its words and their postings do not depend on the model, and stay.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector

from emily.indexing.chunking import Chunk
from emily.indexing.derived import row, run
from emily.indexing.discretion import is_private
from emily.indexing.prepare import EmbeddedDocument, Preparer
from emily.models.protocols import ModelIdentity
from emily.models.servers import confidential
from emily.store import Connection, Database, statement

__all__ = ["Step", "Switch", "SwitchReport"]

_ENDING = ("switch_end_chunks", "switch_end_vectors", "switch_end_documents")
_OTHERS = ("forget_other_next_chunks", "forget_other_next_vectors", "forget_other_next_documents")
_SWITCH = (
    "switch_forget_vectors",
    "switch_vectors",
    "switch_sentences",
    "switch_forget_wholes",
    "switch_wholes",
    "switch_documents",
)

Step = Callable[[str, int, int], None]
"""Told of progress: the document at hand, how many are done, of how many."""


@dataclass(frozen=True, slots=True)
class SwitchReport:
    """What changing the model came to.

    Attributes:
        embedded: documents that were embedded now; those of an interrupted run are not counted.
        documents: documents whose vectors were put in place.
        failures: chunks without a vector, each with its reason, of the documents embedded now.
    """

    embedded: int
    documents: int
    failures: tuple[str, ...]


class Switch:
    """Embeds an archive with another model, and switches to it at the end."""

    def __init__(self, database: Database, preparer: Preparer, model: ModelIdentity) -> None:
        """Bind to the store and the new model.

        Args:
            database: the store.
            preparer: with the new embedder.
            model: the new embedder's identity.
        """
        self._database = database
        self._preparer = preparer
        self._model = model

    async def run(self, step: Step = lambda *_: None) -> SwitchReport:
        """Embed what is not embedded yet, then switch.

        Documents that come or change meanwhile are embedded as well. Cancelled or cut off at any
        moment, the archive is as it was, and the next run goes on where this one ended.

        Raises:
            ModelError: the new model cannot be used.
            StoreUnavailable: the database cannot be reached.
        """
        model_id = await self._begin()
        embedded, failures = 0, list[str]()
        while True:
            pending = await self._database.fetch("documents_to_embed", {"model_id": model_id})
            for place, document in enumerate(pending):
                step(document["name"], place, len(pending))
                found = await self._embed(document["id"], model_id)
                if found is not None:
                    embedded += 1
                    failures += [f"{document['name']}: {reason}" for reason in found.failures]
            switched = await self._switch(model_id)
            if switched is not None:
                if pending:
                    step("", len(pending), len(pending))
                return SwitchReport(embedded, switched, tuple(failures))

    async def _begin(self) -> int:
        async def work(connection: Connection) -> int:
            model_id: int = (await row(connection, "register_model", self._model.parameters))["id"]
            for name in _OTHERS:
                await run(connection, name, {"model_id": model_id})
            return model_id

        return await self._database.run(work, idempotent=True)

    async def _embed(self, document: int, model_id: int) -> EmbeddedDocument | None:
        """Embed one document; ``None`` if it went or changed meanwhile."""
        stored = await self._database.fetch_one("stored_text", {"document_id": document})
        rows = await self._database.fetch("chunks_to_embed", {"document_id": document})
        if stored is None:
            return None
        chunks = [
            Chunk(
                item["ordinal"], item["page"], item["start_at"], item["end_at"], item["header"],
                item["tokens"],
            )
            for item in rows
        ]  # fmt: skip
        texts = [stored["text"][item.start : item.end] for item in chunks]
        with confidential(await is_private(self._database, document)):
            found = await self._preparer.embedded(chunks, texts, stored["name"])
        ids = [item["id"] for item in rows]

        async def work(connection: Connection) -> bool:
            await run(connection, "lock_archive")
            cursor = await connection.execute(statement("ids_of_chunks"), {"document_id": document})
            if [item["id"] for item in await cursor.fetchall()] != ids:
                return False  # it was read or indexed anew; its turn comes again
            await _write(connection, document, stored["name"], model_id, ids, found)
            return True

        return found if await self._database.run(work, idempotent=True) else None

    async def _switch(self, model_id: int) -> int | None:
        """Put the new vectors in place; ``None`` if a document came or changed meanwhile."""

        async def work(connection: Connection) -> int | None:
            await run(connection, "lock_archive")
            values = {"model_id": model_id}
            cursor = await connection.execute(statement("documents_to_embed"), values)
            if await cursor.fetchone() is not None:
                return None
            switched = 0
            for name in _SWITCH:
                cursor = await connection.execute(statement(name), values)
                switched = cursor.rowcount
            for name in _ENDING:
                await run(connection, name)
            await run(connection, "bump_revision")
            return switched

        return await self._database.run(work, idempotent=True)


async def _write(
    connection: Connection,
    document: int,
    name: str,
    model_id: int,
    ids: Sequence[int],
    found: EmbeddedDocument,
) -> None:
    values = {"document_id": document, "model_id": model_id}
    await run(connection, "forget_next_vectors", values)
    await run(connection, "forget_next_chunks", values)
    columns = "COPY next_chunk (chunk_id, model_id, sentences, whole) FROM STDIN (FORMAT binary)"
    async with connection.cursor() as cursor, cursor.copy(columns) as copy:
        copy.set_types(["int8", "int4", "bytea", "halfvec"])
        for chunk, sentences, whole in zip(ids, found.sentences, found.wholes, strict=True):
            await copy.write_row((chunk, model_id, sentences, _half(whole)))
    columns = "COPY next_chunk_vector (chunk_id, model_id, part, vector) FROM STDIN (FORMAT binary)"
    async with connection.cursor() as cursor, cursor.copy(columns) as copy:
        copy.set_types(["int8", "int4", "int2", "halfvec"])
        for chunk, parts in zip(ids, found.parts, strict=True):
            for part, vector in enumerate(parts):
                await copy.write_row((chunk, model_id, part, HalfVector(vector)))
    await run(
        connection,
        "add_next_document",
        {
            **values,
            "name": name,
            "name_vector": _half(found.name_vector),
            "failures": list(found.failures),
        },
    )


def _half(vector: NDArray[np.float32] | None) -> HalfVector | None:
    return None if vector is None else HalfVector(vector)
