"""Word documents, written by python-docx and by hand."""

from __future__ import annotations

import datetime as dt
import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from docx import Document
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import qn
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from emily.errors import EmptyDocument, ReadingError
from emily.reading.office.word import read_docx
from emily.reading.pages import Page
from emily.reading.source import Draft, Source

Make = Callable[..., Source]
At = Callable[[Path], Source]
Pages = Callable[[Draft], list[Page]]

SPACES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:v="urn:schemas-microsoft-com:vml" '
    'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"'
)
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"


def packed(parts: dict[str, str | bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return data.getvalue()


def word(body: str, **others: tuple[str, str | bytes]) -> bytes:
    """A Word file with a body and related parts: kind of relation to path and content."""
    relations = "".join(
        f'<Relationship Id="{kind}" Type="{OFFICE}{kind.rstrip("0123456789")}" Target="{path}"/>'
        for kind, (path, _) in others.items()
    )
    parts: dict[str, str | bytes] = {
        "word/document.xml": f"<w:document {SPACES}><w:body>{body}</w:body></w:document>",
        "word/_rels/document.xml.rels": f"<Relationships>{relations}</Relationships>",
    }
    for path, content in others.values():
        parts[f"word/{path}"] = content
    return packed(parts)


def part(name: str, content: str) -> str:
    return f"<w:{name} {SPACES}>{content}</w:{name}>"


def p(text: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def cell(text: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{p(text) if text else '<w:p/>'}</w:tc>"


def table(*rows: str) -> str:
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in rows)}</w:tbl>"


def picture(side: int = 80) -> bytes:
    """A picture with ink on it."""
    data = io.BytesIO()
    image = Image.new("RGB", (side, side), "white")
    ImageDraw.Draw(image).line((5, 5, side - 5, side - 5), "black", 4)
    image.save(data, "PNG")
    return data.getvalue()


def test_a_document_in_body_order(tmp_path: Path, at: At, pages: Pages) -> None:
    document = Document()
    document.core_properties.title = "A title"
    document.core_properties.author = "Ada Conti"
    document.core_properties.modified = dt.datetime(2026, 3, 4, 10)
    section = document.sections[0]
    section.header.paragraphs[0].text = "Studio Rossi"
    section.footer.paragraphs[0].text = "VAT 01234567890"
    document.add_heading("Contract", 1)
    paragraph = document.add_paragraph("Between us. ")
    paragraph.add_run().add_break()
    paragraph.add_run("Second line.")
    link = OxmlElement("w:hyperlink")
    run = OxmlElement("w:r")
    text = OxmlElement("w:t")
    text.text = " our site"
    run.append(text)
    link.append(run)
    paragraph._p.append(link)
    document.add_paragraph("apples", style="List Bullet")
    document.add_paragraph("pears", style="List Bullet 2")
    document.add_paragraph("first", style="List Number")
    document.add_paragraph("second", style="List Number")
    built = document.add_table(3, 2)
    for row, cells in enumerate([("Item", "Price"), ("Bread", "1,50"), ("Box", "")]):
        for column, value in enumerate(cells):
            built.cell(row, column).text = value
    nested = built.cell(2, 1).add_table(2, 2)
    for row in range(2):
        for column in range(2):
            nested.cell(row, column).text = f"n{row}{column}"
    after = document.add_paragraph("After the table.")
    document.add_comment(after.runs, text="Check this", author="Bea")
    path = tmp_path / "a.docx"
    document.save(str(path))
    draft = read_docx(at(path))
    (page,) = pages(draft)
    assert (draft.title, draft.citation) == ("A title", "none")
    assert (draft.facts.author, draft.facts.date) == ("Ada Conti", dt.date(2026, 3, 4))
    assert draft.facts.date_source == "metadata"
    assert page.text == (
        "Studio Rossi\n\n# Contract\n\nBetween us.\nSecond line. our site\n\n"
        "- apples\n- pears\n1. first\n2. second\n\n"
        "| Item | Price |\n| --- | --- |\n| Bread | 1,50 |\n| Box | n00, n01; n10, n11 |\n\n"
        "After the table.\n\nVAT 01234567890\n\nComment (Bea): Check this"
    )
    (found,) = page.tables
    lines = page.text.split("\n")
    assert found.header is not None
    assert lines[found.header[0]] == "| Item | Price |"
    assert [lines[begin] for begin, _ in found.rows] == [
        "| Bread | 1,50 |",
        "| Box | n00, n01; n10, n11 |",
    ]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<w:p><w:r><w:t>self</w:t><w:noBreakHyphen/><w:t>test</w:t><w:tab/><w:t>x</w:t></w:r>"
         "</w:p>", "self-test\tx"),
        ("<w:sdt><w:sdtPr/><w:sdtContent><w:p><w:r><w:t>in a control</w:t></w:r></w:p>"
         "</w:sdtContent></w:sdt>", "in a control"),
        ("<w:p><w:r><w:instrText>PAGE</w:instrText></w:r><w:r><w:t>7</w:t></w:r></w:p>", "7"),
        ("<w:p><w:r><w:pict><v:shape><v:textbox><w:txbxContent><w:p><w:r><w:t>in a box</w:t>"
         "</w:r></w:p></w:txbxContent></v:textbox></v:shape></w:pict><w:t>beside</w:t></w:r></w:p>",
         "beside\n\nin a box"),
        ("<w:p><w:r><mc:AlternateContent><mc:Choice><w:txbxContent><w:p><w:r><w:t>once</w:t></w:r>"
         "</w:p></w:txbxContent></mc:Choice><mc:Fallback><w:txbxContent><w:p><w:r><w:t>once</w:t>"
         "</w:r></w:p></w:txbxContent></mc:Fallback></mc:AlternateContent></w:r></w:p>", "once"),
        ("<w:p><w:r><mc:AlternateContent><mc:Choice><w:drawing/></mc:Choice><mc:Fallback><w:t>old"
         "</w:t></mc:Fallback></mc:AlternateContent></w:r></w:p>", "old"),
        ("<w:p><w:smartTag><w:r><w:t>Turin</w:t></w:r></w:smartTag><w:r><w:t>, Italy</w:t></w:r>"
         "</w:p>", "Turin, Italy"),
        ('<w:p><w:r><w:t>angle </w:t><w:sym w:font="Symbol" w:char="F061"/><w:t> is </w:t>'
         '<w:sym w:font="Wingdings" w:char="F0FC"/><w:sym w:font="Unknown" w:char="F123"/></w:r>'
         "</w:p>", "angle α is ✓"),
        ("<w:p><w:ruby><w:rt><w:r><w:t>とうきょう</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>東京"
         "</w:t></w:r></w:rubyBase></w:ruby></w:p>", "東京(とうきょう)"),
        ('<w:p><w:pPr><w:framePr w:dropCap="drop"/></w:pPr><w:r><w:t>O</w:t></w:r></w:p>'
         + p("nce upon a time"), "Once upon a time"),
        ("<w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr><w:r><w:t>The pier is closed.</w:t></w:r>"
         "</w:p>" + p("It opens in May."), "The pier is closed. It opens in May."),
        ("<w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr><w:r><w:t>half </w:t></w:r></w:p>"
         + p(" done"), "half done"),
        ("<w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr></w:p>" + p("alone"), "alone"),
        ('<w:p><w:r><w:t>p </w:t><w:sym w:font="Symbol" w:char="00DA"/><w:t> q </w:t>'
         '<w:sym w:font="Symbol" w:char="F0D8"/><w:sym w:font="Symbol" w:char="F0E6"/></w:r>'
         "</w:p>", "p ∨ q ¬"),
        ("<w:p><w:r><w:pict><v:shape><v:textpath string=\"DRAFT\"/></v:shape></w:pict></w:r></w:p>",
         "DRAFT"),
    ],
)  # fmt: skip
def test_pieces_of_paragraphs(source: Make, pages: Pages, body: str, text: str) -> None:
    assert pages(read_docx(source(word(body))))[0].text == text


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("<w:checkBox><w:default w:val='0'/><w:checked/></w:checkBox>", "☒ agreed"),
        ("<w:checkBox><w:default w:val='1'/><w:checked w:val='0'/></w:checkBox>", "☐ agreed"),
        ("<w:checkBox><w:default w:val='1'/></w:checkBox>", "☒ agreed"),
        ("<w:ddList><w:result w:val='1'/><w:listEntry w:val='no '/><w:listEntry w:val='yes '/>"
         "</w:ddList>", "yes agreed"),
        ("<w:ddList><w:listEntry w:val='no '/></w:ddList>", "no agreed"),
        ("<w:ddList><w:result w:val='9'/><w:listEntry w:val='no '/></w:ddList>", "agreed"),
    ],
)  # fmt: skip
def test_form_fields_show_their_state(source: Make, pages: Pages, field: str, text: str) -> None:
    body = (
        f"<w:p><w:r><w:fldChar w:fldCharType='begin'><w:ffData>{field}</w:ffData></w:fldChar>"
        "</w:r><w:r><w:t>agreed</w:t></w:r></w:p>"
    )
    assert pages(read_docx(source(word(body))))[0].text == text


