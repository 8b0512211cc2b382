"""Charts and diagrams of Office files: their words and their stored values, as lines of text."""

from __future__ import annotations

import re
from collections.abc import Mapping

from lxml import etree

from emily.errors import ReadingError
from emily.reading.office.equations import linear
from emily.reading.office.number_formats import shown_number
from emily.reading.office.ooxml import Container, attribute, local
from emily.reading.pages import Table
from emily.reading.source import tidy
from emily.reading.tables import markdown_table

__all__ = ["alternative_text", "drawing_lines", "drawing_part", "run_text"]

_MOST_POINTS = 100_000  # of a series
_FILE_NAME = re.compile(r"\S+\.(?:png|jpe?g|gif|bmp|tiff?|emf|wmf|svg|webp|heic)", re.IGNORECASE)
_NO_WORDS = re.compile(
    r"(?:picture|image|photo|grafik|bild|immagine|imagen|graphic|chart|diagramm)\s*\d*",
    re.IGNORECASE,
)
_BY_MACHINE = re.compile(
    r"\s*(?:AI-generated content may be incorrect.*|Description automatically generated.*"
    r"|Automatisch generierte Beschreibung"
    r"|Mit .{0,40} automatisch generierte Beschreibung|Descrizione generata automaticamente"
    r"|Description générée automatiquement|Descripción generada automáticamente)\s*$",
    re.IGNORECASE,
)


def drawing_part(element: etree._Element) -> str | None:
    """Id of the part that an element draws: a chart or a diagram; ``None`` for all else."""
    name = local(element)
    if name == "chart":
        return attribute(element, "id")
    return attribute(element, "dm") if name == "relIds" else None


def alternative_text(properties: etree._Element) -> str:
    """What a drawing shows, as its author says it (``descr``); empty for a file name."""
    text = " ".join(tidy(properties.get("descr") or "").split())
    while (shorter := _BY_MACHINE.sub("", text)) != text:
        text = shorter
    name = text.rpartition("/")[2].rpartition("\\")[2]
    return "" if _FILE_NAME.fullmatch(name) or _NO_WORDS.fullmatch(text) else text


def drawing_lines(
    container: Container, related: Mapping[str, tuple[str, str]], part: str
) -> tuple[list[str], Table | None]:
    """A chart (its titles, then its values as a table) or a diagram (a line per node).

    Returns:
        The lines, and where among them the table is, counted from the first.

    Raises:
        ReadingError: the part is missing or broken.
    """
    if part not in related:
        raise ReadingError("a chart or diagram is missing from the file")
    kind, path = related[part]
    root = container.xml(path)
    if kind == "chart" or kind.startswith("chartEx"):
        return _chart(root)
    texts = (" ".join(run_text(p).split()) for p in root.iter() if local(p) == "p")
    return [text for text in texts if text], None


def _chart(root: etree._Element) -> tuple[list[str], Table | None]:
    titles = (" ".join(run_text(e).split()) for e in root.iter() if local(e) == "title")
    lines = [title for title in titles if title]
    series = [
        (
            " ".join(_values(element, "tx")),
            _values(element, "cat") or _values(element, "xVal"),
            _values(element, "val") or _values(element, "yVal"),
        )
        for element in root.iter()
        if local(element) == "ser"
    ]
    series = [found for found in series if found[0] or found[2]]
    labels = next((labels for _, labels, _ in series if labels), [])
    if any(names not in ([], labels) for _, names, _ in series) or not any(v for *_, v in series):
        for name, names, values in series:
            if len(names) == len(values):
                values = [f"{label} {value}" for label, value in zip(names, values, strict=True)]
            lines.append(": ".join(filter(None, (name, ", ".join(values)))))
        return lines, None
    length = max(len(labels), *(len(values) for *_, values in series))
    columns = [["", *labels]] if labels else []
    columns += [[name, *values] for name, _, values in series]
    rows = [[c[at] if at < len(c) else "" for c in columns] for at in range(length + 1)]
    if not any(rows[0]):
        rows = rows[1:]
    if lines:
        lines.append("")
    table_lines, table = markdown_table(rows, len(lines), header=any(rows[0][1:]))
    return lines + table_lines, table


def _values(series: etree._Element, name: str) -> list[str]:
    """Values that a chart stores for one role of a series, by the number of their point."""
    found = next((element for element in series if local(element) == name), None)
    if found is None:
        return []
    groups = [e for e in found.iter() if local(e) in {"lvl", "strCache", "numCache", "strLit",
                                                      "numLit"}]  # fmt: skip
    levels = [group for group in groups if local(group) == "lvl"] or groups[:1]
    if not levels:
        return [" ".join((e.text or "").split()) for e in found.iter() if local(e) == "v"]
    texts: dict[int, list[str]] = {}
    for level in reversed(levels):  # the outermost level of categories stands last
        code = next((e.text or "" for e in level if local(e) == "formatCode"), "")
        for place, point in enumerate(e for e in level if local(e) == "pt"):
            at = attribute(point, "idx") or ""
            value = next((e.text or "" for e in point if local(e) == "v"), "")
            number = int(at) if at.isascii() and at.isdigit() and len(at) < 7 else place
            shown = _value(value, attribute(point, "formatCode") or code)
            texts.setdefault(number, []).append(shown)
    if not texts or max(texts) > _MOST_POINTS:
        return [" ".join(text) for _, text in sorted(texts.items())]
    return [" ".join(texts.get(at, [])) for at in range(max(texts) + 1)]


def _value(text: str, code: str) -> str:
    """A stored value in its number format, without the noise of its binary form."""
    try:
        return shown_number(float(text), code if code != "General" else "")
    except ValueError:
        return " ".join(text.split())


def run_text(parent: etree._Element) -> str:
    """Text of an element's runs (DrawingML); paragraphs and breaks as line breaks."""
    pieces: list[str] = []
    _runs(parent, pieces)
    return tidy("".join(pieces))


def _runs(parent: etree._Element, pieces: list[str]) -> None:
    for element in parent:
        name = local(element)
        if name == "t":
            pieces.append(element.text or "")
        elif name == "br" or (name == "p" and pieces):
            pieces.append("\n")
        elif name == "oMath":
            pieces.append(linear(element))
            continue
        elif name == "Fallback":
            continue
        _runs(element, pieces)
