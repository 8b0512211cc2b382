"""The example archive is what its README says: varied, balanced, and fair to ask questions of."""

from __future__ import annotations

import shutil
from collections import Counter
from difflib import SequenceMatcher
from itertools import combinations
from statistics import mean

import pytest
from examples.archive import build, questions, source

SOURCES = {item.file: item for item in source.load_all()}
ANSWERABLE, UNANSWERABLE = questions.load()


def words(question: questions.Answerable | questions.Unanswerable) -> int:
    return len(question.text.split())


def twins() -> list[tuple[str, str]]:
    """Pairs of documents that share at least four fifths of their words, in order."""
    texts = {name: " ".join(item.lines).split() for name, item in SOURCES.items()}
    found = []
    for one, other in combinations(sorted(texts), 2):
        matcher = SequenceMatcher(None, texts[one], texts[other], autojunk=False)
        if (
            matcher.real_quick_ratio() >= 0.8
            and matcher.quick_ratio() >= 0.8
            and matcher.ratio() >= 0.8
        ):
            found.append((one, other))
    return found


def test_there_are_enough_documents_of_enough_formats():
    assert len(SOURCES) >= 36
    assert len({item.format for item in SOURCES.values()}) >= 12
    suffixes = {name.rpartition(".")[2] for name in SOURCES}
    expected = "pdf png jpg tiff docx xlsx pptx html md txt csv eml"
    assert suffixes == set(expected.split())


def test_half_is_italian_half_is_english_and_some_is_both():
    languages = Counter(item.lang for item in SOURCES.values())
    assert set(languages) == {"it", "en"}
    assert abs(languages["it"] - languages["en"]) <= 2
    assert sum(item.mixed for item in SOURCES.values()) >= 4


def test_the_manual_has_thirty_pages_each_with_something_of_its_own():
    manual = SOURCES["norvane-w740-manual.pdf"]
    pages = [page.strip() for page in manual.body.split(source.PAGE_BREAK)]
    assert len(pages) == 30
    assert min(len(page.split()) for page in pages) >= 120
    assert len(build._pdf_text((build.FILES / manual.file).read_bytes())) == 30


@pytest.mark.parametrize(
    "item", [item for item in SOURCES.values() if item.format == "pdf"], ids=lambda item: item.file
)
def test_every_word_of_a_source_can_be_read_from_its_pdf(item):
    printed = " ".join(build._pdf_text((build.FILES / item.file).read_bytes())).split()
    bare = item.body.replace("**", "").replace(source.PAGE_BREAK, "").replace("|", " ")
    written = [word for word in bare.split() if word.strip("#-")]
    assert set(written) <= set(printed)


def test_near_twins_differ_in_little_more_than_a_number():
    pairs = twins()
    assert ("fattura-lumenar-2024-03.pdf", "fattura-lumenar-2024-04.pdf") in pairs
    assert ("invoice-brackenfell-2024-02.pdf", "invoice-brackenfell-2024-03.pdf") in pairs
    receipts = [SOURCES[f"ricevuta-canone-2024-0{month}.pdf"].lines for month in (4, 5)]
    assert len(receipts[0]) == len(receipts[1])
    changed = [pair for pair in zip(*receipts, strict=True) if pair[0] != pair[1]]
    assert 1 <= len(changed) <= 5


@pytest.mark.parametrize("question", ANSWERABLE, ids=lambda question: question.id)
def test_the_quote_stands_on_one_line_of_its_document_and_in_no_other(question):
    holders = {
        name for name, item in SOURCES.items() if any(question.quote in line for line in item.lines)
    }
    assert holders == {question.document}


def test_questions_are_balanced_over_languages():
    pairs = Counter((question.lang, question.document_lang) for question in ANSWERABLE)
    assert pairs == {("it", "it"): 18, ("en", "en"): 18, ("it", "en"): 12, ("en", "it"): 12}
    assert all(q.cross == (q.lang != q.document_lang) for q in ANSWERABLE)
    assert Counter(question.lang for question in UNANSWERABLE) == {"it": 10, "en": 10}


