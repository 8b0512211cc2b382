"""The process that parses foreign bytes: ``python -m emily.reading.worker``.

It takes one request at a time on standard input and answers on standard output, in frames
(``emily.reading.frames``). A request is ``read`` (a file) or ``check`` (whether OCR works). The
answer to ``read`` is ``begun``, a ``page`` for each page and ``done``, or an ``error``.

It holds no secret and no connection, knows nothing of the database, and ends with its parent.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from emily import errors
from emily.errors import LimitExceeded, ReadingError
from emily.reading import frames
from emily.reading.formats import reader_of
from emily.reading.kind import detect
from emily.reading.limits import allow_cpu_seconds, confine, die_with_parent
from emily.reading.source import Source, tidy

if TYPE_CHECKING:
    from emily.reading.ocr import Ocr

__all__ = ["main"]

_SPARE = 0.85  # part of the time limit after which no further page is given to OCR


class _Worker:
    def __init__(self, output: IO[bytes], seconds: int, ocr: bool, threads: int) -> None:
        self._output = output
        self._seconds = seconds
        self._threads = threads
        self._engine: Ocr | None = None
        self._load: Callable[[], Ocr] | None = self._ocr if ocr else None

    def _ocr(self) -> Ocr:
        if self._engine is None:
            from emily.reading.ocr import RapidOcr

            self._engine = RapidOcr()
        return self._engine

    def send(self, message: dict[str, Any]) -> None:
        """One frame to the parent."""
        self._output.write(frames.encode(message))
        self._output.flush()

    def answer(self, request: dict[str, Any]) -> None:
        """Do what a request asks for; an error is an answer too."""
        self.send({"type": "begun"})
        allow_cpu_seconds(self._seconds * (self._threads + 1))
        try:
            if request.get("type") == "check":
                self._check()
            else:
                self._read(Path(os.fsdecode(str(request["path"]).encode("latin-1"))))
        except ReadingError as error:
            self._fail(type(error).__name__, str(error))
        except MemoryError:
            self._fail("LimitExceeded", "reading it takes more memory than is allowed")
        except RecursionError:
            self._fail("ReadingError", "its parts are nested too deeply")
        except OSError as error:
            self._fail("ReadingError", f"it cannot be read: {error.strerror or error}")
        except Exception as error:  # noqa: BLE001 - a parser's bug is an error of this file alone
            self._fail("ReadingError", f"its parser failed: {type(error).__name__}: {error}")

    def _read(self, path: Path) -> None:
        kind = detect(path)
        source = Source(path, self._load, time.monotonic() + self._seconds * _SPARE, self._seconds)
        draft = reader_of(kind.name)(source)
        for page in draft.pages:
            self.send(frames.page_fields(page))
        found = [kind.warning] if kind.warning else []
        self.send(
            {
                "type": "done",
                "kind": draft.kind,
                "citation": draft.citation,
                "title": draft.title,
                "warnings": [tidy(warning) for warning in found + draft.warnings],
            }
        )

    def _check(self) -> None:
        from emily.reading.ocr import self_test

        self.send({"type": "checked", "problem": self_test(self._ocr())})

    def _fail(self, error: str, reason: str) -> None:
        name = error if hasattr(errors, error) else "ReadingError"
        self.send({"type": "error", "error": name, "reason": tidy(reason)[:2000]})


def main() -> None:
    """Serve requests until standard input ends."""
    parser = argparse.ArgumentParser(prog="emily.reading.worker")
    parser.add_argument("--parent", type=int, required=True)
    parser.add_argument("--seconds", type=int, required=True)
    parser.add_argument("--memory-mb", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--ocr", action="store_true")
    given = parser.parse_args()
    die_with_parent(given.parent)
    confine(given.memory_mb)
    # What a library prints must not get between the frames: they go out by a descriptor of
    # their own, and standard output becomes standard error.
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    worker = _Worker(output, given.seconds, given.ocr, given.threads)
    while len(prefix := sys.stdin.buffer.read(4)) == 4:
        body = sys.stdin.buffer.read(frames.length(prefix))
        try:
            worker.answer(frames.decode(body))
        except LimitExceeded as error:
            worker._fail("LimitExceeded", str(error))
        gc.collect()


if __name__ == "__main__":
    main()
