"""The JSON that every command prints with ``--json``: a contract, described in docs/json.md.

One dataclass a command. ``SCHEMA_VERSION`` changes when a field goes, changes its meaning or its
type; fields may be added under the same version.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

if TYPE_CHECKING:
    from emily.brain import Check, DocumentDetail, DocumentInfo, Pin, Status
    from emily.cli.settings import SettingInfo
    from emily.indexing.catalogue import Relative
    from emily.indexing.report import AddReport, FileOutcome, ReindexReport, RemoveReport
    from emily.measure.explanation import Explanation
    from emily.measure.query_log import LoggedQuery
    from emily.reading.pages import Correspondent, Reading
    from emily.retrieval.answer import Answer, Passage, Result, Via
    from emily.store.alerts import Alert

__all__ = [
    "SCHEMA_VERSION",
    "AddOutput",
    "AlertsOutput",
    "DoctorOutput",
    "ErrorOutput",
    "ExplainedSearchOutput",
    "InspectOutput",
    "ListOutput",
    "Output",
    "PinOutput",
    "PinsOutput",
    "QueriesOutput",
    "ReindexOutput",
    "RemoveOutput",
    "SearchOutput",
    "SettingsOutput",
    "ShowOutput",
    "StatusOutput",
    "StopOutput",
    "UnfinishedAddOutput",
    "VersionOutput",
    "WhyOutput",
    "add_output",
    "alerts_output",
    "as_text",
    "doctor_output",
    "error_output",
    "inspect_output",
    "list_output",
    "pin_output",
    "pins_output",
    "queries_output",
    "reindex_output",
    "remove_output",
    "search_output",
    "settings_output",
    "show_output",
    "status_output",
    "stop_output",
    "unfinished_add_output",
    "version_output",
    "why_output",
]

SCHEMA_VERSION = 1


@dataclass(frozen=True, kw_only=True)
class Output:
    """What every command's document has."""

    schema_version: Annotated[int, "Version of this contract."] = SCHEMA_VERSION


@dataclass(frozen=True, kw_only=True)
class DocumentPart:
    """A document as a result names it."""

    id: Annotated[int, "Id of the document, for `ask`, `show` and `remove`."]
    name: Annotated[str, "Its file name."]
    path: Annotated[str, "Absolute path of the file."]
    kind: Annotated[str, "Format as decided by content: `pdf`, `docx`, `image` …"]
    description: Annotated[str | None, "One sentence about it, if there is one."]
    vault: Annotated[str | None, "Name of the vault that it lies in, if it lies in one."] = None


@dataclass(frozen=True, kw_only=True)
class PassagePart:
    """A passage of a result."""

    pages: Annotated[
        tuple[int, int] | None,
        "First and last page it spans; `null` where the format has no pages.",
    ]
    lines: Annotated[
        tuple[int, int] | None,
        "First and last line it spans, from 1; `null` where lines mean nothing.",
    ]
    start: Annotated[int, "Offset of its first character in the document's text, from 0."]
    end: Annotated[int, "Offset behind its last character."]
    route: Annotated[str, "How its pages were read: `text`, `ocr`, `vision` …"]
    source: Annotated[
        Literal["original", "note"], "`original` text, or a `note` that the owner added."
    ]
    score: Annotated[
        float | None,
        "Probability that it helps to answer, 0 to 1; `null` in an answer by words alone.",
    ]
    text: Annotated[str, "The text, exactly as it stands from `start` to `end`."]
    citation: Annotated[
        str | None,
        "`path:line` of the sentence nearest to the question, for `emily vault open`; `null` where "
        "lines mean nothing.",
    ] = None


@dataclass(frozen=True, kw_only=True)
class ViaPart:
    """The link by which a document came up that was not found itself."""

    document: Annotated[int, "Id of the document at the other end."]
    name: Annotated[str, "Its name."]
    path: Annotated[str, "Its path."]
    kind: Annotated[str, "`wiki`, `markdown`, `field` (of front matter) or `tag`."]
    written: Annotated[str, "The link as it is written; of a tag its name."]
    line: Annotated[int, "Its line, from 1, in the note in which it stands."]
    forward: Annotated[bool, "Whether it stands in that other document; else this one links to it."]


@dataclass(frozen=True, kw_only=True)
class ResultPart:
    """A document that was found, with its passages."""

    document: Annotated[DocumentPart, "The document."]
    score: Annotated[float | None, "Score of its best passage."]
    passages: Annotated[list[PassagePart], "Its passages."]
    via: Annotated[
        ViaPart | None, "The link by which it came up, where its text is not why; else `null`."
    ] = None


