"""``emily lite`` on a vault of 16,000 generated notes, against ripgrep.

    python -m benchmarks vault_lite [--notes 16000] [--runs 3]

Each row is a process of its own, started with ``python -I -S``: cold, with the cache, after one
edit. Beside seconds stand processor seconds, and both in units of a loop of dictionary look-ups
timed around each run, because seconds of a busy machine say little. ripgrep looks for the first
word of the query; it must be on the path (``apt install ripgrep``).
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.vault_generated import write_vault

__all__ = ["main"]

_LITE = Path(__file__).parents[1] / "src" / "emily" / "vault" / "lite.py"
_QUERY = "condition of the switch"
_LOOPS = 1_000_000


def main(arguments: list[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="benchmarks vault_lite")
    parser.add_argument("--notes", type=int, default=16_000)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        vault, cache = Path(folder) / "vault", Path(folder) / "cache"
        paths = write_vault(vault, given.notes)
        size = sum((vault / path).stat().st_size for path in paths)
        time.sleep(2.1)  # what was just written is read twice, see vault.cache
        print(f"{len(paths):,} notes, {size / 2**20:.0f} MB, medians of {given.runs}\n")
        print("| run | seconds | processor seconds | units | memory, MB |")
        print("|---|---|---|---|---|")

        def lite() -> None:
            command = [sys.executable, "-I", "-S", str(_LITE), str(vault), _QUERY, "--cache"]
            subprocess.run([*command, str(cache)], check=True, capture_output=True)

        def cold() -> None:
            shutil.rmtree(cache, ignore_errors=True)
            lite()

        def edited() -> None:
            with (vault / paths[7]).open("a", encoding="utf-8") as note:
                note.write("One more line.\n")
            lite()

        _row("lite, cold", cold, given.runs)
        lite()
        _row("lite, with its cache", lite, given.runs)
        _row("lite, after one edit", edited, given.runs)
        if shutil.which("rg") is None:
            print("| ripgrep is not installed | | | | |")
            return
        word = _QUERY.split()[0]
        command = ["rg", "--fixed-strings", "--ignore-case", "--files-with-matches", word]
        _row("rg, all files that match", lambda: _run([*command, str(vault)]), given.runs)
        _row("rg, its first match", lambda: _first([*command, str(vault)]), given.runs)


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True)


def _first(command: list[str]) -> None:
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.kill()


def _unit() -> float:
    """Processor seconds of a million look-ups."""
    began = time.process_time()
    counts: dict[int, int] = {}
    for number in range(_LOOPS):
        counts[number % 1000] = counts.get(number % 1000, 0) + number
    return time.process_time() - began


def _row(name: str, work: Callable[[], None], runs: int) -> None:
    walls, cpus, units = [], [], []
    for _ in range(runs):
        unit = _unit()
        before, began = os.times(), time.perf_counter()
        work()
        walls.append(time.perf_counter() - began)
        after = os.times()
        cpu = after.children_user + after.children_system
        cpu -= before.children_user + before.children_system
        cpus.append(cpu)
        units.append(cpu / ((unit + _unit()) / 2))
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    wall, cpu, unit = map(statistics.median, (walls, cpus, units))
    print(f"| {name} | {wall:.2f} | {cpu:.2f} | {unit:.1f} | {memory:.0f} |", flush=True)
