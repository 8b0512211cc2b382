"""Pictures inside documents as rows: each read once, forgotten with its last document."""

from __future__ import annotations

from collections.abc import Sequence

from emily.indexing.derived import run
from emily.indexing.files import storable
from emily.reading.pages import PictureReading
from emily.store import Connection

__all__ = ["forget_pictures", "write_pictures"]


async def write_pictures(
    connection: Connection, document: int, pictures: Sequence[PictureReading], engine: str
) -> None:
    """Note which pictures a document holds, and what was read in them.

    Args:
        connection: inside the writing transaction.
        document: its id.
        pictures: each once.
        engine: what they were read by.
    """
    await forget_pictures(connection, document)
    if not pictures:
        return
    values = {
        "document_id": document,
        "digests": [picture.sha256 for picture in pictures],
        "pages": [picture.page for picture in pictures],
        "routes": [picture.route for picture in pictures],
        "texts": [storable(picture.text) for picture in pictures],
        "confidences": [picture.confidence for picture in pictures],
        "engine": engine,
    }
    await run(connection, "add_pictures", values)
    await run(connection, "link_pictures", values)


async def forget_pictures(connection: Connection, document: int) -> None:
    """Forget a document's pictures, but for those that another one holds as well."""
    await run(connection, "forget_pictures", {"document_id": document})
