"""The graph arm: notes that are linked with what was found, though they hold none of the words.

Scores spread from the matches along the links (``emily.vault.graph``). A document that was not
found takes its place where its score puts it, with its passage nearest to the question, and says
by which link it came up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from emily.retrieval.arms import lexical_arm, vector_arm
from emily.retrieval.candidate import Candidate, Linked
from emily.retrieval.gathering import gather, look_closely
from emily.retrieval.inquiry import Inquiry, Stage
from emily.retrieval.link_graph import LinkGraph
from emily.retrieval.narrowing import without
from emily.vault.graph import Reached

__all__ = ["linked_stage"]

_SEEDS = 10
"""Documents from which scores spread."""
_SPREAD = 4.0
"""Weight of what the walk brings, as in ``emily.vault.engine``."""
_MOST = 0.45
_LEAST = 0.05
"""What a note must get by its links to be looked at, where the best match has 1."""
_CHUNKS = 8  # looked at of each such note, to find its passage


def linked_stage(score: Stage) -> Stage:
    """The stage that lets scores spread, behind the one that orders.

    Args:
        score: looks at candidates closely: gives the passages of linked notes their evidence.
    """

    async def run(inquiry: Inquiry, ranked: Sequence[Candidate]) -> list[Candidate]:
        graph, limits = inquiry.links, inquiry.limits
        if graph is None or not graph.graph.nodes or inquiry.inside or inquiry.only is not None:
            return list(ranked)
        with inquiry.trace.stage("links") as record:
            values = _values(inquiry, ranked)
            reached = graph.spread(
                dict(list(values.items())[:_SEEDS]), inquiry.restart, inquiry.damping
            )
            allowed = None if limits.documents is None else set(limits.documents)
            strong = sorted(
                (
                    (document, item)
                    for document, item in reached.items()
                    if _lift(item) >= _LEAST
                    # A probability above the bar puts a document where it stands.
                    and (document not in values or inquiry.signals is not None)
                    and (allowed is None or document in allowed)
                ),
                key=lambda pair: (-pair[1].score, pair[0]),
            )
            new = [pair for pair in strong if pair[0] not in values][: inquiry.places]
            strong = [pair for pair in strong if pair[0] in values or pair in new]
            record["seeds"] = len(values)
            record["reached"] = [
                {"document": document, "score": round(item.score, 6)} for document, item in strong
            ]
            if not strong:
                return list(ranked)
            looked: dict[int, Candidate] = {}
            for candidate in ranked:
                looked.setdefault(candidate.facts.document, candidate)
            unknown = [document for document, _ in strong if document not in looked]
            if unknown:
                passages = await _passages(inquiry, unknown)
                looked |= {item.facts.document: item for item in await score(inquiry, passages)}
            added = [
                (
                    max(_lift(item), values.get(document, 0.0)),
                    replace(
                        looked[document],
                        linked=_linked(graph, item)
                        if _lift(item) > values.get(document, 0.0)
                        else None,
                    ),
                )
                for document, item in strong
                if document in looked
            ]
            added.sort(key=lambda pair: -pair[0])
            values |= {item.facts.document: value for value, item in added}
            record["candidates"] = [item.chunk for _, item in added]
            lifted = {item.chunk for _, item in added}
            rest = [item for item in ranked if item.chunk not in lifted]
            return _placed(rest, values, added)

    return run


def _lift(reached: Reached) -> float:
    """What links bring a document: at best the second place."""
    return min(_SPREAD * reached.score, _MOST)


def _values(inquiry: Inquiry, ranked: Sequence[Candidate]) -> dict[int, float]:
    """What each document that is shown is worth, best first: one over its place."""
    asked = inquiry.limits.threshold
    bar = inquiry.preset.threshold if asked is None else asked
    values: dict[int, float] = {}
    for item in ranked:
        if item.probability is None or item.probability >= bar:
            values.setdefault(item.facts.document, 1.0 / (len(values) + 1))
    return values


async def _passages(inquiry: Inquiry, documents: Sequence[int]) -> list[Candidate]:
    """The passage of each document that is nearest to the question, or its first one."""

    async def arm(size: int) -> list[tuple[int, float]]:
        found: list[tuple[int, float]] = []
        if inquiry.meaning is not None:
            found += await vector_arm(
                inquiry.database, inquiry.meaning.vector, size, documents, inquiry.mirrored
            )
        if inquiry.statistics is not None and inquiry.groups:
            found += await lexical_arm(
                inquiry.database,
                inquiry.groups,
                inquiry.statistics,
                size,
                documents=documents,
                mirrored=inquiry.mirrored,
            )
        rows = await inquiry.database.fetch("first_chunks", {"documents": list(documents)})
        chunks = dict(found)
        return [*chunks.items(), *((row["id"], 0.0) for row in rows if row["id"] not in chunks)]

    size = _CHUNKS * len(documents)
    ranking = await (
        arm(size) if inquiry.left_out is None else without(inquiry.left_out, arm, size)
    )
    vector = None if inquiry.meaning is None else inquiry.meaning.vector
    candidates = await gather(
        inquiry.database,
        [Candidate(chunk) for chunk, _ in ranking],
        inquiry.groups,
        inquiry.statistics,
        vector,
        "bm25" if inquiry.preset.lexical_arm == "stems" else inquiry.preset.lexical_score,
        inquiry.mirrored,
    )
    best: dict[int, Candidate] = {}
    for item in sorted(
        candidates, key=lambda item: (-(item.vector or 0.0) - (item.lexical or 0.0), item.chunk)
    ):
        best.setdefault(item.facts.document, item)
    return await look_closely(
        inquiry.database, list(best.values()), vector, inquiry.embedder.identity.dimension
    )


def _linked(graph: LinkGraph, reached: Reached) -> Linked:
    step = reached.by
    return Linked(
        score=reached.score,
        source=graph.document(step.start),
        kind=step.kind,
        line=step.line,
        forward=step.forward,
    )


def _placed(
    ranked: Sequence[Candidate],
    values: dict[int, float],
    added: Sequence[tuple[float, Candidate]],
) -> list[Candidate]:
    """Put passages before the first one whose document is worth less than theirs."""
    placed = list(ranked)
    for score, item in added:
        at = next(
            (
                place
                for place, other in enumerate(placed)
                if values.get(other.facts.document, 0.0) < score
            ),
            len(placed),
        )
        before = placed[at - 1].order if at else None
        after = placed[at].order if at < len(placed) else None
        order = before if before is not None else after
        if before is not None and after is not None:
            order = (before + after) / 2
        placed.insert(at, replace(item, order=order))
    return placed
