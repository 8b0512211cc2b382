"""The summary without a chat model: sentences of the document itself, in their order.

Of each group of the text those are taken that are nearest to its centre and least like each
other (maximal marginal relevance, Carbonell and Goldstein 1998); of the groups' sentences
together the same is done again, level by level, as a chat model's summaries are merged. Every
piece that is merged keeps a sentence while there is room, and every third of the document keeps
one whatever the room.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from emily.analysis.grouping import grouped_text, regrouped
from emily.analysis.sentences import Sentence
from emily.reading.front_matter import front_matter

__all__ = ["Extract", "extract", "is_whole"]

_REPETITION = 0.6
"""What likeness to a chosen sentence costs, beside the likeness to the centre."""

_THIRDS = 3
_FEWEST_WORDS, _MOST_WORDS = 6, 45
_LETTER = re.compile(r"[^\W\d_]")
_ENDS = re.compile(r"[.!?…。！？][\"'”’»)\]]*\Z")


@dataclass(frozen=True, slots=True)
class Extract:
    """A summary made of a document's own sentences.

    Attributes:
        sentences: those that were chosen, in order.
        levels: how often pieces were merged.
    """

    sentences: tuple[Sentence, ...]
    levels: int

    @property
    def text(self) -> str:
        """The sentences, those of a third of the document together in a paragraph."""
        if not self.sentences:
            return ""
        paragraphs: list[list[str]] = [[]]
        last = self.sentences[0]
        for sentence in self.sentences:
            if sentence.start - last.end > _APART:
                paragraphs.append([])
            paragraphs[-1].append(sentence.text)
            last = sentence
        return "\n\n".join(" ".join(lines) for lines in paragraphs)

    @property
    def spans(self) -> list[int]:
        """Start and end of each sentence in the document's text, one after the other."""
        return [place for item in self.sentences for place in (item.start, item.end)]


_APART = 1_500  # characters between two sentences that begin a paragraph


def extract(
    sentences: Sequence[Sentence],
    text: str,
    *,
    language: str | None,
    size: int,
    group_words: int,
    words: int,
) -> Extract:
    """Summarise a document by its own sentences.

    Args:
        sentences: all of it, in order.
        text: of the document.
        language: of the document; sentences in another one are taken where there is no other.
        size: most characters of a group, as for a chat model.
        group_words: most words that are kept of a group.
        words: most words that are kept of groups together.

    Returns:
        an extract; empty only where there is no sentence at all. It may pass ``words`` by the
        sentences that let every third of the document be represented.
    """
    begins = _behind_front_matter(text)
    told = [item for item in sentences if item.start >= begins] or sentences
    usable = _usable(told, language, len(text))
    if not usable:
        return Extract((), 0)
    groups = _by_group(usable, grouped_text(text, size))
    thirds = _thirds(usable, len(text))
    last = len(groups) == 1
    pieces = [
        _chosen(group, group_words, thirds if last else [], must=last) for group in groups if group
    ]
    levels = 0
    while len(pieces) > 1:
        merged = regrouped(pieces, [sum(len(s.text) + 1 for s in piece) for piece in pieces], size)
        last = len(merged) == 1
        pieces = [
            _chosen(
                [sentence for piece in group for sentence in piece],
                words,
                [*(thirds if last else []), *(set(map(_start, piece)) for piece in group)],
                must=last,
            )
            for group in merged
        ]
        levels += 1
    return Extract(tuple(pieces[0]), levels)


def _start(sentence: Sentence) -> int:
    return sentence.start


def _behind_front_matter(text: str) -> int:
    """Where a note begins to speak: its front matter is facts, which are told elsewhere."""
    if not text.startswith(("---", "+++", "\ufeff")):
        return 0
    lines = text.splitlines(keepends=True)
    return sum(len(line) for line in lines[: front_matter(lines).lines])


