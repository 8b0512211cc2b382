"""What following links brings in a search of the database, and what it costs.

    python -m benchmarks vault_walk [--notes 400] [--questions 60]

On the linked vault of ``benchmarks.vault_graph``: questions whose answer holds none of their words
and is reached by a link alone, and direct ones, where links must do no harm. Both presets, with
the walk and without it.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from pathlib import Path

from benchmarks.vault_graph import write_linked_vault
from emily.brain import Brain
from emily.models import UseEmbedder
from emily.settings import load_settings
from emily.store import EmbeddedServer

_TOP = 8


async def run(folder: Path, home: Path, notes: int, questions: int, seed: int) -> list[str]:
    """Rows of a Markdown table."""
    asked, hubs = write_linked_vault(folder, notes, questions, seed)
    rows = []
    async with Brain.open(load_settings(home, threads=2), embedder=UseEmbedder(threads=2)) as brain:
        await brain.vaults.add(folder, name="linked")
        for preset in ("default", "vault"):
            for places in (0, 3):
                retriever = brain._retriever.under(link_places=places)
                found: dict[bool, list[int | None]] = {True: [], False: []}
                hub_places = shown = 0
                for question in asked:
                    answer = await retriever.search(question.words, limit=_TOP, preset=preset)
                    paths = [
                        str(Path(result.document.path).relative_to(folder))
                        for result in answer.results[:_TOP]
                    ]
                    rank = paths.index(question.answer) if question.answer in paths else None
                    found[question.linked].append(rank)
                    hub_places += sum(path in hubs for path in paths)
                    shown += len(paths)
                linked, direct = (
                    sum(rank is not None for rank in found[kind]) / max(1, len(found[kind]))
                    for kind in (True, False)
                )
                first = sum(rank == 0 for rank in found[False]) / max(1, len(found[False]))
                rows.append(
                    f"| {preset} | {'with' if places else 'without'} | {linked:.2f} | {direct:.2f} "
                    f"| {first:.2f} | {hub_places / max(1, shown):.3f} |"
                )
                print(rows[-1], flush=True)
    return rows


def main(arguments: list[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks vault_walk")
    parser.add_argument("--notes", type=int, default=400)
    parser.add_argument("--questions", type=int, default=60, help="of each kind")
    parser.add_argument("--seed", type=int, default=23)
    given = parser.parse_args(arguments)
    print("| preset | links | linked, first 8 | direct, first 8 | direct, first | hubs |")
    print("|---|---|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory(prefix="emily-walk-") as place:
        home = Path(place, "home")
        try:
            asyncio.run(run(Path(place, "notes"), home, given.notes, given.questions, given.seed))
        finally:
            EmbeddedServer(home).stop()
