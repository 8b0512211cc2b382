"""What a worker asks back while it reads, and the files inside of files that it hands over."""

from __future__ import annotations

import hashlib
import io
import os
import sys
import textwrap
import zipfile
from collections.abc import AsyncIterator
from email.message import EmailMessage
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

from emily.errors import PasswordRequired, ReadingError
from emily.reading.frames import FrameError
from emily.reading.pages import PictureReading
from emily.reading.reader import Reader


def picture() -> bytes:
    image = Image.new("RGB", (200, 90), "white")
    ImageDraw.Draw(image).text((20, 30), "Total 12", fill="black")
    data = io.BytesIO()
    image.save(data, "PNG")
    return data.getvalue()


def book(*pictures: bytes) -> bytes:
    """A Word document with a sentence and pictures after it."""
    from docx import Document

    document = Document()
    document.add_paragraph("The roof is new.")
    for data in pictures:
        document.add_picture(io.BytesIO(data))
    document.add_paragraph("The door is old.")
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


class Services:
    """Answers as it is told, and keeps what it was asked."""

    def __init__(self, known: PictureReading | None = None, says: str | None = None) -> None:
        self.found = known
        self.says = says
        self.digests: list[bytes] = []
        self.images: list[bytes] = []

    async def known(self, sha256: bytes) -> PictureReading | None:
        self.digests.append(sha256)
        return self.found

    async def see(self, image: bytes) -> str:
        self.images.append(image)
        if self.says is None:
            raise ReadingError("the server sleeps")
        return self.says


@pytest.fixture(scope="module")
async def reader(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Reader]:
    """Without OCR: every picture is the model's."""
    spool = tmp_path_factory.mktemp("spool")
    async with Reader(
        seconds=30, memory_mb=1024, file_mb=8, ocr=False, threads=1, spool=spool
    ) as shared:
        yield shared


