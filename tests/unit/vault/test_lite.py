"""``emily lite``: a folder is searched with nothing but Python, and never written to."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import emily.vault.lite as lite
from emily.cli.contract import SCHEMA_VERSION
from emily.vault.cache import open_cache
from emily.vault.engine import search

_LITE = Path(lite.__file__)


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "house").mkdir(parents=True)
    (folder / ".obsidian").mkdir()
    (folder / ".obsidian" / "hidden.md").write_text("The boiler is hidden here.", "utf-8")
    (folder / "house" / "Boiler.md").write_text(
        "---\ntags: [house]\n---\n# Boiler\n\nServiced in March.\n\n## Pressure\n\n"
        "The pressure must stay at 1.5 bar. See [[Plumber]].\n",
        "utf-8",
    )
    (folder / "Plumber.md").write_text("# Plumber\n\nCall in the morning.\n", "utf-8")
    (folder / "Garden.md").write_text("# Garden\n\nRoses and a perché.\n", "utf-8")
    (folder / "Empty stub.md").write_text("", "utf-8")
    return folder


def _run(
    folder: Path, *arguments: str, cache: Path | None = None
) -> subprocess.CompletedProcess[str]:
    kept = ["--cache", str(cache)] if cache else ["--no-cache"]
    command = [sys.executable, "-I", "-S", str(_LITE), str(folder), *arguments, *kept]
    return subprocess.run(command, capture_output=True, text=True, check=False, encoding="utf-8")


def _hashes(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_checkout_answers_without_any_package(vault: Path, tmp_path: Path) -> None:
    before = _hashes(vault)
    done = _run(vault, "boiler pressure", cache=tmp_path / "cache")
    assert done.returncode == 0, done.stderr
    assert "house/Boiler.md:10  Boiler › Pressure" in done.stdout
    assert "   10  The pressure must stay at 1.5 bar." in done.stdout
    assert "By words and links only" in done.stderr
    assert "hidden" not in done.stdout
    assert _hashes(vault) == before
    assert [path.suffix for path in (tmp_path / "cache").iterdir()] == [".sqlite3"]


def test_a_linked_note_comes_up_and_says_by_which_link(vault: Path) -> None:
    found = json.loads(_run(vault, "boiler pressure", "--json").stdout)["results"]
    assert [each["path"] for each in found] == ["house/Boiler.md", "Plumber.md"]
    assert found[0]["lead"] is None
    assert found[1]["words"] == 0
    assert found[1]["lead"] == {
        "path": "house/Boiler.md", "title": "Boiler", "kind": "wiki", "line": 10, "forward": True
    }  # fmt: skip
    without = json.loads(_run(vault, "boiler pressure", "--json", "--no-links").stdout)["results"]
    assert [each["path"] for each in without] == ["house/Boiler.md"]


def test_json_says_what_is_missing(vault: Path) -> None:
    document = json.loads(_run(vault, "zeppelin", "--json").stdout)
    assert document["schema_version"] == SCHEMA_VERSION
    assert document["results"] == []
    assert document["unknown_terms"] == ["zeppe"]
    assert document["coverage"] == 0
    assert document["documents"] == 4
    assert document["notices"][-1] == "None of 4 notes holds a word of the query."


def test_a_note_without_a_line_is_found_by_its_name(vault: Path) -> None:
    found = json.loads(_run(vault, "empty stub", "--json").stdout)["results"]
    assert found[0]["path"] == "Empty stub.md"
    assert found[0]["passages"][0]["citation"] == "Empty stub.md:1"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["missing", "query"], "Give a folder of notes: missing does not exist."),
        ([".", ""], 'Give a query: emily lite FOLDER "query".'),
        ([".", "a", "--budget", "0"], "--budget must be 1 or more, not 0."),
        ([".", "a", "--limit", "0"], "--limit must be 1 or more, not 0."),
        ([".", "a", "--map"], "Ask for one thing: a query, --links, --map, --terms or --problems."),
    ],
)
def test_bad_input_is_refused(arguments: list[str], said: str, tmp_path: Path) -> None:
    command = [sys.executable, "-I", "-S", str(_LITE), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", said + "\n")


def _paths(vault: Path, cache: Path | None, query: str) -> list[str]:
    opened = open_cache(vault, cache)
    try:
        return [found.path for found in search(opened, query, links=False).found]
    finally:
        opened.close()


def _touch(path: Path, text: str, seconds: int) -> None:
    path.write_text(text, "utf-8")
    os.utime(path, (1_700_000_000 + seconds, 1_700_000_000 + seconds))


def test_edited_moved_and_deleted_notes_are_right_at_once(vault: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    _touch(vault / "Garden.md", "Roses.", 0)
    assert _paths(vault, cache, "roses") == ["Garden.md"]
    _touch(vault / "Garden.md", "Tulip.", 60)  # as long as before
    assert _paths(vault, cache, "roses") == []
    assert _paths(vault, cache, "tulip") == ["Garden.md"]
    (vault / "Garden.md").rename(vault / "house" / "Flowers.md")
    assert _paths(vault, cache, "tulip") == ["house/Flowers.md"]
    (vault / "house" / "Flowers.md").unlink()
    assert _paths(vault, cache, "tulip") == []


def test_what_is_written_in_the_same_tick_is_read_again(vault: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    note = vault / "Garden.md"
    note.write_text("Roses.", "utf-8")
    when = note.stat().st_mtime_ns
    assert _paths(vault, cache, "roses") == ["Garden.md"]
    note.write_text("Tulip.", "utf-8")
    os.utime(note, ns=(when, when))
    assert _paths(vault, cache, "tulip") == ["Garden.md"]


def test_many_edits_give_what_a_new_index_gives(vault: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    for turn in range(40):
        _touch(vault / f"Note {turn % 7}.md", f"# Turn {turn}\n\nboiler {'word ' * turn}", turn)
        opened, fresh = open_cache(vault, cache), open_cache(vault, None)
        kept, new = search(opened, "boiler turn word"), search(fresh, "boiler turn word")
        assert opened.read_now < 12
        assert kept == new
        opened.close()
        fresh.close()


def test_only_what_changed_is_read(vault: Path, tmp_path: Path) -> None:
    for path in vault.rglob("*.md"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    opened = open_cache(vault, tmp_path / "cache")
    assert opened.read_now == 4
    opened.close()
    _touch(vault / "Garden.md", "Tulips.", 60)
    opened = open_cache(vault, tmp_path / "cache")
    assert opened.read_now == 1
    opened.close()
    opened = open_cache(vault, tmp_path / "cache")
    assert opened.read_now == 0
    opened.close()


def test_a_damaged_cache_is_made_anew(vault: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert _paths(vault, cache, "roses") == ["Garden.md"]
    (file,) = cache.iterdir()
    file.write_bytes(b"not a database at all" * 100)
    assert _paths(vault, cache, "roses") == ["Garden.md"]
    file.write_bytes(file.read_bytes()[:5000])
    assert _paths(vault, cache, "roses") == ["Garden.md"]


def test_a_cache_inside_the_vault_is_refused(vault: Path) -> None:
    opened = open_cache(vault, vault / "cache")
    assert opened.notice is not None
    assert "lies inside of the vault" in opened.notice
    assert [found.path for found in search(opened, "roses", links=False).found] == ["Garden.md"]
    opened.close()
    assert not (vault / "cache").exists()


def test_a_cache_that_cannot_be_written_is_told_of(vault: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", "utf-8")
    opened = open_cache(vault, tmp_path / "file")
    assert opened.notice is not None
    assert opened.notice.startswith("Nothing is kept for the next search")
    assert [found.path for found in search(opened, "roses", links=False).found] == ["Garden.md"]
    opened.close()


def test_the_cache_is_as_private_as_the_notes(vault: Path, tmp_path: Path) -> None:
    open_cache(vault, tmp_path / "cache").close()
    (file,) = (tmp_path / "cache").iterdir()
    assert file.stat().st_mode & 0o077 == 0
    assert b"Serviced in March" not in file.read_bytes()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_note_that_cannot_be_read_is_told_of(vault: Path, tmp_path: Path) -> None:
    note = vault / "Garden.md"
    note.chmod(0)
    for _ in range(2):
        opened = open_cache(vault, tmp_path / "cache")
        assert [(each.path, each.reason) for each in opened.left_out] == [
            ("Garden.md", "no permission to read it")
        ]
        opened.close()
    note.chmod(0o600)
    assert _paths(vault, tmp_path / "cache", "roses") == ["Garden.md"]


def test_several_processes_read_the_same(tmp_path: Path) -> None:
    vault = tmp_path / "many"
    vault.mkdir()
    for number in range(2100):
        (vault / f"n{number}.md").write_text(f"# N{number}\n\nshared word{number}\n", "utf-8")
    one, two = open_cache(vault, None, processes=1), open_cache(vault, None, processes=2)
    for query in ("word7", "shared word2099"):
        first, second = search(one, query), search(two, query)
        assert first.found[0] == second.found[0]
        assert first.coverage == second.coverage
    one.close()
    two.close()


def test_views(vault: Path) -> None:
    links = json.loads(_run(vault, "--links", "Plumber", "--json").stdout)
    assert [each["path"] for each in links["backlinks"]] == ["house/Boiler.md"]
    whole = json.loads(_run(vault, "--links", "*", "--json").stdout)
    assert whole["broken"] == []
    assert whole["orphans"] == ["Empty stub.md", "Garden.md"]
    assert "boiler" in _run(vault, "--terms", "boil").stdout
    assert "In no theme: 4 of 4 notes" in _run(vault, "--map").stdout
    assert _run(vault, "--problems").stdout == ""
    unknown = _run(vault, "--links", "Nobody")
    assert (unknown.returncode, unknown.stderr) == (
        1,
        "No note of the folder is called 'Nobody'.\n",
    )
