"""The arms: each ranks the archive's chunks by one kind of likeness."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector

from emily.retrieval.bm25 import K1, B, Statistics, TermGroup, inverse_frequency
from emily.retrieval.mirror import Mirrored
from emily.retrieval.skipping import best_chunks
from emily.settings import LexicalScore
from emily.store import Database

__all__ = ["Ranking", "all_terms", "archive_statistics", "lexical_arm", "stored", "vector_arm"]

Ranking = list[tuple[int, float]]
"""Chunk ids with their scores, best first."""

T = TypeVar("T")
_AT_ONCE = 2_000  # parts


async def vector_arm(
    database: Database,
    vector: NDArray[np.float32],
    limit: int,
    documents: Sequence[int] | None = None,
    mirrored: Mirrored | None = None,
) -> Ranking:
    """Chunks whose best part is nearest in meaning; the score is the cosine.

    Exact in the store: every vector is compared; only those of ``documents`` where they are
    given. In memory it is exact up to a size, see ``PartMatrix.nearest``.
    """
    if mirrored is not None:
        table = mirrored.table
        # Few vectors are compared sooner than a thread is started.
        run = asyncio.to_thread if len(table.vectors) > _AT_ONCE else _here
        places, cosines = await run(
            table.vectors.nearest,
            stored(vector),
            limit,
            table.of_documents(documents),
            by_signs=mirrored.by_signs,
        )
        return list(zip(table.ids[places].tolist(), cosines.tolist(), strict=True))
    rows = await database.fetch(
        "vector_arm",
        {"vector": HalfVector(vector), "limit": limit, "documents": _listed(documents)},
    )
    return [(row["chunk_id"], row["score"]) for row in rows]


async def archive_statistics(
    database: Database,
    groups: Sequence[TermGroup],
    mirrored: Mirrored | None = None,
    k1: float = K1,
    b: float = B,
) -> Statistics:
    """What BM25 has to know of the archive for these groups; ``mirrored`` is of the same k1, b."""
    if mirrored is not None:
        lists = await mirrored.postings.of(all_terms(groups), mirrored.table)
        return Statistics(
            chunks=len(mirrored.table),
            average_terms=mirrored.table.average,
            frequencies={term: len(found) for term, found in lists.items() if len(found)},
            k1=k1,
            b=b,
        )
    row = await database.fetch_one("chunk_statistics")
    assert row is not None
    rows = await database.fetch("document_frequencies", {"terms": all_terms(groups)})
    return Statistics(
        chunks=row["chunks"],
        average_terms=row["average_terms"],
        frequencies={row["term"]: int(row["chunks"]) for row in rows},
        k1=k1,
        b=b,
    )


async def lexical_arm(
    database: Database,
    groups: Sequence[TermGroup],
    statistics: Statistics,
    limit: int,
    *,
    kind: LexicalScore = "bm25",
    documents: Sequence[int] | None = None,
    mirrored: Mirrored | None = None,
) -> Ranking:
    """Chunks that hold the most telling of the terms, joined by OR.

    Only those of ``documents`` where they are given. The score is BM25 (not divided by its
    ceiling), or the number of groups that match.
    """
    if mirrored is not None and kind == "bm25":
        table = mirrored.table
        lists = await mirrored.postings.of(all_terms(groups), table)
        found = best_chunks(groups, lists, statistics, table, limit, table.of_documents(documents))
        return list(zip(table.ids[found.rows].tolist(), found.scores, strict=True))
    terms: list[str] = []
    places: list[int] = []
    weights: list[float] = []
    for place, group in enumerate(groups):
        for member in group.members:
            held = statistics.frequencies.get(member.term, 0)
            if held:
                terms.append(member.term)
                places.append(place)
                weights.append(member.weight * inverse_frequency(statistics.chunks, held))
    if not terms:
        return []
    parameters: dict[str, Any] = {
        "terms": terms,
        "places": places,
        "limit": limit,
        "documents": _listed(documents),
    }
    if kind == "lexemes":
        rows = await database.fetch("lexical_arm_lexemes", parameters)
    else:
        rows = await database.fetch(
            "lexical_arm_bm25",
            {
                **parameters,
                "weights": weights,
                "k1": statistics.k1,
                "b": statistics.b,
                "average": statistics.average_terms or 1.0,
            },
        )
    return [(row["chunk_id"], row["score"]) for row in rows]


def all_terms(groups: Sequence[TermGroup]) -> list[str]:
    """Every term of the groups once."""
    return list(dict.fromkeys(member.term for group in groups for member in group.members))


async def _here(work: Callable[..., T], *given: Any, **named: Any) -> T:
    return work(*given, **named)


def stored(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """A vector as the store is asked with it, in halves, so that memory gives the same scores."""
    return vector.astype(np.float16).astype(np.float32)


def _listed(documents: Sequence[int] | None) -> list[int] | None:
    return None if documents is None else list(documents)