STYLES = part("styles", (
    '<w:style w:type="paragraph" w:default="1" w:styleId="Standard"><w:name w:val="Normal"/>'
    '</w:style><w:style w:type="paragraph" w:styleId="berschrift2"><w:name w:val="heading 2"/>'
    '</w:style><w:style w:type="paragraph" w:styleId="Eigen"><w:name w:val="Kapitel"/>'
    '<w:basedOn w:val="berschrift2"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="Umriss"><w:name w:val="Umriss"/><w:pPr>'
    '<w:outlineLvl w:val="2"/></w:pPr></w:style>'
    '<w:style w:type="paragraph" w:styleId="Titel"><w:name w:val="Title"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="Schleife"><w:name w:val="x"/>'
    '<w:basedOn w:val="Schleife"/></w:style>'
))  # fmt: skip


@pytest.mark.parametrize(
    ("properties", "text"),
    [
        ('<w:pStyle w:val="berschrift2"/>', "## Words"),
        ('<w:pStyle w:val="Eigen"/>', "## Words"),
        ('<w:pStyle w:val="Umriss"/>', "### Words"),
        ('<w:pStyle w:val="Titel"/>', "# Words"),
        ('<w:outlineLvl w:val="0"/>', "# Words"),
        ('<w:pStyle w:val="berschrift2"/><w:outlineLvl w:val="9"/>', "Words"),
        ('<w:pStyle w:val="Schleife"/>', "Words"),
        ('<w:pStyle w:val="Heading3"/>', "### Words"),  # no such style is stored
        ('<w:pStyle w:val="Standard"/>', "Words"),
        ("", "Words"),
    ],
)
def test_headings_by_style(source: Make, pages: Pages, properties: str, text: str) -> None:
    data = word(p("Words", properties), styles=("styles.xml", STYLES))
    assert pages(read_docx(source(data)))[0].text == text


