"""A number of notes as they are searched: their terms, passages, names and links.

A segment is written once and never changed; what is edited comes in a later one. Standard library
only.
"""

from __future__ import annotations

import json
import multiprocessing
from array import array
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from emily.vault.links import links_of
from emily.vault.notes import Note, read_note
from emily.vault.passages import Passage, passages
from emily.vault.resolving import target_of
from emily.vault.terms import note_terms
from emily.vault.walk import FileSeen, read_bytes, reason

__all__ = ["DocumentRow", "Segment", "build_segment", "build_segments"]

_MOST = 0xFFFF
_BOTH = 0x1_0001  # the same frequency in a passage and for its document
_WORTH_A_PROCESS = 1000  # notes; fewer are read sooner than a process starts


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A note in a segment.

    Attributes:
        file: as it was when it was read.
        title: what it is called.
        passages: JSON: per passage its first and last line, start and end, kind, trail.
        names: JSON: aliases, headings, blocks.
        links: JSON: kind, target, heading, block, line of each link; tags among them.
        problems: JSON: line and sentence.
    """

    file: FileSeen
    title: str
    passages: str
    names: str
    links: str
    problems: str


@dataclass(slots=True)
class Segment:
    """What was read of some notes.

    Attributes:
        documents: in order.
        lengths: terms of each document.
        passage_lengths: terms of each passage.
        passage_documents: number of the document of each passage.
        postings: per term a 64-bit number for each passage that holds it: the passage's number,
            its frequency there, and its frequency as it counts for the document (16 bits each
            for these two). A note's name counts for its document in the first passage.
        failed: files that could not be read, with the reason.
    """

    documents: list[DocumentRow] = field(default_factory=list)
    lengths: array[int] = field(default_factory=lambda: array("I"))
    passage_lengths: array[int] = field(default_factory=lambda: array("I"))
    passage_documents: array[int] = field(default_factory=lambda: array("I"))
    postings: dict[str, bytes] = field(default_factory=dict)
    failed: list[tuple[str, str]] = field(default_factory=list)


def build_segment(folder: Path | str, files: Sequence[FileSeen]) -> Segment:
    """Read notes and count their terms.

    Args:
        folder: the vault.
        files: of it; what cannot be read is among ``failed``.
    """
    segment = Segment()
    postings: defaultdict[str, array[int]] = defaultdict(_numbers)
    for file in files:
        try:
            data = read_bytes(folder, file.path)
        except OSError as error:
            segment.failed.append((file.path, reason(error)))
            continue
        _take(segment, postings, file, read_note(file.path, data))
    segment.postings = {term: found.tobytes() for term, found in postings.items()}
    return segment


def _numbers() -> array[int]:
    return array("Q")


def build_segments(
    folder: Path | str, files: Sequence[FileSeen], processes: int = 1
) -> list[Segment]:
    """The same in several processes, each of which builds a segment.

    Args:
        folder: the vault.
        files: of it.
        processes: at most; one where few files are to be read or the system cannot fork.
    """
    processes = min(processes, len(files) // _WORTH_A_PROCESS)
    if processes < 2 or "fork" not in multiprocessing.get_all_start_methods():
        return [build_segment(folder, files)] if files else []
    # Every n-th file, so that a folder of long notes is not the work of one process.
    shares = [(folder, files[at::processes]) for at in range(processes)]
    with multiprocessing.get_context("fork").Pool(processes - 1) as pool:
        others = pool.starmap_async(build_segment, shares[1:])
        # This process takes a share as well: what it builds need not be sent to it.
        return [build_segment(*shares[0]), *others.get()]


def _take(
    segment: Segment, postings: defaultdict[str, array[int]], file: FileSeen, note: Note
) -> None:
    number = len(segment.documents)
    cut = passages(note)
    names, of_passages = note_terms(note, cut)
    length = sum(names.values())
    for passage, (inside, around) in zip(cut, of_passages, strict=True):
        words = sum(inside.values())
        length += words
        first = names if passage.number == 0 else {}
        base = len(segment.passage_documents) << 32
        segment.passage_lengths.append(words + sum(around.values()))
        segment.passage_documents.append(number)
        for term, times in around.items():
            own = inside.pop(term, 0)
            counted = min(own + first.get(term, 0), _MOST)
            postings[term].append(base + (min(own + times, _MOST) << 16) + counted)
        if len(passage.text) > _MOST:
            inside = {term: min(times, _MOST) for term, times in inside.items()}
        for term, times in inside.items():
            postings[term].append(base + times * _BOTH)
    segment.lengths.append(length)
    segment.documents.append(_row(file, note, cut))


def _row(file: FileSeen, note: Note, cut: Sequence[Passage]) -> DocumentRow:
    spans = [[p.first, p.last, p.start, p.end, p.kind, p.trail] for p in cut]
    target = target_of(note)
    names = [target.aliases, target.headings, sorted(target.blocks)]
    links: list[list[object]] = [
        [link.kind, link.target, link.heading, link.block, link.line] for link in links_of(note)
    ]
    lower = {tag.casefold(): tag for tag in note.tags}
    links += [["tag", tag, None, None, 1] for tag in lower.values()]
    problems = _json([[each.line, each.what] for each in note.problems]) if note.problems else "[]"
    return DocumentRow(file, note.title, _json(spans), _json(names), _json(links), problems)


_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
