"""Gathering: what is known of the candidates, and both arms' scores for each.

A candidate that one arm brought is scored by the other as well: the sum of scores would
otherwise punish it for the size of an arm. What the later stages look at closely, sentences and
words, is fetched for the pool only.
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
from emily.retrieval.arms import all_terms, stored
from emily.retrieval.bm25 import Scorer, Statistics, TermGroup, ceiling, share_matched
from emily.retrieval.candidate import Candidate, Gathered, changed
from emily.retrieval.chunk_table import integers
from emily.retrieval.mirror import Mirrored
from emily.retrieval.skipping import occurrences
from emily.settings import LexicalScore
from emily.store import Database

__all__ = ["attach", "gather", "look_closely"]

Row = Mapping[str, Any]


async def gather(
    database: Database,
    candidates: Sequence[Candidate],
    groups: Sequence[TermGroup],
    statistics: Statistics | None,
    vector: NDArray[np.float32] | None,
    kind: LexicalScore = "bm25",
    mirrored: Mirrored | None = None,
) -> list[Candidate]:
    """Fill in the candidates' facts and the scores of both arms.

    Args:
        database: the store.
        candidates: what the arms brought, in the order to keep.
        groups: the query's terms.
        statistics: of the archive; ``None`` where the lexical arm is down.
        vector: the query's vector; ``None`` where the embedder is down.
        kind: what the lexical score is; ``lexemes`` is the share of groups that match.
        mirrored: the index in memory; ``None`` asks the store.
    """
    if not candidates:
        return []
    terms = [] if statistics is None else all_terms(groups)
    if mirrored is None:
        rows, matches = await _stored(database, candidates, terms, vector)
    else:
        rows, matches = await _remembered(mirrored, candidates, terms, vector)
    return attach(candidates, rows, matches, groups, statistics, kind)


async def _stored(
    database: Database,
    candidates: Sequence[Candidate],
    terms: Sequence[str],
    vector: NDArray[np.float32] | None,
) -> tuple[Sequence[Row], Mapping[int, dict[str, int]]]:
    """Facts of the candidates, and how often each term stands in each, from the store."""
    chunks = [item.chunk for item in candidates]
    rows = await database.fetch(
        "gather_chunks",
        {"chunks": chunks, "vector": None if vector is None else HalfVector(vector)},
    )
    matches: dict[int, dict[str, int]] = defaultdict(dict)
    if terms:
        documents = list({row["document_id"] for row in rows})
        found = await database.fetch(
            "term_matches", {"terms": list(terms), "documents": documents, "chunks": chunks}
        )
        for row in found:
            matches[row["chunk_id"]][row["term"]] = row["frequency"]
    return rows, matches


async def _remembered(
    mirrored: Mirrored,
    candidates: Sequence[Candidate],
    terms: Sequence[str],
    vector: NDArray[np.float32] | None,
) -> tuple[Sequence[Row], Mapping[int, dict[str, int]]]:
    """The same from memory."""
    table = mirrored.table
    chunks = np.array([item.chunk for item in candidates], np.int64)
    places, there = table.rows(chunks)
    places, chunks = places[there], chunks[there]
    lists = await mirrored.postings.of(terms, table)
    order = np.argsort(places)
    found = occurrences(lists, places[order].astype(np.int32))
    matches = dict(zip(chunks[order].tolist(), found, strict=True))
    parts = (
        [None] * len(places) if vector is None else table.vectors.cosines(stored(vector), places)
    )
    columns = {name: column[places].tolist() for name, column in table.columns.items()}
    return [
        {
            "id": chunk,
            "document_id": document,
            "ordinal": columns["ordinal"][index],
            "start_at": columns["start_at"][index],
            "end_at": columns["end_at"][index],
            "terms": columns["terms"][index],
            "language": table.languages[place],
            "name": table.names[document],
            "note_of": table.notes.get(document),
            "part": parts[index],
        }
        for index, (chunk, place, document) in enumerate(
            zip(chunks.tolist(), places, columns["document"], strict=True)
        )
    ], matches


def attach(
    candidates: Sequence[Candidate],
    rows: Iterable[Row],
    matches: Mapping[int, Mapping[str, int]],
    groups: Sequence[TermGroup],
    statistics: Statistics | None,
    kind: LexicalScore = "bm25",
) -> list[Candidate]:
    """Put facts to their candidates, whose order is kept whatever that of the rows.

    A chunk that is no longer there, because its document was replaced meanwhile, is left out.
    """
    by_chunk = {row["id"]: row for row in rows}
    most = ceiling(groups, statistics) if statistics is not None else 0.0
    scorer = None if statistics is None else Scorer(groups, statistics)
    gathered = []
    for item in candidates:
        row = by_chunk.get(item.chunk)
        if row is None:
            continue
        found = dict(matches.get(item.chunk, {}))
        lexical = None
        if scorer is not None:
            if kind == "lexemes":
                lexical = share_matched(groups, found)
            else:
                lexical = scorer.score(found, row["terms"]) / most if most else 0.0
        facts = Gathered(
            document=row.get("note_of") or row["document_id"],
            note=row["document_id"] if row.get("note_of") else None,
            ordinal=row["ordinal"],
            start=row["start_at"],
            end=row["end_at"],
            language=row["language"],
            terms=row["terms"],
            name=row["name"],
            matches=found,
        )
        gathered.append(changed(item, vector=row["part"], lexical=lexical, gathered=facts))
    return gathered


async def look_closely(
    database: Database,
    pool: Sequence[Candidate],
    vector: NDArray[np.float32] | None,
    dimension: int,
) -> list[Candidate]:
    """Fetch what the second stage compares: words and sentences.

    Args:
        database: the store.
        pool: gathered candidates, in the order to keep; one that is gone is left out.
        vector: the query's; compared with the names of the documents.
        dimension: of the sentence vectors.
    """
    if not pool:
        return []
    rows = await database.fetch(
        "pool_details",
        {
            "chunks": [item.chunk for item in pool],
            "vector": None if vector is None else HalfVector(vector),
        },
    )
    by_chunk = {row["id"]: row for row in rows}
    return [
        changed(
            item,
            name_similarity=row["name_similarity"] or 0.0,
            gathered=replace(
                item.facts,
                words=integers(row["words"], 8),
                sentences=unpack(row["sentences"], dimension),
            ),
        )
        for item in pool
        if (row := by_chunk.get(item.chunk)) is not None
    ]
