"""What ``emily serve`` is worth: commands from the shell, and searches during a bulk load.

    python -m benchmarks serving [--files 2000] [--first 300] [--runs 15]

Shell: ``emily search`` from start to end, with a server and without. Load: searches over the
server's socket, one after the other, first with nothing else to do, then while it indexes what
``emily add --later`` has queued. All figures are of one run; the ratios are what counts.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from benchmarks.bench import percentile
from emily.cli.endpoint import described
from emily.store import EmbeddedServer

__all__ = ["Load", "generate", "load", "main", "served"]

_PAUSE_SECONDS = 0.1  # between searches: somebody reads, and the files get on
PROGRAM = [sys.executable, "-c", "from emily.cli.program import main; main()"]
_THINGS = [
    *("boiler", "contract", "rent", "garden", "winter", "invoice", "water", "roof", "kitchen"),
    *("window", "letter", "station", "bicycle", "bread", "insurance", "lake", "mountain"),
    *("doctor", "school", "ticket", "market", "paint", "bridge", "music", "harvest"),
]
_ENDS = [
    "was repaired in May",
    "must be paid before the end of the month",
    "is described in the annex",
    "was lost on the way",
    "belongs to the neighbours",
    "comes with a warranty of two years",
    "needs a new permit",
    "was photographed for the insurance",
]


@dataclass
class Load:
    """Searches over a socket.

    Attributes:
        quiet: milliseconds of each, with nothing else to do.
        loaded: milliseconds of each, while files were indexed.
        failed: what came in place of an answer.
        indexed: files that were indexed meanwhile.
        seconds: that took.
    """

    quiet: list[float] = field(default_factory=list)
    loaded: list[float] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    indexed: int = 0
    seconds: float = 0.0


def generate(folder: Path, first: int, count: int) -> None:
    """Write small letters, each unlike the others."""
    rng = random.Random(first)
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(first, first + count):
        sentences = [
            f"The {rng.choice(_THINGS)} of the {rng.choice(_THINGS)} {rng.choice(_ENDS)}."
            for _ in range(rng.randint(4, 24))
        ]
        (folder / f"letter-{number:05}.txt").write_text(
            f"Letter {number}. " + " ".join(sentences) + "\n"
        )


@contextmanager
def served(environment: dict[str, str], home: Path) -> Iterator[httpx.Client]:
    """A server of a home, and a client of its socket."""
    process = subprocess.Popen(
        [*PROGRAM, "serve"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + 120
        while not (home / "serve" / "server.json").exists():
            if process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit("emily serve did not start")
            time.sleep(0.05)
        found = described(home)
        assert found is not None
        with httpx.Client(
            transport=httpx.HTTPTransport(uds=found["socket"]), base_url="http://emily", timeout=60
        ) as client:
            yield client
    finally:
        process.terminate()
        process.wait(60)


def load(client: httpx.Client, folder: Path, first: int, count: int) -> Load:
    """Index the first files, search in peace, then search while the rest is indexed."""
    found = Load()
    generate(folder, 0, first)
    _queue(client, folder)
    _wait(client, first, found, search=False)
    for number in range(60):
        _search(client, number, found.quiet, found.failed)
        time.sleep(_PAUSE_SECONDS)
    del found.quiet[:10]
    generate(folder, first, count)
    _queue(client, folder)
    began = time.perf_counter()
    _wait(client, first + count, found, search=True)
    found.indexed, found.seconds = count, time.perf_counter() - began
    return found


@contextmanager
def _home() -> Iterator[Path]:
    """A new home, whose database server is stopped at the end."""
    top = Path(tempfile.mkdtemp(prefix="e")).resolve()
    try:
        yield top / "home"
    finally:
        EmbeddedServer(top / "home").stop()
        shutil.rmtree(top, ignore_errors=True)


def _queue(client: httpx.Client, folder: Path) -> None:
    client.post("/v1/add", json={"paths": [str(folder)], "later": True}).raise_for_status()


def _wait(client: httpx.Client, documents: int, found: Load, *, search: bool) -> None:
    number, looked = 0, 0.0
    deadline = time.monotonic() + 3000
    while time.monotonic() < deadline:
        if search:
            _search(client, number, found.loaded, found.failed)
            number += 1
            time.sleep(_PAUSE_SECONDS)
        if time.monotonic() - looked > 1.0:
            looked = time.monotonic()
            counts: dict[str, Any] = client.get("/v1/jobs").json()["counts"].get("indexing", {})
            if not counts.get("waiting") and not counts.get("running"):
                assert counts.get("done", 0) >= documents, counts
                return
        elif not search:
            time.sleep(0.2)
    raise SystemExit("the files were not indexed in time")


def _search(client: httpx.Client, number: int, into: list[float], failed: list[str]) -> None:
    rng = random.Random(number)
    query = f"{rng.choice(_THINGS)} {rng.choice(_THINGS)} {rng.choice(_ENDS)}"
    began = time.perf_counter()
    try:
        answer = client.post("/v1/search", json={"query": query})
    except httpx.HTTPError as error:
        failed.append(f"{query}: {error}")
        return
    into.append((time.perf_counter() - began) * 1000)
    if answer.status_code != 200 or not answer.json()["results"]:
        failed.append(f"{query}: {answer.status_code} {answer.text[:300]}")


def _shell(environment: dict[str, str], runs: int) -> list[float]:
    taken = []
    for _ in range(runs):
        began = time.perf_counter()
        subprocess.run(
            [*PROGRAM, "search", "the boiler was repaired"],
            env=environment,
            stdout=subprocess.DEVNULL,
            check=True,
        )
        taken.append((time.perf_counter() - began) * 1000)
    return taken


def main(arguments: list[str] | None = None) -> None:
    """Measure and print two Markdown tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks serving", description=__doc__)
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--first", type=int, default=300)
    parser.add_argument("--runs", type=int, default=15)
    options = parser.parse_args(arguments)
    with _home() as home:
        environment = {**os.environ, "EMILY_HOME": str(home)}
        with served(environment, home) as client:
            found = load(client, home.parent / "files", options.first, options.files)
            warm = _shell(environment, options.runs)
        cold = _shell(environment, max(3, options.runs // 3))
    bare = []
    for _ in range(options.runs):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        bare.append((time.perf_counter() - began) * 1000)
    print("\n| `emily search` from the shell | median ms | best ms |\n|---|--:|--:|")
    for name, values in (("served", warm), ("alone", cold), ("Python that does nothing", bare)):
        print(f"| {name} | {statistics.median(values):.0f} | {min(values):.0f} |")
    print(f"\nServed, it takes {statistics.median(warm) / statistics.median(cold):.2f} of alone.")
    print("\n| searches over the socket | number | median ms | 95 % at most |\n|---|--:|--:|--:|")
    for name, values in (("quiet", found.quiet), ("during the load", found.loaded)):
        print(
            f"| {name} | {len(values)} | {statistics.median(values):.1f} "
            f"| {percentile(values, 0.95):.1f} |"
        )
    ratio = percentile(found.loaded, 0.95) / percentile(found.quiet, 0.95)
    print(
        f"\n{found.indexed} files in {found.seconds:.0f} s; {len(found.failed)} searches failed; "
        f"the slow ones took {ratio:.1f} times as long."
    )
    for failure in found.failed[:5]:
        print(f"failed: {failure}")
