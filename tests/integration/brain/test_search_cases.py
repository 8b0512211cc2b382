"""What goes wrong with searches in practice: a table of kinds, several questions of each.

Identifiers and spellings on one document are in test_hostile_input, joined ranks in
tests/unit/retrieval/test_fusion, vectors under a filter by size in test_mirror.
"""

from __future__ import annotations

import string
import unicodedata
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from tests.fakes import bundled_embedder
from tests.integration.brain.conftest import OpenBrain, Shelf

from emily.brain import Answer, Brain, parse_filters, presets
from emily.retrieval.fusion import fuse_by_rank, merge_arms

Write = Callable[[str, str], Path]

HEATER = "\n\n".join(
    [
        "Manuale d'uso. Parte prima: descrizione generale dell'apparecchio e avvertenze.",
        *(
            f"Avvertenza {n}. Prima di ogni lavoro si stacca la corrente e si attende che le parti "
            "calde si raffreddino; i bambini restano lontani dall'apparecchio."
            for n in range(12)
        ),
        "Per regolare la pressione della caldaia si apre il rubinetto di carico finché la lancetta "
        "segna un bar e mezzo, poi lo si richiude con cura.",
        *(
            f"Garanzia, punto {n}. La ditta risponde dei difetti dei materiali per due anni, se il "
            "controllo annuale è stato fatto."
            for n in range(12)
        ),
    ]
)
FILES = {
    "caldaia-manuale.txt": HEATER,
    "caldaia-copertina.txt": "Manuale della caldaia",
    "decisione-54.txt": "Verbale DEC-0054: il comitato approva la spesa per il tetto.",
    "decisione-55.txt": "Verbale DEC-0055: il comitato rinvia la spesa per il cortile.",
    "pompa.txt": "La pompa modello TM-X200/4 pesa nove chili e va montata in piano.",
    "pompa-vecchia.txt": "La pompa modello TM-X300/2 pesa undici chili e non si monta più.",
    "fornitore.txt": (
        "Officina Belvento, partita IVA IT09876543210, conto IT60X0542811101000000123456, "
        "posta ufficio.acquisti@belvento.example, consegna il 2026-12-15."
    ),
    "altro-fornitore.txt": (
        "Falegnameria Lariana, partita IVA IT01234567897, conto IT28W8000000292100645211, "
        "posta info@lariana.example, consegna il 2026-11-30."
    ),
    "design.md": "The multi-agent planner calls parseLedgerEntry once for every camelCase name.",
    "padre.txt": "Il papà prepara la minestra di farro la domenica sera.",
    "pontefice.txt": "Il papa prepara la visita pastorale della domenica sera.",
    "tokyo.txt": "東京都の報告書DEC-0077号は三月に提出された。租约于三月底到期TM99。",
    "vaccino.txt": "Il vaccino antitetanico si ripete ogni dieci anni; il libretto sta in cucina.",
    "storage.txt": "The storage room in the basement is rented for 40 euro a month.",
    **{f"foglio{n}.csv": f"voce,importo\nspesa {n},{n * 10}\n" for n in range(8)},
}


@pytest.fixture(scope="module")
async def archive(shelf: Shelf) -> AsyncIterator[Brain]:
    """An archive with the embedder that comes with Emily; no test changes it."""
    async with shelf.filled(
        FILES, bundled_embedder(), chunk_tokens=128, chunk_overlap=20, index_for="archive"
    ) as brain:
        yield brain


def first(answer: Answer) -> str:
    return answer.results[0].document.name if answer.results else "nothing"


def shown(answer: Answer) -> list[str]:
    return [result.document.name for result in answer.results]


