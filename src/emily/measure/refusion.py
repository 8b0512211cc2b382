"""The fusion worked out a second time, from what the trace of a search recorded.

Written apart from ``emily.retrieval.fusion`` on purpose: a measurement is worth nothing if the
arms it reports are not those that the pool was made of. Scores in a trace have six decimals, so
two that are nearer than that may stand in either order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from emily.errors import EmilyError

__all__ = ["REFUSIONS", "FusionDiffers", "check_fusion"]

Trace = Mapping[str, Any]

_LEXICAL_WEIGHT = 0.7
_RRF_K = 60
_ROUNDED = 5e-7  # most that a number in a trace is off by
_EXACT = 1e-12  # of sums of floats that were not rounded


class FusionDiffers(EmilyError):
    """The pool of a search is not what its recorded arms give: a fault in Emily."""


def _by_score(record: Mapping[str, Any]) -> float:
    return float(record["vector"] or 0.0) + _LEXICAL_WEIGHT * float(record["lexical"] or 0.0)


def _by_rank(record: Mapping[str, Any]) -> float:
    ranks = (record["vector_rank"], record["lexical_rank"])
    return sum((1.0 / (_RRF_K + int(rank)) for rank in ranks if rank is not None), 0.0)


REFUSIONS: dict[str, tuple[Callable[[Mapping[str, Any]], float], float]] = {
    "sum": (_by_score, (2 + _LEXICAL_WEIGHT) * _ROUNDED),
    "words": (_by_score, (2 + _LEXICAL_WEIGHT) * _ROUNDED),
    "rrf": (_by_rank, _EXACT),
}
"""For each fusion: a candidate's score from its record, and most that rounding puts it off by."""


def check_fusion(trace: Trace, question: str) -> None:
    """Make sure that the pool of a search is what its arms give.

    Args:
        trace: of the search; one that ended before the fusion passes.
        question: to name in the error.

    Raises:
        FusionDiffers: arms, candidates and pool do not agree, or the fusion is not known here.
    """
    fusion = trace.get("fusion")
    if fusion is None:
        return
    name = fusion["name"]
    if name not in REFUSIONS:
        raise FusionDiffers(
            f"The fusion '{name}' cannot be worked out again; known are {', '.join(REFUSIONS)}."
        )
    problem = (
        _arms_differ(trace, fusion["candidates"])
        or _pool_differs(fusion, *REFUSIONS[name])
        or _scores_differ(trace, fusion, *REFUSIONS[name])
    )
    if problem:
        raise FusionDiffers(
            f"The fusion '{name}' of production is not what the recorded arms give: {problem} "
            f"The question was {question!r}. The measurement was stopped, for its figures would "
            "not be those of a search."
        )


def _arms_differ(trace: Trace, candidates: Sequence[Mapping[str, Any]]) -> str | None:
    """Whether ranks of candidates are other than their places in the arms."""
    held = {record["chunk"]: record for record in candidates}
    for arm in ("vector", "lexical"):
        ranking = [item["chunk"] for item in trace.get(f"{arm}_arm", {}).get("ranking", [])]
        places = {chunk: rank for rank, chunk in enumerate(ranking, start=1)}
        if len(places) != len(ranking):
            return f"the {arm} arm holds a chunk twice."
        for chunk, record in held.items():
            if record[f"{arm}_rank"] != places.get(chunk):
                return (
                    f"chunk {chunk} has rank {record[f'{arm}_rank']} of the {arm} arm, and stands "
                    f"there in place {places.get(chunk)}."
                )
    return None


def _pool_differs(
    fusion: Mapping[str, Any], score: Callable[[Mapping[str, Any]], float], off: float
) -> str | None:
    """Whether the pool is not the best candidates, best first."""
    scores = {record["chunk"]: score(record) for record in fusion["candidates"]}
    pool = fusion["pool"]
    if len(set(pool)) != len(pool):
        return "the pool holds a chunk twice."
    for chunk in pool:
        if chunk not in scores:
            return f"chunk {chunk} is in the pool, and no arm brought it."
    for before, after in pairwise(pool):
        if _misplaced(before, after, scores, off):
            return (
                f"chunk {before} with {scores[before]:.6f} stands before chunk {after} with "
                f"{scores[after]:.6f}."
            )
    left_out = scores.keys() - set(pool)
    for chunk in sorted(left_out):
        if pool and _misplaced(pool[-1], chunk, scores, off):
            return (
                f"chunk {chunk} with {scores[chunk]:.6f} was left out, and chunk {pool[-1]} with "
                f"{scores[pool[-1]]:.6f} was not."
            )
    return "nothing was taken into the pool." if left_out and not pool else None


def _misplaced(before: int, after: int, scores: Mapping[int, float], off: float) -> bool:
    """Whether ``after`` belongs before ``before``: the greater score, then the lesser chunk."""
    difference = scores[after] - scores[before]
    if off == _EXACT and difference == 0:
        return after < before
    return difference > 2 * off


def _scores_differ(
    trace: Trace,
    fusion: Mapping[str, Any],
    score: Callable[[Mapping[str, Any]], float],
    off: float,
) -> str | None:
    """Whether a fused score that was recorded is another than the one worked out."""
    records = {record["chunk"]: record for record in fusion["candidates"]}
    for item in trace.get("second_stage", {}).get("candidates", []):
        record, fused = records.get(item["chunk"]), item.get("fused")
        if record is None or fused is None:
            continue
        if abs(score(record) - fused) > off + _ROUNDED:
            return (
                f"chunk {item['chunk']} was given {fused:.6f}, and its arms give "
                f"{score(record):.6f}."
            )
    return None
