"""Italian electronic invoices: every text of the XML, in labels and tables that a person reads."""

from __future__ import annotations

import base64
import datetime as dt
import io
import re
import zipfile
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from emily.errors import EmptyDocument, ReadingError
from emily.reading.data.invoice import read_invoice
from emily.reading.data.invoice_codes import CODES, DOCUMENTS
from emily.reading.kind import detect
from emily.reading.pages import Correspondent
from emily.reading.source import Source

Make = Callable[..., Source]

NAMESPACE = "http://ivaservizi.agenziaentrate.gov.it/docs/xsd/fatture/v1.2"

HEADER = """
<FatturaElettronicaHeader>
 <DatiTrasmissione>
  <IdTrasmittente><IdPaese>IT</IdPaese><IdCodice>01234567890</IdCodice></IdTrasmittente>
  <ProgressivoInvio>00A7</ProgressivoInvio>
  <FormatoTrasmissione>FPR12</FormatoTrasmissione>
  <CodiceDestinatario>ABC1234</CodiceDestinatario>
  <PECDestinatario>acquisti@pec.example.it</PECDestinatario>
 </DatiTrasmissione>
 <CedentePrestatore>
  <DatiAnagrafici>
   <IdFiscaleIVA><IdPaese>IT</IdPaese><IdCodice>01234567890</IdCodice></IdFiscaleIVA>
   <CodiceFiscale>01234567890</CodiceFiscale>
   <Anagrafica><Denominazione>Officina Prova S.r.l.</Denominazione></Anagrafica>
   <RegimeFiscale>RF01</RegimeFiscale>
  </DatiAnagrafici>
  <Sede><Indirizzo>Via dei Mulini</Indirizzo><NumeroCivico>7/B</NumeroCivico><CAP>00100</CAP>
   <Comune>Roma</Comune><Provincia>RM</Provincia><Nazione>IT</Nazione></Sede>
  <IscrizioneREA><Ufficio>RM</Ufficio><NumeroREA>998877</NumeroREA>
   <CapitaleSociale>10000.00</CapitaleSociale><StatoLiquidazione>LN</StatoLiquidazione>
  </IscrizioneREA>
  <Contatti><Telefono>06000111</Telefono><Email>info@officina.example</Email></Contatti>
 </CedentePrestatore>
 <CessionarioCommittente>
  <DatiAnagrafici>
   <CodiceFiscale>PRVNNA80A41H501X</CodiceFiscale>
   <Anagrafica><Nome>Anna</Nome><Cognome>Prova</Cognome></Anagrafica>
  </DatiAnagrafici>
  <Sede><Indirizzo>Piazza Nuova 3</Indirizzo><CAP>20100</CAP><Comune>Milano</Comune>
   <Provincia>MI</Provincia><Nazione>IT</Nazione></Sede>
 </CessionarioCommittente>
</FatturaElettronicaHeader>
"""

