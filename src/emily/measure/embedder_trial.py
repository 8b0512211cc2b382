"""An embedder on trial: a sample of the archive embedded beside the present model's, and asked.

Both models index the same documents in throw-away archives and answer the same questions there:
the owner's own, whose answers are known, and those that were really asked. The owner's archive
is only read.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

import psutil

from emily.errors import InputError
from emily.indexing.archive import Archive
from emily.indexing.catalogue import Catalogue
from emily.indexing.files import FileFacts
from emily.indexing.prepare import PreparedDocument
from emily.indexing.stored import stored_document
from emily.indexing.text import DocumentText
from emily.measure.comparison import Comparison, Run, compare, run_of
from emily.measure.questions import Question, Unanswerable
from emily.measure.scores import mean
from emily.measure.throwaway import open_throwaway
from emily.measure.trial import Archive as AskedArchive
from emily.measure.trial import run_archive
from emily.models.backed import BackedEmbedder
from emily.models.protocols import Embedder
from emily.settings import Settings
from emily.store import Database

__all__ = ["EmbedderTrial", "RealQueries", "Side", "try_embedder"]

Step = Callable[[str, int, int], None]

_SEED = 20
_TOP = 5


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two models.

    Attributes:
        model: as it is named.
        identity: as its vectors are marked.
        seconds: to index the sample, by the clock.
        whole_seconds: what the whole archive would take at that pace.
        search_ms: median of a search, milliseconds; ``None`` if nothing was asked.
        megabytes: by which this process grew, or that its server says it takes.
        without_vector: passages of the sample for which it gave no vector.
        hit_1, hit_3, ndcg_10: on the owner's questions; not a number where there are none.
    """

    model: str
    identity: str
    seconds: float
    whole_seconds: float
    search_ms: float | None
    megabytes: float
    without_vector: int
    hit_1: float
    hit_3: float
    ndcg_10: float


@dataclass(frozen=True, slots=True)
class RealQueries:
    """Questions that were really asked; nobody knows their answers, but the two can disagree.

    Attributes:
        asked: how many distinct ones.
        same_first: share with the same document first.
        shared: mean share of the first five documents that both show.
        empty_before, empty_after: how many came back empty.
        different: those with another document first: the question, and both documents.
    """

    asked: int
    same_first: float
    shared: float
    empty_before: int
    empty_after: int
    different: tuple[tuple[str, str | None, str | None], ...]


@dataclass(frozen=True, slots=True)
class EmbedderTrial:
    """What the trial came to.

    Attributes:
        documents: of the sample.
        chunks: of the sample.
        archive_documents, archive_chunks: of the whole archive.
        questions: of the owner's that were asked; ``left_out`` name no document of the archive.
        left_out: how many were not.
        before: the present model.
        after: the one on trial.
        comparison: of the owner's questions one by one; ``None`` if there are none.
        real: of the questions that were really asked; ``None`` if there are none.
        detail: what the model on trial answered when it was examined.
        notices: what to know about these figures.
    """

    documents: int
    chunks: int
    archive_documents: int
    archive_chunks: int
    questions: int
    left_out: int
    before: Side
    after: Side
    comparison: Comparison | None
    real: RealQueries | None
    detail: str
    notices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Stored:
    """A document of the sample."""

    id: int
    name: str
    kind: str
    text: DocumentText


@dataclass(frozen=True, slots=True)
class _Asked:
    """What one model made of the sample."""

    side: Side
    chunks: int
    run: Run
    first: Mapping[str, tuple[str, ...]]


async def try_embedder(
    settings: Settings,
    database: Database,
    present: tuple[str, Embedder],
    candidate: tuple[str, Embedder],
    detail: str,
    *,
    answerable: Sequence[Question] = (),
    unanswerable: Sequence[Unanswerable] = (),
    queries: Sequence[str] = (),
    sample: int = 200,
    step: Step = lambda *_: None,
) -> EmbedderTrial:
    """Try an embedder on a sample of the archive.

    Args:
        settings: of the home.
        database: the owner's store; it is only read.
        present: name and embedder of the index.
        candidate: name and embedder on trial.
        detail: what the candidate answered when it was examined.
        answerable: the owner's questions; the documents that answer them are in the sample.
        unanswerable: questions without an answer.
        queries: that were really asked.
        sample: most documents.
        step: told of progress.

    Raises:
        InputError: the archive is empty, or the sample too small.
        ModelError: one of the two cannot be used.
        StoreError: no database can be made.
    """
    if not 1 <= sample <= 100_000:
        raise InputError(f"The sample is {sample} documents; it must be from 1 to 100000.")
    catalogue = Catalogue(database)
    listed = {info.id: info for info in await catalogue.documents()}
    if not listed:
        raise InputError(
            "The archive is empty: there is nothing to try a model on. "
            "Add files with: emily add PATH"
        )
    # The other embedder may be elsewhere, and a sample needs no private document.
    private = {row["id"] for row in await database.fetch("private_documents")}
    known, wanted = [], list[int]()
    for question in answerable:
        try:
            document = await catalogue.resolve(question.document)
        except InputError:
            continue
        if document not in private:
            wanted.append(document)
            known.append(question)
    chosen = _sample(sorted(listed.keys() - private), list(dict.fromkeys(wanted)), sample)
    stored = [await _stored(database, listed[number].kind, number) for number in chosen]
    documents = [item for item in stored if item is not None]
    names = {item.name for item in documents}
    asked = [item for item in known if _name_of(item.document) in names or item.document in names]
    distinct = list(dict.fromkeys(queries))
    sides = []
    for name, embedder in (present, candidate):
        sides.append(
            await _side(settings, name, embedder, documents, asked, unanswerable, distinct, step)
        )
    before, after = sides
    counts = await database.fetch_one("chunk_statistics")
    total = counts["chunks"] if counts else 0
    scale = total / before.chunks if before.chunks else 0.0
    comparison = compare(before.run, after.run) if asked or unanswerable else None
    notices = [
        "The probability of a passage is fitted to the bundled embedder: with another one compare "
        "the order (nDCG) first, and set threshold by what you see."
    ]
    if len(documents) < len(listed):
        notices.append(
            f"A sample of {len(documents)} of {len(listed)} documents is easier to search than "
            "the whole archive: both models would find less there."
        )
    return EmbedderTrial(
        documents=len(documents),
        chunks=before.chunks,
        archive_documents=len(listed),
        archive_chunks=total,
        questions=len(asked),
        left_out=len(answerable) - len(asked),
        before=replace(before.side, whole_seconds=before.side.seconds * scale),
        after=replace(after.side, whole_seconds=after.side.seconds * scale),
        comparison=comparison,
        real=_real(distinct, before.first, after.first) if distinct else None,
        detail=detail,
        notices=tuple(notices),
    )