@dataclass(frozen=True, kw_only=True)
class SignsPart:
    """By what one can tell whether the answer is there."""

    coverage: Annotated[float, "Share of the question that the best passage holds in words."]
    similarity: Annotated[float, "The best similarity of any passage; 0 by words alone."]
    precedents: Annotated[
        int | None,
        "How many of your questions, pinned ones and those of `emily eval`, were compared: those "
        "with figures most like these; `null` while too few are known.",
    ]
    unanswered: Annotated[int | None, "Of how many of those the answer was not there."]


@dataclass(frozen=True, kw_only=True)
class SearchOutput(Output):
    """`emily search` and `emily ask`."""

    query: Annotated[str, "The question as it was asked."]
    results: Annotated[list[ResultPart], "Best document first; none is a valid answer."]
    present: Annotated[
        float | None,
        "Probability that the archive holds an answer at all, by how the best document stands out; "
        "null where there is nothing to tell by.",
    ]
    signs: Annotated[
        SignsPart | None, "How well the best passage does; `null` without any candidate."
    ]
    notices: Annotated[list[str], "Sentences of Emily's own about this answer."]
    timings_ms: Annotated[
        dict[str, float], "Milliseconds of each stage, in the order in which they ran."
    ]


@dataclass(frozen=True, kw_only=True)
class ExplainedSearchOutput(SearchOutput):
    """The same with `--explain`."""

    trace: Annotated[dict[str, Any], "What each stage did to each candidate."]


@dataclass(frozen=True, kw_only=True)
class FilePart:
    """One file of an `add`."""

    path: Annotated[str, "Absolute path of the file."]
    outcome: Annotated[
        Literal["added", "replaced", "unchanged", "duplicate", "failed", "ignored"],
        "What became of it: `added`, `replaced`, `unchanged`, `duplicate`, `failed` or `ignored`.",
    ]
    document: Annotated[int | None, "Id of the document that holds its content, if any."]
    reason: Annotated[
        str | None,
        "Why it failed, was ignored, is a duplicate or was indexed again though it did not change; "
        "what of it was not read.",
    ]
    state: Annotated[
        Literal["read", "in part", "failed", "needs a password"] | None,
        "How far it was read: `read`, `in part`, `failed` or `needs a password`; `null` where it "
        "was not read now.",
    ]
    inside: Annotated[
        str | None, "Path of the file that it lies in, for an attachment or a packed file."
    ]


@dataclass(frozen=True, kw_only=True)
class AddOutput(Output):
    """`emily add`."""

    files: Annotated[list[FilePart], "The files, in the order they were finished."]
    notices: Annotated[list[str], "What it did to the archive: pinned questions that were lost."]


@dataclass(frozen=True, kw_only=True)
class ErrorPart:
    """What went wrong."""

    type: Annotated[str, "Name of the error, such as `UnknownDocument`."]
    message: Annotated[str, "The sentence that the user reads."]


@dataclass(frozen=True, kw_only=True)
class ErrorOutput(Output):
    """Any command that failed."""

    error: Annotated[ErrorPart, "What went wrong."]


@dataclass(frozen=True, kw_only=True)
class UnfinishedAddOutput(ErrorOutput):
    """`emily add` that ended before its time, by Ctrl-C or an error."""

    files: Annotated[list[FilePart], "The files that were finished; they are kept."]


@dataclass(frozen=True, kw_only=True)
class CorrespondentPart:
    """Who a document is from or to."""

    role: Annotated[str, "`from`, `to`, `cc`, `seller` or `buyer`."]
    name: Annotated[str, "The name, as the document writes it."]
    address: Annotated[str | None, "Address of mail, or tax number on an invoice."]


@dataclass(frozen=True, kw_only=True)
class RelativePart:
    """Another document that one points to."""

    id: Annotated[int, "Its id."]
    name: Annotated[str, "Its name."]
    kind: Annotated[str, "Its kind."]
    date: Annotated[str | None, "Its own date, ISO 8601."]