def _usable(sentences: Sequence[Sentence], language: str | None, length: int) -> list[Sentence]:
    """Those worth showing; of lines that stand on every page the first one.

    Each third of the document keeps its best ones, however poor: of a table its rows, of a text
    in another language that.
    """
    seen: set[str] = set()
    once: list[list[Sentence]] = [[] for _ in range(_THIRDS)]
    again: list[list[Sentence]] = [[] for _ in range(_THIRDS)]
    for sentence in sentences:
        key = re.sub(r"[\W\d_]+", " ", sentence.text.casefold()).strip() or sentence.text
        (again if key in seen else once)[_third(sentence, length)].append(sentence)
        seen.add(key)
    thirds = [own or repeated for own, repeated in zip(once, again, strict=True)]
    return [sentence for third in thirds for sentence in _best_kind(third, language)]


def _best_kind(sentences: Sequence[Sentence], language: str | None) -> list[Sentence]:
    """Whole sentences in the document's language; else whole ones; else whatever there is."""
    whole = [item for item in sentences if is_whole(item)]
    own = [item for item in whole if language is None or item.language in (language, None)]
    if own:
        return own
    spoken = [item for item in sentences if item.language in (language, None)]
    return whole or spoken or list(sentences)


def is_whole(sentence: Sentence) -> bool:
    """Whether it is a sentence of prose from beginning to end: no row, heading or fragment."""
    letters = len(_LETTER.findall(sentence.text))
    return (
        _FEWEST_WORDS <= sentence.words <= 2 * _MOST_WORDS
        and letters >= 0.6 * len(sentence.text)
        and _ENDS.search(sentence.text) is not None
        and not sentence.text[0].islower()
    )


def _by_group(
    sentences: Sequence[Sentence], groups: Sequence[tuple[int, int]]
) -> list[list[Sentence]]:
    found: list[list[Sentence]] = [[] for _ in groups]
    place = 0
    for sentence in sentences:
        while place + 1 < len(groups) and sentence.start >= groups[place + 1][0]:
            place += 1
        found[place].append(sentence)
    return [group for group in found if group]


def _thirds(sentences: Sequence[Sentence], length: int) -> list[set[int]]:
    """Starts of the sentences in each third of the text that has any."""
    found: list[set[int]] = [set() for _ in range(_THIRDS)]
    for sentence in sentences:
        found[_third(sentence, length)].add(sentence.start)
    return [third for third in found if third]


def _third(sentence: Sentence, length: int) -> int:
    return min(_THIRDS - 1, sentence.start * _THIRDS // max(1, length))


def _chosen(
    sentences: Sequence[Sentence], words: int, parts: Sequence[set[int]], *, must: bool
) -> list[Sentence]:
    """The sentences that say most of what all of them say.

    Args:
        sentences: in order.
        words: most words.
        parts: starts of sentences of which one is to be kept.
        must: whether the first three parts are kept whatever their length.
    """
    if sum(item.words for item in sentences) <= words:
        return list(sentences)
    matrix = np.stack([item.vector for item in sentences])
    lengths = np.array([item.words for item in sentences])
    starts = np.array([item.start for item in sentences])
    likeness = _central(matrix) - 0.1 * (lengths > _MOST_WORDS)
    nearest = np.zeros(len(sentences), np.float32)
    taken = np.zeros(len(sentences), bool)
    left = words

    def take(allowed: NDArray[np.bool_], *, beyond: bool) -> bool:
        nonlocal left, nearest
        free = allowed & ~taken
        fits = free & (lengths <= left)
        if not fits.any():
            if not beyond or not free.any():
                return False
            fits = free
        gain = np.where(fits, likeness - _REPETITION * np.maximum(nearest, 0.0), -np.inf)
        best = int(gain.argmax())
        taken[best] = True
        left -= int(lengths[best])
        nearest = np.maximum(nearest, matrix @ matrix[best])
        return True

    for place, part in enumerate(parts):
        own = np.isin(starts, list(part))
        if not (taken & own).any():
            take(own, beyond=must and place < _THIRDS)
    everything = np.ones(len(sentences), bool)
    while take(everything, beyond=False):
        pass
    return [item for item, kept in zip(sentences, taken, strict=True) if kept]


def _central(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """Cosine of each row with the mean of all."""
    centre = matrix.mean(axis=0)
    length = float(np.linalg.norm(centre))
    cosines: NDArray[np.float32] = matrix @ (centre / length if length else centre)
    return cosines
