"""Memory: what becomes of facts, and how well memories are found.

python -m benchmarks memory

Two sets, both our own: the ninety messages of ``memory_turns.txt`` with the extractor's words
scripted, and a long dialogue like those of LoCoMo that a script makes (``memory_long.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from benchmarks.memory_dialogue import Question, Turn, read_turns
from benchmarks.memory_long import Dialogue, make_dialogue
from emily.memory import Fact, Memory, deciding
from emily.memory.deciding import Near, decide
from emily.memory.finding import hybrid
from emily.memory.likeness import same_subject
from emily.models import Embedder, UseEmbedder
from emily.models.protocols import Matrix

LANGUAGES = ("it", "en")
STEPS = (-0.10, -0.05, 0.05, 0.10)
ARMS = (("words", 1.0, False), ("likeness", 0.0, True), ("both", 1.0, True))


def main(arguments: Sequence[str] = ()) -> None:
    """Print all tables."""
    if arguments:
        raise SystemExit("memory takes no option")
    embedder = UseEmbedder(threads=1)
    turns, questions = read_turns()
    vectors = _Vectors(embedder)
    kept, names, right = _decided(turns, vectors)
    print("| facts of | decided as expected |\n|---|--:|")
    for name, chosen in (("messages the thresholds were chosen on", True), ("the others", False)):
        found = [done for where, done in right if where is chosen]
        print(f"| {name} | {sum(found)} of {len(found)} |")
    _sweep(turns, vectors)
    _found(kept, names, questions, embedder)
    _long(make_dialogue(), embedder)


class _Vectors:
    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._kept: dict[str, np.ndarray] = {}

    def cosine(self, one: str, other: str) -> float:
        for text in (one, other):
            if text not in self._kept:
                self._kept[text] = self._embedder.embed_parts([[text]])[0].part
        return float(self._kept[one] @ self._kept[other])


def _decided(
    turns: Sequence[Turn], vectors: _Vectors
) -> tuple[dict[int, Memory], dict[int, str], list[tuple[bool, bool]]]:
    """What is remembered where each decision was the expected one; and which were."""
    kept: dict[int, Memory] = {}
    names: dict[int, str] = {}
    right: list[tuple[bool, bool]] = []
    at = datetime(2026, 1, 1, tzinfo=UTC)
    for turn in turns:
        at += timedelta(days=1)
        for stated in turn.stated:
            fact = Fact.model_validate(stated.fact)
            near = [
                Near(
                    item,
                    vectors.cosine(fact.statement, item.text),
                    vectors.cosine(fact.attribute, item.attribute)
                    if same_subject(fact.subject, item.subject)
                    else None,
                )
                for item in kept.values()
            ]
            decision = decide(fact, near)
            name = None if decision.memory is None else names[decision.memory.id]
            wanted = None if stated.action in ("add", "nothing") else stated.name
            right.append((turn.chosen_on, (decision.action, name) == (stated.action, wanted)))
            known = next((key for key in kept if names[key] == stated.name), None)
            if stated.action == "retract" and known is not None:
                del kept[known]
            if stated.action in ("add", "replace"):
                identity = known or len(names) + 1
                names[identity] = stated.name
                kept[identity] = Memory(
                    identity, fact.statement, fact.original, turn.language, fact.subject,
                    fact.attribute, fact.value, "conversation", "current", False, None, "add",
                    None, None, None, None, at, at, None,
                )  # fmt: skip
    return kept, names, right


def _sweep(turns: Sequence[Turn], vectors: _Vectors) -> None:
    """How many decisions are right with another threshold, on all messages."""
    print("\n| threshold | " + " | ".join(f"{step:+.2f}" for step in STEPS) + " |")
    print("|---|" + "--:|" * len(STEPS))
    for name in ("SAME", "ALIKE", "ENDING", "AKIN"):
        own = getattr(deciding, name)
        cells = []
        for step in STEPS:
            setattr(deciding, name, own + step)
            cells.append(str(sum(done for _, done in _decided(turns, vectors)[2])))
        setattr(deciding, name, own)
        print(f"| {name} {own:.2f} | " + " | ".join(cells) + " |")


def _embedded(texts: Sequence[str], embedder: Embedder) -> list[np.ndarray]:
    return [part.part for part in embedder.embed_parts([[text] for text in texts])]


def _found(
    kept: dict[int, Memory], names: dict[int, str], questions: Sequence[Question],
    embedder: Embedder,
) -> None:  # fmt: skip
    memories = list(kept.values())
    texts = [f"{item.text}\n{item.original}" for item in memories]
    vectors = _embedded([item.text for item in memories], embedder)
    print(f"\n| {len(questions)} questions, {len(memories)} memories | hit@1 | hit@3 | hit@5 |")
    print("|---|--:|--:|--:|")
    for name, weight, likeness in ARMS:
        ranks = []
        for question in questions:
            asked: Matrix | None = embedder.embed_queries([question.text]) if likeness else None
            rows = hybrid(question.text, texts, vectors, asked, LANGUAGES, weight)
            order = [names[memories[row[0]].id] for row in rows]
            ranks.append(order.index(question.name) if question.name in order else 10_000)
        hits = [sum(rank < k for rank in ranks) / len(ranks) for k in (1, 3, 5)]
        print(f"| {name} | " + " | ".join(f"{hit:.2f}" for hit in hits) + " |")


def _long(dialogue: Dialogue, embedder: Embedder) -> None:
    texts = [
        fact if original is None else f"{fact}\n{original}"
        for fact, original in zip(dialogue.facts, dialogue.originals, strict=True)
    ]
    vectors = _embedded(dialogue.facts, embedder)
    kinds = list(dict.fromkeys(item.kind for item in dialogue.questions))
    print(
        f"\nA generated dialogue like those of LoCoMo: {len(texts)} facts, "
        f"{len(dialogue.questions)} questions.\n"
    )
    print("| questions on | how | questions | recall@1 | recall@3 | recall@5 | recall@10 |")
    print("|---|---|--:|--:|--:|--:|--:|")
    asked = {item.text: embedder.embed_queries([item.text]) for item in dialogue.questions}
    for kind in [*kinds, "all"]:
        chosen = [item for item in dialogue.questions if kind in (item.kind, "all")]
        for name, weight, likeness in ARMS:
            recalls = []
            for item in chosen:
                given = asked[item.text] if likeness else None
                order = [
                    row[0] for row in hybrid(item.text, texts, vectors, given, LANGUAGES, weight)
                ]
                recalls.append(
                    [len(item.gold & set(order[:k])) / len(item.gold) for k in (1, 3, 5, 10)]
                )
            means = np.mean(recalls, axis=0)
            cells = " | ".join(f"{value:.2f}" for value in means)
            print(f"| {kind} | {name} | {len(chosen)} | {cells} |")


if __name__ == "__main__":
    main()
