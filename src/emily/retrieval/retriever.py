"""The read path: a question goes through named stages and becomes an answer.

index, filters, query, embed, vocabulary, neighbours; then the stages that the preset names
(``emily.retrieval.stages``): arms, gather, fusion, second_stage, threshold, selection; then
passages and rendering. Each is timed and recorded in the trace.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

from emily.errors import InputError, ModelError, StoreError
from emily.indexing.language import LanguageDetector
from emily.models.protocols import Embedder
from emily.retrieval.absence import load_absence, signs_of
from emily.retrieval.answer import Answer
from emily.retrieval.candidate import Candidate
from emily.retrieval.filters import Filters
from emily.retrieval.inquiry import NO_FILTERS, Inquiry, Limits
from emily.retrieval.link_graph import LinkGraphs
from emily.retrieval.mirror import Mirror
from emily.retrieval.narrowing import LeftOut
from emily.retrieval.notices import extent, narrowed
from emily.retrieval.passages import cut_passages
from emily.retrieval.precedents import Precedents, search_signs
from emily.retrieval.presets import Preset, preset_of
from emily.retrieval.query import Query, expand, parse
from emily.retrieval.readiness import Readiness
from emily.retrieval.rendering import render
from emily.retrieval.reranking import Reranking
from emily.retrieval.scope import filtered
from emily.retrieval.several import MOST_QUESTIONS, join, joined_records
from emily.retrieval.stages import ranking_stages, showing_stages
from emily.retrieval.trace import Trace, candidate_record, query_record, terms_record
from emily.retrieval.understanding import Understanding
from emily.retrieval.vias import with_links
from emily.retrieval.vocabulary import Vocabulary
from emily.settings import Settings
from emily.store import Database

__all__ = ["Retriever"]

MOST_BUDGET = 1_000_000
"""Tokens; more than any archive's pool holds."""

_log = logging.getLogger("emily.retrieval")