BODY = """
<FatturaElettronicaBody>
 <DatiGenerali>
  <DatiGeneraliDocumento>
   <TipoDocumento>TD01</TipoDocumento><Divisa>EUR</Divisa><Data>2025-06-26</Data>
   <Numero>12/2025</Numero>
   <DatiRitenuta><TipoRitenuta>RT01</TipoRitenuta><ImportoRitenuta>20.00</ImportoRitenuta>
    <AliquotaRitenuta>20.00</AliquotaRitenuta><CausalePagamento>A</CausalePagamento></DatiRitenuta>
   <DatiBollo><BolloVirtuale>SI</BolloVirtuale><ImportoBollo>2.00</ImportoBollo></DatiBollo>
   <DatiCassaPrevidenziale><TipoCassa>TC04</TipoCassa><AlCassa>4.00</AlCassa>
    <ImportoContributoCassa>48.60</ImportoContributoCassa></DatiCassaPrevidenziale>
   <ImportoTotaleDocumento>1482.30</ImportoTotaleDocumento>
   <Arrotondamento>0.01</Arrotondamento>
   <Causale>Manutenzione ordinaria</Causale><Causale>secondo preventivo</Causale>
  </DatiGeneraliDocumento>
  <DatiOrdineAcquisto><RiferimentoNumeroLinea>1</RiferimentoNumeroLinea>
   <IdDocumento>ORD-77</IdDocumento><Data>2025-05-02</Data><CodiceCUP>J11B21000000001</CodiceCUP>
   <CodiceCIG>Z123456789</CodiceCIG></DatiOrdineAcquisto>
  <DatiContratto><IdDocumento>CTR-5</IdDocumento></DatiContratto>
  <DatiDDT><NumeroDDT>DDT-31</NumeroDDT><DataDDT>2025-06-20</DataDDT></DatiDDT>
  <DatiTrasporto><MezzoTrasporto>Furgone</MezzoTrasporto><NumeroColli>3</NumeroColli></DatiTrasporto>
 </DatiGenerali>
 <DatiBeniServizi>
  <DettaglioLinee><NumeroLinea>1</NumeroLinea>
   <CodiceArticolo><CodiceTipo>INT</CodiceTipo><CodiceValore>K014</CodiceValore></CodiceArticolo>
   <Descrizione>Cambio olio | filtro</Descrizione><Quantita>2.00</Quantita>
   <UnitaMisura>pz</UnitaMisura><PrezzoUnitario>607.50000000</PrezzoUnitario>
   <ScontoMaggiorazione><Tipo>SC</Tipo><Percentuale>10.00</Percentuale></ScontoMaggiorazione>
   <PrezzoTotale>1215.00</PrezzoTotale><AliquotaIVA>22.00</AliquotaIVA>
   <AltriDatiGestionali><TipoDato>TARGA</TipoDato><RiferimentoTesto>ZZ000ZZ</RiferimentoTesto>
   </AltriDatiGestionali></DettaglioLinee>
  <DettaglioLinee><NumeroLinea>2</NumeroLinea><Descrizione>Rimborso spese</Descrizione>
   <PrezzoUnitario>0.123456</PrezzoUnitario><PrezzoTotale>0.12</PrezzoTotale>
   <AliquotaIVA>0.00</AliquotaIVA><Natura>N1</Natura></DettaglioLinee>
  <DatiRiepilogo><AliquotaIVA>22.00</AliquotaIVA><ImponibileImporto>1215.00</ImponibileImporto>
   <Imposta>267.30</Imposta><EsigibilitaIVA>S</EsigibilitaIVA></DatiRiepilogo>
  <DatiRiepilogo><AliquotaIVA>0.00</AliquotaIVA><Natura>N1</Natura>
   <ImponibileImporto>0.12</ImponibileImporto><Imposta>0.00</Imposta>
   <RiferimentoNormativo>Escluso art. 15</RiferimentoNormativo></DatiRiepilogo>
 </DatiBeniServizi>
 <DatiPagamento><CondizioniPagamento>TP02</CondizioniPagamento>
  <DettaglioPagamento><ModalitaPagamento>MP05</ModalitaPagamento>
   <DataScadenzaPagamento>2025-07-31</DataScadenzaPagamento>
   <ImportoPagamento>1482.30</ImportoPagamento>
   <IBAN>IT60X0542811101000000123456</IBAN></DettaglioPagamento></DatiPagamento>
 ALLEGATI
</FatturaElettronicaBody>
"""


def invoice(
    *bodies: str,
    header: str = HEADER,
    prefix: str = "p",
    version: str = "FPR12",
    enclosed: str = "",
) -> bytes:
    inner = header + "".join(body.replace("ALLEGATI", enclosed) for body in bodies or (BODY,))
    mark, colon = (f"xmlns:{prefix}", f"{prefix}:") if prefix else ("xmlns", "")
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<{colon}FatturaElettronica {mark}="{NAMESPACE}" '
        f'versione="{version}">{inner}</{colon}FatturaElettronica>'
    ).encode()


def text_of(source: Source) -> str:
    return "\n".join(page.text for page in read_invoice(source).pages)


@pytest.mark.parametrize("prefix", ["p", "ns2", "n0", ""])
def test_it_is_known_and_read_whatever_the_prefix(source: Make, prefix: str) -> None:
    file = source(invoice(prefix=prefix), "IT01234567890_00A7.xml")
    assert detect(file.path).name == "invoice"
    assert "1.482,30" in text_of(file)


