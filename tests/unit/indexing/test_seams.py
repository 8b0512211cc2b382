import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emily.indexing.seams import (
    BLANK,
    COMMA,
    LINE,
    SECTION,
    SEMICOLON,
    SENTENCE,
    cut_word,
    rank_gaps,
)


def ranks(text: str) -> list[tuple[str, int]]:
    """Each word with the rank of the gap before it, but for the first."""
    words = list(re.finditer(r"\S+", text))
    found = rank_gaps(text, 0, len(text), [w.start() for w in words], [w.end() for w in words])
    return [(word[0], rank) for word, rank in zip(words, found, strict=True)][1:]


@pytest.mark.parametrize(
    ("text", "rank"),
    [
        ("fine della frase.\n\nQUI", BLANK),
        ("fine della frase.\nQUI", LINE),
        ("- una voce\n- QUI", 0),
        ("fine della frase. QUI", SENTENCE),
        ("un inciso; QUI", SEMICOLON),
        ("una lista, QUI", COMMA),
        ("euro 1.234,56 QUI", 0),
        ("una riga abbastanza lunga che va a capo soltanto perché è finito lo spazio\nqui", COMMA),
        ("## Titolo\nQUI", 0),
        ("## Titolo\n\nQUI", 0),
        ("testo.\n\nCapitolo secondo\n\nQUI", LINE),
    ],
)
def test_ranks(text: str, rank: int) -> None:
    assert ranks(text)[-1] == (text.split()[-1], rank)


def test_the_gap_before_a_heading_ranks_highest() -> None:
    assert ("##", SECTION) in ranks("fine della frase.\n\n## Titolo\ntesto")


def test_a_fence_of_four_backticks_holds_three() -> None:
    text = "````\nx.\n```\n# A\n```\n# B\n````\n\n# C"
    hashes = [rank for word, rank in ranks(text) if word == "#"]
    assert [rank == SECTION for rank in hashes] == [False, False, True]


@given(
    st.text(alphabet="ab1.,-/。東é\u0301\u0323👩\u200d👧", min_size=1, max_size=300),
    st.integers(3, 40),
)
def test_pieces_of_a_word_join_up_and_fit(word: str, most: int) -> None:
    def count(text: str) -> int:
        return -(-len(text) // 2)

    at = 0
    for start, end, size in cut_word(word, 0, len(word), count, most):
        assert start == at < end
        assert size == count(word[start:end]) <= most
        at = end
    assert at == len(word)


def test_a_family_of_emoji_is_not_parted() -> None:
    family = "👩\u200d👩\u200d👧"
    pieces = cut_word(family * 50, 0, len(family) * 50, len, 17)
    assert all((end - start) % len(family) == 0 for start, end, _ in pieces)
