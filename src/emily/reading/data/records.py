"""Records as text: tables where they are alike, ``key: value`` lines where they are not.

A record with several fields is set in below its key; of one with a single field both keys stand
on one line, with a point between them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from emily.reading.data.xml_line import looks_like_html
from emily.reading.pages import Table
from emily.reading.source import tidy
from emily.reading.tables import markdown_table
from emily.reading.web.page import html_text

__all__ = ["RecordWriter"]

_MOST_COLUMNS = 40
_LEAST_FILLED = 0.4  # of a table's cells; rarer fields make records of their own
_LONGEST_CELL = 500  # characters; a record with more than that is a text with a head
_LINE = 400  # characters of a list of values on one line
_DEEPEST_HEADING = 6


class RecordWriter:
    """Lines out of what JSON and XML hold: mappings, sequences and scalars.

    Attributes:
        lines: what was written so far.
        tables: tables in them.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.tables: list[Table] = []

    def write(self, value: Any, path: str = "", level: int = 2, indent: str = "") -> None:
        """Write a value.

        Args:
            value: of any depth that Python can recurse into.
            path: where it stands, keys with points between them.
            level: of the headings that may be needed, 1 to 6.
            indent: before every line.
        """
        if isinstance(value, Mapping):
            if path and len(value) > 1 and "" not in value:  # each key once, however deep
                self.lines.append(f"{indent}{path}:")
                path, indent = "", indent + "  "
            for key, inner in value.items():
                within = f"{path}.{key}" if path and key else path or str(key)
                self.write(inner, within, level, indent)
        elif isinstance(value, Sequence) and not isinstance(value, str):
            self._sequence(value, path, level, indent)
        else:
            text = _text(value)
            if text.strip():
                first, *rest = (f"{path}: {text}" if path else text).split("\n")
                self.lines += [indent + first, *rest]

    def _sequence(self, values: Sequence[Any], path: str, level: int, indent: str) -> None:
        if all(_is_scalar(value) for value in values):
            texts = [text for value in values if (text := _text(value)).strip()]
            joined = ", ".join(texts)
            if len(joined) <= _LINE and "\n" not in joined:
                self.write(joined, path, level, indent)
            else:
                self.lines += [f"{indent}{path}:"] if path else []
                for text in texts:
                    self.lines += f"- {text}".split("\n")
            return
        rows = _table(values)
        if rows is not None:
            self._gap()
            if path:
                self.lines += [f"{path}:", ""]
            lines, table = markdown_table(rows, len(self.lines))
            self.lines += lines
            if table is not None:
                self.tables.append(table)
            self._gap()
            return
        for number, value in enumerate(values, 1):
            self._gap()
            if path:
                self.lines += [f"{'#' * min(level, _DEEPEST_HEADING)} {path} {number}", ""]
            self.write(value, "", level + 1)
        self._gap()

    def _gap(self) -> None:
        if self.lines and self.lines[-1]:
            self.lines.append("")

    def finish(self) -> str:
        """All text, without blank lines at its ends."""
        while self.lines and not self.lines[-1]:
            self.lines.pop()
        return "\n".join(self.lines)


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str) or not isinstance(value, (Mapping, Sequence))


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value)
    if text.isprintable() and "<" not in text:  # most are; the rest costs time
        return text.strip()
    text = tidy(text)
    if looks_like_html(text):
        text = html_text(text)[0]
    return text.replace("\0", "").strip()


def _table(values: Sequence[Any]) -> list[list[str]] | None:
    """Records that are alike as rows, the first names the columns; ``None`` for others."""
    if len(values) < 2:
        return None
    records = [_flat(value) for value in values]
    columns: list[str] = []
    for record in records:
        if record is None:
            return None
        _join(columns, record)
        if len(columns) > _MOST_COLUMNS:
            return None
    cells = [[record.get(column, "") for column in columns] for record in records if record]
    if max((len(cell) for row in cells for cell in row), default=0) > _LONGEST_CELL:
        return None
    filled = sum(bool(cell) for row in cells for cell in row)
    if not columns or filled < _LEAST_FILLED * len(columns) * len(records):
        return None
    return [[column or "text" for column in columns], *cells]


def _join(columns: list[str], record: dict[str, str]) -> None:
    """Put each key that is no column yet before the column that follows in its record, if any."""
    if len(record) > _MOST_COLUMNS:
        columns += record  # no table
        return
    if set(columns).issuperset(record):
        return
    place = len(columns)
    for key in reversed(record):
        if key in columns:
            place = columns.index(key)
        else:
            columns.insert(place, key)


def _is_plain(values: Sequence[Any]) -> bool:
    return all(_is_scalar(value) for value in values)


def _listed(value: Any) -> str:
    """A scalar, or a list of scalars on one line."""
    return _text(value) if _is_scalar(value) else ", ".join(filter(None, map(_text, value)))


def _flat(value: Any) -> dict[str, str] | None:
    """A record of scalars, lists of scalars and records of scalars, as columns."""
    if not isinstance(value, Mapping):
        return None
    found: dict[str, str] = {}
    for key, inner in value.items():
        if _is_scalar(inner):
            found[str(key)] = _text(inner)
        elif isinstance(inner, Mapping):
            for name, part in inner.items():
                if isinstance(part, Mapping) or not (_is_scalar(part) or _is_plain(part)):
                    return None
                found[f"{key}.{name}" if name else str(key)] = _listed(part)
        elif _is_plain(inner):
            found[str(key)] = _listed(inner)
        else:
            return None
    return found
