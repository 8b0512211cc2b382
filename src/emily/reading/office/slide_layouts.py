"""Layouts of slides: where a placeholder stands, and whether its paragraphs have bullets."""

from __future__ import annotations

from dataclasses import dataclass, field

from lxml import etree

from emily.errors import ReadingError
from emily.reading.office.ooxml import Container, local
from emily.reading.office.word_styles import child

__all__ = ["Box", "Layout", "box_of", "bullet_of", "placeholder_of"]

Box = tuple[int, int, int, int]
"""Left, top, right, bottom, in EMU (914,400 to the inch)."""

_BULLETS = {"buNone": "", "buChar": "-", "buBlip": "-", "buAutoNum": "1"}


def placeholder_of(shape: etree._Element) -> tuple[str, str] | None:
    """Type and index of the placeholder that a shape fills; ``None`` for a shape of its own."""
    for properties in shape:
        if local(properties) in {"nvSpPr", "nvPicPr", "nvGraphicFramePr"}:
            placeholder = child(properties, "nvPr", "ph")
            if placeholder is not None:
                return placeholder.get("type") or "obj", placeholder.get("idx") or "0"
    return None


def box_of(shape: etree._Element) -> Box | None:
    """Where a shape says that it stands; ``None`` where it leaves that to its layout."""
    place = child(shape, "xfrm")
    if place is None:
        place = child(shape, "spPr", "xfrm")
    if place is None:
        place = child(shape, "grpSpPr", "xfrm")
    offset, size = child(place, "off"), child(place, "ext")
    if offset is None or size is None:
        return None
    try:
        left, top = int(offset.get("x") or ""), int(offset.get("y") or "")
        return left, top, left + int(size.get("cx") or ""), top + int(size.get("cy") or "")
    except ValueError:
        return None


def bullet_of(properties: etree._Element | None) -> str | None:
    """``-`` for a bullet, ``1`` for a number, empty for neither; ``None`` where nothing is said."""
    for element in properties if properties is not None else ():
        if local(element) in _BULLETS:
            return _BULLETS[local(element)]
    return None


@dataclass(slots=True)
class Layout:
    """What a layout and its master say of the placeholders on a slide."""

    boxes: dict[tuple[str, str], Box] = field(default_factory=dict)
    bullets: dict[tuple[str, int], str] = field(default_factory=dict)

    @classmethod
    def of(cls, container: Container, path: str) -> Layout:
        """The layout in a part, over its master; broken parts say nothing."""
        layout = cls()
        related = container.related(path).values()
        master = next((target for kind, target in related if kind == "slideMaster"), "")
        for part in (master, path):
            try:
                layout._take(container.xml(part))
            except ReadingError:
                continue
        return layout

    def _take(self, root: etree._Element) -> None:
        for shape in root.iter():
            if local(shape) == "bodyStyle":
                self._levels("body", shape)
            if local(shape) not in {"sp", "pic", "graphicFrame"}:
                continue
            placeholder = placeholder_of(shape)
            if placeholder is None:
                continue
            box = box_of(shape)
            if box is not None:
                kind, index = placeholder
                self.boxes[kind, ""] = box
                self.boxes["", index] = box
            style = child(shape, "txBody", "lstStyle")
            if style is not None:
                self._levels(placeholder[1], style)

    def _levels(self, index: str, style: etree._Element) -> None:
        for number in range(1, 10):
            bullet = bullet_of(child(style, f"lvl{number}pPr"))
            if bullet is not None:
                self.bullets[index, number - 1] = bullet

    def box(self, placeholder: tuple[str, str]) -> Box | None:
        """Where a placeholder stands."""
        kind, index = placeholder
        found = self.boxes.get(("", index)) if index != "0" else None
        return found or self.boxes.get((kind, ""))

    def bullet(self, placeholder: tuple[str, str], level: int) -> str:
        """What stands before a paragraph of a placeholder, as by ``bullet_of``."""
        kind, index = placeholder
        found = self.bullets.get((index, level))
        if found is None and kind in {"body", "obj"}:
            found = self.bullets.get(("body", level))
        return found or ""
