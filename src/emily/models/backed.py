"""An embedder over any backend: prefixes, windows, batches, and every defence, once for all.

A backend (``emily.models.encoding``) only runs a model. What can go wrong with it in silence is
caught here: text that is cut off, vectors of NaN or of another dimension, texts mixed up within a
batch, one text on which a whole batch fails. Single words and the cutting of chunks stay with the
bundled encoder whatever the model of passages is (docs/decisions/0011): its words cross languages,
and a chunk does not change with the model.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from emily.errors import ModelUnavailable, VectorError
from emily.models.encoding import BatchTooSlow, Encoded, TextEncoder, TextRefused, TextTooLong
from emily.models.probes import FAR, GOLDEN, PARAPHRASE, TRANSLATION, Golden, window_probe
from emily.models.profiles import EmbedderProfile
from emily.models.protocols import Embedder, Matrix, ModelIdentity, PartVectors

__all__ = ["BackedEmbedder"]

_Vector = NDArray[np.float32]
_Input = tuple[str, str]  # prefix and text

_BATCH_TEXTS = 32
_BATCH_TOKENS = 8192  # of the bundled encoder
_MOST_TOKENS = 512  # a chunk is never longer
_SPECIAL_TOKENS = 4  # begin, end, and what a server adds of its own
# A text that is refused as too long is cut between its words, then within, down to this.
_LEAST_PIECE = 8
_LEAST_CHARACTERS = 32
# A model makes at least .66 tokens of one of the bundled encoder's (measured on text, tables and
# commands in Italian and English, docs/decisions/0011); half leaves room for other scripts.
_FEWEST_TOKENS = 0.5
_COUNTED_FROM = 64  # tokens: shorter texts say nothing about a cut
_REMEMBERED = 4096  # texts; halving asks again for what was right
_FAILED_SECONDS = 60.0  # a failure may be the server's mood
_SAME = 0.999  # cosine of a text alone and in a batch; float16 stays far above


@dataclass(frozen=True, slots=True)
class _Failure:
    """Why a text has no vector, and since when."""

    reason: str
    at: float


class BackedEmbedder:
    """Keeps to ``emily.models.protocols.Embedder``.

    Args:
        encoder: runs the model.
        model: its name, as vectors are marked with it.
        profile: how it is used; its dimension must be known.
        words: the bundled embedder.
    """

    def __init__(
        self, encoder: TextEncoder, model: str, profile: EmbedderProfile, words: Embedder
    ) -> None:
        if profile.dimension is None:
            raise ValueError(f"the dimension of {model} is not known")
        self.identity = ModelIdentity(model, profile.name, profile.dimension)
        self.words_identity = words.words_identity
        self.max_tokens = words.max_tokens
        self.reserved = words.reserved
        self.encoder = encoder
        self.profile = profile
        self.golden: Golden | None = None
        self._words = words
        self._dimension = profile.dimension
        self._lock = threading.Lock()
        self._counts = False  # whether what the server counts can be believed
        self._whole = False  # whether it was seen to read texts to their end
        self._memory: OrderedDict[_Input, _Vector | _Failure] = OrderedDict()

    def count(self, text: str) -> int:
        """Tokens of the bundled encoder: chunks do not change with the model of passages."""
        return self._words.count(text)

    def embed_words(self, words: Sequence[str]) -> Matrix:
        """Vectors of single words, by the bundled encoder."""
        return self._words.embed_words(words)

    def rarity(self, words: Sequence[str]) -> NDArray[np.float32]:
        """How rare words are, by the bundled encoder."""
        return self._words.rarity(words)

    def embed_queries(self, queries: Sequence[str]) -> Matrix:
        """Vectors of questions, ``(n, dimension)``, with the profile's instruction."""
        self._load(patient=False)
        found = self._vectors(queries, self.profile.query, patient=False)
        return self._stacked(found, queries)

    def embed_parts(self, parts: Sequence[Sequence[str]]) -> list[PartVectors]:
        """Vectors of parts, and of their sentences each by itself.

        A server gives no vectors of tokens, so a sentence is not read in its context; the text
        of a part is therefore read twice.
        """
        if not parts:
            return []
        self._load(patient=True)
        self._check_window()
        texts: list[str] = []
        for sentences in parts:
            texts.append(" ".join(sentences))
            texts.extend(sentences if len(sentences) > 1 else ())
        matrix = self._stacked(self._vectors(texts, self.profile.document, patient=True), texts)
        made, at = [], 0
        for sentences in parts:
            more = len(sentences) if len(sentences) > 1 else 0
            own = matrix[at + 1 : at + 1 + more] if more else matrix[at : at + 1]
            made.append(PartVectors(part=matrix[at], sentences=own))
            at += 1 + more
        return made

    def examine(self) -> str:
        """Try everything, whatever was tried before; a sentence of what was seen.

        Raises:
            ModelError: it cannot be used; the message says why and what helps.
        """
        self.golden, self._whole = None, False
        about = self.encoder.describe()
        self._load(patient=False)
        self._check_window()
        return f"{about}; {self.golden}; reads texts of {self.room} tokens to their end"

    def close(self) -> None:
        """Let go of the backend's connections and memory."""
        self.encoder.close()

    @property
    def room(self) -> int:
        """Most tokens of the bundled encoder that one text may have beside its prefix."""
        longest = max(self.profile.query, self.profile.document, key=len)
        prefix = self._words.count(longest) if longest else 0
        fitting = (self.profile.window - _SPECIAL_TOKENS) / self.profile.tokens - prefix
        return max(_LEAST_PIECE, min(_MOST_TOKENS, int(fitting)))

    def _load(self, *, patient: bool) -> None:
        """The first time: known texts must come out as they should."""
        if self.golden is not None:
            return
        with self._lock:
            if self.golden is None:
                self.golden = self._checked_golden(patient=patient)

    def _checked_golden(self, *, patient: bool) -> Golden:
        prefix = self.profile.document
        texts = [prefix + text for text in (GOLDEN, PARAPHRASE, TRANSLATION, FAR)]
        try:
            encoded = self.encoder.encode(texts, patient=patient)
            alone = self.encoder.encode(texts[-1:], patient=patient)
        except (TextRefused, TextTooLong, BatchTooSlow) as error:
            raise ModelUnavailable(
                f"The embedder {self.encoder.name} fails on a plain sentence: {error}"
            ) from None
        vectors, bad = _normalised(self._of_shape(encoded, len(texts)))
        last, bad_alone = _normalised(self._of_shape(alone, 1))
        if bad.any() or bad_alone.any():
            raise ModelUnavailable(
                f"The embedder {self.encoder.name} returns NaN, infinity or zeros for a plain "
                "sentence. Restart its server, or choose another model: emily models list"
            )
        if float(vectors[-1] @ last[0]) < _SAME:
            raise ModelUnavailable(
                f"The embedder {self.encoder.name} gives a sentence another vector in a batch "
                "than alone: it mixes up the texts of a batch. Update its server."
            )
        found = Golden(
            same=float(vectors[0] @ vectors[1]),
            other_language=float(vectors[0] @ vectors[2]),
            far=float(vectors[0] @ vectors[3]),
        )
        if not found.fits:
            raise ModelUnavailable(
                f"The embedder {self.encoder.name} fails its golden pair: {found}. The same thing "
                "said twice must be nearer than another subject; is it a model of sentences?"
            )
        expected = sum(map(self._words.count, texts))
        self._counts = encoded.tokens is not None and (
            _FEWEST_TOKENS * expected <= encoded.tokens <= 4 * expected + 16 * len(texts)
        )
        return found

    def _check_window(self) -> None:
        """Once, before anything is stored: texts are read from their first word to their last."""
        if self._whole:
            return
        with self._lock:
            if self._whole:
                return
            for place, pair in window_probe(self.room, self._words.count):
                vectors = self._stacked(
                    self._vectors(pair, self.profile.document, patient=True), pair
                )
                if float(vectors[0] @ vectors[1]) > 1 - 1e-5:
                    raise ModelUnavailable(
                        f"The embedder {self.encoder.name} cuts off long texts without a word: "
                        f"the {place} of a text of {self.room} tokens changes nothing. Raise the "
                        "context of its server, or set embedder_window to what it reads "
                        f"(now {self.profile.window})."
                    )
            self._whole = True

    def _vectors(
        self, texts: Sequence[str], prefix: str, *, patient: bool
    ) -> list[_Vector | _Failure]:
        """A vector of length 1 for each text, or why there is none."""
        pieces = [list(self._pieces(_plain(text))) for text in texts]
        wanted = list(dict.fromkeys((prefix, piece) for group in pieces for piece in group))
        known = self._recalled(wanted)
        for batch in self._batches([item for item in wanted if item not in known]):
            known |= self._encoded(batch, patient=patient)
        return [self._joined([(prefix, piece) for piece in group], known) for group in pieces]

    def _encoded(
        self, batch: Sequence[_Input], *, patient: bool
    ) -> dict[_Input, _Vector | _Failure]:
        """What comes of a batch; halved until the text that fails stands alone."""
        try:
            encoded = self.encoder.encode([a + b for a, b in batch], patient=patient)
            raw = self._of_shape(encoded, len(batch))
        except TextTooLong as error:
            return self._halved(batch, patient) or self._cut(batch[0], str(error), patient)
        except TextRefused as error:
            return self._halved(batch, patient) or self._refused(batch[0], str(error))
        except BatchTooSlow as error:
            found = self._halved(batch, patient)
            if not found:
                raise ModelUnavailable(str(error)) from None
            return found
        if self._is_cut(encoded, batch):
            reason = f"it read {encoded.tokens} tokens of it and no more"
            return self._halved(batch, patient) or self._cut(batch[0], reason, patient)
        vectors, bad = _normalised(raw)
        made: dict[_Input, _Vector | _Failure] = {
            item: vectors[row] for row, item in enumerate(batch) if not bad[row]
        }
        self._remember(made)
        spoilt = [item for row, item in enumerate(batch) if bad[row]]
        if spoilt:  # one text may have spoilt others of its batch
            reason = "its vector is NaN, infinite or zero"
            made |= (
                self._halved(spoilt, patient)
                or (self._encoded(spoilt, patient=patient) if len(batch) > 1 else {})
                or self._refused(spoilt[0], reason)
            )
        return made

    def _halved(self, batch: Sequence[_Input], patient: bool) -> dict[_Input, _Vector | _Failure]:
        """Both halves of a batch, each by itself; nothing for a single text."""
        if len(batch) < 2:
            return {}
        middle = len(batch) // 2
        return self._encoded(batch[:middle], patient=patient) | self._encoded(
            batch[middle:], patient=patient
        )

    def _cut(self, item: _Input, reason: str, patient: bool) -> dict[_Input, _Vector | _Failure]:
        """A text that is too long for the model as the mean of its halves."""
        prefix, text = item
        words = text.split()
        if len(words) >= _LEAST_PIECE:
            middle = len(words) // 2
            pieces = [" ".join(words[:middle]), " ".join(words[middle:])]
        elif len(text) >= _LEAST_CHARACTERS:
            pieces = [text[: len(text) // 2].strip(), text[len(text) // 2 :].strip()]
        else:
            return self._refused(item, reason)
        halves = [(prefix, piece) for piece in pieces]
        made = {item: self._joined(halves, self._halved(halves, patient))}
        self._remember(made)
        return made

    def _refused(self, item: _Input, reason: str) -> dict[_Input, _Vector | _Failure]:
        """Put a text aside, if it is the text that is at fault and not the model."""
        try:
            encoded = self.encoder.encode([self.profile.document + GOLDEN], patient=True)
            down = bool(_normalised(self._of_shape(encoded, 1))[1].any())
        except (TextRefused, TextTooLong, BatchTooSlow):
            down = True
        if down:
            raise ModelUnavailable(
                f"The embedder {self.encoder.name} now fails on every text, also on a plain "
                f"sentence that it knew: {reason}. Restart its server."
            )
        made: dict[_Input, _Vector | _Failure] = {item: _Failure(reason, time.monotonic())}
        self._remember(made)
        return made

    def _of_shape(self, encoded: Encoded, count: int) -> NDArray[np.float32]:
        vectors = encoded.vectors
        if vectors.ndim != 2 or len(vectors) != count:
            raise ModelUnavailable(
                f"The embedder {self.encoder.name} returned {len(vectors)} vectors for {count} "
                "texts. Nothing of it was used."
            )
        if vectors.shape[1] != self._dimension:
            raise ModelUnavailable(
                f"The embedder {self.encoder.name} returned vectors of {vectors.shape[1]} "
                f"dimensions, expected {self._dimension} (setting embedder_dimension). Vectors of "
                "two kinds cannot be compared: nothing of it was used."
            )
        return vectors

    def _is_cut(self, encoded: Encoded, batch: Sequence[_Input]) -> bool:
        """Whether the model says that it has read far less than it was given."""
        if not self._counts or encoded.tokens is None:
            return False
        expected = sum(self._words.count(prefix + text) for prefix, text in batch)
        return expected >= _COUNTED_FROM and encoded.tokens < _FEWEST_TOKENS * expected

    def _pieces(self, text: str) -> Iterator[str]:
        """A text in pieces that fit the model's window; nearly always one."""
        words = text.split()
        size = self._words.count(text)
        if size <= self.room:
            yield text
            return
        if len(words) == 1:
            middle = len(text) // 2
            yield from self._pieces(text[:middle])
            yield from self._pieces(text[middle:])
            return
        count = -(-size // self.room)
        step = -(-len(words) // max(2, count))
        for start in range(0, len(words), step):
            yield from self._pieces(" ".join(words[start : start + step]))

    def _batches(self, items: Sequence[_Input]) -> Iterator[list[_Input]]:
        batch: list[_Input] = []
        tokens = 0
        for item in items:
            size = self._words.count(item[0] + item[1])
            if batch and (len(batch) == _BATCH_TEXTS or tokens + size > _BATCH_TOKENS):
                yield batch
                batch, tokens = [], 0
            batch.append(item)
            tokens += size
        if batch:
            yield batch

    def _joined(
        self, pieces: Sequence[_Input], known: dict[_Input, _Vector | _Failure]
    ) -> _Vector | _Failure:
        """The vector of a text from those of its pieces, each by its length."""
        total = np.zeros(self._dimension, np.float32)
        for piece in pieces:
            found = known[piece]
            if isinstance(found, _Failure):
                return found
            if len(pieces) == 1:
                return found
            total += self._words.count(piece[1]) * found
        vectors, bad = _normalised(total[None])
        return _Failure("its halves cancel out", time.monotonic()) if bad[0] else vectors[0]

    def _stacked(self, found: Sequence[_Vector | _Failure], texts: Sequence[str]) -> Matrix:
        """All vectors as rows; the first text without one is named."""
        matrix = np.empty((len(found), self._dimension), np.float32)
        for row, item in enumerate(found):
            if isinstance(item, _Failure):
                raise VectorError(
                    f"{self.identity.name} gives no vector for the text that begins "
                    f"{texts[row][:60]!r}: {item.reason}. Nothing of it was stored."
                )
            matrix[row] = item
        return matrix

    def _recalled(self, wanted: Sequence[_Input]) -> dict[_Input, _Vector | _Failure]:
        found: dict[_Input, _Vector | _Failure] = {}
        now = time.monotonic()
        for item in wanted:
            known = self._memory.get(item)
            if known is None or (isinstance(known, _Failure) and now - known.at > _FAILED_SECONDS):
                continue
            found[item] = known
        return found

    def _remember(self, made: dict[_Input, _Vector | _Failure]) -> None:
        for item, vector in made.items():
            self._memory[item] = vector
        while len(self._memory) > _REMEMBERED:
            try:
                self._memory.popitem(last=False)
            except KeyError:  # another thread was faster
                break


def _plain(text: str) -> str:
    """A text on one line, without what is no character; a point where nothing is left."""
    whole = text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
    return " ".join(whole.split()) or "."


def _normalised(vectors: NDArray[np.float32]) -> tuple[Matrix, NDArray[np.bool_]]:
    """Rows of length 1, and which rows cannot be: NaN, infinite or zero."""
    wide = vectors.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        lengths = np.sqrt(np.einsum("ij,ij->i", wide, wide))
        bad = ~(np.isfinite(lengths) & (lengths > 1e-12))
        made = (wide / np.where(bad, 1.0, lengths)[:, None]).astype(np.float32)
    return made, bad
