"""The trace of a search as tables: what each stage did to each candidate.

Shows the columns that tell where a passage was won or lost; the whole trace is in ``--json``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from emily.cli.printing import cell, table

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["explained"]

_Records = Sequence[Mapping[str, Any]]
_ARMS = {"vector_arm": "vector arm", "lexical_arm": "lexical arm"}


def explained(
    trace: Mapping[str, Any], timings_ms: Mapping[str, float]
) -> Iterator[RenderableType]:
    """Tables of the stages in the order in which they run, then the time of each.

    Args:
        trace: of an ``Answer``; a stage that did not run is left out.
        timings_ms: milliseconds by stage.
    """
    found: _Records = trace.get("fusion", {}).get("candidates", [])
    names = {record["chunk"]: record.get("name") for record in found}
    yield from _terms(trace.get("neighbours", {}).get("terms", []))
    for stage, title in _ARMS.items():
        if stage in trace:
            yield from _arm(title, trace[stage], names)
    if "fusion" in trace:
        yield _fusion(trace["fusion"], names)
    if "second_stage" in trace:
        yield _second_stage(trace, names)
    if "reranking" in trace:
        yield _reranking(trace["reranking"])
    spent = [(stage, _short(milliseconds)) for stage, milliseconds in timings_ms.items()]
    yield table(("stage", "ms"), spent, title="timings")


def _terms(terms: _Records) -> Iterator[RenderableType]:
    if terms:
        rows = [
            (
                term["surface"],
                term["term"],
                ", ".join(
                    f"{near['surface']} {cell(_short(near['weight']))}"
                    for near in term["neighbours"]
                ),
            )
            for term in terms
        ]
        yield table(("word", "term", "also searched as"), rows, title="terms")


def _arm(
    title: str, record: Mapping[str, Any], names: Mapping[int, Any]
) -> Iterator[RenderableType]:
    if reason := record.get("empty_because"):
        yield table((title,), [(f"empty: {reason}",)])
        return
    rows = [
        (row["rank"], row["chunk"], names.get(row["chunk"]), _short(row["score"]))
        for row in record["ranking"]
    ]
    yield table(("rank", "chunk", "document", "score"), rows, title=title, cut="document")


def _fusion(record: Mapping[str, Any], names: Mapping[int, Any]) -> RenderableType:
    candidates = {row["chunk"]: row for row in record["candidates"]}
    rows = [
        (rank, chunk, names.get(chunk), *_of(candidates, chunk, ("vector", "lexical")))
        for rank, chunk in enumerate(record["pool"], start=1)
    ]
    return table(
        ("rank", "chunk", "document", "vector", "lexical"),
        rows,
        title=f"fusion ({record['name']}): {len(rows)} of {len(candidates)} in the pool",
        cut="document",
    )


def _second_stage(trace: Mapping[str, Any], names: Mapping[int, Any]) -> RenderableType:
    threshold = trace.get("threshold", {})
    passed = set(threshold.get("passed", []))
    chosen = set(trace.get("selection", {}).get("chosen", []))
    evidence = ("part", "sentence", "coverage", "figures")
    rows = []
    for rank, record in enumerate(trace["second_stage"]["candidates"], start=1):
        chunk = record["chunk"]
        seen = record.get("evidence", {})
        fate = "chosen" if chunk in chosen else "passed" if chunk in passed else "below"
        rows.append(
            (
                rank,
                chunk,
                names.get(chunk, record.get("name")),
                *(_short(record.get(name)) for name in ("fused", "order", "probability")),
                *(_short(seen.get(name)) for name in evidence),
                fate,
            )
        )
    scores = ("fused", "order", "prob.", "part", "sent.", "cover", "figs")
    return table(
        ("rank", "chunk", "document", *scores, ""),
        rows,
        title=f"second stage; the threshold is {cell(threshold.get('threshold'))}",
        cut="document",
    )


def _reranking(record: Mapping[str, Any]) -> RenderableType:
    """What a cross-encoder did; its order and its probabilities are those above."""
    if reason := record.get("down") or record.get("skipped_because"):
        outcome = f"not used: {reason}"
    else:
        outcome = "used" if record.get("probabilities") else "used for the order alone"
    looked_at = f"{record['looked_at']} of {record['given']}"
    row = (record["model"], looked_at, record.get("cut"), outcome)
    return table(("model", "looked at", "passages cut", ""), [row], title="reranking")


def _of(
    candidates: Mapping[int, Mapping[str, Any]], chunk: int, names: Sequence[str]
) -> tuple[Any, ...]:
    record = candidates.get(chunk, {})
    return tuple(_short(record.get(name)) for name in names)


def _short(value: float | None) -> float | None:
    """Three decimals; none of a number that is a hundred or more."""
    if value is None:
        return None
    return round(value) if abs(value) >= 100 else round(value, 3)
