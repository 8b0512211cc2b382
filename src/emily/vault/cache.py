"""What ``emily lite`` keeps of a vault between two searches: one SQLite file outside of it.

It holds names, terms, links and places, no text; passages are read from the notes themselves. It
can be deleted at any time. Where the cache folder cannot be written to, or lies inside the vault,
the same is built in memory at each search, and the search says so. Standard library only.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import sys
import time
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from emily.vault.graph import Edge, Graph
from emily.vault.linking import LedLink
from emily.vault.links import Link
from emily.vault.resolving import Resolver, Target
from emily.vault.segment import Segment, build_segments
from emily.vault.walk import FileSeen, LeftOut, Walk, walk

__all__ = ["Cache", "Span", "Tables", "cache_folder", "open_cache"]

_VERSION: Final = f"1/{sys.byteorder}"
"""Of the format; another one is built anew. Raise it when terms or passages change."""
_UNREAD: Final = -1  # number of a note that could not be read
_MOST_SEGMENTS: Final = 24
_MOST_DEAD: Final = 0.3
_RACE = 2_000_000_000  # nanoseconds within which a file may change and keep its date
_WRITTEN_AT_ONCE: Final = 65_536  # KiB that wait for the end of a change before they are written
_WAIT = 20.0  # seconds for another search that writes

_TABLES = """
CREATE TABLE about (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE segments (
    id INTEGER PRIMARY KEY, base INTEGER, documents INTEGER,
    lengths BLOB, passage_lengths BLOB, passage_documents BLOB
);
CREATE TABLE files (
    path TEXT PRIMARY KEY, number INTEGER, size INTEGER, modified INTEGER, read INTEGER,
    device INTEGER, inode INTEGER
) WITHOUT ROWID;
CREATE TABLE documents (
    number INTEGER PRIMARY KEY, path TEXT, title TEXT, passages TEXT, names TEXT, links TEXT,
    problems TEXT
);
CREATE TABLE postings (term TEXT, segment INTEGER, found BLOB, PRIMARY KEY (term, segment))
    WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Tables:
    """Lengths of everything, by number.

    Attributes:
        alive: per document 1 where it is the file as it is now.
        lengths: terms of each document.
        passage_lengths, passage_documents: per passage, over all segments.
        starts: per segment the number of its first passage.
        bases: per segment the number of its first document.
    """

    alive: bytearray
    lengths: array[int]
    passage_lengths: array[int]
    passage_documents: array[int]
    starts: dict[int, int]
    bases: dict[int, int]


class Span(NamedTuple):
    """Where a passage stands in its note, see ``passages.Passage``."""

    first: int
    last: int
    start: int
    end: int
    kind: str
    trail: tuple[str, ...]


def cache_folder() -> Path:
    """The folder of this platform for what can be deleted."""
    home = Path.home()
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "emily" / "lite"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home) / "emily" / "Cache" / "lite"
    given = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(given) if given and Path(given).is_absolute() else home / ".cache"
    return base / "emily" / "lite"


def open_cache(folder: Path, kept_in: Path | None, processes: int = 1) -> Cache:
    """The vault as it is now: what changed since the last search is read again.

    Args:
        folder: the vault.
        kept_in: the folder of the cache; ``None`` keeps nothing.
        processes: at most, for reading many notes.

    Raises:
        OSError: the vault cannot be listed.
    """
    seen = walk(folder)
    notice = None
    if kept_in is not None:
        real = folder.resolve()
        if kept_in.resolve().is_relative_to(real):
            notice = f"Nothing is kept for the next search: {kept_in} lies inside of the vault."
            kept_in = None
    if kept_in is not None:
        digest = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:32]
        file = kept_in / f"{digest}.sqlite3"
        for attempt in range(2):
            try:
                return Cache(_connected(file), folder, seen, processes, None)
            except sqlite3.OperationalError as error:
                notice = f"Nothing is kept for the next search: {file}: {error}."
                break
            except (sqlite3.DatabaseError, OSError, ValueError, KeyError, TypeError) as error:
                # A damaged cache is made anew; it holds nothing that the notes do not.
                notice = f"Nothing is kept for the next search: {file}: {error}."
                if attempt == 0:
                    with suppress(OSError):
                        file.unlink(missing_ok=True)
    return Cache(sqlite3.connect(":memory:"), folder, seen, processes, notice)


