"""Rich Text is read as it is shown, in any code page, and never costs more than its size."""

from __future__ import annotations

import datetime as dt
import io
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from PIL import Image

from emily.errors import EmptyDocument, ReadingError
from emily.reading.kind import detect
from emily.reading.pages import Page
from emily.reading.rtf.document import read_rtf
from emily.reading.rtf.tokens import tokens, windows_codec
from emily.reading.source import Draft, Source

Make = Callable[..., Source]
Pages = Callable[[Draft], list[Page]]


def text_of(source: Make, pages: Pages, body: str | bytes, head: str = r"\ansi") -> str:
    return page_of(source, pages, body, head).text


def page_of(source: Make, pages: Pages, body: str | bytes, head: str = r"\ansi") -> Page:
    inner = body.encode("ascii") if isinstance(body, str) else body
    content = rb"{\rtf1" + head.encode("ascii") + b" " + inner + b"}"
    return pages(read_rtf(source(content, "a.rtf")))[0]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (r"One\par Two\line three\tab four", "One\n\nTwo\nthree\tfour"),
        (r"caf\'e9 \u233?t\u233\'e9 \u8364\'80", "café été €"),
        (r"a\~b\_c\-d \{x\} \\ \lquote q\rquote  \endash  \bullet", "a b-cd {x} \\ ‘q’ – •"),
        (r"{\uc2\u12354\'82\'a0}{\uc0\u12356}\u12358 ?!", "あいう!"),
        (r"\u-10179?\u-8704?", "😀"),
        (r"{\upr{cafe}{\*\ud{caf\u233?}}}", "café"),
        ("line\\\nnext\n still", "line\n\nnext still"),
        (r"{\b bold}{\i  and} plain", "bold and plain"),
        (r"a{\*\unknown x{\b y}z}b{\*\generator w;}c", "abc"),
        (r"{\v gone}{\deleted gone}here", "here"),
        (r"x\u8226 \par y", "x•\n\ny"),
    ],
)
def test_characters(source: Make, pages: Pages, body: str, expected: str) -> None:
    assert text_of(source, pages, body) == expected


@pytest.mark.parametrize(
    ("head", "body", "expected"),
    [
        (r"\ansi\ansicpg1252", rb"\'80 \'e9", "€ é"),
        (r"\ansi\ansicpg1251", rb"\'cf\'f0\'e8\'e2\'e5\'f2", "Привет"),
        (r"\mac", rb"\'8e\'d5", "é’"),
        (r"\pc", rb"\'82\'e1", "éß"),
        (r"\ansi\ansicpg932", rb"\'83\'65\'83X\'83\'67", "テスト"),
        (r"\ansi\deff0{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset238 B;}}", rb"\'b3{\f1 \'b3}", "³ł"),
        (r"\ansi\deff1{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset161 B;}}", rb"\'e1\f0\'e1", "αá"),
        (r"\ansi\ansicpg1251\deff0{\fonttbl{\f0\fcharset0 A;}}", rb"\'ef", "п"),
        (
            r"\ansi\ansicpg1251\deff0{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset204 B;}}",
            rb"\'ef\f1\'ef",
            "ïп",
        ),
        (r"\ansi\deff0{\fonttbl{\f0\fcharset128 A;}}", rb"\'82\'a0", "あ"),
        (r"\ansi\deff0{\fonttbl{\f0\fnil\fcharset2 Symbol;}}", rb"a\'b7\u-3999?", "α•α"),
        (r"\ansi", "roh: ü".encode(), "roh: ü"),
        (r"\ansi\ansicpg1252", b"roh: \xfc", "roh: ü"),
    ],
)
def test_code_pages(source: Make, pages: Pages, head: str, body: bytes, expected: str) -> None:
    assert text_of(source, pages, body, head) == expected


