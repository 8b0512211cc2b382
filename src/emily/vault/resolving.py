"""Which file of the vault a link means.

As Obsidian does it: a path from the vault's root, else a file of that name, those in the note's
own folder and below first, then the shortest path; case, composed or decomposed accents and the
extension ``.md`` do not matter. What no file is called so is looked for among aliases and titles.
Standard library only.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple
from urllib.parse import unquote

from emily.vault.files import MARKDOWN, kind_of
from emily.vault.links import Link
from emily.vault.notes import Note

__all__ = ["Resolution", "Resolver", "Target", "key_of", "target_of"]

_BLOCK = re.compile(r"(?:^|\s)\^([\w-]+)[ \t]*$", re.MULTILINE)
_NOT_COMPARED = re.compile(r"[\s#|^\\:%\[\]*_`~=]+")
_PUNCTUATION = re.compile(r"[^\w\s-]")
_EXTENSIONS = tuple("." + extension for extension in ("md", *sorted(MARKDOWN - {"md"})))


@dataclass(frozen=True, slots=True)
class Target:
    """What a link can mean: a file of the vault and how it is called.

    Attributes:
        path: relative to the vault, with ``/``.
        title: of a note, else ``None``.
        aliases: its other names.
        headings: their texts.
        blocks: names of its marked blocks, lower case.
    """

    path: str
    title: str | None = None
    aliases: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    blocks: frozenset[str] = frozenset()


class Resolution(NamedTuple):
    """Where a link leads.

    Attributes:
        path: the file, ``None`` when there is none.
        by: ``path``, ``name``, ``alias``, ``title``, or ``self`` for a place in the note itself.
        others: further files that the link could as well mean, by the same rule.
        place_found: whether the heading or block that it names is there; true without one.
    """

    path: str | None
    by: Literal["path", "name", "alias", "title", "self"] | None = None
    others: tuple[str, ...] = ()
    place_found: bool = True

    @property
    def is_ambiguous(self) -> bool:
        """Whether several files answer to it."""
        return bool(self.others)


_NOWHERE = Resolution(None)


def target_of(note: Note) -> Target:
    """A note as what a link can mean."""
    blocks: frozenset[str] = frozenset()
    if "^" in note.text:
        blocks = frozenset(match.lower() for match in _BLOCK.findall(note.text))
    headings = tuple(heading.text for heading in note.outline.headings)
    return Target(note.path, note.title, note.aliases, headings, blocks)


def key_of(name: str) -> str:
    """A name as it is compared: composed, case folded."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


