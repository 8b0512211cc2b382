"""Presets are data: what they name exists, and what the owner sets stands above them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from emily.errors import InputError
from emily.retrieval.presets import ARCHIVE, DEFAULT, PRESETS, VAULT, preset_of, presets, stand_ins
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


def test_the_page_says_what_the_presets_hold() -> None:
    page = Path(__file__).parents[3] / "docs" / "presets.md"
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in page.read_text(encoding="utf-8").splitlines()
        if line.startswith("| ")
    ]
    names = rows[0][1:]
    assert names == list(presets())
    fields = {
        "vectors compared": "vector_arm",
        "words compared": "lexical_arm",
        "candidates of each arm": "arm_size",
        "pool": "pool_size",
        "score of words": "lexical_score",
        "neighbours in meaning": "neighbours",
        "fusion": "fusion",
        "second stage": "second_stage",
        "threshold": "threshold",
        "selection": "selection",
        "chunks chosen": "result_limit",
        "widened by": "widen",
        "budget of tokens": "budget",
    }
    told = {row[0]: row[1:] for row in rows[1:]}
    words = {True: "yes", False: "no", None: "none"}
    for title, field in fields.items():
        values = [getattr(PRESETS[name], field) for name in names]
        wanted = [
            words[value] if value is None or isinstance(value, bool) else str(value)
            for value in values
        ]
        assert told[title] == wanted, title


def test_what_stands_in_for_a_model_is_named() -> None:
    assert stand_ins(DEFAULT, "use-multilingual-v3", None) == ()
    (said,) = stand_ins(ARCHIVE, "use-multilingual-v3", None)
    assert "qwen3-embedding (use-multilingual-v3 in its place)" in said
    assert "Qwen3-Reranker (the late interaction of the default preset in its place)" in said
    (said,) = stand_ins(ARCHIVE, "qwen3-embedding:0.6b", "bge-reranker-v2-m3 (local)")
    assert "embedding" not in said
    assert "Qwen3-Reranker (bge-reranker-v2-m3 (local) in its place)" in said
    assert stand_ins(ARCHIVE, "Qwen3-Embedding-0.6B", "qwen3-reranker-0.6b") == ()
    assert stand_ins(VAULT, "qwen3-embedding:0.6b", None) == ()
