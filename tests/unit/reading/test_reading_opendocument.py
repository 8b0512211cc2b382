"""OpenDocument files are read as they are shown, and bounded where they only claim to be large."""

from __future__ import annotations

import base64
import datetime as dt
import io
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from emily.errors import EmptyDocument, LimitExceeded, PasswordRequired, ReadingError
from emily.reading.kind import detect
from emily.reading.opendocument.document import read_odp, read_ods, read_odt
from emily.reading.opendocument.styles import Level, Numbering
from emily.reading.opendocument.tables import MOST_ROWS
from emily.reading.pages import Page
from emily.reading.source import Draft, Source

Make = Callable[..., Source]
Pages = Callable[[Draft], list[Page]]

NAMES = " ".join(
    f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for prefix, name in (
        ("office", "office"),
        ("text", "text"),
        ("table", "table"),
        ("style", "style"),
        ("draw", "drawing"),
        ("svg", "svg-compatible"),
        ("form", "form"),
        ("meta", "meta"),
        ("presentation", "presentation"),
        ("number", "datastyle"),
    )
)
NAMES += (
    ' xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xlink="http://www.w3.org/1999/xlink"'
    ' xmlns:math="http://www.w3.org/1998/Math/MathML"'
)


def root(name: str, inner: str) -> str:
    return f'<?xml version="1.0"?><office:{name} {NAMES}>{inner}</office:{name}>'


def package(
    body: str,
    *,
    kind: str = "text",
    styles: str = "",
    automatic: str = "",
    meta: str = "",
    parts: dict[str, str | bytes] | None = None,
) -> bytes:
    """An OpenDocument package around a body."""
    content = (
        f"<office:automatic-styles>{automatic}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body>"
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", f"application/vnd.oasis.opendocument.{kind}")
        archive.writestr("content.xml", root("document-content", content))
        archive.writestr("styles.xml", root("document-styles", styles))
        if meta:
            archive.writestr(
                "meta.xml", root("document-meta", f"<office:meta>{meta}</office:meta>")
            )
        for name, data in (parts or {}).items():
            archive.writestr(name, data)
    return out.getvalue()


def picture(size: int = 80) -> bytes:
    out = io.BytesIO()
    image = Image.new("L", (size, size), 255)
    image.paste(0, (10, 30, 70, 50))  # ink: an even picture holds nothing to read
    image.save(out, "PNG")
    return out.getvalue()


def read_text(source: Make, pages: Pages, body: str, **given: object) -> str:
    return pages(read_odt(source(package(body, **given), "a.odt")))[0].text  # type: ignore[arg-type]


def cell(text: str, more: str = "") -> str:
    return f"<table:table-cell {more}><text:p>{text}</text:p></table:table-cell>"


# Texts


def test_paragraphs_headings_and_blanks(source: Make, pages: Pages) -> None:
    text = read_text(
        source,
        pages,
        '<text:h text:outline-level="1">Lease</text:h>'
        '<text:p>Two<text:s text:c="2"/>blanks,<text:tab/>a tab,<text:line-break/>a line.</text:p>'
        '<text:h text:outline-level="2">Rent <text:span>and</text:span> term</text:h>'
        "<text:p>In  a\n   file<text:span> breaks</text:span> are blanks.</text:p>",
    )
    assert text == (
        "# Lease\n\nTwo  blanks,\ta tab,\na line.\n\n## Rent and term\n\nIn a file breaks are"
        " blanks."
    )


NUMBERED = (
    '<text:list-style style:name="L1">'
    '<text:list-level-style-number text:level="1" style:num-suffix="." style:num-format="1"/>'
    '<text:list-level-style-number text:level="2" style:num-suffix=")" style:num-format="a"/>'
    '<text:list-level-style-number text:level="3" style:num-format="1" text:display-levels="3"/>'
    "</text:list-style>"
    '<text:list-style style:name="L2"><text:list-level-style-bullet text:level="1"/>'
    "</text:list-style>"
    '<text:list-style style:name="L3"><text:list-level-style-number text:level="1"'
    ' style:num-format="I" style:num-prefix="Art. " text:start-value="4"/></text:list-style>'
)


def items(*texts: str, style: str = "L1", more: str = "") -> str:
    inner = "".join(f"<text:list-item><text:p>{text}</text:p></text:list-item>" for text in texts)
    return f'<text:list text:style-name="{style}" {more}>{inner}</text:list>'


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (items("one", "two"), "1. one\n2. two"),
        (items("one", style="L2"), "- one"),
        (items("one", "two", style="L3"), "Art. IV one\nArt. V two"),
        (items("one", style="unknown"), "- one"),
        (
            items("one", more='xml:id="a"')
            + "<text:p>between</text:p>"
            + items("two", more='text:continue-list="a"'),
            "1. one\n\nbetween\n\n2. two",
        ),
        (
            items("one") + items("again") + items("two", more='text:continue-numbering="true"'),
            "1. one\n1. again\n2. two",
        ),
        (
            '<text:list text:style-name="L1"><text:list-item><text:p>one</text:p><text:p>more'
            "</text:p>"
            "<text:list><text:list-item><text:p>in</text:p></text:list-item></text:list>"
            "</text:list-item><text:list-item><text:p>two</text:p></text:list-item></text:list>",
            "1. one\n  more\n  a) in\n2. two",
        ),
        (
            '<text:list text:style-name="L1"><text:list-item><text:list><text:list-item><text:list>'
            "<text:list-item><text:p>deep</text:p></text:list-item></text:list></text:list-item>"
            "</text:list></text:list-item></text:list>",
            "    1.a.1 deep",
        ),
        (
            '<text:list text:style-name="L1"><text:list-header><text:p>bare</text:p>'
            "</text:list-header>"
            '<text:list-item text:start-value="7"><text:p>seven</text:p></text:list-item>'
            "</text:list>",
            "bare\n\n7. seven",
        ),
    ],
)
def test_lists_are_numbered_as_they_are_shown(
    source: Make, pages: Pages, body: str, expected: str
) -> None:
    assert read_text(source, pages, body, automatic=NUMBERED) == expected


