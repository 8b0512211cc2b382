"""Re-ranking: a cross-encoder, where the owner has set one, orders the pool anew.

It runs behind the built-in second stage, which has given every candidate an order and a
probability: those stay in force where the cross-encoder cannot be used or did not look. The
threshold comes after it and sees probabilities in either case.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from emily.errors import ModelError, QuestionTooLong, StoreError
from emily.models.protocols import Judgement, Reranker
from emily.retrieval.candidate import Candidate
from emily.retrieval.inquiry import Inquiry
from emily.retrieval.trace import candidate_record
from emily.store.alerts import Alerts

__all__ = ["ALERT", "LANGUAGES_ALERT", "Reranking", "reordered"]

ALERT = "reranker"
LANGUAGES_ALERT = "reranker-languages"

_log = logging.getLogger("emily.retrieval")


class Reranking:
    """The stage, and the alerts that it raises and resolves."""

    def __init__(self, reranker: Reranker | None, alerts: Alerts, candidates: int) -> None:
        """Bind to a model.

        Args:
            reranker: the cross-encoder; ``None`` where none is set.
            alerts: of the archive.
            candidates: how many it looks at, best first.
        """
        self._reranker = reranker
        self._alerts = alerts
        self._candidates = candidates
        self._told: tuple[str | None, tuple[str, ...]] | None = None

    @property
    def name(self) -> str | None:
        """The cross-encoder's name, if one is set."""
        return None if self._reranker is None else self._reranker.name

    async def stage(self, inquiry: Inquiry, ranked: Sequence[Candidate]) -> list[Candidate]:
        """The candidates in the cross-encoder's order; as they came where it cannot be used.

        What it did not look at stands behind, in the order it came. Every outcome but the plain
        one is said in a notice.
        """
        reranker = self._reranker
        if reranker is None:
            return list(ranked)
        with inquiry.trace.stage("reranking") as record:
            record |= {"model": reranker.name, "given": len(ranked), "looked_at": 0}
            if not ranked:
                return []
            if inquiry.meaning is None:
                record["skipped_because"] = "the embedder is down"
                inquiry.notices.append(
                    f"The reranker {reranker.name} was not asked, because the embedder is down."
                )
                return list(ranked)
            texts = await self._texts(inquiry, ranked)
            if getattr(reranker, "elsewhere", False):
                texts = await self._without_private(inquiry, ranked, texts, record)
            looked_at = [item for item in ranked[: self._candidates] if item.chunk in texts]
            await inquiry.database.give_back()  # this may take seconds
            try:
                judgement = await reranker.rank(
                    inquiry.query.text, [texts[item.chunk] for item in looked_at]
                )
            except ModelError as error:
                record["down"] = str(error)
                await self._give_up(reranker, error, inquiry)
                return list(ranked)
            await self._tell(None, reranker.warnings)
            found = reordered(ranked, looked_at, judgement)
            record |= {
                "looked_at": len(looked_at),
                "cut": judgement.cut,
                "probabilities": judgement.probabilities is not None,
            }
            self._notice(inquiry, reranker, judgement, looked_at)
            # The order that counts from here on is this one.
            inquiry.trace.stages["second_stage"]["candidates"] = [
                candidate_record(item) for item in found
            ]
        return found

    async def clear(self) -> None:
        """Resolve what was raised about a reranker that the owner has turned off since."""
        if self._reranker is None:
            await self._tell(None, ())

    async def _texts(self, inquiry: Inquiry, ranked: Sequence[Candidate]) -> dict[int, str]:
        """What a candidate says, below the header of the table that it begins inside of."""
        chunks = [item.chunk for item in ranked[: self._candidates]]
        rows = await inquiry.database.fetch("chunk_texts", {"chunks": chunks})
        return {row["id"]: _below(row) for row in rows}

    async def _without_private(
        self,
        inquiry: Inquiry,
        ranked: Sequence[Candidate],
        texts: dict[int, str],
        record: dict[str, Any],
    ) -> dict[int, str]:
        """The texts that may leave: those of private documents stay, and stand below."""
        rows = await inquiry.database.fetch("private_documents")
        private = {row["id"] for row in rows}
        kept_back = {item.chunk for item in ranked if item.facts.document in private}
        record["private"] = len(kept_back & texts.keys())
        if record["private"]:
            inquiry.notices.append(
                f"{record['private']:,} of the candidates are private and were not sent to the "
                "reranker; they stand below those that were."
            )
        return {chunk: text for chunk, text in texts.items() if chunk not in kept_back}

    async def _give_up(self, reranker: Reranker, error: ModelError, inquiry: Inquiry) -> None:
        inquiry.notices.append(
            "Not reranked: ordered by the built-in second stage, with its own probabilities, "
            f"because the reranker is unavailable: {error}"
            if not isinstance(error, QuestionTooLong)
            else f"Not reranked, but ordered by the built-in second stage: {error}"
        )
        if isinstance(error, QuestionTooLong):
            return
        _log.warning("the reranker is down: %s", error)
        await self._tell(
            f"The reranker {reranker.name} is unavailable, and searches go without it: {error} "
            "emily doctor checks it; the setting reranker turns it off.",
            (),
        )

    def _notice(
        self,
        inquiry: Inquiry,
        reranker: Reranker,
        judgement: Judgement,
        looked_at: Sequence[Candidate],
    ) -> None:
        if judgement.probabilities is None:
            inquiry.notices.append(
                f"The reranker {reranker.name} gives an order and no probabilities: the "
                "threshold was not applied to what it ordered."
            )
        foreign = any(
            None not in (inquiry.query.language, item.facts.language)
            and inquiry.query.language != item.facts.language
            for item in looked_at
        )
        if foreign:
            inquiry.notices.extend(reranker.warnings)

    async def _tell(self, down: str | None, warnings: tuple[str, ...]) -> None:
        """Raise or resolve the alerts; the store is written to when something has changed."""
        if self._told == (down, warnings) and down is None:
            return
        try:
            if down is not None:
                await self._alerts.raise_alert(ALERT, "critical", down)
            else:
                await self._alerts.resolve(ALERT)
                if warnings:
                    await self._alerts.raise_alert(LANGUAGES_ALERT, "warning", " ".join(warnings))
                else:
                    await self._alerts.resolve(LANGUAGES_ALERT)
            self._told = (down, warnings)
        except StoreError as error:
            _log.warning("the alert on the reranker cannot be kept: %s", error)


def reordered(
    ranked: Sequence[Candidate], looked_at: Sequence[Candidate], judgement: Judgement
) -> list[Candidate]:
    """Candidates as a judgement orders them; those it does not speak of behind, as they were.

    Args:
        ranked: all candidates, in the order of the built-in second stage.
        looked_at: those of them that were judged, by position.
        judgement: of those.
    """
    judged = [
        replace(
            looked_at[position],
            reranked=True,
            gate=looked_at[position].probability,
            probability=None
            if judgement.probabilities is None
            else judgement.probabilities[position],
        )
        for position in judgement.order
    ]
    known = {item.chunk for item in looked_at}
    return [*judged, *(item for item in ranked if item.chunk not in known)]


def _below(row: Mapping[str, Any]) -> str:
    text, header = str(row["text"]), str(row["header"] or "")
    return f"{header}\n{text}" if header else text
