"""What sort of paper a document is (an invoice, a contract, a recipe), by how it names itself."""

from __future__ import annotations

import re
from typing import Final

from emily.indexing.dates import fold

__all__ = ["Paper", "names_paper", "paper_of", "paper_words"]

Paper = str
"""Key of a sort of paper, such as ``invoice``."""

_TOP_LINES: Final = 14  # lines with text among which a document names itself
_HEAD_CHARACTERS: Final = 2_500

# Of each sort: its name in every language that has one here, and the words that documents call
# themselves by, folded. What stands further up is the more special one: a receipt for rent
# mentions the rent, a guarantee the receipt.
_LABELS: Final[dict[Paper, dict[str, str]]] = {
    "credit_note": {"en": "Credit note", "it": "Nota di credito", "de": "Gutschrift",
                    "fr": "Avoir", "es": "Nota de crédito"},
    "reminder": {"en": "Payment reminder", "it": "Sollecito di pagamento", "de": "Mahnung",
                 "fr": "Rappel", "es": "Recordatorio de pago"},
    "invoice": {"en": "Invoice", "it": "Fattura", "de": "Rechnung", "fr": "Facture",
                "es": "Factura"},
    "bill": {"en": "Bill", "it": "Bolletta", "de": "Abrechnung"},
    "receipt": {"en": "Receipt", "it": "Ricevuta", "de": "Quittung", "fr": "Reçu",
                "es": "Recibo"},
    "till_receipt": {"en": "Till receipt", "it": "Scontrino", "de": "Kassenbon",
                     "fr": "Ticket de caisse", "es": "Ticket"},
    "quote": {"en": "Quote", "it": "Preventivo", "de": "Angebot", "fr": "Devis",
              "es": "Presupuesto"},
    "order": {"en": "Order", "it": "Ordine", "de": "Bestellung", "fr": "Commande",
              "es": "Pedido"},
    "transfer": {"en": "Bank transfer", "it": "Bonifico", "de": "Überweisung",
                 "fr": "Virement", "es": "Transferencia"},
    "statement": {"en": "Account statement", "it": "Estratto conto", "de": "Kontoauszug",
                  "fr": "Relevé de compte", "es": "Extracto de cuenta"},
    "payslip": {"en": "Payslip", "it": "Busta paga", "de": "Gehaltsabrechnung",
                "fr": "Bulletin de paie", "es": "Nómina"},
    "tax_return": {"en": "Tax return", "it": "Dichiarazione dei redditi",
                   "de": "Steuererklärung", "fr": "Déclaration d'impôts",
                   "es": "Declaración de la renta"},
    "policy": {"en": "Insurance policy", "it": "Polizza assicurativa",
               "de": "Versicherungspolice", "fr": "Police d'assurance",
               "es": "Póliza de seguro"},
    "warranty": {"en": "Warranty", "it": "Garanzia", "de": "Garantie", "fr": "Garantie",
                 "es": "Garantía"},
    "lease": {"en": "Lease", "it": "Contratto di locazione", "de": "Mietvertrag",
              "fr": "Bail", "es": "Contrato de alquiler"},
    "employment": {"en": "Employment contract", "it": "Contratto di lavoro",
                   "de": "Arbeitsvertrag", "fr": "Contrat de travail",
                   "es": "Contrato de trabajo"},
    "contract": {"en": "Contract", "it": "Contratto", "de": "Vertrag", "fr": "Contrat",
                 "es": "Contrato"},
    "attorney": {"en": "Power of attorney", "it": "Procura", "de": "Vollmacht",
                 "fr": "Procuration", "es": "Poder notarial"},
    "report": {"en": "Report", "it": "Relazione", "de": "Bericht", "fr": "Rapport",
               "es": "Informe"},
    "medical": {"en": "Medical report", "it": "Referto", "de": "Befund",
                "fr": "Compte rendu médical", "es": "Informe médico"},
    "prescription": {"en": "Prescription", "it": "Ricetta medica", "de": "Rezept",
                     "fr": "Ordonnance", "es": "Receta médica"},
    "certificate": {"en": "Certificate", "it": "Certificato", "de": "Bescheinigung",
                    "fr": "Certificat", "es": "Certificado"},
    "minutes": {"en": "Minutes", "it": "Verbale", "de": "Protokoll", "fr": "Procès-verbal",
                "es": "Acta"},
    "circular": {"en": "Circular", "it": "Circolare", "de": "Rundschreiben",
                 "fr": "Circulaire", "es": "Circular"},
    "booking": {"en": "Booking", "it": "Prenotazione", "de": "Buchung",
                "fr": "Réservation", "es": "Reserva"},
    "ticket": {"en": "Ticket", "it": "Biglietto", "de": "Fahrkarte", "fr": "Billet",
               "es": "Billete"},
    "cv": {"en": "CV", "it": "Curriculum", "de": "Lebenslauf", "fr": "CV", "es": "CV"},
    "manual": {"en": "Manual", "it": "Manuale", "de": "Anleitung", "fr": "Manuel",
               "es": "Manual"},
    "recipe": {"en": "Recipe", "it": "Ricetta", "de": "Rezept", "fr": "Recette",
               "es": "Receta"},
    "budget": {"en": "Budget", "it": "Spese", "de": "Budget", "fr": "Budget",
               "es": "Presupuesto"},
    "inventory": {"en": "Inventory", "it": "Inventario", "de": "Inventar",
                  "fr": "Inventaire", "es": "Inventario"},
    "letter": {"en": "Letter", "it": "Lettera", "de": "Brief", "fr": "Lettre", "es": "Carta"},
    "notes": {"en": "Notes", "it": "Appunti", "de": "Notizen", "fr": "Notes", "es": "Notas"},
    "diary": {"en": "Diary", "it": "Diario", "de": "Tagebuch", "fr": "Journal",
              "es": "Diario"},
    "mail": {"en": "Mail", "it": "E-mail", "de": "E-Mail", "fr": "E-mail", "es": "Correo"},
    "presentation": {"en": "Presentation", "it": "Presentazione", "de": "Präsentation",
                     "fr": "Présentation", "es": "Presentación"},
    "spreadsheet": {"en": "Spreadsheet", "it": "Foglio di calcolo", "de": "Tabelle",
                    "fr": "Tableur", "es": "Hoja de cálculo"},
}  # fmt: skip

