"""How well scans are read: character errors per kind of scan, for Emily and for two engines bare.

``python -m benchmarks.scans`` makes the scans (``benchmarks.scan_images``), reads each with all
engines in one run, and prints a Markdown table; ``--json`` prints the numbers instead. The bare
engine is RapidOCR with its own settings on the picture as it is, its lines in its own order.
Time is CPU time, as a ratio to that of the bare engine in the same run, which other work on the
machine disturbs least.
"""

from __future__ import annotations

import argparse
import io
import json
import logging
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.scan_images import KINDS, scan, truth
from benchmarks.scan_texts import PAGES

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["Engine", "distance", "engines", "measure", "table"]

_NAMES = ("emily", "rapidocr", "tesseract", "emily-tesseract")


@dataclass(slots=True)
class Score:
    """What one engine made of the scans of one kind.

    Attributes:
        errors: edits between what was read and what is written.
        characters: written, white space folded.
        seconds: of CPU.
        pages: characters and errors by page.
    """

    errors: int = 0
    characters: int = 0
    seconds: float = 0.0
    pages: dict[str, float] = field(default_factory=dict)

    @property
    def rate(self) -> float:
        """Character error rate: errors over characters."""
        return self.errors / max(1, self.characters)


Engine = Callable[["Image"], str]


def distance(one: str, other: str) -> int:
    """Levenshtein distance: the least insertions, deletions and replacements of a character.

    By bit vectors (Hyyrö 2003, "A bit-vector algorithm for computing Levenshtein and Damerau
    edit distances"), with an integer as long as ``one``.
    """
    if not one or not other:
        return len(one) + len(other)
    places: dict[str, int] = {}
    for at, char in enumerate(one):
        places[char] = places.get(char, 0) | 1 << at
    last, mask = 1 << (len(one) - 1), (1 << len(one)) - 1
    up, down, score = mask, 0, len(one)
    for char in other:
        same = places.get(char, 0)
        diagonal = ((((same & up) + up) ^ up) | same | down) & mask
        right, left = down | (~(diagonal | up) & mask), up & diagonal
        score += bool(right & last) - bool(left & last)
        right = (right << 1 | 1) & mask
        up, down = (left << 1 & mask) | (~(diagonal | right) & mask), right & diagonal
    return score


def folded(text: str) -> str:
    """A text with its white space folded."""
    return " ".join(text.split())


def _emily(engine: str) -> Engine:
    from emily.reading.ocr.engine import load
    from emily.reading.ocr.image import recognised
    from emily.reading.source import Source

    loaded = load(engine, ("it", "en"))
    source = Source(Path("scan"), lambda: loaded, time.monotonic() + 1e9, 10**9)
    return lambda image: recognised(image, source).text


def _rapidocr() -> Engine:
    from rapidocr import RapidOCR

    threads = "EngineConfig.onnxruntime.{}_op_num_threads"  # else it waits in a loop, and pays CPU
    one = {threads.format("intra"): 1, threads.format("inter"): 1}
    plain = RapidOCR(params={"Global.log_level": "critical", **one})

    def read(image: Image) -> str:
        found = plain(np.asarray(image)[:, :, ::-1])
        return "\n".join(found.txts or ())

    return read


def _tesseract(image: Image) -> str:
    data = io.BytesIO()
    image.save(data, "PNG", compress_level=1)
    command = ["tesseract", "-", "-", "-l", "ita+eng"]
    environment = {"OMP_THREAD_LIMIT": "1", "PATH": "/usr/local/bin:/usr/bin:/bin"}
    done = subprocess.run(
        command, input=data.getvalue(), capture_output=True, check=True, env=environment
    )
    return done.stdout.decode()


def engines(names: list[str]) -> dict[str, Engine]:
    """The engines by name; Tesseract only where its program is, and a word on stderr if not."""
    found: dict[str, Engine] = {}
    for name in names:
        if "tesseract" in name and shutil.which("tesseract") is None:
            print(f"{name} is left out: there is no program tesseract", file=sys.stderr)
        elif name == "tesseract":
            found[name] = _tesseract
        else:
            found[name] = (
                _rapidocr()
                if name == "rapidocr"
                else _emily("tesseract" if "tesseract" in name else "rapidocr")
            )
    return found


def _cpu() -> float:
    """CPU seconds of this process and of those that it has waited for."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def measure(
    found: dict[str, Engine], kinds: list[str], pages: list[str], seed: int = 0
) -> dict[str, dict[str, Score]]:
    """Scores by kind and engine."""
    scores = {kind: {name: Score() for name in found} for kind in kinds}
    warm = scan(PAGES[-1], "faint", seed).crop((0, 0, 800, 200))
    for read in found.values():
        read(warm)  # models are loaded at their first use
    for sheet in PAGES:
        if sheet.name not in pages:
            continue
        written = folded(truth(sheet))
        for kind in kinds:
            image = scan(sheet, kind, seed)
            for name, read in found.items():
                began = _cpu()
                text = read(image.copy())
                score = scores[kind][name]
                score.seconds += _cpu() - began
                errors = distance(folded(text), written)
                score.errors += errors
                score.characters += len(written)
                score.pages[sheet.name] = round(errors / len(written), 4)
                print(f"{sheet.name} {kind} {name}: {errors / len(written):.4f}", file=sys.stderr)
    return scores


def table(scores: dict[str, dict[str, Score]]) -> str:
    """The scores in Markdown: error rates in percent, and CPU time over the bare engine's."""
    names = list(next(iter(scores.values())))
    bare = "rapidocr" if "rapidocr" in names else names[0]
    lines = [
        "| kind of scan | " + " | ".join([*names, *(f"{name}, time" for name in names)]) + " |",
        "|---|" + "---|" * (2 * len(names)),
    ]
    for kind, by_name in scores.items():
        rates = [f"{100 * by_name[name].rate:.2f} %" for name in names]
        base = by_name[bare].seconds or 1
        times = [f"{by_name[name].seconds / base:.2f}" for name in names]
        lines.append(f"| {kind} | " + " | ".join([*rates, *times]) + " |")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--pages", nargs="+", default=[sheet.name for sheet in PAGES])
    parser.add_argument("--engines", nargs="+", choices=_NAMES, default=list(_NAMES[:3]))
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    logging.disable(logging.CRITICAL)
    scores = measure(engines(given.engines), given.kinds, given.pages, given.seed)
    if given.json:
        plain = {
            kind: {
                name: {
                    "error_rate": round(score.rate, 5),
                    "cpu_seconds": round(score.seconds, 2),
                    "pages": score.pages,
                }
                for name, score in by_name.items()
            }
            for kind, by_name in scores.items()
        }
        print(json.dumps({"seed": given.seed, "scores": plain}, indent=2))
    else:
        print(table(scores))


if __name__ == "__main__":
    main()
