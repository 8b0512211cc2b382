"""Fusion: several rankings become one pool.

Adding scores beats adding ranks on every mixed-language set tried (docs/decisions/0003):
ranks throw away that one arm was sure and the other guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from emily.retrieval.candidate import Candidate

__all__ = ["LEXICAL_WEIGHT", "Fuse", "fuse_by_rank", "fuse_by_score", "merge_arms"]

LEXICAL_WEIGHT = 0.7
"""Weight of the normalised lexical score beside a cosine; .5 to 1 differ by less than .01."""

Fuse = Callable[[Sequence[Candidate], int], list[Candidate]]
"""A way to fuse: gathered candidates and the size of the pool give the pool, best first."""

_RRF_K = 60  # Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion" (2009)


def merge_arms(
    vector: Sequence[tuple[int, float]], lexical: Sequence[tuple[int, float]]
) -> list[Candidate]:
    """One candidate for each chunk that an arm brought, with its rank in each.

    Ranks start at 1. The scores of the lexical arm are left to ``gather``, which scores every
    candidate, whichever arm brought it.
    """
    found: dict[int, Candidate] = {}
    for rank, (chunk, score) in enumerate(vector, start=1):
        found[chunk] = Candidate(chunk, vector=score, vector_rank=rank)
    for rank, (chunk, _) in enumerate(lexical, start=1):
        found[chunk] = replace(found.get(chunk, Candidate(chunk)), lexical_rank=rank)
    return list(found.values())


def fuse_by_score(candidates: Sequence[Candidate], size: int) -> list[Candidate]:
    """The ``size`` best by the sum of scores; equals stay in the order of their chunks."""
    scored = [
        replace(item, fused=(item.vector or 0.0) + LEXICAL_WEIGHT * (item.lexical or 0.0))
        for item in candidates
    ]
    return _best(scored, size)


def fuse_by_rank(candidates: Sequence[Candidate], size: int) -> list[Candidate]:
    """The ``size`` best by reciprocal ranks; an arm that did not bring a chunk adds 0."""
    scored = [
        replace(
            item,
            fused=sum(
                1.0 / (_RRF_K + rank)
                for rank in (item.vector_rank, item.lexical_rank)
                if rank is not None
            ),
        )
        for item in candidates
    ]
    return _best(scored, size)


def _best(scored: Sequence[Candidate], size: int) -> list[Candidate]:
    return sorted(scored, key=lambda item: (-(item.fused or 0.0), item.chunk))[:size]
