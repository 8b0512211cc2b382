"""Word and PowerPoint before 2007, and LibreOffice."""

from __future__ import annotations

import io
import struct
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from tests.unit.reading.office_binary import (
    CELL,
    Run,
    compound,
    group,
    holder,
    number,
    presentation,
    record,
    row_end,
    style,
    summary,
    text_shape,
    word,
    xls,
)

from emily.errors import (
    EmptyDocument,
    LimitExceeded,
    PasswordRequired,
    ReadingError,
    UnsupportedKind,
)
from emily.reading import kind as kinds
from emily.reading.kind import detect
from emily.reading.legacy import documents as legacy
from emily.reading.legacy import libreoffice
from emily.reading.legacy.documents import read_doc, read_ppt
from emily.reading.legacy.slides import SlidesBinary
from emily.reading.legacy.word import WordBinary
from emily.reading.legacy.workbooks import read_workbook
from emily.reading.pages import Page, Table
from emily.reading.source import Draft, Source

Make = Callable[..., Source]
Pages = Callable[[Draft], list[Page]]

PLAIN: list[Run] = [
    ("Harbour plan\r", style(1)),
    ("The pier is long.\r", b""),
    ("Berths\r", style(2)),
    ("Item\x07", style(0, CELL)),
    ("Length\x07", style(0, CELL)),
    ("\x07", style(0, row_end([0, 2000, 4000]))),
    ("Pier\x07", style(0, CELL)),
    ("180 m\x07", style(0, CELL)),
    ("\x07", style(0, row_end([0, 2000, 4000]))),
    ("After it.\r", b""),
]


def doc(paragraphs: list[Run], **options: object) -> bytes:
    return compound(word(paragraphs, **options))  # type: ignore[arg-type]


def picture(colour: str = "navy") -> bytes:
    data = io.BytesIO()
    Image.new("RGB", (80, 80), colour).save(data, "PNG")
    return data.getvalue()


@pytest.mark.parametrize("wide", [True, False])
def test_headings_text_and_tables_in_order(source: Make, pages: Pages, wide: bool) -> None:
    given_source = source(doc(PLAIN, wide=wide), "plan.doc")
    assert detect(given_source.path).name == "doc"
    draft = read_doc(given_source)
    (page,) = pages(draft)
    assert draft.kind == "doc"
    assert page.text.split("\n") == [
        "# Harbour plan", "", "The pier is long.", "", "## Berths", "",
        "| Item | Length |", "| --- | --- |", "| Pier | 180 m |", "", "After it.",
    ]  # fmt: skip
    assert page.tables == (Table((6, 7), ((8, 8),)),)


def test_merged_cells_keep_their_columns(source: Make, pages: Pages) -> None:
    rows: list[Run] = [
        ("a\x07", style(0, CELL)), ("b\x07", style(0, CELL)), ("c\x07", style(0, CELL)),
        ("\x07", style(0, row_end([0, 1000, 2000, 3000]))),
        ("wide\x07", style(0, CELL)), ("z\x07", style(0, CELL)),
        ("\x07", style(0, row_end([0, 2010, 3000]))),
        ("end\r", b""),
    ]  # fmt: skip
    (page,) = pages(read_doc(source(doc(rows), "t.doc")))
    assert page.text.split("\n")[:3] == ["| a | b | c |", "| --- | --- | --- |", "| wide |  | z |"]


def test_a_table_in_a_cell_follows_its_table(source: Make, pages: Pages) -> None:
    depth2 = CELL + struct.pack("<HI", 0x6649, 2)
    rows: list[Run] = [
        ("before\r", style(0, CELL)),
        ("x\r", style(0, depth2 + struct.pack("<HB", 0x244B, 1))),
        ("y\r", style(0, depth2 + struct.pack("<HB", 0x244B, 1))),
        ("\r", style(0, depth2 + struct.pack("<HB", 0x244C, 1))),
        ("after\x07", style(0, CELL)),
        ("second\x07", style(0, CELL)),
        ("\x07", style(0, row_end([0, 1000, 2000]))),
        ("end\r", b""),
    ]
    (page,) = pages(read_doc(source(doc(rows), "t.doc")))
    assert page.text.split("\n") == ["| before after | second |", "", "| x | y |", "", "end"]


