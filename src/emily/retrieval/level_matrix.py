"""Vectors in memory as signed bytes, which are read fast, and as halves, which are exact.

What the bytes lost of a vector bounds by how much its cosine can be off (Cauchy and Schwarz). So
all vectors are compared by their bytes, and those that the bound leaves in question again by
their halves: the result is that of the halves alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Half", "LevelMatrix", "halves", "spliced"]

_LEVELS = 127
_BLOCK = 512  # rows that are turned into floats at once; they stay in the cache
_HEADER = 4  # bytes before the numbers of a halfvec
_MOST_RUNS = 1_000  # of rows that are copied one by one
_ROUNDING = np.float32(2e-6)  # of sums of 512 products in float32

Half = NDArray[np.float16]
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class LevelMatrix:
    """Vectors twice; arrays run in parallel.

    Attributes:
        exact: ``(n, dimension)`` halves.
        levels: ``(n, dimension)`` signed bytes.
        scales: ``(n,)``, what a level is worth.
        errors: ``(n,)``, length of what the levels lost.
    """

    exact: Half
    levels: NDArray[np.int8]
    scales: Floats
    errors: Floats

    @classmethod
    def of(cls, vectors: NDArray[Any]) -> LevelMatrix:
        """Of ``(n, dimension)`` numbers that halves can hold."""
        matrix = cls.room(len(vectors), vectors.shape[1])
        matrix.put(0, vectors.astype(np.float16))
        return matrix

    @classmethod
    def room(cls, rows: int, dimension: int) -> LevelMatrix:
        """Of so many rows that are still to be put in."""
        return cls(
            np.empty((rows, dimension), np.float16),
            np.empty((rows, dimension), np.int8),
            np.empty(rows, np.float32),
            np.empty(rows, np.float32),
        )

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return int(self.exact.shape[1])

    def __len__(self) -> int:
        return len(self.exact)

    def grown(self, rows: int) -> LevelMatrix:
        """A copy with room for further rows behind these, to be filled by ``put``."""
        matrix = LevelMatrix.room(len(self) + rows, self.dimension)
        for old, new in zip(self._arrays(), matrix._arrays(), strict=True):
            new[: len(self)] = old
        return matrix

    def put(self, first: int, vectors: Half) -> None:
        """Fill rows from ``first`` on."""
        some = slice(first, first + len(vectors))
        values = vectors.astype(np.float32)
        scales = np.abs(values).max(axis=1, initial=0.0) / np.float32(_LEVELS)
        scales[scales == 0] = 1.0
        levels = np.rint(values / scales[:, None])
        self.exact[some] = vectors
        self.levels[some] = levels
        self.scales[some] = scales
        self.errors[some] = np.linalg.norm(values - levels * scales[:, None], axis=1)

    def kept(self, rows: NDArray[np.bool_], room: int = 0) -> LevelMatrix:
        """A copy of some rows, with room for further ones behind them, to be filled by ``put``."""
        return LevelMatrix(*(spliced(array, rows, room) for array in self._arrays()))

    def floats(self, rows: NDArray[np.intp]) -> Floats:
        """Some rows exactly."""
        return _widened(self.exact[rows])

    def rough(
        self, vectors: Floats, rows: NDArray[np.intp] | slice = slice(None)
    ) -> tuple[Floats, Floats]:
        """Products with ``(m, dimension)`` vectors, and by how much they can be off.

        Returns:
            ``(n, m)`` and ``(n,)`` for the rows that are asked for.
        """
        levels, scales, errors = self.levels[rows], self.scales[rows], self.errors[rows]
        found = np.empty((len(levels), len(vectors)), np.float32)
        block = np.empty((min(_BLOCK, len(levels)), self.dimension), np.float32)
        turned = np.ascontiguousarray(vectors.T)
        for first in range(0, len(levels), _BLOCK):
            some = levels[first : first + _BLOCK]
            floats = block[: len(some)]
            np.copyto(floats, some)
            np.dot(floats, turned, out=found[first : first + len(some)])
        found *= scales[:, None]
        longest = np.linalg.norm(vectors, axis=1).max(initial=0.0)
        return found, (errors + _ROUNDING) * longest

    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return self.exact, self.levels, self.scales, self.errors


def spliced(array: NDArray[Any], kept: NDArray[np.bool_], room: int = 0) -> NDArray[Any]:
    """The rows of an array that are kept, and room behind them.

    Where few rows go, what lies between them is copied as it lies, in a fraction of the time.

    Args:
        array: ``(n, ...)``.
        kept: ``(n,)``.
        room: rows of any content behind the others.
    """
    bounds = np.flatnonzero(np.diff(kept, prepend=False, append=False)).reshape(-1, 2)
    new = np.empty((int(np.count_nonzero(kept)) + room, *array.shape[1:]), array.dtype)
    if len(bounds) > _MOST_RUNS:
        new[: len(new) - room] = array[kept]
        return new
    at = 0
    for first, end in bounds.tolist():
        new[at : at + end - first] = array[first:end]
        at += end - first
    return new


def _widened(numbers: Half) -> Floats:
    """Finite halves as floats, in less than half the time of ``astype``.

    Exponent and fraction move to their places in a float, where the exponent counts from 127
    instead of 15; a product with two to the difference sets that right, for the smallest too.
    """
    bits = numbers.view(np.uint16).astype(np.uint32)
    signs = bits & np.uint32(0x8000)
    signs <<= np.uint32(16)
    bits &= np.uint32(0x7FFF)
    bits <<= np.uint32(13)
    floats = bits.view(np.float32)
    floats *= np.float32(2.0**112)
    bits |= signs
    return floats


def halves(data: bytes | None, dimension: int) -> Half:
    """Vectors as ``halfvec_send`` gives them, one after the other, ``(n, dimension)``."""
    if not data:
        return np.empty((0, dimension), np.float16)
    rows = np.frombuffer(data, np.uint8).reshape(-1, _HEADER + 2 * dimension)
    numbers = np.ascontiguousarray(rows[:, _HEADER:]).view(">f2")
    return numbers.astype(np.float16)
