"""The read path: a question goes through named stages and becomes an answer.

index, filters, query, embed, vocabulary, neighbours; then the stages that the preset names
(``emily.retrieval.stages``): arms, gather, fusion, second_stage, threshold, selection; then
passages and rendering. Each is timed and recorded in the trace.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace

from emily.errors import InputError, ModelError, ModelMismatch
from emily.indexing.language import LanguageDetector
from emily.models.protocols import Embedder
from emily.retrieval.answer import Answer
from emily.retrieval.candidate import Candidate
from emily.retrieval.filters import Filters
from emily.retrieval.inquiry import NO_FILTERS, Inquiry, Limits
from emily.retrieval.notices import extent
from emily.retrieval.passages import cut_passages
from emily.retrieval.presets import Preset, preset_of
from emily.retrieval.query import expand, parse, understand
from emily.retrieval.rendering import render
from emily.retrieval.stages import ranking_stages, showing_stages
from emily.retrieval.trace import Trace, terms_record
from emily.retrieval.vocabulary import Vocabulary, affinity
from emily.settings import Settings
from emily.store import Database

__all__ = ["Retriever"]

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
    ) -> None:
        """Bind to a database and a model.

        Args:
            database: the store.
            embedder: of questions; it must be the one that the index was made with.
            languages: tells the language of a question.
            settings: the preset, and what the owner set beside it.
            fingerprint: of the settings that the index should have been made with.
        """
        self._database = database
        self._embedder = embedder
        self._settings = settings
        self._fingerprint = fingerprint
        self._languages = languages
        self._vocabulary = Vocabulary(database, embedder.words_identity)

    async def search(
        self,
        text: str,
        limit: int | None = None,
        threshold: float | None = None,
        filters: Filters = NO_FILTERS,
        preset: str | None = None,
    ) -> Answer:
        """Search the whole archive, or the part of it that the filters leave.

        Args:
            text: the question.
            limit: chunks chosen before grouping; the preset's by default.
            threshold: least probability of a passage; the preset's by default.
            filters: which documents to look in.
            preset: what the search does; the setting ``preset`` by default.

        Raises:
            InputError: the question is empty, the limit or threshold is out of bounds, or there
                is no such preset.
            ModelMismatch: the index holds vectors of another model.
            StoreUnavailable: the database cannot be reached.
        """
        chosen = preset_of(self._settings, preset)
        wanted = _limit(limit, chosen)
        if threshold is not None and not 0.0 <= threshold <= 1.0:
            raise InputError(f"The threshold is {threshold}; it must be from 0 to 1.")
        limits = Limits(
            arm=max(chosen.arm_size, wanted),
            pool=max(chosen.pool_size, wanted),
            results=wanted,
            asked=limit,
            threshold=threshold,
            filters=filters,
        )
        return await self._answer(text, chosen, limits)

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
        limits = Limits(
            size, size, _limit(limit, chosen), limit, document=document, documents=(document,)
        )
        return await self._answer(text, chosen, limits)

    async def _answer(self, text: str, preset: Preset, limits: Limits) -> Answer:
        if not text.strip():
            raise InputError("The question is empty. Ask with some words of what you look for.")
        trace, notices = Trace(), []
        with trace.stage("preset") as record:
            record |= preset.as_json()
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
        inquiry = Inquiry(
            self._database,
            self._embedder,
            self._settings.languages,
            preset,
            limits,
            query,
            trace,
            notices,
            groups=query.groups,
        )
        if not any(character.isalnum() for character in query.text):
            notices.append("The question holds no word and no number, so nothing was looked for.")
            return await self._finish(inquiry, [])
        await self._understand(inquiry, revision)
        ranked: list[Candidate] = []
        for stage in ranking_stages(preset):
            ranked = await stage(inquiry, ranked)
        if not documents:
            notices.append("The archive is empty. Add files with: emily add PATH")
        return await self._finish(inquiry, ranked)

    async def _filtered(self, limits: Limits, trace: Trace, notices: list[str]) -> Limits:
        """The limits with the documents that the filters leave; what has no date is told of."""
        with trace.stage("filters") as record:
            rows = await self._database.fetch("matching_documents", limits.filters.parameters)
            undated = sum(not row["has_date"] for row in rows) if limits.filters.dated else 0
            found = tuple(
                row["id"]
                for row in rows
                if (row["has_date"] or not limits.filters.dated)
                and row["id"] not in limits.filters.without
            )
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

    async def _understand(self, inquiry: Inquiry, revision: int) -> None:
        """Vectors of the question and neighbours of its words; none if the embedder is down."""
        query, trace = inquiry.query, inquiry.trace
        with trace.stage("embed") as record:
            try:
                inquiry.meaning = await asyncio.to_thread(understand, query, self._embedder)
            except ModelError as error:
                record["down"] = str(error)
                _log.warning("the embedder is down, searched by words alone: %s", error)
                inquiry.notices.append(
                    "Searched by words alone: ordered by BM25, without a probability and "
                    f"without other languages, because the embedder is down: {error}"
                )
        if inquiry.meaning is not None:
            vectors = inquiry.meaning.word_vectors
            with trace.stage("vocabulary") as record:
                words = await self._vocabulary.at(revision)
                record["words"] = len(words.ids)
                found = await asyncio.to_thread(affinity, words, query.words, vectors)
                inquiry.affinity = found
        with trace.stage("neighbours") as record:
            if inquiry.affinity is not None and inquiry.preset.neighbours:
                inquiry.groups = expand(query, inquiry.affinity)
            record["terms"] = terms_record(inquiry.groups)

    async def _finish(self, inquiry: Inquiry, ranked: Sequence[Candidate]) -> Answer:
        """Choose among the ranked candidates, cut their passages and render them."""
        limits, trace, notices = inquiry.limits, inquiry.trace, inquiry.notices
        passing, selecting = showing_stages(inquiry.preset)
        passed = await passing(inquiry, ranked)
        chosen = await selecting(inquiry, passed)
        with trace.stage("passages") as record:
            cut = await cut_passages(
                self._database, chosen, inquiry.preset.widen, one_document=inquiry.inside
            )
            record["left_out"] = cut.left_out
        results = cut.results
        if limits.documents != ():  # else nothing was looked in, and that is said
            notices += extent(ranked, passed, chosen, limits.asked, inquiry.bar, cut)
        with trace.stage("rendering"):
            text = render(results, notices)
        return Answer(
            inquiry.query.text, results, tuple(notices), trace.timings_ms, trace.as_json(), text
        )


def _limit(limit: int | None, preset: Preset) -> int:
    wanted = preset.result_limit if limit is None else limit
    if not 1 <= wanted <= 100:
        raise InputError(f"The limit is {wanted}; it must be from 1 to 100.")
    return wanted
