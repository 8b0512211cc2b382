"""The making of the gate, on evidence that is written by hand or drawn from a known gate."""

from __future__ import annotations

import json

import numpy as np
import pytest
from benchmarks import fit_gate, logistic

from emily.retrieval.gate import Gate, load_gate

TRUTH = np.array([-5.0, 2.0, 3.0, 4.0, 0.5])


def rows(name, seed, asked=150, pool=20):
    chance = np.random.default_rng(seed)
    evidence = chance.random((asked * pool, 4))
    labels = (chance.random(asked * pool) < logistic.predict(TRUTH, evidence)).astype(float)
    question = np.repeat(np.arange(asked), pool).astype(float)
    return fit_gate.Rows(name, question, evidence, labels, asked)


SETS = [rows("one", 1), rows("two", 2), rows("three", 3, asked=40)]


def test_the_best_of_each_question_over_all_or_some_candidates():
    found = fit_gate.Rows(
        name="hand",
        question=np.array([0.0, 0, 1, 1]),
        evidence=np.zeros((4, 4)),
        labels=np.array([1.0, 0, 0, 0]),
        asked=3,
    )
    said = np.array([0.2, 0.6, 0.1, 0.3])
    assert found.best(said).tolist() == [0.6, 0.3]  # the third question has no candidate
    assert found.best(said, labels=1).tolist() == [0.2]
    assert found.best(said, labels=0).tolist() == [0.6, 0.3]


def test_a_set_of_few_rows_weighs_as_much_as_one_of_many():
    shifted = rows("two", 2)
    shifted = fit_gate.Rows("two", shifted.question, shifted.evidence, 1 - shifted.labels, 150)
    small = fit_gate.Rows(
        "s", shifted.question[:800], shifted.evidence[:800], shifted.labels[:800], 40
    )
    both = fit_gate.fit([SETS[0], small])
    alone = fit_gate.fit([SETS[0]])
    assert both[3] < alone[3] - 1


def test_evidence_survives_being_kept():
    kept = json.loads(json.dumps(SETS[2].as_json()))
    found = fit_gate.Rows.from_json(kept)
    assert found.evidence == pytest.approx(SETS[2].evidence)
    assert (found.labels == SETS[2].labels).all()
    assert (found.name, found.asked) == ("three", 40)


def test_what_is_shipped_can_be_loaded_and_names_where_it_comes_from():
    gate = fit_gate.fit(SETS)
    errors = [fit_gate.error(item, gate) for item in SETS]
    shipped = fit_gate.shipped(gate, errors)
    assert list(Gate(**shipped["coefficients"]).__slots__) == list(shipped["coefficients"])
    assert [item["set"] for item in shipped["fitted_on"]] == ["one", "two", "three"]
    assert 0.5 < shipped["error"]["candidate_auc"] < 1
    assert shipped["error"]["calibration_error"] < 0.05


def test_a_larger_loss_allows_a_higher_threshold():
    gate = fit_gate.fit(SETS)
    text = fit_gate.report(
        SETS,
        gate,
        {item.name: gate for item in SETS},
        [fit_gate.error(item, gate) for item in SETS],
    )
    bars = [
        float(line.split("|")[2])
        for line in text.splitlines()
        if line.startswith(("| 1%", "| 3%", "| 5%", "| 10%"))
    ]
    assert len(bars) == len(fit_gate.LOSSES)
    assert bars == sorted(bars)
    assert bars[0] < bars[-1]


def test_the_gate_in_use_is_one_that_this_made():
    data = json.loads(fit_gate.GATE.read_text(encoding="utf-8"))
    gate = load_gate()
    assert data["made_by"] == "benchmarks/fit_gate.py"
    assert {item["set"] for item in data["fitted_on"]} == set(fit_gate.SAMPLES)
    assert min(gate.part, gate.sentence, gate.coverage, gate.figures) >= 0
    page = fit_gate.PAGE.read_text(encoding="utf-8")
    measured = page.split(fit_gate.BEGIN)[1].split(fit_gate.END)[0]
    assert f"intercept {gate.intercept:.2f}, part {gate.part:.2f}" in measured
