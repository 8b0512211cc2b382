"""Taking in what is private: nothing of it goes to a server elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from emily.errors import ModelUnavailable
from emily.indexing.files import INSIDE, Enclosure, storable
from emily.indexing.intake import Intake, Opened
from emily.indexing.report import FileOutcome
from emily.models.servers import confidential
from emily.store import Database

__all__ = ["DiscreetIntake", "is_private", "lies_in"]


async def is_private(database: Database, document: int) -> bool:
    """Whether a document is private, by its id, its paths or what it lies inside of."""
    rows = await database.fetch("private_documents")
    return any(row["id"] == document for row in rows)


def lies_in(path: str, places: Sequence[str]) -> bool:
    """Whether a path is one of these places or lies in one: a folder, or a file that holds others.

    Args:
        path: as the store holds it.
        places: paths likewise.
    """
    return any(
        path == place or path.startswith((place.rstrip("/") + "/", f"{place}{INSIDE}"))
        for place in places
    )


class DiscreetIntake(Intake):
    """An intake that knows the private places, as they are when a file's turn comes.

    Args:
        database: that knows them.
        parts: of any intake.
    """

    def __init__(self, database: Database, *parts: Any) -> None:
        super().__init__(*parts)
        self._database = database

    async def open(
        self, path: Path, enclosure: Enclosure | None = None, **given: Any
    ) -> Opened | FileOutcome:
        """As of any intake; no server elsewhere sees a picture of what is private."""
        stored = storable(str(path)) if enclosure is None else enclosure.path
        with confidential(await self._is_private(stored)):
            return await super().open(path, enclosure, **given)

    async def put(self, opened: Opened) -> FileOutcome:
        """As of any intake; where its embedder is elsewhere, the file fails and says why."""
        private = await self._is_private(opened.file.stored_path)
        with confidential(private):
            try:
                return await super().put(opened)
            except ModelUnavailable as error:
                if not private:
                    raise
                return await self._failed(opened.file, str(error))

    async def _is_private(self, path: str) -> bool:
        rows = await self._database.fetch("list_private_places")
        return lies_in(path, [row["path"] for row in rows])