async def test_a_known_picture_is_not_read_again(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / "a.docx"
    path.write_bytes(book(picture(), picture()))
    digest = hashlib.sha256(picture()).digest()
    services = Services(PictureReading(digest, 1, "ocr", "Total 12", 0.9), says="no")
    reading = await reader.read(path, services=services, sees=True)
    lines = reading.pages[0].text.split("\n")
    start = lines.index("[picture, read by OCR]")
    assert lines[start + 1 : start + 3] == ["Total 12", "[/picture]"]
    assert lines.index("The roof is new.") < start < lines.index("The door is old.")
    assert (services.digests, services.images) == ([digest], [])
    assert reading.pictures == (PictureReading(digest, 1, "ocr", "Total 12", 0.9),)
    assert reading.pages[0].pictures == 2


async def test_the_vision_model_is_asked_through_the_parent(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(picture())
    services = Services(says="A receipt over 12 euro.")
    reading = await reader.read(path, services=services, sees=True)
    assert (reading.pages[0].route, reading.pages[0].text) == ("vision", "A receipt over 12 euro.")
    assert Image.open(io.BytesIO(services.images[0])).size == (200, 90)


async def test_a_model_that_fails_leaves_the_page_unread(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(picture())
    with pytest.raises(ReadingError, match="the server sleeps"):
        await reader.read(path, services=Services(), sees=True)
    with pytest.raises(ReadingError, match="OCR is off"):
        await reader.read(path, services=Services(says="unasked"), sees=False)


async def test_files_inside_are_handed_over_and_released(reader: Reader, tmp_path: Path) -> None:
    message = EmailMessage()
    message["From"], message["Subject"] = "ada@example.org", "Roof"
    message.set_content("See below.")
    big = os.urandom(3_000_000)
    for name, data in (("a.bin", big), ("../../b.TXT", b"text"), ("a.bin", b"other")):
        message.add_attachment(data, "application", "octet-stream", filename=name)
    path = tmp_path / "m.eml"
    path.write_bytes(message.as_bytes())
    reading = await reader.read(path)
    assert [item.path.read_bytes() for item in reading.attachments] == [big, b"text", b"other"]
    folder = reading.attachments[0].path.parent
    assert all(item.path.parent == folder for item in reading.attachments)
    assert folder.stat().st_mode & 0o777 == 0o700
    reader.release(reading)
    assert not folder.exists()


async def test_more_than_may_be_unpacked_is_said(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(5):  # 8 MiB each, and four times 8 MiB may be unpacked
            archive.writestr(f"{number}.txt", os.urandom(4096) * 2048)
    reading = await reader.read(path)
    names = [item.name for item in reading.attachments]
    reader.release(reading)
    assert names == ["0.txt", "1.txt", "2.txt", "3.txt"]
    assert any("At most 32 MiB are unpacked from one file" in said for said in reading.warnings)


async def test_nothing_is_left_of_a_file_that_failed(
    reader: Reader, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(b"%PDF-1.4 nothing")
    with pytest.raises(ReadingError):
        await reader.read(path)
    assert list(reader._spool.root.iterdir()) == []


async def test_what_a_killed_process_left_is_swept(tmp_path: Path) -> None:
    stale, foreign = tmp_path / "999999999-old", tmp_path / "keep"
    stale.mkdir()
    (stale / "1.pdf").write_bytes(b"x")
    foreign.mkdir()
    own = tmp_path / f"{os.getpid()}-mine"
    own.mkdir()
    path = tmp_path / "a.txt"
    path.write_text("text")
    async with Reader(
        seconds=10, memory_mb=512, file_mb=8, ocr=False, threads=1, spool=tmp_path
    ) as reader:
        await reader.read(path)
    assert not stale.exists()
    assert foreign.exists()
    assert own.exists()


async def test_passwords_are_tried(reader: Reader, tmp_path: Path) -> None:
    from reportlab.lib.pdfencrypt import StandardEncryption
    from reportlab.pdfgen.canvas import Canvas

    path = tmp_path / "a.pdf"
    canvas = Canvas(str(path), encrypt=StandardEncryption("s3cret", "owner", strength=128))
    canvas.drawString(72, 700, "The rent is 950 euro a month.")
    canvas.save()
    for passwords in ((), ("wrong",), ("wrong", "worse")):
        with pytest.raises(PasswordRequired):
            await reader.read(path, passwords=passwords)
    reading = await reader.read(path, passwords=("wrong", "s3cret"))
    assert "950 euro" in reading.pages[0].text


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("send(type='see', image='AAAA')", "asked for a vision model that it was not given"),
        ("for _ in range(60): send(type='see', image='AAAA')", "more often than it may"),
        ("send(type='known', sha256='zz')", "not hexadecimal"),
        ("send(type='enclosed', name=7)", "'name' is a int"),
        ("send(type='enclosed', name='a'); send(type='page')", "sent 'page' inside of a file"),
        ("send(type='enclosed', name='a'); send(type='bytes', data='?')", "is not base64"),
        (
            "send(type='enclosed', name='a')\n"
            "for _ in range(20): send(type='bytes', data='A' * 4_000_000)",
            "more bytes than it may",
        ),
    ],
)
async def test_a_worker_that_was_taken_over_is_not_believed(
    tmp_path: Path, body: str, reason: str
) -> None:
    script = tmp_path / "worker.py"
    script.write_text(
        textwrap.dedent("""
            import sys, time
            from emily.reading import frames
            def send(**message):
                sys.stdout.buffer.write(frames.encode(message)); sys.stdout.buffer.flush()
            size = frames.length(sys.stdin.buffer.read(4))
            sys.stdin.buffer.read(size)
            send(type="begun")
        """)
        + body
        + "\ntime.sleep(30)\n"
    )
    path = tmp_path / "a.txt"
    path.write_text("x")
    async with Reader(
        seconds=20, memory_mb=512, file_mb=8, ocr=False, threads=1, spool=tmp_path / "spool",
        command=[sys.executable, str(script)],
    ) as reader:  # fmt: skip
        services = Services(says="x") if "range(60)" in body else None
        with pytest.raises(FrameError, match=reason):
            await reader.read(path, services=services, sees=services is not None)
    assert list((tmp_path / "spool").iterdir()) == []
