"""The readers that are compared: Emily, and other projects' in an environment of their own."""

from __future__ import annotations

import csv
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from emily.errors import ReadingError
from emily.reading.pages import Page
from emily.reading.reader import Reader

__all__ = ["READS", "Emily", "Given", "Tool", "started"]

READS = {
    "markitdown": frozenset(
        {"docx", "pptx", "xlsx", "xls", "html", "pdf", "csv", "msg", "epub", "ipynb", "xml",
         "json", "txt", "md"}
    ),
    "pandoc": frozenset(
        {"docx", "pptx", "xlsx", "odt", "rtf", "epub", "html", "md", "csv", "ipynb"}
    ),
    "unstructured": frozenset(
        {"docx", "pptx", "xlsx", "xls", "odt", "rtf", "epub", "html", "pdf", "eml", "msg", "csv",
         "md", "xml", "txt"}
    ),
    "pdfminer.six": frozenset({"pdf"}),
    "pypdf": frozenset({"pdf"}),
}  # fmt: skip
"""The formats that each tool says it reads with what is installed (no LibreOffice, no OCR)."""

_EDITION = 1  # raised when the runner makes something else of a file, so that all is read anew
_RUNNER = Path(__file__).with_name("reading_runner.py")
SECONDS, MEMORY_MB, FILE_MB = 60, 3072, 512


@dataclass(frozen=True, slots=True)
class Given:
    """What a reader gave for a file: its text, or ``None`` and why.

    Attributes:
        text: with tables as Markdown or HTML.
        problem: why there is none.
        cells: of tables that are marked in the text by their lines, as CSV is.
    """

    text: str | None
    problem: str | None = None
    cells: tuple[str, ...] = ()


@dataclass(slots=True)
class Tool:
    """Another project's reader, run by ``reading_runner.py``; its results are kept.

    Args:
        name: a key of ``READS``.
        python: of the environment that it is installed in.
        cache: folder of kept results, by the file's content, the tool and its version.
    """

    name: str
    python: Path
    cache: Path
    version: str = ""
    problem: str | None = None
    _process: subprocess.Popen[str] | None = field(default=None, repr=False)

    def start(self) -> None:
        """Load the tool; ``problem`` says why it is not there."""
        self._process = subprocess.Popen(
            [str(self.python), str(_RUNNER), self.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
        )
        answer = self._answer()
        self.version = answer.get("version", "")
        self.problem = answer.get("problem")

    def stop(self) -> None:
        """End the tool's process."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            self._process.wait(timeout=SECONDS + 10)

    def read(self, path: Path, kind: str) -> Given:
        """Read a file, or take what it gave before.

        Args:
            path: the file.
            kind: its format, one of those that the tool reads.
        """
        digest = hashlib.sha256(path.read_bytes()).hexdigest()[:24]
        suffix = path.suffix.lower()[1:]
        kept = (
            self.cache / f"{self.name}-{self.version}-{_EDITION}" / f"{digest}-{kind}-{suffix}.json"
        )
        if not kept.is_file():
            sent = suffix if kind in ("csv", "html") and suffix in ("tsv", "htm") else kind
            answer = self._ask({"path": str(path), "format": "html" if sent == "htm" else sent})
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(json.dumps(answer), encoding="utf-8")
        answer = json.loads(kept.read_text(encoding="utf-8"))
        return Given(answer.get("text"), answer.get("problem"))

    def _ask(self, request: dict[str, str]) -> dict[str, Any]:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process is not None
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            return {"problem": f"{self.name} ended: exit code {self._process.wait()}"}
        answer: dict[str, Any] = json.loads(line)
        return answer


class Emily:
    """This project's reader, in its worker and under the same limits.

    Args:
        ocr: whether pictures are read.
    """

    name = "emily"

    def __init__(self, *, ocr: bool) -> None:
        self._reader = Reader(
            seconds=SECONDS, memory_mb=MEMORY_MB, file_mb=FILE_MB, ocr=ocr, threads=1
        )

    async def read(self, path: Path) -> Given:
        """Read a file: its pages, one after the other."""
        try:
            reading = await self._reader.read(path)
        except ReadingError as error:
            return Given(None, f"{type(error).__name__}: {error}")
        self._reader.release(reading)
        cells: tuple[str, ...] = ()
        if reading.kind == "csv":
            cells = tuple(cell for page in reading.pages for cell in _marked(page))
        return Given("\n\n".join(page.text for page in reading.pages), cells=cells)

    async def close(self) -> None:
        """End the worker."""
        await self._reader.close()


def _marked(page: Page) -> Iterator[str]:
    """The cells of the tables that a page of CSV marks by their lines."""
    lines = page.text.split("\n")
    for table in page.tables:
        spans = [*([table.header] if table.header else []), *table.rows]
        rows = ["\n".join(lines[first : last + 1]) for first, last in spans]
        mark = max(",;\t|", key="".join(rows).count)
        for row in csv.reader(rows, delimiter=mark):
            yield from row


def started(names: Iterable[str], environment: Path | None, cache: Path) -> list[Tool]:
    """The tools that are there; those that are not are named on standard error.

    Args:
        names: keys of ``READS``.
        environment: the virtual environment that they are installed in; ``None`` for no tools.
        cache: as in ``Tool``.
    """
    if environment is None:
        return []
    ready = []
    for name in names:
        tool = Tool(name, environment / "bin" / "python", cache)
        tool.start()
        if tool.problem:
            print(f"{name} is left out: {tool.problem}", file=sys.stderr)
        else:
            ready.append(tool)
    return ready
