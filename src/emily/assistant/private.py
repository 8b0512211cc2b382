"""Private documents and folders: their owner finds them, and no model elsewhere gets them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from emily.errors import AmbiguousDocument, InputError, UnknownDocument
from emily.indexing.catalogue import Catalogue
from emily.indexing.files import storable
from emily.store import Connection, Database, statement

__all__ = ["PrivatePlace", "PrivatePlaces"]


@dataclass(frozen=True, slots=True)
class PrivatePlace:
    """A document or a folder that never leaves.

    Attributes:
        path: of the file or of the folder.
        document_id: the document, where it was marked as one; ``None`` for a folder, and where
            the document is gone.
        name: of that document.
        documents: how many documents of the archive lie there now.
        since: when it was marked.
    """

    path: str
    document_id: int | None
    name: str | None
    documents: int
    since: datetime


class PrivatePlaces:
    """What is private in one archive."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._catalogue = Catalogue(database)

    async def documents(self) -> frozenset[int]:
        """Every document that is private now, with all that lies inside of it."""
        return frozenset(row["id"] for row in await self._database.fetch("private_documents"))

    async def list(self) -> Sequence[PrivatePlace]:
        """The places that were marked, by path."""
        rows = await self._database.fetch("list_private_places")
        return [PrivatePlace(**row) for row in rows]

    async def mark(self, what: str | Path) -> Sequence[PrivatePlace]:
        """Mark a document or a folder; gives the places that stand for it.

        A document is marked by all of its paths, so that it is private again when it is removed
        and added anew. A folder need not exist yet: what is added from it is private.

        Args:
            what: a document by id, name or path, or the path of a folder.

        Raises:
            InputError: it is neither.
            AmbiguousDocument: several documents have that name.
        """
        document, paths = await self._meant(what)

        async def write(connection: Connection) -> None:
            for path in paths:
                values = {"path": path, "document": document}
                await connection.execute(statement("add_private_place"), values)

        await self._database.run(write, idempotent=True)
        return [place for place in await self.list() if place.path in paths]

    async def unmark(self, what: str | Path) -> Sequence[str]:
        """Take a mark away; gives the places that still keep the document private.

        Raises:
            InputError: neither document nor folder is marked as private.
            AmbiguousDocument: several documents have that name.
        """
        try:
            document, paths = await self._meant(what)
        except InputError:
            # A folder that is gone from the disk can still be marked.
            document, paths = None, [_absolute(what)]
        removed = await self._database.execute(
            "remove_private_places", {"document": document, "paths": paths}
        )
        rows = (
            []
            if document is None
            else await self._database.fetch("private_places_of", {"document": document})
        )
        left = [row["path"] for row in rows]
        if not removed:
            if left:
                raise InputError(
                    f"{str(what)!r} was not marked itself; it is private by {', '.join(left)}. "
                    f"Take that mark away with: emily private --undo {left[0]!r}"
                )
            raise InputError(f"{str(what)!r} is not marked as private. See: emily private")
        return left

    async def _meant(self, what: str | Path) -> tuple[int | None, Sequence[str]]:
        """The document, or none for a folder; and the paths to mark."""
        try:
            document = await self._catalogue.resolve(str(what))
        except AmbiguousDocument:
            raise
        except UnknownDocument:
            path = _absolute(what)
            if str(what) and (os.path.isdir(path) or os.sep in str(what)):  # noqa: PTH112
                return None, [path]
            raise InputError(
                f"{str(what)!r} is neither a document of the archive nor a folder. A document "
                "goes by its id, its exact name or its path (emily list), a folder by its path."
            ) from None
        info = (await self._catalogue.detail(document)).info
        return document, list(info.paths)


def _absolute(what: str | Path) -> str:
    """A path as the store holds it, without a stroke at its end."""
    return storable(os.path.abspath(os.path.expanduser(what)))  # noqa: PTH100, PTH111
