"""The evidence of the whole document: BM25 of the documents that candidates are of.

A question's terms may be spread over several chunks of one document, none of which looks like
the question. What is rare is counted in documents here, not in chunks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from emily.retrieval.arms import all_terms
from emily.retrieval.bm25 import K1, B, Statistics, TermGroup, ceiling, score
from emily.retrieval.candidate import Candidate
from emily.retrieval.mirror import Mirrored
from emily.store import Database

__all__ = ["DocumentTerms", "score_documents"]

DocumentTerms = tuple[int, dict[str, int]]
"""Length of a document in terms, and how often each term of the question stands in it."""


async def score_documents(
    database: Database,
    pool: Sequence[Candidate],
    groups: Sequence[TermGroup],
    mirrored: Mirrored | None = None,
    k1: float = K1,
    b: float = B,
) -> list[Candidate]:
    """Give each candidate the BM25 of its document over what the question could score, 0 to 1.

    Args:
        database: the store.
        pool: gathered candidates, in the order to keep.
        groups: the question's terms.
        mirrored: the index in memory; ``None`` asks the store.
        k1: of BM25.
        b: of BM25.
    """
    documents = sorted({item.facts.document for item in pool})
    if not documents or not groups:
        return list(pool)
    if mirrored is None:
        statistics, terms = await _stored(database, documents, groups)
    else:
        statistics, terms = await _remembered(mirrored, documents, groups)
    statistics = replace(statistics, k1=k1, b=b)
    most = ceiling(groups, statistics)
    scores = {
        document: score(groups, matches, length, statistics) / most if most else 0.0
        for document, (length, matches) in terms.items()
    }
    return [replace(item, document_lexical=scores.get(item.facts.document)) for item in pool]


async def _stored(
    database: Database, documents: Sequence[int], groups: Sequence[TermGroup]
) -> tuple[Statistics, Mapping[int, DocumentTerms]]:
    terms = all_terms(groups)
    whole = await database.fetch_one("document_statistics")
    assert whole is not None
    holding = await database.fetch("documents_holding", {"terms": terms})
    statistics = Statistics(
        chunks=whole["documents"],
        average_terms=whole["average_terms"],
        frequencies={row["term"]: row["documents"] for row in holding},
    )
    rows = await database.fetch("document_terms", {"terms": terms, "documents": list(documents)})
    return statistics, {
        row["document_id"]: (
            int(row["length"]),
            dict(zip(row["terms"] or (), row["frequencies"] or (), strict=True)),
        )
        for row in rows
    }


async def _remembered(
    mirrored: Mirrored, documents: Sequence[int], groups: Sequence[TermGroup]
) -> tuple[Statistics, Mapping[int, DocumentTerms]]:
    table = mirrored.table
    lists = await mirrored.postings.of(all_terms(groups), table)
    own = np.flatnonzero(np.isin(table.documents, documents)).astype(np.int32)
    found, owners = np.unique(table.documents[own], return_inverse=True)
    lengths = np.bincount(owners, weights=table.lengths[own], minlength=len(found))
    frequencies: list[dict[str, int]] = [{} for _ in found]
    for term, postings in lists.items():
        held, places = postings.at(own)
        sums = np.bincount(owners[held], postings.frequencies[places], len(found))
        for place in np.flatnonzero(sums).tolist():
            frequencies[place][term] = int(sums[place])
    count = len(table.names)
    statistics = Statistics(
        chunks=count,
        average_terms=table.average * len(table) / count if count else 0.0,
        frequencies={term: postings.documents for term, postings in lists.items() if len(postings)},
    )
    return statistics, {
        document: (int(length), matches)
        for document, length, matches in zip(
            found.tolist(), lengths.tolist(), frequencies, strict=True
        )
    }
