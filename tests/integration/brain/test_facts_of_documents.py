"""Facts of documents through all of adding: dates by language; people and titles as filters."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator, Mapping
from email.message import EmailMessage
from pathlib import Path

import pytest
from tests.integration.brain.conftest import OpenBrain, Shelf

from emily.brain import Brain, parse_filters
from emily.errors import InputError

LANGUAGES = ("it", "en", "de", "nl", "fr", "es")

LETTERS = {
    "de": ("Sehr geehrte Frau Beispiel, hiermit bestätigen wir den Auftrag für die Reparatur der "
           "Heizung und bitten um die Überweisung des Betrages innerhalb von vierzehn Tagen."),
    "nl": ("Geachte mevrouw, hierbij bevestigen wij de opdracht voor de reparatie van de "
           "verwarming en verzoeken wij u het bedrag binnen veertien dagen over te maken."),
    "fr": ("Chère Madame, nous confirmons par la présente la commande pour la réparation du "
           "chauffage et vous prions de régler le montant dans un délai de quatorze jours."),
    "es": ("Estimada señora: por la presente confirmamos el pedido para la reparación de la "
           "calefacción y le rogamos que abone el importe en un plazo de catorce días."),
    "it": ("Gentile signora, con la presente confermiamo l'ordine per la riparazione della "
           "caldaia e la preghiamo di versare l'importo entro quattordici giorni."),
    "en": ("Dear Madam, we hereby confirm the order for the repair of the heating and ask you "
           "to pay the amount that is due within fourteen days of this letter."),
}  # fmt: skip

DATED = {
    "de": ("Musterstadt, den 3. April 2025", "Datum: 03.04.2025", "Rechnungsdatum: 3. Apr. 2025",
           "Musterstadt, 3. März 2025"),
    "nl": ("Utrecht, 3 april 2025", "Datum: 03-04-2025", "Factuurdatum: 3 apr. 2025",
           "Utrecht, 3 maart 2025"),
    "fr": ("Lyon, le 3 avril 2025", "Date : 03/04/2025", "Date de facture : 3 avr. 2025",
           "Lyon, le 1er août 2025"),
    "es": ("Sevilla, 3 de abril de 2025", "Fecha: 03/04/2025", "Fecha de factura: 3 abr. 2025",
           "Sevilla, a 3 de marzo de 2025"),
    "it": ("Milano, 3 aprile 2025", "Data: 03/04/2025", "Data fattura: 3 apr 2025",
           "Milano, lì 3 marzo 2025"),
    "en": ("Leeds, 3 April 2025", "Date: 04/03/2025", "Invoice date: Apr 3, 2025",
           "March 3rd, 2025"),
}  # fmt: skip
LAST = {code: dt.date(2025, 3, 3) for code in LETTERS} | {"fr": dt.date(2025, 8, 1)}


def letters() -> dict[str, str]:
    """A letter for each way of writing a date, by name; each text is another one."""
    return {
        f"{code}{at}.txt": f"{written}\n\n{LETTERS[code]}\n\n{code} {at * 1117 + 20}\n"
        for code, ways in DATED.items()
        for at, written in enumerate(ways)
    }


@pytest.fixture(scope="module")
async def dated(shelf: Shelf) -> AsyncIterator[dict[str, tuple[str | None, dt.date | None, str]]]:
    async with shelf.filled(letters(), languages=LANGUAGES) as brain:
        found = [(await brain.show(item.id)).info for item in await brain.list()]
        yield {info.name: (info.language, info.date, str(info.date_source)) for info in found}


@pytest.mark.parametrize("code", LETTERS)
def test_a_date_in_the_text_becomes_the_documents(
    dated: Mapping[str, tuple[str | None, dt.date | None, str]], code: str
) -> None:
    *ways, last = [dated[f"{code}{at}.txt"] for at in range(len(DATED[code]))]
    assert ways == [(code, dt.date(2025, 4, 3), "text")] * 3
    assert last == (code, LAST[code], "text")


# People and titles --------------------------------------------------------------------------------


def mail(sender: str, to: str, subject: str) -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = sender, to, subject
    message["Date"] = "Mon, 03 Mar 2025 10:00:00 +0100"
    message.set_content(f"Il preventivo per il tetto. {subject}.")
    return message.as_bytes()


def web(author: str, title: str) -> bytes:
    return (
        f"<html><head><meta charset='utf-8'><meta name='author' content='{author}'><title>{title}"
        f"</title></head><body><p>Il preventivo per il tetto, di {len(title)} pagine.</p></body>"
        "</html>"
    ).encode()


BILL = (
    "Fattura n. 12\n\nVenditore: Officina Ferrò S.r.l.\nAcquirente: Bruno Neri\n\n"
    "Il preventivo per il tetto vale fino a giugno.\n"
)
FILES = {
    "conti.eml": mail("Ada Conti <ada@studio-conti.example>", "Bruno Neri <b@x.example>", "Tetto"),
    "neri.eml": mail("Bruno Neri <b@x.example>", "Zoë Ångström <zoe@nord.example>", "Perché no?"),
    "page.html": web("Zoe Angstrom", "Tetti d'ardesia"),
    "perche_il_tetto.html": web("ADA CONTI, Carla Blu", "Manuale"),
    "bill.txt": BILL.encode(),
    "plain.txt": b"Il preventivo per il tetto, senza nome.",
}


@pytest.fixture(scope="module")
async def people(shelf: Shelf) -> AsyncIterator[Brain]:
    texts = {name: content.decode() for name, content in FILES.items()}
    async with shelf.filled(texts) as brain:
        yield brain


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"authors": ["Conti"]}, {"conti.eml", "perche_il_tetto.html"}),
        ({"authors": ["conti ada"]}, {"conti.eml", "perche_il_tetto.html"}),
        ({"authors": ["ada@studio-conti.example"]}, {"conti.eml"}),
        ({"authors": ["neri"]}, {"neri.eml"}),
        ({"authors": ["ZOË ångström"]}, {"page.html"}),
        ({"authors": ["Cont"]}, set()),
        ({"authors": ["conti", "neri"]}, {"conti.eml", "perche_il_tetto.html", "neri.eml"}),
        ({"authors": ["ferro"]}, {"bill.txt"}),
        ({"parties": ["neri"]}, {"conti.eml", "neri.eml", "bill.txt"}),
        ({"parties": ["angstrom"]}, {"neri.eml", "page.html"}),
        ({"parties": ["Ferrò"]}, {"bill.txt"}),
        ({"parties": ["Ada Neri"]}, set()),
        ({"titles": ["perche"]}, {"neri.eml", "perche_il_tetto.html"}),
        ({"titles": ["TETTI"]}, {"page.html"}),
        ({"titles": ["d'Ardesia"]}, {"page.html"}),
        ({"titles": ["plain.txt"]}, {"plain.txt"}),
        ({"parties": ["neri"], "titles": ["perché"]}, {"neri.eml"}),
        ({"parties": ["neri"], "authors": ["conti"], "kinds": ["mail"]}, {"conti.eml"}),
        ({"authors": ["%"], "titles": []}, None),
        ({"authors": ["' OR 1=1 --"]}, set()),
    ],
)
async def test_people_and_titles_are_filters(
    people: Brain, options: dict[str, list[str]], expected: set[str] | None
) -> None:
    if expected is None:
        with pytest.raises(InputError, match="The author to search for has no word: '%'"):
            parse_filters(**options)  # type: ignore[arg-type]
        return
    filters = parse_filters(**options)  # type: ignore[arg-type]
    answer = await people.search("preventivo tetto", filters=filters, threshold=0, limit=20)
    assert {result.document.name for result in answer.results} == expected
    if not expected:
        (name,) = filters.as_json()
        (notice,) = [text for text in answer.notices if "No document meets the filters" in text]
        assert f"--{name} " in notice


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"authors": ["neri"]}, "The filter --author neri leaves it out"),
        ({"parties": ["angstrom"]}, "The filter --party angstrom leaves it out"),
        ({"titles": ["manuale"]}, "The filter --title manuale leaves it out"),
    ],
)
async def test_why_names_the_filter(
    people: Brain, options: dict[str, list[str]], reason: str
) -> None:
    filters = parse_filters(**options)  # type: ignore[arg-type]
    found = await people.why("preventivo tetto", "conti.eml", filters=filters)
    assert any(reason in told for told in found.reasons)


async def test_a_filter_by_title_finds_notes_with_their_document(
    open_brain: OpenBrain, tmp_path: Path
) -> None:
    brain = await open_brain()
    (tmp_path / "kept.txt").write_text("Il preventivo del tetto di ardesia.")
    (tmp_path / "other.txt").write_text("Il preventivo del tetto di rame.")
    await brain.add([tmp_path / "kept.txt", tmp_path / "other.txt"])
    answer = await brain.search("tetto", filters=parse_filters(titles=["kept"]), threshold=0)
    assert [result.document.name for result in answer.results] == ["kept.txt"]