def test_deleted_and_hidden_text_is_left_out(source: Make, pages: Pages) -> None:
    text: list[Run] = [("Keep this, drop that, hide those, end.\r", b"")]
    marks = [(10, 21, 0x0800), (21, 33, 0x083C)]
    draft = read_doc(source(doc(text, hidden=marks), "t.doc"))
    (page,) = pages(draft)
    assert page.text == "Keep this, end."
    assert draft.warnings == [
        "Tracked deletions are left out (9 characters): the text is read as if all changes were "
        "accepted.",
        "Hidden text is left out (10 characters).",
    ]


@pytest.mark.parametrize(
    ("text", "marks", "said"),
    [
        ("Keep this.\r", [], []),
        ("Keep this.  \r", [(10, 12, 0x083C)], []),  # blanks alone
        ('Oak\x13 XE "Oak" \x15 planks\r', [(3, 14, 0x083C)], []),  # an entry of the index
        ("Keep, drop\r", [(4, 10, 0x0800)], ["deletions are left out (5 "]),
        ("Keep, hide\r", [(4, 10, 0x083C)], ["Hidden text is left out (5 "]),
        ("Both, gone\r", [(4, 7, 0x0800), (7, 10, 0x0800)], ["deletions are left out (5 "]),
    ],
)
def test_what_is_left_out_is_said(
    source: Make, pages: Pages, text: str, marks: list[tuple[int, int, int]], said: list[str]
) -> None:
    draft = read_doc(source(doc([(text, b"")], hidden=marks), "t.doc"))
    pages(draft)
    assert len(draft.warnings) == len(said)
    assert all(part in warning for part, warning in zip(said, draft.warnings, strict=True))


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("See \x13 HYPERLINK \"http://a\" \x14the plan\x15 now.\r", "See the plan now."),
        ("\x13 TOC \\o \x14Harbour\t1\r", "Harbour\t1"),
        ("Page \x13 IF \x13 PAGE \x143\x15 = 3 \x14three\x15.\r", "Page three."),
        ("soft\x1fhyphen, hard\x1ehyphen\x0bnext\r", "softhyphen, hard-hyphen\nnext"),
    ],
)  # fmt: skip
def test_fields_and_signs(source: Make, pages: Pages, stored: str, shown: str) -> None:
    (page,) = pages(read_doc(source(doc([(stored, b"")]), "t.doc")))
    assert page.text == shown


def test_a_letterhead_stands_once_and_notes_are_marked(source: Make, pages: Pages) -> None:
    heads = ["Mill & Sons\r", "Mill & Sons\r", "Page foot\r"]
    places = [0] * 7 + [len(heads[0]), len(heads[0] + heads[1]), len(heads[0] + heads[1])]
    places = [0, 0, 0, 0, 0, 0, 0, 12, 24, 24, 34, 34, 34, 34]
    note = "\x02 See the deed.\r"
    body = "Signed\x02 today\x05.\r"
    comment = "\x05Really?\r"
    paragraphs: list[Run] = [(text, b"") for text in (body, note, *heads, comment)]
    pairs = {
        2: struct.pack("<IIH", 6, len(body), 1),
        3: struct.pack("<III", 0, len(note), len(note)),
        4: struct.pack("<II20xH8x", 13, len(body), 0),
        5: struct.pack("<III", 0, len(comment), len(comment)),
        11: struct.pack(f"<{len(places)}I", *places),
        36: struct.pack("<H", 5) + "Berta".encode("utf-16-le"),
    }
    counts = {1: len(note), 2: sum(map(len, heads)), 4: len(comment)}
    (page,) = pages(read_doc(source(doc(paragraphs, pairs=pairs, counts=counts), "t.doc")))
    assert page.text.split("\n\n") == [
        "Mill & Sons",
        "Signed[1] today.",
        "Page foot",
        "Footnote 1: See the deed.",
        "Comment (Berta): Really?",
    ]


