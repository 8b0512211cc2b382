"""What stands inside of OpenDocument files and is no text: formulas and filled-in forms."""

from __future__ import annotations

from lxml import etree

from emily.reading.office.ooxml import attribute, local

__all__ = ["form_values", "formula"]

_MOST_DEPTH = 60  # of a formula's parts in one another
_BETWEEN = {"mfrac": "/", "msup": "^", "msub": "_", "mover": " ", "munder": " ", "mroot": " "}
_TOKENS = frozenset({"mi", "mn", "mo", "mtext", "ms"})
_SETTINGS = frozenset({"properties", "property", "list-property", "event-listeners"})


def formula(root: etree._Element) -> str | None:
    """A MathML formula on one line, ``E = m c^2``; ``None`` for a tree that is none."""
    math = root if local(root) == "math" else None
    if math is None:
        math = next((child for child in root if local(child) == "math"), None)
    return None if math is None else " ".join(_term(math, 0).split())


def _term(element: etree._Element, depth: int) -> str:
    name = local(element)
    if name in {"annotation", "annotation-xml"} or not name:
        return ""
    if name in _TOKENS or depth > _MOST_DEPTH:
        return "".join(str(piece) for piece in element.itertext()).strip()
    parts = [part for child in element if (part := _term(child, depth + 1))]
    if name == "msqrt":
        return f"√({' '.join(parts)})"
    if name in _BETWEEN and len(parts) == 2:
        grouped = [f"({part})" if " " in part else part for part in parts]
        return _BETWEEN[name].join(grouped)
    if name in {"msubsup", "munderover"} and len(parts) == 3:
        return f"{parts[0]}_({parts[1]})^({parts[2]})"
    return " ".join(parts)


def form_values(root: etree._Element) -> dict[str, str]:
    """What the controls of a document's forms say: their id to ``name: value`` or a label."""
    found = {}
    for forms in root.iter("{urn:oasis:names:tc:opendocument:xmlns:office:1.0}forms"):
        for control in forms.iter():
            name = local(control)
            if name in _SETTINGS or not name:
                continue
            key = attribute(control, "id")
            if key and (value := _value(control, name)):
                found[key] = value
    return found


def _value(control: etree._Element, name: str) -> str:
    label = " ".join((attribute(control, "label") or "").split())
    if name in {"fixed-text", "button", "frame"}:
        return label
    if name in {"checkbox", "radio"}:
        state = attribute(control, "current-state") or attribute(control, "state")
        chosen = state == "checked" or attribute(control, "current-selected") == "true"
        if state is None and attribute(control, "current-selected") is None:
            chosen = attribute(control, "selected") == "true"
        return f"[{'x' if chosen else ' '}] {label}" if label else ""
    if name == "listbox":
        chosen_items = [
            attribute(option, "label") or attribute(option, "value") or ""
            for option in control
            if "true" in {attribute(option, "current-selected"), attribute(option, "selected")}
        ]
        value = ", ".join(filter(None, chosen_items))
    else:
        value = attribute(control, "current-value") or attribute(control, "value") or ""
        paragraphs = [" ".join(str(t) for t in c.itertext()) for c in control if local(c) == "p"]
        value = value or " ".join(paragraphs)
    value = " ".join(value.split())
    title = " ".join((attribute(control, "name") or "").split())
    return f"{title}: {value}" if value and title else value