def test_a_long_paragraph_in_a_headings_style_is_text(source: Make, pages: Pages) -> None:
    data = word(p("word " * 100, '<w:pStyle w:val="Titel"/>'), styles=("styles.xml", STYLES))
    assert pages(read_docx(source(data)))[0].text == ("word " * 100).strip()


def level(at: int, form: str, text: str, more: str = "") -> str:
    return (
        f'<w:lvl w:ilvl="{at}"><w:start w:val="1"/><w:numFmt w:val="{form}"/>{more}'
        f'<w:lvlText w:val="{text}"/></w:lvl>'
    )


NUMBERING = part("numbering", (
    '<w:abstractNum w:abstractNumId="0">' + level(0, "decimal", "%1.")
    + level(1, "decimal", "%1.%2") + level(2, "lowerLetter", "(%3)") + "</w:abstractNum>"
    '<w:abstractNum w:abstractNumId="1">' + level(0, "bullet", "\uf0b7") + "</w:abstractNum>"
    '<w:abstractNum w:abstractNumId="2">' + level(0, "upperRoman", "Art. %1") + "</w:abstractNum>"
    '<w:abstractNum w:abstractNumId="3">' + level(0, "none", "") + "</w:abstractNum>"
    '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
    '<w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>'
    '<w:num w:numId="3"><w:abstractNumId w:val="2"/></w:num>'
    '<w:num w:numId="4"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0">'
    '<w:startOverride w:val="5"/></w:lvlOverride></w:num>'
    '<w:num w:numId="5"><w:abstractNumId w:val="3"/></w:num>'
))  # fmt: skip


def item(text: str, number: int, at: int = 0) -> str:
    return p(text, f'<w:numPr><w:ilvl w:val="{at}"/><w:numId w:val="{number}"/></w:numPr>')


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (item("a", 1) + item("b", 1) + item("c", 1, 1) + item("d", 1, 2) + item("e", 1),
         "1. a\n2. b\n  2.1 c\n    (a) d\n3. e"),
        (item("a", 2) + p("between") + item("b", 2), "- a\n\nbetween\n\n- b"),
        (item("a", 3) + item("b", 3), "Art. I a\nArt. II b"),
        (item("a", 1) + item("b", 4) + item("c", 4), "1. a\n5. b\n6. c"),
        (item("a", 1) + item("b", 1, 2) + item("c", 1, 1), "1. a\n    (a) b\n  1.2 c"),
        (item("a", 5) + item("b", 9) + item("c", 0), "a\n\nb\n\nc"),
        (item("line<w:br/>", 2).replace("line<w:br/></w:t>", "one</w:t><w:br/><w:t>two</w:t>"),
         "- one\ntwo"),
    ],
)  # fmt: skip
def test_lists_are_numbered_as_word_shows_them(
    source: Make, pages: Pages, body: str, text: str
) -> None:
    data = word(body, numbering=("numbering.xml", NUMBERING))
    assert pages(read_docx(source(data)))[0].text == text


