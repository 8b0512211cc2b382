"""A long dialogue of the kind of LoCoMo, made by a script: many sessions, three kinds of question.

LoCoMo (Maharana and others, 2024) has conversations of up to 35 sessions over months, with
questions on one fact, on several, and on time. Its texts are not ours to ship, and none of them
is here: persons, places and events are invented and drawn with a fixed seed. A fact is what an
extractor would have said of a message; every second one has its words in Italian beside it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

__all__ = ["Asked", "Dialogue", "make_dialogue"]

SESSIONS = 32
NAMES = (
    "Lodovica", "Corrado", "Ginevra", "Gualtiero", "Ersilia", "Ottone", "Amelia", "Pietro",
    "Prudenzio", "Tosca", "Callisto", "Norma", "Ivo", "Zelinda", "Baldo", "Irma",
)  # fmt: skip
TOWNS = (
    "Camogli", "Asti", "Trieste", "Matera", "Lucca", "Leuven", "Cork", "Bergen", "Porto",
    "Graz", "Nantes", "Urbino", "Cremona", "Split", "Ghent", "Siena",
)  # fmt: skip
INSTRUMENTS = (
    ("cello", "violoncello"), ("oboe", "oboe"), ("harp", "arpa"), ("accordion", "fisarmonica"),
    ("trumpet", "tromba"), ("viola", "viola"), ("drums", "batteria"), ("flute", "flauto"),
)  # fmt: skip
THINGS = (
    ("a second-hand canoe", "una canoa usata"), ("a loom", "un telaio"),
    ("a green armchair", "una poltrona verde"), ("a telescope", "un telescopio"),
    ("an electric saw", "una sega elettrica"), ("a piano stool", "uno sgabello da pianoforte"),
    ("a tent for four", "una tenda per quattro"), ("a sewing machine", "una macchina da cucire"),
    ("a bread oven", "un forno per il pane"), ("a pair of skis", "un paio di sci"),
)  # fmt: skip
DEEDS = (
    ("passed the driving test", "ha superato l'esame di guida"),
    ("broke a wrist", "si è rotto un polso"),
    ("began to learn Greek", "ha cominciato a studiare il greco"),
    ("was promoted", "è stato promosso"),
    ("ran a half marathon", "ha corso una mezza maratona"),
    ("moved the office", "ha cambiato ufficio"),
    ("sold the vineyard", "ha venduto la vigna"),
    ("had a tooth pulled", "si è fatto togliere un dente"),
    ("won a chess tournament", "ha vinto un torneo di scacchi"),
    ("adopted a parrot", "ha adottato un pappagallo"),
)
MONTHS = (
    ("January", "gennaio"), ("February", "febbraio"), ("March", "marzo"), ("April", "aprile"),
    ("May", "maggio"), ("June", "giugno"), ("July", "luglio"), ("August", "agosto"),
    ("September", "settembre"), ("October", "ottobre"), ("November", "novembre"),
    ("December", "dicembre"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: its kind, its language, and the facts (by place) that answer it together."""

    kind: str
    language: str
    text: str
    gold: frozenset[int]


@dataclass(frozen=True, slots=True)
class Dialogue:
    """All facts in the order in which they were said, with originals, and the questions."""

    facts: list[str]
    originals: list[str | None]
    questions: list[Asked]


def make_dialogue(seed: int = 20261201) -> Dialogue:
    """The dialogue of a seed; always the same."""
    draw = random.Random(seed)
    made: list[tuple[str, str]] = []
    plays: dict[str, tuple[int, tuple[str, str]]] = {}
    lives: dict[str, int] = {}
    visits: dict[str, list[int]] = {}
    events: list[tuple[int, str, str, tuple[str, str], int]] = []  # place, kind, who, what, month

    def fact(english: str, italian: str) -> int:
        made.append((english, italian))
        return len(made) - 1

    for name, instrument in zip(NAMES, draw.sample(INSTRUMENTS * 2, len(NAMES)), strict=True):
        if name in NAMES[:8]:
            free = [item for item in INSTRUMENTS if item not in [was for _, was in plays.values()]]
            instrument = draw.choice(free)
            at = fact(f"{name} plays the {instrument[0]}.", f"{name} suona: {instrument[1]}.")
            plays[name] = (at, instrument)
        town = draw.choice(TOWNS)
        lives[name] = fact(f"{name} lives in {town}.", f"{name} abita a {town}.")
    start = date(2025, 1, 7)
    done: set[tuple[str, str]] = set()
    for session in range(SESSIONS):
        day = start + timedelta(days=11 * session)
        english, italian = MONTHS[day.month - 1]
        for _ in range(10):
            name = draw.choice(NAMES)
            kind = draw.choice(("visit", "buy", "do"))
            of_kind: dict[str, Sequence[tuple[str, str]]] = {
                "visit": [(town, town) for town in TOWNS],
                "buy": THINGS,
                "do": DEEDS,
            }
            chosen = draw.choice(list(of_kind[kind]))
            if (name, chosen[0]) in done:
                continue
            done.add((name, chosen[0]))
            if kind == "visit":
                said = (f"{name} visited {chosen[0]}", f"{name} è stato a {chosen[1]}")
            elif kind == "buy":
                said = (f"{name} bought {chosen[0]}", f"{name} ha comprato {chosen[1]}")
            else:
                said = (f"{name} {chosen[0]}", f"{name} {chosen[1]}")
            at = fact(
                f"{said[0]} on {day.day} {english} {day.year}.",
                f"{said[1]} il {day.day} {italian} {day.year}.",
            )
            if kind == "visit":
                visits.setdefault(name, []).append(at)
            events.append((at, kind, name, chosen, day.month - 1))
    questions: list[Asked] = []

    def ask(kind: str, gold: set[int], english: str, italian: str) -> None:
        questions.append(Asked(kind, "en", english, frozenset(gold)))
        questions.append(Asked(kind, "it", italian, frozenset(gold)))

    for name, (at, _) in plays.items():
        ask("one fact", {at}, f"Which instrument does {name} play?",
            f"Quale strumento suona {name}?")  # fmt: skip
    for name in NAMES[8:]:
        ask("one fact", {lives[name]}, f"Where does {name} live?", f"Dove abita {name}?")
    for at, _, name, what, _ in draw.sample([item for item in events if item[1] == "buy"], 14):
        ask("one fact", {at}, f"Who bought {what[0]}, was it {name}?",
            f"Chi ha comprato {what[1]}, forse {name}?")  # fmt: skip
    for name, (at, instrument) in plays.items():
        ask("several facts", {at, lives[name]},
            f"In which town does the one live who plays the {instrument[0]}, {name}?",
            f"In quale città abita {name}, che suona: {instrument[1]}?")  # fmt: skip
    for name, places in visits.items():
        if 2 <= len(places) <= 5:
            ask("several facts", set(places), f"Which towns has {name} visited?",
                f"Quali città ha visitato {name}?")  # fmt: skip
    for at, _, name, what, _ in draw.sample([item for item in events if item[1] == "do"], 16):
        ask("time", {at}, f"When was it that {name} {what[0]}?",
            f"Quando è stato che {name} {what[1]}?")  # fmt: skip
    for _, _, name, _, month in draw.sample(events, 14):
        gold = {item[0] for item in events if item[2] == name and item[4] == month}
        ask("time", gold, f"What did {name} do in {MONTHS[month][0]} 2025?",
            f"Che cosa ha fatto {name} nel mese di {MONTHS[month][1]} 2025?")  # fmt: skip
    originals = [italian if place % 2 else None for place, (_, italian) in enumerate(made)]
    return Dialogue([english for english, _ in made], originals, questions)
