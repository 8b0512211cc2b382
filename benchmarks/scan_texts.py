"""The pages that scans are made of: own letters, invoices, columns and forms, and how they lie.

A page is a list of parts from top to bottom; what it reads as follows from the parts, so that the
truth needs no file of its own. People, firms and accounts are made up.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["PAGES", "Columns", "Grid", "Heading", "Part", "Prose", "Sheet"]


@dataclass(frozen=True, slots=True)
class Heading:
    """A line in bold."""

    text: str
    size: float = 15


@dataclass(frozen=True, slots=True)
class Prose:
    """Paragraphs, each broken into lines as the width asks; an empty one leaves a gap."""

    text: str
    size: float = 10.5
    indent: float = 0


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns of running text, side by side, read one after the other."""

    columns: tuple[str, ...]
    size: float = 9.5


@dataclass(frozen=True, slots=True)
class Grid:
    """A table, read row by row. ``starts`` are shares of the width; numbers stand at the right."""

    rows: tuple[tuple[str, ...], ...]
    starts: tuple[float, ...]
    size: float = 10
    ruled: bool = False


Part = Heading | Prose | Columns | Grid


@dataclass(frozen=True, slots=True)
class Sheet:
    """A page: its name, its language and its parts."""

    name: str
    language: str
    parts: tuple[Part, ...]
    font: str = "Vera"


_DEPOSIT = Sheet(
    "deposit",
    "it",
    (
        Prose("Studio Tecnico Bellacorte\nVia dei Gelsi 14\n37121 Verona"),
        Prose("Verona, 12 marzo 2024", indent=300),
        Prose("Alla cortese attenzione della signora Ilaria Montedoro"),
        Heading("Oggetto: restituzione del deposito cauzionale", 12),
        Prose(
            "Gentile signora Montedoro,\n\n"
            "con la presente confermiamo che il contratto di locazione dell'appartamento di "
            "via delle Acacie 7, interno 3, è cessato il 29 febbraio 2024. Al sopralluogo non "
            "sono emersi danni: le pareti erano già state tinteggiate e l'impianto di "
            "riscaldamento è stato verificato il 26 febbraio.\n\n"
            "Il deposito di 2.400,00 €, versato il 1° ottobre 2019, le sarà quindi restituito "
            "con gli interessi legali maturati, pari a 87,35 €. L'importo complessivo di "
            "2.487,35 € verrà accreditato entro dieci giorni lavorativi sul conto da lei "
            "indicato:\n\n"
            "IBAN IT60 X054 2811 1010 0000 0123 456\n\n"
            "Le ricordiamo che le utenze di luce e gas restano a suo carico fino alla lettura "
            "finale, che il tecnico effettuerà giovedì 21 marzo alle ore 9:30. Qualora non "
            "potesse essere presente, può delegare un'altra persona per iscritto.\n\n"
            "La ringraziamo per la cura con cui ha tenuto la casa e per la puntualità dei "
            "pagamenti. Restiamo a disposizione per ogni chiarimento.\n\n"
            "Cordiali saluti\nGeom. Fabrizio Bellacorte"
        ),
    ),
)

_WARRANTY = Sheet(
    "warranty",
    "en",
    (
        Heading("Northgate Heating Ltd."),
        Prose("48 Orchard Parade, Leeds LS6 2QT\nTelephone 0113 496 0182"),
        Prose("Our reference: NH/2023/0417-B", indent=280),
        Prose(
            "Dear Mr. Halloway,\n\n"
            "Thank you for your letter of 3 November about the boiler in your kitchen. Our "
            "engineer visited on the 9th and found that the circulation pump (serial number "
            "KP-77-20314) had failed after only fourteen months of use.\n\n"
            "As the pump carries a warranty of twenty-four months, we shall replace it at no "
            "charge to you. The part has been ordered and should arrive on Tuesday, 21 "
            "November. We have kept the morning of the 22nd free, between 8:00 and 12:00, "
            "and would be grateful if you could confirm by telephone that somebody will be "
            "at home.\n\n"
            "The call-out fee of £65.00, which you paid on the day, will be refunded to the "
            "card ending in 4471. Please allow five working days for the amount to appear on "
            "your statement.\n\n"
            "In the meantime the heating can be run at reduced pressure; the gauge should "
            'stay between 1.0 and 1.4 bar. Do not open the valve marked "C".\n\n'
            "We apologise for the inconvenience and for the two cold nights you have had to "
            "put up with.\n\n"
            "Yours sincerely,\nPriscilla Wainwright\nCustomer Services"
        ),
    ),
)

