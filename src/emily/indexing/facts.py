"""What is known of a document: joined from its file, its text and its name.

The date is that of a header (mail, invoice); else the one that the text names as its own; else
the one in the file's name; else one that stands alone at the top of the text; else that of the
file's properties, which are often those of a later copy. Never the date of the file on the disk.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from email.utils import getaddresses
from typing import Final

from emily.indexing.dates import fold, name_date
from emily.indexing.dating import document_date
from emily.reading.pages import Correspondent, DateSource, Facts, Role

__all__ = ["correspondents_in", "document_facts"]

_NAMED_BY_TEXT: Final = 2
"""From this strength of ``document_date`` on, the text itself says which date is its own."""

_FROM_NAME: Final[DateSource] = "name"
_TOP_LINES: Final = 40
_MOST_CHARACTERS: Final = 6_000
_MOST_PEOPLE: Final = 50
_LONGEST: Final = 120  # characters of a name

_LABELS: Final[dict[str, Role]] = {
    "from": "from", "da": "from", "von": "from", "de": "from", "mittente": "from",
    "absender": "from", "expediteur": "from", "remitente": "from", "sender": "from",
    "to": "to", "a": "to", "an": "to", "para": "to", "destinatario": "to", "recipient": "to",
    "empfanger": "to", "destinataire": "to", "cc": "cc", "copia": "cc", "kopie": "cc",
    "copie": "cc", "p.c.": "cc", "sold by": "seller", "seller": "seller", "venditore": "seller",
    "fornitore": "seller", "cedente": "seller", "verkaufer": "seller", "vendeur": "seller",
    "vendedor": "seller", "bill to": "buyer", "billed to": "buyer", "buyer": "buyer",
    "acquirente": "buyer", "cessionario": "buyer", "kaufer": "buyer", "acheteur": "buyer",
    "comprador": "buyer",
}  # fmt: skip
_SURE: Final = frozenset({
    "mittente", "absender", "expediteur", "remitente", "sender", "destinatario", "recipient",
    "empfanger", "destinataire", "sold by", "seller", "venditore", "fornitore", "cedente",
    "verkaufer", "vendeur", "vendedor", "bill to", "billed to", "buyer", "acquirente",
    "cessionario", "kaufer", "acheteur", "comprador",
})  # fmt: skip
_HEADS: Final = frozenset({
    "date", "data", "datum", "fecha", "sent", "inviato", "gesendet", "envoye", "enviado",
    "subject", "oggetto", "betreff", "objet", "asunto", "re",
})  # fmt: skip
_LINE = re.compile(
    r"[ \t>*|#-]{0,6}([^\W\d_][^\W\d_. ]{0,14}(?:[ .][^\W\d_.]{1,8}){0,2}\.?)[ \t]?:"
)
_DEAR = re.compile(
    r"[ \t>*|#-]{0,90}(?:spett(?:\.?\s?(?:le|li|abile|abili)|\.)"
    r"|(?:alla (?:cortese|c\.) att(?:enzione|\.)|alla c\.? ?a\.?|all'attenzione|c\.a\.)"
    r"(?: di| del| della)?"
    r"|(?:egr(?:egio|\.)|gent(?:ile|\.(?:mo|ma|le)?)|ill\.(?:mo|ma))"
    r"(?=[ .]+(?:sig|dott|avv|ing|prof|geom|arch|rag)\b)"
    r"|(?:to the )?attention(?: of)?|attn\.?|z\. ?hd\.?(?: von)?|zu handen(?: von)?"
    r"|a l'attention de|a la atencion de)(?![^\W_])[ \t]*[:.]?[ \t]*"
)


def document_facts(facts: Facts, text: str, language: str | None, name: str) -> Facts:
    """The facts of a document.

    Args:
        facts: what its reader found in the file's properties and headers.
        text: its text.
        language: of the text, ISO 639-1, or ``None``.
        name: of its file.

    Returns:
        the same, with the date and the correspondents filled in where the text or the name
        tells them; everything else as it was.
    """
    if facts.date is None or facts.date_source != "header":
        facts = _dated(facts, text, language, name)
    if not facts.correspondents:
        facts = replace(facts, correspondents=correspondents_in(text))
    return facts


def _dated(facts: Facts, text: str, language: str | None, name: str) -> Facts:
    said = document_date(text, language)
    if said is not None and said[1] >= _NAMED_BY_TEXT:
        return replace(facts, date=said[0].date, date_source="text")
    named = name_date(name)
    if named is not None:
        return replace(facts, date=named, date_source=_FROM_NAME)
    if said is not None:
        return replace(facts, date=said[0].date, date_source="text")
    return facts


def correspondents_in(text: str) -> tuple[Correspondent, ...]:
    """Who a text says at its top that it is from and to.

    Only where a rule is sure: labels of a printed mail or a memo (``Da:``, ``To:``, of which at
    least two must stand together, since ``A:`` alone is much else), labels that mean nothing else
    (``Mittente:``, ``Sold by:``), and the forms that letters address somebody with
    (``Spett.le``, ``Attn:``, ``z. Hd.``).

    Args:
        text: a document's text.
    """
    lines = text[:_MOST_CHARACTERS].split("\n")[:_TOP_LINES]
    labelled = [(at, label, rest) for at, line in enumerate(lines) if (found := _label(line))
                for label, rest in [found]]  # fmt: skip
    heads = {label for _, label, rest in labelled if label in _HEADS and rest} | {
        _LABELS[label] for _, label, rest in labelled if label in _LABELS and label not in _SURE
        and rest
    }  # fmt: skip
    people: list[Correspondent] = []
    for at, label, rest in labelled:
        role = _LABELS.get(label)
        if role is None or (label not in _SURE and len(heads) < 2):
            continue
        if not rest and label in _SURE:
            rest = _next_line(lines, at)
        people += _people(role, rest)
    for at, line in enumerate(lines):
        match = _DEAR.match(fold(line))
        if match is not None:
            rest = line[match.end() :].strip() or _next_line(lines, at)
            people += _people("to", rest)
    return tuple(dict.fromkeys(people))[:_MOST_PEOPLE]


def _label(line: str) -> tuple[str, str] | None:
    """The folded label at the beginning of a line, and what follows its colon."""
    match = _LINE.match(fold(line))
    if match is None:
        return None
    label = match[1]
    if label not in _LABELS and label not in _HEADS:
        return None
    return label, line[match.end() :].strip(" \t|*")


def _next_line(lines: list[str], at: int) -> str:
    """The line below, or the one below a blank line."""
    for line in lines[at + 1 : at + 3]:
        if line.strip():
            return "" if _label(line) else line.strip(" \t|*")
    return ""


def _people(role: Role, written: str) -> Iterator[Correspondent]:
    """Names and addresses of a line; several where addresses or semicolons part them."""
    if "@" in written:
        for name, address in getaddresses([written.replace(";", ",")]):
            if "@" in address and " " not in address:
                yield Correspondent(role, " ".join(name.split())[:_LONGEST], address)
        return
    for name in written.split(";"):
        name = " ".join(re.split(r"\t| {3,}| \| ", name.strip())[0].split()).strip(" ,;.")
        letters = sum(sign.isalpha() for sign in name)
        if name and len(name) <= _LONGEST and 2 * letters >= len(name) and letters > 1:
            yield Correspondent(role, name)
