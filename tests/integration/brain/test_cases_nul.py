"""NUL, which no text column can hold: taken out wherever a file may carry one, before offsets."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from emily.brain import Brain

Rows = Callable[..., list[tuple[Any, ...]]]


def mail() -> bytes:
    inner = EmailMessage()
    inner["Subject"] = "inner"
    inner.set_content("x")
    made = EmailMessage()
    made["From"] = "=?utf-8?q?A=00da?= <ada@example.org>"
    made["Message-ID"] = "<nul@example.org>"
    made.set_content("speciQcation of the boiler\n")
    made.add_attachment(b"The speciQcation is attached.\n", "text", "plain", filename="aQb.txt")
    raw = bytes(made).replace(b"Q", b"\0")
    return b"Subject: =?utf-8?q?speci=00cation?=\n" + raw


def pdf() -> bytes:
    text = rb"BT /F 12 Tf 72 700 Td (The speci\000cation of the boiler) Tj ET"
    return (
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
        b"2 0 obj<</Type/Pages/Count 1/Kids[3 0 R]>>endobj\n"
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R"
        b"/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>endobj\n"
        b"4 0 obj<</Length "
        + str(len(text)).encode()
        + b">>stream\n"
        + text
        + b"\nendstream endobj\n"
        rb"5 0 obj<</Title(Boi\000ler)/Author(A\000da Conti)>>endobj" + b"\n"
        b"trailer<</Root 1 0 R/Info 5 0 R>>\n%%EOF\n"
    )


def packed() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("note.txt", "The speci\0cation of the boiler.")
    return data.getvalue()


LONG = b"The speci\0cation of the boiler" + b", which is read once a year" * 30 + b".\n"
"""One NUL in many characters: a file that is full of them is no text at all."""

FILES = {
    "text": ("a.txt", b"The speci\0cation of the boiler.\n"),
    "heading": ("a.md", b"# Boi\0ler\n\n## Speci\0cation\n\n" + LONG),
    "cell": ("a.csv", b"part;text\n1;speci\0cation of the boiler\n2;x\n"),
    "page": ("a.html", b"<html><title>Boi\0ler</title><h1>Speci\0cation</h1>" + LONG),
    "record": ("a.json", json.dumps({"spe\0ci": "a speci\0cation of the boiler"}).encode()),
    "code page": ("a.rtf", rb"{\rtf1\ansi{\info{\title Boi\'00ler}}The speci\'00cation "
                  rb"of the boiler.\par}"),
    "mail": ("a.eml", mail()),
    "properties": ("a.pdf", pdf()),
    "member": ("a.zip", packed()),
    "sixteen bits": ("b.txt", "The speci\0cation of the boiler.\n".encode("utf-16")),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
async def test_nul_reaches_no_column(brain: Brain, folder: Path, rows: Rows, name: str) -> None:
    path = folder / FILES[name][0]
    path.write_bytes(FILES[name][1])
    report = await brain.add([path])
    assert {file.outcome for file in report.files} == {"added"}, report
    for table in ("document", "page", "chunk", "source"):
        # As text, every character that JSON escapes shows: NUL would be one of them.
        for (row,) in rows(f"SELECT to_jsonb(t)::text FROM {table} t"):
            assert "\\u0000" not in row
    text = "".join(text for (text,) in rows("SELECT text FROM document"))
    assert "\0" not in text
    assert "specication" in text or name == "properties"
    for start, end, page in rows(
        "SELECT p.start_at, p.end_at, length(d.text) FROM page p JOIN document d "
        "ON d.id = p.document_id"
    ):
        assert 0 <= start <= end <= page
    (first, *_) = (await brain.search("specication boiler")).results
    passage = first.passages[0]
    assert "boiler" in passage.text.lower()
