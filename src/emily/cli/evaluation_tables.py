"""Measurements for people: the tables of ``emily eval``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING

from emily.cli.plain import one_line
from emily.cli.printing import output, table

if TYPE_CHECKING:
    from emily.measure.comparison import Change, Comparison, MetricChange
    from emily.measure.evaluation import Evaluation, Outcome, Scores
    from emily.measure.replay import Replay
    from emily.measure.trial import Subject, Trial

__all__ = ["print_comparison", "print_replay", "print_trial"]

_LISTED = 20  # questions; --json has them all


def print_trial(trial: Trial) -> None:
    """Print what came of a run."""
    found, console = trial.evaluation, output()
    console.print(f"{_described(trial.subject)} Preset {trial.preset.name}, model {trial.model}.")
    if found.answerable:
        console.print()
        console.print(_scores_table(found))
        console.print(_stages_table(found.scores()))
        for line in _reading(found.scores()):
            console.print(line)
    if found.unanswerable:
        console.print()
        console.print(_absence_table(found))
    _print_lost(found, trial)
    for notice in trial.notices:
        console.print(f"Notice: {one_line(notice)}")
    times = [item.milliseconds for item in (*found.answerable, *found.unanswerable)]
    if times:
        seconds = ", ".join(f"{name} {value:.0f} s" for name, value in trial.seconds.items())
        console.print(f"\nA search took {median(times):.0f} ms (median); {seconds}.")


def print_comparison(found: Comparison) -> None:
    """Print what changed from one run to another."""
    console = output()
    rows = [
        (
            item.metric,
            item.questions,
            f"{item.before:.3f}",
            f"{item.after:.3f}",
            f"{item.difference.mean:+.3f}",
            f"{item.difference.low:+.3f} to {item.difference.high:+.3f}",
            item.gains,
            item.losses,
            _verdict(item),
        )
        for item in found.metrics
    ]
    console.print(
        table(
            (
                "figure", "questions", found.before, found.after, "change", "95 % interval",
                "gains", "losses", "",
            ),
            rows,
        )
    )  # fmt: skip
    if not found.changes:
        console.print("The two are identical in every figure of every question that both asked.")
    _print_changes(found.changes)
    for notice in found.notices:
        console.print(f"Notice: {one_line(notice)}")


def _verdict(item: MetricChange) -> str:
    if not item.gains and not item.losses:
        return "identical"
    if item.difference.noise:
        return "inside the noise"
    return "better" if item.difference.mean > 0 else "worse"


def print_replay(found: Replay) -> None:
    """Print how the owner's questions behave when they are asked again."""
    console = output()
    rows = []
    for label, length in (("all", None), *((length, length) for length in found.lengths())):
        item = found.behaviour(length)
        arms = ", ".join(
            f"{name.removesuffix('_arm')} {share:.1%}" for name, share in item.empty_arms.items()
        )
        rows.append(
            (
                label,
                item.questions,
                f"{item.empty:.1%}",
                f"{item.was_empty:.1%}",
                arms,
                _share(item.documents),
                _share(item.slots),
                f"{item.one_took_all:.1%}",
                f"{item.milliseconds:.0f} ms",
            )
        )
    columns = (
        "questions", "", "empty", "then", "empty arms", "documents", "slots each", "one took all",
        "time",
    )  # fmt: skip
    console.print(table(columns, rows, title=f"Your own questions, preset {found.preset}"))
    now_empty = [item for item in found.questions if item.is_empty]
    if now_empty:
        listed = [
            (item.id, item.text, "empty" if item.was_empty else "found something")
            for item in now_empty[:_LISTED]
        ]
        console.print()
        console.print(
            table(("id", "question", "when asked"), listed, title="Nothing found", cut="question")
        )
        _print_more(len(now_empty) - len(listed))
    if found.left_out:
        console.print(f"{found.left_out} questions to one document were not asked again.")


def _described(subject: Subject) -> str:
    what = "Set" if subject.kind == "set" else "Questions"
    notes = [f"{subject.documents} documents", f"{subject.questions} questions"]
    if subject.absent:
        notes.append(f"{subject.absent} without an answer")
    if subject.left_out:
        notes.append(f"{subject.left_out} questions left out, no document answers them")
    if subject.without_text:
        notes.append(f"{subject.without_text} documents without text not indexed")
    if subject.judgements not in ("", "qrels.tsv"):
        notes.append(f"judged by {subject.judgements}")
    notes += [f"only {name}={value}" for name, value in subject.only.items()]
    if not subject.titles:
        notes.append("documents without their titles")
    if subject.cross_only:
        notes.append("without the documents in each question's language")
    return f"{what} {one_line(subject.name)}: {', '.join(notes)}."


