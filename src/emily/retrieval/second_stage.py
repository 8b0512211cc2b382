"""The second stage: each candidate of the pool is looked at closely.

Late interaction: the query is compared with every sentence of the chunk, with its parts, its
words, and with the name of its document. Two scores come of it and are never
mixed: the *order*, which may use what is rare in this archive, and the *probability*, which
may not (see ``gate``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from emily.indexing.prepare import name_terms
from emily.indexing.terms import prefix
from emily.retrieval.candidate import Candidate, Evidence
from emily.retrieval.gate import FIGURE_RARITY, Gate, coverage
from emily.retrieval.order import Order, Signals, load_order
from emily.retrieval.query import Meaning, Query
from emily.retrieval.vocabulary import Affinity

__all__ = ["order_by_words", "second_stage"]


def second_stage(
    pool: Sequence[Candidate],
    query: Query,
    meaning: Meaning,
    affinity: Affinity,
    gate: Gate,
    languages: tuple[str, ...],
    order: Order | None = None,
) -> list[Candidate]:
    """Score a pool by meaning and words; best first.

    Args:
        pool: gathered candidates with their arms' scores filled in.
        query: the question.
        meaning: its vectors.
        affinity: its words against the vocabulary.
        gate: turns evidence into a probability.
        languages: of the archive.
        order: weighs the signals; the one that comes with Emily by default.
    """
    order = order or load_order()
    own_terms = [prefix(word) for word in query.words]
    rarity = np.append(meaning.rarity, np.full(len(query.figures), FIGURE_RARITY, np.float32))
    scored = []
    for item in pool:
        facts = item.facts
        labelled = name_terms(facts.name, languages)
        match = affinity.of_chunk(facts.words)
        has = facts.matches.keys() | labelled
        # Also a part of a name: Ledger in parseLedgerEntry, which is one word of the vocabulary.
        match[[term in has for term in own_terms]] = 1.0
        figures = np.array([bool(wanted & has) for wanted in query.figures], np.float32)
        nearest, cosine = _best_sentence(facts.sentences, meaning.vector)
        evidence = Evidence(
            part=item.vector or 0.0,
            sentence=cosine,
            coverage=coverage(np.append(match, figures), rarity)
            if len(rarity)
            else _terms(query, has),
            figures=float(figures.mean()) if len(figures) else 1.0,
        )
        foreign = None not in (query.language, facts.language) and query.language != facts.language
        lexical = item.lexical or 0.0
        signals = Signals(
            part=evidence.part,
            sentence=evidence.sentence,
            lexical=lexical,
            document=lexical if item.document_lexical is None else item.document_lexical,
            coverage=evidence.coverage,
            name=item.name_similarity,
            other_language=float(foreign),
        )
        scored.append(
            replace(
                item,
                evidence=evidence,
                best_sentence=nearest,
                order=order.score(signals),
                probability=gate.probability(evidence),
            )
        )
    return _ordered(scored)


def order_by_words(pool: Sequence[Candidate]) -> list[Candidate]:
    """Order by BM25 alone; without the embedder there is no probability."""
    return _ordered([replace(item, order=item.lexical or 0.0) for item in pool])


def _best_sentence(
    sentences: NDArray[np.float32], vector: NDArray[np.float32]
) -> tuple[int | None, float]:
    """The sentence nearest to the query and its cosine; 0 for a chunk without vectors."""
    if not len(sentences):
        return None, 0.0
    cosines = sentences @ vector
    nearest = int(cosines.argmax())
    return nearest, float(cosines[nearest])


def _terms(query: Query, terms: set[str]) -> float:
    """Coverage of a query that has neither words nor figures: Chinese, Thai."""
    if not query.groups:
        return 0.0
    return sum(group.members[0].term in terms for group in query.groups) / len(query.groups)


def _ordered(scored: Sequence[Candidate]) -> list[Candidate]:
    return sorted(scored, key=lambda item: (-(item.order or 0.0), item.chunk))
