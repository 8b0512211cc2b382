"""The hierarchy of a summary: a text in groups, and the groups' summaries in groups again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from emily.indexing.sentences import plain_sentences

__all__ = [
    "CHARACTERS_PER_TOKEN",
    "RESERVED_TOKENS",
    "group_characters",
    "grouped_text",
    "regrouped",
]

T = TypeVar("T")

RESERVED_TOKENS = 800
"""Of a context, for what is not the text: the instructions, the wrapper, the answer."""

CHARACTERS_PER_TOKEN = 2
"""Of what is put into a context: about half of what prose has, so that tables fit too."""

_NEAR = 0.85  # share of a group behind which its end is looked for


def group_characters(context: int) -> int:
    """Most characters of a group, for a model that reads ``context`` tokens."""
    return (context - RESERVED_TOKENS) * CHARACTERS_PER_TOKEN


def grouped_text(text: str, size: int) -> list[tuple[int, int]]:
    """Spans of a text in order, each of at most ``size`` characters, none of them blank.

    A group ends at a blank line, else behind a sentence, else between words, looked for in its
    last 15 percent; where there is no such place it ends where it must.
    """
    spans: list[tuple[int, int]] = []
    at, end = 0, len(text.rstrip())
    while at < end and text[at].isspace():
        at += 1
    while at < end:
        last = end if end - at <= size else _seam(text, at, at + size)
        stop = last
        while stop > at and text[stop - 1].isspace():
            stop -= 1
        if stop > at:
            spans.append((at, stop))
        at = last
        while at < end and text[at].isspace():
            at += 1
    return spans


def _seam(text: str, start: int, limit: int) -> int:
    """The best place to end a group that may not reach beyond ``limit``."""
    near = start + int((limit - start) * _NEAR)
    blank = text.rfind("\n\n", near, limit)
    if blank > 0:
        return blank
    sentences = [near + end for _, end in plain_sentences(text[near:limit])[:-1]]
    if sentences:
        return sentences[-1]
    for place in range(limit, near, -1):
        if text[place].isspace():
            return place
    return limit


def regrouped(pieces: Sequence[T], sizes: Sequence[int], size: int) -> list[list[T]]:
    """Neighbouring pieces joined into groups of at most ``size`` characters.

    There are always fewer groups than pieces: where their lengths allow no joining, pieces that
    a model made too long, they are joined in pairs.

    Args:
        pieces: at least two, in order.
        sizes: length of each in characters.
        size: most characters of a group.
    """
    groups: list[list[T]] = []
    filled = 0
    for piece, length in zip(pieces, sizes, strict=True):
        if groups and filled + 2 + length <= size:
            groups[-1].append(piece)
            filled += 2 + length
        else:
            groups.append([piece])
            filled = length
    if len(groups) < len(pieces):
        return groups
    return [list(pieces[at : at + 2]) for at in range(0, len(pieces), 2)]
