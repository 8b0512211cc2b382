"""OpenDocument texts, spreadsheets and presentations (LibreOffice, OpenOffice, Google, Word)."""

from __future__ import annotations

from emily.errors import EmptyDocument
from emily.reading.blocks import only_page
from emily.reading.office.ooxml import attribute, local
from emily.reading.opendocument.package import Package, body_of, first, properties
from emily.reading.opendocument.sheets import read_ods
from emily.reading.opendocument.slides import read_odp
from emily.reading.opendocument.styles import Styles
from emily.reading.opendocument.text import TextWriter
from emily.reading.source import Draft, Source, single_page

__all__ = ["read_odp", "read_ods", "read_odt"]


def read_odt(source: Source) -> Draft:
    """A text as one page: pages exist only once a printer lays them out.

    Headers stand once at the start, footers once at the end, before foot- and endnotes and
    comments, which are marked. Tracked changes are read as if they were accepted; hidden text is
    left out. Both are said.
    """
    with Package(source.path) as package:
        body = body_of(package, "text")
        title, facts = properties(package)
        writer = TextWriter(package, Styles(package.styles, package.content), source.pictures)
        above, below, told = _letterheads(package, source)
        for lines in above:
            writer.out.insert(lines)
        writer.blocks(body)
        for lines in below:
            writer.out.insert(lines)
        writer.behind()
        deleted = sum(1 for element in body.iter() if local(element) == "deletion")
        warnings = list(dict.fromkeys([*package.warnings, *told, *writer.told()]))
    if deleted:
        warnings.append(
            f"{deleted} tracked deletions are left out: the text is read as if all changes "
            "were accepted."
        )
    page = only_page(writer.out, source)
    if page.route == "blank" and not page.pictures:
        why = " ".join(warnings)
        raise EmptyDocument(f"the OpenDocument text holds no text. {why}".rstrip(". "))
    return Draft("odt", "none", single_page(page), title, warnings, facts)


def _letterheads(
    package: Package, source: Source
) -> tuple[list[list[str]], list[list[str]], list[str]]:
    """Lines of the headers and of the footers, and what of them is not read.

    What several page styles share is taken once.
    """
    told: list[str] = []
    found: dict[str, list[list[str]]] = {"header": [], "footer": []}
    masters = first(package.styles, "master-styles")
    styles = Styles(package.styles)
    for part in () if masters is None else masters.iter():
        kind = local(part).partition("-")[0]
        if (
            kind not in found
            or attribute(part, "display") == "false"
            or local(part) == kind + "-style"
        ):
            continue
        writer = TextWriter(package, styles, source.pictures, letterhead=True)
        writer.blocks(part)
        writer.behind()
        told += writer.told()
        lines = writer.out.text().split("\n")
        if any(lines) and lines not in found[kind]:
            found[kind].append(lines)
    return found["header"], found["footer"], told