@dataclass(frozen=True, kw_only=True)
class DocumentInfoPart(DocumentPart):
    """A document as the catalogue knows it."""

    paths: Annotated[list[str], "All paths at which its content was found."]
    language: Annotated[str | None, "ISO 639-1 code, if it was recognised."]
    pages: Annotated[int, "Number of pages."]
    chunks: Annotated[int, "Number of searchable pieces."]
    characters: Annotated[int, "Length of its text."]
    bytes: Annotated[int, "Size of the file."]
    added_at: Annotated[str, "When it was added, ISO 8601 with time zone."]
    warnings: Annotated[list[str], "What of it was not read, and why."]
    author: Annotated[str | None, "Who wrote it, by its own properties."]
    date: Annotated[str | None, "Its own date, ISO 8601; `null` where none is known."]
    date_source: Annotated[
        str | None, "Where the date was found: `header`, `metadata`, `name` or `text`."
    ]
    correspondents: Annotated[list[CorrespondentPart], "Who it is from and to."]
    parent: Annotated[int | None, "Id of the document that it lies inside of, if any."]
    categories: Annotated[list[str], "Of the owner's list, once it is analysed."]


@dataclass(frozen=True, kw_only=True)
class ListOutput(Output):
    """`emily list`."""

    documents: Annotated[list[DocumentInfoPart], "All documents."]


@dataclass(frozen=True, kw_only=True)
class PagePart:
    """A page of a document."""

    number: Annotated[int, "Number of the page, from 1."]
    route: Annotated[str, "How it was read: `text`, `ocr`, `vision`, `blank`, `unread`."]
    characters: Annotated[int, "Length of its text."]
    warning: Annotated[str | None, "What of it was not read, and why."]
    confidence: Annotated[float | None, "How sure OCR was, 0 to 1; `null` for other routes."]
    pictures: Annotated[int, "How many pictures stand on it."]


@dataclass(frozen=True, kw_only=True)
class ShowOutput(Output):
    """`emily show`."""

    document: Annotated[DocumentInfoPart, "The document."]
    title: Annotated[str | None, "The title that the file gives itself."]
    pages: Annotated[list[PagePart], "Its pages in order."]
    routes: Annotated[dict[str, int], "Number of pages by route."]
    parts: Annotated[list[RelativePart], "The documents inside of it: attachments and the like."]
    thread: Annotated[list[RelativePart], "Of a mail: the others of its thread, oldest first."]


@dataclass(frozen=True, kw_only=True)
class InspectedPagePart(PagePart):
    """A page of a file that was read without being added."""

    text: Annotated[str, "Its text."]


@dataclass(frozen=True, kw_only=True)
class InspectOutput(Output):
    """`emily inspect`."""

    path: Annotated[str, "Absolute path of the file."]
    kind: Annotated[str, "Format as decided by content."]
    title: Annotated[str | None, "The title that the file gives itself."]
    author: Annotated[str | None, "Who wrote it, by its own properties."]
    date: Annotated[str | None, "Its own date, ISO 8601."]
    date_source: Annotated[
        str | None, "Where the date was found: `header`, `metadata`, `name` or `text`."
    ]
    correspondents: Annotated[list[CorrespondentPart], "Who it is from and to."]
    warnings: Annotated[list[str], "What of it was not read, and why."]
    parts: Annotated[list[str], "Names of the files inside of it."]
    pages: Annotated[list[InspectedPagePart], "Its pages in order."]


@dataclass(frozen=True, kw_only=True)
class RemoveOutput(Output):
    """`emily remove`."""

    removed: Annotated[DocumentInfoPart, "What the document was."]
    trashed: Annotated[bool, "Whether it lies in the trash; else it is forgotten."]
    documents: Annotated[int, "Documents that went: it, and those inside of it alone."]
    notices: Annotated[list[str], "As in `emily add`."]


@dataclass(frozen=True, kw_only=True)
class ReindexOutput(Output):
    """`emily reindex`."""

    reindexed: Annotated[int, "Number of documents that were indexed anew here."]
    left: Annotated[int, "Stale documents and notes that a worker is to do, or that are left."]
    stopped: Annotated[bool, "Whether `--stop` ended what a worker was asked to do."]
    notices: Annotated[list[str], "As in `emily add`."]


@dataclass(frozen=True, kw_only=True)
class AlertPart:
    """Something that is wrong, or was."""

    name: Annotated[str, "What it is about; one alert is open per name."]
    level: Annotated[Literal["warning", "critical"], "`critical` where answers are wrong."]
    text: Annotated[str, "The fact, and the command that helps."]
    first_at: Annotated[str, "When it was raised first, ISO 8601 with time zone."]
    last_at: Annotated[str, "When it was raised last."]
    count: Annotated[int, "How often it was raised."]
    acknowledged_at: Annotated[str | None, "When it was acknowledged; `null` if it was not."]
    resolved_at: Annotated[str | None, "When it was over; `null` while it is open."]


