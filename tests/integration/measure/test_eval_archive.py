"""``emily eval`` on the owner's archive: its questions, its log, and that it only reads."""

from __future__ import annotations

import json
from typing import Any

import psycopg
import pytest

QUESTIONS = """
[[answerable]]
id = "a1"
text = "When is the boiler serviced?"
document = "boiler.txt"
quote = "every October"
lang = "en"
document_lang = "en"

[[answerable]]
id = "a2"
text = "Quanto è l'affitto mensile?"
document = "lease.txt"
quote = "words that are not in it"
lang = "it"
document_lang = "en"
cross = true

[[unanswerable]]
id = "u1"
text = "Who won the regatta of Camogli?"
kind = "off-topic"
"""
FILES = {
    "boiler.txt": "The boiler is serviced every October by the plumber Orsini.",
    "lease.txt": "The flat is let until 31 March 2027. The monthly rent is 950 euro.",
    "cake.txt": "For the cake take three eggs and four apples.",
}


@pytest.fixture
def archive(shell, home, tmp_path):
    folder = tmp_path / "papers"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    shell.json("add", str(folder))
    (home / "questions.toml").write_text(QUESTIONS, encoding="utf-8")
    return shell


def contents(url: str) -> dict[str, Any]:
    """Every row of every table, by the table."""
    with psycopg.connect(url) as connection:
        tables = connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"
        ).fetchall()
        return {
            name: connection.execute(
                f'SELECT md5(string_agg(t::text, chr(10) ORDER BY t::text)) FROM "{name}" t'
            ).fetchone()
            for (name,) in tables
        }


def test_the_owners_questions_are_asked_and_only_precedents_are_kept(archive, database_url):
    before = contents(database_url)
    found = archive.json("eval")
    after = contents(database_url)
    assert after.pop("precedent") != before.pop("precedent"), "what such signs meant is kept"
    assert after == before
    assert found["subject"] | {"judgements": ""} == {
        "kind": "archive", "name": "questions.toml", "documents": 3, "questions": 2, "absent": 1,
        "left_out": 0, "without_text": 0, "judgements": "", "cross_only": False, "titles": True,
        "only": {},
    }  # fmt: skip
    first, second = found["answerable"]
    assert (first["expected"], first["places"]["result"]) == (["boiler.txt"], 1)
    assert first["metrics"]["quote_shown"] == 1.0
    assert "quote_shown" not in second["metrics"], "no search could show what is not there"
    assert found["scores"]["quotes"] == 1
    (notice,) = found["notices"]
    assert notice.startswith(
        "1 question has a quote that does not stand in the document named, letter for letter: a2."
    )
    assert second["pair"] == "it→en"
    assert found["absence_kinds"]["off-topic"]["absent"] == 1
    assert found["scores"]["hit_1"] == 1.0
    assert found["scores"]["cut"] == found["scores"]["cut_passages"] == 0
    assert "continuation" not in archive.run("eval").stdout, "nothing was cut"
    again = archive.json("eval")
    assert {**again, "timings": None} == {**found, "timings": None}


def test_questions_may_be_lines_of_json(archive, tmp_path):
    path = tmp_path / "mine.jsonl"
    items = [
        {"id": "a1", "text": "When is the boiler serviced?", "document": "boiler.txt"},
        {"id": "u1", "text": "Who won the regatta?", "kind": "near-miss"},
    ]
    path.write_text("\n".join(map(json.dumps, items)) + "\n", encoding="utf-8")
    found = archive.json("eval", str(path), "--sample", "9")
    assert (found["subject"]["name"], found["subject"]["questions"]) == ("mine.jsonl", 1)
    assert list(found["absence_kinds"]) == ["near-miss"]
    path.write_text('{"id": "a1", "text": "?", "document": "gone.pdf"}', encoding="utf-8")
    problem = archive.json("eval", str(path), exit_code=1)["error"]["message"]
    assert "The question 'a1' cannot be asked: There is no document 'gone.pdf'" in problem


def test_the_log_is_asked_again_and_does_not_grow(archive, database_url):
    for question in ("When is the boiler serviced?", "three eggs", "three eggs"):
        archive.json("search", question)
    archive.json("search", "three eggs", "--limit", "1")
    archive.json("ask", "lease.txt", "rent")
    before = contents(database_url)
    found = archive.json("eval", "--real")
    assert contents(database_url) == before
    assert (found["preset"], found["left_out"]) == ("default", 1)
    asked = [(item["text"], item["times"]) for item in found["questions"]]
    assert asked == [("three eggs", 1), ("three eggs", 2), ("When is the boiler serviced?", 1)]
    assert sum(found["questions"][0]["slots"]) == 1, "its limit was kept"
    assert found["behaviour"]["questions"] == 3
    assert found["behaviour"]["empty"] == found["behaviour"]["was_empty"] == 0.0
    assert set(found["behaviour"]["empty_arms"]) == {"vector_arm", "lexical_arm"}
    assert [*found["lengths"]] == ["1 to 3 words", "4 to 8 words"]
    assert found["lengths"]["1 to 3 words"]["questions"] == 2
    printed = archive.run("eval", "--real").stdout
    assert "Your own questions, preset default" in printed
    assert "1 questions to one document were not asked again." in printed


def test_without_questions_the_error_says_how_to_write_some(shell, home):
    problem = shell.json("eval", exit_code=1)["error"]["message"]
    assert f"There are no questions in {home / 'questions.toml'}" in problem
    assert "[[answerable]]" in problem
    assert "emily eval --set DIR" in problem
    problem = shell.json("eval", "--real", exit_code=1)["error"]["message"]
    assert "The log holds no question of yours yet" in problem


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--qrels", "x.tsv"), "--qrels is about a public set. Name its folder with --set DIR."),
        (("--cross-only",), "--cross-only is about a public set"),
        (("--set", "x", "mine.toml"), "A set brings its own questions, and mine.toml was named"),
        (("--set", "/nowhere"), "There is no folder /nowhere"),
        (("--set", ".", "--preset", "odd"), "There is no preset 'odd'. Presets: default"),
        (("--set", ".", "--only", "dev"), "--only is 'dev'; write a field and its value"),
        (("--compare", "a.json", "b.json"), "there is no file 'a.json' and no preset of that name"),
        (("--compare", "a", "b", "--preset", "vault"), "--preset has no place beside it"),
        (("--real", "--sample", "3"), "--real asks the questions of your log; leave out --sample"),
    ],
)
def test_what_does_not_go_together_is_said(shell, arguments, message):
    assert message in shell.json("eval", *arguments, exit_code=1)["error"]["message"]
