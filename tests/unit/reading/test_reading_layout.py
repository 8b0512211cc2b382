"""Paragraphs, hyphens and the judgement on a text layer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emily.reading.layout import TextLine, is_garbage, paragraphs, rejoin, without_ligatures


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("perfor-\nmance was", "performance was"),
        ("n-\noctanal", "n-octanal"),
        ("self-\ntest of", "self-test of"),
        ("Lucene-\nBM25 system", "Lucene-BM25 system"),
        ("2026-\n12", "2026-12"),
        ("Vor-\nund Nachteile", "Vor- und Nachteile"),
        ("Haupt-\noder Nebenfach", "Haupt- oder Nebenfach"),
        ("mittel-\nbis langfristig", "mittel- bis langfristig"),
        ("Ein Kürbis, zwei Kür-\nbis im Garten", "Ein Kürbis, zwei Kürbis im Garten"),
        ("short-\nto medium-term loans", "short- to medium-term loans"),
        ("perfet-\nto così", "perfetto così"),
        ("pre-\ne post-vendita", "pre- e post-vendita"),
        ("in-\no outdoor", "in- o outdoor"),
        ("avant-\net après-guerre", "avant- et après-guerre"),
        ("her mother-in-\nlaw", "her mother-in-law"),
        ("state-of-the-\nart", "state-of-the-art"),
        ("Baden-Würt-\ntemberg", "Baden-Württemberg"),
        ("a dual-encoder, the dual-\nencoder", "a dual-encoder, the dual-encoder"),
        ("an encoder is dual, the dual-\nencoder", "an encoder is dual, the dual-encoder"),
        ("the website, a web-\nsite", "the website, a website"),
        ("a dash -\nand more", "a dash -\nand more"),
        ("no hyphen\nhere", "no hyphen\nhere"),
    ],
)
def test_hyphens_at_the_line_end(text: str, joined: str) -> None:
    assert rejoin(text) == joined


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("ofﬁce ﬂow eﬀect", "office flow effect"),
        ("oﬃcer baﬄe", "officer baffle"),
        ("Kunﬅ moﬆ", "Kunst most"),
        ("naïve œuvre Æsop Straße", "naïve œuvre Æsop Straße"),
    ],
)
def test_ligatures_become_letters(text: str, letters: str) -> None:
    assert without_ligatures(text) == letters


@pytest.mark.parametrize(
    "text",
    [
        "(cid:12)(cid:7)(cid:88) (cid:3)",
        "/G21/G22/G23 /G24/G25",
        "/31 /8 /14 /22 /9 /7",
        "\ue001\ue002\ue003 \ue004 text",
        "a\ufffd\ufffdb\ufffd c\ufffd",
        "\x01\x02\x03\x04 ab",
        "\n".join("NllKaimsti"),
        " ".join("letter spaced words of a title page here"),
    ],
)
def test_garbage_is_seen(text: str) -> None:
    assert is_garbage(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "An ordinary page.\nWith lines.",
        "• one\n• two\n• three",
        "\uf0b7 a bullet of a symbol font, and then the words that it stands before",
        "Path /usr/lib and 3/4 of /home",
        "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21",
        "我 们 的 书 在 哪 里 我 们 的 书 在 哪 里 我 们 的 书 在 哪 里",
        "a b\nsee (cid:3) once in a long line of ordinary words that go on and on",
    ],
)
def test_ordinary_pages_are_not_garbage(text: str) -> None:
    assert not is_garbage(text)


def block(*texts: str, left: float = 50, top: float = 700, size: float = 10) -> list[TextLine]:
    return [
        TextLine(text, left, left + 5 * len(text), top - 12 * at, size)
        for at, text in enumerate(texts)
    ]


PROSE = block(
    "The first line of a paragraph that is wrapped where",
    "the next word would not have fitted any more, which",
    "ends here.",
    "Another paragraph begins after a line that ended so",
    "early that its first word would have found room.",
)


def test_wrapped_lines_are_joined_and_paragraphs_kept() -> None:
    assert paragraphs(PROSE).split("\n") == [
        "The first line of a paragraph that is wrapped where the next word would not have fitted "
        "any more, which ends here.",
        "Another paragraph begins after a line that ended so early that its first word would have "
        "found room.",
    ]


def test_a_distance_or_another_size_makes_a_blank_line() -> None:
    lines = [*block("A heading", size=16, top=760), *PROSE, *block("A footer", top=100)]
    assert paragraphs(lines).startswith("A heading\n\nThe first line")
    assert paragraphs(lines).endswith("found room.\n\nA footer")


def test_rows_of_a_table_stay_lines() -> None:
    rows = [TextLine(f"Item number {n} {n * 7}.00 {n * 9}.50", 50, 450, 700 - 12 * n, 10)
            for n in range(12)]  # fmt: skip
    assert paragraphs(rows).count("\n") == 11


def test_lines_of_a_list_stay_lines() -> None:
    lines = block(
        "1. the first point that is as long as a line is wide, so",
        "2. the second point that is as long as a line is wide so",
        "3. the third",
    )
    assert paragraphs(lines).count("\n") == 2


def test_a_word_cut_between_two_lines_is_whole() -> None:
    lines = block("It is a long line of running text that ends with a perfor-", "mance that ends.")
    assert paragraphs(lines).endswith("ends with a performance that ends.")


PLACED = st.builds(
    TextLine,
    text=st.text(st.sampled_from("abc de1-.•"), max_size=40).map(lambda text: f"x{text}y"),
    left=st.floats(0, 300),
    right=st.floats(301, 600),
    base=st.floats(0, 800),
    height=st.sampled_from([0.0, 8.0, 10.0, 14.0]),
)  # fmt: skip


@given(st.lists(PLACED, max_size=20))
def test_nothing_is_lost_but_hyphens(lines: list[TextLine]) -> None:
    def solid(text: str) -> str:
        return "".join(text.split()).replace("-", "")

    assert solid(paragraphs(lines)) == solid("".join(line.text for line in lines))