@dataclass(frozen=True, kw_only=True)
class AlertsOutput(Output):
    """`emily alerts`."""

    alerts: Annotated[list[AlertPart], "Open alerts, critical ones first."]
    resolved: Annotated[list[AlertPart], "With `--all`: those that are over, the latest first."]


@dataclass(frozen=True, kw_only=True)
class QueryPart:
    """A question of the log."""

    id: Annotated[int, "Its id, for `--forget`."]
    asked_at: Annotated[str, "When it was asked, ISO 8601 with time zone."]
    kind: Annotated[Literal["search", "ask"], "`search`, or `ask` of one document."]
    text: Annotated[str, "The question."]
    document: Annotated[int | None, "Id of the document that it was put to."]
    options: Annotated[
        dict[str, Any], "What was given with it: limit, threshold, budget, wordings …"
    ]
    preset: Annotated[str, "The preset that it ran with."]
    model: Annotated[str, "The embedder."]
    archive: Annotated[int, "Documents that the archive held."]
    arms: Annotated[dict[str, int], "How many chunks each arm brought."]
    terms: Annotated[int, "Groups of terms that the lexical arm looked for."]
    candidates: Annotated[int, "Chunks that the second stage scored."]
    pool: Annotated[int, "Documents among them."]
    slots: Annotated[list[int], "Document of each chunk that was chosen, best first."]
    best: Annotated[float | None, "Probability of the best candidate."]
    median: Annotated[float | None, "Probability of the middle candidate."]
    timings_ms: Annotated[dict[str, float], "Milliseconds by stage."]
    total_ms: Annotated[float, "Milliseconds in all, by the clock."]
    warm: Annotated[bool, "Whether the process had answered a question before."]


@dataclass(frozen=True, kw_only=True)
class QueriesOutput(Output):
    """`emily queries`."""

    queries: Annotated[list[QueryPart], "The latest first."]
    total: Annotated[int, "How many the log holds."]
    forgotten: Annotated[int, "How many `--clear` or `--forget` took out of it."]
    enabled: Annotated[bool, "Whether new questions are kept (setting `query_log`)."]


@dataclass(frozen=True, kw_only=True)
class PinPart:
    """A question with the document that it must find."""

    id: Annotated[int, "Its id, for `--remove`."]
    question: Annotated[str, "The question."]
    document: Annotated[int | None, "Id of the document; `null` where it is gone."]
    name: Annotated[str, "Name of the document."]
    path: Annotated[str, "Path of its file."]
    found: Annotated[bool | None, "Whether it was shown; `null` if it was never asked."]
    rank: Annotated[int | None, "Its place among the documents that were shown, from 1."]
    lost_by: Annotated[str | None, "The stage that lost it; `archive` where it is gone."]
    pinned_at: Annotated[str, "When it was pinned, ISO 8601 with time zone."]
    checked_at: Annotated[str | None, "When it was asked last."]


@dataclass(frozen=True, kw_only=True)
class PinOutput(Output):
    """`emily pin`."""

    pin: Annotated[PinPart, "The pinned question, with what was found."]


@dataclass(frozen=True, kw_only=True)
class PinsOutput(Output):
    """`emily pins`."""

    pins: Annotated[list[PinPart], "The pinned questions, the oldest first."]
    removed: Annotated[PinPart | None, "With `--remove`: the one that was removed."]


@dataclass(frozen=True, kw_only=True)
class TermPart:
    """A term of the question, and whether the document holds it."""

    surface: Annotated[str, "The word, as the question has it."]
    held: Annotated[
        Literal["itself", "neighbours", "not at all"],
        "`itself`; only its `neighbours` in meaning; or `not at all`.",
    ]
    times: Annotated[int, "How often the word itself stands in the document."]
    neighbours: Annotated[list[str], "Those of its neighbours that the document holds."]


@dataclass(frozen=True, kw_only=True)
class StagePart:
    """Where the document stood at a stage, by its best chunk there."""

    stage: Annotated[str, "Name of the stage."]
    rank: Annotated[int | None, "Place among the chunks, from 1, also below the stage's cut."]
    score: Annotated[float | None, "What the stage ranks by."]
    size: Annotated[float | None, "How many it lets through, or the least score that passes."]
    kept: Annotated[bool | None, "Whether it let it through; `null` if it did not come so far."]
    sentence: Annotated[str, "The same in words."]


