"""Saved web pages: the page, its pictures in their places, and its frames."""

from __future__ import annotations

import base64
import datetime as dt
import io
import plistlib
from collections.abc import Callable
from email.message import EmailMessage
from email.policy import SMTP
from typing import Any
from urllib.parse import quote, urljoin

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from emily.errors import EmptyDocument, ReadingError
from emily.reading.kind import detect
from emily.reading.pages import Page, Table
from emily.reading.source import Draft, Source
from emily.reading.web.saved import read_mhtml, read_webarchive

Make = Callable[..., Source]
Pages = Callable[[Draft], list[Page]]
UNREAD = "[picture, not read]"
HOME = "https://example.org/news/page.html"


def picture(number: int = 0) -> bytes:
    """A picture that is large enough to be met, each number another one."""
    held = io.BytesIO()
    image = Image.new("L", (80, 80), "white")
    image.paste(0, (5, 5, 75, 25 + number))
    image.save(held, "PNG")
    return held.getvalue()


def resource(data: bytes, url: str = HOME, kind: str = "text/html", **more: str) -> dict[str, Any]:
    return {"WebResourceData": data, "WebResourceURL": url, "WebResourceMIMEType": kind, **more}


def archive(main: dict[str, Any], *parts: dict[str, Any], frames: Any = ()) -> dict[str, Any]:
    held: dict[str, Any] = {"WebMainResource": main}
    if parts:
        held["WebSubresources"] = list(parts)
    if frames:
        held["WebSubframeArchives"] = list(frames)
    return held


@pytest.mark.parametrize("form", [plistlib.FMT_BINARY, plistlib.FMT_XML])
def test_a_web_archive(source: Make, pages: Pages, form: Any) -> None:
    markup = (
        "<html><head><title>News</title></head><body><h1>Più notizie</h1><p>One"
        "<img src='../img/a.png'>two<img src='https://example.org/b.png#top'></p>"
        "<table><tr><th>Voce<th>Euro<tr><td>Pane<td>2</table></body></html>"
    )
    frame = archive(resource(b"<p>Framed <img src='c.png'></p>", "https://x.org/f/"),
                    resource(picture(3), "https://x.org/f/c.png", "image/png"))  # fmt: skip
    data = plistlib.dumps(
        archive(
            resource(markup.encode(), WebResourceTextEncodingName="UTF-8"),
            resource(picture(1), "https://example.org/img/a.png", "image/png"),
            resource(picture(2), "https://example.org/b.png", "image/png"),
            resource(b"body {}", "https://example.org/x.css", "text/css"),
            frames=[frame],
        ),
        fmt=form,
    )
    draft = read_webarchive(source(data, "a.webarchive"))
    (page,) = pages(draft)
    lines = [line for line in page.text.split("\n") if line]
    assert lines[0].removeprefix("# ") == "Più notizie"
    assert lines[1:5] == ["One", UNREAD, "two", UNREAD]
    assert lines[-2:] == ["Framed", UNREAD]
    assert page.pictures == 3
    (table,) = page.tables
    assert "Pane" in page.text.split("\n")[table.rows[0][0]]
    assert (draft.kind, draft.citation, draft.title) == ("webarchive", "none", "News")
    assert draft.warnings == []


SVG = b"<svg xmlns='http://www.w3.org/2000/svg'><path d='M0 0h9'/></svg>"
BLANK = b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'></svg>"


@pytest.mark.parametrize(
    ("shown", "said"),
    [
        ("<img src='a.png'>", []),
        ("<img src=''><img alt='none'>", []),
        ("<img src='far.png'>", ["1 picture is not read: missing in the saved page."]),
        (
            "<img src='far.png'><img src='far.png'><img src='http://x.org/b.gif'><img src='cid:b'>",
            ["3 pictures are not read: missing in the saved page."],
        ),
        ("<img src='a.svg'><img src='a.svg'>", ["1 picture is not read: drawn in SVG."]),
        (
            "<img src='data:image/svg+xml,%3Csvg%3E%3Ctext%3Ex%3C/text%3E%3C/svg%3E'>",
            ["1 picture is not read: drawn in SVG."],
        ),
        (
            f"<img src='data:image/svg+xml;base64,{base64.b64encode(SVG).decode()}'><img src='z'>",
            [
                "1 picture is not read: missing in the saved page.",
                "1 picture is not read: drawn in SVG.",
            ],
        ),
        (f"<img src='data:image/svg+xml,{quote(BLANK)}'><img src='blank.svg'>", []),
    ],
)
@pytest.mark.parametrize("saved_by", ["safari", "others"])
def test_pictures_that_are_missing_or_drawn_are_said(
    source: Make, pages: Pages, shown: str, said: list[str], saved_by: str
) -> None:
    markup = f"<p>Words {shown}</p>"
    held = [("a.png", "png", picture()), ("a.svg", "svg+xml", SVG), ("blank.svg", "svg+xml", BLANK)]
    if saved_by == "safari":
        resources = [
            resource(data, urljoin(HOME, name), f"image/{sub}") for name, sub, data in held
        ]
        given = plistlib.dumps(archive(resource(markup.encode()), *resources))
        draft = read_webarchive(source(given, "a.webarchive"))
    else:
        parts = [
            ("image", sub, data, {"Content-Location": urljoin(HOME, name)})
            for name, sub, data in held
        ]
        draft = read_mhtml(source(mhtml(markup, parts), "a.mhtml"))
    (page,) = pages(draft)
    assert page.text.startswith("Words")
    assert [text for text in draft.warnings if "picture" in text] == said


