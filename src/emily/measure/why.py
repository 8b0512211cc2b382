"""Why a question finds a document or does not: the search is run again and taken apart.

The same retriever answers all the time, under the settings in force and under others: with arms
deep enough to see where the document really stands, and with what should have kept it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from emily.errors import ModelMismatch, UnknownDocument
from emily.indexing.catalogue import Catalogue, DocumentDetail
from emily.measure.explanation import (
    Above,
    Cure,
    Explanation,
    Held,
    Lost,
    StageSight,
    TermSight,
)
from emily.measure.loss import Loss, LossOf, loss_of, records_of
from emily.measure.quotes import see_quote
from emily.models.protocols import ModelIdentity
from emily.retrieval.answer import Answer
from emily.retrieval.filters import Filters
from emily.retrieval.presets import preset_of
from emily.retrieval.retriever import Retriever
from emily.settings import Settings
from emily.store import Database

__all__ = ["Why"]

_DEEPEST = 20_000
"""Chunks that an arm is asked for at most to see how far down a document stands; more take
minutes, and no setting goes so far."""

_STEPS = 6  # settings that may have to give way, one after the other
_MOST_ABOVE = 5
_MOST = {"arm_size": 1000, "pool_size": 1000, "result_limit": 100}  # their bounds

_SETTING_OF: dict[Loss, str] = {
    "arms": "arm_size",
    "fusion": "pool_size",
    "second stage": "result_limit",
    "threshold": "threshold",
    "selection": "result_limit",
}


@dataclass(frozen=True, slots=True)
class _Case:
    """One question with the document that it should find, and the runs about it.

    Attributes:
        question: as it is asked.
        document: id of the document.
        name: of the document.
        filters: of the search.
        preset: of the search.
        base: the answer as the owner gets it.
        alone: the answer inside the document, all of its chunks scored.
        deep: the answer with arms deep enough to bring the document, if they can.
        wide: the answer with every candidate of the arms in the pool.
    """

    question: str
    document: int
    name: str
    filters: Filters
    preset: str | None
    base: Answer
    alone: Answer
    deep: Answer
    wide: Answer

    @property
    def loss(self) -> LossOf:
        return loss_of(self.base, self.document)


class Why:
    """Explains searches of one archive; it only reads, and no query log sees it."""

    def __init__(
        self,
        database: Database,
        catalogue: Catalogue,
        retriever: Retriever,
        settings: Settings,
        model: ModelIdentity,
        fingerprint: str,
    ) -> None:
        """Bind to an archive.

        Args:
            database: the store.
            catalogue: finds the document.
            retriever: that answers the owner's questions.
            settings: in force.
            model: the embedder.
            fingerprint: of the settings that the index should have been made with.
        """
        self._database = database
        self._catalogue = catalogue
        self._retriever = retriever
        self._settings = settings
        self._model = model
        self._fingerprint = fingerprint

    async def explain(
        self,
        question: str,
        document: str | int,
        *,
        quote: str | None = None,
        filters: Filters | None = None,
        preset: str | None = None,
    ) -> Explanation:
        """What became of a document in a search.

        Args:
            question: what is asked.
            document: that was expected, by id, exact name or path.
            quote: words of the document that the answer should have shown.
            filters: of the search.
            preset: of the search.

        Raises:
            AmbiguousDocument: several documents go by that name.
            InputError: the question cannot be asked.
            StoreUnavailable: the database cannot be reached.
        """
        try:
            identity = await self._catalogue.resolve(document)
        except UnknownDocument as error:
            return Explanation(
                question,
                None,
                str(document),
                None,
                "archive",
                f"{document} is not in the archive, so no search can find it.",
                (f"{error} Add a file with: emily add PATH",),
            )
        detail = await self._catalogue.detail(identity)
        chunks = await self._database.fetch("chunk_standing", {"document_id": identity})
        reasons = [*_reading_reasons(detail), *_vector_reasons(chunks)]
        reasons += await self._index_reasons(identity)
        name = detail.info.name
        try:
            base = await self._retriever.search(
                question, filters=filters or Filters(), preset=preset
            )
        except ModelMismatch as error:
            verdict = f"{name} is not found: the search refuses the index."
            return Explanation(
                question, identity, name, None, "index", verdict, (*reasons, str(error))
            )
        outside = await self._outside(identity, filters)
        if outside:
            return await self._filtered_out(
                question, identity, detail, base, preset, [*reasons, *outside]
            )
        case = await self._case(question, identity, detail, base, filters, preset, len(chunks))
        reasons += _language_reasons(detail, base, self._settings)
        loss = case.loss
        seen = None
        if quote is not None:
            seen = await see_quote(self._database, identity, chunks, quote, base)
        own = _best(records_of(case.alone.trace, "second_stage", identity))
        return Explanation(
            base.query,
            identity,
            name,
            loss.rank,
            loss.stage,
            _verdict(name, loss),
            tuple(reasons),
            _terms(case),
            tuple(self._stages(case)),
            None if own is None else own.get("evidence"),
            _above(case),
            None if loss.stage is None else await self._cure(case),
            seen,
            base.notices,
        )

    async def _case(
        self,
        question: str,
        document: int,
        detail: DocumentDetail,
        base: Answer,
        filters: Filters | None,
        preset: str | None,
        chunks: int,
    ) -> _Case:
        """Run what the explanation needs beside the answer itself."""
        chosen = self._preset(preset)
        limits = filters or Filters()
        alone = await self._under(preset, ask_pool_size=max(chunks, 1)).ask(document, question)
        reach = {arm for arm in _arms(alone) if _ranking(alone, arm)}
        deep, size = base, max(chosen.arm_size, 100)
        while not _brought(deep, document, reach) and size <= 4 * _DEEPEST:
            size = min(size * 4, _DEEPEST)
            deep = await self._under(preset, arm_size=size, pool_size=2 * size).search(
                question, filters=limits, preset=preset
            )
            if size == _DEEPEST or all(len(_ranking(deep, arm)) < size for arm in _arms(deep)):
                break
        wide = base
        if loss_of(base, document).stage == "fusion":
            wide = await self._widened(base, question, limits, preset)
        return _Case(question, document, detail.info.name, limits, preset, base, alone, deep, wide)

    async def _widened(
        self,
        answer: Answer,
        question: str,
        filters: Filters,
        preset: str | None,
        values: Mapping[str, Any] | None = None,
    ) -> Answer:
        """The same search with all of its candidates in the pool."""
        everything = max(len(records_of(answer.trace, "fusion")), 1)
        return await self._under(preset, **{**(values or {}), "pool_size": everything}).search(
            question, filters=filters, preset=preset
        )

    def _preset(self, preset: str | None) -> Any:
        return preset_of(self._settings, preset)

    def _under(self, preset: str | None, **values: Any) -> Retriever:
        """The retriever under other settings; ``ask`` knows no preset but that of the settings."""
        if preset is not None:
            values["preset"] = preset
        return self._retriever.under(**values)

    # Before the search

    async def _index_reasons(self, document: int) -> list[str]:
        row = await self._database.fetch_one(
            "index_of_document",
            {
                "document_id": document,
                "fingerprint": self._fingerprint,
                **self._model.parameters,
            },
        )
        reasons = []
        if row is not None and not row["same_model"]:
            reasons.append(
                f"Its vectors are of {row['model']}, and the embedder is now {self._model}. "
                "Embed it again with: emily reindex"
            )
        elif row is not None and not row["same_settings"]:
            reasons.append(
                "Its index is stale: it was made with other settings. Bring it up to date with: "
                "emily reindex"
            )
        return reasons

    async def _outside(self, document: int, filters: Filters | None) -> list[str]:
        """The filters that leave the document out, each by itself."""
        if filters is None or not filters.active:
            return []
        parts = {
            "--from": Filters(since=filters.since),
            "--to": Filters(until=filters.until),
            "--type": Filters(kinds=filters.kinds),
            "--lang": Filters(languages=filters.languages),
            "--in": Filters(folder=filters.folder),
        }
        reasons = []
        for option, alone in parts.items():
            if not alone.active:
                continue
            rows = await self._database.fetch("matching_documents", alone.parameters)
            row = next((item for item in rows if item["id"] == document), None)
            if row is None or (alone.dated and not row["has_date"]):
                undated = row is not None
                given = next(iter(alone.as_json().values()))
                shown = ", ".join(given) if isinstance(given, list) else given
                why = "it has no known date" if undated else "it is none of these"
                reasons.append(f"The filter {option} {shown} leaves it out: {why}.")
        return reasons

    async def _filtered_out(
        self,
        question: str,
        document: int,
        detail: DocumentDetail,
        base: Answer,
        preset: str | None,
        reasons: Sequence[str],
    ) -> Explanation:
        name = detail.info.name
        free = loss_of(await self._retriever.search(question, preset=preset), document)
        if free.rank is not None:
            cure = Cure(
                {"filters": None}, free.rank, f"Without the filters it is shown at {free.rank}."
            )
        else:
            cure = Cure(
                {},
                None,
                f"Without the filters it is not shown either, lost by: {free.stage}. Ask again "
                "without them to see why.",
            )
        return Explanation(
            base.query,
            document,
            name,
            None,
            "filters",
            f"{name} is not found: the filters leave it out.",
            tuple(reasons),
            cure=cure,
            notices=base.notices,
        )

    # The stages

    def _stages(self, case: _Case) -> list[StageSight]:
        chosen = self._preset(case.preset)
        stages = [
            _arm_sight(case, arm, max(chosen.arm_size, chosen.result_limit))
            for arm in _arms(case.alone)
        ]
        stages.append(_fusion_sight(case, max(chosen.pool_size, chosen.result_limit)))
        stages += _scoring_sights(case, chosen.result_limit)
        return stages

    # What would have kept it

    async def _cure(self, case: _Case) -> Cure:
        """Loosen the setting that lost it, ask again, and so on until it is shown."""
        chosen = self._preset(case.preset)
        values: dict[str, Any] = {}
        answer, loss = case.base, case.loss
        for _ in range(_STEPS):
            if loss.stage is None or loss.stage not in _SETTING_OF:
                break
            setting = _SETTING_OF[loss.stage]
            seen = answer
            if loss.stage == "fusion":
                seen = await self._widened(answer, case.question, case.filters, case.preset, values)
            value = _needed(case, seen, loss.stage)
            if value is None:
                return Cure({}, None, _hopeless(case, loss.stage))
            if setting != "threshold":
                value = max(int(value), values.get(setting, getattr(chosen, setting)) + 1)
                if value > _MOST[setting]:
                    return Cure(
                        {},
                        None,
                        f"No setting keeps it: {setting} would have to be {value:,}, and "
                        f"{_MOST[setting]:,} is the most.",
                    )
            values[setting] = value
            answer = await self._under(case.preset, **values).search(
                case.question, filters=case.filters, preset=case.preset
            )
            loss = loss_of(answer, case.document)
        listed = " and ".join(
            f"{name} {'<=' if name == 'threshold' else '>='} {value:g}"
            for name, value in values.items()
        )
        if loss.rank is None:
            return Cure(values, None, f"With {listed} it is not shown yet, lost by: {loss.stage}.")
        return Cure(values, loss.rank, f"With {listed} it is shown, at {loss.rank}.")


def _reading_reasons(detail: DocumentDetail) -> list[str]:
    unread = [page.number for page in detail.pages if page.route == "unread"]
    if not unread:
        return []
    listed = ", ".join(map(str, unread[:10])) + (" …" if len(unread) > 10 else "")
    return [
        f"Not read: page {listed} of {len(detail.pages)}. What stands there cannot be found. "
        f"emily show {detail.info.id} says why."
    ]


def _vector_reasons(chunks: Sequence[Mapping[str, Any]]) -> list[str]:
    bare = sum(not row["has_vector"] for row in chunks)
    if not chunks:
        return ["It has no text to search in: no chunk was made of it."]
    if bare == len(chunks):
        return [
            f"None of its {bare} chunks has a vector: the vector arm cannot bring it, and only "
            "words find it."
        ]
    if bare:
        return [f"{bare} of its {len(chunks)} chunks have no vector and are found by words only."]
    return []


def _language_reasons(detail: DocumentDetail, base: Answer, settings: Settings) -> list[str]:
    asked = base.trace.get("query", {}).get("language")
    spoken = detail.info.language
    reasons = []
    if spoken is not None and spoken not in settings.languages:
        reasons.append(
            f"It is in {spoken}, which is none of the archive's languages "
            f"({', '.join(settings.languages)}; setting languages)."
        )
    if None not in (asked, spoken) and asked != spoken:
        reasons.append(
            f"The question is in {asked} and the document in {spoken}: words meet only through "
            "their neighbours in meaning."
        )
    return reasons


def _terms(case: _Case) -> tuple[TermSight, ...]:
    """The question's terms; the exact spelling of a word is no term of its own to people."""
    matches: dict[str, int] = {}
    for record in records_of(case.alone.trace, "fusion", case.document):
        for term, times in record.get("matches", {}).items():
            matches[term] = matches.get(term, 0) + times
    seen = []
    for term in case.base.trace.get("neighbours", {}).get("terms", ()):
        if term["term"].startswith("="):
            continue
        times = matches.get(term["term"], 0)
        near = tuple(
            dict.fromkeys(item["surface"] for item in term["neighbours"] if item["term"] in matches)
        )
        held: Held = "itself" if times else "neighbours" if near else "not at all"
        seen.append(TermSight(term["surface"], held, times, near))
    return tuple(seen)