def test_headings_carry_the_number_of_their_chapter(source: Make, pages: Pages) -> None:
    outline = (
        "<office:styles><text:outline-style>"
        '<text:outline-level-style text:level="1" style:num-format="1"/>'
        '<text:outline-level-style text:level="2" style:num-format="1" text:display-levels="2"/>'
        '<text:outline-level-style text:level="3" style:num-format=""/>'
        "</text:outline-style></office:styles>"
    )
    body = "".join(
        f'<text:h text:outline-level="{level}">{name}</text:h>'
        for level, name in ((1, "A"), (2, "B"), (3, "C"), (2, "D"), (1, "E"), (2, "F"))
    )
    text = read_text(source, pages, body, styles=outline)
    assert text.split("\n\n") == ["# 1. A", "## 1.1 B", "### C", "## 1.2 D", "# 2. E", "## 2.1 F"]


@given(st.integers(1, 999), st.sampled_from("1aAiI"))
def test_numbers_of_lists_are_all_different(value: int, form: str) -> None:
    def label(at: int) -> str:
        numbering = Numbering({1: at})
        return numbering.label({1: Level(form, after=")")}, 1)

    assert label(value).endswith(")")
    assert label(value) != label(value + 1)


def test_tables_with_merged_and_repeated_cells(source: Make, pages: Pages) -> None:
    body = (
        "<table:table><table:table-header-rows><table:table-row>"
        + cell("Item", 'table:number-columns-spanned="2"')
        + "<table:covered-table-cell/>"
        + cell("Price")
        + "</table:table-row></table:table-header-rows><table:table-row>"
        + cell("Bread")
        + cell("same", 'table:number-columns-repeated="2"')
        + '</table:table-row><table:table-row table:number-rows-repeated="2">'
        + cell("a | b")
        + "<table:table-cell/>"
        + cell("2")
        + "</table:table-row></table:table>"
    )
    page = pages(read_odt(source(package(body), "a.odt")))[0]
    assert page.text == (
        "| Item |  | Price |\n| --- | --- | --- |\n| Bread | same | same |\n"
        "| a \\| b |  | 2 |\n| a \\| b |  | 2 |"
    )
    assert page.tables[0].header == (0, 1)
    assert page.tables[0].rows == ((2, 2), (3, 3), (4, 4))


