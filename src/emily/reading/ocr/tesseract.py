"""OCR by the program Tesseract, where its owner has installed it."""

from __future__ import annotations

import csv
import io
import itertools
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from emily.errors import ReadingError
from emily.reading.ocr.engine import OcrUnavailable
from emily.reading.ocr.lines import Line

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["TesseractOcr", "packages"]

_CODES = {
    "ar": "ara", "bg": "bul", "ca": "cat", "cs": "ces", "da": "dan", "de": "deu", "el": "ell",
    "en": "eng", "es": "spa", "et": "est", "eu": "eus", "fi": "fin", "fr": "fra", "gl": "glg",
    "he": "heb", "hi": "hin", "hr": "hrv", "hu": "hun", "is": "isl", "it": "ita", "ja": "jpn",
    "ko": "kor", "lt": "lit", "lv": "lav", "mk": "mkd", "mt": "mlt", "nb": "nor", "nl": "nld",
    "nn": "nor", "no": "nor", "pl": "pol", "pt": "por", "ro": "ron", "ru": "rus", "sk": "slk",
    "sl": "slv", "sq": "sqi", "sr": "srp", "sv": "swe", "th": "tha", "tr": "tur", "uk": "ukr",
    "vi": "vie", "zh": "chi_sim",
}  # fmt: skip
_SECONDS = 300  # for one picture
_CELL = 2.0  # times the height of a line: a wider gap parts the cells of a row
_KEPT = ("PATH", "HOME", "TMPDIR", "TESSDATA_PREFIX", "LD_LIBRARY_PATH", "SYSTEMROOT")


def packages(languages: Sequence[str]) -> str:
    """The packages of Debian that hold the data for languages, given as ISO 639-1 codes."""
    codes = dict.fromkeys(_CODES.get(code.lower(), code.lower()) for code in languages)
    return " ".join(f"tesseract-ocr-{code.replace('_', '-')}" for code in codes)


@dataclass(frozen=True, slots=True)
class _Word:
    line: tuple[str, ...]
    text: str
    score: float
    left: float
    top: float
    right: float
    bottom: float


class TesseractOcr:
    """The program ``tesseract``, called once for a picture; it inherits the worker's limits.

    Args:
        languages: ISO 639-1 codes of what is to be read; English where there is none.

    Raises:
        OcrUnavailable: the program or the data for a language are not installed.
    """

    def __init__(self, languages: Sequence[str] = ()) -> None:
        program = shutil.which("tesseract")
        if program is None:
            raise OcrUnavailable(
                "the program tesseract is not installed "
                "(apt install tesseract-ocr, or brew install tesseract)"
            )
        self._program = program
        wanted = [_CODES.get(code.lower(), code.lower()) for code in languages] or ["eng"]
        self._languages = list(dict.fromkeys(wanted))
        there = set(self._run(["--list-langs"], b"").split())
        if missing := [code for code in self._languages if code not in there]:
            packages = " ".join(f"tesseract-ocr-{code.replace('_', '-')}" for code in missing)
            raise OcrUnavailable(
                f"Tesseract has no data for {', '.join(missing)} "
                f"(apt install {packages}, or brew install tesseract-lang)"
            )

    def recognise(self, image: Image) -> list[Line]:
        """Lines of text in a picture; the cells of a row are lines of their own."""
        data = io.BytesIO()
        image.save(data, "PPM")
        asked = ["-", "-", "-l", "+".join(self._languages), "tsv"]
        words = _upright(_words(self._run(asked, data.getvalue())), *image.size)
        by_line: dict[tuple[str, ...], list[_Word]] = {}
        for word in words:
            by_line.setdefault(word.line, []).append(word)
        return [_line(piece) for line in by_line.values() for piece in _cells(line)]

    def _run(self, arguments: list[str], data: bytes) -> str:
        """What the program writes.

        Raises:
            OcrUnavailable: it cannot be started.
            ReadingError: it fails, or takes too long.
        """
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
        # Its threads wait for each other in loops: a page takes twice the CPU with them.
        environment |= {"OMP_THREAD_LIMIT": "1", "OMP_NUM_THREADS": "1", "LC_ALL": "C.UTF-8"}
        try:
            done = subprocess.run(
                [self._program, *arguments],
                input=data,
                capture_output=True,
                timeout=_SECONDS,
                env=environment,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise ReadingError(f"Tesseract took more than {_SECONDS} s for a picture") from None
        except OSError as error:
            reason = error.strerror or error
            raise OcrUnavailable(f"the program tesseract cannot be started: {reason}") from None
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().splitlines()
            why = said[-1] if said else f"exit code {done.returncode}"
            raise ReadingError(f"Tesseract failed: {why[:200]}")
        return done.stdout.decode(errors="replace")


def _words(table: str) -> list[_Word]:
    """The words in what Tesseract calls TSV, whose text is quoted by nothing."""
    words = []
    for row in csv.DictReader(io.StringIO(table), delimiter="\t", quoting=csv.QUOTE_NONE):
        text = (row.get("text") or "").strip()
        if row.get("level") != "5" or not text:
            continue
        try:
            left, top = float(row["left"]), float(row["top"])
            right, bottom = left + float(row["width"]), top + float(row["height"])
            score = min(1.0, max(0.0, float(row["conf"]) / 100))
        except (KeyError, TypeError, ValueError):
            continue
        line = (row["block_num"], row["par_num"], row["line_num"])
        words.append(_Word(line, text, score, left, top, right, bottom))
    return words


def _upright(words: list[_Word], width: int, height: int) -> list[_Word]:
    """Words where they stand once the page is upright, by the way from each to the next.

    Tesseract reads pages that lie on a side or on their heads, and gives the places as found.
    """
    right = down = 0.0
    for one, two in itertools.pairwise(words):
        if one.line == two.line:
            right += (two.left + two.right - one.left - one.right) / 2
            down += (two.top + two.bottom - one.top - one.bottom) / 2
    if abs(down) > 2 * abs(right):
        if down > 0:  # lines run down: turned to the left they are upright
            return [_moved(w, w.top, width - w.right, w.bottom, width - w.left) for w in words]
        return [_moved(w, height - w.bottom, w.left, height - w.top, w.right) for w in words]
    if right < 0:
        return [
            _moved(w, width - w.right, height - w.bottom, width - w.left, height - w.top)
            for w in words
        ]
    return words


def _moved(word: _Word, left: float, top: float, right: float, bottom: float) -> _Word:
    return _Word(word.line, word.text, word.score, left, top, right, bottom)


def _cells(line: list[_Word]) -> list[list[_Word]]:
    """The words of a line, parted where a gap is that of a table or of columns."""
    heights = sorted(word.bottom - word.top for word in line)
    gap = _CELL * heights[len(heights) // 2]
    pieces: list[list[_Word]] = []
    for word in line:
        if pieces and abs(word.left - pieces[-1][-1].right) <= gap:
            pieces[-1].append(word)
        else:
            pieces.append([word])
    return pieces


def _line(words: list[_Word]) -> Line:
    size = sum(len(word.text) for word in words)
    return Line(
        text=" ".join(word.text for word in words),
        score=sum(word.score * len(word.text) for word in words) / size,
        left=min(word.left for word in words),
        top=min(word.top for word in words),
        right=max(word.right for word in words),
        bottom=max(word.bottom for word in words),
    )
