"""Front matter of Markdown notes: title, author and date between two lines of dashes."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from emily.reading.pages import Facts

__all__ = ["FrontMatter", "front_matter"]

_FENCES = {"---": ("---", "..."), "+++": ("+++",)}
_FIELD = re.compile(r"""["']?([A-Za-z][\w-]*)["']?\s*[:=](?:\s+(.*)|(.*))""")
_ITEM = re.compile(r"\s+(?:-\s+)?(?:name\s*:\s*)?(.+)|-\s+(?:name\s*:\s*)?(.+)")
_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)")
_COMMENT = re.compile(r"\s+#.*$")
_DATES = ("date", "published", "created", "modified", "updated", "lastmod")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What the front matter says; all of it absent where there is none.

    Attributes:
        lines: how many lines it takes, the fences among them.
        title: as it stands there, always as text.
        facts: author and date.
    """

    lines: int = 0
    title: str | None = None
    facts: Facts = field(default_factory=Facts)


def front_matter(lines: Sequence[str]) -> FrontMatter:
    """Read the front matter (YAML or TOML) line by line.

    No parser is asked: notes whose front matter is not valid are common, and a field that is on
    one line can be read all the same.

    Args:
        lines: the first of the note.
    """
    closing = _FENCES.get(lines[0].lstrip("\ufeff").rstrip(), ()) if lines else ()
    end = next((at for at, line in enumerate(lines) if at and line.rstrip() in closing), 0)
    if not end:
        return FrontMatter()
    fields: dict[str, str] = {}
    open_field = None
    for line in lines[1:end]:
        if (match := _FIELD.fullmatch(line)) is not None:
            open_field = match[1].lower()
            fields.setdefault(open_field, _value(match[2] or match[3] or ""))
        elif open_field and not fields[open_field] and (item := _ITEM.fullmatch(line)):
            fields[open_field] = _value(item[1] or item[2])
    date = next(filter(None, (_date(fields.get(name, "")) for name in _DATES)), None)
    author = fields.get("author") or fields.get("authors") or fields.get("creator")
    facts = Facts(author=author or None, date=date, date_source="metadata" if date else None)
    return FrontMatter(end + 1, fields.get("title") or None, facts)


def _value(text: str) -> str:
    """A value without its quotation marks, comment, or brackets of a list."""
    text = text.strip()
    if text[:1] in {"'", '"'}:
        end = text.find(text[0], 1)
        return text[1:end].strip() if end > 0 else text[1:].strip()
    text = _COMMENT.sub("", text).strip()
    if text in {"|", ">", "null", "~", "[]"}:
        return ""
    if text.startswith("[") and text.endswith("]"):
        items = (item.strip().strip("'\"") for item in text[1:-1].split(","))
        return ", ".join(filter(None, items))
    return text


def _date(text: str) -> dt.date | None:
    match = _DATE.match(text)
    if match is None:
        return None
    try:
        return dt.date(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return None