@dataclass(frozen=True, kw_only=True)
class AbovePart:
    """A document that stood above the expected one."""

    document: Annotated[int, "Its id."]
    name: Annotated[str, "Its name."]
    rank: Annotated[int, "Place of its best chunk, from 1."]
    score: Annotated[float | None, "Score of that chunk at the stage."]


@dataclass(frozen=True, kw_only=True)
class CurePart:
    """Settings under which the document would have been shown."""

    settings: Annotated[dict[str, Any], "Name and value of each; empty where none helps."]
    verified: Annotated[bool, "Whether it was shown when the question was asked under them."]
    rank: Annotated[int | None, "Its place among the documents then."]
    sentence: Annotated[str, "The same in words."]


@dataclass(frozen=True, kw_only=True)
class QuotePart:
    """What became of the words of `--quote`."""

    found: Annotated[bool, "Whether the document's text holds them."]
    start: Annotated[int | None, "Offset of their first character."]
    end: Annotated[int | None, "Offset behind their last character."]
    pages: Annotated[list[int], "Pages that they stand on."]
    chunks: Annotated[list[int], "Places of the chunks, from 0, that hold a part of them."]
    cut: Annotated[bool, "Whether no chunk holds all of them."]
    shown: Annotated[bool, "Whether a passage that was shown holds them."]
    sentence: Annotated[str, "The same in words."]


@dataclass(frozen=True, kw_only=True)
class WhyOutput(Output):
    """`emily why`."""

    question: Annotated[str, "The question as it was asked."]
    document: Annotated[int | None, "Id of the document; `null` if it is not in the archive."]
    name: Annotated[str, "Its name, or what was given for it."]
    found: Annotated[bool, "Whether it is shown."]
    rank: Annotated[int | None, "Its place among the documents shown, from 1."]
    lost_by: Annotated[
        str | None,
        "What lost it: `archive`, `index`, `filters`, `arms`, `fusion`, `second stage`, "
        "`threshold`, `selection` or `passages`; `null` if it is shown.",
    ]
    verdict: Annotated[str, "The outcome in a sentence."]
    reasons: Annotated[list[str], "What lies before the search: unread pages, filters, language …"]
    terms: Annotated[list[TermPart], "The question's terms."]
    stages: Annotated[list[StagePart], "The stages in the order in which they run."]
    evidence: Annotated[dict[str, float] | None, "What the second stage found in its best chunk."]
    above: Annotated[list[AbovePart], "Documents above it at the stage that lost it."]
    cure: Annotated[CurePart | None, "What would have kept it; `null` if it is shown."]
    quote: Annotated[QuotePart | None, "What became of the words of `--quote`."]
    notices: Annotated[list[str], "Notices of the search itself."]


@dataclass(frozen=True, kw_only=True)
class StatusOutput(Output):
    """`emily status`."""

    home: Annotated[str, "Folder of all data."]
    database: Annotated[str, "Which database, and its state; never a password."]
    documents: Annotated[int, "Number of documents."]
    chunks: Annotated[int, "Number of searchable pieces."]
    pages: Annotated[int, "Number of pages."]
    words: Annotated[int, "Number of words in the vocabulary."]
    bytes: Annotated[int, "Size of the database."]
    languages: Annotated[dict[str, int], "Number of documents by language."]
    kinds: Annotated[dict[str, int], "Number of documents by format."]
    stale: Annotated[int, "Documents that `emily reindex` would index anew."]
    model: Annotated[str, "The embedder whose vectors the index holds."]
    problems: Annotated[list[str], "What is not as it should be."]
    alerts: Annotated[list[AlertPart], "Open alerts, critical ones first."]
    work: Annotated[
        dict[str, dict[str, int]],
        "By phase (`indexing`, `analysis`), jobs by status: `waiting`, `running` …",
    ]
    workers: Annotated[int, "How many workers there are to do it."]
    analysis: Annotated[
        dict[str, int], "Documents that are `analysed`, of these `stale`, and have `failed`."
    ]
    memory: Annotated[
        dict[str, int],
        "Memories that are `current`, of these `core`, and `proposed`, which wait for you; "
        "messages that are `waiting` to be looked through, and `failed`.",
    ]


@dataclass(frozen=True, kw_only=True)
class CheckPart:
    """One check of the doctor."""

    name: Annotated[str, "What was looked at."]
    ok: Annotated[bool, "Whether it is as it should be."]
    detail: Annotated[str, "What was found."]
    help: Annotated[str | None, "The command or line that mends it."]


