"""The trace: what each stage did to each candidate, ready for JSON."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from emily.retrieval.bm25 import TermGroup
from emily.retrieval.candidate import Candidate
from emily.retrieval.query import Query

__all__ = ["Trace", "candidate_record", "query_record", "ranking_record", "terms_record"]


class Trace:
    """Collects stages while a search runs."""

    def __init__(self) -> None:
        self.timings_ms: dict[str, float] = {}
        self.stages: dict[str, Any] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[dict[str, Any]]:
        """Time a stage; what is put into the mapping becomes its record."""
        record: dict[str, Any] = self.stages.setdefault(name, {})
        started = time.perf_counter()
        try:
            yield record
        finally:
            spent = (time.perf_counter() - started) * 1000
            self.timings_ms[name] = round(self.timings_ms.get(name, 0.0) + spent, 3)

    def as_json(self) -> dict[str, Any]:
        """All stages in the order they ran."""
        return dict(self.stages)


def query_record(query: Query) -> dict[str, Any]:
    """What was made of a question's text."""
    record: dict[str, Any] = {
        "text": query.text,
        "language": query.language,
        "words": list(query.words),
    }
    if query.operators.active:
        record["operators"] = {
            "phrases": [phrase.text for phrase in query.operators.phrases],
            "left_out": [phrase.text for phrase in query.operators.left_out],
        }
    return record


def terms_record(groups: Sequence[TermGroup]) -> list[dict[str, Any]]:
    """The terms searched for, each with the neighbours it was also searched as."""
    return [
        {
            "surface": group.surface,
            "term": group.members[0].term,
            "weight": group.members[0].weight,
            "neighbours": [
                {"surface": member.surface, "term": member.term, "weight": round(member.weight, 4)}
                for member in group.members[1:]
            ],
        }
        for group in groups
    ]


def candidate_record(item: Candidate) -> dict[str, Any]:
    """All that is known of a candidate."""
    record: dict[str, Any] = {
        "chunk": item.chunk,
        "vector": _rounded(item.vector),
        "vector_rank": item.vector_rank,
        "lexical": _rounded(item.lexical),
        "lexical_rank": item.lexical_rank,
        "document_lexical": _rounded(item.document_lexical),
        "fused": _rounded(item.fused),
        "order": _rounded(item.order),
        "probability": _rounded(item.probability),
    }
    if item.reranked:
        record |= {"reranked": True, "gate": _rounded(item.gate)}
    if item.gathered is not None:
        facts = item.gathered
        record |= {
            "document": facts.document,
            **({} if facts.note is None else {"note": facts.note}),
            "name": facts.name,
            "ordinal": facts.ordinal,
            "start": facts.start,
            "end": facts.end,
            "language": facts.language,
            "matches": facts.matches,
            "name_similarity": _rounded(item.name_similarity),
        }
    if item.evidence is not None:
        record["evidence"] = {
            name: _rounded(getattr(item.evidence, name))
            for name in ("part", "sentence", "coverage", "figures")
        }
    return record


def ranking_record(ranking: Sequence[tuple[int, float]]) -> list[dict[str, Any]]:
    """A ranking of an arm."""
    return [
        {"rank": rank, "chunk": chunk, "score": _rounded(score)}
        for rank, (chunk, score) in enumerate(ranking, start=1)
    ]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(float(value), 6)
