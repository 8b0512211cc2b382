"""Golden pairs: what every reranker must be able to tell, asked when it is loaded.

A wrong template, a suffix that was cut off or weights without their last layer do not fail:
such a reranker gives 0.998 to everything, and the results look like results. So each of two
questions is put to the passage that answers it and to the one that answers the other. Whoever
looks at the question prefers the right passage both times; whoever does not is wrong once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from emily.errors import ModelUnavailable
from emily.models.protocols import Judgement

__all__ = ["GOLDEN", "MARGIN", "PASSAGES", "Probe", "verdict"]

MARGIN = 0.1
"""Least difference of the two probabilities. Cross-encoders that work are apart by .5 and more
on pairs as plain as these, and one that does not by nothing; where between does not matter."""

_LANGUAGES = {"en": "English", "it": "Italian"}

_RICE = {
    "en": (
        "How long does the rice have to cook?",
        "Let the rice cook in salted water for eighteen minutes, then drain it.",
    ),
    "it": (
        "Per quanto tempo deve cuocere il riso?",
        "Fate cuocere il riso in acqua salata per diciotto minuti, poi scolatelo.",
    ),
}
_FERRY = {
    "en": (
        "When does the ferry to the island leave?",
        "The ferry to the island leaves from the old pier every morning at seven.",
    ),
    "it": (
        "A che ora parte il traghetto per l'isola?",
        "Il traghetto per l'isola parte dal vecchio molo ogni mattina alle sette.",
    ),
}


@dataclass(frozen=True, slots=True)
class Probe:
    """A question that is put to all golden passages.

    Attributes:
        language: of the question.
        topic: place of its subject in each language's pair of passages.
        question: its text.
    """

    language: str
    topic: int
    question: str


PASSAGES = tuple(topic[language][1] for language in _LANGUAGES for topic in (_RICE, _FERRY))
"""Two passages of each language, the subjects in the same order."""

GOLDEN = tuple(
    Probe(language, place, topic[language][0])
    for language in _LANGUAGES
    for place, topic in enumerate((_RICE, _FERRY))
)


def verdict(name: str, judgements: Sequence[Judgement]) -> tuple[str, ...]:
    """What the answers to all of ``GOLDEN``, each put to all ``PASSAGES``, say of a reranker.

    Args:
        name: of the reranker.
        judgements: in the order of ``GOLDEN``.

    Returns:
        a sentence for each pair of languages that it cannot bring together.

    Raises:
        ModelUnavailable: it cannot tell right from wrong in any one language.
    """
    known = list(_LANGUAGES)
    able = {
        (asked, answered): all(
            _prefers(judgement, probe.topic, known.index(answered))
            for probe, judgement in zip(GOLDEN, judgements, strict=True)
            if probe.language == asked
        )
        for asked in known
        for answered in known
    }
    if not any(able[language, language] for language in known):
        raise ModelUnavailable(
            f"The reranker {name} cannot tell an answer from another subject: "
            f"{_seen(judgements[0])}. Its template, its suffix or its last layer is not what it "
            "was trained with, or it is no reranker. Choose another: setting reranker_model"
        )
    return tuple(_sentences(name, able))


def _sentences(name: str, able: dict[tuple[str, str], bool]) -> Iterator[str]:
    for (asked, answered), works in able.items():
        if works:
            continue
        question, passage = _LANGUAGES[asked], _LANGUAGES[answered]
        if asked == answered:
            yield f"The reranker {name} fails its golden pair in {question}."
        else:
            yield (
                f"The reranker {name} does not cross languages: of two {passage} passages it "
                f"does not prefer the one that answers an {question} question."
            )


def _prefers(judgement: Judgement, topic: int, language: int) -> bool:
    """Whether the right one of a language's two passages stands clearly above the other."""
    right, wrong = 2 * language + topic, 2 * language + 1 - topic
    if judgement.probabilities is None:
        return judgement.order.index(right) < judgement.order.index(wrong)
    return judgement.probabilities[right] - judgement.probabilities[wrong] >= MARGIN


def _seen(judgement: Judgement) -> str:
    question = GOLDEN[0].question
    if judgement.probabilities is None:
        return f"for {question!r} it ranks the passages {list(judgement.order)}"
    right, wrong = judgement.probabilities[0], judgement.probabilities[1]
    return (
        f"{question!r} gives {right:.3f} to the passage that answers it and {wrong:.3f} to one "
        "on something else"
    )
