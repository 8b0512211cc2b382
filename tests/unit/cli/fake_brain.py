"""A brain with two documents, for the command line: answers at once, fails when told to."""

from __future__ import annotations

import json
import math
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from emily.brain import Progress
from emily.errors import StoreError, UnknownDocument
from emily.indexing.catalogue import DocumentDetail, DocumentInfo, PageInfo, Relative
from emily.indexing.embedders import EmbedderInfo, ModelChange
from emily.indexing.report import AddReport, FileOutcome, ReindexReport
from emily.life.exporting import ExportReport
from emily.life.importing import ImportReport
from emily.life.notes import Note
from emily.life.service import Replaced
from emily.life.trash import Trashed
from emily.life.versions import OldVersion, Version
from emily.measure.checks import Check
from emily.measure.comparison import Comparison, MetricChange
from emily.measure.embedder_trial import EmbedderTrial, RealQueries, Side
from emily.measure.explanation import (
    Above,
    Cure,
    Explanation,
    QuoteSight,
    StageSight,
    TermSight,
)
from emily.measure.health import Status
from emily.measure.pins import Pin
from emily.measure.query_log import LoggedQuery
from emily.measure.scores import Interval
from emily.models import ModelIdentity
from emily.reading.pages import Attachment, Correspondent, Facts, Page, Reading
from emily.retrieval.answer import Answer, DocumentRef, Passage, Result
from emily.settings_file import WrittenSettings
from emily.store.alerts import Alert
from emily.store.backup import BackupReport, RestoreReport
from emily.store.registry import SettingRegistry
from emily.work.queue import WorkCounts

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from emily.retrieval.filters import Filters
    from emily.settings import Settings

