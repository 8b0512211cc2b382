"""Old and binary workbooks: sheets, values, dates, and files that are broken."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.reading.office_binary import (
    biff,
    brt,
    cell,
    compound,
    label,
    number,
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
    assert page.warning == "Sheet 1 (Long) has more than 3 rows; only the first 3 are read."


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
