"""HTML is read as a person sees it."""

from __future__ import annotations

import base64
import datetime as dt
import io
import re
import urllib.parse
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from emily.errors import EmptyDocument, ReadingError
from emily.reading.pages import Page, Table
from emily.reading.source import Draft, Source
from emily.reading.web.page import html_text, read_html

Make = Callable[..., Source]
Pages = Callable[[Draft], list[Page]]


def test_blocks_lists_and_hidden_parts() -> None:
    text, tables, title = html_text(
        "<html><head><title> The\n title </title><style>p{}</style></head><body>"
        "<nav><a>Home</a></nav><h1>Head</h1><p>One <b>bold</b>\n word.<br>Next line.</p>"
        "<ul><li>first<li>second</ul><script>x()</script><p hidden>no</p>"
        '<p style="display: none">no</p><!-- no --><div>caf&eacute; &lt;b&gt;</div>'
        '<img alt="A chart"></body></html>'
    )
    assert text == (
        "# Head\n\nOne bold word.\nNext line.\n\n- first\n- second\n\ncafé <b>\n\nA chart"
    )
    assert tables == ()
    assert title == "The title"


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<h1>a</h1><h3>b <i>c</i></h3>d", "# a\n\n### b c\n\nd"),
        ("<h2>over<br>two lines</h2>", "## over two lines"),
        ("<h2></h2>words", "words"),
        ("<ul><li><h3>in a list</h3></li></ul>", "- in a list"),
    ],
)
def test_headings(markup: str, text: str) -> None:
    assert html_text(markup)[0] == text


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<ol><li>a<li>b</ol>", "1. a\n2. b"),
        ("<ol start=5><li>a<li value=9>b<li>c</ol>", "5. a\n9. b\n10. c"),
        ("<ol type=a><li>a<li>b</ol>", "a. a\nb. b"),
        ("<ul><li>a<ul><li>b<ol><li>c</ol></ul><li>d</ul>", "- a\n  - b\n    1. c\n- d"),
        ("<ul><li><p>a</p><p>more</p></li><li></li><li>b</li></ul>", "- a\n  more\n- b"),
        ("x<ul><li>a</ul>y", "x\n\n- a\n\ny"),
        ("<dl><dt>Term<dd>what it is<dt>Other<dd>another</dl>",
         "Term\nwhat it is\nOther\nanother"),
    ],
)  # fmt: skip
def test_lists(markup: str, text: str) -> None:
    assert html_text(markup)[0] == text


def test_tables_are_rows_of_cells() -> None:
    text, tables, _ = html_text(
        "<p>above</p><table><tr><th>Item<th>Price</tr><tr><td><p>Bread</p><p>white</p><td>1,50</tr>"
        "<tr><td>In<td><table><tr><td>a</td><td>b</td></tr></table></tr></table>below"
    )
    assert text == (
        "above\n\n| Item | Price |\n| --- | --- |\n| Bread white | 1,50 |\n| In | a, b |\n\nbelow"
    )
    assert tables == (Table((2, 3), ((4, 4), (5, 5))),)


def test_a_table_without_head_cells_has_no_header() -> None:
    _, tables, _ = html_text("<table><tr><td>a<td>b<tr><td>c<td>d</table>")
    assert tables == (Table(None, ((0, 1), (2, 2))),)


