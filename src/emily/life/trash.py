"""The trash: out of every search, and back again; emptied, nothing is left of it."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from emily.errors import UnknownDocument
from emily.indexing.archive import Archive
from emily.indexing.derived import forget_derived, run
from emily.indexing.discretion import is_private
from emily.indexing.originals import Originals
from emily.indexing.prepare import Preparer
from emily.indexing.stored import stored_document
from emily.models.servers import confidential
from emily.store import Connection, Database, statement

__all__ = ["Trash", "Trashed"]

# What tells of a document beside itself: logged questions, pins, the ledger of models.
_TRACES = ("forget_precedents_about", "forget_queries_about", "forget_pins_to", "blank_ledger_of")


@dataclass(frozen=True, slots=True)
class Trashed:
    """A document in the trash.

    Attributes:
        id: its number, by which it is brought back.
        name: of the document.
        kind: its format.
        bytes: size of its file.
        trashed_at: when it went there.
        version: its number as a version.
        path: where its file lay; ``None`` where another document has that path by now.
        inside: how many documents that lay inside of it went with it.
        notes: how many notes are on it.
    """

    id: int
    name: str
    kind: str
    bytes: int
    trashed_at: dt.datetime
    version: int
    path: str | None
    inside: int
    notes: int


class Trash:
    """Puts documents into the trash, brings them back, forgets them.

    What makes a document found goes at once: its chunks, vectors, words and postings. So nothing
    can find it, whatever it is asked by. Text, pages and file stay until the trash is emptied,
    and are indexed anew when it comes back.
    """

    def __init__(
        self,
        database: Database,
        archive: Archive,
        preparer: Preparer,
        originals: Originals,
    ) -> None:
        self._database = database
        self._archive = archive
        self._preparer = preparer
        self._originals = originals

    async def put(self, document: int) -> int:
        """Put a document into the trash, with what lies inside of it and nowhere else.

        Returns:
            how many documents went, itself among them; 0 if it was not there.
        """

        async def work(connection: Connection) -> int:
            await run(connection, "lock_archive")
            cursor = await connection.execute(statement("to_trash"), {"document_id": document})
            gone = await cursor.fetchall()
            for row in gone:
                await forget_derived(connection, row["id"], pages=False)
            await run(connection, "bump_revision")
            return sum(row["note_of"] is None for row in gone)

        return await self._database.run(work, idempotent=True)

    async def list(self) -> list[Trashed]:
        """What lies in the trash, the oldest first."""
        return [Trashed(**row) for row in await self._database.fetch("list_trash")]

    async def find(self, given: str | int) -> Trashed:
        """A document in the trash, by its id, its name or its path.

        Raises:
            UnknownDocument: there is none, or several go by that name.
        """
        wanted = str(given)
        there = await self.list()
        found = [item for item in there if str(item.id) == wanted] or [
            item for item in there if wanted in (item.name, item.path)
        ]
        if len(found) == 1:
            return found[0]
        if found:
            ids = ", ".join(str(item.id) for item in found)
            raise UnknownDocument(
                f"{len(found)} documents in the trash are called {wanted!r}. Use an id: {ids}"
            )
        raise UnknownDocument(f"The trash holds no document {wanted!r}. emily trash list shows it.")

    async def restore(self, trashed: Trashed) -> int:
        """Bring a document back, with what went with it and the notes on it.

        Each is indexed anew, from the text that was kept; cut off, the next run goes on.

        Returns:
            how many documents came back.

        Raises:
            ModelUnavailable: the embedder cannot be loaded.
        """
        rows = await self._database.fetch("with_trashed", {"document_id": trashed.id})
        back = 0
        # The document itself last: as long as it is in the trash, so is what is left of it.
        for row in sorted(rows, key=lambda row: row["id"] == trashed.id):
            back += await self._restore_one(row["id"])
        return back

    async def _restore_one(self, document: int) -> int:
        stored = await stored_document(self._database, document)
        facts = await self._database.fetch_one("file_and_kind", {"document_id": document})
        if stored is None or facts is None:
            return 0
        with confidential(await is_private(self._database, document)):
            prepared = await self._preparer.prepared(stored.text, stored.name)
        digest = bytes(facts["file_sha256"])
        copies = sorted(self._originals.folder.glob(f"{digest.hex()[:2]}/{digest.hex()}*"))
        place = str(copies[0]) if copies else f"trash/{document}/{stored.name}"

        async def back(connection: Connection) -> None:
            values = {"document_id": document, "path": place}
            await run(connection, "out_of_trash", values)
            await run(connection, "give_source", values)

        done = await self._archive.rewrite(document, stored.text_sha256, prepared, first=back)
        row = await self._database.fetch_one("is_note", {"document_id": document})
        return int(done and row is not None and not row["note"])

    async def empty(self, chosen: Sequence[Trashed] | None = None) -> Sequence[Trashed]:
        """Forget what lies in the trash for good, or some of it.

        Text, pages, vectors, notes, versions, files, pins to it, logged questions that it
        answered and what the ledger of models kept of it go.

        Returns:
            what is forgotten.
        """
        gone = list(await self.list() if chosen is None else chosen)
        for item in gone:
            rows = await self._database.fetch("with_trashed", {"document_id": item.id})
            for row in [*(row for row in rows if row["id"] != item.id), {"id": item.id}]:
                await self.forget(row["id"])
        return gone

    async def forget(self, document: int) -> None:
        """Forget one document for good, wherever it is."""

        async def traces(connection: Connection) -> None:
            for name in _TRACES:
                await run(connection, name, {"document_id": document})

        for digest in await self._archive.remove(document, first=traces):
            await asyncio.to_thread(self._originals.forget, digest)