class Retriever:
    """Answers questions from the index of one database."""

    def __init__(
        self,
        database: Database,
        embedder: Embedder,
        languages: LanguageDetector,
        settings: Settings,
        fingerprint: str,
        reranking: Reranking | None = None,
        shown: Callable[[Sequence[int]], Awaitable[Sequence[str]]] | None = None,
    ) -> None:
        """Bind to a database and a model.

        Args:
            database: the store.
            embedder: of questions; it must be the one that the index was made with.
            languages: tells the language of a question.
            settings: the preset, and what the owner set beside it.
            fingerprint: of the settings that the index should have been made with.
            reranking: the cross-encoder's stage, where there is one.
            shown: what is to be said of the documents with these ids when they are shown.
        """
        self._reranking = reranking
        self._shown = shown
        self._database = database
        self._embedder = embedder
        self._settings = settings
        self._readiness = Readiness(database, embedder.identity, settings, fingerprint)
        self._languages = languages
        self._vocabulary = Vocabulary(database, embedder.words_identity)
        self._understanding = Understanding(embedder)
        self._links = LinkGraphs(database)
        self._precedents = Precedents(database)
        self._mirror = Mirror(
            database,
            embedder.identity.dimension,
            settings.search_memory_mb,
            settings.vector_index,
            settings.bm25_k1,
            settings.bm25_b,
        )

    def under(self, **values: Any) -> Retriever:
        """The same retriever under other settings, to see what they would change.

        It shares what is held in memory. The values are taken as they are, beyond the bounds of
        their settings too.
        """
        other = copy(self)
        other._settings = self._settings.model_copy(update=values)
        return other

    async def search(
        self,
        text: str | Sequence[str],
        limit: int | None = None,
        threshold: float | None = None,
        filters: Filters = NO_FILTERS,
        preset: str | None = None,
        *,
        budget: int | None = None,
        operators: bool = True,
        told: Sequence[str] = (),
    ) -> Answer:
        """Search the whole archive, or the part of it that the filters leave.

        Args:
            text: the question, or several wordings and translations of it.
            limit: chunks chosen before grouping; the preset's by default.
            threshold: least probability of a passage; the preset's by default.
            filters: which documents to look in.
            preset: what the search does; the setting ``preset`` by default.
            budget: most tokens of all passages; first each document's best passage in order,
                then the next ones. The preset's by default.
            operators: whether "phrases" and -words mean something, or all is words.
            told: sentences that the answer is to begin with.

        Raises:
            InputError: a question is empty, there are none or too many, the limit, threshold or
                budget is out of bounds, there is no such preset, or the index does not serve it.
            ModelMismatch: the index holds vectors of another model.
            StoreUnavailable: the database cannot be reached.
        """
        chosen = preset_of(self._settings, preset)
        if threshold is not None and not 0.0 <= threshold <= 1.0:
            raise InputError(f"The threshold is {threshold}; it must be from 0 to 1.")
        wanted = _limit(limit, chosen)
        if budget is not None:
            if not 1 <= budget <= MOST_BUDGET:
                raise InputError(
                    f"The budget is {budget} tokens; it must be from 1 to {MOST_BUDGET:,}."
                )
            chosen = replace(chosen, budget=budget)
            # The budget is the limit, unless there is a lower one.
            wanted = max(wanted, chosen.pool_size) if limit is None else wanted
        limits = Limits(
            arm=max(chosen.arm_size, wanted),
            pool=max(chosen.pool_size, wanted),
            results=wanted,
            asked=limit,
            threshold=threshold,
            filters=filters,
        )
        return await self._answer(_listed(text), chosen, limits, operators=operators, told=told)

    async def ask(self, document: int, text: str, limit: int | None = None) -> Answer:
        """Put a question to one document; the same stages inside it, a relative threshold.

        Args:
            document: its id.
            text: the question.
            limit: as in ``search``.

        Raises:
            InputError, ModelMismatch, StoreUnavailable: as in ``search``.
        """
        chosen = preset_of(self._settings)
        size = self._settings.ask_pool_size
        notes = await self._database.fetch("ids_of_notes", {"document_id": document})
        limits = Limits(
            size,
            size,
            _limit(limit, chosen),
            limit,
            document=document,
            documents=(document, *(row["id"] for row in notes)),
            share=self._settings.ask_threshold_share,
        )
        return await self._answer(_listed(text), chosen, limits)

    async def _answer(
        self,
        texts: Sequence[str],
        preset: Preset,
        limits: Limits,
        *,
        operators: bool = True,
        told: Sequence[str] = (),
    ) -> Answer:
        async with self._database.session():
            try:
                answer = await self._answered(texts, preset, limits, [*told], operators=operators)
            except (StoreError, ValueError):
                # Vectors of another length are the first that a switch of the model shows.
                await self._readiness.of_model()
                raise
            await self._readiness.of_model()
            return answer

    async def _answered(
        self,
        texts: Sequence[str],
        preset: Preset,
        limits: Limits,
        notices: list[str],
        *,
        operators: bool,
    ) -> Answer:
        trace = Trace()
        with trace.stage("preset") as record:
            record |= preset.as_json()
        documents, revision = await self._readiness.of_index(trace, notices)
        reranker = None if self._reranking is None else self._reranking.name
        await self._readiness.for_preset(preset, documents, reranker, notices)
        if limits.filters.active:
            limits = await filtered(self._database, limits, trace, notices)
        with trace.stage("query") as record:
            queries = [self._parsed(text, operators=operators) for text in texts]
            record |= query_record(queries[0])
            if len(queries) > 1:
                record["also"] = [query_record(query) for query in queries[1:]]
        inquiries = self._inquiries(queries, preset, limits, trace, notices)
        main = replace(inquiries[0], trace=trace, notices=notices)
        asked = " / ".join(query.text for query in queries)
        inquiries = [item for item in inquiries if item.query.asks]
        if not inquiries:
            notices.append(
                "The question only says what to leave out, so nothing was looked for."
                if main.query.operators.active
                else "The question holds no word and no number, so nothing was looked for."
            )
            return await self._finish(main, [], asked)
        with trace.stage("mirror") as record:
            mirrored = await self._mirror.at(revision)
            record["in_memory"] = mirrored is not None
        links = await self._links.now() if preset.links and self._settings.link_places else None
        for item in inquiries:
            item.mirrored = mirrored
            item.links = links
        await self._understand(inquiries, revision, trace, notices)
        ranked = await self._ranked(inquiries, trace, notices)
        if not documents:
            notices.append("The archive is empty. Add files with: emily add PATH")
        main.signals = next((item.signals for item in inquiries if item.signals), None)
        return await self._finish(main, ranked, asked)

    def _parsed(self, text: str, *, operators: bool) -> Query:
        language, _ = self._languages.detect(text)
        return parse(text, self._settings.languages, language, operators=operators)

    def _inquiries(
        self,
        queries: Sequence[Query],
        preset: Preset,
        limits: Limits,
        trace: Trace,
        notices: list[str],
    ) -> list[Inquiry]:
        """An inquiry a question; a single one writes into the answer's own trace.

        What one wording leaves out is left out of all.
        """
        left_out = [phrase for query in queries for phrase in query.operators.left_out]
        barred = LeftOut(self._database, left_out) if left_out else None
        alone = len(queries) == 1
        return [
            Inquiry(
                self._database,
                self._embedder,
                self._settings.languages,
                preset,
                limits,
                query,
                trace if alone else Trace(),
                notices if alone else [],
                groups=query.groups,
                left_out=barred,
                reranking=self._reranking,
                k1=self._settings.bm25_k1,
                b=self._settings.bm25_b,
                restart=self._settings.link_restart,
                damping=self._settings.link_damping,
                places=self._settings.link_places,
            )
            for query in queries
        ]

    async def _ranked(
        self, inquiries: Sequence[Inquiry], trace: Trace, notices: list[str]
    ) -> list[Candidate]:
        """Ranked candidates; several questions run at once and are joined."""
        if len(inquiries) == 1 and inquiries[0].trace is trace:
            return await _run(inquiries[0])
        with trace.stage("questions") as record:
            rankings = await asyncio.gather(*(_run(item) for item in inquiries))
            record["asked"] = [
                {"text": item.query.text, **item.trace.as_json()} for item in inquiries
            ]
        for name, joined in joined_records([item.trace.as_json() for item in inquiries]).items():
            with trace.stage(name) as record:
                record |= joined
        for item in inquiries:
            notices += [notice for notice in item.notices if notice not in notices]
        with trace.stage("second_stage") as record:
            best = join(rankings, max(item.limits.pool for item in inquiries))
            record["name"] = "mean of the questions"
            record["candidates"] = [candidate_record(item) for item in best]
        return best

    async def _understand(
        self, inquiries: Sequence[Inquiry], revision: int, trace: Trace, notices: list[str]
    ) -> None:
        """Vectors of the questions and neighbours of their words; none if the embedder is down."""
        queries = [item.query for item in inquiries]
        with trace.stage("vocabulary") as record:
            words = await self._vocabulary.at(revision)
            record["words"] = len(words.ids)
        with trace.stage("embed") as record:
            try:
                meanings = await asyncio.to_thread(self._understanding.of_all, queries, words)
            except ModelError as error:
                meanings = []
                record["down"] = str(error)
                _log.warning("the embedder is down, searched by words alone: %s", error)
                notices.append(
                    "Searched by words alone: ordered by BM25, without a probability and "
                    f"without other languages, because the embedder is down: {error}"
                )
        for item, meaning in zip(inquiries, meanings, strict=False):
            item.meaning = meaning
            with item.trace.stage("affinity"):
                item.affinity = await asyncio.to_thread(
                    self._vocabulary.affinity, words, item.query.words, meaning.word_vectors
                )
        for item in inquiries:
            with item.trace.stage("neighbours") as record:
                if item.affinity is not None and item.preset.neighbours:
                    item.groups = expand(item.query, item.affinity)
                record["terms"] = terms_record(item.groups)

    async def _finish(self, inquiry: Inquiry, ranked: Sequence[Candidate], asked: str) -> Answer:
        """Choose among the ranked candidates, cut their passages and render them."""
        limits, trace, notices = inquiry.limits, inquiry.trace, inquiry.notices
        present = _presence(inquiry, ranked)
        signs = search_signs(ranked, inquiry.groups)
        precedent = None
        if signs is not None and not inquiry.inside:
            with trace.stage("precedent") as record:
                precedent = await self._precedents.of(signs)
                record |= {name: round(value, 6) for name, value in signs.items()}
            if precedent is not None and precedent.says_absent:
                notices.append(
                    f"The answer may not be here: the best passage covers {signs['coverage']:.0%} "
                    f"of the question's words, the best similarity is {signs['similarity']:.2f}. "
                    f"{precedent.text}"
                )
        passing, selecting = showing_stages(inquiry.preset)
        passed = await passing(inquiry, ranked)
        chosen = await selecting(inquiry, passed)
        if limits.threshold and inquiry.signals is not None:
            notices.append(
                f"The preset {inquiry.preset.name} gives no probability, so that the threshold "
                "of this search leaves nothing out."
            )
        with trace.stage("passages") as record:
            cut = await cut_passages(
                self._database,
                chosen,
                inquiry.preset.widen,
                one_document=inquiry.inside,
                budget=inquiry.preset.budget,
                count=self._embedder.count,
                barred=() if inquiry.left_out is None else inquiry.left_out.phrases,
            )
            record["left_out"] = cut.left_out
        results = await with_links(self._database, cut.results, chosen)
        if limits.documents != ():  # else nothing was looked in, and that is said
            notices += extent(
                ranked, passed, chosen, limits.asked, inquiry.bar, cut, inquiry.preset.budget
            )
            if not results and "mirror" in trace.stages:  # else nothing was looked for
                left_out = inquiry.left_out
                notices += narrowed(
                    # A phrase of one wording does not bind the others.
                    inquiry.query.operators.phrases if asked == inquiry.query.text else (),
                    () if left_out is None else left_out.phrases,
                    0 if left_out is None else left_out.dropped,
                    ranked=bool(ranked),
                )
        unsupported = trace.stages.get("lexical_arm", {}).get("empty_because", "")
        if results and unsupported.startswith("no term"):
            notices.append(
                "No word of the question occurs in the archive: what is shown is near in meaning "
                "alone, without support in the words."
            )
        if results and self._shown is not None:
            notices += await self._shown([result.document.id for result in results])
        with trace.stage("rendering"):
            text = render(results, notices, by_path=inquiry.preset.by_path)
        return Answer(
            asked,
            results,
            tuple(notices),
            trace.timings_ms,
            trace.as_json(),
            text,
            present,
            signs,
            precedent,
        )


