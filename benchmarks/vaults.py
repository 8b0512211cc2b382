"""A vault of many notes: indexing, a search after an edit against a quiet one, memory.

python -m benchmarks vaults --notes 16000

The notes are generated (``benchmarks.vault_generated``) into a folder that goes at the end, and
indexed in a home of its own. Counted is what is embedded: after an edit, that note's passages
alone. Times are medians within one run, to be compared with each other.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import resource
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.vault_generated import write_vault
from emily.brain import Brain
from emily.models import UseEmbedder
from emily.settings import load_settings
from emily.store import EmbeddedServer

QUERIES = ("harbour master in winter", "price of the new roof", "quanto costa il traghetto")
ROUNDS = 5


class Counting(UseEmbedder):
    """The bundled embedder; counts the parts that it embeds."""

    parts = 0

    def embed_parts(self, parts: Sequence[Sequence[str]]) -> Any:
        """As the embedder, counted."""
        self.parts += len(parts)
        return super().embed_parts(parts)


async def measured(work: Callable[[], Awaitable[Any]]) -> float:
    """Milliseconds that some work takes."""
    started = time.perf_counter()
    await work()
    return (time.perf_counter() - started) * 1000


async def run(folder: Path, home: Path, notes: int, characters: int) -> dict[str, Any]:
    """Measure one vault."""
    found: dict[str, Any] = {"notes": notes, "characters of a note": characters}
    write_vault(folder, notes, characters=characters)
    paths = sorted(folder.rglob("*.md"))
    before = {path: hashlib.sha256(path.read_bytes()).digest() for path in paths}
    settings = load_settings(home, threads=2)
    embedder = Counting(threads=2)
    async with Brain.open(settings, embedder=embedder) as brain:
        seconds = await measured(lambda: brain.vaults.add(folder, name="generated")) / 1000
        found["first indexing, s"] = round(seconds, 1)
        found["notes a second"] = round(notes / seconds, 1)
        found["passages"] = (await brain.vaults.vaults())[0].passages
        found["parts embedded"] = embedder.parts
    assert {path: hashlib.sha256(path.read_bytes()).digest() for path in paths} == before

    embedder = Counting(threads=2)
    async with Brain.open(settings, embedder=embedder) as brain:
        found["first search of a process, ms"] = round(
            await measured(lambda: brain.search(QUERIES[0]))
        )
        for query in QUERIES * 2:
            await brain.search(query)
        await asyncio.sleep(2.5)  # a file that was just written is looked at twice
        quiet = [
            await measured(lambda query=query: brain.search(query)) for query in QUERIES * ROUNDS
        ]
        compare = [await measured(brain.vaults.refresh) for _ in range(ROUNDS)]
        edited, embedded = [], []
        for place in range(len(QUERIES) * ROUNDS):
            path = paths[place * len(paths) // (len(QUERIES) * ROUNDS)]
            with path.open("a", encoding="utf-8") as file:
                file.write(f"\n\nAn edit of the measurement, number {place} zyx{place}.\n")
            embedder.parts = 0
            query = QUERIES[place % len(QUERIES)]
            edited.append(await measured(lambda query=query: brain.search(query)))
            embedded.append(embedder.parts)
            answer = await brain.search(f"zyx{place}", threshold=0)
            assert answer.results[0].document.path == str(path), answer.results[0].document.path
        found["parts embedded after an edit"] = max(embedded)
        assert max(embedded) <= 4, embedded
        found["compare alone, ms"] = round(statistics.median(compare))
        found["quiet search, ms"] = round(statistics.median(quiet))
        found["search after an edit, ms"] = round(statistics.median(edited))
        found["beyond a quiet search, ms"] = round(
            statistics.median(edited) - statistics.median(quiet)
        )
        path = paths[0].rename(paths[0].with_name("Quite another name.md"))
        embedder.parts = 0
        found["search after a rename, ms"] = round(await measured(lambda: brain.search(QUERIES[0])))
        path.rename(paths[0])
        found["most memory, MB"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        found["database, MB"] = round((await brain._database.describe()).bytes / 1e6)
    return found


def main(arguments: list[str]) -> None:
    """Print what was measured, as a table and with ``--json`` as JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks vaults")
    parser.add_argument("--notes", type=int, default=16_000)
    parser.add_argument("--characters", type=int, default=1000, help="mean length of a note")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--keep", type=Path, help="folder in which notes and home are left")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="emily-vaults-") as temporary:
        place = given.keep or Path(temporary)
        home = Path(place, "home")
        try:
            found = asyncio.run(run(Path(place, "notes"), home, given.notes, given.characters))
        finally:
            EmbeddedServer(home).stop()
    if given.json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        print(f"{name:34} {value}")