FOUND_FIRST = {
    "twelve words, one of which occurs nowhere": [
        (
            "ogni quanti anni si ripete il vaccino antitetanico secondo il qqxzvwmpl del medico",
            "vaccino.txt",
        ),
        (
            "how much is the zzrkplonq storage room in the basement rented for each month",
            "storage.txt",
        ),
    ],
    "more than a hundred words": [
        ("dimmi per favore " * 40 + "quanto pesa la pompa TM-X200/4", "pompa.txt"),
        (
            "please tell me if you can " * 20 + "how much is the storage room rented for",
            "storage.txt",
        ),
    ],
    "identifiers, whole": [
        ("DEC-0054", "decisione-54.txt"),
        ("verbale dec 0055", "decisione-55.txt"),
        ("TM-X200/4", "pompa.txt"),
        ("tmx300/2", "pompa-vecchia.txt"),
        ("multi-agent", "design.md"),
        ("parseLedgerEntry", "design.md"),
        ("camelCase", "design.md"),
        ("2026-12-15", "fornitore.txt"),
        ("30/11/2026", "altro-fornitore.txt"),
        ("IT60 X054 2811 1010 0000 0123 456", "fornitore.txt"),
        ("IT01234567897", "altro-fornitore.txt"),
        ("ufficio.acquisti@belvento.example", "fornitore.txt"),
    ],
    "identifiers, by part": [
        ("0054", "decisione-54.txt"),
        ("X200", "pompa.txt"),
        ("Ledger", "design.md"),
        ("belvento", "fornitore.txt"),
        ("lariana.example", "altro-fornitore.txt"),
        ("09876543210", "fornitore.txt"),
    ],
    "accents: the exact spelling first": [
        ("papà", "padre.txt"),
        ("PAPÀ", "padre.txt"),
        (unicodedata.normalize("NFD", "papà"), "padre.txt"),
        ("papa", "pontefice.txt"),
    ],
    "scripts without spaces, and identifiers glued to them": [
        ("報告書", "tokyo.txt"),
        ("东京 租约", "tokyo.txt"),
        ("DEC-0077", "tokyo.txt"),
        ("TM99", "tokyo.txt"),
    ],
    "the chunk of a long document before a title page": [
        ("come si regola la pressione della caldaia?", "caldaia-manuale.txt"),
        ("a quanti bar va portata la pressione della caldaia", "caldaia-manuale.txt"),
    ],
}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        pytest.param(question, expected, id=f"{kind}: {question[:30]!a}")
        for kind, questions in FOUND_FIRST.items()
        for question, expected in questions
    ],
)
async def test_found_first(archive: Brain, question: str, expected: str) -> None:
    answer = await archive.search(question)
    assert first(answer) == expected, shown(answer)


def test_every_kind_has_two_questions() -> None:
    assert all(len(questions) >= 2 for questions in FOUND_FIRST.values())


async def test_accents_are_no_other_word(archive: Brain) -> None:
    spellings = ("papà", "papa", "PAPÀ", unicodedata.normalize("NFD", "papà"))
    for spelling in spellings:
        ranking = (await archive.search(spelling)).trace["second_stage"]["candidates"]
        both = {item["name"] for item in ranking if "papa" in item["matches"]}
        assert both == {"padre.txt", "pontefice.txt"}, spelling


@pytest.mark.parametrize("question", ["qqxzvwmpl", "zzrkplonq vvxqtt"])
async def test_words_that_occur_nowhere_are_no_page_of_neighbours(
    archive: Brain, question: str
) -> None:
    answer = await archive.search(question)
    assert answer.results == ()
    assert any(notice.startswith("Nothing found: the best of") for notice in answer.notices)
    # Where they are asked for all the same, they are marked: by the words that stood in for
    # them, or by a notice that there are none.
    answer = await archive.search(question, threshold=0)
    assert answer.results
    terms = answer.trace["neighbours"]["terms"]
    told = any("No word of the question occurs" in notice for notice in answer.notices)
    assert told != any(term["neighbours"] for term in terms)
    own = {term["term"] for term in terms}
    for item in answer.trace["second_stage"]["candidates"]:
        assert not own & item["matches"].keys()


SIGNS = [*string.punctuation, "<-> & | ! :* NULL", "“”", "„“", "«»", "--", "NULL"]


