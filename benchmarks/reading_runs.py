"""A file's own runs of text, taken straight from its parts: truth where nobody wrote one down.

Nothing here decides what a reader should make of a file: it collects the characters that stand
in it, in the order of the file, with the least of understanding. The libraries that Emily and
the tools read these formats with are not used, but for the cells of workbooks (openpyxl) and the
structure of mail (Python's ``email``).
"""

from __future__ import annotations

import csv
import datetime as dt
import email
import email.policy
import io
import json
import posixpath
import re
import struct
import warnings
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path
from urllib.parse import unquote

import lxml.html
import openpyxl
from lxml import etree

__all__ = ["Runs", "runs"]

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_SILENT = {"script", "style", "template", "noscript", "head", "svg", "math"}
_OF_THE_SITE = {"nav", "button", "select", "ix:header"}
_INLINE = {
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em",
    "font", "i", "ins", "kbd", "mark", "q", "ruby", "s", "samp", "small", "span", "strike",
    "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Runs:
    """What stands in a file.

    Attributes:
        text: the runs of its body, one paragraph a line.
        cells: of its tables, those that hold a table of their own left out.
        beside: all other text of the file: page headers, notes, comments, names, titles.
        also: the text in another right order.
    """

    text: str
    cells: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    also: str | None = None


def runs(path: Path, kind: str) -> Runs | None:
    """The runs of a file.

    Args:
        path: where it lies.
        kind: its format, as ``reading_truth.format_of`` names it.

    Returns:
        What stands in it, or ``None`` for a format that is not taken apart here or a file that
        cannot be.
    """
    take = _TAKERS.get(kind)
    if take is None:
        return None
    try:
        return take(path)
    except (KeyError, ValueError, OSError, LookupError, etree.LxmlError, zipfile.BadZipFile):
        return None


# XML in a package


def _parse(data: bytes) -> etree._Element:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True, recover=True)
    return etree.fromstring(data, parser)


def _local(element: etree._Element) -> str:
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def _related(package: zipfile.ZipFile, part: str) -> dict[str, tuple[str, str]]:
    """The parts that a part refers to: its type and place, by id."""
    folder, name = posixpath.split(part)
    try:
        root = _parse(package.read(posixpath.join(folder, "_rels", f"{name}.rels")))
    except KeyError:
        return {}
    found = {}
    for element in root:
        if element.get("TargetMode") != "External" and element.get("Target"):
            target = posixpath.normpath(posixpath.join("/", folder, element.get("Target", "")))
            kind = element.get("Type", "").rpartition("/")[2]
            found[element.get("Id", "")] = (kind, target.lstrip("/"))
    return found


def _main_part(package: zipfile.ZipFile) -> str:
    for kind, target in _related(package, "").values():
        if kind == "officeDocument":
            return target
    raise KeyError("no main part")


def _paragraphs(root: etree._Element, prefix: str, skipped: set[str]) -> Iterator[str]:
    """The text of each paragraph (``p``) of WordprocessingML or DrawingML, in order."""
    here: etree._Element | None = None
    line: list[str] = []
    for element in root.iter():
        name = _local(element)
        if name not in ("t", "tab", "br", "cr", "noBreakHyphen", "sym"):
            continue
        above = list(element.iterancestors())
        if any(_local(item) in skipped for item in above) or "pPr" in map(_local, above[:3]):
            continue
        owner = next((item for item in above if item.tag == f"{prefix}p"), None)
        if owner is not here:
            if line:
                yield "".join(line)
            here, line = owner, []
        line.append({"t": element.text or "", "noBreakHyphen": "-", "sym": ""}.get(name, " "))
    if line:
        yield "".join(line)


def _cells(root: etree._Element, prefix: str, skipped: set[str]) -> Iterator[str]:
    for cell in root.iter(f"{prefix}tc"):
        if cell.find(f".//{prefix}tbl") is None:
            yield " ".join(_paragraphs(cell, prefix, skipped))


# What a reader may call the parts of a file that stand aside.
_LABELS = {
    "footnotes": "footnote note", "endnotes": "endnote note", "header": "header",
    "footer": "footer", "comments": "comment by", "chart": "chart", "diagramData": "diagram",
    "notesSlide": "notes speaker note",
}  # fmt: skip
_UNREAD = {"Fallback", "moveFrom", "del", "instrText", "rubyPr", "rt", "oMath"}