def _arm_sight(case: _Case, arm: str, size: int) -> StageSight:
    name = arm.removesuffix("_arm")
    ranking = _ranking(case.deep, arm)
    own = _own(case.deep, case.document) | _own(case.alone, case.document)
    place = next((item for item in ranking if item["chunk"] in own), None)
    if place is None:
        reason = case.base.trace.get(arm, {}).get("empty_because")
        itself = case.alone.trace.get(arm, {})
        if reason is None and not itself.get("ranking"):
            reason = itself.get("empty_because") or "nothing of the question stands in it"
        if reason is None:
            reason = f"it stands below the first {len(ranking):,}"
        return StageSight(
            arm, None, None, size, False, f"The {name} arm does not bring it: {reason}."
        )
    rank, score = place["rank"], place["score"]
    brought = any(item["chunk"] in own for item in _ranking(case.base, arm))
    sentence = f"The {name} arm has it at {rank:,} with {score:.3f}" + (
        "." if brought else f", below its first {size:,}."
    )
    return StageSight(arm, rank, score, size, brought, sentence)


def _fusion_sight(case: _Case, size: int) -> StageSight:
    if not _own(case.base, case.document):
        return StageSight("fusion", None, None, size, None, "It did not come as far as the fusion.")
    pool = case.wide.trace["fusion"]["pool"]
    own = _own(case.wide, case.document)
    rank = next((place for place, chunk in enumerate(pool, start=1) if chunk in own), None)
    scores = {item["chunk"]: item["fused"] for item in records_of(case.wide.trace, "second_stage")}
    score = None if rank is None else scores.get(pool[rank - 1])
    kept = not own.isdisjoint(case.base.trace["fusion"]["pool"])
    total = len(pool)
    sentence = f"The fusion has it at {rank} of {total}" + (
        "." if kept else f", outside the pool of {size}."
    )
    return StageSight("fusion", rank, score, size, kept, sentence)


