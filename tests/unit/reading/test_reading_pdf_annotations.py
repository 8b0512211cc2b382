"""Ticked boxes, chosen buttons and remarks on a PDF's pages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from emily.reading.pages import Page
from emily.reading.pdf.document import read_pdf
from emily.reading.source import Draft, Source

At = Callable[[Path], Source]
Pages = Callable[[Draft], list[Page]]
SENTENCE = "The form below is filled in by the tenant before the keys are handed over."


def drawn(path: Path, draw: Callable[[Canvas], object]) -> Path:
    canvas = Canvas(str(path))
    canvas.drawString(72, 720, SENTENCE)
    draw(canvas)
    canvas.save()
    return path


@pytest.mark.parametrize(
    ("checked", "shown"), [((True, False), {"dog"}), ((True, True), {"dog", "cat"}), ((), set())]
)
def test_a_ticked_box_is_read(
    tmp_path: Path, at: At, pages: Pages, checked: tuple[bool, ...], shown: set[str]
) -> None:
    def draw(canvas: Canvas) -> None:
        for name, ticked in zip(("dog", "cat"), checked or (False, False), strict=True):
            canvas.acroForm.checkbox(name=name, checked=ticked, x=72, y=600)

    text = pages(read_pdf(at(drawn(tmp_path / "a.pdf", draw))))[0].text
    for name in ("dog", "cat"):
        assert (f"{name}: [x]" in text) == (name in shown)


@pytest.mark.parametrize("chosen", ["cash", "card", None])
def test_a_chosen_button_is_read(tmp_path: Path, at: At, pages: Pages, chosen: str | None) -> None:
    def draw(canvas: Canvas) -> None:
        for row, value in enumerate(("cash", "card")):
            canvas.acroForm.radio(
                name="pay", value=value, selected=value == chosen, x=72, y=600 - 30 * row
            )

    text = pages(read_pdf(at(drawn(tmp_path / "a.pdf", draw))))[0].text
    assert [value for value in ("cash", "card") if f"pay: {value}" in text] == (
        [chosen] if chosen else []
    )


@pytest.mark.parametrize(
    "draw",
    [
        lambda canvas: canvas.textAnnotation("Ask the owner", Rect=(72, 500, 92, 520)),
        lambda canvas: canvas.highlightAnnotation("Ask the owner", Rect=(72, 700, 300, 730)),
    ],
    ids=["note", "highlight"],
)
def test_a_remark_is_marked(
    tmp_path: Path, at: At, pages: Pages, draw: Callable[[Canvas], object]
) -> None:
    text = pages(read_pdf(at(drawn(tmp_path / "a.pdf", draw))))[0].text
    assert text.startswith(SENTENCE)
    assert "Comment: Ask the owner" in text
    assert text.count("Ask the owner") == 1


def test_an_empty_remark_leaves_nothing(tmp_path: Path, at: At, pages: Pages) -> None:
    path = drawn(
        tmp_path / "a.pdf", lambda canvas: canvas.textAnnotation("", Rect=(72, 500, 92, 520))
    )
    assert pages(read_pdf(at(path)))[0].text == SENTENCE