def _docx(path: Path) -> Runs:
    with zipfile.ZipFile(path) as package:
        main = _main_part(package)
        body = _parse(package.read(main))
        lines = list(_paragraphs(body, _W, _UNREAD))
        beside = _named(body)
        for formula in body.iter("{*}oMath"):
            beside += _glued([str(part.text or "") for part in formula.iter("{*}t")])
        for kind, target in sorted(_related(package, main).values()):
            if target not in package.namelist() or not target.endswith(".xml"):
                continue
            if kind in ("footnotes", "endnotes"):
                root = _parse(package.read(target))
                lines += _paragraphs(root, _W, _UNREAD)
                beside += [f"{_LABELS[kind]} {number}" for number in range(1, len(root) + 1)] * 2
            elif kind in ("header", "footer", "comments"):
                root = _parse(package.read(target))
                beside += _paragraphs(root, _W, _UNREAD)
                for element in root:
                    beside += [_LABELS[kind], *element.values()]  # author and date of a comment
            elif kind in ("chart", "diagramData"):
                beside += [_LABELS[kind], *_chart(_parse(package.read(target)))]
        beside += _properties(package)
        labelled = len(list(body.iter(f"{_W}pStyle")))
        beside += ["1 2 3 4 5 6 7 8 9", *_numbering(package)] * labelled  # of headings
        return Runs("\n".join(lines), tuple(_cells(body, _W, _UNREAD)), tuple(beside))


def _numbering(package: zipfile.ZipFile) -> list[str]:
    """What is written around the numbers of lists and headings, such as ``Section``."""
    if "word/numbering.xml" not in package.namelist():
        return []
    levels = _parse(package.read("word/numbering.xml")).iter(f"{_W}lvlText")
    texts = {re.sub(r"%\d", " ", level.get(f"{_W}val", "")) for level in levels}
    return sorted(text for text in texts if re.search(r"[^\W\d_]{2}", text))


def _named(root: etree._Element) -> list[str]:
    """The descriptions and titles that pictures carry unseen."""
    return [
        text
        for element in root.iter()
        for text in (element.get("descr"), element.get("title"), element.get("alt"))
        if text
    ]


def _glued(parts: list[str]) -> list[str]:
    """The parts of a formula, which readers glue in more ways than one."""
    return [
        "".join(parts[first:last])
        for first in range(len(parts))
        for last in range(first + 1, min(len(parts), first + 12) + 1)
    ]


def _pptx(path: Path) -> Runs:
    with zipfile.ZipFile(path) as package:
        main = _main_part(package)
        known = _related(package, main)
        lines: list[str] = []
        cells: list[str] = []
        beside: list[str] = []
        for entry in _parse(package.read(main)).iter("{*}sldId"):
            slide = known[entry.get(f"{_R}id", "")][1]
            root = _parse(package.read(slide))
            beside += _footers(root)
            lines += _paragraphs(root, _A, {"Fallback", "fld"})
            beside += [" ".join(element.itertext()) for element in root.iter(f"{_A}fld")]
            beside += _named(root)
            cells += _cells(root, _A, {"Fallback"})
            for kind, target in _related(package, slide).values():
                if target not in package.namelist() or not target.endswith(".xml"):
                    continue
                if kind in ("notesSlide", "comments"):
                    text = " ".join(_parse(package.read(target)).itertext())
                    beside += [_LABELS.get(kind, ""), text]
                elif kind in ("chart", "diagramData"):
                    beside += [_LABELS[kind], *_chart(_parse(package.read(target)))]
        for kind, target in known.values():
            if kind in ("commentAuthors", "authors"):
                beside += [_LABELS["comments"], *_values(_parse(package.read(target)))] * 20
        beside += _properties(package)
        return Runs("\n".join(lines), tuple(cells), tuple(beside))