def test_a_table_in_a_table_stays_in_its_cell(source: Make, pages: Pages) -> None:
    inner = f"<table:table><table:table-row>{cell('x')}{cell('y')}</table:table-row></table:table>"
    body = (
        f"<table:table><table:table-row>{cell('a')}{cell('b')}</table:table-row><table:table-row>"
        f"<table:table-cell><text:p>in</text:p>{inner}</table:table-cell>{cell('d')}"
        "</table:table-row></table:table>"
    )
    assert "| in x, y | d |" in read_text(source, pages, body)


def test_notes_and_comments_stand_at_the_end_and_are_marked(source: Make, pages: Pages) -> None:
    body = (
        '<text:p>The heater<text:note text:note-class="footnote"><text:note-citation>1'
        "</text:note-citation><text:note-body><text:p>Model B.</text:p></text:note-body>"
        "</text:note>"
        ' hums<text:note text:note-class="endnote"><text:note-body><text:p>Since May.</text:p>'
        "</text:note-body></text:note>.<office:annotation><dc:creator>Nora Vey</dc:creator>"
        "<dc:date>2031-02-03T10:00:00</dc:date><text:p>Call</text:p><text:p>them.</text:p>"
        "</office:annotation></text:p><text:p>Next.</text:p>"
    )
    assert read_text(source, pages, body) == (
        "The heater hums.\n\nNext.\n\nFootnote: Model B.\n\nEndnote: Since May.\n\n"
        "Comment (Nora Vey): Call them."
    )


def test_letterheads_stand_once(source: Make, pages: Pages) -> None:
    masters = (
        "<office:master-styles>"
        + 2
        * (
            '<style:master-page style:name="M"><style:header><text:p>Vey &amp; Sons</text:p>'
            "</style:header><style:footer><text:p>Page <text:page-number>1</text:page-number>"
            "</text:p></style:footer></style:master-page>"
        )
        + '<style:master-page><style:header style:display="false"><text:p>Off</text:p>'
        "</style:header></style:master-page></office:master-styles>"
    )
    text = read_text(source, pages, "<text:p>Dear all</text:p>", styles=masters)
    assert text == "Vey & Sons\n\nDear all\n\nPage"


def test_changes_are_read_as_accepted_and_said(source: Make, pages: Pages) -> None:
    body = (
        "<text:tracked-changes><text:changed-region><text:deletion><text:p>never</text:p>"
        "</text:deletion></text:changed-region></text:tracked-changes>"
        "<text:p>We <text:change/>always<text:change-start/> pay<text:change-end/>.</text:p>"
    )
    draft = read_odt(source(package(body), "a.odt"))
    assert pages(draft)[0].text == "We always pay."
    assert "1 tracked deletions are left out" in draft.warnings[0]


@pytest.mark.parametrize(
    "hidden",
    [
        '<text:p text:style-name="H">secret</text:p>',
        '<text:p><text:span text:style-name="T">secret</text:span></text:p>',
        '<text:section text:display="none"><text:p>secret</text:p></text:section>',
        '<text:p><text:hidden-text text:string-value="secret"/></text:p>',
    ],
)
def test_hidden_text_is_left_out_and_said(source: Make, pages: Pages, hidden: str) -> None:
    none = '<style:text-properties text:display="none"/></style:style>'
    automatic = (
        f'<style:style style:name="H0" style:family="paragraph">{none}'
        '<style:style style:name="H" style:family="paragraph" style:parent-style-name="H0"/>'
        f'<style:style style:name="T" style:family="text">{none}'
    )
    body = hidden + "<text:p>shown</text:p>"
    draft = read_odt(source(package(body, automatic=automatic), "a.odt"))
    assert pages(draft)[0].text == "shown"
    assert draft.warnings == ["1 hidden passages are left out."]