def test_a_numbered_heading_carries_its_number(source: Make, pages: Pages) -> None:
    body = "".join(
        p(text, f'<w:outlineLvl w:val="{at}"/><w:numPr><w:ilvl w:val="{at}"/>'
                '<w:numId w:val="1"/></w:numPr>')
        for text, at in [("Scope", 0), ("Goods", 1), ("Price", 0)]
    )  # fmt: skip
    data = word(body, numbering=("numbering.xml", NUMBERING))
    assert pages(read_docx(source(data)))[0].text == "# 1. Scope\n\n## 1.1 Goods\n\n# 2. Price"


SPAN = '<w:gridSpan w:val="2"/>'
MERGE, GOES_ON = '<w:vMerge w:val="restart"/>', "<w:vMerge/>"


@pytest.mark.parametrize(
    ("rows", "lines"),
    [
        ((cell("a", SPAN) + cell("b"), cell("c") + cell("d") + cell("e")),
         ["| a |  | b |", "| --- | --- | --- |", "| c | d | e |"]),
        ((cell("a", MERGE) + cell("b"), cell("", GOES_ON) + cell("c")),
         ["| a | b |", "| --- | --- |", "|  | c |"]),
        ((cell("a") + cell("b"), '<w:trPr><w:gridBefore w:val="1"/></w:trPr>' + cell("c")),
         ["| a | b |", "| --- | --- |", "|  | c |"]),
        ((cell("a") + cell("b"), cell("old") + cell("row") + "<w:trPr><w:del/></w:trPr>"),
         ["| a | b |"]),
        ((cell("a") + cell("") + cell("b"), cell("c") + cell("") + cell("d")),
         ["| a | b |", "| --- | --- |", "| c | d |"]),
        ((cell("a|b") + cell("b"), "<w:ins>" + cell("c") + cell("d") + "</w:ins>"),
         ["| a\\|b | b |", "| --- | --- |", "| c | d |"]),
        ((cell("one"), cell("two")), ["| one |", "| --- |", "| two |"]),
    ],
)  # fmt: skip
def test_tables_keep_their_columns(
    source: Make, pages: Pages, rows: tuple[str, ...], lines: list[str]
) -> None:
    (page,) = pages(read_docx(source(word(table(*rows)))))
    assert page.text.split("\n") == lines
    assert len(page.tables) == (len(lines) > 1)


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        (table(cell("x") + cell("y")), "| a | in x, y |"),
        (table(cell("x") + cell("y"), cell("z") + cell("w")), "| a | in x, y; z, w |"),
        (table(f"<w:tc>{table(cell('deep') + cell('er'))}</w:tc>" + cell("more")),
         "| a | in deep, er more |"),
    ],
)  # fmt: skip
def test_tables_inside_of_cells_are_kept(source: Make, pages: Pages, inner: str, text: str) -> None:
    holder = f"<w:tc>{p('in')}{inner}</w:tc>"
    body = table(cell("a") + holder, cell("b") + cell("c"))
    assert pages(read_docx(source(word(body))))[0].text.split("\n")[0] == text


def test_a_long_table_inside_of_a_cell_follows_the_table(source: Make, pages: Pages) -> None:
    inner = table(*[cell(f"key {n}") + cell("long value " * 5) for n in range(8)])
    body = table(cell("a") + f"<w:tc>{inner}</w:tc>", cell("b") + cell("c")) + p("end")
    (page,) = pages(read_docx(source(word(body))))
    lines = page.text.split("\n")
    assert lines[0] == "| a |  |"
    assert [line.split(" | ")[0] for line in lines if "key" in line] == [
        f"| key {n}" for n in range(8)
    ]
    assert len(page.tables) == 2
    assert lines[-1] == "end"
    for found in page.tables:
        assert all(lines[begin].startswith("|") for begin, _ in found.rows)


