"""Texts with known relations, by which any embedder is tried before it is trusted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

__all__ = ["FAR", "GOLDEN", "PARAPHRASE", "TRANSLATION", "Golden", "window_probe"]

GOLDEN = "The rental contract expires at the end of March."
PARAPHRASE = "The lease of the flat runs out on the last day of March."
TRANSLATION = "Il contratto di affitto scade alla fine di marzo."
FAR = "Preheat the oven and whisk three eggs with sugar."

# The bundled encoder keeps .88 and .10 apart; a fifth of that shows any model of sentences.
_MARGIN = 0.1

_FILLER = "La riunione di quartiere è stata spostata a un altro giorno della settimana."
_ENDS = (
    "Il contratto di affitto dell'appartamento scade alla fine di marzo.",
    "Montare tre uova con lo zucchero e cuocere in forno per quaranta minuti.",
)


@dataclass(frozen=True, slots=True)
class Golden:
    """Cosines of the golden sentence with the same thing said again, and with another subject.

    Attributes:
        same: in the same language.
        other_language: in another one.
        far: another subject, same language.
    """

    same: float
    other_language: float
    far: float

    @property
    def fits(self) -> bool:
        """Whether it is a model of sentences at all."""
        return self.same > self.far + _MARGIN

    @property
    def crosses(self) -> bool:
        """Whether it knows the same thing in another language."""
        return self.other_language > self.far + _MARGIN

    def __str__(self) -> str:
        said = (
            f"golden pair {self.same:.2f}, in another language {self.other_language:.2f}, "
            f"another subject {self.far:.2f}"
        )
        return said if self.crosses else f"{said}: it does not cross languages"


def window_probe(room: int, count: Callable[[str], int]) -> Iterator[tuple[str, tuple[str, str]]]:
    """Pairs of texts of ``room`` tokens that differ in nothing but their beginning or end.

    A model that reads them whole gives the two of a pair different vectors.
    """
    ends = max(map(count, _ENDS))
    middle = " ".join([_FILLER] * max(0, (room - 2 * ends) // count(_FILLER)))
    first, other = _ENDS
    yield "end", (f"{first} {middle} {first}", f"{first} {middle} {other}")
    yield "beginning", (f"{first} {middle} {first}", f"{other} {middle} {first}")