_WORDS: Final[tuple[tuple[Paper, str], ...]] = (
    ("credit_note", r"credit note|not[ae] di credito|gutschrift|nota de credito"),
    ("reminder", r"payment reminder|solleciti?o?(?: di pagamento)?|mahnung"),
    ("payslip", r"pay ?slips?|bust[ae] paga|cedolino|gehaltsabrechnung|bulletin de paie|nomina"),
    ("statement", r"(?:account|bank|card) statement|estratto conto|kontoauszug|releve de compte"),
    ("tax_return", r"tax return|dichiarazione (?:dei )?redditi|modello 730|steuererklarung"),
    ("attorney", r"power of attorney|procura|vollmacht|procuration|poder notarial"),
    ("lease", r"lease|tenancy agreement|contratto (?:di )?locazione|locazione|mietvertrag|bail"),
    ("employment", r"employment contract|contract of employment|contratto (?:di )?lavoro"
                   r"|arbeitsvertrag"),
    ("policy", r"(?:travel |home |car |health )?insurance(?: policy| certificate)?|polizza"
               r"|versicherungspolice|police d'assurance|poliza"),
    ("warranty", r"warranty|guarantee|garanzia|garantie|garantia"),
    ("transfer", r"(?:bank )?transfer (?:completed|confirmation)|bank transfer|bonifico"
                 r"|uberweisung|virement"),
    ("till_receipt", r"scontrin[oi]|documento commerciale|kassenbon|ticket de caisse"),
    ("receipt", r"receipts?|ricevut[ae]|quittung|recu|recibo"),
    ("quote", r"quotes?|quotation|estimate|preventiv[oi]|angebot|devis|presupuesto"),
    ("invoice", r"(?:tax |pro forma |proforma )?invoices?|fattur[ae]|rechnung|facture|factura"),
    ("bill", r"(?:electricity|gas|water|phone|energy) bill|bollett[ae]|abrechnung"),
    ("order", r"(?:purchase )?order confirmation|purchase order|ordine d'acquisto"
              r"|conferma d'ordine|bestellung|bon de commande"),
    ("medical", r"medical report|discharge letter|physiotherapy report|referto|visita medica"
                r"|befund|arztbrief"),
    ("prescription", r"prescription|ricetta medica|rezept|ordonnance"),
    ("certificate", r"certificates?|certificat[oi]|libretto|bescheinigung|certificat"),
    ("minutes", r"minutes|verbal[ei]|protokoll|proces-verbal|acta"),
    ("circular", r"circolare|circular|rundschreiben|circulaire"),
    ("booking", r"bookings?|reservation|prenotazion[ei]|buchung|reserva"),
    ("ticket", r"boarding pass|e-?tickets?|biglietto|fahrkarte|billet"),
    ("cv", r"curriculum(?: vitae)?|resume|cv|lebenslauf"),
    ("manual", r"(?:user |owner'?s? |instruction )?manual|user guide|manuale(?: d'uso)?"
               r"|istruzioni (?:per l'uso|d'uso)|bedienungsanleitung|mode d'emploi"),
    ("recipe", r"recipes?|ricett[ae]|recette|receta"),
    ("inventory", r"inventory|inventario|inventar|inventaire"),
    ("budget", r"budget|spese|bilancio"),
    ("contract", r"contracts?|agreement|contratt[oi]|vertrag|contrat|contrato"),
    ("report", r"reports?|relazione|rapporto|bericht|rapport|informe"),
    ("notes", r"notes|notebook|appunti|notizen"),
    ("diary", r"diary|journal|diario|tagebuch"),
    ("letter", r"letter|lettera|brief|lettre"),
)  # fmt: skip

