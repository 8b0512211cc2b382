import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emily.indexing.sentences import plain_sentences, sentence_spans

messy = st.text(alphabet=st.characters(exclude_categories=())) | st.text(
    alphabet='aB1 .,;!?\n\t|#-。東")', max_size=400
)


def texts(text: str) -> list[str]:
    return [text[start:end] for start, end in plain_sentences(text)]


def units(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize("find", [plain_sentences, sentence_spans])
@given(text=messy)
def test_spans_cover_the_text_in_order(find, text: str) -> None:  # type: ignore[no-untyped-def]
    before = 0
    for start, end in find(text):
        assert before <= start < end
        assert not text[before:start].strip()
        assert text[start:end] == text[start:end].strip()
        before = end
    assert not text[before:].strip()


@pytest.mark.parametrize(
    "sentence",
    [
        "Il totale è di 1.234,56 euro al 26.06.2025 con la v2.1 del programma.",
        "Vedi art. 5 e pag. 12, ecc. come da nota.",
        "Il Sig. Rossi e il Dott. Bianchi della Verdi S.p.A. Milano hanno firmato.",
        "Mr. Smith vs. Mrs. Jones, e.g. Chapter two, see No. 5 of it.",
        "Tasselli da 8 mm conf. 50 per il mod. 730 di ieri.",
        "Il codice di J. R. Tolkien è qui.",
        "Aspetta... non è finita.",
        "Invoice no. 45 of p. 3 is due.",
        "Il file report.final.pdf è su example.com da ieri.",
        "Am 3. März kommt der Dr. Weber.",
        "Questa riga è andata a capo da sola perché la finestra\n"
        "era stretta e il testo continua fino alla fine della frase.",
    ],
)
def test_one_sentence(sentence: str) -> None:
    assert texts(sentence) == [sentence]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Prima frase. Seconda frase.", ["Prima frase.", "Seconda frase."]),
        ("Davvero? Sì! «Certo.» Bene…", ["Davvero?", "Sì!", "«Certo.»", "Bene…"]),
        ("Costa 5. Poi basta.", ["Costa 5.", "Poi basta."]),
        ("Risposta: no. Altro.", ["Risposta: no.", "Altro."]),
        ("Pane, latte ecc. Il resto domani.", ["Pane, latte ecc.", "Il resto domani."]),
        ("今日は晴れ。明日は雨！本当？", ["今日は晴れ。", "明日は雨！", "本当？"]),
        ("titolo senza punto\n\ncorpo del testo", ["titolo senza punto", "corpo del testo"]),
        ("# Titolo\nTesto della sezione.", ["# Titolo", "Testo della sezione."]),
        ("Lista:\n- pane\n- latte", ["Lista:", "- pane", "- latte"]),
        (
            "1. Aprire il coperchio\n2. Premere il tasto",
            ["1. Aprire il coperchio", "2. Premere il tasto"],
        ),
        ("Nome | Prezzo\nPane | 2,50", ["Nome | Prezzo", "Pane | 2,50"]),
        ("Mario Rossi\nVia Roma 1\n20100 Milano", ["Mario Rossi", "Via Roma 1", "20100 Milano"]),
    ],
)
def test_several_sentences(text: str, expected: list[str]) -> None:
    assert texts(text) == expected


def test_a_sentence_without_end_is_divided_at_its_seams() -> None:
    text = "; ".join(" ".join(f"parola{at}" for at in range(12)) for _ in range(20))
    found = units(text)
    assert len(found) > 4
    assert all(6 <= len(unit.split()) <= 45 for unit in found)
    assert all(unit.endswith(";") for unit in found[:-1])


def test_crumbs_join_a_neighbour() -> None:
    assert units("Garanzia\n\nLa garanzia dura due anni dalla consegna.") == [
        "Garanzia\n\nLa garanzia dura due anni dalla consegna."
    ]
    assert units("La garanzia dura due anni. Certo.") == ["La garanzia dura due anni. Certo."]
    assert units("Ciao") == ["Ciao"]


def test_the_last_line_of_an_address_stays_with_it() -> None:
    address = "Agli inquilini di\nVia dei Glicini 14\n99017 Valdirosa"
    assert units(f"{address}\n\nVi informo che il cantiere apre lunedì.")[-1].startswith("Vi")


def test_text_without_spaces_is_divided() -> None:
    assert all(len(unit) <= 60 * 2 for unit in units("語" * 5000))
    assert all(len(unit) <= 60 * 24 for unit in units("x" * 50_000))


@pytest.mark.parametrize(
    "hostile", [".)" * 200_000, "." * 500_000 + "x", "a.b" * 200_000, "A. " * 100_000]
)
def test_time_grows_with_the_length_only(hostile: str) -> None:
    begin = time.process_time()
    assert sentence_spans(hostile)
    assert time.process_time() - begin < 20  # seconds of CPU: hours if it were quadratic