def test_a_person_finds_everything(source: Make) -> None:
    text = text_of(source(invoice()))
    for said in (
        "# Fattura 12/2025", "Tipo documento: TD01 Fattura", "Data: 2025-06-26",
        "Formato: FPR12 verso privati", "Codice destinatario: ABC1234",
        "PEC destinatario: acquisti@pec.example.it", "Officina Prova S.r.l.",
        "P.IVA: IT01234567890", "Codice fiscale: PRVNNA80A41H501X", "Anna Prova",
        "Indirizzo: Via dei Mulini 7/B, 00100 Roma (RM), IT", "Regime fiscale: RF01 Ordinario",
        "Causale: Manutenzione ordinaria", "Causale: secondo preventivo",
        "Ordine di acquisto: ORD-77 del 2025-05-02 (righe 1); CUP: J11B21000000001; "
        "CIG: Z123456789",
        "Contratto: CTR-5", "Documento di trasporto (DDT): DDT-31 del 2025-06-20",
        "Condizioni: TP02 Pagamento completo", "Modalità: MP05 Bonifico", "Scadenza: 2025-07-31",
        "IBAN: IT60X0542811101000000123456", "Totale documento: 1.482,30", "Arrotondamento: 0,01",
        "Bollo: 2,00; bollo assolto in modo virtuale", "RT01 Ritenuta persone fisiche",
        "TC04 Cassa nazionale previdenza e assistenza ingegneri", "scissione dei pagamenti",
        "N1 escluse ex art. 15", "Escluso art. 15", "TARGA: ZZ000ZZ", "INT K014", "Sconto 10,00%",
        "Mezzo trasporto: Furgone", "Telefono: 06000111", "10.000,00",
    ):  # fmt: skip
        assert said in text


def test_lines_and_vat_are_tables(source: Make) -> None:
    [page] = read_invoice(source(invoice())).pages
    lines = page.text.split("\n")
    goods, summary = page.tables
    assert goods.header is not None
    assert lines[goods.header[0]].startswith("| N. | Descrizione | Quantità | U.M. |")
    assert lines[goods.rows[0][0]].startswith(
        "| 1 | Cambio olio \\| filtro | 2,00 | pz | 607,50 | Sconto 10,00% | 22,00 |"
    )
    assert "| 0,123456 |" in lines[goods.rows[1][0]]
    assert [lines[row[0]].split(" | ")[2] for row in summary.rows] == ["1.215,00", "0,12"]


def test_every_leaf_is_written(source: Make) -> None:
    """Whatever stands in the XML stands in the text, but for what codes and amounts become."""
    data = invoice()
    text = text_of(source(data))
    for leaf in etree.fromstring(data).iter():
        name = etree.QName(leaf).localname
        value = " ".join((leaf.text or "").split())
        if len(leaf) or not value or name in CODES:
            continue
        if re.fullmatch(r"\d+\.\d+", value):
            whole, decimals = value.split(".")
            value = f"{int(whole):,}".replace(",", ".") + "," + decimals.rstrip("0").ljust(2, "0")
        assert value.replace("|", "\\|") in text, name


@pytest.mark.parametrize("code", sorted(DOCUMENTS))
def test_kinds_of_document_go_by_name(source: Make, code: str) -> None:
    draft = read_invoice(source(invoice(BODY.replace("TD01", code))))
    assert f"Tipo documento: {code} {DOCUMENTS[code]}" in next(iter(draft.pages)).text


@pytest.mark.parametrize(
    ("code", "title"),
    [
        ("TD01", "Fattura 12/2025 — Officina Prova S.r.l."),
        ("TD04", "Nota di credito 12/2025 — Officina Prova S.r.l."),
        ("TD24", "Fattura differita 12/2025 — Officina Prova S.r.l."),
        ("TD99", "Fattura elettronica 12/2025 — Officina Prova S.r.l."),
    ],
)
def test_title(source: Make, code: str, title: str) -> None:
    assert read_invoice(source(invoice(BODY.replace("TD01", code)))).title == title


