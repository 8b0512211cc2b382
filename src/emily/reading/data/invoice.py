"""Italian electronic invoices (FatturaPA), read as a person reads an invoice.

Element names are those of the technical specification of the FatturaPA format, version 1.2.2
(Agenzia delle Entrate); they are the same, without their namespace, since version 1.0. What no
rule here names is written all the same, under its element's name.
"""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import io
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence

from lxml import etree

from emily.errors import EmptyDocument, LimitExceeded, ReadingError
from emily.reading.data.invoice_sheet import Sheet, child, children, general_of, kind_name, value_of
from emily.reading.data.xml_tree import parse_xml
from emily.reading.office.ooxml import local
from emily.reading.pages import Correspondent, Facts, Page
from emily.reading.source import Draft, Enclosed, Source, check_length

__all__ = ["read_invoice"]

_ISO = re.compile(r"(\d{4}-\d{2}-\d{2})(?:Z|[-+]\d\d:\d\d)?")
_MOST_UNPACKED = 256 << 20  # bytes of one zipped attachment


def read_invoice(source: Source) -> Draft:
    """An electronic invoice: a page for each invoice of the file, attachments as enclosed files.

    Facts are those of the first invoice: its date, the seller and the buyer with their VAT or
    tax numbers.

    Raises:
        LimitExceeded, ReadingError, EmptyDocument: as ``xmltree.parse_xml``; no invoice in it.
    """
    root, warnings = parse_xml(source.path)
    if local(root) not in {"FatturaElettronica", "FatturaElettronicaSemplificata"}:
        inner = [e for e in root.iter() if local(e) == "FatturaElettronica"]
        if not inner:
            raise ReadingError("the XML holds no electronic invoice (FatturaElettronica)")
        root = inner[0]
    bodies = [child for child in root if local(child) == "FatturaElettronicaBody"]
    header = child(root, "FatturaElettronicaHeader")
    if not bodies:
        if header is None:
            raise EmptyDocument("the electronic invoice is empty")
        warnings.append("The electronic invoice has no body: only who it is from and to was read.")
    seller = _who(child(header, "CedentePrestatore"), "seller")
    buyer = _who(child(header, "CessionarioCommittente"), "buyer")
    date = next((day for body in bodies if (day := _date(_find(body, "Data")))), None)
    first = general_of(bodies[0]) if bodies else None
    kind = kind_name(value_of(child(first, "TipoDocumento")))
    number = value_of(child(first, "Numero"))
    title = f"{kind} {number}".strip() + (f" — {seller.name}" if seller and seller.name else "")
    facts = Facts(
        author=None,
        date=date,
        date_source="header" if date else None,
        correspondents=tuple(one for one in (seller, buyer) if one is not None),
    )
    draft = Draft("invoice", "pages", _pages(root, header, bodies), title, warnings, facts)
    draft.enclosed = _attachments(bodies)
    return draft


def _pages(
    root: etree._Element, header: etree._Element | None, bodies: Sequence[etree._Element]
) -> Iterator[Page]:
    length = 0
    for number, body in enumerate(bodies or [etree.Element("FatturaElettronicaBody")], 1):
        sheet = Sheet()
        sheet.invoice(root, header, body)
        page = Page(number, "\n".join(sheet.lines).strip("\n"), tables=tuple(sheet.tables))
        length += len(page.text)
        check_length(length)
        yield page


def _find(body: etree._Element, name: str) -> str:
    return value_of(child(general_of(body), name))


def _date(text: str) -> dt.date | None:
    match = _ISO.fullmatch(text)
    try:
        return dt.date.fromisoformat(match[1]) if match else None
    except ValueError:
        return None


def _who(party: etree._Element | None, role: str) -> Correspondent | None:
    """Seller or buyer: the name, and the VAT number with its country, else the tax code."""
    if party is None:
        return None
    found: dict[str, str] = {}
    data = child(party, "DatiAnagrafici")  # which a simplified invoice does without
    for element in (party if data is None else data).iter():
        if not len(element):
            found.setdefault(local(element), value_of(element))
    name = found.get("Denominazione") or f"{found.get('Nome', '')} {found.get('Cognome', '')}"
    number = f"{found.get('IdPaese', '')}{found.get('IdCodice', '')}"
    tax = number or found.get("CodiceFiscale") or None
    if not name.strip() and tax is None:
        return None
    return Correspondent("seller" if role == "seller" else "buyer", name.strip(), tax)


def _attachments(bodies: Iterable[etree._Element]) -> Iterator[Enclosed]:
    for body in bodies:
        for place, part in enumerate(children(body, "Allegati"), 1):
            name = value_of(child(part, "NomeAttachment")) or f"allegato {place}"
            suffix = value_of(child(part, "FormatoAttachment")).lower()
            packed = value_of(child(part, "AlgoritmoCompressione")).upper() == "ZIP"
            if suffix.isalnum() and "." not in name:
                name += f".{suffix}"
            if packed and name.lower().endswith(".zip"):
                packed = False  # an archive of its own, which is read as one
            content = child(part, "Attachment")
            yield Enclosed(name, _bytes("" if content is None else content.text or "", packed))


def _bytes(written: str, packed: bool) -> Iterator[bytes]:
    """An attachment's bytes: base64, and a ZIP of one file around them where that is said."""
    try:
        data = base64.b64decode("".join(written.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise ReadingError(f"its base64 is broken: {error}") from None
    if not packed or not data.startswith(b"PK"):
        yield data
        return
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [member for member in archive.infolist() if not member.filename.endswith("/")]
            if len(members) != 1:
                yield data  # an archive of its own, which is read as one
                return
            size = 0
            with archive.open(members[0]) as file:
                while piece := file.read(1 << 20):
                    size += len(piece)
                    if size > _MOST_UNPACKED:
                        raise LimitExceeded("it unpacks to far more than it holds")
                    yield piece
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError) as error:
        raise ReadingError(f"its ZIP is broken: {error}") from None
