"""Presets: which stages a search runs, by name, and with what sizes.

A preset is data. The stages that it names are functions (``emily.retrieval.stages``), shared by
all presets, so that two of them differ in what is written here and in nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from emily.errors import InputError
from emily.settings import Fusion, LexicalScore, PresetName, Settings

__all__ = [
    "DEFAULT",
    "PRESETS",
    "ArmName",
    "Preset",
    "SecondStageName",
    "SelectionName",
    "preset_of",
    "presets",
]

ArmName = Literal["vector", "lexical"]
SecondStageName = Literal["evidence"]
SelectionName = Literal["best"]


@dataclass(frozen=True, slots=True)
class Preset:
    """What a search does.

    Attributes:
        name: its name.
        description: one line for people.
        arms: the first-stage rankings.
        arm_size: candidates that each arm brings.
        pool_size: candidates that go to the second stage.
        lexical_score: what the lexical arm counts.
        neighbours: whether a query word is also searched as its neighbours in meaning.
        fusion: how the arms are joined, see ``emily.retrieval.fusion``.
        second_stage: how the pool is looked at closely.
        threshold: least probability of a passage, 0 to 1.
        selection: which of those above it are shown.
        result_limit: chunks chosen before grouping by document.
        widen: chunks by which a passage is widened on each side.
    """

    name: str
    description: str
    arms: tuple[ArmName, ...]
    arm_size: int
    pool_size: int
    lexical_score: LexicalScore
    neighbours: bool
    fusion: Fusion
    second_stage: SecondStageName
    threshold: float
    selection: SelectionName
    result_limit: int
    widen: int

    def as_json(self) -> dict[str, Any]:
        """For the trace: its name and what decides what is found."""
        return {
            "name": self.name,
            "arms": list(self.arms),
            "arm_size": self.arm_size,
            "pool_size": self.pool_size,
            "lexical_score": self.lexical_score,
            "neighbours": self.neighbours,
            "fusion": self.fusion,
            "second_stage": self.second_stage,
            "selection": self.selection,
        }


def _default_of(setting: str) -> Any:
    """A value that stands once, as the default of a setting."""
    return Settings.model_fields[setting].default


DEFAULT = Preset(
    name="default",
    description="What measures best: scores added, neighbours in meaning, a calibrated gate.",
    arms=("vector", "lexical"),
    arm_size=_default_of("arm_size"),
    pool_size=_default_of("pool_size"),
    lexical_score=_default_of("lexical_score"),
    neighbours=_default_of("neighbours"),
    fusion=_default_of("fusion"),
    second_stage="evidence",
    threshold=_default_of("threshold"),
    selection="best",
    result_limit=_default_of("result_limit"),
    widen=_default_of("widen"),
)

PRESETS: dict[str, Preset] = {item.name: item for item in (DEFAULT,)}

_SETTINGS = (
    "arm_size",
    "pool_size",
    "lexical_score",
    "neighbours",
    "fusion",
    "threshold",
    "result_limit",
    "widen",
)
"""Settings that stand above a preset's own values once the owner has set them."""

assert set(get_args(PresetName)) == set(PRESETS)


def presets() -> tuple[str, ...]:
    """The names of all presets, the default first."""
    return tuple(PRESETS)


def preset_of(settings: Settings, name: str | None = None) -> Preset:
    """A preset with what the owner has set.

    Args:
        settings: of the home folder; what was set there, in the environment or by a program
            stands above the preset, what was left alone does not.
        name: of the preset; ``None`` takes the setting ``preset``.

    Raises:
        InputError: there is no such preset.
    """
    wanted = settings.preset if name is None else name
    if wanted not in PRESETS:
        raise InputError(f"There is no preset {wanted!r}. Presets: {', '.join(PRESETS)}")
    set_by_owner = {
        field: getattr(settings, field) for field in _SETTINGS if field in settings.model_fields_set
    }
    return replace(PRESETS[wanted], **set_by_owner)
