"""Dates in texts and names, and which one is the document's."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emily.indexing.dates import dates_in, fold, name_date
from emily.indexing.dating import document_date

LAST = 2027
MONTHS = ("gen", "feb", "mar", "apr", "maggio", "giu", "lug", "ago", "set", "ott", "nov", "dic")


def days(text: str, language: str | None = "it") -> list[str]:
    return [str(one.date) for one in dates_in(text, language, last_year=LAST)]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("80101911/26.06.2025", "2025-06-26"),
        ("2025-06-26", "2025-06-26"),
        ("2025/06/26", "2025-06-26"),
        ("2025.06.26", "2025-06-26"),
        ("2025-6-2", "2025-06-02"),
        ("2025-06-26T10:15:00Z", "2025-06-26"),
        ("26/06/2025", "2025-06-26"),
        ("26/06/25", "2025-06-26"),
        ("6/2/2025", "2025-02-06"),
        ("26-06-2025", "2025-06-26"),
        ("26 / 06 / 2025", "2025-06-26"),
        ("26.6.2025", "2025-06-26"),
        ("26.06.25", "2025-06-26"),
        ("26-06-25 10:31", "2025-06-26"),
        ("26 giugno 2025", "2025-06-26"),
        ("26 GIUGNO 2025", "2025-06-26"),
        ("26 giu 2025", "2025-06-26"),
        ("26-giu-25", "2025-06-26"),
        ("26 giugno '25", "2025-06-26"),
        ("1º marzo 2025", "2025-03-01"),
        ("1° marzo 2025", "2025-03-01"),
        ("l'8 marzo 2025", "2025-03-08"),
        ("giovedì 26 giugno 2025", "2025-06-26"),
        ("June 26th, 2025", "2025-06-26"),
        ("June 26, 2025", "2025-06-26"),
        ("June 26 , 2025", "2025-06-26"),
        ("Jun 26 2025", "2025-06-26"),
        ("Sept. 3, 2025", "2025-09-03"),
        ("26th of June 2025", "2025-06-26"),
        ("26 June, 2025", "2025-06-26"),
        ("26. Juni 2025", "2025-06-26"),
        ("1. März 2025", "2025-03-01"),
        ("1. Jänner 2025", "2025-01-01"),
        ("24. Dez. 2024", "2024-12-24"),
        ("26 juin 2025", "2025-06-26"),
        ("1er août 2025", "2025-08-01"),
        ("14 févr. 2025", "2025-02-14"),
        ("26 de junio de 2025", "2025-06-26"),
        ("26 de junio del 2025", "2025-06-26"),
        ("3 dic 2024", "2024-12-03"),
        ("19 april 2014", "2014-04-19"),
        ("29 maart 2014", "2014-03-29"),
        ("3 de março de 2024", "2024-03-03"),
        ("2025年6月26日", "2025-06-26"),
        ("26 giugno\n2025", "2025-06-26"),
    ],
)
def test_a_date_is_found_with_its_place(text: str, day: str) -> None:
    for around in ("{}", "Il {} a Roma", "({})", "| {} |", "dal {}.", "x\n{}\ny"):
        whole = around.format(text)
        [found] = dates_in(whole, "it", last_year=LAST)
        assert str(found.date) == day, whole
        assert whole[found.start : found.end] in text


@pytest.mark.parametrize(
    "text",
    [
        "31/02/2025", "30.02.2025", "2025-02-29", "32/01/2025", "00/01/2025", "12/00/2025",
        "31 aprile 2025", "Feb 30, 2025", "2025-13-01",  # impossible
        "26/06/1899", "26 giugno 1215", "26/06/2028", "3609-06-30", "0000-01-01",  # unbelievable
        "192.168.10.12", "10.12.20.21", "1.2.3.4",  # addresses of the network
        "versione 1.2.20", "v. 12.10.2020", "v2024.10.12", "rel1.12.2020", "release 10.11.12",
        "Python 3.11.7", "1.2.2024.5", "2.26.06.2025",  # versions
        "tel. 06.12.10.44.55", "01.71.17.61.67", "06-12-10 44", "02 12-10-20 33", "+39/12/2020",
        "0171/12.10.67",  # telephones
        "IT60X0542811101000000123456", "DE30507500940000048567", "IT60 X054 2811 1010 0000",
        "INV/2023/03/0008", "INV/2023/03/08", "978-2023-03-20", "0999/09/2022", "007/10/2022",
        "A26-06-2025", "26-06-2025X", "1234K20/1234/12", "12/2025", "giugno 2025", "26 giugno",
        "7 May 10 people", "May 12", "1.234,56", "12.10.2020,50", "12/31", "26//06//2025",
        "26/06-2025", "1,26/06/2025",
    ],
)  # fmt: skip
def test_what_is_no_date(text: str) -> None:
    assert days(text) == []
    assert days(f"Nr. {text} rev") == []


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Fatt. 4500123/03.12.2024", "2024-12-03"),
        ("Rif. 77/01.02.2023", "2023-02-01"),
        ("DOC-9/5.7.2022", "2022-07-05"),
        ("12345678-26.06.2025", "2025-06-26"),
        ("80101911/2025-06-26", "2025-06-26"),
        ("Prot. 0012345/2025-03-04", "2025-03-04"),
        ("INV/2023-03-08", "2023-03-08"),
    ],
)
@pytest.mark.parametrize("language", ["it", "en", None])
def test_a_date_that_follows_a_number(text: str, day: str, language: str | None) -> None:
    assert days(text, language) == [day]
    assert days(f"vedi {text}, allegato", language) == [day]


@pytest.mark.parametrize(
    ("language", "day"),
    [("it", "2025-04-03"), ("de", "2025-04-03"), ("fr", "2025-04-03"), ("es", "2025-04-03"),
     ("pt", "2025-04-03"), (None, "2025-04-03"), ("en", "2025-03-04")],
)  # fmt: skip
def test_the_order_follows_the_language(language: str | None, day: str) -> None:
    assert days("03/04/2025", language) == [day]
    assert days("3-4-2025", language) == [day]
    assert days("03/04/25", language) == [day]
    assert days("2025-04-03", language) == ["2025-04-03"]
    assert days("03.04.2025", language) == ["2025-04-03"]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Meeting 03/04/2025, next 25/12/2025", "2025-04-03"),  # day first is proved
        ("On 03/04/2025, that is 3 April 2025", "2025-04-03"),
        ("On 03/04/2025 (2025-04-03)", "2025-04-03"),
        ("03/04/2025 total € 12.00", "2025-04-03"),  # European signs
        ("03/04/2025 VAT no. 1", "2025-04-03"),
        ("03/04/2025 total $12.00", "2025-03-04"),
        ("03/04/2025 $12 and €3", "2025-03-04"),
        ("Due 03/04/2025, paid 12/25/2025", "2025-03-04"),  # month first is proved
        ("03/04/2025 that is March 4, 2025 £", "2025-03-04"),
        ("nothing but 03/04/2025", "2025-03-04"),
    ],
)
def test_english_texts_prove_their_order(text: str, first: str) -> None:
    assert days(text, "en")[0] == first


@pytest.mark.parametrize("language", ["it", "de", "en", None])
def test_what_is_possible_in_one_order_only(language: str | None) -> None:
    for text, day in (
        ("25/12/2024", "2024-12-25"),
        ("12/25/2024", "2024-12-25"),
        ("13-1-2024", "2024-01-13"),
    ):
        [found] = dates_in(text, language, last_year=LAST)
        assert (str(found.date), found.sure) == (day, True)
    [found] = dates_in("03/04/2025", language, last_year=LAST)
    assert not found.sure


def test_other_languages_are_not_overruled() -> None:
    assert days("12/25/2024 e 03/04/2025", "it") == ["2024-12-25", "2025-04-03"]
    assert days("12/25/2024 e 03/04/2025", None) == ["2024-12-25", "2025-03-04"]


@pytest.mark.parametrize(
    ("text", "day"),
    [("01/01/27", "2027-01-01"), ("01/01/28", "1928-01-01"), ("01/01/99", "1999-01-01"),
     ("01/01/00", "2000-01-01"), ("3-mar-70", "1970-03-03")],
)  # fmt: skip
def test_two_digits_of_a_year(text: str, day: str) -> None:
    assert days(text) == [day]


def test_several_in_order() -> None:
    text = "Periodo 01.05.14-31.05.14, fattura del 7 maggio 2014 (2014-05-07)"
    assert days(text) == ["2014-05-01", "2014-05-31", "2014-05-07", "2014-05-07"]
    assert days("01/08/2024 31/12/2017") == ["2024-08-01", "2017-12-31"]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["26", "/", ".", "-", "06", "2025", "giugno", "June", " ", "\n", "3", "25", "é", "v",
             "|", "Data:", "del ", "ß", "İ", "年", "º", "'", "scadenza ", ",", "x" * 50]
        ),
        max_size=40,
    ).map("".join)
    | st.text(max_size=200),
    st.sampled_from(["it", "en", "de", None]),
)  # fmt: skip
def test_nothing_fails_and_offsets_are_inside(text: str, language: str | None) -> None:
    assert len(fold(text)) == len(text)
    end = 0
    for one in dates_in(text, language, last_year=LAST):
        assert end <= one.start < one.end <= len(text)
        assert any(sign.isdigit() for sign in text[one.start : one.end])
        assert 1900 <= one.date.year <= LAST
        end = one.end
    chosen = document_date(text, language, last_year=LAST)
    if chosen is not None:
        assert chosen[0] in dates_in(text, language, last_year=LAST)
        assert 1 <= chosen[1] <= 4
    name_date(text, last_year=LAST)


@settings(max_examples=100, deadline=None)
@given(st.dates(dt.date(1900, 1, 1), dt.date(LAST, 12, 31)))
def test_every_day_is_read_back(day: dt.date) -> None:
    month = MONTHS[day.month - 1]
    for text in (
        day.isoformat(),
        f"{day.day}/{day.month}/{day.year}",
        f"{day.day:02}.{day.month:02}.{day.year}",
        f"{day.day} {month} {day.year}",
        f"x/{day.day:02}-{day.month:02}-{day.year}",
    ):
        assert days(text) == [str(day)], text
    if day.year > LAST - 100:
        assert days(f"{day:%d/%m/%y}") == [str(day)]


def test_a_long_text_takes_little_time() -> None:
    text = "26/06/2025 26 giugno 2025 1.2.3.4.5.6/7/8 " * 5_000
    assert len(dates_in(text, "it", last_year=LAST)) == 10_000
    assert document_date("1/" * 400_000, "it", last_year=LAST) is None


# --- which one is the document's


def chosen(text: str, language: str | None = "it") -> str | None:
    found = document_date(text, language, last_year=LAST)
    if found is None:
        return None
    assert dates_in(text[found[0].start : found[0].end], language, last_year=LAST)
    return str(found[0].date)


@pytest.mark.parametrize(
    "cue",
    [
        "Data: {}", "Data fattura: {}", "Data documento {}", "Data di emissione: {}",
        "Fattura n. 12 del {}", "Fattura n. 12/A del {} da pagare", "Prot. 778 del {}",
        "Milano, {}", "Milano, lì {}", "Reggio Emilia, li {}", "Roma, il {}",
        "Invoice date: {}", "Date: {}", "Issue date {}", "Date of issue: {}", "Dated {}",
        "Rechnungsdatum: {}", "Datum: {}", "Berlin, den {}", "Rechnung Nr. 7 vom {}",
        "Date de facture : {}", "Paris, le {}", "Facture n°7 du {}", "Fecha de factura: {}",
        "Fecha: {}", "| Data | {} |", "Numero 7   Data {}", "Emessa il {}", "**Data:** {}",
        "date: {}", "Data rilascio: {}", "Inviato: giovedì {} 10:15", "Sent: {}",
        "Estratto conto al {}", "BOLLETTA N. 2025/123 del {}",
    ],
)  # fmt: skip
def test_cues_beat_other_dates(cue: str) -> None:
    for written in ("26/06/2025", "26.06.2025", "26 giugno 2025", "2025-06-26"):
        text = (
            f"Riunione avvenuta nel periodo dal 01/02/2025 al 03/02/2025\n{cue.format(written)}\n"
            "Scadenza: 31/07/2025\nNato il 01/01/1980\n"
        )
        assert chosen(text) == "2025-06-26", text


@pytest.mark.parametrize(
    "line",
    [
        "Scadenza: {}", "Data scadenza: {}", "Data di scadenza {}", "Due date: {}", "Due {}",
        "Nato a Roma il {}", "nata il {}", "Data di nascita: {}", "Date of birth: {}",
        "Born {}", "Fällig am {}", "Fälligkeitsdatum: {}", "Geburtsdatum: {}", "geboren am {}",
        "Date d'échéance : {}", "Date de naissance : {}", "Fecha de vencimiento: {}",
        "Da pagare entro il {}", "Valido fino al {}", "Valid until {}", "Expiry date: {}",
        "Check out {}", "Data di consegna: {}", "Data ordine: {}", "Order date: {}",
        "ai sensi del D.P.R. {}, n. 633", "D.Lgs. {}", "legge {} n. 104", "Regulation of {}",
        "La riunione si è tenuta con successo e in quella data, {}, tutti furono contenti",
        "Periodo dal {}", "Oggetto: disdetta del contratto del {}", "Re: your letter of {}",
        "Betreff: Ihre Rechnung vom {}",
        "Oggetto: richiesta di informazioni e di una copia autentica del vostro contratto del {}",
        "Con la presente si trasmette in allegato a codesta spettabile ditta la fattura del {}",
        "Prossima lettura: {}", "Data stampa: {}",
    ],
)  # fmt: skip
def test_dates_of_something_else_are_not_the_documents(line: str) -> None:
    for written in ("26/06/2025", "26 giugno 2025", "2025-06-26"):
        assert chosen(f"Comunicazione\n\n{line.format(written)}\n") is None


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Numero   Data         Scadenza\n12       26/06/2025   31/07/2025", "2025-06-26"),
        ("| Scadenza | Data | N. |\n| --- | --- | --- |\n| 31/07/2025 | 26/06/2025 | 3 |",
         "2025-06-26"),
        ("Data\n26/06/2025\nScadenza\n31/07/2025", "2025-06-26"),
        ("Scadenza\n31/07/2025\nData\n26/06/2025", "2025-06-26"),
        ("Data fattura:\n\n26 giugno 2025", "2025-06-26"),
        ("Data:\nTermini:\nScadenza:\n26/06/2025\n30 giorni\n31/07/2025\n", "2025-06-26"),
        ("Scadenza:\n\nNumero:\n\nData:\n\n31/07/2025\n\n12\n\n26/06/2025\n", "2025-06-26"),
        ("Scadenza:\nPagamento entro:\n31/07/2025\n30/07/2025\nData:\n26/06/2025", "2025-06-26"),
    ],
)  # fmt: skip
def test_labels_above(text: str, day: str) -> None:
    assert chosen(text) == day


@pytest.mark.parametrize(
    "text",
    [
        "| Data | Importo |\n| --- | --- |\n| 2025-06-26 | 3 |\n| 2025-06-27 | 4 |",
        "Data         Causale\n26/06/2025   uno\n27/06/2025   due",
        "Nome | Data | Sito\nA | 26/06/2025 | x\nB | 27/06/2025 | y\nC | 28/06/2025 | z",
    ],
)
def test_a_column_of_dates_is_nobodys_date(text: str) -> None:
    assert chosen("Movimenti di conto\n\n" + text) is None


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Verbale\n26/06/2025\n\nPresenti: tutti", "2025-06-26"),
        ("26 giugno 2025\n\nCaro diario", "2025-06-26"),
        ("Titolo\n\nMilano 26 giugno 2025\n", "2025-06-26"),
        ("Titolo\n\n26/06/2025 10:30\n", "2025-06-26"),
        ("Giovedì 26 giugno 2025\nOggi", "2025-06-26"),
    ],
)
def test_alone_on_a_line_near_the_top(text: str, day: str) -> None:
    assert chosen(text) == day
    assert chosen("parola\n" * 30 + text) is None


@pytest.mark.parametrize(
    "line", ["Roma, 3 marzo 2024", "Roma, lì 03/03/2024", "Wien, den 3.3.2024"]
)
@pytest.mark.parametrize("lines", [30, 400, 4000])
def test_signed_at_the_end(line: str, lines: int) -> None:
    assert chosen("Si dichiara quanto segue.\n" * lines + f"{line}\n\nIn fede\n") == "2024-03-03"


def test_among_equal_cues_iso_then_the_first() -> None:
    assert chosen("Data: 01/02/2025\nData: 2025-03-04") == "2025-03-04"
    assert chosen("Data: 01/02/2025\nData: 05/06/2025") == "2025-02-01"
    assert chosen("Data: 01/02/2025\nData fattura: 05/06/2025") == "2025-06-05"


@pytest.mark.parametrize("text", ["", "Niente", "Nel 1945 finì la guerra.", "Data: ieri",
                                  "Data: 31/02/2025"])  # fmt: skip
def test_absent_never_today(text: str) -> None:
    assert document_date(text, "it") is None


# --- names


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("2024-03-15 bolletta.pdf", "2024-03-15"),
        ("bolletta_2024_03_15.pdf", "2024-03-15"),
        ("IMG_20240315_101500.jpg", "2024-03-15"),
        ("20240315-verbale.docx", "2024-03-15"),
        ("verbale 15.03.2024.docx", "2024-03-15"),
        ("verbale_15-03-2024_bozza.docx", "2024-03-15"),
        ("scan 03-04-2024.pdf", "2024-04-03"),
        ("scan 03-14-2024.pdf", "2024-03-14"),
        ("Lettera 15 marzo 2024.odt", "2024-03-15"),
        ("letter_March_15_2024.odt", "2024-03-15"),
        ("Screenshot 2024-03-15 at 10.15.00.png", "2024-03-15"),
        ("2024-01-01_2024-01-31 estratto.pdf", "2024-01-01"),
    ],
)
def test_dates_in_names(name: str, day: str) -> None:
    assert str(name_date(name, last_year=LAST)) == day


@pytest.mark.parametrize(
    "name",
    ["bolletta.pdf", "2024.pdf", "marzo 2024.pdf", "IT01234567890_00A7.xml", "20241345.pdf",
     "120240315.pdf", "v1.2.2030.zip", "31-02-2024.txt", "20990101.txt", "fattura 12-2024.pdf"],
)  # fmt: skip
def test_names_without_a_date(name: str) -> None:
    assert name_date(name, last_year=LAST) is None


@pytest.mark.parametrize(
    ("language", "months"),
    [
        ("it", "gen feb mar apr mag giu lug ago set ott nov dic"),
        ("en", "Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec"),
        ("de", "Jan Feb Mrz Apr Mai Jun Jul Aug Sep Okt Nov Dez"),
        ("nl", "jan febr mrt apr mei jun jul aug sept okt nov dec"),
        ("fr", "janv févr mars avr mai juin juil août sept oct nov déc"),
        ("es", "ene feb mar abr may jun jul ago sept oct nov dic"),
    ],
)
def test_months_are_known_when_cut_short(language: str, months: str) -> None:
    for number, name in enumerate(months.split(), 1):
        for written in (f"3 {name}. 2025", f"3 {name} 2025"):
            (found,) = dates_in(written, language)
            assert (found.date.month, found.date.day) == (number, 3), written
