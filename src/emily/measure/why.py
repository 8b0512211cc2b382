"""Why a question finds a document or does not: the search is run again and taken apart.

The same retriever answers all the time, under the settings in force and under others: with arms
deep enough to see where the document really stands, and with what should have kept it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from emily.errors import InputError, ModelMismatch, UnknownDocument
from emily.indexing.catalogue import Catalogue, DocumentDetail
from emily.measure.explanation import Cure, Explanation, StageSight
from emily.measure.loss import Loss, loss_of, records_of
from emily.measure.quotes import see_quote
from emily.measure.sights import (
    Case,
    arm_sight,
    arms_of,
    best_of,
    documents_above,
    fusion_sight,
    hopeless,
    is_brought,
    language_reasons,
    ranking_of,
    reading_reasons,
    scoring_sights,
    terms_seen,
    value_needed,
    vector_reasons,
    verdict_on,
)
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
_MOST = {"arm_size": 1000, "pool_size": 1000, "result_limit": 100}  # their bounds

_OPTION_OF = {"threshold": "--threshold", "result_limit": "--limit"}
"""Options of a search that set the same for once."""

_SETTING_OF: dict[Loss, str] = {
    "arms": "arm_size",
    "fusion": "pool_size",
    "second stage": "result_limit",
    "threshold": "threshold",
    "selection": "result_limit",
}


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
            InputError: the question cannot be asked, or no document is named.
            StoreUnavailable: the database cannot be reached.
        """
        if not str(document).strip():
            raise InputError(
                f"The document to follow is empty: {str(document)!r}. Give its id, its exact name "
                "or its path; emily list shows them."
            )
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
        reasons = [*reading_reasons(detail), *vector_reasons(chunks)]
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
        reasons += language_reasons(detail, base, self._settings)
        loss = case.loss
        seen = None
        if quote is not None:
            seen = await see_quote(self._database, identity, chunks, quote, base)
        own = best_of(records_of(case.alone.trace, "second_stage", identity))
        return Explanation(
            base.query,
            identity,
            name,
            loss.rank,
            loss.stage,
            verdict_on(name, loss),
            tuple(reasons),
            terms_seen(case),
            tuple(self._stages(case)),
            None if own is None else own.get("evidence"),
            documents_above(case),
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
    ) -> Case:
        """Run what the explanation needs beside the answer itself."""
        chosen = self._preset(preset)
        limits = filters or Filters()
        alone = await self._under(preset, ask_pool_size=max(chunks, 1)).ask(document, question)
        reach = {arm for arm in arms_of(alone) if ranking_of(alone, arm)}
        deep, size = base, max(chosen.arm_size, 100)
        while not is_brought(deep, document, reach) and size <= 4 * _DEEPEST:
            size = min(size * 4, _DEEPEST)
            deep = await self._under(preset, arm_size=size, pool_size=2 * size).search(
                question, filters=limits, preset=preset
            )
            if size == _DEEPEST or all(len(ranking_of(deep, arm)) < size for arm in arms_of(deep)):
                break
        wide = base
        if loss_of(base, document).stage == "fusion":
            wide = await self._widened(base, question, limits, preset)
        return Case(question, document, detail.info.name, limits, preset, base, alone, deep, wide)

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
            "--in": Filters(folder=filters.folder, archive=filters.archive),
            "--category": Filters(categories=filters.categories),
            "--author": Filters(authors=filters.authors),
            "--party": Filters(parties=filters.parties),
            "--title": Filters(titles=filters.titles),
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

    def _stages(self, case: Case) -> list[StageSight]:
        chosen = self._preset(case.preset)
        stages = [
            arm_sight(case, arm, max(chosen.arm_size, chosen.result_limit))
            for arm in arms_of(case.alone)
        ]
        stages.append(fusion_sight(case, max(chosen.pool_size, chosen.result_limit)))
        stages += scoring_sights(case, chosen.result_limit)
        return stages

    # What would have kept it

    async def _cure(self, case: Case) -> Cure:
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
            value = value_needed(case, seen, loss.stage)
            if value is None:
                return Cure({}, None, hopeless(case, loss.stage))
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
            + (f" ({_OPTION_OF[name]} {value:g})" if name in _OPTION_OF else "")
            for name, value in values.items()
        )
        if loss.rank is None:
            return Cure(values, None, f"With {listed} it is not shown yet, lost by: {loss.stage}.")
        return Cure(values, loss.rank, f"With {listed} it is shown, at {loss.rank}.")
