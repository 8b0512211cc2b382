"""An answer as a person reads it: documents, their passages, and after them the notices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from emily.cli.excerpts import WordFinder, best_window
from emily.cli.explaining import explained
from emily.cli.plain import one_line, plain
from emily.cli.printing import barred, harmless, output, percent, wrapped
from emily.retrieval.rendering import cited

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from emily.retrieval.answer import Answer, Passage, Result

__all__ = ["print_answer"]

_EXCERPT_LINES = 12
_LINES_BEFORE = 2  # shown at least above the sentence that is nearest to the question
_LINES_AFTER = 5  # and from its first line on
_NOT_WORTH_CUTTING = 4  # so few lines more are shown
_ROUTES = {"ocr": "read by OCR", "vision": "read by a vision model"}


def print_answer(
    answer: Answer,
    *,
    languages: tuple[str, ...],
    full: bool,
    explain: bool,
    remedy: str = "--threshold 0 shows it",
) -> None:
    """Print an answer on stdout.

    Every line of a document's text stands behind a bar, so that it cannot pass for a notice.

    Args:
        answer: what was found.
        languages: of the archive; their function words are not marked in passages.
        full: print passages whole, not only the lines that fit the question best.
        explain: print the trace as well.
        remedy: what shows a passage that the threshold dropped, in the command that is run.
    """
    console = output()
    finder = WordFinder(answer, languages)
    for rank, result in enumerate(answer.results, start=1):
        for line in _heading(rank, result):
            console.print(line)
        for passage in result.passages:
            path = None if result.document.vault is None else result.document.path
            for line in _passage(passage, finder, console, full=full, path=path):
                console.print(line)
        console.print()
    notices = answer.notices
    if not answer.results and not notices:
        notices = ("Nothing was found.",)
    nearest = None if answer.results else _nearest(answer, remedy)
    for notice in notices:
        console.print(Text.assemble(("Notice: ", "bold yellow"), plain(notice)))
    if nearest is not None:
        console.print(nearest)
    if explain:
        for block in explained(answer.trace, answer.timings_ms):
            console.print()
            console.print(block)


def _nearest(answer: Answer, remedy: str) -> Text | None:
    """What came nearest to an answer without results, if a threshold dropped it."""
    candidates = answer.trace.get("second_stage", {}).get("candidates", [])
    if not candidates or candidates[0]["probability"] is None:
        return None
    first = candidates[0]
    return Text(
        f"Nearest was {one_line(first['name'])}, {percent(first['probability'])}; {remedy}.",
        "dim",
    )


def _heading(rank: int, result: Result) -> Iterator[Text]:
    document = result.document
    heading = Text.assemble((f"{rank}. {one_line(document.name)}", "bold"))
    if (probability := percent(result.score)) is not None:
        heading.append(f"  {probability}", "green")
    heading.append(f"  document {document.id}", "dim")
    yield heading
    yield Text(f"   {one_line(document.path)}", "dim")
    if document.description:
        yield Text(f"   {one_line(document.description)}")
    if result.via is not None:
        yield Text(f"   {one_line(result.via.text)}", "magenta")


def _passage(
    passage: Passage,
    finder: WordFinder,
    console: Console,
    *,
    full: bool,
    path: str | None = None,
) -> Iterator[Text]:
    text = harmless(passage.text.strip("\n"))
    for start, end in finder.spans(text.plain):
        text.stylize("bold yellow", start, end)
    lines = wrapped(text, console)
    first, last = 0, len(lines)
    if not full and len(lines) > _EXCERPT_LINES + _NOT_WORTH_CUTTING:
        first, last = _window(passage, lines, finder, console)
    citation = Text(f"   {_citation(passage, path)}", "cyan")
    if last - first < len(lines):
        citation.append(f" ({last - first} of {len(lines)} lines; --full shows all)", "dim")
    yield citation
    if passage.header:
        yield from map(barred, wrapped(Text(one_line(passage.header), "italic"), console))
    yield from map(barred, lines[first:last])


def _window(
    passage: Passage, lines: list[Text], finder: WordFinder, console: Console
) -> tuple[int, int]:
    """First and last-exclusive line to show: those around the sentence nearest to the question.

    Of the windows that hold it, the one that has most of the question's words.
    """
    focus = _focused_line(passage, console)
    least, most = 0, len(lines) - _EXCERPT_LINES
    if focus is not None:
        most = max(0, min(focus - _LINES_BEFORE, most))
        least = max(0, min(focus - _EXCERPT_LINES + _LINES_AFTER, most))
    reach = lines[least : most + _EXCERPT_LINES]
    first = least + best_window([finder.support(line.plain) for line in reach], _EXCERPT_LINES)
    last = first + _EXCERPT_LINES
    while first < last - 1 and not lines[first].plain.strip():
        first += 1
    while last > first + 1 and not lines[last - 1].plain.strip():
        last -= 1
    return first, last


def _focused_line(passage: Passage, console: Console) -> int | None:
    """The printed line on which the sentence nearest to the question begins."""
    if passage.focus is None:
        return None
    before = passage.text[: passage.focus[0] - passage.start].lstrip("\n")
    return len(wrapped(harmless(before), console)) - 1 if before else 0


def _citation(passage: Passage, path: str | None = None) -> str:
    parts = [cited(passage)]
    if path is not None and passage.focus_line is not None:
        parts.insert(0, f"{one_line(path)}:{passage.focus_line}")
    if passage.focus_page is not None and passage.pages != (passage.focus_page,) * 2:
        parts.append(f"nearest on page {passage.focus_page}")
    if (probability := percent(passage.score)) is not None:
        parts.append(probability)
    if passage.route in _ROUTES:
        parts.append(_ROUTES[passage.route])
    return ", ".join(parts)