def _scoring_sights(case: _Case, limit: int) -> list[StageSight]:
    """Second stage, threshold, selection and what is shown."""
    trace = case.base.trace
    ranked = records_of(trace, "second_stage")
    place, own = _first(ranked, case.document)
    bar = trace.get("threshold", {}).get("threshold")
    probable = _most_probable(records_of(trace, "second_stage", case.document))
    if own is None:  # what it would have had: the second stage looks at one chunk at a time
        probable = _most_probable(records_of(case.alone.trace, "second_stage", case.document))
    stages = []
    if own is None:
        stages.append(
            StageSight("second_stage", None, None, None, None, "The second stage did not see it.")
        )
    else:
        stages.append(
            StageSight(
                "second_stage",
                place,
                own["order"],
                None,
                True,
                f"The second stage has it at {place} of {len(ranked)}.",
            )
        )
    if probable is None or bar is None:
        stages.append(
            StageSight("threshold", None, None, bar, None, "There is no probability to judge by.")
        )
    else:
        enough = probable >= bar
        would = "is" if own is not None else "would be"
        stages.append(
            StageSight(
                "threshold",
                None,
                probable,
                bar,
                enough if own is not None else None,
                f"Its probability {would} {probable:.1%}, "
                f"{'at least' if enough else 'below'} the threshold of {bar:.1%}.",
            )
        )
    passed = trace.get("threshold", {}).get("passed", [])
    names = {item["chunk"]: item.get("document") for item in ranked}
    among = next(
        (rank for rank, chunk in enumerate(passed, start=1) if names.get(chunk) == case.document),
        None,
    )
    chosen = trace.get("selection", {}).get("chosen", [])
    kept = any(names.get(chunk) == case.document for chunk in chosen)
    if among is None:
        sentence = "It did not come as far as the selection."
    else:
        sentence = f"It stands at {among} of {len(passed)} that passed; {len(chosen)} are chosen."
    stages.append(
        StageSight("selection", among, None, limit, None if among is None else kept, sentence)
    )
    shown = case.loss.rank
    stages.append(
        StageSight(
            "passages",
            shown,
            None,
            None,
            shown is not None if kept else None,
            "It is not shown." if shown is None else f"It is shown as document {shown}.",
        )
    )
    return stages


