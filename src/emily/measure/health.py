"""Whether all parts work: ``emily status`` takes stock, ``emily doctor`` examines."""

from __future__ import annotations

import asyncio
import platform
import shutil
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from typing import TYPE_CHECKING

from emily.errors import EmilyError, StoreError, StoreUnavailable
from emily.indexing.embedders import examined
from emily.indexing.originals import Originals
from emily.measure.checks import Check, StandingChecks
from emily.models.backed import BackedEmbedder
from emily.models.protocols import ChatModel, Embedder, ModelIdentity, Reranker, VisionModel
from emily.reading.ocr.engine import unlettered
from emily.reading.ocr.golden import GOLDEN, as_png, golden_image, is_golden
from emily.reading.ocr.tesseract import packages
from emily.settings import Settings
from emily.store import Database
from emily.store.alerts import Alert, Alerts

if TYPE_CHECKING:
    from emily.reading.reader import Reader

__all__ = ["Check", "Status", "examine", "examine_chat", "examine_without_database", "take_stock"]

_LOW_DISK = 1 << 30
_ALIVE_SECONDS = 20.0  # as of the worker: one that has told nothing for so long is dead


@dataclass(frozen=True, slots=True)
class Status:
    """What the archive holds.

    Attributes:
        home: folder of all data.
        database: the server in a line.
        documents, pages, chunks, words: how many there are.
        bytes: size of the database.
        languages: documents by language, ``?`` where it is not known.
        kinds: documents by format.
        stale: documents that were indexed by another model or with other settings.
        model: the embedder.
        problems: what keeps the archive from being searched well.
        alerts: what is wrong and not resolved, critical ones first.
        work: by phase (indexing, analysis), how many jobs wait, run, are done and failed.
        workers: how many workers there are to do it.
        analysis: how many documents are ``analysed``, of these ``stale``, and have ``failed``.
        memory: how many memories are ``current``, of these ``core``; how many are ``proposed`` and
            wait for the owner; messages that are ``waiting`` to be looked through, or ``failed``.
    """

    home: str
    database: str
    documents: int
    pages: int
    chunks: int
    words: int
    bytes: int
    languages: dict[str, int]
    kinds: dict[str, int]
    stale: int
    model: str
    problems: tuple[str, ...]
    alerts: tuple[Alert, ...] = ()
    work: dict[str, dict[str, int]] = field(default_factory=dict)
    workers: int = 0
    analysis: dict[str, int] = field(default_factory=dict)
    memory: dict[str, int] = field(default_factory=dict)


async def take_stock(
    settings: Settings, database: Database, model: ModelIdentity, fingerprint: str
) -> Status:
    """Count what is there.

    Raises:
        StoreUnavailable: the database cannot be reached.
    """
    parameters = {
        "fingerprint": fingerprint,
        **model.parameters,
    }
    counts = await database.fetch_one("archive_counts", parameters)
    groups = await database.fetch("documents_by")
    described = await database.describe()
    assert counts is not None
    languages: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for row in groups:
        languages[row["language"]] += row["documents"]
        kinds[row["kind"]] += row["documents"]
    work: dict[str, dict[str, int]] = {}
    for row in await database.fetch("work_counts"):
        work.setdefault(row["phase"], {})[row["status"]] = row["count"]
    workers = await database.fetch("live_workers", {"seconds": _ALIVE_SECONDS})
    problems = await _lexical_problems(database, counts["chunks"])
    problems += _work_problems(work, len(workers))
    if counts["stale"]:
        problems.append(
            f"{counts['stale']} documents were indexed by another model or with other settings. "
            "Bring them up to date with: emily reindex"
        )
    if counts["unread"]:
        problems.append(
            f"{counts['unread']} pages were not read"
            + (" (OCR is off by the setting 'ocr')" if not settings.ocr else "")
            + ". emily show DOC names them; emily add reads their files again."
        )
    if counts["without_vector"]:
        problems.append(
            f"{counts['without_vector']} chunks have no vector and are found by words only. "
            "emily show DOC tells why."
        )
    return Status(
        home=str(settings.home),
        database=described.text,
        documents=counts["documents"],
        pages=counts["pages"],
        chunks=counts["chunks"],
        words=counts["words"],
        bytes=described.bytes,
        languages=dict(languages.most_common()),
        kinds=dict(kinds.most_common()),
        stale=counts["stale"],
        model=str(model),
        problems=tuple(problems),
        alerts=tuple(await Alerts(database).open()),
        work=work,
        workers=len(workers),
    )


