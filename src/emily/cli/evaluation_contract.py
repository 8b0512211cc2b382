"""The JSON of ``emily eval --json``, a part of the contract in docs/json.md."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import TYPE_CHECKING, Annotated, Any

from emily.cli.contract import Output

if TYPE_CHECKING:
    from emily.measure.comparison import Comparison
    from emily.measure.evaluation import Absence, Evaluation, Outcome, Scores
    from emily.measure.replay import Behaviour, Replay
    from emily.measure.trial import Trial

__all__ = [
    "CompareOutput",
    "EvalOutput",
    "ReplayOutput",
    "compare_output",
    "eval_output",
    "replay_output",
]


@dataclass(frozen=True, kw_only=True)
class SubjectPart:
    """What was measured."""

    kind: Annotated[str, "`set`, or `archive` for questions to the owner's archive."]
    name: Annotated[str, "Name of the set's folder or of the file of questions."]
    documents: Annotated[int, "Documents in the archive; a text that stands twice is one."]
    questions: Annotated[int, "Questions with an answer."]
    absent: Annotated[int, "Questions without one."]
    left_out: Annotated[int, "Questions of a set that have no relevant document."]
    without_text: Annotated[int, "Documents of a set that hold no text and were not indexed."]
    judgements: Annotated[str, "File of a set's judgements, else empty."]
    cross_only: Annotated[bool, "Whether documents in the question's language were left out."]
    titles: Annotated[bool, "Whether documents were named by their titles."]
    only: Annotated[dict[str, str], "Fields of the questions that were asked; empty for all."]


@dataclass(frozen=True, kw_only=True)
class RankingPart:
    """Scores of one ranking of distinct documents."""

    ndcg_10: Annotated[float | None, "nDCG over the first 10."]
    recall_20: Annotated[float | None, "Share of the expected documents among the first 20."]
    hit_3: Annotated[float | None, "Share with an expected document among the first 3."]


@dataclass(frozen=True, kw_only=True)
class ScoresPart:
    """Scores of questions with an answer; docs/evaluation.md defines each."""

    questions: Annotated[int, "How many."]
    hit_1: Annotated[float | None, "Share with an expected document shown first."]
    hit_3: Annotated[float | None, "Among the first 3 documents shown."]
    hit_5: Annotated[float | None, "Among the first 5."]
    mrr: Annotated[float | None, "Mean reciprocal rank over the documents shown."]
    ndcg_10: Annotated[float | None, "Of the second stage, before threshold and selection."]
    recall_20: Annotated[float | None, "Of the second stage."]
    candidate_recall: Annotated[float | None, "Share of the expected documents in the pool."]
    precision: Annotated[float | None, "Share of the documents shown that are expected."]
    quote_shown: Annotated[float | None, "Share whose quote reached the reader."]
    quotes: Annotated[int, "How many have a quote."]
    documents: Annotated[float | None, "Mean number of distinct documents shown."]
    single_document: Annotated[float | None, "Share of searches that show one document alone."]
    one_took_all: Annotated[
        float | None, "Share of searches that chose several chunks, all of one document."
    ]
    empty: Annotated[float | None, "Share of searches that show nothing."]
    empty_arms: Annotated[dict[str, float], "Share of searches that each arm brought nothing to."]
    losses: Annotated[dict[str, int], "How many questions each stage lost."]
    stages: Annotated[dict[str, RankingPart], "Scores of each ranking on the way."]
    cut: Annotated[int, "Chosen chunks that end before their continuation."]
    continued: Annotated[int, "How many of those continuations reach the reader."]
    cut_passages: Annotated[int, "Passages that end before their continuation."]
    passages: Annotated[int, "Passages shown in all."]
    characters: Annotated[float | None, "Mean length of the passages shown, characters."]
    tokens: Annotated[float | None, "The same in tokens of the embedder."]


@dataclass(frozen=True, kw_only=True)
class AbsencePart:
    """How questions with an answer and without one are told apart."""

    present: Annotated[int, "Questions with an answer that count here."]
    absent: Annotated[int, "Questions without one."]
    auc: Annotated[float | None, "Area under the ROC curve of the best probability."]
    present_empty: Annotated[float | None, "Share of the first that come back empty, wrongly."]
    absent_empty: Annotated[float | None, "Share of the second that come back empty, rightly."]


@dataclass(frozen=True, kw_only=True)
class SlicePart:
    """A group of questions."""

    by: Annotated[str, "What groups them: `pair` of languages, `length`, a set's own field."]
    name: Annotated[str, "The group."]
    scores: Annotated[ScoresPart, "Its scores."]
    absence: Annotated[AbsencePart | None, "Its questions without an answer, if it has some."]


@dataclass(frozen=True, kw_only=True)
class OutcomePart:
    """What came of one question."""

    id: Annotated[str, "Id of the question."]
    text: Annotated[str, "The question."]
    pair: Annotated[str, "Languages of question and answer."]
    slices: Annotated[dict[str, str], "Its other groups."]
    absence: Annotated[str | None, "Kind of a question without an answer, else `null`."]
    expected: Annotated[list[str], "The documents that answer it, as the questions name them."]
    places: Annotated[
        dict[str, int | None],
        "Rank of the first of them in each arm, in the `pool`, in the `second_stage`, past the "
        "`threshold` and in the `result`, among distinct documents; `null` where it is not.",
    ]
    lost_by: Annotated[str | None, "The stage that lost them; `null` if one is shown."]
    shown: Annotated[list[str], "The documents shown, best first."]
    probability: Annotated[float, "The best probability of all candidates."]
    empty_arms: Annotated[list[str], "Arms that brought nothing."]
    passages: Annotated[int, "Passages shown."]
    slots: Annotated[list[int], "Chunks chosen of each document shown."]
    characters: Annotated[int, "Length of the passages."]
    tokens: Annotated[int, "The same in tokens."]
    metrics: Annotated[dict[str, float], "The figures that `--compare` looks at."]


@dataclass(frozen=True, kw_only=True)
class EvalTimings:
    """What took how long; all of it may differ from run to run, and nothing else does."""

    search_median_ms: Annotated[float | None, "Median of a search."]
    search_p95_ms: Annotated[float | None, "95 % of searches took at most this."]
    seconds: Annotated[dict[str, float], "Seconds of each step."]


@dataclass(frozen=True, kw_only=True)
class EvalOutput(Output):
    """`emily eval`."""

    subject: Annotated[SubjectPart, "What was measured."]
    preset: Annotated[str, "The preset that was measured."]
    options: Annotated[dict[str, Any], "What it does, as the settings leave it."]
    model: Annotated[str, "The embedder."]
    scores: Annotated[ScoresPart, "Scores of all questions with an answer."]
    absence: Annotated[AbsencePart | None, "Of all questions without one, if there are some."]
    absence_kinds: Annotated[dict[str, AbsencePart], "The same for each kind of them."]
    slices: Annotated[list[SlicePart], "Groups of the questions."]
    answerable: Annotated[list[OutcomePart], "Every question with an answer."]
    unanswerable: Annotated[list[OutcomePart], "Every question without one."]
    notices: Annotated[list[str], "What stood in for what, and what was down."]
    timings: Annotated[EvalTimings, "Times."]


@dataclass(frozen=True, kw_only=True)
class MetricPart:
    """What became of one figure."""

    metric: Annotated[str, "Its name, as in [ScoresPart](#scorespart)."]
    questions: Annotated[int, "On how many questions both runs have it."]
    before: Annotated[float, "Its mean in the first run."]
    after: Annotated[float, "Its mean in the second."]
    difference: Annotated[float, "Mean change."]
    low: Annotated[float, "Lower end of its 95 % bootstrap interval."]
    high: Annotated[float, "Upper end."]
    noise: Annotated[bool, "Whether the interval holds 0: the change says nothing."]
    gains: Annotated[int, "Questions on which it rose."]
    losses: Annotated[int, "Questions on which it fell."]


@dataclass(frozen=True, kw_only=True)
class ChangePart:
    """A question on which two runs differ."""

    id: Annotated[str, "Id of the question."]
    text: Annotated[str, "The question."]
    answerable: Annotated[bool, "Whether it has an answer."]
    figures: Annotated[dict[str, tuple[float, float]], "Figures that differ, before and after."]


@dataclass(frozen=True, kw_only=True)
class CompareOutput(Output):
    """`emily eval --compare`."""

    before: Annotated[str, "The first run: a file or a preset."]
    after: Annotated[str, "The second."]
    metrics: Annotated[list[MetricPart], "Each figure."]
    changes: Annotated[list[ChangePart], "Each question that differs, greatest loss first."]
    notices: Annotated[list[str], "What is to be known beside the figures."]


@dataclass(frozen=True, kw_only=True)
class BehaviourPart:
    """How some searches behave."""

    questions: Annotated[int, "How many."]
    empty: Annotated[float | None, "Share that shows nothing."]
    was_empty: Annotated[float | None, "Share that showed nothing when it was asked."]
    empty_arms: Annotated[
        dict[str, float],
        "Share that each arm brought nothing to, of questions without filters and operators.",
    ]
    documents: Annotated[float | None, "Mean number of distinct documents, where there are any."]
    slots: Annotated[float | None, "Mean number of chunks chosen of each document shown."]
    single_document: Annotated[float | None, "Share that shows one document alone."]
    one_took_all: Annotated[float | None, "Share that chose several chunks, all of one document."]
    probability: Annotated[float | None, "Median of the best probability."]
    milliseconds: Annotated[float | None, "Median of the time of a search."]


@dataclass(frozen=True, kw_only=True)
class ReplayedPart:
    """A question of the log, asked again."""

    id: Annotated[int, "Id of its latest entry, as `emily queries` shows it."]
    text: Annotated[str, "The question."]
    times: Annotated[int, "How often the log holds it, with the same options."]
    was_empty: Annotated[bool, "Whether it showed nothing when it was asked."]
    is_empty: Annotated[bool, "Whether it shows nothing now."]
    slots: Annotated[list[int], "Chunks chosen of each document shown."]
    probability: Annotated[float, "The best probability of all candidates."]
    empty_arms: Annotated[list[str], "Arms that brought nothing."]


@dataclass(frozen=True, kw_only=True)
class ReplayOutput(Output):
    """`emily eval --real`."""

    preset: Annotated[str, "The preset that they were asked with."]
    left_out: Annotated[int, "Questions that were put to one document and not asked again."]
    behaviour: Annotated[BehaviourPart, "Of all questions."]
    lengths: Annotated[dict[str, BehaviourPart], "Of questions by their number of words."]
    questions: Annotated[list[ReplayedPart], "Every question once, the latest first."]


def eval_output(trial: Trial) -> EvalOutput:
    """A run of questions."""
    found = trial.evaluation
    subject = trial.subject
    return EvalOutput(
        subject=SubjectPart(
            kind=subject.kind,
            name=subject.name,
            documents=subject.documents,
            questions=subject.questions,
            absent=subject.absent,
            left_out=subject.left_out,
            without_text=subject.without_text,
            judgements=subject.judgements,
            cross_only=subject.cross_only,
            titles=subject.titles,
            only=dict(subject.only),
        ),
        preset=trial.preset.name,
        options=asdict(trial.preset),
        model=trial.model,
        scores=_scores(found.scores()),
        absence=_absence(found.absence()),
        absence_kinds={
            kind: part
            for kind in found.kinds()
            if (part := _absence(found.absence(kind=kind))) is not None
        },
        slices=_slices(found),
        answerable=[_outcome(item, trial) for item in found.answerable],
        unanswerable=[_outcome(item, trial) for item in found.unanswerable],
        notices=list(trial.notices),
        timings=_timings(trial),
    )


def compare_output(found: Comparison) -> CompareOutput:
    """Two runs compared."""
    return CompareOutput(
        before=found.before,
        after=found.after,
        metrics=[
            MetricPart(
                metric=item.metric,
                questions=item.questions,
                before=item.before,
                after=item.after,
                difference=item.difference.mean,
                low=item.difference.low,
                high=item.difference.high,
                noise=item.difference.noise,
                gains=item.gains,
                losses=item.losses,
            )
            for item in found.metrics
        ],
        changes=[
            ChangePart(
                id=item.id,
                text=item.text,
                answerable=item.answerable,
                figures=dict(item.figures),
            )
            for item in found.changes
        ],
        notices=list(found.notices),
    )


def replay_output(found: Replay) -> ReplayOutput:
    """The log, asked again."""
    return ReplayOutput(
        preset=found.preset,
        left_out=found.left_out,
        behaviour=_behaviour(found.behaviour()),
        lengths={length: _behaviour(found.behaviour(length)) for length in found.lengths()},
        questions=[
            ReplayedPart(
                id=item.id,
                text=item.text,
                times=item.times,
                was_empty=item.was_empty,
                is_empty=item.is_empty,
                slots=list(item.outcome.slots),
                probability=item.outcome.probability,
                empty_arms=list(item.outcome.empty_arms),
            )
            for item in found.questions
        ],
    )


def _behaviour(found: Behaviour) -> BehaviourPart:
    return BehaviourPart(
        questions=found.questions,
        empty=_number(found.empty),
        was_empty=_number(found.was_empty),
        empty_arms=found.empty_arms,
        documents=_number(found.documents),
        slots=_number(found.slots),
        single_document=_number(found.single_document),
        one_took_all=_number(found.one_took_all),
        probability=_number(found.probability),
        milliseconds=_number(round(found.milliseconds, 3)),
    )


def _slices(found: Evaluation) -> list[SlicePart]:
    return [
        SlicePart(
            by=by,
            name=name,
            scores=_scores(found.scores({by: name})),
            absence=_absence(found.absence({by: name})),
        )
        for by, names in found.groups().items()
        for name in names
    ]


def _scores(found: Scores) -> ScoresPart:
    return ScoresPart(
        questions=found.questions,
        hit_1=_number(found.hit_1),
        hit_3=_number(found.hit_3),
        hit_5=_number(found.hit_5),
        mrr=_number(found.mrr),
        ndcg_10=_number(found.ndcg_10),
        recall_20=_number(found.recall_20),
        candidate_recall=_number(found.candidate_recall),
        precision=_number(found.precision),
        quote_shown=_number(found.quote_shown),
        quotes=found.quotes,
        documents=_number(found.documents),
        single_document=_number(found.single_document),
        one_took_all=_number(found.one_took_all),
        empty=_number(found.empty),
        empty_arms=found.empty_arms,
        losses={str(name): count for name, count in sorted(found.losses.items())},
        stages={
            name: RankingPart(
                ndcg_10=_number(item.ndcg_10),
                recall_20=_number(item.recall_20),
                hit_3=_number(item.hit_3),
            )
            for name, item in found.stages.items()
        },
        cut=found.cut,
        continued=found.continued,
        cut_passages=found.cut_passages,
        passages=found.passages,
        characters=_number(found.characters),
        tokens=_number(found.tokens),
    )


def _absence(found: Absence) -> AbsencePart | None:
    if not found.absent:
        return None
    return AbsencePart(
        present=found.present,
        absent=found.absent,
        auc=_number(found.auc),
        present_empty=_number(found.present_empty),
        absent_empty=_number(found.absent_empty),
    )


def _outcome(item: Outcome, trial: Trial) -> OutcomePart:
    asked = item.asked

    def named(documents: Sequence[int]) -> list[str]:
        return [trial.names.get(document, str(document)) for document in documents]

    return OutcomePart(
        id=asked.id,
        text=asked.text,
        pair=asked.pair,
        slices=dict(asked.slices),
        absence=asked.absence,
        expected=named(list(asked.relevant)),
        places=dict(item.places),
        lost_by=item.lost_by,
        shown=named(item.shown),
        probability=item.probability,
        empty_arms=list(item.empty_arms),
        passages=item.passages,
        slots=list(item.slots),
        characters=item.characters,
        tokens=item.tokens,
        metrics=item.metrics(),
    )


def _timings(trial: Trial) -> EvalTimings:
    found = trial.evaluation
    times = sorted(item.milliseconds for item in (*found.answerable, *found.unanswerable))
    return EvalTimings(
        search_median_ms=round(median(times), 3) if times else None,
        search_p95_ms=round(times[math.ceil(0.95 * len(times)) - 1], 3) if times else None,
        seconds={name: round(value, 3) for name, value in trial.seconds.items()},
    )


def _number(value: float) -> float | None:
    """JSON knows no number that is none."""
    return None if math.isnan(value) else value
