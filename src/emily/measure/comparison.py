"""Two runs over the same questions, compared question by question."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from emily.errors import InputError
from emily.measure.evaluation import Evaluation
from emily.measure.scores import Interval, bootstrap, mean

__all__ = ["Change", "Comparison", "MetricChange", "Run", "compare", "load_run", "run_of"]

METRICS = (
    "ndcg_10",
    "recall_20",
    "candidate_recall",
    "hit_1",
    "hit_3",
    "hit_5",
    "mrr",
    "precision",
    "quote_shown",
    "empty",
)
"""What is compared, in the order shown; ``empty`` is of questions without an answer."""

_Key = tuple[str, str]  # "answerable" or "unanswerable", and the id


@dataclass(frozen=True, slots=True)
class Run:
    """The figures of one run.

    Attributes:
        name: how it is called: its preset, or its file.
        subject: what was measured, for people.
        texts: the questions, by group and id.
        figures: of each question.
    """

    name: str
    subject: str
    texts: Mapping[_Key, str]
    figures: Mapping[_Key, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class MetricChange:
    """What became of one figure.

    Attributes:
        metric: its name.
        questions: on how many questions both runs have it.
        before: its mean in the first run, on those.
        after: in the second.
        difference: its mean change, with its bootstrap interval.
        gains: on how many questions it rose.
        losses: on how many it fell.
    """

    metric: str
    questions: int
    before: float
    after: float
    difference: Interval
    gains: int
    losses: int


@dataclass(frozen=True, slots=True)
class Change:
    """A question on which the runs differ: each figure that does, before and after."""

    id: str
    text: str
    answerable: bool
    figures: Mapping[str, tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs compared.

    Attributes:
        before, after: their names.
        metrics: in the order of ``METRICS``, those that both have.
        changes: the questions that differ, the greatest loss of nDCG first, its greatest gain
            last.
        notices: what is to be known beside the figures.
    """

    before: str
    after: str
    metrics: tuple[MetricChange, ...]
    changes: tuple[Change, ...]
    notices: tuple[str, ...]


def run_of(name: str, subject: str, evaluation: Evaluation) -> Run:
    """The figures of an evaluation that was just made."""
    texts: dict[_Key, str] = {}
    figures: dict[_Key, Mapping[str, float]] = {}
    for group, outcomes in (
        ("answerable", evaluation.answerable),
        ("unanswerable", evaluation.unanswerable),
    ):
        for item in outcomes:
            texts[group, item.asked.id] = item.asked.text
            figures[group, item.asked.id] = item.metrics()
    return Run(name, subject, texts, figures)


def load_run(path: Path) -> Run:
    """The figures of a run that was saved by ``emily eval --json``.

    Raises:
        InputError: the file cannot be read or holds something else.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise InputError(f"{path} is not JSON: {error}.") from None
    except RecursionError:
        raise InputError(f"{path} is nested too deeply.") from None
    try:
        texts, figures = {}, {}
        for group in ("answerable", "unanswerable"):
            for item in data[group]:
                key = (group, str(item["id"]))
                texts[key] = str(item["text"])
                figures[key] = {str(name): float(value) for name, value in item["metrics"].items()}
        subject = data["subject"]
        return Run(str(path), f"{subject['kind']} {subject['name']}", texts, figures)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise InputError(
            f"{path} is no result of a measurement. Make one with: emily eval --json > {path.name}"
        ) from None


def compare(before: Run, after: Run) -> Comparison:
    """Compare two runs on the questions that both asked.

    Raises:
        InputError: they have no question in common.
    """
    common = [key for key in before.figures if key in after.figures]
    if not common:
        raise InputError(
            f"{before.name} ({before.subject}) and {after.name} ({after.subject}) have no question "
            "in common, so there is nothing to compare."
        )
    return Comparison(
        before.name,
        after.name,
        tuple(_metrics(before, after, common)),
        tuple(_changes(before, after, common)),
        tuple(_notices(before, after, common)),
    )


def _metrics(before: Run, after: Run, common: Sequence[_Key]) -> list[MetricChange]:
    found = []
    for metric in METRICS:
        pairs = [
            (before.figures[key][metric], after.figures[key][metric])
            for key in common
            if metric in before.figures[key] and metric in after.figures[key]
        ]
        if not pairs:
            continue
        differences = [second - first for first, second in pairs]
        found.append(
            MetricChange(
                metric,
                len(pairs),
                mean([first for first, _ in pairs]),
                mean([second for _, second in pairs]),
                bootstrap(differences),
                sum(value > 0 for value in differences),
                sum(value < 0 for value in differences),
            )
        )
    return found


def _changes(before: Run, after: Run, common: Sequence[_Key]) -> list[Change]:
    found = []
    for key in common:
        first, second = before.figures[key], after.figures[key]
        figures = {
            metric: (first[metric], second[metric])
            for metric in METRICS
            if metric in first and metric in second and first[metric] != second[metric]
        }
        if figures:
            found.append(Change(key[1], before.texts[key], key[0] == "answerable", figures))
    return sorted(found, key=_gain)


def _gain(change: Change) -> tuple[float, float]:
    ranked = change.figures.get("ndcg_10", (0.0, 0.0))
    others = sum(second - first for first, second in change.figures.values())
    return ranked[1] - ranked[0], others


def _notices(before: Run, after: Run, common: Sequence[_Key]) -> list[str]:
    notices = []
    if before.subject != after.subject:
        notices.append(
            f"Not the same was measured: {before.subject} in {before.name}, {after.subject} in "
            f"{after.name}."
        )
    for run, other in ((before, after), (after, before)):
        alone = len(run.figures) - len(common)
        if alone:
            notices.append(
                f"{alone} questions of {run.name} were not asked in {other.name} and are left out."
            )
    reworded = sum(before.texts[key] != after.texts[key] for key in common)
    if reworded:
        notices.append(f"{reworded} questions have the same id and another text.")
    return notices
