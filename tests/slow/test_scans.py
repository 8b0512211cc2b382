"""Whole pages in every kind of scan, read by the engine that is installed with Emily."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from benchmarks.scan_images import KINDS, scan, truth
from benchmarks.scan_texts import PAGES
from benchmarks.scans import distance, folded

from emily.reading.ocr.engine import Ocr, load
from emily.reading.ocr.image import recognised
from emily.reading.source import Source

pytestmark = pytest.mark.slow

# Share of characters that may be wrong: about twice what was measured (docs/scans.md).
MOST = {
    "clean": 0.005, "fax": 0.05, "skewed": 0.005, "photographed": 0.01, "rotated": 0.005,
    "faint": 0.01,
}  # fmt: skip


@pytest.fixture(scope="module")
def ocr() -> Ocr:
    return load("rapidocr", ("it", "en"))


@pytest.mark.timeout(900)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["statement", "guide", "invoice-en"])
def test_scans_are_read(ocr: Ocr, name: str, kind: str) -> None:
    sheet = next(sheet for sheet in PAGES if sheet.name == name)
    source = Source(Path("x"), lambda: ocr, time.monotonic() + 600, 600)
    found = recognised(scan(sheet, kind), source)
    assert found.route == "ocr"
    written = folded(truth(sheet))
    assert distance(folded(found.text), written) / len(written) <= MOST[kind]
