"""The stages that candidates go through, by name: arms, gather, fusion, second stage and on.

Each is a function from an inquiry and candidates to candidates (``Stage``); a preset names the
one that it wants where there are several. Every stage times itself and records in the trace
what it did.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emily.errors import StoreError, StoreUnavailable
from emily.retrieval.arms import Ranking, archive_statistics, lexical_arm, vector_arm
from emily.retrieval.bm25 import Statistics
from emily.retrieval.candidate import Candidate
from emily.retrieval.fusion import Fuse, fuse_by_rank, fuse_by_score, interleave, merge_arms
from emily.retrieval.gate import load_gate
from emily.retrieval.gathering import gather, look_closely
from emily.retrieval.inquiry import Inquiry, Stage
from emily.retrieval.languages import lift_other_language
from emily.retrieval.linking import linked_stage
from emily.retrieval.narrowing import chunks_with, nearest_of, without, words_of
from emily.retrieval.preset_arms import document_arm, fused_ranking, stem_arm, whole_arm
from emily.retrieval.presets import Preset, SecondStageName, SelectionName
from emily.retrieval.second_stage import order_by_words, second_stage
from emily.retrieval.selection import (
    above_threshold,
    best,
    documents_first,
    relative_threshold,
)
from emily.retrieval.trace import candidate_record, ranking_record
from emily.retrieval.whole_documents import score_documents
from emily.settings import Fusion

__all__ = ["FUSIONS", "SECOND_STAGES", "SELECTIONS", "ranking_stages", "showing_stages"]

_log = logging.getLogger("emily.retrieval")


def ranking_stages(preset: Preset) -> tuple[Stage, ...]:
    """The stages that find and rank candidates, in the order they run."""
    second = second_stage_of(preset.second_stage)
    stages: tuple[Stage, ...] = (phrases_stage, arms_stage, gather_stage, fusion_stage)
    if preset.second_stage == "evidence":
        stages += (documents_stage,)
    stages += (details_stage, second)
    # A preset that reports signals has no stage that orders.
    if preset.second_stage != "signals":
        stages += (reranking_stage,)
    return (*stages, linked_stage(evidence_stage)) if preset.links else stages


def showing_stages(preset: Preset) -> tuple[Stage, Stage]:
    """The stages that decide which of the ranked candidates are shown: threshold, selection.

    A budget gives each document its best passage before any gets a second one.
    """
    chosen: SelectionName = preset.selection if preset.budget is None else "documents_first"
    return threshold_stage, SELECTIONS[chosen]


# Arms


async def phrases_stage(inquiry: Inquiry, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Finds the chunks that hold the question's phrases; the arms look in no other."""
    phrases = inquiry.query.operators.phrases
    if phrases:
        with inquiry.trace.stage("phrases") as record:
            inquiry.only = await chunks_with(
                inquiry.database, phrases, inquiry.languages, inquiry.limits.documents
            )
            record["chunks"] = len(inquiry.only)
        if not inquiry.only:
            quoted = " and ".join(f"“{phrase.text}”" for phrase in phrases)
            inquiry.notices.append(
                f"No passage holds {quoted} word for word. Without the quotation marks the words "
                "are looked for in any order."
            )
    return list(candidates)


async def arms_stage(inquiry: Inquiry, _: Sequence[Candidate]) -> list[Candidate]:
    """All arms at once; a candidate for each chunk that one of them brought.

    Raises:
        StoreError: neither arm works.
    """
    by_meaning, (by_words, statistics) = await asyncio.gather(
        _vector_arm(inquiry), _lexical_arm(inquiry)
    )
    if statistics is None and inquiry.meaning is None:
        raise StoreError(
            "Neither arm of the search works: the embedder is down and so is the lexical "
            "arm. emily doctor says what is wrong."
        )
    inquiry.statistics = statistics
    with inquiry.trace.stage("arms") as record:
        candidates = merge_arms(by_meaning, by_words)
        record["candidates"] = len(candidates)
    return candidates