def test_boxes_pictures_and_their_names(source: Make, pages: Pages) -> None:
    body = (
        "<text:p>Before<draw:frame><draw:text-box><text:p>Boxed</text:p></draw:text-box>"
        "</draw:frame> after</text:p><text:p><draw:frame><svg:title>The boiler</svg:title>"
        '<draw:image xlink:href="Pictures/1.png"/></draw:frame></text:p><text:p>End</text:p>'
    )
    page = pages(read_odt(source(package(body, parts={"Pictures/1.png": picture()}), "a.odt")))[0]
    assert page.text == ("Before after\n\nBoxed\n\nThe boiler\n\n[picture, not read]\n\nEnd")
    assert page.pictures == 1


@pytest.mark.parametrize(
    "target", ["Pictures/none.png", "../outside.png", "http://a.example/x.png"]
)
def test_a_picture_that_is_not_there_is_said(source: Make, pages: Pages, target: str) -> None:
    body = f'<text:p>Text<draw:frame><draw:image xlink:href="{target}"/></draw:frame></text:p>'
    draft = read_odt(source(package(body), "a.odt"))
    assert pages(draft)[0].text == "Text"
    assert len(draft.warnings) == 1
    assert "picture" in draft.warnings[0] or "pictures/none.png" in draft.warnings[0].lower()


def test_a_document_of_unread_pictures_alone_is_unread(source: Make, pages: Pages) -> None:
    body = '<text:p><draw:frame><draw:image xlink:href="Pictures/1.png"/></draw:frame></text:p>'
    page = pages(read_odt(source(package(body, parts={"Pictures/1.png": picture()}), "a.odt")))[0]
    assert (page.route, page.text, page.pictures) == ("unread", "", 1)
    assert page.warning is not None


def test_formulas_charts_and_sheets_inside_a_text(source: Make, pages: Pages) -> None:
    math = (
        f"<math:math {NAMES}><math:mi>E</math:mi><math:mo>=</math:mo><math:mfrac><math:mi>p"
        f"</math:mi>"
        "<math:msup><math:mi>c</math:mi><math:mn>2</math:mn></math:msup></math:mfrac></math:math>"
    )
    table = (
        f"<table:table><table:table-row>{cell('Year')}{cell('Rent')}</table:table-row>"
        f"<table:table-row>{cell('2031')}{cell('700')}</table:table-row></table:table>"
    )
    inner = f"<office:body><office:spreadsheet>{table}</office:spreadsheet></office:body>"
    body = (
        '<text:p>So <draw:frame><draw:object xlink:href="./Object 1"/></draw:frame> holds.</text:p>'
        '<text:p><draw:frame><draw:object xlink:href="./Object 2"/>'
        '<draw:image xlink:href="./ObjectReplacements/Object 2"/></draw:frame></text:p>'
    )
    parts: dict[str, str | bytes] = {
        "Object 1/content.xml": math,
        "Object 2/content.xml": root("document-content", inner),
        "ObjectReplacements/Object 2": picture(),
    }
    text = read_text(source, pages, body, parts=parts)
    assert text == "So E = p/c^2 holds.\n\n| Year | Rent |\n| --- | --- |\n| 2031 | 700 |"


def test_filled_forms(source: Make, pages: Pages) -> None:
    body = (
        '<office:forms><form:form><form:text form:id="c1" form:name="Name"'
        ' form:current-value="Ida"/>'
        '<form:checkbox form:id="c2" form:label="Agree" form:current-state="checked"/>'
        '<form:listbox form:id="c3" form:name="Town"><form:option form:label="Ulm"/>'
        '<form:option form:label="Bari" form:current-selected="true"/></form:listbox>'
        '<form:text form:id="c4" form:name="Empty"/></form:form></office:forms><text:p>Form'
        + "".join(f'<draw:control draw:control="c{at}"/>' for at in (1, 2, 3, 4))
        + "</text:p>"
    )
    assert read_text(source, pages, body) == "Form\n\nName: Ida\n\n[x] Agree\n\nTown: Bari"


