"""How fast PDFs with a text layer are read, and how much memory a long one needs.

    python -m benchmarks reading_speed [--folder DIR] [--pages 4000] [--json]

Speed is told in pages for each second of processor time of one core, and as a ratio to what
PDFium alone takes to load the pages and their text, which no reader built on it can undercut; a
ratio holds on a busy or a slow machine as well. Memory is the most that the worker holds
(resident) while it reads a generated PDF of so many pages, beside one of a hundredth.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import tempfile
import time
from pathlib import Path

import pypdfium2
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from emily.reading.limits import resident_mb
from emily.reading.pdf.document import read_pdf
from emily.reading.reader import Reader
from emily.reading.source import Source

__all__ = ["main"]

_WORDS = (  # noqa: SIM905 - a list is longer
    "river stone garden letter month winter bridge lease payment house annual council report "
    "weather market table harvest archive signal distance"
).split()
_EVERY = 0.02  # seconds between two looks at the memory


def main(arguments: list[str] | None = None) -> None:
    """Print both measurements."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks reading_speed")
    data = Path(__file__).parents[2] / "shared" / "data"
    usual = Path(os.environ.get("EMILY_BENCH_DATA", data)) / "retrieval" / "kgrag-sec10q" / "files"
    parser.add_argument("--folder", type=Path, default=usual, help="PDFs to read for the speed")
    parser.add_argument("--pages", type=int, default=4000, help="of the long PDF")
    parser.add_argument("--json", action="store_true", help="print JSON")
    given = parser.parse_args(arguments)
    found: dict[str, float] = {}
    files = sorted(given.folder.rglob("*.pdf")) if given.folder.is_dir() else []
    if files:
        found |= speed(files)
    if given.pages:
        found |= asyncio.run(memory(given.pages))
    if given.json:
        print(json.dumps(found))
        return
    if files:
        print(
            f"{found['files']:.0f} PDFs, {found['pages']:.0f} pages: {found['pages_a_second']:.1f} "
            f"pages a second, {found['ratio']:.2f} times what PDFium alone takes "
            f"({found['pdfium_pages_a_second']:.1f} pages a second)"
        )
    else:
        print(f"no PDFs in {given.folder} (EMILY_BENCH_DATA)")
    if given.pages:
        print(
            f"{given.pages:,} pages: {found['long_mb']:.0f} MB resident at most, "
            f"{found['short_pages']:.0f} pages: {found['short_mb']:.0f} MB, "
            f"ratio {found['memory_ratio']:.2f}"
        )


def speed(files: list[Path]) -> dict[str, float]:
    """Pages for each second of processor time, ours and PDFium's own."""
    alone = ours = 0.0
    pages = 0
    for path in files:
        began = time.process_time()
        document = pypdfium2.PdfDocument(path)
        for at in range(len(document)):
            page = document[at]
            text = page.get_textpage()
            text.get_text_range()
            text.close()
            page.close()
        document.close()
        alone += time.process_time() - began
        began = time.process_time()
        source = Source(path, ocr=None, deadline=time.monotonic() + 3600, seconds=3600)
        pages += sum(1 for _ in read_pdf(source).pages)
        ours += time.process_time() - began
    return {
        "files": len(files),
        "pages": pages,
        "pages_a_second": pages / ours,
        "pdfium_pages_a_second": pages / alone,
        "ratio": ours / alone,
    }


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