async def _vector_arm(inquiry: Inquiry) -> Ranking:
    with inquiry.trace.stage("vector_arm") as record:
        if inquiry.meaning is None:
            ranking: Ranking = []
            record["empty_because"] = "the embedder is down"
        else:
            ranking = await _nearest(inquiry, inquiry.meaning.vector)
            if not ranking:
                record["empty_because"] = (
                    "no chunk has a vector"
                    if inquiry.only is None
                    else "no chunk with the phrase has a vector"
                )
        record["ranking"] = ranking_record(ranking)
    return ranking


async def _nearest(inquiry: Inquiry, vector: NDArray[np.float32]) -> Ranking:
    database, limits = inquiry.database, inquiry.limits

    async def nearest(size: int) -> Ranking:
        if inquiry.only is not None:
            return await nearest_of(database, inquiry.only, vector, size)
        if inquiry.preset.vector_arm == "whole":
            return await whole_arm(database, vector, size, limits.documents)
        return await vector_arm(database, vector, size, limits.documents, inquiry.mirrored)

    return await _complete(inquiry, nearest)


async def _complete(inquiry: Inquiry, arm: Callable[[int], Awaitable[Ranking]]) -> Ranking:
    """An arm at its size; what the question leaves out takes no place in it."""
    if inquiry.left_out is None:
        return await arm(inquiry.limits.arm)
    return await without(inquiry.left_out, arm, inquiry.limits.arm)


async def _lexical_arm(inquiry: Inquiry) -> tuple[Ranking, Statistics | None]:
    async def ranked() -> tuple[Ranking, Statistics]:
        # Also of the terms that stems take the place of: the second stage looks at them.
        statistics = await archive_statistics(
            inquiry.database, inquiry.groups, inquiry.mirrored, inquiry.k1, inquiry.b
        )
        ranking = await _by_words(inquiry, statistics, record)
        return ranking, statistics

    with inquiry.trace.stage("lexical_arm") as record:
        ranking, statistics = await _unless_broken(ranked(), record)
        if statistics is None:
            _log.warning("the lexical arm is down: %s", record["empty_because"])
            inquiry.notices.append(
                "Searched by meaning alone: the lexical arm is down, so names, numbers and "
                f"rare words may be missed. {record['empty_because']}"
            )
        elif inquiry.only == ():
            record["empty_because"] = "no chunk holds the phrase"
        elif not inquiry.groups:
            record["empty_because"] = "the question has no word but function words"
        elif not ranking:
            record["empty_because"] = "no term of the question occurs in the archive"
        record["ranking"] = ranking_record(ranking)
    return ranking, statistics


async def _by_words(inquiry: Inquiry, statistics: Statistics, record: dict[str, Any]) -> Ranking:
    database, groups, documents = inquiry.database, inquiry.groups, inquiry.limits.documents
    kind = inquiry.preset.lexical_arm

    async def words(size: int) -> Ranking:
        if inquiry.only is not None:
            return await words_of(database, inquiry.only, groups, statistics, size)
        if kind == "stems":
            ranking, record["stems"] = await stem_arm(
                database, inquiry.query.meant, inquiry.languages, size, documents
            )
            return ranking
        passages = await lexical_arm(
            database,
            groups,
            statistics,
            size,
            kind=inquiry.preset.lexical_score,
            documents=documents,
            mirrored=inquiry.mirrored,
        )
        if kind == "terms":
            return passages
        whole = await document_arm(database, groups, statistics, size, documents)
        record["passages"] = ranking_record(passages)
        record["documents"] = ranking_record(whole)
        return fused_ranking(passages, whole, size)

    return await _complete(inquiry, words)


async def _unless_broken(
    work: Awaitable[tuple[Ranking, Statistics]], record: dict[str, Any]
) -> tuple[Ranking, Statistics | None]:
    """The result of an arm, or nothing and the reason if the store refuses its statements.

    A store that cannot be reached at all is no matter of one arm, and is raised.
    """
    try:
        return await work
    except StoreUnavailable:
        raise
    except StoreError as error:
        record["empty_because"] = str(error)
        return [], None


