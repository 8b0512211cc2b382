"""Side by side with other projects: quality, indexing, search and memory, in one run.

    python -m benchmarks peers --tools /path/to/venv            # the samples of this table
    python -m benchmarks peers --tools VENV --sets scifact --json FILE --into docs/benchmarks.md

Every project gets the same documents and questions, the same embedder (Emily's, on one thread)
and runs in a process of its own, one after the other: LlamaIndex, Haystack, txtai and LangChain
with pgvector, each set up as its documentation shows a hybrid search (``peer_runner.py``), and
Emily with default settings and no threshold. A ranking is of at most twenty passages, read as one
of documents. ``requirements-peers.txt`` says how their environment is made.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psutil
from psycopg.conninfo import conninfo_to_dict

from benchmarks.bench import Bench, open_bench, percentile, throwaway_home
from benchmarks.public_data import UNTITLED, PublicSet, load_set
from benchmarks.reading_tables import put_into
from emily.measure.scores import ndcg
from emily.models import UseEmbedder
from emily.store import EmbeddedServer

__all__ = ["Row", "main", "rows"]

SAMPLES: dict[str, dict[str, int]] = {
    "gnomehelp-it2en": {},
    "squadx-mixed": {"questions": 400},
    "lohelp-x": {"questions": 200},
    "scifact": {"documents": 2000, "questions": 200},
    "tldr-it2en": {"documents": 3000, "questions": 200},
}
PEERS = ("llama-index", "haystack", "txtai", "langchain-pgvector")

_RUNNER = Path(__file__).with_name("peer_runner.py")
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "0"}


@dataclass(frozen=True, slots=True)
class Row:
    """What one project made of one set.

    Attributes:
        ndcg, hit_3, recall: nDCG@10, hit@3 and recall@20 over distinct documents.
        indexing: seconds, the embedding in it.
        median, p95: milliseconds of a search in a warm process.
        memory_mb: most that its process held; Emily's with her database server.
    """

    set: str
    project: str
    version: str
    documents: int
    questions: int
    ndcg: float
    hit_3: float
    recall: float
    indexing: float
    median: float
    p95: float
    memory_mb: int


def sample(name: str) -> PublicSet:
    """The documents and questions that everybody gets."""
    return load_set(name, **SAMPLES.get(name, {}))


def rows(name: str, tools: Path, peers: Sequence[str]) -> list[Row]:
    """All projects on one set."""
    chosen = sample(name)
    with tempfile.TemporaryDirectory(prefix="emily-peers-") as place:
        folder = Path(place)
        _write(chosen, folder)
        found = [_row(chosen, "emily", _emily(name))]
        found += [_row(chosen, peer, asyncio.run(_peer(peer, folder, tools))) for peer in peers]
    return found


def table(found: Sequence[Row]) -> list[str]:
    """A Markdown table."""
    lines = [
        "| set | project | nDCG@10 | hit@3 | recall@20 | indexing, s | search, median ms | p95 "
        "| memory, MB |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for row in found:
        mark = "**" if row.project == "emily" else ""
        lines.append(
            f"| {row.set} ({row.documents:,} / {row.questions}) | {mark}{row.project} "
            f"{row.version}{mark} | {row.ndcg:.3f} | {row.hit_3:.3f} | {row.recall:.3f} "
            f"| {row.indexing:.0f} | {row.median:.1f} | {row.p95:.1f} | {row.memory_mb:,} |"
        )
    return lines


def _row(chosen: PublicSet, project: str, result: dict[str, Any]) -> Row:
    gains, hits, recalls = [], [], []
    for question in chosen.questions:
        ranking = result["found"][question.id][:20]
        relevant = frozenset(question.relevant)
        gains.append(ndcg([name in relevant for name in ranking], [1] * len(relevant), 10))
        hits.append(not relevant.isdisjoint(ranking[:3]))
        recalls.append(len(relevant.intersection(ranking)) / len(relevant))
    times = [1000 * value for value in result["seconds"]]
    return Row(
        set=chosen.name,
        project=project,
        version=result["version"],
        documents=len(chosen.documents),
        questions=len(chosen.questions),
        ndcg=statistics.fmean(gains),
        hit_3=statistics.fmean(hits),
        recall=statistics.fmean(recalls),
        indexing=result["indexing"],
        median=statistics.median(times),
        p95=percentile(times, 0.95),
        memory_mb=result["memory_mb"],
    )


def _write(chosen: PublicSet, folder: Path) -> None:
    for name, items in (
        (
            "corpus",
            [
                {"id": d.id, "title": "" if chosen.name in UNTITLED else d.title, "text": d.text}
                for d in chosen.documents
            ],
        ),
        ("queries", [{"id": q.id, "text": q.text} for q in chosen.questions]),
    ):
        lines = "".join(json.dumps(item) + "\n" for item in items)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")


async def _peer(name: str, folder: Path, tools: Path) -> dict[str, Any]:
    """Run a project in its environment; LangChain on a database server of its own."""
    environment = {**os.environ, **_ONE_THREAD, "HF_HUB_OFFLINE": "1"}
    async with throwaway_home() as settings:
        if name == "langchain-pgvector":
            environment["PEERS_DATABASE"] = _address(EmbeddedServer(settings.home).conninfo())
        done = await asyncio.to_thread(
            subprocess.run,
            [str(tools / "bin" / "python"), str(_RUNNER), name, str(folder)],
            env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{name} failed: {done.stderr.strip()[-2000:]}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def _address(conninfo: str) -> str:
    """A server's address as SQLAlchemy writes it."""
    parts = {name: quote(str(value), safe="") for name, value in conninfo_to_dict(conninfo).items()}
    return (
        f"postgresql+psycopg://{parts['user']}:{parts['password']}@/{parts['dbname']}"
        f"?host={parts['host']}&port={parts.get('port', '5432')}"
    )


