"""What a process keeps in memory of the index, so that a warm search need not ask the store.

The store is the truth; this is a copy of some columns, brought up to date by the archive's
revision. What is computed on it is what the statements of ``retrieval.sql`` compute (a test
compares them), and where it does not fit into its memory, those are asked.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emily.retrieval.bm25 import K1, B
from emily.retrieval.chunk_table import COLUMNS, ChunkTable, integers
from emily.retrieval.level_matrix import halves
from emily.retrieval.postings import Postings
from emily.settings import VectorIndex
from emily.store import Connection, Database, statement

__all__ = ["Mirror", "Mirrored"]

AT_ONCE = 2_000
"""Chunks that even the first search of a process loads; more would take longer than asking."""
_BATCH_CHUNKS = 5_000
_FEW = 200  # documents that changed, whose chunks are compared first
_CHUNK_BYTES = 64  # beside its vectors
_FOR_POSTINGS = 4  # one part in so many of the memory


@dataclass(frozen=True, slots=True)
class Mirrored:
    """The index in memory, as one search sees it.

    Attributes:
        table: the chunks at one moment.
        postings: where terms stand.
        by_signs: whether vectors are compared by their signs first, see ``PartMatrix.nearest``.
    """

    table: ChunkTable
    postings: Postings
    by_signs: bool | None


class Mirror:
    """Keeps chunks, vectors and postings; loaded by the second search, a small index at once."""

    def __init__(
        self,
        database: Database,
        dimension: int,
        memory_mb: int,
        index: VectorIndex = "auto",
        k1: float = K1,
        b: float = B,
    ) -> None:
        """Prepare without loading.

        Args:
            database: the store.
            dimension: of the vectors.
            memory_mb: most memory that it may take, MiB; 0 keeps nothing.
            index: how vectors are searched, see the setting ``vector_index``.
            k1: of BM25.
            b: of BM25.
        """
        self._database = database
        self._memory = memory_mb * 1024 * 1024
        self._index = index
        self._lock = asyncio.Lock()
        self._table = ChunkTable.empty(dimension)
        self._postings = Postings(database, self._memory // _FOR_POSTINGS, k1, b)
        self._searches = 0
        self._too_large_at = -1

    async def at(self, revision: int) -> Mirrored | None:
        """The index as it was at a revision of the archive or later.

        Returns:
            ``None`` where the store is to be asked instead: the archive is larger than the
            memory it may take, or this is the first search of the process and loading would
            take longer than asking.
        """
        if not self._memory or revision == self._too_large_at:
            return None
        async with self._lock:
            self._searches += 1
            # Another search may have brought a later revision meanwhile.
            if revision > self._table.revision and not await self._update(revision):
                return None
            by_signs = None if self._index == "auto" else self._index == "signs"
            return Mirrored(self._table, self._postings, by_signs)

    async def _update(self, revision: int) -> bool:
        """Bring the table up to date; ``False`` where that is not to be."""
        async with self._database.transaction() as connection:
            # All of it as of one moment.
            await connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            facts = await _one(connection, "mirror_facts", {"newest": self._table.newest})
            if self._searches == 1 and facts["fresh"] > AT_ONCE:
                return False
            size = facts["parts"] * self._table.vectors.bytes_of_row
            if size + facts["chunks"] * _CHUNK_BYTES > self._memory:
                self._too_large_at = revision
                self._table = ChunkTable.empty(self._table.vectors.dimension)
                return False
            table = self._table
            if facts["chunks"] - facts["fresh"] < len(table):  # an id is never given twice
                there = await self._still_there(connection, facts)
                table = await asyncio.to_thread(_without_forgotten, table, there, facts)
            if facts["fresh"]:
                table = await _with_fresh(connection, table, facts)
        terms = int(table.lengths.sum(dtype=np.int64))
        average = terms / len(table) if len(table) else 0.0
        self._table = replace(table, revision=facts["revision"], average=average)
        return True

    async def _still_there(
        self, connection: Connection, facts: dict[str, Any]
    ) -> NDArray[np.bool_]:
        """Which rows of the present table the store still has."""
        table = self._table
        newest = {"newest": table.newest, "most": _FEW}
        changed = await _one(connection, "mirror_changed", newest)
        documents = integers(changed["documents"], 8)
        if len(documents) < _FEW:
            # A file that was edited has new chunks for its old ones: most often that is all.
            own = np.isin(table.documents, documents)
            there: NDArray[np.bool_] = ~own
            there[own] = np.isin(table.ids[own], integers(changed["ids"], 8))
            if np.count_nonzero(there) == facts["chunks"] - facts["fresh"]:
                return there
        row = await _one(connection, "mirror_ids", {"newest": table.newest})
        return np.isin(table.ids, integers(row["ids"], 8))


def _without_forgotten(
    table: ChunkTable, there: NDArray[np.bool_], facts: dict[str, Any]
) -> ChunkTable:
    """The table without the chunks that are gone, with room for the vectors of those to come."""
    gone = np.unique(table.documents[~there])
    documents = table.documents[there]
    names = dict(table.names)
    for document in gone[~np.isin(gone, documents)].tolist():
        names.pop(document, None)
    return replace(
        table,
        ids=table.ids[there],
        columns={name: column[there] for name, column in table.columns.items()},
        languages=table.languages[there],
        names=names,
        vectors=table.vectors.kept(there, facts["fresh_parts"]),
    )


async def _with_fresh(
    connection: Connection, table: ChunkTable, facts: dict[str, Any]
) -> ChunkTable:
    """The table with the chunks behind it that came since."""
    vectors, newest = table.vectors, table.newest
    filled = int(vectors.starts[-1])
    missing = filled + facts["fresh_parts"] - len(vectors)
    if missing:
        vectors = await asyncio.to_thread(vectors.grown, missing)
    counts: list[NDArray[np.intp]] = []
    columns: dict[str, list[NDArray[np.int64]]] = {name: [] for name in ("id", *COLUMNS)}
    languages: list[str | None] = []
    names, notes = dict(table.names), dict(table.notes)
    for _ in range(0, facts["fresh"], _BATCH_CHUNKS):
        batch = {"newest": newest, "limit": _BATCH_CHUNKS}
        row = await _one(connection, "mirror_chunks", batch)
        values = halves(row["vectors"], vectors.dimension)
        filled = await asyncio.to_thread(vectors.put, filled, values)
        for name, size in {"id": 8, **COLUMNS}.items():
            columns[name].append(integers(row[name], size).astype(f"i{size}"))
        ids = columns["id"][-1]
        owners = np.searchsorted(ids, integers(row["owners"], 8))
        counts.append(np.bincount(owners, minlength=len(ids)))
        languages += row["languages"]
        names |= dict(zip(row["named"], row["names"], strict=True))
        owned = zip(row["named"], row["note_owners"], strict=True)
        notes |= {note: owner for note, owner in owned if owner is not None}
        newest = int(ids[-1])
    return replace(
        table,
        ids=np.concatenate([table.ids, *columns["id"]]),
        columns={
            name: np.concatenate([column, *columns[name]]) for name, column in table.columns.items()
        },
        languages=np.append(table.languages, np.array(languages, object)),
        names=names,
        notes=notes,
        vectors=vectors.counted(np.concatenate(counts)),
        newest=newest,
    )


async def _one(connection: Connection, name: str, parameters: dict[str, Any]) -> dict[str, Any]:
    cursor = await connection.execute(statement(name), parameters, binary=True)
    found = await cursor.fetchone()
    assert found is not None
    return found
