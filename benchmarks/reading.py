"""How much of what people keep is read: Emily and other readers on the same public files.

python -m benchmarks reading --tools VENV                      # all formats
python -m benchmarks reading --tools VENV --format docx --worst 20 --diff

``docs/reading-benchmark.md`` says what is measured and how to make the environment.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.reading_metrics import Score, difference, mean, score
from benchmarks.reading_tools import READS, Emily, Given, Tool, started
from benchmarks.reading_truth import FORMATS, SOURCES, Case, Excluded, cases, files_folder

FIGURES = ("recall", "precision", "order", "cells")
_TIE = 0.0005
_SHOWN_WORDS = 40


@dataclass(slots=True)
class Row:
    """A file, and what every tool made of it.

    Attributes:
        case: the file.
        given: what each tool gave, by its name.
        scores: how good that was.
    """

    case: Case
    given: dict[str, Given] = field(default_factory=dict)
    scores: dict[str, Score] = field(default_factory=dict)

    def add(self, name: str, given: Given) -> None:
        """Take what a tool gave."""
        self.given[name] = given
        self.scores[name] = score(self.case.truth, given.text, given.cells)

    def better(self) -> list[tuple[str, str, float]]:
        """Where another tool is better than Emily: tool, figure and by how much, worst first."""
        own = self.scores["emily"].figures()
        found = [
            (tool, figure, theirs - ours)
            for tool, other in self.scores.items()
            for figure, ours, theirs in zip(FIGURES, own, other.figures(), strict=True)
            if ours is not None and theirs is not None and theirs > ours + _TIE
        ]
        return sorted(found, key=lambda item: -item[2])


async def measure(
    found: Iterable[Case], tools: Sequence[Tool], *, ocr: bool, say: Callable[[str], None]
) -> list[Row]:
    """Read every file with every tool that reads its format."""
    emily = Emily(ocr=ocr)
    rows = []
    try:
        for case in found:
            row = Row(case)
            row.add("emily", await emily.read(case.path))
            for tool in tools:
                if case.format in READS[tool.name]:
                    row.add(tool.name, tool.read(case.path, case.format))
            rows.append(row)
            if len(rows) % 50 == 0:
                say(f"{len(rows)} files")
    finally:
        await emily.close()
    return rows


def shown(value: float | None) -> str:
    """A figure in a table."""
    return "–" if value is None else f"{value:.3f}".removeprefix("0")


def averages(rows: Sequence[Row], tool: str) -> list[float | None]:
    """The means of a tool's four figures over the files that it was given."""
    given = [row.scores[tool] for row in rows if tool in row.scores]
    return [mean(figures) for figures in zip(*(one.figures() for one in given), strict=True)] or [
        None
    ] * len(FIGURES)


def table(rows: Sequence[Row], tools: Sequence[str]) -> list[str]:
    """The Markdown table: a line for each format, the best of each figure in bold."""
    lines = [
        f"| format | files | {' | '.join(tools)} |",
        f"| --- | --: |{' --- |' * len(tools)}",
    ]
    by_format = defaultdict(list)
    for row in rows:
        by_format[row.case.format].append(row)
    for form in FORMATS:
        if form in by_format:
            lines.append(_line(form, by_format[form], tools))
    lines.append(_line("**all**", rows, tools))
    return lines


def _line(name: str, rows: Sequence[Row], tools: Sequence[str]) -> str:
    means = {tool: averages(rows, tool) for tool in tools}
    best = [
        max((values[at] for values in means.values() if values[at] is not None), default=None)  # type: ignore[type-var]
        for at in range(len(FIGURES))
    ]
    parts = []
    for tool in tools:
        if not any(tool in row.scores for row in rows):
            parts.append("")
            continue
        marked = [
            f"**{shown(value)}**"
            if value is not None and top is not None and value >= top - _TIE
            else shown(value)
            for value, top in zip(means[tool], best, strict=True)
        ]
        parts.append(" ".join(marked))
    return f"| {name} | {len(rows)} | {' | '.join(parts)} |"


def pairs(rows: Sequence[Row], tools: Sequence[str]) -> list[str]:
    """Emily and each other tool on the files that both were given."""
    lines = [
        "| against | files | theirs | Emily on the same files |",
        "| --- | --: | --- | --- |",
    ]
    for tool in tools:
        common = [row for row in rows if tool in row.scores]
        if tool != "emily" and common:
            theirs, ours = (
                " ".join(map(shown, averages(common, name))) for name in (tool, "emily")
            )
            lines.append(f"| {tool} | {len(common)} | {theirs} | {ours} |")
    return lines


def failures(rows: Sequence[Row], tools: Sequence[str]) -> list[str]:
    """How many files each tool could not read, and how."""
    lines = ["| tool | files | failed | hung | crashed |", "| --- | --: | --: | --: | --: |"]
    for tool in tools:
        given = [row.given[tool] for row in rows if tool in row.given]
        how = Counter((one.problem or "").split(":")[0] for one in given if one.text is None)
        hung, crashed = how["hung"] + how["LimitExceeded"], how["crashed"]
        failed = how.total() - hung - crashed
        lines.append(f"| {tool} | {len(given)} | {failed} | {hung} | {crashed} |")
    return lines