def test_the_part_that_answers_is_in_the_language_that_is_claimed():
    for question in ANSWERABLE:
        document = SOURCES[question.document]
        assert document.mixed or document.lang == question.document_lang, question.id


def test_most_unanswerable_questions_are_near_misses_of_a_document():
    near = [question for question in UNANSWERABLE if question.kind == "near-miss"]
    assert len(UNANSWERABLE) == 20
    assert len(near) >= 12
    assert all(question.near in SOURCES for question in near)
    assert all(not q.near for q in UNANSWERABLE if q.kind == "off-topic")


def test_questions_are_distinct():
    everything = [question.text.casefold() for question in [*ANSWERABLE, *UNANSWERABLE]]
    assert len(set(everything)) == 80
    assert len({question.id for question in [*ANSWERABLE, *UNANSWERABLE]}) == 80


def test_length_does_not_tell_which_questions_have_an_answer():
    with_answer, without = [words(q) for q in ANSWERABLE], [words(q) for q in UNANSWERABLE]
    assert abs(mean(with_answer) / mean(without) - 1) < 0.05
    wins = sum((a > b) + (a == b) / 2 for a in with_answer for b in without)
    assert 0.45 <= wins / (len(with_answer) * len(without)) <= 0.55


def test_most_documents_answer_something():
    assert len({question.document for question in ANSWERABLE}) >= len(SOURCES) - 2


def test_the_built_files_match_their_sources():
    assert build.differences() == []
    assert sum(path.stat().st_size for path in build.FILES.iterdir()) < 6_000_000


def test_the_check_notices_what_changed(tmp_path):
    swapped = {
        "fattura-lumenar-2024-03.pdf": "fattura-lumenar-2024-04.pdf",
        "scontrino-ferramenta.jpg": "receipt-bookshop.jpg",
        "lettera-amministratore-tetto.pdf": "council-letter-parking-permit.pdf",
        "cv-owen-tarrack.docx": "circolare-gita-grotte.docx",
        "book-club-minutes.txt": "diario-dell-orto-2023.txt",
    }
    sources = [SOURCES[name] for name in [*swapped, "home-inventory.csv", "sourdough-notebook.md"]]
    for here, other in swapped.items():
        shutil.copyfile(build.FILES / other, tmp_path / here)
    shutil.copy(build.FILES / "sourdough-notebook.md", tmp_path)
    (tmp_path / "stray.txt").write_text("?", encoding="utf-8")
    assert set(build.differences(tmp_path, sources)) == {
        "fattura-lumenar-2024-03.pdf does not match fattura-luce-2024-03.md",
        "scontrino-ferramenta.jpg does not match scontrino-ferramenta.md",
        "lettera-amministratore-tetto.pdf does not match lettera-amministratore.md",
        "cv-owen-tarrack.docx does not match cv-owen.md",
        "book-club-minutes.txt does not match book-club.md",
        "home-inventory.csv is missing",
        "stray.txt has no source",
    }


@pytest.mark.parametrize("kind", source.FORMATS)
def test_building_twice_gives_the_same_bytes(kind):
    item = next(item for item in SOURCES.values() if item.format == kind)
    assert build.RENDERERS[kind](item) == build.RENDERERS[kind](item)


def test_a_source_without_front_matter_is_refused(tmp_path):
    path = tmp_path / "loose.md"
    path.write_text("# A title\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"loose\.md has no front matter"):
        source.load(path)


def test_a_format_that_is_not_known_is_refused_with_those_that_are(tmp_path):
    path = tmp_path / "odd.md"
    path.write_text('+++\nfile = "a.odt"\nformat = "odt"\nlang = "en"\n+++\n', encoding="utf-8")
    with pytest.raises(ValueError, match=r"'odt'; known are pdf, scan"):
        source.load(path)
