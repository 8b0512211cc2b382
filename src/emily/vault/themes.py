"""A map of a vault: its themes, named by their own words, and an index of its words.

Notes that link to each other or share telling words are drawn together; groups are found by the
method of Louvain (Blondel et al., "Fast unfolding of communities in large networks", 2008) and
named by the words that are frequent in them and rare in the others (class-based tf-idf,
Grootendorst, "BERTopic", 2022). The same vault gives the same map. Standard library only.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from emily.indexing.terms import fold, prefix, words
from emily.vault.notes import Note

__all__ = ["IndexEntry", "MapNote", "Theme", "map_note", "term_index", "themes"]

_TELLING: Final = 12  # words of a note that draw it to others
_NEIGHBOURS: Final = 5
_ALIKE: Final = 0.1  # least cosine that draws two notes together
_MOST_HOLDING: Final = 200  # notes that hold a word; more and it tells nothing
_LINK: Final = 1.0
_NAMES: Final = 4
_ROUNDS: Final = 20
_COMMAND = re.compile(r"\\[A-Za-z]+|https?://\S+")  # of formulas; addresses
_TITLE: Final = 3  # times that a word of the title counts


@dataclass(frozen=True, slots=True)
class MapNote:
    """A note as the map sees it.

    Attributes:
        path, title: of it.
        words: how often it holds each word, in the form in which it is shown.
    """

    path: str
    title: str
    words: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Theme:
    """A group of notes.

    Attributes:
        words: by which it is named, the most telling first.
        paths: of its notes, the best linked within it first.
    """

    words: tuple[str, ...]
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A word of the vault.

    Attributes:
        word: as it stands in most notes.
        notes: how many hold it.
        paths: of those that are most about it.
    """

    word: str
    notes: int
    paths: tuple[str, ...]


def map_note(note: Note) -> MapNote:
    """Count the words of a note: of its title several times, of code not at all."""
    text = _COMMAND.sub(" ", note.prose if note.kind == "markdown" else note.text)
    counts = Counter(words(text))
    for word in words(note.title):
        counts[word] += _TITLE
    for tag in note.tags:
        for word in words(tag.replace("/", " ").replace("-", " ")):
            counts[word] += _TITLE
    return MapNote(note.path, note.title, dict(counts))


def themes(
    notes: Sequence[MapNote], links: Iterable[tuple[str, str]], *, least: int = 3
) -> list[Theme]:
    """Group the notes of a vault.

    Args:
        notes: all of them.
        links: paths of notes that are linked.
        least: notes of a theme; what is in smaller groups belongs to none.

    Returns:
        The largest first.
    """
    ordered = sorted(notes, key=lambda note: note.path)
    places = {note.path: at for at, note in enumerate(ordered)}
    weights: dict[tuple[int, int], float] = defaultdict(float)
    for one, other in links:
        if one in places and other in places and one != other:
            pair = (places[one], places[other])
            weights[min(pair), max(pair)] = _LINK
    for pair_alike, cosine in _alike(ordered).items():
        weights[pair_alike] += cosine
    groups = _groups(len(ordered), weights)
    degree = [0.0] * len(ordered)
    for (low, high), weight in weights.items():
        if groups[low] == groups[high]:
            degree[low] += weight
            degree[high] += weight
    members: dict[int, list[int]] = defaultdict(list)
    for at, group in enumerate(groups):
        members[group].append(at)
    kept = [inside for inside in members.values() if len(inside) >= least]
    kept.sort(key=lambda inside: (-len(inside), inside[0]))
    named = _names([[ordered[at] for at in inside] for inside in kept])
    return [
        Theme(name, tuple(ordered[at].path for at in sorted(inside, key=lambda n: (-degree[n], n))))
        for inside, name in zip(kept, named, strict=True)
    ]


def term_index(
    notes: Iterable[MapNote], beginning: str = "", *, most: int = 50, names: int = 8
) -> list[IndexEntry]:
    """The words of a vault, each with the notes that are most about it: names, no text.

    Args:
        notes: of the vault.
        beginning: of the words, in any case and without accents; empty for the words that most
            notes share.
        most: entries.
        names: notes of an entry.

    Returns:
        By number of notes; words of one form (a prefix of five letters) are one entry.
    """
    wanted = fold(beginning.strip())
    holding: dict[str, dict[str, int]] = defaultdict(dict)
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    lengths: dict[str, int] = {}
    for note in notes:
        lengths[note.path] = sum(note.words.values()) or 1
        for word, times in note.words.items():
            if not fold(word).startswith(wanted):
                continue
            key = prefix(word) if len(wanted) < 5 else fold(word)
            forms[key][word] += 1
            holding[key][note.path] = holding[key].get(note.path, 0) + times
    ranked = sorted(holding.items(), key=lambda pair: (-len(pair[1]), pair[0]))[:most]
    found = []
    for key, paths in ranked:
        word = min(forms[key].items(), key=lambda pair: (-pair[1], pair[0]))[0]
        # As in BM25: a repeated word counts less, and so does one in a long note.
        about = {path: n / (n + 1 + lengths[path] / 200) for path, n in paths.items()}
        best = sorted(paths, key=lambda path: (-about[path], path))
        found.append(IndexEntry(word, len(paths), tuple(best[:names])))
    return found


