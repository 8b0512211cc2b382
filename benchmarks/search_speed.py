"""How long a search of the example archive takes, warm and as a fresh process.

    python -m benchmarks search_speed [--rounds 3] [--home FOLDER]

Warm: every question of the example archive, several times, in one process. Fresh: the program
``emily search`` from start to end, with the database server running.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from contextlib import AsyncExitStack
from pathlib import Path

from examples.archive.questions import load
from examples.demo import FILES

from benchmarks.bench import percentile, throwaway_home
from emily import Brain
from emily.models import UseEmbedder
from emily.settings import load_settings

__all__ = ["main"]

FRESH = 5


def main(arguments: list[str] | None = None) -> None:
    """Measure and print a Markdown table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks search_speed", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--home", type=Path, help="a home that holds the example files already")
    options = parser.parse_args(arguments)
    stages, whole, fresh, alone = asyncio.run(_measure(options.rounds, options.home))
    print(f"\n{len(whole)} warm searches, {len(fresh)} fresh processes; milliseconds\n")
    print("| stage | median | 95 % at most |\n|---|--:|--:|")
    for name, values in stages.items():
        print(f"| {name} | {statistics.median(values):.2f} | {percentile(values, 0.95):.2f} |")
    median = statistics.median(whole)
    print(f"| **a search, warm** | **{median:.1f}** | **{percentile(whole, 0.95):.1f}** |")
    print(f"| `emily search`, a fresh process | {statistics.median(fresh):.0f} | |")
    print(f"| the embedder alone on a question | {alone:.2f} | |")
    print(f"\nA warm search takes {median / alone:.1f} times the embedder alone.")


async def _measure(
    rounds: int, home: Path | None
) -> tuple[dict[str, list[float]], list[float], list[float], float]:
    answerable, unanswerable = load()
    texts = [*(item.text for item in answerable), *(item.text for item in unanswerable)]
    stages: dict[str, list[float]] = defaultdict(list)
    whole: list[float] = []
    async with AsyncExitStack() as stack:
        if home is None:
            settings = await stack.enter_async_context(throwaway_home())
        else:
            settings = load_settings(home)
        embedder = UseEmbedder(threads=settings.threads)
        brain = await stack.enter_async_context(Brain.open(settings, embedder=embedder))
        if home is None:
            await brain.add([FILES])
        for text in texts[:5]:
            await brain.search(text)
        for _ in range(rounds):
            for text in texts:
                started = time.perf_counter()
                answer = await brain.search(text)
                whole.append(_milliseconds(started))
                for name, value in answer.timings_ms.items():
                    stages[name].append(value)
        alone = []
        for text in texts:
            started = time.perf_counter()
            embedder.embed_queries([text])
            alone.append(_milliseconds(started))
        fresh = [
            await asyncio.to_thread(_fresh, settings.home, text)
            for text in texts[: 10 * FRESH : 10]
        ]
    return stages, whole, fresh, statistics.median(alone)


def _fresh(home: Path, text: str) -> float:
    started = time.perf_counter()
    command = [sys.executable, "-m", "emily.cli", "--home", str(home), "search", text]
    subprocess.run(command, check=True, capture_output=True)
    return _milliseconds(started)


def _milliseconds(started: float) -> float:
    return (time.perf_counter() - started) * 1000
