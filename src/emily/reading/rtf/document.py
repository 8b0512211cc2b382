"""Rich Text files: their text, tables, lists and pictures, in any code page."""

from __future__ import annotations

from emily.errors import EmptyDocument
from emily.reading.blocks import Blocks, only_page
from emily.reading.pages import Facts
from emily.reading.rtf.flow import Flow
from emily.reading.rtf.interpreter import RtfReader
from emily.reading.source import Draft, Source, single_page

__all__ = ["read_rtf", "rtf_blocks"]


def read_rtf(source: Source) -> Draft:
    """A Rich Text file as one page: pages exist only once a printer lays them out.

    Headers stand once at the start, footers once at the end, before footnotes, endnotes and
    comments, which are marked. Text that was deleted while changes were tracked is left out, and
    so is hidden text; both are said.
    """
    data = source.path.read_bytes()
    reader = RtfReader(data, lambda picture: source.pictures.block(picture, 1))
    out = rtf_blocks(reader)
    page = only_page(out, source)
    if page.route == "blank" and not page.pictures:
        told = " ".join(_told(reader))
        raise EmptyDocument(f"the Rich Text file holds no text. {told}".rstrip(". "))
    date = reader.times.get("creatim") or reader.times.get("revtim")
    author = " ".join(reader.info.get("author", "").split()) or None
    return Draft(
        "rtf",
        "none",
        single_page(page),
        " ".join(reader.info.get("title", "").split()) or None,
        _told(reader),
        Facts(author=author, date=date, date_source="metadata" if date else None),
    )


def rtf_blocks(reader: RtfReader) -> Blocks:
    """The blocks of a file that was read, in the order of a page. Each letterhead stands once."""
    out = Blocks()
    seen: set[tuple[str, str]] = set()
    for role in ("header", "body", "footer", "Footnote", "Endnote", "Comment"):
        for flow in reader.flows:
            if flow.role != role:
                continue
            text = flow.out.text()
            if role in {"Footnote", "Endnote", "Comment"}:
                _note(out, flow, text)
            elif role == "body" or (role, text) not in seen:
                seen.add((role, text))
                out.append(flow.out)
    return out


def _note(out: Blocks, flow: Flow, text: str) -> None:
    if text:
        by = f" ({flow.author})" if flow.author else ""
        out.paragraph(f"{flow.role}{by}: {' '.join(text.split())}")


def _told(reader: RtfReader) -> list[str]:
    """What was left out, in sentences."""
    warnings = []
    if reader.open_groups:
        warnings.append(
            "The file ends in the middle "
            f"({reader.open_groups} groups are open); it is read as far as it goes."
        )
    if reader.too_deep:
        warnings.append("Groups more than 2,000 deep in one another are left out.")
    if reader.deleted:
        warnings.append(
            f"Tracked deletions are left out ({reader.deleted:,} characters): the text is read "
            "as if all changes were accepted."
        )
    if reader.hidden:
        warnings.append(f"Hidden text is left out ({reader.hidden:,} characters).")
    if reader.objects:
        warnings.append(f"{reader.objects} embedded objects are not read.")
    return warnings
