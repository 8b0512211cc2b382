"""Front matter: the fields between two lines of dashes (YAML) or of plus signs (TOML).

YAML is read by ``vault.yaml_subset``; every scalar stays the text that it is in the file, so that
``title: 2024-06-01`` is a string. What cannot be read is a problem with its line, and the fields
around it are read all the same. Standard library only.
"""

from __future__ import annotations

import datetime as dt
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from emily.vault.yaml_subset import Value, read_yaml

__all__ = ["NO_FRONT_MATTER", "FrontMatter", "Problem", "front_matter"]

_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)")
_DATES = ("date", "created", "published", "modified", "updated", "lastmod")
_KEY_LINE = re.compile(r"""\s*(?:[\w$][^:#]*|"[^"]*"|'[^']*')\s*:(?:\s|$)""")


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in a file that could not be read as it was meant.

    Attributes:
        line: 1-based, ``None`` where it concerns the whole file.
        what: a sentence for the owner.
    """

    line: int | None
    what: str


@dataclass(frozen=True)
class FrontMatter:
    """The fields at the head of a note.

    Attributes:
        lines: how many lines it takes, the fences among them; 0 where there is none.
        fields: by name as written; values are strings, lists and mappings of strings.
        problems: what in it could not be read.
    """

    lines: int = 0
    fields: Mapping[str, Value] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()

    @cached_property
    def _folded(self) -> dict[str, Value]:
        return {name.casefold(): value for name, value in self.fields.items()}

    def get(self, *names: str) -> Value | None:
        """The value of the first of these fields that is there, in any case of letters."""
        if not self.fields:
            return None
        for name in names:
            value = self._folded.get(name.casefold())
            if value not in (None, "", [], {}):
                return value
        return None

    def texts(self, *names: str) -> tuple[str, ...]:
        """The same as a list of strings: one for a scalar, each item of a list."""
        return tuple(_texts(self.get(*names)))

    @property
    def title(self) -> str | None:
        """The title as written, always text."""
        found = self.texts("title")
        return found[0] if found else None

    @property
    def aliases(self) -> tuple[str, ...]:
        """Other names of the note; a scalar is one name, or several between commas."""
        value = self.get("aliases", "alias")
        if isinstance(value, str):
            parts = value.strip("[]").split(",")  # a list that is not closed, or not valid, too
            return tuple(filter(None, (part.strip(" '\"") for part in parts)))
        return tuple(dict.fromkeys(_texts(value)))

    @property
    def tags(self) -> tuple[str, ...]:
        """Tags without ``#``; a scalar holds them between commas or blanks."""
        found: list[str] = []
        for name in ("tags", "tag", "keywords"):
            value = self.get(name)
            texts = (
                re.split(r"[,\s]+", value.strip("[]")) if isinstance(value, str) else _texts(value)
            )
            found += [text.strip(" '\"").lstrip("#") for text in texts]
        return tuple(dict.fromkeys(filter(None, found)))

    @property
    def date(self) -> dt.date | None:
        """The date of the note: the first of its fields of dates that begins with one."""
        for name in _DATES:
            for text in self.texts(name):
                match = _DATE.match(text)
                if match is not None:
                    try:
                        return dt.date(int(match[1]), int(match[2]), int(match[3]))
                    except ValueError:
                        continue
        return None


NO_FRONT_MATTER: Final = FrontMatter()


def front_matter(lines: Sequence[str]) -> FrontMatter:
    """Read the front matter of a note.

    It begins in the first line and ends at the same mark (``---``, for YAML also ``...``). A
    first line of dashes that no other closes, or that is closed but holds no field, is a rule.

    Args:
        lines: those of the note, without line ends.
    """
    if not lines:
        return NO_FRONT_MATTER
    opening = lines[0].removeprefix("\ufeff").rstrip()
    closing = {"---": ("---", "..."), "+++": ("+++",)}.get(opening)
    if closing is None:
        return NO_FRONT_MATTER
    end = next((at for at in range(1, len(lines)) if lines[at].rstrip() in closing), 0)
    if not end:
        return _never_closed(lines)
    body = lines[1:end]
    if opening == "+++":
        return _toml(body, end + 1)
    if not any(line.strip() and not line.lstrip().startswith("#") for line in body):
        # Empty front matter, unless prose stands between two rules: then there would be text.
        return FrontMatter(end + 1) if not any(map(str.strip, body)) else NO_FRONT_MATTER
    if not any(_KEY_LINE.match(line) for line in body):
        return NO_FRONT_MATTER
    first = next(line for line in body if line.strip())
    if not body[0].strip() and not _KEY_LINE.match(first):
        return NO_FRONT_MATTER
    fields, problems = read_yaml(body)
    if problems and not fields:
        return NO_FRONT_MATTER if not _KEY_LINE.match(first) else _broken(end, problems)
    found = tuple(Problem(at + 2, what) for at, what in problems)
    return FrontMatter(end + 1, fields, found)


def _broken(end: int, problems: Sequence[tuple[int, str]]) -> FrontMatter:
    return FrontMatter(end + 1, {}, tuple(Problem(at + 2, what) for at, what in problems))


def _never_closed(lines: Sequence[str]) -> FrontMatter:
    """A fence that nothing closes is a rule; one that fields follow at once is worth a word."""
    if len(lines) > 1 and _KEY_LINE.match(lines[1]) and not lines[1].startswith(" "):
        mark = lines[0].removeprefix("\ufeff").rstrip()
        what = f"The front matter is not closed: no other line is {mark!r}. It is read as text."
        return FrontMatter(0, {}, (Problem(1, what),))
    return NO_FRONT_MATTER


def _toml(body: Sequence[str], lines: int) -> FrontMatter:
    try:
        return FrontMatter(lines, _plain(tomllib.loads("\n".join(body))))
    except tomllib.TOMLDecodeError as error:
        where = re.search(r"at line (\d+)", str(error))
        line = int(where[1]) + 1 if where else 1
        what = re.sub(r" \(at .*\)$", "", str(error))
        fields: dict[str, Value] = {}
        for text in body:
            try:
                fields.update(_plain(tomllib.loads(text)))
            except tomllib.TOMLDecodeError:
                continue
        problem = Problem(line, f"The front matter is not valid TOML: {what}.")
        return FrontMatter(lines, fields, (problem,))


def _plain(value: Any) -> Any:
    """A value of TOML as strings, lists and mappings."""
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    return str(value)


def _texts(value: Value | None) -> Iterator[str]:
    if isinstance(value, str):
        if value.strip():
            yield value.strip()
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
