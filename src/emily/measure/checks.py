"""Standing checks on real traffic and on the index: failures that look like success.

Each judges the latest questions of the log, or the rows of the index, by one number with a
stated threshold. With too few questions it says nothing. docs/checks.md tells what each means.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from emily.measure.query_log import ALERTS, LoggedQuery, QueryLog
from emily.models.protocols import ModelIdentity
from emily.settings import Settings
from emily.store import Database
from emily.store.alerts import AlertLevel, Alerts

__all__ = [
    "Check",
    "StandingChecks",
    "arms_check",
    "latency_check",
    "separation_check",
    "slots_check",
    "staleness_check",
    "vectors_check",
]

WINDOW = 30
"""Latest questions that are judged: few enough that a fault shows, and is over, within a day."""

FEWEST = 20
"""Questions below which nothing is said: at a true share of 10 %, half of 20 or more come about
by chance once in 100,000 times (binomial)."""

EMPTY_SHARE = 0.5
"""Of 480 questions to six sound archives one had an empty arm (docs/checks.md); at a half something
is broken."""

SAME_DOCUMENT_SHARE = 0.5
"""Different questions whose every slot goes to the same document."""

SINGLE_DOCUMENT_SHARE = 0.9
"""Questions of which one document takes every slot, whichever it is; sound archives: 5 %."""

FEWEST_SLOTS, FEWEST_DOCUMENTS = 3, 5
"""Only a search with so many slots, and so many documents to fill them, tells of them."""

SEPARATION = 0.5
"""Least difference of the best and the middle candidate in log odds, in the median of the
questions: 0.5 is odds of 1.6 to 1. Sound archives have 3 to 4 (docs/checks.md)."""

FEWEST_CANDIDATES = 5

SLOWER, SLOWER_MS = 2.0, 100.0
"""A search is slower if it takes twice the time and a tenth of a second more: other work on the
machine makes it up to twice as slow for a while, and less than 0.1 s is not felt (Nielsen,
"Usability Engineering", 1993)."""

_EARLIER = 200  # questions before the window, that its latency is compared with
_SAMPLE = 2000  # newest vectors that are looked at between two examinations of them all


@dataclass(frozen=True, slots=True)
class Check:
    """One part examined: whether it works, what was seen, and what mends it.

    ``level`` is that of the alert that a standing check raises when it fails; ``judged`` is
    whether there was enough to judge by: what could not be judged is not told as working.
    """

    name: str
    ok: bool
    detail: str
    help: str | None = None
    level: AlertLevel = "warning"
    judged: bool = True


class StandingChecks:
    """Runs the checks of one archive, and raises and resolves their alerts."""

    def __init__(
        self,
        database: Database,
        settings: Settings,
        model: ModelIdentity,
        fingerprint: str,
    ) -> None:
        """Bind to an archive.

        Args:
            database: the store.
            settings: whether there is a log to judge by.
            model: the embedder.
            fingerprint: of the settings that the index should have been made with.
        """
        self._database = database
        self._settings = settings
        self._log = QueryLog(database, settings)
        self._alerts = Alerts(database)
        self._model = model
        self._fingerprint = fingerprint
        self._revision: int | None = None  # of the index when it was looked at

    async def run(self, *, whole: bool = False) -> list[Check]:
        """Judge traffic and index; an alert is raised for what fails, resolved for what passes.

        Args:
            whole: look at every vector, not only at the newest, and at an index that has not
                changed since it was looked at.

        Raises:
            StoreError: the database cannot be asked.
        """
        await self._log.trim()
        checks = [*await self._traffic(), *await self._index(whole=whole)]
        for check in checks:
            if check.ok:
                await self._alerts.resolve(check.name)
            else:
                text = check.detail if check.help is None else f"{check.detail} {check.help}"
                await self._alerts.raise_alert(check.name, check.level, text)
        return checks

    async def _traffic(self) -> list[Check]:
        if not self._settings.query_log:
            off = "no questions are kept (setting query_log), so nothing is known of it"
            return [Check(name, True, off, judged=False) for name in ALERTS]
        latest = await self._log.recent(2 * (WINDOW + _EARLIER))
        # A search by another preset or model is another instrument.
        queries = [
            item
            for item in latest
            if (item.preset, item.model) == (latest[0].preset, latest[0].model)
            and item.kind == "search"
            and item.archive
            and not item.options.get("filters")
        ]
        names = await self._names(queries[:WINDOW])
        return [
            arms_check(queries),
            slots_check(queries, names),
            separation_check(queries),
            latency_check(queries),
        ]

    async def _names(self, queries: Sequence[LoggedQuery]) -> dict[int, str]:
        documents = sorted({document for item in queries for document in item.slots})
        rows = await self._database.fetch("document_names", {"documents": documents})
        return {row["id"]: row["name"] for row in rows}

    async def _index(self, *, whole: bool) -> list[Check]:
        revision = await self._database.fetch_one("revision_number")
        assert revision is not None
        if not whole and revision["number"] == self._revision:
            return []
        self._revision = revision["number"]
        facts = await self._database.fetch_one(
            "index_faults", {"fingerprint": self._fingerprint, **self._model.parameters}
        )
        seen = await self._database.fetch_one(
            "vector_faults",
            {"dimension": self._model.dimension, "limit": None if whole else _SAMPLE},
        )
        assert facts is not None
        assert seen is not None
        return [vectors_check(facts, seen, str(self._model)), staleness_check(facts)]


def arms_check(queries: Sequence[LoggedQuery]) -> Check:
    """An arm that brings nothing: the other one answers alone, and nobody is told.

    A question without any term is none that the lexical arm could have found something for, and
    one with filters, phrases or words to leave out may leave both arms nothing.

    Args:
        queries: the latest first, to the whole archive.
    """
    queries = [item for item in queries if not item.narrowed]
    said = []
    for arm in sorted({name for item in queries for name in item.arms}):
        asked = [item for item in queries if arm in item.arms and (arm != "lexical" or item.terms)][
            :WINDOW
        ]
        empty = sum(not item.arms[arm] for item in asked)
        if len(asked) < FEWEST:
            continue
        said.append(f"the {arm} arm was empty in {empty} of {len(asked)} searches")
        if empty >= EMPTY_SHARE * len(asked):
            return Check(
                "arms",
                False,
                f"The {arm} arm brought nothing in {empty} of the last {len(asked)} searches.",
                "emily search QUESTION --explain says why it is empty; emily doctor examines it.",
                "critical",
            )
    return Check("arms", True, "; ".join(said)) if said else _too_few("arms", queries)


def slots_check(queries: Sequence[LoggedQuery], names: Mapping[int, str]) -> Check:
    """One document that takes every slot, while others were candidates.

    Args:
        queries: the latest first, to the whole archive.
        names: of documents.
    """
    found: dict[str, LoggedQuery] = {}
    for item in queries:
        if len(item.slots) >= FEWEST_SLOTS and item.pool >= FEWEST_DOCUMENTS:
            found.setdefault(item.text.casefold(), item)  # the same question twice says no more
    asked = list(found.values())[:WINDOW]
    if len(asked) < FEWEST:
        return _too_few("slots", asked)
    taken = Counter(item.slots[0] for item in asked if item.documents == 1)
    single = taken.total()
    document, most = max(taken.items(), key=lambda pair: pair[1], default=(0, 0))
    if most >= SAME_DOCUMENT_SHARE * len(asked):
        return Check(
            "slots",
            False,
            f"Document {document}, {names.get(document, 'now removed')}, takes every place in "
            f"{most} of the last {len(asked)} searches with different questions.",
            f"emily why QUESTION --doc OTHER says what stands below it; emily show {document}",
        )
    if single >= SINGLE_DOCUMENT_SHARE * len(asked):
        return Check(
            "slots",
            False,
            f"One document takes every place in {single} of the last {len(asked)} searches, "
            f"though each had {FEWEST_DOCUMENTS} or more to choose from.",
            "emily search QUESTION --explain shows what stood below.",
        )
    return Check("slots", True, f"{single} of {len(asked)} searches show a single document")


def separation_check(queries: Sequence[LoggedQuery]) -> Check:
    """Scores that do not separate: a second stage that says the same of everything.

    Args:
        queries: the latest first, to the whole archive.
    """
    gaps = []
    for item in queries:
        if item.best is None or item.median is None or item.candidates < FEWEST_CANDIDATES:
            continue
        gaps.append(_log_odds(item.best) - _log_odds(item.median))
    gaps = gaps[:WINDOW]
    if len(gaps) < FEWEST:
        return _too_few("separation", gaps)
    middle = median(gaps)
    detail = (
        f"the best candidate's odds are {math.exp(min(middle, 50.0)):,.1f} times the middle one's "
        f"(median of {len(gaps)} searches)"
    )
    if middle < SEPARATION:
        return Check(
            "separation",
            False,
            f"The scores do not separate: {detail}; below {math.exp(SEPARATION):.1f} the order "
            "says nothing.",
            "emily doctor examines the models; emily settings shows what was changed.",
            "critical",
        )
    return Check("separation", True, detail)


def latency_check(queries: Sequence[LoggedQuery]) -> Check:
    """Searches that take longer than they used to, like with like: warm ones, or first ones.

    Args:
        queries: the latest first, to the whole archive.
    """
    said = []
    for warm, name in ((True, "a search"), (False, "the first search of a program")):
        alike = [item for item in queries if item.warm == warm and item.candidates]
        now, before = alike[:FEWEST], alike[FEWEST : FEWEST + _EARLIER]
        if min(len(now), len(before)) < FEWEST:
            continue
        new = median(item.total_ms for item in now)
        old = median(item.total_ms for item in before)
        said.append(f"{name} takes {new:,.0f} ms, before that {old:,.0f} ms (medians)")
        if new > SLOWER * old and new > old + SLOWER_MS:
            stage = _slowed(now, before)
            return Check(
                "latency",
                False,
                f"The last {len(now)} searches took {new:,.0f} ms each (median) and the "
                f"{len(before)} before them {old:,.0f} ms; the stage {stage} grew most.",
                "emily doctor; emily search QUESTION --explain shows the time of each stage.",
            )
    if not said:
        return _too_few("latency", queries, 2 * FEWEST)
    return Check("latency", True, "; ".join(said))


def vectors_check(facts: Mapping[str, Any], seen: Mapping[str, Any], model: str) -> Check:
    """Vectors that are missing, of another model, or no unit vectors: NaN, infinite, zero.

    Args:
        facts: a row of ``index_faults``.
        seen: a row of ``vector_faults``.
        model: the embedder's name.
    """
    faults = []
    if facts["other_model"]:
        faults.append(
            f"{facts['other_model']} documents have vectors of another model than {model}"
        )
    if seen["wrong_dimension"]:
        faults.append(f"{seen['wrong_dimension']} vectors are not of the dimension of {model}")
    if seen["wrong_length"]:
        faults.append(
            f"{seen['wrong_length']} vectors are not finite, zero or not of length 1"
            + (f" (document {seen['example']})" if seen["example"] else "")
        )
    level: AlertLevel = "critical" if faults else "warning"
    if facts["without_vector"]:
        faults.append(
            f"{facts['without_vector']} of {facts['chunks']} chunks have no vector and are found "
            f"by words only (document {facts['example']})"
        )
    if not faults:
        return Check("vectors", True, f"{seen['vectors']} vectors are of {model} and of length 1")
    return Check(
        "vectors",
        False,
        f"{'; '.join(faults)}.",
        "emily reindex embeds what is of another model again; for a document that is named: "
        "emily remove DOC, then emily add PATH",
        level,
    )


def staleness_check(facts: Mapping[str, Any]) -> Check:
    """Rows that were made with other settings than those in force."""
    if facts["stale"]:
        return Check(
            "stale",
            False,
            f"{facts['stale']} of {facts['documents']} documents were indexed with other settings.",
            "emily reindex",
        )
    return Check("stale", True, f"{facts['documents']} documents, all by the settings in force")


def _slowed(now: Sequence[LoggedQuery], before: Sequence[LoggedQuery]) -> str:
    """The stage whose median grew most."""

    def typical(queries: Sequence[LoggedQuery], stage: str) -> float:
        return median(item.timings.get(stage, 0.0) for item in queries)

    stages = sorted({stage for item in now for stage in item.timings})
    return max(stages, key=lambda name: typical(now, name) - typical(before, name), default="?")


def _log_odds(probability: float) -> float:
    bounded = min(max(probability, 1e-9), 1.0 - 1e-9)
    return math.log(bounded / (1.0 - bounded))


def _too_few(name: str, seen: Sequence[object], fewest: int = FEWEST) -> Check:
    """Nothing is said yet; the searches seen may be enough and yet not alike."""
    noun = "search" if len(seen) == 1 else "searches"
    detail = f"not enough searches yet: {len(seen)} {noun} to judge by; {fewest} are needed"
    return Check(name, True, detail, judged=False)
