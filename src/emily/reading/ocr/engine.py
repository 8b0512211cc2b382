"""Text out of pictures of pages: engines behind a protocol, and pages made ready and turned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, Protocol, get_args, runtime_checkable

from emily.errors import ReadingError
from emily.reading.ocr.golden import GOLDEN, golden_image, is_golden
from emily.reading.ocr.lines import Line, confidence, is_sparse, page_text

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = [
    "ENGINES",
    "Engine",
    "Ocr",
    "OcrUnavailable",
    "load",
    "recognise",
    "self_test",
    "unlettered",
]

Engine = Literal["rapidocr", "tesseract", "apple"]
"""Names of the engines: PP-OCR in the wheel, the program Tesseract, Vision of macOS."""

ENGINES: tuple[Engine, ...] = get_args(Engine)

_STRIP = 1.5  # height of a strip over its width, when a tall picture is cut
_TALL = 2.5  # height over width from which a picture is cut
_SMALL = 600  # pixels of the longer side below which a picture is doubled
_MOST_PIXELS = 2400  # of the longer side of what the engine is given
_PROBED = 5  # lines that are read again to see how a page lies
_OTHER_SCRIPTS_LIST = """
am ar as be bg bn dz el fa gu he hi hy ka kk km kn ko ky lo mk ml mn mr ne or pa ps ru si sr ta te
th ug uk ur
"""
_OTHER_SCRIPTS = frozenset(_OTHER_SCRIPTS_LIST.split())
_DOUBTFUL = 0.75  # mean confidence; upright print has .95 and more, print upside down .5 to .7


class OcrUnavailable(ReadingError):
    """The OCR engine cannot be loaded; the message says why."""


@runtime_checkable
class Ocr(Protocol):
    """An OCR engine."""

    def recognise(self, image: Image) -> list[Line]:
        """Lines of text in a picture (mode RGB), in any order.

        A line that was found but could not be read may be among them, with an empty text.

        An engine that finds a page on its side or on its head by itself gives the places that the
        lines have once it is upright.

        Raises:
            OcrUnavailable: the engine turns out not to work here.
            ReadingError: it failed on this picture.
        """
        ...


def load(engine: str, languages: Sequence[str] = ()) -> Ocr:
    """An engine by name.

    Args:
        engine: one of ``ENGINES``.
        languages: ISO 639-1 codes of what is to be read. RapidOCR does without: its one model
            reads Latin, Chinese and Japanese script; ``unlettered`` names the others.

    Raises:
        OcrUnavailable: it is not installed, or has no data for a language.
        ValueError: there is no engine of this name.
    """
    if engine == "rapidocr":
        from emily.reading.ocr.rapid import RapidOcr

        return RapidOcr()
    if engine == "tesseract":
        from emily.reading.ocr.tesseract import TesseractOcr

        return TesseractOcr(languages)
    if engine == "apple":
        from emily.reading.ocr.apple import AppleOcr

        return AppleOcr(languages)
    raise ValueError(f"there is no OCR engine {engine!r}; there are {', '.join(ENGINES)}")


def unlettered(engine: str, languages: Sequence[str]) -> tuple[str, ...]:
    """The languages of these for whose script an engine has no letters.

    Of Greek RapidOCR has the letters of formulas only; of Cyrillic, Hangul, Arabic, Hebrew, Thai
    and the Indic scripts none.
    """
    if engine != "rapidocr":
        return ()  # Tesseract and Apple name what they lack when they are loaded
    return tuple(code for code in languages if code in _OTHER_SCRIPTS)


def recognise(engine: Ocr, image: Image) -> list[Line]:
    """Lines of a page, prepared as engines like it: set straight, sized, tall ones cut, turned.

    A page that lies on its side or stands on its head is turned only when a few of its lines
    read clearly better so.

    Args:
        engine: the OCR engine.
        image: a page, upright or not, mode RGB.
    """
    from emily.reading.ocr.page_image import prepared

    image = _sized(prepared(image))
    lines = _strips(engine, image)
    if not _suspicious(lines):
        return lines
    window = _window(lines, image)
    least = 0.8 if _sideways(lines) else 1.3
    best, read_best = 0, _score([line for line in lines if _within(line, window)])
    # An engine may read a lying line by itself; the order of lines is right only once upright.
    for angle in (90, 270) if _sideways(lines) else (180,):
        probe = engine.recognise(image.crop(window).rotate(angle, expand=True))
        if not _sideways(probe) and _score(probe) > least * read_best:
            best, read_best, least = angle, _score(probe), 1.0
    return _strips(engine, image.rotate(best, expand=True)) if best else lines


def _sized(image: Image) -> Image:
    from PIL.Image import Resampling

    longer, shorter = max(image.size), min(image.size)
    if longer < _SMALL and shorter > 0:
        return image.resize((image.width * 2, image.height * 2), Resampling.LANCZOS)
    limit = _MOST_PIXELS * (1 if longer < _TALL * shorter else longer / shorter / _STRIP)
    if longer <= limit:
        return image
    scale = limit / longer
    size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    return image.resize(size, Resampling.BICUBIC, reducing_gap=2)


def _strips(engine: Ocr, image: Image) -> list[Line]:
    """Lines of a picture; one much taller than wide is cut where it has the least ink."""
    if image.height < _TALL * image.width:
        return engine.recognise(image)
    import numpy as np

    ink = np.asarray(image.convert("L")).std(axis=1)
    step = max(int(image.width * _STRIP), 200)
    lines: list[Line] = []
    top = 0
    while top < image.height:
        bottom = min(image.height, top + step)
        if bottom < image.height:
            window = ink[bottom - step // 4 : bottom]
            bottom = bottom - step // 4 + int(window.argmin()) + 1
        for line in engine.recognise(image.crop((0, top, image.width, bottom))):
            lines.append(replace(line, top=line.top + top, bottom=line.bottom + top))
        top = bottom
    return lines


def _window(lines: list[Line], image: Image) -> tuple[int, int, int, int]:
    """The part of a page that holds a few of its longest lines: left, top, right, bottom."""
    long = sorted(lines, key=lambda line: len(line.text))[-4 * _PROBED :]
    if _sideways(lines):
        long.sort(key=lambda line: line.left)
    else:
        long.sort(key=lambda line: line.top)
    some = long[(len(long) - _PROBED) // 2 :][:_PROBED] if len(long) > _PROBED else long
    edge = max(min(line.height, line.right - line.left) for line in some)
    left, top = min(line.left for line in some), min(line.top for line in some)
    right, bottom = max(line.right for line in some), max(line.bottom for line in some)
    return (
        max(0, int(left - edge)),
        max(0, int(top - edge)),
        max(1, min(image.width, int(right + edge))),
        max(1, min(image.height, int(bottom + edge))),
    )


def _score(lines: list[Line]) -> float:
    """How many characters were read, weighed by how sure each was."""
    return sum(len(line.text) * max(0.0, line.score - 0.5) for line in lines)


def _sideways(lines: list[Line]) -> bool:
    long = [line for line in lines if len(line.text) > 3]  # a letter or two say nothing
    upright = sum(line.height > 1.5 * (line.right - line.left) for line in long)
    return upright > len(long) / 2


def _within(line: Line, window: tuple[int, int, int, int]) -> bool:
    left, top, right, bottom = window
    return left <= (line.left + line.right) / 2 <= right and top <= line.middle <= bottom


def _suspicious(lines: list[Line]) -> bool:
    """Whether a page may lie or stand on its head.

    One in a script that the engine has no letters for does not: it reads badly either way.
    """
    if not lines:
        return False
    if _sideways(lines):
        return True
    if confidence(lines) >= _DOUBTFUL:
        return False
    return 2 * sum(map(is_sparse, lines)) <= len(lines)


def self_test(engine: Ocr) -> str | None:
    """Read a rendered line; ``None`` when it comes out right, else what came out instead."""
    found = page_text(recognise(engine, golden_image()))
    return None if is_golden(found) else f"OCR reads {found!r} where {GOLDEN!r} is written"
