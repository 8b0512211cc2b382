"""Texts of mail as people read them: without armour, soft line ends and files among the lines."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field

from emily.reading.mail.mime import Part, uudecoded
from emily.reading.source import tidy

__all__ = ["PlainText", "plain_text", "without_tags"]

_PGP = re.compile(r"-----BEGIN PGP MESSAGE-----.*?(?:-----END PGP MESSAGE-----|\Z)", re.DOTALL)
_PGP_SIGNED = re.compile(
    r"-----BEGIN PGP SIGNED MESSAGE-----[ \t]*\n(?:[A-Za-z-]+: [^\n]*\n)*\n?(.*?)\n?"
    r"(?:-----BEGIN PGP SIGNATURE-----.*?(?:-----END PGP SIGNATURE-----|\Z)|\Z)",
    re.DOTALL,
)
_UU = re.compile(r"(?m)^begin [0-7]{3,4} (\S[^\n]*)\n((?:[ -`][^\n]{0,90}\n)+)end[ \t]*(?:\n|\Z)")
_TAG = re.compile(r"<(/?)(!?[A-Za-z0-9]*)[^<>]*>?|[^<]+")
_ENRICHED = re.compile(r"<param>[^<]*</param>|</?[A-Za-z-]{1,60}>")  # RFC 1896


@dataclass(slots=True)
class PlainText:
    """What a plain text says.

    Attributes:
        text: without signatures of PGP, encrypted blocks and uuencoded files.
        files: those that were uuencoded in it, name and bytes.
        encrypted: whether a block of it was encrypted.
    """

    text: str
    files: list[tuple[str, bytes]] = field(default_factory=list)
    encrypted: bool = False


def plain_text(part: Part, text: str) -> PlainText:
    """Read a plain or enriched text.

    Args:
        part: that it is of; its content type tells the format.
        text: decoded.
    """
    read = PlainText(_unflow(part, text))
    if part.kind in {"text/enriched", "text/richtext"}:
        read.text = _ENRICHED.sub("", read.text.replace("<<", "<"))
    if "-----BEGIN PGP" in read.text:
        read.text = _PGP_SIGNED.sub(lambda found: re.sub(r"(?m)^- ", "", found[1]), read.text)
        read.text, count = _PGP.subn("", read.text)
        read.encrypted = count > 0
    if "\nbegin " in f"\n{read.text}":
        read.text = _UU.sub(lambda found: _put_aside(found, read), read.text)
    return read


def _put_aside(found: re.Match[str], read: PlainText) -> str:
    """Put a uuencoded file aside; text that only begins like one stays."""
    data = uudecoded(found[2].encode("ascii", "replace"))
    if not data:
        return found[0]
    read.files.append((" ".join(found[1].split()), data))
    return ""


def _unflow(part: Part, text: str) -> str:
    """Join the soft line ends of ``format=flowed`` (RFC 3676)."""
    if part.parameter("format").lower() != "flowed":
        return text
    joint = r"\1" if part.parameter("delsp").lower() == "yes" else r"\1 "
    return re.sub(r"(?m)^(?!-- $)([^>\n].*) \n(?![> \n])", joint, tidy(text))


def without_tags(markup: str) -> str:
    """The text of HTML that no parser takes."""
    lines: list[str] = []
    skipped = ""
    for found in _TAG.finditer(markup):
        name = (found[2] or "").lower()
        if found[2] is None:
            if not skipped:
                lines += (" ".join(line.split()) for line in found[0].split("\n"))
        elif skipped:
            skipped = "" if found[1] and name == skipped else skipped
        elif name in {"script", "style"}:
            skipped = "" if found[1] else name
    return tidy(html.unescape("\n".join(filter(None, lines))))
