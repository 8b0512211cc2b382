"""Notes of the owner's on documents: found like any text, never mixed with the original."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any

from emily.errors import InputError, UnknownDocument
from emily.indexing.archive import Archive
from emily.indexing.discretion import is_private
from emily.indexing.normalise import normalise
from emily.indexing.prepare import Preparer
from emily.indexing.text import DocumentText, PageSpan
from emily.models.servers import confidential
from emily.store import Database

__all__ = ["MOST_CHARACTERS", "Note", "Notes"]

MOST_CHARACTERS = 100_000
"""Longest note; what is longer is a document."""


@dataclass(frozen=True, slots=True)
class Note:
    """A note.

    Attributes:
        id: its number; also that of its row among the documents.
        document: id of the document that it is on.
        name: of that document.
        text: as it was written.
        added_at: when.
    """

    id: int
    document: int
    name: str
    text: str
    added_at: dt.datetime


class Notes:
    """Adds, lists and removes notes.

    A note is a row of the table of documents that points to the one it is on, so that it is
    chunked, embedded, searched, made stale and embedded anew as any text is. It has no file and
    no place, is counted and listed as no document, and outlives every re-reading of its own.
    """

    def __init__(self, database: Database, archive: Archive, preparer: Preparer) -> None:
        self._database = database
        self._archive = archive
        self._preparer = preparer

    async def add(self, document: int, name: str, text: str) -> Note:
        """Put a note on a document.

        Args:
            document: its id.
            name: its name, by whose words its notes are found too.
            text: of the note.

        Raises:
            InputError: the text is empty or longer than a note may be.
            UnknownDocument: the document went meanwhile.
            ModelUnavailable: the embedder cannot be loaded.
        """
        note = note_text(text)
        with confidential(await is_private(self._database, document)):
            prepared = await self._preparer.prepared(note, name)
        written = await self._archive.write_note(document, name, note, prepared)
        if written is None:
            raise UnknownDocument(f"Document {document} is not there any more.")
        return next(item for item in await self.list(document) if item.id == written)

    async def list(self, document: int | None = None) -> list[Note]:
        """The notes on a document, or all, the oldest first."""
        rows = await self._database.fetch("list_notes", {"document_id": document})
        return [_note(row) for row in rows]

    async def remove(self, note: int) -> Note:
        """Forget a note for good.

        Raises:
            InputError: there is no such note.
        """
        found = next((item for item in await self.list() if item.id == note), None)
        if found is None:
            raise InputError(f"There is no note {note}. emily note DOC --list shows those of DOC.")
        await self._archive.remove(note)
        return found


def note_text(text: str) -> DocumentText:
    """The text of a note as a document's: one page, without places to cite.

    Raises:
        InputError: it is empty or too long.
    """
    kept = normalise(text.replace("\0", "").strip())
    if not kept.strip():
        raise InputError("The note is empty. Write what it is to say: emily note DOC TEXT")
    if len(kept) > MOST_CHARACTERS:
        raise InputError(
            f"The note has {len(kept):,} characters; at most {MOST_CHARACTERS:,} are kept. "
            "Write it into a file, and add that with: emily add FILE"
        )
    return DocumentText(kept, (PageSpan(1, 0, len(kept), "text"),), (), "none")


def _note(row: dict[str, Any]) -> Note:
    return Note(row["id"], row["document_id"], row["name"], row["text"], row["added_at"])