@pytest.mark.parametrize("page", [1250, 1257, 437, 932, 936, 949, 950, 10000, 65001, 99999, -1])
def test_every_code_page_has_a_codec(page: int) -> None:
    assert b"a".decode(windows_codec(page)) == "a"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (r"\pard\outlinelevel0 One\par\pard\outlinelevel9 text\par", "# One\n\ntext"),
        (r"{\stylesheet{\s0 Normal;}{\s3 heading 2;}}\pard\s3 Two\par\pard x\par", "## Two\n\nx"),
        (
            r"{\stylesheet{\s1\outlinelevel1 Kap;}{\s2\sbasedon1 Sub;}}\pard\s2 Sub\par\pard x",
            "## Sub\n\nx",
        ),
        (r"{\stylesheet{\s7 Title;}}\pard\s7 Top\par\pard x", "# Top\n\nx"),
        (r"{\stylesheet{\*\cs10 heading 1;}}\pard x\par", "x"),
    ],
)
def test_headings(source: Make, pages: Pages, body: str, expected: str) -> None:
    assert text_of(source, pages, body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (r"\pard\ls1{\listtext\'b7\tab}a\par{\listtext\u8226 \tab}b\par", "- a\n- b"),
        (r"\pard{\pntext 1.\tab}{\*\pn\pndec}a\par\pard{\pntext 2.\tab}b\par", "1. a\n2. b"),
        (r"\pard\ls1{\listtext 1\tab}a\par\pard\ls1\ilvl1{\listtext b)\tab}c\par", "1. a\n  b) c"),
        (r"\pard\ls1{\listtext\u8226 }a\par\pard\ls1 more\par\pard end", "- a\n  more\n\nend"),
        (r"\pard\outlinelevel1\ls1{\listtext 1.1\tab}Scope\par", "## 1.1 Scope"),
    ],
)
def test_lists(source: Make, pages: Pages, body: str, expected: str) -> None:
    assert text_of(source, pages, body) == expected


def row(*cells: str, more: str = "") -> str:
    edges = "".join(rf"\cellx{at}000" for at in range(1, len(cells) + 1))
    return rf"\trowd{more}{edges}" + "".join(rf"\pard\intbl {c}\cell" for c in cells) + r"\row "


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            row("Item", "Price") + row("Bread", "2") + r"\pard after\par",
            "| Item | Price |\n| --- | --- |\n| Bread | 2 |\n\nafter",
        ),
        (
            row(r"a\par b", "c | d") + row("e", ""),
            "| a b | c \\| d |\n| --- | --- |\n| e |  |",
        ),
        (
            (
                r"\trowd\cellx1000\cellx2000 a\cell b\cell\row\trowd\cellx1000\cellx2000 c\cell d"
                r"\cell\row"
            ),
            "| a | b |\n| --- | --- |\n| c | d |",
        ),
        (
            row("a", "b", "c")
            + r"\trowd\cellx1000\cellx3000\pard\intbl d\cell wide\cell\row "
            + row("e", "f", "g"),
            "| a | b | c |\n| --- | --- | --- |\n| d | wide |  |\n| e | f | g |",
        ),
        (
            r"\trowd\clmgf\cellx1000\clmrg\cellx2000\pard\intbl both\cell\cell\row" + row("c", "d"),
            "| both |  |\n| --- | --- |\n| c | d |",
        ),
        (
            r"\trowd\cellx1000\cellx2000\pard\intbl out\par\pard\intbl\itap2 x\nestcell y\nestcell"
            r"{\*\nesttableprops\trowd\cellx1\cellx2\nestrow}{\nonesttables\par}\pard\intbl in\cell"
            r" z\cell\row" + row("c", "d"),
            "| out x, y in | z |\n| --- | --- |\n| c | d |",
        ),
        (row("framed") + r"\pard x\par", "framed\n\nx"),
        (
            (
                r"\trowd\cellx1000\cellx2000\pard\intbl a\cell b\cell\row\trowd\cellx1000\pard"
                r"\intbl cut"
            ),
            "| a | b |\n| --- | --- |\n| cut |  |",
        ),
    ],
)
def test_tables(source: Make, pages: Pages, body: str, expected: str) -> None:
    page = page_of(source, pages, body)
    assert page.text == expected
    for table in page.tables:
        for first, _ in table.rows:
            assert page.text.split("\n")[first].startswith("| ")


