"""Documents as the store keeps them, to be indexed again without reading their files again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from emily.indexing.text import DocumentText, PageSpan, TableSpan
from emily.store import Database

__all__ = ["StoredDocument", "stored_document"]


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document with its text.

    Attributes:
        name: of the document.
        text: with its pages and tables.
        text_sha256: of the text that duplicates are told by, 32 bytes.
    """

    name: str
    text: DocumentText
    text_sha256: bytes


async def stored_document(database: Database, document: int) -> StoredDocument | None:
    """A document as it is kept; ``None`` if it went meanwhile.

    Raises:
        StoreUnavailable: the database is lost.
    """
    row = await database.fetch_one("stored_text", {"document_id": document})
    if row is None:
        return None
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
    return StoredDocument(row["name"], text, bytes(row["text_sha256"]))


def _table(header: Sequence[int] | None, rows: Sequence[Sequence[int]]) -> TableSpan:
    return TableSpan(
        (header[0], header[1]) if header else None, tuple((row[0], row[1]) for row in rows)
    )
