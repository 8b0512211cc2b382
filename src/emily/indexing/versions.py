"""Earlier versions of documents: kept when a file is replaced, the oldest forgotten."""

from __future__ import annotations

from collections.abc import Sequence

from emily.store import Connection, statement

__all__ = ["keep_version", "not_needed"]


async def keep_version(connection: Connection, document: int, most: int) -> tuple[bytes, ...]:
    """Keep what a document is now as a version, before it is replaced.

    Args:
        connection: inside the writing transaction, which holds the archive's lock.
        document: its id.
        most: versions that are kept; with 0 none is.

    Returns:
        SHA-256 of the files of those that went; other documents may need them.
    """
    values = {"document_id": document, "most": most}
    await connection.execute(statement("keep_version"), values)
    cursor = await connection.execute(statement("forget_versions"), values)
    return tuple(bytes(row["file_sha256"]) for row in await cursor.fetchall())


async def not_needed(connection: Connection, digests: Sequence[bytes]) -> tuple[bytes, ...]:
    """Those files, by SHA-256, that no document and no version of one is made of."""
    if not digests:
        return ()
    cursor = await connection.execute(statement("needed_files"), {"digests": list(digests)})
    needed = {bytes(row["file_sha256"]) for row in await cursor.fetchall()}
    return tuple(digest for digest in dict.fromkeys(digests) if digest not in needed)
