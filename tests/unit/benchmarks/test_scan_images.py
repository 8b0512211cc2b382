"""The scans that OCR is measured on, and the measure."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from benchmarks import scan_images
from benchmarks.scan_images import KINDS, draw, scan, truth
from benchmarks.scan_texts import PAGES, Columns, Grid, Heading, Prose, Sheet
from benchmarks.scans import Score, distance, folded, table
from hypothesis import given
from hypothesis import strategies as st

NOTE = Sheet("note", "en", (Heading("A note"), Prose("Bring 3 lemons to the harbour.")))


@pytest.mark.parametrize("kind", KINDS)
def test_a_scan_is_the_same_for_the_same_seed_and_another_for_another(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, points in (("_WIDTH", 210.0), ("_HEIGHT", 120.0), ("_MARGIN", 20.0)):
        monkeypatch.setattr(scan_images, name, points)
    card = dataclasses.replace(NOTE, name="card")
    one = scan(card, kind, 1)
    assert one.mode == "RGB"
    assert one.tobytes() == scan(card, kind, 1).tobytes()
    assert one.tobytes() != scan(card, kind, 2).tobytes()


def test_the_truth_goes_by_rows_in_tables_and_by_columns_in_prose() -> None:
    sheet = Sheet("s", "en", (
        Grid((("Item", "Price"), ("Oak", ""), ("Elm", "2,50")), (0, 1)),
        Columns(("one two", "three four")),
    ))  # fmt: skip
    assert folded(truth(sheet)) == "Item Price Oak Elm 2,50 one two three four"


@pytest.mark.parametrize("sheet", PAGES, ids=lambda sheet: sheet.name)
def test_every_page_fits_on_its_sheet(sheet: Sheet) -> None:
    page = draw(sheet, 60)
    assert page.min() < 100
    assert page[-25:].min() == 255  # a margin is left
    assert page[:, -20:].min() == 255
    assert len(folded(truth(sheet))) > 200


def test_pages_differ_in_name_and_in_text() -> None:
    assert len({sheet.name for sheet in PAGES}) == len({truth(sheet) for sheet in PAGES}) == 12
    assert {sheet.language for sheet in PAGES} == {"it", "en"}


def slow_distance(one: str, other: str) -> int:
    row = list(range(len(other) + 1))
    for at, first in enumerate(one, 1):
        below = [at]
        for place, second in enumerate(other, 1):
            below.append(min(row[place] + 1, below[-1] + 1, row[place - 1] + (first != second)))
        row = below
    return row[-1]


@given(st.text("abc ", max_size=12), st.text("abc ", max_size=12))
def test_the_distance_is_levenshteins(one: str, other: str) -> None:
    assert distance(one, other) == slow_distance(one, other) == distance(other, one)


def test_a_faded_page_is_paler_than_a_clean_one() -> None:
    clean, faint = (np.asarray(scan(NOTE, kind).convert("L")) for kind in ("clean", "faint"))
    assert np.ptp(np.percentile(clean, (0.05, 50))) > 150
    assert np.ptp(np.percentile(faint, (0.05, 50))) < 70


def test_the_table_gives_rates_in_percent_and_time_over_the_bare_engine() -> None:
    scores = {"fax": {"emily": Score(3, 200, 4.0), "rapidocr": Score(8, 200, 10.0)}}
    assert table(scores).split("\n")[2] == "| fax | 1.50 % | 4.00 % | 0.40 | 1.00 |"
    assert dataclasses.replace(scores["fax"]["emily"], characters=0).rate == 3
