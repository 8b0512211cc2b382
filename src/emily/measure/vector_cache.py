"""Vectors that outlive a throw-away database: one SQLite file a model, in the home's cache.

What an embedder gives for a call is kept under the hash of the call's texts, whole: the last
bits of a vector depend on what it was computed beside, so that only a whole call comes back as
it would be computed. The file may be deleted at any time.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from emily.models import Embedder
from emily.models.protocols import Matrix, ModelIdentity, PartVectors
from emily.settings import private_folder

__all__ = ["CachedEmbedder", "VectorCache"]

_log = logging.getLogger("emily.measure")

_FORMAT = 1
_DIGEST_BYTES = 16
_WAIT_SECONDS = 60  # for another process that writes


class VectorCache:
    """Byte strings under hashes, in a file that several processes may use at once.

    What is read is checked against a digest that was kept with it; what does not agree counts
    as missing. A file that is no database is replaced. Where the cache cannot be used at all,
    a warning says so once, and everything counts as missing.
    """

    def __init__(self, folder: Path, identity: ModelIdentity) -> None:
        """Open or make the file of a model.

        Args:
            folder: where it lies; made if it is not there.
            identity: of the model; each has a file of its own.
        """
        readable = re.sub(r"[^A-Za-z0-9.-]+", "_", f"{identity.name}-{identity.profile}")[:60]
        told_apart = _digest(str(identity).encode()).hex()[:8]
        self.path = folder / f"vectors-{_FORMAT}-{readable}-{told_apart}.sqlite"
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        private_folder(folder)
        for attempt in ("open", "replace"):
            try:
                self._connection = self._opened()
                break
            except sqlite3.DatabaseError as error:
                if attempt == "replace" or isinstance(error, sqlite3.OperationalError):
                    self._give_up(error)
                    break
                _log.warning("the cache of vectors %s was damaged and is made anew", self.path)
                self._remove()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; afterwards everything counts as missing."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def get(self, key: bytes) -> bytes | None:
        """What was put under a key, ``None`` if there is nothing whole."""
        with self._lock:
            if self._connection is None:
                return None
            try:
                row = self._connection.execute(
                    "SELECT value FROM vectors WHERE key = ?", (key,)
                ).fetchone()
            except sqlite3.DatabaseError as error:
                self._give_up(error)
                return None
        if row is None or not isinstance(row[0], bytes):
            return None
        digest, value = row[0][:_DIGEST_BYTES], row[0][_DIGEST_BYTES:]
        return value if digest == _digest(key + value) else None

    def put(self, key: bytes, value: bytes) -> None:
        """Keep a value, in place of what was under the key."""
        with self._lock:
            if self._connection is None:
                return
            try:
                self._connection.execute(
                    "INSERT OR REPLACE INTO vectors (key, value) VALUES (?, ?)",
                    (key, _digest(key + value) + value),
                )
            except sqlite3.DatabaseError as error:
                self._give_up(error)

    def _opened(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False
        )
        connection.text_factory = bytes  # what was altered may be anything
        try:
            self.path.chmod(0o600)
            connection.execute("PRAGMA journal_mode = WAL").close()
            # A crash of the machine may cost the last entries; they are computed again.
            connection.execute("PRAGMA synchronous = OFF").close()
            connection.execute(
                "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, value BLOB NOT NULL)"
            ).close()
            with closing(
                connection.execute("SELECT count(*) FROM (SELECT 1 FROM vectors LIMIT 1)")
            ):
                return connection
        except BaseException:
            connection.close()
            raise

    def _remove(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)

    def _give_up(self, error: Exception) -> None:
        _log.warning("the cache of vectors %s is not used: %s", self.path, error)
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class CachedEmbedder:
    """An embedder that computes only what its cache does not hold; gives the same vectors."""

    def __init__(self, embedder: Embedder, cache: VectorCache) -> None:
        """Stand before an embedder.

        Args:
            embedder: of documents and questions.
            cache: of the same model.
        """
        self._embedder = embedder
        self._cache = cache

    @property
    def identity(self) -> ModelIdentity:
        """The embedder's own."""
        return self._embedder.identity

    @property
    def words_identity(self) -> ModelIdentity:
        """The embedder's own."""
        return self._embedder.words_identity

    @property
    def max_tokens(self) -> int:
        """The embedder's own."""
        return self._embedder.max_tokens

    @property
    def reserved(self) -> int:
        """The embedder's own."""
        return self._embedder.reserved

    def count(self, text: str) -> int:
        """Tokens of ``text``, counted by the embedder."""
        return self._embedder.count(text)

    def rarity(self, words: Sequence[str]) -> NDArray[np.float32]:
        """The embedder's own."""
        return self._embedder.rarity(words)

    def embed_queries(self, queries: Sequence[str]) -> Matrix:
        """Vectors of questions, ``(n, dimension)``."""
        return self._matrix("query", queries, self._embedder.embed_queries, self.identity)

    def embed_words(self, words: Sequence[str]) -> Matrix:
        """Vectors of single words, ``(n, words_identity.dimension)``."""
        return self._matrix("word", words, self._embedder.embed_words, self.words_identity)

    def embed_parts(self, parts: Sequence[Sequence[str]]) -> list[PartVectors]:
        """Vectors of parts and of their sentences."""
        if not parts:
            return []
        key = _key("part", self.identity, parts)
        counts = [len(part) for part in parts]
        held = self._cache.get(key)
        if held is None:
            found = self._embedder.embed_parts(parts)
            rows = [np.vstack([item.part[None], item.sentences]) for item in found]
            if [len(item) - 1 for item in rows] == counts:
                self._cache.put(key, _bytes(np.vstack(rows)))
            return found
        matrix = _rows(held, self.identity)
        ends = np.cumsum([1 + count for count in counts])
        return [
            PartVectors(part=matrix[end - count - 1], sentences=matrix[end - count : end])
            for end, count in zip(ends.tolist(), counts, strict=True)
        ]

    def _matrix(
        self,
        kind: str,
        texts: Sequence[str],
        embed: Callable[[Sequence[str]], Matrix],
        model: ModelIdentity,
    ) -> Matrix:
        if not texts:
            return embed(texts)
        key = _key(kind, model, texts)
        held = self._cache.get(key)
        if held is not None:
            return _rows(held, model)
        found = embed(texts)
        self._cache.put(key, _bytes(found))
        return found


def _key(kind: str, model: ModelIdentity, texts: Sequence[str] | Sequence[Sequence[str]]) -> bytes:
    listed = [text if isinstance(text, str) else list(text) for text in texts]
    named = json.dumps([kind, str(model), listed])
    return hashlib.blake2b(named.encode(), digest_size=32).digest()


def _rows(held: bytes, model: ModelIdentity) -> Matrix:
    # A copy: what frombuffer gives cannot be written to.
    return np.frombuffer(held, "<f4").reshape(-1, model.dimension).astype(np.float32)


def _bytes(matrix: Matrix) -> bytes:
    return np.ascontiguousarray(matrix, "<f4").tobytes()


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()
