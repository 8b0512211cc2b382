"""The demonstration: what it refuses, what makes it fail, and (slowly) the whole of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from examples import demo

from emily.brain import AddReport, FileOutcome
from emily.measure.evaluation import Asked, Evaluation, Outcome, RankingScores


def evaluation(*results):
    return Evaluation(
        tuple(
            Outcome(
                asked=Asked(str(number), "where?", {1: 1}),
                places={
                    "vector_arm": 1,
                    "lexical_arm": None,
                    "pool": 1,
                    "second_stage": 1,
                    "threshold": 1,
                    "result": result,
                },
                rankings={"second_stage": RankingScores(1.0, 1.0, 1.0)},
                pool_recall=1.0,
                precision=1.0,
                lost_by=None if result else "threshold",
                quote_shown=None,
                shown=(1,),
                probability=0.5,
                empty_arms=(),
            )
            for number, result in enumerate(results)
        ),
    )


def report(*outcomes):
    return AddReport(tuple(FileOutcome(Path("a.pdf"), outcome) for outcome in outcomes))


def test_a_score_at_the_floor_passes_and_one_below_it_fails(capsys):
    assert demo._verdict(evaluation(1, 2, 3, 1, None), report("added")) == 0
    assert demo._verdict(evaluation(1, 2, 3, 4, None), report("added")) == 1
    assert "hit@3 is 0.60, below the floor of 0.80" in capsys.readouterr().err


def test_a_file_that_cannot_be_read_fails_it(capsys):
    assert demo._verdict(evaluation(1), report("added", "failed")) == 1
    assert "1 files could not be read" in capsys.readouterr().err


def test_failures_name_the_stage_and_the_places(capsys):
    demo._print_failures(evaluation(1, 5, None), {1: "a.pdf"})
    printed = capsys.readouterr().out
    assert "shown as number 5" in printed
    assert "lost by threshold (vector 1, lexical -, pool 1, second stage 1)" in printed


def test_without_failures_nothing_is_said_of_them(capsys):
    demo._print_failures(evaluation(1, 3), {1: "a.pdf"})
    assert capsys.readouterr().out == ""


def test_a_folder_that_holds_something_is_left_alone(tmp_path, capsys):
    (tmp_path / "settings.toml").write_text("", encoding="utf-8")
    assert demo.main(["--home", str(tmp_path)]) == 1
    assert "is not empty" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["settings.toml"]


def test_the_questions_it_shows_exist():
    answerable, _ = demo.load()
    assert set(demo.SHOWN) <= {question.id for question in answerable}


@pytest.mark.slow
def test_the_whole_demonstration_reaches_its_floor(capsys):
    assert demo.main([]) == 0
    printed = capsys.readouterr().out
    assert "43 files: 43 added" in printed
    assert "question→answer" in printed
