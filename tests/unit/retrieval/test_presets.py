"""Presets are data: what they name exists, and what the owner sets stands above them."""

from __future__ import annotations

import json

import pytest

from emily.errors import InputError
from emily.retrieval.presets import DEFAULT, PRESETS, preset_of, presets
from emily.retrieval.stages import FUSIONS, SECOND_STAGES, SELECTIONS
from emily.settings import Settings, load_settings


@pytest.mark.parametrize("name", presets())
def test_the_stages_that_a_preset_names_exist(name: str) -> None:
    preset = PRESETS[name]
    assert preset.name == name
    assert preset.fusion in FUSIONS
    assert preset.second_stage in SECOND_STAGES
    assert preset.selection in SELECTIONS
    assert preset.description.endswith(".")
    assert "\n" not in preset.description
    json.dumps(preset.as_json(), allow_nan=False)
    assert preset_of(load_settings(preset=name)) == preset
    assert preset_of(load_settings(), name) == preset


def test_the_default_has_the_defaults_of_the_settings() -> None:
    assert presets()[0] == "default"
    assert preset_of(load_settings()) is not None
    for setting in ("arm_size", "pool_size", "fusion", "threshold", "widen", "neighbours"):
        assert getattr(DEFAULT, setting) == Settings.model_fields[setting].default


@pytest.mark.parametrize("name", presets())
def test_what_the_owner_set_stands_above_the_preset(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMILY_THRESHOLD", "0.25")
    chosen = preset_of(load_settings(pool_size=77), name)
    assert (chosen.threshold, chosen.pool_size) == (0.25, 77)
    assert chosen.arm_size == PRESETS[name].arm_size
    # Also where it is what another preset has.
    assert preset_of(load_settings(fusion="rrf"), name).fusion == "rrf"


def test_an_unknown_preset_is_refused_with_those_there_are() -> None:
    with pytest.raises(InputError, match=r"no preset 'archief'. Presets: default"):
        preset_of(load_settings(), "archief")
