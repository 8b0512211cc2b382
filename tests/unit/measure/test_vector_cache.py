"""The cache of vectors: gives back what was computed, notices damage, serves two processes."""

from __future__ import annotations

import sqlite3
import subprocess
import sys

import numpy as np
import pytest
from tests.contract.embedder import EmbedderContract
from tests.fakes import WordsEmbedder

from emily.errors import VectorError
from emily.measure.vector_cache import CachedEmbedder, VectorCache

IDENTITY = WordsEmbedder().identity


@pytest.fixture
def cache(tmp_path):
    with VectorCache(tmp_path / "cache", IDENTITY) as opened:
        yield opened


class TestContract(EmbedderContract):
    """A cached embedder is an embedder, the first time and the second."""

    @pytest.fixture(params=["computed", "kept"])
    def embedder(self, request, cache):
        embedder = CachedEmbedder(WordsEmbedder(), cache)
        if request.param == "kept":
            embedder.embed_queries(["rental contract"])
        return embedder


def test_what_was_put_is_got_by_another_reader(tmp_path):
    with VectorCache(tmp_path, IDENTITY) as one:
        assert one.get(b"key") is None
        one.put(b"key", b"value")
        with VectorCache(tmp_path, IDENTITY) as other:
            assert other.get(b"key") == b"value"
            other.put(b"key", b"")
        assert one.get(b"key") == b""
    assert one.get(b"key") is None, "closed"


def test_each_model_has_a_file_of_its_own_that_the_owner_alone_reads(tmp_path):
    paths = set()
    for other in (IDENTITY, WordsEmbedder("other").identity, WordsEmbedder(dimension=8).identity):
        with VectorCache(tmp_path, other) as cache:
            paths.add(cache.path)
            assert cache.path.stat().st_mode & 0o777 == 0o600
    assert len(paths) == 3


def test_vectors_are_computed_once_and_are_the_same(cache):
    inner = WordsEmbedder()
    embedder = CachedEmbedder(inner, cache)
    parts = [["The boiler is serviced.", "Every October."], ["Short."]]
    first, second = embedder.embed_parts(parts), embedder.embed_parts(parts)
    assert len(inner.calls) == 2
    for one, two, alone in zip(first, second, WordsEmbedder().embed_parts(parts), strict=True):
        for name in ("part", "sentences"):
            assert np.array_equal(getattr(one, name), getattr(two, name))
            assert np.array_equal(getattr(one, name), getattr(alone, name))
    words = ["boiler", "October"]
    assert np.array_equal(embedder.embed_words(words), embedder.embed_words(words))
    assert embedder.embed_queries([]).shape == (0, IDENTITY.dimension)
    assert embedder.embed_parts([]) == []
    kept = embedder.embed_queries(["a"])
    embedder.embed_queries(["a"])[0, 0] = 9  # what is given out is the caller's own
    assert np.array_equal(embedder.embed_queries(["a"]), kept)


def test_the_order_and_the_role_of_texts_are_part_of_the_key(cache):
    embedder = CachedEmbedder(WordsEmbedder(), cache)
    one, two = embedder.embed_words(["a", "b"]), embedder.embed_words(["b", "a"])
    assert np.array_equal(one, two[::-1])
    assert not np.array_equal(one, two)
    with sqlite3.connect(cache.path) as connection:
        embedder.embed_queries(["a", "b"])
        assert connection.execute("SELECT count(*) FROM vectors").fetchone() == (3,)
    connection.close()


def test_a_failure_is_not_kept(cache):
    inner = WordsEmbedder()
    inner.broken.add("bad")
    embedder = CachedEmbedder(inner, cache)
    for _ in range(2):
        with pytest.raises(VectorError):
            embedder.embed_queries(["bad"])
    inner.broken.clear()
    assert np.isfinite(embedder.embed_queries(["bad"])).all()


def test_a_value_that_was_altered_counts_as_missing(cache):
    cache.put(b"key", b"value")
    connection = sqlite3.connect(cache.path)
    with connection:
        connection.execute("UPDATE vectors SET value = substr(value, 1, 16) || 'valve'")
    connection.close()
    assert cache.get(b"key") is None
    cache.put(b"key", b"value")
    assert cache.get(b"key") == b"value"


def test_a_file_that_is_no_database_is_made_anew(tmp_path, caplog):
    with VectorCache(tmp_path, IDENTITY) as cache:
        path = cache.path
    path.write_bytes(b"no database at all, but long enough to look like one" * 100)
    with VectorCache(tmp_path, IDENTITY) as cache:
        cache.put(b"key", b"value")
        assert cache.get(b"key") == b"value"
    assert "was damaged and is made anew" in caplog.text


def test_a_cache_that_cannot_be_used_costs_time_and_is_told_of(tmp_path, caplog):
    with VectorCache(tmp_path, IDENTITY) as cache:
        path = cache.path
    path.unlink()
    path.mkdir()
    with VectorCache(tmp_path, IDENTITY) as cache:
        cache.put(b"key", b"value")
        assert cache.get(b"key") is None
    assert "is not used: unable to open" in caplog.text


def test_two_processes_write_at_once(tmp_path):
    program = (
        "import sys; from pathlib import Path\n"
        "from emily.measure.vector_cache import VectorCache\n"
        "from emily.models.protocols import ModelIdentity\n"
        f"with VectorCache(Path({str(tmp_path)!r}), ModelIdentity('words', '1', 64)) as cache:\n"
        "    for n in range(150):\n"
        "        cache.put(b'%d' % n, b'same' * 500)\n"
        "        assert cache.get(b'%d' % n) == b'same' * 500\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(2)]
    assert [process.wait(timeout=60) for process in running] == [0, 0]
    with VectorCache(tmp_path, IDENTITY) as cache:
        assert all(cache.get(b"%d" % n) == b"same" * 500 for n in range(150))