_BY_FORMAT: Final[dict[str, Paper]] = {
    "eml": "mail", "msg": "mail", "invoice": "invoice", "pptx": "presentation",
    "ppt": "presentation", "odp": "presentation", "xlsx": "spreadsheet", "xls": "spreadsheet",
    "xlsb": "spreadsheet", "ods": "spreadsheet",
}  # fmt: skip

_ROWS: Final = frozenset({"csv", "xlsx", "xls", "xlsb", "ods", "json", "xml"})

_PATTERNS: Final = tuple(
    (paper, re.compile(rf"(?<![^\W_])(?:{words})(?![^\W_])")) for paper, words in _WORDS
)


def paper_of(text: str, title: str | None, name: str, kind: str) -> Paper | None:
    """What sort of paper a document is; ``None`` where it does not say so itself.

    Looked for in its title, then its first lines (an earlier line counts more), then the name of
    its file; a file format that says it alone (a mail, a spreadsheet) is the last resort.

    Args:
        text: of the document.
        title: that it gives itself.
        name: of its file.
        kind: its format.
    """
    if kind == "invoice":
        return "invoice"
    places = [fold(title or ""), re.sub(r"[\W_]+", " ", fold(name.rpartition(".")[0] or name))]
    if kind not in _ROWS:  # a cell names what is in it
        lines = [line for line in fold(text[:_HEAD_CHARACTERS]).split("\n") if line.strip()]
        places += [line for line in lines[:_TOP_LINES] if len(line.split()) <= 12]
    for place in places:
        found = _in_line(place)
        if found is not None:
            return found
    return _BY_FORMAT.get(kind)


def _in_line(line: str) -> Paper | None:
    """The sort that a line names first; of two at one place the more special one."""
    best: tuple[int, int, Paper] | None = None
    for rank, (paper, pattern) in enumerate(_PATTERNS):
        match = pattern.search(line)
        if match is not None and (best is None or (match.start(), rank) < best[:2]):
            best = (match.start(), rank, paper)
    return None if best is None else best[2]


def paper_words(paper: Paper, language: str | None) -> str:
    """The name of a sort of paper in a language, in English where it has none there."""
    names = _LABELS[paper]
    return names.get(language or "en", names["en"])


def names_paper(sentence: str, paper: Paper) -> bool:
    """Whether a sentence calls the document by its sort."""
    pattern = next((pattern for key, pattern in _PATTERNS if key == paper), None)
    return pattern is not None and pattern.search(fold(sentence)) is not None
