"""The demonstration: a fresh home is filled with everyday files, asked, and scored.

    make demo
    python -m examples.demo [--home FOLDER]

Without ``--home`` all of it happens in a temporary folder that is gone afterwards. The exit
code is 1 if a file cannot be read or the score falls under ``FLOOR``.
"""

from __future__ import annotations

import argparse
import asyncio
import shlex
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rich.text import Text

from emily import Brain
from emily.brain import AddReport, Answer
from emily.cli.adding import shown_progress
from emily.cli.answering import print_answer
from emily.cli.printing import output, table
from emily.errors import EmilyError
from emily.measure.evaluation import Evaluation, Outcome
from emily.settings import load_settings
from emily.store import EmbeddedServer
from examples.archive.questions import load

FILES = Path(__file__).parent / "archive" / "files"

FLOOR = 0.80
"""Least share of the answerable questions whose document is among the first three shown."""

SHOWN = ("a37", "a10", "a51")
"""Questions whose answers are printed: Italian about an English manual, one about a photograph
of a receipt, English about Italian minutes."""


@dataclass(slots=True)
class Run:
    """What the demonstration did.

    Attributes:
        seconds: by step, in order.
        answers: to the questions that are shown, by id.
        documents: their names, by id.
        pages: how many pages were read, by route.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    answers: dict[str, Answer] = field(default_factory=dict)
    documents: dict[int, str] = field(default_factory=dict)
    pages: dict[str, int] = field(default_factory=dict)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Take the time of a step."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = time.perf_counter() - started


def main(arguments: list[str] | None = None) -> int:
    """Run the demonstration; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m examples.demo", description=__doc__)
    parser.add_argument("--home", type=Path, help="a new folder, kept to go on with")
    options = parser.parse_args(arguments)
    try:
        with ExitStack() as stack:
            home = options.home
            if home is None:
                folder = tempfile.TemporaryDirectory(prefix="emily-demo-")
                home = Path(stack.enter_context(folder)) / "home"
            elif home.exists() and any(home.iterdir()):
                print(f"{home} is not empty. The demo fills a home of its own.", file=sys.stderr)
                return 1
            return asyncio.run(_demonstrate(home.expanduser().absolute(), kept=bool(options.home)))
    except EmilyError as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("demo: Interrupted.", file=sys.stderr)
        return 130


async def _demonstrate(home: Path, *, kept: bool) -> int:
    # The owner's own database, if one is set, is no place for example files.
    settings = load_settings(home, database_url=None)
    run = Run()
    try:
        started = time.perf_counter()
        async with Brain.open(settings) as brain:
            run.seconds["create the database, load the models"] = time.perf_counter() - started
            _heading(f"Add {len(list(FILES.iterdir()))} files")
            with run.step("read and index the files"), shown_progress() as tell:
                report = await brain.add([FILES], progress=tell)
            _print_added(report, await _pages(brain, run))
            answerable, unanswerable = load()
            with run.step(f"ask {len(answerable) + len(unanswerable)} questions"):
                (trial,) = await brain.evaluate(answerable, unanswerable)
            found = trial.evaluation
            for question in answerable:
                if question.id in SHOWN:
                    run.answers[question.id] = await brain.search(question.text, log=False)
            run.documents.update(trial.names)
    finally:
        if not kept:
            await asyncio.to_thread(EmbeddedServer(home).stop)
    _print_answers(found, run, settings.languages)
    _print_scores(found)
    _print_failures(found, run.documents)
    _print_times(run, found)
    _print_next(home if kept else None)
    return _verdict(found, report)


async def _pages(brain: Brain, run: Run) -> dict[str, int]:
    for document in await brain.list():
        for route, count in (await brain.show(document.id)).routes.items():
            run.pages[route] = run.pages.get(route, 0) + count
    return run.pages


def _print_added(report: AddReport, pages: dict[str, int]) -> None:
    counts = ", ".join(f"{count} {outcome}" for outcome, count in report.counts().items())
    routes = ", ".join(f"{count} by {route}" for route, count in sorted(pages.items()))
    output().print(f"{len(report.files)} files: {counts}. {sum(pages.values())} pages: {routes}.")
    for file in report.files:
        if file.reason:
            output().print(f"  {file.path.name}: {file.reason}")