_INVOICE_IT = Sheet(
    "invoice-it",
    "it",
    (
        Heading("Falegnameria Quercia d'Oro s.n.c."),
        Prose("Strada Provinciale 22, 12051 Alba (CN)\nP. IVA 03284610047"),
        Prose("Spett.le Ristorante La Pergola\nCorso Langhe 90\n12051 Alba", indent=300),
        Heading("Fattura n. 118/2023 del 14/09/2023", 12),
        Grid(
            (
                ("Descrizione", "Quantità", "Prezzo", "Importo"),
                ("Tavolo in noce 180 x 90 cm", "4", "620,00", "2.480,00"),
                ("Sedia impagliata a mano", "24", "85,50", "2.052,00"),
                ("Credenza con due ante", "1", "1.340,00", "1.340,00"),
                ("Verniciatura ad acqua", "12", "45,00", "540,00"),
                ("Trasporto e montaggio", "1", "180,00", "180,00"),
                ("Imponibile", "", "", "6.592,00"),
                ("IVA 22 %", "", "", "1.450,24"),
                ("Totale fattura €", "", "", "8.042,24"),
            ),
            (0, 0.62, 0.8, 1),
        ),
        Prose(
            "Pagamento: bonifico bancario a 30 giorni data fattura\n"
            "IBAN IT28 W080 0000 2920 0064 5211 151\n\n"
            "La merce resta di proprietà del venditore fino al saldo. Eventuali reclami vanno "
            "comunicati entro otto giorni dal ricevimento."
        ),
    ),
)

_INVOICE_EN = Sheet(
    "invoice-en",
    "en",
    (
        Heading("INVOICE"),
        Grid(
            (
                ("Invoice number", "2024-00731"),
                ("Invoice date", "5 February 2024"),
                ("Due date", "6 March 2024"),
                ("Customer", "Brightwater Museum Trust"),
            ),
            (0, 0.3),
        ),
        Grid(
            (
                ("Item", "Description", "Hours", "Rate", "Amount"),
                ("1", "Restoration of three oil paintings", "46", "72.00", "3,312.00"),
                ("2", "Photographic record before and after", "6", "55.00", "330.00"),
                ("3", "New stretcher frames, pine", "9", "48.00", "432.00"),
                ("4", "Written report with colour plates", "11", "72.00", "792.00"),
                ("5", "Insurance during transport", "1", "145.50", "145.50"),
            ),
            (0, 0.08, 0.7, 0.84, 1),
            ruled=True,
        ),
        Grid(
            (("Subtotal", "5,011.50"), ("VAT 20 %", "1,002.30"), ("Total GBP", "6,013.80")),
            (0.55, 1),
        ),
        Prose(
            "Please quote the invoice number with your payment.\n"
            "Account name: Ottoline Marsh Conservation\n"
            "IBAN GB33 BUKB 2020 1555 5555 55   BIC BUKBGB22"
        ),
    ),
)

_NEWSLETTER = Sheet(
    "newsletter",
    "en",
    (
        Heading("The Allotment Gazette", 20),
        Prose("Issue 37, Spring. Free to members.", 9),
        Columns(
            (
                "The winter has been a wet one, and the lower plots stood under water for "
                "most of January. Members of the committee have dug a new ditch along the "
                "hedge, forty metres long, which should carry the rain away to the stream "
                "before it reaches the beans.\n\n"
                "The shed by the gate has a new roof. It was paid for out of the sale of "
                "last year's honey, which brought in 312 pounds, and out of a gift by a "
                "member who wishes to remain unnamed. Tools may be borrowed again from the "
                "first of April, against a signature in the green book.\n\n"
                "Please close the gate behind you. Twice in February the neighbour's goats "
                "were found among the cabbages.",
                "Seed potatoes have been ordered and will be given out on Saturday the 16th "
                "of March from ten o'clock. There are three kinds: an early one, a floury "
                "one for mashing and a blue one that surprised everybody at the autumn "
                "table.\n\n"
                "The water tanks are filled on Mondays and Thursdays. In a dry summer we "
                "shall have to share: at most four cans a day for a plot of usual size, and "
                "none at noon.\n\n"
                "The annual meeting takes place in the school hall on 24 May at half past "
                "seven. On the agenda are the rents, the wasps, and the question whether "
                "fires should be allowed in October.",
            )
        ),
        Prose("Write to us: gazette@allotment.example", 9),
    ),
)

