"""What stands within the lines of a note: its prose without code, and its tags.

Standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from emily.vault.outline import CODE, Outline

__all__ = ["prose", "tags_in"]

# A run of backticks, the shortest text up to a run of the same length, within one paragraph.
_CODE_SPAN = re.compile(r"(?<![`\\])(`+)(?!`)((?:(?!\n[ \t]*\n).)+?)(?<!`)\1(?!`)", re.DOTALL)
_NOT_LINE_END = re.compile(r"[^\r\n]")
# The hash comes first in the pattern: so the search goes from one to the next.
_TAG = re.compile(r"#(?<![^\s(\[,;!]#)([\w/-]+)")
_MOST_BACKTICKS: Final = 20_000


def prose(text: str, starts: Sequence[int], outline: Outline) -> str:
    """The text with code and HTML comments blanked out: every offset stays what it was.

    Comments of Obsidian (``%%``) remain: a link in them counts there too.

    Args:
        text: the whole note.
        starts: where each of its lines begins.
        outline: its blocks.
    """
    parts: list[str] = []
    done = 0
    kinds = outline.kinds
    at = kinds.find(CODE)
    while at >= 0:
        end = at
        while end < len(kinds) and kinds[end] == CODE:
            end += 1
        stop = starts[end] if end < len(starts) else len(text)
        parts.append(text[done : starts[at]])
        parts.append(_blank(text[starts[at] : stop]))
        done = stop
        at = kinds.find(CODE, end)
    parts.append(text[done:])
    out = "".join(parts)
    if "<!--" in out:
        out = _without_comments(out)
    if "`" in out and out.count("`") <= _MOST_BACKTICKS:
        out = _CODE_SPAN.sub(lambda match: _blank(match[0]), out)
    return out


def _without_comments(text: str) -> str:
    parts: list[str] = []
    done = 0
    # One that nothing closes is no comment, and neither is any behind it.
    while (start := text.find("<!--", done)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        parts += [text[done:start], _blank(text[start : end + 3])]
        done = end + 3
    return "".join([*parts, text[done:]])


def _blank(text: str) -> str:
    return _NOT_LINE_END.sub(" ", text)


def tags_in(prose_text: str) -> Iterator[tuple[str, int]]:
    """The tags of a text and their offsets; one of digits alone is none.

    Args:
        prose_text: without code.
    """
    if "#" not in prose_text:
        return
    for match in _TAG.finditer(prose_text):
        tag = match[1].strip("/")
        if tag and not tag.replace("/", "").isdigit():
            yield tag, match.start()
