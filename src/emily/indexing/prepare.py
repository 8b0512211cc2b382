"""From a document's text to all that the index keeps of it; computes, and writes nothing."""

from __future__ import annotations

import asyncio
import re
import threading
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePath

import numpy as np
from numpy.typing import NDArray

from emily.errors import VectorError
from emily.indexing.chunking import Chunk, chunk
from emily.indexing.fingerprint import fingerprint_of
from emily.indexing.language import LanguageDetector
from emily.indexing.parts import split_into_parts
from emily.indexing.stems import STEMS_MARK
from emily.indexing.terms import analyse, words
from emily.indexing.text import DocumentText
from emily.indexing.vectors import pack
from emily.models.protocols import Embedder
from emily.settings import Settings

__all__ = [
    "NO_LANGUAGE",
    "EmbeddedDocument",
    "GivenUp",
    "IndexedChunk",
    "Posting",
    "PreparedDocument",
    "Preparer",
    "ReadyCut",
    "Remembered",
    "Word",
    "name_terms",
    "readable_name",
]

INDEX_VERSION = 2
"""Raised when chunks, terms or vectors are computed in another way: all becomes stale."""

NO_LANGUAGE = "?"
"""Language of a vocabulary word from a chunk whose language is not known."""

Word = tuple[str, str]
"""A word of the vocabulary: its surface and its language."""

_Part = tuple[NDArray[np.float32], bytes]  # its vector, and its packed sentences

_BATCH_PARTS = 256  # what is known of a token is computed once a batch
_MOST_FREQUENT = 32_767  # frequencies are stored as smallint


class GivenUp(Exception):
    """Nobody waits for the result; never seen outside of the thread that was given up."""


@dataclass(frozen=True, slots=True)
class IndexedChunk:
    """A chunk with what it is found by.

    Attributes:
        chunk: its place in the document.
        language: its language, or ``None``.
        parts: ``(n_parts, dimension)``; no rows where the embedder failed on it.
        sentences: packed sentence vectors, see ``emily.indexing.vectors``.
        words: its words in the vocabulary.
        digest: of what is embedded of it, where its vectors are kept by that.
    """

    chunk: Chunk
    language: str | None
    parts: NDArray[np.float32]
    sentences: bytes
    words: frozenset[Word]
    digest: bytes | None = None


@dataclass(frozen=True, slots=True)
class Remembered:
    """Vectors that a chunk had before, or that were computed beside those of other documents.

    Attributes:
        parts: ``(n_parts, dimension)``, at least one.
        sentences: packed sentence vectors.
        whole: one vector of the chunk, where the index serves the preset ``archive``.
    """

    parts: NDArray[np.float32]
    sentences: bytes
    whole: NDArray[np.float32] | None = None


@dataclass(frozen=True, slots=True)
class ReadyCut:
    """A document that is cut into chunks already, with what is known of its vectors.

    Attributes:
        chunks: in order.
        digests: of what is embedded of each.
        remembered: vectors by digest; a chunk that is not among them is embedded.
        name_vector: of its name, where it is known.
    """

    chunks: tuple[Chunk, ...]
    digests: tuple[bytes, ...]
    remembered: Mapping[bytes, Remembered]
    name_vector: NDArray[np.float32] | None = None

    def known(self) -> list[Remembered | None]:
        """What is known of each chunk."""
        return [self.remembered.get(digest) for digest in self.digests]


@dataclass(frozen=True, slots=True)
class Posting:
    """One term of a document: in which of its chunks, and how often.

    Attributes:
        chunks: indexes into the document's chunks, ascending.
        frequencies: how often the term stands in each of them.
    """

    chunks: tuple[int, ...]
    frequencies: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """All that the index keeps of a document beside its text.

    Attributes:
        language: the document's language, or ``None``.
        name_vector: ``(dimension,)``, the vector of the document's readable name; ``None``
            where the embedder fails on it.
        chunks: in order.
        lengths: number of terms of each chunk.
        postings: by term.
        failures: chunks that have no vector, with the reason; found by words only.
        whole: for the preset ``archive``, where the index is to serve it, the text that each
            chunk is stemmed from and its one vector (``None`` where the embedder failed).
    """

    language: str | None
    name_vector: NDArray[np.float32] | None
    chunks: tuple[IndexedChunk, ...]
    lengths: tuple[int, ...]
    postings: dict[str, Posting]
    failures: tuple[str, ...]
    whole: tuple[tuple[str, NDArray[np.float32] | None], ...] | None = None