def test_a_header_row_is_the_tables_header(source: Make, pages: Pages) -> None:
    body = r"above\par " + row("1", "2", more=r"\trhdr") + row("3", "4")
    assert page_of(source, pages, body).tables[0].header == (2, 3)


def test_notes_comments_and_letterheads(source: Make, pages: Pages) -> None:
    body = (
        r"{\header Vey & Sons\par}{\headerf Vey & Sons\par}{\footer Page "
        r"{\field{\*\fldinst PAGE}{\fldrslt 1}}\par}"
        r"It hums{\footnote\pard\plain\chftn  Model B.\par}{\footnote\ftnalt Since May.}."
        r"{\*\atnid NV}{\*\atnauthor Nora Vey}\chatn"
        r"{\*\annotation{\*\atnref 1}{\*\atndate 9}Call.}\par "
        r"Next\par"
    )
    assert text_of(source, pages, body) == (
        "Vey & Sons\n\nIt hums.\n\nNext\n\nPage\n\nFootnote: Model B.\n\nEndnote: Since May.\n\n"
        "Comment (Nora Vey): Call."
    )


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (r'see {\field{\*\fldinst{HYPERLINK "http://a.example"}}{\fldrslt{here}}}.', "see here."),
        (r"{\field\fldedit{\*\fldinst DATE}{\fldrslt 3 May}} on", "3 May on"),
        (r"{\field{\*\fldinst IF {\field{\*\fldinst X}{\fldrslt no}}}{\fldrslt yes}}", "yes"),
    ],
)
def test_fields_keep_their_result(source: Make, pages: Pages, body: str, expected: str) -> None:
    assert text_of(source, pages, body) == expected


def picture() -> bytes:
    out = io.BytesIO()
    image = Image.new("L", (80, 80), 255)
    image.paste(0, (10, 30, 70, 50))
    image.save(out, "PNG")
    return out.getvalue()


@pytest.mark.parametrize("form", ["hex", "bin", "shape", "result"])
def test_pictures_stand_in_their_place(source: Make, pages: Pages, form: str) -> None:
    data = picture()
    shown = rb"{\pict{\*\picprop{\sp{\sn wzDescription}{\sv The boiler}}}\pngblip\picw80 "
    digits = data.hex().encode()
    body = {
        "hex": shown + digits[:70] + b"\n" + digits[70:] + b"}",
        "bin": shown + b"\\bin%d " % len(data) + data + b"}",
        "shape": rb"{\*\shppict" + shown + digits + rb"}}{\nonshppict{\pict\wmetafile8 00ff}}",
        "result": rb"{\object{\*\objdata 0102}{\result" + shown + digits + b"}}}",
    }[form]
    page = page_of(source, pages, b"before " + body + rb"\par after")
    assert page.text == "before\n\nThe boiler\n\n[picture, not read]\n\nafter"
    assert page.pictures == 1


def test_a_text_box_stands_behind_its_paragraph(source: Make, pages: Pages) -> None:
    body = r"a{\shp{\*\shpinst\shpleft1{\sp{\sn x}{\sv 3}}{\shptxt boxed\par}}{\shprslt z}} b\par c"
    assert text_of(source, pages, body) == "a b\n\nboxed\n\nc"


def test_facts_and_title(source: Make) -> None:
    info = (
        rb"{\rtf1\ansi{\info{\title Le\'e9 {\b x}}{\author Ida Vey}{\operator Other}"
        rb"{\creatim\yr2031\mo2\dy3\hr1}{\revtim\yr2032\mo1\dy1}{\doccomm no}}text}"
    )
    draft = read_rtf(source(info, "a.rtf"))
    assert draft.title == "Leé x"
    assert draft.facts.author == "Ida Vey"
    assert draft.facts.date == dt.date(2031, 2, 3)
    assert next(iter(draft.pages)).text == "text"


