"""Writers of the binary formats of Office, as small as their readers' tests need."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Sequence

_SECTOR = 512
_END, _FREE, _FAT, _NONE = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD, 0xFFFFFFFF


def compound(streams: dict[str, bytes]) -> bytes:
    """An OLE compound file ([MS-CFB]) of streams in its root; all in sectors of 512 bytes."""
    sectors: list[bytes] = []
    fat: list[int] = []

    def put(data: bytes) -> int:
        data = data.ljust(-(-max(len(data), 1) // _SECTOR) * _SECTOR, b"\0")
        first = len(sectors)
        for at in range(0, len(data), _SECTOR):
            sectors.append(data[at : at + _SECTOR])
            fat.append(len(sectors))
        fat[-1] = _END
        return first

    entries = []
    names = sorted(streams, key=lambda name: (len(name), name.upper()))
    for at, name in enumerate(names):
        data = streams[name].ljust(4096, b"\0")  # smaller ones would need the mini FAT
        later = at + 2 if at + 1 < len(names) else _NONE
        entries.append(_entry(name, 2, put(data), len(data), right=later))
    root = _entry("Root Entry", 5, _END, 0, child=1 if names else _NONE)
    directory = put(b"".join([root, *entries]))
    count = -(-len(sectors) // 127)  # a sector of the table holds 128 places, itself among them
    assert count <= 109  # more would need a table of tables
    places = list(range(len(sectors), len(sectors) + count))
    fat += [_FAT] * count
    table = b"".join(struct.pack("<I", item) for item in fat).ljust(count * _SECTOR, b"\xff")
    header = struct.pack(
        "<8s16sHHHHH6sIIIIIIIII",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"", 0x3E, 3, 0xFFFE, 9, 6, b"", 0, count, directory,
        0, 4096, _END, 0, _END, 0,
    )  # fmt: skip
    header += b"".join(struct.pack("<I", place) for place in places).ljust(436, b"\xff")
    return header + b"".join(sectors) + table


def _entry(
    name: str, kind: int, first: int, size: int, *, right: int = _NONE, child: int = _NONE
) -> bytes:
    coded = (name + "\0").encode("utf-16-le")
    return struct.pack(
        "<64sHBBIII16sIQQIQ", coded, len(coded), kind, 1, _NONE, right, child, b"", 0, 0, 0,
        first, size,
    )  # fmt: skip


def summary(*, title: str = "", author: str = "", saved: int = 0) -> bytes:
    """A stream of properties ([MS-OLEPS]); ``saved`` in 100 ns since 1601."""
    values = {1: struct.pack("<Ih2x", 2, 1252)}
    for number, text in ((2, title), (4, author)):
        if text:
            coded = text.encode("cp1252") + b"\0"
            padded = coded.ljust(-(-len(coded) // 4) * 4, b"\0")
            values[number] = struct.pack("<II", 30, len(coded)) + padded
    if saved:
        values[13] = struct.pack("<IQ", 64, saved)
    places, body, at = b"", b"", 8 + 8 * len(values)
    for number, value in values.items():
        places += struct.pack("<II", number, at + len(body))
        body += value
    section = struct.pack("<II", at + len(body), len(values)) + places + body
    format_id = bytes.fromhex("e0859ff2f94f6810ab9108002b27b3d9")
    return struct.pack("<HHI16sI16sI", 0xFFFE, 0, 0, b"", 1, format_id, 48) + section


# Word ---------------------------------------------------------------------------------------------

Run = tuple[str, bytes]
"""Text of a paragraph with its mark, and its properties: a style's number and Prls."""

CELL = struct.pack("<HB", 0x2416, 1)
ROW_END = CELL + struct.pack("<HB", 0x2417, 1)


def row_end(edges: Sequence[int]) -> bytes:
    """Properties of the end of a row whose cells have these edges, in twips."""
    cells = len(edges) - 1
    body = bytes([cells]) + struct.pack(f"<{cells + 1}h", *edges) + bytes(20 * cells)
    return ROW_END + struct.pack("<HH", 0xD608, len(body) + 1) + body


def style(number: int, properties: bytes = b"") -> bytes:
    return struct.pack("<H", number) + properties


