"""``why``, ``alerts``, ``queries``, ``pin`` and ``pins`` as people read them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.unit.cli.fake_brain import QUERY

if TYPE_CHECKING:
    from tests.unit.cli.conftest import Terminal


def _rows(text: str) -> list[list[str]]:
    return [[cell for cell in line.split("  ") if cell.strip()] for line in text.splitlines()]


def test_alerts_say_since_when_and_how_often(terminal: Terminal) -> None:
    printed = terminal.run("alerts").stdout
    assert "critical" in printed
    assert "The reranker cannot be loaded." in printed
    assert "resolved" not in printed
    assert "resolved" in terminal.run("alerts", "--all").stdout
    terminal.brain.alerts.found = []
    assert terminal.run("alerts").stdout == "No alert is open.\n"


def test_queries_are_listed_and_cleared(terminal: Terminal) -> None:
    terminal.brain.queries.kept = [replace(QUERY, text="rent\x1b[31m")]
    lines = terminal.run("queries").stdout.splitlines()
    assert lines[-1] == "1 of 1 question"
    assert any("rent\\x1b[31m" in line and "82%" in line for line in lines)
    assert terminal.brain.asked == [("recent", 20)]
    assert terminal.run("queries", "--clear").stdout == "1 question taken out of the log.\n"
    assert terminal.run("queries").stdout == "The log holds no question.\n"


def test_one_question_is_forgotten(terminal: Terminal) -> None:
    assert terminal.run("queries", "--forget", "7").exit_code == 0
    assert ("clear", 7) in terminal.brain.asked
    both = terminal.run("queries", "--forget", "7", "--clear")
    assert both.exit_code == 1
    assert "not both" in both.stderr


def test_a_log_that_is_off_is_said_to_be(terminal: Terminal, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("EMILY_QUERY_LOG", "false")
    assert "the setting query_log is off" in terminal.run("queries").stdout


def test_a_pinned_question_tells_what_it_finds(terminal: Terminal) -> None:
    found = terminal.run("pin", "rent of the flat", "--doc", "1")
    assert (
        found.stdout
        == "Pinned as 4: rent of the flat\nIt finds its document at place 1: lease.pdf\n"
    )
    assert found.exit_code == 0
    lost = terminal.run("pin", "plan of the flat", "--doc", "2")
    assert "does not find its document, lost by: fusion" in lost.stdout
    assert lost.exit_code == 1


def test_pins_are_listed_asked_and_removed(terminal: Terminal) -> None:
    listed = terminal.run("pins")
    assert listed.exit_code == 0
    assert "plan of the flat" in listed.stdout
    assert ("check",) not in terminal.brain.asked
    assert terminal.run("pins", "--check").exit_code == 1
    assert "No longer pinned: plan of the flat" in terminal.run("pins", "--remove", "5").stdout
    assert terminal.run("pins", "--check").exit_code == 0
    terminal.brain.pins.kept = []
    assert "Pin one with: emily pin QUESTION --doc DOC" in terminal.run("pins").stdout


def test_notices_of_a_change_are_printed(terminal: Terminal) -> None:
    terminal.brain.notices = ("The pinned question 'rent' no longer finds lease.pdf.",)
    notice = "Notice: The pinned question 'rent' no longer finds lease.pdf."
    assert notice in terminal.run("reindex").stdout.splitlines()
    assert notice in terminal.run("remove", "1", "--yes").stdout.splitlines()


def test_why_says_what_became_of_a_document(terminal: Terminal) -> None:
    lines = terminal.run(
        "why", "rent of the flat", "--doc", "2", "--lang", "it"
    ).stdout.splitlines()
    assert terminal.brain.filters.languages == ("it",)
    assert lines[0] == terminal.brain.explanation.verdict
    assert lines[1] == "- The question is in en and the document in it."
    cells = [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in lines]
    assert ["rent", "2 times"] in cells
    assert ["flat", "only as casa, piano"] in cells
    assert ["lake", "not at all"] in cells
    assert ["fusion", "21", "0.2", "20", "lost"] in cells
    assert ["vector_arm", "3", "0.25", "20", "kept"] in cells
    assert ["second_stage"] in cells
    assert "- The fusion has it at 21 of 30." in lines
    assert ["1", "1", "lease.pdf", "0.7"] in cells
    assert "Evidence of its best chunk: part 0.25, coverage 0.5" in lines
    assert lines[-3:] == [
        "Quote: The words are cut.",
        "What would help: With pool_size >= 21 it is shown, at 2.",
        "Notice: 1 of 2 documents were indexed with other settings.",
    ]
