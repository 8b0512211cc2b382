"""Books are read chapter by chapter, in the order of their spine."""

from __future__ import annotations

import datetime as dt
import io
import zipfile
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from emily.errors import EmptyDocument, PasswordRequired, ReadingError
from emily.reading.pages import Page
from emily.reading.source import Draft, Source
from emily.reading.web.book import _without_selfclosed, read_epub

Make = Callable[..., Source]
Pages = Callable[[Draft], list[Page]]

CONTAINER = (
    '<?xml version="1.0"?><container xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
    '<rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
)
ITEM = '<item id="{0}" href="{1}" media-type="{2}" {3}/>'
XHTML = "application/xhtml+xml"


def chapter(body: str, title: str = "x") -> str:
    return (
        '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN"'
        ' "http://www.w3.org/TR/xhtml11/DTD/xhtml11.dtd"><html xmlns="http://www.w3.org/1999/xhtml">'
        f"<head><title>{title}</title></head><body>{body}</body></html>"
    )


def book(
    chapters: dict[str, str | bytes],
    *,
    spine: list[str] | None = None,
    meta: str = "",
    items: str = "",
    toc: str = "",
    parts: dict[str, str | bytes] | None = None,
    doctype: str = "",
) -> bytes:
    """A book of chapters by file name."""
    manifest = "".join(ITEM.format(name, name, XHTML, "") for name in chapters) + items
    order = "".join(f'<itemref idref="{name}"/>' for name in (spine or list(chapters)))
    opf = (
        f'<?xml version="1.0"?>{doctype}<package xmlns="http://www.idpf.org/2007/opf" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:opf="http://www.idpf.org/2007/opf">'
        f"<metadata>{meta}</metadata><manifest>{manifest}</manifest>"
        f'<spine toc="{toc}">{order}</spine></package>'
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr("META-INF/container.xml", CONTAINER)
        archive.writestr("OEBPS/book.opf", opf)
        for name, text in chapters.items():
            archive.writestr(f"OEBPS/{name}", text)
        for name, data in (parts or {}).items():
            archive.writestr(name, data)
    return out.getvalue()


def picture() -> bytes:
    out = io.BytesIO()
    image = Image.new("L", (80, 80), 255)
    image.paste(0, (10, 30, 70, 50))
    image.save(out, "PNG")
    return out.getvalue()


def read(source: Make, pages: Pages, content: bytes) -> list[Page]:
    return pages(read_epub(source(content, "a.epub")))


def test_chapters_are_pages_in_the_order_of_the_spine(source: Make, pages: Pages) -> None:
    content = book(
        {"b.xhtml": chapter("<p>second</p>"), "a.xhtml": chapter("<h1>One</h1><p>first</p>")},
        spine=["a.xhtml", "b.xhtml", "a.xhtml"],
    )
    draft = read_epub(source(content, "a.epub"))
    found = pages(draft)
    assert draft.citation == "pages"
    assert [page.number for page in found] == [1, 2]
    assert "One" in found[0].text
    assert found[0].text.endswith("first")
    assert found[1].text == "second"


@pytest.mark.parametrize(
    ("meta", "date"),
    [
        ("<dc:date>2031-02-03</dc:date>", dt.date(2031, 2, 3)),
        (
            '<dc:date opf:event="modification">2032-01-01</dc:date>'
            '<dc:date opf:event="publication">2031-02-03T10:00:00Z</dc:date>',
            dt.date(2031, 2, 3),
        ),
        ("<dc:date>2031</dc:date>", None),
        ("<dc:date>soon</dc:date>", None),
        ("", None),
    ],
)
def test_facts_and_title(source: Make, meta: str, date: dt.date | None) -> None:
    meta += (
        "<dc:title> A\n walk </dc:title><dc:creator>Ida Vey</dc:creator><dc:creator>B. Moss"
        "</dc:creator><dc:language>it</dc:language>"
    )
    draft = read_epub(source(book({"a": chapter("x")}, meta=meta)))
    assert draft.title == "A walk"
    assert draft.facts.author == "Ida Vey, B. Moss"
    assert draft.facts.date == date


NAV = chapter(
    '<nav epub:type="toc" xmlns:epub="http://www.idpf.org/2007/ops"><ol>'
    '<li><a href="a.xhtml">The harbour</a></li><li><a href="b.xhtml#part">In the middle</a></li>'
    '<li><a href="c.xhtml">The house</a></li></ol></nav>'
)
NCX = (
    '<?xml version="1.0"?><!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "ncx.dtd">'
    '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>'
    "<navPoint><navLabel><text>The harbour</text></navLabel><content src='a.xhtml'/></navPoint>"
    "<navPoint><navLabel><text>In the middle</text></navLabel><content src='b.xhtml#p'/></navPoint>"
    "<navPoint><navLabel><text>The house</text></navLabel><content src='c.xhtml'/></navPoint>"
    "</navMap></ncx>"
)


@pytest.mark.parametrize(
    ("given_toc", "parts", "items", "spine"),
    [
        ("", {"OEBPS/n.xhtml": NAV}, ITEM.format("n", "n.xhtml", XHTML, 'properties="nav"'), ["n"]),
        ("t", {"OEBPS/t.ncx": NCX}, ITEM.format("t", "t.ncx", "text/xml", ""), []),
        ("", {"OEBPS/t.ncx": NCX}, ITEM.format("t", "t.ncx", "application/x-dtbncx+xml", ""), []),
    ],
)
def test_titles_come_from_the_contents_which_are_no_page(
    source: Make,
    pages: Pages,
    given_toc: str,
    parts: dict[str, str | bytes],
    items: str,
    spine: list[str],
) -> None:
    chapters: dict[str, str | bytes] = {
        "a.xhtml": chapter("<p>Boats.</p><table><tr><th>k</th><th>v</th></tr>"
                           "<tr><td>a</td><td>b</td></tr></table>"),
        "b.xhtml": chapter("<p>Streets.</p>"),
        "c.xhtml": chapter("<h2>House, the</h2><p>Rooms.</p>"),
    }  # fmt: skip
    content = book(chapters, spine=spine + list(chapters), items=items, toc=given_toc, parts=parts)
    found = read(source, pages, content)
    assert len(found) == 3
    assert found[0].text.startswith("# The harbour\n\nBoats.")
    header = found[0].tables[0].header
    assert header is not None
    assert "k" in found[0].text.split("\n")[header[0]]
    assert found[1].text == "Streets."
    assert "The house" not in found[2].text


@pytest.mark.parametrize(
    "shown",
    [
        '<p>before</p><img src="../images/my%20boat.png"/><p>after</p>',
        '<p>before</p><svg xmlns:xlink="http://www.w3.org/1999/xlink"><image height="9" '
        'xlink:href="../images/my%20boat.png"/></svg><p>after</p>',
        '<p>before</p><div><p><img alt="" src="../images/my boat.png"></img></p></div><p>after</p>',
    ],
)
def test_pictures_stand_in_their_place(source: Make, pages: Pages, shown: str) -> None:
    content = book({"text/a.xhtml": chapter(shown)}, parts={"OEBPS/images/my boat.png": picture()})
    page = read(source, pages, content)[0]
    assert page.text == "before\n\n[picture, not read]\n\nafter"
    assert page.pictures == 1


def test_a_page_of_unread_pictures_and_one_of_none(source: Make, pages: Pages) -> None:
    chapters: dict[str, str | bytes] = {
        "a": chapter('<img src="p.png"/>'),
        "b": chapter(""),
        "c": chapter('x<img src="gone.png"/><img src="http://a.example/far.png"/>'),
    }
    found = read(source, pages, book(chapters, parts={"OEBPS/p.png": picture()}))
    assert [page.route for page in found] == ["unread", "blank", "text"]
    assert found[0].text == ""
    assert found[2].warning == "Page 3: 1 pictures are missing or damaged."


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ('<p><a id="x"/>one</p><p>two</p>', "one\n\ntwo"),
        ('<title/><p>one</p><script src="x"/><p>two</p>', "one\n\ntwo"),
        ("<div/><p>one<i/> more<br/>two</p>", "one more\ntwo"),
    ],
)
def test_elements_that_close_themselves(
    source: Make, pages: Pages, markup: str, expected: str
) -> None:
    assert read(source, pages, book({"a": chapter(markup)}))[0].text == expected


