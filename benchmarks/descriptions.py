"""What descriptions and categories add to ranking: each way of using them, beside none.

    python -m benchmarks descriptions                       # the example archive and three sets
    python -m benchmarks descriptions --sets kgrag-sec10q

One index a set; its questions are asked without descriptions, then with the extractive ones of
``emily analyse``: their words counted as words of every passage of the document, their vector
joined to that of the document's name, and both. On the example archive also with the names of
its categories among the words. Differences come with a 95 % interval over the questions.
"""

from __future__ import annotations

import argparse
import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector

from benchmarks.category_papers import ARCHIVE_LIST
from benchmarks.public_data import load_set
from emily.analysis.service import AnalysisService
from emily.brain import Brain
from emily.indexing.language import LanguageDetector
from emily.measure.evaluation import Asked, Evaluation, evaluate
from emily.measure.questions import load_questions
from emily.measure.throwaway import open_throwaway, throwaway_settings
from emily.measure.trial import searching, tools
from emily.measure.vector_cache import CachedEmbedder, VectorCache
from emily.models import Embedder, UseEmbedder
from emily.retrieval.retriever import Retriever
from emily.settings import Settings, load_settings
from emily.store import Database

__all__ = ["main"]

EXAMPLE = "example archive"
SETS: dict[str, dict[str, int]] = {
    EXAMPLE: {},
    "gnomehelp-it2en": {},
    "kgrag-sec10q": {"questions": 100},
    "squadx-mixed": {"documents": 800, "questions": 150},
}
NONE, WORDS, VECTOR, BOTH, CATEGORIES = "none", "words", "vector", "both", "words and categories"


@dataclass(frozen=True)
class Bench:
    """An archive with the questions that are asked of it."""

    settings: Settings
    database: Database
    embedder: Embedder
    retriever: Retriever
    asked: Sequence[Asked]


async def variants(bench: Bench, *, categories: bool) -> dict[str, Evaluation]:
    """Ask everything once with each way of using descriptions."""
    found = {}
    detector = LanguageDetector(bench.settings.languages, bench.settings.home / "cache")
    service = AnalysisService(bench.settings, bench.database, bench.embedder, detector, None)
    rows = await _rows(bench.database, "SELECT id, name_vector FROM document")
    names = {row["id"]: np.array(row["name_vector"].to_list(), np.float32) for row in rows}
    found[NONE] = await _asked(bench)
    await service.analyse_all()
    rows = await _rows(bench.database, "SELECT id, name, description FROM document")
    called = {row["id"]: row["name"] for row in rows}
    described = {row["id"]: row["description"] or "" for row in rows}
    for document, text in described.items():
        await _name(bench.database, document, f"{called[document]} {text}")
    found[WORDS] = await _asked(bench)
    for document, text in described.items():
        own = bench.embedder.embed_queries([text or "."])[0]
        joined = names[document] + own
        await _vector(bench.database, document, joined / np.linalg.norm(joined))
    found[BOTH] = await _asked(bench)
    for document, name in called.items():
        await _name(bench.database, document, name)
    found[VECTOR] = await _asked(bench)
    if categories:
        for document, vector in names.items():
            await _vector(bench.database, document, vector)
        for item in ARCHIVE_LIST:
            await service.categories.add(item.names[0], item.descriptions[0], item.examples[:1])
        await service.analyse_all()
        for document, text in described.items():
            given = [item.name for item in (await service.of(document)).categories]
            await _name(bench.database, document, f"{called[document]} {text} {' '.join(given)}")
        found[CATEGORIES] = await _asked(bench)
    return found


async def _asked(bench: Bench) -> Evaluation:
    return await evaluate(
        searching(bench.retriever, "default", operators=False),
        bench.asked,
        tools=tools(bench.database, bench.embedder),
    )


async def _rows(database: Database, query: str) -> list[dict[str, Any]]:
    async with database.transaction() as connection:
        return await (await connection.execute(query)).fetchall()


