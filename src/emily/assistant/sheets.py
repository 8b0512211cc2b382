"""What a tool gives to a model: documents inside the wrapper, everything of ours outside.

A document has a block of its own: a line of ours that says which it is and how to look further,
the reading rule, the wrapper. The number of a document stands outside, so that no text inside
can pass another one off as it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from emily.assistant.ledger import SentDocument
from emily.memory import Found, Memory
from emily.models.untrusted import marks, neutralise, wrapped
from emily.retrieval.answer import Result
from emily.retrieval.rendering import cited, document_block

__all__ = [
    "MOST_CHARACTERS",
    "SUMMARY",
    "Sheet",
    "answer_sheet",
    "for_model",
    "memory_sheet",
    "said",
    "summary_sheet",
]

MOST_CHARACTERS = 48_000
"""Most characters of one result; clients cut one of 50,000, and the wrapper's end with it."""

SUMMARY = ("summary",)
"""The places of a document of which its summary was sent."""

LOOK_FURTHER = (
    "Document {id}: what follows are passages of it, not the whole. What you miss here can still "
    'be in it: call get_document(document={id}, mode="answer", question="…").'
)
LOOK_AGAIN = (
    "Document {id}: what follows are the passages that answer best, not the whole. What you miss "
    "here can still be in it: ask again with other words, or for another detail."
)
LOOK_BEHIND = (
    "Document {id}: what follows is its summary. What is missing from it can still be in the "
    'document: call get_document(document={id}, mode="answer", question="…") before you say that '
    "it is not there."
)


# A sentence that has the owner run something: a client with a shell would run it by itself.
_COMMAND = re.compile(
    r"\b(?:emily (?:add|alerts|analyse|approvals|backup|categories|chat|config|doctor|egress|eval|"
    r"import|jobs|lite|mcp|memory|models|note|pin|private|queries|reindex|remove|restore|retry|"
    r"serve|settings|status|stop|trash|vault|watch|worker)|pip install|ollama pull)\b"
)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+")


@dataclass(frozen=True, slots=True)
class Sheet:
    """A result as it is sent.

    Attributes:
        text: notices, then a block for each document.
        documents: what of it came from documents, for the ledger.
        left_out: passages that found no room.
    """

    text: str
    documents: tuple[SentDocument, ...] = ()
    left_out: int = 0


def for_model(notice: str) -> str:
    """A notice without the commands by which its owner mends things; that there is one is said."""
    if not _COMMAND.search(notice):
        return notice
    kept = [part for part in _SENTENCE.split(notice) if not _COMMAND.search(part)]
    return " ".join([*kept, "What helps is for the owner to do."])


def said(notices: Sequence[str]) -> list[str]:
    """The system's own sentences, each a line; they may quote a question or a name."""
    return [f"Notice: {neutralise(' '.join(notice.split()))}" for notice in notices]


def answer_sheet(
    results: Sequence[Result],
    notices: Sequence[str],
    *,
    inside: bool = False,
    by_path: bool = False,
    most: int = MOST_CHARACTERS,
) -> Sheet:
    """Passages, a block for each document; what has no room is left out, the last first.

    Args:
        results: documents with their passages, best first.
        notices: the system's own sentences.
        inside: whether one document was asked, not the archive.
        by_path: cite passages as ``path:line``, where their document has lines.
        most: characters of the whole.
    """
    mark = marks()
    head = said(notices)
    room = most - sum(len(line) + 1 for line in head)
    blocks: list[str] = []
    sent: list[SentDocument] = []
    left_out = 0
    for place, result in enumerate(results, start=1):
        identity = result.document.id
        look = (LOOK_AGAIN if inside else LOOK_FURTHER).format(id=identity)
        for count in range(len(result.passages), 0, -1):
            shown = replace(result, passages=result.passages[:count])
            own = document_block(place, shown, by_path=by_path)
            block = f"Notice: {look}\n{wrapped(own, mark)}"
            if len(block) + 2 <= room:
                break
            left_out += 1
        else:
            continue
        room -= len(block) + 2
        blocks.append(block)
        places = tuple(dict.fromkeys(cited(passage) for passage in shown.passages))
        sent.append(SentDocument(identity, result.document.name, places, len(own)))
    if left_out:
        noun = "passage" if left_out == 1 else "passages"
        head += said([f"{left_out:,} {noun} found no room in this result; ask more narrowly."])
    return Sheet("\n\n".join(["\n".join(head), *blocks] if head else blocks), tuple(sent), left_out)


def summary_sheet(
    identity: int, name: str, summary: str, notices: Sequence[str], *, cut: int
) -> Sheet:
    """A document's summary, with the note that more can be in the document.

    Args:
        identity: of the document.
        name: of the document.
        summary: as it is kept.
        notices: the system's own sentences.
        cut: characters of the summary that may be shown.
    """
    title = " ".join(name.split())
    shown = summary if len(summary) <= cut else summary[:cut].rsplit(" ", 1)[0] + " …"
    own = f"{title} (document {identity})\n--- summary\n{shown}"
    lines = [*said(notices), f"Notice: {LOOK_BEHIND.format(id=identity)}", wrapped(own)]
    return Sheet("\n".join(lines), (SentDocument(identity, name, SUMMARY, len(own)),))


def memory_sheet(found: Sequence[Found], notices: Sequence[str]) -> Sheet:
    """Memories: those that the owner has accepted as lines of ours, all others in the wrapper.

    Args:
        found: best first.
        notices: the system's own sentences.
    """
    lines = said(notices)
    accepted = [item.memory for item in found if item.memory.accepted_at is not None]
    drawn = [item.memory for item in found if item.memory.accepted_at is None]
    if not found:
        lines += said(["Nothing is remembered about that."])
    if accepted:
        lines.append("Remembered, and accepted by the owner:")
        lines += [f"- {neutralise(_remembered(item))}" for item in accepted]
    if drawn:
        lines += said([
            "What follows was drawn out of the owner's messages by a program and not checked by "
            "the owner: say so where much depends on it."
        ])  # fmt: skip
        lines.append(wrapped("\n".join(f"- {_remembered(item)}" for item in drawn)))
    return Sheet("\n".join(lines))


def _remembered(memory: Memory) -> str:
    """A memory in a line: its number, since when, and the words in which it was said."""
    words = "" if memory.original in (None, memory.text) else f' ("{memory.original}")'
    day = f"{memory.said_at.astimezone():%Y-%m-%d}"
    return " ".join(f"{memory.text}{words} [memory {memory.id}, said {day}]".split())
