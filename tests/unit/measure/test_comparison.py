"""Comparing runs: gains and losses by question, noise, and files that hold something else."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emily.errors import InputError
from emily.measure.comparison import METRICS, Run, compare, load_run

FIGURES = st.dictionaries(st.sampled_from(METRICS), st.sampled_from([0.0, 0.5, 1.0]))
RUNS = st.dictionaries(
    st.tuples(st.sampled_from(["answerable", "unanswerable"]), st.sampled_from("abcdefgh")),
    FIGURES,
    min_size=1,
)


def run(figures, name="one", subject="set house"):
    return Run(name, subject, {key: key[1] for key in figures}, figures)


def answerable(**figures):
    return {("answerable", name): {"ndcg_10": value} for name, value in figures.items()}


def test_gains_and_losses_are_told_by_question():
    before = run(answerable(a=1.0, b=0.5, c=0.25, d=0.0), "old")
    after = run(answerable(a=0.0, b=0.5, c=0.5, d=1.0), "new")
    found = compare(before, after)
    (metric,) = found.metrics
    assert (metric.metric, metric.questions) == ("ndcg_10", 4)
    assert (metric.before, metric.after) == (1.75 / 4, 2.0 / 4)
    assert metric.difference.mean == pytest.approx(0.0625)
    assert (metric.gains, metric.losses, metric.difference.noise) == (2, 1, True)
    assert [(item.id, item.figures["ndcg_10"]) for item in found.changes] == [
        ("a", (1.0, 0.0)),
        ("c", (0.25, 0.5)),
        ("d", (0.0, 1.0)),
    ]
    assert found.notices == ()


def test_a_change_on_every_question_is_no_noise():
    before = run(answerable(**{f"q{n}": 0.2 + n / 100 for n in range(20)}))
    after = run(answerable(**{f"q{n}": 0.3 + n / 90 for n in range(20)}))
    (metric,) = compare(before, after).metrics
    assert not metric.difference.noise
    assert (metric.gains, metric.losses) == (20, 0)


def test_what_only_one_run_has_is_left_out_and_told():
    found = compare(run(answerable(a=1.0, b=1.0), "old"), run(answerable(b=0.5, c=1.0), "new"))
    assert found.metrics[0].questions == 1
    assert found.notices == (
        "1 questions of old were not asked in new and are left out.",
        "1 questions of new were not asked in old and are left out.",
    )


def test_other_subjects_and_other_words_are_told():
    before = run(answerable(a=1.0), "old")
    after = Run("new", "set garden", {("answerable", "a"): "otherwise"}, answerable(a=1.0))
    first, second = compare(before, after).notices
    assert first == "Not the same was measured: set house in old, set garden in new."
    assert second == "1 questions have the same id and another text."


def test_an_id_may_stand_among_both_kinds_of_questions():
    figures = {("answerable", "a"): {"hit_1": 1.0}, ("unanswerable", "a"): {"empty": 1.0}}
    other = {("answerable", "a"): {"hit_1": 1.0}, ("unanswerable", "a"): {"empty": 0.0}}
    (change,) = compare(run(figures), run(other)).changes
    assert (change.answerable, change.figures) == (False, {"empty": (1.0, 0.0)})


def test_runs_without_a_common_question_cannot_be_compared():
    with pytest.raises(InputError, match=r"old .* and new .* have no question in common"):
        compare(run(answerable(a=1.0), "old"), run(answerable(b=1.0), "new"))


@given(RUNS)
def test_a_run_compared_with_itself_has_not_changed(figures):
    found = compare(run(figures), run(figures))
    assert found.changes == found.notices == ()
    for metric in found.metrics:
        difference = metric.difference
        assert (difference.mean, difference.low, difference.high) == (0.0, 0.0, 0.0)
        assert difference.noise
        assert metric.gains == metric.losses == 0


@given(RUNS, RUNS)
def test_the_interval_holds_the_difference_of_the_means(one, two):
    if not one.keys() & two.keys():
        return
    for metric in compare(run(one), run(two)).metrics:
        assert metric.difference.low <= metric.difference.mean <= metric.difference.high
        assert metric.difference.mean == pytest.approx(metric.after - metric.before)
        assert metric.gains + metric.losses <= metric.questions


def test_a_saved_result_is_read(tmp_path):
    path = tmp_path / "a.json"
    item = {"id": "q1", "text": "where?", "metrics": {"hit_1": 1}}
    data = {
        "subject": {"kind": "set", "name": "house"},
        "answerable": [item],
        "unanswerable": [{**item, "metrics": {"empty": 0.0}}],
    }
    path.write_text(json.dumps(data), encoding="utf-8")
    found = load_run(path)
    assert (found.name, found.subject) == (str(path), "set house")
    assert found.figures == {
        ("answerable", "q1"): {"hit_1": 1.0},
        ("unanswerable", "q1"): {"empty": 0.0},
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is nested too deeply"),
        ("[]", "is no result of a measurement"),
        ('{"error": {"message": "no"}}', "is no result of a measurement"),
        ('{"answerable": [{"id": 1}], "unanswerable": []}', "is no result of a measurement"),
    ],
)
def test_a_file_that_holds_something_else_is_refused(tmp_path, text, message):
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        load_run(path)
    with pytest.raises(InputError, match="cannot be read: No such file"):
        load_run(tmp_path / "nowhere.json")
