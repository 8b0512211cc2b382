"""How fast PDFs with a text layer are read, and how much memory a long one needs.

    python -m benchmarks reading_speed [--folder DIR] [--pages 4000] [--times 1] [--json]

Three groups are read: dense financial reports, of which a page holds some 2,400 objects and 3,000
characters; files of many makers, those of which nine pages in ten have a text layer;
and generated minutes.

Speed is told in pages for each second of processor time of one core, and as a ratio to what
PDFium alone takes to load the pages and their text, which no reader built on it can undercut; a
ratio holds on a busy or a slow machine as well. As in the worker, what Python has loaded before is
kept out of its search for garbage. Memory is the most that the worker holds
(resident) while it reads a generated PDF of so many pages, beside one of a hundredth.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import random
import tempfile
import time
from pathlib import Path
from typing import Any

import pypdfium2
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from emily.reading.limits import resident_mb
from emily.reading.pdf.document import SCANNED_BELOW, read_pdf
from emily.reading.reader import Reader
from emily.reading.source import Source

__all__ = ["main"]

_WORDS = (  # noqa: SIM905 - a list is longer
    "river stone garden letter month winter bridge lease payment house annual council report "
    "weather market table harvest archive signal distance"
).split()
_EVERY = 0.02  # seconds between two looks at the memory
_GENERATED = 300  # pages of the generated group


def main(arguments: list[str] | None = None) -> None:
    """Print both measurements."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks reading_speed")
    data = Path(__file__).parents[2] / "shared" / "data"
    data = Path(os.environ.get("EMILY_BENCH_DATA", data))
    parser.add_argument("--folder", type=Path, help="PDFs to read in place of the three groups")
    parser.add_argument("--pages", type=int, default=4000, help="of the long PDF")
    parser.add_argument(
        "--times", type=int, default=1, help="read each file so often; least counts"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    given = parser.parse_args(arguments)
    found: dict[str, Any] = {"groups": {}}
    with tempfile.TemporaryDirectory() as scratch:
        if given.folder is not None:
            folders = {given.folder.name: given.folder}
        else:
            write(Path(scratch) / "minutes.pdf", _GENERATED)
            folders = {
                "reports": data / "retrieval" / "kgrag-sec10q" / "files",
                "makers": data / "files",
                "generated": Path(scratch),
            }
        for name, folder in folders.items():
            files = [path for path in sorted(folder.rglob("*.pdf")) if has_text(path)]
            if files:
                found["groups"][name] = speed(files, max(1, given.times))
            elif not given.json:
                print(f"{name}: no PDFs in {folder} (EMILY_BENCH_DATA)")
    if given.pages:
        found["memory"] = asyncio.run(memory(given.pages))
    if given.json:
        print(json.dumps(found))
        return
    for name, group in found["groups"].items():
        print(
            f"{name}: {group['files']:.0f} PDFs, {group['pages']:.0f} pages: "
            f"{group['pages_a_second']:.1f} pages a second, {group['ratio']:.2f} times what PDFium "
            f"alone takes ({group['pdfium_pages_a_second']:.1f} pages a second)"
        )
    if given.pages:
        memory_of = found["memory"]
        print(
            f"{given.pages:,} pages: {memory_of['long_mb']:.0f} MB resident at most, "
            f"{memory_of['short_pages']:.0f} pages: {memory_of['short_mb']:.0f} MB, "
            f"ratio {memory_of['memory_ratio']:.2f}"
        )


def has_text(path: Path) -> bool:
    """Whether a PDF opens and nine of ten pages have a text layer, blank ones among the others."""
    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError:
        return False
    try:
        lengths = []
        for at in range(len(document)):
            page = document[at]
            text = page.get_textpage()
            lengths.append(len("".join(text.get_text_range().split())))
            text.close()
            page.close()
    except pypdfium2.PdfiumError:
        return False
    finally:
        document.close()
    return 10 * sum(length >= SCANNED_BELOW for length in lengths) >= 9 * max(1, len(lengths))


def speed(files: list[Path], times: int) -> dict[str, float]:
    """Pages for each second of processor time, ours and PDFium's own.

    Args:
        files: PDFs.
        times: how often each is read either way; the least time counts.
    """
    for _ in read_pdf(_source(files[0])).pages:
        break  # what is loaded with the first page is no file's
    gc.collect()
    gc.freeze()
    alone = ours = 0.0
    pages = 0
    for path in files:
        taken: tuple[list[float], list[float]] = ([], [])
        count = 0
        for _ in range(times):
            began = time.process_time()
            _alone(path)
            taken[0].append(time.process_time() - began)
            began = time.process_time()
            count = sum(1 for _ in read_pdf(_source(path)).pages)
            taken[1].append(time.process_time() - began)
        alone += min(taken[0])
        ours += min(taken[1])
        pages += count
    return {
        "files": len(files),
        "pages": pages,
        "pages_a_second": pages / ours,
        "pdfium_pages_a_second": pages / alone,
        "ratio": ours / alone,
    }


def _alone(path: Path) -> None:
    """Load the pages and their text by PDFium, and nothing else."""
    document = pypdfium2.PdfDocument(path)
    for at in range(len(document)):
        page = document[at]
        text = page.get_textpage()
        text.get_text_range()
        text.close()
        page.close()
    document.close()


def _source(path: Path) -> Source:
    return Source(path, ocr=None, deadline=time.monotonic() + 3600, seconds=3600)


async def memory(pages: int) -> dict[str, float]:
    """The most memory that a worker holds while it reads a long and a short PDF, MB."""
    short = max(1, pages // 100)
    peaks = []
    with tempfile.TemporaryDirectory() as folder:
        for count in (short, pages):
            path = Path(folder) / f"{count}.pdf"
            write(path, count)
            peaks.append(await _peak(path))
    return {
        "short_pages": short,
        "long_pages": pages,
        "short_mb": peaks[0],
        "long_mb": peaks[1],
        "memory_ratio": peaks[1] / peaks[0],
    }


async def _peak(path: Path) -> int:
    """A worker of its own, since memory that was freed is not always given back."""
    async with Reader(seconds=3600, memory_mb=3072, file_mb=512, ocr=False, threads=1) as reader:
        task = asyncio.create_task(reader.read(path))
        most = 0
        while not task.done():
            pid = reader.worker_pid
            if pid is not None:
                most = max(most, resident_mb(pid))
            await asyncio.wait([task], timeout=_EVERY)
        await task
    return most


def write(path: Path, pages: int) -> None:
    """A PDF with a header, a paragraph, a table and a page number on every page."""
    chance = random.Random(pages)
    canvas = Canvas(str(path), pagesize=A4, invariant=True)
    for number in range(1, pages + 1):
        canvas.setFont("Helvetica", 10)
        canvas.drawString(72, 800, "Minutes of the council")
        for line in range(30):
            canvas.drawString(72, 760 - 13 * line, " ".join(chance.choices(_WORDS, k=13)))
        for row in range(15):
            for column in range(4):
                text = f"{chance.randrange(100_000):,}" if column else chance.choice(_WORDS)
                canvas.drawString(72 + 110 * column, 340 - 13 * row, text)
        canvas.drawString(290, 30, str(number))
        canvas.showPage()
    canvas.save()


if __name__ == "__main__":
    main()
