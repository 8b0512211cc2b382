"""The OCR engines: what all keep to, and what each says when it is not there."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import stat
import sys
import types
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from tests.contract.ocr import OcrContract, written

from emily.errors import ReadingError
from emily.reading.ocr.engine import ENGINES, Ocr, OcrUnavailable, load
from emily.reading.ocr.rapid import RapidOcr
from emily.reading.ocr.tesseract import TesseractOcr

_load_once = functools.cache(load)


class TestRapidOcr(OcrContract):
    @pytest.fixture
    def ocr(self) -> Ocr:
        return _load_once("rapidocr")

    def test_what_the_engine_raises_is_a_reading_error(
        self, ocr: RapidOcr, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for error, kind, words in (
            (RuntimeError("Traceback\n  bad shape\n"), ReadingError, "OCR failed: bad shape"),
            (MemoryError(), OcrUnavailable, "setting reading_memory_mb"),
            (RuntimeError("bad_alloc"), OcrUnavailable, "setting reading_memory_mb"),
            (ImportError("no models"), OcrUnavailable, "cannot be loaded: no models"),
        ):

            def fail(*_: object, error: Exception = error) -> None:
                raise error

            monkeypatch.setattr(ocr._engine, "detect_and_crop", fail)
            with pytest.raises(kind, match=words):
                ocr.recognise(written("x"))


def _has_tesseract() -> bool:
    try:
        TesseractOcr(("it", "en"))
    except OcrUnavailable:
        return False
    return True


@pytest.mark.skipif(not _has_tesseract(), reason="Tesseract with ita and eng is not installed")
class TestTesseract(OcrContract):
    @pytest.fixture
    def ocr(self) -> Ocr:
        return _load_once("tesseract", ("it", "en"))

    @pytest.mark.parametrize("languages", [("ja",), ("it", "ru"), ("en", "xx")])
    def test_missing_data_for_a_language_are_named(
        self, languages: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        code = {"ja": "jpn", "ru": "rus", "xx": "xx"}[languages[-1]]
        _program(
            tmp_path, monkeypatch, "print('List of available languages (2):\\neng\\nita\\nosd')"
        )
        with pytest.raises(OcrUnavailable, match=f"no data for {code} .*tesseract-ocr-{code}"):
            load("tesseract", languages)


def _program(folder: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """A program of the name tesseract that runs some Python."""
    path = folder / "tesseract"
    path.write_text(f"#!{sys.executable}\nimport os, sys\n{code}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)


_LISTS = "if '--list-langs' in sys.argv: print('eng\\nita'); sys.exit()\nsys.stdin.buffer.read()\n"


def test_tesseract_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(OcrUnavailable, match="apt install tesseract-ocr"):
        load("tesseract", ("it",))


@pytest.mark.parametrize(
    ("code", "kind", "words"),
    [
        (_LISTS + "sys.stderr.write('a\\nError during processing.'); sys.exit(1)", ReadingError,
         "Tesseract failed: Error during processing"),
        (_LISTS + "os.kill(os.getpid(), 9)", ReadingError, "Tesseract failed: exit code -9"),
        (_LISTS + "import time; time.sleep(30)", ReadingError, "took more than 1 s"),
    ],
)  # fmt: skip
def test_tesseract_that_fails(
    code: str,
    kind: type[Exception],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("emily.reading.ocr.tesseract._SECONDS", 1)
    _program(tmp_path, monkeypatch, code)
    with pytest.raises(kind, match=words):
        load("tesseract", ("it", "en")).recognise(written("x"))


def test_tesseract_gets_one_thread_no_secrets_and_the_languages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = tmp_path / "seen"
    _program(
        tmp_path,
        monkeypatch,
        _LISTS + f"open({str(seen)!r}, 'w').write(' '.join(sys.argv[1:]) + '\\n' + "
        "'\\n'.join(f'{k}={v}' for k, v in os.environ.items()))",
    )
    monkeypatch.setenv("EMILY_SECRET", "key")
    assert load("tesseract", ("it", "en", "it")).recognise(written("x")) == []
    asked, *environment = seen.read_text().split("\n")
    assert "-l ita+eng" in asked
    assert "OMP_THREAD_LIMIT=1" in environment
    assert not any("EMILY_SECRET" in line for line in environment)


@pytest.mark.parametrize(
    "table",
    [
        "",
        "level\tpage_num\n5\t1\n",
        "level\tblock_num\tpar_num\tline_num\tleft\ttop\twidth\theight\tconf\ttext\n"
        "5\t1\t1\t1\tx\t1\t1\t1\t90\tword\n5\t1\t1\t1\t1\t1\t1\t1\t\tword\n4\t1\t1\t1\t0\t0\t9\t9\t-1\t\n",
    ],
)
def test_a_table_that_is_none_gives_no_line(
    table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _program(tmp_path, monkeypatch, _LISTS + f"sys.stdout.write({table!r})")
    assert load("tesseract").recognise(written("x")) == []


def test_quotes_in_the_table_are_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head = "level\tblock_num\tpar_num\tline_num\tleft\ttop\twidth\theight\tconf\ttext\n"
    rows = '5\t1\t1\t1\t10\t10\t40\t20\t96.5\t"oak\n5\t1\t1\t1\t60\t10\t40\t20\t90\ttree"\n'
    _program(tmp_path, monkeypatch, _LISTS + f"sys.stdout.write({head + rows!r})")
    (line,) = load("tesseract").recognise(written("x"))
    assert line.text == '"oak tree"'
    assert (line.left, line.top, line.right, line.bottom) == (10, 10, 100, 30)
    assert 0.9 < line.score < 0.97


class _Observation:
    """What Vision finds at one place, in shares of the picture from the lower left."""

    def __init__(self, line: Any, width: int, height: int) -> None:
        self._line = line
        self._box = types.SimpleNamespace(
            origin=types.SimpleNamespace(x=line.left / width, y=1 - line.bottom / height),
            size=types.SimpleNamespace(
                width=(line.right - line.left) / width, height=line.height / height
            ),
        )

    def topCandidates_(self, count: int) -> list[Any]:  # noqa: N802
        line = self._line
        return [types.SimpleNamespace(string=lambda: line.text, confidence=lambda: line.score)][
            :count
        ]

    def boundingBox(self) -> Any:  # noqa: N802
        return self._box


class _Request:
    made: list[_Request] = []  # noqa: RUF012

    def __init__(self) -> None:
        self.given: dict[str, Any] = {}
        self.found: list[_Observation] = []
        self.made.append(self)

    @classmethod
    def alloc(cls) -> type[_Request]:
        return cls

    @classmethod
    def init(cls) -> _Request:
        return cls()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("set"):
            return lambda value: self.given.__setitem__(name, value)
        raise AttributeError(name)

    def supportedRecognitionLanguagesAndReturnError_(self, _: None) -> tuple[list[str], None]:  # noqa: N802
        return ["en-US", "it-IT", "pt-BR", "zh-Hans", "zh-Hant"], None

    def results(self) -> list[_Observation]:
        return self.found


class _Handler:
    failure: str | None = None

    @classmethod
    def alloc(cls) -> _Handler:
        return cls()

    def initWithData_options_(self, data: bytes, options: None) -> _Handler:  # noqa: N802
        self._image = Image.open(io.BytesIO(data)).convert("RGB")
        return self

    def performRequests_error_(self, requests: list[_Request], _: None) -> tuple[bool, Any]:  # noqa: N802
        if self.failure:
            return False, self.failure
        for line in _load_once("rapidocr").recognise(self._image):
            requests[0].found.append(_Observation(line, *self._image.size))
        return True, None


@pytest.fixture
def vision(monkeypatch: pytest.MonkeyPatch) -> None:
    """Vision as its documentation describes it, with another engine behind."""
    named = {"Vision": types.ModuleType("Vision"), "objc": types.ModuleType("objc")}
    named["Vision"].__dict__.update(VNRecognizeTextRequest=_Request, VNImageRequestHandler=_Handler)
    named["objc"].__dict__.update(autorelease_pool=contextlib.nullcontext)
    for name, value in named.items():
        monkeypatch.setitem(sys.modules, name, value)
    monkeypatch.setattr("emily.reading.ocr.apple.sys.platform", "darwin")
    monkeypatch.setattr(_Request, "made", [])


@pytest.mark.usefixtures("vision")
class TestApple(OcrContract):
    @pytest.fixture
    def ocr(self) -> Ocr:
        return load("apple", ("it", "en"))

    def test_it_is_accurate_corrects_by_language_and_knows_which(self, ocr: Ocr) -> None:
        ocr.recognise(written("x"))
        given = _Request.made[-1].given
        assert given["setRecognitionLevel_"] == 0
        assert given["setUsesLanguageCorrection_"] is True
        assert given["setRecognitionLanguages_"] == ["it-IT", "en-US"]

    def test_a_language_of_two_scripts_is_asked_for_in_both(self) -> None:
        load("apple", ("zh",)).recognise(written("x"))
        assert _Request.made[-1].given["setRecognitionLanguages_"] == ["zh-Hans", "zh-Hant"]

    def test_a_language_that_it_does_not_read_is_named(self) -> None:
        with pytest.raises(OcrUnavailable, match=r"does not read 'sq'.*it-IT"):
            load("apple", ("it", "sq"))

    def test_its_failure_is_a_reading_error(
        self, ocr: Ocr, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(_Handler, "failure", "no neural engine")
        with pytest.raises(ReadingError, match="no neural engine"):
            ocr.recognise(written("x"))


def test_apple_elsewhere_and_apple_without_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("emily.reading.ocr.apple.sys.platform", "linux")
    with pytest.raises(OcrUnavailable, match="only there on macOS"):
        load("apple")
    monkeypatch.setattr("emily.reading.ocr.apple.sys.platform", "darwin")
    monkeypatch.setitem(sys.modules, "Vision", None)
    with pytest.raises(OcrUnavailable, match=r"pip install 'emily\[apple\]'"):
        load("apple")


def test_an_engine_that_nobody_knows() -> None:
    with pytest.raises(ValueError, match="'abbyy'; there are rapidocr, tesseract, apple"):
        load("abbyy")
    assert ENGINES == ("rapidocr", "tesseract", "apple")
