"""What people keep, through the program: a folder of everyday files is read, said and found."""

from __future__ import annotations

import base64
import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

INVOICE = """<?xml version="1.0" encoding="UTF-8"?>
<p:FatturaElettronica versione="FPR12" xmlns:p="http://ivaservizi.agenziaentrate.gov.it/docs/xsd/fatture/v1.2">
<FatturaElettronicaHeader>
<CedentePrestatore><DatiAnagrafici><IdFiscaleIVA><IdPaese>IT</IdPaese><IdCodice>01234567890</IdCodice></IdFiscaleIVA>
<Anagrafica><Denominazione>Falegnameria Larice Srl</Denominazione></Anagrafica></DatiAnagrafici>
<Sede><Indirizzo>Via dei Carpini 4</Indirizzo><CAP>38100</CAP><Comune>Trento</Comune><Nazione>IT</Nazione></Sede></CedentePrestatore>
<CessionarioCommittente><DatiAnagrafici><CodiceFiscale>NREBRN80A01L378X</CodiceFiscale>
<Anagrafica><Nome>Bruno</Nome><Cognome>Neri</Cognome></Anagrafica></DatiAnagrafici></CessionarioCommittente>
</FatturaElettronicaHeader>
<FatturaElettronicaBody><DatiGenerali><DatiGeneraliDocumento><TipoDocumento>TD01</TipoDocumento><Divisa>EUR</Divisa>
<Data>2025-06-26</Data><Numero>17/B</Numero><ImportoTotaleDocumento>1464.00</ImportoTotaleDocumento></DatiGeneraliDocumento></DatiGenerali>
<DatiBeniServizi><DettaglioLinee><NumeroLinea>1</NumeroLinea><Descrizione>Persiane di larice su misura</Descrizione>
<Quantita>4.00</Quantita><PrezzoUnitario>300.00</PrezzoUnitario><PrezzoTotale>1200.00</PrezzoTotale><AliquotaIVA>22.00</AliquotaIVA></DettaglioLinee>
<DatiRiepilogo><AliquotaIVA>22.00</AliquotaIVA><ImponibileImporto>1200.00</ImponibileImporto><Imposta>264.00</Imposta></DatiRiepilogo></DatiBeniServizi>
</FatturaElettronicaBody></p:FatturaElettronica>
"""  # noqa: E501 - as such files are
RTF = rb"{\rtf1\ansi\ansicpg1252 Il cancello si apre con la chiave d\'92ottone.\par}"


def message() -> bytes:
    mail = EmailMessage()
    mail["From"] = "Ada Conti <ada@example.org>"
    mail["To"] = "bruno@example.org"
    mail["Date"] = "Thu, 03 Apr 2025 09:00:00 +0200"
    mail["Subject"] = "Persiane"
    mail["Message-ID"] = "<persiane@example.org>"
    mail.set_content("Ti mando la fattura del falegname.")
    mail.add_attachment(INVOICE.encode(), "application", "xml", filename="IT01234567890_17B.xml")
    return mail.as_bytes()


def opendocument() -> bytes:
    content = (
        '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
        'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:text>'
        '<text:h text:outline-level="1">Garden</text:h>'
        "<text:p>The pear tree is pruned in February.</text:p>"
        "</office:text></office:body></office:document-content>"
    )
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr("content.xml", content)
    return data.getvalue()


def notebook() -> bytes:
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": "# Rainfall\n\nMillimetres by month."},
        {"cell_type": "code", "metadata": {}, "source": "print(42)", "outputs": [
            {"output_type": "stream", "name": "stdout", "text": "42\n"}], "execution_count": 1},
    ]  # fmt: skip
    book = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(book).encode()


def packed() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("2024/garden.odt", opendocument())
        archive.writestr("2024/notes.ipynb", notebook())
    return data.getvalue()


def box() -> bytes:
    mails = []
    for number in (1, 2):
        mail = EmailMessage()
        mail["From"] = "Carla Viola <carla@example.org>"
        mail["Date"] = f"Tue, 0{number} Apr 2025 08:00:00 +0200"
        mail["Subject"] = f"Coro, prova {number}"
        mail["Message-ID"] = f"<coro{number}@example.org>"
        if number == 2:
            mail["References"] = "<coro1@example.org>"
        mail.set_content(f"La prova {number} del coro è in sagrestia alle otto.")
        mails.append(b"From carla Tue Apr  1 08:00:00 2025\n" + mail.as_bytes() + b"\n")
    return b"".join(mails)


FILES = {
    "persiane.eml": message(),
    "archive.zip": packed(),
    "coro.mbox": box(),
    "gate.rtf": RTF,
    "fattura.xml.p7m": b"",  # filled below
}


