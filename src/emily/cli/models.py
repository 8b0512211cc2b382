"""The commands about models: ``models list``, ``models try``, ``models use``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from emily.cli.plain import one_line
from emily.cli.program import INTERRUPTED
from emily.cli.progress import progress
from emily.cli.session import AsJson, fail, guarded, say_json, session_of

if TYPE_CHECKING:
    from emily.indexing.embedders import ModelChange
    from emily.measure.embedder_trial import EmbedderTrial, Side

__all__ = ["models"]

QUESTIONS = "questions.toml"

models = typer.Typer(
    help="List the models that there are, try another one, and change to it.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Model = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help=(
            "bundled, ollama/NAME, openai/NAME or sentence-transformers/FOLDER; a name alone is "
            "one of the server that is set, else of Ollama."
        ),
    ),
]
Url = Annotated[
    str | None,
    typer.Option(
        "--url",
        metavar="URL",
        help="Address of its server; without it the setting embedder_url.",
        show_default=False,
    ),
]


@models.command("list")
@guarded
def list_models(context: typer.Context, as_json: AsJson = False) -> None:
    """List the embedders: which is used, which answer, and which documents are of which.

    Beside the bundled one and the one that is set, those of an Ollama server on this machine.
    """
    found = session_of(context).run(lambda brain: brain.models())
    if as_json:
        from emily.cli.models_contract import models_list_output

        say_json(models_list_output(found))
        return
    from emily.cli.printing import output, percent, table

    rows = [
        (
            "*" if item.chosen else "",
            item.model,
            item.profile,
            item.dimension,
            {True: "yes", False: "no", None: ""}[item.reachable],
            item.documents,
            percent(item.share),
            item.waiting or None,
            item.detail,
        )
        for item in found
    ]
    columns = (
        "used", "model", "profile", "dimension", "answers", "documents", "share", "waiting",
        "detail",
    )  # fmt: skip
    output().print(table(columns, rows))


@models.command("try")
@guarded
def try_model(
    context: typer.Context,
    model: Model,
    url: Url = None,
    questions: Annotated[
        Path | None,
        typer.Option(
            "--questions",
            metavar="FILE",
            help="Your questions; without it questions.toml in the home folder, if it is there.",
            show_default=False,
        ),
    ] = None,
    sample: Annotated[
        int, typer.Option("--sample", help="Most documents that both models embed.")
    ] = 200,
    queries: Annotated[
        int,
        typer.Option("--queries", help="How many of your latest searches are put to both.", min=0),
    ] = 50,
    as_json: AsJson = False,
) -> None:
    """Compare another embedder with the present one on a sample; nothing is changed.

    Both embed the same documents in throw-away databases and answer your own questions and your
    latest searches. Shown are quality, time and memory.
    """
    from emily.measure.questions import load_questions

    session = session_of(context)
    path = questions or session.settings().home / QUESTIONS
    answerable, unanswerable = (
        load_questions(path) if questions is not None or path.is_file() else ([], [])
    )
    with progress() as tell:
        trial = session.run(
            lambda brain: brain.try_model(
                model,
                url=url,
                answerable=answerable,
                unanswerable=unanswerable,
                queries=queries,
                sample=sample,
                progress=tell,
            )
        )
    if as_json:
        from emily.cli.models_contract import models_try_output

        say_json(models_try_output(trial))
    else:
        _print_trial(trial)


@models.command("use")
@guarded
def use_model(
    context: typer.Context, model: Model, url: Url = None, as_json: AsJson = False
) -> None:
    """Embed the archive with another model, then change to it.

    The archive stays searchable with the old model until the last document is embedded; then all
    changes at once, and the settings are written. Ctrl-C loses nothing: the same command goes on.
    """
    try:
        with progress() as tell:
            change = session_of(context).run(
                lambda brain: brain.use_model(model, url=url, progress=tell)
            )
    except KeyboardInterrupt:
        fail(
            "Interrupted",
            "Interrupted. The archive has its old model, and what was embedded is kept. Run the "
            "same command again to go on.",
            as_json,
        )
        raise typer.Exit(INTERRUPTED) from None
    if as_json:
        from emily.cli.models_contract import models_use_output

        say_json(models_use_output(change))
    else:
        _print_change(change)


def _print_change(change: ModelChange) -> None:
    from emily.cli.printing import output

    console = output()
    noun = "document" if change.documents == 1 else "documents"
    console.print(f"The embedder is now {one_line(change.model)}: {one_line(change.detail)}")
    if change.documents:
        console.print(
            f"{change.documents} {noun} changed to it, {change.embedded} of them embedded now."
        )
    else:
        console.print("No document was of another model.")
    for failure in change.failures:
        console.print(f"Warning: {one_line(failure)}")
    console.print(f"Written in {change.settings.path}: {'; '.join(change.settings.lines)}")
    for name in change.settings.overridden:
        console.print(f"Problem: the environment variable {name} says something else and wins.")


def _print_trial(trial: EmbedderTrial) -> None:
    from emily.cli.printing import output, table

    console = output()
    console.print(
        f"{trial.documents} of {trial.archive_documents} documents ({trial.chunks} of "
        f"{trial.archive_chunks} chunks), {trial.questions} questions of yours"
        + (f", {trial.left_out} left out" if trial.left_out else "")
    )
    console.print(f"{one_line(trial.after.model)}: {one_line(trial.detail)}")
    columns = (
        "model", "hit@1", "hit@3", "nDCG@10", "sample s", "archive s", "search ms", "MB",
        "without vector",
    )  # fmt: skip
    console.print(table(columns, [_row(trial.before), _row(trial.after)]))
    if trial.comparison is not None:
        rows = [
            (
                item.metric, f"{item.before:.3f}", f"{item.after:.3f}",
                f"{item.difference.low:+.3f} to {item.difference.high:+.3f}",
                item.gains, item.losses,
            )
            for item in trial.comparison.metrics
        ]  # fmt: skip
        heads = ("figure", "before", "after", "95 % of the difference", "gains", "losses")
        console.print(table(heads, rows))
    if trial.real is not None:
        real = trial.real
        console.print(
            f"Of {real.asked} real searches {real.same_first:.0%} show the same document first; "
            f"empty: {real.empty_before} before, {real.empty_after} after."
        )
        if real.different:
            console.print(table(("search", "first before", "first after"), real.different))
    for notice in trial.notices:
        console.print(f"Notice: {one_line(notice)}")


def _row(side: Side) -> tuple[object, ...]:
    from emily.cli.models_contract import _number

    return (
        side.model,
        _rounded(_number(side.hit_1)),
        _rounded(_number(side.hit_3)),
        _rounded(_number(side.ndcg_10)),
        round(side.seconds, 1),
        round(side.whole_seconds),
        None if side.search_ms is None else round(side.search_ms, 1),
        round(side.megabytes),
        side.without_vector or None,
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
