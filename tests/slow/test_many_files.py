"""Thousands of files in one ``add``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

_ROOT = Path(__file__).parents[2]
_FILES = 4_000

_CLIENT = """
import asyncio, json, sys
import psutil
from emily.brain import Brain

async def main():
    home, folder = sys.argv[1:]
    me = psutil.Process()
    seen = {}
    def tell(progress):
        if progress.outcome is not None and progress.done % 500 == 0:
            seen[progress.done] = me.memory_info().rss / 2**20
    async with Brain.open(home=home) as brain:
        report = await brain.add([folder], progress=tell)
        first = report.counts()
        again = (await brain.add([folder])).counts()
        names = []
        for number in (0, 1234, 3999):
            answer = await brain.search(f"scheda numero {number} codice Z{number:05}")
            names.append(answer.results[0].document.name)
        status = await brain.status()
        print(json.dumps([first, again, seen, names, status.documents, list(status.problems)]))

asyncio.run(main())
"""


@pytest.mark.timeout(1800)
def test_four_thousand_tiny_files(own_home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    for number in range(_FILES):
        path = folder / f"{number // 200:02}" / f"{number:04}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f"Scheda numero {number}, codice Z{number:05}: parola{number % 97} e acqua."
        )
    result = subprocess.run(
        [sys.executable, "-c", _CLIENT, str(own_home), str(folder)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(_ROOT / "src")},
    )
    assert result.returncode == 0, result.stderr[-3000:]
    first, again, memory, names, documents, problems = json.loads(result.stdout)
    assert first == {"added": _FILES}
    assert again == {"unchanged": _FILES}
    assert documents == _FILES
    assert problems == []
    assert names == ["0000.txt", "1234.txt", "3999.txt"]
    assert memory["4000"] < 700, f"MiB resident: {memory}"
    assert memory["4000"] - memory["1000"] < 60, f"memory grows with the files: {memory}"
