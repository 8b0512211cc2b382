"""Vaults that people keep: every link that exists resolves, and no file is changed.

What links there are is counted a second time, from the tokens of markdown-it-py and the names of
files alone; obsidian-export's tests say where links of Obsidian lead.
"""

import hashlib
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

import pytest
import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from emily.vault.cache import open_cache
from emily.vault.engine import search
from emily.vault.linking import LedLink, lead
from emily.vault.notes import Note, read_note
from emily.vault.passages import passages
from emily.vault.resolving import Resolver, Target, target_of
from emily.vault.walk import read_bytes, walk

ROOT = Path(__file__).parents[2]
VAULTS = Path(os.environ.get("EMILY_BENCH_DATA", ROOT.parent / "shared" / "data")) / "vaults"
_CASES = VAULTS / "obsidian-export-tests"
# Links in the vault; files that they lead to are elsewhere, or never were.
KNOWN = {
    "foam/docs": (87, 13),
    "kepano": (104, 62),
    "obsidian-export-tests/input": (44, 3),
    "rubensab-sapienza": (189, 28),
}

pytestmark = pytest.mark.skipif(
    not VAULTS.is_dir(), reason=f"no vaults in {VAULTS} (EMILY_BENCH_DATA)"
)

_JUDGE = MarkdownIt("commonmark")
_WIKI = re.compile(r"!?\[\[([^\[\]\n]+?)\]\]")
# For the judge a wikilink is in signs of its own, not a link reference between brackets.
_MARKED = re.compile("⟦([^⟦⟧\n]+?)⟧")


def _notes(folder: Path) -> tuple[dict[str, Note], Resolver]:
    found = walk(folder)
    notes = {
        file.path: read_note(file.path, read_bytes(folder, file.path))
        for file in found.files
        if file.kind != "attachment"
    }
    others = [Target(file.path) for file in found.files if file.kind == "attachment"]
    return notes, Resolver([*map(target_of, notes.values()), *others])


def _hashes(folder: Path) -> dict[str, str]:
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _named_in(text: str) -> Iterator[str]:
    """The targets of a note by the judge: wikilinks of its text and fields, and Markdown links."""
    head = re.match(r"---\n(.*?)\n---\n", text, re.DOTALL)
    if head:
        yield from (found.split("\\|")[0] for found in _WIKI.findall(head[1]))
        text = text[head.end() :]
    for token in _JUDGE.parse(text.replace("[[", "⟦").replace("]]", "⟧")):
        if token.type == "inline":
            yield from _of_inline(token.children or [])


def _of_inline(children: list[Token]) -> Iterator[str]:
    shown = ""
    for child in children:
        if child.type == "link_open":
            yield "(" + unquote(str(child.attrs["href"]))
        elif child.type == "image":
            yield "(" + unquote(str(child.attrs["src"]))
        if child.type in ("code_inline", "softbreak", "hardbreak"):
            shown += "\n"
        elif child.type == "text":
            shown += child.content
        elif child.markup in ("*", "**", "_", "__"):
            shown += child.markup
    yield from _MARKED.findall(shown)


