"""The fusion worked out a second time, from what the trace of a search recorded.

Written apart from ``emily.retrieval.fusion`` on purpose: a measurement is worth nothing if the
arms it reports are not those that the pool was made of. Scores in a trace have six decimals, so
two that are nearer than that may stand in either order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import cycle, pairwise
from typing import Any

from emily.errors import EmilyError

__all__ = ["REFUSIONS", "FusionDiffers", "check_fusion"]

Record = Mapping[str, Any]
Trace = Mapping[str, Any]
Scores = dict[int, float]

_LEXICAL_WEIGHT = 0.7
_RRF_K = 60
_ROUNDED = 5e-7  # most that a number in a trace is off by
_EXACT = 1e-12  # of sums of floats that were not rounded
_TURNS = ("vector", "vector", "lexical")


class FusionDiffers(EmilyError):
    """The pool of a search is not what its recorded arms give: a fault in Emily."""


def _by_score(records: Sequence[Record]) -> Scores:
    return {
        record["chunk"]: (record["vector"] or 0.0) + _LEXICAL_WEIGHT * (record["lexical"] or 0.0)
        for record in records
    }


def _by_rank(records: Sequence[Record]) -> Scores:
    return {
        record["chunk"]: _reciprocal(record["vector_rank"], record["lexical_rank"])
        for record in records
    }


def _interleaved(records: Sequence[Record]) -> Scores:
    """One over the place that a chunk has where meaning takes two turns and words take one."""
    waiting = {
        arm: sorted(
            (record[f"{arm}_rank"], record["chunk"])
            for record in records
            if record[f"{arm}_rank"] is not None
        )
        for arm in ("vector", "lexical")
    }
    places: Scores = {}
    for arm in cycle(_TURNS):
        if not any(waiting.values()):
            break
        while waiting[arm]:
            chunk = waiting[arm].pop(0)[1]
            if chunk not in places:
                places[chunk] = 1.0 / (len(places) + 1)
                break
    for chunk in sorted(record["chunk"] for record in records):
        places.setdefault(chunk, 1.0 / (len(places) + 1))
    return places


def _reciprocal(*ranks: int | None) -> float:
    return sum((1.0 / (_RRF_K + rank) for rank in ranks if rank is not None), 0.0)


REFUSIONS: dict[str, tuple[Callable[[Sequence[Record]], Scores], float]] = {
    "sum": (_by_score, (1 + _LEXICAL_WEIGHT) * _ROUNDED),
    "words": (_by_score, (1 + _LEXICAL_WEIGHT) * _ROUNDED),
    "rrf": (_by_rank, _EXACT),
    "interleave": (_interleaved, _EXACT),
}
"""For each fusion: the scores of candidates from their records, and most that rounding of the
records puts one off by."""


def check_fusion(trace: Trace, question: str) -> None:
    """Make sure that the pool of a search is what its arms give.

    Args:
        trace: of the search; one that ended before the fusion passes. Of several questions at
            once each is looked at by itself.
        question: to name in the error.

    Raises:
        FusionDiffers: arms, candidates and pool do not agree, or the fusion is not known here.
    """
    several = trace.get("questions")
    if several is not None:
        for item in several["asked"]:
            check_fusion(item, item["text"])
        return
    fusion = trace.get("fusion")
    if fusion is None:
        return
    name = fusion["name"]
    if name not in REFUSIONS:
        raise FusionDiffers(
            f"The fusion '{name}' cannot be worked out again; known are {', '.join(REFUSIONS)}."
        )
    again, off = REFUSIONS[name]
    scores = again(fusion["candidates"])
    problem = (
        _lexical_differs(trace)
        or _arms_differ(trace, fusion["candidates"])
        or _pool_differs(fusion["pool"], scores, off)
        or _scores_differ(trace, scores, off)
    )
    if problem:
        raise FusionDiffers(
            f"The fusion '{name}' of production is not what the recorded arms give: {problem} "
            f"The question was {question!r}. The measurement was stopped, for its figures would "
            "not be those of a search."
        )


def _lexical_differs(trace: Trace) -> str | None:
    """Whether a lexical arm of passages and documents is not their sum of reciprocal ranks."""
    record = trace.get("lexical_arm", {})
    if "passages" not in record or trace["query"].get("operators", {}).get("left_out"):
        return None  # what is left out is taken from the arm, and not from what it is made of
    ranks: dict[int, list[int]] = {}
    for part in ("passages", "documents"):
        for item in record[part]:
            ranks.setdefault(item["chunk"], []).append(item["rank"])
    scores = {chunk: _reciprocal(*found) for chunk, found in ranks.items()}
    problem = _pool_differs([item["chunk"] for item in record["ranking"]], scores, _EXACT)
    return problem and f"in the lexical arm, {problem}"


def _arms_differ(trace: Trace, candidates: Sequence[Record]) -> str | None:
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


def _pool_differs(pool: Sequence[int], scores: Scores, off: float) -> str | None:
    """Whether the pool is not the best candidates, best first."""
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
    left_out = sorted(scores.keys() - set(pool))
    for chunk in left_out:
        if pool and _misplaced(pool[-1], chunk, scores, off):
            return (
                f"chunk {chunk} with {scores[chunk]:.6f} was left out, and chunk {pool[-1]} with "
                f"{scores[pool[-1]]:.6f} was not."
            )
    return "nothing was taken into the pool." if left_out and not pool else None


def _misplaced(before: int, after: int, scores: Scores, off: float) -> bool:
    """Whether ``after`` belongs before ``before``: the greater score, then the lesser chunk."""
    difference = scores[after] - scores[before]
    if off == _EXACT and difference == 0:
        return after < before
    return difference > 2 * off


def _scores_differ(trace: Trace, scores: Scores, off: float) -> str | None:
    """Whether a fused score that was recorded is another than the one worked out."""
    for item in trace.get("second_stage", {}).get("candidates", []):
        chunk, fused = item["chunk"], item.get("fused")
        if fused is not None and chunk in scores and abs(scores[chunk] - fused) > off + _ROUNDED:
            return f"chunk {chunk} was given {fused:.6f}, and its arms give {scores[chunk]:.6f}."
    return None