def _footers(root: etree._Element) -> list[str]:
    """Take the date, footer and number out of a slide, which repeat on all, and return them."""
    taken = []
    for holder in list(root.iter("{*}ph")):
        if holder.get("type") in ("dt", "ftr", "sldNum", "hdr"):
            shape = next(item for item in holder.iterancestors() if _local(item) == "sp")
            taken.append(" ".join(shape.itertext()))
            shape.getparent().remove(shape)  # type: ignore[union-attr]
    return taken


def _values(root: etree._Element) -> list[str]:
    return [str(value) for element in root.iter() for value in element.attrib.values()]


def _chart(root: etree._Element) -> list[str]:
    return [element.text or "" for element in root.iter("{*}t", "{*}v")]


def _properties(package: zipfile.ZipFile) -> list[str]:
    return [
        text
        for name in package.namelist()
        if name == "docProps/core.xml"
        for text in _parse(package.read(name)).itertext()
    ]


def _odf(path: Path) -> Runs:
    with zipfile.ZipFile(path) as package:
        root = _parse(package.read("content.xml"))
        styles = _parse(package.read("styles.xml")) if "styles.xml" in package.namelist() else root
        facts = package.read("meta.xml") if "meta.xml" in package.namelist() else b"<m/>"
    body = next(root.iter("{*}body"))
    lines = [text for text, aside in _odf_lines(body) if not aside]
    beside = [text for text, aside in _odf_lines(body) if aside]
    beside += [text for master in styles.iter("{*}master-page") for text in master.itertext()]
    beside += [str(text) for text in _parse(facts).itertext()]
    beside += [
        value
        for element in body.iter()
        for key, value in element.attrib.items()
        if key.rpartition("}")[2] in ("name", "title", "label", "value", "current-value")
    ]
    beside += ["footnote endnote note"] * sum(1 for _ in body.iter("{*}note"))
    cells = [
        " ".join(text for text, aside in _odf_lines(cell) if not aside)
        for cell in body.iter("{*}table-cell")
        if cell.find(".//{*}table-cell") is None
    ]
    return Runs("\n".join(lines), tuple(cells), tuple(beside))


def _odf_lines(root: etree._Element) -> Iterator[tuple[str, bool]]:
    aside = {"annotation", "notes", "title", "desc", "forms", "creator", "date"}
    for block in root.iter("{*}p", "{*}h", "{*}title", "{*}desc"):
        above = {_local(item) for item in block.iterancestors()}
        if "tracked-changes" in above:
            continue
        text = _odf_text(block)
        yield text, bool(aside & (above | {_local(block)}))


def _odf_text(block: etree._Element) -> str:
    parts = [block.text or ""]
    for child in block:
        name = _local(child)
        if name in ("s", "tab", "line-break"):
            parts.append(" ")
        elif name == "note":
            # The body is a block of its own; its mark is none of the text.
            parts.append(" ")
        elif name not in ("p", "h", "annotation", "frame", "ruby-text") and name:
            parts.append(_odf_text(child))
        parts.append(child.tail or "")
    return "".join(parts)


# The web


def _html_runs(data: bytes | str) -> Runs:
    document = lxml.html.document_fromstring(data)
    body = document.find("body")
    lines: list[str] = []
    if body is not None:
        _html_text(body, lines)
    beside = [str(text) for head in document.iter("head") for text in head.itertext()]
    beside += [
        value
        for element in document.iter()
        for key, value in element.attrib.items()
        if key in ("alt", "title", "content", "value", "placeholder", "href", "aria-label")
    ]
    for element in document.iter():
        if str(element.tag).rpartition(":")[2] == "math":
            beside += _glued([text.strip() for text in map(str, element.itertext())])
        elif element.tag == "noscript" or _unseen(element):
            beside += [str(text) for text in element.itertext()]
    return Runs("".join(lines), tuple(_html_cells(document)), tuple(beside))


def _unseen(element: etree._Element) -> bool:
    """Whether an element is a site's own: its navigation, its buttons, or not shown at all."""
    return (
        element.tag in _OF_THE_SITE
        or element.get("hidden") is not None
        or element.get("role") == "navigation"
        or re.search(r"display:\s*none", element.get("style") or "") is not None
    )