_GUIDE = Sheet(
    "guide",
    "it",
    (
        Heading("Guida ai sentieri della Val Sorda", 18),
        Columns(
            (
                "Il sentiero 204 parte dalla piazza della chiesa e sale dolcemente fra i "
                "castagni fino alla fontana di pietra. Da qui si può proseguire verso la "
                "malga, dove d'estate si vendono formaggio e burro, oppure tornare in paese "
                "per la strada forestale. Il dislivello è di 380 metri; servono circa due "
                "ore.\n\n"
                "Chi ha più tempo può raggiungere la cima del monte Corno, a 1.847 metri. "
                "L'ultimo tratto è ripido e va evitato quando piove. Dalla vetta, nelle "
                "giornate limpide, si vede il lago.",
                "Il sentiero 207, invece, costeggia il torrente ed è adatto ai bambini. Ci "
                "sono cinque ponticelli di legno, ricostruiti nel 2021 dopo la piena, e "
                "un'area con tavoli. È vietato accendere fuochi fuori dagli spazi "
                "segnalati.\n\n"
                "Il rifugio è aperto da giugno a settembre e offre ventidue posti letto. Si "
                "consiglia di prenotare al numero 045 555 0137. I cani sono ammessi, purché "
                "al guinzaglio. L'acqua della sorgente è potabile.",
            )
        ),
        Prose("Associazione Amici della Montagna, edizione 2023", 9),
    ),
)

_FORM = Sheet(
    "form",
    "it",
    (
        Heading("Modulo di iscrizione al corso"),
        Prose("Compilare in stampatello e consegnare in segreteria entro il 30 settembre."),
        Grid(
            (
                ("Cognome", "Serravalle"),
                ("Nome", "Niccolò"),
                ("Nato il", "07/11/1988"),
                ("a", "Forlì (FC)"),
                ("Codice fiscale", "SRRNCL88S07D704K"),
                ("Residente in", "Via Piè di Colle 3, 47121 Forlì"),
                ("Telefono", "0543 555 218"),
                ("Posta elettronica", "n.serravalle@posta.example"),
                ("Corso scelto", "Ceramica, livello II"),
                ("Quota", "€ 240,00 in due rate"),
            ),
            (0, 0.35),
            11,
            ruled=True,
        ),
        Prose(
            "Dichiaro di aver letto il regolamento e di accettarlo in ogni sua parte. "
            "Autorizzo il trattamento dei dati personali ai soli fini dell'iscrizione.\n\n"
            "Forlì, 18 settembre 2023"
        ),
    ),
)

_STATEMENT = Sheet(
    "statement",
    "it",
    (
        Heading("Banca Popolare del Borgo"),
        Prose("Estratto conto n. 7 al 31/07/2023\nConto 1000/00004523   Saldo iniziale 1.204,18"),
        Grid(
            (
                ("Data", "Valuta", "Descrizione", "Importo"),
                ("03/07", "03/07", "Accredito stipendio", "1.876,40"),
                ("04/07", "04/07", "Affitto luglio", "-720,00"),
                ("06/07", "07/07", "Pagamento carta Alimentari Rosi", "-64,82"),
                ("10/07", "10/07", "Addebito energia elettrica", "-91,37"),
                ("12/07", "12/07", "Prelievo sportello", "-150,00"),
                ("15/07", "17/07", "Bonifico a favore di M. Zanchi", "-335,00"),
                ("19/07", "19/07", "Rimborso assicurazione", "48,60"),
                ("21/07", "21/07", "Pagamento carta Libreria Pavone", "-27,90"),
                ("24/07", "24/07", "Canone telefono", "-19,99"),
                ("28/07", "28/07", "Competenze e spese", "-3,75"),
                ("31/07", "31/07", "Saldo finale", "1.716,35"),
            ),
            (0, 0.12, 0.25, 1),
            9.5,
        ),
        Prose("Gli interessi sono calcolati al tasso annuo dello 0,25 %.", 9),
    ),
)

_RECEIPT = Sheet(
    "receipt",
    "en",
    (
        Heading("Pemberton's Ironmongers", 13),
        Prose("12 Market Row, Ludlow\nTill 2   17/08/2023   14:06"),
        Grid(
            (
                ("Brass hinges 75 mm, pair", "8.40"),
                ("Wood screws 4 x 30, box", "5.25"),
                ("Sandpaper 120 grit, 5 sheets", "3.10"),
                ("Linseed oil 500 ml", "11.99"),
                ("Paint brush 50 mm", "6.80"),
                ("TOTAL", "35.54"),
                ("CASH", "40.00"),
                ("CHANGE", "4.46"),
            ),
            (0, 0.62),
        ),
        Prose("Goods may be returned within 28 days with this receipt."),
    ),
)