async def _lexical_problems(database: Database, chunks: int) -> list[str]:
    """An arm that finds nothing looks like a search without results; so it is asked for."""
    try:
        row = await database.fetch_one("has_postings")
    except StoreUnavailable:
        raise
    except StoreError as error:
        return [f"The lexical arm is down: {error}"]
    if chunks and not (row and row["present"]):
        return ["The lexical arm is down: the index of words is empty, the archive is not."]
    return []


async def examine_without_database(
    settings: Settings,
    embedder: Embedder,
    reader: Reader,
    vision: VisionModel | None,
    error: StoreError,
    reranker: Reranker | None = None,
) -> list[Check]:
    """Try the other parts where the database does not open."""
    return [
        _versions(),
        Check("database", False, str(error), "emily stop, then emily status"),
        await _embedder(embedder),
        await _ocr(settings, reader),
        await _vision(vision),
        await _reranker(reranker),
        _disk(settings),
        _access(settings),
    ]


def _work_problems(work: Mapping[str, Mapping[str, int]], workers: int) -> list[str]:
    """What of the queue needs the owner."""
    problems = []
    for phase, found in sorted(work.items(), reverse=True):
        if failed := found.get("failed"):
            problems.append(
                f"{failed} {'job' if failed == 1 else 'jobs'} of {phase} failed. emily jobs "
                "--failed says why; emily retry tries again."
            )
    if waiting := _unattended(work, workers):
        problems.append(
            f"{waiting} {'job waits' if waiting == 1 else 'jobs wait'}, and no worker is at work. "
            "Start one with: emily serve, or emily worker"
        )
    return problems


def _unattended(work: Mapping[str, Mapping[str, int]], workers: int) -> int:
    """How many jobs wait and have nobody to do them."""
    return 0 if workers else sum(found.get("waiting", 0) for found in work.values())


async def examine(
    settings: Settings,
    database: Database,
    embedder: Embedder,
    reader: Reader,
    vision: VisionModel | None,
    originals: Originals,
    fingerprint: str,
    pins: Callable[[], Awaitable[Check]],
    reranker: Reranker | None = None,
) -> list[Check]:
    """Try every part for real: a statement, a vector, a line of OCR, a picture.

    Then judge the traffic and the rows of the index, ask the pinned questions (``pins``), and
    name the alerts that are open.
    """
    return [
        _versions(),
        await _database(database),
        *await _index(settings, database, embedder, fingerprint),
        await _embedder(embedder),
        await _ocr(settings, reader),
        await _vision(vision),
        await _reranker(reranker),
        await _originals(database, originals),
        await _orphans(database),
        _disk(settings),
        _access(settings),
        *await _standing(StandingChecks(database, settings, embedder.identity, fingerprint)),
        await pins(),
        await _alerts(database),
    ]


async def _standing(checks: StandingChecks) -> list[Check]:
    try:
        return await checks.run(whole=True)
    except EmilyError as error:
        return [Check("standing checks", False, str(error), "emily status")]


async def _alerts(database: Database) -> Check:
    """What is open and was not acknowledged, whoever raised it."""
    try:
        found = await Alerts(database).open()
    except EmilyError as error:
        return Check("alerts", False, str(error), "emily status")
    new = [alert for alert in found if alert.acknowledged_at is None]
    if new:
        told = "; ".join(f"{alert.name} ({alert.level}): {alert.text}" for alert in new)
        return Check("alerts", False, told, "emily alerts")
    seen = f", {len(found)} acknowledged" if found else ""
    return Check("alerts", True, f"none is open{seen}" if not found else f"none is new{seen}")


