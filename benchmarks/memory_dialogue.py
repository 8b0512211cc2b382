"""The set of messages on which decisions about memories are measured, and its words scripted.

What the extractor says of a message is written in the set; what becomes of it is Emily's own.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Question", "Stated", "Turn", "read_turns", "scripted"]

FILE = Path(__file__).with_name("memory_turns.txt")


@dataclass(frozen=True, slots=True)
class Stated:
    """A fact of a message: what the model says of it, and what should become of it.

    Attributes:
        fact: the fields of ``emily.memory.Fact``.
        action: ``add``, ``drop``, ``replace``, ``retract`` or ``nothing``.
        name: of the memory that is meant, in the set.
    """

    fact: dict[str, str]
    action: str
    name: str


@dataclass(frozen=True, slots=True)
class Turn:
    """A message, its facts, and whether the thresholds were chosen on it."""

    language: str
    message: str
    stated: tuple[Stated, ...]
    chosen_on: bool


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the memory that answers it."""

    text: str
    name: str


def read_turns(path: Path = FILE) -> tuple[list[Turn], list[Question]]:
    """The turns in order, and the questions asked after the last of them."""
    turns: list[Turn] = []
    questions: list[Question] = []
    part = 0
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("---"):
            part += 1
        elif line.strip() and not line.startswith("#"):
            cells = [cell.strip() for cell in line.split("|")]
            if part == 2:
                questions.append(Question(cells[1], cells[0]))
            elif cells[0] == "+":
                last = turns[-1]
                more = _stated(cells, last.message)
                turns[-1] = Turn(last.language, last.message, (*last.stated, more), part == 0)
            else:
                none = cells[-1] == "none"
                stated = () if none else (_stated(cells, cells[1]),)
                turns.append(Turn(cells[0], cells[1], stated, part == 0))
    return turns, questions


def _stated(cells: Sequence[str], message: str) -> Stated:
    _, _, kind, subject, attribute, value, previous, statement, expected = cells
    action, _, name = expected.partition(" ")
    fact = {
        "statement": statement, "original": message, "subject": subject, "attribute": attribute,
        "value": value, "kind": kind, "previous": previous,
    }  # fmt: skip
    return Stated(fact, action, name)


def scripted(turns: Sequence[Turn], prompt: str) -> str:
    """What the model answers to a prompt: the facts of the message that stands in it."""
    for turn in turns:
        if turn.message in prompt.split("</external_content", 1)[0]:
            return json.dumps({"facts": [item.fact for item in turn.stated]})
    return '{"facts": []}'
