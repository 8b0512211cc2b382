"""The link graph in a search: what is linked with a match comes up, and says by which link."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from tests.fakes import WordsEmbedder

from emily.brain import Brain
from emily.retrieval.answer import Answer, Result
from emily.retrieval.rendering import render

Write = Callable[[str, str], Path]

NOTES = {
    "harbour.md": "# Harbour\n\nTimetable of the ferry in winter.\n\nSee [[Skipper]] for more.\n",
    "people/Skipper.md": "# Skipper\n\nAnna answers under 0445 22.\n",
    "index.md": "# Index\n\n[[harbour]] [[Skipper]] [[oven]] [[roof]] [[lamp]]\n",
    "oven.md": "# Oven\n\nBake at two hundred degrees. #kitchen\n",
    "roof.md": "# Roof\n\nSlates were replaced in May. #house\n",
    "lamp.md": "# Lamp\n\nTakes a small bulb. #kitchen\n",
    "broken.md": "# Broken\n\nIt leads to [[Nowhere at all]] and [[oven#No such part]].\n",
}


@pytest.fixture
def embedder() -> WordsEmbedder:
    return WordsEmbedder(dimension=512)


@pytest.fixture
async def brain(
    open_brain: Callable[..., Awaitable[Brain]],
    embedder: WordsEmbedder,
    folder: Path,
    write: Write,
) -> Brain:
    for name, text in NOTES.items():
        write(name, text)
    # The embedder's cosines are not those that the gate was fitted to.
    opened = await open_brain(embedder, threshold=0.2, arm_size=1, pool_size=1)
    await opened.vaults.add(folder, name="notes")
    return opened


def _by_name(answer: Answer, name: str) -> Result | None:
    return next((item for item in answer.results if item.document.name == name), None)


@pytest.mark.parametrize("preset", ["default", "vault"])
async def test_a_note_without_the_words_comes_up_by_its_link(brain: Brain, preset: str) -> None:
    answer = await brain.search("winter ferry timetable", preset=preset, limit=8)
    assert answer.results[0].document.name == "harbour.md"
    skipper = _by_name(answer, "Skipper.md")
    assert skipper is not None
    if preset == "vault":  # so small a vault is in its pool whole
        return
    assert skipper.via is not None
    assert skipper.via.text == "linked from harbour.md, line 5: [[Skipper]]"
    assert "Anna answers" in skipper.passages[0].text
    assert "Shown for its link" in answer.text


async def test_backlinks_count_and_say_so(brain: Brain) -> None:
    answer = await brain.search("Anna answers under 0445 22", limit=8)
    assert answer.results[0].document.name == "Skipper.md"
    harbour = _by_name(answer, "harbour.md")
    assert harbour is not None
    assert harbour.via is not None
    assert harbour.via.text == "links to Skipper.md, line 5: [[Skipper]]"


async def test_a_hub_does_not_rise_above_a_neighbour(brain: Brain) -> None:
    answer = await brain.search("winter ferry timetable", limit=8)
    names = [item.document.name for item in answer.results]
    assert "index.md" not in names or names.index("Skipper.md") < names.index("index.md")


async def test_without_places_no_link_is_followed(
    open_brain: Callable[..., Awaitable[Brain]], brain: Brain, embedder: WordsEmbedder
) -> None:
    other = await open_brain(embedder, threshold=0.2, link_places=0, arm_size=1, pool_size=1)
    answer = await other.search("winter ferry timetable", limit=8)
    assert [item.document.name for item in answer.results] == ["harbour.md"]


async def test_a_shared_tag_is_a_weak_link(brain: Brain) -> None:
    answer = await brain.search("bake two hundred degrees", limit=8)
    lamp = _by_name(answer, "lamp.md")
    assert lamp is not None
    assert lamp.via is not None
    assert "kitchen" in lamp.via.text or "index" in lamp.via.text


async def test_links_work_while_the_embedder_is_down(brain: Brain, embedder: WordsEmbedder) -> None:
    embedder.down = True
    answer = await brain.search("winter ferry timetable", limit=8)
    assert _by_name(answer, "Skipper.md") is not None


async def test_a_filter_holds_for_linked_notes_too(brain: Brain, folder: Path) -> None:
    from emily.brain import parse_filters

    inside = parse_filters(folder=folder / "people")
    answer = await brain.search("Anna answers under 0445 22", filters=inside, limit=8)
    assert [item.document.name for item in answer.results] == ["Skipper.md"]


async def test_links_follow_files_that_come_go_and_move(
    brain: Brain, folder: Path, rows: Callable[..., list[tuple[object, ...]]]
) -> None:
    def led() -> set[tuple[object, ...]]:
        return set(
            rows(
                "SELECT s.path, l.target, t.path FROM vault_link l "
                "JOIN vault_file s ON s.id = l.file_id "
                "LEFT JOIN vault_file t ON t.id = l.target_id "
                "WHERE l.kind <> 'tag'"
            )
        )

    assert ("broken.md", "Nowhere at all", None) in led()
    (folder / "Nowhere at all.md").write_text("Here now.\n", encoding="utf-8")
    (folder / "people/Skipper.md").rename(folder / "Skipper.md")
    (folder / "roof.md").unlink()
    await brain.search("anything")
    assert ("broken.md", "Nowhere at all", "Nowhere at all.md") in led()
    assert ("harbour.md", "Skipper", "Skipper.md") in led()
    assert ("index.md", "roof", None) in led()
    (folder / "oven.md").write_text("# Oven\n\n## No such part\n\nNow it is.\n", encoding="utf-8")
    await brain.search("anything")
    assert rows("SELECT problem FROM vault_link WHERE heading = 'No such part'") == [(None,)]


async def test_lines_are_numbered_and_cited_by_path(brain: Brain, folder: Path) -> None:
    answer = await brain.search("winter ferry timetable")
    text = render(answer.results, ())
    assert f"--- {folder}/harbour.md:1" in text
    assert "3: Timetable of the ferry in winter." in text
    assert answer.results[0].passages[0].focus_line == 1