def _above(case: _Case) -> tuple[Above, ...]:
    """The documents that stood above it at the stage that lost it, by their best chunks."""
    stage = case.loss.stage
    if stage == "arms":
        best = min(
            (
                sight
                for arm in _arms(case.alone)
                if (sight := _arm_sight(case, arm, 0)).rank is not None
            ),
            key=lambda sight: sight.rank or 0,
            default=None,
        )
        if best is None:
            return ()
        records = {item["chunk"]: item for item in records_of(case.deep.trace, "fusion")}
        rows = [
            (records[item["chunk"]], item["rank"], item["score"])
            for item in _ranking(case.deep, best.stage)
            if item["chunk"] in records
        ]
    elif stage == "fusion":
        scored = {item["chunk"]: item for item in records_of(case.wide.trace, "second_stage")}
        rows = [
            (scored[chunk], rank, scored[chunk]["fused"])
            for rank, chunk in enumerate(case.wide.trace["fusion"]["pool"], start=1)
            if chunk in scored
        ]
    elif stage in ("second stage", "selection"):
        ranked = records_of(case.base.trace, "second_stage")
        rows = [(item, rank, item["order"]) for rank, item in enumerate(ranked, start=1)]
    elif stage == "threshold":
        passed = set(case.base.trace["threshold"]["passed"])
        ranked = records_of(case.base.trace, "second_stage")
        rows = [
            (item, rank, item["probability"])
            for rank, item in enumerate(ranked, start=1)
            if item["chunk"] in passed
        ]
    else:
        return ()
    found: dict[int, Above] = {}
    for record, rank, score in rows:
        if record.get("document") == case.document or len(found) == _MOST_ABOVE:
            break
        if "document" in record:
            found.setdefault(
                record["document"], Above(record["document"], record["name"], rank, score)
            )
    return tuple(found.values())


