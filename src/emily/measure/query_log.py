"""The log of the owner's questions: what was asked, and what each stage made of it.

The standing checks and ``emily eval --real`` read it. It stays in the archive's database, holds
no text of documents, and is the owner's: off by the setting ``query_log``, cleared by
``emily queries --clear``. A measurement never writes to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import Any, Literal

from psycopg.types.json import Jsonb

from emily.errors import InputError
from emily.retrieval.answer import Answer
from emily.retrieval.filters import Filters
from emily.retrieval.operators import read_operators
from emily.settings import Settings
from emily.store import Connection, Database, statement
from emily.store.alerts import Alerts

__all__ = ["ALERTS", "LoggedQuery", "QueryKind", "QueryLog", "entry_of"]

QueryKind = Literal["search", "ask"]

ALERTS = ("arms", "slots", "separation", "latency")
"""The standing checks that rest on the log, and their alerts."""


@dataclass(frozen=True, slots=True)
class LoggedQuery:
    """A question of the owner's.

    Attributes:
        id: ascends with time.
        asked_at: when.
        kind: ``search``, or ``ask`` if it was put to one document.
        text: the question.
        document_id: the document that it was put to; it may be gone by now.
        options: what was given with it: ``limit``, ``threshold``, ``budget``, other wordings
            (``also``), ``operators`` where they were off, ``filters`` as in the trace.
        preset: name of the preset that it ran with.
        model: the embedder.
        archive: how many documents the archive held.
        arms: for each arm how many chunks it brought.
        terms: groups of terms that the lexical arm looked for.
        candidates: chunks that the second stage scored.
        pool: documents among them.
        slots: the document of each chunk that was chosen, best first; empty for no result.
        best: probability of the best candidate; ``None`` by words alone or without a candidate.
        median: probability of the middle candidate.
        timings: milliseconds by stage.
        total_ms: milliseconds of the whole search, by the clock.
        warm: whether the process had answered a question before; else models were loaded.
    """

    id: int
    asked_at: datetime
    kind: QueryKind
    text: str
    document_id: int | None
    options: Mapping[str, Any]
    preset: str
    model: str
    archive: int
    arms: Mapping[str, int]
    terms: int
    candidates: int
    pool: int
    slots: tuple[int, ...]
    best: float | None
    median: float | None
    timings: Mapping[str, float]
    total_ms: float
    warm: bool

    @property
    def empty_arms(self) -> tuple[str, ...]:
        """Arms that brought nothing."""
        return tuple(name for name, found in self.arms.items() if not found)

    @property
    def narrowed(self) -> bool:
        """Whether filters, phrases or words to leave out may honestly leave an arm nothing."""
        if self.options.get("filters"):
            return True
        return bool(self.options.get("operators", True)) and read_operators(self.text).active

    @property
    def documents(self) -> int:
        """How many documents were shown."""
        return len(set(self.slots))


class QueryLog:
    """Writes and reads the log of one archive."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._settings = settings

    async def write(self, entry: Mapping[str, Any]) -> int:
        """Add an entry of ``entry_of`` and keep the log within its bounds; gives its id.

        Raises:
            StoreError: the database cannot take it.
        """

        async def work(connection: Connection) -> int:
            cursor = await connection.execute(statement("log_query"), entry)
            row = await cursor.fetchone()
            assert row is not None
            await connection.execute(statement("trim_query_log"), self._bounds)
            return int(row["id"])

        return await self._database.run(work)

    async def trim(self) -> int:
        """Forget what is older, or more, than the settings allow; gives how many."""
        return await self._database.execute("trim_query_log", self._bounds)

    async def recent(self, limit: int | None = None) -> Sequence[LoggedQuery]:
        """The latest questions, the latest first; all of them for ``None``."""
        rows = await self._database.fetch("recent_queries", {"limit": limit})
        return [LoggedQuery(**{**row, "slots": tuple(row["slots"])}) for row in rows]

    async def count(self) -> int:
        """How many questions it holds."""
        row = await self._database.fetch_one("count_queries")
        return 0 if row is None else int(row["queries"])

    async def clear(self, identity: int | None = None) -> int:
        """Forget all questions, or one by its id; gives how many were forgotten.

        With all of them go the alerts that rest on them.

        Raises:
            InputError: there is no question of that id.
        """
        # What is no bigint cannot be an id either, and the database would refuse it.
        known = identity is None or 0 < identity < 2**63
        gone = await self._database.execute("clear_queries", {"id": identity}) if known else 0
        if identity is not None and not gone:
            raise InputError(f"The log holds no question {identity}. See: emily queries")
        if identity is None:
            for name in ALERTS:
                await Alerts(self._database).resolve(name)
        return gone

    @property
    def _bounds(self) -> dict[str, int]:
        return {"days": self._settings.query_log_days, "size": self._settings.query_log_size}


def entry_of(
    answer: Answer,
    kind: QueryKind,
    *,
    milliseconds: float,
    warm: bool,
    document: int | None = None,
    options: Mapping[str, Any] | None = None,
    filters: Filters | None = None,
) -> dict[str, Any]:
    """What the log keeps of an answer: the parameters of its statement.

    Args:
        answer: with its trace.
        kind: of the question.
        milliseconds: the whole search took, by the clock.
        warm: whether the process had answered a question before.
        document: that the question was put to.
        options: that were given with it; what is ``None`` or empty was not.
        filters: that were given with it.
    """
    trace = answer.trace
    ranked = trace.get("second_stage", {}).get("candidates", [])
    documents = {item["chunk"]: item.get("document") for item in ranked}
    probabilities = [item["probability"] for item in ranked if item["probability"] is not None]
    given = {name: value for name, value in (options or {}).items() if value not in (None, [])}
    if filters is not None and filters.active:
        given["filters"] = filters.as_json()
    return {
        "kind": kind,
        "text": answer.query,
        "document_id": document,
        "options": Jsonb(given),
        "preset": trace.get("preset", {}).get("name", "default"),
        "model": trace.get("index", {}).get("model", ""),
        "archive": trace.get("index", {}).get("documents", 0),
        "arms": Jsonb(
            {
                stage.removesuffix("_arm"): len(record.get("ranking", ()))
                for stage, record in trace.items()
                if stage.endswith("_arm")
            }
        ),
        "terms": len(trace.get("neighbours", {}).get("terms", ())),
        "candidates": len(ranked),
        "pool": len({document for document in documents.values() if document is not None}),
        "slots": [
            documents[chunk]
            for chunk in trace.get("selection", {}).get("chosen", ())
            if documents.get(chunk) is not None
        ],
        "best": max(probabilities, default=None),
        "median": median(probabilities) if probabilities else None,
        "timings": Jsonb(dict(answer.timings_ms)),
        "total_ms": milliseconds,
        "warm": warm,
    }