async def _name(database: Database, document: int, words: str) -> None:
    """Let words count as the words of a document's name do; the vector of its name stays."""
    name = re.sub(r"[./]+", " ", words) + ".txt"  # what stands behind a point or before a stroke
    async with database.transaction() as connection:
        await connection.execute("UPDATE document SET name = %s WHERE id = %s", (name, document))


async def _vector(database: Database, document: int, vector: NDArray[np.float32]) -> None:
    async with database.transaction() as connection:
        await connection.execute(
            "UPDATE document SET name_vector = %s WHERE id = %s", (HalfVector(vector), document)
        )


@asynccontextmanager
async def example_archive(owner: Settings, embedder: Embedder) -> AsyncIterator[Bench]:
    """The example archive, read from its files, with its sixty questions."""
    from examples.archive import build, questions

    async with (
        throwaway_settings(owner) as settings,
        Brain.open(settings, embedder=embedder) as brain,
    ):
        await brain.add([build.FILES])
        ids = {item.name: item.id for item in await brain.list()}
        answerable, _ = load_questions(Path(questions.__file__).with_suffix(".toml"))
        asked = [Asked(item.id, item.text, {ids[item.document]: 1}) for item in answerable]
        yield Bench(settings, brain._database, embedder, brain._retriever, asked)


@asynccontextmanager
async def public_set(name: str, owner: Settings, embedder: Embedder) -> AsyncIterator[Bench]:
    """A public set in a throw-away archive."""
    chosen = load_set(name, **SETS.get(name, {}))
    async with open_throwaway(owner, embedder) as archive:
        await archive.index(chosen.documents)
        ids = {name: number for number, found in archive.names.items() for name in found}
        asked = [
            Asked(
                item.id,
                item.text,
                {ids[key]: grade for key, grade in item.relevant.items() if key in ids},
            )
            for item in chosen.questions
        ]
        yield Bench(archive.settings, archive.database, embedder, archive.retriever(), asked)


def table(name: str, found: Mapping[str, Evaluation]) -> None:
    """Print the figures of each way, and its difference from none."""
    base = found[NONE]
    print(f"\n### {name}, {len(base.answerable)} questions\n", flush=True)
    print(
        "| descriptions | hit@1 | hit@3 | nDCG@10 | difference of nDCG@10 |\n|---|---|---|---|---|"
    )
    before = np.array([item.metrics()["ndcg_10"] for item in base.answerable])
    for way, evaluation in found.items():
        scores = evaluation.scores()
        change = np.array([item.metrics()["ndcg_10"] for item in evaluation.answerable]) - before
        error = 1.96 * float(change.std(ddof=1)) / len(change) ** 0.5
        told = "" if way == NONE else f"{change.mean():+.3f} ± {error:.3f}"
        print(
            f"| {way} | {scores.hit_1:.3f} | {scores.hit_3:.3f} | {scores.ndcg_10:.3f} | {told} |",
            flush=True,
        )


async def _measure(names: Sequence[str]) -> None:
    owner = load_settings()
    embedder = UseEmbedder(threads=owner.threads, cache=owner.home / "cache")
    with VectorCache(owner.home / "cache", embedder.identity) as cache:
        cached = CachedEmbedder(embedder, cache)
        for name in names:
            opened = (
                example_archive(owner, cached)
                if name == EXAMPLE
                else public_set(name, owner, cached)
            )
            async with opened as bench:
                table(name, await variants(bench, categories=name == EXAMPLE))


def main(arguments: list[str] | None = None) -> None:
    """Measure and print a Markdown table for each set."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks descriptions", description=__doc__)
    parser.add_argument("--sets", nargs="+", default=list(SETS), metavar="SET")
    options = parser.parse_args(arguments)
    asyncio.run(_measure(options.sets))


if __name__ == "__main__":
    main()
