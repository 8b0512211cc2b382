"""The JSON of the commands that keep the archive: settings, notes, versions, trash, copies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from emily.cli.contract import Output, SettingPart

if TYPE_CHECKING:
    from emily.cli.settings import SettingInfo
    from emily.store.registry import SettingChange

__all__ = [
    "ConfigChangeOutput",
    "ConfigGetOutput",
    "config_change_output",
    "config_get_output",
]


@dataclass(frozen=True, kw_only=True)
class ConfigGetOutput(Output):
    """`emily config get`."""

    setting: Annotated[SettingPart, "The setting."]


@dataclass(frozen=True, kw_only=True)
class ConfigChangeOutput(Output):
    """`emily config set` and `emily config unset`."""

    name: Annotated[str, "Its name."]
    before: Annotated[Any, "The value that was in force."]
    value: Annotated[Any, "The value that is in force now."]
    stale: Annotated[
        str | None, "What of the archive the change made stale, until `emily reindex`."
    ]
    overridden: Annotated[
        str | None, "The variable of the environment that stands above it, so that nothing changed."
    ]


def config_get_output(setting: SettingInfo) -> ConfigGetOutput:
    """One setting."""
    return ConfigGetOutput(
        setting=SettingPart(
            name=setting.name,
            value=setting.value,
            default=setting.default,
            bounds=setting.bounds,
            stale=setting.stale,
            source=setting.source,
            description=setting.description,
            file_only=setting.file_only,
        )
    )


def config_change_output(change: SettingChange) -> ConfigChangeOutput:
    """What became of one setting."""
    return ConfigChangeOutput(
        name=change.name,
        before=_plain(change.before),
        value=_plain(change.value),
        stale=change.stale,
        overridden=change.overridden,
    )


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
