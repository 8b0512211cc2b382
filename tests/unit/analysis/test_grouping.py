"""A text in groups, and answers up to their last complete sentence."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.analysis.prose import prose

from emily.analysis.answers import to_last_sentence
from emily.analysis.grouping import group_characters, grouped_text, regrouped

TEXTS = st.text(alphabet="ab c.\n\t?é", max_size=400)


@given(TEXTS, st.integers(1, 60))
def test_groups_hold_every_character_once(text: str, size: int) -> None:
    groups = grouped_text(text, size)
    assert "".join(text[a:b] for a, b in groups).split() or not text.strip()
    joined = "".join("".join(text[a:b].split()) for a, b in groups)
    assert joined == "".join(text.split())
    assert all(0 < b - a <= size and text[a:b].strip() for a, b in groups)
    assert all(one[1] <= two[0] for one, two in pairwise(groups))


@given(st.lists(st.integers(1, 100), min_size=2, max_size=40), st.integers(1, 120))
def test_pieces_always_become_fewer(sizes: list[int], size: int) -> None:
    pieces = list(range(len(sizes)))
    groups = regrouped(pieces, sizes, size)
    assert len(groups) < len(pieces)
    assert [piece for group in groups for piece in group] == pieces
    joined = [group for group in groups if len(group) > 1]
    fit = all(sum(sizes[p] for p in group) + 2 * (len(group) - 1) <= size for group in joined)
    assert fit or (max(map(len, groups)) == 2 and len(groups) == (len(pieces) + 1) // 2)


def test_a_group_has_half_the_context_in_characters() -> None:
    assert group_characters(8192) == 14_784


def test_a_group_ends_at_a_blank_line_if_it_can() -> None:
    text = prose("en", 40_000)
    for start, end in grouped_text(text, 14_784)[:-1]:
        assert text[end : end + 2] == "\n\n"
        assert end - start > 12_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It costs ten euro. It is due in", "It costs ten euro."),
        ("It costs 12.50 euro and", ""),
        ("All is paid. It costs 12.", "All is paid."),
        ("All is paid. It costs 12.50", "All is paid."),
        ("Built in 1974. It stands", "Built in 1974."),
        ("Paid by Mr. Rossi. Due by Dr.", "Paid by Mr. Rossi."),
        ("Paid? Yes! And", "Paid? Yes!"),
        ("He said “done.” Then he", "He said “done.”"),
        ("Per la sig. Rossi. Vedi art. 5 e", "Per la sig. Rossi."),
        ("完了。次は", ""),
        ("", ""),
    ],
)
def test_up_to_the_last_complete_sentence(text: str, expected: str) -> None:
    assert to_last_sentence(text) == expected


@given(st.text(alphabet="ab1.? \n", max_size=80))
def test_what_is_cut_is_a_beginning(text: str) -> None:
    found = to_last_sentence(text)
    assert text.strip().startswith(found)
    assert not found or found[-1] in ".?"
