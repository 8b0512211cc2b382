"""A source: one text file that says what a document contains and which file it becomes."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

__all__ = ["FORMATS", "SOURCES", "Block", "Source", "load", "load_all"]

SOURCES = Path(__file__).parent / "sources"
PAGE_BREAK = "<!-- page -->"
FENCE = "+++"

FORMATS = (
    "pdf", "scan", "photo", "png", "tiff", "docx", "xlsx", "pptx",
    "html", "md", "txt", "csv", "eml",
)  # fmt: skip
"""``scan`` is a PDF of pictures of pages, ``photo`` a JPEG of paper lying on a table."""

BlockKind = Literal["heading", "paragraph", "bullets", "table", "quote", "page"]


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a source's body.

    Attributes:
        kind: what it is; ``page`` is a page break and holds nothing.
        level: of a heading, 1 to 3; else 0.
        lines: the text of a heading, the lines of a paragraph, the items of a list.
        rows: the cells of a table, the header first.
    """

    kind: BlockKind
    level: int = 0
    lines: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """A parsed source.

    Attributes:
        path: the source file.
        file: name of the file that is built from it.
        format: one of :data:`FORMATS`.
        lang: ``it`` or ``en``, the language of most of the text.
        mixed: whether a part of it is in the other language.
        title: what the document calls itself.
        options: the rest of the front matter, for the renderers.
        body: everything after the front matter.
    """

    path: Path
    file: str
    format: str
    lang: str
    mixed: bool
    title: str
    options: dict[str, Any] = field(hash=False)
    body: str

    @property
    def blocks(self) -> list[Block]:
        """The body as blocks, in order."""
        return list(_blocks(self.body.splitlines()))

    @property
    def lines(self) -> list[str]:
        """Every line of text a reader of the document sees, without markup."""
        head = [str(line) for line in self.options.get("letterhead", [])]
        head += [str(self.options[key]) for key in ("subject", "from", "to") if key in self.options]
        body = [line.replace("**", "").strip() for line in self.body.splitlines()]
        return [line for line in [self.title, *head, *body] if line and line != PAGE_BREAK]


def load(path: Path) -> Source:
    """Parse one source.

    Raises:
        ValueError: there is no front matter, or it names a format that is not known.
    """
    text = path.read_text(encoding="utf-8")
    parts = text.split(FENCE + "\n", 2)
    if len(parts) != 3 or parts[0]:
        raise ValueError(f"{path.name} has no front matter between two lines of {FENCE}")
    options = tomllib.loads(parts[1])
    file, kind, lang = options.pop("file"), options.pop("format"), options.pop("lang")
    if kind not in FORMATS:
        raise ValueError(f"{path.name} names the format {kind!r}; known are {', '.join(FORMATS)}")
    return Source(
        path=path,
        file=file,
        format=kind,
        lang=lang,
        mixed=options.pop("mixed", False),
        title=options.pop("title"),
        options=options,
        body=parts[2].strip("\n") + "\n",
    )


def load_all(folder: Path = SOURCES) -> list[Source]:
    """Parse every source of the folder, in the order of their names."""
    return [load(path) for path in sorted(folder.glob("*.md"))]


def _blocks(lines: list[str]) -> list[Block]:
    blocks: list[Block] = []
    group: list[str] = []
    for line in [*lines, ""]:
        if line.strip() and line.strip() != PAGE_BREAK:
            group.append(line.strip())
            continue
        if group:
            blocks += _group(group)
            group = []
        if line.strip() == PAGE_BREAK:
            blocks.append(Block("page"))
    return blocks


def _group(lines: list[str]) -> list[Block]:
    """Turn the lines between two blank lines into blocks."""
    first = lines[0]
    if first.startswith("#"):
        level = len(first) - len(first.lstrip("#"))
        heading = Block("heading", level=level, lines=(first[level:].strip(),))
        return [heading, *(_group(lines[1:]) if lines[1:] else [])]
    if first.startswith("|"):
        rows = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines]
        return [Block("table", rows=tuple(row for row in rows if set("".join(row)) - set("-: ")))]
    if first.startswith("- "):
        return [Block("bullets", lines=tuple(line.removeprefix("- ") for line in lines))]
    if first.startswith("> "):
        return [Block("quote", lines=tuple(line.removeprefix("> ") for line in lines))]
    return [Block("paragraph", lines=tuple(lines))]
