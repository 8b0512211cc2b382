"""The command ``why``: what became of an expected document, stage by stage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from emily.cli.plain import one_line
from emily.cli.searching import Preset
from emily.cli.session import AsJson, guarded, say_json, session_of

if TYPE_CHECKING:
    from emily.measure.explanation import Explanation, StageSight, TermSight

__all__ = ["why"]


def _filter(name: str, metavar: str, help_text: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(
        name, metavar=metavar, help=help_text, show_default=False
    )
    return option


@guarded
def why(
    context: typer.Context,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="Words or a question.")],
    document: Annotated[
        str,
        typer.Option("--doc", metavar="DOC", help="Id, exact name or path of the document."),
    ],
    quote: Annotated[
        str | None,
        _filter("--quote", "WORDS", "Words of the document that the answer should show."),
    ] = None,
    since: Annotated[str | None, _filter("--from", "DATE", "As in emily search.")] = None,
    until: Annotated[str | None, _filter("--to", "DATE", "As in emily search.")] = None,
    kinds: Annotated[list[str] | None, _filter("--type", "TYPE", "As in emily search.")] = None,
    languages: Annotated[list[str] | None, _filter("--lang", "CODE", "As in emily search.")] = None,
    folder: Annotated[str | None, _filter("--in", "FOLDER", "As in emily search.")] = None,
    category: Annotated[
        list[str] | None, _filter("--category", "NAME", "As in emily search.")
    ] = None,
    author: Annotated[list[str] | None, _filter("--author", "WORDS", "As in emily search.")] = None,
    party: Annotated[list[str] | None, _filter("--party", "WORDS", "As in emily search.")] = None,
    title: Annotated[list[str] | None, _filter("--title", "WORDS", "As in emily search.")] = None,
    preset: Preset = None,
    as_json: AsJson = False,
) -> None:
    """Say why a question finds a document or does not.

    Follows the document through every stage: which words it holds, where it stands in each arm
    however far below, its probability, what stood above it where it was lost, and which setting
    would have kept it, tried out. Nothing of it is kept in the log of questions.
    """
    from emily.retrieval.filters import parse_filters

    filters = parse_filters(
        since=since,
        until=until,
        kinds=kinds or (),
        languages=languages or (),
        folder=folder,
        categories=category or (),
        authors=author or (),
        parties=party or (),
        titles=title or (),
    )
    found = session_of(context).run(
        lambda brain: brain.why(question, document, quote=quote, filters=filters, preset=preset),
        warm=True,
    )
    if as_json:
        from emily.cli.contract import why_output

        say_json(why_output(found))
    else:
        _print(found)


def _print(found: Explanation) -> None:
    from emily.cli.printing import output, print_notices, table

    console = output()
    console.print(one_line(found.verdict))
    for reason in found.reasons:
        console.print(f"- {one_line(reason)}")
    if found.terms:
        held = [(term.surface, _held(term)) for term in found.terms]
        console.print(table(("word", "in the document"), held, title="terms"))
    if found.stages:
        places = [
            (stage.stage, stage.rank, _short(stage.score), _short(stage.size), _fate(stage))
            for stage in found.stages
        ]
        columns = ("stage", "rank", "score", "limit", "")
        console.print(table(columns, places, title="stages"))
        for stage in found.stages:
            console.print(f"- {one_line(stage.sentence)}")
    if found.evidence:
        told = ", ".join(f"{name} {_short(value)}" for name, value in found.evidence.items())
        console.print(f"Evidence of its best chunk: {told}")
    if found.above:
        above = [(item.rank, item.document, item.name, _short(item.score)) for item in found.above]
        title = f"above it, where it was lost ({found.lost_by})"
        console.print(table(("rank", "document", "name", "score"), above, title=title))
    if found.quote is not None:
        console.print(f"Quote: {one_line(found.quote.sentence)}")
    if found.cure is not None:
        console.print(f"What would help: {one_line(found.cure.sentence)}")
    print_notices(found.notices)


def _held(term: TermSight) -> str:
    if term.held == "itself":
        return f"{term.times} times" if term.times > 1 else "once"
    if term.held == "neighbours":
        return f"only as {', '.join(term.neighbours)}"
    return "not at all"


def _fate(stage: StageSight) -> str:
    if stage.kept is None:
        return ""
    return "kept" if stage.kept else "lost"


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
