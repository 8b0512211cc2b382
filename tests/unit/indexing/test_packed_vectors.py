"""Sentence vectors as bytes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from emily.indexing.vectors import pack, unpack


@given(
    arrays(
        np.float32,
        array_shapes(min_dims=2, max_dims=2, max_side=24),
        elements=st.floats(-1, 1, width=32, allow_subnormal=False),
    )
)
def test_comes_back_within_half_a_level(vectors: np.ndarray) -> None:
    found = unpack(pack(vectors), vectors.shape[1])
    assert found.shape == vectors.shape
    assert found.dtype == np.float32
    level = np.abs(vectors).max(axis=1, keepdims=True) / 127
    assert (np.abs(found - vectors) <= level * 0.501 + 1e-37).all()


def test_a_unit_vector_keeps_its_cosine() -> None:
    vectors = np.random.default_rng(1).standard_normal((50, 512)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    found = unpack(pack(vectors), 512)
    cosines = (found * vectors).sum(axis=1) / np.linalg.norm(found, axis=1)
    assert cosines.min() > 0.9999
    assert len(pack(vectors)) == 50 * (512 + 4)


def test_no_rows() -> None:
    assert pack(np.empty((0, 8), np.float32)) == b""
    assert unpack(b"", 8).shape == (0, 8)
    assert not unpack(pack(np.zeros((2, 8), np.float32)), 8).any()


def test_another_dimension_is_refused() -> None:
    with pytest.raises(ValueError, match="reshape"):
        unpack(pack(np.ones((3, 8), np.float32)), 10)
