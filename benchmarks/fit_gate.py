"""Makes ``src/emily/retrieval/gate.json`` and the measured part of ``docs/gate.md``.

    python -m benchmarks.fit_gate                       # index, search, fit, write
    python -m benchmarks.fit_gate --keep evidence.json  # the same, and keep the evidence
    python -m benchmarks.fit_gate --from evidence.json  # fit kept evidence again

Every question of a set is searched with no threshold, and each candidate of the second stage
is a row: its evidence, and whether its document answers the question. Sets weigh the same
whatever their size. What is said of a set is said by a gate that was fitted without it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import logistic
from benchmarks.bench import open_set
from benchmarks.logistic import Array
from benchmarks.public_data import load_set
from emily.measure.scores import auc
from emily.models import Embedder, UseEmbedder

__all__ = ["Rows", "collect", "main", "report", "shipped"]

ROOT = Path(__file__).resolve().parents[1]
GATE = ROOT / "src" / "emily" / "retrieval" / "gate.json"
PAGE = ROOT / "docs" / "gate.md"
BEGIN, END = "<!-- measured -->", "<!-- end of measured -->"

COLUMNS = ("part", "sentence", "coverage", "figures")
SAMPLES: dict[str, dict[str, int]] = {
    "gnomehelp-it2en": {},
    "squadx-mixed": {"questions": 700},
    "scifact": {"documents": 1500, "questions": 300},
    "tldr-it2en": {"documents": 2500, "questions": 400},
}
LOSSES = (0.01, 0.03, 0.05, 0.10)


@dataclass(frozen=True, slots=True)
class Rows:
    """The candidates of a set's questions.

    Attributes:
        name: of the set.
        question: ``(n,)``, number of the question of each row.
        evidence: ``(n, 4)``, in the order of ``COLUMNS``.
        labels: ``(n,)``, 1 where the candidate's document answers the question.
        asked: how many questions there were.
    """

    name: str
    question: Array
    evidence: Array
    labels: Array
    asked: int

    def best(self, probabilities: Array, *, labels: float | None = None) -> Array:
        """The best probability of each question, over all or some of its candidates."""
        chosen = np.ones(len(self.labels), bool) if labels is None else self.labels == labels
        found = np.full(self.asked, np.nan)
        np.fmax.at(found, self.question[chosen].astype(int), probabilities[chosen])
        return np.asarray(found[~np.isnan(found)])

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Rows:
        """Rows that ``--keep`` wrote."""
        arrays = {name: np.array(data[name], float) for name in ("question", "evidence", "labels")}
        return cls(name=data["name"], asked=data["asked"], **arrays)

    def as_json(self) -> dict[str, Any]:
        """For ``--keep``."""
        return {
            "name": self.name,
            "asked": self.asked,
            "question": self.question.tolist(),
            "evidence": self.evidence.tolist(),
            "labels": self.labels.tolist(),
        }


async def collect(name: str, sample: dict[str, int], embedder: Embedder) -> Rows:
    """Index a set and search every question of it."""
    chosen = load_set(name, documents=sample.get("documents"), questions=sample.get("questions"))
    question: list[int] = []
    evidence: list[list[float]] = []
    labels: list[bool] = []
    async with open_set(chosen, embedder) as bench:
        retriever = bench.retriever(threshold=0.0)
        for number, asked in enumerate(chosen.questions):
            answer = await retriever.search(asked.text, limit=1)
            for item in answer.trace["second_stage"]["candidates"]:
                question.append(number)
                evidence.append([item["evidence"][column] for column in COLUMNS])
                labels.append(not asked.relevant.keys().isdisjoint(bench.names[item["document"]]))
    return Rows(
        name,
        np.array(question, float),
        np.array(evidence, float),
        np.array(labels, float),
        len(chosen.questions),
    )


def fit(sets: list[Rows]) -> Array:
    """One gate for several sets, each of the same weight."""
    return logistic.fit(
        np.concatenate([rows.evidence for rows in sets]),
        np.concatenate([rows.labels for rows in sets]),
        np.concatenate([np.full(len(rows.labels), 1 / len(rows.labels)) for rows in sets]),
    )


def at_even_odds(gate: Array, sets: list[Rows]) -> Array:
    """The same gate for one who takes a candidate to help as likely as not.

    Among twenty candidates of a question about one is relevant, so what is fitted says some
    per cent of the best there is. Moving the intercept by the log odds of that base rate (Elkan,
    "The Foundations of Cost-Sensitive Learning", 2001) changes no order.
    """
    base = float(np.mean([rows.labels.mean() for rows in sets]))
    moved = gate.copy()
    moved[0] += np.log((1 - base) / base)
    return moved


@dataclass(frozen=True, slots=True)
class Error:
    """How good a gate is on a set that it was not fitted on."""

    name: str
    questions: int
    candidates: int
    positives: float
    candidate_auc: float
    brier: float
    calibration: float
    absence_auc: float


def error(rows: Rows, gate: Array) -> Error:
    """Measure a gate on the candidates of a set."""
    said = logistic.predict(gate, rows.evidence)
    present, absent = rows.best(said), rows.best(said, labels=0)
    return Error(
        name=rows.name,
        questions=rows.asked,
        candidates=len(rows.labels),
        positives=float(rows.labels.mean()),
        candidate_auc=auc(said[rows.labels > 0].tolist(), said[rows.labels == 0].tolist()),
        brier=logistic.brier(said, rows.labels),
        calibration=logistic.calibration_error(said, rows.labels),
        # Absent: the same questions with the documents that answer them left out.
        absence_auc=auc(present.tolist(), absent.tolist()),
    )


def shipped(gate: Array, errors: list[Error]) -> dict[str, Any]:
    """What goes into ``gate.json``."""
    names = ("intercept", *COLUMNS)
    return {
        "coefficients": {
            name: round(float(value), 4) for name, value in zip(names, gate, strict=True)
        },
        "fitted_on": [
            {"set": item.name, "questions": item.questions, "candidates": item.candidates}
            for item in errors
        ],
        "error": {
            "of": "sets left out of the fit, mean",
            "candidate_auc": _mean(errors, "candidate_auc"),
            "absence_auc": _mean(errors, "absence_auc"),
            "brier": _mean(errors, "brier"),
            "calibration_error": _mean(errors, "calibration"),
        },
        "made_by": "benchmarks/fit_gate.py",
    }


def report(sets: list[Rows], gate: Array, without: dict[str, Array], errors: list[Error]) -> str:
    """The measured part of ``docs/gate.md``."""
    lines = [
        "Coefficients at even odds, as they are in use: "
        + ", ".join(
            f"{name} {value:.2f}" for name, value in zip(("intercept", *COLUMNS), gate, strict=True)
        )
        + ".",
        "",
        "Probabilities of the next two tables are as fitted, for one candidate of the pool, before "
        "the intercept is moved to even odds:",
        "",
        "| set left out | questions | candidates | of them relevant | AUC of candidates | Brier "
        "| Brier of the base rate | calibration error | AUC of present against absent |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for item in errors:
        lines.append(
            f"| {item.name} | {item.questions} | {item.candidates} | {item.positives:.1%} "
            f"| {item.candidate_auc:.3f} | {item.brier:.4f} "
            f"| {item.positives * (1 - item.positives):.4f} "
            f"| {item.calibration:.3f} | {item.absence_auc:.3f} |"
        )
    lines.append(
        f"| mean | | | | {_mean(errors, 'candidate_auc'):.3f} | {_mean(errors, 'brier'):.4f} "
        f"| | {_mean(errors, 'calibration'):.3f} | {_mean(errors, 'absence_auc'):.3f} |"
    )
    lines += ["", *_calibration(sets, without), "", *_thresholds(sets, gate, without)]
    return "\n".join(lines)


def _calibration(sets: list[Rows], without: dict[str, Array]) -> list[str]:
    """Said and seen by decile, over the sets as each was left out."""
    said = np.concatenate([logistic.predict(without[rows.name], rows.evidence) for rows in sets])
    seen = np.concatenate([rows.labels for rows in sets])
    groups = logistic.deciles(said, seen)
    return [
        "Candidates of all sets in ten groups of equal size, by the gate fitted without their set:",
        "",
        "| group | " + " | ".join(str(number) for number in range(1, len(groups) + 1)) + " |",
        "|---|" + "--:|" * len(groups),
        "| probability said | " + " | ".join(f"{group[0]:.1%}" for group in groups) + " |",
        "| share relevant | " + " | ".join(f"{group[1]:.1%}" for group in groups) + " |",
    ]


def _thresholds(sets: list[Rows], gate: Array, without: dict[str, Array]) -> list[str]:
    """What each threshold would cost and bring, sets weighing the same."""
    kept = [rows.best(logistic.predict(gate, rows.evidence), labels=1) for rows in sets]
    weights = np.concatenate([np.full(len(best), 1 / len(best)) for best in kept])
    names = " | ".join(rows.name for rows in sets)
    lines = [
        "A threshold is chosen by what it may cost: the share of answerable questions whose "
        "relevant document was in the pool and all of whose passages it drops, the sets weighing "
        "the same. The columns of the sets are of the gate fitted without the set: how many "
        "questions lose their document, and how many find nothing when it is absent.",
        "",
        f"| loss allowed | threshold | mean | {names} |",
        "|--:|--:|" + "--:|" * (len(sets) + 1),
    ]
    said = [
        logistic.predict(at_even_odds(without[rows.name], sets), rows.evidence) for rows in sets
    ]
    for loss in LOSSES:
        bar = logistic.quantile(np.concatenate(kept), weights, loss)
        shares = [
            [float(np.mean(rows.best(values, labels=label) < bar)) for label in (1, 0)]
            for rows, values in zip(sets, said, strict=True)
        ]
        shares.insert(0, np.mean(shares, axis=0).tolist())
        cells = " | ".join(f"{lost:.1%} / {empty:.1%}" for lost, empty in shares)
        lines.append(f"| {loss:.0%} | {bar:.4f} | {cells} |")
    return lines


def _mean(errors: list[Error], name: str) -> float:
    return round(float(np.mean([getattr(item, name) for item in errors])), 4)


def _write_page(measured: str) -> None:
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n{measured}\n{END}{after}", encoding="utf-8")


async def _collect_all() -> list[Rows]:
    embedder = UseEmbedder()
    return [await collect(name, sample, embedder) for name, sample in SAMPLES.items()]


def main(arguments: list[str] | None = None) -> None:
    """Collect or load evidence, fit, and write both files."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fit_gate", description=__doc__)
    parser.add_argument("--keep", type=Path, help="write the evidence to this file as well")
    parser.add_argument("--from", type=Path, dest="kept", help="fit the evidence of this file")
    parser.add_argument("--dry-run", action="store_true", help="print, and write nothing")
    options = parser.parse_args(arguments)
    if options.kept:
        data = json.loads(options.kept.read_text(encoding="utf-8"))
        sets = [Rows.from_json(item) for item in data]
    else:
        sets = asyncio.run(_collect_all())
    if options.keep:
        content = json.dumps([rows.as_json() for rows in sets])
        options.keep.write_text(content, encoding="utf-8")
    fitted = fit(sets)
    gate = at_even_odds(fitted, sets)
    without = {rows.name: fit([other for other in sets if other is not rows]) for rows in sets}
    errors = [error(rows, without[rows.name]) for rows in sets]
    measured = report(sets, gate, without, errors)
    print(measured)
    if not options.dry_run:
        GATE.write_text(json.dumps(shipped(gate, errors), indent=2) + "\n", encoding="utf-8")
        _write_page(measured)


if __name__ == "__main__":
    main()
