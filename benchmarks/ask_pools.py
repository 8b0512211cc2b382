"""What a smaller pool of ``emily ask`` loses against ranking every chunk of the document.

    python -m benchmarks ask_pools [--set kgrag-sec10q] [--pools 20 60 120] [--questions N]

Each question is put to the document that answers it. *Same* is the share of questions that are
shown the same passages as when every chunk is ranked, *kept* the share of those passages that
are still shown, and *figures* the share of the numbers of the written answer, those of the
question aside, that stand in the passages shown. A smaller pool can only lose passages; what it
loses of the figures says whether they mattered.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.bench import open_set
from benchmarks.public_data import data_folder, load_set
from emily.models import UseEmbedder
from emily.retrieval.answer import Answer
from emily.settings import load_settings

__all__ = ["main"]

_FIGURE = re.compile(r"\d[\d.,]*\d")  # of two digits and more
_ALL = 100_000


@dataclass(frozen=True, slots=True)
class _Asked:
    """What one question came to with one pool."""

    chunks: frozenset[int]
    text: str
    milliseconds: float


def main(arguments: list[str] | None = None) -> None:
    """Measure and print a Markdown table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks ask_pools", description=__doc__)
    parser.add_argument("--set", default="kgrag-sec10q", help="a set of long documents")
    parser.add_argument("--pools", type=int, nargs="+", default=[20, 60, 120])
    parser.add_argument("--questions", type=int, help="most questions")
    options = parser.parse_args(arguments)
    asyncio.run(_measure(options.set, [*options.pools, _ALL], options.questions))


async def _measure(name: str, pools: Sequence[int], most: int | None) -> None:
    chosen = load_set(name, questions=most)
    wanted = _figures_of_answers(name)
    settings = load_settings(database_url=None)
    found: dict[int, list[_Asked]] = {pool: [] for pool in pools}
    figures: list[frozenset[str]] = []
    async with open_set(chosen, UseEmbedder(threads=settings.threads)) as bench:
        documents = {own: id_ for id_, names in bench.names.items() for own in names}
        row = await bench.database.fetch_one("chunk_statistics")
        retrievers = {pool: bench.retriever(ask_pool_size=pool) for pool in pools}
        for question in chosen.questions:
            # Of several documents that answer it, the first: each is a question of its own.
            document = documents[min(question.relevant)]
            figures.append(wanted.get(question.id, frozenset()))
            for pool in pools:
                started = time.perf_counter()
                answer = await retrievers[pool].ask(document, question.text)
                taken = (time.perf_counter() - started) * 1000
                found[pool].append(_Asked(_chunks(answer), _shown(answer), taken))
    assert row is not None
    print(
        f"\n{len(chosen.questions)} questions to {len(chosen.documents)} documents of "
        f"{row['chunks'] / len(chosen.documents):.0f} chunks in the mean\n"
    )
    print("| pool | same | kept | figures | median ms |\n|---|--:|--:|--:|--:|")
    whole = found[_ALL]
    for pool in pools:
        rows = found[pool]
        same = statistics.mean(a.chunks == b.chunks for a, b in zip(rows, whole, strict=True))
        kept = statistics.mean(
            len(a.chunks & b.chunks) / len(b.chunks)
            for a, b in zip(rows, whole, strict=True)
            if b.chunks
        )
        shown = statistics.mean(
            sum(one in set(_FIGURE.findall(a.text)) for one in own) / len(own)
            for a, own in zip(rows, figures, strict=True)
            if own
        )
        label = "every chunk" if pool == _ALL else str(pool)
        median = statistics.median(item.milliseconds for item in rows)
        print(f"| {label} | {same:.3f} | {kept:.3f} | {shown:.3f} | {median:.0f} |")


def _chunks(answer: Answer) -> frozenset[int]:
    return frozenset(answer.trace["selection"]["chosen"])


def _shown(answer: Answer) -> str:
    return "\n".join(passage.text for result in answer.results for passage in result.passages)


def _figures_of_answers(name: str) -> dict[str, frozenset[str]]:
    """The numbers of each written answer that its question does not hold."""
    found = {}
    with (data_folder() / name / "queries.jsonl").open("rb") as lines:
        for line in lines:
            item = json.loads(line)
            asked = set(_FIGURE.findall(item["text"]))
            found[item["id"]] = frozenset(_FIGURE.findall(item.get("answer", ""))) - asked
    return found