LEASE = DocumentInfo(
    id=1,
    name="lease.pdf",
    path="/papers/lease.pdf",
    paths=("/papers/lease.pdf", "/backup/lease.pdf"),
    kind="pdf",
    language="en",
    pages=2,
    chunks=3,
    characters=2100,
    bytes=48_213,
    added_at=datetime(2026, 3, 1, 9, 30, tzinfo=UTC),
    description=None,
    warnings=("Page 2 is blank.",),
    author="Ada",
    date=date(2026, 2, 27),
    date_source="text",
    correspondents=(Correspondent("to", "Bruno"),),
)
RECIPE = DocumentInfo(
    id=2,
    name="torta.md",
    path="/papers/torta.md",
    paths=("/papers/torta.md",),
    kind="markdown",
    language="it",
    pages=1,
    chunks=1,
    characters=300,
    bytes=305,
    added_at=datetime(2026, 3, 2, 18, 0, tzinfo=UTC),
    description="How to bake a cake.",
    warnings=(),
)
PAGES = (PageInfo(1, "text", 2100, None, None, 2), PageInfo(2, "blank", 0, "The page has no ink."))
TRACE: dict[str, Any] = {
    "query": {"text": "rent of the flat", "words": ["rent", "flat"]},
    "neighbours": {
        "terms": [
            {
                "surface": "rent",
                "term": "rent",
                "weight": 1.0,
                "neighbours": [{"surface": "canone", "term": "canon", "weight": 0.61}],
            }
        ]
    },
    "vector_arm": {"ranking": [{"rank": 1, "chunk": 7, "score": 0.41}]},
    "lexical_arm": {"empty_because": "no term of the question occurs", "ranking": []},
    "fusion": {
        "name": "sum",
        "candidates": [{"chunk": 7, "name": "lease.pdf", "vector": 0.41, "lexical": None}],
        "pool": [7],
    },
    "second_stage": {
        "candidates": [
            {
                "chunk": 7,
                "name": "lease.pdf",
                "fused": 0.4,
                "order": 0.5,
                "probability": 0.82,
                "evidence": {"part": 0.41, "sentence": 0.5, "coverage": 1.0, "figures": 1.0},
            }
        ]
    },
    "threshold": {"threshold": 0.05, "passed": [7]},
    "selection": {"chosen": [7]},
}
PASSAGE = Passage(
    text="The rent is 950 euro.\nIl canone è di 950 euro.",
    start=120,
    end=166,
    pages=(1, 2),
    lines=None,
    route="ocr",
    score=0.82,
)
ANSWER = Answer(
    query="rent of the flat",
    results=(
        Result(DocumentRef(1, "lease.pdf", "/papers/lease.pdf", "pdf", None), 0.82, (PASSAGE,)),
    ),
    notices=("These are excerpts; the documents hold more than is shown.",),
    timings_ms={"query": 0.5, "vector_arm": 1.25},
    trace=TRACE,
    text="",
    present=0.91,
)
ALERT = Alert(
    name="reranker",
    level="critical",
    text="The reranker cannot be loaded.",
    first_at=datetime(2026, 3, 1, 9, 30, tzinfo=UTC),
    last_at=datetime(2026, 3, 1, 9, 40, tzinfo=UTC),
    count=3,
    acknowledged_at=None,
    resolved_at=None,
)
QUERY = LoggedQuery(
    id=7,
    asked_at=datetime(2026, 3, 1, 9, 30, tzinfo=UTC),
    kind="search",
    text="rent of the flat",
    document_id=None,
    options={"limit": 3},
    preset="default",
    model="test-model",
    archive=2,
    arms={"vector": 4, "lexical": 0},
    terms=2,
    candidates=4,
    pool=2,
    slots=(1, 1, 2),
    best=0.82,
    median=0.1,
    timings={"query": 0.5},
    total_ms=41.7,
    warm=True,
)
PIN = Pin(
    id=4,
    question="rent of the flat",
    document_id=1,
    name="lease.pdf",
    path="/papers/lease.pdf",
    pinned_at=datetime(2026, 3, 1, 9, 30, tzinfo=UTC),
    checked_at=datetime(2026, 3, 1, 9, 31, tzinfo=UTC),
    rank=1,
    lost_by=None,
)
WHY = Explanation(
    question="rent of the flat",
    document=2,
    name="torta.md",
    rank=None,
    lost_by="fusion",
    verdict="torta.md is not found: it stays outside the pool that goes to the second stage.",
    reasons=("The question is in en and the document in it.",),
    terms=(
        TermSight("rent", "itself", 2),
        TermSight("flat", "neighbours", 0, ("casa", "piano")),
        TermSight("lake", "not at all", 0),
    ),
    stages=(
        StageSight("vector_arm", 3, 0.25, 20, True, "The vector arm has it at 3 with 0.250."),
        StageSight("fusion", 21, 0.2, 20, False, "The fusion has it at 21 of 30."),
        StageSight("second_stage", None, None, None, None, "The second stage did not see it."),
    ),
    evidence={"part": 0.25, "coverage": 0.5},
    above=(Above(1, "lease.pdf", 1, 0.7),),
    cure=Cure({"pool_size": 21}, 2, "With pool_size >= 21 it is shown, at 2."),
    quote=QuoteSight(True, 4, 9, (1,), (0, 1), True, False, "The words are cut."),
    notices=("1 of 2 documents were indexed with other settings.",),
)
LOST_PIN = replace(PIN, id=5, question="plan of the flat", rank=None, lost_by="fusion")
STATUS = Status(
    home="/home/ada/emily",
    database="embedded PostgreSQL 18.6, running",
    documents=2,
    pages=3,
    chunks=4,
    words=90,
    bytes=9_700_000,
    languages={"en": 1, "it": 1},
    kinds={"markdown": 1, "pdf": 1},
    stale=1,
    model="test-model (512 dimensions)",
    problems=("1 document is stale.",),
    alerts=(ALERT,),
    work={"indexing": {"waiting": 2, "done": 5}, "analysis": {"failed": 1}},
    workers=1,
    analysis={"analysed": 1, "stale": 1, "failed": 0},
)
READING = Reading(
    kind="pdf",
    pages=(
        Page(1, "\n".join(f"line {number}" for number in range(1, 21)), pictures=1),
        Page(2, "Total 12 \x1b[31meuro", "ocr", confidence=0.914),
        Page(3, "", "unread", warning="Page 3 is not read: broken."),
    ),
    citation="pages",
    title="Lease",
    warnings=("The name ends in .txt, but the content is pdf.",),
    facts=Facts("Ada", date(2026, 2, 27), "metadata", (Correspondent("to", "Bruno", "b@x.org"),)),
    attachments=(Attachment("plan.png", Path("/nowhere/1.png"), 1),),
)
CHECKS = (
    Check("database", True, "runs"),
    Check("ocr", False, "not installed", "pip install --force-reinstall rapidocr"),
)


