"""Text out of pictures of pages: the engine behind a protocol, and the pictures made ready."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from emily.errors import ReadingError
from emily.reading.lines import Line, confidence, page_text

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["Ocr", "OcrUnavailable", "RapidOcr", "load", "recognise", "self_test"]

_STRIP = 1.5  # height of a strip over its width, when a tall picture is cut
_TALL = 2.5  # height over width from which a picture is cut
_SMALL = 600  # pixels of the longer side below which a picture is doubled
_MOST_PIXELS = 2400  # of the longer side of what the engine is given
_DETECTION_PIXELS = 1280  # of the longer side of what lines are looked for on
_GOLDEN = "Total 1234,50 euro"


class OcrUnavailable(ReadingError):
    """The OCR engine cannot be loaded; the message says why."""


class Ocr(Protocol):
    """An OCR engine."""

    def recognise(self, image: Image) -> list[Line]:
        """Lines of text in a picture (mode RGB), in any order."""
        ...


def load(engine: str, languages: Sequence[str]) -> Ocr:
    """An OCR engine by its name.

    Args:
        engine: as the setting ``ocr_engine`` names it.
        languages: ISO 639-1 codes of what is to be read.

    Raises:
        OcrUnavailable: there is no such engine, or it cannot be loaded.
    """
    if engine == "rapidocr":
        return RapidOcr()
    raise OcrUnavailable(f"there is no OCR engine {engine!r} for {', '.join(languages)}")


class RapidOcr:
    """PP-OCR through onnxruntime; the models lie in the wheel, nothing is downloaded.

    The classifier of upside-down lines stays off: it turns upright lines over.

    Raises:
        OcrUnavailable: the package, its models or the memory for them are missing.
    """

    def __init__(self) -> None:
        logging.disable(logging.CRITICAL)  # the worker's stderr is for crashes only
        try:
            with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):  # noqa: PTH123
                from rapidocr import RapidOCR

                self._engine = RapidOCR(
                    params={
                        "Global.use_cls": False,
                        "Global.log_level": "critical",
                        "Global.max_side_len": _MOST_PIXELS,
                        # Lines of one batch are padded to its longest: one by one is
                        # a quarter faster on a CPU, and reads the same.
                        "Rec.rec_batch_num": 1,
                        # Lines are found on a smaller copy and read off the full one: a third
                        # less time on a page, and the same text on the pages compared.
                        "Det.limit_type": "max",
                        "Det.limit_side_len": _DETECTION_PIXELS,
                        # A second thread of this engine waits in a loop: on a machine of two
                        # cores, where the embedder works beside it, a page costs twice the
                        # CPU and no less time.
                        "EngineConfig.onnxruntime.intra_op_num_threads": 1,
                        "EngineConfig.onnxruntime.inter_op_num_threads": 1,
                    }
                )
        except Exception as error:  # noqa: BLE001 - onnxruntime raises types of its own, many
            raise _unavailable(error) from None

    def recognise(self, image: Image) -> list[Line]:
        """Lines of text in a picture."""
        import numpy as np

        try:
            result: Any = self._engine(np.asarray(image)[:, :, ::-1])  # the engine takes BGR
        except ImportError as error:  # parts of the engine are loaded at its first use
            raise _unavailable(error) from None
        except Exception as error:  # noqa: BLE001 - cv2.error, onnxruntime errors, and others
            if _is_for_memory(error):
                raise _unavailable(error) from None
            raise ReadingError(f"OCR failed: {_last_line(error)}") from None
        if result is None or result.txts is None or result.boxes is None:
            return []
        return [
            Line(
                text=text,
                score=float(score),
                left=float(min(box[:, 0])),
                top=float(min(box[:, 1])),
                right=float(max(box[:, 0])),
                bottom=float(max(box[:, 1])),
            )
            for text, score, box in zip(result.txts, result.scores, result.boxes, strict=True)
            if text.strip()
        ]


def _unavailable(error: Exception) -> OcrUnavailable:
    if _is_for_memory(error):
        return OcrUnavailable(
            "OCR does not fit into the memory limit (setting reading_memory_mb; it takes 1,024 MiB)"
        )
    return OcrUnavailable(f"OCR cannot be loaded: {_last_line(error)}")


def _is_for_memory(error: Exception) -> bool:
    words = ("failed to map", "bad_alloc", "allocate", "Insufficient memory")
    return isinstance(error, MemoryError) or any(word in str(error) for word in words)


def _last_line(error: Exception) -> str:
    """What an error says; the engine packs whole tracebacks into one."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip(" .")]
    return lines[-1] if lines else type(error).__name__


def recognise(engine: Ocr, image: Image) -> list[Line]:
    """Lines of a page, prepared as engines like it: small ones doubled, tall ones cut, turned.

    A page that lies on its side or stands on its head is turned only when that reads clearly
    better than leaving it.

    Args:
        engine: the OCR engine.
        image: a page, upright or not, mode RGB.
    """
    image = _sized(image)
    lines = _strips(engine, image)
    if not _suspicious(lines):
        return lines
    sideways = _sideways(lines)
    angles = (90, 270) if sideways else (180,)
    turned = [_strips(engine, image.rotate(angle, expand=True)) for angle in angles]
    best = max(turned, key=_score)
    # An engine may read a lying line by itself; the order of lines is right only once upright.
    if _score(best) > (0.8 if sideways else 1.3) * _score(lines) and not _sideways(best):
        return best
    return lines


def _sized(image: Image) -> Image:
    from PIL.Image import Resampling

    longer, shorter = max(image.size), min(image.size)
    if longer < _SMALL and shorter > 0:
        return image.resize((image.width * 2, image.height * 2), Resampling.LANCZOS)
    limit = _MOST_PIXELS * (1 if longer < _TALL * shorter else longer / shorter / _STRIP)
    if longer > limit:
        image.thumbnail((limit, limit), Resampling.LANCZOS)
    return image


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
            moved = Line(
                line.text, line.score, line.left, line.top + top, line.right, line.bottom + top
            )
            lines.append(moved)
        top = bottom
    return lines


def _score(lines: list[Line]) -> float:
    """How many characters were read, weighed by how sure each was."""
    return sum(len(line.text) * max(0.0, line.score - 0.5) for line in lines)


def _sideways(lines: list[Line]) -> bool:
    long = [line for line in lines if len(line.text) > 3]  # a letter or two say nothing
    upright = sum(line.height > 1.5 * (line.right - line.left) for line in long)
    return upright > len(long) / 2


def _suspicious(lines: list[Line]) -> bool:
    return bool(lines) and (confidence(lines) < 0.75 or _sideways(lines))


def self_test(engine: Ocr) -> str | None:
    """Read a rendered line; ``None`` when it comes out right, else what came out instead."""
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", (640, 120), "white")
    ImageDraw.Draw(image).text((30, 30), _GOLDEN, fill="black", font=ImageFont.load_default(40))
    found = page_text(recognise(engine, image))
    if "".join(found.split()) == "".join(_GOLDEN.split()):
        return None
    return f"OCR reads {found!r} where {_GOLDEN!r} is written"
