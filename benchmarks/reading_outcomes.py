"""What becomes of every public file: read, read in part, or refused with a reason; never a hang.

python -m benchmarks reading_outcomes [--no-ocr] [--json FILE]

Exit code 1 if a parser crashed, ran into a limit of time or memory, or left no outcome.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from benchmarks.bench import percentile
from benchmarks.reading_tables import put_into
from benchmarks.reading_truth import files_folder
from emily.errors import (
    EmptyDocument,
    LimitExceeded,
    PasswordRequired,
    ReadingError,
    UnsupportedKind,
)
from emily.reading.pages import Reading
from emily.reading.reader import Reader

SECONDS, MEMORY_MB, FILE_MB = 120, 3072, 512
OUTCOMES = (
    "read", "in part", "scanned", "empty", "needs a password", "unsupported", "failed", "limit",
    "crash",
)  # fmt: skip
_EVERY = 0.05  # seconds between two looks at the worker's memory
_BAD = ("limit", "crash")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a file.

    Attributes:
        name: its path in the folder of files.
        format: its kind where it was read, else its suffix.
        outcome: one of ``OUTCOMES``.
        reason: what was not read and why, or ``""``.
        seconds: how long it took.
        memory_mb: most memory that the worker held meanwhile, MiB.
        characters: of text that were read.
    """

    name: str
    format: str
    outcome: str
    reason: str
    seconds: float
    memory_mb: int
    characters: int = 0


async def outcome_of(reader: Reader, path: Path, name: str) -> Outcome:
    """Read a file and say what became of it."""
    highest = 0

    async def watch() -> None:
        nonlocal highest
        while True:
            if reader.worker_pid is not None:
                try:
                    held = psutil.Process(reader.worker_pid).memory_info().rss >> 20
                    highest = max(highest, held)
                except psutil.Error:
                    pass
            await asyncio.sleep(_EVERY)

    watching = asyncio.create_task(watch())
    suffix = path.suffix.lower().removeprefix(".") or "(none)"
    began = time.perf_counter()
    reading: Reading | None = None
    try:
        reading = await reader.read(path)
        outcome, reason = judged(reading)
    except ReadingError as error:
        outcome, reason = refused(error), str(error)
    finally:
        seconds = time.perf_counter() - began
        watching.cancel()
    if reading is None:
        return Outcome(name, suffix, outcome, reason, seconds, highest)
    Reader.release(reading)
    length = sum(len(page.text) for page in reading.pages)
    return Outcome(name, reading.kind, outcome, reason, seconds, highest, length)


def judged(reading: Reading) -> tuple[str, str]:
    """Whether a file was read, and what of it was not."""
    reasons = [page.warning for page in reading.pages if page.warning]
    unread = [page.number for page in reading.pages if page.route == "unread"]
    unseen = sum(picture.route == "unread" for picture in reading.pictures)
    if unseen:
        reasons.append(f"{unseen} of {len(reading.pictures)} pictures were not read.")
    reasons += reading.warnings
    text = " ".join(dict.fromkeys(reasons))
    return ("in part" if unread or reasons else "read"), text


def refused(error: ReadingError) -> str:
    """The outcome that an error stands for."""
    if isinstance(error, PasswordRequired):
        return "needs a password"
    if isinstance(error, EmptyDocument):
        return "empty"
    if isinstance(error, LimitExceeded):
        return "limit"
    if isinstance(error, UnsupportedKind):
        return "unsupported"
    text = str(error)
    if text.startswith("no text was found"):  # pages that are pictures, and OCR is off
        return "scanned"
    return "crash" if "parser crashed" in text or "parser failed" in text else "failed"


async def run(folder: Path, *, ocr: bool, only: str | None) -> list[Outcome]:
    """The outcome of every file of a folder, in order."""
    outcomes = []
    async with Reader(
        seconds=SECONDS, memory_mb=MEMORY_MB, file_mb=FILE_MB, ocr=ocr, threads=1
    ) as reader:
        for path in sorted(item for item in folder.rglob("*") if item.is_file()):
            name = path.relative_to(folder).as_posix()
            if only is None or only in name:
                outcomes.append(await outcome_of(reader, path, name))
                if len(outcomes) % 200 == 0:
                    print(f"{len(outcomes)} files", file=sys.stderr, flush=True)
    return outcomes


