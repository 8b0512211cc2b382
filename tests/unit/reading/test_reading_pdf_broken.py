"""A page whose picture or content is destroyed is not called blank."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw, ImageFont

from emily.errors import LimitExceeded
from emily.reading.pages import Page
from emily.reading.pdf import streams
from emily.reading.pdf.document import read_pdf
from emily.reading.pdf.streams import holds_broken_stream
from emily.reading.source import Source

SENTENCE = "The lease runs for four years and goes on by itself."
WHOLE = "q 595 0 0 842 0 0 cm /I Do Q"


def scan() -> Image.Image:
    image = Image.new("RGB", (400, 560), "white")
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(24)
    for at in range(9):
        pen.text((40, 40 + 50 * at), f"Line {at} of a letter", fill="black", font=font)
    return image


def jpeg() -> bytes:
    data = io.BytesIO()
    scan().save(data, "JPEG")
    return data.getvalue()


def pdf(content: bytes, picture: bytes, filter_: str = "DCTDecode", packed: str = "") -> bytes:
    """A page of text, and one with the given content and picture."""
    text = f"BT /F 12 Tf 72 700 Td ({SENTENCE}) Tj ET"
    kind = f"/Filter/{packed}" if packed else ""
    parts: list[str | bytes]
    leaf = (
        "{} 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents {} 0 R"
        "/Resources<</Font<</F 7 0 R>>/XObject<</I 8 0 R>>>>>>endobj\n"
    )
    parts = [
        "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n",
        "2 0 obj<</Type/Pages/Count 2/Kids[3 0 R 4 0 R]>>endobj\n",
        leaf.format(3, 5) + leaf.format(4, 6),
        f"5 0 obj<</Length {len(text)}>>stream\n{text}\nendstream endobj\n",
        f"6 0 obj<</Length {len(content)}{kind}>>stream\n",
        content,
        "\nendstream endobj\n7 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\n",
        "8 0 obj<</Type/XObject/Subtype/Image/Width 400/Height 560/BitsPerComponent 8"
        f"/ColorSpace/DeviceRGB/Filter/{filter_}/Length {len(picture)}>>stream\n",
        picture,
        "\nendstream endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n",
    ]
    return b"".join(part if isinstance(part, bytes) else part.encode() for part in parts)


@pytest.fixture
def second(tmp_path: Path) -> Callable[[bytes], Page]:
    """The second page, read without OCR."""

    def run(data: bytes) -> Page:
        path = tmp_path / "a.pdf"
        path.write_bytes(data)
        source = Source(path, ocr=None, deadline=1e12, seconds=60)
        first, page = read_pdf(source).pages
        assert (first.route, first.text, first.warning) == ("text", SENTENCE, None)
        return page

    return run


FLATE = zlib.compress(scan().tobytes())
BROKEN: dict[str, tuple[bytes, str]] = {
    "a JPEG of nothing": (b"\0" * 5_000, "DCTDecode"),
    "a JPEG without its head": (b"\xff\xd8" + b"\0" * 5_000, "DCTDecode"),
    "another thing": (b"no picture at all" * 9, "DCTDecode"),
    "Flate of one letter": (b"z" * len(FLATE), "FlateDecode"),
    "Flate of nothing": (b"\0" * len(FLATE), "FlateDecode"),
    "Flate without its head": (FLATE[40:], "FlateDecode"),
}


@pytest.mark.parametrize(("picture", "filter_"), BROKEN.values(), ids=BROKEN)
def test_a_scan_whose_picture_is_broken(
    second: Callable[[bytes], Page], picture: bytes, filter_: str
) -> None:
    page = second(pdf(WHOLE.encode(), picture, filter_))
    assert (page.route, page.text) == ("unread", "")
    assert page.warning == "Page 2 is not read: its picture is broken."


@pytest.mark.parametrize("colour", ["white", "black", "ivory"])
def test_a_scan_of_nothing_is_blank(second: Callable[[bytes], Page], colour: str) -> None:
    plain = Image.new("RGB", (400, 560), colour)
    packed = io.BytesIO()
    plain.save(packed, "JPEG")
    for picture, filter_ in (
        (packed.getvalue(), "DCTDecode"),
        (zlib.compress(plain.tobytes()), "FlateDecode"),
    ):
        page = second(pdf(WHOLE.encode(), picture, filter_))
        assert (page.route, page.warning) == ("blank", None)


TEXT = zlib.compress(f"BT /F 12 Tf 72 600 Td ({SENTENCE}) Tj ET".encode() * 3)
CONTENT: dict[str, tuple[bytes, str]] = {
    "one letter": (b"z" * len(TEXT), "FlateDecode"),
    "nothing": (b"\0" * len(TEXT), "FlateDecode"),
    "without its head": (TEXT[7:], "FlateDecode"),
    "in ASCII": (b"!!z%" * 9 + b"~>", "[/ASCII85Decode/FlateDecode]"),
}


@pytest.mark.parametrize(("content", "packed"), CONTENT.values(), ids=CONTENT)
def test_a_page_whose_content_is_broken(
    second: Callable[[bytes], Page], content: bytes, packed: str
) -> None:
    data = pdf(content, jpeg(), packed=packed.strip("/"))
    data = data.replace(b"/Filter/[", b"/Filter[")
    page = second(data)
    assert (page.route, page.text) == ("unread", "")
    assert page.warning == (
        "Page 2 is not read: it shows nothing, and a compressed part of the file is broken."
    )


@pytest.mark.parametrize("content", [b"", b" ", b"1 0 0 1 0 0 cm"])
def test_an_empty_page_is_blank(second: Callable[[bytes], Page], content: bytes) -> None:
    for data in (pdf(content, jpeg()), pdf(zlib.compress(content), jpeg(), packed="FlateDecode")):
        page = second(data)
        assert (page.route, page.warning) == ("blank", None)


def test_a_picture_that_cannot_be_unpacked_beside_text_is_said(tmp_path: Path) -> None:
    shown = f"BT /F 12 Tf 72 700 Td ({SENTENCE}) Tj ET q 300 0 0 300 72 72 cm /I Do Q".encode()
    for at, (picture, filter_) in enumerate(BROKEN.values()):
        path = tmp_path / f"{at}.pdf"
        path.write_bytes(pdf(shown, picture, filter_))
        source = Source(path, ocr=None, deadline=1e12, seconds=60)
        _, page = read_pdf(source).pages
        assert page.text == f"{SENTENCE}\n\n[picture, not read]"
        assert page.pictures == 1
        assert source.pictures.warnings == [
            "1 picture is not read: it is broken, or of a kind that is not read."
        ]


def test_a_file_that_went_has_no_broken_part(tmp_path: Path) -> None:
    empty: Any = tmp_path / "empty"
    empty.write_bytes(b"")
    assert not holds_broken_stream(empty)
    assert not holds_broken_stream(tmp_path / "gone")


LINES = [f"BT /F 12 Tf 72 {700 - 14 * n} Td (Line {n} of what the page says) Tj ET" for n in
         range(40)]  # fmt: skip


def halved(how: str) -> bytes:
    """Packed lines of a page that break in the middle."""
    text = "\n".join(LINES).encode()
    packer = zlib.compressobj()
    if how == "flushed":
        half = packer.compress(text[: len(text) // 2]) + packer.flush(zlib.Z_FULL_FLUSH)
        return half + b"\xff" * 200
    data = packer.compress(text) + packer.flush()
    middle = len(data) // 2
    return data[:middle] + bytes((9 * n) % 256 for n in range(len(data) - middle))


@pytest.mark.parametrize("how", ["flushed", "noise"])
def test_content_that_breaks_in_the_middle_is_said(at: Callable[[Path], Source], how: str,
                                                   tmp_path: Path) -> None:  # fmt: skip
    path = tmp_path / "half.pdf"
    path.write_bytes(pdf(halved(how), jpeg(), packed="FlateDecode"))
    draft = read_pdf(at(path))
    first, second = list(draft.pages)
    assert SENTENCE in first.text
    assert "Line 0 of what the page says" in second.text
    assert "Line 39 of" not in second.text
    assert draft.warnings == [
        "1 compressed part of the PDF is broken: what it held from the break on is missing, such "
        "as the rest of a page."
    ]


@pytest.mark.parametrize("packed", ["sound", "sound and cut by its last bytes", "none"])
def test_sound_content_is_not_said_to_be_broken(
    at: Callable[[Path], Source], packed: str, tmp_path: Path
) -> None:
    text = "\n".join(LINES).encode()
    data = zlib.compress(text)
    content = {"sound": data, "none": text}.get(packed, data[:-4])
    path = tmp_path / "whole.pdf"
    path.write_bytes(pdf(content, jpeg(), packed="" if packed == "none" else "FlateDecode"))
    draft = read_pdf(at(path))
    assert "Line 39 of" in list(draft.pages)[1].text
    assert draft.warnings == []


@pytest.mark.parametrize("where", ["content", "another part"])
def test_a_content_stream_that_is_a_bomb_is_refused_with_its_reason(
    at: Callable[[Path], Source], where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "MOST_UNPACKED", 5 << 20)
    bomb = zlib.compress(b"0 0 m " * 1_000_000)
    data = pdf(bomb if where == "content" else b"", jpeg(), packed="FlateDecode")
    if where != "content":
        data = data.replace(
            b"trailer", b"9 0 obj<</Filter/FlateDecode/Length 9>>stream\n" + bomb
            + b"\nendstream endobj\ntrailer"
        )  # fmt: skip
    path = tmp_path / "bomb.pdf"
    path.write_bytes(data)
    with pytest.raises(LimitExceeded, match="compressed part of the PDF unpacks to more than 256"):
        read_pdf(at(path))


def test_a_picture_that_packs_well_is_no_bomb(
    at: Callable[[Path], Source], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "MOST_UNPACKED", 1000)
    path = tmp_path / "white.pdf"
    path.write_bytes(pdf(b"", zlib.compress(b"\xff" * 400 * 560 * 3), "FlateDecode"))
    assert len(list(read_pdf(at(path)).pages)) == 2
