"""The vectors of parts in memory: which chunks are nearest to a question.

Exact up to a size (see ``level_matrix``). Beyond it the signs of the numbers are compared first,
one bit a dimension, and only the parts whose signs differ least are compared further.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from emily.retrieval.level_matrix import Floats, Half, LevelMatrix, spliced

__all__ = ["SIGNS_FROM", "SIGNS_KEPT", "PartMatrix"]

SIGNS_FROM = 30_000
"""Parts from which the signs are compared first, see docs/benchmarks.md."""
SIGNS_KEPT = 2_000
"""Parts that are compared further after their signs."""


@dataclass(frozen=True, slots=True)
class PartMatrix:
    """Vectors of all parts, those of a chunk beside each other.

    Attributes:
        vectors: ``(m, dimension)``.
        signs: ``(dimension / 64, m)`` bits, a word of 64 dimensions after the other.
        starts: ``(n + 1,)``, first part of each chunk, and the number of parts.
    """

    vectors: LevelMatrix
    signs: NDArray[np.uint64]
    starts: NDArray[np.intp]

    @classmethod
    def empty(cls, dimension: int) -> PartMatrix:
        """No part of no chunk."""
        signs = np.empty((-(-dimension // 64), 0), np.uint64)
        return cls(LevelMatrix.room(0, dimension), signs, np.zeros(1, np.intp))

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self.vectors.dimension

    @property
    def bytes_of_row(self) -> int:
        """Memory that a part takes."""
        return 3 * self.dimension + 8 * len(self.signs) + 8

    def __len__(self) -> int:
        return len(self.vectors)

    def grown(self, parts: int) -> PartMatrix:
        """With room for further parts, to be filled by ``put``, and then ``counted``."""
        signs = np.empty((len(self.signs), len(self) + parts), np.uint64)
        signs[:, : len(self)] = self.signs
        return PartMatrix(self.vectors.grown(parts), signs, self.starts)

    def put(self, first: int, vectors: Half) -> int:
        """Fill the room from part ``first`` on; gives the place behind them."""
        end = first + len(vectors)
        self.vectors.put(first, vectors)
        self.signs[:, first:end] = _signs(vectors)
        return end

    def counted(self, counts: NDArray[np.intp]) -> PartMatrix:
        """With the number of parts of each chunk that was put behind the others."""
        starts = np.append(self.starts, self.starts[-1] + np.cumsum(counts))
        return replace(self, starts=starts)

    def kept(self, chunks: NDArray[np.bool_], room: int = 0) -> PartMatrix:
        """Of these chunks only, with room for further parts as in ``grown``."""
        counts = np.diff(self.starts)
        parts = np.repeat(chunks, counts)
        return PartMatrix(
            self.vectors.kept(parts, room),
            np.stack([spliced(word, parts, room) for word in self.signs]),
            np.append(0, np.cumsum(counts[chunks])),
        )

    def nearest(
        self,
        vector: Floats,
        limit: int,
        chunks: NDArray[np.bool_] | None = None,
        *,
        by_signs: bool | None = None,
    ) -> tuple[NDArray[np.intp], Floats]:
        """The chunks with the nearest part.

        Args:
            vector: ``(dimension,)``, of length 1.
            limit: most chunks.
            chunks: which of them to look at; ``None`` for all.
            by_signs: compare the signs first, which may miss some; ``None`` from so many
                parts on that comparing all takes too long.

        Returns:
            rows of chunks, nearest first and equals by their row, and their cosines.
        """
        parts = (
            np.arange(len(self))
            if chunks is None
            else np.flatnonzero(np.repeat(chunks, np.diff(self.starts)))
        )
        if not len(parts):
            return np.empty(0, np.intp), np.empty(0, np.float32)
        enough = len(parts) > SIGNS_KEPT
        if enough and (by_signs or (by_signs is None and len(parts) > SIGNS_FROM)):
            parts = self._by_signs(vector, parts)
        whole = len(parts) == len(self)
        found, errors = self.vectors.rough(vector[None], slice(None) if whole else parts)
        rough = found[:, 0]
        best, chunk = _best_of_each(rough - errors, self._owners(parts))
        bar = -np.inf
        if len(chunk) > limit:
            bar = np.partition(best, len(best) - limit)[len(best) - limit]
        parts = parts[rough + errors >= bar]
        best, chunk = _best_of_each(self.vectors.floats(parts) @ vector, self._owners(parts))
        order = np.argsort(-best, kind="stable")[:limit]
        return chunk[order], best[order]

    def cosines(self, vector: Floats, rows: NDArray[np.intp]) -> list[float | None]:
        """For chunks the cosine of their nearest part; ``None`` for a chunk without one."""
        starts, ends = self.starts[rows], self.starts[rows + 1]
        parts = [np.arange(first, end) for first, end in zip(starts, ends, strict=True)]
        found = self.vectors.floats(np.concatenate([np.empty(0, np.intp), *parts])) @ vector
        bounds = np.append(0, np.cumsum(ends - starts)).tolist()
        return [
            float(found[first:end].max()) if end > first else None
            for first, end in pairwise(bounds)
        ]

    def _owners(self, parts: NDArray[np.intp]) -> NDArray[np.intp]:
        """The chunk of each part."""
        return np.searchsorted(self.starts, parts, side="right") - 1

    def _by_signs(self, vector: Floats, parts: NDArray[np.intp]) -> NDArray[np.intp]:
        """Those of the parts whose signs differ least from those of the vector, ascending."""
        apart = np.zeros(len(self), np.uint16)
        for word, own in zip(self.signs, _signs(vector[None])[:, 0], strict=True):
            apart += np.bitwise_count(word ^ own)
        nearest = np.argpartition(apart[parts], SIGNS_KEPT)[:SIGNS_KEPT]
        return np.sort(parts[nearest])


def _best_of_each(scores: Floats, owners: NDArray[np.intp]) -> tuple[Floats, NDArray[np.intp]]:
    """The greatest score of each owner, and the owners; equal ones stand beside each other."""
    first = np.flatnonzero(np.diff(owners, prepend=-1))
    best: Floats = np.maximum.reduceat(scores, first)
    return best, owners[first]


def _signs(vectors: Floats | Half) -> NDArray[np.uint64]:
    """One bit a dimension, ``(dimension / 64, n)``; what is missing of 64 is 0."""
    bits = np.pad(vectors > 0, ((0, 0), (0, -vectors.shape[1] % 64)))
    return np.ascontiguousarray(np.packbits(bits, axis=1).view(np.uint64).T)
