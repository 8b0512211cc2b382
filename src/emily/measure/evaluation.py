"""Evaluation: an archive is asked questions whose answers are known, and scored by stage.

What is measured comes from the answer and its trace, so that any search that returns an
``Answer`` can be evaluated. docs/evaluation.md says what each figure means.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from emily.measure.refusion import check_fusion
from emily.measure.scores import auc, mean, ndcg, precision, recall
from emily.measure.standing import (
    NOTHING_CUT,
    STAGES,
    Continuations,
    Standing,
    continuations,
    missing_parts,
    rank_of,
    shows,
    signal,
)
from emily.retrieval.answer import Answer

__all__ = [
    "Absence",
    "Asked",
    "Evaluation",
    "LossStage",
    "Outcome",
    "RankingScores",
    "Scores",
    "Tools",
    "evaluate",
    "length_of",
    "outcome",
]

LossStage = Literal["arms", "fusion", "second stage", "threshold", "selection", "passages"]
"""The stage that lost the expected documents:

``arms``: none brought one; ``fusion``: they stayed outside the pool; ``second stage``: the best
went in among those that would be shown and came out below; ``threshold``: none of their chunks
was probable enough; ``selection``: none was high enough to be shown; ``passages``: one was
chosen and yet not shown.
"""

_LENGTHS = ((3, "1 to 3 words"), (8, "4 to 8 words"), (15, "9 to 15 words"))
_LONGEST = "16 words and more"

NDCG_AT, RECALL_AT = 10, 20


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, with what is known of its answer in this archive.

    Attributes:
        id: unique among the questions.
        text: the question.
        relevant: grade, above 0, of each document that answers it, by its id; empty where none
            does.
        missing: grades of documents that answer it and are not in the archive.
        quotes: strings of which one should reach the reader; empty where none are known.
        pair: languages of question and answer, such as ``it→en``.
        slices: other groups that it belongs to, by the name of the grouping.
        absence: what kind of question without an answer it is; ``None`` if it has one.
        without: documents that it is asked without.
    """

    id: str
    text: str
    relevant: Mapping[int, int] = field(default_factory=dict)
    missing: tuple[int, ...] = ()
    quotes: tuple[str, ...] = ()
    pair: str = ""
    slices: Mapping[str, str] = field(default_factory=dict)
    absence: str | None = None
    without: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class RankingScores:
    """Scores of one ranking of distinct documents, of one question or the mean of several."""

    ndcg_10: float
    recall_20: float
    hit_3: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a question.

    Attributes:
        asked: the question.
        places: rank of the first expected document among the distinct documents of each arm,
            of ``pool``, ``second_stage``, ``threshold`` and ``result``; ``None`` where it is not.
        rankings: scores of each of those rankings; empty for a question without an answer.
        pool_recall: share of the expected documents that are in the pool.
        precision: share of the documents shown that are expected; not a number if none is.
        lost_by: the stage that lost the expected documents; ``None`` if one is shown.
        quote_shown: whether a quote reached the reader; ``None`` if none is known.
        shown: ids of the documents shown, best first.
        probability: the best of all candidates, 0 if there is none.
        empty_arms: arms that brought nothing.
        passages: how many passages are shown.
        slots: how many chunks were chosen for each document shown, in order.
        cut: how texts that were cut go on.
        characters: length of its passages together.
        tokens: the same in tokens, counted by the embedder.
        milliseconds: sum of the stages' times; arms run at once, so a little above the clock.
        down: parts that took no part, because they were down.
    """

    asked: Asked
    places: Mapping[str, int | None]
    rankings: Mapping[str, RankingScores]
    pool_recall: float
    precision: float
    lost_by: LossStage | None
    quote_shown: bool | None
    shown: tuple[int, ...]
    probability: float
    empty_arms: tuple[str, ...]
    passages: int = 0
    slots: tuple[int, ...] = ()
    cut: Continuations = NOTHING_CUT
    characters: int = 0
    tokens: int = 0
    milliseconds: float = 0.0
    down: tuple[str, ...] = ()

    def metrics(self) -> dict[str, float]:
        """The figures that two runs are compared by; what has no value is left out."""
        if self.asked.absence is not None:
            return {"empty": float(not self.shown)}
        rank = self.places["result"]
        found = {
            "ndcg_10": self.rankings["second_stage"].ndcg_10,
            "recall_20": self.rankings["second_stage"].recall_20,
            "candidate_recall": self.pool_recall,
            **{f"hit_{at}": float(rank is not None and rank <= at) for at in (1, 3, 5)},
            "mrr": 0.0 if rank is None else 1.0 / rank,
            "precision": self.precision,
            "quote_shown": math.nan if self.quote_shown is None else float(self.quote_shown),
        }
        return {name: value for name, value in found.items() if not math.isnan(value)}


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of some questions that have an answer; what has no value is not a number.

    Attributes:
        questions: how many.
        hit_1, hit_3, hit_5: share with an expected document among the first 1, 3, 5 shown.
        mrr: mean reciprocal rank over the documents shown.
        ndcg_10: of the second stage's distinct documents, before threshold and selection.
        recall_20: share of the expected documents among its first 20.
        candidate_recall: share of the expected documents in the pool.
        precision: share of the documents shown that are expected, of searches that show some.
        quote_shown: share whose quote reached the reader, of those that have one.
        quotes: how many have one.
        documents: mean number of distinct documents shown.
        single_document: share of searches that show one document alone.
        one_took_all: share of searches that chose several chunks, all of one document.
        empty: share of searches that show nothing.
        empty_arms: share of searches to which each arm brought nothing.
        losses: how many questions each stage lost.
        stages: scores of each ranking on the way.
        cut: chosen chunks that end before their continuation.
        continued: how many of those continuations reach the reader.
        cut_passages: passages that end before their continuation.
        passages: how many passages are shown in all.
        characters, tokens: mean length of the passages of an answer.
    """

    questions: int
    hit_1: float
    hit_3: float
    hit_5: float
    mrr: float
    ndcg_10: float
    recall_20: float
    candidate_recall: float
    precision: float
    quote_shown: float
    quotes: int
    documents: float
    single_document: float
    one_took_all: float
    empty: float
    empty_arms: dict[str, float]
    losses: dict[LossStage, int]
    stages: dict[str, RankingScores]
    cut: int
    continued: int
    cut_passages: int
    passages: int
    characters: float
    tokens: float


