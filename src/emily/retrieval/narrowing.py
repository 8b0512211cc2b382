"""Narrowing: which chunks hold a question's phrases, and which hold what is to be left out.

Decided on the original text: the index only says where to look.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector

from emily.retrieval.arms import Ranking, all_terms
from emily.retrieval.bm25 import Statistics, TermGroup, score
from emily.retrieval.operators import Phrase, folded_words
from emily.store import Database

__all__ = ["LeftOut", "chunks_with", "nearest_of", "without", "words_of"]

_DOCUMENTS = 16  # whose texts are in memory at once
_GROWTH = 4  # by which an arm asks for more where much is left out
_MOST = 64  # times its size; what is left out of so many is nearly everything


async def chunks_with(
    database: Database,
    phrases: Sequence[Phrase],
    languages: tuple[str, ...],
    documents: Sequence[int] | None,
) -> tuple[int, ...]:
    """The chunks that hold all of the phrases, oldest first.

    A chunk's table header counts as its text. Phrases of function words alone are looked for in
    every text, which takes time in proportion to the archive.
    """
    terms = list(dict.fromkeys(term for phrase in phrases for term in phrase.terms(languages)))
    rows = await database.fetch(
        "chunks_with_terms",
        {"terms": terms, "documents": None if documents is None else list(documents)},
    )
    verdicts = await _verdicts(
        database,
        [row["chunk_id"] for row in rows],
        lambda text: all(phrase.held_by(text) for phrase in phrases),
    )
    return tuple(sorted(chunk for chunk, held in verdicts.items() if held))


class LeftOut:
    """Tells which chunks hold what a question leaves out; each is looked at once."""

    def __init__(self, database: Database, phrases: Sequence[Phrase]) -> None:
        self._database = database
        self._phrases = tuple(phrases)
        self._verdicts: dict[int, bool] = {}

    @property
    def phrases(self) -> tuple[Phrase, ...]:
        """What is left out."""
        return self._phrases

    @property
    def dropped(self) -> int:
        """How many of the chunks that were looked at hold one of the phrases."""
        return sum(self._verdicts.values())

    async def among(self, chunks: Iterable[int]) -> set[int]:
        """Those of the chunks that hold one of the phrases."""
        asked = set(chunks)
        fresh = sorted(asked - self._verdicts.keys())
        if self._phrases and fresh:
            self._verdicts |= await _verdicts(
                self._database,
                fresh,
                lambda text: any(phrase.held_by(text) for phrase in self._phrases),
            )
        return {chunk for chunk in asked if self._verdicts.get(chunk)}


async def without(
    left_out: LeftOut, arm: Callable[[int], Awaitable[Ranking]], limit: int
) -> Ranking:
    """An arm's best chunks of those that are not left out.

    Args:
        left_out: tells which are.
        arm: ranks the archive; given how many chunks to bring.
        limit: most chunks.
    """
    size = limit
    while True:
        ranking = await arm(size)
        gone = await left_out.among(chunk for chunk, _ in ranking)
        kept = [item for item in ranking if item[0] not in gone]
        if len(kept) >= limit or len(ranking) < size or size >= _MOST * limit:
            return kept[:limit]
        size *= _GROWTH


async def nearest_of(
    database: Database, chunks: Sequence[int], vector: NDArray[np.float32], limit: int
) -> Ranking:
    """The vector arm among given chunks; the score is the cosine of the best part."""
    rows = await database.fetch(
        "parts_of_chunks",
        {"chunks": list(chunks), "vector": HalfVector(vector), "limit": limit},
    )
    return [(row["chunk_id"], row["score"]) for row in rows]


async def words_of(
    database: Database,
    chunks: Sequence[int],
    groups: Sequence[TermGroup],
    statistics: Statistics,
    limit: int,
) -> Ranking:
    """The lexical arm among given chunks; the score is BM25. One without a term comes last."""
    places = await database.fetch("places_of_chunks", {"chunks": list(chunks)})
    found = await database.fetch(
        "term_matches",
        {
            "terms": all_terms(groups),
            "documents": sorted({row["document_id"] for row in places}),
            "chunks": list(chunks),
        },
    )
    matches: dict[int, dict[str, int]] = {}
    for row in found:
        matches.setdefault(row["chunk_id"], {})[row["term"]] = row["frequency"]
    scored = [
        (row["id"], score(groups, matches.get(row["id"], {}), row["terms"], statistics))
        for row in places
    ]
    return sorted(scored, key=lambda item: (-item[1], item[0]))[:limit]


async def _verdicts(
    database: Database, chunks: Sequence[int], holds: Callable[[str], bool]
) -> dict[int, bool]:
    """What is true of each chunk's text; one that is no longer there is left out."""
    if not chunks:
        return {}
    places = await database.fetch("places_of_chunks", {"chunks": list(chunks)})
    by_document = [
        (document, list(rows)) for document, rows in groupby(places, lambda row: row["document_id"])
    ]
    verdicts: dict[int, bool] = {}
    for start in range(0, len(by_document), _DOCUMENTS):
        batch = by_document[start : start + _DOCUMENTS]
        rows = await database.fetch(
            "texts_of_documents", {"documents": [document for document, _ in batch]}
        )
        texts = {row["id"]: row["text"] for row in rows}

        def judge(
            batch: list[tuple[int, list[dict[str, Any]]]] = batch, texts: dict[int, str] = texts
        ) -> dict[int, bool]:
            return {
                row["id"]: holds(
                    folded_words(f"{row['header']}\n{text[row['start_at'] : row['end_at']]}")
                )
                for document, found in batch
                if (text := texts.get(document)) is not None
                for row in found
            }

        verdicts |= await asyncio.to_thread(judge)
    return verdicts