@dataclass(frozen=True, slots=True)
class EmbeddedDocument:
    """What an embedder makes of a document's chunks, by chunk.

    Attributes:
        name_vector: as in ``PreparedDocument``.
        parts: vectors of each chunk's parts; none where the embedder failed on it.
        sentences: packed sentence vectors of each chunk.
        wholes: one vector of each chunk, where the index serves the preset ``archive``.
        failures: as in ``PreparedDocument``.
    """

    name_vector: NDArray[np.float32] | None
    parts: tuple[Sequence[NDArray[np.float32]], ...]
    sentences: tuple[bytes, ...]
    wholes: tuple[NDArray[np.float32] | None, ...]
    failures: tuple[str, ...]


class Preparer:
    """Chunks, languages, vectors and terms of documents, by the owner's settings."""

    def __init__(self, embedder: Embedder, languages: LanguageDetector, settings: Settings) -> None:
        self._embedder = embedder
        self._settings = settings
        self._languages = languages

    @property
    def fingerprint(self) -> str:
        """What the result depends on beside text and model; kept with each document."""
        chosen = self._settings
        return fingerprint_of(
            INDEX_VERSION,
            chosen.chunk_tokens,
            chosen.chunk_overlap,
            chosen.languages,
            chosen.language_confidence,
            STEMS_MARK if chosen.serves("archive") else "",
        )

    @property
    def most_characters(self) -> int:
        """Longest text that is indexed."""
        return self._settings.document_characters

    def dates_language(self, text: str, language: str | None) -> str | None:
        """The language by whose rule a document's dates are read; see ``LanguageDetector``."""
        return self._languages.dates_language(text, language)

    async def prepared(self, document: DocumentText, name: str) -> PreparedDocument:
        """``prepare`` in a thread, which ends soon after this is cancelled."""
        given_up = threading.Event()
        try:
            return await asyncio.to_thread(self.prepare, document, name, given_up)
        except asyncio.CancelledError:
            given_up.set()
            raise

    def prepare(
        self,
        document: DocumentText,
        name: str,
        given_up: threading.Event | None = None,
        cut: ReadyCut | None = None,
    ) -> PreparedDocument:
        """Compute everything that the index keeps; takes CPU time, so call it in a thread.

        Args:
            document: its text, pages and tables.
            name: its file name; its words count as words of every chunk.
            given_up: once set, nobody waits for the result any more.
            cut: its chunks, where they are not to be found by size.

        Raises:
            ModelUnavailable: the embedder cannot be loaded.
            GivenUp: ``given_up`` was set.
        """
        chosen = self._settings
        language = self._languages.document_language(document.text, chosen.language_confidence)
        chunks: Sequence[Chunk] = self.chunks(document) if cut is None else cut.chunks
        known = [None] * len(chunks) if cut is None else cut.known()
        digests = [None] * len(chunks) if cut is None else cut.digests
        texts = [document.text[item.start : item.end] for item in chunks]
        # The embedder leaves Python's lock most of the time; the words fit beside it.
        with ThreadPoolExecutor(1, thread_name_prefix="words") as beside:
            wording = beside.submit(self._words, chunks, texts, language)
            reckoning = beside.submit(_postings, chunks, texts, name, chosen.languages)
            vectors, failures = self._embed(chunks, texts, given_up or threading.Event(), known)
            whole = self._whole(chunks, texts, given_up or threading.Event(), known)
            spoken = wording.result()
            lengths, postings = reckoning.result()
        indexed = []
        for item, found, (tongue, surfaces), digest in zip(
            chunks, vectors, spoken, digests, strict=True
        ):
            parts = np.empty((0, self._embedder.identity.dimension), np.float32)
            if found:
                parts = np.stack([part for part, _ in found])
            sentences = b"".join(packed for _, packed in found)
            indexed.append(IndexedChunk(item, tongue, parts, sentences, surfaces, digest))
        named = None if cut is None else cut.name_vector
        return PreparedDocument(
            language=language,
            name_vector=self._name_vector(name) if named is None else named,
            chunks=tuple(indexed),
            lengths=lengths,
            postings=postings,
            failures=failures,
            whole=whole,
        )

    def chunks(self, document: DocumentText) -> list[Chunk]:
        """A document cut by size, as the settings say."""
        chosen = self._settings
        return chunk(
            document, self._embedder, limit=chosen.chunk_tokens, overlap=chosen.chunk_overlap
        )

    def names(self, names: Sequence[str]) -> list[NDArray[np.float32] | None]:
        """Vectors of documents' names; ``None`` where the embedder fails on one.

        Raises:
            ModelUnavailable: the embedder cannot be loaded.
        """
        try:
            return list(self._embedder.embed_queries([readable_name(name) for name in names]))
        except VectorError:
            return [self._name_vector(name) for name in names]

    def remember(self, chunks: Sequence[Chunk], texts: Sequence[str]) -> list[Remembered | None]:
        """Embed chunks of several documents at once; ``None`` where the embedder fails on one.

        Args:
            chunks: of any documents.
            texts: of the chunks.

        Raises:
            ModelUnavailable: the embedder cannot be loaded.
        """
        vectors, _ = self._embed(chunks, texts, threading.Event())
        whole = self._whole(chunks, texts, threading.Event())
        return [
            Remembered(
                np.stack([part for part, _ in found]),
                b"".join(packed for _, packed in found),
                None if whole is None else whole[row][1],
            )
            if found
            else None
            for row, found in enumerate(vectors)
        ]

    async def embedded(
        self, chunks: Sequence[Chunk], texts: Sequence[str], name: str
    ) -> EmbeddedDocument:
        """``embed`` in a thread, which ends soon after this is cancelled."""
        given_up = threading.Event()
        try:
            return await asyncio.to_thread(self.embed, chunks, texts, name, given_up)
        except asyncio.CancelledError:
            given_up.set()
            raise

    def embed(
        self,
        chunks: Sequence[Chunk],
        texts: Sequence[str],
        name: str,
        given_up: threading.Event | None = None,
    ) -> EmbeddedDocument:
        """The vectors alone of a document that is chunked already.

        Args:
            chunks: in order.
            texts: of the chunks.
            name: the document's file name.
            given_up: once set, nobody waits for the result any more.

        Raises:
            ModelUnavailable: the embedder cannot be loaded.
            GivenUp: ``given_up`` was set.
        """
        wanted = given_up or threading.Event()
        vectors, failures = self._embed(chunks, texts, wanted)
        whole = self._whole(chunks, texts, wanted)
        return EmbeddedDocument(
            name_vector=self._name_vector(name),
            parts=tuple([part for part, _ in found] for found in vectors),
            sentences=tuple(b"".join(packed for _, packed in found) for found in vectors),
            wholes=tuple(None if whole is None else whole[row][1] for row in range(len(chunks))),
            failures=failures,
        )

    def _words(
        self, chunks: Sequence[Chunk], texts: Sequence[str], language: str | None
    ) -> list[tuple[str | None, frozenset[Word]]]:
        """Language and vocabulary words of each chunk."""
        chosen = self._settings
        found = []
        for item, text in zip(chunks, texts, strict=True):
            spoken = self._languages.chunk_language(text, language, chosen.language_confidence)
            surfaces = words(f"{item.header}\n{text}", chosen.languages)
            found.append((spoken, frozenset((word, spoken or NO_LANGUAGE) for word in surfaces)))
        return found

    def _name_vector(self, name: str) -> NDArray[np.float32] | None:
        try:
            vectors = self._embedder.embed_queries([readable_name(name)])
        except VectorError:
            return None
        first: NDArray[np.float32] = vectors[0]
        return first

    def _whole(
        self,
        chunks: Sequence[Chunk],
        texts: Sequence[str],
        given_up: threading.Event,
        known: Sequence[Remembered | None] | None = None,
    ) -> tuple[tuple[str, NDArray[np.float32] | None], ...] | None:
        """Each chunk as one text with one vector, where the index serves ``archive``."""
        if not self._settings.serves("archive"):
            return None
        full = [f"{item.header}\n{text}".strip() for item, text in zip(chunks, texts, strict=True)]
        found: list[list[_Part]] = [[] for _ in full]
        kept = [None if item is None else item.whole for item in known or [None] * len(full)]
        batch = [(index, [text]) for index, text in enumerate(full) if kept[index] is None]
        for start in range(0, len(batch), _BATCH_PARTS):
            if given_up.is_set():
                raise GivenUp
            self._embed_batch(batch[start : start + _BATCH_PARTS], found, {})
        return tuple(
            (text, vectors[0][0] if vectors else whole)
            for text, vectors, whole in zip(full, found, kept, strict=True)
        )

    def _embed(
        self,
        chunks: Sequence[Chunk],
        texts: Sequence[str],
        given_up: threading.Event,
        known: Sequence[Remembered | None] | None = None,
    ) -> tuple[list[list[_Part]], tuple[str, ...]]:
        """Vectors of each chunk's parts; none for a chunk on which the embedder fails."""
        before = known or [None] * len(chunks)
        parts = [
            split_into_parts(text, item.header) if kept is None else []
            for item, text, kept in zip(chunks, texts, before, strict=True)
        ]
        flat = [(index, part) for index, group in enumerate(parts) for part in group]
        vectors: list[list[_Part]] = [[] for _ in chunks]
        broken: dict[int, str] = {}
        for start in range(0, len(flat), _BATCH_PARTS):
            if given_up.is_set():
                raise GivenUp
            self._embed_batch(flat[start : start + _BATCH_PARTS], vectors, broken)
        for index in broken:
            vectors[index] = []
        for index, kept in enumerate(before):
            if kept is not None:  # its sentences are joined later, so it matters not which has them
                packed = [kept.sentences, *[b""] * (len(kept.parts) - 1)]
                vectors[index] = list(zip(kept.parts, packed, strict=True))
        return vectors, tuple(
            f"Passage {index + 1} (page {chunks[index].page}) has no vector and is found by "
            f"words only: {reason}"
            for index, reason in sorted(broken.items())
        )

    def _embed_batch(
        self,
        batch: Sequence[tuple[int, list[str]]],
        vectors: list[list[_Part]],
        broken: dict[int, str],
    ) -> None:
        """Embed a batch; halve it on a bad vector until the one bad text stands alone."""
        try:
            found = self._embedder.embed_parts([part for _, part in batch])
        except VectorError as error:
            if len(batch) == 1:
                broken[batch[0][0]] = str(error)
                return
            middle = len(batch) // 2
            self._embed_batch(batch[:middle], vectors, broken)
            self._embed_batch(batch[middle:], vectors, broken)
            return
        for (index, _), part in zip(batch, found, strict=True):
            # Packed at once: as floats, the sentences of a long text fill the memory.
            vectors[index].append((part.part, pack(part.sentences)))