@pytest.mark.parametrize("date", [r"\yr0\mo0\dy0", r"\yr2031\mo13\dy1", ""])
def test_a_date_that_cannot_be_read_is_absent(source: Make, date: str) -> None:
    content = rb"{\rtf1{\info{\creatim" + date.encode() + rb"}}text}"
    assert read_rtf(source(content)).facts.date is None


@pytest.mark.parametrize(
    ("content", "text", "warning"),
    [
        (rb"{\rtf1\ansi one\par {\b two", "one\n\ntwo", "ends in the middle (2 groups"),
        (rb"{\rtf1 a{\deleted gone}b}", "ab", "Tracked deletions are left out (4"),
        (rb"{\rtf1 a{\v gone}b}", "ab", "Hidden text is left out (4"),
        (rb"{\rtf1 a{\object{\*\objdata 0102}}b}", "ab", "1 embedded objects"),
        (rb"{\rtf1 a{\*\x\bin99999999 xyz", "a", "ends in the middle"),
        (b"{\\rtf1 a" + b"{" * 5000 + b"x" + b"}" * 5000 + b"b}", "ab", "2,000 deep"),
    ],
)
def test_what_is_not_read_is_said(
    source: Make, pages: Pages, content: bytes, text: str, warning: str
) -> None:
    draft = read_rtf(source(content, "a.rtf"))
    assert pages(draft)[0].text == text
    assert warning in draft.warnings[0]


@pytest.mark.parametrize("tail", [b"\0\0\0", b"}}}", b"\r\nrubbish {\\b behind}"])
def test_what_stands_behind_the_end_is_no_text(source: Make, pages: Pages, tail: bytes) -> None:
    draft = read_rtf(source(rb"{\rtf1 text}" + tail, "a.rtf"))
    assert pages(draft)[0].text == "text"


@pytest.mark.parametrize("body", ["", r"\par\par ~"[:8], r"{\v hidden}", r"{\fonttbl{\f0 A;}}"])
def test_a_file_without_text_is_said_to_be_empty(source: Make, body: str) -> None:
    with pytest.raises(EmptyDocument):
        read_rtf(source(rb"{\rtf1\ansi" + body.encode() + b"}", "a.rtf"))


def test_a_fragment_is_told_by_its_name_and_read_to_its_end(source: Make, pages: Pages) -> None:
    made = source(rb"{\pard one\par}{\pard two\par}", "a.rtf")
    assert detect(made.path).name == "rtf"
    assert pages(read_rtf(made))[0].text == "one\n\ntwo"


@given(st.binary(max_size=300))
def test_tokens_of_any_bytes_end(data: bytes) -> None:
    found = list(tokens(data))
    assert sum(len(token.data) for token in found if token.kind != "byte") <= len(data)


WORDS = r"""
{ } \par \cell \row \trowd \intbl \pard \itap3 \nestcell \nestrow \u8226 \uc9 \'e9 \bin3
\pict \footnote \header \*\x \upr \fonttbl \f1 \s1 \stylesheet \listtext \field \fldrslt
\info \title \cellx99 \shptxt \ls1 \annotation \u-10179 \mac \deff7 word
"""


@given(st.lists(st.sampled_from(WORDS.split()), max_size=60))
@example(["\\u-10179", "\\listtext", "\\u-10179"])
def test_any_sequence_of_control_words_is_read(words: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.rtf"
        path.write_bytes(b"{\\rtf1 " + " ".join(words).encode() + b" last}")
        try:
            draft = read_rtf(Source(path, ocr=None, deadline=time.monotonic() + 60, seconds=60))
        except ReadingError:
            return
        page = next(iter(draft.pages))
        lines = page.text.split("\n")
        assert all(lines[last].startswith("|") for table in page.tables for _, last in table.rows)
        assert page.text == page.text.encode().decode()