def _versions() -> Check:
    names = ("emily", "psycopg", "numpy", "onnxruntime", "rapidocr", "pypdfium2")
    seen = ", ".join(f"{name} {metadata.version(name)}" for name in names)
    python = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    if platform.system() == "Windows":
        return Check("versions", False, f"{python}, {seen}", "Windows is experimental.")
    return Check("versions", True, f"{python}, {seen}")


async def _database(database: Database) -> Check:
    try:
        seen = await database.describe()
    except EmilyError as error:
        return Check("database", False, str(error), "emily stop, then emily status")
    return Check(
        "database",
        True,
        f"{seen.text}, pgvector {seen.vector_version}, {seen.bytes / 1e6:.1f} MB, {seen.location}",
    )


async def _index(
    settings: Settings, database: Database, embedder: Embedder, fingerprint: str
) -> list[Check]:
    """The index, and the queue of what is to come into it."""
    try:
        status = await take_stock(settings, database, embedder.identity, fingerprint)
    except EmilyError as error:
        return [Check("index", False, str(error))]
    queue = _work_problems(status.work, status.workers)
    detail = f"{status.documents} documents, {status.chunks} chunks, {status.words} words"
    problems = [problem for problem in status.problems if problem not in queue]
    index = Check("index", True, detail)
    if problems:
        index = Check("index", False, f"{detail}. {' '.join(problems)}", "emily reindex")
    if _unattended(status.work, status.workers):
        return [index, Check("queue", False, " ".join(queue), "emily serve")]
    # A file that is broken is told, but no part of Emily is: only what nobody does is amiss.
    told = " ".join(queue) or "nothing failed, and nothing waits for a worker that is not there"
    return [index, Check("queue", True, told)]


async def _embedder(embedder: Embedder) -> Check:
    try:
        # Weights, golden pair; of a server also its version and whether it reads texts whole.
        detail = await asyncio.to_thread(examined, embedder)
    except EmilyError as error:
        own = isinstance(embedder, BackedEmbedder) or embedder.identity.profile == "unset"
        mend = "emily models list" if own else "pip install --force-reinstall emily"
        return Check("embedder", False, str(error), mend)
    return Check("embedder", True, detail)


async def _ocr(settings: Settings, reader: Reader) -> Check:
    if not settings.ocr:
        return Check("ocr", True, "off by the setting 'ocr': scanned pages stay unread")
    try:
        problem = await reader.check_ocr()
    except EmilyError as error:
        problem = str(error)
    if problem:
        mends = {
            "rapidocr": "pip install --force-reinstall rapidocr==3.10.0",
            "tesseract": f"apt-get install tesseract-ocr {packages(settings.languages)}",
            "apple": "pip install 'emily[apple]'",
        }
        return Check("ocr", False, problem, mends[settings.ocr_engine])
    detail = f"{settings.ocr_engine} read a line of text as it should"
    strange = unlettered(settings.ocr_engine, settings.languages)
    if strange:
        detail += (
            f"; it has no letters for {', '.join(strange)} of the setting 'languages': "
            "set ocr_engine to tesseract"
        )
    return Check("ocr", True, detail)


async def examine_chat(chat: ChatModel | None) -> Check:
    """Whether the chat model is there and answers; summaries are made without one too."""
    if chat is None:
        detail = "no chat model is set: summaries are sentences of the documents themselves"
        return Check("chat", True, detail, judged=False)
    try:
        told = await chat.describe()
        await chat.chat("You are terse.", "Answer with the one word: ready", tokens=32)
    except EmilyError as error:
        mend = 'start the server, or set chat = "none" in settings.toml'
        if "allowed_servers" in str(error):
            mend = 'add its name to allowed_servers in settings.toml, or set chat = "none"'
        return Check("chat", False, str(error), mend)
    return Check("chat", True, f"{told}, answers")


