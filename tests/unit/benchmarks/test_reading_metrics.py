"""The figures of the reading benchmark."""

from __future__ import annotations

import pytest
from benchmarks.reading_metrics import Score, Truth, cells, difference, mean, score, words
from hypothesis import given
from hypothesis import strategies as st

TEXTS = st.text(
    alphabet=st.sampled_from("abcdef ghij\n0123àß.,;|*_#-`~[]()<>$\\漢字"), max_size=120
)
PLAIN = st.lists(
    st.sampled_from(["oak", "elm", "ash", "fir", "yew", "bay", "fig"]), min_size=1, max_size=30
)


@pytest.mark.parametrize(
    ("marked", "shown"),
    [
        ("# Über **uns**", "über uns"),
        ("## 1.2 Scope", "scope"),
        ("- [x] done\n- [ ] open", "done open"),
        ("3. third\nb) second", "third second"),
        ('[text](https://a.example/b_(c) "t") and ![alt](x.png)', "text and alt"),
        ("<https://a.example>", "https a example"),
        ("<p>one</p><p>two</p> th<b>re</b>e", "one two three"),
        ("<!-- image --> seen", "seen"),
        ("bo**ld**er and `co`de", "bolder and code"),
        ("a note[^1]\n\n[^1]: below", "a note below"),
        ("[picture, read by OCR]\nSTOP\n[/picture]", "stop"),
        ("the area $A=\\pi r^{2}$ of it", "the area of it"),
        ("$5 and $10", "5 and 10"),
        ("1,234.0 or 12.50", "1234 or 12 50"),
        ("2026-03-04 00:00:00", "2026 03 04"),
        ("R&amp;D \\_x\\_ snake_case", "r d x snake case"),
        ("日本 go", "日 本 go"),
        ("ﬁne co\u00adop", "fine coop"),
        ("a hyphen-\nated word - here", "a hyphenated word here"),
        ("``` math\nx = \\pi\n```\nand", "and"),
        ("```python\nx = 1\n```", "x 1"),
    ],
)
def test_words_without_the_marks(marked: str, shown: str) -> None:
    assert words(marked) == shown.split()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("| a | B c |\n| --- | --- |\n| 1 |  |", ["a", "b c", "1"]),
        ("| a \\| b | c |\n| - | - |", ["a b", "c"]),
        ("<table><tr><td>one</td><td>t<b>w</b>o</td></tr></table>", ["one", "two"]),
        ("no | table", []),
        ("| i. | 2. one |\n| - | - |", ["i", "one"]),
        ("> | quoted |\n> | - |", ["quoted"]),
        ("|a|b|\n|:-:|--:|\n|-|2|", ["a", "b", "2"]),
    ],
)
def test_cells_of_markdown_and_html(text: str, found: list[str]) -> None:
    assert list(cells(text)) == found


def test_a_perfect_reading_scores_one_in_all() -> None:
    text = "# Trees\n\n| oak | elm |\n| --- | --- |\n| 1 | 2 |\n\nAnd ash."
    assert score(Truth(text, tuple(cells(text))), text) == Score(1, 1, 1, 1)


def test_a_failure_scores_nothing() -> None:
    assert score(Truth("oak elm", ("oak",)), None) == Score(0, 0, 0, 0)


def test_recall_and_precision_count_repetitions() -> None:
    found = score(Truth("oak oak elm ash"), "oak elm elm fir")
    assert found.recall == 0.5
    assert found.precision == 0.5


def test_order_counts_the_words_that_must_move() -> None:
    assert score(Truth("one two three four"), "one two four three").order == 0.5
    assert score(Truth("one two three four"), "one two three").order == 0.75


def test_what_stands_beside_is_not_held_against_a_tool() -> None:
    truth = Truth("one two three", beside=("page header one",))
    assert score(truth, "page header one one two three") == Score(1, 1, 1)
    assert score(truth, "one two three") == Score(1, 1, 1)
    assert score(truth, "page page one two three").precision == 0.75


def test_a_second_right_order_counts_as_well() -> None:
    truth = Truth("body note", also="note body")
    assert score(truth, "note body").order == 1
    assert score(truth, "body note").order == 1


def test_the_number_of_a_line_is_nobodys_gain_or_loss() -> None:
    for truth, text in (
        ("1. oak\n2. elm", "oak elm"),
        ("1 oak 2 elm", "1. oak\n2. elm"),
        ("# 1.2 Trees\noak", "Trees\n\n1.2 oak"),
        ("1. 1. oak", "1. oak"),
        ("a.\tb) oak", "oak"),
    ):
        assert score(Truth(truth), text) == Score(1, 1, 1), truth


def test_a_number_that_the_truth_has_elsewhere_is_asked_for_once() -> None:
    assert score(Truth("oak 1"), "1. oak\n1. elm").precision == pytest.approx(2 / 3)
    assert score(Truth("1. oak\nelm"), "1 1 oak elm").precision == pytest.approx(2 / 3)
    assert score(Truth("oak", beside=("M. Elm",)), "by: M. Elm\noak").precision == 0.5
    assert score(Truth("1 oak", also="oak\n1. elm"), "1. oak") == Score(1, 1, 1)


def test_cells_must_stand_in_a_cell() -> None:
    truth = Truth("oak elm", ("oak", "elm"))
    assert score(truth, "oak elm").cells == 0
    assert score(truth, "| oak | x elm |\n| - | - |").cells == 0.5
    assert score(Truth("oak"), "oak").cells is None


def test_of_parts_of_a_text_only_recall_is_known() -> None:
    assert score(Truth("oak", whole=False), "oak and elm") == Score(1.0)


def test_difference_names_words_both_ways() -> None:
    missing, surplus = difference(Truth("oak elm elm", beside=("fir",)), "oak elm fir ash")
    assert missing == {"elm": 1}
    assert surplus == {"ash": 1}


def test_mean_leaves_out_what_is_not_there() -> None:
    assert mean([None, 1.0, 0.0]) == 0.5
    assert mean([None]) is None


@given(TEXTS, TEXTS)
def test_every_figure_lies_between_nought_and_one(truth: str, text: str) -> None:
    if not words(truth):
        return
    asked = Truth(truth, tuple(cells(truth)), beside=(text[::2],), also=truth[::-1])
    for figure in score(asked, text).figures():
        assert figure is None or 0 <= figure <= 1


@given(PLAIN)
def test_a_text_compared_with_itself_is_perfect(chosen: list[str]) -> None:
    text = " ".join(chosen)
    assert score(Truth(text), text) == Score(1, 1, 1)


@given(PLAIN, PLAIN)
def test_recall_and_precision_mirror_each_other(left: list[str], right: list[str]) -> None:
    one, other = " ".join(left), " ".join(right)
    assert score(Truth(one), other).recall == score(Truth(other), one).precision
    assert score(Truth(one), other).order == score(Truth(other), one).order


@given(PLAIN, st.randoms())
def test_recall_does_not_mind_the_order(chosen: list[str], chance: object) -> None:
    mixed = sorted(chosen, key=lambda _: chance.random())  # type: ignore[attr-defined]
    found = score(Truth(" ".join(chosen)), " ".join(mixed))
    assert found.recall == found.precision == 1
    assert found.order is not None
    assert found.order <= 1