def test_lists_count_as_they_show(source: Make, pages: Pages) -> None:
    def level(form: int, text: str) -> bytes:
        return (
            struct.pack("<iB23x", 1, form)[:24]
            + bytes(4)
            + struct.pack("<H", len(text))
            + text.encode("utf-16-le")
        )

    def item(number: int, depth: int = 0) -> bytes:
        return style(0, struct.pack("<HHHB", 0x460B, number, 0x260A, depth))

    numbered = [level(0, "\0."), level(4, "\1)"), *(level(0, "") for _ in range(7))]
    bullets = [level(23, "\uf0b7")]
    listed = struct.pack("<H", 2)
    listed += struct.pack("<I22xBx", 7, 0) + struct.pack("<I22xBx", 8, 1)
    overrides = struct.pack("<I", 2) + struct.pack("<I12x", 7) + struct.pack("<I12x", 8)
    # The levels stand behind the definitions, outside of what the pair spans.
    whole = listed + b"".join(numbered + bullets)
    paragraphs: list[Run] = [
        ("one\r", item(1)), ("sub\r", item(1, 1)), ("two\r", item(1)), ("dot\r", item(2)),
    ]  # fmt: skip
    streams = word(paragraphs, pairs={73: whole, 74: overrides})
    main = bytearray(streams["WordDocument"])
    struct.pack_into("<I", main, 0x9A + 8 * 73 + 4, len(listed))
    streams["WordDocument"] = bytes(main)
    (page,) = pages(read_doc(source(compound(streams), "t.doc")))
    assert page.text == "1. one\n  a) sub\n2. two\n- dot"


def test_a_picture_stands_in_its_place(source: Make, pages: Pages) -> None:
    blip = bytes(17) + picture()
    drawn = struct.pack("<HHI", 0x6E0 << 4, 0xF01E, len(blip)) + blip
    data = struct.pack("<iHh60x", 68 + len(drawn), 68, 100) + drawn
    paragraphs: list[Run] = [("above\r", b""), ("\x01\r", b""), ("below\r", b"")]
    made = source(doc(paragraphs, hidden=[(6, 7, 0x6A03)], data=data), "t.doc")
    (page,) = pages(read_doc(made))
    assert page.pictures == 1
    assert len(made.pictures.readings) == 1
    assert page.text.startswith("above\n\n")
    assert page.text.endswith("\n\nbelow")


@pytest.mark.parametrize("kind", ["doc", "ppt", "xls"])
def test_large_files_are_known_by_a_directory_at_their_end(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kinds, "_SEARCHED", 8192)
    names = {"doc": "WordDocument", "ppt": "PowerPoint Document", "xls": "Workbook"}
    path = tmp_path / "large"
    path.write_bytes(compound({names[kind]: bytes(100_000)}))
    assert detect(path).name == kind


@pytest.mark.parametrize("kind", ["doc", "ppt", "xls"])
def test_embedded_objects_are_named(source: Make, kind: str) -> None:
    # The writer of these tests knows no storages; a name with a slash looks like one.
    if kind == "doc":
        extra = {"ObjectPool/_1/Ole": b"x", "ObjectPool/_1/Data": b"x"}
        draft = read_doc(source(compound(word([("x\r", b"")]) | extra), "t.doc"))
    elif kind == "ppt":
        streams = presentation([[text_shape("x")]])
        streams["PowerPoint Document"] += record(0x1011, b"x" * 40)
        draft = read_ppt(source(compound(streams), "t.ppt"))
    else:
        draft = read_workbook(
            source(compound(xls({"S": [number(0, 0, 1)]}) | {"MBD0012/Ole": b"x"}), "t.xls")
        )
    assert draft.warnings == [
        "1 embedded objects (charts, sheets or other files) in it are not read."
    ]


def test_properties_become_facts(source: Make) -> None:
    streams = word([("x\r", b"")])
    streams["\x05SummaryInformation"] = summary(title="Plan", author="Ada Test")
    draft = read_doc(source(compound(streams), "t.doc"))
    assert (draft.title, draft.facts.author, draft.facts.date) == ("Plan", "Ada Test", None)