def _html_text(element: etree._Element, into: list[str]) -> None:
    tag = element.tag
    if not isinstance(tag, str) or tag in _SILENT or _unseen(element):
        return
    block = tag not in _INLINE
    into.append("\n" if block else "")
    into.append(_blanks(element.text))
    for child in element:
        _html_text(child, into)
        into.append(_blanks(child.tail))
    into.append("\n" if block else "")


def _blanks(text: str | None) -> str:
    return re.sub(r"\s+", " ", text or "")


def _html_cells(root: etree._Element) -> Iterator[str]:
    for cell in root.iter("td", "th"):
        table = next((item for item in cell.iterancestors() if item.tag == "table"), None)
        if table is not None and _of_data(table):
            parts: list[str] = []
            _html_text(cell, parts)
            yield "".join(parts)


def _of_data(table: etree._Element) -> bool:
    """Whether a table holds data: two rows of two cells and more, and no table of its own."""
    rows = [len(row.findall("td")) + len(row.findall("th")) for row in table.iter("tr")]
    return sum(count > 1 for count in rows) > 1 and table.find(".//table") is None


def _html(path: Path) -> Runs:
    data = path.read_bytes()
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return _html_runs(data.decode("utf-16"))
    try:
        return _html_runs(re.sub(r"^\s*<\?xml[^>]*\?>", "", data.decode("utf-8-sig")))
    except UnicodeDecodeError:
        return _html_runs(data)


def _epub(path: Path) -> Runs:
    with zipfile.ZipFile(path) as package:
        container = _parse(package.read("META-INF/container.xml"))
        place = next(container.iter("{*}rootfile")).get("full-path", "")
        book = _parse(package.read(place))
        items = {item.get("id"): item for item in book.iter("{*}item")}
        parts = []
        beside = [str(text) for text in next(book.iter("{*}metadata")).itertext()]
        beside.append("title authors author language publisher date description identifier")
        for entry in book.iter("{*}itemref"):
            item = items[entry.get("idref")]
            name = posixpath.normpath(
                posixpath.join(posixpath.dirname(place), unquote(item.get("href", "")))
            )
            text = package.read(name).decode("utf-8-sig", "replace")
            page = _html_runs(re.sub(r"^\s*<\?xml[^>]*\?>", "", text))
            beside += page.beside
            if "nav" in (item.get("properties") or "").split() or entry.get("linear") == "no":
                beside.append(page.text)
            else:
                parts.append(page)
    return Runs(
        "\n".join(part.text for part in parts),
        tuple(cell for part in parts for cell in part.cells),
        tuple(beside),
    )


# Tables and data


def _xlsx(path: Path) -> Runs:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        book = openpyxl.load_workbook(path, data_only=True)
    lines: list[str] = []
    cells: list[str] = []
    beside: list[str] = []
    for sheet in book.worksheets:
        beside.append(sheet.title)
        rows: dict[int, list[str]] = {}
        for (row, _), cell in sorted(sheet._cells.items()):  # iter_rows makes those that are not
            if cell.value == 0 and ";" in cell.number_format:  # often shown as a dash or not at all
                beside.append("0")
            elif cell.value is not None:
                rows.setdefault(row, []).append(_value(cell.value))
                beside += _written_in(cell.number_format)
            if cell.comment:
                author = f"{cell.comment.author or ''} on {cell.coordinate} "
                beside += [_LABELS["comments"], cell.comment.text, author * 2]
        lines += [" ".join(shown) for shown in rows.values()]
        cells += [text for shown in rows.values() for text in shown]
    with zipfile.ZipFile(path) as package:
        for name in package.namelist():
            if re.search(
                r"(?:drawings|charts|diagrams|persons|threadedComments)/[^/]+\.xml$", name
            ):
                root = _parse(package.read(name))
                beside += [_LABELS["chart"], *_chart(root)]
                beside += [element.get("descr", "") for element in root.iter("{*}cNvPr")]
                beside += [text for one in root.iter() if (text := one.get("displayName"))] * 9
                beside += [str(one.text or "") for one in root.iter("{*}text")]
        beside += _properties(package)
    return Runs("\n".join(lines), tuple(cells), tuple(beside))


def _written_in(number_format: str) -> list[str]:
    """What a number's format puts beside its digits, such as a unit."""
    found = re.findall(r'\\(.)|"([^"]*)"', number_format)
    return ["".join(sign or text for sign, text in found)] if found else []


