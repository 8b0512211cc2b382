"""How well documents are found on public question sets, arm by arm and joined.

    python -m benchmarks public_sets [--sets A B] [--documents N] [--questions N] [--slices]

The rankings are those of ``emily eval --set``, of a search by the sum of scores and of one by
the sum of reciprocal ranks. Every ranking is one of chunks, read as one of documents by the
best chunk of each. Vectors are kept in the cache of the home folder.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
from collections.abc import Sequence

from benchmarks.public_data import UNTITLED, available, data_folder, load_set
from emily.brain import Brain
from emily.measure.evaluation import RankingScores
from emily.measure.trial import Trial
from emily.settings import load_settings

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
    for name in names:
        splits = {item.slices.get("split") for item in load_set(name).questions}
        only = {"split": "dev"} if splits == {"dev"} else {}
        by_sum, by_rank = [
            (
                await Brain.evaluate_set(
                    load_settings(database_url=None, fusion=fusion),
                    data_folder() / name,
                    only=only,
                    documents=documents,
                    questions=questions,
                    titles=name not in UNTITLED,
                )
            )[0]
            for fusion in ("sum", "rrf")
        ]
        subject = by_sum.subject
        milliseconds = statistics.median(item.milliseconds for item in by_sum.evaluation.answerable)
        print(
            f"\n### {name}\n\n{subject.documents} documents, {subject.questions} questions; "
            f"a search took {milliseconds:.0f} ms (median).\n"
        )
        _print_table(by_sum, by_rank, None)
        kinds = by_sum.evaluation.groups().get("kind", ())
        for kind in kinds if slices and len(kinds) > 1 else ():
            print(f"\n{name}, {kind}:\n")
            _print_table(by_sum, by_rank, {"kind": kind})


def _print_table(by_sum: Trial, by_rank: Trial, group: dict[str, str] | None) -> None:
    default = by_sum.evaluation.scores(group).stages
    other = by_rank.evaluation.scores(group).stages
    found: dict[str, RankingScores] = {
        "vector": default["vector_arm"],
        "lexical": default["lexical_arm"],
        "rrf": other["pool"],
        "rrf+": other["second_stage"],
        "sum": default["pool"],
        "sum+": default["second_stage"],
    }
    print("| ranking | nDCG@10 | recall@20 | hit@3 |\n|---|--:|--:|--:|")
    for name, label in RANKINGS.items():
        item = found[name]
        print(f"| {label} | {item.ndcg_10:.3f} | {item.recall_20:.3f} | {item.hit_3:.3f} |")
