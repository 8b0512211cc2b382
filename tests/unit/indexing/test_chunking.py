from __future__ import annotations

import itertools
import re
import time
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emily.indexing.chunking import Chunk, chunk
from emily.indexing.text import DocumentText
from emily.reading.pages import Page, Reading, Table


@dataclass(frozen=True)
class FourLetters:
    """A token for every four characters begun of a word, as word-piece tokenizers go."""

    reserved: int = 2

    def count(self, text: str) -> int:
        return sum(-(-len(word) // 4) for word in text.split())


TOKENS = FourLetters()


def of(*pages: Page) -> DocumentText:
    return DocumentText.from_reading(Reading("text", pages, "pages"))


def cut(text: str, **options: int) -> list[str]:
    document = of(Page(1, text))
    return [document.text[c.start : c.end] for c in chunk(document, TOKENS, **options)]


line = st.text(alphabet="ab é1.,;:!?|#-東京。\u0301\t ", max_size=120)
number = st.from_regex(r"[1-9]\.[0-9]{3},[0-9]{2}", fullmatch=True)


@st.composite
def pages(draw: st.DrawFn) -> Page:
    lines = draw(st.lists(line | number | st.just("") | st.just("parola " * 30), max_size=25))
    tables: tuple[Table, ...] = ()
    if lines and draw(st.booleans()):
        first = draw(st.integers(0, len(lines) - 1))
        last = draw(st.integers(first, len(lines) - 1))
        header = (first, first) if draw(st.booleans()) else None
        body = range(first + 1 if header else first, last + 1)
        tables = (Table(header, tuple((at, at) for at in body)),)
    return Page(1, "\n".join(lines), tables=tables)


@st.composite
def documents(draw: st.DrawFn) -> DocumentText:
    found = draw(st.lists(pages(), min_size=1, max_size=3))
    return of(*(Page(at, page.text, tables=page.tables) for at, page in enumerate(found, start=1)))


@given(documents(), st.integers(16, 90), st.integers(0, 30))
def test_every_promise_of_a_chunk(document: DocumentText, limit: int, overlap: int) -> None:
    text = document.text
    chunks = chunk(document, TOKENS, limit=limit, overlap=overlap)
    assert [c.ordinal for c in chunks] == list(range(len(chunks)))
    seen = bytearray(len(text))
    before: Chunk | None = None
    for c in chunks:
        content = text[c.start : c.end]
        assert content
        assert content == content.strip()
        header_tokens = TOKENS.count(c.header)
        assert c.tokens == TOKENS.count(content) + header_tokens
        assert c.tokens + TOKENS.reserved <= limit
        page = document.pages[c.page - 1]
        assert page.start <= c.start < c.end <= page.end
        if before is not None:
            assert (before.start, before.end) < (c.start, c.end)
            assert before.end < c.end
            if before.page == c.page and c.start < before.end:
                assert TOKENS.count(text[c.start : before.end]) <= overlap
        seen[c.start : c.end] = b"\1" * (c.end - c.start)
        before = c
    assert all(mark or sign.isspace() for mark, sign in zip(seen, text, strict=True))


@given(documents(), st.integers(16, 90), st.integers(0, 30))
def test_words_and_numbers_are_cut_only_when_too_long(
    document: DocumentText, limit: int, overlap: int
) -> None:
    text = document.text
    largest = (limit - TOKENS.reserved) // 2  # the room beside the longest header
    for c in chunk(document, TOKENS, limit=limit, overlap=overlap):
        for at in (c.start, c.end):
            if 0 < at < len(text) and not text[at - 1].isspace() and not text[at].isspace():
                start, end = at, at
                while start and not text[start - 1].isspace():
                    start -= 1
                while end < len(text) and not text[end].isspace():
                    end += 1
                assert TOKENS.count(text[start:end]) > largest


def test_a_page_of_white_space_gives_none() -> None:
    chunks = chunk(of(Page(1, " \n\t\n"), Page(2, "testo"), Page(3, "")), TOKENS)
    assert [(c.page, c.ordinal) for c in chunks] == [(2, 0)]


def test_a_short_page_is_one_chunk() -> None:
    assert cut("Uno.\n\nDue.\n") == ["Uno.\n\nDue."]


def test_blank_lines_are_preferred_when_the_chunk_is_reasonably_full() -> None:
    paragraph = " ".join(["casa"] * 13) + "."
    text = "\n\n".join([paragraph] * 4)
    assert cut(text, limit=34, overlap=0) == [f"{paragraph}\n\n{paragraph}"] * 2


def test_a_heading_stays_with_what_follows() -> None:
    body = " ".join(["casa"] * 20) + "."
    text = f"{body}\n\n# Titolo\n\n{body}\n\n## Altro\n{body}"
    pieces = cut(text, limit=32, overlap=10)
    assert [piece.split("\n")[0] for piece in pieces] == [body, "# Titolo", "## Altro"]


def test_a_hash_inside_a_fence_is_no_heading() -> None:
    body = " ".join(["casa"] * 12) + "."
    fenced = f"```sh\n{body}\n# commento\n{body}\n```"
    pieces = cut(f"{fenced}\n\n# Vero\n{body}", limit=46, overlap=0)
    assert pieces == [fenced, f"# Vero\n{body}"]


def test_the_overlap_is_whole_sentences() -> None:
    text = "Il gatto dorme sul divano. " * 12
    pieces = cut(text, limit=40, overlap=10)
    assert all(piece.startswith("Il gatto") and piece.endswith("divano.") for piece in pieces)
    document = of(Page(1, text))
    chunks = chunk(document, TOKENS, limit=40, overlap=10)
    shared = [document.text[b.start : a.end] for a, b in itertools.pairwise(chunks)]
    assert set(shared) == {"Il gatto dorme sul divano."}


def test_the_overlap_of_a_long_sentence_is_its_last_words() -> None:
    document = of(Page(1, "casa " * 100))
    chunks = chunk(document, TOKENS, limit=42, overlap=7)
    shared = [document.text[b.start : a.end] for a, b in itertools.pairwise(chunks)]
    assert set(shared) == {" ".join(["casa"] * 7)}


def table(rows: int, words: int = 4) -> DocumentText:
    lines = ["Nome | Prezzo"] + [f"riga{at:02} | " + "voce " * words for at in range(rows)]
    return of(
        Page(
            1,
            "Listino\n\n" + "\n".join(lines) + "\n\nfine",
            tables=(Table((2, 2), tuple((at + 3, at + 3) for at in range(rows))),),
        )
    )


def test_tables_are_cut_between_rows_and_every_piece_has_the_header() -> None:
    document = table(30)
    chunks = chunk(document, TOKENS, limit=40, overlap=8)
    assert len(chunks) > 4
    assert chunks[0].header == ""
    for c in chunks:
        content = document.text[c.start : c.end]
        assert content.count("Nome | Prezzo") + (c.header == "Nome | Prezzo") == 1
        for row in content.split("\n"):
            assert row in document.text.split("\n")


def test_a_row_longer_than_the_overlap_is_not_repeated() -> None:
    document = table(30)
    chunks = chunk(document, TOKENS, limit=40, overlap=5)
    assert all(a.end <= b.start for a, b in itertools.pairwise(chunks))


def test_a_row_longer_than_the_limit_is_cut_inside() -> None:
    document = table(2, words=100)
    chunks = chunk(document, TOKENS, limit=40, overlap=5)
    assert all(c.tokens + TOKENS.reserved <= 40 for c in chunks)
    assert sum(c.header != "" for c in chunks) >= 6


def test_a_header_too_long_is_shortened() -> None:
    header = " | ".join(f"colonna{at}" for at in range(60))
    document = of(
        Page(
            1,
            f"{header}\n" + "1 | 2\n" * 60,
            tables=(Table((0, 0), tuple((at, at) for at in range(1, 61))),),
        )
    )
    chunks = chunk(document, TOKENS, limit=60, overlap=5)
    last = chunks[-1].header
    assert last
    assert header.startswith(last)
    assert TOKENS.count(last) <= 29


def test_text_without_spaces_is_cut_at_its_own_stops() -> None:
    pieces = cut("これは試験の文です。" * 60, limit=66, overlap=0)
    assert all(piece.endswith("。") for piece in pieces)


def test_a_long_run_is_cut_neither_in_a_number_nor_before_a_mark() -> None:
    for piece in cut("abc-1.234,56-" * 200, limit=50, overlap=0):
        assert re.fullmatch(r"(abc-|1\.234,56-)+", piece)
    assert not any(piece[0] == "\u0323" for piece in cut("q\u0323" * 1000, limit=50, overlap=0))


def test_a_phone_number_is_not_parted() -> None:
    text = (
        "telefonare subito al numero verde " * 3
        + "800 123 456 789 per informazioni sul contratto " * 3
    )
    assert not any(re.search(r"\d$", piece) for piece in cut(text, limit=42, overlap=0)[:-1])


def test_reserved_tokens_stay_free() -> None:
    document = of(Page(1, "casa " * 300))
    assert max(c.tokens for c in chunk(document, FourLetters(reserved=20), limit=64)) == 44


def test_a_limit_without_room_is_an_error() -> None:
    with pytest.raises(ValueError, match="A limit of 10 tokens less 5 reserved ones leaves 5"):
        chunk(of(Page(1, "a")), FourLetters(reserved=5), limit=10)


@pytest.mark.parametrize(
    "hostile",
    [
        "a" * 1_000_000,
        "1" * 500_000,
        "." * 500_000 + "x",
        "q\u0323" * 200_000,
        "ab\n" * 100_000,
        "。" * 300_000,
        "|" * 500_000,
        "# \n" * 100_000,
        "1.234,56" * 60_000,
    ],
    ids=lambda text: text[:8].strip(),
)
def test_time_grows_with_the_length_only(hostile: str) -> None:
    document = of(Page(1, hostile))
    begin = time.process_time()
    chunks = chunk(document, TOKENS)
    assert time.process_time() - begin < 40  # seconds of CPU: hours if it were quadratic
    assert max(c.tokens for c in chunks) <= 510
    assert chunks[-1].end == len(document.text.rstrip())