def _key(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


def _exists(named: str, source: str, files: set[str]) -> bool:
    """Whether a file goes by the name, by the plainest possible rule."""
    relative = named.startswith("(")
    target = named.lstrip("(").replace("\\|", "|").split("|")[0].split("#")[0].strip()
    if not target:
        return False
    if relative:
        joined = os.path.normpath(str(PurePosixPath(source).parent / target))
        if {_key(joined), _key(joined + ".md")} & files:
            return True
    ends = (_key("/" + target), _key("/" + target + ".md"))
    return any(("/" + file).endswith(ends) for file in files)


@pytest.mark.parametrize("name", KNOWN)
def test_every_link_that_exists_resolves(name: str) -> None:
    folder = VAULTS / name
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there")
    before = _hashes(folder)
    notes, resolver = _notes(folder)
    files = {_key(file.path) for file in walk(folder).files}
    missing, more = [], []
    judged = resolved = 0
    for path, note in notes.items():
        led = [each for each in lead([note], resolver) if each.resolution.path is not None]
        ours = Counter(_key(each.link.target) for each in led if each.link.target)
        resolved += sum(ours.values())
        for named in _named_in(note.text):
            if re.match(r"\(([a-z][a-z0-9+.-]+:|//|#)", named, re.IGNORECASE):
                continue
            if not _exists(named, path, files):
                continue
            judged += 1
            target = _key(named.lstrip("(").split("\\|")[0].split("|")[0].split("#")[0].strip())
            if not ours[target]:
                missing.append((path, named))
            ours[target] -= 1
        more += [(path, target) for target, times in ours.items() if times > 0]
    assert missing == []
    assert more == []
    assert judged == resolved
    assert judged > 30
    nowhere = sum(
        each.resolution.path is None and each.link.kind != "field"
        for each in lead(notes.values(), resolver)
    )
    assert (len(notes), nowhere) == KNOWN[name]
    assert _hashes(folder) == before


@pytest.mark.parametrize("name", KNOWN)
def test_a_search_reads_every_line_and_changes_none(name: str, tmp_path: Path) -> None:
    folder = VAULTS / name
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there")
    before = _hashes(folder)
    notes, _ = _notes(folder)
    for note in notes.values():
        assert "".join(each.text for each in passages(note)) == note.text
    for _ in range(2):
        opened = open_cache(folder, tmp_path)
        assert search(opened, "note link").documents == len(notes)
        assert [each for each in opened.left_out if each.state == "failed"] == []
        opened.close()
    assert _hashes(folder) == before


def test_broken_front_matter_is_reported_and_nothing_else() -> None:
    for name in KNOWN:
        for path, note in _notes(VAULTS / name)[0].items():
            head = "\n".join(note.lines[1 : max(note.front.lines - 1, 1)])
            try:
                judged = yaml.load(head, Loader=yaml.BaseLoader)
            except (yaml.YAMLError, TypeError):
                assert note.front.problems, path
            else:
                assert not note.problems, path
                assert dict(note.front.fields) == (judged or {}), path


def _expected() -> list[tuple[Path, Path]]:
    """Files that obsidian-export wrote, each with the note it was made of."""
    found = []
    for case in sorted((_CASES / "expected").iterdir()) if _CASES.is_dir() else ():
        folder = _CASES / "input" / case.name
        for written in sorted(case.rglob("*.md")):
            source = folder / written.relative_to(case)
            if not source.exists():
                names = {_key(each.name): each for each in folder.rglob("*.md")}
                # Accents may be composed in one of them. One input was written several times.
                if _key(written.name) not in names:
                    continue
                source = names[_key(written.name)]
            found.append((written, source))
    return found


def _reached(path: str, led: dict[str, list[LedLink]], seen: set[str]) -> set[str]:
    """Where a note's links lead, those of notes that it shows in place among them."""
    targets = set()
    for each in led.get(path, ()):
        if each.resolution.path is not None:
            targets.add(each.resolution.path)
            if each.link.embed and each.resolution.path not in seen:
                seen.add(each.resolution.path)
                targets |= _reached(each.resolution.path, led, seen)
    return targets


def test_links_lead_where_obsidian_export_leads_them() -> None:
    compared = 0
    for written, source in _expected():
        folder = _CASES / "input" / written.relative_to(_CASES / "expected").parts[0]
        notes, resolver = _notes(folder)
        led = {path: list(lead([note], resolver)) for path, note in notes.items()}
        path = source.relative_to(folder).as_posix()
        files = {_key(file.path): file.path for file in walk(folder).files}
        expected = set()
        for token in _JUDGE.parse(written.read_text("utf-8")):
            for child in token.children or ():
                if child.type in ("link_open", "image"):
                    name = "href" if child.type == "link_open" else "src"
                    target = unquote(str(child.attrs[name])).split("#")[0]
                    joined = os.path.normpath(str(PurePosixPath(path).parent / target))
                    if target and _key(joined) in files:
                        expected.add(files[_key(joined)])
        assert expected <= _reached(path, led, {path}), written
        links = [each for each in led[path] if not each.link.embed and each.link.kind == "wiki"]
        for each in links if written.parts[-2] != "single-file" else ():  # written without others
            if each.resolution.path is not None:
                assert each.resolution.path in expected, (written, each.link.target)
                compared += 1
    assert compared >= 25
