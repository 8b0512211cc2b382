"""What like signs meant on the owner's own questions."""

from __future__ import annotations

from emily.retrieval.precedents import LEAST, NEAREST, Precedent, nearest, search_signs

GOOD = [(0.9 + n / 100, 0.8 - n / 100, True) for n in range(8)]
POOR = [(0.2 + n / 100, 0.3 - n / 100, False) for n in range(8)]


def test_figures_like_those_of_unanswered_questions_say_absent() -> None:
    found = nearest({"coverage": 0.2, "similarity": 0.3}, [*GOOD, *POOR])
    assert found == Precedent(NEAREST, NEAREST)
    assert found.says_absent
    assert "7 had no answer" in found.text


def test_figures_like_those_of_answered_ones_do_not() -> None:
    found = nearest({"coverage": 0.95, "similarity": 0.75}, [*GOOD, *POOR])
    assert found == Precedent(NEAREST, 0)
    assert not found.says_absent


def test_each_figure_counts_in_its_own_spread() -> None:
    known = [(coverage, 0.5 + n / 1000, n < 5) for n in range(10) for coverage in (0.1, 0.9)]
    found = nearest({"coverage": 0.5, "similarity": 0.509}, known)
    assert found is not None
    assert found.says_absent


def test_too_few_questions_say_nothing() -> None:
    assert nearest({"coverage": 0.2, "similarity": 0.3}, [*GOOD[:4], *POOR[: LEAST - 5]]) is None
    assert nearest({"coverage": 0.2, "similarity": 0.3}, [*GOOD, *GOOD, *POOR[:2]]) is None


def test_without_a_candidate_there_are_no_signs() -> None:
    assert search_signs([], ()) is None
