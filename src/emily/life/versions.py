"""Versions of a document: what it was before its file was replaced."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from emily.errors import InputError
from emily.store import Database

__all__ = ["OldVersion", "Version", "Versions"]


@dataclass(frozen=True, slots=True)
class Version:
    """An earlier version in a list.

    Attributes:
        version: its number, from 1.
        name: that the document had.
        kind: format of its file.
        bytes: size of its file.
        characters: length of its text.
        path: where its file lay.
        read_at: when it was read.
        replaced_at: when the next one took its place.
    """

    version: int
    name: str
    kind: str
    bytes: int
    characters: int
    path: str | None
    read_at: dt.datetime
    replaced_at: dt.datetime


@dataclass(frozen=True, slots=True)
class OldVersion:
    """An earlier version with its text.

    Attributes:
        version: its number.
        name: that the document had.
        kind: format of its file.
        text: whole.
        pages: number, first and last offset of each page.
        file_sha256: of its file, which is kept among the originals.
        path: where that lay.
    """

    version: int
    name: str
    kind: str
    text: str
    pages: tuple[tuple[int, int, int], ...]
    file_sha256: bytes
    path: str | None


class Versions:
    """Lists and reads earlier versions."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list(self, document: int) -> list[Version]:
        """The earlier versions of a document, the first one first."""
        rows = await self._database.fetch("list_versions", {"document_id": document})
        return [Version(**row) for row in rows]

    async def read(self, document: int, version: int) -> OldVersion:
        """One of them with its text.

        Raises:
            InputError: it is not kept.
        """
        row = await self._database.fetch_one(
            "version_text", {"document_id": document, "version": version}
        )
        if row is None:
            known = [str(item.version) for item in await self.list(document)]
            kept = f"Kept are: {', '.join(known)}." if known else "No earlier version is kept."
            raise InputError(f"Document {document} has no earlier version {version}. {kept}")
        return OldVersion(
            row["version"],
            row["name"],
            row["kind"],
            row["text"],
            tuple((page[0], page[1], page[2]) for page in row["pages"]),
            bytes(row["file_sha256"]),
            row["path"],
        )
