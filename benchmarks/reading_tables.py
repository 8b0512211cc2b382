"""Tables of the reading benchmark as Markdown, and the files where another reads better."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.reading_metrics import Score, difference, mean, score
from benchmarks.reading_reasons import reason_of
from benchmarks.reading_tools import Given
from benchmarks.reading_truth import FORMATS, Case, Excluded

__all__ = [
    "FIGURES",
    "Row",
    "explained",
    "failures",
    "pairs",
    "put_into",
    "table",
    "truths",
    "worst",
]

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


def explained(rows: Sequence[Row]) -> list[str]:
    """Every file where another reader is better, grouped by the reason."""
    groups: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        if found := row.better():
            told = ", ".join(f"{figure} {tool} +{by:.3f}" for tool, figure, by in _most(found))
            groups[reason_of(row.case.name)].append(f"- `{row.case.name}`: {told}")
    lines = [f"{sum(map(len, groups.values()))} of {len(rows)} files."]
    for reason, named in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        lines += ["", f"**{reason}** ({len(named)})", "", *named]
    return lines


def put_into(path: Path, lines: Sequence[str]) -> None:
    """Replace what stands between the marks of a document.

    Raises:
        SystemExit: it has no such marks.
    """
    first, last = "<!-- measured -->", "<!-- /measured -->"
    text = path.read_text(encoding="utf-8")
    if text.count(first) != 1 or text.count(last) != 1:
        raise SystemExit(f"{path} has no lines {first} and {last}.")
    head, rest = text.split(first)
    tail = rest.split(last)[1]
    body = "\n".join(lines)
    path.write_text(f"{head}{first}\n\n{body}\n\n{last}{tail}", encoding="utf-8")


def _most(found: Sequence[tuple[str, str, float]]) -> list[tuple[str, str, float]]:
    """Of every figure the tool that is furthest ahead."""
    best: dict[str, tuple[str, str, float]] = {}
    for one in found:
        best.setdefault(one[1], one)
    return [best[figure] for figure in FIGURES if figure in best]
