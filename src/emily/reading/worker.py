"""The process that parses foreign bytes: ``python -m emily.reading.worker``.

It takes one request at a time on standard input and answers on standard output, in frames
(``emily.reading.frames``). A request is ``read`` (a file) or ``check`` (whether OCR works). The
answer to ``read`` is ``begun``, a ``page`` for each page, for each file inside of the file
``enclosed``, its ``bytes`` and ``enclosed_end``, and ``done``, or an ``error``. In between it may
ask back, and is answered at once: ``known`` (a picture by its digest) and ``see`` (a picture for
a vision model, which the worker itself could not reach).

It holds no secret and no connection, knows nothing of the database, and ends with its parent.
"""

from __future__ import annotations

import argparse
import base64
import gc
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from emily import errors
from emily.errors import LimitExceeded, ReadingError
from emily.reading import frames
from emily.reading.formats import reader_of
from emily.reading.kind import detect
from emily.reading.limits import (
    ENCLOSED_RATIO,
    MOST_ENCLOSED,
    SlowWork,
    allow_cpu_seconds,
    confine,
    die_with_parent,
)
from emily.reading.ocr.sight import Sight
from emily.reading.pages import PictureReading
from emily.reading.source import Draft, Source, tidy

if TYPE_CHECKING:
    from emily.reading.ocr.engine import Ocr

__all__ = ["main"]

_PIECE = 1 << 20  # bytes of an enclosed file in one frame
_MOST_BROKEN = 100  # files inside of a file whose problems are told one by one
_SPARE = 0.85  # part of the time limit after which no further page is given to OCR


class _Worker:
    def __init__(
        self,
        output: IO[bytes],
        seconds: int,
        ocr: str | None,
        languages: Sequence[str],
        threads: int,
        file_mb: int,
    ) -> None:
        self._output = output
        self._ocr_engine = ocr or ""
        self._languages = tuple(languages)
        self._most_enclosed = ENCLOSED_RATIO * (file_mb << 20)
        self._seconds = seconds
        self._threads = threads
        self._engine: Ocr | None = None
        self._load: Callable[[], Ocr] | None = self._ocr if ocr else None

    def _ocr(self) -> Ocr:
        if self._engine is None:
            from emily.reading.ocr.engine import load

            self._engine = load(self._ocr_engine, self._languages)
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
                self._read(request)
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

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """A question to the parent, and its answer."""
        self.send(message)
        reply = receive()
        if reply is None:
            os._exit(1)  # the parent is gone
        return reply

    def _read(self, request: dict[str, Any]) -> None:
        path = Path(os.fsdecode(str(request["path"]).encode("latin-1")))
        source = Source(
            path,
            self._load,
            time.monotonic() + self._seconds * _SPARE,
            self._seconds,
            name=str(request.get("name") or path.name),
            passwords=tuple(map(str, request.get("passwords") or ())),
            scratch=Path(str(request["scratch"])),
            slow=SlowWork(**request.get("slow", {})),
        )
        source.pictures.known = self._known
        if request.get("see"):
            source.sight = Sight(lambda image: self._see(image, source), source.slow.calls)
        kind = detect(path, source.name)
        draft = reader_of(kind.name)(source)
        for page in draft.pages:
            self.send(frames.page_fields(page))
        found = [kind.warning] if kind.warning else []
        left_out = self._send_enclosed(draft)
        # Behind it: which files of an archive are left out is known when all were handed over.
        said = draft.warnings + source.pictures.warnings
        self.send(
            {
                "type": "done",
                "kind": draft.kind,
                "citation": draft.citation,
                "title": draft.title,
                "facts": frames.facts_fields(draft.facts),
                "pictures": [frames.picture_fields(item) for item in source.pictures.readings],
                "warnings": [tidy(warning) for warning in found + said + left_out],
            }
        )

    def _send_enclosed(self, draft: Draft) -> list[str]:
        """Hand over the files inside of the file; warnings about those that are left out."""
        warnings: list[str] = []
        size = broken = 0
        for count, enclosed in enumerate(draft.enclosed, 1):
            if count > MOST_ENCLOSED:
                warnings.append(f"Only the first {MOST_ENCLOSED:,} files inside of it are read.")
                break
            name = tidy(enclosed.name).replace("\0", "")[:1000]
            self.send({"type": "enclosed", "name": name})
            problem = None
            try:
                for piece in enclosed.data:
                    size += len(piece)
                    if size > self._most_enclosed:
                        raise LimitExceeded("the files inside of it unpack to too many bytes")
                    for at in range(0, len(piece), _PIECE):
                        data = base64.b64encode(piece[at : at + _PIECE]).decode()
                        self.send({"type": "bytes", "data": data})
            except LimitExceeded as error:
                problem = str(error)
            except ReadingError as error:
                problem = str(error)
            self.send({"type": "enclosed_end", "problem": problem})
            if problem is not None:
                broken += 1
                if broken <= _MOST_BROKEN:
                    warnings.append(f"{name} inside of it is not read: {problem}.")
            if size > self._most_enclosed:
                warnings.append(
                    f"At most {self._most_enclosed >> 20:,} MiB are unpacked from one file; "
                    "what follows is left out."
                )
                break
        if broken > _MOST_BROKEN:
            warnings.append(f"{broken - _MOST_BROKEN:,} more files inside of it are not read.")
        return warnings

    def _known(self, digest: bytes) -> PictureReading | None:
        found = self.ask({"type": "known", "sha256": digest.hex()}).get("picture")
        return None if found is None else frames.to_picture(found)

    def _see(self, image: bytes, source: Source) -> str:
        """What a vision model reads; the time that it takes is not the file's."""
        began = time.monotonic()
        reply = self.ask({"type": "see", "image": base64.b64encode(image).decode()})
        source.deadline += time.monotonic() - began
        if reply.get("problem") is not None:
            raise ReadingError(str(reply["problem"]))
        return str(reply["text"])

    def _check(self) -> None:
        from emily.reading.ocr.engine import self_test

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
    parser.add_argument("--file-mb", type=int, required=True)
    parser.add_argument("--ocr", help="engine of OCR; without it there is none")
    parser.add_argument("--languages", default="", help="codes, parted by commas")
    given = parser.parse_args()
    die_with_parent(given.parent)
    confine(given.memory_mb, given.file_mb)
    # What a library prints must not get between the frames: they go out by a descriptor of
    # their own, and standard output becomes standard error.
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    languages = [code for code in given.languages.split(",") if code]
    worker = _Worker(output, given.seconds, given.ocr, languages, given.threads, given.file_mb)
    while (request := receive()) is not None:
        try:
            worker.answer(request)
        except LimitExceeded as error:
            worker._fail("LimitExceeded", str(error))
        gc.collect()
        if not gc.get_freeze_count():
            gc.freeze()  # what was loaded stays: to go through it takes 4 % of the time of a PDF


def receive() -> dict[str, Any] | None:
    """The parent's next frame; ``None`` when it has closed the pipe."""
    prefix = sys.stdin.buffer.read(4)
    if len(prefix) < 4:
        return None
    return frames.decode(sys.stdin.buffer.read(frames.length(prefix)))


if __name__ == "__main__":
    main()
