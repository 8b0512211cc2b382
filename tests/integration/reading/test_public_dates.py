"""The date of real invoices of another project's tests, against the one written beside each."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from emily.indexing.dating import document_date
from emily.indexing.language import LanguageDetector
from emily.reading.formats import reader_of
from emily.reading.kind import detect
from emily.reading.source import Source

ROOT = Path(__file__).parents[3]
DATA = Path(os.environ.get("EMILY_BENCH_DATA", ROOT.parent / "shared" / "data"))
INVOICES = DATA / "files" / "invoice-x+invoice2data" / "tests"


@pytest.mark.skipif(not INVOICES.is_dir(), reason=f"no invoices in {INVOICES} (EMILY_BENCH_DATA)")
def test_dates_of_invoices() -> None:
    languages = LanguageDetector(("it", "en", "de", "fr", "es"))
    wrong = []
    count = 0
    for written in sorted(INVOICES.rglob("*.json")):
        fields = json.loads(written.read_text())
        expected = (fields[0] if isinstance(fields, list) else fields).get("date")
        file = next((f for s in (".pdf", ".txt") if (f := written.with_suffix(s)).exists()), None)
        if expected is None or file is None:
            continue
        source = Source(file, ocr=None, deadline=time.monotonic() + 60, seconds=60)
        text = "\n".join(page.text for page in reader_of(detect(file).name)(source).pages)
        found = document_date(text, languages.detect(text)[0])
        count += 1
        if found is None or str(found[0].date) != expected:
            wrong.append((file.name, expected, found))
    assert count >= 15
    assert wrong == []
