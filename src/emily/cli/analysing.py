"""The commands on analysis: ``analyse``, ``summary``, ``get``, ``categories …``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from emily.cli.evaluating import shown_steps
from emily.cli.plain import one_line
from emily.cli.session import AsJson, Document, guarded, say_json, session_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emily.analysis.record import Analysis
    from emily.analysis.service import AnalysisOutcome
    from emily.brain import Brain

__all__ = ["analyse", "categories", "get", "summary"]

categories = typer.Typer(
    name="categories",
    help="The categories that documents are put in: your own list.",
    no_args_is_help=True,
)


@guarded
def analyse(
    context: typer.Context,
    documents: Annotated[
        list[str] | None,
        typer.Argument(metavar="DOC", help="Documents; without any, all that are not analysed."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Summarise, describe and classify documents, here and now.

    A worker (emily worker) does the same in the background. Without a chat model (setting chat)
    a summary is made of sentences of the document itself. Ctrl-C ends it; what was finished is
    kept. The exit code is 1 if any document failed.
    """

    async def work(brain: Brain) -> tuple[str, Sequence[AnalysisOutcome]]:
        ids = [(await brain.show(given)).info.id for given in documents or ()]
        chosen = list(dict.fromkeys(ids)) if documents else None
        with shown_steps() as tell:
            done = await brain.analysis.analyse_all(chosen, progress=tell)
        return brain.analysis.method, done

    method, outcomes = session_of(context).run(work, warm=True)
    failed = [item for item in outcomes if item.error is not None]
    if as_json:
        from emily.cli.analysis_contract import analyse_output

        say_json(analyse_output(method, outcomes))
    else:
        from emily.cli.printing import output, table

        console = output()
        if failed:
            rows = [(item.analysis.document, item.analysis.name, item.error) for item in failed]
            console.print(table(("id", "name", "failed"), rows))
        good = len(outcomes) - len(failed)
        how = "by their own sentences" if method == "extractive" else "by the chat model"
        noun = "document was" if good == 1 else "documents were"
        console.print(
            f"{good} {noun} analysed {how}."
            if outcomes
            else "Nothing was waiting: every document is analysed."
        )
    if failed:
        raise typer.Exit(1)


@guarded
def summary(context: typer.Context, document: Document, as_json: AsJson = False) -> None:
    """Show the summary of a document.

    Where there is none yet it says so, and what helps.
    """
    found, notices = session_of(context).run(lambda brain: _standing(brain, document))
    if as_json:
        from emily.cli.analysis_contract import summary_output

        say_json(summary_output(found, notices))
        return
    _print_summary(found)
    _print_notices(notices)


@guarded
def get(
    context: typer.Context,
    document: Document,
    only_summary: Annotated[
        bool, typer.Option("--summary", help="Its summary alone, as emily summary does.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show what a document is: its description, its categories and its summary."""
    found, notices = session_of(context).run(lambda brain: _standing(brain, document))
    if as_json:
        from emily.cli.analysis_contract import get_output

        say_json(get_output(found, notices))
        return
    if not only_summary:
        from emily.cli.printing import facts, output

        categories = [
            item.name
            if item.probability is None
            else f"{item.name} ({item.probability:.0%}, {item.reason.rstrip('.')})"
            for item in found.categories
        ]
        pairs = [
            ("id", found.document),
            ("name", found.name),
            ("description", found.description),
            ("categories", categories or None),
        ]
        output().print(facts(pairs))
    _print_summary(found)
    _print_notices(notices)


@categories.command("list")
@guarded
def list_categories(context: typer.Context, as_json: AsJson = False) -> None:
    """List your categories, with how many documents each has."""
    found = session_of(context).run(lambda brain: brain.analysis.categories.all())
    if as_json:
        from emily.cli.analysis_contract import categories_list_output

        say_json(categories_list_output(found))
        return
    from emily.cli.printing import output, table

    if not found:
        output().print("There is no category. Add one with: emily categories add NAME")
        return
    rows = [(item.name, item.documents, item.description, list(item.examples)) for item in found]
    output().print(table(("category", "documents", "description", "examples"), rows))


@categories.command("add")
@guarded
def add_category(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of the category.")],
    description: Annotated[
        str, typer.Option("--description", metavar="TEXT", help="What belongs to it.")
    ] = "",
    example: Annotated[
        list[str] | None,
        typer.Option(
            "--example", metavar="TEXT", help="A text of what belongs to it; may be repeated."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Add a category, or a description and examples to one that is there.

    Documents get it when they are analysed next: emily analyse, or a worker in the background.
    """

    async def work(brain: Brain) -> tuple[object, bool, int]:
        item, new = await brain.analysis.categories.add(name, description, example or ())
        return item, new, (await brain.analysis.counts()).stale

    item, new, stale = session_of(context).run(work)
    if as_json:
        from emily.cli.analysis_contract import categories_add_output

        say_json(categories_add_output(item, new, stale))  # type: ignore[arg-type]
        return
    from emily.cli.printing import output

    output().print(f"The category {one_line(name)} is {'added' if new else 'completed'}.")
    if stale:
        output().print(f"{stale} documents are to be put in categories anew: emily analyse")


@categories.command("remove")
@guarded
def remove_category(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of the category.")],
    as_json: AsJson = False,
) -> None:
    """Remove a category from the list and from every document; the documents stay."""
    gone = session_of(context).run(lambda brain: brain.analysis.categories.remove(name))
    if as_json:
        from emily.cli.analysis_contract import categories_remove_output

        say_json(categories_remove_output(gone))
        return
    from emily.cli.printing import output

    output().print(f"The category {one_line(gone)} is removed.")


async def _standing(brain: Brain, document: str) -> tuple[Analysis, list[str]]:
    """How the analysis of a document stands, and what there is to say about it."""
    identity = (await brain.show(document)).info.id
    found = await brain.analysis.of(identity)
    notices = []
    if found.summary is None:
        notices.append(
            f"Document {found.document} has no summary yet. emily analyse {found.document} makes "
            f'it now; until then emily ask {found.document} "QUESTION" answers from its text.'
        )
    elif found.method == "extractive":
        notices.append(
            "These are sentences of the document itself, chosen by the embedder; no chat model "
            "is set (setting chat)."
            if brain.analysis.method == "extractive"
            else "These are sentences of the document itself; it waits for the chat model."
        )
    if found.failure is not None:
        again = " It is tried again." if found.transient else ""
        notices.append(f"Analysis failed: {found.failure}{again}")
    if found.stale:
        notices.append(
            f"It was made with other settings or categories; emily analyse {found.document} "
            "makes it anew."
        )
    return found, notices


def _print_summary(found: Analysis) -> None:
    if found.summary is None:
        return
    from emily.cli.printing import barred, harmless, output, wrapped

    console = output()
    for line in wrapped(harmless(found.summary), console):
        console.print(barred(line))


def _print_notices(notices: Sequence[str]) -> None:
    from emily.cli.printing import print_notices

    print_notices(notices)