def test_a_title_that_closes_itself_hides_nothing(source: Make, pages: Pages) -> None:
    markup = "<html><head><title/></head><body><p>shown</p></body></html>"
    assert read(source, pages, book({"a": markup}))[0].text == "shown"


@pytest.mark.parametrize(
    ("encoding", "words"), [("utf-8", "città"), ("iso-8859-1", "città"), ("utf-16", "città 東京")]
)
def test_encodings(source: Make, pages: Pages, encoding: str, words: str) -> None:
    markup = chapter(f"<p>{words}</p>").replace("utf-8", encoding).encode(encoding)
    assert read(source, pages, book({"a": markup}))[0].text == words


def encryption(algorithm: str, target: str) -> dict[str, str | bytes]:
    return {
        "META-INF/encryption.xml": (
            '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" '
            'xmlns:e="http://www.w3.org/2001/04/xmlenc#"><e:EncryptedData>'
            f'<e:EncryptionMethod Algorithm="{algorithm}"/><e:CipherData>'
            f'<e:CipherReference URI="{target}"/></e:CipherData></e:EncryptedData></encryption>'
        )
    }


@pytest.mark.parametrize("target", ["OEBPS/a b.xhtml", "OEBPS/a%20b.xhtml", "/OEBPS/a%20b.xhtml"])
def test_a_locked_book_is_said_to_be_locked(source: Make, target: str) -> None:
    parts = encryption("http://www.w3.org/2001/04/xmlenc#aes128-cbc", target)
    with pytest.raises(PasswordRequired, match="rights management"):
        read_epub(source(book({"a b.xhtml": "locked"}, parts=parts)))