def _sample(documents: Sequence[int], wanted: Sequence[int], size: int) -> list[int]:
    """The documents that are asked for, filled up by chance with a fixed seed; in their order."""
    taken = set(wanted)
    others = [item for item in documents if item not in taken]
    random.Random(_SEED).shuffle(others)  # noqa: S311 - a sample, no secret
    return sorted([*wanted, *others[: max(0, size - len(wanted))]])


async def _side(
    settings: Settings,
    name: str,
    embedder: Embedder,
    documents: Sequence[_Stored],
    answerable: Sequence[Question],
    unanswerable: Sequence[Unanswerable],
    queries: Sequence[str],
    step: Step,
) -> _Asked:
    process = psutil.Process(os.getpid())
    memory = process.memory_info().rss
    await asyncio.to_thread(embedder.embed_queries, ["."])  # loading is not indexing
    async with open_throwaway(settings, embedder) as thrown:
        started = time.perf_counter()
        failures = 0
        for place, item in enumerate(documents):
            step(f"indexed by {name}", place, len(documents))
            prepared = await thrown.preparer.prepared(item.text, item.name)
            failures += len(prepared.failures)
            await _write(thrown.archive, item, prepared)
        step(f"indexed by {name}", len(documents), len(documents))
        seconds = time.perf_counter() - started
        catalogue = Catalogue(thrown.database)
        retriever = thrown.retriever()
        parts = AskedArchive(thrown.settings, thrown.database, embedder, catalogue, retriever)
        (found,) = await run_archive(parts, answerable, unanswerable, name=name, step=step)
        scores = found.evaluation.scores()
        times = [
            item.milliseconds
            for item in (*found.evaluation.answerable, *found.evaluation.unanswerable)
        ]
        first = {}
        for place, query in enumerate(queries):
            step(f"asked {name}", place, len(queries))
            began = time.perf_counter()
            answer = await retriever.search(query)
            times.append((time.perf_counter() - began) * 1000)
            first[query] = tuple(result.document.name for result in answer.results)[:_TOP]
        chunks = await thrown.database.fetch_one("chunk_statistics")
    grown = max(0, process.memory_info().rss - memory)
    served = embedder.encoder.memory() if isinstance(embedder, BackedEmbedder) else None
    side = Side(
        model=name,
        identity=str(embedder.identity),
        seconds=seconds,
        whole_seconds=0.0,
        search_ms=median(times) if times else None,
        megabytes=(grown if served is None else served) / 1e6,
        without_vector=failures,
        hit_1=scores.hit_1,
        hit_3=scores.hit_3,
        ndcg_10=scores.ndcg_10,
    )
    run = run_of(name, "a sample of the archive", found.evaluation)
    return _Asked(side, chunks["chunks"] if chunks else 0, run, first)


async def _write(archive: Archive, item: _Stored, prepared: PreparedDocument) -> None:
    digest = hashlib.sha256(f"{item.id}".encode()).digest()
    file = FileFacts(
        path=Path(f"/sample/{item.id}/{item.name}"),
        sha256=digest,
        bytes=len(item.text.text),
        kind=item.kind,
    )
    await archive.write(file, item.text, digest, prepared)


async def _stored(database: Database, kind: str, document: int) -> _Stored | None:
    found = await stored_document(database, document)
    return None if found is None else _Stored(document, found.name, kind, found.text)


def _name_of(document: str) -> str:
    return Path(document).name


def _real(
    queries: Sequence[str],
    before: Mapping[str, tuple[str, ...]],
    after: Mapping[str, tuple[str, ...]],
) -> RealQueries:
    def top(found: tuple[str, ...]) -> str | None:
        return found[0] if found else None

    different = [
        (query, top(before[query]), top(after[query]))
        for query in queries
        if top(before[query]) != top(after[query])
    ]
    shared = [
        len({*before[query]} & {*after[query]}) / len({*before[query]} | {*after[query]})
        if before[query] or after[query]
        else 1.0
        for query in queries
    ]
    return RealQueries(
        asked=len(queries),
        same_first=1 - len(different) / len(queries),
        shared=mean(shared),
        empty_before=sum(not before[query] for query in queries),
        empty_after=sum(not after[query] for query in queries),
        different=tuple(different),
    )
