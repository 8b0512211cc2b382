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

from emily.errors import StoreError, StoreUnavailable
from emily.retrieval.arms import Ranking, archive_statistics, lexical_arm, vector_arm
from emily.retrieval.bm25 import Statistics
from emily.retrieval.candidate import Candidate
from emily.retrieval.fusion import Fuse, fuse_by_rank, fuse_by_score, merge_arms
from emily.retrieval.gate import load_gate
from emily.retrieval.gathering import gather
from emily.retrieval.inquiry import Inquiry, Stage
from emily.retrieval.presets import Preset, SecondStageName, SelectionName
from emily.retrieval.second_stage import order_by_words, second_stage
from emily.retrieval.selection import above_threshold, best, relative_threshold
from emily.retrieval.trace import candidate_record, ranking_record
from emily.settings import Fusion

__all__ = ["FUSIONS", "SECOND_STAGES", "SELECTIONS", "ranking_stages", "showing_stages"]

_log = logging.getLogger("emily.retrieval")


def ranking_stages(preset: Preset) -> tuple[Stage, ...]:
    """The stages that find and rank candidates, in the order they run."""
    return (arms_stage, gather_stage, fusion_stage, second_stage_of(preset.second_stage))


def showing_stages(preset: Preset) -> tuple[Stage, ...]:
    """The stages that decide which of the ranked candidates are shown."""
    return (threshold_stage, SELECTIONS[preset.selection])


# Arms


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
            ranking = await vector_arm(
                inquiry.database,
                inquiry.meaning.vector,
                inquiry.limits.arm,
                inquiry.limits.documents,
            )
            if not ranking:
                record["empty_because"] = "no chunk has a vector"
        record["ranking"] = ranking_record(ranking)
    return ranking


async def _lexical_arm(inquiry: Inquiry) -> tuple[Ranking, Statistics | None]:
    async def ranked() -> tuple[Ranking, Statistics]:
        statistics = await archive_statistics(inquiry.database, inquiry.groups)
        ranking = await lexical_arm(
            inquiry.database,
            inquiry.groups,
            statistics,
            inquiry.limits.arm,
            kind=inquiry.preset.lexical_score,
            documents=inquiry.limits.documents,
        )
        return ranking, statistics

    with inquiry.trace.stage("lexical_arm") as record:
        ranking, statistics = await _unless_broken(ranked(), record)
        if statistics is None:
            _log.warning("the lexical arm is down: %s", record["empty_because"])
            inquiry.notices.append(
                "Searched by meaning alone: the lexical arm is down, so names, numbers and "
                f"rare words may be missed. {record['empty_because']}"
            )
        elif not inquiry.groups:
            record["empty_because"] = "the question has no word but function words"
        elif not ranking:
            record["empty_because"] = "no term of the question occurs in the archive"
        record["ranking"] = ranking_record(ranking)
    return ranking, statistics


async def _unless_broken(
    work: Awaitable[tuple[Ranking, Statistics]], record: dict[str, object]
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
    """What the store holds of each candidate, and the scores of both arms for it."""
    with inquiry.trace.stage("gather"):
        return await gather(
            inquiry.database,
            candidates,
            inquiry.groups,
            inquiry.statistics,
            None if inquiry.meaning is None else inquiry.meaning.vector,
            inquiry.embedder.identity.dimension,
            inquiry.preset.lexical_score,
        )


FUSIONS: dict[Fusion, Fuse] = {"sum": fuse_by_score, "rrf": fuse_by_rank}


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
    return second_stage(
        pool, query, inquiry.meaning, inquiry.affinity, load_gate(), inquiry.languages
    )


async def by_words(_: Inquiry, pool: Sequence[Candidate]) -> list[Candidate]:
    """BM25 alone: what is left without the embedder."""
    return order_by_words(pool)


SECOND_STAGES: dict[SecondStageName, Scorer] = {"evidence": by_evidence}


def second_stage_of(name: SecondStageName) -> Stage:
    """The stage of that name; without the embedder the words alone order the pool."""
    scorer = SECOND_STAGES[name]

    async def run(inquiry: Inquiry, pool: Sequence[Candidate]) -> list[Candidate]:
        with inquiry.trace.stage("second_stage") as record:
            down = inquiry.meaning is None or inquiry.affinity is None
            record["name"] = "words" if down else name
            ranked = await (by_words if down else scorer)(inquiry, pool)
            record["candidates"] = [candidate_record(item) for item in ranked]
        return ranked

    return run


# Threshold and selection


async def threshold_stage(inquiry: Inquiry, ranked: Sequence[Candidate]) -> list[Candidate]:
    """Those that are probable enough; inside one document the bar is relative."""
    with inquiry.trace.stage("threshold") as record:
        asked = inquiry.limits.threshold
        inquiry.bar = inquiry.preset.threshold if asked is None else asked
        if inquiry.inside:
            inquiry.bar = relative_threshold(ranked)
        passed = above_threshold(ranked, inquiry.bar)
        record |= {"threshold": inquiry.bar, "passed": [item.chunk for item in passed]}
    return passed


async def select_best(inquiry: Inquiry, passed: Sequence[Candidate]) -> list[Candidate]:
    """The first so many, whichever documents they are of."""
    with inquiry.trace.stage("selection") as record:
        chosen = best(passed, inquiry.limits.results)
        record["chosen"] = [item.chunk for item in chosen]
    return chosen


SELECTIONS: dict[SelectionName, Stage] = {"best": select_best}
