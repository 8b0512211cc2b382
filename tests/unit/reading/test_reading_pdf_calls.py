"""What PDFium is asked for in bulk is what it says of each thing by itself."""

from __future__ import annotations

import io

import numpy as np
import pypdfium2
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from reportlab.pdfgen.canvas import Canvas

from emily.reading.ocr.ink import _contrast, _middle
from emily.reading.pdf import rules, text
from emily.reading.source import tidy


def _dense() -> pypdfium2.PdfDocument:
    """A page with more words and more rules than are asked for in one go."""
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=(600, 800), invariant=True)
    canvas.setFont("Helvetica", 6)
    for row in range(90):
        canvas.drawString(20, 780 - 8 * row, " ".join(f"w{row}x{column}" for column in range(15)))
        for column in range(8):
            canvas.rect(20 + 60 * column, 778 - 8 * row, 50, 0.5, fill=1, stroke=0)
    canvas.save()
    return pypdfium2.PdfDocument(file.getvalue())


def test_boxes_of_words_in_bulk_are_those_of_their_characters() -> None:
    document = _dense()
    page = document[0]
    textpage = page.get_textpage()
    count = textpage.count_chars()
    assert count > 2 * text._AT_ONCE

    found = text._loose_boxes(text.addressed(textpage.raw), range(count))

    alone = np.array([textpage.get_charbox(at, loose=True) for at in range(count)], np.float32)
    assert np.array_equal(found[:, [0, 3, 2, 1]], alone)
    textpage.close()
    document.close()


def test_rules_in_bulk_are_those_of_the_objects() -> None:
    document = _dense()
    page = document[0]
    places = [item.get_bounds() for item in page.get_objects() if item.type == 2]
    assert len(places) > rules._AT_ONCE

    found = rules.drawn(page, 0)

    alone = sorted(((base + top) / 2, left, right) for left, base, right, top in places)
    assert sorted(map(tuple, found.level.tolist())) == alone
    assert not len(found.upright)
    document.close()


@given(arrays(np.uint8, st.tuples(st.integers(1, 9), st.integers(1, 9))))
def test_the_middle_grey_is_the_median(grey: np.ndarray) -> None:
    assert _middle(grey) == int(np.median(grey))


@given(
    arrays(
        np.float32,
        st.tuples(st.integers(1, 9), st.integers(1, 9)),
        elements=st.floats(0, 3, width=32),
    )
)
def test_the_contrast_of_ink_grows_with_the_grain(difference: np.ndarray) -> None:
    grain = float(np.median(difference)) / 0.6745
    assert _contrast(difference) == max(7.0, 5.5 * grain)


@given(st.text(st.sampled_from("ab \n\r\x0b\x0c\x85\u2028\u2029\ud800\udfff\U0001f642é")))
def test_tidy_text_has_one_kind_of_break_and_whole_characters(given_text: str) -> None:
    found = tidy(given_text)

    found.encode()
    assert found.count("\n") == len((given_text + "|").splitlines()) - 1
    assert len(found.splitlines()) == len(found.split("\n")) - found.endswith("\n") - (not found)
