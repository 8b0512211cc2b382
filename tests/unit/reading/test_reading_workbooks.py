"""Old and binary workbooks: sheets, values, dates, and files that are broken."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageFont
from tests.unit.reading.office_binary import (
    biff,
    brt,
    cell,
    compound,
    holder,
    label,
    number,
    record,
    row,
    short_text,
    summary,
    wide_text,
    xls,
    xlsb,
)

from emily.errors import EmptyDocument, PasswordRequired, ReadingError
from emily.reading.kind import detect
from emily.reading.legacy import workbooks
from emily.reading.legacy.workbooks import read_workbook
from emily.reading.legacy.xls import Xls, compact_number
from emily.reading.pages import Page, Table
from emily.reading.source import Draft, Source

Make = Callable[..., Source]
Pages = Callable[[Draft], list[Page]]

ORDERS = [
    [label(0, 0, "Item"), label(0, 1, "Due"), label(0, 2, "Share")],
    [label(1, 0, "Oak planks"), number(1, 1, 45_000, 1), number(1, 2, 0.255, 2)],
    [label(2, 0, "Brass screws"), number(2, 1, 45_000.5, 3), number(2, 2, 1, 2)],
]


def bare(text: str) -> str:
    """Without the bars around cells, and the line below a header."""
    lines = [line.strip("| ") for line in text.split("\n") if not line.startswith("| ---")]
    return "\n".join(lines)


def old(sheets: dict[str, list[bytes]], **options: object) -> bytes:
    return compound(xls(sheets, **options))  # type: ignore[arg-type]


def test_a_page_per_sheet_with_dates_and_percentages(source: Make, pages: Pages) -> None:
    cells = [record for line in ORDERS for record in line]
    data = old({"Orders": cells, "Empty": []}, formats=["yyyy-mm-dd hh:mm"])
    given_source = source(data, "orders.xls")
    assert detect(given_source.path).name == "xls"
    draft = read_workbook(given_source)
    first, second = pages(draft)
    assert draft.kind == "xls"
    assert first.text.split("\n") == [
        "# Orders",
        "",
        "| Item | Due | Share |",
        "| --- | --- | --- |",
        "| Oak planks | 2023-03-15 | 25.50% |",
        "| Brass screws | 2023-03-15 12:00:00 | 100.00% |",
    ]
    assert first.tables == (Table((2, 3), ((4, 4), (5, 5))),)
    assert (second.number, second.text, second.route) == (2, "", "blank")


def test_title_author_and_date_are_facts(source: Make) -> None:
    streams = xls({"S": [label(0, 0, "x")]})
    streams["\x05SummaryInformation"] = summary(
        title="Prices", author="Ada Test", saved=133_000_000_000_000_000
    )
    draft = read_workbook(source(compound(streams), "a.xls"))
    assert draft.title == "Prices"
    assert draft.facts.author == "Ada Test"
    assert str(draft.facts.date) == "2022-06-18"
    assert draft.facts.date_source == "metadata"


@pytest.mark.parametrize("kind", [0x1003, 0x101E, 0x100C])
def test_properties_that_declare_a_vector_of_billions(source: Make, kind: int) -> None:
    streams = xls({"S": [label(0, 0, "x")]})
    properties = bytearray(summary(title="Prices", author="Ada Test"))
    at = properties.index(struct.pack("<I", 30))
    struct.pack_into("<II", properties, at, kind, 0x7FFFFFFF)
    streams["\x05SummaryInformation"] = bytes(properties)
    draft = read_workbook(source(compound(streams), "a.xls"))
    assert (draft.title, draft.facts.author) == (None, "Ada Test")


def test_only_real_cells_are_read(source: Make, pages: Pages) -> None:
    data = old({"Far": [label(0, 0, "first"), label(65_535, 255, "last")]})
    (page,) = pages(read_workbook(source(data, "far.xls")))
    assert bare(page.text) == "# Far\n\nfirst\n\nlast"
    far = row(0) + cell(6, 0, wide_text("first")) + row(1_048_575) + cell(6, 16_383, wide_text("z"))
    (page,) = pages(read_workbook(source(xlsb({"Far": far}), "far.xlsb")))
    assert bare(page.text) == "# Far\n\nfirst\n\nz"


def test_a_cap_on_rows_is_stated(
    source: Make, pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workbooks, "MOST_ROWS", 3)
    data = old({"Long": [number(at, 0, at) for at in range(5)]})
    (page,) = pages(read_workbook(source(data, "long.xls")))
    assert bare(page.text) == "# Long\n\n0\n1\n2"
    assert page.warning == "Sheet 1 (Long): it has more than 3 rows; only the first 3 are read."


def test_what_cells_hold(source: Make, pages: Pages) -> None:
    def result(column: int, value: bytes) -> bytes:
        return biff(6, struct.pack("<HHH", 0, column, 0) + value + bytes(8))

    cells = [
        result(0, struct.pack("<d", 2.5)),
        result(1, b"\0\0\0\0\0\0\xff\xff"),
        biff(0x207, short_text("two\nlines")),
        result(2, b"\1\0\1\0\0\0\xff\xff"),
        result(3, b"\2\0\7\0\0\0\xff\xff"),
        biff(0x205, struct.pack("<HHHBB", 0, 4, 0, 0x2A, 1)),
        biff(0x205, struct.pack("<HHHBB", 0, 5, 0, 0, 0)),
        biff(0x27E, struct.pack("<HHHI", 0, 6, 0, 1234 << 2 | 3)),
        biff(0xBD, struct.pack("<HHHIHIH", 0, 7, 0, 7 << 2 | 2, 0, 8 << 2 | 2, 8)),
    ]
    (page,) = pages(read_workbook(source(old({"S": cells}), "s.xls")))
    expected = ["2.5", "two lines", "TRUE", "#DIV/0!", "#N/A", "FALSE", "12.34", "7", "8"]
    assert page.text.split("\n")[2] == f"| {' | '.join(expected)} |"


def test_shared_texts_that_go_on_in_another_record(source: Make, pages: Pages) -> None:
    # The first text is cut in its middle and goes on in single bytes, as [MS-XLS] 2.5.293 allows;
    # the second has runs of formatting behind it.
    first = struct.pack("<II", 2, 2) + struct.pack("<HB", 6, 1) + "žlu".encode("utf-16-le")
    second = b"\0" + b"abc" + struct.pack("<HBH", 2, 8, 1) + b"ok" + bytes(4)
    cells = [biff(0xFD, struct.pack("<HHHI", at, 0, 0, at)) for at in range(3)]
    (page,) = pages(read_workbook(source(old({"S": cells}, strings=[first, second]), "s.xls")))
    assert bare(page.text) == "# S\n\nžluabc\nok"


def test_remarks_stand_at_the_end(source: Make, pages: Pages) -> None:
    box = (
        biff(0x1B6, struct.pack("<10xHH4x", 9, 16))
        + biff(0x3C, b"\0Ask Berta")
        + biff(0x3C, bytes(16))
    )
    (page,) = pages(read_workbook(source(old({"S": [label(0, 0, "x"), box]}), "s.xls")))
    assert bare(page.text) == "# S\n\nx\n\nAsk Berta"


def test_excel_5_with_its_code_page(source: Make, pages: Pages) -> None:
    text = "Цена".encode("cp1251")
    cells = [biff(0x204, struct.pack("<HHHH", 0, 0, 0, len(text)) + text)]
    data = old({"S": cells}, version=0x0500, extra=biff(0x42, struct.pack("<H", 1251)))
    (page,) = pages(read_workbook(source(data, "s.xls")))
    assert bare(page.text) == "# S\n\nЦена"


def test_days_counted_from_1904(source: Make, pages: Pages) -> None:
    (page,) = pages(
        read_workbook(source(old({"S": [number(0, 0, 1, 1)]}, from_1904=True), "s.xls"))
    )
    assert bare(page.text).endswith("1904-01-02")
    body = row(0) + cell(5, 0, struct.pack("<d", 1), 1)
    (page,) = pages(read_workbook(source(xlsb({"S": body}, from_1904=True), "s.xlsb")))
    assert bare(page.text).endswith("1904-01-02")


def test_a_hidden_sheet_is_read_and_named(source: Make, pages: Pages) -> None:
    draft = read_workbook(source(old({"Side": [label(0, 0, "x")]}, hidden=["Side"]), "s.xls"))
    assert draft.warnings == ["Sheet 1 (Side) is hidden; it is read."]
    assert len(pages(draft)) == 1
    draft = read_workbook(source(xlsb({"Side": row(0)}, hidden=["Side"]), "s.xlsb"))
    assert draft.warnings == ["Sheet 1 (Side) is hidden; it is read."]


def test_a_binary_workbook(source: Make, pages: Pages) -> None:
    body = (
        row(0)
        + b"".join(cell(7, at, struct.pack("<I", at)) for at in range(3))
        + row(1)
        + cell(6, 0, wide_text("Oak planks"))
        + cell(5, 1, struct.pack("<d", 45_000), 1)
        + cell(2, 2, struct.pack("<I", 5 << 2 | 2), 3)
        + row(2)
        + cell(8, 0, wide_text("by formula") + bytes(8))
        + cell(3, 1, b"\x07")
        + cell(4, 2, b"\1")
        + cell(62, 3, b"\0" + wide_text("rich"))
    )
    data = xlsb({"Orders": body}, strings=["Item", "Due", "Price"], formats=['0.00\\ "€"'])
    given_source = source(data, "orders.xlsb")
    assert detect(given_source.path).name == "xlsb"
    draft = read_workbook(given_source)
    (page,) = pages(draft)
    assert draft.kind == "xlsb"
    assert page.text.split("\n") == [
        "# Orders",
        "",
        "| Item | Due | Price |  |",
        "| --- | --- | --- | --- |",
        "| Oak planks | 2023-03-15 | 5.00 € |  |",
        "| by formula | #DIV/0! | TRUE | rich |",
    ]


def test_a_broken_sheet_does_not_take_the_others(source: Make, pages: Pages) -> None:
    good = row(0) + cell(6, 0, wide_text("kept"))
    data = xlsb({"Bad": b"\xff\xff\xff\xff\x7f", "Good": good})
    bad, kept = pages(read_workbook(source(data, "s.xlsb")))
    assert bad.route == "unread"
    assert "Sheet 1 (Bad) is not read: " in (bad.warning or "")
    assert bare(kept.text) == "# Good\n\nkept"


def test_an_encrypted_workbook_asks_for_its_password(source: Make, tmp_path: Path) -> None:
    closed = old(
        {"S": [label(0, 0, "x")]}, extra=biff(0x2F, struct.pack("<HHH", 1, 1, 1) + bytes(48))
    )
    for passwords in ((), ("wrong",), ("wrong", "again")):
        made = source(closed, "s.xls")
        made.scratch, made.passwords = tmp_path, passwords
        with pytest.raises(PasswordRequired, match="opens only with a password"):
            read_workbook(made)


def test_no_sheets(source: Make) -> None:
    with pytest.raises(EmptyDocument, match="has no sheets"):
        read_workbook(source(old({}), "s.xls"))
    with pytest.raises(EmptyDocument, match="has no sheets"):
        read_workbook(source(xlsb({}), "s.xlsb"))


@pytest.mark.parametrize("at", [0, 8, 100, 511, 600, 1500])
def test_truncated_old_workbooks_fail_with_a_reason(source: Make, pages: Pages, at: int) -> None:
    data = old({"S": [label(0, 0, "x")]})
    with pytest.raises(ReadingError, match=r"container is broken|stream .* is|begin as"):
        pages(read_workbook(source(data[:at], "s.xls")))


def test_a_binary_workbook_whose_main_part_is_cut_off(source: Make) -> None:
    whole = xlsb({"S": row(0)})
    path = source(whole, "s.xlsb").path
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["xl/workbook.bin"] = parts["xl/workbook.bin"][:-8]
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    with pytest.raises(ReadingError, match="is cut off"):
        read_workbook(Source(path, None, 1e12, 60))


def test_numbers_in_four_bytes() -> None:
    for value, given_bits in ((12.34, 1234 << 2 | 3), (-5, (-5 << 2 | 2) & 0xFFFFFFFF)):
        assert compact_number(struct.pack("<I", given_bits), 0) == value
    high = struct.unpack("<II", struct.pack("<d", 0.75))[1]
    assert compact_number(struct.pack("<I", high), 0) == 0.75
    assert compact_number(struct.pack("<I", high | 1), 0) == 0.0075


@given(st.binary(max_size=200), st.integers(0, 900))
def test_damaged_streams_never_escape(noise: bytes, at: int) -> None:
    cells = [record for line in ORDERS for record in line]
    stream = xls({"S": cells}, strings=[struct.pack("<II", 9, 9) + b"\xff\xff\x0f"])["Workbook"]
    stream = stream[:at] + noise + stream[at + len(noise) :]
    try:
        book = Xls(stream)
    except ReadingError:
        return
    for sheet in book.sheets:
        assert all(row.cells for row in book.rows(sheet))


def test_records_that_declare_more_than_there_is(source: Make, pages: Pages) -> None:
    huge = struct.pack("<II", 0xFFFFFFFF, 0xFFFFFFFF) + struct.pack("<HB", 0xFFFF, 1) + b"x\0"
    many = brt(156, struct.pack("<III", 0, 1, 0xFFFFFFFF))
    (page,) = pages(read_workbook(source(old({"S": [label(0, 0, "x")]}, strings=[huge]), "s.xls")))
    assert bare(page.text) == "# S\n\nx"
    data = xlsb({"S": row(0) + cell(6, 0, b"\xff\xff\xff\xff") + many})
    (page,) = pages(read_workbook(source(data, "s.xlsb")))
    assert page.route == "blank"


# Pictures and remarks -----------------------------------------------------------------------------


def drawn(word: str, packed: int = 6) -> bytes:
    """A picture that shows a word; with ``packed`` 0 its file is larger than a record."""
    image = Image.new("RGB", (160, 90), "white")
    ImageDraw.Draw(image).text((10, 20), word, "black", ImageFont.load_default(40))
    data = io.BytesIO()
    image.save(data, "PNG", compress_level=packed)
    return data.getvalue()


def shared(*pictures: bytes | None) -> bytes:
    """The records of the pictures that all sheets share; ``None`` for one that is not there."""
    entries = b"".join(
        record(0xF007, bytes(36) + (record(0xF01E, bytes(17) + picture) if picture else b""), 6)
        for picture in pictures
    )
    given = holder(0xF000, record(0xF006, bytes(24)), holder(0xF001, entries))
    pieces = [given[at : at + 8000] for at in range(0, len(given), 8000)]
    return b"".join(biff(0x3C if at else 0xEB, piece) for at, piece in enumerate(pieces))


def shape(number: int, row: int, sort: int = 0xF004) -> bytes:
    """A shape that shows a picture and is anchored to a row, from 0."""
    anchor = struct.pack("<9H", 0, 1, 0, row, 0, 3, 0, row + 2, 0)
    return holder(
        sort,
        record(0xF00A, struct.pack("<II", 1024 + number, 0xA00), 75),
        record(0xF00B, struct.pack("<HI", 0x4104, number), 1),
        record(0xF010, anchor),
    )


CELLS = [label(0, 0, "Item"), label(0, 1, "Sum"), label(1, 0, "Oak"), number(1, 1, 3)]
BELOW = [label(6, 0, "Checked"), label(6, 1, "yes")]
UNREAD = "[picture, not read]"


@pytest.mark.parametrize("parted", [True, False])
def test_pictures_of_old_workbooks_stand_in_their_place(
    source: Make, pages: Pages, parted: bool
) -> None:
    first, second = shape(2, 3), shape(1, 9)
    body = holder(0xF002, record(0xF008, bytes(8)), holder(0xF003, first, second))
    at = body.index(second)
    drawing = [biff(0xEC, body[:at]), biff(0xEC, body[at:])] if parted else [biff(0xEC, body)]
    data = old({"S": [*CELLS, *BELOW, *drawing]}, extra=shared(drawn("one"), drawn("two", 0)))
    given_source = source(data, "a.xls")
    (page,) = pages(read_workbook(given_source))
    assert page.text.split("\n") == [
        "# S", "", "| Item | Sum |", "| --- | --- |", "| Oak | 3 |", "", UNREAD, "",
        "| Checked | yes |", "", UNREAD,
    ]  # fmt: skip
    assert page.pictures == 2
    assert given_source.pictures.warnings == ["2 pictures are not read: OCR is off (setting ocr)."]


def test_a_picture_of_windows_is_said_not_to_be_read(source: Make, pages: Pages) -> None:
    data = old({"S": [*CELLS, biff(0xEC, holder(0xF003, shape(1, 3)))]}, extra=shared(b"metafile"))
    given_source = source(data, "a.xls")
    (page,) = pages(read_workbook(given_source))
    assert (page.text.split("\n")[-1], page.pictures) == (UNREAD, 1)
    assert given_source.pictures.warnings == [
        "1 picture is not read: it is broken, or of a kind that is not read."
    ]


def test_a_picture_that_is_missing_is_said(source: Make, pages: Pages) -> None:
    body = holder(0xF002, holder(0xF003, shape(1, 3), shape(7, 4)))
    data = old({"S": [*CELLS, biff(0xEC, body)]}, extra=shared(None))
    (page,) = pages(read_workbook(source(data, "a.xls")))
    assert bare(page.text) == "# S\n\nItem | Sum\nOak | 3"
    missing = "a picture is not read: it is missing in the file"
    assert page.warning == f"Sheet 1 (S): {missing}; {missing}."


def above(data: bytes, parts: dict[str, bytes]) -> bytes:
    """A binary workbook with a drawing and remarks above its first sheet."""
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006/relationships"
    packed = io.BytesIO(data)
    with zipfile.ZipFile(packed, "a") as archive:
        targets = {"drawing": "../drawings/drawing1.xml", "comments": "../comments1.bin"}
        related = "".join(
            f'<Relationship Id="r{kind}" Type="{relation}/{kind}" Target="{target}"/>'
            for kind, target in targets.items()
        )
        archive.writestr(
            "xl/worksheets/_rels/sheet1.bin.rels",
            f'<Relationships xmlns="{package}">{related}</Relationships>',
        )
        archive.writestr(
            "xl/drawings/_rels/drawing1.xml.rels",
            f'<Relationships xmlns="{package}"><Relationship Id="p1" Type="{relation}/image" '
            'Target="../media/image1.png"/></Relationships>',
        )
        for name, part in parts.items():
            archive.writestr(name, part)
    return packed.getvalue()


DRAWING = (
    b'<wsDr xmlns:a="urn:a" xmlns:r="urn:r"><twoCellAnchor><from><row>3</row></from><pic>'
    b'<blipFill><a:blip r:embed="p1"/></blipFill></pic></twoCellAnchor><twoCellAnchor><from><row>'
    b"8</row></from><sp><txBody><a:p><a:r><a:t>Ask the joiner</a:t></a:r></a:p></txBody></sp>"
    b"</twoCellAnchor></wsDr>"
)
REMARKS = (
    brt(632, wide_text("Ada"))
    + brt(635, struct.pack("<5I16x", 0, 1, 1, 27, 27))
    + brt(637, b"\0" + wide_text("Ada:\nWhich oak?"))
)


def test_pictures_boxes_and_remarks_of_binary_workbooks(source: Make, pages: Pages) -> None:
    cells = row(0) + cell(6, 0, wide_text("Item")) + row(6) + cell(6, 0, wide_text("Checked"))
    parts = {
        "xl/drawings/drawing1.xml": DRAWING,
        "xl/comments1.bin": REMARKS,
        "xl/media/image1.png": drawn("one"),
    }
    given_source = source(above(xlsb({"S": cells}), parts), "a.xlsb")
    (page,) = pages(read_workbook(given_source))
    assert bare(page.text).split("\n") == [
        "# S", "", "Item", "", UNREAD, "", "Checked", "", "Ask the joiner", "",
        "Comment (Ada) on AB2: Which oak?",
    ]  # fmt: skip
    assert page.pictures == 1
    assert given_source.pictures.warnings == ["1 picture is not read: OCR is off (setting ocr)."]


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"xl/drawings/drawing1.xml": b"none", "xl/comments1.bin": REMARKS}, "above the cells"),
        (
            {"xl/drawings/drawing1.xml": DRAWING, "xl/comments1.bin": REMARKS[:-3]},
            "remarks are not",
        ),
    ],
)
def test_what_lies_above_and_is_broken_stops_no_cell(
    source: Make, pages: Pages, parts: dict[str, bytes], said: str
) -> None:
    cells = row(0) + cell(6, 0, wide_text("Item"))
    (page,) = pages(read_workbook(source(above(xlsb({"S": cells}), parts), "a.xlsb")))
    assert "Item" in page.text
    assert said in (page.warning or "")


@given(st.binary(min_size=1, max_size=40), st.integers(0, 400), st.booleans())
def test_damaged_drawings_never_escape(noise: bytes, at: int, in_store: bool) -> None:
    stored, body = shared(drawn("one")), holder(0xF003, shape(1, 3))
    if in_store:
        stored = stored[:4] + (stored[4 : 4 + at] + noise + stored[4 + at + len(noise) :])
        stored = biff(0xEB, stored[4:8000])
    else:
        body = body[:at] + noise + body[at + len(noise) :]
    book = Xls(xls({"S": [biff(0xEC, body)]}, extra=stored)["Workbook"])
    for _, data in book.pictures(book.sheets[0]):
        assert data is None or isinstance(data, bytes)
