"""Pages, Numbers and Keynote."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

from emily.errors import EmptyDocument, PasswordRequired, ReadingError
from emily.reading.kind import detect
from emily.reading.packed.iwork import read_iwork
from emily.reading.packed.iwork_archive import messages, texts_of, unsnappy
from emily.reading.pages import Page
from emily.reading.source import Draft, Source

Make = Callable[..., Source]
Pages = Callable[[Draft], list[Page]]


def varint(value: int) -> bytes:
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def snappy(data: bytes) -> bytes:
    """A block of literals alone, which is valid Snappy."""
    out = varint(len(data))
    for at in range(0, len(data), 60):
        piece = data[at : at + 60]
        out += bytes([len(piece) - 1 << 2]) + piece
    return out


def archive(*objects: tuple[int, bytes]) -> bytes:
    stream = b""
    for number, (kind, content) in enumerate(objects, 1):
        info = field(1, kind) + field(2, b"\1\0\5") + field(3, len(content))
        header = field(1, number) + field(2, info)
        stream += varint(len(header)) + header + content
    block = snappy(stream)
    return b"\0" + len(block).to_bytes(3, "little") + block


def storage(text: str) -> tuple[int, bytes]:
    return 2001, field(1, 0) + field(3, text.encode())


def cell_texts(*texts: str) -> tuple[int, bytes]:
    entries = b"".join(
        field(3, field(1, at) + field(2, 1) + field(3, text.encode()))
        for at, text in enumerate(texts)
    )
    return 6005, field(1, 1) + entries


def packed(parts: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as container:
        for name, content in parts.items():
            container.writestr(name, content)
    return data.getvalue()


def pdf(*texts: str) -> bytes:
    data = io.BytesIO()
    canvas = Canvas(data)
    for text in texts:
        canvas.drawString(72, 720, text)
        canvas.showPage()
    canvas.save()
    return data.getvalue()


def jpeg() -> bytes:
    data = io.BytesIO()
    Image.new("RGB", (200, 200), "white").save(data, "JPEG")
    return data.getvalue()


@pytest.fixture
def made(source: Make, tmp_path: Path) -> Callable[[dict[str, bytes], str], Source]:
    def make(parts: dict[str, bytes], name: str) -> Source:
        given_source = source(packed(parts), name)
        given_source.scratch = tmp_path / "scratch"
        given_source.scratch.mkdir(exist_ok=True)
        return given_source

    return make


@pytest.mark.parametrize("name", ["note.pages", "sums.numbers", "talk.key"])
def test_the_pdf_inside_is_read_page_by_page(
    made: Callable[..., Source], pages: Pages, name: str
) -> None:
    parts = {
        "QuickLook/Preview.pdf": pdf("Lighthouse keeper", "Second page of the log"),
        "Index/Document.iwa": archive(storage("not this")),
    }
    given_source = made(parts, name)
    assert detect(given_source.path).name == "iwork"
    draft = read_iwork(given_source)
    first, second = pages(draft)
    assert draft.kind == "iwork"
    assert draft.citation == "pages"
    assert first.text == "Lighthouse keeper"
    assert second.text == "Second page of the log"


def test_texts_where_no_pdf_is_stored(made: Callable[..., Source], pages: Pages) -> None:
    parts = {
        "Index/Slide-2.iwa": archive(storage("Second slide")),
        "Index/Slide-10.iwa": archive(storage("Tenth slide")),
        "Index/MasterSlide-1.iwa": archive(storage("Click to edit")),
        "Index/Document.iwa": archive((1, b""), storage("The keeper's log\u2028goes on")),
        "preview.jpg": jpeg(),
    }
    draft = read_iwork(made(parts, "talk.key"))
    (page,) = pages(draft)
    assert page.text == "The keeper's log\ngoes on\n\nSecond slide\n\nTenth slide"
    assert draft.kind == "iwork"
    assert "numbers and dates in tables are not read" in draft.warnings[0]


def test_texts_of_cells_and_of_files_packed_twice(
    made: Callable[..., Source], pages: Pages
) -> None:
    inner = packed({"Index/Document.iwa": archive(cell_texts("Oil", "Wicks"), storage("Oil"))})
    (page,) = pages(read_iwork(made({"sums.numbers/Index.zip": inner}, "sums.numbers")))
    assert page.text == "Oil\n\nWicks"


def test_the_preview_is_the_last_resort(made: Callable[..., Source], pages: Pages) -> None:
    draft = read_iwork(made({"preview.jpg": jpeg(), "Index/Document.iwa": b"\1nothing"}, "a.pages"))
    assert draft.kind == "iwork"
    assert len(pages(draft)) == 1
    assert "The part 'index/document.iwa' is not read" in draft.warnings[0]
    assert "Only the preview of its first page could be read" in draft.warnings[1]


@pytest.mark.parametrize("lock", [".iwpv2", "a.pages/.iwph", "Index/.iwpv2"])
def test_an_encrypted_file(made: Callable[..., Source], lock: str) -> None:
    with pytest.raises(PasswordRequired, match="opens only with a password"):
        read_iwork(made({lock: b"x", "Index/Document.iwa": b"\xff" * 40}, "a.pages"))


@pytest.mark.parametrize(
    "parts",
    [{"Data/x.bin": b"x"}, {"preview.jpg": b""}, {"Index/Document.iwa": archive((1, b""))}],
)
def test_nothing_to_read(made: Callable[..., Source], parts: dict[str, bytes]) -> None:
    with pytest.raises(EmptyDocument, match="holds neither text nor preview"):
        read_iwork(made(parts, "a.pages"))


@pytest.mark.parametrize("at", [0, 20, 100])
def test_truncated_files(source: Make, at: int) -> None:
    with pytest.raises(ReadingError, match="container is broken"):
        read_iwork(source(packed({"preview.jpg": jpeg()})[:at], "a.pages"))


# Snappy blocks by the rules of format_description.txt, and what they hold.
@pytest.mark.parametrize(
    ("block", "holds"),
    [
        (b"\x05\x10abcde", b"abcde"),
        (b"\x09\x08abc\x09\x03", b"abcabcabc"[:9]),  # a copy of 6 that overlaps itself
        (b"\x08\x0cabcd\x0e\x04\x00", b"abcdabcd"),
        (b"\x08\x0cabcd\x0f\x04\x00\x00\x00", b"abcdabcd"),
        (b"\x3d\xf0\x3c" + b"x" * 61, b"x" * 61),
    ],
)
def test_snappy_blocks(block: bytes, holds: bytes) -> None:
    assert unsnappy(block) == holds


@pytest.mark.parametrize(
    "block",
    [
        b"\xff\xff\xff\xff\x0f\x00a",  # declares 4 GiB
        b"\x05\x10abc",  # cut off
        b"\x08\x00a\x09\x05",  # refers to what is before its beginning
        b"\x08\x00a\x0e",
        b"\xff" * 12,  # a number without an end
    ],
)
def test_damaged_blocks_are_refused(block: bytes) -> None:
    with pytest.raises(ReadingError):
        unsnappy(block)


@given(st.binary(max_size=500))
def test_snappy_gives_back_what_was_packed(data: bytes) -> None:
    assert unsnappy(snappy(data)) == data


@given(st.binary(min_size=1, max_size=40), st.integers(0, 200))
def test_damaged_archives_never_escape(noise: bytes, at: int) -> None:
    data = archive(storage("The keeper's log"), cell_texts("Oil", "Wicks"))
    data = data[: at % len(data)] + noise + data[at % len(data) + len(noise) :]
    try:
        found = list(texts_of(messages(data)))
    except ReadingError:
        return
    assert all(isinstance(text, str) for text in found)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1)))
def test_all_texts_are_found(texts: list[str]) -> None:
    shown = [text.translate({0xFFFC: None, 0x2028: "\n", 0x2029: "\n"}) for text in texts]
    found = list(texts_of(messages(archive(*map(storage, texts)))))
    assert found == [text for text in shown if text]
