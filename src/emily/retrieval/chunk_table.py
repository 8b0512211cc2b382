"""The chunks of the archive as columns in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from emily.retrieval.part_vectors import PartMatrix

__all__ = ["COLUMNS", "ChunkTable", "integers"]

COLUMNS = {"document": 8, "ordinal": 4, "start_at": 4, "end_at": 4, "terms": 4}
"""Columns of numbers that are kept of a chunk, and the size of each in the store, bytes."""


@dataclass(frozen=True, slots=True)
class ChunkTable:
    """The chunks of the archive at one moment; arrays run in parallel, ids ascend.

    Attributes:
        revision: of the archive.
        ids: ``(n,)`` ids in the store.
        columns: ``(n,)`` each, by the names of ``COLUMNS``; ``terms`` is a chunk's length.
        languages: ``(n,)``, of each, or ``None``.
        names: name of each document by its id.
        notes: of each of the owner's notes, the document that it is a note on.
        average: mean number of terms.
        vectors: their parts.
        newest: greatest id that was ever seen, also of a chunk that is gone.
    """

    revision: int
    ids: NDArray[np.int64]
    columns: Mapping[str, NDArray[np.int64]]
    languages: NDArray[np.object_]
    names: Mapping[int, str]
    average: float
    vectors: PartMatrix
    newest: int
    notes: Mapping[int, int] = field(default_factory=dict)

    @classmethod
    def empty(cls, dimension: int) -> ChunkTable:
        """Before anything is loaded."""
        return cls(
            revision=-1,
            ids=np.empty(0, np.int64),
            columns={name: np.empty(0, f"i{size}") for name, size in COLUMNS.items()},
            languages=np.empty(0, object),
            names={},
            average=0.0,
            vectors=PartMatrix.empty(dimension),
            newest=0,
        )

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def documents(self) -> NDArray[np.int64]:
        """``(n,)`` ids of the chunks' documents."""
        return self.columns["document"]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """``(n,)`` number of terms of each."""
        return self.columns["terms"]

    def rows(self, chunks: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """The row of each chunk id, and whether it is there."""
        if not len(self.ids):
            return np.zeros(len(chunks), np.intp), np.zeros(len(chunks), bool)
        rows = np.minimum(np.searchsorted(self.ids, chunks), len(self.ids) - 1)
        return rows, self.ids[rows] == chunks

    def of_documents(self, documents: Sequence[int] | None) -> NDArray[np.bool_] | None:
        """Which rows are of these documents; ``None`` for all."""
        if documents is None:
            return None
        return np.isin(self.documents, np.asarray(documents, np.int64))


def integers(data: bytes | None, size: int) -> NDArray[np.int64]:
    """The numbers of an array as PostgreSQL's ``array_send`` gives it, none of them null.

    Args:
        data: dimensions, flags, type, length, lower bound, then each number behind its size.
        size: bytes of a number: 2, 4 or 8.
    """
    if not data or len(data) <= 12:
        return np.empty(0, np.int64)
    packed = np.dtype([("size", ">i4"), ("value", f">i{size}")])
    return np.frombuffer(data, packed, offset=20)["value"].astype(np.int64)
