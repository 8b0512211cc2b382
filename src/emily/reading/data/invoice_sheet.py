"""One Italian electronic invoice as lines: labels, tables, and whatever no rule names."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

from lxml import etree

from emily.reading.data.invoice_codes import CODES, DOCUMENTS, FORMATS
from emily.reading.office.ooxml import local
from emily.reading.pages import Table
from emily.reading.source import tidy
from emily.reading.tables import markdown_table

__all__ = ["Sheet", "child", "children", "general_of", "kind_name", "value_of"]

_AMOUNT = re.compile(r"[-+]?\d+(?:\.\d+)?")
_LONG = re.compile(r" \(| di cui | ex art")
_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_REFERENCES = {
    "DatiOrdineAcquisto": "Ordine di acquisto",
    "DatiContratto": "Contratto",
    "DatiConvenzione": "Convenzione",
    "DatiRicezione": "Ricezione",
    "DatiFattureCollegate": "Fattura collegata",
}
_LABELS = {
    "CodiceCIG": "CIG", "CodiceCUP": "CUP", "NumItem": "posizione",
    "CodiceCommessaConvenzione": "commessa/convenzione", "RiferimentoNumeroLinea": "righe",
    "DataScadenzaPagamento": "Scadenza", "ImportoPagamento": "Importo", "BIC": "BIC",
    "IBAN": "IBAN", "ABI": "ABI", "CAB": "CAB", "IstitutoFinanziario": "Banca",
    "DataRiferimentoTerminiPagamento": "Decorrenza", "GiorniTerminiPagamento": "Giorni",
    "ModalitaPagamento": "Modalità", "CondizioniPagamento": "Condizioni",
    "CodicePagamento": "Codice pagamento", "RegimeFiscale": "Regime fiscale",
    "NumeroREA": "Numero REA", "AlCassa": "Aliquota %",
    "AliquotaRitenuta": "Aliquota %",
    "ImportoTotaleDocumento": "Totale documento", "EsigibilitaIVA": "Esigibilità IVA",
    "AliquotaIVA": "Aliquota IVA %", "Divisa": "Divisa", "PECDestinatario": "PEC",
    "CodiceDestinatario": "Codice destinatario", "CodUfficioPostale": "Ufficio postale",
}  # fmt: skip


class Sheet:
    """The lines of one invoice; what has been written is marked, the rest follows at the end."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.tables: list[Table] = []
        self._taken: set[etree._Element] = set()

    def invoice(
        self, root: etree._Element, header: etree._Element | None, body: etree._Element
    ) -> None:
        """Write an invoice."""
        general = general_of(body)
        code = self.take(general, "TipoDocumento")
        number = self.take(general, "Numero")
        date = self.take(general, "Data")
        self.lines.append(f"# {kind_name(code)} {number}".rstrip())
        self.lines.append("")
        self.field("Tipo documento", f"{code} {DOCUMENTS.get(code, '')}".strip())
        self.field("Numero", number)
        self.field("Data", date)
        self.field("Divisa", self.take(general, "Divisa"))
        for cause in children(general, "Causale"):
            self.field("Causale", self.mark(cause))
        transmission = child(header, "DatiTrasmissione")
        form = self.take(transmission, "FormatoTrasmissione") or (root.get("versione") or "")
        self.field("Formato", f"{form} {FORMATS.get(form, '')}".strip())
        self.field("Codice destinatario", self.take(transmission, "CodiceDestinatario"))
        self.field("PEC destinatario", self.take(transmission, "PECDestinatario"))
        sender = child(transmission, "IdTrasmittente")
        self.field("Trasmittente", self.take(sender, "IdPaese") + self.take(sender, "IdCodice"))
        self.field("Progressivo invio", self.take(transmission, "ProgressivoInvio"))
        for name, title in (
            ("CedentePrestatore", "Cedente/prestatore (fornitore)"),
            ("RappresentanteFiscale", "Rappresentante fiscale"),
            ("CessionarioCommittente", "Cessionario/committente (cliente)"),
            ("TerzoIntermediarioOSoggettoEmittente", "Terzo intermediario o soggetto emittente"),
        ):
            self.party(child(header, name), title)
        self.references(child(body, "DatiGenerali"))
        self.goods(body)
        self.totals(general)
        self.payments(body)
        self.enclosed(body)
        self.rest(header, body)

    # --- elements

    def mark(self, element: etree._Element | None) -> str:
        """An element's text, as a person reads it; it counts as written."""
        if element is None:
            return ""
        self._taken.add(element)
        return _shown(element)

    def take(self, parent: etree._Element | None, name: str) -> str:
        """The text of the child of that name."""
        return self.mark(child(parent, name))

    def field(self, label: str, value: str) -> None:
        """A labelled line, where there is something to write."""
        if value:
            self.lines.append(f"{label}: {value}")

    def heading(self, title: str) -> None:
        """A heading with a blank line at either side."""
        self.lines += ["", f"## {title}", ""]

    def table(self, rows: list[list[str]]) -> None:
        """A table with a header row; columns that are empty throughout are left out."""
        kept = [at for at in range(len(rows[0])) if any(row[at] for row in rows[1:])]
        lines, table = markdown_table([[row[at] for at in kept] for row in rows], len(self.lines))
        self.lines += lines
        if table is not None:
            self.tables.append(table)

    def others(self, element: etree._Element, prefix: str = "") -> list[str]:
        """What of an element was not written yet: ``label: text`` for each leaf."""
        found = []
        for leaf in element.iter():
            if len(leaf) or leaf in self._taken or not isinstance(leaf.tag, str):
                continue
            if local(leaf) == "Attachment":
                continue
            text = self.mark(leaf)
            if text:
                found.append(f"{prefix}{_label(local(leaf))}: {text}")
        return found

    # --- parts of an invoice

    def party(self, party: etree._Element | None, title: str) -> None:
        """Seller, buyer and whoever else takes part."""
        if party is None:
            return
        self.heading(title)
        data = party if child(party, "DatiAnagrafici") is None else child(party, "DatiAnagrafici")
        names = child(data, "Anagrafica")
        if names is None:
            names = child(data, "AltriDatiIdentificativi")
        names = data if names is None else names
        company = self.take(names, "Denominazione")
        person = [self.take(names, part) for part in ("Titolo", "Nome", "Cognome")]
        self.lines.append(company or " ".join(filter(None, person)) or "(senza nome)")
        numbers = child(data, "IdentificativiFiscali")
        numbers = data if numbers is None else numbers
        tax = child(numbers, "IdFiscaleIVA")
        country, code = self.take(tax, "IdPaese"), self.take(tax, "IdCodice")
        self.field("P.IVA", f"{country}{code}")
        self.field("Codice fiscale", self.take(numbers, "CodiceFiscale"))
        for place in party.iter():
            if local(place) in {"Sede", "StabileOrganizzazione"}:
                label = "Indirizzo" if local(place) == "Sede" else "Stabile organizzazione"
                self.field(label, self.address(place))
        self.field("Regime fiscale", self.take(data, "RegimeFiscale"))
        self.lines += self.others(party)

    def address(self, place: etree._Element) -> str:
        """An address on one line."""
        street = f"{self.take(place, 'Indirizzo')} {self.take(place, 'NumeroCivico')}".strip()
        province = self.take(place, "Provincia")
        city = " ".join(filter(None, [self.take(place, "CAP"), self.take(place, "Comune")])) + (
            f" ({province})" if province else ""
        )
        return ", ".join(filter(None, [street, city.strip(), self.take(place, "Nazione")]))

    def references(self, general: etree._Element | None) -> None:
        """Orders, contracts, delivery notes and invoices that the invoice refers to."""
        if general is None:
            return
        lines = []
        for element in general:
            name = local(element)
            if name in _REFERENCES:
                lines.append(self.reference(_REFERENCES[name], element, "IdDocumento", "Data"))
            elif name == "DatiDDT":
                label = "Documento di trasporto (DDT)"
                lines.append(self.reference(label, element, "NumeroDDT", "DataDDT"))
            elif name == "DatiFatturaRettificata":
                lines.append(self.reference("Fattura rettificata", element, "NumeroFR", "DataFR"))
            elif name == "FatturaPrincipale":
                names = ("NumeroFatturaPrincipale", "DataFatturaPrincipale")
                lines.append(self.reference("Fattura principale", element, *names))
            elif name == "DatiSAL":
                lines.append(
                    f"Stato avanzamento lavori: fase {self.take(element, 'RiferimentoFase')}"
                )
        if lines:
            self.heading("Riferimenti")
            self.lines += lines

    def reference(self, label: str, element: etree._Element, number: str, date: str) -> str:
        """One document that the invoice refers to."""
        text = f"{label}: {self.take(element, number)}".rstrip()
        day = self.take(element, date)
        text += f" del {day}" if day else ""
        lines = [self.mark(line) for line in children(element, "RiferimentoNumeroLinea")]
        text += f" (righe {', '.join(lines)})" if lines else ""
        return "; ".join([text, *self.others(element)])

    def goods(self, body: etree._Element) -> None:
        """What was sold, and the summary of VAT."""
        goods = children(body, "DatiBeniServizi")
        rows = [row for part in goods for row in children(part, "DettaglioLinee")]
        simple = [part for part in goods if child(part, "Descrizione") is not None]
        if rows or simple:
            self.heading("Righe")
        if rows:
            self.table(
                [
                    ["N.", "Descrizione", "Quantità", "U.M.", "Prezzo unitario",
                     "Sconto/maggiorazione", "IVA %", "Natura", "Prezzo totale", "Altri dati"],
                    *map(self.row, rows),
                ]
            )  # fmt: skip
        if simple:
            self.table(
                [
                    ["Descrizione", "Importo", "Imposta", "IVA %", "Natura", "Altri dati"],
                    *map(self.simple_row, simple),
                ]
            )
        sums = [row for part in goods for row in children(part, "DatiRiepilogo")]
        if sums:
            self.heading("Riepilogo IVA")
            self.table(
                [
                    ["IVA %", "Natura", "Imponibile", "Imposta", "Esigibilità", "Spese accessorie",
                     "Arrotondamento", "Riferimento normativo"],
                    *[
                        [
                            self.take(row, name)
                            for name in ("AliquotaIVA", "Natura", "ImponibileImporto", "Imposta",
                                         "EsigibilitaIVA", "SpeseAccessorie", "Arrotondamento",
                                         "RiferimentoNormativo")
                        ]
                        for row in sums
                    ],
                ]
            )  # fmt: skip

    def row(self, row: etree._Element) -> list[str]:
        """One line of an invoice as cells."""
        number, text = self.take(row, "NumeroLinea"), self.take(row, "Descrizione")
        codes = [
            f"{self.take(code, 'CodiceTipo')} {self.take(code, 'CodiceValore')}".strip()
            for code in children(row, "CodiceArticolo")
        ]
        begin, end = self.take(row, "DataInizioPeriodo"), self.take(row, "DataFinePeriodo")
        if begin or end:
            codes.append(f"periodo {begin}{' – ' if begin and end else ''}{end}")
        changes = [self.change(part) for part in children(row, "ScontoMaggiorazione")]
        cells = [
            self.take(row, name)
            for name in ("Quantita", "UnitaMisura", "PrezzoUnitario", "AliquotaIVA", "Natura",
                         "PrezzoTotale")
        ]  # fmt: skip
        others = "; ".join(codes + [self.managed(p) for p in children(row, "AltriDatiGestionali")])
        others = "; ".join(filter(None, [others, *self.others(row)]))
        return [number, text, *cells[:3], "; ".join(changes), *cells[3:], others]

    def change(self, part: etree._Element) -> str:
        """A discount or a surcharge."""
        percent, amount = self.take(part, "Percentuale"), self.take(part, "Importo")
        return " ".join(filter(None, [self.take(part, "Tipo"), percent and f"{percent}%", amount]))

    def managed(self, part: etree._Element) -> str:
        """Further data of a line: their kind, then what they say."""
        kind = self.take(part, "TipoDato")
        texts = ("RiferimentoTesto", "RiferimentoNumero", "RiferimentoData")
        return f"{kind}: {' '.join(filter(None, (self.take(part, name) for name in texts)))}"

    def simple_row(self, row: etree._Element) -> list[str]:
        """One line of a simplified invoice as cells."""
        tax = child(row, "DatiIVA")
        cells = [self.take(row, "Descrizione"), self.take(row, "Importo")]
        cells += [self.take(tax, "Imposta"), self.take(tax, "Aliquota"), self.take(row, "Natura")]
        return [*cells, "; ".join(self.others(row))]

    def totals(self, general: etree._Element | None) -> None:
        """Total, withholding, stamp duty, social security and rounding."""
        if general is None:
            return
        at = len(self.lines)
        stamp = child(general, "DatiBollo")
        self.field("Totale documento", self.take(general, "ImportoTotaleDocumento"))
        self.field("Arrotondamento", self.take(general, "Arrotondamento"))
        for label, name in (("Ritenuta", "DatiRitenuta"), ("Cassa", "DatiCassaPrevidenziale")):
            for part in children(general, name):
                self.field(label, "; ".join(self.others(part)))
        if stamp is not None:
            parts = [self.take(stamp, "ImportoBollo"), self.take(stamp, "BolloVirtuale")]
            self.field("Bollo", "; ".join(filter(None, parts)))
        for part in children(general, "ScontoMaggiorazione"):
            self.field("Sconto/maggiorazione", self.change(part))
        self.lines += self.others(general)
        if len(self.lines) > at:
            self.lines[at:at] = ["", "## Totali", ""]

    def payments(self, body: etree._Element) -> None:
        """When, how much and how to pay."""
        groups = children(body, "DatiPagamento")
        if not groups:
            return
        self.heading("Pagamento")
        for group in groups:
            self.field("Condizioni", self.take(group, "CondizioniPagamento"))
            for part in children(group, "DettaglioPagamento"):
                names = ("ModalitaPagamento", "DataScadenzaPagamento", "ImportoPagamento",
                         "Beneficiario", "IBAN", "BIC", "IstitutoFinanziario")  # fmt: skip
                said = [
                    f"{_label(name)}: {text}" for name in names if (text := self.take(part, name))
                ]
                self.lines.append("- " + "; ".join(said + self.others(part)))

    def enclosed(self, body: etree._Element) -> None:
        """Names and descriptions of what is attached."""
        parts = children(body, "Allegati")
        if not parts:
            return
        self.heading("Allegati")
        for part in parts:
            for name in ("AlgoritmoCompressione", "FormatoAttachment"):
                self.take(part, name)
            name, text = self.take(part, "NomeAttachment"), self.take(part, "DescrizioneAttachment")
            self.lines.append(f"- {name}" + (f": {text}" if text else ""))

    def rest(self, header: etree._Element | None, body: etree._Element) -> None:
        """Whatever no rule has written."""
        lines = []
        for part in (body, header):
            lines += [] if part is None else self.others(part)
        if lines:
            self.heading("Altri dati")
            self.lines += lines


