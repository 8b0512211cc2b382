"""Build the files of the example archive from their sources.

``python -m examples.archive.build`` writes them; with ``--check`` it writes nothing and says
whether the files that are there say what their sources say.
"""

from __future__ import annotations

import argparse
import sys
import zipfile
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pypdfium2
from PIL import Image, ImageSequence

from .office import docx_file, pptx_file, xlsx_file
from .paper import pdf
from .plain import eml, html, verbatim
from .raster import photo, png, rendered, scan, tiff
from .source import Source, load_all

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["FILES", "build", "differences", "main"]

FILES = Path(__file__).parent / "files"

RENDERERS: dict[str, Callable[[Source], bytes]] = {
    "pdf": pdf,
    "scan": scan,
    "photo": photo,
    "png": png,
    "tiff": tiff,
    "docx": docx_file,
    "xlsx": xlsx_file,
    "pptx": pptx_file,
    "html": html,
    "md": verbatim,
    "txt": verbatim,
    "csv": verbatim,
    "eml": eml,
}

TEXT_PARTS = (
    "word/document",
    "word/header",
    "word/footer",
    "xl/worksheets",
    "xl/sharedStrings",
    "ppt/slides/",
    "ppt/notesSlides/",
)

PIXEL_TOLERANCE = 6.0
"""Mean difference of two pictures, in levels of 255, up to which they show the same page.

Another version of the JPEG or PDF library moves a page by 1 to 3 levels; a changed line of text
on an otherwise equal page moves the strip it stands in by far more, see :func:`_same_picture`.
"""


def build(folder: Path = FILES) -> list[Path]:
    """Write every file of the archive; a file that no source gives any more is deleted."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for source in load_all():
        path = folder / source.file
        path.write_bytes(RENDERERS[source.format](source))
        written.append(path)
    for path in set(folder.iterdir()) - set(written):
        path.unlink()
    return written


def differences(folder: Path = FILES, sources: Sequence[Source] | None = None) -> list[str]:
    """Say which files of the folder do not match their sources (all by default), a sentence each.

    Bytes may differ where a library's version decides them (compression, fonts, PDF structure);
    then the content counts: the text of a PDF page, the parts of an office file, the pixels of a
    picture.
    """
    sources = load_all() if sources is None else sources
    found = []
    for source in sources:
        path = folder / source.file
        if not path.is_file():
            found.append(f"{source.file} is missing")
            continue
        here, fresh = path.read_bytes(), RENDERERS[source.format](source)
        if here != fresh and not _same(source.format, here, fresh):
            found.append(f"{source.file} does not match {source.path.name}")
    names = {source.file for source in sources}
    found += [f"{p.name} has no source" for p in sorted(folder.iterdir()) if p.name not in names]
    return found


def _same(kind: str, here: bytes, fresh: bytes) -> bool:
    if kind == "pdf":
        return _pdf_text(here) == _pdf_text(fresh)
    if kind in {"docx", "xlsx", "pptx"}:
        return _parts(here) == _parts(fresh)
    if kind in {"scan", "photo", "png", "tiff"}:
        ours, theirs = (_pictures(kind, content) for content in (here, fresh))
        return len(ours) == len(theirs) and all(map(_same_picture, ours, theirs))
    return False


def _pdf_text(content: bytes) -> list[str]:
    document = pypdfium2.PdfDocument(content)
    try:
        return [" ".join(page.get_textpage().get_text_range().split()) for page in document]
    finally:
        document.close()


def _parts(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(BytesIO(content)) as archive:
        return {
            name: archive.read(name)
            for name in archive.namelist()
            # What the text is in; themes and styles come from the library's template.
            if name.startswith(TEXT_PARTS)
        }


def _pictures(kind: str, content: bytes) -> list[np.ndarray]:
    if kind == "scan":
        images = rendered(content, 72)
    else:
        images = [
            frame.convert("L") for frame in ImageSequence.Iterator(Image.open(BytesIO(content)))
        ]
    return [np.asarray(image, dtype=np.float32) for image in images]


def _same_picture(here: np.ndarray, fresh: np.ndarray) -> bool:
    """Compare strip by strip, so that one changed line is not averaged away by a page of others."""
    if here.shape != fresh.shape:
        return False
    strips = np.array_split(np.abs(here - fresh), max(1, here.shape[0] // 16))
    return max(float(strip.mean()) for strip in strips) <= PIXEL_TOLERANCE


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the result is the exit code."""
    parser = argparse.ArgumentParser(prog="python -m examples.archive.build", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    if parser.parse_args(arguments).check:
        found = differences()
        print("\n".join(found) if found else "every file matches its source")
        if found:
            print("write them again with: python -m examples.archive.build", file=sys.stderr)
        return 1 if found else 0
    written = build()
    size = sum(path.stat().st_size for path in written)
    print(f"{len(written)} files, {size / 1e6:.1f} MB, in {FILES}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