def test_word_95_without_libreoffice(
    source: Make, pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(legacy, "program", lambda: None)
    paragraphs: list[Run] = [("Old text\r", b""), ("a\x07", b""), ("b\x07", b""), ("\x07", b"")]
    draft = read_doc(source(doc(paragraphs, wide=False, version=0x68), "t.doc"))
    (page,) = pages(draft)
    assert page.text == "Old text\n\n| a | b |"
    assert "Word 6 or 95" in draft.warnings[0]
    assert "apt-get install libreoffice-writer-nogui" in draft.warnings[0]


@pytest.mark.parametrize("given_back", ["Old text", "##### garbage", None])
def test_word_95_by_libreoffice_only_if_it_understood(
    source: Make,
    pages: Pages,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    given_back: str | None,
) -> None:
    from docx import Document

    def converted(*_: object) -> Path:
        if given_back is None:
            raise ReadingError("LibreOffice could not read the doc file")
        document = Document()
        document.add_heading(given_back, 1)
        document.save(str(tmp_path / "made.docx"))
        return tmp_path / "made.docx"

    monkeypatch.setattr(legacy, "program", lambda: Path("/bin/true"))
    monkeypatch.setattr(legacy, "convert", converted)
    made = source(doc([("Old text\r", b"")], wide=False, version=0x68), "t.doc")
    made.scratch = tmp_path
    draft = read_doc(made)
    (page,) = pages(draft)
    assert draft.kind == "doc"
    assert page.text == ("# Old text" if given_back == "Old text" else "Old text")


def test_an_encrypted_document_asks_for_its_password(source: Make, tmp_path: Path) -> None:
    closed = doc(PLAIN, flags=0x0300)
    made = source(closed, "t.doc")
    made.scratch = tmp_path
    with pytest.raises(ReadingError, match=r"opens only with a password|is encrypted"):
        read_doc(made)
    with pytest.raises(PasswordRequired, match="the doc file opens only with a password"):
        WordBinary(word(PLAIN, flags=0x0300)["WordDocument"], (b"", b""))


@pytest.mark.parametrize("text", ["\r", "\x0c\r", "   \r"])
def test_a_document_without_text(source: Make, text: str) -> None:
    with pytest.raises(EmptyDocument, match="holds no text"):
        read_doc(source(doc([(text, b"")]), "t.doc"))


@pytest.mark.parametrize("at", [0, 8, 300, 512, 700, 2000, 4000])
@pytest.mark.parametrize("reader", [read_doc, read_ppt])
def test_truncated_files_fail_with_a_reason(
    source: Make, pages: Pages, at: int, reader: Callable[[Source], Draft]
) -> None:
    data = doc(PLAIN) if reader is read_doc else compound(presentation([[text_shape("x")]]))
    with pytest.raises(ReadingError, match=r"container is broken|stream .* is|does not|holds no"):
        pages(reader(source(data[:at], "t.doc")))


@pytest.mark.parametrize("first", [0, 1, 2])
def test_a_chain_of_sectors_that_runs_in_a_circle(source: Make, first: int) -> None:
    # A stream that has its size is read so far and no further; what is in it is nonsense.
    data = bytearray(doc(PLAIN))
    fat = 512 + 512 * struct.unpack_from("<I", data, 76)[0]
    struct.pack_into("<40I", data, fat, *([first] * 40))
    with pytest.raises(ReadingError, match=r"container is broken|stream .* is|does not|holds no"):
        read_doc(source(bytes(data), "t.doc"))


@pytest.mark.parametrize("reader", [read_doc, read_ppt])
def test_a_missing_stream_is_named(source: Make, reader: Callable[[Source], Draft]) -> None:
    with pytest.raises(ReadingError, match=r"the stream '\w.*' is missing"):
        reader(source(compound({"Other": b"x"}), "t.doc"))


def test_pieces_that_declare_more_than_is_read() -> None:
    streams = word([("x\r", b"")])
    pieces = struct.pack("<IIHIH", 0, 0x7FFFFFFF, 0, 2048, 0)
    clx = b"\x02" + struct.pack("<I", len(pieces)) + pieces
    streams = word([("x\r", b"")], pairs={33: clx})
    with pytest.raises(LimitExceeded, match="characters of text or more"):
        WordBinary(streams["WordDocument"], (b"", streams["1Table"]))


@given(st.binary(min_size=1, max_size=60), st.integers(0, 4000), st.booleans())
def test_damaged_word_streams_never_escape(noise: bytes, at: int, in_table: bool) -> None:
    streams = word(PLAIN, hidden=[(3, 5, 0x0800)])
    name = "1Table" if in_table else "WordDocument"
    at %= len(streams[name])
    streams[name] = streams[name][:at] + noise + streams[name][at + len(noise) :]
    try:
        found = WordBinary(streams["WordDocument"], (b"", streams["1Table"]), streams["Data"])
        paragraphs = [*found.text(), *(p for _, part in found.letterheads() for p in part)]
        for kind in ("footnotes", "endnotes", "comments"):
            paragraphs += [p for _, note in found.notes(kind) for p in note]
        found.boxes()
        found.drawn()
    except ReadingError:
        return
    assert all(paragraph.depth <= 50 for paragraph in paragraphs)


# PowerPoint ---------------------------------------------------------------------------------------

BODY = text_shape("Dredge\rPaint", kind=1, box=(0, 200, 900, 600))


def ppt(*args: object, **options: object) -> bytes:
    return compound(presentation(*args, **options))  # type: ignore[arg-type]


def test_a_page_per_slide_with_titles_bullets_and_notes(source: Make, pages: Pages) -> None:
    data = ppt(
        [[BODY, text_shape("Works", kind=0, box=(0, 0, 900, 150))], [text_shape("Thanks")]],
        notes={0: [text_shape("Say it slowly.", kind=2)]},
    )
    given_source = source(data, "t.ppt")
    assert detect(given_source.path).name == "ppt"
    draft = read_ppt(given_source)
    first, second = pages(draft)
    assert draft.kind == "ppt"
    assert first.text == "# Works\n\n- Dredge\n- Paint\n\nNotes: Say it slowly."
    assert (second.number, second.text) == (2, "Thanks")


def test_shapes_are_read_as_they_stand(source: Make, pages: Pages) -> None:
    shapes = [
        text_shape("right", box=(500, 100, 900, 300)),
        text_shape("left", box=(0, 100, 400, 300), wide=False),
        text_shape("top", box=(0, 0, 900, 80)),
    ]
    (page,) = pages(read_ppt(source(ppt([shapes]), "t.ppt")))
    assert page.text.split("\n\n") == ["top", "left", "right"]


def test_levels_and_bullets_of_paragraphs(source: Make, pages: Pages) -> None:
    runs = struct.pack("<IHI", 4, 0, 0) + struct.pack("<IHIH", 4, 1, 1, 1)
    runs += struct.pack("<IHIH", 6, 0, 1, 0)
    shape = text_shape("one\rsub\rplain", kind=1, style_atom=runs)
    (page,) = pages(read_ppt(source(ppt([[shape]]), "t.ppt")))
    assert page.text == "- one\n  - sub\nplain"


@pytest.mark.parametrize("tall", [True, False])
def test_a_table_is_a_group_of_cells(source: Make, pages: Pages, tall: bool) -> None:
    height = 100 if tall else 0
    cells = [
        text_shape(text, box=(200 * column, 50 + height * line, 200 * column + 200, 50), child=True)
        for line, texts in enumerate([("Item", "Length"), ("Pier", "180 m")])
        for column, text in enumerate(texts)
    ]
    first = record(0xF122, struct.pack("<HI", 0x039F, 1), 1)
    (page,) = pages(read_ppt(source(ppt([[group(*cells, first=first)]]), "t.ppt")))
    assert page.text.split("\n") == ["| Item | Length |", "| --- | --- |", "| Pier | 180 m |"]
    assert page.tables == (Table((0, 1), ((2, 2),)),)


def test_texts_that_stand_in_the_outline(source: Make, pages: Pages) -> None:
    outline = record(0x0F9F, struct.pack("<I", 0)) + record(0x0FA8, b"From the outline")
    shape = holder(0xF004, holder(0xF00D, record(0x0F9E, struct.pack("<I", 0))))
    (page,) = pages(read_ppt(source(ppt([[shape]], outlines={0: outline}), "t.ppt")))
    assert page.text == "# From the outline"


def remark(*texts: tuple[int, str]) -> bytes:
    """A comment as PowerPoint 2002 stores it, with its texts by instance."""
    strings = (record(0x0FBA, text.encode("utf-16-le"), number) for number, text in texts)
    return holder(0x2EE0, *strings, record(0x2EE1, bytes(28)))


@pytest.mark.parametrize(
    ("remarks", "shown"),
    [
        (
            [remark((0, "Ada"), (1, "Ask the\rharbour."), (2, "A"))],
            ["Comment (Ada): Ask the harbour."],
        ),
        ([remark((1, "Whose pier?"))], ["Comment: Whose pier?"]),
        (
            [remark((0, "Ada"), (1, "One")), remark((0, "Ben"), (1, "Two"))],
            ["Comment (Ada): One", "Comment (Ben): Two"],
        ),
        ([remark((0, "Ada")), remark()], []),
    ],
)
def test_comments_stand_below_their_slide(
    source: Make, pages: Pages, remarks: list[bytes], shown: list[str]
) -> None:
    name = record(0x0FBA, "___PPT10".encode("utf-16-le"))
    tags = holder(0x1388, holder(0x138A, name, record(0x138B, b"".join(remarks))))
    data = ppt([[text_shape("a")], [text_shape("b")]], extras={0: tags})
    first, second = pages(read_ppt(source(data, "t.ppt")))
    assert first.text.split("\n\n") == ["a", *shown]
    assert second.text == "b"


def test_footers_stand_once_and_numbers_do_not(source: Make, pages: Pages) -> None:
    foot = holder(
        0x0FD9,
        record(0x0FDA, struct.pack("<HH", 0, 0x20)),
        record(0x0FBA, "Mill & Sons".encode("utf-16-le"), 2),
    )
    sign = holder(0xF00D, record(0x0F9F, bytes(4)), record(0x0FA8, b"*"), record(0x0FD8, bytes(4)))
    slides = [[text_shape("a"), holder(0xF004, sign)], [text_shape("b")]]
    first, second = pages(read_ppt(source(ppt(slides, extras={0: foot, 1: foot}), "t.ppt")))
    assert first.text == "a\n\nMill & Sons"
    assert second.text == "b"


def test_pictures_of_slides(source: Make, pages: Pages) -> None:
    blip = bytes(17) + picture("teal")
    stored = record(0xF01E, blip, 0x6E0)
    entry = record(0xF007, bytes(28) + struct.pack("<I", 0) + bytes(4))
    art = holder(0xF000, holder(0xF001, entry))
    shape = holder(0xF004, record(0xF00B, struct.pack("<HI", 0x4104, 1), 1))
    streams = presentation([[text_shape("a"), shape]], art=art)
    streams["Pictures"] = stored
    made = source(compound(streams), "t.ppt")
    (page,) = pages(read_ppt(made))
    assert page.pictures == 1


def test_a_slide_that_is_missing_does_not_take_the_others(source: Make, pages: Pages) -> None:
    streams = presentation([[text_shape("a")], [text_shape("b")]])
    stream = bytearray(streams["PowerPoint Document"])
    stream[2:4] = b"\0\0"  # the first slide is no slide any more
    streams["PowerPoint Document"] = bytes(stream)
    first, second = pages(read_ppt(source(compound(streams), "t.ppt")))
    assert first.route == "unread"
    assert first.warning == "Slide 1 is not read: it is missing in the file."
    assert second.text == "b"


def test_an_encrypted_presentation() -> None:
    streams = presentation([[text_shape("a")]], token=0xF3D1C4DF)
    with pytest.raises(PasswordRequired, match="the ppt file opens only with a password"):
        SlidesBinary(streams["PowerPoint Document"], streams["Current User"], b"")


def test_edits_that_point_to_each_other_in_a_circle(source: Make, pages: Pages) -> None:
    streams = presentation([[text_shape("a")]])
    stream = bytearray(streams["PowerPoint Document"])
    edit = struct.unpack_from("<I", streams["Current User"], 16)[0]
    struct.pack_into("<I", stream, edit + 16, edit)
    streams["PowerPoint Document"] = bytes(stream)
    (page,) = pages(read_ppt(source(compound(streams), "t.ppt")))
    assert page.text == "a"


@given(st.binary(min_size=1, max_size=60), st.integers(0, 3000))
def test_damaged_presentations_never_escape(noise: bytes, at: int) -> None:
    streams = presentation([[BODY], [group(BODY)]], notes={0: [BODY]})
    stream = streams["PowerPoint Document"]
    at %= len(stream)
    stream = stream[:at] + noise + stream[at + len(noise) :]
    try:
        found = list(SlidesBinary(stream, streams["Current User"], b"").slides())
    except ReadingError:
        return
    assert all(slide is None or isinstance(slide.shapes, list) for slide in found)


# LibreOffice --------------------------------------------------------------------------------------


def scratch(path: Path, seconds: float = 120) -> Source:
    (path / "in.doc").write_bytes(doc(PLAIN))
    return Source(path / "in.doc", None, time.monotonic() + seconds, 120, scratch=path)


def pretend(monkeypatch: pytest.MonkeyPatch, path: Path, body: str) -> None:
    """Put a program in LibreOffice's place; ``$out`` is where it shall put what it makes."""
    script = path / "soffice"
    script.write_text(
        "#!/bin/sh\n"
        'while [ "$1" != "--outdir" ]; do shift; done; out="$2"\n' + body
    )  # fmt: skip
    script.chmod(0o755)
    monkeypatch.setattr(libreoffice, "program", lambda: script)


def test_where_libreoffice_is_missing_the_message_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(libreoffice, "program", lambda: None)
    with pytest.raises(UnsupportedKind) as caught:
        libreoffice.convert(scratch(tmp_path), "doc", "docx")
    text = str(caught.value)
    assert "LibreOffice, which is not installed" in text
    assert "apt-get install libreoffice-writer-nogui libreoffice-impress-nogui" in text
    assert "brew install --cask libreoffice" in text


def test_the_program_is_found_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libreoffice, "_PLACES", ())
    monkeypatch.setenv("PATH", str(tmp_path))
    assert libreoffice.program() is None
    (tmp_path / "libreoffice").write_text("#!/bin/sh\n")
    (tmp_path / "libreoffice").chmod(0o755)
    assert libreoffice.program() == tmp_path / "libreoffice"


