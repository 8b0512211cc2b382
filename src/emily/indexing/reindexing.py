"""Indexing again, from the stored text, what was indexed by another model or other settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from emily.indexing.archive import Archive
from emily.indexing.prepare import Preparer
from emily.indexing.report import Progress
from emily.indexing.text import DocumentText, PageSpan, TableSpan
from emily.store import Database

__all__ = ["reindex_stale"]


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
        done += await _reindexed(database, preparer, archive, row["id"])
    return done


async def _reindexed(
    database: Database, preparer: Preparer, archive: Archive, document: int
) -> bool:
    row = await database.fetch_one("stored_text", {"document_id": document})
    if row is None:
        return False
    pages = await database.fetch("stored_pages", {"document_id": document})
    text = DocumentText(
        text=row["text"],
        pages=tuple(
            PageSpan(
                page["number"], page["start_at"], page["end_at"], page["route"], page["warning"]
            )
            for page in pages
        ),
        tables=tuple(_table(header, rows) for header, rows in row["tables"]),
        citation=row["citation"],
    )
    prepared = await preparer.prepared(text, row["name"])
    return await archive.rewrite(document, bytes(row["text_sha256"]), prepared)


def _table(header: Sequence[int] | None, rows: Sequence[Sequence[int]]) -> TableSpan:
    """A table as it was stored."""
    return TableSpan(
        (header[0], header[1]) if header else None, tuple((row[0], row[1]) for row in rows)
    )