def test_a_table_that_frames_text_is_none(source: Make, pages: Pages) -> None:
    frame = "<w:tbl><w:tr><w:tc>" + p("a frame") + p("of text") + "</w:tc></w:tr></w:tbl>"
    (page,) = pages(read_docx(source(word(frame))))
    assert (page.text, page.tables) == ("a frame\n\nof text", ())
    columns = "<w:tbl><w:tr>" + 2 * ("<w:tc>" + 3 * p("words") + "</w:tc>") + "</w:tr></w:tbl>"
    (page,) = pages(read_docx(source(word(columns))))
    assert (page.text.count("|"), page.tables) == (0, ())


@given(st.lists(st.lists(st.integers(1, 3), min_size=1, max_size=4), min_size=2, max_size=5))
def test_no_cell_is_lost_whatever_the_spans(spans: list[list[int]]) -> None:
    from lxml import etree

    from emily.reading.office.word_tables import grid, grid_text

    rows = [
        "".join(cell(f"c{y}{x}", f'<w:gridSpan w:val="{span}"/>') for x, span in enumerate(row))
        for y, row in enumerate(spans)
    ]
    element = etree.fromstring(table(*rows).replace("<w:tbl>", f"<w:tbl {SPACES}>", 1))
    found = grid_text(grid(element), lambda tc: "".join(map(str, tc.itertext())))
    assert [text for row in found for text in row if text] == [
        f"c{y}{x}" for y, row in enumerate(spans) for x in range(len(row))
    ]
    assert len({len(row) for row in found}) == 1


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<w:p><w:del><w:r><w:delText>old</w:delText></w:r></w:del><w:ins><w:r><w:t>new</w:t>"
         "</w:r></w:ins></w:p>", "new"),
        ("<w:p><w:moveFrom><w:r><w:t>here</w:t></w:r></w:moveFrom></w:p><w:p><w:moveTo><w:r>"
         "<w:t>there</w:t></w:r></w:moveTo></w:p>", "there"),
        ("<w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr><w:r><w:t>one </w:t></w:r></w:p>"
         + p("line"), "one line"),
    ],
)  # fmt: skip
def test_tracked_changes_are_accepted_and_said(
    source: Make, pages: Pages, body: str, text: str
) -> None:
    draft = read_docx(source(word(body)))
    assert pages(draft)[0].text == text
    assert draft.warnings == [
        "The document has tracked changes; it is read as if all of them were accepted."
    ]


@pytest.mark.parametrize(
    ("mark", "shown"),
    [
        ("<w:vanish/>", "open"),
        ("<w:b/><w:vanish w:val='1'/>", "open"),
        ("<w:vanish w:val='true'/>", "open"),
        ("<w:vanish w:val='0'/>", "open secret"),
        ("<w:vanish w:val='false'/>", "open secret"),
        ("<w:b/>", "open secret"),
    ],
)
def test_hidden_text_is_left_out_and_said(
    source: Make, pages: Pages, mark: str, shown: str
) -> None:
    body = (
        "<w:p><w:r><w:t xml:space='preserve'>open </w:t></w:r>"
        f"<w:r><w:rPr>{mark}</w:rPr><w:t>secret</w:t></w:r></w:p>"
    )
    draft = read_docx(source(word(body)))
    assert pages(draft)[0].text == shown
    said = [] if "secret" in shown else ["Hidden text in the document is left out."]
    assert draft.warnings == said


@pytest.mark.parametrize(
    ("kind", "path", "notes", "mark"),
    [
        ("footnotes", "footnotes.xml", "footnote", "Footnote 1: aside"),
        ("endnotes", "endnotes.xml", "endnote", "Endnote 1: aside"),
    ],
)
def test_notes_stand_behind_the_number_in_the_text(
    source: Make, pages: Pages, kind: str, path: str, notes: str, mark: str
) -> None:
    body = (
        f"<w:p><w:r><w:t>claim</w:t></w:r><w:r><w:{notes}Reference w:id='7'/></w:r>"
        "<w:r><w:t>.</w:t></w:r></w:p>"
    )
    content = part(kind, (
        f'<w:{notes} w:type="separator" w:id="0">{p("line")}</w:{notes}>'
        f'<w:{notes} w:id="7">{p("aside")}</w:{notes}>'
    ))  # fmt: skip
    data = word(body, **{kind: (path, content)})
    assert pages(read_docx(source(data)))[0].text == f"claim[1].\n\n{mark}"


