"""The summary of a document's own sentences: language, coverage, nothing that is not in it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes import WordsEmbedder, bundled_embedder
from tests.unit.analysis.prose import prose

from emily.analysis.extractive import Extract, extract
from emily.analysis.sentences import Sentence, embedded_sentences
from emily.indexing.language import LanguageDetector

SIZE = 14_784
DETECTOR = LanguageDetector(("it", "en"))


def summarised(text: str, language: str | None = None, words: int = 400) -> Extract:
    sentences = embedded_sentences(text, WordsEmbedder())
    return extract(sentences, text, language=language, size=SIZE, group_words=200, words=words)


def check(text: str, found: Extract) -> None:
    """Every sentence stands in the text, in order, and every third of it has one."""
    spans = [(item.start, item.end) for item in found.sentences]
    assert spans == sorted(spans)
    whole = " ".join(text.split())
    for item in found.sentences:
        assert item.text in whole
        assert item.text in " ".join(text[item.start : item.end].split())
    assert " ".join(found.text.split()) == " ".join(item.text for item in found.sentences)


def thirds(text: str, found: Extract) -> set[int]:
    return {min(2, item.start * 3 // len(text)) for item in found.sentences}


@pytest.mark.parametrize("language", ["it", "en"])
@pytest.mark.parametrize("characters", [3_000, 34_023, 142_895])
def test_a_long_document(language: str, characters: int) -> None:
    text = prose(language, characters)
    found = summarised(text, language)
    check(text, found)
    assert thirds(text, found) == {0, 1, 2}
    assert found.levels == (characters > SIZE)
    words = len(found.text.split())
    assert 150 < words <= (200 if characters < SIZE else 400)
    assert DETECTOR.detect(found.text)[0] == language


def test_with_the_bundled_embedder() -> None:
    text = prose("it", 20_000)
    sentences = embedded_sentences(text, bundled_embedder())
    found = extract(sentences, text, language="it", size=SIZE, group_words=200, words=400)
    check(text, found)
    assert thirds(text, found) == {0, 1, 2}


def test_a_very_long_document_has_more_levels() -> None:
    text = prose("en", 400_000)
    found = summarised(text, "en")
    check(text, found)
    assert found.levels >= 2
    assert thirds(text, found) == {0, 1, 2}


def test_a_short_document_is_its_own_summary() -> None:
    text = "# Rent\n\nThe rent is due on the first. It is 950 euro.\n\nPay by transfer."
    found = summarised(text, "en")
    assert found.text.startswith("The rent is due on the first.")
    check(text, found)


def test_front_matter_is_not_told_of_a_note() -> None:
    note = "---\ntitle: Boiler\ntags: [house]\n---\n\nThe boiler is serviced each October."
    assert summarised(note).text == "The boiler is serviced each October."
    alone = "---\ntitle: Boiler of the house\n---\n"
    assert summarised(alone).text, "a note that is nothing else keeps it"


def test_lines_of_every_page_count_once() -> None:
    head = "Printed by the office of the sailing club in Oakmere."
    text = "\n\n".join(f"{head}\n\n{prose('en', 900, page)}" for page in range(12))
    assert summarised(text, "en").text.count(head) <= 1


def test_the_documents_language_is_kept() -> None:
    parts = [prose("it", 5_000, seed) for seed in range(5)]
    text = "\n\n".join([parts[0], prose("en", 3_000), *parts[1:]])
    english = (len(parts[0]), len(parts[0]) + 3_004)
    sentences = [
        Sentence(
            item.start,
            item.end,
            item.text,
            item.vector,
            "en" if english[0] <= item.start < english[1] else "it",
        )
        for item in embedded_sentences(text, WordsEmbedder())
    ]
    found = extract(sentences, text, language="it", size=SIZE, group_words=200, words=400)
    assert all(item.language == "it" for item in found.sentences)
    assert thirds(text, found) == {0, 1, 2}


def test_a_third_without_prose_is_represented_all_the_same() -> None:
    table = "\n".join(f"| part {row} | {row * 7} | in stock |" for row in range(400))
    text = f"{prose('en', 10_000)}\n\n{table}\n\n{prose('en', 9_000, 2)}"
    found = summarised(text, "en")
    check(text, found)
    assert thirds(text, found) == {0, 1, 2}


@given(st.text(alphabet="ab. A\n|#-1", max_size=600))
def test_any_text(text: str) -> None:
    found = summarised(text)
    check(text, found)
    assert bool(found.sentences) or not embedded_sentences(text, WordsEmbedder())


def test_sentences_without_a_vector_do_no_harm() -> None:
    text = prose("en", 6_000)
    blind = [
        Sentence(item.start, item.end, item.text, np.zeros(8, np.float32), "en")
        for item in embedded_sentences(text, WordsEmbedder())
    ]
    found = extract(blind, text, language="en", size=SIZE, group_words=200, words=400)
    check(text, found)
    assert thirds(text, found) == {0, 1, 2}


def test_the_documents_of_the_example_archive() -> None:
    """Real papers in both languages: the language is kept, and every third is there."""
    from examples.archive import source

    long = [item for item in source.load_all() if len(item.body) > 2_500 and not item.mixed]
    assert {item.lang for item in long} == {"it", "en"}
    for item in long:
        text = item.body.replace(source.PAGE_BREAK, "")
        found = summarised(text, item.lang, words=400)
        check(text, found)
        assert thirds(text, found) == {0, 1, 2}, item.file
        assert DETECTOR.detect(found.text)[0] == item.lang, item.file
