"""OCR by Vision, the framework of macOS; needs the extra ``apple`` (pyobjc)."""

from __future__ import annotations

import importlib
import io
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from emily.errors import ReadingError
from emily.reading.ocr.engine import OcrUnavailable
from emily.reading.ocr.lines import Line

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["AppleOcr"]

_ACCURATE = 0  # VNRequestTextRecognitionLevelAccurate


class AppleOcr:
    """``VNRecognizeTextRequest`` of the framework Vision, accurate, with language correction.

    Written by Apple's documentation of the framework:
    https://developer.apple.com/documentation/vision/vnrecognizetextrequest

    Args:
        languages: ISO 639-1 codes of what is to be read, the most likely first.

    Raises:
        OcrUnavailable: this is no macOS, pyobjc is not installed, or Vision does not read one
            of the languages.
    """

    def __init__(self, languages: Sequence[str] = ()) -> None:
        if sys.platform != "darwin":
            raise OcrUnavailable("the OCR engine apple is only there on macOS (setting ocr_engine)")
        try:
            # By name: these modules are there on one system only.
            self._vision: Any = importlib.import_module("Vision")
            self._objc: Any = importlib.import_module("objc")
        except ImportError as error:
            raise OcrUnavailable(
                f"the OCR engine apple is not installed: {error} (pip install 'emily[apple]')"
            ) from None
        with self._objc.autorelease_pool():
            self._languages: list[str] = self._supported(languages)

    def _supported(self, languages: Sequence[str]) -> list[str]:
        """The names that Vision has for languages, such as ``it-IT``."""
        found, error = self._request().supportedRecognitionLanguagesAndReturnError_(None)
        if error is not None:
            raise OcrUnavailable(f"Vision does not say what it reads: {error}")
        known = [str(name) for name in found or ()]
        names: list[str] = []
        for code in languages:
            named = [name for name in known if name.lower().split("-")[0] == code.lower()]
            if not named:
                raise OcrUnavailable(
                    f"Vision does not read {code!r} on this macOS; it reads {', '.join(known)}"
                )
            names += [name for name in named if name not in names]
        return names

    def _request(self) -> Any:
        request = self._vision.VNRecognizeTextRequest.alloc().init()
        request.setRecognitionLevel_(_ACCURATE)
        request.setUsesLanguageCorrection_(True)
        return request

    def recognise(self, image: Image) -> list[Line]:
        """Lines of text in a picture."""
        data = io.BytesIO()
        image.save(data, "PNG", compress_level=1)
        with self._objc.autorelease_pool():
            request = self._request()
            if self._languages:
                request.setRecognitionLanguages_(self._languages)
            handler = self._vision.VNImageRequestHandler.alloc().initWithData_options_(
                data.getvalue(), None
            )
            done, error = handler.performRequests_error_([request], None)
            if not done:
                raise ReadingError(f"OCR failed: {error}")
            return [
                line
                for observation in request.results() or ()
                if (line := _line(observation, *image.size)) is not None
            ]


def _line(observation: Any, width: int, height: int) -> Line | None:
    """What Vision found at one place; its boxes are shares of the picture from the lower left."""
    candidates = observation.topCandidates_(1)
    if not candidates or not str(candidates[0].string()).strip():
        return None
    box = observation.boundingBox()
    left, low = float(box.origin.x), float(box.origin.y)
    return Line(
        text=str(candidates[0].string()),
        score=float(candidates[0].confidence()),
        left=left * width,
        top=(1 - low - float(box.size.height)) * height,
        right=(left + float(box.size.width)) * width,
        bottom=(1 - low) * height,
    )
