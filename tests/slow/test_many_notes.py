"""Vaults of many notes, and those of the public data: only what changed is embedded again."""

from __future__ import annotations

import hashlib
import io
import os
import resource
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benchmarks.vault_generated import write_vault

from emily.brain import Brain
from emily.models import UseEmbedder
from emily.settings import load_settings
from emily.vault.lite import Request, run

pytestmark = pytest.mark.slow

_NOTES = 2_000
_DATA = Path(os.environ.get("EMILY_BENCH_DATA", ""), "vaults")


class _Counting(UseEmbedder):
    parts = 0

    def embed_parts(self, parts: Sequence[Sequence[str]]) -> Any:
        self.parts += len(parts)
        return super().embed_parts(parts)


def _hashes(folder: Path) -> dict[str, tuple[str, int]]:
    return {
        str(path): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


async def test_an_edit_among_thousands_embeds_its_own_passages_alone(
    own_home: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "notes"
    write_vault(folder, _NOTES, characters=300)
    paths = sorted(folder.rglob("*.md"))
    before = _hashes(folder)
    embedder = _Counting(threads=2)
    async with Brain.open(load_settings(own_home), embedder=embedder) as brain:
        report = await brain.vaults.add(folder, name="notes")
        assert len(report.added) == _NOTES
        assert _hashes(folder) == before
        await brain.search("harbour")
        for place in (0, 777, _NOTES - 1):
            with paths[place].open("a", encoding="utf-8") as file:
                file.write(f"\n\nA line about zyx{place}.\n")
            embedder.parts = 0
            answer = await brain.search(f"zyx{place}", threshold=0)
            assert answer.results[0].document.path == str(paths[place])
            assert 1 <= embedder.parts <= 3
        embedder.parts = 0
        renamed = paths[5].rename(paths[5].with_name("Renamed.md"))
        paths[6].unlink()
        await brain.search("harbour")
        assert embedder.parts <= 8  # its title is embedded with its passages
        names = {info.path for info in await brain.list()}
        assert str(renamed) in names
        assert not {str(paths[5]), str(paths[6])} & names
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 1_500_000  # KiB


@pytest.mark.timeout(1800)
@pytest.mark.skipif(not _DATA.is_dir(), reason="EMILY_BENCH_DATA with its folder vaults is not set")
async def test_no_file_of_a_public_vault_is_changed(own_home: Path) -> None:
    before = _hashes(_DATA)
    settings = load_settings(own_home, ocr=False)
    async with Brain.open(settings, embedder=UseEmbedder(threads=2)) as brain:
        for folder in sorted(path for path in _DATA.iterdir() if path.is_dir()):
            report = await brain.vaults.add(folder)
            assert report.reachable
            notes = [path for path in folder.rglob("*.md") if not _hidden(path, folder)]
            info = next(item for item in await brain.vaults.vaults() if item.path == str(folder))
            assert info.notes >= len(notes)
        await brain.search("where do daily notes go", preset="vault")
        await brain.vaults.sync()
        for folder in sorted(path for path in _DATA.iterdir() if path.is_dir()):
            for asked in _views(folder):
                kept = replace(asked, kept_in=own_home / "lite")
                assert run(kept, io.StringIO(), io.StringIO()) == 0
        for vault in await brain.vaults.vaults():
            await brain.vaults.remove(vault.name)
    assert _hashes(_DATA) == before


def _views(folder: Path) -> list[Request]:
    """Everything that can be asked of a folder without a database."""
    return [
        Request(folder, "where do daily notes go"),
        Request(folder, links="*"),
        Request(folder, map=True),
        Request(folder, terms="a"),
        Request(folder, problems=True),
    ]


def _hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(folder).parts)
