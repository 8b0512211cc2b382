"""How well documents are found on public question sets, arm by arm and joined.

    python -m benchmarks public_sets [--sets A B] [--documents N] [--questions N] [--slices]

Every ranking is one of chunks, read as one of documents by the best chunk of each. Arms and
pool have the sizes of the default settings, so no ranking is longer than 20 chunks.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.bench import Bench, open_set
from benchmarks.public_data import PublicQuestion, available, load_set
from emily.measure.scores import hit_rate, mean, ndcg
from emily.models import UseEmbedder

__all__ = ["main"]

SETS = ("gnomehelp-it2en", "squadx-mixed", "lohelp-x", "scifact", "tldr-it2en")

RANKINGS = {
    "vector": "vector arm alone",
    "lexical": "lexical arm alone",
    "rrf": "joined by rank (`fusion = rrf`)",
    "rrf+": "joined by rank, second stage",
    "sum": "joined by score",
    "sum+": "**joined by score, second stage (default)**",
}


@dataclass(frozen=True, slots=True)
class Found:
    """The ranks of a question's documents in one ranking, and how many there are."""

    kind: str
    ranks: tuple[int, ...]
    relevant: int


def main(arguments: list[str] | None = None) -> None:
    """Measure and print a Markdown table for each set."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks public_sets", description=__doc__)
    parser.add_argument("--sets", nargs="+", default=list(SETS), metavar="SET")
    parser.add_argument("--documents", type=int, default=1500, help="most documents of a set")
    parser.add_argument("--questions", type=int, default=200, help="most questions of a set")
    parser.add_argument("--slices", action="store_true", help="each kind of question as well")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.sets) - set(available()))
    if unknown:
        parser.error(f"there is no set {unknown[0]!r}; sets: {', '.join(available())}")
    asyncio.run(_measure(options.sets, options.documents, options.questions, options.slices))


async def _measure(names: Sequence[str], documents: int, questions: int, slices: bool) -> None:
    embedder = UseEmbedder()
    for name in names:
        chosen = load_set(name, documents=documents, questions=questions)
        async with open_set(chosen, embedder) as bench:
            found, milliseconds = await _ask(bench, chosen.questions)
        print(
            f"\n### {name}\n\n{len(chosen.documents)} documents, "
            f"{len(chosen.questions)} questions; "
            f"a search took {milliseconds:.0f} ms (median).\n"
        )
        _print_table(found)
        kinds = sorted({question.kind for question in chosen.questions} - {""})
        for kind in kinds if slices and len(kinds) > 1 else ():
            print(f"\n{name}, {kind}:\n")
            _print_table(
                {key: [item for item in items if item.kind == kind] for key, items in found.items()}
            )


async def _ask(
    bench: Bench, questions: Iterable[PublicQuestion]
) -> tuple[dict[str, list[Found]], float]:
    """The ranks of every question in every ranking, and the median time of a default search."""
    default, by_rank = bench.retriever(), bench.retriever(fusion="rrf")
    found: dict[str, list[Found]] = defaultdict(list)
    milliseconds = []
    for question in questions:
        started = time.perf_counter()
        trace = (await default.search(question.text)).trace
        milliseconds.append((time.perf_counter() - started) * 1000)
        other = (await by_rank.search(question.text)).trace
        rankings = {
            "vector": [item["chunk"] for item in trace["vector_arm"]["ranking"]],
            "lexical": [item["chunk"] for item in trace["lexical_arm"]["ranking"]],
            "rrf": other["fusion"]["pool"],
            "rrf+": [item["chunk"] for item in other["second_stage"]["candidates"]],
            "sum": trace["fusion"]["pool"],
            "sum+": [item["chunk"] for item in trace["second_stage"]["candidates"]],
        }
        documents = {item["chunk"]: item["document"] for item in trace["fusion"]["candidates"]}
        for name, chunks in rankings.items():
            ranked = dict.fromkeys(documents[chunk] for chunk in chunks)
            ranks = tuple(
                rank
                for rank, document in enumerate(ranked, start=1)
                if bench.names[document] & question.relevant
            )
            found[name].append(Found(question.kind, ranks, len(question.relevant)))
    return found, statistics.median(milliseconds)


def _print_table(found: dict[str, list[Found]]) -> None:
    print("| ranking | nDCG@10 | recall@20 | hit@3 |\n|---|--:|--:|--:|")
    for name, label in RANKINGS.items():
        items = found[name]
        gain = mean([ndcg(item.ranks, item.relevant, 10) for item in items])
        recall = mean([min(1.0, sum(r <= 20 for r in i.ranks) / i.relevant) for i in items])
        hits = hit_rate([min(item.ranks, default=None) for item in items], 3)
        print(f"| {label} | {gain:.3f} | {recall:.3f} | {hits:.3f} |")
