"""Files of a ZIP that only a password opens are named, though the others are read."""

from __future__ import annotations

import zipfile
from pathlib import Path

from emily.reading.reader import Reader


async def test_what_is_left_out_of_an_archive_is_said(tmp_path: Path) -> None:
    path = tmp_path / "papers.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("open.txt", "The meeting is on Monday.")
        archive.writestr("closed.txt", "The safe stands behind the clock.")
    data = bytearray(path.read_bytes())
    # The bit that marks an entry as encrypted, in both of its headers.
    at = data.index(b"closed.txt") - 30
    data[at + 6] |= 1
    at = data.rindex(b"closed.txt") - 46
    data[at + 8] |= 1
    path.write_bytes(data)
    async with Reader(seconds=60, memory_mb=2048, file_mb=64, ocr=False, threads=1) as reader:
        reading = await reader.read(path)
        try:
            assert [item.name for item in reading.attachments] == ["open.txt"]
            assert any("closed.txt" in said and "password" in said for said in reading.warnings)
        finally:
            reader.release(reading)