def test_facts(source: Make) -> None:
    facts = read_invoice(source(invoice())).facts
    assert (facts.date, facts.date_source) == (dt.date(2025, 6, 26), "header")
    assert facts.correspondents == (
        Correspondent("seller", "Officina Prova S.r.l.", "IT01234567890"),
        Correspondent("buyer", "Anna Prova", "PRVNNA80A41H501X"),
    )


@pytest.mark.parametrize("written", ["2025-13-01", "ieri", ""])
def test_a_date_that_is_none_is_absent(source: Make, written: str) -> None:
    facts = read_invoice(source(invoice(BODY.replace("2025-06-26", written)))).facts
    assert facts.date is None
    assert facts.date_source is None


@pytest.mark.parametrize("count", [2, 3, 5])
def test_each_invoice_of_a_file_is_a_page(source: Make, count: int) -> None:
    bodies = [BODY.replace("12/2025", f"{n}/2025") for n in range(1, count + 1)]
    pages = list(read_invoice(source(invoice(*bodies))).pages)
    assert [page.number for page in pages] == list(range(1, count + 1))
    assert [page.text.split("\n")[0] for page in pages] == [
        f"# Fattura {n}/2025" for n in range(1, count + 1)
    ]
    assert all("Officina Prova" in page.text for page in pages)


def packed(name: str, data: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, data)
    return file.getvalue()


@pytest.mark.parametrize(
    ("fields", "data", "name"),
    [
        ("<NomeAttachment>nota.txt</NomeAttachment>", b"ciao", "nota.txt"),
        (
            "<NomeAttachment>nota</NomeAttachment><FormatoAttachment>PDF</FormatoAttachment>",
            b"%PDF-1.4",
            "nota.pdf",
        ),
        (
            "<NomeAttachment>nota.txt</NomeAttachment>"
            "<AlgoritmoCompressione>ZIP</AlgoritmoCompressione>",
            packed("nota.txt", b"ciao"),
            "nota.txt",
        ),
        (
            "<NomeAttachment>tutto.zip</NomeAttachment>"
            "<AlgoritmoCompressione>ZIP</AlgoritmoCompressione>",
            packed("nota.txt", b"ciao"),
            "tutto.zip",
        ),
    ],
)
def test_attachments_are_handed_over(source: Make, fields: str, data: bytes, name: str) -> None:
    written = base64.encodebytes(data).decode()
    allegati = f"<Allegati>{fields}<Attachment>{written}</Attachment></Allegati>"
    draft = read_invoice(source(invoice(enclosed=allegati)))
    [page] = draft.pages
    assert "## Allegati" in page.text
    assert written.split("\n")[0] not in page.text
    [enclosed] = draft.enclosed
    assert enclosed.name == name
    unpacked = b"".join(enclosed.data)
    assert unpacked == (b"ciao" if name == "nota.txt" else data)


@pytest.mark.parametrize("written", ["%%%", "abcde", "aàb="])
def test_a_broken_attachment_concerns_itself_alone(source: Make, written: str) -> None:
    allegati = f"<Allegati><NomeAttachment>x.pdf</NomeAttachment><Attachment>{written}</Attachment>"
    draft = read_invoice(source(invoice(enclosed=allegati + "</Allegati>")))
    assert len(list(draft.pages)) == 1
    [enclosed] = draft.enclosed
    with pytest.raises(ReadingError, match="base64 is broken"):
        b"".join(enclosed.data)


