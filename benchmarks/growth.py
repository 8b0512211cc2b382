"""How an archive behaves as it grows: speed of adding and searching, memory, disk, recall.

    python -m benchmarks growth [--sizes 1000,10000,50000] [--sets lohelp-x,scifact] [--home FOLDER]

Real documents first, as far as they go; beyond, documents recombined of their sentences (see
``benchmarks.recombined``). With ``--home``, the real documents are those of a home that is there
already; it is grown in place, so give a copy. Times of a shared machine say little, so each is
given beside that of the embedder alone in the same run, and as CPU time of this process.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil

from benchmarks.bench import Bench, open_bench, percentile
from benchmarks.public_data import load_set
from benchmarks.recombined import real_sentences, recombined
from emily.indexing.archive import Archive
from emily.indexing.language import LanguageDetector
from emily.indexing.prepare import Preparer
from emily.models import UseEmbedder
from emily.retrieval.arms import all_terms, archive_statistics, stored
from emily.retrieval.mirror import Mirror, Mirrored
from emily.retrieval.query import expand, parse, understand
from emily.retrieval.skipping import best_chunks
from emily.retrieval.vocabulary import affinity
from emily.settings import load_settings
from emily.store import Database, EmbeddedServer

__all__ = ["main"]

SEED = 20_241
ARM = 20
MEMORY_MB = 4096  # enough for every size, so that what is kept in memory is what is measured
_COUNTS = """
SELECT (SELECT count(*) FROM chunk) AS chunks, (SELECT count(*) FROM document) AS documents,
       (SELECT count(*) FROM chunk_vector) AS parts, (SELECT count(*) FROM word) AS words,
       pg_database_size(current_database()) AS bytes,
       pg_total_relation_size('posting') AS posting_bytes
"""


def main(arguments: list[str] | None = None) -> None:
    """Measure and print Markdown tables; ``--out`` writes all figures as JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks growth", description=__doc__)
    parser.add_argument("--sizes", default="1000,10000,50000,100000,300000", help="chunks")
    parser.add_argument("--sets", default="lohelp-x,scifact,squadx-mixed")
    parser.add_argument("--home", type=Path, help="a home of real documents; it is grown in place")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--store", type=int, default=20, help="questions asked without memory")
    parser.add_argument("--hnsw", action="store_true", help="also build an HNSW index, and drop it")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(arguments)
    found = asyncio.run(_measure(options))
    if options.out:
        options.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(_tables(found))