@dataclass(frozen=True, kw_only=True)
class DoctorOutput(Output):
    """`emily doctor`."""

    ok: Annotated[bool, "Whether every check is."]
    checks: Annotated[list[CheckPart], "The checks."]


@dataclass(frozen=True, kw_only=True)
class StopOutput(Output):
    """`emily stop`."""

    stopped: Annotated[bool, "Whether a server was running and has been stopped."]
    served: Annotated[bool, "Whether `emily serve` was running and has ended."]


@dataclass(frozen=True, kw_only=True)
class SettingPart:
    """One setting."""

    name: Annotated[str, "Its name, for `emily config` and in `settings.toml`."]
    value: Annotated[Any, "The value in force; passwords are left out."]
    default: Annotated[Any, "The value if nothing is set."]
    bounds: Annotated[str | None, "The values allowed."]
    stale: Annotated[str | None, "What a change makes stale, until `emily reindex`."]
    source: Annotated[
        Literal["option", "environment", "database", "file", "default"],
        "Where the value comes from: `option`, `environment`, `database`, `file` or `default`.",
    ]
    description: Annotated[str, "What it is for."]
    file_only: Annotated[
        str | None, "Why `emily config set` does not set it; `null` where it does."
    ] = None


@dataclass(frozen=True, kw_only=True)
class SettingsOutput(Output):
    """`emily config list` and `emily settings`."""

    settings: Annotated[list[SettingPart], "All settings."]


@dataclass(frozen=True, kw_only=True)
class VersionOutput(Output):
    """`emily version`."""

    version: Annotated[str, "Version of Emily."]


def search_output(answer: Answer, *, explain: bool) -> SearchOutput:
    """The answer to a search or a question; with its trace if it is to be explained."""
    fields: dict[str, Any] = {
        "query": answer.query,
        "results": [_result(result) for result in answer.results],
        "present": answer.present,
        "signs": _signs(answer),
        "notices": list(answer.notices),
        "timings_ms": dict(answer.timings_ms),
    }
    if explain:
        return ExplainedSearchOutput(**fields, trace=answer.trace)
    return SearchOutput(**fields)


def _signs(answer: Answer) -> SignsPart | None:
    if answer.signs is None:
        return None
    known = answer.precedent
    return SignsPart(
        **answer.signs,
        precedents=None if known is None else known.asked,
        unanswered=None if known is None else known.unanswered,
    )


def add_output(report: AddReport) -> AddOutput:
    """What became of each file."""
    return AddOutput(files=[_file(file) for file in report.files], notices=list(report.notices))


def unfinished_add_output(
    files: Iterable[FileOutcome], type_name: str, message: str
) -> UnfinishedAddOutput:
    """What became of the files that were finished, and why the others were not."""
    error = ErrorPart(type=type_name, message=message)
    return UnfinishedAddOutput(files=[_file(file) for file in files], error=error)


def error_output(type_name: str, message: str) -> ErrorOutput:
    """A command that failed."""
    return ErrorOutput(error=ErrorPart(type=type_name, message=message))


def list_output(documents: Iterable[DocumentInfo]) -> ListOutput:
    """All documents."""
    return ListOutput(documents=[_info(document) for document in documents])


def show_output(detail: DocumentDetail) -> ShowOutput:
    """One document, page by page."""
    pages = [
        PagePart(
            number=page.number,
            route=page.route,
            characters=page.characters,
            warning=page.warning,
            confidence=page.confidence,
            pictures=page.pictures,
        )
        for page in detail.pages
    ]
    return ShowOutput(
        document=_info(detail.info),
        title=detail.title,
        pages=pages,
        routes=dict(detail.routes),
        parts=_relatives(detail.parts),
        thread=_relatives(detail.thread),
    )


def inspect_output(path: Path, reading: Reading) -> InspectOutput:
    """A file that was read without being added."""
    facts = reading.facts
    return InspectOutput(
        path=str(path),
        kind=reading.kind,
        title=reading.title,
        author=facts.author,
        date=_day(facts.date),
        date_source=facts.date_source,
        correspondents=_people(facts.correspondents),
        warnings=list(reading.warnings),
        parts=[part.name for part in reading.attachments],
        pages=[
            InspectedPagePart(
                number=page.number,
                route=page.route,
                characters=len(page.text),
                warning=page.warning,
                confidence=page.confidence,
                pictures=page.pictures,
                text=page.text,
            )
            for page in reading.pages
        ],
    )


