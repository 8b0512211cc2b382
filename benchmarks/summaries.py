"""How long an extractive summary takes, beside the indexing of the same document.

    python -m benchmarks summaries [--characters 143000]

The document is generated; its sentences have their vectors from indexing. Analysis is the whole
of it: sentences, summary, description, one category, and the writing.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time

from benchmarks.generated import document
from emily.analysis.service import AnalysisService
from emily.indexing.language import LanguageDetector
from emily.measure.sets import SetDocument
from emily.measure.throwaway import open_throwaway
from emily.models import UseEmbedder
from emily.settings import load_settings

__all__ = ["main"]

_TIMES = 5


async def _measure(characters: int) -> None:
    settings = load_settings()
    embedder = UseEmbedder(threads=settings.threads, cache=settings.home / "cache")
    embedder.embed_queries(["."])
    text = document(characters, 1)[:characters]
    async with open_throwaway(settings, embedder) as archive:
        started = time.perf_counter()
        await archive.index([SetDocument("long", "", text)])
        indexing = time.perf_counter() - started
        detector = LanguageDetector(settings.languages, settings.home / "cache")
        service = AnalysisService(archive.settings, archive.database, embedder, detector, None)
        await service.categories.add("Garden")
        (waiting,) = await service.waiting()
        seconds, cpu = [], []
        for _ in range(_TIMES):
            started, before = time.perf_counter(), time.process_time()
            made = await service.analyse(waiting.document)
            seconds.append(time.perf_counter() - started)
            cpu.append(time.process_time() - before)
    words = len((made.summary or "").split())
    print("| characters | indexing | analysis | its CPU time | share of indexing | summary |")
    print("|---|---|---|---|---|---|")
    print(
        f"| {len(text):,} | {indexing:.2f} s | {statistics.median(seconds):.2f} s | "
        f"{statistics.median(cpu):.2f} s | {statistics.median(seconds) / indexing:.2f} | "
        f"{words} words, {len(made.spans)} sentences |"
    )


def main(arguments: list[str] | None = None) -> None:
    """Measure and print one row."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks summaries", description=__doc__)
    parser.add_argument("--characters", type=int, default=143_000)
    asyncio.run(_measure(parser.parse_args(arguments).characters))


if __name__ == "__main__":
    main()
