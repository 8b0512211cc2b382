"""Running heads, footers and page numbers of scanned pages stand once."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from emily.reading.ocr.edges import edges
from emily.reading.ocr.image import Scan, Scans, read_image
from emily.reading.ocr.lines import Line
from emily.reading.pages import Page
from emily.reading.pdf.document import read_pdf
from emily.reading.source import Source

BODY = [
    "The keeper wrote down every ship that", "passed the light, its sails, its course",
    "and the weather, and when the fog came", "he wrote down the hours of the bell and",
    "nothing else, for there was nothing to", "be seen until the wind came up again",
]  # fmt: skip
Row = tuple[str, ...]


def scanned(
    number: int, head: Row = (), foot: Row = (), *, gap: float = 40, shift: float = 0
) -> Scan:
    """A page of OCR: a head, a body of its own, a foot; lines are 20 pixels high."""
    top = 100.0 + shift
    lines: list[Line] = []

    def put(row: Row, at: float) -> None:
        lines.extend(
            Line(text, 0.97, 100 + 250 * place, at, 340 + 250 * place, at + 20)
            for place, text in enumerate(row)
        )

    if head:
        put(head, top)
        top += 20 + gap
    for at, text in enumerate(BODY):
        put((f"{text} {number * 7 + at}",), top + 25 * at)
    if foot:
        put(foot, top + 25 * len(BODY) - 5 + gap)
    return Scan(Page(number, "as it was", "ocr", confidence=0.97), tuple(lines))


def texts(scans: Sequence[Scan]) -> list[str]:
    return [page.text for page in Scans().ahead(scans)]


@pytest.mark.parametrize("count", [3, 8, 30])
@pytest.mark.parametrize(
    ("head", "foot"),
    [
        (lambda n: ("THE LIGHT OF THE CAPE",), lambda n: (str(n + 11),)),
        (lambda n: (f"{n + 11} THE LIGHT OF THE CAPE",), lambda n: ()),
        (lambda n: ("THE LIGHT OF THE CAPE", str(n)), lambda n: ("Printed at Genoa",)),
        (lambda n: (), lambda n: (f"Page {n} of 30",)),
        (lambda n: ("THE L1GHT OF THE CAPE" if n % 2 else "The light of the cape.",), lambda n: ()),
    ],
)
def test_what_pages_repeat_stands_on_the_first_alone(
    count: int, head: Callable[[int], Row], foot: Callable[[int], Row]
) -> None:
    found = texts([scanned(n, head(n), foot(n), shift=7 * (n % 5)) for n in range(1, count + 1)])
    first, *others = found
    assert first == "as it was"  # with its head and foot
    for number, text in enumerate(others, 2):
        assert text.split("\n") == [f"{line} {number * 7 + at}" for at, line in enumerate(BODY)]


def test_heads_of_left_and_right_pages_take_turns() -> None:
    names = ("THE LIGHT OF THE CAPE", "A Keeper's Year")
    found = texts([scanned(n, (names[n % 2],)) for n in range(1, 13)])
    assert found[:2] == ["as it was"] * 2
    assert not any(name in text for text in found[2:] for name in names)
    assert not any(text == "as it was" for text in found[2:])


@pytest.mark.parametrize(
    "head",
    [
        lambda n: (f"Invoice {10230 + 3 * n}",),
        lambda n: (f"{13 * n}",),
        lambda n: (f"CHAPTER {'I' * n}",),
        lambda n: (("Ada Rossi", "Ida Rossi", "Eva Rossi", "Ugo Rossi")[n % 4],),
        lambda n: (f"{n}. In which it rains {'again ' * n}",),
    ],
)
def test_what_is_another_on_each_page_is_kept(head: Callable[[int], Row]) -> None:
    assert texts([scanned(n, head(n)) for n in range(1, 5)]) == ["as it was"] * 4


def test_the_head_of_a_table_that_goes_on_is_kept() -> None:
    scans = [scanned(n, ("Date", "Amount", "Balance"), gap=5) for n in range(1, 6)]
    assert texts(scans) == ["as it was"] * 5


def test_twice_is_not_often_enough() -> None:
    assert texts([scanned(n, ("THE LIGHT",)) for n in (1, 2)]) == ["as it was"] * 2


def test_a_page_that_says_nothing_else_is_kept() -> None:
    sparse = [Scan(Page(n, "as it was", "ocr"), scanned(n, ("THE LIGHT",)).lines[:2]) for n in
              range(1, 6)]  # fmt: skip
    assert texts(sparse) == ["as it was"] * 5


def test_blank_and_unread_pages_stay_in_their_order() -> None:
    scans = [scanned(n, ("THE LIGHT",)) for n in range(1, 10)]
    scans[3] = Scan(Page(4, "", "blank"))
    scans[6] = Scan(Page(7, "", "unread", warning="Page 7 is not read: it is torn."))
    pages = list(Scans().ahead(scans))
    assert [page.number for page in pages] == list(range(1, 10))
    assert [page.route for page in pages] == ["ocr"] * 3 + ["blank", "ocr", "ocr", "unread"] + [
        "ocr"
    ] * 2
    assert "THE LIGHT" not in pages[8].text


class Told:
    """An engine that finds a head, a body of its own and a number on each page."""

    def __init__(self) -> None:
        self.count = 0

    def recognise(self, image: Image.Image) -> list[Line]:
        self.count += 1
        return list(scanned(self.count, ("THE LIGHT",), (str(self.count),)).lines)


@pytest.mark.parametrize("kind", ["tiff", "pdf"])
def test_scanned_files_show_their_head_once(tmp_path: Path, kind: str) -> None:
    frames = [Image.new("RGB", (700, 900), "white") for _ in range(9)]
    for at, frame in enumerate(frames):
        frame.paste("black", (60, 60, 400 + at, 90))
    path = tmp_path / f"book.{kind}"
    frames[0].save(path, save_all=True, append_images=frames[1:])
    engine = Told()
    given_source = Source(path, ocr=lambda: engine, deadline=time.monotonic() + 60, seconds=60)
    draft = (read_image if kind == "tiff" else read_pdf)(given_source)
    pages = list(draft.pages)
    assert [page.route for page in pages] == ["ocr"] * 9
    assert ["THE LIGHT" in page.text for page in pages] == [True] + [False] * 8
    assert pages[8].text.split("\n")[-1] == f"{BODY[-1]} {9 * 7 + 5}"
    assert pages[8].confidence == pytest.approx(0.97)


@given(
    st.lists(
        st.builds(
            lambda text, left, top, height: Line(text, 0.9, left, top, left + 50, top + height),
            st.text(max_size=9),
            st.floats(0, 900),
            st.floats(0, 900),
            st.floats(0, 60),
        ),
        max_size=14,
    )
)
def test_any_lines_have_edges_among_them(lines: list[Line]) -> None:
    for edge in edges(lines):
        assert all(lines[at].text.strip() for at in edge.lines)
    page = Scan(Page(1, "x", "ocr"), tuple(lines))
    assert len(list(Scans().ahead([page] * 9))) == 9
