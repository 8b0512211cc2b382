"""HTML is read as a person sees it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emily.errors import EmptyDocument, ReadingError
from emily.reading.pages import Page, Table
from emily.reading.source import Draft, Source
from emily.reading.web import html_text, read_html

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
        "Head\n\nOne bold word.\nNext line.\n\n- first\n- second\n\ncafé <b>\n\nA chart"
    )
    assert tables == ()
    assert title == "The title"


def test_tables_are_rows_of_cells() -> None:
    text, tables, _ = html_text(
        "<p>above</p><table><tr><th>Item<th>Price</tr><tr><td><p>Bread</p><p>white</p><td>1,50</tr>"
        "<tr><td>In<td><table><tr><td>a</td><td>b</td></tr></table></tr></table>below"
    )
    assert text == "above\n\nItem | Price\nBread white | 1,50\nIn | a b\n\nbelow"
    assert tables == (Table((2, 2), ((3, 3), (4, 4))),)


def test_a_table_without_head_cells_has_no_header() -> None:
    _, tables, _ = html_text("<table><tr><td>a<td>b<tr><td>c<td>d</table>")
    assert tables == (Table(None, ((0, 0), (1, 1))),)


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


def test_a_page_without_text_is_empty(source: Make) -> None:
    with pytest.raises(EmptyDocument):
        read_html(source(b"<html><script>x</script></html>"))


def test_entities_of_a_bomb_are_not_expanded() -> None:
    bomb = '<!DOCTYPE html [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><p>&b;x</p>'
    text, _, _ = html_text(bomb)
    assert "aaaaaaaaaaaaaaa" not in text
