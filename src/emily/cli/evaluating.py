"""The command that measures how well Emily finds: ``eval``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from emily.cli.plain import one_line
from emily.cli.session import AsJson, Session, guarded, say_json, session_of
from emily.errors import InputError

if TYPE_CHECKING:
    from emily.measure.comparison import Run
    from emily.measure.trial import Trial

__all__ = ["evaluate"]

QUESTIONS = "questions.toml"

_HOW_TO_WRITE = """\
There are no questions in {path}. Write some, each with the document that answers it:

[[answerable]]
id = "a01"
text = "When does the lease end?"
document = "lease.pdf"
quote = "31 March 2027"

[[unanswerable]]
id = "u01"
text = "When is the lift replaced?"
kind = "near-miss"

Another file is named behind the command: emily eval FILE. A public set is measured with: \
emily eval --set DIR"""


@guarded
def evaluate(
    context: typer.Context,
    questions: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            help="Questions in TOML or JSONL; without it questions.toml in the home folder.",
            show_default=False,
        ),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--set",
            metavar="DIR",
            help="Measure on a folder with corpus.jsonl, queries.jsonl and qrels.tsv instead.",
            show_default=False,
        ),
    ] = None,
    qrels: Annotated[
        Path | None,
        typer.Option(
            "--qrels",
            metavar="FILE",
            help="Other judgements for the set than qrels.tsv.",
            show_default=False,
        ),
    ] = None,
    cross_only: Annotated[
        bool,
        typer.Option(
            "--cross-only",
            help="Ask each question of the set without the documents in its own language.",
        ),
    ] = False,
    untitled: Annotated[
        bool,
        typer.Option(
            "--untitled",
            help="Leave the titles of the set's documents out: some sets ask with titles.",
        ),
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="FIELD=VALUE",
            help="Only questions of the set with this kind or split: split=dev.",
            show_default=False,
        ),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            "--preset",
            metavar="NAME",
            help="What the searches do; without it the setting preset.",
            show_default=False,
        ),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(
            "--sample",
            help="At most so many questions, drawn with a fixed seed.",
            show_default=False,
        ),
    ] = None,
    documents: Annotated[
        int | None,
        typer.Option(
            "--documents",
            help="At most so many documents of the set; those that answer are always kept.",
            show_default=False,
        ),
    ] = None,
    compared: Annotated[
        tuple[str, str] | None,
        typer.Option(
            "--compare",
            metavar="A B",
            help="Compare two results that --json printed into files, or two presets.",
            show_default=False,
        ),
    ] = None,
    real: Annotated[
        bool,
        typer.Option(
            "--real",
            help="Ask the questions of your log again (emily queries), whose answers nobody knows.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Measure how well the archive is searched, stage by stage.

    Asks questions whose answers are known: your own, or those of a public set, which is indexed
    in a database of its own that is gone afterwards. Your archive is only read, and nothing of
    this counts as a question of yours. docs/evaluation.md says what each figure means.

    Descriptions and categories take no part in the order, so that they add nothing to these
    figures; python -m benchmarks descriptions shows what they would add.
    """
    session = session_of(context)
    about_sets = {
        "--qrels": qrels,
        "--cross-only": cross_only,
        "--untitled": untitled,
        "--only": only,
        "--documents": documents,
    }
    given = [name for name, value in about_sets.items() if value]
    if folder is None and given:
        raise InputError(f"{given[0]} is about a public set. Name its folder with --set DIR.")
    if real:
        others = {
            "FILE": questions, "--set": folder, "--compare": compared, "--sample": sample,
        }  # fmt: skip
        beside = [name for name, value in others.items() if value]
        if beside:
            raise InputError(f"--real asks the questions of your log; leave out {beside[0]}.")
        _replay(session, preset, as_json)
        return
    if folder is not None and questions is not None:
        raise InputError(
            f"A set brings its own questions, and {questions} was named as well. Leave one out."
        )
    if compared is None:
        presets: tuple[str | None, ...] = (preset,)
    else:
        if preset is not None:
            raise InputError("--compare names what is compared; --preset has no place beside it.")
        before, after = compared
        presets = _presets(compared)
        if not presets:
            _show_comparison(_saved(before), _saved(after), as_json)
            return
    with shown_steps() as progress:
        if folder is not None:
            trials = session.measure(
                folder,
                presets=presets,
                judgements=qrels,
                cross_only=cross_only,
                titles=not untitled,
                only=_fields(only or ()),
                documents=documents,
                questions=sample,
                progress=progress,
            )
        else:
            trials = _own(session, questions, presets, sample, progress)
    if compared is not None:
        first, second = (_run(trial) for trial in trials)
        _show_comparison(first, second, as_json)
    elif as_json:
        from emily.cli.evaluation_contract import eval_output

        say_json(eval_output(trials[0]))
    else:
        from emily.cli.evaluation_tables import print_trial

        print_trial(trials[0])