def test_the_kind_is_told_by_content(source: Make) -> None:
    data = plistlib.dumps(archive(resource(b"<p>x</p>")), fmt=plistlib.FMT_BINARY)
    assert detect(source(data, "x.bin").path).name == "webarchive"


@pytest.mark.parametrize(
    ("charset", "codec"), [("windows-1252", "cp1252"), ("", "utf-8"), ("Shift_JIS", "cp932")]
)
def test_the_encoding_of_an_archived_page(
    source: Make, pages: Pages, charset: str, codec: str
) -> None:
    said = "こんにちは" if codec == "cp932" else "perché"
    main = resource(f"<p>{said}</p>".encode(codec), WebResourceTextEncodingName=charset)
    assert pages(read_webarchive(source(plistlib.dumps(archive(main)))))[0].text == said


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"bplist00WebMainResource", "the web archive is broken"),
        (b"bplist00" + bytes(64), "the web archive is broken"),
        (b"<?xml version='1.0'?><plist><dict>", "the web archive is broken"),
        (plistlib.dumps({"WebMainResource": 3}), "holds no page"),
        (plistlib.dumps([1, 2]), "holds no page"),
        (
            b"<?xml version='1.0'?><!DOCTYPE plist [<!ENTITY a 'aaaa'>]>"
            b"<plist version='1.0'><dict><key>WebMainResource</key><string>&a;</string></dict>"
            b"</plist>",
            "the web archive is broken",
        ),
    ],
)
def test_a_broken_web_archive(source: Make, content: bytes, why: str) -> None:
    with pytest.raises(ReadingError, match=why):
        read_webarchive(source(content))


@pytest.mark.parametrize("markup", [b"", b"<p> </p>", b"<script>x</script>"])
def test_a_page_without_text(source: Make, markup: bytes) -> None:
    with pytest.raises(EmptyDocument, match="the page has no visible text"):
        read_webarchive(source(plistlib.dumps(archive(resource(markup)))))


def test_frames_inside_of_frames_come_to_an_end(source: Make, pages: Pages) -> None:
    inner = archive(resource(b"<p>deepest</p>"))
    for number in range(40):
        inner = archive(resource(b"<p>level %d</p>" % number), frames=[inner])
    (page,) = pages(read_webarchive(source(plistlib.dumps(inner))))
    assert page.text.startswith("level 39\n\nlevel 38")
    assert "deepest" not in page.text


def mhtml(
    markup: str, parts: list[tuple[str, str, bytes, dict[str, str]]], **headers: str
) -> bytes:
    """A page saved by a browser: root first, each part with the headers that are given."""
    message = EmailMessage(SMTP)
    message["From"] = "<Saved by Blink>"
    message["Subject"] = "=?utf-8?Q?Saved_perch=C3=A9?="
    message["Date"] = "Tue, 3 Mar 2026 09:05:00 +0100"
    message["Snapshot-Content-Location"] = HOME
    message.set_content(markup, subtype="html", cte="quoted-printable")
    message["Content-Location"] = HOME
    for name, value in headers.items():
        message[name.replace("_", "-")] = value
    message.make_related()
    for main, sub, data, more in parts:
        if main == "text":
            message.add_related(data.decode(), subtype=sub)
        else:
            message.add_related(data, main, sub)
        part = list(message.iter_parts())[-1]
        for name, value in more.items():
            part[name] = value
    return bytes(message)