def signed(content: bytes) -> bytes:
    """PKCS #7 signedData around a content, without signers."""

    def tlv(tag: int, value: bytes) -> bytes:
        size = len(value)
        if size < 128:
            return bytes([tag, size]) + value
        octets = size.to_bytes((size.bit_length() + 7) // 8, "big")
        return bytes([tag, 0x80 | len(octets)]) + octets + value

    data = bytes.fromhex("06092a864886f70d010701")
    kind = bytes.fromhex("06092a864886f70d010702")
    inner = tlv(0x30, data + tlv(0xA0, tlv(0x04, content)))
    body = tlv(0x30, tlv(0x02, b"\1") + tlv(0x31, b"") + inner + tlv(0x31, b""))
    return tlv(0x30, kind + tlv(0xA0, body))


FILES["fattura.xml.p7m"] = signed(INVOICE.replace("17/B", "18/B").encode())


class Program:
    def __init__(self, home: Path) -> None:
        self.home = home

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in os.environ.items() if name[:6] != "EMILY_"}
        return subprocess.run(
            [sys.executable, "-m", "emily.cli", *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            env=kept | {"EMILY_HOME": str(self.home)},
            timeout=120,
            check=False,
        )

    def json(self, *arguments: str) -> Any:
        result = self.run(*arguments, "--json")
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("kept")
    for name, content in FILES.items():
        (top / name).write_bytes(content)
    return top


@pytest.fixture(scope="module")
def program(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    program = Program(tmp_path_factory.mktemp("reading") / "home")
    try:
        added = program.json("add", str(folder))
        assert {file["outcome"] for file in added["files"]} == {"added"}, added
        assert {file["state"] for file in added["files"]} == {"read"}, added
        yield program
    finally:
        program.run("stop")


def found(program: Program, *arguments: str) -> list[str]:
    results = program.json("search", *arguments)["results"]
    return [result["document"]["path"] for result in results]


def test_each_file_is_found_by_what_it_holds(program: Program, folder: Path) -> None:
    for question, path in (
        ("persiane di larice su misura", "persiane.eml!/IT01234567890_17B.xml"),
        ("when is the pear tree pruned", "archive.zip!/2024/garden.odt"),
        ("rainfall in millimetres", "archive.zip!/2024/notes.ipynb"),
        ("chiave d'ottone del cancello", "gate.rtf"),
        ("fattura 18/B", "fattura.xml.p7m"),
        ("dove si trova il coro per la prova", "coro.mbox!/"),
    ):
        paths = found(program, question)
        # Two of the files hold nearly the same invoice.
        assert any(item.startswith(f"{folder}/{path}") for item in paths[:2]), (question, paths)


def test_facts_are_shown_and_filter(program: Program, folder: Path) -> None:
    shown = program.json("show", str(folder / "fattura.xml.p7m"))["document"]
    assert (shown["kind"], shown["date"], shown["date_source"]) == (
        "invoice",
        "2025-06-26",
        "header",
    )
    people = {person["role"]: person for person in shown["correspondents"]}
    assert people["seller"]["name"] == "Falegnameria Larice Srl"
    assert people["buyer"]["name"] == "Bruno Neri"
    june = found(program, "fattura", "--from", "2025-06", "--to", "2025-06", "--threshold", "0")
    assert {Path(path).name for path in june} == {"IT01234567890_17B.xml", "fattura.xml.p7m"}
    mails = found(program, "persiane", "--type", "mail", "--threshold", "0")
    assert f"{folder}/persiane.eml" in mails
    assert not any(path.endswith(".xml") for path in mails)
    inside = found(program, "tree", "--in", str(folder / "archive.zip"), "--threshold", "0")
    assert inside
    assert all(path.startswith(f"{folder}/archive.zip") for path in inside)


def test_threads_and_what_lies_inside(program: Program, folder: Path) -> None:
    box = program.json("show", str(folder / "coro.mbox"))
    assert len(box["parts"]) == 2
    first = program.json("show", str(box["parts"][0]["id"]))
    assert [mail["id"] for mail in first["thread"]] == [box["parts"][1]["id"]]
    assert first["document"]["parent"] == box["document"]["id"]


def test_inspect_needs_no_database(folder: Path, tmp_path: Path) -> None:
    program = Program(tmp_path / "elsewhere")
    seen = program.json("inspect", str(folder / "fattura.xml.p7m"))
    assert seen["kind"] == "invoice"
    (page,) = seen["pages"]
    assert page["route"] == "text"
    for word in ("Persiane di larice su misura", "18/B", "Falegnameria Larice Srl", "1.464,00"):
        assert word in page["text"] or word.replace(".", "") in page["text"], word
    assert not (tmp_path / "elsewhere" / "database").exists()
    shown = program.run("inspect", str(folder / "persiane.eml")).stdout
    assert "--- page 1, text, " in shown
    assert "IT01234567890_17B.xml" in shown


def test_base64_is_what_signed_files_may_be(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "again.xml.p7m"
    path.write_bytes(base64.encodebytes(FILES["fattura.xml.p7m"]))
    assert Program(tmp_path / "home").json("inspect", str(path))["kind"] == "invoice"
