"""What like signs meant on the owner's own questions: was the answer there?

Each question whose answer is known (pinned ones, those of ``emily eval``) leaves two figures of its
search: how much of it the best passage covered in words, and the best similarity. A new search is
held against those with the nearest figures. Nothing is fitted: with a dozen questions there is
nothing to fit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from emily.retrieval.bm25 import TermGroup, share_matched
from emily.retrieval.candidate import Candidate
from emily.store import Database

__all__ = ["NEAREST", "Precedent", "Precedents", "nearest", "search_signs"]

NEAREST = 7
"""Questions that a search is held against."""
LEAST = 10
"""Fewer recorded questions say nothing."""
LEAST_OF_EACH = 3
"""Nor do they if fewer than these had an answer, or had none."""


@dataclass(frozen=True, slots=True)
class Precedent:
    """How it was with the owner's questions whose figures are nearest.

    Attributes:
        asked: how many those are.
        unanswered: of how many of them the answer was not there.
    """

    asked: int
    unanswered: int

    @property
    def says_absent(self) -> bool:
        """Whether the answer was not there more often than not."""
        return 2 * self.unanswered > self.asked

    @property
    def text(self) -> str:
        """It as a sentence."""
        return (
            f"Of your {self.asked} questions with figures most like these, {self.unanswered} had "
            "no answer here."
        )


class Precedents:
    """The owner's questions whose answers are known.

    Args:
        database: the store.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def note(self, question: str, signs: dict[str, float] | None, *, answered: bool) -> None:
        """Keep the figures of a question; of one that was kept before, those of now.

        Args:
            question: as it was asked.
            signs: of its search; ``None`` keeps nothing.
            answered: whether its answer is there.
        """
        if signs is not None:
            values = {"question": question, "answered": answered}
            await self._database.execute("note_precedent", {**values, **signs})

    async def of(self, signs: dict[str, float]) -> Precedent | None:
        """What like figures meant; ``None`` where too few questions are known."""
        rows = await self._database.fetch("precedents")
        return nearest(
            signs, [(row["coverage"], row["similarity"], row["answered"]) for row in rows]
        )


def nearest(
    signs: dict[str, float], known: Sequence[tuple[float, float, bool]]
) -> Precedent | None:
    """The precedent of the ``NEAREST`` questions by distance of their figures.

    Both figures are measured in their own spread, so that neither decides by its scale.

    Args:
        signs: of the search.
        known: coverage, similarity and whether the answer was there.
    """
    answered = sum(there for _, _, there in known)
    if len(known) < LEAST or min(answered, len(known) - answered) < LEAST_OF_EACH:
        return None
    spreads = [_spread([item[column] for item in known]) for column in (0, 1)]
    wanted = (signs["coverage"], signs["similarity"])

    def distance(item: tuple[float, float, bool]) -> float:
        return sum(((item[column] - wanted[column]) / spreads[column]) ** 2 for column in (0, 1))

    chosen = sorted(known, key=distance)[:NEAREST]
    return Precedent(len(chosen), sum(not there for _, _, there in chosen))


def search_signs(
    ranked: Sequence[Candidate], groups: Sequence[TermGroup]
) -> dict[str, float] | None:
    """How much of a question the best passage covers in words, and the best similarity, 0 to 1.

    Args:
        ranked: candidates that were looked at; those that a link brought are left out.
        groups: terms of the question, for a search without the embedder, whose similarity is 0.

    Returns:
        ``None`` where there was no candidate.
    """
    own = [item for item in ranked if item.linked is None]
    if not own:
        return None
    evidence = [item.evidence for item in own if item.evidence is not None]
    if not evidence:
        shares = [share_matched(groups, item.facts.matches) for item in own]
        return {"coverage": max(shares), "similarity": 0.0}
    return {
        "coverage": max(item.coverage for item in evidence),
        "similarity": max(0.0, *(max(item.part, item.sentence) for item in evidence)),
    }


def _spread(values: Sequence[float]) -> float:
    mean = sum(values) / len(values)
    return max(math.sqrt(sum((value - mean) ** 2 for value in values) / len(values)), 1e-3)