def remove_output(report: RemoveReport) -> RemoveOutput:
    """What was removed."""
    return RemoveOutput(
        removed=_info(report.document),
        trashed=report.trashed,
        documents=report.documents,
        notices=list(report.notices),
    )


def reindex_output(report: ReindexReport, left: int = 0, *, stopped: bool = False) -> ReindexOutput:
    """How many documents were indexed anew, or are to be."""
    return ReindexOutput(
        reindexed=report.documents, left=left, stopped=stopped, notices=list(report.notices)
    )


def alerts_output(alerts: Iterable[Alert], resolved: Iterable[Alert]) -> AlertsOutput:
    """What is wrong, and what was."""
    return AlertsOutput(
        alerts=[_alert(alert) for alert in alerts],
        resolved=[_alert(alert) for alert in resolved],
    )


def queries_output(
    queries: Iterable[LoggedQuery], total: int, *, forgotten: int, enabled: bool
) -> QueriesOutput:
    """The log of questions."""
    return QueriesOutput(
        queries=[_query(item) for item in queries],
        total=total,
        forgotten=forgotten,
        enabled=enabled,
    )


def pin_output(pin: Pin) -> PinOutput:
    """A question that was pinned."""
    return PinOutput(pin=_pin(pin))


def pins_output(pins: Iterable[Pin], removed: Pin | None) -> PinsOutput:
    """The pinned questions."""
    return PinsOutput(
        pins=[_pin(pin) for pin in pins], removed=None if removed is None else _pin(removed)
    )


def why_output(found: Explanation) -> WhyOutput:
    """What became of an expected document."""
    cure, quote = found.cure, found.quote
    return WhyOutput(
        question=found.question,
        document=found.document,
        name=found.name,
        found=found.rank is not None,
        rank=found.rank,
        lost_by=found.lost_by,
        verdict=found.verdict,
        reasons=list(found.reasons),
        terms=[
            TermPart(
                surface=term.surface,
                held=term.held,
                times=term.times,
                neighbours=list(term.neighbours),
            )
            for term in found.terms
        ],
        stages=[StagePart(**dataclasses.asdict(stage)) for stage in found.stages],
        evidence=None if found.evidence is None else dict(found.evidence),
        above=[AbovePart(**dataclasses.asdict(item)) for item in found.above],
        cure=None
        if cure is None
        else CurePart(
            settings=dict(cure.settings),
            verified=cure.verified,
            rank=cure.rank,
            sentence=cure.sentence,
        ),
        quote=None
        if quote is None
        else QuotePart(
            found=quote.found,
            start=quote.start,
            end=quote.end,
            pages=list(quote.pages),
            chunks=list(quote.chunks),
            cut=quote.cut,
            shown=quote.shown,
            sentence=quote.sentence,
        ),
        notices=list(found.notices),
    )


def status_output(status: Status) -> StatusOutput:
    """The state of the archive."""
    return StatusOutput(
        home=status.home,
        database=status.database,
        documents=status.documents,
        chunks=status.chunks,
        pages=status.pages,
        words=status.words,
        bytes=status.bytes,
        languages=dict(status.languages),
        kinds=dict(status.kinds),
        stale=status.stale,
        model=status.model,
        problems=list(status.problems),
        alerts=[_alert(alert) for alert in status.alerts],
        work={phase: dict(found) for phase, found in status.work.items()},
        workers=status.workers,
        analysis=dict(status.analysis),
        memory=dict(status.memory),
    )


def doctor_output(checks: Sequence[Check]) -> DoctorOutput:
    """What the doctor found."""
    parts = [
        CheckPart(name=check.name, ok=check.ok, detail=check.detail, help=check.help)
        for check in checks
    ]
    return DoctorOutput(ok=all(part.ok for part in parts), checks=parts)


def stop_output(stopped: bool, *, served: bool) -> StopOutput:
    """Whether servers were stopped."""
    return StopOutput(stopped=stopped, served=served)


def settings_output(settings: Iterable[SettingInfo]) -> SettingsOutput:
    """All settings."""
    parts = [
        SettingPart(
            name=setting.name,
            value=setting.value,
            default=setting.default,
            bounds=setting.bounds,
            stale=setting.stale,
            source=setting.source,
            description=setting.description,
            file_only=setting.file_only,
        )
        for setting in settings
    ]
    return SettingsOutput(settings=parts)


