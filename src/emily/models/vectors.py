"""The gate that every vector passes before it is used or stored."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from emily.errors import VectorError
from emily.models.protocols import Matrix, ModelIdentity

__all__ = ["checked"]

# A unit vector in float32 is off by rounding alone; the margin leaves room for float16.
_NORM_TOLERANCE = 1e-2


def checked(vectors: Matrix, texts: Sequence[str], model: ModelIdentity) -> Matrix:
    """Return ``vectors`` if each is finite, of length 1 and of the model's dimension.

    Args:
        vectors: ``(n, dimension)``.
        texts: the ``n`` texts they stand for, to name the one that failed.
        model: whose vectors they are.

    Raises:
        VectorError: a vector holds NaN or infinity, is zero or not normalised, or the
            shape is wrong; the message names the text's place and its first characters.
    """
    if vectors.shape != (len(texts), model.dimension):
        raise VectorError(
            f"{model.name} returned vectors of shape {vectors.shape} "
            f"for {len(texts)} texts of {model.dimension} dimensions."
        )
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    # NaN and infinity make the length not finite, zero makes it 0: one test finds all three.
    bad = np.flatnonzero(~(np.abs(lengths - 1.0) < _NORM_TOLERANCE))
    if bad.size:
        first = int(bad[0])
        raise VectorError(
            f"{model.name} returned a vector of length {float(lengths[first])} (must be 1) for "
            f"text {first + 1} of {len(texts)}, which begins {texts[first][:60]!r}. "
            "Nothing of it was stored."
        )
    return vectors
