"""Evaluation: an archive is asked questions whose answers are known, and scored by stage.

What is measured comes from the answer and its trace alone, so that any search that returns
an ``Answer`` can be evaluated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from emily.measure.questions import AbsenceKind, Question, Unanswerable
from emily.measure.scores import auc, hit_rate, mean, mean_reciprocal_rank
from emily.retrieval.answer import Answer

__all__ = [
    "Absent",
    "Evaluation",
    "LossStage",
    "Outcome",
    "Scores",
    "Search",
    "StageRanks",
    "evaluate",
]

Search = Callable[[str], Awaitable[Answer]]
"""Answers a question; ``Brain.search`` is one."""

LossStage = Literal["arms", "fusion", "second stage", "threshold", "selection", "passages"]
"""The stage that lost an expected document:

``arms``: neither brought it; ``fusion``: it stayed outside the pool; ``second stage``: it went
into the second stage among those that would be shown and came out below; ``threshold``: none of
its chunks was probable enough; ``selection``: it was never high enough to be shown;
``passages``: it was chosen and yet not shown.
"""


@dataclass(frozen=True, slots=True)
class StageRanks:
    """Where the expected document stood after each stage; ``None`` where it was not there.

    Ranks start at 1 and are those of its best chunk among chunks; only ``result`` is its rank
    among the documents that are shown.
    """

    vector: int | None
    lexical: int | None
    pool: int | None
    second_stage: int | None
    threshold: int | None
    result: int | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a question that a document answers.

    Attributes:
        question: the question.
        ranks: of the expected document.
        lost_by: the stage that lost it; ``None`` if it is shown.
        quote_shown: whether its quote stands in a passage; ``None`` if it has no quote.
        documents: how many documents are shown.
        probability: the best of all candidates, 0 if there is none.
        empty_arms: arms that brought nothing.
        milliseconds: sum of the stages' times; arms run at once, so a little above the clock.
    """

    question: Question
    ranks: StageRanks
    lost_by: LossStage | None
    quote_shown: bool | None
    documents: int
    probability: float
    empty_arms: tuple[str, ...]
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Absent:
    """What came of a question that no document answers; attributes as in ``Outcome``."""

    question: Unanswerable
    documents: int
    probability: float
    empty_arms: tuple[str, ...]
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of some answerable questions; shares are from 0 to 1, of nothing not a number.

    Attributes:
        questions: how many.
        hit_1, hit_3, hit_5: share with the expected document among the first 1, 3, 5 shown.
        mrr: mean reciprocal rank over the documents shown.
        candidate_recall: share with the expected document in the pool.
        quote_shown: share whose quote stands in a passage, of those that have a quote.
        documents: mean number of documents shown.
        single_document: share of searches that show one document alone.
        empty: share of searches that show nothing.
        losses: how many questions each stage lost.
    """

    questions: int
    hit_1: float
    hit_3: float
    hit_5: float
    mrr: float
    candidate_recall: float
    quote_shown: float
    documents: float
    single_document: float
    empty: float
    losses: dict[LossStage, int]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The outcome of every question, and scores made of them."""

    answerable: tuple[Outcome, ...]
    unanswerable: tuple[Absent, ...]

    def scores(self, pair: str | None = None) -> Scores:
        """Scores of all answerable questions, or of one pair of languages (``it→en``)."""
        chosen = [item for item in self.answerable if pair in (None, item.question.pair)]
        ranks = [item.ranks.result for item in chosen]
        quoted = [item.quote_shown for item in chosen if item.quote_shown is not None]
        return Scores(
            questions=len(chosen),
            hit_1=hit_rate(ranks, 1),
            hit_3=hit_rate(ranks, 3),
            hit_5=hit_rate(ranks, 5),
            mrr=mean_reciprocal_rank(ranks),
            candidate_recall=mean([item.ranks.pool is not None for item in chosen]),
            quote_shown=mean(quoted),
            documents=mean([item.documents for item in chosen]),
            single_document=mean([item.documents == 1 for item in chosen]),
            empty=mean([item.documents == 0 for item in chosen]),
            losses=dict(Counter(item.lost_by for item in chosen if item.lost_by is not None)),
        )

    def pairs(self) -> tuple[str, ...]:
        """The pairs of languages that occur, within a language first."""
        found = {(item.question.cross, item.question.pair) for item in self.answerable}
        return tuple(pair for _, pair in sorted(found))

    def empty_when_absent(self, kind: AbsenceKind | None = None) -> float:
        """Share of the unanswerable questions, of all or of one kind, that show nothing."""
        return mean(
            [
                item.documents == 0
                for item in self.unanswerable
                if kind in (None, item.question.kind)
            ]
        )

    def absence_auc(self, kind: AbsenceKind | None = None) -> float:
        """How well the best probability tells answerable from unanswerable questions apart."""
        return auc(
            [item.probability for item in self.answerable],
            [item.probability for item in self.unanswerable if kind in (None, item.question.kind)],
        )

    def empty_arms(self) -> dict[str, int]:
        """How many searches, of all questions, each arm brought nothing to."""
        everything: list[Outcome | Absent] = [*self.answerable, *self.unanswerable]
        return dict(Counter(arm for item in everything for arm in item.empty_arms))


