"""Some two thousand real files of other projects' tests: each ends in a reading or an error."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from emily.errors import ReadingError
from emily.reading.kind import KINDS
from emily.reading.reader import Reader

ROOT = Path(__file__).parents[3]
FILES = Path(os.environ.get("EMILY_BENCH_DATA", ROOT.parent / "shared" / "data")) / "files"
_FATAL = ("crashed", "killed", "parser failed", "60 s")


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.skipif(not FILES.is_dir(), reason=f"no public files in {FILES} (EMILY_BENCH_DATA)")
async def test_every_file_ends_in_a_reading_or_an_error() -> None:
    outcomes: Counter[str] = Counter()
    crashed = []
    async with Reader(seconds=60, memory_mb=3072, file_mb=512, ocr=False, threads=1) as reader:
        for path in sorted(path for path in FILES.rglob("*") if path.is_file()):
            try:
                reading = await reader.read(path)
            except ReadingError as error:
                unread = str(error).startswith("no text was found")  # scanned, and OCR is off
                outcomes["unread" if unread else type(error).__name__] += 1
                if any(word in str(error) for word in _FATAL):
                    crashed.append(f"{path}: {error}")
            else:
                outcomes[reading.kind] += 1
    print(dict(outcomes))  # noqa: T201 - the counts are what a run is read for
    assert not crashed
    assert outcomes["ReadingError"] <= 5, outcomes
    read = sum(count for name, count in outcomes.items() if name in KINDS)
    assert read > 0.8 * outcomes.total(), outcomes
