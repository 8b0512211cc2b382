"""Fusion: several rankings become one pool.

Adding scores beats adding ranks on every mixed-language set tried (docs/decisions/0003):
ranks throw away that one arm was sure and the other guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from emily.retrieval.candidate import Candidate, changed

__all__ = [
    "LEXICAL_WEIGHT",
    "Fuse",
    "by_rank",
    "fuse_by_rank",
    "fuse_by_score",
    "interleave",
    "merge_arms",
]

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
        found[chunk] = changed(found.get(chunk, Candidate(chunk)), lexical_rank=rank)
    return list(found.values())


def fuse_by_score(candidates: Sequence[Candidate], size: int) -> list[Candidate]:
    """The ``size`` best by the sum of scores; equals stay in the order of their chunks."""
    scored = [
        changed(item, fused=(item.vector or 0.0) + LEXICAL_WEIGHT * (item.lexical or 0.0))
        for item in candidates
    ]
    return _best(scored, size)


def by_rank(*ranks: int | None) -> float:
    """The sum of reciprocal ranks; ranks start at 1, and an absent one adds 0."""
    return sum(1.0 / (_RRF_K + rank) for rank in ranks if rank is not None)


def fuse_by_rank(candidates: Sequence[Candidate], size: int) -> list[Candidate]:
    """The ``size`` best by reciprocal ranks; an arm that did not bring a chunk adds 0."""
    scored = [
        changed(item, fused=by_rank(item.vector_rank, item.lexical_rank)) for item in candidates
    ]
    return _best(scored, size)


def interleave(candidates: Sequence[Candidate], size: int) -> list[Candidate]:
    """Two places for meaning, one for words, and so on; the first ``size``.

    A chunk stands once, at the first place that either arm gives it: its place in the other
    goes to that arm's next. When one arm is at its end the other goes on alone; what neither
    arm ranked comes last. The score is one over the place.
    """
    meaning = _ranked(candidates, lambda item: item.vector_rank)
    words = _ranked(candidates, lambda item: item.lexical_rank)
    placed: dict[int, Candidate] = {}
    by_meaning, by_words = iter(meaning), iter(words)
    while len(placed) < len(candidates):
        before = len(placed)
        for arm in (by_meaning, by_meaning, by_words):
            following = next((item for item in arm if item.chunk not in placed), None)
            if following is not None:
                placed[following.chunk] = following
        if len(placed) == before:
            left = [item for item in candidates if item.chunk not in placed]
            placed |= {item.chunk: item for item in sorted(left, key=lambda item: item.chunk)}
    return [
        changed(item, fused=1.0 / place)
        for place, item in enumerate(list(placed.values())[:size], start=1)
    ]


def _ranked(
    candidates: Sequence[Candidate], rank: Callable[[Candidate], int | None]
) -> list[Candidate]:
    """Those that an arm brought, in its order."""
    found = [(place, item.chunk, item) for item in candidates if (place := rank(item)) is not None]
    return [item for _, _, item in sorted(found, key=lambda entry: entry[:2])]


def _best(scored: Sequence[Candidate], size: int) -> list[Candidate]:
    return sorted(scored, key=lambda item: (-(item.fused or 0.0), item.chunk))[:size]
