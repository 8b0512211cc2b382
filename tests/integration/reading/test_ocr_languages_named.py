"""Doctor names the languages of the archive that OCR cannot read, with what gives them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from emily.measure.health import _ocr
from emily.reading.reader import Reader
from emily.settings import load_settings


@pytest.mark.parametrize(
    ("languages", "strange"),
    [("it,en,ru", "ru"), ("en,he,ar", "he, ar"), ("el,th", "el, th"), ("it,de,zh,ja", None)],
)
async def test_of_the_engine_that_comes_along(
    tmp_path: Path, languages: str, strange: str | None
) -> None:
    class Sound(Reader):
        """Its OCR works; starting it takes seconds, and another test does."""

        async def check_ocr(self) -> str | None:
            return None

    settings = load_settings(tmp_path, languages=tuple(languages.split(",")))
    check = await _ocr(settings, Sound(seconds=60, memory_mb=1024, file_mb=64, ocr=True, threads=1))
    assert check.ok
    assert "rapidocr read a line of text as it should" in check.detail
    if strange is None:
        assert "letters" not in check.detail
    else:
        assert f"no letters for {strange} of the setting 'languages'" in check.detail
        assert "set ocr_engine to tesseract" in check.detail


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for the program is a script")
@pytest.mark.parametrize(
    ("languages", "there", "missing"),
    [
        (("it", "en"), "eng", "ita"),
        (("it", "en", "he"), "eng ita", "heb"),
        (("de", "zh"), "eng", "deu, chi_sim"),
    ],
)
async def test_of_tesseract(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    languages: tuple[str, ...],
    there: str,
    missing: str,
) -> None:
    program = tmp_path / "tesseract"
    program.write_text(f"#!/bin/sh\nprintf '%s\\n' {there}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    settings = load_settings(tmp_path, languages=languages, ocr_engine="tesseract")
    async with Reader(
        seconds=60,
        memory_mb=1024,
        file_mb=64,
        ocr=True,
        threads=1,
        ocr_engine="tesseract",
        languages=languages,
    ) as reader:
        check = await _ocr(settings, reader)
    assert not check.ok
    assert f"Tesseract has no data for {missing} " in check.detail
    for code in missing.split(", "):
        assert f"tesseract-ocr-{code.replace('_', '-')}" in check.detail
        assert f"tesseract-ocr-{code.replace('_', '-')}" in (check.help or "")
