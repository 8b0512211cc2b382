"""Models that repeat themselves for ever are noticed while they speak."""

from __future__ import annotations

__all__ = ["repeats"]

_LEAST_TIMES = 5
_LEAST_LENGTH = 400
"""Characters that must be repetition: a line of dots in a table of contents stays below it."""

_LONGEST_PERIOD = 2_000


def repeats(text: str) -> bool:
    """Whether a text ends in one piece of up to 2,000 characters said at least five times over.

    The bounds are our own: of the longest lines of dots, dashes and empty cells among the public
    files that this project reads, none comes near.
    """
    for period in range(1, min(_LONGEST_PERIOD, len(text) // _LEAST_TIMES) + 1):
        if text[-1] != text[-1 - period]:
            continue
        length = max(period * _LEAST_TIMES, _LEAST_LENGTH)
        if length > len(text):
            continue
        if text[-length:-period] == text[period - length :]:
            return True
    return False