@pytest.mark.parametrize(
    ("rows", "lines"),
    [
        ("<tr><th colspan=2>a<th>b<tr><td>c<td>d<td>e",
         ["| a |  | b |", "| --- | --- | --- |", "| c | d | e |"]),
        ("<tr><th>a<th>b<tr><td rowspan=2>c<td>d<tr><td>e",
         ["| a | b |", "| --- | --- |", "| c | d |", "|  | e |"]),
        ("<tr><th>a<th>b<th>c<tr><td rowspan=2 colspan=2>d<td>e<tr><td>f",
         ["| a | b | c |", "| --- | --- | --- |", "| d |  | e |", "|  |  | f |"]),
        ("<tr><th>a<th>b<tr><td rowspan=0>c<td>d<tr><td>e",
         ["| a | b |", "| --- | --- |", "| c | d |", "|  | e |"]),
        ("<caption>Named</caption><tr><th>a<th>b<tr><td>c<td>d|e",
         ["Named", "", "| a | b |", "| --- | --- |", "| c | d\\|e |"]),
        ("<tr><th>a<th>b<tr><td>c<td><ul><li>x<li>y</ul>",
         ["| a | b |", "| --- | --- |", "| c | x y |"]),
        ("<tr><td>a<td colspan=99999999>b<tr><td>c<td>d",
         ["| a | b |", "| --- | --- |", "| c | d |"]),
    ],
)  # fmt: skip
def test_cells_that_span(rows: str, lines: list[str]) -> None:
    text, tables, _ = html_text(f"<table>{rows}</table>")
    assert text.split("\n") == lines
    assert len(tables) == 1


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<table><tr><td><p>one</p><p>two</p></td></tr></table>", "one\n\ntwo"),
        ("<table><tr><td><table><tr><td><h1>News</h1><p>words</p></table></table>",
         "# News\n\nwords"),
        ("<table role=presentation><tr><td>Total:</td><td>12 €</td></tr></table>",
         "| Total: | 12 € |"),
        ("<table><tr><td><p>left</p><p>column</p><td><p>right</p><p>column</p></table>",
         "left\n\ncolumn\n\nright\n\ncolumn"),
    ],
)  # fmt: skip
def test_tables_that_place_things_are_none(markup: str, text: str) -> None:
    found, tables, _ = html_text(markup)
    assert (found, tables) == (text, ())


def test_a_long_table_inside_of_a_cell_follows() -> None:
    inner = "".join(f"<tr><td>key {n}<td>{'value ' * 8}" for n in range(8))
    text, tables, _ = html_text(
        f"<table><tr><th>a<th>b<tr><td>c<td><table>{inner}</table></table>end"
    )
    assert text.startswith("| a | b |\n| --- | --- |\n| c |  |\n\n| key 0 |")
    assert text.endswith("\n\nend")
    assert len(tables) == 2
    lines = text.split("\n")
    assert all(lines[begin].startswith("| key") for begin, _ in tables[1].rows)


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ('<input value="Ada"> and <input type=number value=7>', "Ada and 7"),
        ("<label><input type=checkbox checked> yes</label><br><input type=radio> no",
         "☒ yes\n☐ no"),
        ("<select><option>a<option selected>b</select>", "b"),
        ("<select><option>a<option>b</select>", "a\nb"),
        ("<textarea>typed\nhere</textarea>", "typed here"),
        ("<input type=password value=x><input type=hidden value=y><button>Send</button>", "Send"),
    ],
)  # fmt: skip
def test_forms_show_their_values(markup: str, text: str) -> None:
    assert html_text(markup)[0] == text


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<p>shown<div class='cookie-banner'>We use cookies</div>", "shown"),
        ("<p>shown<div id='onetrust-consent-sdk'>We use cookies</div>", "shown"),
        ("<p>A recipe for <b class='cookies'>cookies</b>", "A recipe for cookies"),
        ("<p>shown<span style='visibility:hidden'>no</span>", "shown"),
        ("<p>shown<noscript>switch it on</noscript><template>no</template>", "shown"),
        ("<noscript>only without scripts</noscript>", "only without scripts"),
        ("<nav>only a menu</nav>", "only a menu"),
        ("<p>a\xadb\u200bc &zwnj; &zwnj;", "abc"),
        ("<iframe srcdoc='<h2>In</h2>ner'>old</iframe>", "## In\n\nner"),
        ("<svg><title>no</title><text>Label</text><text>two</text></svg>", "Label two"),
        ("<p>so <math><mi>x</mi></math>, <math><msup><mi>x</mi><mn>2</mn></msup>"
         "<annotation>x^2</annotation></math>", "so x, x^2"),
        ("<math><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr><mtr><mtd><mn>3</mn>"
         "</mtd></mtr></mtable></math>", "1 2 3"),
        ("<math><mlongdiv><mn>3</mn><mn>435</mn><msgroup><mn>12</mn><msline></msline><mn>10</mn>"
         "</msgroup></mlongdiv></math>", "3 435 12 10"),
        ("<ruby>東京<rp>(</rp><rt>とうきょう</rt><rp>)</rp></ruby>", "東京とうきょう"),
        ('<img alt="IMG_1.jpeg"><img alt="A cat">', "A cat"),
    ],
)  # fmt: skip
def test_what_is_seen(markup: str, text: str) -> None:
    assert html_text(markup)[0] == text


