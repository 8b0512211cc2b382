"""A throw-away home with the parts of a brain laid open, for measuring single parts of it."""

from __future__ import annotations

import math
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from emily.measure.sets import QuestionSet
from emily.measure.throwaway import Throwaway, open_throwaway, throwaway_settings
from emily.models import Embedder, UseEmbedder
from emily.settings import Settings, load_settings

__all__ = ["Bench", "open_bench", "open_set", "percentile", "throwaway_home"]

Bench = Throwaway


@asynccontextmanager
async def throwaway_home(*, safe: bool = True) -> AsyncIterator[Settings]:
    """Settings of a new home whose server runs; both are gone afterwards.

    Args:
        safe: keep the store's usual safety, which costs time; needed where time is measured.
    """
    async with throwaway_settings(load_settings(database_url=None), safe=safe) as settings:
        yield settings


@asynccontextmanager
async def open_bench(embedder: Embedder | None = None) -> AsyncIterator[Throwaway]:
    """An empty archive in a throw-away home, its parts laid open."""
    owner = load_settings(database_url=None)
    async with open_throwaway(owner, embedder or UseEmbedder(threads=owner.threads)) as bench:
        yield bench


@asynccontextmanager
async def open_set(chosen: QuestionSet, embedder: Embedder) -> AsyncIterator[Throwaway]:
    """An archive that holds the documents of a set."""
    async with open_bench(embedder) as bench:
        started = time.perf_counter()
        await bench.index(chosen.documents)
        _say(chosen, time.perf_counter() - started)
        yield bench


def percentile(values: Sequence[float], share: float) -> float:
    """The least value that ``share`` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def _say(chosen: QuestionSet, seconds: float) -> None:
    print(
        f"{chosen.name}: {len(chosen.documents)} documents indexed in {seconds:.0f} s, "
        f"{len(chosen.questions)} questions",
        flush=True,
    )
