"""``emily eval`` from end to end: a set of our own, on a throw-away database."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from emily.measure.sets import load_set, sampled


def without_times(output: Any) -> Any:
    return {name: value for name, value in output.items() if name != "timings"}


def test_a_set_is_measured_stage_by_stage(measured):
    assert databases(measured.address) == [], "the throw-away database is gone"
    found = measured.output
    subject = found["subject"]
    assert (subject["kind"], subject["name"], subject["documents"]) == ("set", "house", 6)
    assert (subject["questions"], subject["absent"], subject["left_out"]) == (6, 3, 1)
    assert subject["without_text"] == 1
    assert (found["preset"], found["options"]["fusion"]) == ("default", "sum")

    outcomes = {item["id"]: item for item in found["answerable"]}
    assert list(outcomes) == ["q1", "q2", "q3", "q4", "q5", "q6"]
    first = outcomes["q1"]
    assert first["pair"] == "it→it"
    assert first["slices"] == {"kind": "same"}
    assert first["expected"] == ["it-bees"], "a text that stands twice is one document"
    assert first["places"] == dict.fromkeys(
        ["vector_arm", "lexical_arm", "pool", "second_stage", "threshold", "result"], 1
    )
    assert first["metrics"]["ndcg_10"] == first["metrics"]["hit_1"] == 1.0
    assert first["metrics"]["quote_shown"] == 1.0
    assert outcomes["q3"]["pair"] == "en→en+it"
    assert "quote_shown" not in outcomes["q4"]["metrics"], "no document says 'three'"
    # One of the two expected documents holds no text, so it can never be found.
    assert outcomes["q6"]["metrics"]["recall_20"] == 0.5
    assert outcomes["q6"]["metrics"]["ndcg_10"] < 1.0

    scores = found["scores"]
    assert (scores["questions"], scores["quotes"]) == (6, 3)
    assert scores["hit_3"] >= 5 / 6
    assert scores["candidate_recall"] == pytest.approx(5.5 / 6)
    assert set(scores["stages"]) == set(first["places"])
    assert scores["passages"] > 0 < scores["tokens"] < scores["characters"]

    slices = {(item["by"], item["name"]): item for item in found["slices"]}
    assert slices["kind", "cross"]["scores"]["questions"] == 2
    assert slices["pair", "en→en+it"]["scores"]["questions"] == 1
    assert slices["length", "1 to 3 words"]["scores"]["questions"] == 1
    assert slices["length", "4 to 8 words"]["scores"]["questions"] >= 3


def test_every_second_question_is_asked_without_its_documents(measured):
    found = measured.output
    absent = {item["id"]: item for item in found["unanswerable"]}
    assert list(absent) == ["q2", "q4", "q6"]
    assert {item["absence"] for item in absent.values()} == {"removed"}
    assert "en-lease" not in absent["q2"]["shown"]
    assert "it-cake" not in absent["q4"]["shown"] + absent["q6"]["shown"]
    assert found["absence"]["present"] == found["absence"]["absent"] == 3
    assert 0.5 <= found["absence"]["auc"] <= 1
    assert found["absence_kinds"] == {"removed": found["absence"]}
    empty = [not item["shown"] for item in absent.values()]
    assert found["absence"]["absent_empty"] == sum(empty) / 3
    assert [item["metrics"]["empty"] for item in absent.values()] == list(map(float, empty))


def test_runs_agree_to_the_last_digit_with_and_without_cached_vectors(shell, measured, monkeypatch):
    monkeypatch.setenv("EMILY_HOME", str(measured.home))
    cached = list((measured.home / "cache").glob("vectors-*.sqlite"))
    assert len(cached) == 1
    second = shell.json("eval", "--set", str(measured.folder))
    cached[0].unlink()
    third = shell.json("eval", "--set", str(measured.folder))
    assert without_times(measured.output) == without_times(second) == without_times(third)


def test_two_presets_are_compared_question_by_question(shell, question_set):
    found = shell.json("eval", "--set", str(question_set), "--compare", "default", "archive")
    assert (found["before"], found["after"]) == ("default", "archive")
    metrics = {item["metric"]: item for item in found["metrics"]}
    assert metrics["ndcg_10"]["questions"] == 6
    assert metrics["empty"]["questions"] == 3
    assert metrics["ndcg_10"]["gains"] + metrics["ndcg_10"]["losses"] <= len(found["changes"])
    for item in metrics.values():
        assert item["low"] <= item["difference"] <= item["high"]
        assert item["noise"] == (item["low"] <= 0 <= item["high"])
        assert item["after"] - item["before"] == pytest.approx(item["difference"])
    result = shell.run("eval", "--compare", "default", "nowhere.json")
    assert result.exit_code == 1
    assert "one is a preset and the other is not" in result.stderr


def test_saved_results_are_compared(shell, measured):
    path = str(measured.path)
    found = shell.json("eval", "--compare", path, path)
    assert found["changes"] == found["notices"] == []
    assert {(item["difference"], item["low"], item["high"]) for item in found["metrics"]} == {
        (0.0, 0.0, 0.0)
    }
    assert all(item["noise"] for item in found["metrics"])
    printed = shell.run("eval", "--compare", path, path).stdout
    assert "inside the noise" not in printed
    assert printed.count("identical") == len(found["metrics"]) + 1


def test_only_documents_in_another_language_with_cross_only(shell, question_set):
    found = shell.json("eval", "--set", str(question_set), "--cross-only")
    languages = {item.id: item.lang for item in load_set(question_set).documents}
    asked = {item.id: item.lang for item in load_set(question_set).questions}
    assert [item["id"] for item in found["answerable"]] == ["q2", "q3", "q4", "q6"]
    assert found["subject"]["cross_only"] is True
    for item in found["answerable"] + found["unanswerable"]:
        assert all(languages[shown] != asked[item["id"]] for shown in item["shown"])
    assert found["answerable"][1]["expected"] == ["it-boiler"]


def test_a_sample_is_the_same_at_every_run(shell, question_set):
    arguments = ("eval", "--set", str(question_set), "--sample", "3", "--documents", "4")
    found = shell.json(*arguments)
    chosen = sampled(load_set(question_set), documents=4, questions=3)
    assert [item["id"] for item in found["answerable"]] == [item.id for item in chosen.questions]
    assert found["subject"]["documents"] <= 4


def test_questions_of_one_kind_alone(shell, question_set):
    found = shell.json("eval", "--set", str(question_set), "--only", "kind=cross", "--untitled")
    assert [item["id"] for item in found["answerable"]] == ["q2", "q4"]
    assert found["subject"]["only"] == {"kind": "cross"}
    assert found["subject"]["titles"] is False
    problem = shell.json("eval", "--set", str(question_set), "--only", "kind=odd", exit_code=1)
    assert "Values of 'kind': both, cross, same" in problem["error"]["message"]


def test_other_judgements_are_found_beside_the_set(shell, question_set):
    (question_set / "other.tsv").write_text("q7\ten-train\t1\n", encoding="utf-8")
    found = shell.json("eval", "--set", str(question_set), "--qrels", "other.tsv")
    assert [item["id"] for item in found["answerable"]] == ["q7"]
    assert (found["subject"]["judgements"], found["subject"]["left_out"]) == ("other.tsv", 6)


def test_people_read_tables_and_see_progress(shell, question_set):
    result = shell.run("eval", "--set", str(question_set), "--preset", "vault")
    assert result.exit_code == 0, result.output
    for text in ("Set house: 6 documents, 6 questions, 3 without an answer", "nDCG@10",
                 "pair it→it", "second stage", "come back empty",
                 "The preset vault was described with models that are not here"):  # fmt: skip
        assert text in result.stdout
    assert "indexed: 7 of 7" in result.stderr
    assert "asked, preset vault: 9 of 9" in result.stderr


def databases(url: str) -> list[str]:
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT datname FROM pg_database WHERE datname ~ 'emily_eval'")
        return sorted(row[0] for row in rows)
