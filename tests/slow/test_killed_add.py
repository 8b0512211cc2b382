"""kill -9 of the server and of the client at random moments of an ``add``, for real.

What was reported as added is there, whole; nothing is there in part; the next ``add`` completes
the rest.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from psycopg.rows import dict_row
from tests.fakes import WordsEmbedder

from emily.brain import Brain
from emily.indexing.language import LanguageDetector
from emily.indexing.normalise import fingerprint_text
from emily.indexing.originals import file_sha256
from emily.indexing.prepare import Preparer
from emily.indexing.text import DocumentText, PageSpan, TableSpan
from emily.settings import load_settings
from emily.store import EmbeddedServer

pytestmark = pytest.mark.slow

_ROOT = Path(__file__).parents[2]
_FILES = 240
_ROUNDS = 8

_CLIENT = """
import asyncio, json, sys
sys.path.insert(0, sys.argv[1])
from emily.brain import Brain
from emily.errors import EmilyError
from tests.fakes import WordsEmbedder

def tell(progress):
    file = progress.outcome
    if file is not None:
        print(json.dumps([file.path.name, file.outcome, file.document, file.reason]), flush=True)

async def main():
    try:
        async with Brain.open(home=sys.argv[2], embedder=WordsEmbedder()) as brain:
            await brain.add([sys.argv[3]], progress=tell)
    except EmilyError as error:
        print(json.dumps(["", "error", None, str(error)]), flush=True)
        sys.exit(1)