def picture_lines(target: str) -> list[str]:
    return [f"<{target}>", "words"] if target != "none" else []


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("a<img src=x>b", "a\n\n<x>\nwords\n\nb"),
        ("a<img src=none>b", "a b"),
        ("<ul><li>a<img src=x><li>b</ul>c", "- a\n- b\n\n<x>\nwords\n\nc"),
        ("<table><tr><th>a<img src=x><th>b<tr><td>c<td>d</table>e",
         "| a | b |\n| --- | --- |\n| c | d |\n\n<x>\nwords\n\ne"),
        ("<h1>a<img src=x></h1>b", "# a\n\n<x>\nwords\n\nb"),
    ],
)  # fmt: skip
def test_pictures_stand_in_their_place(markup: str, text: str) -> None:
    assert html_text(markup, picture_lines)[0] == text


def png() -> bytes:
    data = io.BytesIO()
    image = Image.new("RGB", (80, 80), "white")
    ImageDraw.Draw(image).line((5, 5, 70, 70), "black", 4)
    image.save(data, "PNG")
    return data.getvalue()


PNG = base64.b64encode(png()).decode()


@pytest.mark.parametrize(
    ("target", "counted"),
    [
        (f"data:image/png;base64,{PNG}", 1),
        (f"DATA:image/png;charset=x;base64,{PNG[:40]}&#10;{PNG[40:]}", 1),
        ("data:image/png," + urllib.parse.quote(png()), 1),
        ("data:image/svg+xml,<svg/>", 0),
        ("data:text/plain;base64,eA==", 0),
        ("https://example.org/a.png", 0),
        ("data:image/png", 0),
    ],
)
def test_pictures_inside_of_the_page(source: Make, pages: Pages, target: str, counted: int) -> None:
    (page,) = pages(read_html(source(f"<p>words<img src='{target}'>".encode())))
    assert page.pictures == counted
    assert page.text.startswith("words")


FACTS = "<html><head>{}</head><body><p>words</p></body></html>"


@pytest.mark.parametrize(
    ("head", "author", "date"),
    [
        ('<meta name="author" content="Ada Conti"><meta property="article:published_time" '
         'content="2026-03-04T08:00:00+01:00">', "Ada Conti", dt.date(2026, 3, 4)),
        ('<meta name="DC.creator" content="Bea"><meta name="DC.date" content="2025-12-31">',
         "Bea", dt.date(2025, 12, 31)),
        ('<script type="application/ld+json">{"@graph": [{"author": [{"name": "Ada"}], '
         '"datePublished": "2026-01-02"}]}</script>', "Ada", dt.date(2026, 1, 2)),
        ('<meta name="article:author" content="https://example.org/ada">'
         '<meta name="date" content="yesterday">', None, None),
        ('<script type="application/ld+json">{broken</script>', None, None),
        ("<time itemprop=datePublished datetime=2024-02-29>leap</time>", None,
         dt.date(2024, 2, 29)),
        ('<meta name="date" content="2025-02-30">', None, None),
    ],
)  # fmt: skip
def test_facts_of_a_page(source: Make, head: str, author: str | None, date: dt.date | None) -> None:
    facts = read_html(source(FACTS.format(head).encode())).facts
    assert (facts.author, facts.date) == (author, date)
    assert facts.date_source == ("metadata" if date else None)


