"""What people read: answers, tables, progress."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.unit.cli.fake_brain import ANSWER, LEASE, PASSAGE, RECIPE

from emily.indexing.report import FileOutcome
from emily.measure.checks import Check
from emily.retrieval.answer import DocumentRef

if TYPE_CHECKING:
    from tests.unit.cli.conftest import Terminal

HOSTILE = "bill\n\x1b[31mNotice: all is well\u202e.pdf"


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines()]


def _cells(line: str) -> list[str]:
    return re.split(r"\s{2,}", line.strip())


def test_an_answer(terminal: Terminal) -> None:
    result = terminal.run("search", "rent of the flat")
    assert result.exit_code == 0
    assert _lines(result.stdout) == [
        "1. lease.pdf  82%  document 1",
        "   /papers/lease.pdf",
        "   pages 1-2, 82%, read by OCR",
        "  | The rent is 950 euro.",
        "  | Il canone è di 950 euro.",
        "",
        "Notice: These are excerpts; the documents hold more than is shown.",
    ]
    assert result.stderr == ""
    assert terminal.brain.asked == [("search", "rent of the flat", None)]


def test_description_note_and_header_are_shown(terminal: Terminal) -> None:
    document = DocumentRef(2, "torta.md", "/papers/torta.md", "markdown", "How to bake.")
    passage = replace(PASSAGE, route="text", pages=None, lines=(4, 4), source="note", header="a;b")
    terminal.brain.answer = replace(
        ANSWER,
        results=(replace(ANSWER.results[0], document=document, passages=(passage,)),),
        notices=(),
    )
    assert _lines(terminal.run("search", "x").stdout)[:5] == [
        "1. torta.md  82%  document 2",
        "   /papers/torta.md",
        "   How to bake.",
        "   your note, 82%",
        "  | a;b",
    ]


def test_an_answer_by_words_alone_shows_no_probability(terminal: Terminal) -> None:
    result = ANSWER.results[0]
    terminal.brain.answer = replace(
        ANSWER,
        results=(replace(result, score=None, passages=(replace(PASSAGE, score=None),)),),
        notices=("Searched by words alone.",),
    )
    shown = terminal.run("search", "rent").stdout
    assert "%" not in shown
    assert "Notice: Searched by words alone." in shown


def test_the_help_promises_the_languages_of_the_settings(terminal: Terminal) -> None:
    shown = " ".join(terminal.run("--help").stdout.split())
    assert "in the languages of the settings (Italian and English by default)" in shown
    assert "any language" not in shown


def test_the_help_of_search_says_to_quote_operators(terminal: Terminal) -> None:
    shown = " ".join(terminal.run("search", "--help").stdout.split())
    assert "Put such a question between single quotation marks, as one argument" in shown


def test_the_nearest_passage_comes_with_what_shows_it(terminal: Terminal) -> None:
    terminal.brain.answer = replace(ANSWER, results=(), notices=())
    searched = terminal.run("search", "rent").stdout
    assert "Nearest was lease.pdf, 82%; --threshold 0 shows it." in searched
    asked = terminal.run("ask", "1", "rent").stdout
    assert "; emily search with --in FILE and --threshold 0 shows it." in " ".join(asked.split())
    options = {
        name: terminal.run(name, "--help").stdout.count("--threshold") for name in ("search", "ask")
    }
    assert options["search"]
    assert not options["ask"]


def test_no_answer_is_said(terminal: Terminal) -> None:
    terminal.brain.answer = replace(ANSWER, results=(), notices=())
    result = terminal.run("search", "rent")
    assert (result.exit_code, result.stdout) == (
        0,
        "Notice: Nothing was found.\nNearest was lease.pdf, 82%; --threshold 0 shows it.\n",
    )


def test_content_cannot_pass_for_a_notice(terminal: Terminal) -> None:
    hostile = replace(PASSAGE, text="x\nNotice: delete all\r\nNotice: \x1b]0;y\x07\u2028Notice: z")
    document = DocumentRef(1, HOSTILE, f"/tmp/{HOSTILE}", "pdf", "a\nNotice: b")
    terminal.brain.answer = replace(
        ANSWER,
        results=(replace(ANSWER.results[0], document=document, passages=(hostile,)),),
        notices=("The only one.",),
    )
    shown = terminal.run("search", "rent").stdout
    assert [line for line in shown.split("\n") if line.startswith("Notice")] == [
        "Notice: The only one."
    ]
    assert "\x1b" not in shown
    assert r"1. bill\n\x1b[31mNotice: all is well\u202e.pdf" in shown


def test_limit_is_passed_on(terminal: Terminal) -> None:
    terminal.run("search", "rent", "--limit", "3")
    terminal.run("ask", "lease.pdf", "rent", "--limit", "2")
    assert terminal.brain.asked == [("search", "rent", 3), ("ask", "lease.pdf", "rent", 2)]


def test_a_long_passage_shows_the_lines_that_fit_the_question(terminal: Terminal) -> None:
    lines = [f"line {number}" for number in range(1, 41)]
    lines[29] = "Il canone è di 950 euro."
    passage = replace(PASSAGE, text="\n".join(lines))
    terminal.brain.answer = replace(
        ANSWER, results=(replace(ANSWER.results[0], passages=(passage,)),)
    )
    shown = terminal.run("search", "rent").stdout
    assert "  | Il canone è di 950 euro.\n" in shown
    assert shown.count("  | ") == 12
    assert "(12 of 40 lines; --full shows all)" in shown
    assert "line 3\n" not in shown
    full = terminal.run("search", "rent", "--full").stdout
    assert full.count("  | ") == 40
    assert "--full" not in full


def test_explain_shows_every_stage(terminal: Terminal) -> None:
    lines = _lines(terminal.run("search", "rent", "--explain").stdout)
    rows = [_cells(line) for line in lines]
    assert ["rent", "rent", "canone 0.61"] in rows
    assert ["1", "7", "lease.pdf", "0.41"] in rows  # vector arm, and fusion
    assert ["empty: no term of the question occurs"] in rows
    assert "fusion (sum): 1 of 1 in the pool" in lines
    assert "second stage; the threshold is 0.05" in lines
    assert [
        *("1", "7", "lease.pdf", "0.4", "0.5", "0.82"),
        *("0.41", "0.5", "1", "1", "chosen"),
    ] in rows
    assert ["vector_arm", "1.25"] in rows


def test_explain_of_a_search_that_ended_early(terminal: Terminal) -> None:
    terminal.brain.answer = replace(ANSWER, results=(), trace={"query": {"words": []}})
    assert "timings" in terminal.run("search", "?", "--explain").stdout


def test_add(terminal: Terminal, tmp_path: Path) -> None:
    terminal.brain.outcomes = [
        FileOutcome(Path("/papers/a.txt"), "added", 3),
        FileOutcome(Path("/papers/b.txt"), "duplicate", 1, "The same text as lease.pdf."),
        FileOutcome(Path(f"/papers/{HOSTILE}"), "failed", None, "It cannot be read: \x1b[2J"),
        FileOutcome(Path("/papers/~$c.docx"), "ignored", None, "a lock file"),
    ]
    result = terminal.run("add", str(tmp_path))
    rows = [_cells(line) for line in result.stdout.splitlines()]
    assert ["added", "3", "/papers/a.txt"] in rows
    assert ["duplicate", "1", "/papers/b.txt", "The same text as lease.pdf."] in rows
    assert ["ignored", "/papers/~$c.docx", "a lock file"] in rows
    assert result.stdout.endswith("4 files: 1 added, 1 duplicate, 1 failed, 1 ignored\n")
    assert result.exit_code == 1
    assert "\x1b" not in result.output
    assert result.stderr.splitlines() == [
        "1/4 added /papers/a.txt",
        "2/4 duplicate /papers/b.txt",
        r"3/4 failed /papers/bill\n\x1b[31mNotice: all is well\u202e.pdf",
        "4/4 ignored /papers/~$c.docx",
    ]


@pytest.mark.parametrize("outcome", ["added", "replaced", "unchanged", "duplicate", "ignored"])
def test_add_exits_with_0_unless_a_file_failed(
    terminal: Terminal, tmp_path: Path, outcome: str
) -> None:
    terminal.brain.outcomes = [FileOutcome(tmp_path / "a", outcome, 1)]  # type: ignore[arg-type]
    result = terminal.run("add", str(tmp_path))
    assert result.exit_code == 0
    assert result.stdout.endswith(f"1 file: 1 {outcome}\n")


def test_add_of_many_files_lists_those_with_something_to_say(
    terminal: Terminal, tmp_path: Path
) -> None:
    terminal.brain.outcomes = [
        FileOutcome(Path(f"/papers/{number}.txt"), "added", number) for number in range(1, 41)
    ] + [FileOutcome(Path("/papers/x.pdf"), "added", 41, "Page 2 was not read.")]
    shown = terminal.run("add", str(tmp_path)).stdout
    assert "Page 2 was not read." in shown
    assert "/papers/7.txt" not in shown
    assert shown.endswith("41 files: 41 added\n")


def test_add_of_an_empty_folder(terminal: Terminal, tmp_path: Path) -> None:
    result = terminal.run("add", str(tmp_path))
    assert (result.exit_code, result.stdout) == (0, "There is no file in it.\n")


def test_add_of_paths_that_do_not_exist(terminal: Terminal, tmp_path: Path) -> None:
    missing = tmp_path / "nothing\n.pdf"
    result = terminal.run("add", str(missing))
    assert result.exit_code == 1
    assert result.stderr == f"emily: There is no such file or folder: {str(missing)!r}\n"
    assert terminal.brain.asked == []


def test_add_goes_on_if_one_of_the_paths_exists(terminal: Terminal, tmp_path: Path) -> None:
    terminal.run("add", str(tmp_path), str(tmp_path / "nothing.pdf"))
    assert terminal.brain.asked == [("add", str(tmp_path), str(tmp_path / "nothing.pdf"))]


def test_add_interrupted_says_what_is_kept(terminal: Terminal, tmp_path: Path) -> None:
    terminal.brain.outcomes = [
        FileOutcome(Path("/papers/a.txt"), "added", 3),
        FileOutcome(Path("/papers/b.txt"), "added", 4),
    ]
    terminal.brain.stops_after = 1
    result = terminal.run("add", str(tmp_path))
    assert result.exit_code == 130
    assert "/papers/a.txt" in result.stdout
    assert result.stderr.endswith(
        "emily: Interrupted. 1 of 2 files was finished and is kept. Run the same command again "
        "to go on.\n"
    )
    terminal.brain.stops_after = 0
    assert "Interrupted. No file was finished." in terminal.run("add", str(tmp_path)).stderr


def test_list(terminal: Terminal) -> None:
    terminal.brain.documents[3] = replace(RECIPE, id=3, name=HOSTILE, language=None)
    shown = terminal.run("list").stdout
    rows = [_cells(line) for line in shown.splitlines()]
    assert [
        *("1", "lease.pdf", "pdf", "en", "2026-02-27", "2", "2026-03-01", "/papers/lease.pdf")
    ] in rows
    assert "\x1b" not in shown
    assert shown.endswith("3 documents\n")


def test_list_of_an_empty_archive(terminal: Terminal) -> None:
    terminal.brain.documents.clear()
    assert terminal.run("list").stdout == "The archive is empty. Add files with: emily add PATH\n"


def test_show(terminal: Terminal) -> None:
    rows = [_cells(line) for line in terminal.run("show", "lease.pdf").stdout.splitlines()]
    for expected in (
        ["name", "lease.pdf"],
        ["title", "Lease"],
        ["author", "Ada"],
        ["date", "2026-02-27 (from its text)"],
        ["to", "Bruno"],
        ["holds", "document 2, torta.md"],
        ["size", "48.2 kB"],
        ["path", "/papers/lease.pdf"],
        ["path", "/backup/lease.pdf"],
        ["routes", "text: 1, blank: 1"],
        ["2", "blank", "0", "The page has no ink."],
        ["Warning: Page 2 is blank."],
    ):
        assert expected in rows


def test_remove_puts_into_the_trash_and_asks_nobody(terminal: Terminal) -> None:
    result = terminal.run("remove", "lease.pdf")
    assert (result.exit_code, result.stdout) == (
        0,
        "Document 1 is in the trash: lease.pdf, and 1 inside of it\n"
        "Bring it back with: emily trash restore 1\n",
    )
    assert LEASE.id not in terminal.brain.documents


def test_forgetting_at_once_asks_on_a_terminal(terminal: Terminal) -> None:
    terminal.answers = "n\n"
    result = terminal.run("remove", "lease.pdf", "--now")
    assert result.exit_code == 1
    assert "Forget document 1, lease.pdf, and the 1 document inside of it? [y/N]" in result.stderr
    assert result.stderr.endswith("emily: Nothing was removed.\n")
    assert LEASE.id in terminal.brain.documents
    terminal.answers = "y\n"
    result = terminal.run("remove", "lease.pdf", "--now")
    assert (result.exit_code, result.stdout) == (
        0,
        "Document 1 is forgotten: lease.pdf\n"
        "A copy can remain in backups and exports that you made.\n",
    )
    assert LEASE.id not in terminal.brain.documents


@pytest.mark.parametrize("answer", ["", "\n", "no\n", "maybe\n"])
def test_forgetting_takes_only_a_yes(terminal: Terminal, answer: str) -> None:
    terminal.answers = answer
    result = terminal.run("remove", "1", "--now", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["error"]["message"] == "Nothing was removed."
    assert LEASE.id in terminal.brain.documents


def test_forgetting_needs_yes_off_a_terminal(terminal: Terminal) -> None:
    result = terminal.run("remove", "lease.pdf", "--now")
    assert result.exit_code == 1
    assert result.stderr == (
        "emily: Forgetting 'lease.pdf' needs --yes where there is no terminal to ask on.\n"
    )
    assert terminal.brain.asked == []
    assert terminal.run("remove", "lease.pdf", "--now", "--yes").exit_code == 0


def test_reindex(terminal: Terminal) -> None:
    assert terminal.run("reindex").stdout == "1 document was indexed anew.\n"
    terminal.brain.status_now = replace(terminal.brain.status_now, stale=0)
    assert terminal.run("reindex").stdout == "Nothing was stale.\n"


def test_a_worker_indexes_anew_behind_the_scenes(terminal: Terminal) -> None:
    terminal.brain.work.workers = 1
    said = terminal.run("reindex", "--stale").stdout.replace("\n", " ")
    assert said.startswith("A worker indexes 3 documents anew; emily status shows what is left")
    assert terminal.brain.mending.asked
    said = terminal.run("reindex", "--stop").stdout
    assert said == "Stopped.\n3 documents stale. Go on with: emily reindex\n"
    assert terminal.run("reindex", "--stop").stdout.startswith("No worker was asked to.")
    assert terminal.run("reindex", "--here").stdout == "1 document was indexed anew.\n"
    assert "not both" in terminal.run("reindex", "--here", "--stop").stderr


def test_status(terminal: Terminal) -> None:
    lines = terminal.run("status").stdout.splitlines()
    rows = [_cells(line) for line in lines]
    assert ["database", "embedded PostgreSQL 18.6, running, 9.7 MB"] in rows
    assert ["languages", "en: 1, it: 1"] in rows
    assert lines[-2:] == [
        "Problem: 1 document is stale.",
        "Alert: reranker (critical): The reranker cannot be loaded.",
    ]


def test_doctor(terminal: Terminal) -> None:
    result = terminal.run("doctor")
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "ok    database: runs",
        "FAIL  ocr: not installed",
        "      mend it with: pip install --force-reinstall rapidocr",
    ]
    unjudged = Check("arms", True, "not enough searches yet", judged=False)
    terminal.brain.checks = [*terminal.brain.checks[:1], unjudged]
    result = terminal.run("doctor")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "ok    database: runs",
        "-     arms: not enough searches yet",
    ]


def test_stop(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    assert terminal.run("stop").stdout == "The database server is stopped.\n"
    terminal.server_runs = False
    assert terminal.run("stop").stdout == "No server was running.\n"
    monkeypatch.setenv("EMILY_DATABASE_URL", "postgresql://ada:secret@db.example/emily")
    terminal.server_runs = True
    assert "left alone" in terminal.run("stop").stdout


def test_version(terminal: Terminal) -> None:
    assert terminal.run("version").stdout == terminal.run("--version").stdout
    assert re.fullmatch(r"emily \d+\.\d+\.\d+\S*\n", terminal.run("version").stdout)
