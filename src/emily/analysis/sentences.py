"""A document's sentences with their vectors, as indexing left them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emily.errors import VectorError
from emily.indexing.parts import sentence_offsets
from emily.indexing.sentences import plain_sentences, sentence_spans
from emily.indexing.vectors import unpack
from emily.models import Embedder
from emily.store import Database

__all__ = ["Sentence", "document_sentences", "embedded_sentences", "shown"]

_LEAD = re.compile(r"\s*(?:#{1,6}\s+|>\s+|[-*+•·▪◦●■]\s+|\|\s*)*")
_TAIL = re.compile(r"[\s|]*\Z")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a document.

    Attributes:
        start: offset of its first character in the document's text.
        end: offset behind its last one.
        text: as it stands there, on one line.
        vector: ``(dimension,)``, of length 1.
        language: of the chunk that it stands in.
    """

    start: int
    end: int
    text: str
    vector: NDArray[np.float32]
    language: str | None = None

    @property
    def words(self) -> int:
        """How many there are in it."""
        return len(self.text.split())


def shown(text: str) -> str:
    """A sentence as a summary shows it: on one line, without marks of a list or a heading."""
    body = _LEAD.sub("", text, count=1)
    return " ".join(_TAIL.sub("", body).split())


async def document_sentences(
    database: Database, document: int, text: str, dimension: int, embedder: Embedder
) -> list[Sentence]:
    """The sentences of a document in order, each once.

    Their vectors are those of the index; a document that has none there (its embedder failed on
    it) is embedded here.

    Args:
        database: the store.
        document: its id.
        text: its text.
        dimension: of the index's vectors.
        embedder: for what has no vector.

    Raises:
        ModelUnavailable: it is needed and cannot be loaded.
        StoreUnavailable: the database is lost.
    """
    rows = await database.fetch("analysis_chunks", {"document_id": document})
    return await asyncio.to_thread(_sentences, rows, text, dimension, embedder)


def _sentences(
    rows: Sequence[dict[str, Any]], text: str, dimension: int, embedder: Embedder
) -> list[Sentence]:
    found: list[Sentence] = []
    covered = 0
    for row in rows:
        own = text[row["start_at"] : row["end_at"]]
        spans = sentence_offsets(own, row["header"])
        vectors = _unpacked(bytes(row["sentences"]), dimension)
        if len(vectors) != len(spans):  # none, or made by another version of the rules
            whole = [span for span in spans if span is not None]
            spans, vectors = [*whole], _embedded([own[a:b] for a, b in whole], embedder)
        for span, vector in zip(spans, vectors, strict=True):
            if span is None:
                continue
            start, end = row["start_at"] + span[0], row["start_at"] + span[1]
            if start < covered:  # chunks overlap
                continue
            covered = end
            start, end = _longest(text, start, end)
            found.append(
                Sentence(start, end, shown(text[start:end]), _unit(vector), row["language"])
            )
    kept = [sentence for sentence in found if sentence.text]
    if len({len(sentence.vector) for sentence in kept}) > 1:  # of two models: no centre of both
        again = _embedded([sentence.text for sentence in kept], embedder)
        kept = [
            replace(sentence, vector=_unit(vector))
            for sentence, vector in zip(kept, again, strict=True)
        ]
    return kept


def _unpacked(data: bytes, dimension: int) -> NDArray[np.float32]:
    """The vectors of a chunk; none where they are not of this dimension."""
    try:
        return unpack(data, dimension)
    except ValueError:
        return np.empty((0, dimension), np.float32)


def embedded_sentences(text: str, embedder: Embedder) -> list[Sentence]:
    """The sentences of a text that is in no index.

    Raises:
        ModelUnavailable: the embedder cannot be loaded.
    """
    spans = [_longest(text, start, end) for start, end in sentence_spans(text)]
    texts = [shown(text[start:end]) for start, end in spans]
    vectors = _embedded(texts, embedder)
    return [
        Sentence(start, end, line, _unit(vector))
        for (start, end), line, vector in zip(spans, texts, vectors, strict=True)
        if line
    ]


def _longest(text: str, start: int, end: int) -> tuple[int, int]:
    """Of a unit that a heading or a crumb was joined to, the sentence itself."""
    inside = plain_sentences(text[start:end])
    if len(inside) < 2:
        return start, end
    first, last = max(inside, key=lambda span: span[1] - span[0])
    return start + first, start + last


def _embedded(texts: Sequence[str], embedder: Embedder) -> NDArray[np.float32]:
    """Vectors of sentences; zeros for one that the embedder fails on."""
    if not texts:
        return np.empty((0, embedder.identity.dimension), np.float32)
    try:
        return np.vstack([part.sentences for part in embedder.embed_parts([[t] for t in texts])])
    except VectorError:
        if len(texts) == 1:
            return np.zeros((1, embedder.identity.dimension), np.float32)
        middle = len(texts) // 2
        return np.vstack([_embedded(texts[:middle], embedder), _embedded(texts[middle:], embedder)])


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    length = float(np.linalg.norm(vector))
    scaled: NDArray[np.float32] = (vector / length if length else vector).astype(np.float32)
    return scaled