def _emily(name: str) -> dict[str, Any]:
    """Run Emily in a process of her own, with one thread."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.peers", "--emily", name],
        env={**os.environ, **_ONE_THREAD, "EMILY_THREADS": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"Emily failed: {done.stderr.strip()[-2000:]}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


async def _measure(name: str) -> dict[str, Any]:
    chosen = sample(name)
    model = UseEmbedder(threads=1)
    model.embed_queries(["warm"])
    async with open_bench(model) as bench:
        began = time.perf_counter()
        await bench.index(chosen.documents)
        indexing = time.perf_counter() - began
        retriever = bench.retriever(threshold=0.0)
        await retriever.search(chosen.questions[0].text)
        found, seconds = {}, []
        for question in chosen.questions:
            began = time.perf_counter()
            answer = await retriever.search(question.text)
            seconds.append(time.perf_counter() - began)
            documents = [
                item["document"] for item in answer.trace["second_stage"]["candidates"][:20]
            ]
            found[question.id] = [
                other for item in dict.fromkeys(documents) for other in bench.names[item]
            ]
        return {
            "version": "",
            "found": found,
            "indexing": indexing,
            "seconds": seconds,
            "memory_mb": _memory(bench),
        }


def _memory(bench: Bench) -> int:
    """This process at its most, and what the database server holds now, shared pages once."""
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    home = str(bench.settings.home)
    server = sum(
        process.memory_full_info().pss
        for process in psutil.process_iter(["name"])
        if process.info["name"] == "postgres" and _serves(process, home)
    )
    return int(own + server / 2**20)


def _serves(process: psutil.Process, home: str) -> bool:
    lineage = [process, *process.parents()]
    return any(home in " ".join(item.cmdline()) for item in lineage if item.name() == "postgres")


def main(arguments: list[str] | None = None) -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks peers", description=__doc__)
    parser.add_argument("--tools", type=Path, help="the environment of the other projects")
    parser.add_argument("--sets", nargs="+", default=list(SAMPLES))
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS))
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure down")
    parser.add_argument("--into", type=Path, metavar="FILE", help="put the table into a document")
    parser.add_argument("--emily", metavar="SET", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.emily:
        print(json.dumps(asyncio.run(_measure(options.emily))))
        return
    if options.tools is None:
        raise SystemExit("Name the environment of the other projects with --tools.")
    found: list[Row] = []
    for name in options.sets:
        found += rows(name, options.tools, options.peers)
        print("\n".join(table(found[-1 - len(options.peers) :])), flush=True)
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in found]), encoding="utf-8")
    if options.into:
        put_into(options.into, table(found))


if __name__ == "__main__":
    main()
