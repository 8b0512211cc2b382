"""The commands ``emily memory``: what is remembered of the owner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from emily.cli.plain import one_line, plain
from emily.cli.session import AsJson, guarded, say_json, session_of
from emily.errors import InputError, ModelError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emily.brain import Brain
    from emily.memory import Answered, Learned, Memory, MemoryCounts, Message, Outcome, Past

__all__ = ["memory"]

memory = typer.Typer(
    name="memory",
    help="What is remembered of you: facts, their history, proposals that wait for you.",
    rich_markup_mode=None,
)

Number = Annotated[int, typer.Argument(metavar="ID", help="Number of the memory.")]
Text = Annotated[str, typer.Argument(metavar="TEXT", help="A sentence, best in English.")]
Original = Annotated[
    str | None,
    typer.Option("--original", help="The words in your own language.", show_default=False),
]


@memory.callback(invoke_without_command=True)
@guarded
def standing(context: typer.Context, as_json: AsJson = False) -> None:
    """Tell how memory stands: how much there is, what waits for you, and what does not work."""
    if context.invoked_subcommand is not None:
        return

    async def work(brain: Brain) -> tuple[MemoryCounts, Sequence[Message]]:
        return await brain.memory.counts(), await brain.memory.messages("failed")

    counts, failed = session_of(context).run(work)
    if as_json:
        from emily.cli.remembering_contract import standing_output

        say_json(standing_output(counts, failed))
        return
    from emily.cli.printing import facts, output

    console = output()
    console.print(
        facts(
            [
                ("memories", f"{counts.current}, {counts.core} of them core"),
                ("no longer so", counts.ended),
                ("proposals", f"{counts.proposed} wait for you" if counts.proposed else "none"),
                ("messages", f"{counts.waiting} wait to be looked through, {counts.failed} failed"),
            ]
        )
    )
    if counts.off is not None:
        console.print(counts.off)
    if counts.proposed:
        console.print("Look at them with: emily memory list --proposed")
    for item in failed:
        console.print(
            f"A message of {item.said_at.astimezone():%Y-%m-%d}: {plain(item.problem or '')}"
        )
    if failed:
        console.print("Try again with: emily memory extract --again")


@memory.command("list")
@guarded
def list_memories(
    context: typer.Context,
    core: Annotated[bool, typer.Option("--core", help="Core memories alone.")] = False,
    proposed: Annotated[
        bool, typer.Option("--proposed", help="Proposals that wait for you.")
    ] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Also what is no longer so, proposed or declined.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List what is remembered.

    A memory that is not accepted was drawn out of your messages by the chat model; emily memory
    accept says that it is so.
    """
    if sum((core, proposed, everything)) > 1:
        raise InputError("--core, --proposed and --all are three lists; give one of them.")
    state = None if everything else ("proposed" if proposed else "current")

    async def work(brain: Brain) -> Sequence[Memory]:
        return await brain.memory.list(state, core=True if core else None)

    _show(session_of(context).run(work), as_json=as_json)


