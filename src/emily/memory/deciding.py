"""What becomes of a fact that the owner has stated: the decision is made here, by rules.

A model says what a message states. Whether that is known, changes something or stands beside it
is decided from the words, from what the fact is of, and from how near it is to what is
remembered. Where the rules cannot tell, both are kept; nothing is ever lost, for what is
replaced or ended stays in the history.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from emily.memory.facts import Fact, Memory
from emily.memory.likeness import (
    attribute_terms,
    denies,
    figures,
    is_many,
    normalised,
    same_subject,
    same_value,
    value_words,
)

__all__ = ["AKIN", "ALIKE", "ENDING", "SAME", "Decision", "Near", "decide", "known"]

SAME = 0.90
"""Cosine of two sentences from which they say the same, if their names and numbers are the same
and both affirm or both deny."""

ALIKE = 0.75
"""Cosine from which something that the message calls a change changes that sentence."""

ENDING = 0.55
"""Cosine from which something that the message takes back ends that sentence, of one subject."""

AKIN = 0.70
"""Cosine of two attributes from which they are one: ``home city`` and ``city of residence``."""

# All four measured on the dialogues of benchmarks/memory_turns.json: python -m benchmarks memory

Action = Literal["add", "drop", "replace", "retract", "nothing"]


@dataclass(frozen=True, slots=True)
class Near:
    """A memory and how near a fact is to it.

    Attributes:
        memory: a current one.
        cosine: of the two sentences; ``None`` where there is no vector.
        attributes: cosine of the two attributes; ``None`` where it was not asked for.
    """

    memory: Memory
    cosine: float | None = None
    attributes: float | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What is to be done with a fact.

    Attributes:
        action: ``add`` it; ``drop`` it, for it is known; ``replace`` or ``retract`` a memory;
            ``nothing``: there is none that it could take back.
        memory: the one that is known, replaced or ended.
        why: the rule.
    """

    action: Action
    memory: Memory | None
    why: str


def known(text: str, near: Sequence[Near]) -> Memory | None:
    """The memory that says the same as a sentence, if there is one."""
    words = normalised(text)
    for item in near:
        if normalised(item.memory.text) == words:
            return item.memory
    marks, denied = figures(text), denies(text)
    alike = [
        item
        for item in near
        if (item.cosine or 0.0) >= SAME
        and figures(item.memory.text) == marks
        and denies(item.memory.text) == denied
    ]
    return max(alike, key=lambda item: item.cosine or 0.0).memory if alike else None


def decide(fact: Fact, near: Sequence[Near]) -> Decision:
    """What becomes of a fact.

    Args:
        fact: as the message states it.
        near: all that is current, with likenesses where they are known.
    """
    own = [item for item in near if _same_key(fact, item)]
    if fact.kind == "retract":
        return _retracted(fact, near, own)
    said = known(fact.statement, near)
    if said is not None:
        return Decision("drop", said, "it is known in these words")
    for item in own:
        if _opposed(fact, item.memory):
            return Decision("replace", item.memory, "the same thing, affirmed and denied")
        if same_value(fact.value, item.memory.value) and not _more(fact, item.memory):
            return Decision("drop", item.memory, "the same of the same is known")
    changed = _changed(fact, own)
    if changed is not None:
        return changed
    if fact.kind == "update" and not own:
        alike = _nearest(fact, near, ALIKE)
        if alike is not None:
            return Decision("replace", alike, "called a change, and near in words")
    return Decision("add", None, "nothing that is remembered is of the same")


def _changed(fact: Fact, own: Sequence[Near]) -> Decision | None:
    """The memory of the same thing whose value a fact changes."""
    for item in own:
        mine, theirs = value_words(fact.value), value_words(item.memory.value)
        if theirs < mine and theirs:
            return Decision("replace", item.memory, "the same, told more fully")
        if mine < theirs and mine and figures(fact.value) <= figures(item.memory.value):
            return Decision("drop", item.memory, "known, and more fully")
    if not is_many(fact.attribute):
        if own:
            return Decision("replace", _closest(own), "one thing has one value, the newer")
        return None
    if fact.kind != "update" or not own:
        return None
    before = value_words(fact.previous)
    named = [item for item in own if before and value_words(item.memory.value) & before]
    if named:
        return Decision("replace", _closest(named), "the message names what it was")
    if len(own) == 1 and not before:
        return Decision("replace", own[0].memory, "called a change of the only one there is")
    return None


def _retracted(fact: Fact, near: Sequence[Near], own: Sequence[Near]) -> Decision:
    """The memory that a fact takes back."""
    values = [value_words(text) for text in (fact.value, fact.previous) if text]
    valued = [
        item
        for item in own
        if any(words and words & value_words(item.memory.value) for words in values)
    ]
    if valued:
        return Decision("retract", _closest(valued), "the same thing and value, taken back")
    if own and (len(own) == 1 or not is_many(fact.attribute)) and not any(values):
        return Decision("retract", _closest(own), "the same thing, taken back")
    if len(own) == 1 and not is_many(fact.attribute):
        return Decision("retract", own[0].memory, "the same thing, taken back")
    alike = _nearest(fact, near, ENDING)
    if alike is not None:
        return Decision("retract", alike, "taken back, and near in words")
    return Decision("nothing", None, "nothing that is remembered is taken back by it")


def _nearest(fact: Fact, near: Sequence[Near], least: float) -> Memory | None:
    """The nearest memory of the same subject, or of one that the owner wrote down."""
    found = [
        item
        for item in near
        if (item.cosine or 0.0) >= least
        and (not item.memory.attribute or same_subject(fact.subject, item.memory.subject))
    ]
    return _closest(found) if found else None


def _closest(found: Sequence[Near]) -> Memory:
    return max(found, key=lambda item: (item.cosine or 0.0, item.memory.id)).memory


def _same_key(fact: Fact, item: Near) -> bool:
    memory = item.memory
    mine, theirs = attribute_terms(fact.attribute), attribute_terms(memory.attribute)
    if not mine or not theirs or not same_subject(fact.subject, memory.subject):
        return False
    if mine == theirs:
        return True
    # Nearness alone would join "wife's birthday" and "daughter's birthday": a word in common is
    # not enough, and one that only each of them has tells them apart where it names a person.
    return (item.attributes or 0.0) >= AKIN


def _opposed(fact: Fact, memory: Memory) -> bool:
    same = same_value(fact.value, memory.value)
    return bool(same) and denies(fact.statement) != denies(memory.text)


def _more(fact: Fact, memory: Memory) -> bool:
    return figures(fact.statement) > figures(memory.text)
