"""Settings as a list: what each is, where its value comes from, what it may be."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import platformdirs

from emily.retrieval.presets import PRESETS, SETTINGS, preset_of
from emily.settings import Settings, kept_in_file

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

__all__ = ["SettingInfo", "list_settings"]

Source = Literal["option", "environment", "database", "file", "default"]


@dataclass(frozen=True, slots=True)
class SettingInfo:
    """One setting, ready for JSON.

    Attributes:
        name: in ``settings.toml``; ``EMILY_<NAME>`` in the environment.
        value: in force, of the preset where it is not set; an address is shown without its
            password.
        default: the value if nothing is set, of the preset likewise.
        bounds: the values allowed, ``None`` if any is.
        stale: what a change makes stale, ``None`` if nothing.
        source: where the value comes from.
        description: what it is for.
        file_only: why it has no row in the database; ``None`` where it may have one.
    """

    name: str
    value: Any
    default: Any
    bounds: str | None
    stale: str | None
    source: Source
    description: str
    file_only: str | None = None


def list_settings(settings: Settings, *, given_home: bool) -> list[SettingInfo]:
    """Every setting in the order of ``Settings``.

    Args:
        settings: as they were loaded, with the rows of the database where those are known.
        given_home: whether the home folder was given on the command line.
    """
    environment = {name.upper() for name in os.environ}
    path = settings.home / "settings.toml"
    in_file = tomllib.loads(path.read_text("utf-8")) if path.is_file() else {}

    def source(name: str) -> Source:
        if name == "home" and given_home:
            return "option"
        if f"EMILY_{name.upper()}" in environment:
            return "environment"
        if name in settings.from_rows:
            return "database"
        return "file" if name in in_file else "default"

    chosen, untouched = preset_of(settings), PRESETS[settings.preset]
    return [
        SettingInfo(
            name=name,
            value=_shown(name, getattr(chosen if name in SETTINGS else settings, name)),
            default=_shown(
                name, getattr(untouched, name) if name in SETTINGS else _default(name, field)
            ),
            bounds=", ".join(_bounds(field)) or None,
            stale=_stale(field),
            source=source(name),
            description=field.description or "",
            file_only=kept_in_file(name),
        )
        for name, field in Settings.model_fields.items()
    ]


def _default(name: str, field: FieldInfo) -> Any:
    if name == "home":  # its factory looks at EMILY_HOME
        return platformdirs.user_data_path("emily", appauthor=False)
    return field.get_default(call_default_factory=True)


def _shown(name: str, value: Any) -> Any:
    if name == "database_url" and value is not None:
        from emily.store.address import redacted

        return redacted(value)
    if isinstance(value, tuple):
        return list(value)
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _bounds(field: FieldInfo) -> Iterator[str]:
    if get_origin(field.annotation) is Literal:
        yield " or ".join(str(value) for value in get_args(field.annotation))
    if field.annotation is bool:
        yield "true or false"
    unit = " values" if get_origin(field.annotation) is tuple else ""
    low, high = _limit(field, "ge", "min_length"), _limit(field, "le", "max_length")
    if field.annotation is str or (high is None and low is not None):
        if low:
            yield f"at least {low} character{'s' if low > 1 else ''}"
    elif low is not None or high is not None:
        yield f"{'' if low is None else low} to {'' if high is None else high}{unit}"


def _limit(field: FieldInfo, *names: str) -> Any:
    """The first of these attributes that any constraint of the field has."""
    found = (getattr(bound, name, None) for bound in field.metadata for name in names)
    return next((limit for limit in found if limit is not None), None)


def _stale(field: FieldInfo) -> str | None:
    extra = field.json_schema_extra
    stale = extra.get("stale") if isinstance(extra, dict) else None
    return stale if isinstance(stale, str) else None