@pytest.mark.parametrize(
    ("attributes", "text"),
    [
        ('w:author="Ada"', "words\n\nComment (Ada): look here"),
        ('w:author=""', "words\n\nComment: look here"),
        ("", "words\n\nComment: look here"),
    ],
)
def test_comments_are_marked(source: Make, pages: Pages, attributes: str, text: str) -> None:
    content = part("comments", f"<w:comment {attributes}>{p('look')}{p('here')}</w:comment>")
    data = word(p("words"), comments=("comments.xml", content))
    assert pages(read_docx(source(data)))[0].text == text


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ({"header1": ("h1.xml", part("hdr", p("Studio Verdi, Turin")))},
         "Studio Verdi, Turin\n\nbody"),
        ({"header1": ("h1.xml", part("hdr", p("Same"))),
          "header2": ("h2.xml", part("hdr", p("Same"))),
          "footer1": ("f1.xml", part("ftr", p("Tax 12")))}, "Same\n\nbody\n\nTax 12"),
        ({"header1": ("h1.xml", part("hdr", table(cell("Acme") + cell("Road 1")) )),
          "header2": ("h2.xml", "<broken")}, "| Acme | Road 1 |\n\nbody"),
    ],
)  # fmt: skip
def test_letterheads_stand_once(
    source: Make, pages: Pages, parts: dict[str, tuple[str, str]], text: str
) -> None:
    assert pages(read_docx(source(word(p("body"), **parts))))[0].text == text


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ({"footer1": ("f1.xml", part("ftr", p("Tax 12")))}, "body\n\nTax 12"),
        ({"footer1": ("f1.xml", part("ftr", p("Tax 12"))),
          "footer2": ("f2.xml", part("ftr", p("Bank 7"))),
          "footer3": ("f3.xml", part("ftr", p("Tax 12")))}, "body\n\nTax 12\n\nBank 7"),
        ({"footer1": ("f1.xml", part("ftr", table(cell("Tax 12") + cell("Bank 7"))))},
         "body\n\n| Tax 12 | Bank 7 |"),
        ({"footer1": ("f1.xml", part("ftr", "<w:p><w:hyperlink><w:r><w:t>acme.example</w:t></w:r>"
                                     "</w:hyperlink></w:p>"))}, "body\n\nacme.example"),
    ],
)  # fmt: skip
def test_footers_stand_once_at_the_end(
    source: Make, pages: Pages, parts: dict[str, tuple[str, str]], text: str
) -> None:
    assert pages(read_docx(source(word(p("body"), **parts))))[0].text == text


LINK = "<w:hyperlink r:id='x'><w:r><w:t>{}</w:t></w:r></w:hyperlink>"
SHOWN = "<w:r><w:t xml:space='preserve'>{}</w:t></w:r>"
FIELD = (
    "<w:r><w:fldChar w:fldCharType='begin'/></w:r><w:r><w:instrText>HYPERLINK \"http://a.example\""
    "</w:instrText></w:r><w:r><w:fldChar w:fldCharType='separate'/></w:r><w:r><w:t>{}</w:t></w:r>"
    "<w:r><w:fldChar w:fldCharType='end'/></w:r>"
)


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        (SHOWN.format("see ") + LINK.format("our site") + SHOWN.format(" now"), "see our site now"),
        (LINK.format("alone"), "alone"),
        (LINK.format("one") + LINK.format("two"), "onetwo"),
        (SHOWN.format("see ") + FIELD.format("our site"), "see our site"),
        ("<w:fldSimple w:instr='HYPERLINK \"http://a.example\"'><w:r><w:t>simple</w:t></w:r>"
         "</w:fldSimple>", "simple"),
        ("<w:ins>" + LINK.format("added") + "</w:ins><w:del><w:r><w:delText>gone</w:delText></w:r>"
         "</w:del>", "added"),
    ],
)  # fmt: skip
def test_the_text_of_links_is_read(source: Make, pages: Pages, inner: str, text: str) -> None:
    assert pages(read_docx(source(word(f"<w:p>{inner}</w:p>"))))[0].text == text
    row = f"<w:tbl><w:tr><w:tc><w:p>{inner}</w:p></w:tc><w:tc>{p('b')}</w:tc></w:tr></w:tbl>"
    assert pages(read_docx(source(word(row))))[0].text == f"| {text} | b |"


FRACTION = "<m:f><m:num>{}</m:num><m:den>{}</m:den></m:f>"