async def _vision(vision: VisionModel | None) -> Check:
    if vision is None:
        return Check("vision", True, "no vision model is set: what OCR cannot read stays unread")
    try:
        seen = await vision.read(as_png(golden_image()))
    except EmilyError as error:
        mend = 'start the server, or set vision = "none" in settings.toml'
        if "allowed_servers" in str(error):
            mend = 'add its name to allowed_servers in settings.toml, or set vision = "none"'
        return Check("vision", False, str(error), mend)
    if not is_golden(seen):
        return Check(
            "vision",
            False,
            f"{vision.name} reads {seen[:80]!r} where {GOLDEN!r} is written",
            "choose another model with the setting vision_model",
        )
    return Check("vision", True, f"{vision.name} read a line of text as it should")


async def _reranker(reranker: Reranker | None) -> Check:
    if reranker is None:
        return Check("reranker", True, "none is set: the built-in second stage orders alone")
    try:
        # Loading puts the golden pairs to it.
        await reranker.prepare()
    except EmilyError as error:
        return Check("reranker", False, str(error), _reranker_mend(str(error)))
    if reranker.warnings:
        return Check("reranker", True, " ".join(reranker.warnings))
    return Check("reranker", True, f"{reranker.name} told the golden pairs apart")


def _reranker_mend(error: str) -> str:
    """What helps against a reranker that is down; to go without one always does."""
    without = 'or set reranker = "none" in settings.toml'
    if "emily[rerank]" in error:
        return f"pip install 'emily[rerank]', {without}"
    if "allowed_servers" in error:
        return f"add its name to allowed_servers in settings.toml, {without}"
    if "cannot be reached" in error or "answered" in error:
        return f"start the server, or correct reranker_url, {without}"
    return f"correct the settings reranker_*, {without}"


async def _orphans(database: Database) -> Check:
    """Whether a row belongs to nothing any more, or is where it must not be."""
    try:
        found = await database.fetch_one("orphan_counts")
    except StoreError as error:
        return Check("orphans", False, str(error))
    wrong = {name: count for name, count in (found or {}).items() if count}
    if not wrong:
        return Check("orphans", True, "no row belongs to nothing")
    told = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in wrong.items())
    return Check("orphans", False, f"rows that belong to nothing: {told}", "emily reindex")


async def _originals(database: Database, originals: Originals) -> Check:
    try:
        known = [bytes(row["file_sha256"]) for row in await database.fetch("known_files")]
    except EmilyError as error:
        return Check("originals", False, str(error))
    return await asyncio.to_thread(_compare_originals, originals, known)


def _compare_originals(originals: Originals, known: Sequence[bytes]) -> Check:
    missing = originals.missing(known)
    strays = originals.strays(known)
    if missing:
        return Check(
            "originals",
            False,
            f"{len(missing)} of {len(known)} kept files are missing in {originals.folder}; the "
            "documents can still be searched",
            "Add the files again: emily remove DOC, then emily add PATH",
        )
    detail = f"{len(known)} kept files"
    if strays:
        detail += f"; {len(strays)} left by an add that was cut off, to be taken up by the next"
    return Check("originals", True, detail)


def _disk(settings: Settings) -> Check:
    free = shutil.disk_usage(settings.home).free
    return Check(
        "disk",
        free >= _LOW_DISK,
        f"{free / 1e9:.1f} GB free in {settings.home}",
        None if free >= _LOW_DISK else "Free some space: the database stops when the disk is full.",
    )


def _access(settings: Settings) -> Check:
    mode = settings.home.stat().st_mode & 0o777
    return Check(
        "access",
        not mode & 0o077,
        f"{settings.home} has mode {mode:04o}",
        f"chmod 700 {settings.home}" if mode & 0o077 else None,
    )
