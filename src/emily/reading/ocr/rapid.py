"""OCR by PP-OCR through onnxruntime: what is installed with Emily, and the default."""

from __future__ import annotations

import contextlib
import logging
import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from emily.errors import ReadingError
from emily.reading.ocr.engine import OcrUnavailable
from emily.reading.ocr.lines import Line

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["RapidOcr"]

_DETECTION_PIXELS = 1280  # of the longer side of what lines are looked for on
_LEAST_SCORE = 0.5  # of a line; below is no text, but a picture's or a rule's noise
_PROBED = 5  # lines that tell whether a page stands on its head
_CLEAR = 0.85  # their mean confidence from which no other way up is tried
_BETTER = 0.1  # by how much more confidence the page is turned

_FORMULA = 6  # letters; a formula has no more in a row
_GREEK = 0.7  # times the confidence in a line of Greek: its accented letters are not known

_Picture = NDArray[np.uint8]


class RapidOcr:
    """PP-OCR through onnxruntime; the models lie in the wheel, nothing is downloaded.

    Its own classifier of upside-down lines stays off: it turns upright lines over. Whether a page
    stands on its head is seen from the confidence of its first few lines, read both ways when the
    first is in doubt; the others then are read once.

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
                        # Lines of one batch are padded to its longest: one by one is
                        # a quarter faster on a CPU, and reads the same.
                        "Rec.rec_batch_num": 1,
                        # Short lines are padded to this width, not to 320: a table takes a
                        # fifth less time, and reads the same.
                        "Rec.rec_img_shape": [3, 48, 192],
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
        """Lines of text in a picture; one that was found but not read has an empty text."""
        try:
            return self._read(np.asarray(image)[:, :, ::-1])  # the engine takes BGR
        except ImportError as error:  # parts of the engine are loaded at its first use
            raise _unavailable(error) from None
        except Exception as error:  # noqa: BLE001 - cv2.error, onnxruntime errors, and others
            if _is_for_memory(error):
                raise _unavailable(error) from None
            raise ReadingError(f"OCR failed: {_last_line(error)}") from None

    def _read(self, page: _Picture) -> list[Line]:
        boxes, crops = self._detect(page)
        if _lie(boxes):
            page = np.ascontiguousarray(np.rot90(page))
            boxes, crops = self._detect(page)
        if not crops:
            return []
        # The medium long ones tell as much as the longest, and sooner.
        ratios = [crop.shape[1] / crop.shape[0] for crop in crops]
        order = sorted(range(len(crops)), key=lambda at: abs(ratios[at] - 10))
        probed, others = order[:_PROBED], order[_PROBED:]
        read = self._lines([crops[at] for at in probed])
        if _mean(read) < _CLEAR:
            turned = self._lines([_over(crops[at]) for at in probed])
            if _mean(turned) > _mean(read) + _BETTER:
                read = turned
                crops = [_over(crop) for crop in crops]
                boxes = np.array([page.shape[1], page.shape[0]]) - boxes
        read += self._lines([crops[at] for at in others])
        return [
            Line(
                text=text if score >= _LEAST_SCORE else "",
                score=score * _GREEK if _is_greek(text) else score,
                left=float(boxes[at, :, 0].min()),
                top=float(boxes[at, :, 1].min()),
                right=float(boxes[at, :, 0].max()),
                bottom=float(boxes[at, :, 1].max()),
            )
            for at, (text, score) in zip(order, read, strict=True)
        ]

    def _detect(self, page: _Picture) -> tuple[NDArray[np.float64], list[_Picture]]:
        """Corners of the lines found, n x 4 x 2, and the pictures of these lines."""
        from rapidocr.main import RapidOCRError

        record: dict[str, Any] = {}
        try:
            crops, found = self._engine.detect_and_crop(page, record)
        except RapidOCRError:  # nothing is found
            return np.empty((0, 4, 2)), []
        padding = record["padding_1"]
        corner = np.array([padding["left"], padding["top"]])
        boxes = np.asarray(found.boxes, np.float64) - corner
        return np.clip(boxes, 0, [page.shape[1], page.shape[0]]), list(crops)

    def _lines(self, crops: list[_Picture]) -> list[tuple[str, float]]:
        """Text and confidence of pictures of lines."""
        if not crops:
            return []
        result: Any = self._engine.recognize_txt(crops)
        return [
            (str(text), float(score))
            for text, score in zip(result.txts, result.scores, strict=True)
        ]


def _lie(boxes: NDArray[np.float64]) -> bool:
    """Whether most lines run up or down, by the shapes of the long ones."""
    if len(boxes) < 3:
        return False
    wide = np.ptp(boxes[:, :, 0], axis=1)
    high = np.ptp(boxes[:, :, 1], axis=1)
    long = np.maximum(wide, high) > 3 * np.minimum(wide, high)
    return bool(long.sum() >= 3 and (high > wide)[long].mean() > 0.7)


def _is_greek(text: str) -> bool:
    letters = [sign for sign in text if sign.isalpha()]
    greek = sum("\u0370" <= sign <= "\u03ff" for sign in letters)
    return len(letters) > _FORMULA and 2 * greek > len(letters)


def _over(crop: _Picture) -> _Picture:
    return np.ascontiguousarray(np.rot90(crop, 2))


def _mean(read: list[tuple[str, float]]) -> float:
    """Mean confidence per character."""
    size = sum(len(text) for text, _ in read)
    return sum(len(text) * score for text, score in read) / size if size else 0.0


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