SIMPLE = """<?xml version="1.0"?>
<q:FatturaElettronicaSemplificata xmlns:q="http://example.org/v1.0" versione="FSM10">
<FatturaElettronicaHeader><DatiTrasmissione><FormatoTrasmissione>FSM10</FormatoTrasmissione>
</DatiTrasmissione>
<CedentePrestatore><IdFiscaleIVA><IdPaese>IT</IdPaese><IdCodice>09876543210</IdCodice>
</IdFiscaleIVA><Nome>Bruno</Nome><Cognome>Esempio</Cognome><Sede><Indirizzo>Via Corta</Indirizzo>
<Comune>Bari</Comune></Sede><RegimeFiscale>RF19</RegimeFiscale></CedentePrestatore>
<CessionarioCommittente><IdentificativiFiscali><CodiceFiscale>PRVNNA80A41H501X</CodiceFiscale>
</IdentificativiFiscali><AltriDatiIdentificativi><Denominazione>Bar Finto</Denominazione>
</AltriDatiIdentificativi></CessionarioCommittente></FatturaElettronicaHeader>
<FatturaElettronicaBody><DatiGenerali><DatiGeneraliDocumento><TipoDocumento>TD07</TipoDocumento>
<Divisa>EUR</Divisa><Data>2024-02-29</Data><Numero>9</Numero><BolloVirtuale>SI</BolloVirtuale>
</DatiGeneraliDocumento></DatiGenerali>
<DatiBeniServizi><Descrizione>Taxi</Descrizione><Importo>22.00</Importo><DatiIVA>
<Imposta>2.00</Imposta><Aliquota>10.00</Aliquota></DatiIVA></DatiBeniServizi>
<DatiBeniServizi><Descrizione>Mancia</Descrizione><Importo>1.00</Importo><Natura>N1</Natura>
</DatiBeniServizi></FatturaElettronicaBody></q:FatturaElettronicaSemplificata>"""


def test_a_simplified_invoice(source: Make) -> None:
    file = source(SIMPLE.encode(), "s.xml")
    assert detect(file.path).name == "invoice"
    draft = read_invoice(file)
    [page] = draft.pages
    assert draft.title == "Fattura semplificata 9 — Bruno Esempio"
    assert "| Taxi | 22,00 | 2,00 | 10,00 |" in page.text
    assert "RF19 Regime forfettario" in page.text
    assert "bollo assolto in modo virtuale" in page.text
    assert draft.facts.correspondents == (
        Correspondent("seller", "Bruno Esempio", "IT09876543210"),
        Correspondent("buyer", "Bar Finto", "PRVNNA80A41H501X"),
    )


def test_no_body_and_nothing_at_all(source: Make) -> None:
    empty = invoice(" ")
    draft = read_invoice(source(empty))
    assert "no body" in draft.warnings[0]
    assert "Officina Prova" in next(iter(draft.pages)).text
    with pytest.raises(EmptyDocument):
        read_invoice(source(invoice(" ", header="")))
    with pytest.raises(ReadingError, match="no electronic invoice"):
        read_invoice(source(b"<a><b/></a>"))


@pytest.mark.parametrize("cut", [600, 2000, 4500])
def test_a_truncated_invoice_is_read_as_far_as_it_goes(source: Make, cut: int) -> None:
    draft = read_invoice(source(invoice()[:cut]))
    assert any("broken" in warning for warning in draft.warnings)
    assert next(iter(draft.pages)).text


@settings(max_examples=60, deadline=None)
@given(
    st.recursive(
        st.text("abc0123456789.<&-é ", max_size=8),
        lambda inner: st.lists(
            st.tuples(
                st.sampled_from([*sorted(CODES), "Data", "Numero", "DettaglioLinee", "Sede", "X"]),
                inner,
            ),
            max_size=4,
        ),
        max_leaves=12,
    )
)
def test_no_tree_of_elements_fails(tmp_path_factory: pytest.TempPathFactory, tree: object) -> None:
    root = etree.Element("FatturaElettronica")
    body = etree.SubElement(root, "FatturaElettronicaBody")

    def fill(parent: etree._Element, value: object) -> None:
        if isinstance(value, str):
            parent.text = value
            return
        assert isinstance(value, list)
        for name, inner in value:
            fill(etree.SubElement(parent, name), inner)

    for part in ("DatiGenerali", "DatiBeniServizi", "DatiPagamento", "Allegati"):
        fill(etree.SubElement(body, part), tree)
    path = tmp_path_factory.getbasetemp() / "random.xml"
    path.write_bytes(etree.tostring(root))
    draft = read_invoice(Source(path, ocr=None, deadline=1e18, seconds=1))
    for page in draft.pages:
        count = page.text.count("\n") + 1
        for table in page.tables:
            assert table.rows[-1][1] < count
