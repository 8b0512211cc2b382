"""A generated document: as long as asked, no sentence twice, the same at every run.

Its words are those of the example archive, which all documents share, and invented ones, which
are another document's own as names and terms are. They occur as words of a language do, the
n-th most frequent about 1/n as often as the first (Zipf). Function words stand where sentences
have them. What it says means nothing.
"""

from __future__ import annotations

import random
import re
from itertools import accumulate

from examples.archive.source import load_all

__all__ = ["document"]

_LEAST_LETTERS = 4
_INVENTED = 3_000
_SYLLABLES = (
    "ba",
    "co",
    "de",
    "fi",
    "gra",
    "lan",
    "lo",
    "mer",
    "mi",
    "nu",
    "ra",
    "so",
    "ta",
    "tor",
    "vi",
)
_FRAMES = (
    "The {} {} of the {} was {} in the {}, and the {} had no {}.",
    "When a {} {} is {}, the {} must {} it with the {} before {}.",
    "In {year} the {} paid {sum} for {} and {}, but {} {} were not {}.",
    "Whoever {} the {} after the {} of {} may {} the {} {} once more.",
    "It was the {} that {} {}, not the {} or the {} of {}.",
    "Between {} and {} there are {sum} {}, most of them {} by the {}.",
    "She wrote to the {} about the {} {}, which {} had {} since {year}.",
    "No {} of {} can be {} unless the {} and the {} {} agree.",
)
_SENTENCES_PER_PARAGRAPH = 5


def document(characters: int, seed: int) -> str:
    """A text of English form in paragraphs, at least ``characters`` long, cut at a sentence.

    Args:
        characters: its length.
        seed: another seed gives other sentences and other invented words.
    """
    chance = random.Random(seed)
    lexicon = _lexicon(seed)
    weights = list(accumulate(1 / rank for rank in range(1, len(lexicon) + 1)))
    seen: set[str] = set()
    paragraphs: list[list[str]] = [[]]
    length = 0
    while length < characters:
        frame = chance.choice(_FRAMES)
        picked = chance.choices(lexicon, cum_weights=weights, k=frame.count("{}"))
        sentence = frame.format(
            *picked, year=chance.randint(1950, 2024), sum=f"{chance.randint(20, 90_000):,}"
        )
        if sentence in seen:
            continue
        seen.add(sentence)
        if len(paragraphs[-1]) == _SENTENCES_PER_PARAGRAPH:
            paragraphs.append([])
            length += 1
        paragraphs[-1].append(sentence)
        length += len(sentence) + 1
    return "\n\n".join(" ".join(paragraph) for paragraph in paragraphs) + "\n"


def _lexicon(seed: int) -> list[str]:
    """Words in the order of how often they occur; real and invented ones are mixed."""
    english = [source for source in load_all() if source.lang == "en" and not source.mixed]
    text = " ".join(line for source in english for line in source.lines)
    real = {word.lower() for word in re.findall(rf"[A-Za-z]{{{_LEAST_LETTERS},}}", text)}
    chance = random.Random(f"words/{seed}")
    invented = {
        "".join(chance.choices(_SYLLABLES, k=chance.randint(2, 4))) for _ in range(_INVENTED)
    }
    found = sorted(real | invented)
    chance.shuffle(found)
    return found