def _scores_table(found: Evaluation) -> object:
    groups: list[tuple[str, dict[str, str] | None]] = [("all", None)]
    groups += [
        (f"{by} {name}", {by: name})
        for by, names in found.groups().items()
        for name in names
        if len(names) > 1
    ]
    rows = []
    for label, group in groups:
        scores = found.scores(group)
        if scores.questions:
            rows.append(
                (
                    label,
                    scores.questions,
                    *map(
                        _share,
                        (
                            scores.hit_1, scores.hit_3, scores.hit_5, scores.mrr, scores.ndcg_10,
                            scores.recall_20, scores.candidate_recall, scores.precision,
                            scores.quote_shown,
                        ),
                    ),
                )
            )  # fmt: skip
    columns = (
        "questions", "", "hit@1", "hit@3", "hit@5", "MRR", "nDCG@10", "recall@20", "in the pool",
        "precision", "quote shown",
    )  # fmt: skip
    return table(columns, rows)


def _stages_table(scores: Scores) -> object:
    rows = [
        (name.replace("_", " "), *map(_share, (item.ndcg_10, item.recall_20, item.hit_3)))
        for name, item in scores.stages.items()
    ]
    return table(("ranking", "nDCG@10", "recall@20", "hit@3"), rows)


def _reading(scores: Scores) -> list[str]:
    losses = ", ".join(f"{name} {count}" for name, count in sorted(scores.losses.items()))
    arms = ", ".join(
        f"{name.replace('_', ' ')} {share:.1%}" for name, share in scores.empty_arms.items()
    )
    cut = [
        f"Of {scores.cut} chosen chunks that are cut before their continuation, {scores.continued} "
        f"are continued for the reader; {scores.cut_passages} of {scores.passages} passages end "
        "before theirs."
    ]
    return [
        f"Lost by: {losses or 'no stage'}. Empty arms: {arms or 'none'}.",
        f"A search shows {scores.documents:.2f} documents; {scores.single_document:.1%} show one "
        f"alone ({scores.one_took_all:.1%} gave it all slots), {scores.empty:.1%} nothing.",
        *(cut if scores.cut or scores.cut_passages else ()),
        f"An answer has {scores.characters:.0f} characters, {scores.tokens:.0f} tokens.",
    ]


def _absence_table(found: Evaluation) -> object:
    kinds: list[str | None] = [None, *found.kinds()]
    rows = []
    for kind in kinds if len(kinds) > 2 else kinds[:1]:
        item = found.absence(kind=kind)
        rows.append(
            (
                kind or "all",
                item.absent,
                item.present,
                _share(item.auc),
                _share(item.absent_empty),
                _share(item.present_empty),
            )
        )
    columns = (
        "without an answer", "questions", "against", "AUC", "come back empty", "empty wrongly",
    )  # fmt: skip
    return table(columns, rows)


def _print_lost(found: Evaluation, trial: Trial) -> None:
    lost = [item for item in found.answerable if (item.places["result"] or 4) > 3]
    if not lost:
        return
    rows = [
        (
            item.asked.id,
            item.asked.text,
            ", ".join(trial.names.get(one, str(one)) for one in item.asked.relevant),
            _what_became(item),
        )
        for item in lost[:_LISTED]
    ]
    console = output()
    console.print()
    console.print(
        table(
            ("id", "question", "expected", "what became of it"),
            rows,
            title="Not among the first three",
            cut="question",
        )
    )
    _print_more(len(lost) - len(rows))


def _what_became(item: Outcome) -> str:
    places = ", ".join(
        f"{name.replace('_', ' ')} {place or '-'}"
        for name, place in item.places.items()
        if name != "result"
    )
    if item.lost_by is None:
        return f"shown as number {item.places['result']} ({places})"
    return f"lost by {item.lost_by} ({places})"


def _print_changes(changes: Sequence[Change]) -> None:
    console = output()
    ranked = [item for item in changes if "ndcg_10" in item.figures]
    lost = [item for item in ranked if _gain(item) < 0][:_LISTED]
    gained = [item for item in reversed(ranked) if _gain(item) > 0][:_LISTED]
    for title, items in (("Losses of nDCG@10", lost), ("Gains of nDCG@10", gained)):
        if items:
            rows = [
                (item.id, item.text, *(f"{value:.3f}" for value in item.figures["ndcg_10"]))
                for item in items
            ]
            console.print()
            console.print(table(("id", "question", "before", "after"), rows, title=title))
    _print_more(len(changes) - len(lost) - len(gained))


def _gain(change: Change) -> float:
    before, after = change.figures["ndcg_10"]
    return after - before


def _print_more(count: int) -> None:
    if count > 0:
        output().print(f"{count} more are in the output of --json.")


def _share(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"
