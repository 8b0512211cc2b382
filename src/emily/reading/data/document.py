"""XML and JSON: what they say, without the marks of their notation.

Passages are cited by the file alone: what is shown is written anew, and has other lines than the
file. Only what cannot be taken apart is kept line by line, and is then cited by line.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterator
from typing import Any

from lxml import etree

from emily.errors import EmptyDocument, ReadingError
from emily.reading.data.records import RecordWriter
from emily.reading.data.xml_line import inline, is_text
from emily.reading.data.xml_text import TextWriter
from emily.reading.data.xml_tree import parse_xml
from emily.reading.encodings import decode_text
from emily.reading.office.ooxml import local
from emily.reading.pages import Facts, Page
from emily.reading.source import Draft, Source, check_length, single_page, tidy
from emily.reading.web.page import html_text

__all__ = ["read_json", "read_xml"]

_MOST_PARSED = 16_000_000  # characters of JSON that are taken apart: about 1 GB as objects
_UNSHOWN_ATTRIBUTES = frozenset({"id", "href", "schemaLocation", "noNamespaceSchemaLocation",
                                 "contextRef", "unitRef", "decimals", "nil", "type", "class",
                                 "style", "space", "idref", "version"})  # fmt: skip
_YEAR, _MONTH, _DAY = "year", "month", "day"


def read_xml(source: Source) -> Draft:
    """XML: a text with headings, lists and tables, or records as tables and ``path: value``.

    Which of both is told by ``xmltext.is_text``. The author and the date are those that the head
    of an article (JATS) or of a book (FB2) names.

    Raises:
        LimitExceeded: its entities make it a bomb.
        EmptyDocument: it holds no text.
    """
    try:
        root, warnings = parse_xml(source.path)
    except ReadingError as error:
        if type(error) is not ReadingError:
            raise
        return _as_text(source, "xml", f"{error}".capitalize())
    name = local(root).lower()
    if name in {"fatturaelettronica", "fatturaelettronicasemplificata"}:
        from emily.reading.data.invoice import read_invoice

        return read_invoice(source)
    if name == "html":
        text, tables, title = html_text(etree.tostring(root, encoding="unicode", method="html"))
    elif is_text(root):
        writer = TextWriter(source)
        writer.write(root)
        text, tables, title = "\n".join(writer.lines), tuple(writer.tables), writer.title
    else:
        records = RecordWriter()
        records.write(_unwrapped(_record(root)))
        text, tables, title = records.finish(), tuple(records.tables), None
    check_length(len(text))
    if not text.strip():
        raise EmptyDocument("the XML holds no text")
    page = Page(1, text, tables=tables, pictures=source.pictures.on_page(1))
    return Draft("xml", "none", single_page(page), title, warnings, _facts(root))


def _record(element: etree._Element) -> Any:
    """An element of a record as JSON would have it: text, or a mapping of attributes and children.

    Children of one name are a list. What an XBRL report refers to (contexts, units) is left out:
    it is no text.
    """
    found: dict[str, Any] = {}
    text = _words(element.text)
    if text:
        found[""] = element.text if "<" in text else text
    for key, value in element.attrib.items():
        name = str(key).rpartition("}")[2]
        if name not in _UNSHOWN_ATTRIBUTES and str(value).strip():
            found[name] = str(value)
    is_xbrl = local(element) == "xbrl"
    for child in element:
        if not isinstance(child.tag, str) or (is_xbrl and local(child) in {"context", "unit"}):
            continue
        inner, name = _record(child), local(child)
        if name in found:
            before = found[name]
            if isinstance(before, list):
                before.append(inner)
            else:
                found[name] = [before, inner]
        else:
            found[name] = inner
        tail = _words(child.tail)
        if tail:
            found[""] = f"{found.get('', '')} {tail}".strip()
    if set(found) <= {""}:
        return found.get("", "")
    return found


def _words(text: str | None) -> str:
    """A text on one line; most are short or blank, and there are many."""
    if not text or text.isspace():
        return ""
    return text.strip() if text.isprintable() and "  " not in text else " ".join(tidy(text).split())


def _unwrapped(record: Any) -> Any:
    """A record without the elements around it that hold nothing else."""
    while isinstance(record, dict) and len(record) == 1:
        (inner,) = record.values()
        if not isinstance(inner, dict):
            break
        record = inner
    return record


def _facts(root: etree._Element) -> Facts:
    """Author and date out of the head of an article or a book."""
    for meta in root.iter():
        name = local(meta)
        if name == "article-meta":
            people = [e for e in meta.iter() if local(e) == "name"]
            dates = [e for e in meta.iter() if local(e) == "pub-date"]
            return _joined(people, next((d for e in dates if (d := _day(e))), None))
        if name == "title-info":
            people = [e for e in meta if local(e) == "author"]
            written = [e.get("value") or "" for e in meta if local(e) == "date"]
            return _joined(people, _iso(written[0]) if written else None)
        if name == "body":
            break
    return Facts()


def _joined(people: list[etree._Element], date: dt.date | None) -> Facts:
    names = []
    for person in people[:100]:
        parts = {local(e): inline(e) for e in person}
        given = parts.get("given-names") or parts.get("first-name") or ""
        middle, family = (
            parts.get("middle-name", ""),
            parts.get("surname") or parts.get("last-name"),
        )
        names.append(" ".join(filter(None, [given, middle, family])))
    author = ", ".join(dict.fromkeys(filter(None, names)))
    return Facts(author=author or None, date=date, date_source="metadata" if date else None)


def _day(element: etree._Element) -> dt.date | None:
    parts = {local(e): inline(e) for e in element}
    return _iso("-".join(parts.get(name, "").zfill(2) for name in (_YEAR, _MONTH, _DAY)))


def _iso(written: str) -> dt.date | None:
    try:
        return dt.date.fromisoformat(written.strip())
    except ValueError:
        return None


# --- JSON


class _Number(str):
    """A number as the file writes it: ``1.10`` is not ``1.1``."""

    __slots__ = ()


def read_json(source: Source) -> Draft:
    """JSON, JSON lines and GeoJSON: tables of records that are alike, else ``path: value`` lines.

    Keys stand as they are. Of the shapes on a map the place of a point is shown, of others the
    kind. What is not JSON, or too large to be taken apart, is kept line by line.

    Raises:
        EmptyDocument: it holds no value.
    """
    data = source.path.read_bytes()
    check_length(len(data) // 4)
    text, warning = decode_text(data)
    check_length(len(text))
    warnings = [warning] if warning else []
    if not text.strip("\0 \t\r\n\ufeff"):
        raise EmptyDocument("the file holds only blanks")
    if len(text) > _MOST_PARSED:
        return _as_text(
            source,
            "json",
            f"The JSON has {len(text):,} characters; at most {_MOST_PARSED:,} are taken apart.",
        )
    try:
        value = _parsed(text, warnings)
    except (ValueError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else f"not valid: {error}"
        return _as_text(source, "json", f"The JSON is {why}; it was read as plain text.")
    value = _without_shapes(value, warnings)
    writer = RecordWriter()
    writer.write(value)
    found = writer.finish()
    check_length(len(found))
    if not found.strip():
        raise EmptyDocument("the JSON holds no text")
    title = None
    if isinstance(value, dict):
        title = next(
            (v for k in ("title", "name") if isinstance(v := value.get(k), str) and v), None
        )
    page = Page(1, found, tables=tuple(writer.tables))
    return Draft(
        "json", "none", single_page(page), title and " ".join(tidy(title).split()), warnings
    )


def _loads(text: str) -> Any:
    return json.loads(
        text,
        object_pairs_hook=_object,
        parse_float=_Number,
        parse_int=_Number,
        parse_constant=_Number,
        strict=False,
    )


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; a key that comes again is numbered, so that neither value is lost."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        name, number = key, 2
        while name in found:
            name, number = f"{key} ({number})", number + 1
        found[name] = value
    return found


def _parsed(text: str, warnings: list[str]) -> Any:
    """The value of a text, or the list of the values of its lines.

    Raises:
        ValueError: it is neither.
    """
    try:
        return _loads(text)
    except ValueError as whole:
        lines = [(at, line) for at, line in enumerate(text.splitlines(), 1) if line.strip()]
        values: list[Any] = []
        broken: list[int] = []
        for at, line in lines:
            try:
                values.append(_loads(line))
            except ValueError:
                values.append(line.strip())
                broken.append(at)
        if len(lines) < 2 or 2 * len(broken) >= len(lines) or not _holds_object(values):
            raise whole from None
        if broken:
            named = ", ".join(map(str, broken[:5])) + (" …" if len(broken) > 5 else "")
            warnings.append(f"Not valid JSON, kept as they are: lines {named}.")
        return values


def _holds_object(values: list[Any]) -> bool:
    return any(isinstance(value, (dict, list)) for value in values)


def _without_shapes(value: Any, warnings: list[str]) -> Any:
    """GeoJSON as the list of its features' properties; everything else as it is."""
    if not isinstance(value, dict) or not isinstance(value.get("features"), list):
        return value
    rows = []
    left_out = 0
    for feature in value["features"]:
        if not isinstance(feature, dict):
            return value
        shape = feature.get("geometry")
        kind = shape.get("type") if isinstance(shape, dict) else None
        place = shape.get("coordinates") if isinstance(shape, dict) else None
        row = {key: inner for key, inner in feature.items() if key not in {"type", "geometry"}}
        properties = row.pop("properties", None)
        row |= properties if isinstance(properties, dict) else {}
        if kind == "Point" and isinstance(place, list) and place:
            row["geometry"] = f"Point {', '.join(map(str, place))}"
        elif kind is not None:
            row["geometry"] = str(kind)
            left_out += place is not None
        rows.append(row)
    if left_out:
        warnings.append(f"The coordinates of {left_out:,} lines and areas on the map are left out.")
    rest = {key: inner for key, inner in value.items() if key not in {"type", "features", "bbox"}}
    return {**rest, "features": rows}


def _as_text(source: Source, kind: str, why: str) -> Draft:
    """The file line by line."""
    text, warning = decode_text(source.path.read_bytes())
    text = re.sub("\r\n?", "\n", text)
    check_length(len(text))
    warnings = [*([warning] if warning else []), why if why.endswith(".") else why + "."]
    return Draft(kind, "lines", _lines(text), None, warnings)


def _lines(text: str) -> Iterator[Page]:
    yield Page(1, text)