asyncio.run(main())
"""


Told = tuple[str, str, int | None, str | None]


class Client:
    """A process that adds the folder and tells of each finished file."""

    def __init__(self, home: Path, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", _CLIENT, str(_ROOT), str(home), str(folder)],
            stdout=subprocess.PIPE,
            bufsize=0,
            env={**os.environ, "PYTHONPATH": str(_ROOT / "src")},
        )
        self._read = b""

    def listen(self, seconds: float) -> None:
        """Take in what it tells for so long, or until it ends."""
        assert self.process.stdout is not None
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            ready, _, _ = select.select([self.process.stdout], [], [], left)
            if not ready:
                return
            block = os.read(self.process.stdout.fileno(), 65_536)
            if not block:
                return
            self._read += block

    def wait_for_the_first_file(self) -> None:
        while b"\n" not in self._read and self.process.poll() is None:
            self.listen(0.05)

    def told(self) -> list[Told]:
        """All that it told until its end. A line cut off by a kill acknowledges nothing."""
        self._read += self.process.communicate(timeout=300)[0]
        return [tuple(json.loads(line)) for line in self._read.split(b"\n") if line[-1:] == b"]"]


def make_files(folder: Path, count: int) -> None:
    rng = random.Random(7)
    folder.mkdir()
    words = ("casa", "contratto", "caldaia", "garden", "winter", "invoice", "fattura", "acqua")
    for number in range(count):
        paragraphs = [
            " ".join(rng.choices(words, k=rng.randint(20, 60))).capitalize() + f" n{number}."
            for _ in range(rng.randint(1, 25))
        ]
        (folder / f"{number:04}.txt").write_text("\n\n".join(paragraphs))
    (folder / "table.csv").write_text(
        "voce,importo\n" + "\n".join(f"spesa numero {n},{n}" for n in range(400))
    )


def check_whole(home: Path) -> dict[str, int]:
    """That every document is what indexing its text gives, and has its original; by name."""
    settings = load_settings(home)
    preparer = Preparer(WordsEmbedder(), LanguageDetector(settings.languages), settings)
    with psycopg.connect(EmbeddedServer(home).conninfo(), row_factory=dict_row) as connection:

        def rows(sql: str, *parameters: Any) -> list[dict[str, Any]]:
            return connection.execute(sql, parameters).fetchall()

        documents = rows("SELECT * FROM document ORDER BY id")
        for document in documents:
            identity = document["id"]
            pages = rows("SELECT * FROM page WHERE document_id = %s ORDER BY number", identity)
            text = DocumentText(
                document["text"],
                tuple(
                    PageSpan(p["number"], p["start_at"], p["end_at"], p["route"], p["warning"])
                    for p in pages
                ),
                tuple(
                    TableSpan(tuple(head) if head else None, tuple(tuple(row) for row in body))
                    for head, body in document["tables"]
                ),
                document["citation"],
            )
            expected = preparer.prepare(text, document["name"])
            digest = hashlib.sha256(fingerprint_text(document["text"]).encode()).digest()
            assert bytes(document["text_sha256"]) == digest
            chunks = rows("SELECT * FROM chunk WHERE document_id = %s ORDER BY ordinal", identity)
            assert [
                (c["ordinal"], c["page"], c["start_at"], c["end_at"], c["header"], c["terms"])
                for c in chunks
            ] == [
                (i.chunk.ordinal, i.chunk.page, i.chunk.start, i.chunk.end, i.chunk.header, terms)
                for i, terms in zip(expected.chunks, expected.lengths, strict=True)
            ], document["name"]
            ordinals = {c["id"]: c["ordinal"] for c in chunks}
            vectors = rows(
                "SELECT chunk_id, part, vector::real[] AS vector FROM chunk_vector v "
                "JOIN chunk c ON c.id = v.chunk_id WHERE c.document_id = %s "
                "ORDER BY c.ordinal, part",
                identity,
            )
            np.testing.assert_allclose(
                np.array([row["vector"] for row in vectors]),
                np.concatenate([item.parts for item in expected.chunks]),
                atol=2e-3,
            )
            postings = rows("SELECT * FROM posting WHERE document_id = %s", identity)
            assert {
                row["term"]: (
                    tuple(ordinals[c] for c in row["chunk_ids"]),
                    tuple(row["frequencies"]),
                )
                for row in postings
            } == {term: (p.chunks, p.frequencies) for term, p in expected.postings.items()}
            words = rows(
                "SELECT w.id, w.surface, w.language FROM word w JOIN document_word d "
                "ON d.word_id = w.id WHERE d.document_id = %s",
                identity,
            )
            assert {(w["surface"], w["language"]) for w in words} == set().union(
                *(item.words for item in expected.chunks)
            )
            known = {w["id"] for w in words}
            assert all(set(c["words"]) <= known for c in chunks)
            digest = bytes(document["file_sha256"]).hex()
            (kept,) = (home / "originals" / digest[:2]).glob(f"{digest}*")
            assert file_sha256(kept).hex() == digest
        # Nothing that belongs to no document.
        (lone,) = rows(
            "SELECT (SELECT count(*) FROM word w WHERE NOT EXISTS "
            "(SELECT FROM document_word d WHERE d.word_id = w.id)) AS words, "
            "(SELECT count(*) FROM document d WHERE NOT EXISTS "
            "(SELECT FROM source s WHERE s.document_id = d.id)) AS documents"
        )
        assert lone == {"words": 0, "documents": 0}
        return {document["name"]: document["id"] for document in documents}


@pytest.mark.timeout(900)
@pytest.mark.parametrize("victim", ["client", "server", "both"])
async def test_nothing_is_lost_and_nothing_is_in_part(
    own_home: Path, tmp_path: Path, victim: str
) -> None:
    folder = tmp_path / "files"
    make_files(folder, _FILES)
    rng = random.Random(f"kill {victim}")
    added: dict[str, int | None] = {}
    kills = 0
    for _ in range(_ROUNDS):
        client = Client(own_home, folder)
        # Then it is at work; a kill while it starts is another test's matter.
        client.wait_for_the_first_file()
        client.listen(rng.uniform(0.0, 0.6))
        if client.process.poll() is None:
            kills += 1
            if victim in ("server", "both"):
                running = EmbeddedServer(own_home).running()
                if running is not None:
                    running.process.send_signal(signal.SIGKILL)
            if victim in ("client", "both"):
                client.process.send_signal(signal.SIGKILL)
        for name, outcome, document, reason in client.told():
            if outcome == "added":
                assert name not in added, f"{name} was added twice"
                added[name] = document
            elif outcome == "unchanged":
                # Written before the kill, and the kill came before it was told; or told before.
                added.setdefault(name, document)
                assert added[name] == document
            else:
                assert victim != "client", (name, outcome, reason)
                assert outcome == "error", (name, outcome, reason)
                assert "cannot be reached" in str(reason) or "no connection" in str(reason).lower()
        EmbeddedServer(own_home).start()
        there = check_whole(own_home)
        lost = {name for name, document in added.items() if there.get(name) != document}
        assert not lost, f"reported as added and not there: {sorted(lost)}"
        if len(there) == _FILES + 1:
            break
    # A client whose server is killed starts it again and goes on, often to the end.
    assert kills >= 1, "the files were added before anything could be killed"
    last = Client(own_home, folder)
    outcomes = {name: outcome for name, outcome, _, _ in last.told()}
    assert last.process.returncode == 0
    assert len(outcomes) == _FILES + 1
    assert set(outcomes.values()) <= {"added", "unchanged"}
    assert len(check_whole(own_home)) == _FILES + 1
    async with Brain.open(home=own_home, embedder=WordsEmbedder()) as brain:
        status = await brain.status()
        assert (status.documents, status.stale, status.problems) == (_FILES + 1, 0, ())
        answer = await brain.search("n17 casa contratto")
        assert answer.results
        # A file that the kill left half-copied is neither searched nor mistaken for a copy.
        known = {
            bytes(row["file_sha256"]).hex() for row in await brain._database.fetch("known_files")
        }
        whole = {path.stem for path in (own_home / "originals").glob("??/*") if path.suffix}
        assert known <= whole
