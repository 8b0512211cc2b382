"""Where a question's words stand in a passage, and which of its lines to show first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from emily.indexing.terms import analyse

if TYPE_CHECKING:
    from emily.retrieval.answer import Answer

__all__ = ["WordFinder", "best_window"]

_WORD = re.compile(r"[^\W_]+(?:[-_/.@:+&'’·,][^\W_]+)*")


class WordFinder:
    """Finds a question's words in passages, by the same analysis as the lexical arm.

    A word counts in the other languages as well, as what the search took it for.

    Args:
        answer: its question, and in its trace the neighbours that were searched.
        languages: whose function words are left out.
    """

    def __init__(self, answer: Answer, languages: tuple[str, ...]) -> None:
        self._languages = languages
        # Term: the word of the question that it stands for, and how well, 0 to 1.
        self._wanted: dict[str, tuple[str, float]] = {}
        for group in answer.trace.get("neighbours", {}).get("terms", []):
            for member in group["neighbours"]:
                known = self._wanted.get(member["term"], ("", 0.0))
                if member["weight"] > known[1]:
                    self._wanted[member["term"]] = (group["term"], member["weight"])
        for term in self._terms(answer.query):
            self._wanted[term] = (term, 1.0)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Start and end of each word of the question in a text, in order."""
        return [
            match.span()
            for match in _WORD.finditer(text)
            if any(term in self._wanted for term in self._terms(match[0]))
        ]

    def support(self, text: str) -> dict[str, float]:
        """Words of the question that a text has, each with how well it has it, 0 to 1."""
        return _joined(
            dict([self._wanted[term]]) for term in self._terms(text) if term in self._wanted
        )

    def _terms(self, text: str) -> set[str]:
        return {term.term for term in analyse(text, self._languages)}


def best_window(support: Sequence[Mapping[str, float]], size: int) -> int:
    """Where the ``size`` lines begin that have most of a question.

    Different words count before repeated ones. Of windows that are equally good the middle one
    is taken, which has lines before and after what it was taken for.

    Args:
        support: of each line, see ``WordFinder.support``.
        size: number of lines, at most as many as there are.
    """
    windows = [support[at : at + size] for at in range(len(support) - size + 1)]
    scores = [(sum(_joined(lines).values()), sum(map(len, lines))) for lines in windows]
    best = max(scores)
    first = scores.index(best)
    if not any(best):
        return first
    behind = next((at for at in range(first, len(scores)) if scores[at] != best), len(scores))
    return (first + behind - 1) // 2


def _joined(parts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for part in parts:
        for word, weight in part.items():
            found[word] = max(weight, found.get(word, 0.0))
    return found