def _print_answers(found: Evaluation, run: Run, languages: tuple[str, ...]) -> None:
    by_id = {item.asked.id: item.asked for item in found.answerable}
    for name in SHOWN:
        _heading(f"$ emily search {shlex.quote(by_id[name].text)}")
        print_answer(run.answers[name], languages=languages, full=False, explain=False)


def _print_scores(found: Evaluation) -> None:
    _heading("Score")
    rows = []
    pairs = found.groups().get("pair", ())
    for name, group in (("all", None), *((pair, {"pair": pair}) for pair in pairs)):
        scores = found.scores(group)
        shares = (scores.hit_1, scores.hit_3, scores.hit_5, scores.mrr)
        rest = (scores.candidate_recall, scores.quote_shown)
        rows.append((name, scores.questions, *(f"{value:.2f}" for value in (*shares, *rest))))
    columns = ("question→answer", "questions", "hit@1", "hit@3", "hit@5", "MRR")
    output().print(table((*columns, "in the pool", "quote shown"), rows))
    rows = [
        (kind, item.absent, f"{item.absent_empty:.2f}", f"{item.auc:.2f}")
        for kind in found.kinds()
        for item in (found.absence(kind=kind),)
    ]
    output().print(table(("without an answer", "questions", "come back empty", "AUC"), rows))
    scores = found.scores()
    empty = ", ".join(f"{name} {count}" for name, count in found.empty_arms().items()) or "none"
    output().print(
        f"An answerable question shows {scores.documents:.1f} documents on average; "
        f"{scores.single_document:.0%} show one alone, {scores.empty:.0%} nothing. "
        f"Searches with an empty arm: {empty}."
    )


def _print_failures(found: Evaluation, documents: Mapping[int, str]) -> None:
    failed = [item for item in found.answerable if (item.places["result"] or 4) > 3]
    if not failed:
        return
    _heading("Questions whose document is not among the first three")
    rows = [
        (
            item.asked.id,
            item.asked.text,
            ", ".join(documents[document] for document in item.asked.relevant),
            _where(item),
        )
        for item in failed
    ]
    output().print(table(("id", "question", "document", "what became of it"), rows))


def _where(item: Outcome) -> str:
    if item.lost_by is None:
        return f"shown as number {item.places['result']}"
    places = ", ".join(
        f"{name.removesuffix('_arm').replace('_', ' ')} {item.places[name] or '-'}"
        for name in item.places
        if name not in ("threshold", "result")
    )
    return f"lost by {item.lost_by} ({places})"


def _print_times(run: Run, found: Evaluation) -> None:
    _heading("Time")
    rows = [(name, f"{seconds:.1f} s") for name, seconds in run.seconds.items()]
    rows.append(("in all", f"{sum(run.seconds.values()):.1f} s"))
    output().print(table(("step", "time"), rows))
    times = [item.milliseconds for item in (*found.answerable, *found.unanswerable)]
    slow = statistics.quantiles(times, n=20)[-1]
    output().print(
        f"A search took {statistics.median(times):.0f} ms (median; 95 % of them at "
        f"most {slow:.0f} ms)."
    )


def _print_next(home: Path | None) -> None:
    _heading("Go on")
    program = Path(sys.executable).with_name("emily")
    here = Path.cwd()
    shown = program.relative_to(here) if program.is_relative_to(here) else program
    emily = str(shown) if program.exists() else "emily"
    if home is not None:
        emily += f" --home {shlex.quote(str(home))}"
    console = output()
    console.print(f"  {emily} add ~/Documents        your own files, or any folder")
    console.print(f'  {emily} search "..."           a question, in any language you keep')
    console.print(f'  {emily} search "..." --explain what each stage did, and its time')
    console.print(f"  {emily} --help                 all commands")
    if home is not None:
        console.print(f"  {emily} stop                   end the database server of {home}")


def _verdict(found: Evaluation, report: AddReport) -> int:
    failed = report.counts().get("failed", 0)
    score = found.scores().hit_3
    if failed:
        print(f"demo: {failed} files could not be read.", file=sys.stderr)
    if score < FLOOR:
        print(f"demo: hit@3 is {score:.2f}, below the floor of {FLOOR:.2f}.", file=sys.stderr)
    return 1 if failed or score < FLOOR else 0


def _heading(text: str) -> None:
    output().print()
    output().print(Text(text, "bold"))


if __name__ == "__main__":
    sys.exit(main())
