"""The cases of Markdown folders, each in a vault of the database."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import WordsEmbedder

from emily.brain import Brain

Write = Callable[[str, str], Path]
Rows = Callable[..., list[tuple[Any, ...]]]

FENCE = "# Shell\n\n```sh\n# no heading\n[[ -f x ]] && echo yes\n```\n\nAfter the fence.\n"
FOUR = "# Nested\n\n````md\n```\n# inner\n```\n## not one\n````\n\n## C#\n\nA language.\n"

HEADINGS = [
    ("a # inside of a fence is no heading", FENCE, ["Shell"]),
    ("a fence of four backticks holds three; C# keeps its #", FOUR, ["Nested", "C#"]),
]
FRONT = [
    ("front matter that is not valid YAML", "---\ntitle: [unclosed\n---\n\nkumquat\n", True),
    (
        "a title that looks like a date is a string",
        "---\ntitle: 2024-06-01\n---\n\nkumquat\n",
        False,
    ),
    ("a leading rule is a rule", "---\n\nkumquat between rules\n\n---\n", False),
]
LINKS = [
    ("[[beta|B]]", "beta.md"),
    ("[[beta#Part]]", "beta.md"),
    ("![[x.png]]", "x.png"),
    ("[[folder/alpha.md]]", "folder/alpha.md"),
]


@pytest.fixture
async def brain(open_brain: Callable[..., Awaitable[Brain]]) -> Brain:
    return await open_brain(WordsEmbedder())


@pytest.mark.parametrize(("case", "text", "headings"), HEADINGS, ids=[item[0] for item in HEADINGS])
async def test_headings(
    brain: Brain, folder: Path, write: Write, rows: Rows, case: str, text: str, headings: list[str]
) -> None:
    write("a.md", text)
    await brain.vaults.add(folder)
    assert rows("SELECT headings FROM vault_file") == [(headings,)], case
    assert rows("SELECT count(*) FROM vault_link") == [(0,)]


@pytest.mark.parametrize(("case", "text", "broken"), FRONT, ids=[item[0] for item in FRONT])
async def test_front_matter(
    brain: Brain, folder: Path, write: Write, rows: Rows, case: str, text: str, broken: bool
) -> None:
    path = write("a.md", text)
    await brain.vaults.add(folder, name="notes")
    found = await brain.search("kumquat")
    assert found.results[0].document.name == "a.md", case
    status = (await brain.vaults.vaults())[0]
    assert bool(status.problems) is broken
    if "2024" in text:
        assert rows("SELECT title FROM document") == [("2024-06-01",)]
    assert path.read_text(encoding="utf-8") == text


async def test_links_lead_where_they_say(
    brain: Brain, folder: Path, write: Write, rows: Rows
) -> None:
    write("beta.md", "# Beta\n\n## Part\n\nText.\n")
    write("folder/alpha.md", "# Alpha\n\nText.\n")
    (folder / "x.png").write_bytes(b"not a picture")
    write("all.md", "\n\n".join(link for link, _ in LINKS) + "\n\n`[[ -f x ]]`\n")
    await brain.vaults.add(folder)
    led = rows(
        "SELECT t.path, l.problem FROM vault_link l JOIN vault_file t ON t.id = l.target_id "
        "ORDER BY l.ordinal"
    )
    assert led == [(target, None) for _, target in LINKS]


async def test_what_lies_outside_or_is_hidden_is_not_read(
    brain: Brain, folder: Path, write: Write, tmp_path: Path
) -> None:
    (tmp_path / "secret.md").write_text("kumquat secret", encoding="utf-8")
    (folder / "out.md").symlink_to(tmp_path / "secret.md")
    write(".obsidian/a.md", "kumquat")
    write(".trash/b.md", "kumquat")
    write(".emilyignore", "drafts/\n")
    write("drafts/c.md", "kumquat")
    write("d.md", "Only this one.")
    report = await brain.vaults.add(folder)
    assert report.added == ("d.md",)
    assert {path for path, _ in report.skipped} >= {"out.md", "drafts"}
    found = (await brain.search("kumquat", threshold=0)).results
    assert {item.document.name for item in found} <= {"d.md"}
