"""A small question set of our own, Italian and English, and the command line over it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import structlog
from tests.fakes import bundled_embedder
from typer.testing import CliRunner, Result

from emily.brain import Brain
from emily.cli.app import app
from emily.cli.session import Session
from emily.store import EmbeddedServer

DOCUMENTS = [
    ("en-boiler", "en", "Boiler", "The boiler is serviced every October by the plumber Orsini. He "
     "checks the pressure, which must stay between 1.2 and 1.8 bar."),
    ("it-boiler", "it", "Caldaia", "La caldaia è revisionata ogni ottobre dall'idraulico Orsini. "
     "Controlla la pressione, che deve restare tra 1,2 e 1,8 bar."),
    ("en-lease", "en", "Lease", "The flat is let until 31 March 2027. The monthly rent is 950 euro "
     "and is due on the fifth day."),
    ("it-bees", "it", "Alveari", "Gli alveari del nonno stanno dietro il frutteto. Il miele di "
     "castagno si raccoglie a luglio."),
    ("en-train", "en", "Train", "The night train to Vienna leaves at 21:40 from platform 4. "
     "Bicycles need a reservation."),
    ("it-cake", "it", "Torta di mele", "Per la torta servono trecento grammi di farina, tre uova e "
     "quattro mele renette. Si cuoce per quaranta minuti."),
    ("it-twin", "it", "Alveari", "Gli alveari del nonno stanno dietro il frutteto. Il miele di "
     "castagno si raccoglie a luglio."),
    ("en-empty", "en", "Nothing", "  "),
]  # fmt: skip
QUESTIONS = [
    ("q1", "it", "same", "Quando si raccoglie il miele di castagno?", ["luglio", "agosto"]),
    ("q2", "it", "cross", "A quanto ammonta l'affitto mensile dell'appartamento?", ["950 euro"]),
    ("q3", "en", "both", "Who services the boiler?", ["Orsini"]),
    ("q4", "en", "cross", "How many eggs go into the apple cake?", ["three"]),
    ("q5", "en", "same", "From which platform does the night train to Vienna leave?", []),
    ("q6", "it", "same", "Torta di mele", []),
    ("q7", "it", "none", "Chi ha vinto la regata?", []),
]
JUDGED = [
    ("q1", "it-bees", 1), ("q1", "it-twin", 2), ("q2", "en-lease", 1), ("q3", "en-boiler", 2),
    ("q3", "it-boiler", 1), ("q4", "it-cake", 1), ("q5", "en-train", 1), ("q6", "it-cake", 1),
    ("q6", "en-empty", 1), ("q7", "en-train", 0),
]  # fmt: skip


def write_set(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    documents = [
        {"id": name, "lang": lang, "title": title, "text": text}
        for name, lang, title, text in DOCUMENTS
    ]
    queries = [
        {"id": name, "lang": lang, "kind": kind, "text": text, "answers": answers}
        for name, lang, kind, text, answers in QUESTIONS
    ]
    for file, items in (("corpus", documents), ("queries", queries)):
        lines = "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items)
        (folder / f"{file}.jsonl").write_text(lines, encoding="utf-8")
    qrels = "".join(f"{query}\t{document}\t{grade}\n" for query, document, grade in JUDGED)
    (folder / "qrels.tsv").write_text(qrels, encoding="utf-8")
    return folder


@pytest.fixture
def question_set(tmp_path: Path) -> Path:
    return write_set(tmp_path / "house")


class Shell:
    """The command line in this process, on the home and the server of the test."""

    def run(self, *arguments: str) -> Result:
        async def evaluate_set(settings: Any, folder: Path, **options: Any) -> Any:
            # The process of the tests has the model loaded; a new one would load it for a second.
            return await Brain.evaluate_set(
                settings, folder, embedder=bundled_embedder(), **options
            )

        def open_brain(settings: Any, warm: bool) -> Any:
            return Brain.open(settings, embedder=bundled_embedder())

        session = Session(evaluate_set=evaluate_set, open_brain=open_brain)
        return CliRunner().invoke(app, arguments, obj=session)

    def json(self, *arguments: str, exit_code: int = 0) -> Any:
        result = self.run(*arguments, "--json")
        assert result.exit_code == exit_code, result.output
        return json.loads(result.stdout)


@pytest.fixture
def shell(home: Path, database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    monkeypatch.setenv("EMILY_DATABASE_URL", database_url)
    yield Shell()
    structlog.reset_defaults()  # its stream is that of this run


@dataclass(frozen=True)
class Measured:
    """What a first run printed, and where it ran.

    Attributes:
        home: with the vectors that it kept.
        address: of the server that it used.
        folder: of the set.
        output: the document.
        path: of the same as a file.
    """

    home: Path
    address: str
    folder: Path
    output: Any
    path: Path


@pytest.fixture(scope="module")
def measured(server: EmbeddedServer, tmp_path_factory: pytest.TempPathFactory) -> Measured:
    """The small set, measured once for all tests of a module."""
    place = tmp_path_factory.mktemp("measured")
    folder = write_set(place / "house")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EMILY_HOME", str(place / "home"))
        patch.setenv("EMILY_DATABASE_URL", server.url("postgres"))
        output = Shell().json("eval", "--set", str(folder))
    structlog.reset_defaults()
    path = place / "result.json"
    path.write_text(json.dumps(output), encoding="utf-8")
    return Measured(place / "home", server.url("postgres"), folder, output, path)
