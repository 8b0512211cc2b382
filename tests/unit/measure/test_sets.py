"""Sets in the common form: what is read, and what is refused with which words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from emily.errors import InputError
from emily.measure.sets import SetDocument, SetQuestion, load_set, narrowed, sampled, untitled

CORPUS = '{"id": "d1", "title": "T", "text": "one", "lang": "en"}\n{"id": "d2", "text": "two"}\n'
QUERIES = (
    '{"id": "q1", "text": "first?", "lang": "it", "kind": "page", "answers": ["one", " "]}\n'
    '{"id": "q2", "text": "second?", "split": "dev", "more": {}}\n{"id": "q3", "text": "third?"}\n'
)
QRELS = "q1\td1\t2\nq1\td2\t1\nq2\td2\t1\nq2\td1\t0\n"


@pytest.fixture
def folder(tmp_path):
    def write(**files):
        place = tmp_path / "small"
        place.mkdir(exist_ok=True)
        given = {"corpus": CORPUS, "queries": QUERIES, "qrels": QRELS} | files
        for name, text in given.items():
            suffix = "tsv" if name == "qrels" else "jsonl"
            if text is not None:
                (place / f"{name}.{suffix}").write_text(text, encoding="utf-8")
        return place

    return write


def test_a_set_is_read(folder):
    found = load_set(folder())
    assert (found.name, found.unjudged) == ("small", 1)
    assert found.documents == (SetDocument("d1", "T", "one", "en"), SetDocument("d2", "", "two"))
    assert found.questions == (
        SetQuestion("q1", "first?", "it", {"d1": 2, "d2": 1}, {"kind": "page"}, ("one",)),
        SetQuestion("q2", "second?", "", {"d2": 1}, {"split": "dev"}),
    )


def test_a_heading_blank_lines_and_ends_of_line_are_no_judgement(folder):
    qrels = "query-id\tcorpus-id\tscore\r\n\r\nq1\td1\t1\r\n"
    assert load_set(folder(qrels=qrels)).questions[0].relevant == {"d1": 1}


def test_a_text_may_hold_every_end_of_line_there_is(folder):
    text = "a\x0cb\u2028c\x85d\ne"
    corpus = json.dumps({"id": "d1", "text": text}, ensure_ascii=False)
    found = load_set(folder(corpus=corpus, qrels="q1\td1\t1\n"))
    assert found.documents[0].text == text


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"corpus": None}, r"corpus\.jsonl cannot be read: No such file"),
        ({"queries": None}, r"queries\.jsonl cannot be read: No such file"),
        ({"qrels": None}, r"qrels\.tsv cannot be read: No such file"),
        ({"corpus": ""}, r"corpus\.jsonl holds no document"),
        ({"queries": ""}, r"name 2 questions that .*queries\.jsonl does not hold, .* 'q1'"),
        ({"qrels": ""}, "No question of .* has a relevant document"),
        ({"qrels": "q1\td1\t0\n"}, "No question of .* has a relevant document"),
        ({"corpus": CORPUS + "{"}, r"corpus\.jsonl, line 3 is not JSON"),
        ({"corpus": "[" * 100_000}, r"corpus\.jsonl, line 1 is nested too deeply"),
        ({"corpus": CORPUS + "[1]"}, r"corpus\.jsonl, line 3 is no JSON object: '\[1\]'"),
        ({"corpus": CORPUS + '{"id": "d1", "text": ""}'}, r"line 3: the id 'd1' stands in line 1"),
        ({"corpus": '{"text": "a"}'}, r"line 1 lacks the field 'id'"),
        ({"corpus": '{"id": "d1"}'}, r"line 1 lacks the field 'text'"),
        ({"corpus": '{"id": "d1", "text": 7}'}, r"line 1: 'text' is 7; it must be a string"),
        ({"corpus": '{"id": "", "text": "a"}'}, r"line 1: 'id' is empty"),
        ({"queries": QUERIES + '{"id": "q4", "text": " "}'}, r"line 4: 'text' is empty"),
        ({"queries": QUERIES + '{"id": "q1", "text": "a"}'}, r"line 4: the id 'q1' stands in line"),
        (
            {"queries": '{"id": "q1", "text": "a", "answers": "b"}'},
            r"line 1: 'answers' is no list of strings",
        ),
        ({"qrels": QRELS + "q1 d1 1"}, r"qrels\.tsv, line 5: 'q1 d1 1' is not a question, a doc"),
        ({"qrels": QRELS + "q1\td1\tyes"}, r"qrels\.tsv, line 5: .* whole number"),
        ({"qrels": QRELS + "q1\td9\t1"}, r"line 5: there is no document 'd9' in the corpus"),
        ({"qrels": QRELS + "q1\td1\t1"}, r"line 5: 'q1' and 'd1' are judged twice"),
        ({"qrels": QRELS + "q9\td1\t1"}, r"name 1 questions that .*queries\.jsonl does not hold"),
    ],
    ids=lambda value: "" if isinstance(value, dict) else value[:40],
)
def test_what_is_wrong_is_named_with_its_line(folder, files, message):
    place = folder()
    for name, text in files.items():
        if text is None:
            (place / f"{name}.{'tsv' if name == 'qrels' else 'jsonl'}").unlink()
    with pytest.raises(InputError, match=message):
        load_set(folder(**files))


def test_bytes_that_are_not_utf8_are_refused(folder):
    place = folder()
    (place / "corpus.jsonl").write_bytes(b'{"id": "\xff"}')
    with pytest.raises(InputError, match=r"corpus\.jsonl is not UTF-8"):
        load_set(place)


def test_a_mark_of_the_encoding_is_no_text(folder):
    files = {"corpus": CORPUS, "queries": QUERIES, "qrels": QRELS}
    marked = {name: "\ufeff" + text for name, text in files.items()}
    assert load_set(folder(**marked)) == load_set(folder(**files))


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match=r"There is no folder .*nowhere\. A set is a folder with"):
        load_set(tmp_path / "nowhere")


def test_other_judgements_may_lie_in_the_set_or_elsewhere(folder, tmp_path):
    place = folder()
    (place / "both.tsv").write_text("q3\td1\t1\n", encoding="utf-8")
    elsewhere = tmp_path / "mine.tsv"
    elsewhere.write_text("q2\td1\t1\n", encoding="utf-8")
    assert [item.id for item in load_set(place, Path("both.tsv")).questions] == ["q3"]
    assert [item.id for item in load_set(place, elsewhere).questions] == ["q2"]


def test_a_sample_keeps_what_answers_it(folder):
    corpus = "".join(f'{{"id": "d{n}", "text": "t{n}"}}\n' for n in range(40))
    queries = "".join(f'{{"id": "q{n}", "text": "q{n}?"}}\n' for n in range(10))
    qrels = "".join(f"q{n}\td{3 * n}\t1\n" for n in range(10))
    whole = load_set(folder(corpus=corpus, queries=queries, qrels=qrels))
    found = sampled(whole, documents=12, questions=5)
    assert (len(found.documents), len(found.questions)) == (12, 5)
    kept = {item.id for item in found.documents}
    assert all(question.relevant.keys() <= kept for question in found.questions)
    assert found == sampled(whole, documents=12, questions=5)
    assert sampled(whole, documents=99, questions=99) == whole
    # Those that answer are kept, also where there is room for fewer.
    assert len(sampled(whole, documents=2).documents) == 10


@pytest.mark.parametrize("given", [{"documents": 0}, {"questions": -1}])
def test_a_sample_of_nothing_is_refused(folder, given):
    with pytest.raises(InputError, match=r"--(documents|sample) is .* it must be at least 1"):
        sampled(load_set(folder()), **given)


def test_titles_can_be_left_out(folder):
    whole = load_set(folder())
    assert [item.title for item in untitled(whole).documents] == ["untitled", "untitled"]
    assert [item.text for item in untitled(whole).documents] == ["one", "two"]
    assert untitled(whole).questions == whole.questions


def test_a_field_that_no_question_has_is_refused(folder):
    whole = load_set(folder())
    assert [item.id for item in narrowed(whole, {"kind": "page"}).questions] == ["q1"]
    with pytest.raises(InputError, match=r"has kind=odd\. Values of 'kind': page"):
        narrowed(whole, {"kind": "odd"})
    with pytest.raises(InputError, match=r"has colour=red\. It has no such field"):
        narrowed(whole, {"colour": "red"})