_MINUTES = Sheet(
    "minutes",
    "en",
    (
        Heading("Minutes of the residents' meeting", 14),
        Prose("Held on 8 June 2023 in the laundry room. Present: flats 1, 2, 4, 5, 7 and 8."),
        Prose(
            "1. The accounts for 2022 were read out and approved with one abstention.\n"
            "2. The lift will be serviced on 19 and 20 July; it cannot be used on these days.\n"
            "3. Mrs. Okonkwo reported damp in the cellar below stairwell B. A quotation for "
            "the drain amounts to 4,860 euros; two further ones will be sought.\n"
            "4. Bicycles must not be left in the hall. Racks for twelve bicycles will be put "
            "up in the yard.\n"
            "5. The contract with the gardener is renewed until 31 December 2024.\n"
            "6. Any other business: the bell of flat 3 is out of order."
        ),
        Prose("The meeting closed at 9.15 p.m. Next meeting: 5 October."),
        Prose("Signed: T. Lindqvist, chair"),
    ),
    "Aileron",
)

_CONTRACT = Sheet(
    "contract",
    "it",
    (
        Heading("Condizioni generali di noleggio", 13),
        Prose(
            "Art. 1 - Oggetto. Il locatore concede in noleggio al cliente l'attrezzatura "
            "descritta nell'allegato A, in perfetto stato di funzionamento. Il cliente ne "
            "diventa custode dal momento della consegna e fino alla restituzione.\n"
            "Art. 2 - Durata. Il noleggio decorre dal giorno indicato nel contratto e termina "
            "alle ore 18:00 dell'ultimo giorno. Per ogni giorno di ritardo è dovuta una "
            "penale pari al 150 % della tariffa giornaliera.\n"
            "Art. 3 - Corrispettivo. Il prezzo, al netto dell'IVA, è di 38,50 € al giorno; "
            "dal settimo giorno si riduce a 31,00 €. Il pagamento avviene in anticipo.\n"
            "Art. 4 - Cauzione. A garanzia degli obblighi assunti il cliente versa 500,00 €, "
            "che gli saranno restituiti entro sette giorni dalla riconsegna, dedotti gli "
            "eventuali danni.\n"
            "Art. 5 - Uso. L'attrezzatura non può essere ceduta a terzi né trasferita "
            "all'estero. Le riparazioni spettano esclusivamente al locatore.\n"
            "Art. 6 - Responsabilità. Il cliente risponde di furto, smarrimento e "
            "danneggiamento, salvo il caso fortuito. È consigliata un'assicurazione.\n"
            "Art. 7 - Recesso. Ciascuna parte può recedere con un preavviso di quindici "
            "giorni, da comunicare per raccomandata o posta certificata.\n"
            "Art. 8 - Foro competente. Per ogni controversia è competente in via esclusiva "
            "il tribunale di Mantova.",
            8.5,
        ),
        Prose("Letto, approvato e sottoscritto il 2/5/2023", 8.5),
    ),
)

_RECIPE = Sheet(
    "recipe",
    "en",
    (
        Heading("Grandmother Adelaide's walnut cake", 15),
        Prose(
            "Six eggs, 250 g of sugar, 250 g of ground walnuts, 80 g of breadcrumbs, the rind "
            "of one lemon and a pinch of salt.\n\n"
            "Beat the yolks with the sugar until they are pale and thick. Fold in the walnuts "
            "and the crumbs, then the whites, beaten stiff. Butter a tin of 24 cm and bake "
            "at 170 °C for fifty minutes. Do not open the oven during the first half hour.\n\n"
            "Let the cake rest until the next day. It keeps for a week in a closed tin, and "
            "is best with a spoonful of sour cream and a glass of something sweet.",
            12,
        ),
    ),
    "Aileron",
)

PAGES: tuple[Sheet, ...] = (
    _DEPOSIT,
    _WARRANTY,
    _INVOICE_IT,
    _INVOICE_EN,
    _NEWSLETTER,
    _GUIDE,
    _FORM,
    _STATEMENT,
    _RECEIPT,
    _MINUTES,
    _CONTRACT,
    _RECIPE,
)
"""The pages, each in every kind of scan."""
