"""A trial: the questions of a file or of a set, made ready for an archive and asked of it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from threadpoolctl import ThreadpoolController

from emily.errors import InputError
from emily.indexing.catalogue import Catalogue
from emily.indexing.language import LanguageDetector
from emily.measure.evaluation import Asked, Evaluation, Tools, evaluate
from emily.measure.questions import Question, Unanswerable
from emily.measure.sets import QuestionSet, SetQuestion, load_set, narrowed, sampled, untitled
from emily.measure.throwaway import Throwaway, open_throwaway
from emily.measure.vector_cache import CachedEmbedder, VectorCache
from emily.models import Embedder, Reranker
from emily.retrieval.answer import Answer
from emily.retrieval.filters import Filters
from emily.retrieval.precedents import Precedents
from emily.retrieval.presets import Preset, preset_of, stand_ins
from emily.retrieval.reranking import Reranking
from emily.retrieval.retriever import Retriever
from emily.settings import Settings
from emily.store import Database
from emily.store.alerts import Alert, AlertLevel, Alerts

__all__ = [
    "REMOVED",
    "Archive",
    "Step",
    "Subject",
    "Trial",
    "measuring_retriever",
    "run_archive",
    "run_set",
]

REMOVED = "removed"
"""Kind of a question that is asked of an index without the documents that answer it."""

_EXACT: dict[str, object] = {"vector_index": "exact"}

_BEHIND = 400  # characters behind a passage, to see whether it was cut

_NAMED = 20  # questions that a notice names

Step = Callable[[str, int, int], None]
"""Told of progress: what is done, how much of it, of how much."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What was measured.

    Attributes:
        kind: ``set``, or ``archive`` for the owner's own questions.
        name: of the set, or of the file of questions.
        documents: how many the archive holds.
        questions: how many with an answer were asked.
        absent: how many without one were asked.
        left_out: questions of the set that have no relevant document.
        without_text: documents of the set that hold no text and were not indexed.
        judgements: file of the judgements.
        cross_only: whether documents in the question's language were left out.
        titles: whether documents were named by their titles.
        only: fields of the questions that were asked; empty for all.
    """

    kind: str
    name: str
    documents: int
    questions: int
    absent: int
    left_out: int = 0
    without_text: int = 0
    judgements: str = ""
    cross_only: bool = False
    titles: bool = True
    only: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Archive:
    """The parts of the owner's archive that a trial asks.

    Attributes:
        settings: of its home.
        database: its store.
        embedder: of its questions.
        catalogue: of its documents.
        retriever: that answers, see ``measuring_retriever``.
        reranker: orders candidates anew, if there is one.
    """

    settings: Settings
    database: Database
    embedder: Embedder
    catalogue: Catalogue
    retriever: Retriever
    reranker: Reranker | None = None


class _QuietAlerts(Alerts):
    """Alerts of a measurement: none is kept and none resolved, for it only reads."""

    async def raise_alert(self, name: str, level: AlertLevel, text: str) -> Alert:
        """Leave it; what was down is told with the figures."""
        now = datetime.now(UTC)
        return Alert(name, level, text, now, now, 1, None, None)

    async def resolve(self, name: str) -> bool:  # noqa: ARG002 - the base class's signature
        """Leave it."""
        return False


def measuring_retriever(
    database: Database,
    embedder: Embedder,
    languages: LanguageDetector,
    settings: Settings,
    fingerprint: str,
    reranker: Reranker | None,
) -> Retriever:
    """A retriever that compares every vector and raises no alert; arguments as of ``Retriever``."""
    return Retriever(
        database,
        embedder,
        languages,
        settings.model_copy(update=_EXACT),
        fingerprint,
        Reranking(reranker, _QuietAlerts(database), settings.reranker_candidates),
    )


@dataclass(frozen=True, slots=True)
class Trial:
    """One run of the questions.

    Attributes:
        subject: what was measured.
        preset: that was measured, as the settings leave it.
        model: the embedder.
        names: of the documents, as the questions name them, by id.
        seconds: by step, by the clock.
        evaluation: what came of it.
        notices: what is to be known beside the figures: what stood in, what was down.
    """

    subject: Subject
    preset: Preset
    model: str
    names: Mapping[int, str]
    seconds: Mapping[str, float]
    evaluation: Evaluation = Evaluation(())  # noqa: RUF009 - frozen, and nothing yet
    notices: tuple[str, ...] = ()


async def run_set(
    owner: Settings,
    embedder: Embedder,
    folder: Path,
    presets: Sequence[str | None] = (None,),
    *,
    judgements: Path | None = None,
    cross_only: bool = False,
    titles: bool = True,
    only: Mapping[str, str] | None = None,
    documents: int | None = None,
    questions: int | None = None,
    reranker: Reranker | None = None,
    step: Step = lambda *_: None,
) -> list[Trial]:
    """Index a set in a throw-away archive and ask its questions, once with each preset.

    Every second question, in the order of the file, is asked a second time without the
    documents that answer it: it must come back empty then. The others are what it is told
    apart from.

    Args:
        owner: settings to measure with; home and database are others.
        embedder: of documents and questions; its vectors are kept in the owner's cache.
        folder: of the set, see ``emily.measure.sets``.
        presets: names; ``None`` for the one that is set.
        judgements: another file than ``qrels.tsv``.
        cross_only: ask each question without the documents in its own language.
        titles: name documents by their titles; see ``untitled`` else.
        only: fields of the questions to ask, such as ``{"split": "dev"}``.
        documents: most documents, see ``sampled``.
        questions: most questions.
        reranker: orders candidates anew, if there is one.
        step: told of progress.

    Raises:
        InputError: the set is malformed, there is no such preset, or ``cross_only`` leaves
            nothing to ask.
        StoreError: no database can be made.
    """
    chosen_presets = [preset_of(owner, name) for name in presets]
    served = {preset.name for preset in chosen_presets if preset.needs_stems}
    owner = owner.model_copy(update={"index_for": (*owner.index_for, *sorted(served))})
    whole = narrowed(load_set(folder, judgements), only or {})
    if cross_only:
        whole = _crossing(whole)
    chosen = sampled(whole, documents=documents, questions=questions)
    if not titles:
        chosen = untitled(chosen)
    with VectorCache(owner.home / "cache", embedder.identity) as cache, _one_thread():
        cached = CachedEmbedder(embedder, cache)
        wanted = tuple(preset.name for preset in chosen_presets if preset.needs_stems)
        settings = owner.model_copy(update={**_EXACT, "index_for": wanted})
        async with open_throwaway(settings, cached, reranker) as archive:
            started = time.perf_counter()
            total = sum(bool(item.text.strip()) for item in chosen.documents)
            await archive.index(chosen.documents, lambda done: step("indexed", done, total))
            indexing = time.perf_counter() - started
            asked, counterparts = _asked_of_set(chosen, archive, cross_only=cross_only)
            present = sum(item.absence is None for item in asked)
            subject = Subject(
                kind="set",
                name=chosen.name,
                documents=len(archive.names),
                questions=present,
                absent=len(asked) - present,
                left_out=chosen.unjudged,
                without_text=len(archive.without_text),
                judgements=(judgements or Path("qrels.tsv")).name,
                cross_only=cross_only,
                titles=titles,
                only=dict(only or {}),
            )
            names = {number: found[0] for number, found in archive.names.items()}
            return [
                await _run(
                    Trial(subject, preset, str(embedder.identity), names, {"indexing": indexing}),
                    searching(archive.retriever(), preset.name, operators=False),
                    asked,
                    tools(archive.database, cached),
                    counterparts,
                    reranker,
                    step,
                )
                for preset in chosen_presets
            ]


async def run_archive(
    archive: Archive,
    answerable: Sequence[Question],
    unanswerable: Sequence[Unanswerable],
    presets: Sequence[str | None] = (None,),
    *,
    name: str = "questions",
    step: Step = lambda *_: None,
) -> list[Trial]:
    """Ask the owner's archive the owner's questions, once with each preset.

    It changes nothing but what is known of these questions: the signs of their searches are kept
    for ``emily.retrieval.precedents``.

    Args:
        archive: the parts of it.
        answerable: questions with the document that answers them.
        unanswerable: questions that no document answers.
        presets: names; ``None`` for the one that is set.
        name: of the file of questions.
        step: told of progress.

    Raises:
        InputError: a question names what is not one document, or there is no such preset.
        ModelMismatch, StoreUnavailable: as in a search.
    """
    chosen_presets = [preset_of(archive.settings, preset) for preset in presets]
    asked = await _asked_of_archive(archive.catalogue.resolve, answerable, unanswerable)
    asked, misquoting = await _rightly_quoted(archive.database, asked)
    names = {item.id: item.name for item in await archive.catalogue.documents()}
    subject = Subject(
        kind="archive",
        name=name,
        documents=len(names),
        questions=len(answerable),
        absent=len(unanswerable),
    )
    told = _misquotes(misquoting)
    return [
        await _run(
            Trial(subject, preset, str(archive.embedder.identity), names, {}, notices=told),
            _noting(searching(archive.retriever, preset.name), Precedents(archive.database)),
            asked,
            tools(archive.database, archive.embedder),
            None,
            archive.reranker,
            step,
        )
        for preset in chosen_presets
    ]


async def _run(
    trial: Trial,
    search: Callable[[Asked], Awaitable[Answer]],
    asked: Sequence[Asked],
    using: Tools,
    counterparts: frozenset[str] | None,
    reranker: Reranker | None,
    step: Step,
) -> Trial:
    started = time.perf_counter()
    with _one_thread():
        found = await evaluate(
            search,
            asked,
            tools=using,
            counterparts=counterparts,
            told=_telling(step, f"asked, preset {trial.preset.name}", len(asked)),
        )
    seconds = {**trial.seconds, "asking": time.perf_counter() - started}
    parts = stand_ins(trial.preset, trial.model, None if reranker is None else reranker.name)
    down = tuple(
        f"In {count} of {len(asked)} searches the {part} was down: the figures are not of it."
        for part, count in found.down().items()
    )
    notices = (*trial.notices, *parts, *down)
    return replace(trial, evaluation=found, seconds=seconds, notices=notices)


async def _asked_of_archive(
    resolve: Callable[[str], Awaitable[int]],
    answerable: Sequence[Question],
    unanswerable: Sequence[Unanswerable],
) -> list[Asked]:
    """The owner's questions, with the ids of the documents that they name.

    Raises:
        InputError: a question names what is not one document of the archive.
    """
    asked = []
    for question in answerable:
        try:
            document = await resolve(question.document)
        except InputError as error:
            raise InputError(f"The question '{question.id}' cannot be asked: {error}") from None
        asked.append(
            Asked(
                question.id,
                question.text,
                {document: 1},
                quotes=(question.quote,) if question.quote.strip() else (),
                pair=question.pair,
            )
        )
    asked += [Asked(item.id, item.text, absence=item.kind) for item in unanswerable]
    return asked


async def _rightly_quoted(
    database: Database, asked: Sequence[Asked]
) -> tuple[list[Asked], list[str]]:
    """The questions without quotes that no search could show, and the ids of those.

    A passage is a part of the document's text, and is compared letter for letter.
    """
    kept, misquoting = [], []
    for item in asked:
        if item.quotes:
            texts = []
            for document in item.relevant:
                row = await database.fetch_one("stored_text", {"document_id": document})
                texts.append("" if row is None else " ".join(row["text"].split()))
            standing = tuple(
                quote
                for quote in item.quotes
                if any(" ".join(quote.split()) in text for text in texts)
            )
            if not standing:
                misquoting.append(item.id)
            kept.append(replace(item, quotes=standing))
        else:
            kept.append(item)
    return kept, misquoting


def _misquotes(ids: Sequence[str]) -> tuple[str, ...]:
    if not ids:
        return ()
    listed = ", ".join(ids[:_NAMED]) + (", …" if len(ids) > _NAMED else "")
    one = len(ids) == 1
    return (
        f"{len(ids)} {'question has a quote that does' if one else 'questions have quotes that do'}"
        f" not stand in the document named, letter for letter: {listed}. No search could show "
        f"{'it, so it is' if one else 'them, so they are'} not counted. What became of a quote "
        "is told by: emily why QUESTION --doc DOC --quote WORDS",
    )


def _one_thread() -> AbstractContextManager[object]:
    """Sums of BLAS on one thread: how many share one decides its last digits."""
    limited: AbstractContextManager[object] = ThreadpoolController().limit(
        limits=1, user_api="blas"
    )
    return limited


def _noting(
    search: Callable[[Asked], Awaitable[Answer]], precedents: Precedents
) -> Callable[[Asked], Awaitable[Answer]]:
    """A search that keeps its signs, with whether the answer is there."""

    async def noting(asked: Asked) -> Answer:
        answer = await search(asked)
        if not asked.without:
            await precedents.note(asked.text, answer.signs, answered=bool(asked.relevant))
        return answer

    return noting


def searching(
    retriever: Retriever, preset: str | None, *, operators: bool = True
) -> Callable[[Asked], Awaitable[Answer]]:
    """A search by a retriever alone: it feeds neither the log nor the checks.

    Args:
        retriever: that answers.
        preset: its name.
        operators: whether quotation marks and a leading dash mean something; in the questions
            of a public set they do not, for whoever wrote them knew of none.
    """

    async def search(asked: Asked) -> Answer:
        return await retriever.search(
            asked.text,
            filters=Filters(without=asked.without),
            preset=preset,
            operators=operators,
        )

    return search


def tools(database: Database, embedder: Embedder) -> Tools:
    """What an evaluation asks of an archive beside its searches."""

    async def follows(answer: Answer) -> list[str]:
        shown = [
            (result.document.id, item) for result in answer.results for item in result.passages
        ]
        if not shown:
            return []
        rows = await database.fetch(
            "what_follows",
            {
                "places": list(range(len(shown))),
                "documents": [document for document, _ in shown],
                "ends": [passage.end for _, passage in shown],
                "characters": _BEHIND,
            },
        )
        found = {row["place"]: row["text"] for row in rows}
        return [found.get(place, "") for place in range(len(shown))]

    return Tools(follows, embedder.count)


def _telling(step: Step, what: str, total: int) -> Callable[[int], None]:
    return lambda done: step(what, done, total)


def _crossing(chosen: QuestionSet) -> QuestionSet:
    """The questions that have an answer in another language than their own."""
    languages = {item.id: item.lang for item in chosen.documents}
    if not any(languages.values()) or not any(item.lang for item in chosen.questions):
        raise InputError(
            "--cross-only needs the field 'lang' in corpus.jsonl and queries.jsonl, and one of "
            "them has none."
        )
    kept = []
    for question in chosen.questions:
        relevant = {
            name: grade
            for name, grade in question.relevant.items()
            if not question.lang or languages[name] != question.lang
        }
        if relevant:
            kept.append(replace(question, relevant=relevant))
    if not kept:
        raise InputError(
            "--cross-only leaves no question: every relevant document is in the language of its "
            "question."
        )
    dropped = len(chosen.questions) - len(kept)
    return replace(chosen, questions=tuple(kept), unjudged=chosen.unjudged + dropped)


def _asked_of_set(
    chosen: QuestionSet, archive: Throwaway, *, cross_only: bool
) -> tuple[list[Asked], frozenset[str]]:
    """The set's questions, every second one again without its documents; and the others' ids."""
    ids = {name: number for number, names in archive.names.items() for name in names}
    documents = {item.id: item for item in chosen.documents}
    spoken: dict[str, frozenset[int]] = {}
    if cross_only:
        for language in {question.lang for question in chosen.questions} - {""}:
            spoken[language] = frozenset(
                ids[name]
                for name, document in documents.items()
                if document.lang == language and name in ids
            )
    asked, absent, counterparts = [], [], []
    for place, question in enumerate(chosen.questions):
        relevant: dict[int, int] = {}
        missing = []
        for name, grade in question.relevant.items():
            if name in ids:
                # A text that stands in the set twice is one document here.
                relevant[ids[name]] = max(grade, relevant.get(ids[name], 0))
            else:
                missing.append(grade)
        present = Asked(
            question.id,
            question.text,
            relevant,
            tuple(missing),
            _quotes(question, [documents[name].text for name in question.relevant]),
            _pair(question, [documents[name].lang for name in question.relevant]),
            question.slices,
            without=spoken.get(question.lang, frozenset()) - relevant.keys(),
        )
        asked.append(present)
        if place % 2:
            absent.append(
                replace(
                    present,
                    relevant={},
                    missing=(),
                    quotes=(),
                    absence=REMOVED,
                    without=present.without | relevant.keys(),
                )
            )
        else:
            counterparts.append(question.id)
    return [*asked, *absent], frozenset(counterparts)


def _quotes(question: SetQuestion, texts: Sequence[str]) -> tuple[str, ...]:
    """The answers that can be read in a relevant document; others no passage could show."""
    folded = [" ".join(text.split()) for text in texts]
    return tuple(
        answer
        for answer in question.answers
        if any(" ".join(answer.split()) in text for text in folded)
    )


def _pair(question: SetQuestion, languages: Sequence[str]) -> str:
    answers = "+".join(sorted({language or "?" for language in languages}))
    return f"{question.lang or '?'}→{answers}"