def test_facts_and_title(source: Make, pages: Pages) -> None:
    meta = (
        "<dc:title> Lease\n draft </dc:title><meta:initial-creator>Ida Vey</meta:initial-creator>"
        "<dc:creator>Someone Else</dc:creator><meta:creation-date>2031-02-03T10:11:12"
        "</meta:creation-date>"
        "<dc:date>2032-01-01T00:00:00</dc:date>"
    )
    draft = read_odt(source(package("<text:p>x</text:p>", meta=meta), "a.odt"))
    assert draft.title == "Lease draft"
    assert draft.facts.author == "Ida Vey"
    assert draft.facts.date == dt.date(2032, 1, 1)
    assert draft.facts.date_source == "metadata"


@pytest.mark.parametrize("date", ["yesterday", "2031-13-40T00:00:00", ""])
def test_a_date_that_cannot_be_read_is_absent(source: Make, date: str) -> None:
    meta = f"<meta:creation-date>{date}</meta:creation-date>"
    draft = read_odt(source(package("<text:p>x</text:p>", meta=meta), "a.odt"))
    assert draft.facts.date is None
    assert draft.facts.date_source is None


# Bad files


@pytest.mark.parametrize(
    "manifest",
    [
        (
            "<m:manifest xmlns:m='urn:m'><m:file-entry><m:encryption-data/></m:file-entry>"
            "</m:manifest>"
        ),
        '<!DOCTYPE manifest:manifest PUBLIC "-//OpenOffice.org//DTD Manifest 1.0//EN"'
        ' "Manifest.dtd">'
        "<manifest:manifest><manifest:encryption-data/></manifest:manifest>",
        "<manifest><file-entry><encryption-data checksum='x'/></file-entry></manifest>",
    ],
)
@pytest.mark.parametrize("reader", [read_odt, read_ods, read_odp])
def test_an_encrypted_file_asks_for_a_password(
    source: Make, manifest: str, reader: Callable[[Source], Draft]
) -> None:
    content = package("<text:p>x</text:p>", parts={"META-INF/manifest.xml": manifest})
    with pytest.raises(PasswordRequired):
        reader(source(content))


@pytest.mark.parametrize("body", ["", "<text:p/>", "<text:p> <text:s/></text:p>"])
def test_an_empty_text_is_said_to_be_empty(source: Make, body: str) -> None:
    with pytest.raises(EmptyDocument):
        read_odt(source(package(body), "a.odt"))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>",
        b"<office:document-content xmlns:office='urn:o'/>",
    ],
)
def test_broken_content_is_an_error_of_that_file(source: Make, content: bytes) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("content.xml", content)
    with pytest.raises(ReadingError):
        read_odt(source(out.getvalue(), "a.odt"))


def test_a_broken_part_is_a_warning(source: Make, pages: Pages) -> None:
    content = package("<text:p>x</text:p>", parts={"meta.xml": "no xml at all"})
    draft = read_odt(source(content, "a.odt"))
    assert pages(draft)[0].text == "x"
    assert "meta.xml" in draft.warnings[0]


@pytest.mark.parametrize("name", ["text:span", "text:section", "draw:g", "text:list-item"])
def test_depth_is_no_matter(source: Make, pages: Pages, name: str) -> None:
    body = f"<{name}>" * 240 + "<text:p>deep</text:p>" + f"</{name}>" * 240
    text = read_text(source, pages, f"<text:p>top</text:p>{body}")
    assert "top" in text
    assert "deep" in text or name == "draw:g"


def test_a_bomb_is_refused(source: Make) -> None:
    with pytest.raises(LimitExceeded, match="decompression bomb"):
        read_odt(source(package("<text:p>x</text:p>" + " " * (30 << 20)), "a.odt"))


