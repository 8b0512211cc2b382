"""Gathering: what the store holds of the candidates, and both arms' scores for each.

A candidate that one arm brought is scored by the other as well: the sum of scores would
otherwise punish it for the size of an arm.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector

from emily.indexing.vectors import unpack
from emily.retrieval.arms import all_terms
from emily.retrieval.bm25 import Statistics, TermGroup, ceiling, score, share_matched
from emily.retrieval.candidate import Candidate, Gathered
from emily.settings import LexicalScore
from emily.store import Database

__all__ = ["attach", "gather"]


async def gather(
    database: Database,
    candidates: Sequence[Candidate],
    groups: Sequence[TermGroup],
    statistics: Statistics | None,
    vector: NDArray[np.float32] | None,
    dimension: int,
    kind: LexicalScore = "bm25",
) -> list[Candidate]:
    """Fetch the candidates' facts and fill in the scores of both arms.

    Args:
        database: the store.
        candidates: what the arms brought, in the order to keep.
        groups: the query's terms.
        statistics: of the archive; ``None`` where the lexical arm is down.
        vector: the query's vector; ``None`` where the embedder is down.
        dimension: of the sentence vectors.
        kind: what the lexical score is; ``lexemes`` is the share of groups that match.
    """
    if not candidates:
        return []
    chunks = [item.chunk for item in candidates]
    rows = await database.fetch(
        "gather_chunks",
        {"chunks": chunks, "vector": None if vector is None else HalfVector(vector)},
    )
    matches: dict[int, dict[str, int]] = defaultdict(dict)
    if statistics is not None:
        found = await database.fetch(
            "term_matches",
            {
                "terms": all_terms(groups),
                "documents": list({row["document_id"] for row in rows}),
                "chunks": chunks,
            },
        )
        for row in found:
            matches[row["chunk_id"]][row["term"]] = row["frequency"]
    return attach(candidates, rows, matches, groups, statistics, dimension, kind)


def attach(
    candidates: Sequence[Candidate],
    rows: Iterable[Mapping[str, Any]],
    matches: Mapping[int, Mapping[str, int]],
    groups: Sequence[TermGroup],
    statistics: Statistics | None,
    dimension: int,
    kind: LexicalScore = "bm25",
) -> list[Candidate]:
    """Put fetched rows to their candidates, whose order is kept whatever that of the rows.

    A chunk that is no longer there, because its document was replaced meanwhile, is left out.
    """
    by_chunk = {row["id"]: row for row in rows}
    most = ceiling(groups, statistics) if statistics is not None else 0.0
    gathered = []
    for item in candidates:
        row = by_chunk.get(item.chunk)
        if row is None:
            continue
        found = dict(matches.get(item.chunk, {}))
        lexical = None
        if statistics is not None:
            if kind == "lexemes":
                lexical = share_matched(groups, found)
            else:
                lexical = score(groups, found, row["terms"], statistics) / most if most else 0.0
        facts = Gathered(
            document=row["document_id"],
            ordinal=row["ordinal"],
            start=row["start_at"],
            end=row["end_at"],
            language=row["language"],
            terms=row["terms"],
            words=np.array(row["words"], dtype=np.int64),
            sentences=unpack(row["sentences"], dimension),
            name=row["name"],
            description=row["description"],
            matches=found,
        )
        gathered.append(
            replace(
                item,
                vector=row["part"],
                lexical=lexical,
                name_similarity=row["name_similarity"] or 0.0,
                gathered=facts,
            )
        )
    return gathered
