"""Several questions at once: wordings and translations of one, whose rankings become one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from emily.retrieval.candidate import Candidate

__all__ = ["MOST_QUESTIONS", "join", "joined_records"]

MOST_QUESTIONS = 8
"""So many wordings are asked at once; each costs a search."""


def join(rankings: Sequence[Sequence[Candidate]], size: int) -> list[Candidate]:
    """The ``size`` best of several rankings of the same archive; a chunk stands once.

    The order is the mean of a chunk's orders (docs/decisions/0010). A question that did not bring
    it counts with the lowest order that it gave: the chunk is at best as good. All else that is
    known of a chunk is kept from the question that it answers best, and so is its probability.
    Equals stay in the order of their chunks.

    Args:
        rankings: ordered candidates, one list a question; one that found nothing has no say.
        size: most candidates.
    """
    found = [ranking for ranking in rankings if ranking]
    floors = [min(item.order or 0.0 for item in ranking) for ranking in found]
    orders = [{item.chunk: item.order or 0.0 for item in ranking} for ranking in found]
    best: dict[int, Candidate] = {}
    likely: dict[int, float] = {}
    for ranking in found:
        for item in ranking:
            known = best.get(item.chunk)
            if known is None or (item.order or 0.0) > (known.order or 0.0):
                best[item.chunk] = item
            if item.probability is not None:
                likely[item.chunk] = max(item.probability, likely.get(item.chunk, 0.0))
    joined = [
        replace(
            item,
            order=sum(own.get(chunk, floor) for own, floor in zip(orders, floors, strict=True))
            / len(found),
            probability=likely.get(chunk),
        )
        for chunk, item in best.items()
    ]
    return sorted(joined, key=lambda item: (-(item.order or 0.0), item.chunk))[:size]


def joined_records(traces: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """The records of arms and fusion over several questions, as a single one has them.

    A chunk has its best score of each arm; the pool is that of all questions.

    Args:
        traces: of the questions.
    """
    records: dict[str, dict[str, Any]] = {}
    for arm in ("vector_arm", "lexical_arm"):
        scores: dict[int, float] = {}
        for trace in traces:
            for item in trace[arm]["ranking"]:
                chunk = item["chunk"]
                scores[chunk] = max(item["score"], scores.get(chunk, item["score"]))
        ranking = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
        records[arm] = {
            "ranking": [
                {"rank": rank, "chunk": chunk, "score": score}
                for rank, (chunk, score) in enumerate(ranking, start=1)
            ]
        }
        if not ranking:
            records[arm]["empty_because"] = traces[0][arm]["empty_because"]
    candidates = {item["chunk"]: item for trace in traces for item in trace["fusion"]["candidates"]}
    pool = dict.fromkeys(chunk for trace in traces for chunk in trace["fusion"]["pool"])
    records["fusion"] = {
        "name": "of each question",
        "candidates": list(candidates.values()),
        "pool": list(pool),
    }
    return records