def test_mhtml(source: Make, pages: Pages) -> None:
    markup = (
        "<title>News</title><p>perché <img src='/img/a.png'></p><p>two <img src='cid:b@x'></p>"
        "<iframe src=\"cid:frame@x\"></iframe><iframe src='https://far.example/'></iframe>"
        "<table><tr><th>Voce<th>Euro<tr><td>Pane<td>2</table>"
    )
    data = mhtml(
        markup,
        [
            ("image", "png", picture(1), {"Content-Location": "https://example.org/img/a.png"}),
            ("image", "png", picture(2), {"Content-ID": "<b@x>"}),
            ("text", "html", b"<p>In a frame</p>", {"Content-ID": "<frame@x>"}),
            ("text", "css", b"p {}", {"Content-Location": "https://example.org/x.css"}),
        ],
    )
    file = source(data, "page.mhtml")
    assert detect(file.path).name == "mhtml"
    draft = read_mhtml(file)
    (page,) = pages(draft)
    lines = [line for line in page.text.split("\n") if line]
    assert lines[:4] == ["perché", UNREAD, "two", UNREAD]
    assert lines[-1] == "In a frame"
    assert len(page.tables) == 1
    assert isinstance(page.tables[0], Table)
    assert (draft.kind, draft.citation, draft.title) == ("mhtml", "none", "News")
    assert draft.facts.date == dt.date(2026, 3, 3)
    assert draft.facts.date_source == "metadata"


def test_the_subject_is_the_title_where_the_page_has_none(source: Make, pages: Pages) -> None:
    draft = read_mhtml(source(mhtml("<p>x</p>", [("image", "png", picture(), {})])))
    assert draft.title == "Saved perché"
    assert pages(draft)[0].text == "x"


@pytest.mark.parametrize(
    ("head", "first"),
    [
        ('type="text/html"; start="<b@x>"', "second"),
        ('type="text/html"; start="<none@x>"', "first"),
        ('type="text/html"', "first"),
    ],
)
def test_the_root_is_the_part_that_is_named(
    source: Make, pages: Pages, head: str, first: str
) -> None:
    data = (
        f"MIME-Version: 1.0\nContent-Type: multipart/related; boundary=xx; {head}\n\n"
        "--xx\nContent-Type: text/html\nContent-ID: <a@x>\n\n<p>first</p>\n"
        "--xx\nContent-Type: text/html\nContent-ID: <b@x>\n\n<p>second</p>\n--xx--\n"
    )
    assert pages(read_mhtml(source(data.encode())))[0].text == first


@pytest.mark.parametrize(
    ("declared", "said", "codec"),
    [
        ("; charset=windows-1252", "perché", "cp1252"),
        ("", "perché", "utf-8"),
        ("; charset=iso-2022-jp", "日本語", "iso2022_jp"),
    ],
)
def test_the_encoding_of_a_saved_page(
    source: Make, pages: Pages, declared: str, said: str, codec: str
) -> None:
    data = b"MIME-Version: 1.0\nContent-Type: text/html%s\n\n<p>%s</p>" % (
        declared.encode(),
        said.encode(codec),
    )
    assert pages(read_mhtml(source(data)))[0].text == said


@pytest.mark.parametrize(
    "data", [b"", b"MIME-Version: 1.0\nContent-Type: multipart/related; boundary=x\n\n--x--"]
)
def test_mhtml_without_a_page(source: Make, data: bytes) -> None:
    with pytest.raises(ReadingError, match="the saved page holds no HTML"):
        read_mhtml(source(data))


def test_a_frame_that_shows_itself_is_read_once(source: Make, pages: Pages) -> None:
    data = mhtml(
        "<p>root</p><iframe src='cid:f@x'></iframe>",
        [
            (
                "text",
                "html",
                b"<p>framed</p><iframe src='cid:f@x'></iframe>",
                {"Content-ID": "<f@x>"},
            )
        ],
    )
    assert pages(read_mhtml(source(data)))[0].text == "root\n\nframed"


@given(st.binary(max_size=300))
def test_broken_bytes_raise_only_reading_errors(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.mktemp("saved") / "x"
    for whole, reader in (
        (plistlib.dumps(archive(resource(b"<p>x</p>")), fmt=plistlib.FMT_BINARY), read_webarchive),
        (mhtml("<p>x</p>", []), read_mhtml),
    ):
        broken = bytearray(whole)
        for at, byte in enumerate(data):
            broken[(at * 31 + byte) % len(broken)] ^= byte
        path.write_bytes(broken)
        try:
            reader(Source(path, None, 1e12, 60))
        except ReadingError:
            continue