@pytest.mark.parametrize(
    ("head", "title"),
    [
        ("<title>One</title><meta property='og:title' content='Two'>", "One"),
        ("<title> </title><meta property='og:title' content='Two'>", "Two"),
        ("<svg><title>icon</title></svg>", None),
    ],
)
def test_title_of_a_page(source: Make, head: str, title: str | None) -> None:
    assert read_html(source(FACTS.format(head).encode())).title == title


def test_preformatted_text_keeps_its_lines() -> None:
    text, _, _ = html_text("<p>x</p><pre>def f():\n    return 1\n</pre><p>y</p>")
    assert text == "x\n\ndef f():\n    return 1\n\ny"


def test_depth_is_no_matter() -> None:
    text, _, _ = html_text("<div>" * 1500 + "deep" + "</div>" * 1500)
    assert text == "deep"


def test_depth_without_reason_is_refused() -> None:
    with pytest.raises(ReadingError, match="nested too deeply"):
        html_text("<div>" * 5000 + "deep" + "</div>" * 5000)


@given(st.text(max_size=300))
def test_any_markup_becomes_text(markup: str) -> None:
    text, tables, _ = html_text(markup.encode("utf-8", "replace").decode())
    assert "\r" not in text
    assert all(end < text.count("\n") + 1 for table in tables for _, end in table.rows)


@pytest.mark.parametrize(
    "content",
    [
        "<meta charset='iso-8859-1'><p>perché".encode("latin-1"),
        "<meta charset='iso-8859-1'><p>perché".encode(),
        b"\xef\xbb\xbf" + "<p>perché".encode(),
        "<html><p>perché".encode("utf-16"),
        '<?xml version="1.0" encoding="windows-1252"?><html><p>perché</p></html>'.encode("cp1252"),
    ],
)
def test_encodings(source: Make, pages: Pages, content: bytes) -> None:
    assert pages(read_html(source(content)))[0].text == "perché"


@pytest.mark.parametrize("content", [b"<html><script>x</script></html>", b" ", b"<p>&nbsp;</p>"])
def test_a_page_without_text_is_empty(source: Make, content: bytes) -> None:
    with pytest.raises(EmptyDocument):
        read_html(source(content))


@pytest.mark.parametrize("content", [b"<p>a\0b", b"<p>a<!--\0-->b", b"<ti\0tle>x</title><p>ab"])
def test_nul_is_no_end(source: Make, pages: Pages, content: bytes) -> None:
    assert pages(read_html(source(content)))[0].text == "ab"


SPANS = st.lists(
    st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), min_size=1, max_size=4),
    min_size=2, max_size=5,
)  # fmt: skip


@given(SPANS)
def test_no_cell_is_lost_whatever_the_spans(spans: list[list[tuple[int, int]]]) -> None:
    markup = "".join(
        "<tr>" + "".join(
            f"<th colspan={across} rowspan={down}>c{y}{x}"
            for x, (across, down) in enumerate(row)
        )
        for y, row in enumerate(spans)
    )  # fmt: skip
    text, _, _ = html_text(f"<table>{markup}</table>")
    expected = [f"c{y}{x}" for y, row in enumerate(spans) for x in range(len(row))]
    assert re.findall(r"c\d\d", text) == expected
    assert len({line.count("|") for line in text.split("\n")}) == 1


def test_entities_of_a_bomb_are_not_expanded() -> None:
    bomb = '<!DOCTYPE html [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><p>&b;x</p>'
    text, _, _ = html_text(bomb)
    assert "aaaaaaaaaaaaaaa" not in text