class FakeAlerts:
    """One open alert, and one that is over."""

    def __init__(self, ask: Callable[..., None]) -> None:
        self.ask = ask
        self.found = [ALERT]

    async def open(self) -> list[Alert]:
        self.ask("alerts")
        return self.found

    async def resolved(self) -> list[Alert]:
        return [replace(ALERT, name="arms", resolved_at=ALERT.last_at)]

    async def acknowledge(self, name: str) -> bool:
        self.ask("acknowledge", name)
        return True


class FakeRows:
    """The table of settings, as a dictionary of JSON texts."""

    def __init__(self) -> None:
        self.kept: dict[str, str] = {}

    async def fetch(self, name: str) -> list[dict[str, Any]]:
        assert name == "setting_rows"
        return [{"name": key, "value": json.loads(text)} for key, text in self.kept.items()]

    async def execute(self, name: str, parameters: dict[str, Any]) -> int:
        if name == "set_setting":
            self.kept[parameters["name"]] = parameters["value"]
            return 1
        return int(self.kept.pop(parameters["name"], None) is not None)


class FakeQueries:
    """A log of one question."""

    def __init__(self, ask: Callable[..., None]) -> None:
        self.ask = ask
        self.kept = [QUERY]

    async def recent(self, limit: int | None = None) -> list[LoggedQuery]:
        self.ask("recent", limit)
        return self.kept

    async def count(self) -> int:
        return len(self.kept)

    async def clear(self, identity: int | None = None) -> int:
        self.ask("clear", identity)
        gone, self.kept = len(self.kept), []
        return gone


class FakePins:
    """A pinned question that finds its document, and one that does not."""

    def __init__(self, ask: Callable[..., None], brain: FakeBrain) -> None:
        self.ask = ask
        self.brain = brain
        self.kept = [PIN, LOST_PIN]

    async def notices(self) -> tuple[str, ...]:
        return self.brain.notices

    async def list(self) -> list[Pin]:
        return self.kept

    async def check(self) -> list[Pin]:
        self.ask("check")
        return self.kept

    async def remove(self, identity: int) -> Pin:
        self.ask("unpin", identity)
        return self.kept.pop()


class FakeWork:
    """No worker, until a test says so."""

    workers = 0

    async def counts(self) -> WorkCounts:
        return WorkCounts({}, self.workers)


class FakeMending:
    """Three stale documents, where there is a worker."""

    def __init__(self, brain: FakeBrain) -> None:
        self.brain = brain
        self.asked = False

    async def left(self) -> int:
        return 3

    async def ask(self) -> None:
        self.brain._ask("mend")
        self.asked = True

    async def stop(self) -> bool:
        was, self.asked = self.asked, False
        return was