async def _measure(options: argparse.Namespace) -> list[dict[str, Any]]:
    names = options.sets.split(",")
    asked = [question.text for name in names for question in load_set(name).questions]
    step = max(1, len(asked) // options.questions)
    questions = asked[::step][: options.questions]
    results = []
    async with _archive(options.home) as bench:
        if options.home is None:
            documents = [document for name in names for document in load_set(name).documents]
        else:
            documents = []
        made = None
        for size in (int(text) for text in options.sizes.split(",")):
            chunks = (await _counts(bench))["chunks"]
            while documents and chunks < size:
                share, documents = documents[:200], documents[200:]
                await bench.index(share)
                chunks = (await _counts(bench))["chunks"]
            real = made is None
            rates: list[float] = []
            if chunks < size:
                if made is None:
                    dimension = bench.embedder.identity.dimension
                    languages = bench.settings.languages
                    pool = await real_sentences(bench.database, dimension, languages, 3_000, SEED)
                    made = recombined(pool, SEED)
                    print(f"{len(pool):,} sentences to recombine", flush=True)
                real = False
                while chunks < size:
                    document = next(made)
                    started = time.perf_counter()
                    await bench.archive.write(
                        document.file, document.text, document.digest, document.prepared
                    )
                    added = len(document.prepared.chunks)
                    rates.append((time.perf_counter() - started) / added)
                    chunks += added
            async with bench.database.transaction() as connection:
                await connection.execute("ANALYZE")
            row = {"real": real, "write_ms_a_chunk": 1000 * statistics.median(rates or [0.0])}
            row |= await _searches(bench, questions, options)
            if options.hnsw:
                row |= await _hnsw(bench, questions)
            results.append(row)
            print(json.dumps(row), flush=True)
    return results


async def _searches(
    bench: Bench, questions: Sequence[str], options: argparse.Namespace
) -> dict[str, Any]:
    """Warm searches in memory, and some that ask the store."""
    counts = await _counts(bench)
    process = psutil.Process()
    retriever = bench.retriever(search_memory_mb=MEMORY_MB)
    warm, timed = questions[: len(questions) // 3], questions[len(questions) // 3 :]
    await retriever.search(warm[0])
    started = time.perf_counter()
    await retriever.search(warm[1])  # loads the index into memory
    loading = time.perf_counter() - started
    for text in warm[2:]:
        await retriever.search(text)
    wall, cpu, alone, alone_cpu = [], [], [], []
    for text in timed:
        started, spent = time.perf_counter(), time.process_time()
        answer = await retriever.search(text)
        wall.append(1000 * (time.perf_counter() - started))
        cpu.append(1000 * (time.process_time() - spent))
        assert answer.trace["mirror"]["in_memory"]
        started, spent = time.perf_counter(), time.process_time()
        bench.embedder.embed_queries([text])
        alone.append(1000 * (time.perf_counter() - started))
        alone_cpu.append(1000 * (time.process_time() - spent))
    resident = process.memory_info().rss
    asking = bench.retriever(search_memory_mb=0)
    without = []
    for text in timed[: options.store + 3]:
        started = time.perf_counter()
        await asking.search(text)
        without.append(1000 * (time.perf_counter() - started))
    arms = await _arms(bench, timed)
    return {
        **counts,
        "load_s": loading,
        "median_ms": statistics.median(wall),
        "p95_ms": percentile(wall, 0.95),
        "cpu_median_ms": statistics.median(cpu),
        "cpu_p95_ms": percentile(cpu, 0.95),
        "embedder_ms": statistics.median(alone),
        "embedder_cpu_ms": statistics.median(alone_cpu),
        "store_median_ms": statistics.median(without[3:]),
        "store_p95_ms": percentile(without[3:], 0.95),
        "resident_mb": resident / 2**20,
        **arms,
    }


async def _arms(bench: Bench, questions: Sequence[str]) -> dict[str, Any]:
    """Both arms alone: exact and by signs, with and without leaving out; CPU time."""
    mirrored = await _mirrored(bench)
    table = mirrored.table
    times: dict[str, list[float]] = {"exact": [], "signs": [], "skipping": [], "adding": []}
    shared = looked_at = held = 0
    vocabulary = bench.retriever(search_memory_mb=0)._vocabulary
    words = await vocabulary.at(table.revision)
    for text in questions:
        query = parse(text, bench.settings.languages, bench.languages.detect(text)[0])
        meaning = understand(query, bench.embedder)
        vector = stored(meaning.vector)
        found = {}
        for name in ("exact", "signs"):
            spent = time.process_time()
            rows, _ = table.vectors.nearest(vector, ARM, by_signs=name == "signs")
            times[name].append(1000 * (time.process_time() - spent))
            found[name] = set(rows.tolist())
        shared += len(found["exact"] & found["signs"])
        groups = expand(query, affinity(words, query.words, meaning.word_vectors))
        statistics_ = await archive_statistics(bench.database, groups, mirrored)
        lists = await mirrored.postings.of(all_terms(groups), table)
        tops = {}
        for name in ("skipping", "adding"):
            spent = time.process_time()
            tops[name] = best_chunks(
                groups, lists, statistics_, table, ARM, skip=name == "skipping"
            )
            times[name].append(1000 * (time.process_time() - spent))
        assert tops["skipping"].rows == tops["adding"].rows
        looked_at += tops["skipping"].looked_at
        held += tops["adding"].held
    kept = [table.ids, *table.columns.values(), table.languages, table.vectors.signs]
    kept += [*table.vectors.vectors._arrays(), table.vectors.starts]
    return {
        "mirror_mb": sum(array.nbytes for array in kept) / 2**20,
        "signs_recall": shared / (ARM * len(questions)),
        "postings_looked_at": looked_at / max(1, held),
        **{f"{name}_cpu_ms": statistics.median(values) for name, values in times.items()},
        **{f"{name}_cpu_p95_ms": percentile(values, 0.95) for name, values in times.items()},
    }


async def _hnsw(bench: Bench, questions: Sequence[str]) -> dict[str, Any]:
    """An HNSW index of the store's: time to build, size, time of a query, recall at 20 parts."""
    dimension = bench.embedder.identity.dimension
    vectors = bench.embedder.embed_queries(list(questions))
    column = f"(vector::halfvec({dimension}))"
    near = (
        f"SELECT chunk_id FROM chunk_vector ORDER BY {column} <#> %s::halfvec({dimension}) "
        f"LIMIT {ARM}"
    )

    async def ask(setting: str) -> tuple[list[list[int]], list[float]]:
        found, times = [], []
        async with bench.database.transaction() as connection:
            await connection.execute(setting)
            for vector in vectors:
                given = (str(vector.tolist()),)
                started = time.perf_counter()
                rows = await (await connection.execute(near, given)).fetchall()
                times.append(1000 * (time.perf_counter() - started))
                found.append([row["chunk_id"] for row in rows])
        return found, times

    exact, exact_times = await ask("SET LOCAL enable_indexscan = off")
    started = time.perf_counter()
    async with bench.database.transaction() as connection:
        await connection.execute("SET LOCAL maintenance_work_mem = '1GB'")
        await connection.execute(
            f"CREATE INDEX growth_hnsw ON chunk_vector USING hnsw ({column} halfvec_ip_ops)"
        )
        row = await (
            await connection.execute("SELECT pg_relation_size('growth_hnsw') AS bytes")
        ).fetchone()
    building = time.perf_counter() - started
    result: dict[str, Any] = {
        "hnsw_build_s": building,
        "hnsw_bytes": row["bytes"] if row else 0,
        "store_exact_ms": statistics.median(exact_times),
    }
    for ef in (40, 100, 200):
        found, times = await ask(f"SET LOCAL hnsw.ef_search = {ef}")
        same = sum(len(set(a) & set(b)) for a, b in zip(exact, found, strict=True))
        result[f"hnsw_recall_{ef}"] = same / sum(len(set(a)) for a in exact)
        result[f"hnsw_ms_{ef}"] = statistics.median(times)
    async with bench.database.transaction() as connection:
        await connection.execute("DROP INDEX growth_hnsw")
    return result


async def _mirrored(bench: Bench) -> Mirrored:
    mirror = Mirror(bench.database, bench.embedder.identity.dimension, MEMORY_MB)
    await mirror.at(0)
    row = await bench.database.fetch_one("revision_number")
    assert row is not None
    found = await mirror.at(row["number"])
    assert found is not None
    return found


async def _counts(bench: Bench) -> dict[str, Any]:
    async with bench.database.transaction() as connection:
        row = await (await connection.execute(_COUNTS)).fetchone()
    assert row is not None
    return dict(row)


@asynccontextmanager
async def _archive(home: Path | None) -> AsyncIterator[Bench]:
    """A throw-away archive, or the one of a home."""
    if home is None:
        async with open_bench() as bench:
            yield bench
        return
    server = EmbeddedServer(home, options={"fsync": "off", "synchronous_commit": "off"})
    await asyncio.to_thread(server.start)
    try:
        settings = load_settings(home)
        async with Database.open(settings) as database:
            model = UseEmbedder(threads=settings.threads, cache=home / "cache")
            languages = LanguageDetector(settings.languages)
            preparer = Preparer(model, languages, settings)
            archive = Archive(database, model.identity, preparer.fingerprint, model.embed_words)
            yield Bench(settings, database, model, languages, preparer, archive)
    finally:
        await asyncio.to_thread(server.stop)


def _tables(results: Sequence[dict[str, Any]]) -> str:
    """What docs/benchmarks.md shows."""
    lines = [
        "| chunks | documents | warm search, median / 95 % | of the embedder alone | CPU of this "
        "process, median / 95 % | asking the store, median / 95 % | memory | disk |",
        "|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for row in results:
        lines.append(
            f"| {row['chunks']:,}{'' if row['real'] else ' (recombined)'} | {row['documents']:,} "
            f"| {row['median_ms']:.0f} / {row['p95_ms']:.0f} ms "
            f"| {row['median_ms'] / row['embedder_ms']:.1f}× of {row['embedder_ms']:.1f} ms "
            f"| {row['cpu_median_ms']:.0f} / {row['cpu_p95_ms']:.0f} ms, "
            f"{row['cpu_median_ms'] / row['embedder_cpu_ms']:.1f}× of "
            f"{row['embedder_cpu_ms']:.1f} "
            f"| {row['store_median_ms']:.0f} / {row['store_p95_ms']:.0f} ms "
            f"| {row['resident_mb']:.0f} MiB, index {row['mirror_mb']:.0f} "
            f"| {row['bytes'] / 2**20:,.0f} MiB, postings {row['posting_bytes'] / 2**20:,.0f} |"
        )
    lines += [
        "",
        "| chunks | parts | exact | by signs | recall | adding up all postings | skipping | looked "
        "at | load | write a chunk |",
        "|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for row in results:
        lines.append(
            f"| {row['chunks']:,} | {row['parts']:,} | {row['exact_cpu_ms']:.1f} ms "
            f"| {row['signs_cpu_ms']:.1f} ms | {row['signs_recall']:.3f} "
            f"| {row['adding_cpu_ms']:.2f} / {row['adding_cpu_p95_ms']:.1f} ms "
            f"| {row['skipping_cpu_ms']:.2f} / {row['skipping_cpu_p95_ms']:.1f} ms "
            f"| {row['postings_looked_at']:.0%} | {row['load_s']:.1f} s "
            f"| {row['write_ms_a_chunk']:.1f} ms |"
        )
    with_hnsw = [row for row in results if "hnsw_build_s" in row]
    if with_hnsw:
        lines += [
            "",
            "| chunks | exact in the store | HNSW build | size | ef 40 | ef 100 | ef 200 |",
            "|--:|--:|--:|--:|--:|--:|--:|",
        ]
    for row in with_hnsw:
        searches = " | ".join(
            f"{row[f'hnsw_ms_{ef}']:.1f} ms, {row[f'hnsw_recall_{ef}']:.3f}"
            for ef in (40, 100, 200)
        )
        lines.append(
            f"| {row['chunks']:,} | {row['store_exact_ms']:.0f} ms | {row['hnsw_build_s']:.0f} s "
            f"| {row['hnsw_bytes'] / 2**20:,.0f} MiB | {searches} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