def _needed(case: _Case, answer: Answer, stage: Loss) -> float | None:
    """The value of the stage's setting that lets the document through; ``None`` for none.

    Args:
        case: the document and the runs about it.
        answer: that lost it; where the fusion did, with every candidate in the pool.
        stage: that lost it.
    """
    if stage == "arms":
        ranks = [
            sight.rank for arm in _arms(case.alone) if (sight := _arm_sight(case, arm, 0)).rank
        ]
        return min(ranks, default=None)
    if stage == "fusion":
        own = _own(answer, case.document)
        pool = answer.trace["fusion"]["pool"]
        return next((rank for rank, chunk in enumerate(pool, start=1) if chunk in own), None)
    if stage == "threshold":
        found = _most_probable(records_of(answer.trace, "second_stage", case.document))
        return None if found is None else math.floor(found * 1e4) / 1e4
    names = {
        item["chunk"]: item.get("document") for item in records_of(answer.trace, "second_stage")
    }
    passed = answer.trace["threshold"]["passed"]
    return next(
        (rank for rank, chunk in enumerate(passed, start=1) if names.get(chunk) == case.document),
        None,
    )


def _hopeless(case: _Case, stage: Loss) -> str:
    operators = case.base.trace.get("query", {}).get("operators")
    if stage == "arms" and operators:
        return (
            "No setting keeps it: the question asks for words in quotation marks or leaves words "
            "out with a minus sign. Ask without them."
        )
    if stage == "arms":
        return "No setting keeps it: no arm can bring it."
    return f"No setting keeps it: it is lost by the {stage} whatever is set."