def _connected(file: Path) -> sqlite3.Connection:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not file.exists():
        # The words of a vault are as private as the vault.
        os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
    connection = sqlite3.connect(file, timeout=_WAIT, isolation_level=None)
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute(f"PRAGMA cache_size = -{_WRITTEN_AT_ONCE}")
    return connection


class Cache:
    """The index of one vault, brought up to date when it is opened."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        folder: Path,
        seen: Walk,
        processes: int,
        notice: str | None,
    ) -> None:
        connection.isolation_level = None
        self._connection = connection
        self.folder = folder
        self.notice = notice
        self.left_out: tuple[LeftOut, ...] = seen.left_out
        self.files = seen.files
        self.read_now = 0
        self._processes = processes
        try:
            self._bring_up_to_date()
        except BaseException:
            connection.close()
            raise

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    # Keeping up

    def _bring_up_to_date(self) -> None:
        kept = self._kept()
        notes = [file for file in self.files if file.kind != "attachment"]
        stale = [file for file in notes if self._is_stale(file, kept.get(file.path))]
        now = {file.path for file in self.files}
        nothing = (0, 0, 0, 0)
        attachments = [
            file for file in self._attachments() if kept.get(file.path, nothing)[0] is not None
        ]
        gone = [path for path in kept if path not in now]
        if not stale and not gone and not attachments:
            self._note_failures(json.loads(self._about("failed") or "[]"))
            return
        started = time.time_ns()
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            if self._has_to_start_again(len(stale), len(kept)):
                self._clear()
                stale, attachments, gone, kept = notes, list(self._attachments()), [], {}
            segments = build_segments(self.folder, stale, self._processes)
            failed = [pair for segment in segments for pair in segment.failed]
            self._forget([*gone, *(file.path for file in (*stale, *attachments))])
            for segment in segments:
                self._write(segment, started)
            self._note_files(attachments, None, 0)
            unread = {path for path, _ in failed}
            self._note_files([file for file in stale if file.path in unread], _UNREAD, started)
            self.read_now = sum(len(segment.documents) for segment in segments)
            self._set("failed", json.dumps(failed))
            self._set("graph", self._build_graph().to_bytes())
            self._connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            raise
        self._note_failures(failed)

    def _note_failures(self, failed: Iterable[Sequence[str]]) -> None:
        more = [LeftOut(path, "failed", why) for path, why in failed]
        self.left_out = tuple(sorted((*self.left_out, *more), key=lambda each: each.path))

    def _note_files(self, files: Iterable[FileSeen], number: int | None, read: int) -> None:
        self._connection.executemany(
            "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(file.path, number, file.size, file.modified, read, *file.identity) for file in files],
        )

    def _is_stale(self, file: FileSeen, kept: tuple[int | None, int, int, int] | None) -> bool:
        if not _is_same(file, kept):
            return True
        # One that could not be read is tried again when it can be.
        unread = kept is not None and kept[0] == _UNREAD
        return unread and os.access(self.folder / file.path, os.R_OK)

    def _attachments(self) -> Iterator[FileSeen]:
        return (file for file in self.files if file.kind == "attachment")

    def _kept(self) -> dict[str, tuple[int | None, int, int, int]]:
        """Number, size, date and time of reading of each file that is known."""
        tables = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if not tables or self._about("version") != _VERSION:
            self._connection.execute("BEGIN IMMEDIATE")
            tables = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            # Another search may have made them while this one waited.
            if not tables or self._about("version") != _VERSION:
                self._create()
            self._connection.execute("COMMIT")
        rows = self._connection.execute("SELECT path, number, size, modified, read FROM files")
        return {path: (number, size, modified, read) for path, number, size, modified, read in rows}

    def _create(self) -> None:
        for (name,) in self._connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'"
        ).fetchall():
            self._connection.execute(f'DROP TABLE "{name}"')
        for command in _TABLES.split(";"):
            if command.strip():
                self._connection.execute(command)
        self._set("version", _VERSION)
        self._set("folder", str(self.folder))

    def _clear(self) -> None:
        self._connection.execute("DELETE FROM segments")
        self._connection.execute("DELETE FROM files")
        self._connection.execute("DELETE FROM documents")
        self._connection.execute("DELETE FROM postings")

    def _has_to_start_again(self, stale: int, kept: int) -> bool:
        """Whether there are so many segments, or dead notes in them, that one is better."""
        count, written = self._connection.execute(
            "SELECT count(*), coalesce(sum(documents), 0) FROM segments"
        ).fetchone()
        if not written:
            return False
        return bool(
            count >= _MOST_SEGMENTS or written + stale > (1 + _MOST_DEAD) * max(kept, 1) + 50
        )

    def _forget(self, paths: Sequence[str]) -> None:
        rows = [(path,) for path in paths]
        numbers = []
        for row in rows:
            found = self._connection.execute("SELECT number FROM files WHERE path = ?", row)
            numbers += [each for each in found.fetchall() if each[0] is not None]
        self._connection.executemany("DELETE FROM documents WHERE number = ?", numbers)
        self._connection.executemany("DELETE FROM files WHERE path = ?", rows)

    def _write(self, segment: Segment, started: int) -> None:
        base = self._connection.execute(
            "SELECT coalesce(max(base + documents), 0) FROM segments"
        ).fetchone()[0]
        number = self._connection.execute(
            "INSERT INTO segments (base, documents, lengths, passage_lengths, passage_documents) "
            "VALUES (?, ?, ?, ?, ?)",
            (
                base,
                len(segment.documents),
                segment.lengths.tobytes(),
                segment.passage_lengths.tobytes(),
                segment.passage_documents.tobytes(),
            ),
        ).lastrowid
        rows = list(enumerate(segment.documents, base))
        self._connection.executemany(
            "INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                (at, row.file.path, row.title, row.passages, row.names, row.links, row.problems)
                for at, row in rows
            ],
        )
        self._connection.executemany(
            "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                (row.file.path, at, row.file.size, row.file.modified, started, *row.file.identity)
                for at, row in rows
            ],
        )
        self._connection.executemany(
            "INSERT INTO postings VALUES (?, ?, ?)",
            [(term, number, found) for term, found in sorted(segment.postings.items())],
        )

    def _about(self, name: str) -> str | None:
        row = self._connection.execute("SELECT value FROM about WHERE name = ?", (name,)).fetchone()
        return row[0] if row else None

    def _set(self, name: str, value: str | bytes) -> None:
        self._connection.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (name, value))

    # Links

    def resolver(self) -> Resolver:
        """All files of the vault as what links can mean."""
        targets = []
        query = "SELECT path, title, names FROM documents"
        for path, title, names in self._connection.execute(query):
            aliases, headings, blocks = json.loads(names)
            targets.append(Target(path, title, tuple(aliases), tuple(headings), frozenset(blocks)))
        targets += [Target(file.path) for file in self.files if file.kind == "attachment"]
        return Resolver(targets)

    def links(self, resolver: Resolver) -> Iterator[LedLink]:
        """All links of the vault but tags, and where they lead."""
        for path, link in self._all_links():
            if link.kind != "tag":
                yield LedLink(path, link, resolver.resolve(link, path))

    def _all_links(self) -> Iterator[tuple[str, Link]]:
        for path, links in self._connection.execute("SELECT path, links FROM documents"):
            for kind, target, heading, block, line in json.loads(links):
                yield path, Link(kind, target, heading, block, None, False, line, 0, 0)

    def _build_graph(self) -> Graph:
        resolver = self.resolver()
        numbers = dict(self._connection.execute("SELECT path, number FROM documents").fetchall())
        notes = max(numbers.values(), default=-1) + 1
        tags: dict[str, int] = {}
        edges = []
        for path, rows in self._connection.execute("SELECT path, links FROM documents"):
            source = numbers[path]
            for kind, target, _, _, line in json.loads(rows):
                number: int | None
                if kind == "tag":
                    number = tags.setdefault(target.casefold(), notes + len(tags))
                else:
                    # Where a place is missing, the link leads to its note all the same.
                    link = Link(kind, target, None, None, None, False, line, 0, 0)
                    led = resolver.resolve(link, path).path
                    number = numbers.get(led) if led is not None else None
                if number is not None:
                    edges.append(Edge(source, number, kind, line))
        self._set("tags", json.dumps([notes, *tags], ensure_ascii=False))
        return Graph(notes + len(tags), edges)

    def graph(self) -> tuple[Graph, int, list[str]]:
        """The graph, the number of its first tag, and the tags."""
        first, *tags = json.loads(self._about("tags") or "[0]")
        raw = self._connection.execute("SELECT value FROM about WHERE name = 'graph'").fetchone()
        if raw is None:
            return Graph(0, ()), 0, []
        return Graph.from_bytes(raw[0]), first, tags

    # Searching

    def tables(self) -> Tables:
        """Lengths and numbers of all documents and passages."""
        lengths, passage_lengths = array("I"), array("I")
        documents = array("I")
        starts: dict[int, int] = {}
        bases: dict[int, int] = {}
        query = (
            "SELECT id, base, lengths, passage_lengths, passage_documents FROM segments "
            "ORDER BY base"
        )
        for number, base, own, of_passages, belongs in self._connection.execute(query):
            starts[number], bases[number] = len(passage_lengths), base
            lengths.frombytes(own)
            passage_lengths.frombytes(of_passages)
            local = array("I", belongs)
            documents.extend(local if not base else array("I", [each + base for each in local]))
        alive = bytearray(len(lengths))
        query = "SELECT number FROM files WHERE number >= 0"
        for (number,) in self._connection.execute(query):
            alive[number] = 1
        return Tables(alive, lengths, passage_lengths, documents, starts, bases)

    def postings(self, term: str) -> Iterator[tuple[int, array[int]]]:
        """A term's postings by segment, see ``Segment``."""
        query = "SELECT segment, found FROM postings WHERE term = ? ORDER BY segment"
        for segment, found in self._connection.execute(query, (term,)):
            yield segment, array("Q", found)

    def document(self, number: int) -> tuple[str, str, list[Span]]:
        """Path, title and passages of a document."""
        query = "SELECT path, title, passages FROM documents WHERE number = ?"
        path, title, spans = self._connection.execute(query, (number,)).fetchone()
        return path, title, [_span(row) for row in json.loads(spans)]

    def titles(self) -> dict[int, tuple[str, str]]:
        """Path and title of every document, by number."""
        rows = self._connection.execute("SELECT number, path, title FROM documents")
        return {number: (path, title) for number, path, title in rows}

    def holding(self, terms: Sequence[str]) -> set[str]:
        """The paths of the notes that hold all of some terms."""
        tables = self.tables()
        found: set[int] | None = None
        for term in terms:
            here = {
                tables.passage_documents[(packed >> 32) + tables.starts[segment]]
                for segment, postings in self.postings(term)
                for packed in postings
            }
            found = here if found is None else found & here
        titles = self.titles()
        return {titles[number][0] for number in found or () if number in titles}

    def count_problems(self) -> int:
        """How many notes could not be read as they were meant."""
        query = "SELECT count(*) FROM documents WHERE problems != '[]'"
        return int(self._connection.execute(query).fetchone()[0])

    def problems(self) -> list[tuple[str, int | None, str]]:
        """What could not be read as it was meant: path, line, sentence."""
        query = "SELECT path, problems FROM documents WHERE problems != '[]' ORDER BY path"
        return [
            (path, line, what)
            for path, problems in self._connection.execute(query)
            for line, what in json.loads(problems)
        ]


def _span(row: list[Any]) -> Span:
    first, last, start, end, kind, trail = row
    return Span(first, last, start, end, kind, tuple(trail))


def _is_same(file: FileSeen, kept: tuple[int | None, int, int, int] | None) -> bool:
    """Whether a file is the one that was read, by size and date.

    One that was written just before it was read may have been written again within the same
    tick of the clock, so it is read once more.
    """
    if kept is None or kept[0] is None:
        return False
    _, size, modified, read = kept
    return size == file.size and modified == file.modified and abs(read - modified) > _RACE
