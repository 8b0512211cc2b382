"""Charts and diagrams of Office files: their words and their stored values, as lines of text."""

from __future__ import annotations

import re

from lxml import etree

from emily.errors import ReadingError
from emily.reading.ooxml import Container, attribute, local
from emily.reading.source import tidy

__all__ = ["alternative_text", "drawing_lines", "drawing_part", "run_text"]

_FILE_NAME = re.compile(r"\S+\.(?:png|jpe?g|gif|bmp|tiff?|emf|wmf|svg|webp|heic)", re.IGNORECASE)
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
    return "" if _FILE_NAME.fullmatch(text.rpartition("/")[2].rpartition("\\")[2]) else text


def drawing_lines(
    container: Container, related: dict[str, tuple[str, str]], part: str
) -> list[str]:
    """Text of a chart (its titles, then a line per series) or of a diagram (a line per node).

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
    return [text for text in texts if text]


def _chart(root: etree._Element) -> list[str]:
    titles = (" ".join(run_text(e).split()) for e in root.iter() if local(e) == "title")
    lines = [title for title in titles if title]
    for series in (element for element in root.iter() if local(element) == "ser"):
        name = " ".join(_values(series, "tx"))
        labels = _values(series, "cat") or _values(series, "xVal")
        values = _values(series, "val") or _values(series, "yVal")
        if len(labels) == len(values):
            values = [f"{label} {value}" for label, value in zip(labels, values, strict=True)]
        if name or values:
            lines.append(f"{name}: {', '.join(values)}" if name else ", ".join(values))
    return lines


def _values(series: etree._Element, name: str) -> list[str]:
    """Values that a chart stores for one role of a series, in the order of the points."""
    found = next((element for element in series if local(element) == name), None)
    if found is None:
        return []
    return [_value(e.text or "") for e in found.iter() if local(e) == "v"]


def _value(text: str) -> str:
    """A stored value; a number without the noise of its binary form."""
    try:
        return format(float(text), ".15g")
    except ValueError:
        return " ".join(text.split())


def run_text(parent: etree._Element) -> str:
    """Text of an element's runs (DrawingML); paragraphs and breaks as line breaks."""
    pieces: list[str] = []
    for element in parent.iter():
        name = local(element)
        if name == "t":
            pieces.append(element.text or "")
        elif name == "br" or (name == "p" and pieces):
            pieces.append("\n")
        elif name == "tab":
            pieces.append("\t")
    return tidy("".join(pieces))
