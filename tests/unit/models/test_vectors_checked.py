"""The gate that every vector passes."""

from __future__ import annotations

import numpy as np
import pytest

from emily.errors import VectorError
from emily.models import ModelIdentity
from emily.models.vectors import checked

MODEL = ModelIdentity("m", "1", 4)


def unit(rows: int = 2) -> np.ndarray:
    return np.full((rows, 4), 0.5, dtype=np.float32)


def test_passes_vectors_of_length_one() -> None:
    vectors = unit()
    assert checked(vectors, ["a", "b"], MODEL) is vectors
    assert checked(unit(0), [], MODEL).shape == (0, 4)


@pytest.mark.parametrize(
    "value", [np.nan, np.inf, -np.inf, 0.0, 5.0, 1e-20], ids=lambda value: str(value)
)
def test_names_the_text_with_a_bad_vector(value: float) -> None:
    vectors = unit(3)
    vectors[1] = value
    with pytest.raises(VectorError, match=r"text 2 of 3, which begins 'second'"):
        checked(vectors, ["first", "second", "third"], MODEL)


def test_one_bad_number_is_enough() -> None:
    vectors = unit()
    vectors[0, 3] = np.nan
    with pytest.raises(VectorError, match="length nan"):
        checked(vectors, ["first", "second"], MODEL)


@pytest.mark.parametrize("shape", [(1, 4), (2, 3), (3, 4), (8,)])
def test_refuses_another_shape(shape: tuple[int, ...]) -> None:
    with pytest.raises(VectorError, match="for 2 texts of 4 dimensions"):
        checked(np.zeros(shape, dtype=np.float32), ["a", "b"], MODEL)


def test_shows_only_the_beginning_of_a_long_text() -> None:
    with pytest.raises(VectorError) as raised:
        checked(np.zeros((1, 4), np.float32), ["x" * 10_000], MODEL)
    assert len(str(raised.value)) < 300
