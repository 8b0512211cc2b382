"""Prose of any length, in Italian and in English: every sentence is another one."""

from __future__ import annotations

import random

_IT = (
    ("Il comune", "La cooperativa", "Il condominio", "La biblioteca", "Il vivaio", "La scuola"),
    ("ha approvato", "ha rinviato", "discute ancora", "pubblica domani", "controlla ogni anno"),
    ("il bilancio della piscina", "la riparazione del tetto", "il regolamento dei parcheggi",
     "la raccolta delle castagne", "il rinnovo delle tessere", "la potatura dei gelsi"),
    ("per il quartiere nord", "su richiesta dei soci", "dopo una lunga riunione",
     "con una spesa prevista", "senza nuovi contributi", "prima della pausa estiva"),
)  # fmt: skip
_EN = (
    ("The council", "The sailing club", "The library", "The night school", "The orchard trust"),
    ("has approved", "is still discussing", "will publish tomorrow", "inspects every year"),
    ("the budget of the swimming pool", "the repair of the slipway", "the rules for moorings",
     "the harvest of the early apples", "the renewal of the membership cards"),
    ("for the northern ward", "at the request of its members", "after a long meeting",
     "with an expected cost", "before the summer break"),
)  # fmt: skip


def prose(language: str, characters: int, seed: int = 1) -> str:
    """Paragraphs of exactly so many characters, the last sentence cut where it must be."""
    chance = random.Random(seed)
    parts = _IT if language == "it" else _EN
    of = "di {} euro, alla riga {}" if language == "it" else "of {} euro, at line {}"
    text, number = "", 0
    while len(text) < characters:
        number += 1
        words = [chance.choice(part) for part in parts]
        words.append(of.format(chance.randint(20, 9999), number))
        text += " ".join(words) + "." + ("\n\n" if number % 6 == 0 else " ")
    return text[:characters]
