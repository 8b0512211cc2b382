"""Vectors of questions, without embedding again what is in the vocabulary or was asked lately."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from emily.models.protocols import Embedder, Matrix
from emily.retrieval.query import Meaning, Query
from emily.retrieval.vocabulary import Words

__all__ = ["Understanding"]

_REMEMBERED = 1_000  # questions, and words, of which the vectors are remembered


class Understanding:
    """Embeds questions with one embedder, and remembers the last of them."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._lock = threading.Lock()
        self._questions: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._words: OrderedDict[str, NDArray[np.float32]] = OrderedDict()

    def of(self, query: Query, vocabulary: Words | None = None) -> Meaning:
        """``of_all`` of one question."""
        return self.of_all([query], vocabulary)[0]

    def of_all(self, queries: Sequence[Query], vocabulary: Words | None = None) -> list[Meaning]:
        """Embed questions and their words in one batch; takes CPU time: call it in a thread.

        Args:
            queries: the questions.
            vocabulary: whose vectors are taken for the words that it holds.

        Raises:
            ModelUnavailable: the embedder cannot be loaded.
            VectorError: it returned a vector that cannot be compared.
        """
        embedder = self._embedder
        texts = list(dict.fromkeys(query.meant for query in queries))
        questions = self._vectors(self._questions, texts, embedder.embed_queries)
        distinct = list(dict.fromkeys(word for query in queries for word in query.words))
        held = {
            word: vector
            for word in distinct
            if vocabulary is not None and (vector := vocabulary.vector(word)) is not None
        }
        others = [word for word in distinct if word not in held]
        found = held | self._vectors(self._words, others, embedder.embed_words)
        dimension = embedder.words_identity.dimension
        return [
            Meaning(
                vector=questions[query.meant],
                word_vectors=np.array([found[word] for word in query.words], np.float32).reshape(
                    len(query.words), dimension
                ),
                rarity=embedder.rarity(query.words),
            )
            for query in queries
        ]

    def _vectors(
        self,
        remembered: OrderedDict[str, NDArray[np.float32]],
        texts: Sequence[str],
        embed: Callable[[Sequence[str]], Matrix],
    ) -> dict[str, NDArray[np.float32]]:
        """Vectors of texts; those that are not remembered are embedded in one batch."""
        found = {text: self._known(remembered, text) for text in texts}
        fresh = [text for text, vector in found.items() if vector is None]
        if fresh:
            for text, vector in zip(fresh, embed(fresh), strict=True):
                found[text] = vector
                self._remember(remembered, text, vector)
        return {text: vector for text, vector in found.items() if vector is not None}

    def _known(
        self, remembered: OrderedDict[str, NDArray[np.float32]], text: str
    ) -> NDArray[np.float32] | None:
        with self._lock:
            return remembered.get(text)

    def _remember(
        self,
        remembered: OrderedDict[str, NDArray[np.float32]],
        text: str,
        vector: NDArray[np.float32],
    ) -> None:
        with self._lock:
            remembered[text] = vector
            while len(remembered) > _REMEMBERED:
                remembered.popitem(last=False)
