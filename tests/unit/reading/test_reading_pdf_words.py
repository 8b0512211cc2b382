"""Words of a PDF page found by arrays, beside the plain way to find them."""

from __future__ import annotations

import re
import unicodedata

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from emily.reading.layout import right_to_left
from emily.reading.pdf.ruled import _merged
from emily.reading.pdf.text import _spans

HYPHEN = "\ufffe"
WORD = re.compile(f"[^\\s\\0{HYPHEN}]+{HYPHEN}?|{HYPHEN}")
BREAK = re.compile(f"[\r\n{HYPHEN}]")

texts = st.text(
    st.one_of(st.sampled_from(f"ab1 \r\n\0\t\u00a0\u3000\u2028{HYPHEN}\U0001f600"), st.characters())
)


@given(texts)
@example(f"bet{HYPHEN}ween{HYPHEN}{HYPHEN} two\r\nlines{HYPHEN}")
@example(f"{HYPHEN}a")
def test_words_are_where_a_pattern_finds_them(text: str) -> None:
    starts, ends, rows = _spans(text)
    found = [match.span() for match in WORD.finditer(text)]
    assert starts.tolist() == [start for start, _ in found]
    last = [
        end - 2 if text[end - 1] == HYPHEN and end - start > 1 else end - 1 for start, end in found
    ]
    assert ends.tolist() == last
    assert rows.tolist() == [len(BREAK.findall(text[:start])) for start, _ in found]
    words = text.replace(HYPHEN, "- ").replace("\0", " ").split()
    assert words == [text[start:end].replace(HYPHEN, "-") for start, end in found]


@given(st.text(st.one_of(st.sampled_from("ab אבגم1"), st.characters()), max_size=30))
def test_the_direction_is_that_of_most_letters(text: str) -> None:
    kinds = [unicodedata.bidirectional(char) for char in text]
    leftwards = sum(kind in {"R", "AL"} for kind in kinds)
    assert right_to_left(text) == (leftwards > kinds.count("L"))


@given(
    st.lists(
        st.tuples(*[st.integers(0, 60).map(float)] * 2, st.integers(0, 40).map(float)),
        min_size=1,
        max_size=25,
    )
)
def test_merged_lines_cover_what_was_drawn(drawn: list[tuple[float, float, float]]) -> None:
    given_lines = np.array([(place, start, start + long) for place, start, long in drawn])
    merged = _merged(given_lines)
    assert len(merged) <= len(drawn)
    for _, start, end in given_lines.tolist():
        if end - start > 5:
            assert any(begin <= start and end <= stop for _, begin, stop in merged.tolist())
    for place, begin, stop in merged.tolist():
        assert place in given_lines[:, 0]
        assert begin in given_lines[:, 1]
        assert stop in given_lines[:, 2]