def general_of(body: etree._Element) -> etree._Element | None:
    """The general data of an invoice: its kind, number, date and total."""
    return child(child(body, "DatiGenerali"), "DatiGeneraliDocumento")


def child(parent: etree._Element | None, name: str) -> etree._Element | None:
    """The first child of that name."""
    return next(iter(children(parent, name)), None)


def children(parent: etree._Element | None, name: str) -> list[etree._Element]:
    """The children of that name, in any namespace."""
    return [] if parent is None else [child for child in parent if local(child) == name]


def value_of(element: etree._Element | None) -> str:
    """An element's text as it stands, on one line."""
    if element is None:
        return ""
    return " ".join(tidy("".join(str(piece) for piece in element.itertext())).split())


def _shown(element: etree._Element) -> str:
    """An element's text for people: codes with their names, amounts the Italian way."""
    text, name = value_of(element), local(element)
    meaning = CODES.get(name, {}).get(text)
    if meaning is not None:
        return f"{text} {meaning}" if len(text) > 2 or name == "Natura" else meaning
    if _AMOUNT.fullmatch(text) and "." in text and not name.startswith(("Codice", "Numero", "Id")):
        return _italian(text)
    return text


def _italian(written: str) -> str:
    """``1234.5`` as ``1.234,50``: at least two decimals, none after them that is zero."""
    try:
        amount = Decimal(written)
    except InvalidOperation:
        return written
    whole, _, decimals = f"{amount:,f}".partition(".")
    decimals = decimals.rstrip("0").ljust(2, "0")
    return f"{whole.replace(',', '.')},{decimals}"


def _label(name: str) -> str:
    """A label for an element: its name's words."""
    return _LABELS.get(name) or _WORDS.sub(" ", name).capitalize().replace("iva", "IVA")


def kind_name(code: str) -> str:
    """The name of a kind of document, short enough for a title."""
    return _LONG.split(DOCUMENTS.get(code, "Fattura elettronica"))[0]
