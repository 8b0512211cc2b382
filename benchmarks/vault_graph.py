"""Whether the walk over links finds notes that hold no word of the question.

    python -m benchmarks vault_graph [--notes 1200] [--questions 150] [--sweep]

A vault is written from the sentences of ``benchmarks.generated``. Each *linked* question has
three telling words. They stand together in one note only, which links to the answer; the answer
holds none of them, and a dozen other notes hold one or two. Each *direct* question asks for a
note that holds all of the words, or two of them: there the walk must do no harm. Hubs are notes
that all others link to. Restart, damping and weight were chosen on one vault (``--sweep``) and are
measured on another.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from benchmarks.generated import document
from emily.vault.cache import Cache, open_cache
from emily.vault.engine import SPREAD, search
from emily.vault.graph import DAMPING, RESTART

__all__ = ["main", "write_linked_vault"]

_TOP = 8
_HUBS = 6
_NEAR = 12
_CHOSEN_ON, _MEASURED_ON = 11, 23


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the notes that count.

    Attributes:
        words: of it.
        answer: path of the note that is looked for.
        linked: whether only a link leads to it.
    """

    words: str
    answer: str
    linked: bool


@dataclass(frozen=True, slots=True)
class Score:
    """Shares over all questions of a kind, 0 to 1.

    Attributes:
        linked, direct: whose answer is among the first eight.
        first: direct questions for all of the words whose answer is the first, of all direct.
        hubs: of the first eight places, those that hubs take.
    """

    linked: float
    direct: float
    first: float
    hubs: float


def write_linked_vault(
    folder: Path, notes: int, questions: int, seed: int
) -> tuple[list[Question], frozenset[str]]:
    """Write the vault.

    Args:
        folder: that is filled.
        notes: how many.
        questions: of each kind.
        seed: another seed gives other notes and questions.

    Returns:
        The questions, and the paths of the hubs.
    """
    chance = random.Random(seed)
    text = document(notes * 900, seed)
    sentences = [part.rstrip(".") + "." for part in text.replace("\n\n", " ").split(". ") if part]
    bodies = [[chance.choice(sentences) for _ in range(chance.randint(3, 9))] for _ in range(notes)]
    links: list[set[int]] = [set() for _ in range(notes)]
    for note in range(notes):
        links[note] |= set(chance.sample(range(_HUBS), chance.choice((0, 1, 1, 2))))
        links[note] |= {chance.randrange(notes) for _ in range(chance.choice((0, 1, 2, 2, 3)))}
    free = list(range(_HUBS, notes))
    chance.shuffle(free)
    found = []
    for number in range(questions):
        words = [f"{_syllables(chance)}{number}{end}" for end in ("ax", "ib", "uc")]
        words = [word.translate(_LETTERS) for word in words]
        match, answer = free[2 * number], free[2 * number + 1]
        bodies[match].insert(
            chance.randrange(len(bodies[match])), f"The {words[0]} {words[1]} had a {words[2]}."
        )
        links[match].add(answer)
        others = [near for near in chance.sample(free, _NEAR) if near not in (match, answer)]
        for place, near in enumerate(others):
            held = chance.sample(words, 2 if place < 3 else 1)
            bodies[near].append(f"It was a {' or '.join(held)} that was seen.")
        found.append(Question(" ".join(words), _path(answer), linked=True))
        direct = others[0] if number % 2 else match
        found.append(Question(" ".join(words), _path(direct), linked=False))
    for note in range(notes):
        target = folder / _path(note)
        target.parent.mkdir(parents=True, exist_ok=True)
        lines = [f"# {_name(note)}", "", *bodies[note][:4], "", *bodies[note][4:], ""]
        lines += [f"See [[{_name(other)}]]." for other in sorted(links[note] - {note})]
        target.write_text("\n".join(lines) + "\n", "utf-8")
    return found, frozenset(map(_path, range(_HUBS)))


_LETTERS = str.maketrans("0123456789", "bcdfghklmn")


def _syllables(chance: random.Random) -> str:
    return "".join(chance.choice("bdfgklmnprstvz") + chance.choice("aeiou") for _ in range(2))


def _name(note: int) -> str:
    return f"Overview {note}" if note < _HUBS else f"Note {note}"


def _path(note: int) -> str:
    return f"{'index' if note < _HUBS else f'part {note % 7}'}/{_name(note)}.md"


def measure(
    cache: Cache,
    questions: Sequence[Question],
    hubs: frozenset[str],
    *,
    links: bool = True,
    restart: float = RESTART,
    damping: float = DAMPING,
    spread: float = SPREAD,
) -> Score:
    """Ask all questions."""
    hit = {True: 0, False: 0}
    first = places = by_hubs = 0
    answers: dict[str, list[str]] = {}
    for question in questions:
        if question.words not in answers:
            outcome = search(
                cache, question.words, documents=_TOP, budget=None, links=links,
                restart=restart, damping=damping, spread=spread,
            )  # fmt: skip
            answers[question.words] = [found.path for found in outcome.found]
        paths = answers[question.words]
        hit[question.linked] += question.answer in paths
        first += not question.linked and paths[:1] == [question.answer]
        places += len(paths)
        by_hubs += sum(path in hubs for path in paths)
    half = len(questions) / 2
    return Score(hit[True] / half, hit[False] / half, first / half, by_hubs / max(places, 1))


def main(arguments: list[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="benchmarks vault_graph")
    parser.add_argument("--notes", type=int, default=1200)
    parser.add_argument("--questions", type=int, default=150)
    parser.add_argument("--sweep", action="store_true", help="try all settings on the other vault")
    given = parser.parse_args(arguments)
    seed = _CHOSEN_ON if given.sweep else _MEASURED_ON
    with tempfile.TemporaryDirectory() as folder:
        questions, hubs = write_linked_vault(Path(folder), given.notes, given.questions, seed)
        cache = open_cache(Path(folder), None)
        try:
            _print(cache, questions, hubs, sweep=given.sweep)
        finally:
            cache.close()


def _print(
    cache: Cache, questions: Sequence[Question], hubs: frozenset[str], *, sweep: bool
) -> None:
    print("| restart | damping | weight | linked | direct | direct, first | places of hubs |")
    print("|---|---|---|---|---|---|---|")
    _row("words alone", "", "", measure(cache, questions, hubs, links=False))
    if sweep:
        options = product((0.15, 0.3, 0.5, 0.7), (0.0, 0.5, 1.0), (0.25, 0.35, 0.5, 0.7))
    else:
        options = product((RESTART,), (0.0, DAMPING, 1.0), (SPREAD,))
    for restart, damping, spread in options:
        score = measure(cache, questions, hubs, restart=restart, damping=damping, spread=spread)
        _row(restart, damping, spread, score)


def _row(restart: object, damping: object, spread: object, score: Score) -> None:
    shares = " | ".join(
        f"{share:.3f}" for share in (score.linked, score.direct, score.first, score.hubs)
    )
    print(f"| {restart} | {damping} | {spread} | {shares} |", flush=True)