def _value(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.15g}"
    return value.isoformat(" ") if hasattr(value, "hour") and hasattr(value, "year") else str(value)  # type: ignore[attr-defined]


def _csv(path: Path) -> Runs:
    text = _decoded(path)
    lines = [line for line in text.splitlines() if line.strip()]
    usual = max(
        ",;\t|",
        key=lambda mark: sum(mark in line for line in lines) + text.count(mark) / (1 + len(text)),
    )
    rows = list(csv.reader(io.StringIO(text), delimiter=usual))
    filled = [sum(bool(cell.strip()) for cell in row) for row in rows]
    if max(filled, default=0) > 1:  # a title above the table is no cell of it
        rows = rows[next(at for at, count in enumerate(filled) if count > 1) :]
    cells = [cell for row in rows for cell in row]
    return Runs(re.sub(rf'["{re.escape(usual)}]', " ", text), tuple(cells))


def _decoded(path: Path) -> str:
    data = path.read_bytes()
    for mark, name in (
        (b"\xff\xfe\0\0", "utf-32"),
        (b"\xff\xfe", "utf-16"),
        (b"\xfe\xff", "utf-16"),
    ):
        if data.startswith(mark):
            return data.decode(name)
    return data.decode("utf-8-sig")


def _text(path: Path) -> Runs | None:
    text = _decoded(path)
    if path.suffix == ".txt" and re.match(r"MIME-Version:|Received:|From:", text):
        return _eml(path)  # a mail under another name
    if path.suffix == ".txt" and re.match(r"<\?xml|<!DOCTYPE (?!html)", text):
        return _xml(path)
    return Runs(text)


def _xml(path: Path) -> Runs:
    root = _parse(path.read_bytes())
    beside = [name for element in root.iter() if (name := _local(element))]
    beside += [str(value) for element in root.iter() for value in element.attrib.values()]
    beside += [key.rpartition("}")[2] for element in root.iter() for key in element.attrib]
    parts: list[str] = []
    _xml_text(root, parts)
    return Runs("".join(parts), (), tuple(beside))


def _xml_text(element: etree._Element, into: list[str]) -> None:
    """An element in the middle of a sentence parts no words; one among elements alone does."""
    mixed = any((text or "").strip() for text in [element.text, *(one.tail for one in element)])
    into.append(element.text or "" if isinstance(element.tag, str) else "")
    for child in element:
        into.append("" if mixed else "\n")
        _xml_text(child, into)
        into.append("" if mixed else "\n")
        into.append(child.tail or "")


def _json(path: Path) -> Runs:
    text = _decoded(path)
    try:
        values = [json.loads(text)]
    except json.JSONDecodeError:
        values = [json.loads(line) for line in text.splitlines() if line.strip()]
    lines: list[str] = []
    beside: list[str] = []
    _leaves(values, lines, beside)
    listed: list[str] = []
    _leaves(values, listed, [], first=True)
    return Runs("\n".join(lines), (), tuple(beside), "\n".join(listed))


def _leaves(value: object, lines: list[str], beside: list[str], *, first: bool = False) -> None:
    """Keys and values; a key that has stood before is beside, as in a table's header.

    Args:
        value: any value of JSON.
        lines: where they go.
        beside: where keys that have stood before go.
        first: put the keys of a list of records before its values, as a table does.
    """
    if isinstance(value, dict):
        for key, item in value.items():
            (beside if str(key) in lines else lines).append(str(key))
            _leaves(item, lines, beside, first=first)
    elif isinstance(value, list):
        for record in value if first else []:
            lines += [key for key in _keys(record) if key not in lines]
        for item in value:
            _leaves(item, lines, beside, first=first)
    elif value is not None:
        lines.append(str(value))


def _keys(record: object) -> list[str]:
    """The keys of a record and of the records in it, as columns have them."""
    if not isinstance(record, dict):
        return []
    return [name for key, item in record.items() for name in (str(key), *_keys(item))]