LEAVES = st.sampled_from(["text:p", "text:h", "text:s", "table:table-cell"])
TREES = st.recursive(LEAVES, lambda inner: st.lists(inner, min_size=1, max_size=4), max_leaves=20)


@given(TREES)
def test_any_nesting_of_elements_is_read(tree: object) -> None:
    wraps = ["text:list", "text:list-item", "table:table", "table:table-row", "draw:frame"]

    def markup(node: object, depth: int) -> str:
        if isinstance(node, str):
            return f"<{node}>w{'' if node == 'text:s' else '<text:span>o</text:span>'}</{node}>"
        assert isinstance(node, list)
        name = wraps[depth % len(wraps)]
        return f"<{name}>{''.join(markup(child, depth + 1) for child in node)}</{name}>"

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.odt"
        path.write_bytes(package(markup(tree, 0) + "<text:p>last</text:p>"))
        draft = read_odt(Source(path, ocr=None, deadline=time.monotonic() + 60, seconds=60))
        page = next(iter(draft.pages))
        lines = page.text.split("\n")
        assert "last" in lines
        for table in page.tables:
            assert all(lines[first].startswith("|") for first, _ in table.rows)


# Flat files


@pytest.mark.parametrize(
    ("kind", "inner", "name", "reader"),
    [
        ("text", "<text:p>flat words</text:p>", "odt", read_odt),
        (
            "spreadsheet",
            f'<table:table table:name="S"><table:table-row>{cell("flat words")}</table:table-row>'
            "</table:table>",
            "ods",
            read_ods,
        ),
        (
            "presentation",
            "<draw:page><draw:frame><draw:text-box><text:p>flat words</text:p></draw:text-box>"
            "</draw:frame></draw:page>",
            "odp",
            read_odp,
        ),
    ],
)
def test_flat_files(
    source: Make,
    pages: Pages,
    kind: str,
    inner: str,
    name: str,
    reader: Callable[[Source], Draft],
) -> None:
    mime = f'office:mimetype="application/vnd.oasis.opendocument.{kind}"'
    body = f"<office:body><office:{kind}>{inner}</office:{kind}></office:body>"
    made = source(
        f'<?xml version="1.0"?><office:document {NAMES} {mime}>{body}</office:document>'.encode()
    )
    assert detect(made.path, "a.fod").name == name
    assert "flat words" in pages(reader(made))[0].text


def test_a_flat_file_holds_its_pictures(source: Make, pages: Pages) -> None:
    data = base64.b64encode(picture()).decode()
    body = (
        "<office:body><office:text><text:p>x<draw:frame><draw:image><office:binary-data>"
        f"{data}</office:binary-data></draw:image></draw:frame></text:p></office:text>"
        f"</office:body>"
    )
    page = pages(read_odt(source(root("document", body).encode(), "a.fodt")))[0]
    assert page.pictures == 1


@pytest.mark.parametrize("text", ["<office:document", "<a/>", "<!DOCTYPE a [<!ENTITY x 'y'>]><a/>"])
def test_what_is_no_flat_file_is_refused(source: Make, text: str) -> None:
    with pytest.raises(ReadingError):
        read_odt(source(text.encode(), "a.fodt"))


# Spreadsheets


def sheet(rows: str, name: str = "Costs", more: str = "") -> str:
    return f'<table:table table:name="{name}">{rows}{more}</table:table>'


def value(kind: str, shown: str, **given: str) -> str:
    attributes = "".join(f' office:{name.replace("_", "-")}="{v}"' for name, v in given.items())
    return (
        f'<table:table-cell office:value-type="{kind}"{attributes}><text:p>{shown}</text:p>'
        "</table:table-cell>"
    )


def read_sheets(source: Make, pages: Pages, *sheets: str) -> list[Page]:
    return pages(read_ods(source(package("".join(sheets), kind="spreadsheet"), "a.ods")))


