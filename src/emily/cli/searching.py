"""The commands that find passages: ``search`` and ``ask``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from emily.cli.session import AsJson, Document, guarded, say_json, session_of
from emily.errors import StoreError

if TYPE_CHECKING:
    from emily.brain import Brain
    from emily.cli.session import Session
    from emily.retrieval.answer import Answer

__all__ = ["ask", "search"]

Limit = Annotated[
    int | None,
    typer.Option(
        "--limit",
        help="At most so many passages; without it the setting result_limit.",
        show_default=False,
    ),
]
Also = Annotated[
    list[str] | None,
    typer.Option(
        "--also",
        metavar="QUERY",
        help="Another wording or a translation of the question; may be given several times.",
        show_default=False,
    ),
]
Budget = Annotated[
    int | None,
    typer.Option(
        "--budget",
        metavar="TOKENS",
        help="Passages of at most so many tokens: first the best of each document.",
        show_default=False,
    ),
]
Preset = Annotated[
    str | None,
    typer.Option(
        "--preset",
        metavar="NAME",
        help="What the search does, see docs/presets.md; without it the setting preset.",
        show_default=False,
    ),
]
Full = Annotated[bool, typer.Option("--full", help="Print long passages whole.")]
Explain = Annotated[bool, typer.Option("--explain", help="Show what each stage did, and its time.")]


@guarded
def search(
    context: typer.Context,
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="Words or a question.")],
    also: Also = None,
    limit: Limit = None,
    budget: Budget = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold",
            help="Least probability of a passage, 0 to 1; without it the setting threshold.",
            show_default=False,
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="DATE",
            help="Documents of this year, month or day, or later.",
            show_default=False,
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="DATE",
            help="Documents of this year, month or day, or earlier.",
            show_default=False,
        ),
    ] = None,
    kinds: Annotated[
        list[str] | None,
        typer.Option(
            "--type",
            metavar="TYPE",
            help="Documents of these types: pdf, mail, sheet …; parted by commas.",
            show_default=False,
        ),
    ] = None,
    languages: Annotated[
        list[str] | None,
        typer.Option(
            "--lang",
            metavar="CODE",
            help="Documents in these languages: it, en …; parted by commas.",
            show_default=False,
        ),
    ] = None,
    folder: Annotated[
        str | None,
        typer.Option(
            "--in",
            metavar="FOLDER",
            help=(
                "Documents in this folder, inside of this mail or packed file, in the vault of "
                "this name, or of the archive alone: archive."
            ),
            show_default=False,
        ),
    ] = None,
    category: Annotated[
        list[str] | None,
        typer.Option(
            "--category",
            metavar="NAME",
            help="Documents of this category of yours; may be repeated.",
            show_default=False,
        ),
    ] = None,
    author: Annotated[
        list[str] | None,
        typer.Option(
            "--author",
            metavar="WORDS",
            help="Documents that somebody of this name or address wrote or sent; may be repeated.",
            show_default=False,
        ),
    ] = None,
    party: Annotated[
        list[str] | None,
        typer.Option(
            "--party",
            metavar="WORDS",
            help=(
                "The same of the author, the sender, all who got it, the seller and the buyer; "
                "may be repeated."
            ),
            show_default=False,
        ),
    ] = None,
    title: Annotated[
        list[str] | None,
        typer.Option(
            "--title",
            metavar="WORDS",
            help="Documents with these words in their title or name; may be repeated.",
            show_default=False,
        ),
    ] = None,
    preset: Preset = None,
    full: Full = False,
    explain: Explain = False,
    as_json: AsJson = False,
) -> None:
    """Find passages in all documents, or in those that the filters leave.

    Ask in any language that the archive holds. Each passage names its document, its page or
    lines, and the probability that it helps to answer. Fewer passages than asked for, or none,
    is a valid answer; a notice then says why.

    Words in quotation marks must stand in a passage as they are, and a word with a minus before
    it must not. Put such a question between single quotation marks, as one argument, or the
    shell and the options take the signs: emily search 'rent "service charge" -garage'.
    """
    from emily.retrieval.filters import parse_filters

    session = session_of(context)
    questions = [" ".join(query), *(also or ())]
    filters = parse_filters(
        since=since,
        until=until,
        kinds=kinds or (),
        languages=languages or (),
        folder=None if folder is None else _placed(session, folder),
        categories=category or (),
        authors=author or (),
        parties=party or (),
        titles=title or (),
    )

    async def searched(brain: Brain) -> None:
        if filters.categories:  # one that is none is an error, not an empty answer
            await brain.analysis.categories.named(filters.categories)
        answer = await brain.search(
            questions if also else questions[0],
            limit=limit,
            threshold=threshold,
            filters=filters,
            preset=preset,
            budget=budget,
        )
        # While the brain is open: the answer does not wait for what is written behind it.
        _show(brain.settings.languages, answer, full=full, explain=explain, as_json=as_json)

    try:
        session.run(searched, warm=True)
    except StoreError as error:
        # Faced by a database that does not open, vaults can be searched in their folders.
        from emily.vault.fallback import search_folders

        answer = search_folders(
            session.settings(),
            questions,
            because=str(error),
            limit=limit,
            budget=budget,
            within=filters.folder,
        )
        if answer is None:
            raise
        spoken = session.settings().languages
        _show(spoken, answer, full=full, explain=explain, as_json=as_json)


def _placed(session: Session, folder: str) -> str:
    """The folder that ``--in`` means: a vault goes by its name too."""
    from emily.retrieval.filters import ARCHIVE
    from emily.vault.register import Register

    if folder == ARCHIVE:
        return folder

    return Register(session.settings().home).placed(folder)


@guarded
def ask(
    context: typer.Context,
    document: Document,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="Words or a question.")],
    limit: Limit = None,
    full: Full = False,
    explain: Explain = False,
    as_json: AsJson = False,
) -> None:
    """Find the passages of one document that answer a question."""
    session = session_of(context)

    async def asked(brain: Brain) -> None:
        answer = await brain.ask(document, question, limit=limit)
        _show(
            brain.settings.languages,
            answer,
            full=full,
            explain=explain,
            as_json=as_json,
            remedy="emily search with --in FILE and --threshold 0 shows it",
        )

    session.run(asked, warm=True)


def _show(
    languages: tuple[str, ...],
    answer: Answer,
    *,
    full: bool,
    explain: bool,
    as_json: bool,
    remedy: str = "--threshold 0 shows it",
) -> None:
    if as_json:
        from emily.cli.contract import search_output

        say_json(search_output(answer, explain=explain))
        return
    from emily.cli.answering import print_answer

    print_answer(
        answer,
        languages=languages,
        full=full,
        explain=explain,
        remedy=remedy,
    )
