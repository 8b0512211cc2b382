"""What the archive holds, as lists and counts."""

from __future__ import annotations

import datetime as dt
import difflib
from collections import Counter
from dataclasses import dataclass
from typing import Any

from emily.errors import AmbiguousDocument, UnknownDocument
from emily.indexing.files import storable
from emily.places import absolute
from emily.reading.pages import Correspondent
from emily.store import Database

__all__ = ["Catalogue", "DocumentDetail", "DocumentInfo", "PageInfo", "Relative"]


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
        author: who wrote it, by its own properties.
        date: its own date, not that of the file.
        date_source: where that was found: ``header``, ``metadata``, ``name`` or ``text``.
        correspondents: who it is from and to.
        parent: id of the document that it lies inside of, ``None`` for a file of its own.
        categories: of the owner's list, once analysed.
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
    added_at: dt.datetime
    description: str | None
    warnings: tuple[str, ...]
    author: str | None = None
    date: dt.date | None = None
    date_source: str | None = None
    correspondents: tuple[Correspondent, ...] = ()
    parent: int | None = None
    categories: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PageInfo:
    """A page.

    Attributes:
        number: 1-based.
        route: how it was read.
        characters: length of its text.
        warning: what of it was not read.
        confidence: how sure OCR was, 0 to 1, or ``None``.
        pictures: how many pictures stand on it.
    """

    number: int
    route: str
    characters: int
    warning: str | None
    confidence: float | None = None
    pictures: int = 0


@dataclass(frozen=True, slots=True)
class Relative:
    """Another document that one points to: its id, its name, its kind and its date."""

    id: int
    name: str
    kind: str
    date: dt.date | None


@dataclass(frozen=True, slots=True)
class DocumentDetail:
    """A document with all that is known of it.

    Attributes:
        info: what stands in the list.
        title: the title that it gives itself.
        pages: in order.
        routes: number of pages by how they were read.
        parts: the documents inside of it, in their order there.
        thread: of a mail, the others of its thread, oldest first.
    """

    info: DocumentInfo
    title: str | None
    pages: tuple[PageInfo, ...]
    routes: dict[str, int]
    parts: tuple[Relative, ...] = ()
    thread: tuple[Relative, ...] = ()


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
        path = absolute(given) if given else ""
        # As names and paths were stored, whatever bytes the file system gave them.
        rows = await self._database.fetch(
            "documents_of", {"id": number, "name": storable(given), "path": storable(path)}
        )
        exact = [row for row in rows if row["id"] == number] or rows
        there = [row for row in exact if row["trashed_at"] is None]
        if exact and not there:
            raise UnknownDocument(
                f"The document {given!r} is in the trash. Bring it back with: "
                f"emily trash restore {exact[0]['id']}"
            )
        exact = there
        if not exact:
            return await self._almost("" if number is not None else given, shown=given)
        if len(exact) > 1:
            ids = ", ".join(str(row["id"]) for row in exact)
            raise AmbiguousDocument(
                f"{len(exact)} documents are called {given!r}. Use an id instead: {ids}"
            )
        return int(exact[0]["id"])

    async def _almost(self, given: str, *, shown: str) -> int:
        """The only document whose name, without case, or end of a path that is.

        Raises:
            UnknownDocument: there is none; the message names those that are called much like it.
            AmbiguousDocument: there are several.
        """
        wanted = storable(given).strip().casefold()
        found: list[int] = []
        called: dict[str, str] = {}
        for info in await self.documents():
            paths = [path.casefold() for path in info.paths or (info.path,)]
            if wanted and (
                wanted == info.name.casefold() or any(path.endswith(f"/{wanted}") for path in paths)
            ):
                found.append(info.id)
            stem = info.name.rpartition(".")[0] or info.name
            for name in (info.name, stem, *("/".join(path.split("/")[-2:]) for path in paths)):
                called.setdefault(name.casefold(), f"{info.name} ({info.id})")
        if len(found) == 1:
            return found[0]
        if found:
            ids = ", ".join(map(str, found))
            raise AmbiguousDocument(
                f"{len(found)} documents are called {shown!r}. Use an id instead: {ids}"
            )
        close = difflib.get_close_matches(wanted, called, n=5)
        near = ", ".join(list(dict.fromkeys(called[name] for name in close))[:3])
        hint = f" Near it: {near}." if near else ""
        raise UnknownDocument(
            f"There is no document {shown!r}.{hint} A document goes by its id, its name or its "
            "path; emily list shows them."
        )

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
            parts=await self._relatives("parts_of_document", document),
            thread=await self._relatives("thread_of_document", document),
        )

    async def _relatives(self, name: str, document: int) -> tuple[Relative, ...]:
        rows = await self._database.fetch(name, {"document_id": document})
        return tuple(Relative(row["id"], row["name"], row["kind"], row["dated"]) for row in rows)


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
        author=row["author"],
        date=row["dated"],
        date_source=row["date_source"],
        correspondents=tuple(Correspondent(*person) for person in row["correspondents"]),
        parent=row["parent"],
        categories=tuple(row["categories"] or ()),
    )