@pytest.mark.parametrize("preset", presets())
async def test_no_sign_is_a_syntax_that_can_fail(archive: Brain, preset: str) -> None:
    for sign in SIGNS:
        if preset == "default":  # a sign alone ends before the preset's stages
            alone = await archive.search(sign)
            assert alone.results or alone.notices, sign
        within = await archive.search(f"vaccino {sign} antitetanico{sign}", preset=preset)
        assert "vaccino.txt" in shown(within), sign


@pytest.mark.parametrize("kinds", [["csv"], ["csv", "markdown"]])
async def test_a_filter_leaves_as_many_results_as_there_are(
    archive: Brain, kinds: list[str]
) -> None:
    """The nearest overall are of other kinds; those of this kind are found none the less."""
    wanted = sum(name.endswith((".csv", ".md") if len(kinds) > 1 else ".csv") for name in FILES)
    for preset in presets():
        answer = await archive.search(
            "verbale del comitato sulla spesa",
            filters=parse_filters(kinds=kinds),
            threshold=0,
            limit=50,
            preset=preset,
        )
        assert len(answer.trace["vector_arm"]["ranking"]) == wanted, preset
        assert len(answer.results) == wanted, preset


@pytest.mark.parametrize("question", ["vaccino antitetanico", "storage room rent"])
async def test_the_threshold_looks_at_a_probability_and_at_nothing_else(
    archive: Brain, question: str
) -> None:
    answer = await archive.search(question, threshold=0)
    ranked = answer.trace["second_stage"]["candidates"]
    values = {item["chunk"]: item["probability"] for item in ranked}
    assert all(0 < value < 1 for value in values.values())
    bar = sorted(values.values())[-2] - 1e-6  # records are rounded
    passed = (await archive.search(question, threshold=bar)).trace["threshold"]["passed"]
    assert passed == [item["chunk"] for item in ranked if item["probability"] >= bar]
    # A lone candidate keeps its probability: it is neither 0 nor 1 for being alone.
    best = answer.results[0].document
    alone = await archive.search(question, filters=parse_filters(folder=best.path), threshold=0)
    for item in alone.trace["second_stage"]["candidates"]:
        assert item["probability"] == pytest.approx(values[item["chunk"]], abs=1e-6)


@pytest.mark.parametrize(("one", "two"), [("XaY", "bcY"), ("aXY", "cbY")])
def test_ranks_start_at_one_and_an_absent_item_adds_nothing(one: str, two: str) -> None:
    def ranking(letters: str) -> list[tuple[int, float]]:
        return [(ord(letter), 1.0) for letter in letters]

    pool = fuse_by_rank(merge_arms(ranking(one), ranking(two)), 5)
    assert chr(pool[0].chunk) == "Y"
    assert pool[0].fused == pytest.approx(2 / 63)
    assert pool[1].fused == pytest.approx(1 / 61)


@pytest.mark.parametrize(
    "question",
    [
        "quanto pesa un rinoceronte adulto?",
        "which chess opening did the grandmaster play?",
        "ricetta del tiramisù al pistacchio",
    ],
)
async def test_nothing_relevant_is_said_with_its_reason(archive: Brain, question: str) -> None:
    answer = await archive.search(question)
    assert answer.results == ()
    (said,) = [notice for notice in answer.notices if notice.startswith("Nothing found")]
    assert "below the threshold of 5.0%" in said
    assert "external_content" not in answer.text, "it cites nothing"


@pytest.mark.parametrize("kind", ["one endless word", "as many words as fit"])
async def test_a_very_long_chunk_does_not_stop_its_document(
    open_brain: OpenBrain, write: Write, kind: str
) -> None:
    text = (
        "x" * 300_000
        if kind == "one endless word"
        else "/".join(f"{number:x}parola" for number in range(90_000, 105_000))
    )
    brain = await open_brain(index_for="archive")
    (file,) = (await brain.add([write("lungo.txt", f"Il xilofono nuovo. {text}")])).files
    assert file.outcome == "added"
    for preset in presets():
        assert first(await brain.search("xilofono", preset=preset)) == "lungo.txt"
