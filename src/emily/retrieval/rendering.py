"""Rendering: an answer as the text that a model reads.

Whatever comes from a document stands inside the wrapper (``emily.models.untrusted``). Notices
are the system's own and stand outside.
"""

from __future__ import annotations

from collections.abc import Sequence

from emily.models.untrusted import wrapped
from emily.retrieval.answer import Passage, Result

__all__ = ["cited", "document_block", "render"]


def render(results: Sequence[Result], notices: Sequence[str], *, by_path: bool = False) -> str:
    """The answer for a model: notices outside, documents inside the wrapper.

    Args:
        results: documents with their passages, best first.
        notices: the system's own sentences.
        by_path: cite each passage as ``path:line``, where its document has lines. Those of a
            vault are always cited so, and each of their lines has its number.
    """
    lines = [f"Notice: {notice}" for notice in notices]
    if results:
        blocks = "\n\n".join(
            document_block(place, result, by_path=by_path)
            for place, result in enumerate(results, 1)
        )
        lines.append(wrapped(blocks))
    return "\n".join(lines)


def document_block(place: int, result: Result, *, by_path: bool) -> str:
    """A document with its passages as plain text, to be put inside the wrapper.

    Args:
        place: its rank, from 1.
        result: the document.
        by_path: as in ``render``.
    """
    document = result.document
    head = [f"[{place}] {_one_line(document.name)} (document {document.id})"]
    if document.description:
        head.append(_one_line(document.description))
    if result.via is not None:
        head.append(f"Shown for its link: {_one_line(result.via.text)}")
    return "\n".join(
        [
            *head,
            *(
                _passage(
                    passage,
                    document.path if by_path or document.vault is not None else None,
                    in_vault=document.vault is not None,
                )
                for passage in result.passages
            ),
        ]
    )


def _passage(passage: Passage, path: str | None, *, in_vault: bool) -> str:
    where = cited(passage)
    if passage.source == "note":
        return f"--- a note of the owner's on this document, none of its own text\n{passage.text}"
    if path is not None and passage.lines is not None:
        where = f"{_one_line(path)}:{passage.lines[0]}"
    if passage.focus_page is not None and passage.pages != (passage.focus_page,) * 2:
        where += f", nearest to the question on page {passage.focus_page}"
    what = "under" if in_vault else "columns"
    header = f"({what}: {_one_line(passage.header)})\n" if passage.header else ""
    text = passage.text
    if in_vault and passage.lines is not None:
        text = "\n".join(
            f"{number}: {line}" for number, line in enumerate(text.split("\n"), passage.lines[0])
        )
    return f"--- {where}\n{header}{text}"


def cited(passage: Passage) -> str:
    """Where a passage stands, for people: ``page 3``, ``pages 3-4``, ``lines 10-24``."""
    if passage.source == "note":
        return "your note"
    for name, span in (("page", passage.pages), ("line", passage.lines)):
        if span is not None:
            first, last = span
            return f"{name} {first}" if first == last else f"{name}s {first}-{last}"
    return f"characters {passage.start}-{passage.end}"


def _one_line(text: str) -> str:
    return " ".join(text.split())
