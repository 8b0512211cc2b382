"""Both arms in memory over archives too large to index for a measurement.

    python -m benchmarks arms_growth [--sizes 10000,100000,300000] [--set lohelp-x]

The real set is indexed. Then, for each size, every term stands in the same share of chunks as in
it (so that frequencies stay as they are), at random places, and parts are normalised sums of two
real ones. What is measured is the CPU time of the two arms, and what is lost by looking at signs
first; nothing else of a search grows with the archive.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bench import Bench, open_set, percentile
from benchmarks.growth import ARM, SEED, _archive, _mirrored
from benchmarks.public_data import load_set
from emily.models import UseEmbedder
from emily.retrieval.arms import all_terms, archive_statistics, stored
from emily.retrieval.bm25 import K1, B, Statistics
from emily.retrieval.chunk_table import ChunkTable
from emily.retrieval.mirror import Mirrored
from emily.retrieval.part_vectors import PartMatrix
from emily.retrieval.postings import PostingList
from emily.retrieval.query import expand, parse, understand
from emily.retrieval.skipping import best_chunks
from emily.retrieval.vocabulary import affinity

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> None:
    """Measure and print a Markdown table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks arms_growth", description=__doc__)
    parser.add_argument("--sizes", default="10000,100000,300000", help="chunks")
    parser.add_argument("--set", default="lohelp-x")
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--home", type=Path, help="a home that holds the set already")
    options = parser.parse_args(arguments)
    rows = asyncio.run(_measure(options))
    print(
        "| chunks | parts | exact, median / 95 % | signs first | recall of 20 | all postings added "
        "up | skipping | looked at |\n|--:|--:|--:|--:|--:|--:|--:|--:|"
    )
    for row in rows:
        print(
            f"| {row['chunks']:,} | {row['parts']:,} "
            + "".join(
                f"| {row[name][0]:.1f} / {row[name][1]:.1f} ms " for name in ("exact", "signs")
            )
            + f"| {row['recall']:.3f} "
            + "".join(
                f"| {row[name][0]:.1f} / {row[name][1]:.1f} ms " for name in ("adding", "skipping")
            )
            + f"| {row['looked_at']:.0%} |"
        )


async def _measure(options: argparse.Namespace) -> list[dict[str, Any]]:
    chosen = load_set(options.set)
    step = max(1, len(chosen.questions) // options.questions)
    questions = [item.text for item in chosen.questions[::step]][: options.questions]
    archive = _archive(options.home) if options.home else open_set(chosen, UseEmbedder(threads=2))
    async with archive as bench:
        mirrored = await _mirrored(bench)
        asked = [await _asked(bench, mirrored, text) for text in questions]
    rows = []
    for size in (int(text) for text in options.sizes.split(",")):
        rows.append(_arms(mirrored.table, asked, size))
        print(json.dumps(rows[-1]), flush=True)
    return rows


async def _asked(bench: Bench, mirrored: Mirrored, text: str) -> tuple[Any, ...]:
    """The vector, groups, posting lists and statistics of a question."""
    query = parse(text, bench.settings.languages, bench.languages.detect(text)[0])
    meaning = understand(query, bench.embedder)
    words = await bench.retriever(search_memory_mb=0)._vocabulary.at(mirrored.table.revision)
    groups = expand(query, affinity(words, query.words, meaning.word_vectors))
    found = await archive_statistics(bench.database, groups, mirrored)
    lists = await mirrored.postings.of(all_terms(groups), mirrored.table)
    return stored(meaning.vector), groups, lists, found


def _arms(real: ChunkTable, asked: list[tuple[Any, ...]], size: int) -> dict[str, Any]:
    chance = np.random.default_rng(SEED)
    source = chance.integers(0, len(real), size)
    lengths = real.lengths[source]
    counts = np.diff(real.vectors.starts)[source]
    vectors = PartMatrix.empty(real.vectors.dimension).grown(int(counts.sum()))
    for first in range(0, int(counts.sum()), 10_000):
        some = min(10_000, int(counts.sum()) - first)
        one, other = chance.integers(0, len(real.vectors), (2, some))
        sums = real.vectors.vectors.floats(one) + real.vectors.vectors.floats(other)
        sums /= np.linalg.norm(sums, axis=1, keepdims=True)
        vectors.put(first, sums.astype(np.float16))
    table = ChunkTable(
        0, np.arange(size), {"terms": lengths}, np.empty(size, object), {},
        float(lengths.mean()), vectors.counted(counts), size,
    )  # fmt: skip
    damping = (K1 * (1 - B + B * lengths / table.average)).astype(np.float32)
    known: dict[str, PostingList] = {}

    def larger(term: str, old: PostingList) -> PostingList:
        if term not in known:
            held = min(size, round(len(old) * size / len(real)))
            rows = np.sort(chance.choice(size, held, replace=False)).astype(np.int32)
            often: Any = old.frequencies[chance.integers(0, max(1, len(old)), held)] if held else []
            frequencies = np.asarray(often, np.int16)
            gains = (frequencies * (K1 + 1) / (frequencies + damping[rows])).astype(np.float32)
            known[term] = PostingList(rows, frequencies, gains, float(gains.max(initial=0.0)))
        return known[term]

    times: dict[str, list[float]] = {name: [] for name in ("exact", "signs", "adding", "skipping")}
    shared = looked_at = held = 0
    for vector, groups, old, _ in asked:
        lists = {term: larger(term, found) for term, found in old.items()}
        frequencies = {term: len(found) for term, found in lists.items() if len(found)}
        known_statistics = Statistics(size, table.average, frequencies)
        tops = {}
        for name in ("adding", "skipping"):
            spent = time.process_time()
            tops[name] = best_chunks(
                groups, lists, known_statistics, table, ARM, skip=name == "skipping"
            )
            times[name].append(1000 * (time.process_time() - spent))
        assert tops["adding"].rows == tops["skipping"].rows
        looked_at += tops["skipping"].looked_at
        held += tops["skipping"].held
        near = {}
        for name in ("exact", "signs"):
            spent = time.process_time()
            rows, _ = table.vectors.nearest(vector, ARM, by_signs=name == "signs")
            times[name].append(1000 * (time.process_time() - spent))
            near[name] = set(rows.tolist())
        shared += len(near["exact"] & near["signs"])
    return {
        "chunks": size,
        "parts": len(table.vectors),
        "recall": shared / (ARM * len(asked)),
        "looked_at": looked_at / max(1, held),
        **{
            name: (statistics.median(values), percentile(values, 0.95))
            for name, values in times.items()
        },
    }


if __name__ == "__main__":
    main()
