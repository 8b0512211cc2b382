"""Selection: which candidates are shown, decided before anything is grouped."""

from __future__ import annotations

from collections.abc import Sequence

from emily.retrieval.candidate import Candidate

__all__ = ["ASK_SHARE", "above_threshold", "best", "documents_first", "relative_threshold"]

ASK_FLOOR, ASK_SHARE = 0.05, 0.30


def above_threshold(candidates: Sequence[Candidate], threshold: float) -> list[Candidate]:
    """Those that are at least as probable as the threshold; the order stays.

    A candidate without a probability, in an answer by words alone, passes, and so does one that
    came up by a link: the bar stands before what it is linked with.
    """
    return [
        item
        for item in candidates
        if item.linked is not None or item.probability is None or item.probability >= threshold
    ]


def relative_threshold(candidates: Sequence[Candidate], share: float = ASK_SHARE) -> float:
    """The bar inside one document: a share of the best probability (30 %), 5 % at least.

    The owner has named the document, so the question is only which of its passages are best.
    Where a cross-encoder looked at some, the best of those counts.
    """
    looked_at = [item for item in candidates if item.reranked] or candidates
    best = max((item.probability or 0.0 for item in looked_at), default=0.0)
    return max(ASK_FLOOR, share * best)


def best(candidates: Sequence[Candidate], limit: int) -> list[Candidate]:
    """The first ``limit``: chunks are chosen before they are grouped by document."""
    return list(candidates[:limit])


def documents_first(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Each document's first candidate, in order, then the others in order."""
    first: dict[int, Candidate] = {}
    rest = []
    for item in candidates:
        if item.facts.document in first:
            rest.append(item)
        else:
            first[item.facts.document] = item
    return [*first.values(), *rest]