def run(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (FRACTION.format(run("a+b"), run("c")), "(a+b)/c"),
        (f"<m:sSup><m:e>{run('x')}</m:e><m:sup>{run('2')}</m:sup></m:sSup>", "x^2"),
        (f"<m:sSubSup><m:e>{run('x')}</m:e><m:sub>{run('i')}</m:sub><m:sup>{run('n+1')}</m:sup>"
         "</m:sSubSup>", "x_i^(n+1)"),
        (f"<m:rad><m:deg/><m:e>{run('y')}</m:e></m:rad>", "√(y)"),
        (f'<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>{run("i=1")}</m:sub><m:sup>'
         f'{run("n")}</m:sup><m:e>{run("i")}</m:e></m:nary>', "∑_(i=1)^n i"),
        (f'<m:d><m:dPr><m:begChr m:val="["/><m:endChr m:val="]"/></m:dPr><m:e>{run("z")}</m:e>'
         "</m:d>", "[z]"),
        (f"<m:func><m:fName>{run('sin')}</m:fName><m:e>{run('t')}</m:e></m:func>", "sin t"),
        (f"<m:m><m:mr><m:e>{run('1')}</m:e><m:e>{run('0')}</m:e></m:mr><m:mr><m:e>{run('0')}</m:e>"
         f"<m:e>{run('1')}</m:e></m:mr></m:m>", "[1, 0; 0, 1]"),
    ],
)  # fmt: skip
def test_equations_are_written_on_one_line(
    source: Make, pages: Pages, formula: str, text: str
) -> None:
    body = f"<w:p><w:r><w:t>so </w:t></w:r><m:oMath>{formula}</m:oMath></w:p>"
    assert pages(read_docx(source(word(body))))[0].text == f"so {text}"


BLIP = (
    "<w:p><w:r><w:t>above</w:t></w:r><w:r><w:drawing>{}"
    '<a:blip r:embed="image1"/></w:drawing></w:r></w:p>'
)
IMAGEDATA = '<w:p><w:r><w:t>above</w:t><w:pict><v:imagedata r:id="image1"/></w:pict></w:r></w:p>'


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (BLIP.format(""), "above\n\n[picture, not read]\n\nbelow"),
        (BLIP.format('<wp:docPr descr="A cat on a wall"/>'),
         "above\n\nA cat on a wall\n\n[picture, not read]\n\nbelow"),
        (BLIP.format('<wp:docPr descr="IMG_01.png"/>'), "above\n\n[picture, not read]\n\nbelow"),
        (BLIP.format('<wp:docPr descr="A cat&#10;Description automatically generated"/>'),
         "above\n\nA cat\n\n[picture, not read]\n\nbelow"),
        (IMAGEDATA, "above\n\n[picture, not read]\n\nbelow"),
    ],
)  # fmt: skip
def test_pictures_stand_in_their_place(source: Make, pages: Pages, body: str, text: str) -> None:
    data = word(body + p("below"), image1=("media/a.png", picture()))
    (page,) = pages(read_docx(source(data)))
    assert page.text == text
    assert page.pictures == 1


def test_a_picture_in_a_cell_follows_the_table(source: Make, pages: Pages) -> None:
    holder = f"<w:tc>{BLIP.format('')}</w:tc>"
    data = word(table(holder + cell("x"), cell("y") + cell("z")), image1=("m/a.png", picture()))
    (page,) = pages(read_docx(source(data)))
    assert page.text == ("| above | x |\n| --- | --- |\n| y | z |\n\n[picture, not read]")


def test_pictures_alone_that_are_not_read_are_said(source: Make, pages: Pages) -> None:
    data = word('<w:p><w:r><a:blip r:embed="image1"/></w:r></w:p>', image1=("a.png", picture()))
    (page,) = pages(read_docx(source(data)))
    assert (page.route, page.text) == ("unread", "")
    assert "pictures alone" in (page.warning or "")


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("a.html", "<html><body><h2>Inner</h2><p>words</p></body></html>", "## Inner\n\nwords"),
        ("a.txt", "plain words", "plain words"),
        ("a.docx", word(p("inner words")), "inner words"),
    ],
)
def test_documents_inside_are_read_in_their_place(
    source: Make, pages: Pages, name: str, content: str | bytes, text: str
) -> None:
    body = p("before") + '<w:altChunk r:id="aFChunk1"/>' + p("after")
    data = word(body, aFChunk1=(name, content))
    assert pages(read_docx(source(data)))[0].text == f"before\n\n{text}\n\nafter"


@pytest.mark.parametrize(("depth", "whole"), [(1, True), (4, True), (6, False)])
def test_documents_in_one_another_are_read_to_a_depth(
    source: Make, pages: Pages, depth: int, whole: bool
) -> None:
    data = word(p("innermost"))
    for _ in range(depth):
        data = word(p("x") + '<w:altChunk r:id="aFChunk1"/>', aFChunk1=("a.docx", data))
    (page,) = pages(read_docx(source(data)))
    assert ("innermost" in page.text) == whole