@pytest.mark.parametrize(
    ("algorithm", "target"),
    [
        ("http://www.idpf.org/2008/embedding", "OEBPS/font.otf"),
        ("http://ns.adobe.com/pdf/enc#RC", "OEBPS/font.otf"),
        ("http://www.w3.org/2001/04/xmlenc#aes128-cbc", "OEBPS/font.otf"),
    ],
)
def test_scrambled_fonts_lock_nothing(
    source: Make, pages: Pages, algorithm: str, target: str
) -> None:
    content = book({"a": chapter("open")}, parts=encryption(algorithm, target))
    assert read(source, pages, content)[0].text == "open"


def test_a_missing_chapter_is_a_warning_on_its_page(source: Make, pages: Pages) -> None:
    content = book(
        {"a": chapter("one")}, spine=["a", "lost"], items=ITEM.format("lost", "no", XHTML, "")
    )
    found = read(source, pages, content)
    assert [page.route for page in found] == ["text", "unread"]
    assert found[1].warning is not None
    assert found[1].warning.startswith("Page 2 (OEBPS/no) is not read")


def test_a_spine_that_names_nobody_is_said(source: Make, pages: Pages) -> None:
    draft = read_epub(source(book({"a": chapter("one")}, spine=["a", "nobody"])))
    assert draft.warnings == ["1 documents of the spine are not in the book."]
    assert len(pages(draft)) == 1


def test_without_a_spine_all_documents_are_read(source: Make, pages: Pages) -> None:
    content = book({"a": chapter("one"), "b": chapter("two")}, spine=["x"])
    assert [page.text for page in read(source, pages, content)] == ["one", "two"]


@pytest.mark.parametrize("doctype", ['<!DOCTYPE package SYSTEM "p.dtd">', "<!DOCTYPE package>", ""])
def test_a_document_type_alone_is_no_harm(source: Make, pages: Pages, doctype: str) -> None:
    assert read(source, pages, book({"a": chapter("one")}, doctype=doctype))[0].text == "one"


@pytest.mark.parametrize(
    "doctype",
    [
        "<!DOCTYPE package [<!ENTITY a 'aaaa'>]>",
        "<!DOCTYPE package [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;'>]>",
        "<!DOCTYPE package [<!ENTITY x SYSTEM 'file:///etc/hostname'>]>",
    ],
)
def test_entities_are_refused(source: Make, doctype: str) -> None:
    with pytest.raises(ReadingError, match="entities"):
        read_epub(source(book({"a": chapter("one")}, doctype=doctype)))


def test_a_book_without_documents_is_empty(source: Make) -> None:
    with pytest.raises(EmptyDocument):
        read_epub(source(book({})))


@pytest.mark.parametrize("content", [b"PK\x05\x06" + b"\0" * 18, b"PK\x03\x04rubbish", b"no zip"])
def test_a_broken_package_is_an_error_of_that_file(source: Make, content: bytes) -> None:
    with pytest.raises(ReadingError):
        read_epub(source(content))


@settings(max_examples=60)
@given(st.text(st.sampled_from('<>/ab p="i!-&;'), max_size=80))
def test_closing_elements_changes_no_words(markup: str) -> None:
    closed = _without_selfclosed(markup)
    assert _without_selfclosed(closed) == closed
    assert len(closed) >= len(markup) - markup.count("/>")