@pytest.mark.parametrize(
    ("given_cell", "expected"),
    [
        (value("float", "1.234,50", value="1234.5"), "1.234,50"),
        (value("currency", "7,00 €", value="7"), "7,00 €"),
        (value("percentage", "12 %", value="0.12"), "12 %"),
        (value("float", "###", value="0.1"), "0.1"),
        (value("float", "", value="0.30000000000000004"), "0.3"),
        (value("date", "3. Feb 31", date_value="2031-02-03"), "2031-02-03"),
        (value("date", "3.2.31 10:11", date_value="2031-02-03T10:11:12.5"), "2031-02-03 10:11:12"),
        (value("date", "3.2.31", date_value="2031-02-03T00:00:00"), "2031-02-03"),
        (value("date", "soon", date_value="soon"), "soon"),
        (value("time", "12:30", time_value="PT12H30M05S"), "12:30:05"),
        (value("boolean", "", boolean_value="true"), "TRUE"),
        (value("string", "", string_value="kept"), "kept"),
        (value("string", "a\n b <text:span>c</text:span>"), "a b c"),
    ],
)
def test_values_of_cells(source: Make, pages: Pages, given_cell: str, expected: str) -> None:
    rows = f"<table:table-row>{cell('key')}{given_cell}</table:table-row>"
    assert f"| key | {expected} |" in read_sheets(source, pages, sheet(rows))[0].text


def test_a_page_per_sheet_and_a_table_per_block(source: Make, pages: Pages) -> None:
    rows = (
        f"<table:table-row>{cell('Item')}{cell('Price')}</table:table-row>"
        f"<table:table-row>{cell('Bread')}{value('float', '2', value='2')}</table:table-row>"
        '<table:table-row table:number-rows-repeated="3"><table:table-cell/></table:table-row>'
        f"<table:table-row><table:table-cell/>{cell('a')}{cell('b')}</table:table-row>"
        f"<table:table-row><table:table-cell/>{cell('c')}{cell('d')}</table:table-row>"
    )
    found = read_sheets(source, pages, sheet(rows), sheet("", "Empty"), sheet(rows, "More"))
    assert [page.number for page in found] == [1, 2, 3]
    assert found[0].text == (
        "# Costs\n\n| Item | Price |\n| --- | --- |\n| Bread | 2 |\n\n"
        "| a | b |\n| --- | --- |\n| c | d |"
    )
    assert found[0].tables[0].header == (2, 3)
    assert found[1].route == "blank"
    assert found[2].text.startswith("# More")


@pytest.mark.parametrize(
    "rows",
    [
        f"<table:table-row>{cell('a')}{cell('b')}"
        '<table:table-cell table:number-columns-repeated="16382"/></table:table-row>'
        '<table:table-row table:number-rows-repeated="1048575"><table:table-cell'
        ' table:number-columns-repeated="16384"/></table:table-row>',
        '<table:table-row table:number-rows-repeated="1048574"><table:table-cell/>'
        "</table:table-row>"
        f"<table:table-row>{cell('a')}{cell('b')}</table:table-row>",
        '<table:table-row><table:table-cell table:number-columns-repeated="16383"/>'
        f"{cell('a')}{cell('b')}</table:table-row>",
    ],
)
def test_only_real_cells_are_read(source: Make, pages: Pages, rows: str) -> None:
    assert read_sheets(source, pages, sheet(rows))[0].text == "# Costs\n\n| a | b |"


def test_a_cap_that_cuts_is_said(source: Make, pages: Pages) -> None:
    rows = (
        f'<table:table-row table:number-rows-repeated="1048576">{cell("a")}{cell("b")}'
        "</table:table-row>"
    )
    page = read_sheets(source, pages, sheet(rows))[0]
    assert page.text.count("| a | b |") == MOST_ROWS
    assert page.warning is not None
    assert f"{MOST_ROWS:,}" in page.warning


def test_a_sheet_that_repeats_itself_without_end_is_refused(source: Make, pages: Pages) -> None:
    rows = (
        '<table:table-row table:number-rows-repeated="1048576">'
        f"{cell('word', 'table:number-columns-repeated=' + chr(34) + '16384' + chr(34))}"
        "</table:table-row>"
    )
    with pytest.raises(LimitExceeded):
        read_sheets(source, pages, sheet(rows))


