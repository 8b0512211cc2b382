"""Stale documents, indexed anew behind the scenes by a worker; searchable all along."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from emily.errors import EmilyError
from emily.indexing.archive import Archive
from emily.indexing.prepare import Preparer
from emily.indexing.reindexing import reindex_one
from emily.settings import Settings
from emily.store import Database
from emily.store.registry import SettingRegistry
from emily.work.phases import Done, Due, Failed, Transient, is_transient

__all__ = ["Mending"]

Make = Callable[[Settings], tuple[Preparer, Archive]]
"""What indexes by given settings: a worker may be older than the settings that are in force."""


class Mending:
    """Hands a worker the stale documents once it was asked for; see ``emily.work.phases.Phase``.

    Each document is written in a transaction of its own, and until then is found as it was.
    Stopped at any moment, what was finished stays, and the next request goes on.
    """

    name = "reindexing"

    def __init__(self, database: Database, settings: Settings, make: Make) -> None:
        """Bind to an archive.

        Args:
            database: the store.
            settings: as the process began with them.
            make: makes what indexes by the settings that are in force now.
        """
        self._database = database
        self._settings = settings
        self._make = make
        self._made: tuple[Settings, Preparer, Archive] | None = None

    async def ask(self) -> None:
        """Have a worker mend what is stale."""
        await self._database.execute("ask_reindexing")

    async def stop(self) -> bool:
        """End that; gives whether it was asked for. What was finished stays."""
        return bool(await self._database.execute("end_reindexing"))

    async def left(self) -> int:
        """How many documents and notes are stale by the settings in force."""
        return len(await self._stale())

    async def due(self) -> Sequence[Due]:
        """The stale documents, while it is asked for; once there is none, that is over."""
        asked = await self._database.fetch_one("reindexing_asked")
        if asked is None:
            return []
        stale = await self._stale()
        if not stale:
            await self.stop()
        preparer, archive = await self._now()
        # Of each request anew: what was stopped or failed under an earlier one is tried again.
        state = f"{preparer.fingerprint} {archive.model} {asked['asked_at'].isoformat()}"
        return [Due(document, state) for document in stale]

    async def perform(self, document: int) -> Done:
        """Index one document anew, from its stored text.

        Raises:
            Transient: the embedder or the database is away.
            Failed: it cannot be indexed.
        """
        if await self._database.fetch_one("reindexing_asked") is None:
            return Done(document, "not any more: it was stopped")
        preparer, archive = await self._now()
        try:
            done = await reindex_one(self._database, preparer, archive, document)
        except EmilyError as error:
            if is_transient(error):
                raise Transient(str(error)) from error
            raise Failed(str(error), document) from error
        return Done(document, "indexed anew" if done else "it is gone or changed meanwhile")

    async def _stale(self) -> list[int]:
        preparer, archive = await self._now()
        rows = await self._database.fetch(
            "stale_documents",
            {"fingerprint": preparer.fingerprint, **archive.model.parameters},
        )
        return [row["id"] for row in rows]

    async def _now(self) -> tuple[Preparer, Archive]:
        settings = await SettingRegistry(self._database, self._settings).in_force()
        if self._made is None or self._made[0] != settings:
            self._made = (settings, *self._make(settings))
        return self._made[1], self._made[2]
