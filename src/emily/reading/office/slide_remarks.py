"""Comments on slides, of both kinds that PowerPoint has stored."""

from __future__ import annotations

from dataclasses import dataclass, field

from lxml import etree

from emily.errors import ReadingError
from emily.reading.office.charts import run_text
from emily.reading.office.ooxml import Container, local

__all__ = ["Authors", "remarks_of"]


@dataclass(slots=True)
class Authors:
    """Who wrote comments, by the number or id that the comments name."""

    names: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, container: Container, related: dict[str, tuple[str, str]]) -> Authors:
        """The authors that a presentation lists; a broken list names none."""
        authors = cls()
        for kind, path in related.values():
            if kind in {"commentAuthors", "authors"}:
                try:
                    root = container.xml(path)
                except ReadingError:
                    continue
                for element in root:
                    name = " ".join((element.get("name") or "").split())
                    authors.names[element.get("id") or ""] = name
        return authors


def remarks_of(root: etree._Element, authors: Authors) -> list[str]:
    """A line for each comment and each reply, in their order."""
    lines = []
    for element in root.iter():
        if local(element) not in {"cm", "reply"}:
            continue
        texts = []
        for inner in element:
            if local(inner) == "text":
                texts.append(inner.text or "")
            elif local(inner) == "txBody":
                texts.append(run_text(inner))
        text = " ".join(" ".join(texts).split())
        name = authors.names.get(element.get("authorId") or "", "")
        if text:
            lines.append(f"Comment ({name}): {text}" if name else f"Comment: {text}")
    return lines
