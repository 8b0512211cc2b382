"""From a document's text to all that the index keeps of it."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from tests.fakes import WordsEmbedder

from emily.errors import ModelUnavailable
from emily.indexing.language import LanguageDetector
from emily.indexing.prepare import NO_LANGUAGE, Preparer, name_terms, readable_name
from emily.indexing.terms import analyse
from emily.indexing.text import DocumentText
from emily.indexing.vectors import unpack
from emily.reading.pages import Page, Reading, Table
from emily.settings import load_settings

DETECTOR = LanguageDetector(("it", "en"))


@pytest.fixture
def embedder() -> WordsEmbedder:
    return WordsEmbedder()


@pytest.fixture
def preparer(embedder: WordsEmbedder) -> Preparer:
    return Preparer(embedder, DETECTOR, load_settings(chunk_tokens=64, chunk_overlap=10))


def text_of(*pages: str, tables: tuple[Table, ...] = ()) -> DocumentText:
    return DocumentText.from_reading(
        Reading(
            "text", tuple(Page(i, text, tables=tables) for i, text in enumerate(pages, 1)), "pages"
        )
    )


PROSE = "Il contratto di affitto della casa scade alla fine di marzo e si rinnova da solo. " * 12


@pytest.mark.parametrize(
    ("name", "readable"),
    [
        ("rent_contract-2024.pdf", "rent contract 2024"),
        ("a  b.txt", "a b"),
        (".pdf", "pdf"),
        ("--.pdf", "--.pdf"),
        ("no suffix", "no suffix"),
    ],
)
def test_a_name_as_words(name: str, readable: str) -> None:
    assert readable_name(name) == readable


def test_a_name_has_its_identifiers_and_dates_whole() -> None:
    wanted = {term.term for term in analyse("DEC-0054 2024-03-15", ("it", "en"))}
    assert wanted <= name_terms("DEC-0054_2024-03-15.pdf", ("it", "en"))


def test_every_chunk_has_parts_sentences_words_and_terms(preparer: Preparer) -> None:
    document = text_of(PROSE, "The boiler was serviced in May. " * 30)
    found = preparer.prepare(document, "house.txt")
    assert len(found.chunks) > 4
    assert len(found.lengths) == len(found.chunks)
    assert found.failures == ()
    assert [item.chunk.ordinal for item in found.chunks] == list(range(len(found.chunks)))
    for item in found.chunks:
        assert item.parts.shape[1] == 64
        assert len(item.parts) >= 1
        np.testing.assert_allclose(np.linalg.norm(item.parts, axis=1), 1, atol=1e-5)
        assert len(unpack(item.sentences, 64)) >= 1
        assert item.words
    assert {item.language for item in found.chunks} == {"it", "en"}
    assert ("affitto", "it") in found.chunks[0].words
    assert np.linalg.norm(found.name_vector) == pytest.approx(1, abs=1e-5)


def test_postings_are_the_counts_of_the_chunks(preparer: Preparer) -> None:
    document = text_of(PROSE)
    found = preparer.prepare(document, "lease.txt")
    for index, item in enumerate(found.chunks):
        own = document.text[item.chunk.start : item.chunk.end]
        expected = Counter(term.term for term in analyse(own, ("it", "en")))
        expected.update(name_terms("lease.txt", ("it", "en")))
        posted = {
            term: dict(zip(posting.chunks, posting.frequencies, strict=True))[index]
            for term, posting in found.postings.items()
            if index in posting.chunks
        }
        assert posted == dict(expected)
        assert found.lengths[index] == expected.total()
    assert all(list(p.chunks) == sorted(set(p.chunks)) for p in found.postings.values())


def test_a_header_is_indexed_and_embedded_with_every_piece(
    preparer: Preparer, embedder: WordsEmbedder
) -> None:
    rows = [f"item{i} | {i},50 | some words about it" for i in range(60)]
    page = "\n".join(["article | amount | remarks", *rows])
    table = Table((0, 0), tuple((i, i) for i in range(1, 61)))
    document = text_of(page, tables=(table,))
    found = preparer.prepare(document, "prices.csv")
    assert len(found.chunks) > 3
    assert len(found.postings["remar"].chunks) == len(found.chunks)
    assert all("article | amount | remarks" in call for call in embedder.calls)
    later = found.chunks[2]
    assert later.chunk.header == "article | amount | remarks"
    assert "remarks" not in document.text[later.chunk.start : later.chunk.end]
    assert "remarks" in {word for word, _ in later.words}, "it covers a word of a question"


def test_one_bad_text_is_set_aside(preparer: Preparer, embedder: WordsEmbedder) -> None:
    embedder.broken.add("poison")
    pages = [f"Page number {i} holds some words of its own, quite a few." for i in range(90)]
    pages[70] = "Here is poison in the middle."
    found = preparer.prepare(text_of(*pages), "a.txt")
    assert [item.chunk.page for item in found.chunks if not len(item.parts)] == [71]
    bad = found.chunks[70]
    assert bad.sentences == b""
    assert bad.words, "it is still found by words"
    assert 70 in found.postings["poiso"].chunks
    (said,) = found.failures
    assert "Passage 71 (page 71) has no vector and is found by words only" in said
    assert "length nan" in said


def test_all_bad_texts_are_set_aside(preparer: Preparer, embedder: WordsEmbedder) -> None:
    embedder.broken.add("word")
    found = preparer.prepare(text_of(*["word " * 5] * 7), "a.txt")
    assert len(found.failures) == 7


def test_a_model_that_is_down_is_no_bad_text(preparer: Preparer, embedder: WordsEmbedder) -> None:
    embedder.down = True
    with pytest.raises(ModelUnavailable):
        preparer.prepare(text_of(PROSE), "a.txt")


def test_words_of_no_known_language(preparer: Preparer) -> None:
    found = preparer.prepare(text_of("Договор аренды квартиры истекает"), "a.txt")
    assert found.language is None
    assert {language for _, language in found.chunks[0].words} == {NO_LANGUAGE}


def test_the_fingerprint_tells_what_the_result_depends_on(embedder: WordsEmbedder) -> None:
    def fingerprint(**values: object) -> str:
        return Preparer(embedder, DETECTOR, load_settings(**values)).fingerprint

    base = fingerprint()
    assert fingerprint(threshold=0.5, arm_size=9, threads=1) == base
    assert fingerprint(languages=("en", "it")) == base
    for changed in (
        {"chunk_tokens": 256},
        {"chunk_overlap": 0},
        {"languages": ("it", "en", "de")},
        {"language_confidence": 0.5},
    ):
        assert fingerprint(**changed) != base
