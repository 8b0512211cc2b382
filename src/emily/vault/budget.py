"""A budget of tokens over ranked documents. Standard library only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

__all__ = ["CHARACTERS_PER_TOKEN", "estimated_tokens", "spend"]

CHARACTERS_PER_TOKEN: Final = 4
"""Where no tokenizer is there, a token is taken for so many characters, as is usual for English."""


def estimated_tokens(text: str) -> int:
    """About how many tokens a text takes; 1 and more for any text."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def spend(costs: Sequence[Sequence[int]], budget: int | None) -> list[list[int]]:
    """Choose passages: first the best of each document in order, then the second of each.

    What does not fit is passed over and a smaller one behind it may still fit. The very first
    passage is chosen in any case, so that an answer is never empty because it is long.

    Args:
        costs: per document, best first, the tokens of its passages, best first.
        budget: tokens in all; ``None`` for no bound.

    Returns:
        Per document the numbers of the passages that are chosen, best first.
    """
    chosen: list[list[int]] = [[] for _ in costs]
    left = budget
    for turn in range(max(map(len, costs), default=0)):
        for document, passages in enumerate(costs):
            if turn >= len(passages):
                continue
            cost = passages[turn]
            if left is not None and cost > left and (turn or document):
                continue
            chosen[document].append(turn)
            if left is not None:
                left = max(0, left - cost)
    return chosen
