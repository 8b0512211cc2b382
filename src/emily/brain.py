"""The brain: the one door to the archive, for the command line and for programs.

from emily import Brain

async with Brain.open() as brain:
    await brain.add(["~/Documents"])
    answer = await brain.search("quanto costa disdire il contratto?")
    for result in answer.results:
        print(result.document.name, result.passages[0].pages)
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from emily.errors import InputError, StoreError
from emily.indexing.adding import add_found, add_version
from emily.indexing.archive import Archive
from emily.indexing.catalogue import Catalogue, DocumentDetail, DocumentInfo
from emily.indexing.discretion import DiscreetIntake
from emily.indexing.facts import document_facts
from emily.indexing.intake import Intake
from emily.indexing.language import LanguageDetector
from emily.indexing.originals import Originals
from emily.indexing.prepare import Preparer
from emily.indexing.reindexing import reindex_stale
from emily.indexing.report import AddReport, FileOutcome, Progress, ReindexReport, RemoveReport
from emily.indexing.services import ReadingServices
from emily.indexing.text import DocumentText
from emily.measure.checks import Check, StandingChecks
from emily.measure.health import (
    Status,
    examine,
    examine_chat,
    examine_without_database,
    take_stock,
)
from emily.measure.pins import Pin, Pins
from emily.measure.query_log import QueryKind, QueryLog, entry_of
from emily.measure.watch import Watch
from emily.models import Embedder, Reranker, VisionModel
from emily.models.rerankers import reranker_of
from emily.parts import (
    make_chat,
    make_embedder,
    make_reader,
    make_vision,
    reading_engine,
    warm_up,
    warm_up_reranker,
)
from emily.reading.walk import refuse_empty, walk
from emily.retrieval.answer import Answer
from emily.retrieval.filters import Filters, parse_filters
from emily.retrieval.presets import preset_of, presets
from emily.retrieval.reranking import Reranking
from emily.retrieval.retriever import Retriever
from emily.settings import Settings, load_settings, private_folder
from emily.store import Database
from emily.store.alerts import Alerts
from emily.store.registry import SettingRegistry

if TYPE_CHECKING:
    from emily.analysis.service import AnalysisService
    from emily.assistant import Assistant
    from emily.indexing.embedders import EmbedderInfo, ModelChange
    from emily.life import Life
    from emily.life.mending import Mending
    from emily.measure.embedder_trial import EmbedderTrial
    from emily.measure.explanation import Explanation
    from emily.measure.memory import MemoryReport
    from emily.measure.questions import Question, Unanswerable
    from emily.measure.replay import Replay
    from emily.measure.trial import Archive as TrialArchive
    from emily.measure.trial import Trial
    from emily.memory import Memories
    from emily.reading.pages import Reading
    from emily.reading.reader import Reader
    from emily.vault.vaults import Vaults
    from emily.work import Work

__all__ = [
    "AddReport",
    "Answer",
    "Brain",
    "Check",
    "DocumentDetail",
    "DocumentInfo",
    "FileOutcome",
    "Filters",
    "Pin",
    "Progress",
    "ReindexReport",
    "RemoveReport",
    "Status",
    "parse_filters",
    "presets",
]

EMBEDDER_ALERT = "embedder"

_log = logging.getLogger("emily.brain")


class Brain:
    """An open archive. Use ``Brain.open``; all methods are coroutines."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        embedder: Embedder,
        languages: LanguageDetector,
        reader: Reader | None = None,
        vision: VisionModel | None = None,
        reranker: Reranker | None = None,
    ) -> None:
        """Join the rooms; ``Brain.open`` makes the parts.

        Args:
            settings: of this home folder.
            database: an open store.
            embedder: of documents and questions.
            languages: tells the language of documents, chunks and questions.
            reader: of files; without one it is made when the first file is added.
            vision: reads what OCR cannot, if there is one.
            reranker: orders candidates anew, if there is one.
        """
        self.settings = settings
        self._database = database
        self._embedder = embedder
        self._reader = reader
        self._vision = vision
        self._languages = languages
        self._preparer = Preparer(embedder, languages, settings)
        self._originals = Originals(settings.home / "originals")
        self._archive = self._archive_by(settings, self._preparer)
        self._catalogue = Catalogue(database)
        self.alerts = Alerts(database)
        self._reranker = reranker
        self._reranking = Reranking(reranker, self.alerts, settings.reranker_candidates)
        self._retriever = Retriever(
            database,
            embedder,
            languages,
            settings,
            self._preparer.fingerprint,
            self._reranking,
            self._told_of_analysis,
        )
        self.queries = QueryLog(database, settings)
        checks = StandingChecks(database, settings, embedder.identity, self._preparer.fingerprint)
        self._watch = Watch(self.queries, self.alerts, checks.run)
        self.pins = Pins(database, lambda question: self.search(question, log=False), self.alerts)
        self._embedder_down: str | None = ""  # why; empty until a question has told
        self._answered = False  # a question; the first one waits for models to load

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        settings: Settings | None = None,
        *,
        home: Path | str | None = None,
        embedder: Embedder | None = None,
        reranker: Reranker | None = None,
        warm: bool = False,
    ) -> AsyncIterator[Self]:
        """Open the archive of a home folder, made if it is new.

        Args:
            settings: all settings; ``None`` loads those of ``home``.
            home: the folder; ``None`` takes ``EMILY_HOME`` or the platform's data folder.
            embedder: another embedder than the one that is set.
            reranker: another cross-encoder than the one that is set.
            warm: load the models meanwhile; else they load at their first use.

        Raises:
            SettingError: a setting is wrong.
            StoreError: the database cannot be started, reached or used.
        """
        chosen = settings or load_settings(home)
        private_folder(chosen.home)
        model = embedder or make_embedder(chosen)
        languages = LanguageDetector(chosen.languages, chosen.home / "cache")
        warming = asyncio.to_thread(warm_up, model, languages) if warm else None
        async with AsyncExitStack() as stack:
            if warming is not None:
                # Beside the database's start; awaited at the end, for threads cannot be stopped.
                stack.push_async_callback(asyncio.wait, [asyncio.create_task(warming)])
            database = await stack.enter_async_context(Database.open(chosen))
            chosen = await SettingRegistry(database, chosen).in_force()
            if chosen.languages != languages.languages:
                languages = LanguageDetector(chosen.languages, chosen.home / "cache")
            judge = reranker or reranker_of(chosen)
            if judge is not None:
                stack.callback(judge.close)
                if warm:
                    stack.callback(asyncio.create_task(warm_up_reranker(judge)).cancel)
            brain = cls(chosen, database, model, languages, reranker=judge)
            await stack.enter_async_context(brain.assistant.telling_of_servers())
            stack.push_async_callback(brain._close)
            yield brain

    @staticmethod
    async def diagnose(settings: Settings, error: StoreError) -> Sequence[Check]:
        """``doctor`` where the database does not open: that error, and the other parts."""
        reader = make_reader(settings)
        try:
            return await examine_without_database(
                settings,
                make_embedder(settings),
                reader,
                make_vision(settings),
                error,
                reranker_of(settings),
            )
        finally:
            await reader.close()

    @staticmethod
    async def inspect(settings: Settings, path: Path, passwords: Sequence[str] = ()) -> Reading:
        """Read a file as ``add`` would, without adding it; needs no database.

        The files inside of it are named, and not kept.

        Raises:
            ReadingError: it cannot be read; the message says why.
        """
        reader = make_reader(settings)
        try:
            reading = await reader.read(
                path,
                passwords=passwords,
                services=ReadingServices(make_vision(settings)),
                sees=settings.vision != "none",
            )
            reader.release(reading)
            text = DocumentText.from_reading(reading).text
            languages = LanguageDetector(settings.languages, settings.home / "cache")
            language = languages.document_language(text, settings.language_confidence)
            spoken = languages.dates_language(text, language)
            return replace(reading, facts=document_facts(reading.facts, text, spoken, path.name))
        finally:
            await reader.close()

    async def add(
        self,
        paths: Sequence[Path | str],
        *,
        passwords: Sequence[str] = (),
        progress: Callable[[Progress], None] | None = None,
    ) -> AddReport:
        """Add files and folders. A file that fails stops no other.

        What lies inside of a file (attachments, members of an archive, messages of a mailbox)
        becomes documents of its own, which point back to it.

        Args:
            paths: files, or folders that are searched whole.
            passwords: tried on files that are encrypted; never stored.
            progress: called when a file is begun and when it is finished.

        Raises:
            InputError: a path is empty.
            ModelUnavailable: the embedder cannot be loaded.
            StoreUnavailable: the database is lost; what was finished stays.
        """
        refuse_empty(paths)
        outcomes = await self._take_in(paths, passwords, progress or (lambda _: None))
        await self.work.queue.record(outcomes)
        changed = any(outcome.outcome in ("added", "replaced") for outcome in outcomes)
        return AddReport(tuple(outcomes), await self.pins.notices() if changed else ())

    @cached_property
    def vaults(self) -> Vaults:
        """Folders of Markdown whose files stay the truth."""
        from emily.vault.keeping import WordsOnly
        from emily.vault.syncing import Attachments
        from emily.vault.vaults import Vaults

        model = self._embedder
        return Vaults(
            self.settings,
            self._database,
            model,
            self._preparer,
            Preparer(
                WordsOnly(model.identity, model.words_identity), self._languages, self.settings
            ),
            self._originals,
            Attachments(self._files, lambda: ReadingServices(self._sight(), self._archive)),
            reading_engine(self.settings),
        )

    @cached_property
    def work(self) -> Work:
        """The queue of files and documents, and the worker that does what waits in it."""
        from emily.analysis.phase import AnalysisPhase
        from emily.work import Work

        return Work(
            self._database,
            self.settings,
            self.alerts,
            lambda path: self._take_in([path], (), lambda _: None),
            phases=(AnalysisPhase(self.analysis), self.mending),
            settled=self.pins.notices,
            trash=lambda document: self.life.trash(document),
            tidy=self._originals.sweep,
        )

    @cached_property
    def life(self) -> Life:
        """Notes, names, versions and the trash of documents."""
        from emily.life import Life

        return Life(
            self.settings,
            self._database,
            self._archive,
            self._preparer,
            self._catalogue,
            self._originals,
            lambda path, into, standing: add_version(path, self._intake(), into, standing),
            self.vaults.refuse_document,
        )

    @cached_property
    def mending(self) -> Mending:
        """Stale documents that a worker indexes anew."""
        from emily.life.mending import Mending

        return Mending(self._database, self.settings, self._by)

    def _by(self, settings: Settings) -> tuple[Preparer, Archive]:
        """What indexes by other settings than those that this brain was opened with."""
        languages = self._languages
        if settings.languages != languages.languages:
            languages = LanguageDetector(settings.languages, settings.home / "cache")
        preparer = Preparer(self._embedder, languages, settings)
        return preparer, self._archive_by(settings, preparer)

    def _archive_by(self, settings: Settings, preparer: Preparer) -> Archive:
        return Archive(
            self._database,
            self._embedder.identity,
            preparer.fingerprint,
            self._embedder.embed_words,
            reading_engine(settings),
            self._embedder.words_identity,
            settings.versions_kept,
        )

    def _intake(self, passwords: Sequence[str] = ()) -> Intake:
        return DiscreetIntake(
            self._database,
            self._files(),
            self._preparer,
            self._archive,
            self._originals,
            ReadingServices(self._sight(), self._archive),
            passwords,
        )

    async def _take_in(
        self,
        paths: Sequence[Path | str],
        passwords: Sequence[str],
        progress: Callable[[Progress], None],
    ) -> Sequence[FileOutcome]:
        """Add files and folders, and say what came of each."""
        found = await asyncio.to_thread(lambda: tuple(walk(paths, self.settings.home)))
        found = self.vaults.left_to_vaults(found)
        return await add_found(found, self._intake(passwords), progress)

    async def search(
        self,
        query: str | Sequence[str],
        *,
        limit: int | None = None,
        threshold: float | None = None,
        filters: Filters | None = None,
        preset: str | None = None,
        budget: int | None = None,
        operators: bool = True,
        log: bool = True,
    ) -> Answer:
        """Search the whole archive, or a part of it.

        Args:
            query: a question or some words, in any language; or several wordings and
                translations of one, which are asked at once and joined.
            limit: most chunks to choose, before they are grouped by document.
            threshold: least probability of a passage, 0 to 1, instead of the setting's.
            filters: which documents to look in, see ``parse_filters``.
            preset: what the search does, see ``presets``; the setting ``preset`` by default.
            budget: most tokens of all passages together: first each document's best passage in
                order, then the next ones.
            operators: whether "words in quotation marks" must stand in a passage as they are and
                a -word must not; otherwise all is words.
            log: whether it is a question of the owner's, for the query log; a measurement's is
                not.

        Raises:
            InputError: a question is empty, the limit or budget out of bounds, there is no such
                preset, or the index does not serve it.
            ModelMismatch: the index was made by another model.
            StoreUnavailable: the database cannot be reached.
        """
        started = time.perf_counter()
        vaults = await self.vaults.refresh()
        answer = await self._retriever.search(
            query,
            limit,
            threshold,
            filters or Filters(),
            preset,
            budget=budget,
            operators=operators,
            told=vaults.notices,
        )
        if log:
            await self._heed_embedder(answer)
            also = [] if isinstance(query, str) else list(query)[1:]
            options = {"limit": limit, "threshold": threshold, "budget": budget, "also": also}
            if not operators:
                options["operators"] = False
            self._note(answer, "search", started, options=options, filters=filters)
        return answer

    async def ask(self, document: str | int, question: str, *, limit: int | None = None) -> Answer:
        """Put a question to one document, given by id, exact name or path.

        Never returns a document whole: at most 20,000 characters, and at most half of one that
        is longer than a passage.

        Raises:
            UnknownDocument, AmbiguousDocument: it is not one document.
            InputError, ModelMismatch, StoreUnavailable: as in ``search``.
        """
        started = time.perf_counter()
        await self.vaults.refresh()
        identity = await self._catalogue.resolve(document)
        answer = await self._retriever.ask(identity, question, limit)
        await self._heed_embedder(answer)
        self._note(answer, "ask", started, document=identity, options={"limit": limit})
        return answer

    async def evaluate(
        self,
        answerable: Sequence[Question],
        unanswerable: Sequence[Unanswerable] = (),
        *,
        presets: Sequence[str | None] = (None,),
        name: str = "questions",
        progress: Callable[[str, int, int], None] | None = None,
    ) -> Sequence[Trial]:
        """Ask questions whose answers are known, once with each preset; it only reads.

        Args:
            answerable: questions with the document that answers them.
            unanswerable: questions that no document answers.
            presets: names of presets; ``None`` for the one that is set.
            name: what the questions are called.
            progress: told what is done, how much of it, of how much.

        Raises:
            InputError: a question names what is not one document, or there is no such preset.
            ModelMismatch, StoreUnavailable: as in ``search``.
        """
        from emily.measure import trial

        return await trial.run_archive(
            self._laid_open(),
            answerable,
            unanswerable,
            presets,
            name=name,
            step=progress or _untold,
        )

    async def replay(
        self,
        *,
        preset: str | None = None,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> Replay:
        """Ask the questions of the query log again, and see how searches behave; it only reads.

        Args:
            preset: to ask with; the setting ``preset`` by default.
            progress: told what is done, how much of it, of how much.

        Raises:
            InputError: the log is empty, or there is no such preset.
            ModelMismatch, StoreUnavailable: as in ``search``.
        """
        from emily.measure.replay import replay

        chosen = preset_of(self.settings, preset).name
        logged = await self.queries.recent()
        if not logged:
            raise InputError(
                "The log holds no question of yours yet. It fills as you search, unless the "
                "setting query_log is off; emily queries shows it."
            )
        tell = progress or _untold
        return await replay(
            self._laid_open().retriever,
            logged,
            chosen,
            lambda done, total: tell("asked again", done, total),
        )

    @staticmethod
    async def evaluate_set(
        settings: Settings,
        folder: Path,
        *,
        presets: Sequence[str | None] = (None,),
        judgements: Path | None = None,
        cross_only: bool = False,
        titles: bool = True,
        only: Mapping[str, str] | None = None,
        documents: int | None = None,
        questions: int | None = None,
        embedder: Embedder | None = None,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> Sequence[Trial]:
        """Measure on a public set, in a throw-away archive; the owner's is not opened.

        Args:
            settings: of the home whose settings and cache are used.
            folder: of the set: ``corpus.jsonl``, ``queries.jsonl``, ``qrels.tsv``.
            presets: names of presets; ``None`` for the one that is set.
            judgements: another file than ``qrels.tsv``.
            cross_only: ask each question without the documents in its own language.
            titles: name the documents by their titles, which may be the questions themselves.
            only: fields of the questions to ask, such as ``{"split": "dev"}``.
            documents: most documents.
            questions: most questions.
            embedder: another embedder than the one that is set.
            progress: told what is done, how much of it, of how much.

        Raises:
            InputError: the set is malformed, or there is no such preset.
            StoreError: no database can be made.
        """
        from emily.measure import trial

        judge = reranker_of(settings)
        try:
            return await trial.run_set(
                settings,
                embedder or make_embedder(settings),
                folder,
                presets,
                judgements=judgements,
                cross_only=cross_only,
                titles=titles,
                only=only,
                documents=documents,
                questions=questions,
                reranker=judge,
                step=progress or _untold,
            )
        finally:
            if judge is not None:
                judge.close()

    async def list(self) -> Sequence[DocumentInfo]:
        """Every document, oldest first."""
        return await self._catalogue.documents()

    async def show(self, document: str | int) -> DocumentDetail:
        """One document with its pages, given by id, exact name or path.

        Raises:
            UnknownDocument, AmbiguousDocument: it is not one document.
        """
        return await self._catalogue.detail(await self._catalogue.resolve(document))

    async def remove(self, document: str | int) -> RemoveReport:
        """Forget a document whole: text, vectors, words, and Emily's copy of the file.

        The owner's own file stays where it is.

        Raises:
            UnknownDocument, AmbiguousDocument: it is not one document.
        """
        identity = await self._catalogue.resolve(document)
        await self.vaults.refuse_document(identity)
        detail = await self._catalogue.detail(identity)
        for digest in await self._archive.remove(identity):
            await asyncio.to_thread(self._originals.forget, digest)
        return RemoveReport(detail.info, await self.pins.notices())

    async def reindex(self, *, progress: Callable[[Progress], None] | None = None) -> ReindexReport:
        """Index again, from the stored text, every document of another model or settings."""
        done = await reindex_stale(
            self._database, self._preparer, self._archive, progress or (lambda _: None)
        )
        done += await self.vaults.reindex()
        return ReindexReport(done, await self.pins.notices() if done else ())

    async def _told_of_analysis(self, documents: Sequence[int]) -> Sequence[str]:
        return await self.analysis.told_of(documents)

    @cached_property
    def analysis(self) -> AnalysisService:
        """Summaries, descriptions and categories."""
        from emily.analysis.service import AnalysisService

        return AnalysisService(
            self.settings, self._database, self._embedder, self._languages, make_chat(self.settings)
        )

    @cached_property
    def assistant(self) -> Assistant:
        """What models are shown of the archive: conversations, tools, ledger, private places."""
        from emily.assistant import Assistant

        return Assistant(self._database, self.settings, self.search, self._retriever, self.memory)

    @cached_property
    def memory(self) -> Memories:
        """What is remembered of the owner: facts, their history, proposals that wait."""
        from emily.memory import Memories

        return Memories(
            self.settings, self._database, self._embedder, self._languages, make_chat(self.settings)
        )

    async def why(
        self,
        question: str,
        document: str | int,
        *,
        quote: str | None = None,
        filters: Filters | None = None,
        preset: str | None = None,
    ) -> Explanation:
        """Why a search finds a document or does not, stage by stage; it only reads.

        Args:
            question: what is asked.
            document: that is expected, by id, exact name or path; it need not be there.
            quote: words of the document that the answer should show.
            filters: as in ``search``.
            preset: as in ``search``.

        Raises:
            AmbiguousDocument: several documents go by that name.
            InputError, StoreUnavailable: as in ``search``.
        """
        from emily.measure.why import Why

        explainer = Why(
            self._database,
            self._catalogue,
            self._retriever,
            self.settings,
            self._embedder.identity,
            self._preparer.fingerprint,
        )
        return await explainer.explain(
            question, document, quote=quote, filters=filters, preset=preset
        )

    async def models(self) -> Sequence[EmbedderInfo]:
        """The embedders that there are, and which documents are of which."""
        from emily.indexing.embedders import list_embedders

        return await list_embedders(self.settings, self._database, self._embedder)

    async def use_model(
        self,
        model: str,
        *,
        url: str | None = None,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> ModelChange:
        """Embed the archive with another model, which stays searchable, then switch to it.

        Can be interrupted at any moment and goes on where it ended. Afterwards the settings name
        the new model, and the archive is to be opened anew: this brain has the old one.

        Args:
            model: ``bundled``, ``BACKEND/MODEL``, a model of the backend that is set, or a folder.
            url: address of its server.
            progress: told the document at hand, how many are done, of how many.

        Raises:
            InputError: ``model`` names no embedder.
            ModelError: it cannot be used; nothing has changed.
            SettingError: the file of settings cannot be changed; the message has the lines.
        """
        from emily.indexing.embedders import change_embedder

        return await change_embedder(
            self.settings,
            self._database,
            self._languages,
            model,
            url=url,
            step=progress or _untold,
        )

    async def try_model(
        self,
        model: str,
        *,
        url: str | None = None,
        answerable: Sequence[Question] = (),
        unanswerable: Sequence[Unanswerable] = (),
        queries: int = 50,
        sample: int = 200,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> EmbedderTrial:
        """Compare another embedder with the present one on a sample; changes nothing.

        Args:
            model: as in ``use_model``.
            url: address of its server.
            answerable: questions with the document that answers them.
            unanswerable: questions that no document answers.
            queries: how many of those that were really asked, the latest, are asked of both.
            sample: most documents that are embedded by both.
            progress: told what is done, how much of it, of how much.

        Raises:
            InputError: ``model`` names no embedder, or the archive is empty.
            ModelError: it cannot be used.
            StoreError: no database can be made beside the archive's.
        """
        from emily.indexing.embedders import examined, named_embedder
        from emily.measure.embedder_trial import try_embedder
        from emily.models.choosing import chosen_embedder

        choice, embedder = await named_embedder(self.settings, model, url)
        try:
            logged = await self.queries.recent(queries) if queries else ()
            return await try_embedder(
                self.settings,
                self._database,
                (str(chosen_embedder(self.settings)), self._embedder),
                (str(choice), embedder),
                await asyncio.to_thread(examined, embedder),
                answerable=answerable,
                unanswerable=unanswerable,
                queries=[item.text for item in logged if item.kind == "search"],
                sample=sample,
                step=progress or _untold,
            )
        finally:
            close = getattr(embedder, "close", None)
            if close is not None:
                await asyncio.to_thread(close)

    async def pin(self, question: str, document: str | int) -> Pin:
        """Pin a question to the document that it must find; it is asked at once.

        From then on it is asked after every change of the index, and by ``doctor``; an alert
        tells of a document that is lost. ``pins`` lists them.

        Raises:
            UnknownDocument, AmbiguousDocument: it is not one document.
            InputError: the question is empty, or pinned to this document already.
        """
        identity = await self._catalogue.resolve(document)
        info = (await self._catalogue.detail(identity)).info
        return await self.pins.add(question, identity, info.name, info.path)

    async def status(self) -> Status:
        """What the archive holds and whether all is well."""
        found = await take_stock(
            self.settings, self._database, self._embedder.identity, self._preparer.fingerprint
        )
        counts = await self.analysis.counts()
        return replace(
            found,
            analysis=counts.as_json(),
            memory=(await self.memory.counts()).as_json(),
            problems=(*found.problems, *counts.problems()),
        )

    async def memory_use(self) -> MemoryReport:
        """What every process that works for this home takes, against the owner's budget."""
        from emily.measure.memory import take_memory

        return await take_memory(self.settings)

    async def doctor(self) -> Sequence[Check]:
        """Check database, models, OCR, disk and versions; each with what mends it."""
        await self._reranking.clear()
        chat = await examine_chat(make_chat(self.settings))
        found = await examine(
            self.settings,
            self._database,
            self._embedder,
            self._files(),
            self._sight(),
            self._originals,
            self._preparer.fingerprint,
            self.pins.standing,
            self._reranker,
        )
        return [*found, chat, await self.memory_check()]

    async def memory_check(self) -> Check:
        """How memory stands; it is wrong where messages could not be looked through."""
        try:
            counts = await self.memory.counts()
        except StoreError as error:
            return Check("memory", False, str(error), "emily stop, then emily status")
        if counts.failed:
            told = f"{counts.failed} messages could not be looked through; {counts.told()}"
            return Check("memory", False, told, "emily memory")
        return Check("memory", True, counts.told())

    def _laid_open(self) -> TrialArchive:
        """The parts that a measurement asks; it has a retriever of its own."""
        from emily.measure import trial

        retriever = trial.measuring_retriever(
            self._database,
            self._embedder,
            self._languages,
            self.settings,
            self._preparer.fingerprint,
            self._reranker,
        )
        return trial.Archive(
            self.settings,
            self._database,
            self._embedder,
            self._catalogue,
            retriever,
            self._reranker,
        )

    def _files(self) -> Reader:
        """The reader of files; questions need none, so it is made when it is asked for."""
        if self._reader is None:
            self._reader = make_reader(self.settings)
        return self._reader

    def _sight(self) -> VisionModel | None:
        """The vision model; made when a file is added, for questions need none."""
        if self._vision is None and self.settings.vision != "none":
            self._vision = make_vision(self.settings)
        return self._vision

    async def settle(self) -> None:
        """Wait for what runs behind the answers: the query log, the standing checks."""
        await self._watch.settle()

    async def _heed_embedder(self, answer: Answer) -> None:
        """Have an alert tell that the embedder is down, until a question is answered with it."""
        if "embed" not in answer.trace:
            return
        down = answer.trace["embed"].get("down")
        if down == self._embedder_down:
            return
        try:
            if down is None:
                await self.alerts.resolve(EMBEDDER_ALERT)
            else:
                await self.alerts.raise_alert(
                    EMBEDDER_ALERT, "critical", f"Searches run by words alone: {down}"
                )
        except StoreError as error:  # the answer comes all the same
            _log.warning("the alert about the embedder could not be written: %s", error)
            return
        self._embedder_down = down

    def _note(self, answer: Answer, kind: QueryKind, started: float, **given: Any) -> None:
        """Have the query log keep a question; the answer does not wait for it."""
        milliseconds, warm = (time.perf_counter() - started) * 1000, self._answered
        self._answered = True
        if self.settings.query_log:
            self._watch.note(
                lambda: entry_of(answer, kind, milliseconds=milliseconds, warm=warm, **given)
            )

    async def _close(self) -> None:
        await self.settle()
        if self._reader is not None:
            await self._reader.close()
        close = getattr(self._embedder, "close", None)
        if close is not None:  # the connections of one that a server runs
            await asyncio.to_thread(close)


def _untold(what: str, done: int, total: int) -> None:
    """Progress that nobody asked for."""
