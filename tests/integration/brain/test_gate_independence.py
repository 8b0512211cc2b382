"""What else the archive holds moves no probability."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from tests.fakes import bundled_embedder
from tests.integration.brain.conftest import OpenBrain

from emily.brain import Answer, Brain

Write = Callable[[str, str], Path]

OWN = {
    "lease.txt": "The rent of the flat in Via Roma is 900 euros a month. The tenant must give "
    "notice six months before leaving. The deposit is three months of rent.",
    "caldaia.txt": "La caldaia modello TM-X200/4 va revisionata ogni due anni. L'ultima revisione "
    "è del 2024-11-05 ed è costata 120 euro. Il tecnico è il signor Bianchi.",
    "insurance.txt": "The travel insurance covers medical costs up to 50,000 euros. Lost luggage "
    "is covered up to 1,000 euros. Claims must be made within thirty days.",
    "ricetta.txt": "Per la torta di mele servono tre uova, duecento grammi di zucchero e quattro "
    "mele renette. Si inforna a 180 gradi per quaranta minuti.",
    "verbale.txt": "L'assemblea di condominio approva il rifacimento del tetto per 24.500 euro. "
    "I lavori cominciano a maggio. Contrario il signor Verdi.",
    "dentist.txt": "Dentist's receipt no. DEC-0054: two fillings, 260 euros, paid by card.",
}
QUESTIONS = (
    "how many months of notice must the tenant give?",
    "quanto costa l'affitto di via Roma?",
    "ogni quanti anni si revisiona la caldaia TM-X200/4?",
    "up to what amount is lost luggage insured?",
    "a quanti gradi si inforna la torta di mele?",
    "what did the owners decide about the roof?",
    "DEC-0054",
    "quanto ho pagato il dentista?",
    "who is the technician of the boiler?",
    "the price of the new bicycle",
)
_SUBJECTS = {
    "it": ("il fiume", "la montagna", "il museo", "la squadra", "il treno", "la pianta", "il coro"),
    "en": ("the river", "the mountain", "the museum", "the team", "the train", "the plant"),
}
_ACTS = {
    "it": ("attraversa", "illumina", "racconta", "protegge", "ricorda", "accoglie", "trasforma"),
    "en": ("crosses", "lights up", "tells of", "protects", "recalls", "welcomes", "transforms"),
}


def unrelated(number: int) -> str:
    """A text of its own about nothing that the questions ask for."""
    rng = random.Random(number)
    language = ("it", "en")[number % 2]
    pick = lambda words: rng.choice(words[language])  # noqa: E731
    sentences = [f"{pick(_SUBJECTS)} {pick(_ACTS)} {pick(_SUBJECTS)}" for _ in range(6)]
    return f"{number}. " + ". ".join(sentences).capitalize() + "."


def probabilities(answer: Answer) -> dict[tuple[str, int], float]:
    return {
        (item["name"], item["ordinal"]): item["probability"]
        for item in answer.trace["second_stage"]["candidates"]
        if item["name"] in OWN
    }


async def ask_all(brain: Brain) -> dict[str, tuple[dict[tuple[str, int], float], set[str]]]:
    found = {}
    for question in QUESTIONS:
        answer = await brain.search(question, limit=20)
        shown = {result.document.name for result in answer.results} & OWN.keys()
        found[question] = (probabilities(answer), shown)
    return found


async def test_a_hundred_unrelated_documents_move_no_probability(
    open_brain: OpenBrain, write: Write, folder: Path
) -> None:
    # A pool that holds all of the first documents: what crowds a chunk out is no score of it.
    brain = await open_brain(bundled_embedder(), arm_size=60, pool_size=60)
    for name, text in OWN.items():
        write(f"own/{name}", text)
    for number in range(100):
        write(f"other/{number}.txt", unrelated(number))
    assert (await brain.add([folder / "own"])).counts() == {"added": len(OWN)}
    before = await ask_all(brain)
    assert (await brain.add([folder / "other"])).counts() == {"added": 100}
    after = await ask_all(brain)
    moved = compared = 0.0
    for question in QUESTIONS:
        (was, shown_before), (is_, shown_after) = before[question], after[question]
        for chunk in was.keys() & is_.keys():
            moved = max(moved, abs(was[chunk] - is_[chunk]))
            compared += 1
        assert shown_before <= shown_after, f"{question!r} lost a passage"
    assert compared > 40
    assert moved <= 0.01, f"a probability moved by {moved:.4f}"
    assert sum(bool(shown) for _, shown in before.values()) >= 7, "the questions find something"
