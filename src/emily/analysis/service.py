"""The room's service: analyses documents, tells how analysis stands, keeps the categories."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from emily.analysis.abstractive import Lengths, Writer
from emily.analysis.categories import Categories, Category, categories_digest
from emily.analysis.describing import DescribedDocument, described, facts_line
from emily.analysis.extractive import extract
from emily.analysis.grouping import CHARACTERS_PER_TOKEN, RESERVED_TOKENS, group_characters
from emily.analysis.likeness import Likeness
from emily.analysis.record import Analysis, Method, NewAnalysis, Records
from emily.analysis.sentences import Sentence, document_sentences
from emily.errors import AnswerError, ModelError, ModelUnavailable, UnknownDocument, VectorError
from emily.indexing.discretion import is_private
from emily.indexing.language import LanguageDetector
from emily.models import ChatModel, Embedder
from emily.models.servers import confidential
from emily.reading.pages import Correspondent
from emily.settings import Settings
from emily.store import Database

__all__ = ["AnalysisCounts", "AnalysisOutcome", "AnalysisService", "Waiting"]

ANALYSIS_VERSION = 1
"""Raised by hand when summaries, descriptions or categories are made by other rules."""

Step = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class AnalysisCounts:
    """How far analysis is.

    Attributes:
        documents: all of them.
        analysed: those with a summary of their present text.
        stale: of these, those of other settings.
        failed: those whose last attempt failed.
    """

    documents: int
    analysed: int
    stale: int
    failed: int

    def as_json(self) -> dict[str, int]:
        """What ``emily status`` shows."""
        return {"analysed": self.analysed, "stale": self.stale, "failed": self.failed}

    def problems(self) -> list[str]:
        """What is not as it should be, in sentences."""
        found = []
        if self.stale:
            verb = "document was" if self.stale == 1 else "documents were"
            found.append(
                f"{self.stale} {verb} analysed with other settings or categories. Bring them up "
                "to date with: emily analyse"
            )
        if self.failed:
            noun = "document" if self.failed == 1 else "documents"
            found.append(
                f"The analysis of {self.failed} {noun} failed. emily get DOC says why, and emily "
                "analyse tries again."
            )
        return found


@dataclass(frozen=True, slots=True)
class Waiting:
    """A document that waits for analysis: its id, its name, the digest of its text."""

    document: int
    name: str
    text_sha256: bytes


@dataclass(frozen=True, slots=True)
class AnalysisOutcome:
    """What became of one document in a run over several.

    Attributes:
        analysis: as it stands now.
        error: why it is not whole; ``None`` where all went well.
    """

    analysis: Analysis
    error: str | None


class AnalysisService:
    """Analysis of one archive: ``brain.analysis``."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        embedder: Embedder,
        detector: LanguageDetector,
        chat: ChatModel | None,
    ) -> None:
        """Join the parts; nothing is loaded or asked yet.

        Args:
            settings: of this home folder.
            database: an open store.
            embedder: of the index.
            detector: of the indexed languages.
            chat: writes summaries; ``None`` takes sentences of the documents themselves.
        """
        self._settings = settings
        self._database = database
        self._embedder = embedder
        self._detector = detector
        self._chat = chat
        self._records = Records(database)
        self.categories = Categories(database)

    @property
    def method(self) -> Method:
        """How documents are summarised with these settings."""
        return "extractive" if self._chat is None else "model"

    async def fingerprint(self) -> str:
        """What an analysis depends on beside the text, by summary, description and categories."""
        return self._fingerprint(await self.categories.all())

    def _fingerprint(self, categories: Sequence[Category]) -> str:
        chosen = self._settings
        model = str(self._embedder.identity) if self._chat is None else self._chat.model
        summary = (
            f"{ANALYSIS_VERSION};{self.method};{model};{chosen.chat_context};"
            f"{CHARACTERS_PER_TOKEN};{RESERVED_TOKENS};"
            f"{chosen.summary_group_words};{chosen.summary_words}"
        )
        least = 0 if self._chat is None else chosen.description_characters
        bar = chosen.category_bar if self._chat is None else 0
        return "|".join(
            (
                summary,
                f"{chosen.description_tokens};{least}",
                f"{categories_digest(categories)};{bar:g}" if categories else "none",
            )
        )

    async def of(self, document: int) -> Analysis:
        """How a document's analysis stands; with no summary where there is none yet.

        Raises:
            UnknownDocument: it is not there (any more).
        """
        return await self._records.of(document, await self.fingerprint())

    async def counts(self) -> AnalysisCounts:
        """How far analysis is."""
        values = {"fingerprint": await self.fingerprint()}
        row = await self._database.fetch_one("analysis_counts", values)
        assert row is not None
        return AnalysisCounts(**row)

    async def told_of(self, documents: Sequence[int]) -> list[str]:
        """What is to be said of these documents when they are shown, in sentences."""
        values = {"documents": list(documents), "fingerprint": await self.fingerprint()}
        row = await self._database.fetch_one("stale_analyses", values)
        if row is None or not row["documents"]:
            return []
        which = f"{row['documents']} of {len(documents)} documents shown here were"
        if len(documents) == 1:
            which = "The document shown here was"
        return [
            f"{which} described and classified with other settings or categories. Bring that "
            "up to date with: emily analyse"
        ]

    async def waiting(self) -> list[Waiting]:
        """The documents whose analysis is missing, stale or not whole, oldest first."""
        values = {"fingerprint": await self.fingerprint()}
        rows = await self._database.fetch("documents_to_analyse", values)
        return [Waiting(row["document"], row["name"], bytes(row["text_sha256"])) for row in rows]

    async def analyse(self, document: int, *, step: Step | None = None) -> Analysis:
        """Summarise, describe and classify one document, and keep what came of it.

        A part whose settings have not changed since is kept as it is. Where the summary fails
        nothing is saved but the failure; where description or categories fail the summary is,
        and the failure beside it.

        Args:
            document: its id.
            step: told what is done, how much of it, of how much.

        Returns:
            the analysis; that of before where the text changed meanwhile, which is stale then.

        Raises:
            UnknownDocument: it is not there (any more).
            AnswerError: the chat model's answers are of no use; asking again would not help.
            ModelError: a model is away or took too long; it may be tried again.
            StoreUnavailable: the database is lost.
        """
        categories = await self.categories.all()
        fingerprint = self._fingerprint(categories)
        row = await self._database.fetch_one("analysis_source", {"document_id": document})
        if row is None:
            raise UnknownDocument(f"Document {document} is not there. emily list shows all.")
        before = await self._records.of(document, fingerprint)
        tell = step or _untold
        try:
            work = _Work(self, row, before, fingerprint, categories, tell)
            with confidential(await is_private(self._database, document)):
                if self._chat is None:
                    made, failure = await work.extracted(), None
                else:
                    made, failure = await work.written(self._chat)
            await self._records.write(document, bytes(row["text_sha256"]), made)
            if failure is not None:
                raise failure
        except ModelError as error:
            transient = not isinstance(error, AnswerError)
            await self._records.fail(document, str(error), fingerprint, transient=transient)
            raise
        return await self._records.of(document, fingerprint)

    async def analyse_all(
        self,
        documents: Sequence[int] | None = None,
        *,
        progress: Callable[[str, int, int], None] | None = None,
        stop: int = 3,
    ) -> list[AnalysisOutcome]:
        """Analyse documents one after the other; one that fails stops no other.

        Args:
            documents: their ids; ``None`` for all whose analysis is missing, stale or not whole.
            progress: told what is done, how many are, of how many.
            stop: after so many in a row for which the model is away, it gives up.

        Raises:
            ModelUnavailable: the model was away for ``stop`` documents in a row.
            StoreUnavailable: the database is lost; what was finished stays.
        """
        tell = progress or _untold
        waiting = documents is None
        chosen = (
            [item.document for item in await self.waiting()] if waiting else list(documents or ())
        )
        outcomes: list[AnalysisOutcome] = []
        away = 0
        for place, document in enumerate(chosen):
            tell("analysed", place, len(chosen))
            error: str | None = None
            try:
                await self.analyse(document)
                away = 0
            except UnknownDocument:
                continue  # it was removed meanwhile
            except ModelError as failure:
                error = str(failure)
                away = away + 1 if isinstance(failure, ModelUnavailable) else 0
                if away >= stop and away == len(outcomes) + 1:
                    raise
            outcomes.append(AnalysisOutcome(await self.of(document), error))
            if away >= stop:
                break
        tell("analysed", len(chosen), len(chosen))
        return outcomes