def word(
    paragraphs: Sequence[Run],
    *,
    hidden: Sequence[tuple[int, int, int]] = (),
    wide: bool = True,
    pairs: dict[int, bytes] | None = None,
    counts: dict[int, int] | None = None,
    data: bytes = b"",
    flags: int = 0x0200,
    version: int = 0x00C1,
) -> dict[str, bytes]:
    """The streams of a Word document.

    ``hidden`` are characters from, to and the property that is set on them; ``pairs`` further
    structures of the table stream by their number in the FIB; ``counts`` the lengths of the parts
    beside the text by their number in it.
    """
    text = "".join(run for run, _ in paragraphs)
    size, coding = (2, "utf-16-le") if wide else (1, "cp1252")
    begin = 2048
    body = text.encode(coding)
    pages: list[bytes] = []
    at = begin
    ends: list[tuple[int, bytes]] = []
    for run, properties in paragraphs:
        at += size * len(run)
        ends.append((at, properties))
    bte_places, bte_pages = [begin], []
    first_page = -(-(begin + len(body)) // 512)
    for start in range(0, len(ends), 6):
        part = ends[start : start + 6]
        page = bytearray(512)
        places = [bte_places[-1], *(end for end, _ in part)]
        struct.pack_into(f"<{len(places)}I", page, 0, *places)
        low = 510
        for number, (_, properties) in enumerate(part):
            given = properties or style(0)
            given = given if len(given) % 2 else given + b"\0"
            low = (low - len(given) - 1) & ~1
            page[low] = (len(given) + 1) // 2
            page[low + 1 : low + 1 + len(given)] = given
            page[4 * len(places) + 13 * number] = low // 2
        page[511] = len(part)
        bte_places.append(part[-1][0])
        bte_pages.append(first_page + len(pages))
        pages.append(bytes(page))
    page = bytearray(512)
    edges = sorted({0, len(text), *(at for item in hidden for at in item[:2])})
    struct.pack_into(f"<{len(edges)}I", page, 0, *(begin + size * at for at in edges))
    low = 508
    for number, at in enumerate(edges[:-1]):
        for first, end, sprm in hidden:
            if first <= at < end:
                wide_operand = sprm == 0x6A03
                given = struct.pack("<HI", sprm, 0) if wide_operand else struct.pack("<HB", sprm, 1)
                low = (low - len(given) - 1) & ~1
                page[low : low + 1 + len(given)] = bytes([len(given)]) + given
                page[4 * len(edges) + number] = low // 2
    page[511] = len(edges) - 1
    chpx_page = first_page + len(pages)
    pages.append(bytes(page))
    where = begin if wide else 2 * begin | 1 << 30
    pieces = struct.pack("<IIHIH", 0, len(text), 0, where, 0)
    structures = {
        12: struct.pack("<III", begin, at + begin, chpx_page),
        13: struct.pack(f"<{len(bte_places)}I", *bte_places)
        + struct.pack(f"<{len(bte_pages)}I", *bte_pages),
        33: b"\x02" + struct.pack("<I", len(pieces)) + pieces,
        **(pairs or {}),
    }
    fib = bytearray(begin)
    struct.pack_into("<HH", fib, 0, 0xA5EC, version)
    struct.pack_into("<H", fib, 10, flags)
    beside = counts or {}
    struct.pack_into("<i", fib, 0x4C, len(text) - sum(beside.values()))
    for number, count in beside.items():
        struct.pack_into("<i", fib, 0x4C + 4 * number, count)
    table = bytearray(8)
    for number, structure in structures.items():
        struct.pack_into("<II", fib, 0x9A + 8 * number, len(table), len(structure))
        table += structure
    if version < 0xC1:
        struct.pack_into("<II", fib, 0x18, begin, begin + len(body))
    main = bytes(fib) + body
    main = main.ljust(first_page * 512, b"\0") + b"".join(pages)
    return {"WordDocument": main, "1Table": bytes(table), "Data": data}


# PowerPoint ---------------------------------------------------------------------------------------


def record(kind: int, data: bytes = b"", instance: int = 0, *, container: bool = False) -> bytes:
    head = instance << 4 | (15 if container else 0)
    return struct.pack("<HHI", head, kind, len(data)) + data


def holder(kind: int, *parts: bytes, instance: int = 0) -> bytes:
    return record(kind, b"".join(parts), instance, container=True)


def text_shape(
    text: str, *, kind: int = 4, box: tuple[int, int, int, int] | None = None, child: bool = False,
    options: bytes = b"", wide: bool = True, style_atom: bytes = b"",
) -> bytes:  # fmt: skip
    """A shape with a text of a kind (0 title, 1 body, 4 other), at left, top, right, bottom."""
    atom = (
        record(0x0FA0, text.encode("utf-16-le")) if wide else record(0x0FA8, text.encode("latin-1"))
    )
    parts = [options]
    if box is not None:
        left, top, right, bottom = box
        parts.append(
            record(0xF00F, struct.pack("<4i", *box))
            if child
            else record(0xF010, struct.pack("<4h", top, left, right, bottom))
        )
    style_record = record(0x0FA1, style_atom) if style_atom else b""
    parts.append(holder(0xF00D, record(0x0F9F, struct.pack("<I", kind)), atom, style_record))
    return holder(0xF004, *parts)


def group(*shapes: bytes, first: bytes = b"") -> bytes:
    return holder(0xF003, holder(0xF004, first), *shapes)


def presentation(
    slides: Sequence[Sequence[bytes]],
    *,
    notes: dict[int, Sequence[bytes]] | None = None,
    outlines: dict[int, bytes] | None = None,
    extras: dict[int, bytes] | None = None,
    art: bytes = b"",
    token: int = 0xE391C05F,
) -> dict[str, bytes]:
    """The streams of a presentation: for each slide its shapes; notes, records of its outline and
    further records by the number of the slide, from 0."""
    stream = bytearray()
    places: dict[int, int] = {}

    def put(number: int, part: bytes) -> None:
        places[number] = len(stream)
        stream.extend(part)

    listed = b""
    listed_notes = b""
    for at, shapes in enumerate(slides):
        notes_id = 0
        if notes and at in notes:
            notes_id = 900 + at
            inner = holder(0x040C, holder(0xF002, group(*notes[at])))
            put(500 + at, holder(0x03F0, inner))
            listed_notes += record(0x03F3, struct.pack("<IIIII", 500 + at, 0, 0, notes_id, 0))
        atom = record(0x03EF, struct.pack("<I8xIIHH", 0, 0, notes_id, 0, 0))
        drawing = holder(0x040C, holder(0xF002, group(*shapes)))
        put(10 + at, holder(0x03EE, atom, drawing, (extras or {}).get(at, b"")))
        listed += record(0x03F3, struct.pack("<IIIII", 10 + at, 0, 0, 256 + at, 0))
        listed += (outlines or {}).get(at, b"")
    put(
        1,
        holder(
            0x03E8,
            holder(0x040B, art),
            holder(0x0FF0, listed),
            holder(0x0FF0, listed_notes, instance=2),
        ),
    )
    directory = len(stream)
    entries = b"".join(struct.pack("<II", 1 << 20 | number, at) for number, at in places.items())
    stream += record(0x1772, entries)
    edit = len(stream)
    stream += record(0x0FF5, struct.pack("<IHBBIIIIHH", 0, 0, 0, 3, 0, directory, 1, 0, 1, 0))
    user = record(0x0FF6, struct.pack("<III", 20, token, edit) + bytes(12))
    return {"PowerPoint Document": bytes(stream), "Current User": user}


# Excel --------------------------------------------------------------------------------------------


def biff(kind: int, data: bytes = b"") -> bytes:
    return struct.pack("<HH", kind, len(data)) + data


def short_text(text: str, width: int = 2) -> bytes:
    """A text of BIFF8 with its length before it."""
    return len(text).to_bytes(width, "little") + b"\1" + text.encode("utf-16-le")


def xls(
    sheets: dict[str, list[bytes]],
    *,
    formats: Sequence[str] = (),
    strings: Sequence[bytes] = (),
    hidden: Sequence[str] = (),
    extra: bytes = b"",
    from_1904: bool = False,
    version: int = 0x0600,
) -> dict[str, bytes]:
    """The stream of a workbook. Style 0 is general, 1 a date, 2 a percentage, 3 and on the formats
    that are given; ``strings`` are the SST record's pieces."""
    new = version == 0x0600
    begin = biff(0x809, struct.pack("<HHHHII", version, 5, 0, 0, 0, 0))
    head = begin + extra + biff(0x22, struct.pack("<H", from_1904))
    for at, code in enumerate(formats):
        text = short_text(code) if new else bytes([len(code)]) + code.encode("cp1252")
        head += biff(0x41E, struct.pack("<H", 164 + at) + text)
    for number in (0, 14, 10, *(164 + at for at in range(len(formats)))):
        head += biff(0xE0, struct.pack("<HH16x", 0, number))
    for at, piece in enumerate(strings):
        head += biff(0x3C if at else 0xFC, piece)
    bodies = [
        biff(0x809, struct.pack("<HHHHII", version, 0x10, 0, 0, 0, 0))
        + b"".join(cells)
        + biff(0x0A)
        for cells in sheets.values()
    ]

    def listed(start: int) -> bytes:
        found = b""
        for name, body in zip(sheets, bodies, strict=True):
            text = short_text(name, 1) if new else bytes([len(name)]) + name.encode("cp1252")
            found += biff(0x85, struct.pack("<IBB", start, name in hidden, 0) + text)
            start += len(body)
        return found + biff(0x0A)

    size = len(head) + len(listed(0))
    return {"Workbook" if new else "Book": head + listed(size) + b"".join(bodies)}


def number(row: int, column: int, value: float, style: int = 0) -> bytes:
    return biff(0x203, struct.pack("<HHHd", row, column, style, value))


def label(row: int, column: int, text: str) -> bytes:
    return biff(0x204, struct.pack("<HHH", row, column, 0) + short_text(text))


# Binary workbooks ---------------------------------------------------------------------------------


def brt(kind: int, data: bytes = b"") -> bytes:
    """A record of XLSB: type and size in 7 bits a byte."""
    head = b""
    for value in (kind, len(data)):
        while value >= 0x80:
            head += bytes([value & 0x7F | 0x80])
            value >>= 7
        head += bytes([value])
    return head + data


def wide_text(text: str) -> bytes:
    return struct.pack("<I", len(text)) + text.encode("utf-16-le")


def xlsb(
    sheets: dict[str, bytes], *, strings: Sequence[str] = (), formats: Sequence[str] = (),
    from_1904: bool = False, hidden: Sequence[str] = (),
) -> bytes:  # fmt: skip
    """A binary workbook; sheets are their records. Styles as of ``xls``."""
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006/relationships"
    bundle = b"".join(
        brt(156, struct.pack("<II", name in hidden, at) + wide_text(f"r{at}") + wide_text(name))
        for at, name in enumerate(sheets, 1)
    )
    related = "".join(
        f'<Relationship Id="r{at}" Type="{relation}/worksheet" Target="worksheets/sheet{at}.bin"/>'
        for at in range(1, len(sheets) + 1)
    )
    related += (
        f'<Relationship Id="s" Type="{relation}/sharedStrings" Target="sharedStrings.bin"/>'
        f'<Relationship Id="t" Type="{relation}/styles" Target="styles.bin"/>'
    )
    styles = b"".join(
        brt(44, struct.pack("<H", 164 + at) + wide_text(code)) for at, code in enumerate(formats)
    )
    styles += brt(617, struct.pack("<I", 3 + len(formats))) + b"".join(
        brt(47, struct.pack("<HH12x", 0, number))
        for number in (0, 14, 10, *(164 + at for at in range(len(formats))))
    ) + brt(618)  # fmt: skip
    parts: dict[str, bytes] = {
        "[Content_Types].xml": b'<Types xmlns="http://schemas.openxmlformats.org/package/2006/'
        b'content-types"><Default Extension="bin" ContentType="application/vnd.ms-excel.sheet.'
        b'binary.macroEnabled.main"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}"><Relationship Id="r1" '
        f'Type="{relation}/officeDocument" Target="xl/workbook.bin"/></Relationships>'.encode(),
        "xl/_rels/workbook.bin.rels": f'<Relationships xmlns="{package}">{related}'
        "</Relationships>".encode(),
        "xl/workbook.bin": brt(131)
        + brt(153, struct.pack("<III", from_1904, 0, 0))
        + brt(143)
        + bundle
        + brt(144)
        + brt(132),
        "xl/sharedStrings.bin": brt(159, struct.pack("<II", len(strings), len(strings)))
        + b"".join(brt(19, b"\0" + wide_text(text)) for text in strings)
        + brt(160),
        "xl/styles.bin": styles,
    }
    size = brt(148, struct.pack("<4I", 0, 10, 0, 5))
    for at, body in enumerate(sheets.values(), 1):
        parts[f"xl/worksheets/sheet{at}.bin"] = (
            brt(129) + size + brt(145) + body + brt(146) + brt(130)
        )
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return packed.getvalue()


def row(at: int) -> bytes:
    return brt(0, struct.pack("<II", at, 0) + bytes(9))


def cell(kind: int, column: int, data: bytes, style: int = 0) -> bytes:
    return brt(kind, struct.pack("<II", column, style) + data)