def test_what_it_makes_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, tmp_path, 'echo made > "$out/file.docx"\n')
    made = libreoffice.convert(scratch(tmp_path), "doc", "docx")
    assert made.read_text() == "made\n"
    assert tmp_path in made.parents


@pytest.mark.parametrize(
    "body", ["exit 0\n", "echo it broke >&2; exit 1\n", 'touch "$out/file.docx"\n']
)
def test_nothing_made_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    pretend(monkeypatch, tmp_path, body)
    with pytest.raises(ReadingError, match="LibreOffice could not read the doc file"):
        libreoffice.convert(scratch(tmp_path), "doc", "docx")


def test_a_hanging_program_is_ended_with_what_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(monkeypatch, tmp_path, f'sleep 300 & echo $! > "{tmp_path}/child"; sleep 300\n')
    with pytest.raises(LimitExceeded, match="LibreOffice took longer than the time that is left"):
        libreoffice.convert(scratch(tmp_path, seconds=1), "doc", "docx")
    child = int((tmp_path / "child").read_text())
    assert not psutil.pid_exists(child) or psutil.Process(child).status() == psutil.STATUS_ZOMBIE


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux takes the network away")
def test_it_has_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, tmp_path, 'grep -c : /proc/net/dev > "$out/file.docx"\n')
    made = libreoffice.convert(scratch(tmp_path), "doc", "docx")
    here = sum(":" in line for line in Path("/proc/net/dev").read_text().splitlines())
    if int(made.read_text()) == here > 1:
        pytest.skip("this kernel does not let a process give up its network")
    assert int(made.read_text()) == 1  # its own loopback alone


def test_its_profile_forbids_macros_and_links() -> None:
    registry = libreoffice._registry()
    assert '<prop oor:name="DisableMacrosExecution" oor:op="fuse"><value>true</value>' in registry
    assert '<prop oor:name="Link" oor:op="fuse"><value>0</value>' in registry


@pytest.mark.skipif(libreoffice.program() is None, reason="LibreOffice is not installed")
def test_libreoffice_itself_converts(tmp_path: Path, at: Callable[[Path], Source]) -> None:
    from emily.reading.office.word import read_docx

    made = libreoffice.convert(scratch(tmp_path), "doc", "docx")
    (page,) = read_docx(at(made)).pages
    assert "The pier is long." in page.text
    assert "| Pier | 180 m |" in page.text
