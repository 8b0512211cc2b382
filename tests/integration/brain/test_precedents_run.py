"""Each search tells its signs, and what they meant on the owner's own questions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from emily.brain import Brain
from emily.measure.questions import Question, Unanswerable

WORDS = ["ferry", "bread", "lamp", "roof", "garden", "rent", "train", "piano"]


async def test_questions_of_eval_and_pins_become_precedents(
    brain: Brain, write: Callable[[str, str], Path], folder: Path
) -> None:
    for word in WORDS:
        write(f"{word}.md", f"The {word} costs twelve coins in winter.")
    await brain.add([folder])
    first = await brain.search("what does the ferry cost in winter")
    assert first.signs is not None
    assert first.signs["coverage"] > 0.5
    assert 0 < first.signs["similarity"] <= 1
    assert first.precedent is None  # nothing is known yet
    await brain.evaluate(
        [
            Question(f"q{n}", f"what does the {word} cost in winter", f"{word}.md")
            for n, word in enumerate(WORDS)
        ],
        [Unanswerable(f"u{n}", f"zebra {n} quagga okapi tapir", "off-topic") for n in range(8)],
    )
    await brain.pin("the piano costs twelve coins", "piano.md")
    poor = await brain.search("zebra okapi quagga tapir again")
    assert poor.precedent is not None
    assert poor.precedent.says_absent
    assert any("may not be here" in notice for notice in poor.notices)
    good = await brain.search("what does the garden cost in winter")
    assert good.precedent is not None
    assert not good.precedent.says_absent