class FakeLife:
    """Trash, notes and versions of the fake brain's documents."""

    def __init__(self, brain: FakeBrain) -> None:
        self.brain = brain
        self.kept: list[Note] = []
        self.bin: list[Trashed] = []
        self.problems: list[str] = []

    async def trash(self, document: str | int) -> tuple[DocumentInfo, int]:
        self.brain._ask("trash", document)
        info = self.brain.documents.pop(self.brain._find(document).id)
        at = datetime(2026, 3, 3, 8, 0, tzinfo=UTC)
        self.bin.append(Trashed(info.id, info.name, info.kind, info.bytes, at, 1, info.path, 1, 0))
        return info, 2

    async def forget(self, document: str | int) -> tuple[DocumentInfo, int]:
        self.brain._ask("forget", document)
        return self.brain.documents.pop(self.brain._find(document).id), 1

    async def trashed(self) -> list[Trashed]:
        self.brain._ask("trashed")
        return self.bin

    async def restore(self, document: str | int) -> tuple[Trashed, int]:
        self.brain._ask("restore", document)
        return self.bin.pop(), 2

    async def empty_trash(self, documents: Sequence[str] = ()) -> list[Trashed]:
        self.brain._ask("empty", *documents)
        gone, self.bin = self.bin, []
        return gone

    async def export(self, folder: Path, step: Callable[[str, int, int], None]) -> ExportReport:
        self.brain._ask("export", folder)
        step("lease.pdf", 0, 2)
        return ExportReport(folder, 2, 1, 0, 1, ("torta.md",))

    async def take_export(
        self, folder: Path, step: Callable[[str, int, int], None]
    ) -> ImportReport:
        self.brain._ask("import", folder)
        return ImportReport(1, 1, 1, 0, 0, problems=list(self.problems))

    async def back_up(self, file: Path, step: Callable[[str, int, int], None]) -> BackupReport:
        self.brain._ask("backup", file)
        return BackupReport(file, 2048, 2, 2, ("ab" * 32,))

    async def note(self, document: str | int, text: str) -> Note:
        self.brain._ask("note", document, text)
        info = self.brain._find(document)
        at = datetime(2026, 3, 3, 8, 0, tzinfo=UTC)
        self.kept.append(Note(9, info.id, info.name, text, at))
        return self.kept[-1]

    async def notes(self, document: str | int) -> list[Note]:
        self.brain._ask("notes", document)
        return self.kept

    async def remove_note(self, note: int) -> Note:
        return self.kept.pop()

    async def rename(self, document: str | int, name: str | None) -> DocumentInfo:
        self.brain._ask("rename", document, name)
        return replace(self.brain._find(document), name=name or "lease.pdf")

    async def replace(self, document: str | int, file: str) -> Replaced:
        self.brain._ask("replace", document, file)
        outcome = FileOutcome(Path(file), "replaced", 1, "Not read: page 2 of 2.")
        return Replaced(self.brain._find(document), 2, 1, outcome)

    async def restore_version(self, document: str | int, version: int) -> Replaced:
        self.brain._ask("restore_version", document, version)
        return Replaced(self.brain._find(document), 3, 2, FileOutcome(Path("/x"), "replaced", 1))

    async def versions(self, document: str | int) -> tuple[DocumentInfo, int, list[Version]]:
        self.brain._ask("versions", document)
        at = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
        old = Version(1, "lease.pdf", "pdf", 48_213, 2100, "/papers/lease.pdf", at, at)
        return self.brain._find(document), 2, [old]

    async def read_version(self, document: str | int, version: int) -> OldVersion:
        self.brain._ask("read_version", document, version)
        return OldVersion(1, "lease.pdf", "pdf", "The old \x1b rent.", ((1, 0, 15),), b"", None)


