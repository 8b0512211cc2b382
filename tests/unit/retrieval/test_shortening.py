"""A passage that is cut to a limit keeps what it was found for, and its lines."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from emily.retrieval.answer import Passage
from emily.retrieval.passages import _shortened


@given(
    words=st.lists(st.text("abcdè", min_size=1, max_size=9), min_size=1, max_size=60),
    breaks=st.integers(1, 7),
    focus=st.integers(0, 400),
    most=st.integers(20, 300),
    start=st.integers(0, 1000),
)
def test_a_shortened_passage(
    words: list[str], breaks: int, focus: int, most: int, start: int
) -> None:
    text = "".join(
        word + ("\n" if number % breaks == 0 else " ") for number, word in enumerate(words)
    )
    at = min(focus, len(text) - 1)
    whole = Passage(
        text=text,
        start=start,
        end=start + len(text),
        pages=None,
        lines=(5, 5 + text.count("\n")),
        route="text",
        score=None,
        focus=(start + at, start + at + 1),
    )
    short = _shortened(whole, most)
    assert 0 < len(short.text) <= max(most, 1)
    assert short.text == text[short.start - start : short.end - start]
    assert short.start <= start + at < short.end
    assert short.lines is not None
    top = 5 + text.count("\n", 0, short.start - start)
    assert short.lines == (top, top + short.text.count("\n"))