class Resolver:
    """Resolves links over a set of files."""

    def __init__(self, targets: Iterable[Target]) -> None:
        """Take all files of the vault, attachments among them."""
        self._targets: dict[str, Target] = {}
        self._tables: dict[str, dict[str, list[str]]] = {
            table: {} for table in ("path", "name", "alias", "title")
        }
        for target in targets:
            self.add(target)

    def add(self, target: Target) -> None:
        """Take one more file, or the file again as it is now."""
        if target.path in self._targets:
            self.remove(target.path)
        self._targets[target.path] = target
        for table, key in self._keys(target):
            self._tables[table].setdefault(key, []).append(target.path)

    def remove(self, path: str) -> None:
        """Forget a file."""
        target = self._targets.pop(path, None)
        if target is None:
            return
        for table, key in self._keys(target):
            paths = self._tables[table][key]
            paths.remove(path)
            if not paths:
                del self._tables[table][key]

    def __contains__(self, path: str) -> bool:
        return path in self._targets

    def _keys(self, target: Target) -> set[tuple[str, str]]:
        """What a file is found under: the table, and the key in it."""
        path = key_of(target.path)
        name = path.rpartition("/")[2]
        keys = {("path", path), ("name", name)}
        if kind_of(target.path) == "markdown":
            stem = name.rpartition(".")[0]
            keys.add(("path", path.rpartition(".")[0]))
            keys.add(("name", stem))
            # Logseq writes the page a/b to a___b.md or a%2Fb.md.
            if "___" in stem or "%" in stem:
                page = unquote(stem.replace("___", "/"))
                if page != stem:
                    keys.add(("title", key_of(page)))
        if target.aliases:
            keys |= {("alias", key_of(alias)) for alias in target.aliases}
        if target.title:
            keys.add(("title", key_of(target.title)))
        return keys

    def resolve(self, link: Link, source: str) -> Resolution:
        """Where a link leads.

        Args:
            link: of any kind but ``tag``.
            source: path of the note in which it stands.
        """
        if not link.target:
            found = Resolution(source, "self")
        elif link.kind == "markdown":
            found = self._markdown(link.target, source)
        else:
            found = self.named(link.target, source)
        if found.path is None or (link.heading is None and link.block is None):
            return found
        there = self._has_place(link, found.path)
        return Resolution(found.path, found.by, found.others, there)

    def named(self, name: str, source: str) -> Resolution:
        """The file that a note calls by a name, a part of its path, an alias or a title."""
        if "/" not in name and "\\" not in name:  # most are
            found = self._tables["name"].get(key_of(name), [])
            if len(found) == 1:
                return Resolution(found[0], "name")
        name = name.replace("\\", "/")
        if name.startswith(("./", "../")):
            path = posixpath.normpath(posixpath.join(posixpath.dirname(source), name))
            return self._at(path)
        if name.startswith("/"):
            return self._at(posixpath.normpath(name.lstrip("/")))
        key = key_of(posixpath.normpath(name))
        found = self._best(self._tables["path"].get(key, ()), source, name)
        # A name without a folder is a name, even that of a note in the root.
        if found and "/" in key:
            return Resolution(found[0], "path", tuple(found[1:]))
        found = self._best(self._by_suffix(key), source, name)
        if found:
            return Resolution(found[0], "name", tuple(found[1:]))
        called: tuple[Literal["alias", "title"], ...] = ("alias", "title")
        for by in called:
            found = self._best(self._tables[by].get(key_of(name), ()), source, name)
            if found:
                return Resolution(found[0], by, tuple(found[1:]))
        return _NOWHERE

    def _by_suffix(self, key: str) -> list[str]:
        found = self._tables["name"].get(key.rpartition("/")[2], [])
        if "/" not in key:
            return found
        ends = []
        for path in found:
            folded = key_of(path)
            bare = folded.rpartition(".")[0] if kind_of(path) == "markdown" else folded
            if any(("/" + each).endswith("/" + key) for each in (folded, bare)):
                ends.append(path)
        return ends

    def _best(self, paths: Iterable[str], source: str, name: str) -> list[str]:
        """Candidates, the one that is meant first."""
        candidates = list(dict.fromkeys(paths))
        if len(candidates) < 2:
            return candidates
        folder = posixpath.dirname(source)
        beneath = folder + "/" if folder else ""
        exact = unicodedata.normalize("NFC", name)

        def order(path: str) -> tuple[bool, bool, int, int, bool, str]:
            inside = path.startswith(beneath)
            composed = unicodedata.normalize("NFC", path)
            same = composed == exact or composed.removesuffix(".md").endswith(exact)
            depth = path.count("/")
            return (not inside, kind_of(path) != "markdown", depth, len(path), not same, path)

        return sorted(candidates, key=order)

    def _markdown(self, target: str, source: str) -> Resolution:
        """A Markdown link: relative to the note, then as a path or name of the vault."""
        if target.startswith("/"):
            return self._at(posixpath.normpath(target.lstrip("/")) if target.strip("/") else "")
        joined = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        found = self._at(joined)
        if found.path is not None or target.startswith(("./", "../")):
            return found
        return self.named(target, source)

    def _at(self, path: str) -> Resolution:
        if path.startswith("../") or path == "..":
            return _NOWHERE
        if path in self._targets:
            return Resolution(path, "path")
        for extension in _EXTENSIONS:
            if path + extension in self._targets:
                return Resolution(path + extension, "path")
        found = self._tables["path"].get(key_of(path), [])
        if not found:
            return _NOWHERE
        ordered = sorted(dict.fromkeys(found), key=lambda each: (len(each), each))
        return Resolution(ordered[0], "path", tuple(ordered[1:]))

    def _has_place(self, link: Link, path: str) -> bool:
        target = self._targets.get(path)
        if target is None:
            return False
        if kind_of(path) != "markdown":
            return True  # a page of a PDF, a time of a recording
        if link.block is not None:
            return link.block.lower() in target.blocks
        wanted = (link.heading or "").split("#")
        headings = [_compared(text) for text in target.headings]
        slugs = [_slug(text) for text in target.headings]
        at = 0
        for part in wanted:
            names = {_compared(part), _compared(unquote(part))}
            slug = _slug(unquote(part))
            place = next(
                (
                    place
                    for place in range(at, len(headings))
                    if headings[place] in names
                    or (link.kind == "markdown" and _matches_slug(slugs[place], slug))
                ),
                None,
            )
            if place is None:
                return False
            at = place + 1
        return True


def _compared(heading: str) -> str:
    return _NOT_COMPARED.sub(" ", key_of(heading)).strip()


def _slug(heading: str) -> str:
    """A heading as GitHub and most editors name its place."""
    return _PUNCTUATION.sub("", key_of(heading)).strip().replace(" ", "-")


def _matches_slug(slug: str, wanted: str) -> bool:
    # The second of two headings of one text is called heading-1.
    return slug == wanted or bool(re.fullmatch(re.escape(slug) + r"-\d+", wanted))