def _alike(notes: Sequence[MapNote]) -> dict[tuple[int, int], float]:
    """Pairs of notes that share telling words, with their cosine; each has few neighbours."""
    forms = [_by_form(note.words) for note in notes]
    holding = Counter(form for counts in forms for form in counts)
    count = len(notes)
    vectors: list[dict[str, float]] = []
    at_form: dict[str, list[int]] = defaultdict(list)
    for at, counts in enumerate(forms):
        weighed = {
            form: (1 + math.log(times)) * math.log(count / holding[form])
            for form, times in counts.items()
            if 1 < holding[form] <= max(_MOST_HOLDING, 2)
        }
        best = sorted(weighed, key=lambda form: (-weighed[form], form))[:_TELLING]
        norm = math.sqrt(sum(weighed[form] ** 2 for form in best)) or 1.0
        vectors.append({form: weighed[form] / norm for form in best})
        for form in best:
            at_form[form].append(at)
    pairs: dict[tuple[int, int], float] = {}
    for at, vector in enumerate(vectors):
        cosines: dict[int, float] = defaultdict(float)
        for form, weight in vector.items():
            for other in at_form[form]:
                if other != at:
                    cosines[other] += weight * vectors[other][form]
        near = sorted(cosines.items(), key=lambda pair: (-pair[1], pair[0]))[:_NEIGHBOURS]
        for other, cosine in near:
            if cosine >= _ALIKE:
                pairs[min(at, other), max(at, other)] = cosine
    return pairs


def _by_form(counts: Mapping[str, int]) -> dict[str, int]:
    found: dict[str, int] = {}
    for word, times in counts.items():
        form = prefix(word)
        found[form] = found.get(form, 0) + times
    return found


def _groups(count: int, weights: Mapping[tuple[int, int], float]) -> list[int]:
    """The group of each note: moves that raise modularity, then the same between the groups."""
    belongs = list(range(count))
    around: list[dict[int, float]] = [{} for _ in range(count)]
    for (low, high), weight in weights.items():
        around[low][high] = weight
        around[high][low] = weight
    loops = [0.0] * count
    while True:
        moved = _move(around, loops)
        numbers = {group: at for at, group in enumerate(dict.fromkeys(moved))}
        if len(numbers) == len(around):
            return belongs
        belongs = [numbers[moved[group]] for group in belongs]
        merged: list[dict[int, float]] = [{} for _ in numbers]
        inner = [0.0] * len(numbers)
        for node, near in enumerate(around):
            group = numbers[moved[node]]
            inner[group] += loops[node]
            for other, weight in near.items():
                target = numbers[moved[other]]
                if target == group:
                    inner[group] += weight
                else:
                    merged[group][target] = merged[group].get(target, 0.0) + weight
        around, loops = merged, inner


def _move(around: Sequence[Mapping[int, float]], loops: Sequence[float]) -> list[int]:
    groups = list(range(len(around)))
    degrees = [sum(near.values()) + loops[node] for node, near in enumerate(around)]
    sums = list(degrees)
    total = sum(degrees)
    if not total:
        return groups
    for _ in range(_ROUNDS):
        changed = False
        for node, near in enumerate(around):
            own = groups[node]
            to: dict[int, float] = {}
            for other, weight in near.items():
                to[groups[other]] = to.get(groups[other], 0.0) + weight
            sums[own] -= degrees[node]
            best, most = own, to.get(own, 0.0) - sums[own] * degrees[node] / total
            for group, weight in sorted(to.items()):
                gain = weight - sums[group] * degrees[node] / total
                if gain > most + 1e-12:
                    best, most = group, gain
            groups[node] = best
            sums[best] += degrees[node]
            changed = changed or best != own
        if not changed:
            break
    return groups


def _names(groups: Sequence[Sequence[MapNote]]) -> list[tuple[str, ...]]:
    """The words of each group that are frequent in its notes and rare in the others'."""
    counted = []
    for group in groups:
        counts: Counter[str] = Counter()
        for note in group:
            # A long note has no more to say in the name than a short one.
            counts.update(dict.fromkeys(note.words, 1))
        counted.append(counts)
    overall: Counter[str] = Counter()
    for counts in counted:
        overall.update(counts)
    mean = sum(overall.values()) / len(groups) if groups else 0.0
    names = []
    for counts in counted:
        total = sum(counts.values()) or 1
        scores = {
            word: times / total * math.log1p(mean / overall[word]) for word, times in counts.items()
        }
        chosen: dict[str, str] = {}
        for word in sorted(scores, key=lambda each: (-scores[each], each)):
            chosen.setdefault(prefix(word), word)
            if len(chosen) == _NAMES:
                break
        names.append(tuple(chosen.values()))
    return names