def _verdict(name: str, loss: LossOf) -> str:
    if loss.rank is not None:
        return f"{name} is found: it is shown as document {loss.rank}."
    said: dict[Lost, str] = {
        "arms": "no arm brings it",
        "fusion": "it stays outside the pool that goes to the second stage",
        "second stage": "the second stage puts it below those that are shown",
        "threshold": "none of its chunks is probable enough",
        "selection": "others that passed stand above it",
        "passages": "it was chosen, and no passage of it is shown",
    }
    assert loss.stage is not None
    return f"{name} is not found: {said[loss.stage]}."


def _arms(answer: Answer) -> list[str]:
    return [stage for stage in answer.trace if stage.endswith("_arm")]


def _ranking(answer: Answer, arm: str) -> Sequence[Mapping[str, Any]]:
    found: Sequence[Mapping[str, Any]] = answer.trace.get(arm, {}).get("ranking", ())
    return found


def _own(answer: Answer, document: int) -> set[int]:
    """The document's chunks among an answer's candidates."""
    return {record["chunk"] for record in records_of(answer.trace, "fusion", document)}


def _brought(answer: Answer, document: int, reach: set[str]) -> bool:
    """Whether each arm that can bring the document has brought it."""
    own = _own(answer, document)
    return all(any(item["chunk"] in own for item in _ranking(answer, arm)) for arm in reach)


def _first(
    ranked: Sequence[dict[str, Any]], document: int
) -> tuple[int | None, dict[str, Any] | None]:
    for rank, record in enumerate(ranked, start=1):
        if record.get("document") == document:
            return rank, record
    return None, None


def _best(records: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    return records[0] if records else None


def _most_probable(records: Sequence[Mapping[str, Any]]) -> float | None:
    found = [item["probability"] for item in records if item["probability"] is not None]
    return max(found, default=None)
