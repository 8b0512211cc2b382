"""How long a document of 143,000 characters takes from ``add`` until it is found.

    python -m benchmarks index_speed [--runs 3] [--characters 143000]

The model is warm, the store is as safe as an owner's. Each run adds another document of the
same length to the same archive; the table shows the median of the runs.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from benchmarks.bench import throwaway_home
from benchmarks.generated import document
from emily import Brain
from emily.indexing import prepare
from emily.indexing.archive import Archive
from emily.indexing.chunking import chunk
from emily.indexing.language import LanguageDetector
from emily.indexing.parts import split_into_parts
from emily.indexing.text import DocumentText
from emily.models import UseEmbedder
from emily.models.protocols import Matrix, PartVectors
from emily.reading.pages import Page, Reading
from emily.reading.reader import Reader

__all__ = ["main"]

STEPS = ("read", "chunk", "embed", "words", "write", "other")
BESIDE = ("language", "terms")
"""Steps that run on another thread while parts are embedded."""


class _Stopwatch(UseEmbedder):
    """The embedder, with the time that is spent in it."""

    def __init__(self, *, threads: int) -> None:
        super().__init__(threads=threads)
        self.seconds: dict[str, float] = defaultdict(float)

    def embed_queries(self, queries: Sequence[str]) -> Matrix:
        with self._spent("embed"):
            return super().embed_queries(queries)

    def embed_parts(self, parts: Sequence[Sequence[str]]) -> list[PartVectors]:
        with self._spent("embed"):
            return super().embed_parts(parts)

    def embed_words(self, words: Sequence[str]) -> Matrix:
        with self._spent("words"):
            return super().embed_words(words)

    @contextmanager
    def _spent(self, step: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[step] += time.perf_counter() - started


def main(arguments: list[str] | None = None) -> None:
    """Measure and print a Markdown table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks index_speed", description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--characters", type=int, default=143_000)
    options = parser.parse_args(arguments)
    runs, alone = asyncio.run(_measure(options.runs, options.characters))
    total = statistics.median(run["total"] for run in runs)
    print(f"\n{options.characters:,} characters, median of {options.runs} runs\n")
    print("| step | seconds | of the whole |\n|---|--:|--:|")
    for step in STEPS:
        seconds = statistics.median(run[step] for run in runs)
        print(f"| {step} | {seconds:.2f} | {seconds / total:.0%} |")
    for step in BESIDE:
        seconds = statistics.median(run[step] for run in runs)
        print(f"| {step}, beside embed | {seconds:.2f} | |")
    print(f"| **from `add` to found** | **{total:.2f}** | |")
    print(f"| the embedder alone on the same text | {alone:.2f} | {alone / total:.0%} |")
    print(f"\nFrom `add` to found takes {total / alone:.2f} times the embedder alone.")


async def _measure(count: int, characters: int) -> tuple[list[dict[str, float]], float]:
    """The seconds of every run by step, and the embedder's own on one of the texts."""
    runs = []
    async with throwaway_home() as settings:
        embedder = _Stopwatch(threads=settings.threads)
        async with Brain.open(settings, embedder=embedder) as brain:
            folder = settings.home.parent
            warm = folder / "warm.txt"
            warm.write_text(document(3_000, seed=0), encoding="utf-8")
            await brain.add([warm])
            await brain.search("anything")
            for seed in range(1, count + 1):
                path = folder / f"document-{seed}.txt"
                path.write_text(document(characters, seed), encoding="utf-8")
                runs.append(await _run(brain, embedder, path))
            alone = [_embedder_alone(embedder, document(characters, seed=1)) for _ in range(count)]
    return runs, statistics.median(alone)


async def _run(brain: Brain, embedder: _Stopwatch, path: Path) -> dict[str, float]:
    seconds = embedder.seconds
    seconds.clear()
    with ExitStack() as stack:
        for owner, name, step in (
            (prepare, "chunk", "chunk"),
            (prepare, "analyse", "terms"),
            (prepare, "words", "terms"),
            (LanguageDetector, "document_language", "language"),
            (LanguageDetector, "chunk_language", "language"),
            (Reader, "read", "read"),
            (Archive, "write", "write"),
        ):
            stack.enter_context(_timed(owner, name, step, seconds))
        started = time.perf_counter()
        report = await brain.add([path])
        seconds["total"] = time.perf_counter() - started
    seconds["write"] -= seconds["words"]  # new words are embedded as a part of writing
    seconds["other"] = seconds["total"] - sum(seconds[step] for step in STEPS)
    measured = dict(seconds)
    sentence = path.read_text(encoding="utf-8").split(". ")[-2]
    found = await brain.search(sentence)
    if report.counts() != {"added": 1} or path.name not in [
        result.document.name for result in found.results
    ]:
        raise SystemExit(f"{path.name} is not found after it was added: {report}")
    return measured


@contextmanager
def _timed(owner: Any, name: str, step: str, seconds: dict[str, float]) -> Iterator[None]:
    """Add up the time that is spent inside a function; none of those chosen calls another."""
    original: Callable[..., Any] = getattr(owner, name)

    def measured(*values: Any, **named: Any) -> Any:
        started = time.perf_counter()
        try:
            return original(*values, **named)
        finally:
            seconds[step] += time.perf_counter() - started

    async def measured_later(*values: Any, **named: Any) -> Any:
        started = time.perf_counter()
        try:
            return await original(*values, **named)
        finally:
            seconds[step] += time.perf_counter() - started

    setattr(owner, name, measured_later if asyncio.iscoroutinefunction(original) else measured)
    try:
        yield
    finally:
        setattr(owner, name, original)


def _embedder_alone(embedder: UseEmbedder, text: str) -> float:
    """Seconds for the vectors of a text's parts and sentences, all at once."""
    whole = DocumentText.from_reading(Reading("txt", (Page(1, text),), "lines"))
    chunks = chunk(whole, embedder, limit=512, overlap=50)
    parts = [
        part for item in chunks for part in split_into_parts(whole.text[item.start : item.end])
    ]
    started = time.perf_counter()
    embedder.embed_parts(parts)
    return time.perf_counter() - started