# Gather and fusion


async def gather_stage(inquiry: Inquiry, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Facts of each candidate, and the scores of both arms for it."""
    with inquiry.trace.stage("gather"):
        return await gather(
            inquiry.database,
            candidates,
            inquiry.groups,
            inquiry.statistics,
            None if inquiry.meaning is None else inquiry.meaning.vector,
            # Where stems are counted, terms are here for the second stage alone.
            "bm25" if inquiry.preset.lexical_arm == "stems" else inquiry.preset.lexical_score,
            inquiry.mirrored,
        )


FUSIONS: dict[Fusion, Fuse] = {
    "sum": fuse_by_score,
    "rrf": fuse_by_rank,
    "interleave": interleave,
}


async def fusion_stage(inquiry: Inquiry, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The pool: the arms joined as the preset says, by words alone without the embedder."""
    with inquiry.trace.stage("fusion") as record:
        by_words = inquiry.meaning is None
        fuse = FUSIONS["sum" if by_words else inquiry.preset.fusion]
        pool = fuse(candidates, inquiry.limits.pool)
        record["name"] = "words" if by_words else inquiry.preset.fusion
        record["candidates"] = [candidate_record(item) for item in candidates]
        record["pool"] = [item.chunk for item in pool]
    return pool


async def documents_stage(inquiry: Inquiry, pool: Sequence[Candidate]) -> list[Candidate]:
    """The evidence of the whole document, for each candidate of the pool."""
    with inquiry.trace.stage("documents"):
        if inquiry.statistics is None:
            return list(pool)
        return await score_documents(
            inquiry.database, pool, inquiry.groups, inquiry.mirrored, inquiry.k1, inquiry.b
        )


async def details_stage(inquiry: Inquiry, pool: Sequence[Candidate]) -> list[Candidate]:
    """What the second stage looks at, for the pool alone: sentences and words."""
    with inquiry.trace.stage("details"):
        return await look_closely(
            inquiry.database,
            pool,
            None if inquiry.meaning is None else inquiry.meaning.vector,
            inquiry.embedder.identity.dimension,
        )


# Second stage

Scorer = Callable[[Inquiry, Sequence[Candidate]], Awaitable[list[Candidate]]]
"""Scores a pool, best first."""


async def by_evidence(inquiry: Inquiry, pool: Sequence[Candidate]) -> list[Candidate]:
    """Late interaction and the gate (``emily.retrieval.second_stage``)."""
    assert inquiry.meaning is not None
    assert inquiry.affinity is not None
    query = inquiry.query
    if inquiry.statistics is None:
        # Without its arm no figure can be looked for, so none counts as missing.
        query = replace(query, figures=())
    ranked = second_stage(
        pool, query, inquiry.meaning, inquiry.affinity, load_gate(), inquiry.languages
    )
    if inquiry.preset.second_stage != "evidence":
        return ranked  # where this stands in for what another preset describes
    with inquiry.trace.stage("other_language") as record:
        ranked, record["lifted"] = lift_other_language(ranked, query.language)
    return ranked


async def by_words(_: Inquiry, pool: Sequence[Candidate]) -> list[Candidate]:
    """BM25 alone: what is left without the embedder."""
    return order_by_words(pool)


async def by_signals(inquiry: Inquiry, pool: Sequence[Candidate]) -> list[Candidate]:
    """The order of the fusion, and two signals of absence; no probability.

    The share of the question's words that the best passage covers, and its similarity, are
    recorded and told of: a preset without a threshold says how well it did in this way.
    """
    judged = await by_evidence(inquiry, pool)
    inquiry.signals = signals = signals_of(judged)
    if pool:
        inquiry.notices.append(
            f"The best passage covers {signals['coverage']:.0%} of the question's words; "
            f"the best similarity is {signals['similarity']:.2f}."
        )
    kept = {item.chunk: replace(item, probability=None, order=item.fused) for item in judged}
    return [kept[item.chunk] for item in pool]


def signals_of(judged: Sequence[Candidate]) -> dict[str, float]:
    """How well the best passage covers the question, and how similar the nearest is."""
    found = [item.evidence for item in judged if item.evidence is not None]
    return {
        "coverage": max((item.coverage for item in found), default=0.0),
        "similarity": max((max(item.part, item.sentence) for item in found), default=0.0),
    }


SECOND_STAGES: dict[SecondStageName, Scorer] = {
    "evidence": by_evidence,
    # Late interaction stands in where no cross-encoder is configured, and that is said.
    "cross_encoder": by_evidence,
    "signals": by_signals,
}


_EVIDENCE: dict[SecondStageName, SecondStageName] = {"cross_encoder": "evidence"}


def second_stage_of(name: SecondStageName) -> Stage:
    """The stage of that name; without the embedder the words alone order the pool."""
    scorer = SECOND_STAGES[name]

    async def run(inquiry: Inquiry, pool: Sequence[Candidate]) -> list[Candidate]:
        with inquiry.trace.stage("second_stage") as record:
            down = inquiry.meaning is None or inquiry.affinity is None
            # The cross-encoder is a stage of its own, which names itself.
            record["name"] = "words" if down else _EVIDENCE.get(name, name)
            ranked = await (by_words if down else scorer)(inquiry, pool)
            if inquiry.signals is not None:
                record["signals"] = inquiry.signals
            record["candidates"] = [candidate_record(item) for item in ranked]
        return ranked

    return run


async def evidence_stage(inquiry: Inquiry, passages: Sequence[Candidate]) -> list[Candidate]:
    """What speaks for passages that no arm brought; without the embedder, their words."""
    if inquiry.meaning is None or inquiry.affinity is None:
        return order_by_words(passages)
    query = inquiry.query
    if inquiry.statistics is None:
        query = replace(query, figures=())
    judged = second_stage(
        passages,
        query,
        inquiry.meaning,
        inquiry.affinity,
        load_gate(),
        inquiry.languages,
    )
    if inquiry.preset.second_stage != "signals":
        return judged
    return [replace(item, probability=None) for item in judged]


async def reranking_stage(inquiry: Inquiry, ranked: Sequence[Candidate]) -> list[Candidate]:
    """The order and the probabilities of a cross-encoder, where one is set and can be used."""
    if inquiry.reranking is None:
        return list(ranked)
    return await inquiry.reranking.stage(inquiry, ranked)


# Threshold and selection


async def threshold_stage(inquiry: Inquiry, ranked: Sequence[Candidate]) -> list[Candidate]:
    """Those that are probable enough; inside one document the bar is relative."""
    with inquiry.trace.stage("threshold") as record:
        asked = inquiry.limits.threshold
        inquiry.bar = inquiry.preset.threshold if asked is None else asked
        if inquiry.inside:
            inquiry.bar = relative_threshold(ranked, inquiry.limits.share)
        passed = above_threshold(ranked, inquiry.bar)
        record |= {"threshold": inquiry.bar, "passed": [item.chunk for item in passed]}
    return passed


async def select_best(inquiry: Inquiry, passed: Sequence[Candidate]) -> list[Candidate]:
    """The first so many, whichever documents they are of."""
    with inquiry.trace.stage("selection") as record:
        wanted = inquiry.limits.results
        if inquiry.limits.asked is None:
            # What comes up for its links takes no other passage's place.
            near = passed[: wanted + inquiry.places]
            wanted += sum(item.linked is not None for item in near)
        chosen = best(passed, wanted)
        record["chosen"] = [item.chunk for item in chosen]
    return chosen


async def select_documents_first(inquiry: Inquiry, passed: Sequence[Candidate]) -> list[Candidate]:
    """Each document's best passage in order, then the next ones; the first so many."""
    with inquiry.trace.stage("selection") as record:
        chosen = best(documents_first(passed), inquiry.limits.results)
        record["chosen"] = [item.chunk for item in chosen]
    return chosen


SELECTIONS: dict[SelectionName, Stage] = {
    "best": select_best,
    "documents_first": select_documents_first,
}
