"""What the archive holds, as lists and counts."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from emily.errors import AmbiguousDocument, UnknownDocument
from emily.indexing.files import storable
from emily.store import Database

__all__ = ["Catalogue", "DocumentDetail", "DocumentInfo", "PageInfo"]


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """A document in a list.

    Attributes:
        id: its number.
        name: file name.
        path: where the file lies; the first of ``paths``.
        paths: everywhere its content was found.
        kind: format as decided by content.
        language: detected, or ``None``.
        pages: number of pages; 1 for kinds without.
        chunks: number of chunks.
        characters: length of its text.
        bytes: size of the file.
        added_at: when it came into the archive.
        description: one or two sentences about it, once analysed.
        warnings: what of it was not read.
    """

    id: int
    name: str
    path: str
    paths: tuple[str, ...]
    kind: str
    language: str | None
    pages: int
    chunks: int
    characters: int
    bytes: int
    added_at: datetime
    description: str | None
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PageInfo:
    """A page: its number, the route it was read by, its length, what was not read."""

    number: int
    route: str
    characters: int
    warning: str | None


@dataclass(frozen=True, slots=True)
class DocumentDetail:
    """A document with its pages; ``routes`` counts pages by how they were read."""

    info: DocumentInfo
    title: str | None
    pages: tuple[PageInfo, ...]
    routes: dict[str, int]


class Catalogue:
    """Lists and finds documents."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def documents(self) -> list[DocumentInfo]:
        """Every document, oldest first."""
        return [_info(row) for row in await self._database.fetch("list_documents", {"id": None})]

    async def resolve(self, document: str | int) -> int:
        """The id of a document given by id, exact name or path.

        Raises:
            UnknownDocument: there is none.
            AmbiguousDocument: several have that name.
        """
        given = str(document)
        digits = given.strip()
        number = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 19 else None
        # Left as it stands if it begins with ~ and no user of that name.
        path = str(Path(os.path.expanduser(given)).absolute()) if given else ""  # noqa: PTH111
        # As names and paths were stored, whatever bytes the file system gave them.
        rows = await self._database.fetch(
            "documents_of", {"id": number, "name": storable(given), "path": storable(path)}
        )
        exact = [row for row in rows if row["id"] == number] or rows
        if not exact:
            raise UnknownDocument(
                f"There is no document {given!r}. A document goes by its id, its exact name or "
                "its path; emily list shows them."
            )
        if len(exact) > 1:
            ids = ", ".join(str(row["id"]) for row in exact)
            raise AmbiguousDocument(
                f"{len(exact)} documents are called {given!r}. Use an id instead: {ids}"
            )
        return int(exact[0]["id"])

    async def detail(self, document: int) -> DocumentDetail:
        """One document with its pages.

        Raises:
            UnknownDocument: it is not there (any more).
        """
        row = await self._database.fetch_one("list_documents", {"id": document})
        if row is None:
            raise UnknownDocument(f"Document {document} is not there. emily list shows all.")
        rows = await self._database.fetch("pages_of_document", {"document_id": document})
        pages = tuple(PageInfo(**page) for page in rows)
        return DocumentDetail(
            info=_info(row),
            title=row["title"],
            pages=pages,
            routes=dict(Counter(page.route for page in pages)),
        )


def _info(row: dict[str, Any]) -> DocumentInfo:
    paths = tuple(row["paths"] or ())
    return DocumentInfo(
        id=row["id"],
        name=row["name"],
        path=paths[0] if paths else "",
        paths=paths,
        kind=row["kind"],
        language=row["language"],
        pages=row["pages"],
        chunks=row["chunks"],
        characters=row["characters"],
        bytes=row["bytes"],
        added_at=row["added_at"],
        description=row["description"],
        warnings=tuple(row["warnings"]),
    )
