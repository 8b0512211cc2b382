"""What benchmarks run on is the same at every run, and what it is said to be."""

from __future__ import annotations

import json
import re

import pytest
from benchmarks import generated, public_data
from benchmarks.bench import percentile


def test_a_generated_document_has_its_length_and_no_sentence_twice():
    text = generated.document(20_000, seed=1)
    assert 20_000 <= len(text) < 20_200
    sentences = re.split(r"(?<=\.)\s+", text.strip())
    assert len(sentences) == len(set(sentences)) > 150


def test_generated_words_repeat_as_words_of_a_language_do():
    words = re.findall(r"[a-z]{4,}", generated.document(100_000, seed=1).lower())
    assert 1_500 < len(set(words)) < 4_000


def test_the_seed_alone_decides_what_is_generated():
    assert generated.document(2_000, seed=5) == generated.document(2_000, seed=5)
    assert generated.document(2_000, seed=5) != generated.document(2_000, seed=6)


def test_percentile_by_nearest_rank():
    values = [float(value) for value in range(100, 0, -1)]
    assert (percentile(values, 0.95), percentile([7.0], 0.95)) == (95.0, 7.0)


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    folder = tmp_path / "retrieval" / "tiny"
    folder.mkdir(parents=True)
    documents = [{"id": f"d{n}", "title": f"T{n}", "text": f"text {n}"} for n in range(40)]
    questions = [{"id": f"q{n}", "text": f"question {n}", "lang": "en"} for n in range(10)]
    questions += [{"id": "q-train", "text": "?", "split": "train"}, {"id": "q-none", "text": "?"}]
    pairs = [f"q{n}\td{n * 3}\t1" for n in range(10)] + ["q1\td1\t2", "q2\td2\t0", "q-train\td0\t1"]
    for name, items in (("corpus", documents), ("queries", questions)):
        lines = "\n".join(json.dumps(item) for item in items)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    (folder / "qrels.tsv").write_text("\n".join(pairs), encoding="utf-8")
    monkeypatch.setenv("EMILY_BENCH_DATA", str(tmp_path))


def test_a_set_has_its_questions_with_an_answer_and_no_training_part(tiny):
    found = public_data.load_set("tiny")
    assert len(found.documents) == 40
    assert [question.id for question in found.questions] == [f"q{n}" for n in range(10)]
    assert set(found.questions[1].relevant) == {"d3", "d1"}
    assert set(found.questions[2].relevant) == {"d6"}  # grade 0 is no answer


def test_a_sample_keeps_every_document_that_answers_and_is_the_same_again(tiny):
    found = public_data.load_set("tiny", documents=12, questions=5)
    assert (len(found.documents), len(found.questions)) == (12, 5)
    kept = {document.id for document in found.documents}
    assert all(question.relevant.keys() <= kept for question in found.questions)
    assert found == public_data.load_set("tiny", documents=12, questions=5)


def test_a_set_that_is_not_there_is_refused_with_those_that_are(tiny):
    with pytest.raises(SystemExit, match=r"no set 'huge'\. Sets: tiny"):
        public_data.load_set("huge")


def test_data_that_is_not_there_is_said(tmp_path, monkeypatch):
    monkeypatch.setenv("EMILY_BENCH_DATA", str(tmp_path))
    with pytest.raises(SystemExit, match="Set EMILY_BENCH_DATA"):
        public_data.data_folder()