def version_output(version: str) -> VersionOutput:
    """The version."""
    return VersionOutput(version=version)


def as_text(document: Output, encoding: str) -> str:
    """One JSON document as text that can be written in ``encoding``, whatever it holds.

    Where that is not UTF-8, all beyond ASCII is escaped. A lone surrogate (a byte of a file
    name that is not UTF-8) is always escaped: JSON can say it, UTF-8 cannot.
    """
    utf8 = encoding.lower().replace("_", "-") in ("utf-8", "utf8")
    text = json.dumps(
        dataclasses.asdict(document), ensure_ascii=not utf8, indent=2, allow_nan=False
    )
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _result(result: Result) -> ResultPart:
    document = result.document
    return ResultPart(
        document=DocumentPart(
            id=document.id,
            name=document.name,
            path=document.path,
            kind=document.kind,
            description=document.description,
            vault=document.vault,
        ),
        score=result.score,
        passages=[_passage(passage, document.path) for passage in result.passages],
        via=None if result.via is None else _via(result.via),
    )


def _via(via: Via) -> ViaPart:
    return ViaPart(
        document=via.document,
        name=via.name,
        path=via.path,
        kind=via.kind,
        written=via.written,
        line=via.line,
        forward=via.forward,
    )


def _passage(passage: Passage, path: str) -> PassagePart:
    return PassagePart(
        pages=passage.pages,
        lines=passage.lines,
        start=passage.start,
        end=passage.end,
        route=passage.route,
        source=passage.source,
        score=passage.score,
        text=passage.text,
        citation=None if passage.focus_line is None else f"{path}:{passage.focus_line}",
    )


def _file(file: FileOutcome) -> FilePart:
    return FilePart(
        path=str(file.path),
        outcome=file.outcome,
        document=file.document,
        reason=file.reason,
        state=file.state,
        inside=None if file.inside is None else str(file.inside),
    )


def _info(info: DocumentInfo) -> DocumentInfoPart:
    return DocumentInfoPart(
        id=info.id,
        name=info.name,
        path=info.path,
        kind=info.kind,
        description=info.description,
        paths=list(info.paths),
        language=info.language,
        pages=info.pages,
        chunks=info.chunks,
        characters=info.characters,
        bytes=info.bytes,
        added_at=info.added_at.isoformat(),
        warnings=list(info.warnings),
        author=info.author,
        date=_day(info.date),
        date_source=info.date_source,
        correspondents=_people(info.correspondents),
        parent=info.parent,
        categories=list(info.categories),
    )


def _alert(alert: Alert) -> AlertPart:
    return AlertPart(
        name=alert.name,
        level=alert.level,
        text=alert.text,
        first_at=alert.first_at.isoformat(),
        last_at=alert.last_at.isoformat(),
        count=alert.count,
        acknowledged_at=_moment(alert.acknowledged_at),
        resolved_at=_moment(alert.resolved_at),
    )


def _query(item: LoggedQuery) -> QueryPart:
    return QueryPart(
        id=item.id,
        asked_at=item.asked_at.isoformat(),
        kind=item.kind,
        text=item.text,
        document=item.document_id,
        options=dict(item.options),
        preset=item.preset,
        model=item.model,
        archive=item.archive,
        arms=dict(item.arms),
        terms=item.terms,
        candidates=item.candidates,
        pool=item.pool,
        slots=list(item.slots),
        best=item.best,
        median=item.median,
        timings_ms=dict(item.timings),
        total_ms=item.total_ms,
        warm=item.warm,
    )


def _pin(pin: Pin) -> PinPart:
    return PinPart(
        id=pin.id,
        question=pin.question,
        document=pin.document_id,
        name=pin.name,
        path=pin.path,
        found=pin.found,
        rank=pin.rank,
        lost_by=pin.lost_by,
        pinned_at=pin.pinned_at.isoformat(),
        checked_at=_moment(pin.checked_at),
    )


def _moment(at: dt.datetime | None) -> str | None:
    return None if at is None else at.isoformat()


def _people(people: Iterable[Correspondent]) -> list[CorrespondentPart]:
    return [
        CorrespondentPart(role=person.role, name=person.name, address=person.address)
        for person in people
    ]


def _day(date: dt.date | None) -> str | None:
    return None if date is None else date.isoformat()


def _relatives(relatives: Iterable[Relative]) -> list[RelativePart]:
    return [
        RelativePart(id=item.id, name=item.name, kind=item.kind, date=_day(item.date))
        for item in relatives
    ]