def table(outcomes: Sequence[Outcome]) -> list[str]:
    """Outcomes by format, as Markdown."""
    by_format: dict[str, Counter[str]] = defaultdict(Counter)
    for one in outcomes:
        by_format[one.format][one.outcome] += 1
    everything = Counter(one.outcome for one in outcomes)
    lines = [
        f"| format | files | {' | '.join(OUTCOMES)} |",
        f"| --- | --: |{' --: |' * len(OUTCOMES)}",
    ]
    ordered = sorted(by_format.items(), key=lambda item: (-item[1].total(), item[0]))
    for form, counts in [*ordered, ("**all**", everything)]:
        shown = " | ".join(str(counts[outcome] or "") for outcome in OUTCOMES)
        lines.append(f"| {form} | {counts.total()} | {shown} |")
    return lines


def costs(outcomes: Sequence[Outcome], most: int = 10) -> list[str]:
    """Time and memory: how they are spread, and the files that took most of them."""
    seconds = [one.seconds for one in outcomes]
    memory = [one.memory_mb for one in outcomes]
    lines = [
        f"Seconds a file: median {percentile(seconds, 0.5):.3f}, 99 % "
        f"{percentile(seconds, 0.99):.2f}, most {max(seconds):.1f}; all together "
        f"{sum(seconds):.0f}. Memory of the worker: median {percentile(memory, 0.5)} MiB, 99 % "
        f"{percentile(memory, 0.99)} MiB, most {max(memory)} MiB.",
        "",
        "| slowest files | seconds | worker, MiB | outcome |",
        "| --- | --: | --: | --- |",
    ]
    slowest = sorted(outcomes, key=lambda one: -one.seconds)[:most]
    hungriest = sorted(outcomes, key=lambda one: -one.memory_mb)[: most // 2]
    lines += [_cost(one) for one in slowest]
    lines += ["", "| most memory | seconds | worker, MiB | outcome |", "| --- | --: | --: | --- |"]
    return lines + [_cost(one) for one in hungriest]


def _cost(one: Outcome) -> str:
    return f"| {one.name} | {one.seconds:.1f} | {one.memory_mb} | {one.outcome} |"


def reasons(outcomes: Sequence[Outcome]) -> list[str]:
    """The files that were not read at all and not for being empty or of an unknown kind."""
    told = ("crash", "limit", "failed", "needs a password")
    return [
        f"- {one.outcome}: {one.name}: {one.reason}"
        for outcome in told
        for one in outcomes
        if one.outcome == outcome
    ]


def main(given: list[str]) -> None:
    """Read everything and print what became of it.

    Raises:
        SystemExit: with code 1, if a file crashed its parser, ran into a limit or has no outcome.
    """
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks reading_outcomes", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--no-ocr", action="store_true", help="leave pictures unread; much faster")
    parser.add_argument("--path", help="files whose path holds this")
    parser.add_argument(
        "--into", type=Path, metavar="FILE", help="put the tables between the marks of a document"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all outcomes there")
    options = parser.parse_args(given)
    folder = files_folder()
    outcomes = asyncio.run(run(folder, ocr=not options.no_ocr, only=options.path))
    if not outcomes:
        raise SystemExit(f"No file in {folder} holds '{options.path}' in its path.")
    unsaid = [one for one in outcomes if one.outcome != "read" and not one.reason]
    bad = [one for one in outcomes if one.outcome in _BAD]
    lines = [
        f"OCR {'off' if options.no_ocr else 'on'}. {len(outcomes)} files: {len(bad)} crashed or "
        f"ran into a limit, {len(unsaid)} without a stated reason.",
        "",
        *table(outcomes),
        "",
        *costs(outcomes),
        "",
        *reasons(outcomes),
    ]
    print("\n".join(lines))
    if options.into:
        put_into(options.into, lines)
    if options.json:
        options.json.write_text(
            json.dumps([asdict(one) for one in outcomes], indent=1), encoding="utf-8"
        )
    if bad or unsaid:
        raise SystemExit(1)