@memory.command("add")
@guarded
def add(
    context: typer.Context,
    text: Text,
    original: Original = None,
    core: Annotated[
        bool, typer.Option("--core", help="Have every conversation begin with it.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Remember something; what is known already is not added again."""
    _tell(
        session_of(context).run(lambda brain: brain.memory.add(text, original=original, core=core)),
        as_json=as_json,
    )


@memory.command("edit")
@guarded
def edit(
    context: typer.Context, number: Number, text: Text, original: Original = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Put other words in a memory's place; the old ones stay in its history."""
    found = session_of(context).run(lambda brain: brain.memory.edit(number, text, original))
    _show([found], as_json=as_json)


@memory.command("core")
@guarded
def core_memory(
    context: typer.Context,
    number: Number,
    off: Annotated[bool, typer.Option("--off", help="No longer.")] = False,
    as_json: AsJson = False,
) -> None:
    """Have every conversation begin with a memory."""

    async def work(brain: Brain) -> tuple[Memory, int]:
        from emily.assistant.remembering import core_block

        found = await brain.memory.set_core(number, core=not off)
        most = brain.settings.memory_core_characters
        return found, core_block(await brain.memory.core(), most)[1]

    found, left_out = session_of(context).run(work)
    _show([found], as_json=as_json)
    if left_out:
        typer.echo(
            f"emily: {left_out} core memories find no room in a conversation (setting "
            "memory_core_characters).",
            err=True,
        )


@memory.command("history")
@guarded
def history(context: typer.Context, number: Number, as_json: AsJson = False) -> None:
    """Show what a memory said before, and until when."""
    found, past = session_of(context).run(lambda brain: brain.memory.history(number))
    if as_json:
        from emily.cli.remembering_contract import history_output

        say_json(history_output(found, past))
        return
    from emily.cli.printing import output, table

    rows: list[tuple[str | None, ...]] = [
        (*_span(item), item.reason, item.source, one_line(item.text)) for item in past
    ]
    rows.append(
        (f"{found.said_at.astimezone():%Y-%m-%d}", _day(found), found.state, found.source,
         one_line(found.text))
    )  # fmt: skip
    output().print(table(("from", "to", "what", "source", "text"), rows))


@memory.command("accept")
@guarded
def accept(
    context: typer.Context,
    numbers: Annotated[list[int], typer.Argument(metavar="ID", help="Numbers of memories.")],
    as_json: AsJson = False,
) -> None:
    """Say that a proposal, or what was drawn out of your messages, is so."""

    async def work(brain: Brain) -> list[Outcome]:
        return [await brain.memory.accept(number) for number in numbers]

    _tell(*session_of(context).run(work), as_json=as_json)


@memory.command("decline")
@guarded
def decline(
    context: typer.Context,
    numbers: Annotated[list[int], typer.Argument(metavar="ID", help="Numbers of proposals.")],
    as_json: AsJson = False,
) -> None:
    """Say that a proposal is not to be remembered; it is not proposed again."""

    async def work(brain: Brain) -> list[Memory]:
        return [await brain.memory.decline(number) for number in numbers]

    _show(session_of(context).run(work), as_json=as_json)


@memory.command("forget")
@guarded
def forget(
    context: typer.Context,
    numbers: Annotated[
        list[int] | None,
        typer.Argument(metavar="ID", help="Numbers of memories.", show_default=False),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All there are.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Forget memories for good: text, vector, history, and waiting messages that say the same.

    The conversation in which it was said stays among the transcripts in the folder chat of the
    home folder, and a copy can remain in backups and exports. Without a terminal to ask on, --yes
    is needed.
    """
    from emily.cli.documents import confirmed

    session = session_of(context)
    if bool(numbers) == everything:
        raise InputError("Give the numbers of memories, or --all. See: emily memory list")
    what = "all memories" if everything else f"memory {', '.join(map(str, numbers or ()))}"
    if not yes:
        if not session.interactive():
            raise InputError("Forgetting needs --yes where there is no terminal to ask on.")
        if not confirmed(f"Forget {what} for good?"):
            raise InputError("Nothing was forgotten.")

    async def work(brain: Brain) -> Sequence[Memory]:
        if everything:
            return await brain.memory.forget_all()
        return await brain.memory.forget(numbers or ())

    gone = session.run(work)
    if as_json:
        _show(gone, as_json=True)
        return
    for item in gone:
        typer.echo(f"Memory {item.id} is forgotten: {one_line(item.text)}")
    if not gone:
        typer.echo("There was nothing to forget.")
    typer.echo(
        "Transcripts of conversations (folder chat), backups and exports are copies of their own."
    )


@memory.command("search")
@guarded
def search(
    context: typer.Context,
    query: Annotated[list[str], typer.Argument(metavar="QUERY…", help="A question or words.")],
    limit: Annotated[int, typer.Option("--limit", min=1, help="So many at most.")] = 5,
    as_json: AsJson = False,
) -> None:
    """Look into what is remembered, as the tool search_memory does."""
    answer = session_of(context).run(
        lambda brain: brain.memory.search(" ".join(query), limit), warm=True
    )
    if as_json:
        from emily.cli.remembering_contract import search_output

        say_json(search_output(answer))
        return
    _show_found(answer)


@memory.command("extract")
@guarded
def extract(
    context: typer.Context,
    again: Annotated[bool, typer.Option("--again", help="Also those that failed.")] = False,
    as_json: AsJson = False,
) -> None:
    """Draw the facts out of messages that wait, with the chat model.

    A conversation does that behind each turn; this does what is left when it ends.
    """

    async def work(brain: Brain) -> Sequence[Learned]:
        if brain.memory.off is not None:
            raise InputError(brain.memory.off)
        return await brain.memory.extract(again=again)

    learned = session_of(context).run(work, warm=True)
    if as_json:
        from emily.cli.remembering_contract import extract_output

        say_json(extract_output(learned))
    else:
        if not learned:
            typer.echo("No message waits.")
        for item in learned:
            for outcome in item.outcomes:
                _say(outcome)
            if item.problem is None and not item.outcomes:
                typer.echo("A message states nothing to remember.")
    problems = [item.problem for item in learned if item.problem]
    if problems:
        raise ModelError("\n".join(dict.fromkeys(problems)))


def _tell(*outcomes: Outcome, as_json: bool) -> None:
    if as_json:
        from emily.cli.remembering_contract import outcomes_output

        say_json(outcomes_output(outcomes))
        return
    for outcome in outcomes:
        _say(outcome)


def _say(outcome: Outcome) -> None:
    if outcome.memory is None:
        typer.echo(f"{outcome.action.capitalize()}: {plain(outcome.why)}")
        return
    found = outcome.memory
    core = ", core" if found.core else ""
    typer.echo(f"{outcome.action.capitalize()}: memory {found.id}{core}: {one_line(found.text)}")


def _show(found: Sequence[Memory], *, as_json: bool) -> None:
    if as_json:
        from emily.cli.remembering_contract import memories_output

        say_json(memories_output(found))
        return
    from emily.cli.printing import output, table

    console = output()
    if not found:
        console.print("There is no such memory. Add one with: emily memory add TEXT")
        return
    console.print(
        table(
            ("id", "what", "source", "said", "text"),
            [
                (
                    item.id,
                    _state(item),
                    item.source,
                    f"{item.said_at.astimezone():%Y-%m-%d}",
                    one_line(item.text),
                )
                for item in found
            ],
        )
    )
    if any(item.state == "proposed" for item in found):
        console.print("Decide with: emily memory accept ID, or emily memory decline ID")


def _state(item: Memory) -> str:
    if item.state != "current":
        change = "" if item.target_id is None else f", {item.intent}s {item.target_id}"
        return f"{item.state}{change}"
    if item.core:
        return "core"
    return "accepted" if item.accepted_at else "not accepted"


def _show_found(answer: Answered) -> None:
    from emily.cli.printing import output, print_notices, table

    if answer.found:
        rows = [
            (item.memory.id, _state(item.memory), f"{item.score:.2f}", one_line(item.memory.text))
            for item in answer.found
        ]
        output().print(table(("id", "what", "score", "text"), rows))
    else:
        output().print("Nothing is remembered about that.")
    print_notices(answer.notices)


def _span(item: Past) -> tuple[str, str]:
    return (
        f"{item.said_at.astimezone():%Y-%m-%d}",
        f"{item.ended_at.astimezone():%Y-%m-%d}",
    )


def _day(item: Memory) -> str | None:
    return None if item.ended_at is None else f"{item.ended_at.astimezone():%Y-%m-%d}"