def readable_name(name: str) -> str:
    """A file's name as words: ``rent_contract-2024.pdf`` as ``rent contract 2024``."""
    return re.sub(r"[\s_.-]+", " ", PurePath(name).stem).strip() or name


@lru_cache(maxsize=4096)
def name_terms(name: str, languages: tuple[str, ...]) -> frozenset[str]:
    """The terms of a file's name: of its words, and of what its signs hold together.

    ``DEC-0054_2024-03-15.pdf`` has an identifier and a date beside its words and numbers.
    """
    stem = PurePath(name).stem
    spellings = f"{stem} {stem.replace('_', ' ')} {readable_name(name)}"
    return frozenset(term.term for term in analyse(spellings, languages))


def _postings(
    chunks: Sequence[Chunk], texts: Sequence[str], name: str, languages: tuple[str, ...]
) -> tuple[tuple[int, ...], dict[str, Posting]]:
    """Term frequencies by chunk; a table's header and the file's name count with each."""
    named = name_terms(name, languages)
    where: dict[str, list[tuple[int, int]]] = defaultdict(list)
    lengths = []
    for index, (item, text) in enumerate(zip(chunks, texts, strict=True)):
        counts = Counter(term.term for term in analyse(f"{item.header}\n{text}", languages))
        counts.update(named)
        lengths.append(counts.total())
        for term, frequency in counts.items():
            where[term].append((index, min(frequency, _MOST_FREQUENT)))
    postings = {
        term: Posting(tuple(index for index, _ in found), tuple(count for _, count in found))
        for term, found in where.items()
    }
    return tuple(lengths), postings
