"""Tables of the reading benchmark, and outcomes of files."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.reading_metrics import Truth
from benchmarks.reading_outcomes import OUTCOMES, Outcome, judged, refused, table
from benchmarks.reading_tables import Row, explained, put_into, worst
from benchmarks.reading_tables import table as figures
from benchmarks.reading_tools import Given
from benchmarks.reading_truth import Case

from emily.errors import (
    EmptyDocument,
    LimitExceeded,
    PasswordRequired,
    ReadingError,
    UnsupportedKind,
)
from emily.reading.pages import Page, PictureReading, Reading


def row(emily: str | None, other: str | None) -> Row:
    case = Case(Path("a.docx"), "folder/a.docx", "docx", Truth("oak elm ash fir", kind="runs"))
    found = Row(case)
    found.add("emily", Given(emily, None if emily else "failed: broken"))
    found.add("pandoc", Given(other))
    return found


def test_the_best_of_each_figure_is_bold() -> None:
    line = figures([row("oak elm ash fir", "oak elm")], ["emily", "pandoc"])[2]
    assert line == "| docx | 1 | **1.000** **1.000** **1.000** – | .500 **1.000** .500 – |"


def test_files_where_another_is_better_come_with_the_words() -> None:
    lines = "\n".join(worst([row("oak elm", "oak elm ash fir")], 5, diff=True))
    assert "1 of 1 files" in lines
    assert "emily lacks: ash fir" in lines
    assert "better: recall, order" in lines


def test_a_tie_is_not_behind() -> None:
    assert worst([row("oak elm", "oak elm")], 5, diff=False)[0].startswith("0 of 1")
    assert explained([row("oak elm ash fir", "oak")]) == ["0 of 1 files."]


def test_what_is_behind_is_grouped_by_reason() -> None:
    lines = explained([row(None, "oak elm ash fir")])
    assert lines[0] == "1 of 1 files."
    assert any("recall pandoc +1.000" in line for line in lines)


def test_a_document_takes_the_tables_between_its_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("head\n<!-- measured -->\nold\n<!-- /measured -->\ntail\n")
    put_into(page, ["new"])
    put_into(page, ["newer"])
    assert page.read_text() == "head\n<!-- measured -->\n\nnewer\n\n<!-- /measured -->\ntail\n"
    page.write_text("none")
    with pytest.raises(SystemExit, match="no lines"):
        put_into(page, ["x"])


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (PasswordRequired("x"), "needs a password"),
        (EmptyDocument("x"), "empty"),
        (LimitExceeded("x"), "limit"),
        (UnsupportedKind("x"), "unsupported"),
        (ReadingError("the PDF is truncated"), "failed"),
        (ReadingError("its parser crashed (SIGSEGV)"), "crash"),
        (ReadingError("its parser failed: KeyError"), "crash"),
        (ReadingError("no text was found in the 1 pages of this pdf."), "scanned"),
    ],
)
def test_every_error_is_an_outcome(error: ReadingError, outcome: str) -> None:
    assert refused(error) == outcome
    assert outcome in OUTCOMES


def test_a_warning_or_an_unread_picture_makes_it_in_part() -> None:
    page = Page(1, "text")
    assert judged(Reading("docx", (page,), "none")) == ("read", "")
    assert judged(Reading("docx", (page,), "none", warnings=("x",))) == ("in part", "x")
    picture = PictureReading(b"0" * 32, 1, "unread")
    outcome, reason = judged(Reading("docx", (page,), "none", pictures=(picture,)))
    assert (outcome, reason) == ("in part", "1 of 1 pictures were not read.")


def test_outcomes_are_counted_by_format() -> None:
    outcomes = [Outcome("a", "pdf", "read", "", 1, 1), Outcome("b", "pdf", "crash", "x", 1, 1)]
    lines = table(outcomes)
    assert lines[2] == "| pdf | 2 | 1 |  |  |  |  |  |  |  | 1 |"
    assert lines[-1].startswith("| **all** | 2 |")