class FakeBrain:
    """What a test may set: ``answer``, ``outcomes``, ``checks``; ``fails`` is raised by all.

    ``asked`` keeps what was asked of it.
    """

    def __init__(self) -> None:
        self.rows = FakeRows()
        self.documents = {LEASE.id: LEASE, RECIPE.id: RECIPE}
        self.answer = ANSWER
        self.checks: Sequence[Check] = CHECKS
        self.status_now = STATUS
        self.reading = READING
        self.outcomes: list[FileOutcome] = []
        self.stops_after: int | None = None
        self.stops_with: BaseException = KeyboardInterrupt()
        self.fails: BaseException | None = None
        self.fails_to_open: BaseException | None = None
        self.notices: tuple[str, ...] = ()
        self.explanation = WHY
        self.asked: list[tuple[Any, ...]] = []
        self.alerts = FakeAlerts(self._ask)
        self.queries = FakeQueries(self._ask)
        self.pins = FakePins(self._ask, self)
        self.life = FakeLife(self)
        self.mending = FakeMending(self)
        self.work = FakeWork()
        self.settings: Settings | None = None

    @asynccontextmanager
    async def open(self, settings: Settings, warm: bool = False) -> AsyncIterator[FakeBrain]:
        self.settings = settings
        if self.fails_to_open is not None:
            raise self.fails_to_open
        yield self

    @asynccontextmanager
    async def open_registry(self, settings: Settings) -> AsyncIterator[SettingRegistry]:
        yield SettingRegistry(self.rows, settings)  # type: ignore[arg-type]

    async def put_back(self, settings: Settings, file: Path, **options: Any) -> RestoreReport:
        self._ask("restore", file, options["replace"])
        return RestoreReport("2026-03-01T09:30:00+00:00", "0.1.0", 2, 2, (), ("widen",))

    async def diagnose(self, settings: Settings, error: StoreError) -> list[Check]:
        return [Check("database", False, str(error)), Check("disk", True, "enough")]

    async def add(
        self,
        paths: Sequence[Path],
        *,
        passwords: Sequence[str] = (),
        progress: Callable[[Progress], None],
    ) -> AddReport:
        self._ask("add", *paths, *passwords)
        for done, outcome in enumerate(self.outcomes):
            if done == self.stops_after:
                raise self.stops_with
            progress(Progress(outcome.path, done, len(self.outcomes)))
            progress(Progress(outcome.path, done + 1, len(self.outcomes), outcome))
        return AddReport(tuple(self.outcomes), self.notices)

    async def inspect(self, settings: Settings, path: Path, passwords: Sequence[str]) -> Reading:
        self._ask("inspect", path.name, *passwords)
        return self.reading

    async def search(
        self,
        query: str | Sequence[str],
        *,
        limit: int | None = None,
        threshold: float | None = None,
        filters: Filters,
        preset: str | None = None,
        budget: int | None = None,
    ) -> Answer:
        self._ask("search", query, limit)
        self.filters, self.preset, self.budget = filters, preset, budget
        return replace(self.answer, query=query if isinstance(query, str) else " / ".join(query))

    async def ask(self, document: str | int, question: str, *, limit: int | None = None) -> Answer:
        self._ask("ask", document, question, limit)
        self._find(document)
        return replace(self.answer, query=question)

    async def list(self) -> list[DocumentInfo]:
        self._ask("list")
        return [*self.documents.values()]

    async def show(self, document: str | int) -> DocumentDetail:
        self._ask("show", document)
        info = self._find(document)
        part = Relative(2, "torta.md", "markdown", date(2026, 3, 2))
        return DocumentDetail(info, "Lease", PAGES, {"text": 1, "blank": 1}, (part,))

    async def reindex(self, *, progress: Callable[[Progress], None]) -> ReindexReport:
        self._ask("reindex")
        return ReindexReport(self.status_now.stale, self.notices)

    async def why(
        self,
        question: str,
        document: str | int,
        *,
        quote: str | None,
        filters: Filters,
        preset: str | None,
    ) -> Explanation:
        self._ask("why", question, document, quote, preset)
        self.filters = filters
        return self.explanation

    async def pin(self, question: str, document: str | int) -> Pin:
        self._ask("pin", question, document)
        pinned = PIN if self._find(document) == LEASE else LOST_PIN
        return replace(pinned, question=question)

    async def status(self) -> Status:
        self._ask("status")
        return self.status_now

    async def doctor(self) -> Sequence[Check]:
        self._ask("doctor")
        return self.checks

    async def models(self) -> Sequence[EmbedderInfo]:
        self._ask("models")
        return (
            EmbedderInfo("bundled", "bundled", "parts-1", 512, True, True, "here", 2, 0, 1.0),
            EmbedderInfo("ollama/x", "ollama", "plain-1", None, False, True, "there", 0, 1, 0.0),
        )

    async def use_model(
        self, model: str, *, url: str | None, progress: Callable[[str, int, int], None]
    ) -> ModelChange:
        self._ask("use_model", model, url)
        progress("lease.pdf", 0, 2)
        progress("", 2, 2)
        lines = ('embedder = "ollama"', 'embedder_model = "x"')
        written = WrittenSettings(Path("/home/settings.toml"), lines, ("EMILY_EMBEDDER",))
        identity = ModelIdentity("x", "plain-1", 8)
        failures = ("torta.md: Passage 1 (page 1) has no vector and is found by words only: …",)
        return ModelChange("ollama/x", identity, "tried", 1, 2, failures, written)

    async def try_model(
        self, model: str, *, progress: Callable[[str, int, int], None], **given: Any
    ) -> EmbedderTrial:
        self._ask("try_model", model, given)
        sides = [
            Side(name, f"{name}/plain-1", 2.0, 20.0, 12.5, 150.0, 1, hit, hit, math.nan)
            for name, hit in (("bundled", 0.5), ("ollama/x", 1.0))
        ]
        change = MetricChange("hit_1", 2, 0.5, 1.0, Interval(0.5, -0.1, 1.0), 1, 0)
        return EmbedderTrial(
            2, 4, 20, 40, 2, 1, *sides, Comparison("a", "b", (change,), (), ()),
            RealQueries(3, 2 / 3, 0.8, 1, 0, (("rent", None, "lease.pdf"),)), "tried",
            ("A notice.",),
        )  # fmt: skip

    def _ask(self, *what: Any) -> None:
        self.asked.append(what)
        if self.fails is not None:
            raise self.fails

    def _find(self, document: str | int) -> DocumentInfo:
        for info in self.documents.values():
            if str(document) in (str(info.id), info.name, info.path):
                return info
        raise UnknownDocument(f"There is no document {str(document)!r}.")