def test_comments_drawings_and_formulas_of_a_sheet(source: Make, pages: Pages) -> None:
    noted = (
        "<table:table-cell office:value-type='string'><office:annotation><dc:creator>Ida"
        "</dc:creator>"
        "<text:p>check</text:p></office:annotation><text:p>total</text:p></table:table-cell>"
    )
    rows = (
        f"<table:table-row>{noted}<table:table-cell table:formula='of:=1+1'/></table:table-row>"
        f"<table:table-row>{cell('x')}"
        f"{value('float', '2', value='2')}</table:table-row>"
    )
    shapes = (
        "<table:shapes><draw:frame><draw:text-box><text:p>Boxed</text:p></draw:text-box>"
        "</draw:frame></table:shapes>"
    )
    draft = read_ods(source(package(sheet(rows, more=shapes), kind="spreadsheet"), "a.ods"))
    page = pages(draft)[0]
    assert page.text.endswith("Boxed\n\nComment (Ida): check")
    assert "| total |  |" in page.text
    assert draft.warnings
    assert draft.warnings[0].startswith("1 formulas have no stored value")


def test_a_spreadsheet_without_sheets_is_empty(source: Make) -> None:
    with pytest.raises(EmptyDocument):
        read_ods(source(package("<table:calculation-settings/>", kind="spreadsheet")))


# Presentations


def frame(text: str, kind: str = "outline", more: str = "") -> str:
    return (
        f'<draw:frame presentation:class="{kind}" {more}><draw:text-box><text:p>{text}</text:p>'
        "</draw:text-box></draw:frame>"
    )


def read_slides(source: Make, pages: Pages, body: str, **given: object) -> list[Page]:
    content = package(body, kind="presentation", **given)  # type: ignore[arg-type]
    return pages(read_odp(source(content, "a.odp")))


def test_a_page_per_slide_with_title_groups_and_notes(source: Make, pages: Pages) -> None:
    body = (
        '<draw:page draw:name="page1">'
        + frame("Points")
        + frame("The plan", "title")
        + "<draw:g><draw:g><draw:custom-shape><text:p>grouped</text:p></draw:custom-shape></draw:g>"
        "<draw:frame><draw:text-box/></draw:frame></draw:g>"
        + f"<draw:frame><table:table><table:table-row>{cell('a')}{cell('b')}</table:table-row>"
        f"<table:table-row>{cell('c')}{cell('d')}</table:table-row></table:table></draw:frame>"
        + frame("Click to add text", more='presentation:placeholder="true"')
        + "<presentation:notes><draw:page-thumbnail/>"
        + frame("Speak slowly", "notes")
        + frame("7", "page-number")
        + "</presentation:notes></draw:page>"
        + '<draw:page draw:name="page2"/>'
        + f'<draw:page draw:name="Prices">{frame("no title")}</draw:page>'
    )
    found = read_slides(source, pages, body)
    assert found[0].text == (
        "# The plan\n\nPoints\n\ngrouped\n\n| a | b |\n| --- | --- |\n| c | d |\n\n"
        "Notes: Speak slowly"
    )
    assert found[0].tables[0].rows == ((8, 8),)
    assert found[1].route == "blank"
    assert found[2].text == "# Prices\n\nno title"


def test_what_a_slide_lacks_is_said(source: Make, pages: Pages) -> None:
    body = (
        '<draw:page draw:name="page1"><draw:frame><draw:image xlink:href="Pictures/x.png"/>'
        "</draw:frame>" + frame("words") + "</draw:page>"
    )
    page = read_slides(source, pages, body)[0]
    assert page.text == "words"
    assert page.warning is not None
    assert page.warning.startswith("Slide 1:")


def test_a_presentation_without_slides_is_empty(source: Make) -> None:
    with pytest.raises(EmptyDocument):
        read_odp(source(package("<presentation:settings/>", kind="presentation")))
