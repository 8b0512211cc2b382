"""The other language among the first three: a document that its own language would hide.

In an archive of two languages the page that answers in the other one stands below many pages in
the language of the question: the embedder leans towards that language, and words match exactly
in it alone. So where the first three documents are of one kind, the best of the other language
takes the third place. Best is here who looks most like the first document: of a page that
exists in both languages, the other one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from emily.retrieval.candidate import Candidate

__all__ = ["PLACES", "lift_other_language"]

PLACES = 3
"""Documents among which both kinds are to be; more than this nobody looks through first."""


def lift_other_language(
    ranked: Sequence[Candidate], language: str | None
) -> tuple[list[Candidate], int | None]:
    """Put one candidate of the other kind in the third place, if the first three lack it.

    A candidate is of the question's language or of another one; one whose language is not
    known is of neither and does not count.

    Args:
        ranked: scored candidates, best first.
        language: of the question; ``None`` where it is not known, and nothing is done.

    Returns:
        the candidates in their order, and the chunk that was lifted, if one was.
    """
    first = _first_of_documents(ranked)[:PLACES]
    kinds = {_foreign(item, language) for item in first}
    if len(first) < PLACES or len(kinds) != 1 or None in kinds:
        return list(ranked), None
    wanted = not kinds.pop()
    model = _direction(first[0])
    others = [item for item in ranked if _foreign(item, language) is wanted]
    if not others:
        return list(ranked), None
    chosen = max(
        others,
        key=lambda item: ((item.order or 0.0) + float(_direction(item) @ model), -item.chunk),
    )
    rest = [item for item in ranked if item is not chosen]
    place = next(index for index, item in enumerate(rest) if item is first[-1])
    # Right above the third document, and below whatever stands there of the first two.
    between = ((rest[place - 1].order or 0.0) + (first[-1].order or 0.0)) / 2
    lifted = replace(chosen, order=between)
    return [*rest[:place], lifted, *rest[place:]], chosen.chunk


def _first_of_documents(ranked: Sequence[Candidate]) -> list[Candidate]:
    found: dict[int, Candidate] = {}
    for item in ranked:
        found.setdefault(item.facts.document, item)
    return list(found.values())


def _foreign(item: Candidate, language: str | None) -> bool | None:
    if None in (language, item.facts.language):
        return None
    return item.facts.language != language


def _direction(item: Candidate) -> NDArray[np.float32]:
    """What the chunk is about: the mean of its sentences, of length 1; 0 without vectors."""
    sentences = item.facts.sentences
    if not len(sentences):
        return np.zeros(sentences.shape[1], np.float32)
    mean: NDArray[np.float32] = sentences.mean(axis=0)
    return mean / max(float(np.linalg.norm(mean)), 1e-9)