async def evaluate(
    search: Search,
    answerable: Iterable[Question],
    unanswerable: Iterable[Unanswerable] = (),
) -> Evaluation:
    """Ask every question, one after the other.

    Args:
        search: answers a question.
        answerable: questions with the document that answers them.
        unanswerable: questions that no document answers.

    Raises:
        EmilyError: whatever ``search`` raises.
    """
    present = [outcome(question, await search(question.text)) for question in answerable]
    absent = [_absent(question, await search(question.text)) for question in unanswerable]
    return Evaluation(tuple(present), tuple(absent))


def outcome(question: Question, answer: Answer) -> Outcome:
    """Read off an answer what became of the expected document."""
    own = {
        record["chunk"]
        for record in _records(answer, "fusion")
        if record.get("name") == question.document
    }
    ranked = [record["chunk"] for record in _records(answer, "second_stage")]
    ranks = StageRanks(
        vector=_first(own, _arm(answer, "vector_arm")),
        lexical=_first(own, _arm(answer, "lexical_arm")),
        pool=_first(own, answer.trace.get("fusion", {}).get("pool", [])),
        second_stage=_first(own, ranked),
        threshold=_first(own, answer.trace["threshold"]["passed"]),
        result=_first({question.document}, [result.document.name for result in answer.results]),
    )
    chosen = answer.trace["selection"]["chosen"]
    return Outcome(
        question=question,
        ranks=ranks,
        lost_by=_lost_by(ranks, chosen=not own.isdisjoint(chosen), shown=len(chosen)),
        quote_shown=_shows(answer, question.quote) if question.quote.strip() else None,
        documents=len(answer.results),
        probability=_best_probability(answer),
        empty_arms=_empty_arms(answer),
        milliseconds=sum(answer.timings_ms.values()),
    )


def _absent(question: Unanswerable, answer: Answer) -> Absent:
    return Absent(
        question=question,
        documents=len(answer.results),
        probability=_best_probability(answer),
        empty_arms=_empty_arms(answer),
        milliseconds=sum(answer.timings_ms.values()),
    )


def _lost_by(ranks: StageRanks, *, chosen: bool, shown: int) -> LossStage | None:
    """The stage that lost the document; ``shown`` is how many chunks were chosen."""
    if ranks.result is not None:
        return None
    if ranks.vector is None and ranks.lexical is None:
        return "arms"
    if ranks.pool is None:
        return "fusion"
    if ranks.threshold is None:
        return "threshold"
    if chosen:
        return "passages"
    return "second stage" if ranks.pool <= shown else "selection"


def _records(answer: Answer, stage: str) -> Sequence[dict[str, Any]]:
    records: Sequence[dict[str, Any]] = answer.trace.get(stage, {}).get("candidates", [])
    return records


def _arm(answer: Answer, name: str) -> list[int]:
    return [item["chunk"] for item in answer.trace.get(name, {}).get("ranking", [])]


def _first(wanted: set[Any], ranking: Sequence[Any]) -> int | None:
    """Rank of the first that is wanted."""
    return next((rank for rank, item in enumerate(ranking, start=1) if item in wanted), None)


def _shows(answer: Answer, quote: str) -> bool:
    wanted = " ".join(quote.split())
    return any(
        wanted in " ".join(passage.text.split())
        for result in answer.results
        for passage in result.passages
    )


def _best_probability(answer: Answer) -> float:
    found = (record["probability"] for record in _records(answer, "second_stage"))
    return max((value for value in found if value is not None), default=0.0)


def _empty_arms(answer: Answer) -> tuple[str, ...]:
    return tuple(name for name in ("vector_arm", "lexical_arm") if not _arm(answer, name))
