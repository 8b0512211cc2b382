"""Documents recombined of the sentences of real ones, for archives larger than the real sets.

A sentence keeps its words and its vector; only its neighbours change. So words occur as often as
they do in the real sentences (Zipfian), and vectors are those of real sentences: the part of a
recombined chunk has the normalised sum of its sentences' vectors, where a real one has the
embedder's own. What is measured on such an archive is time and memory, never quality.
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from emily.indexing.chunking import Chunk
from emily.indexing.files import FileFacts
from emily.indexing.parts import sentence_offsets
from emily.indexing.prepare import IndexedChunk, Posting, PreparedDocument
from emily.indexing.terms import analyse, words
from emily.indexing.text import DocumentText
from emily.indexing.vectors import pack, unpack
from emily.reading.pages import Page, Reading
from emily.store import Database

__all__ = ["Recombined", "Sentence", "real_sentences", "recombined"]

WORDS_PER_CHUNK = 300
WORDS_PER_PART = 130
CHUNKS_PER_DOCUMENT = 50


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a real document.

    Attributes:
        text: on one line.
        vector: ``(dimension,)``.
        terms: how often each term stands in it.
        words: its words in the vocabulary, with the language of its chunk.
        size: number of words.
    """

    text: str
    vector: NDArray[np.float32]
    terms: Counter[str]
    words: frozenset[tuple[str, str]]
    size: int


@dataclass(frozen=True, slots=True)
class Recombined:
    """A document as the archive takes it."""

    file: FileFacts
    text: DocumentText
    digest: bytes
    prepared: PreparedDocument


async def real_sentences(
    database: Database, dimension: int, languages: tuple[str, ...], most: int, seed: int
) -> list[Sentence]:
    """Sentences of the archive's own chunks with the vectors that it holds.

    Args:
        database: an archive of real documents.
        dimension: of its vectors.
        languages: of the archive.
        most: how many chunks to take them from.
        seed: of the choice of chunks.
    """
    async with database.transaction() as connection:
        cursor = await connection.execute(
            "SELECT substr(d.text, c.start_at + 1, c.end_at - c.start_at) AS text, c.sentences, "
            "coalesce(c.language, '?') AS language "
            "FROM chunk c JOIN document d ON d.id = c.document_id WHERE c.header = '' "
            "ORDER BY md5(c.id::text || %s) LIMIT %s",
            (str(seed), most),
            binary=True,
        )
        rows = await cursor.fetchall()
    found = []
    for row in rows:
        offsets = sentence_offsets(row["text"])
        vectors = unpack(row["sentences"], dimension)
        if len(offsets) != len(vectors):
            continue
        for span, vector in zip(offsets, vectors, strict=True):
            text = " ".join(row["text"][slice(*span)].split()) if span else ""
            if text:
                found.append(
                    Sentence(
                        text,
                        vector / max(float(np.linalg.norm(vector)), 1e-6),
                        Counter(term.term for term in analyse(text, languages)),
                        frozenset((word, row["language"]) for word in words(text, languages)),
                        len(text.split()),
                    )
                )
    return found


def recombined(sentences: Sequence[Sentence], seed: int) -> Iterator[Recombined]:
    """Documents without end, of ``CHUNKS_PER_DOCUMENT`` chunks each; the same for a seed."""
    number = 0
    while True:
        yield _document(sentences, random.Random(f"{seed}/{number}"), f"{seed}-{number}")
        number += 1


def _document(sentences: Sequence[Sentence], chance: random.Random, name: str) -> Recombined:
    chunks: list[IndexedChunk] = []
    lengths: list[int] = []
    where: dict[str, list[tuple[int, int]]] = defaultdict(list)
    texts: list[str] = []
    start = 0
    for ordinal in range(CHUNKS_PER_DOCUMENT):
        parts: list[list[Sentence]] = [[]]
        size = 0
        while size < WORDS_PER_CHUNK:
            if sum(item.size for item in parts[-1]) >= WORDS_PER_PART:
                parts.append([])
            parts[-1].append(chance.choice(sentences))
            size += parts[-1][-1].size
        chosen = [item for part in parts for item in part]
        text = " ".join(item.text for item in chosen)
        sums = np.stack([np.sum([item.vector for item in part], axis=0) for part in parts])
        counts: Counter[str] = Counter()
        for item in chosen:
            counts.update(item.terms)
        for term, count in counts.items():
            where[term].append((ordinal, count))
        lengths.append(counts.total())
        chunks.append(
            IndexedChunk(
                Chunk(ordinal, 1, start, start + len(text), "", size),
                "en",
                (sums / np.linalg.norm(sums, axis=1, keepdims=True)).astype(np.float32),
                pack(np.stack([item.vector for item in chosen])),
                frozenset().union(*(item.words for item in chosen)),
            )
        )
        texts.append(text)
        start += len(text) + 1
    whole = "\n".join(texts)
    content = whole.encode("utf-8")
    digest = hashlib.sha256(content).digest()
    return Recombined(
        FileFacts(Path(f"/recombined/{name}.txt"), digest, len(content), "txt"),
        DocumentText.from_reading(Reading("txt", (Page(1, whole),), "lines")),
        digest,
        PreparedDocument(
            "en",
            chunks[0].parts[0],
            tuple(chunks),
            tuple(lengths),
            {
                term: Posting(tuple(row for row, _ in found), tuple(count for _, count in found))
                for term, found in where.items()
            },
            (),
        ),
    )
