"""The commands ``config list``, ``get``, ``set`` and ``unset``: settings in the database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from emily.cli.session import AsJson, guarded, say_json, session_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emily.cli.session import Session
    from emily.cli.settings import SettingInfo
    from emily.settings import Settings
    from emily.store.registry import SettingChange, SettingRegistry

__all__ = ["config"]

config = typer.Typer(no_args_is_help=True, help="Settings: list, get, set, unset.")

_OF_ANALYSIS = frozenset({"summaries", "descriptions", "categories"})  # what emily analyse makes

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of a setting.")]


@config.command("list")
@guarded
def list_all(context: typer.Context, as_json: AsJson = False) -> None:
    """List every setting, its value and where that comes from.

    A value comes from an environment variable EMILY_NAME, else from a row of the database
    (emily config set), else from settings.toml in the home folder, else from the default. What a
    change makes stale is indexed again with: emily reindex
    """
    session = session_of(context)
    found = _listed(session, _in_force(session))
    if as_json:
        from emily.cli.contract import settings_output

        say_json(settings_output(found))
    else:
        print_settings(found)


@config.command("get")
@guarded
def get(context: typer.Context, name: Name, as_json: AsJson = False) -> None:
    """Show one setting: its value, its bounds, where the value comes from."""
    from emily.store.registry import known

    known(name)
    session = session_of(context)
    found = next(item for item in _listed(session, _in_force(session)) if item.name == name)
    if as_json:
        from emily.cli.keeping_contract import config_get_output

        say_json(config_get_output(found))
    else:
        print_settings([found])


@config.command("set")
@guarded
def set_value(
    context: typer.Context,
    name: Name,
    value: Annotated[
        str, typer.Argument(metavar="VALUE", help="Its value; a list is written it,en.")
    ],
    as_json: AsJson = False,
) -> None:
    """Set a setting in the database; it is in force from the next command on.

    The row stands above settings.toml and the default as long as it exists, and below an
    environment variable. What says where the database is, what is a secret, what may leave this
    machine and what chooses the embedder stays in settings.toml.
    """
    change = session_of(context).configure(lambda registry: registry.set(name, value))
    _tell(change, as_json=as_json)


@config.command("unset")
@guarded
def unset(context: typer.Context, name: Name, as_json: AsJson = False) -> None:
    """Take a setting out of the database; the file, or else the default, is in force again."""
    change = session_of(context).configure(lambda registry: registry.unset(name))
    _tell(change, as_json=as_json)


def print_settings(found: Sequence[SettingInfo]) -> None:
    """Settings for people."""
    from emily.cli.printing import cell

    for item in found:
        origin = "the default" if item.source == "default" else f"from {item.source}"
        notes = [item.description]
        if item.source != "default" and item.default is not None:
            notes.append(f"Default: {cell(item.default)}.")
        if item.bounds:
            notes.append(f"Allowed: {item.bounds}.")
        if item.stale:
            notes.append(f"A change makes stale: {item.stale}.")
        typer.echo(
            f"{item.name} = {'not set' if item.value is None else cell(item.value)}", nl=False
        )
        typer.echo(f"  ({origin})\n    {' '.join(notes)}")


def _in_force(session: Session) -> Settings:
    async def rows(registry: SettingRegistry) -> Settings:
        return await registry.in_force()

    return session.configure(rows)


def _listed(session: Session, settings: Settings) -> list[SettingInfo]:
    from emily.cli.settings import list_settings

    return list_settings(settings, given_home=session.home is not None)


def _tell(change: SettingChange, *, as_json: bool) -> None:
    if as_json:
        from emily.cli.keeping_contract import config_change_output

        say_json(config_change_output(change))
        return
    from emily.cli.printing import cell

    shown = "not set" if change.value is None else cell(change.value)
    before = "not set" if change.before is None else cell(change.before)
    was = "as before" if change.before == change.value else f"it was {before}"
    typer.echo(f"{change.name} = {shown} ({was})")
    if change.overridden:
        typer.echo(f"Not in force: the environment variable {change.overridden} stands above it.")
    if change.stale:
        again = "Make it anew with: emily analyse"
        if change.stale not in _OF_ANALYSIS:
            again = "Index it again with: emily reindex"
        typer.echo(f"This makes stale: {change.stale}. {again}")
