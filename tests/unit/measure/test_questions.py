"""Files of questions: what is read, and what is refused with which words."""

from __future__ import annotations

import pytest

from emily.errors import InputError
from emily.measure.questions import (
    Question,
    Unanswerable,
    load_questions,
    sampled_questions,
)

GOOD = """
[[answerable]]
id = "a1"
text = "Quanto costa?"
document = "lease.pdf"
lang = "it"
document_lang = "en"
cross = true

[[unanswerable]]
id = "u1"
text = "Who?"
kind = "off-topic"
"""


def load(tmp_path, text):
    path = tmp_path / "questions.toml"
    path.write_text(text, encoding="utf-8")
    return load_questions(path)


def test_both_kinds_are_read(tmp_path):
    assert load(tmp_path, GOOD) == (
        [Question("a1", "Quanto costa?", "lease.pdf", "", "it", "en", True)],
        [Unanswerable("u1", "Who?", "off-topic")],
    )


def test_the_pair_of_languages_says_when_one_is_not_known():
    assert Question("a", "b", "c", lang="it", document_lang="en").pair == "it→en"
    assert Question("a", "b", "c", lang="it").pair == "it→?"


def test_a_file_may_hold_nothing(tmp_path):
    assert load(tmp_path, "") == ([], [])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[answerable]", "are not TOML"),
        ('[[question]]\nid = "a"', r"has a table 'question'; known are \[\[answerable\]\]"),
        ('answerable = "a"', r"'answerable' in .* is no list of tables"),
        ('[[answerable]]\nid = "a"\ntext = "b"', "Question 'a' in .* lacks the field 'document'"),
        (GOOD.replace("lang =", "tongue =", 1), "has a field 'tongue'; known are id, text"),
        (GOOD.replace('"a1"', "1"), "'id' is 1; it must be a string"),
        (GOOD.replace("true", '"yes"'), "'cross' is 'yes'; it must be a boolean"),
        (GOOD.replace("Quanto costa?", " "), "Question 'a1' in .*: 'text' is empty"),
        (GOOD.replace("off-topic", "odd"), "'kind' is 'odd'; it must be near-miss or off-topic"),
        (GOOD.replace("u1", "a1"), "has 2 questions with the id 'a1'"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        load(tmp_path, text)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match=r"nowhere\.toml cannot be read: No such file"):
        load_questions(tmp_path / "nowhere.toml")


def test_bytes_that_are_not_utf8_are_refused(tmp_path):
    path = tmp_path / "q.toml"
    path.write_bytes(b'x = "\xff"')
    with pytest.raises(InputError, match="are not UTF-8"):
        load_questions(path)


def test_a_mark_of_the_encoding_and_deep_nesting_break_nothing(tmp_path):
    path = tmp_path / "q.toml"
    path.write_bytes(b'\xef\xbb\xbf[[answerable]]\nid = "a"\ntext = "?"\ndocument = "d"\n')
    assert load_questions(path)[0] == [Question("a", "?", "d")]
    path.write_text("x = " + "[" * 100_000, encoding="utf-8")
    with pytest.raises(InputError, match="are nested too deeply"):
        load_questions(path)


def test_lines_of_json_are_read_as_toml_is(tmp_path):
    path = tmp_path / "questions.jsonl"
    path.write_text(
        '{"id": "a1", "text": "Quanto costa?", "document": "lease.pdf", "lang": "it"}\n\n'
        '{"id": "u1", "text": "Who?\\u2028", "kind": "off-topic"}\n',
        encoding="utf-8",
    )
    assert load_questions(path) == (
        [Question("a1", "Quanto costa?", "lease.pdf", "", "it")],
        [Unanswerable("u1", "Who?\u2028", "off-topic")],
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"id": "a1"', r"questions\.jsonl, line 1 is not JSON"),
        ("[" * 100_000, r"questions\.jsonl, line 1 is nested too deeply"),
        ("\n[1]", r"questions\.jsonl, line 2 is no JSON object: '\[1\]'"),
        ('{"id": "a1", "text": "?"}', "Question 'a1' in .* lacks the field 'kind'"),
        ('{"id": 1, "text": "?", "document": "a"}', "'id' is 1; it must be a string"),
    ],
)
def test_what_is_wrong_in_a_line_is_named(tmp_path, text, message):
    path = tmp_path / "questions.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        load_questions(path)


def test_a_sample_of_questions_is_the_same_again_and_in_order():
    asked = [Question(f"a{n}", "?", "x") for n in range(20)]
    absent = [Unanswerable(f"u{n}", "?", "off-topic") for n in range(10)]
    found = sampled_questions(asked, absent, 12)
    assert len(found[0]) + len(found[1]) == 12
    assert found == sampled_questions(asked, absent, 12)
    assert found[0] == sorted(found[0], key=asked.index)
    assert sampled_questions(asked, absent, 99) == (asked, absent)
    with pytest.raises(InputError, match="--sample is 0; it must be at least 1"):
        sampled_questions(asked, absent, 0)