def test_a_broken_document_inside_is_said(source: Make, pages: Pages) -> None:
    body = p("before") + '<w:altChunk r:id="aFChunk1"/>'
    draft = read_docx(source(word(body, aFChunk1=("a.docx", b"PK\3\4broken"))))
    assert pages(draft)[0].text == "before"
    assert "A document inside of the document is not read" in draft.warnings[0]


@pytest.mark.parametrize(
    ("kind", "path"),
    [("package1", "embeddings/Plan.xlsx"), ("package1", "embeddings/b.docx"),
     ("oleObject1", "embeddings/object.bin")],
)  # fmt: skip
def test_embedded_files_become_documents(source: Make, pages: Pages, kind: str, path: str) -> None:
    draft = read_docx(source(word(p("x"), **{kind: (path, b"the bytes")})))
    pages(draft)
    (enclosed,) = draft.enclosed
    assert enclosed.name == path.rpartition("/")[2]
    assert b"".join(enclosed.data) == b"the bytes"


@pytest.mark.parametrize(
    "body", ["<w:p/>", "<w:p><w:r><w:t> </w:t></w:r></w:p>", table(cell("") + cell(""))]
)
def test_no_text_is_empty(source: Make, body: str) -> None:
    with pytest.raises(EmptyDocument, match="holds no text"):
        read_docx(source(word(body)))


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"word/other.xml": "<x/>"}, "missing"),
        ({"word/document.xml": f"<w:document {SPACES}/>"}, "no body"),
        ({"word/document.xml": "not xml"}, "is not XML"),
    ],
)
def test_what_is_no_document_is_refused(source: Make, parts: dict[str, str], reason: str) -> None:
    with pytest.raises(ReadingError, match=reason):
        read_docx(source(packed(dict(parts))))


def test_the_strict_variant_is_read(source: Make, pages: Pages) -> None:
    data = word(p("words", '<w:outlineLvl w:val="0"/>'))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    strict = {
        name: content.replace(
            b"http://schemas.openxmlformats.org/wordprocessingml/2006/main",
            b"http://purl.oclc.org/ooxml/wordprocessingml/main",
        )
        for name, content in parts.items()
    }
    assert pages(read_docx(source(packed(dict(strict)))))[0].text == "# words"


def test_a_chart_is_a_table(source: Make, pages: Pages) -> None:
    chart = (
        '<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" '
        'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><c:chart><c:title><a:p>'
        "<a:r><a:t>Rain</a:t></a:r></a:p></c:title><c:ser><c:tx><c:strRef><c:strCache>"
        '<c:pt idx="0"><c:v>mm</c:v></c:pt></c:strCache></c:strRef></c:tx><c:cat><c:numRef>'
        "<c:numCache><c:formatCode>yyyy\\-mm</c:formatCode>"
        '<c:pt idx="0"><c:v>46204</c:v></c:pt><c:pt idx="1"><c:v>46235</c:v></c:pt></c:numCache>'
        "</c:numRef></c:cat><c:val><c:numRef><c:numCache>"
        '<c:pt idx="1"><c:v>7.5</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser></c:chart>'
        "</c:chartSpace>"
    )
    body = '<w:p><w:r><w:drawing><c:chart xmlns:c="x" r:id="chart1"/></w:drawing></w:r></w:p>' + p(
        "below"
    )
    (page,) = pages(read_docx(source(word(body, chart1=("charts/c.xml", chart)))))
    assert page.text == (
        "Rain\n\n|  | mm |\n| --- | --- |\n| 2026-07-01 |  |\n| 2026-08-01 | 7.5 |\n\nbelow"
    )
    assert page.tables[0].rows == ((4, 4), (5, 5))


def test_python_docx_writes_what_is_read_back(tmp_path: Path, at: At, pages: Pages) -> None:
    document = Document()
    for number in range(1, 7):
        document.add_heading(f"Level {number}", number)
    document.add_heading("Name", 0)
    control = parse_xml(
        f"<w:sdt {SPACES}><w:sdtPr><w:dropDownList/></w:sdtPr><w:sdtContent>{p('chosen')}"
        "</w:sdtContent></w:sdt>"
    )
    document.element.body.insert(-1, control)
    assert document.element.body.find(qn("w:sdt")) is not None
    path = tmp_path / "a.docx"
    document.save(str(path))
    (page,) = pages(read_docx(at(path)))
    expected = [f"{'#' * number} Level {number}" for number in range(1, 7)]
    assert page.text.split("\n\n") == [*expected, "# Name", "chosen"]
