"""A generated vault of linked notes: as many as asked, the same at every run.

Its sentences are those of ``benchmarks.generated``. Notes stand in folders, have headings, lists,
code now and then, front matter of several shapes, tags, and links of every kind to other notes,
a few of which are hubs as in a grown vault (preferential attachment, Barabási and Albert 1999).
"""

from __future__ import annotations

import random
from pathlib import Path

from benchmarks.generated import document

__all__ = ["write_vault"]

_FOLDERS = ("", "daily", "projects/house", "projects/garden", "people", "reading", "archive/2019")
_TAGS = ("garden", "house", "tax", "reading", "people/work", "idea", "done", "2019/old")
_CODE = (
    "```python\ndef total(rows):\n    # not a heading\n    return sum(rows)  # [[ -f x ]]\n```\n"
)


def write_vault(folder: Path, notes: int, *, characters: int = 1000, seed: int = 1) -> list[str]:
    """Write a vault.

    Args:
        folder: that is filled; it is made where it is not there.
        notes: how many.
        characters: mean length of a note.
        seed: another seed gives another vault.

    Returns:
        The paths of the notes, relative to the folder.
    """
    chance = random.Random(seed)
    sentences = iter(_sentences(int(notes * (characters * 1.3 + 250)) + 20_000, seed))
    paths: list[str] = []
    names: list[str] = []
    ends: list[int] = []
    for number in range(notes):
        name = f"{_word(next(sentences), chance)} {_word(next(sentences), chance)} {number}"
        place = chance.choice(_FOLDERS)
        path = f"{place}/{name}.md" if place else f"{name}.md"
        text = _note(number, name, names, ends, sentences, chance, characters)
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
        paths.append(path)
        names.append(name)
    return paths


def _sentences(characters: int, seed: int) -> list[str]:
    return [
        sentence.rstrip(".") + "."
        for paragraph in document(characters, seed).split("\n\n")
        for sentence in paragraph.split(". ")
    ]


def _word(sentence: str, chance: random.Random) -> str:
    words = [word for word in sentence.rstrip(".").split() if word.isalpha() and len(word) > 4]
    return chance.choice(words) if words else "note"


def _note(
    number: int,
    name: str,
    names: list[str],
    ends: list[int],
    sentences: object,
    chance: random.Random,
    characters: int,
) -> str:
    take = iter(sentences)  # type: ignore[call-overload]
    lines: list[str] = []
    if number % 2:
        tags = ", ".join(chance.sample(_TAGS, 2))
        lines += ["---", f"title: {name}", f"tags: [{tags}]", f"date: 20{number % 25:02}-03-14"]
        lines += [f"aliases:\n  - {name} too"] if number % 5 == 0 else []
        lines += ["---", ""]
    lines += [f"# {name}", ""]
    length = 0
    wanted = characters * chance.uniform(0.4, 1.6)
    section = 0
    while length < wanted:
        section += 1
        if section > 1:
            lines += [f"## {next(take).split(',')[0][:40].strip()}", ""]
        paragraph = " ".join(next(take) for _ in range(chance.randint(1, 3)))
        if names:
            for _ in range(chance.randint(0, 2)):
                paragraph += f" See {_link(names, ends, number, chance)}."
        lines += [paragraph, ""]
        if chance.random() < 0.3:
            lines += [f"- {next(take)}" for _ in range(3)]
            lines.append("")
        if chance.random() < 0.05:
            lines += [_CODE, ""]
        length = sum(map(len, lines))
    if chance.random() < 0.3:
        lines.append(f"#{chance.choice(_TAGS)}")
    return "\n".join(lines).rstrip() + "\n"


def _link(names: list[str], ends: list[int], number: int, chance: random.Random) -> str:
    """A link to an older note, the more likely the more links lead to it already."""
    popular = ends and chance.random() < 0.6
    target = chance.choice(ends) if popular else chance.randrange(len(names))
    ends += [target, number]
    name = names[min(target, len(names) - 1)]
    shape = chance.random()
    if shape < 0.6:
        return f"[[{name}]]"
    if shape < 0.8:
        return f"[[{name}|the other note]]"
    if shape < 0.9:
        return f"[[{name}#{name}]]"
    return f"![[{name}]]"
