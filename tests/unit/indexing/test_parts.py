"""A chunk's sentences in parts of about 130 words."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emily.indexing.parts import WORDS_PER_PART, sentence_offsets, split_into_parts


def prose(sentences: int, words: int = 10) -> str:
    return " ".join(
        f"Parola{'a' * (i % 3)} " + "testo " * (words - 2) + "fine." for i in range(sentences)
    )


def lengths(parts: list[list[str]]) -> list[int]:
    return [sum(len(sentence.split()) for sentence in part) for part in parts]


def test_a_short_text_is_one_part() -> None:
    assert split_into_parts("One. Two is here.") == [["One. Two is here."]] or split_into_parts(
        "One. Two is here."
    ) == [["One.", "Two is here."]]
    assert len(split_into_parts(prose(13))) == 1


@pytest.mark.parametrize("sentences", [26, 40, 52])
def test_parts_are_of_about_equal_length(sentences: int) -> None:
    found = lengths(split_into_parts(prose(sentences)))
    assert len(found) == round(sentences * 10 / WORDS_PER_PART)
    assert max(found) - min(found) <= 20
    assert sum(found) == sentences * 10


def test_the_header_opens_every_part() -> None:
    parts = split_into_parts(prose(40), "name | price")
    assert len(parts) == 3
    assert all(part[0] == "name | price" and len(part) > 1 for part in parts)


def test_white_space_inside_a_sentence_is_folded() -> None:
    assert split_into_parts("one\n  two\tthree") == [["one two three"]]


pieces = st.sampled_from(["word", "Fine.", "\n\n", "a", "1.5", ";"])


@given(
    st.text(min_size=1).filter(str.strip)
    | st.lists(
        st.sampled_from(["word", "Fine.", "\n\n", "a", "1.5", ";"]), min_size=1, max_size=900
    )
    .map(" ".join)
    .filter(str.strip)
)
def test_no_word_is_lost_or_moved(text: str) -> None:
    parts = split_into_parts(text)
    assert parts
    assert all(part and all(sentence for sentence in part) for part in parts)
    kept = "".join(w for part in parts for sentence in part for w in sentence.split())
    assert re.sub(r"[#|:-]", "", kept) == re.sub(r"[#|:-]", "", "".join(text.split()))


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("## Deposit\n\nTwo months.", ["Deposit", "Two months."]),
        ("| item | price |\n| --- | --- |\n| nail | 12 |", ["item | price", "nail | 12"]),
        ("# C#\n\n#hashtag stays.", ["C#", "#hashtag stays."]),
        ("Plain text.", ["Plain text."]),
        ("---", ["---"]),
    ],
)
def test_marks_of_markdown_are_not_embedded(text: str, sentences: list[str]) -> None:
    found = [sentence for part in split_into_parts(text) for sentence in part]
    assert found == sentences or " ".join(found) == " ".join(sentences)
    assert len(found) == len(sentence_offsets(text))


def test_a_header_that_opens_a_part_has_no_bars() -> None:
    (part,) = split_into_parts("| nail | 12 |", "| item | price |\n| --- | --- |")
    assert part == ["item | price", "nail | 12"]
