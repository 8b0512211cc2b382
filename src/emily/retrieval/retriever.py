"""The read path: a question goes through named stages and becomes an answer.

query, embed, neighbours, vector_arm and lexical_arm, gather, fusion, second_stage, threshold,
selection, passages, rendering. Each is timed and recorded in the trace.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, replace

from emily.errors import InputError, ModelError, ModelMismatch, StoreError, StoreUnavailable
from emily.indexing.language import LanguageDetector
from emily.models.protocols import Embedder
from emily.retrieval.answer import Answer
from emily.retrieval.arms import Ranking, archive_statistics, lexical_arm, vector_arm
from emily.retrieval.bm25 import Statistics, TermGroup
from emily.retrieval.candidate import Candidate
from emily.retrieval.filters import Filters
from emily.retrieval.fusion import fuse_by_rank, fuse_by_score, merge_arms
from emily.retrieval.gate import load_gate
from emily.retrieval.gathering import gather
from emily.retrieval.notices import extent
from emily.retrieval.passages import cut_passages
from emily.retrieval.query import Meaning, Query, expand, parse, understand
from emily.retrieval.rendering import render
from emily.retrieval.second_stage import order_by_words, second_stage
from emily.retrieval.selection import above_threshold, best, relative_threshold
from emily.retrieval.trace import Trace, candidate_record, ranking_record, terms_record
from emily.retrieval.vocabulary import Affinity, Vocabulary, affinity
from emily.settings import Settings
from emily.store import Database

__all__ = ["Retriever"]

NO_FILTERS = Filters()

_log = logging.getLogger("emily.retrieval")


@dataclass(frozen=True, slots=True)
class _Limits:
    """How many candidates each stage lets through, and inside which document."""

    arm: int
    pool: int
    results: int
    asked: int | None = None
    threshold: float | None = None
    document: int | None = None
    filters: Filters = NO_FILTERS
    documents: tuple[int, ...] | None = None


class Retriever:
    """Answers questions from the index of one database."""

    def __init__(
        self,
        database: Database,
        embedder: Embedder,
        languages: LanguageDetector,
        settings: Settings,
        fingerprint: str,
    ) -> None:
        """Bind to a database and a model.

        Args:
            database: the store.
            embedder: of questions; it must be the one that the index was made with.
            languages: tells the language of a question.
            settings: sizes, threshold and names of the stages.
            fingerprint: of the settings that the index should have been made with.
        """
        self._database = database
        self._embedder = embedder
        self._settings = settings
        self._fingerprint = fingerprint
        self._languages = languages
        self._vocabulary = Vocabulary(database, embedder.identity)

    async def search(
        self,
        text: str,
        limit: int | None = None,
        threshold: float | None = None,
        filters: Filters = NO_FILTERS,
    ) -> Answer:
        """Search the whole archive, or the part of it that the filters leave.

        Args:
            text: the question.
            limit: chunks chosen before grouping; the setting ``result_limit`` by default.
            threshold: least probability of a passage; the setting by default.
            filters: which documents to look in.

        Raises:
            InputError: the question is empty, or the limit or threshold is out of bounds.
            ModelMismatch: the index holds vectors of another model.
            StoreUnavailable: the database cannot be reached.
        """
        chosen = self._settings
        wanted = self._limit(limit)
        if threshold is not None and not 0.0 <= threshold <= 1.0:
            raise InputError(f"The threshold is {threshold}; it must be from 0 to 1.")
        limits = _Limits(
            arm=max(chosen.arm_size, wanted),
            pool=max(chosen.pool_size, wanted),
            results=wanted,
            asked=limit,
            threshold=threshold,
            filters=filters,
        )
        return await self._answer(text, limits)

    async def ask(self, document: int, text: str, limit: int | None = None) -> Answer:
        """Put a question to one document; the same stages inside it, a relative threshold.

        Args:
            document: its id.
            text: the question.
            limit: as in ``search``.

        Raises:
            InputError, ModelMismatch, StoreUnavailable: as in ``search``.
        """
        size = self._settings.ask_pool_size
        return await self._answer(
            text,
            _Limits(
                size, size, self._limit(limit), limit, document=document, documents=(document,)
            ),
        )

    def _limit(self, limit: int | None) -> int:
        wanted = self._settings.result_limit if limit is None else limit
        if not 1 <= wanted <= 100:
            raise InputError(f"The limit is {wanted}; it must be from 1 to 100.")
        return wanted

    async def _answer(self, text: str, limits: _Limits) -> Answer:
        if not text.strip():
            raise InputError("The question is empty. Ask with some words of what you look for.")
        trace, notices = Trace(), []
        documents, stale, revision = await self._check_index(trace)
        if stale:
            notices.append(
                f"{stale} of {documents} documents were indexed with other settings. "
                "Bring them up to date with: emily reindex"
            )
        if limits.filters.active:
            limits = await self._filtered(limits, trace, notices)
        with trace.stage("query") as record:
            language, _ = self._languages.detect(text)
            query = parse(text, self._settings.languages, language)
            record |= {"text": query.text, "language": language, "words": list(query.words)}
        if not any(character.isalnum() for character in query.text):
            notices.append("The question holds no word and no number, so nothing was looked for.")
            return await self._finish(query, [], limits, trace, notices)
        meaning, found = await self._understand(query, revision, trace, notices)
        with trace.stage("neighbours") as record:
            groups = query.groups
            if found is not None and self._settings.neighbours:
                groups = expand(query, found)
            record["terms"] = terms_record(groups)
        candidates, statistics = await self._arms(groups, meaning, limits, trace, notices)
        with trace.stage("gather"):
            candidates = await gather(
                self._database,
                candidates,
                groups,
                statistics,
                None if meaning is None else meaning.vector,
                self._embedder.identity.dimension,
                self._settings.lexical_score,
            )
        pool = self._fuse(candidates, limits, trace, by_words=meaning is None)
        with trace.stage("second_stage") as record:
            if meaning is None or found is None:
                ranked = order_by_words(pool)
            else:
                # Without its arm no figure can be looked for, so none counts as missing.
                asked = query if statistics is not None else replace(query, figures=())
                ranked = second_stage(
                    pool, asked, meaning, found, load_gate(), self._settings.languages
                )
            record["candidates"] = [candidate_record(item) for item in ranked]
        if not documents:
            notices.append("The archive is empty. Add files with: emily add PATH")
        return await self._finish(query, ranked, limits, trace, notices)

    async def _filtered(self, limits: _Limits, trace: Trace, notices: list[str]) -> _Limits:
        """The limits with the documents that the filters leave; what has no date is told of."""
        with trace.stage("filters") as record:
            rows = await self._database.fetch("matching_documents", limits.filters.parameters)
            undated = sum(not row["has_date"] for row in rows) if limits.filters.dated else 0
            found = tuple(row["id"] for row in rows if row["has_date"] or not limits.filters.dated)
            record |= {**limits.filters.as_json(), "documents": len(found), "undated": undated}
        if undated:
            what = (
                "document has no known date and is"
                if undated == 1
                else ("documents have no known date and are")
            )
            notices.append(f"{undated:,} {what} left out by --from and --to.")
        if not found:
            notices.append(
                "No document meets the filters, so nothing was looked in: "
                + ", ".join(
                    f"--{name} {', '.join(value) if isinstance(value, list) else value}"
                    for name, value in limits.filters.as_json().items()
                )
                + ". emily list shows date, type, language and path of each."
            )
        return replace(limits, documents=found)

    async def _check_index(self, trace: Trace) -> tuple[int, int, int]:
        """Documents, stale documents and revision; refuses an index of another model."""
        model = self._embedder.identity
        with trace.stage("index") as record:
            row = await self._database.fetch_one(
                "search_facts",
                {
                    "fingerprint": self._fingerprint,
                    **model.parameters,
                },
            )
            assert row is not None
            record |= {"documents": row["documents"], "stale": row["stale"], "model": str(model)}
        if row["other_models"]:
            raise ModelMismatch(
                f"The index holds vectors of {row['other_models']}, and the embedder is now "
                f"{model.name}/{model.profile}. Two models cannot be compared. "
                "Embed the archive again with: emily reindex"
            )
        return row["documents"], row["stale"], row["revision"]

    async def _understand(
        self, query: Query, revision: int, trace: Trace, notices: list[str]
    ) -> tuple[Meaning | None, Affinity | None]:
        """The question's vectors and its words' neighbours; nothing if the embedder is down."""
        with trace.stage("embed") as record:
            try:
                meaning = await asyncio.to_thread(understand, query, self._embedder)
            except ModelError as error:
                record["down"] = str(error)
                _log.warning("the embedder is down, searched by words alone: %s", error)
                notices.append(
                    "Searched by words alone: ordered by BM25, without a probability and "
                    f"without other languages, because the embedder is down: {error}"
                )
                return None, None
        with trace.stage("vocabulary") as record:
            words = await self._vocabulary.at(revision)
            record["words"] = len(words.ids)
            found = await asyncio.to_thread(affinity, words, query.words, meaning.word_vectors)
        return meaning, found

    async def _arms(
        self,
        groups: Sequence[TermGroup],
        meaning: Meaning | None,
        limits: _Limits,
        trace: Trace,
        notices: list[str],
    ) -> tuple[list[Candidate], Statistics | None]:
        """Both arms at once; ``None`` instead of statistics if the lexical arm is down."""
        by_meaning, (by_words, statistics) = await asyncio.gather(
            self._vector_arm(meaning, limits, trace),
            self._lexical_arm(groups, limits, trace, notices),
        )
        if statistics is None and meaning is None:
            raise StoreError(
                "Neither arm of the search works: the embedder is down and so is the lexical "
                "arm. emily doctor says what is wrong."
            )
        with trace.stage("arms") as record:
            candidates = merge_arms(by_meaning, by_words)
            record["candidates"] = len(candidates)
        return candidates, statistics

    async def _vector_arm(self, meaning: Meaning | None, limits: _Limits, trace: Trace) -> Ranking:
        with trace.stage("vector_arm") as record:
            if meaning is None:
                ranking: Ranking = []
                record["empty_because"] = "the embedder is down"
            else:
                ranking = await vector_arm(
                    self._database, meaning.vector, limits.arm, limits.documents
                )
                if not ranking:
                    record["empty_because"] = "no chunk has a vector"
            record["ranking"] = ranking_record(ranking)
        return ranking

    async def _lexical_arm(
        self, groups: Sequence[TermGroup], limits: _Limits, trace: Trace, notices: list[str]
    ) -> tuple[Ranking, Statistics | None]:
        async def ranked() -> tuple[Ranking, Statistics]:
            statistics = await archive_statistics(self._database, groups)
            ranking = await lexical_arm(
                self._database,
                groups,
                statistics,
                limits.arm,
                kind=self._settings.lexical_score,
                documents=limits.documents,
            )
            return ranking, statistics

        with trace.stage("lexical_arm") as record:
            ranking, statistics = await _unless_broken(ranked(), record)
            if statistics is None:
                _log.warning("the lexical arm is down: %s", record["empty_because"])
                notices.append(
                    "Searched by meaning alone: the lexical arm is down, so names, numbers and "
                    f"rare words may be missed. {record['empty_because']}"
                )
            elif not groups:
                record["empty_because"] = "the question has no word but function words"
            elif not ranking:
                record["empty_because"] = "no term of the question occurs in the archive"
            record["ranking"] = ranking_record(ranking)
        return ranking, statistics

    def _fuse(
        self, candidates: Sequence[Candidate], limits: _Limits, trace: Trace, *, by_words: bool
    ) -> list[Candidate]:
        with trace.stage("fusion") as record:
            name = "words" if by_words else self._settings.fusion
            fuse = fuse_by_rank if name == "rrf" else fuse_by_score
            pool = fuse(candidates, limits.pool)
            record["name"] = name
            record["candidates"] = [candidate_record(item) for item in candidates]
            record["pool"] = [item.chunk for item in pool]
        return pool

    async def _finish(
        self,
        query: Query,
        ranked: Sequence[Candidate],
        limits: _Limits,
        trace: Trace,
        notices: list[str],
    ) -> Answer:
        inside = limits.document is not None
        with trace.stage("threshold") as record:
            bar = self._settings.threshold if limits.threshold is None else limits.threshold
            if inside:
                bar = relative_threshold(ranked)
            passed = above_threshold(ranked, bar)
            record |= {"threshold": bar, "passed": [item.chunk for item in passed]}
        with trace.stage("selection") as record:
            chosen = best(passed, limits.results)
            record["chosen"] = [item.chunk for item in chosen]
        with trace.stage("passages") as record:
            cut = await cut_passages(
                self._database, chosen, self._settings.widen, one_document=inside
            )
            record["left_out"] = cut.left_out
        results = cut.results
        if limits.documents != ():  # else nothing was looked in, and that is said
            notices += extent(ranked, passed, chosen, limits.asked, bar, cut)
        with trace.stage("rendering"):
            text = render(results, notices)
        return Answer(query.text, results, tuple(notices), trace.timings_ms, trace.as_json(), text)


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
