"""Indexing again, from the stored text, what was indexed by another model or other settings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from emily.indexing.archive import Archive
from emily.indexing.discretion import is_private
from emily.indexing.prepare import Preparer
from emily.indexing.report import Progress
from emily.indexing.stored import stored_document
from emily.models.servers import confidential
from emily.store import Database

__all__ = ["reindex_one", "reindex_stale"]


async def reindex_stale(
    database: Database, preparer: Preparer, archive: Archive, tell: Callable[[Progress], None]
) -> int:
    """Bring every stale document up to date, each in a transaction of its own.

    Args:
        database: the store.
        preparer: makes chunks and vectors; its model and fingerprint say what is stale.
        archive: writes them.
        tell: called when a document is begun.

    Returns:
        how many were brought up to date; one that was removed meanwhile does not count.

    Raises:
        ModelUnavailable: the embedder cannot be loaded.
        StoreUnavailable: the database is lost; what was finished stays.
    """
    stale = await database.fetch(
        "stale_documents",
        {"fingerprint": preparer.fingerprint, **archive.model.parameters},
    )
    done = 0
    for place, row in enumerate(stale):
        tell(Progress(Path(row["name"]), place, len(stale)))
        done += await reindex_one(database, preparer, archive, row["id"])
    return done


async def reindex_one(
    database: Database, preparer: Preparer, archive: Archive, document: int
) -> bool:
    """Bring one document up to date; ``False`` if it is gone or changed meanwhile.

    Raises:
        ModelUnavailable, StoreUnavailable: as in ``reindex_stale``.
    """
    stored = await stored_document(database, document)
    if stored is None:
        return False
    with confidential(await is_private(database, document)):
        prepared = await preparer.prepared(stored.text, stored.name)
    return await archive.rewrite(document, stored.text_sha256, prepared)