def _fields(given: Sequence[str]) -> dict[str, str]:
    found = {}
    for item in given:
        name, equals, value = item.partition("=")
        if not equals or not name or not value:
            raise InputError(f"--only is {item!r}; write a field and its value: split=dev.")
        found[name] = value
    return found


@contextmanager
def shown_steps() -> Iterator[Callable[[str, int, int], None]]:
    """Show progress on stderr: a bar on a terminal, else a line at every tenth part."""
    if not sys.stderr.isatty():
        yield _tell_line
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining

    from emily.cli.printing import errors

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        Remaining(),
    )
    with Progress(*columns, console=errors(), transient=True) as bar:
        tasks: dict[str, int] = {}

        def show(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(one_line(what), total=total)
            bar.update(tasks[what], completed=done)  # type: ignore[arg-type]  # its own number

        yield show


def _tell_line(what: str, done: int, total: int) -> None:
    if done == total or done % max(1, total // 10) == 0:
        typer.echo(f"{what}: {done} of {total}", err=True)


def _own(
    session: Session,
    questions: Path | None,
    presets: Sequence[str | None],
    sample: int | None,
    progress: Callable[[str, int, int], None],
) -> Sequence[Trial]:
    """Ask the owner's archive the owner's questions."""
    from emily.measure.questions import load_questions, sampled_questions

    path = session.settings().home / QUESTIONS if questions is None else questions
    if questions is None and not path.exists():
        raise InputError(_HOW_TO_WRITE.format(path=path))
    answerable, unanswerable = load_questions(path)
    if not answerable and not unanswerable:
        raise InputError(_HOW_TO_WRITE.format(path=path))
    if sample is not None:
        answerable, unanswerable = sampled_questions(answerable, unanswerable, sample)
    return session.run(
        lambda brain: brain.evaluate(
            answerable, unanswerable, presets=presets, name=path.name, progress=progress
        ),
        warm=True,
    )


def _replay(session: Session, preset: str | None, as_json: bool) -> None:
    with shown_steps() as progress:
        found = session.run(lambda brain: brain.replay(preset=preset, progress=progress), warm=True)
    if as_json:
        from emily.cli.evaluation_contract import replay_output

        say_json(replay_output(found))
    else:
        from emily.cli.evaluation_tables import print_replay

        print_replay(found)


def _presets(compared: tuple[str, str]) -> tuple[str | None, ...]:
    """The presets that are to be compared; none if the names are of files."""
    from emily.retrieval.presets import presets

    known = [name in presets() for name in compared]
    if all(known):
        return compared
    if any(known):
        raise InputError(
            f"--compare {' '.join(compared)}: one is a preset and the other is not. Compare two "
            f"presets ({', '.join(presets())}) or two files."
        )
    missing = [name for name in compared if not Path(name).exists()]
    if missing:
        raise InputError(
            f"--compare: there is no file {missing[0]!r} and no preset of that name. Presets: "
            f"{', '.join(presets())}"
        )
    return ()


def _saved(path: str) -> Run:
    from emily.measure.comparison import load_run

    return load_run(Path(path))


def _run(trial: Trial) -> Run:
    from emily.measure.comparison import run_of

    subject = trial.subject
    return run_of(trial.preset.name, f"{subject.kind} {subject.name}", trial.evaluation)


def _show_comparison(before: Run, after: Run, as_json: bool) -> None:
    from emily.measure.comparison import compare

    found = compare(before, after)
    if as_json:
        from emily.cli.evaluation_contract import compare_output

        say_json(compare_output(found))
    else:
        from emily.cli.evaluation_tables import print_comparison

        print_comparison(found)
