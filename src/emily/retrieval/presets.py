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
    "ARCHIVE",
    "DEFAULT",
    "PRESETS",
    "SETTINGS",
    "VAULT",
    "LexicalArm",
    "Preset",
    "SecondStageName",
    "SelectionName",
    "VectorArm",
    "preset_of",
    "presets",
    "stand_ins",
]

VectorArm = Literal["parts", "whole"]
LexicalArm = Literal["terms", "documents", "stems"]
SecondStageName = Literal["evidence", "cross_encoder", "signals"]
SelectionName = Literal["best", "documents_first"]


@dataclass(frozen=True, slots=True)
class Preset:
    """What a search does.

    Attributes:
        name: its name.
        description: one line for people.
        vector_arm: what is compared in meaning: ``parts`` of about 130 words, of which a chunk's
            best counts, or the ``whole`` chunk by one vector.
        lexical_arm: what is compared in words: ``terms`` (five-letter prefixes) of passages,
            the same of passages and of whole ``documents``, or ``stems`` of passages, each in
            its own language.
        arm_size: candidates that each arm brings.
        pool_size: candidates that go to the second stage.
        lexical_score: what the lexical arm counts; ``stems`` are always counted as distinct ones.
        neighbours: whether a query word is also searched as its neighbours in meaning.
        fusion: how the arms are joined, see ``emily.retrieval.fusion``.
        second_stage: how the pool is looked at closely.
        threshold: least probability of a passage, 0 to 1; what has none passes.
        selection: which of those above it are shown.
        result_limit: chunks chosen before grouping by document.
        widen: chunks by which a passage is widened on each side.
        budget: most tokens of all passages together; ``None`` for no such limit.
        links: whether notes that are linked with what was found come up as well.
        by_path: whether the answer for a model cites ``path:line``.
        described_with: the models that its description names, as role and the beginning of the
            model's name; where another one is in that role, answers say so.
        lacks: what its description has and this does not, as a sentence for answers.
    """

    name: str
    description: str
    vector_arm: VectorArm
    lexical_arm: LexicalArm
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
    budget: int | None = None
    links: bool = False
    by_path: bool = False
    described_with: tuple[tuple[Literal["embedder", "reranker"], str], ...] = ()
    lacks: str | None = None

    @property
    def needs_stems(self) -> bool:
        """Whether it looks in what the index holds only where it is asked to."""
        return self.lexical_arm == "stems" or self.vector_arm == "whole"

    def as_json(self) -> dict[str, Any]:
        """For the trace: its name and what decides what is found."""
        return {
            "name": self.name,
            "vector_arm": self.vector_arm,
            "lexical_arm": self.lexical_arm,
            "arm_size": self.arm_size,
            "pool_size": self.pool_size,
            "lexical_score": self.lexical_score,
            "neighbours": self.neighbours,
            "fusion": self.fusion,
            "second_stage": self.second_stage,
            "selection": self.selection,
            "budget": self.budget,
            "links": self.links,
            "described_with": dict(self.described_with),
        }


def _default_of(setting: str) -> Any:
    """A value that stands once, as the default of a setting."""
    return Settings.model_fields[setting].default


DEFAULT = Preset(
    name="default",
    description="What measures best: scores added, neighbours in meaning, a calibrated gate.",
    vector_arm="parts",
    lexical_arm="terms",
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
    links=True,
)

ARCHIVE = Preset(
    name="archive",
    description="Distinct stems and whole chunks, joined by ranks, ordered by a cross-encoder.",
    vector_arm="whole",
    lexical_arm="stems",
    arm_size=20,
    pool_size=20,
    lexical_score="lexemes",
    neighbours=False,
    fusion="rrf",
    second_stage="cross_encoder",
    threshold=0.005,
    selection="best",
    result_limit=5,
    widen=1,
    described_with=(("embedder", "qwen3-embedding"), ("reranker", "Qwen3-Reranker")),
)
"""A published recipe, kept as it is described, to compare with."""

VAULT = Preset(
    name="vault",
    description="BM25 of passages and documents, two places for meaning to one for words, links.",
    vector_arm="parts",
    lexical_arm="documents",
    # Its description gives no sizes: enough to fill the budget from several documents.
    arm_size=60,
    pool_size=60,
    lexical_score="bm25",
    neighbours=False,
    fusion="interleave",
    second_stage="signals",
    threshold=0.0,
    selection="documents_first",
    result_limit=60,
    widen=0,
    budget=2_000,
    links=True,
    by_path=True,
    described_with=(("embedder", "qwen3-embedding"),),
)
"""Another one. It has no second stage that orders: it reports signals of absence."""

PRESETS: dict[str, Preset] = {item.name: item for item in (DEFAULT, ARCHIVE, VAULT)}

SETTINGS = (
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
        field: getattr(settings, field) for field in SETTINGS if field in settings.model_fields_set
    }
    return replace(PRESETS[wanted], **set_by_owner)


def stand_ins(preset: Preset, embedder: str, reranker: str | None) -> tuple[str, ...]:
    """Sentences on what a preset was described with and does not have here.

    Args:
        preset: what the search does.
        embedder: name of the model that the index was made with.
        reranker: name of the cross-encoder, if one is configured.
    """
    there = {"embedder": embedder, "reranker": reranker}
    missing = [
        f"{wanted} ({there[role] or 'the late interaction of the default preset'} in its place)"
        for role, wanted in preset.described_with
        if wanted.casefold() not in (there[role] or "").casefold()
    ]
    sentences = []
    if missing:
        sentences.append(
            f"The preset {preset.name} was described with models that are not here: "
            f"{'; '.join(missing)}. What it finds and scores is not what they would."
        )
    if preset.lacks is not None:
        sentences.append(f"The preset {preset.name} runs in part: {preset.lacks}.")
    return tuple(sentences)