@dataclass(frozen=True, slots=True)
class Absence:
    """How questions with an answer and without one are told apart.

    Attributes:
        present: how many have an answer.
        absent: how many have none.
        auc: chance that the signal of one with an answer is above that of one without.
        present_empty: share of those with an answer that come back empty, wrongly.
        absent_empty: share of those without that come back empty, rightly.
    """

    present: int
    absent: int
    auc: float
    present_empty: float
    absent_empty: float


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The outcome of every question, and scores made of them.

    Attributes:
        answerable: of the questions that have an answer.
        unanswerable: of those that have none.
        counterparts: ids of the answerable ones that the unanswerable are told apart from;
            ``None`` for all.
    """

    answerable: tuple[Outcome, ...]
    unanswerable: tuple[Outcome, ...] = ()
    counterparts: frozenset[str] | None = None

    def scores(self, group: Mapping[str, str] | None = None) -> Scores:
        """Scores of all questions with an answer, or of a group such as ``{"pair": "it→en"}``."""
        chosen = [item for item in self.answerable if belongs(item.asked, group)]
        return _scores(chosen)

    def absence(self, group: Mapping[str, str] | None = None, kind: str | None = None) -> Absence:
        """How answerable and unanswerable questions are told apart, in all or in a group.

        Args:
            group: as in ``scores``.
            kind: of the unanswerable ones; ``None`` for all.
        """
        present = [
            item
            for item in self.answerable
            if belongs(item.asked, group)
            and (self.counterparts is None or item.asked.id in self.counterparts)
        ]
        absent = [
            item
            for item in self.unanswerable
            if belongs(item.asked, group) and kind in (None, item.asked.absence)
        ]
        return Absence(
            len(present),
            len(absent),
            auc([item.probability for item in present], [item.probability for item in absent]),
            mean([not item.shown for item in present]),
            mean([not item.shown for item in absent]),
        )

    def kinds(self) -> tuple[str, ...]:
        """The kinds of unanswerable questions that occur."""
        return tuple(sorted({str(item.asked.absence) for item in self.unanswerable}))

    def groups(self) -> dict[str, tuple[str, ...]]:
        """The groupings that tell questions apart, with the names of their groups."""
        found: dict[str, set[str]] = defaultdict(set)
        for item in (*self.answerable, *self.unanswerable):
            for name, value in _groups(item.asked).items():
                found[name].add(value)
        order = {name: place for place, name in enumerate([*dict(_LENGTHS).values(), _LONGEST])}
        return {
            name: tuple(sorted(values, key=lambda value: (order.get(value, 0), value)))
            for name, values in found.items()
        }

    def down(self) -> dict[str, int]:
        """In how many searches, of all questions, each part was down."""
        everything = [*self.answerable, *self.unanswerable]
        return dict(Counter(part for item in everything for part in item.down))

    def empty_arms(self) -> dict[str, int]:
        """How many searches, of all questions, each arm brought nothing to."""
        everything = [*self.answerable, *self.unanswerable]
        return dict(Counter(arm for item in everything for arm in item.empty_arms))


@dataclass(frozen=True, slots=True)
class Tools:
    """What an evaluation may ask beside the search.

    Attributes:
        follows: the text behind each passage of an answer, in order.
        count: tokens of a text.
    """

    follows: Callable[[Answer], Awaitable[Sequence[str]]]
    count: Callable[[str], int]


async def evaluate(
    search: Callable[[Asked], Awaitable[Answer]],
    asked: Iterable[Asked],
    *,
    tools: Tools | None = None,
    counterparts: frozenset[str] | None = None,
    told: Callable[[int], None] | None = None,
) -> Evaluation:
    """Ask every question, one after the other.

    Args:
        search: answers a question.
        asked: the questions, with and without an answer.
        tools: without them nothing is said of continuations and tokens.
        counterparts: see ``Evaluation``.
        told: called with the number of questions that were asked.

    Raises:
        FusionDiffers: a pool is not what the recorded arms give.
        EmilyError: whatever ``search`` raises.
    """
    found: list[Outcome] = []
    for question in asked:
        answer = await search(question)
        check_fusion(answer.trace, question.text)
        follows = None if tools is None else await tools.follows(answer)
        tokens = 0 if tools is None else sum(map(tools.count, _texts(answer)))
        found.append(outcome(question, answer, follows=follows, tokens=tokens))
        if told is not None:
            told(len(found))
    return Evaluation(
        tuple(item for item in found if item.asked.absence is None),
        tuple(item for item in found if item.asked.absence is not None),
        counterparts,
    )


def outcome(
    asked: Asked, answer: Answer, *, follows: Sequence[str] | None = None, tokens: int = 0
) -> Outcome:
    """Read off an answer what became of the expected documents.

    Args:
        asked: the question.
        answer: to it.
        follows: the text behind each passage, in order.
        tokens: of its passages.
    """
    standing = Standing.of(answer)
    wanted = asked.relevant.keys()
    rankings = {**standing.documents, "result": standing.shown}
    stages = (*standing.arms, *STAGES, "result")
    counted = Counter(standing.owner.get(chunk) for chunk in standing.chosen)
    judged = asked.absence is None
    return Outcome(
        asked=asked,
        places={name: rank_of(rankings[name], wanted) for name in stages},
        rankings={name: _ranking(asked, rankings[name]) for name in stages} if judged else {},
        pool_recall=_recall(asked, rankings["pool"]) if judged else math.nan,
        precision=precision([asked.relevant.get(item, 0) for item in standing.shown]),
        lost_by=_lost_by(standing, wanted) if judged else None,
        quote_shown=shows(answer, asked.quotes, wanted) if judged and asked.quotes else None,
        shown=tuple(standing.shown),
        probability=signal(answer),
        empty_arms=standing.empty_arms,
        passages=sum(len(result.passages) for result in answer.results),
        slots=tuple(counted[document] for document in standing.shown),
        cut=NOTHING_CUT if follows is None else continuations(answer, follows),
        characters=sum(map(len, _texts(answer))),
        tokens=tokens,
        milliseconds=sum(answer.timings_ms.values()),
        down=missing_parts(answer),
    )


def _texts(answer: Answer) -> list[str]:
    # Not the rendered text: its wrapper holds a mark that is drawn by chance.
    return [passage.text for result in answer.results for passage in result.passages]


def length_of(text: str) -> str:
    """The group of a question by its number of words."""
    words = len(text.split())
    return next((name for most, name in _LENGTHS if words <= most), _LONGEST)


def belongs(asked: Asked, group: Mapping[str, str] | None) -> bool:
    """Whether a question belongs to a group."""
    return not group or group.items() <= _groups(asked).items()


def _groups(asked: Asked) -> dict[str, str]:
    pair = {"pair": asked.pair} if asked.pair else {}
    return {**pair, "length": length_of(asked.text), **asked.slices}


def _grades(asked: Asked) -> list[int]:
    return [*asked.relevant.values(), *asked.missing]


def _recall(asked: Asked, documents: Sequence[int], at: int | None = None) -> float:
    return recall([asked.relevant.get(item, 0) for item in documents], _grades(asked), at)


def _ranking(asked: Asked, documents: Sequence[int]) -> RankingScores:
    graded = [asked.relevant.get(item, 0) for item in documents]
    return RankingScores(
        ndcg(graded, _grades(asked), NDCG_AT),
        _recall(asked, documents, RECALL_AT),
        float(any(graded[:3])),
    )


def _lost_by(standing: Standing, wanted: Iterable[int]) -> LossStage | None:
    """The stage that lost the documents, by their best chunk."""
    expected = set(wanted)
    if expected & set(standing.shown):
        return None
    if all(standing.place(arm, expected) is None for arm in standing.arms):
        return "arms"
    pool = standing.place_of_chunk("pool", expected)
    if pool is None:
        return "fusion"
    if standing.place("second_stage", expected) is None:
        return "second stage"
    if standing.place("threshold", expected) is None:
        return "threshold"
    if expected & {standing.owner.get(chunk) for chunk in standing.chosen}:
        return "passages"
    return "second stage" if pool <= len(standing.chosen) else "selection"


def _scores(chosen: Sequence[Outcome]) -> Scores:
    metrics = [item.metrics() for item in chosen]

    def of(name: str) -> float:
        return mean([found[name] for found in metrics if name in found])

    stages = list(dict.fromkeys(name for item in chosen for name in item.rankings))
    arms = [name for name in stages if name.endswith("_arm")]
    return Scores(
        questions=len(chosen),
        hit_1=of("hit_1"),
        hit_3=of("hit_3"),
        hit_5=of("hit_5"),
        mrr=of("mrr"),
        ndcg_10=of("ndcg_10"),
        recall_20=of("recall_20"),
        candidate_recall=of("candidate_recall"),
        precision=of("precision"),
        quote_shown=of("quote_shown"),
        quotes=sum(item.quote_shown is not None for item in chosen),
        documents=mean([len(item.shown) for item in chosen]),
        single_document=mean([len(item.shown) == 1 for item in chosen]),
        one_took_all=mean([len(item.shown) == 1 and sum(item.slots) > 1 for item in chosen]),
        empty=mean([not item.shown for item in chosen]),
        empty_arms={name: mean([name in item.empty_arms for item in chosen]) for name in arms},
        losses=dict(Counter(item.lost_by for item in chosen if item.lost_by is not None)),
        stages={name: _mean_ranking(chosen, name) for name in stages},
        cut=sum(item.cut.chunks for item in chosen),
        continued=sum(item.cut.reached for item in chosen),
        cut_passages=sum(item.cut.passages for item in chosen),
        passages=sum(item.passages for item in chosen),
        characters=mean([item.characters for item in chosen]),
        tokens=mean([item.tokens for item in chosen]),
    )


def _mean_ranking(chosen: Sequence[Outcome], name: str) -> RankingScores:
    # A search that ended before a stage has an empty ranking there.
    found = [item.rankings.get(name, RankingScores(0.0, 0.0, 0.0)) for item in chosen]
    return RankingScores(
        mean([item.ndcg_10 for item in found]),
        mean([item.recall_20 for item in found]),
        mean([item.hit_3 for item in found]),
    )
