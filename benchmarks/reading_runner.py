"""Runs one foreign reader over files, for ``benchmarks.reading``; needs nothing of the project.

    python reading_runner.py TOOL

It runs in an environment of its own, where the tools of ``requirements-reading.txt`` are. It
prints one JSON line with the tool's version, or why there is none; then it takes one JSON line a
file (``path``, ``format``) and answers each with one (``text`` or ``problem``). Every file is
read in a process of its own under limits, which a crash or a hang ends with that file.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable
from importlib.metadata import version

SECONDS = 60
MEMORY = 3 << 30

Read = Callable[[str, str], str]


def load_markitdown() -> Read:
    """MarkItDown with what it needs for office files and PDF."""
    from markitdown import MarkItDown

    converter = MarkItDown(enable_plugins=False)
    return lambda path, _: converter.convert(path).text_content


def load_pandoc() -> Read:
    """Pandoc to GitHub's Markdown, which has pipe tables and HTML for those that are no such."""
    import pypandoc

    pypandoc.get_pandoc_path()
    names = {"html": "html", "md": "markdown", "tex": "latex"}

    def read(path: str, kind: str) -> str:
        return pypandoc.convert_file(
            path, "gfm", format=names.get(kind, kind), extra_args=["--wrap=none"]
        )

    return read


def load_unstructured() -> Read:
    """Unstructured by its parsers alone; for PDF its "fast" strategy."""
    import logging
    from importlib import import_module

    logging.disable(logging.CRITICAL)
    import spacy
    from unstructured.nlp import tokenize

    # Its language model is not on PyPI. It names the kind of a paragraph, which is not compared;
    # the text is the same without.
    blank = spacy.blank("en")
    blank.add_pipe("sentencizer")
    tokenize._load_spacy_model = lambda: blank
    modules = {"html": "html", "htm": "html", "txt": "text", "xls": "xlsx", "eml": "email"}
    known: dict[str, Callable[..., list]] = {}

    def partition(kind: str) -> Callable[..., list]:
        if kind not in known:
            name = modules.get(kind, kind)
            module = import_module(f"unstructured.partition.{name}")
            known[kind] = getattr(module, f"partition_{name}")
        return known[kind]

    for kind in ("docx", "pptx", "xlsx", "html", "pdf"):
        try:
            partition(kind)
        except ImportError as error:
            print(f"unstructured: {kind}: {error}", file=sys.stderr)

    def read(path: str, kind: str) -> str:
        options = {"strategy": "fast"} if kind == "pdf" else {}
        parts = []
        for element in partition(kind)(filename=path, languages=["eng"], **options):
            table = getattr(element.metadata, "text_as_html", None)
            parts.append(table if element.category == "Table" and table else element.text)
        return "\n\n".join(parts)

    return read


def load_pdfminer() -> Read:
    """pdfminer.six with its usual layout analysis."""
    from pdfminer.high_level import extract_text

    return lambda path, _: extract_text(path)


def load_pypdf() -> Read:
    """pypdf's plain extraction."""
    from pypdf import PdfReader

    return lambda path, _: "\n".join(page.extract_text() for page in PdfReader(path).pages)


TOOLS = {
    "markitdown": (load_markitdown, "markitdown"),
    "pandoc": (load_pandoc, "pypandoc_binary"),
    "unstructured": (load_unstructured, "unstructured"),
    "pdfminer.six": (load_pdfminer, "pdfminer.six"),
    "pypdf": (load_pypdf, "pypdf"),
}


def main(tool: str) -> int:
    """Answer requests until the input ends."""
    load, package = TOOLS[tool]
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the tools print must not come between the answers
    try:
        shown = version(package)
        read = load()
        if tool == "pandoc":
            import pypandoc

            shown = f"{pypandoc.get_pandoc_version()}"
    except Exception as error:  # noqa: BLE001 - whatever keeps it from loading is its reason
        print(json.dumps({"problem": f"{type(error).__name__}: {error}"}), file=out, flush=True)
        return 1
    print(json.dumps({"version": shown}), file=out, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        answer = apart(read, request["path"], request["format"])
        print(json.dumps(answer), file=out, flush=True)
    return 0


def apart(read: Read, path: str, kind: str) -> dict[str, str]:
    """Read a file in a child process."""
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(source)
        os.setsid()  # so that what it starts ends with it
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        try:
            answer = {"text": read(path, kind) or ""}
        except BaseException as error:  # noqa: BLE001 - a failure is a result here
            last = traceback.format_exception_only(error)[-1].strip()
            answer = {"problem": f"failed: {last[:300]}"}
        with os.fdopen(sink, "wb") as file:
            file.write(json.dumps(answer).encode())
        os._exit(0)
    os.close(sink)
    pieces, ends = [], time.monotonic() + SECONDS
    while (left := ends - time.monotonic()) > 0:
        if select.select([source], [], [], left)[0]:
            if not (piece := os.read(source, 1 << 16)):
                break
            pieces.append(piece)
    os.close(source)
    if left <= 0:
        os.killpg(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if left <= 0:
        return {"problem": f"hung: more than {SECONDS} s"}
    if not pieces:
        return {"problem": f"crashed: wait status {status}"}
    return json.loads(b"".join(pieces))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