def worst(rows: Sequence[Row], most: int, *, diff: bool) -> list[str]:
    """The files where another tool is better than Emily, by how much."""
    behind = sorted(
        ((found[0][2], row, found) for row in rows if (found := row.better())),
        key=lambda item: -item[0],
    )
    lines = [f"{len(behind)} of {len(rows)} files where another tool is better in some figure."]
    for _, row, found in behind[:most]:
        truth = row.case.truth
        lines.append(f"\n{row.case.name}  (truth: {truth.kind})")
        for tool, one in row.scores.items():
            problem = row.given[tool].problem
            marks = ", ".join(figure for who, figure, _ in found if who == tool)
            lines.append(
                f"  {tool:13}{' '.join(shown(value).rjust(5) for value in one.figures())}"
                + (f"  better: {marks}" if marks else "")
                + (f"  {problem}" if problem else "")
            )
        if diff:
            for tool in dict.fromkeys(["emily", *(who for who, _, _ in found)]):
                missing, surplus = difference(truth, row.given[tool].text or "")
                if missing:
                    lines.append(f"  {tool} lacks: {_counted(missing)}")
                if surplus:
                    lines.append(f"  {tool} has beyond the truth: {_counted(surplus)}")
    return lines


def _counted(counter: Counter[str]) -> str:
    most = [
        word if count == 1 else f"{word}×{count}"
        for word, count in counter.most_common(_SHOWN_WORDS)
    ]
    more = len(counter) - len(most)
    return " ".join(most) + (f" … and {more} more" if more > 0 else "")


def record(rows: Sequence[Row], tools: Sequence[Tool]) -> dict[str, Any]:
    """Everything as JSON."""
    return {
        "versions": {tool.name: tool.version for tool in tools},
        "files": [
            {
                "path": row.case.name,
                "format": row.case.format,
                "truth": row.case.truth.kind,
                "scores": {
                    name: dict(zip(FIGURES, one.figures(), strict=True))
                    for name, one in row.scores.items()
                },
                "problems": {n: one.problem for n, one in row.given.items() if one.problem},
            }
            for row in rows
        ],
    }


def truths(rows: Sequence[Row], left_out: Sequence[Excluded]) -> list[str]:
    """Where the truth of each format comes from, and how many files have none."""
    lines = ["| format | compared | truth from | left out |", "| --- | --: | --- | --: |"]
    for form in FORMATS:
        kinds = Counter(row.case.truth.kind for row in rows if row.case.format == form)
        out = sum(one.format == form for one in left_out)
        if kinds or out:
            told = ", ".join(f"{kind} {count}" for kind, count in kinds.most_common())
            lines.append(f"| {form} | {kinds.total()} | {told} | {out} |")
    return lines


def arguments(given: list[str]) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks reading", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--tools", type=Path, metavar="VENV", help="where the other tools are")
    parser.add_argument("--only", nargs="*", choices=sorted(READS), help="some of the other tools")
    parser.add_argument("--format", choices=FORMATS, help="one format")
    parser.add_argument("--path", help="files whose path holds this")
    parser.add_argument("--ocr", action="store_true", help="pictures and scanned pages as well")
    parser.add_argument("--worst", type=int, default=0, metavar="N", help="name the N worst files")
    parser.add_argument("--diff", action="store_true", help="with the words that differ")
    parser.add_argument("--left-out", action="store_true", help="name the files that have no truth")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    parser.add_argument(
        "--worst-into", type=Path, metavar="FOLDER", help="write worst-FORMAT.txt there"
    )
    parser.add_argument(
        "--cache",
        type=Path,
        default=Path(tempfile.gettempdir()) / "emily-reading-cache",
        metavar="FOLDER",
        help="where results of the other tools are kept (%(default)s)",
    )
    return parser.parse_args(given)


def main(given: list[str]) -> None:
    """Measure and print."""
    options = arguments(given)
    folder = files_folder()
    names = options.only if options.only is not None else list(READS)
    tools = started(names, options.tools, options.cache)
    pandoc = next((tool for tool in tools if tool.name == "pandoc"), None)

    def to_markdown(path: Path, kind: str) -> str | None:
        return pandoc.read(path, kind).text if pandoc else None

    def say(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    try:
        found = [
            one
            for one in cases(folder, to_markdown, ocr=options.ocr, only=options.format)
            if not options.path or options.path in one.name
        ]
        left_out = [one for one in found if isinstance(one, Excluded)]
        rows = asyncio.run(
            measure(
                (one for one in found if isinstance(one, Case)), tools, ocr=options.ocr, say=say
            )
        )
    finally:
        for tool in tools:
            tool.stop()
    columns = ["emily", *(tool.name for tool in tools)]
    if pandoc is None:
        print("Pandoc is not there: files whose truth is its own document are left out.")
    print("versions:", ", ".join(f"{tool.name} {tool.version}" for tool in tools) or "Emily alone")
    print("figures: recall precision order cells\n")
    print("\n".join(table(rows, columns)), end="\n\n")
    print("\n".join(pairs(rows, columns)), end="\n\n")
    everywhere = [row for row in rows if all(one.text for one in row.given.values())]
    print(f"Only the {len(everywhere)} files that every tool of the format gave text for:\n")
    print("\n".join(table(everywhere, columns)), end="\n\n")
    print("\n".join(failures(rows, columns)), end="\n\n")
    print("\n".join(truths(rows, left_out)), end="\n\n")
    if options.left_out:
        print("\n".join(f"{one.name}: {one.reason}" for one in left_out), end="\n\n")
    if options.worst:
        print("\n".join(worst(rows, options.worst, diff=options.diff)))
    if options.worst_into:
        for form in {row.case.format for row in rows}:
            of_form = [row for row in rows if row.case.format == form]
            lines = [*table(of_form, columns), "", *worst(of_form, 60, diff=True)]
            (options.worst_into / f"worst-{form}.txt").write_text("\n".join(lines), "utf-8")
    if options.json:
        options.json.write_text(json.dumps(record(rows, tools), indent=1), encoding="utf-8")


__all__ = ["SOURCES", "main"]