class _Work:
    """One document on its way from text to analysis."""

    def __init__(
        self,
        service: AnalysisService,
        row: dict[str, Any],
        before: Analysis,
        fingerprint: str,
        categories: Sequence[Category],
        step: Step,
    ) -> None:
        self._settings = service._settings
        self._database = service._database
        self._embedder = service._embedder
        self._detector = service._detector
        self._row = row
        self._before = before
        self._fingerprint = fingerprint
        self._categories = categories
        self._step = step
        self._document = DescribedDocument(
            name=row["name"],
            kind=row["kind"],
            title=row["title"],
            text=row["text"],
            language=row["language"],
            author=row["author"],
            # Properties are often those of a later copy or of the program: no fact to begin with.
            date=None if row["date_source"] == "metadata" else row["dated"],
            correspondents=tuple(Correspondent(*person) for person in row["correspondents"]),
        )

    async def extracted(self) -> NewAnalysis:
        """By sentences of the document itself."""
        row, chosen = self._row, self._settings
        everything = await document_sentences(
            self._database, row["id"], row["text"], row["dimension"], self._embedder
        )
        return await asyncio.to_thread(self._extracted, everything, chosen)

    def _extracted(self, everything: Sequence[Sentence], chosen: Settings) -> NewAnalysis:
        row = self._row
        found = extract(
            everything,
            row["text"],
            language=row["language"],
            size=group_characters(chosen.chat_context),
            group_words=chosen.summary_group_words,
            words=chosen.summary_words,
        )
        description = described(
            self._document,
            found.sentences,
            everything,
            self._embedder.count,
            chosen.description_tokens,
        )
        return NewAnalysis(
            method="extractive",
            model=str(row["model"]),
            language=row["language"],
            summary=found.text,
            spans=found.spans,
            description=description or None,
            categories=self._alike(description),
            fingerprint=self._fingerprint,
            calls=0,
        )

    def _alike(self, description: str) -> list[tuple[int, float | None, str]]:
        """Categories by likeness; none where the embedder fails on what is compared."""
        likeness = Likeness(self._embedder, self._categories)
        try:
            matches = likeness.matches(description, self._settings.category_bar)
        except VectorError:
            return []
        return [(match.category.id, match.probability, match.reason) for match in matches]

    async def written(self, model: ChatModel) -> tuple[NewAnalysis, ModelError | None]:
        """By a chat model, and what description or categories failed with.

        Parts whose settings have not changed are kept.
        """
        row, chosen, before = self._row, self._settings, self._before
        writer = Writer(
            model,
            self._detector,
            row["language"],
            Lengths(
                chosen.summary_group_words,
                chosen.summary_words,
                chosen.description_tokens,
                chosen.description_characters,
            ),
            confidence=chosen.language_confidence,
            step=lambda done, total: self._step("summary", done, total),
        )
        old = (before.fingerprint or "||").split("|")
        new = self._fingerprint.split("|")
        if before.summary is not None and old[0] == new[0]:
            summary = before.summary
        else:
            summary, old = await writer.summary(row["text"]), ["", "", ""]
        description, categories = before.description, self._kept()
        failure: ModelError | None = None
        try:
            if description is None or old[1] != new[1]:
                description = None
                facts = await asyncio.to_thread(facts_line, self._document)
                description = await writer.description(summary, facts)
            if old[2] != new[2] or before.failure is not None:
                categories = []
                listed = [(item.name, item.description, item.examples) for item in self._categories]
                ids = {item.name: item.id for item in self._categories}
                categories = [
                    (ids[item.name], None, item.reason)
                    for item in await writer.categories(summary, listed)
                ]
        except ModelError as error:
            failure = error
        made = NewAnalysis(
            method="model",
            model=model.name,
            language=row["language"],
            summary=summary,
            spans=(),
            description=description,
            categories=categories,
            fingerprint=self._fingerprint,
            calls=writer.calls,
            failure=None if failure is None else str(failure),
        )
        return made, failure

    def _kept(self) -> list[tuple[int, float | None, str]]:
        ids = {item.name: item.id for item in self._categories}
        return [
            (ids[item.name], item.probability, item.reason)
            for item in self._before.categories
            if item.name in ids
        ]


def _untold(what: str, done: int, total: int) -> None:
    """Progress that nobody asked for."""
