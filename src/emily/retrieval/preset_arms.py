"""Arms of the presets beside the default: stems, whole chunks, whole documents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector

from emily.indexing.stems import NO_STEMMER, STEMS_MARK, configuration
from emily.retrieval.arms import Ranking, all_terms
from emily.retrieval.bm25 import Statistics, TermGroup, inverse_frequency
from emily.retrieval.fusion import by_rank
from emily.store import Database

__all__ = ["document_arm", "documents_without_stems", "fused_ranking", "stem_arm", "whole_arm"]


async def documents_without_stems(database: Database) -> int:
    """How many documents were indexed without what ``stem_arm`` and ``whole_arm`` look in."""
    row = await database.fetch_one("documents_without_stems", {"mark": STEMS_MARK})
    assert row is not None
    return int(row["documents"])


async def stem_arm(
    database: Database,
    text: str,
    languages: Sequence[str],
    limit: int,
    documents: Sequence[int] | None = None,
) -> tuple[Ranking, list[str]]:
    """Chunks by the number of distinct stems that they share with a question.

    Each chunk is stemmed in its own language, and compared with the question stemmed in that
    language. Among equals the chunk with more occurrences comes first, then the older one.

    Args:
        database: the store.
        text: the question.
        languages: of the archive.
        limit: most chunks.
        documents: to look in; ``None`` for all.

    Returns:
        the ranking, whose score is the number of stems, and the stems looked for.
    """
    spoken = [*languages, NO_STEMMER]
    rows = await database.fetch(
        "query_stems",
        {
            "text": text,
            "languages": spoken,
            "configurations": [
                configuration(None if language == NO_STEMMER else language) for language in spoken
            ],
        },
    )
    terms = [f"{row['language']}:{row['lexeme']}" for row in rows]
    if not terms:
        return [], []
    found = await database.fetch(
        "stem_arm", {"terms": terms, "limit": limit, "documents": _listed(documents)}
    )
    return [(row["chunk_id"], row["score"]) for row in found], terms


async def whole_arm(
    database: Database,
    vector: NDArray[np.float32],
    limit: int,
    documents: Sequence[int] | None = None,
) -> Ranking:
    """Chunks nearest in meaning by one vector for the whole of each; the score is the cosine."""
    rows = await database.fetch(
        "whole_arm",
        {"vector": HalfVector(vector), "limit": limit, "documents": _listed(documents)},
    )
    return [(row["chunk_id"], row["score"]) for row in rows]


async def document_arm(
    database: Database,
    groups: Sequence[TermGroup],
    statistics: Statistics,
    limit: int,
    documents: Sequence[int] | None = None,
) -> Ranking:
    """Documents by BM25 over all of their text; each stands as its best passage.

    Args:
        database: the store.
        groups: the question's terms.
        statistics: of the archive's chunks; those of its documents are fetched.
        limit: most documents.
        documents: to look in; ``None`` for all.

    Returns:
        one chunk a document, with the BM25 of the document.
    """
    whole = await database.fetch_one("document_statistics")
    assert whole is not None
    rows = await database.fetch("documents_holding", {"terms": all_terms(groups)})
    holding = {row["term"]: row["documents"] for row in rows}
    parameters: dict[str, list[Any]] = defaultdict(list)
    for place, group in enumerate(groups):
        for member in group.members:
            held = statistics.frequencies.get(member.term, 0)
            if held:
                rarity = inverse_frequency(statistics.chunks, held)
                telling = inverse_frequency(whole["documents"], holding.get(member.term, 1))
                parameters["terms"].append(member.term)
                parameters["places"].append(place)
                parameters["weights"].append(member.weight * rarity)
                parameters["telling"].append(member.weight * telling)
    if not parameters:
        return []
    found = await database.fetch(
        "document_arm",
        {
            **parameters,
            "k1": statistics.k1,
            "b": statistics.b,
            "average": statistics.average_terms or 1.0,
            "document_average": whole["average_terms"] or 1.0,
            "limit": limit,
            "documents": _listed(documents),
        },
    )
    return [(row["chunk_id"], row["score"]) for row in found]


def fused_ranking(one: Ranking, two: Ranking, limit: int) -> Ranking:
    """Two rankings of chunks as one, by reciprocal ranks; the score is their sum."""
    ranks: dict[int, list[int]] = defaultdict(list)
    for ranking in (one, two):
        for rank, (chunk, _) in enumerate(ranking, start=1):
            ranks[chunk].append(rank)
    scored = [(chunk, by_rank(*found)) for chunk, found in ranks.items()]
    return sorted(scored, key=lambda item: (-item[1], item[0]))[:limit]


def _listed(documents: Sequence[int] | None) -> list[int] | None:
    return None if documents is None else list(documents)
