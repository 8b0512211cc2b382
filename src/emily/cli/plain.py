"""Foreign text made harmless for a terminal.

Names, paths and texts of documents come from strangers. A terminal obeys what it reads: an
escape sequence can retitle a window, hide a line or set a key, a carriage return can write over
a citation, and a mark of direction can turn ``gpj.exe`` around. So whatever is not plain text is
shown as an escape (``\\x1b``) instead of being sent.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["one_line", "plain"]

# Joiners that emoji and the scripts of Persia and India need; they draw nothing by themselves.
_JOINERS = frozenset("\u200c\u200d")
_SUSPECT = re.compile(r"[^ -~\n\u00a1-\u00ac\u00ae-\u02ff\u0370-\u058f]")
_UNSAFE = frozenset(["Cc", "Cf", "Cs", "Zl", "Zp", "Cn"])


def plain(text: str) -> str:
    r"""A text of several lines: ``\n`` stays, a tab becomes four spaces, the rest is escaped.

    ``\r\n`` counts as one line break. What is escaped: control characters (C0, C1, DEL),
    characters of format (direction, invisible ones, tags) but for joiners, separators of lines
    and paragraphs, lone surrogates, and code points that are not assigned.
    """
    return _SUSPECT.sub(_shown, text.replace("\r\n", "\n").replace("\t", "    "))


def one_line(text: str) -> str:
    r"""The same for names, paths and headings: a line break is shown as ``\n``."""
    return _SUSPECT.sub(_shown, text).replace("\n", "\\n")


def _shown(match: re.Match[str]) -> str:
    character = match[0]
    if character in _JOINERS or unicodedata.category(character) not in _UNSAFE:
        return character
    return character.encode("unicode_escape").decode("ascii")
