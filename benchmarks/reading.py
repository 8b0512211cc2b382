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
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.reading_tables import (
    FIGURES,
    Row,
    explained,
    failures,
    pairs,
    put_into,
    table,
    truths,
    worst,
)
from benchmarks.reading_tools import READS, Emily, Tool, started
from benchmarks.reading_truth import FORMATS, Case, Excluded, cases, files_folder


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


def report(rows: Sequence[Row], left_out: Sequence[Excluded], tools: Sequence[Tool]) -> list[str]:
    """All tables."""
    columns = ["emily", *(tool.name for tool in tools)]
    versions = ", ".join(f"{tool.name} {tool.version}" for tool in tools)
    everywhere = [row for row in rows if all(one.text for one in row.given.values())]
    return [
        f"Versions: {versions or 'Emily alone'}. In each column: recall, precision, order, cells.",
        "",
        *table(rows, columns),
        "",
        "Each other reader and Emily on the files that both are given:",
        "",
        *pairs(rows, columns),
        "",
        f"Only the {len(everywhere)} files that every reader of the format gave text for:",
        "",
        *table(everywhere, columns),
        "",
        "What could not be read:",
        "",
        *failures(rows, columns),
        "",
        "Where the truth of each format comes from:",
        "",
        *truths(rows, left_out),
    ]


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
    parser.add_argument(
        "--into", type=Path, metavar="FILE", help="put the tables between the marks of a document"
    )
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
    lines = report(rows, left_out, tools)
    print("\n".join(lines), end="\n\n")
    if options.left_out:
        print("\n".join(f"{one.name}: {one.reason}" for one in left_out), end="\n\n")
    if options.worst:
        print("\n".join(worst(rows, options.worst, diff=options.diff)))
    if options.worst_into:
        for form in {row.case.format for row in rows}:
            of_form = [row for row in rows if row.case.format == form]
            lines = [*table(of_form, columns), "", *worst(of_form, 60, diff=True)]
            (options.worst_into / f"worst-{form}.txt").write_text("\n".join(lines), "utf-8")
    if options.into:
        better = ["## Where another reader is better", "", *explained(rows)]
        put_into(options.into, [*lines, "", *better])
    if options.json:
        options.json.write_text(json.dumps(record(rows, tools), indent=1), encoding="utf-8")