def _presence(inquiry: Inquiry, ranked: Sequence[Candidate]) -> float | None:
    """The signal of absence; none inside one document, or by another order than it knows."""
    if (
        inquiry.inside
        or inquiry.preset.second_stage != "evidence"
        or any(item.reranked for item in ranked)
    ):
        return None
    with inquiry.trace.stage("absence") as record:
        signs = signs_of(ranked)
        present = None if signs is None else load_absence().present(signs)
        record["present"] = None if present is None else round(present, 6)
        if signs is not None:
            record |= {
                "best_probability": round(signs.probability, 6),
                "margin": round(signs.margin, 6),
            }
    return present


async def _run(inquiry: Inquiry) -> list[Candidate]:
    """The stages that find and rank, one after the other."""
    ranked: list[Candidate] = []
    for stage in ranking_stages(inquiry.preset):
        ranked = await stage(inquiry, ranked)
    return ranked


def _listed(text: str | Sequence[str]) -> list[str]:
    """The questions, each once."""
    texts = [text] if isinstance(text, str) else list(dict.fromkeys(text))
    if not 1 <= len(texts) <= MOST_QUESTIONS:
        raise InputError(f"{len(texts)} questions are asked at once; 1 to {MOST_QUESTIONS} may be.")
    if not all(item.strip() for item in texts):
        raise InputError("The question is empty. Ask with some words of what you look for.")
    return texts


def _limit(limit: int | None, preset: Preset) -> int:
    wanted = preset.result_limit if limit is None else limit
    if not 1 <= wanted <= 100:
        raise InputError(f"The limit is {wanted}; it must be from 1 to 100.")
    return wanted
