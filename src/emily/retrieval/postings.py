"""Postings of the terms that were asked for, kept in memory.

A term's postings are fetched when it is first asked for, and from then on only those of documents
that came since. Most of the cost of a question lies in its commonest words, and those are asked
for again and again.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from emily.retrieval.bm25 import K1, B
from emily.retrieval.chunk_table import ChunkTable, integers
from emily.store import Database

__all__ = ["PostingList", "Postings"]

_MOST_DOCUMENTS = 500
"""If more documents came since, a term is fetched anew."""
_BYTES = 20  # of a posting, in both forms


@dataclass(frozen=True, slots=True)
class PostingList:
    """The chunks of a table that hold a term; rows ascend.

    Attributes:
        rows: ``(n,)`` rows of the table.
        frequencies: ``(n,)``, how often the term stands in each.
        gains: ``(n,)``, what BM25 makes of that before the term's rarity.
        most: the greatest of the gains; 0 if there are none.
        documents: how many documents they are of.
    """

    rows: NDArray[np.int32]
    frequencies: NDArray[np.int16]
    gains: NDArray[np.float32]
    most: float
    documents: int = 0

    def __len__(self) -> int:
        return len(self.rows)

    def at(self, rows: NDArray[np.int32]) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
        """Which of these rows hold the term, and the places of those that do."""
        if not len(self.rows):
            return np.zeros(len(rows), bool), np.empty(0, np.intp)
        places = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        held = self.rows[places] == rows
        return held, places[held]


@dataclass(slots=True)
class _Term:
    """What is kept of a term.

    Attributes:
        chunks: ``(n,)`` ids, ascending.
        frequencies: ``(n,)``.
        newest: greatest id of a chunk up to which nothing is missing.
        revision: of the table that ``listed`` is made for.
        listed: the postings by rows of that table.
    """

    chunks: NDArray[np.int64]
    frequencies: NDArray[np.int16]
    newest: int
    revision: int = -1
    listed: PostingList | None = None


class Postings:
    """Keeps the posting lists of terms; as many as fit, those asked for last."""

    def __init__(self, database: Database, memory: int, k1: float = K1, b: float = B) -> None:
        """Prepare without fetching.

        Args:
            database: the store.
            memory: most that the lists may take, bytes.
            k1: of BM25.
            b: of BM25.
        """
        self._k1, self._b = k1, b
        self._database = database
        self._most = memory // _BYTES
        self._terms: OrderedDict[str, _Term] = OrderedDict()
        self._held = 0
        self._lock = asyncio.Lock()

    async def of(self, terms: Sequence[str], table: ChunkTable) -> dict[str, PostingList]:
        """The posting lists of terms by rows of a table; empty for a term that is nowhere."""
        async with self._lock:
            missing = [term for term in terms if term not in self._terms]
            behind = [
                term
                for term in terms
                if term in self._terms and self._terms[term].newest < table.newest
            ]
            if behind:
                oldest = min(self._terms[term].newest for term in behind)
                first = int(np.searchsorted(table.ids, oldest, side="right"))
                documents = np.unique(table.documents[first:])
                if len(documents) > _MOST_DOCUMENTS:
                    missing += behind
                else:
                    await self._extend(behind, table, documents.tolist())
            if missing:
                for term, (chunks, frequencies) in (await self._fetch(missing, None)).items():
                    self._terms[term] = _Term(chunks, frequencies, table.newest)
            found = {term: self._listed(term, table) for term in terms}
            self._forget(terms)
            return found

    async def _fetch(
        self, terms: Sequence[str], documents: list[int] | None
    ) -> dict[str, tuple[NDArray[np.int64], NDArray[np.int16]]]:
        rows = await self._database.fetch(
            "mirror_postings", {"terms": list(terms), "documents": documents}
        )
        none = np.empty(0, np.int64), np.empty(0, np.int16)
        found = dict.fromkeys(terms, none)
        for row in rows:
            chunks = integers(row["chunks"], 8)
            frequencies = integers(row["frequencies"], 2).astype(np.int16)
            order = np.argsort(chunks)
            found[row["term"]] = chunks[order], frequencies[order]
        return found

    async def _extend(self, terms: Sequence[str], table: ChunkTable, documents: list[int]) -> None:
        """Add the postings of documents that came since."""
        fresh = await self._fetch(terms, documents) if documents else {}
        for term in terms:
            known = self._terms[term]
            if term in fresh and len(fresh[term][0]):
                # Chunks beyond were fetched when the store was ahead of the table then.
                old = np.searchsorted(known.chunks, known.newest, side="right")
                chunks, frequencies = fresh[term]
                new = np.searchsorted(chunks, known.newest, side="right")
                known.chunks = np.append(known.chunks[:old], chunks[new:])
                known.frequencies = np.append(known.frequencies[:old], frequencies[new:])
            known.newest = table.newest

    def _listed(self, term: str, table: ChunkTable) -> PostingList:
        known = self._terms[term]
        self._terms.move_to_end(term)
        if known.listed is None or known.revision != table.revision:
            places, there = table.rows(known.chunks)
            rows, frequencies = places[there].astype(np.int32), known.frequencies[there]
            # What is gone from the table is gone for good; what is not in it yet is kept.
            kept = there | (known.chunks > table.newest)
            if known.listed is not None:
                self._held -= len(known.listed)
            known.chunks, known.frequencies = known.chunks[kept], known.frequencies[kept]
            length = table.lengths[rows] / np.float32(table.average or 1.0)
            k1, b = self._k1, self._b
            damping = np.float32(k1) * (np.float32(1 - b) + np.float32(b) * length)
            gains = (frequencies * np.float32(k1 + 1) / (frequencies + damping)).astype(np.float32)
            most = float(gains.max(initial=0.0))
            documents = len(np.unique(table.documents[rows]))
            known.listed = PostingList(rows, frequencies, gains, most, documents)
            known.revision = table.revision
            self._held += len(rows)
        return known.listed

    def _forget(self, wanted: Sequence[str]) -> None:
        """Drop the terms that were not asked for the longest, but none of these."""
        kept = set(wanted)
        while self._held > self._most:
            term = next(iter(self._terms))
            if term in kept:
                return
            gone = self._terms.pop(term)
            self._held -= len(gone.listed or ())