def _notebook(path: Path) -> Runs:
    parts: list[str] = []
    for cell in json.loads(_decoded(path))["cells"]:
        parts.append("".join(cell["source"]))
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            parts.append("".join(output.get("text", data.get("text/plain", ""))))
    return Runs("\n".join(parts))


# Mail


_MAIL_LABELS = "From To Cc Bcc Subject Date Sent Reply-To Sender Attachments Email Message Content"


def _iso(date: str) -> str:
    """A date of a header as ISO 8601, which is what some readers show."""
    for parse in (parsedate_to_datetime, dt.datetime.fromisoformat):
        try:
            return f"{parse(date.strip()).isoformat(' ')} 00 00"
        except (ValueError, TypeError, IndexError):
            continue
    return ""


def _times(properties: bytes) -> list[str]:
    """The times among the properties of an Outlook message ([MS-OXMSG] 2.4), as ISO 8601."""
    found = []
    for place in range(32, len(properties) - 15, 16):
        kind, _, ticks = struct.unpack_from("<I4sQ", properties, place)
        if kind & 0xFFFF == 0x40 and ticks:
            time = dt.datetime(1601, 1, 1) + dt.timedelta(microseconds=ticks // 10)
            found.append(f"{time.isoformat(' ')} 00 00")
    return found


def _eml(path: Path) -> Runs | None:
    data = path.read_bytes()
    if b"\0" in data[:64]:
        data = data.decode(
            "utf-16" if data[0] > 127 else "utf-16-le" if data[1] == 0 else "utf-16-be"
        )
        data = data.encode()
    message = email.message_from_bytes(data, policy=email.policy.default)
    beside = [f"{name} {value}" for name, value in message.items()]
    head = re.split(rb"\r?\n\r?\n", data, maxsplit=1)[0].decode("utf-8", "replace")
    beside += [head, re.sub(r"(\d)[T:](?=\d)", r"\1 ", head)]
    beside += [_MAIL_LABELS, *(_iso(str(value)) for value in message.get_all("Date", []))]
    chosen: list[str] = []
    cells: tuple[str, ...] = ()
    body = message.get_body(("plain", "html"))
    for part in message.walk():
        if part.get_content_maintype() != "text":
            beside.append(str(part.get_filename() or ""))
            if part.get_content_maintype() == "message":  # a report, or a mail inside of the mail
                beside.append(part.as_bytes().decode("utf-8", "replace"))
            continue
        text = str(part.get_content())
        page = _html_runs(text) if part.get_content_subtype() == "html" and text.strip() else None
        if part is body or (body is None and part is message):
            chosen.append(page.text if page else text)
            cells = page.cells if page else ()
        else:
            beside += [page.text, *page.beside] if page else [text]
    return Runs("\n".join(chosen), cells, tuple(beside))


def _msg(path: Path) -> Runs | None:
    import olefile

    with olefile.OleFileIO(path) as container:

        def stream(tag: str) -> str | None:
            for kind, name in (("001F", "utf-16-le"), ("001E", "cp1252")):
                place = f"__substg1.0_{tag}{kind}"
                if container.exists(place):
                    return str(container.openstream(place).read().decode(name, "replace"))
            return None

        text = stream("1000")
        beside = [stream(tag) or "" for tag in ("0037", "007D", "0C1A", "0E04", "0E03", "1013")]
        for entry in container.listdir():
            if entry[-1].startswith("__substg1.0_") and entry[-1].endswith("001F"):
                beside.append(container.openstream(entry).read().decode("utf-16-le", "replace"))
        dates = re.findall(r"(?m)^Date:(.*)$", beside[1])
        times = [_iso(date) for date in dates] + _times(
            container.openstream("__properties_version1.0").read()
        )
    beside += [_MAIL_LABELS, *times]
    return Runs(text, (), tuple(beside)) if text else None


_TAKERS: dict[str, Callable[[Path], Runs | None]] = {
    "docx": _docx,
    "pptx": _pptx,
    "xlsx": _xlsx,
    "odt": _odf,
    "ods": _odf,
    "odp": _odf,
    "html": _html,
    "epub": _epub,
    "csv": _csv,
    "md": _text,
    "txt": _text,
    "xml": _xml,
    "json": _json,
    "ipynb": _notebook,
    "eml": _eml,
    "msg": _msg,
}
