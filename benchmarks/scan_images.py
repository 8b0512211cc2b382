"""Scans made from own pages: clean, faxed, skewed, photographed, turned and faint, by a seed.

``python -m benchmarks.scan_images FOLDER`` writes them as files, the truth beside each.
"""

from __future__ import annotations

import argparse
import functools
import io
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from benchmarks.scan_texts import PAGES, Columns, Heading, Prose, Sheet

__all__ = ["KINDS", "draw", "scan", "scans", "truth"]

_WIDTH, _HEIGHT, _MARGIN = 595.0, 842.0, 60.0  # points: an A4 sheet
_LEADING = 1.35  # of a line, times its size
_GAP = 9.0  # points between parts
_COLUMN_GAP = 24.0  # points

Grey = NDArray[np.uint8]


@functools.cache
def _font(name: str, pixels: float) -> ImageFont.FreeTypeFont:
    """Vera, which comes with reportlab, or the font that comes with Pillow."""
    if name == "Aileron":
        return ImageFont.load_default(pixels)  # type: ignore[return-value]
    import reportlab

    path = Path(reportlab.__file__).parent / "fonts" / f"{name}.ttf"
    return ImageFont.truetype(str(path), pixels)


def _broken(text: str, font: ImageFont.FreeTypeFont, width: float) -> list[str]:
    """Lines of a text, broken where the width ends."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split(" "):
            longer = f"{line} {word}".strip() if line else word
            if line and font.getlength(longer) > width:
                lines.append(line)
                line = word
            else:
                line = longer
        lines.append(line)
    return lines


def _placed(sheet: Sheet) -> Iterator[tuple[float, float, str, str, float, bool]]:
    """Pieces of text as x, y (points), text, font, size and whether x is the right end; a piece
    without text is a rule across the page."""
    y = _MARGIN
    room = _WIDTH - 2 * _MARGIN
    for part in sheet.parts:
        if isinstance(part, Heading):
            bold = "VeraBd" if sheet.font == "Vera" else sheet.font
            yield _MARGIN, y, part.text, bold, part.size, False
            y += part.size * _LEADING
        elif isinstance(part, Prose):
            wide = _font(sheet.font, part.size * 8)  # hinting would make breaks differ by size
            for line in _broken(part.text, wide, 8 * (room - part.indent)):
                if line:
                    yield _MARGIN + part.indent, y, line, sheet.font, part.size, False
                y += part.size * (_LEADING if line else 0.7)
        elif isinstance(part, Columns):
            width = (room - _COLUMN_GAP * (len(part.columns) - 1)) / len(part.columns)
            wide = _font(sheet.font, part.size * 8)
            deepest = y
            for number, column in enumerate(part.columns):
                at = y
                for line in _broken(column, wide, 8 * width):
                    x = _MARGIN + number * (width + _COLUMN_GAP)
                    if line:
                        yield x, at, line, sheet.font, part.size, False
                    at += part.size * (_LEADING if line else 0.7)
                deepest = max(deepest, at)
            y = deepest
        else:
            for row in part.rows:
                for cell, start in zip(row, part.starts, strict=True):
                    ends = (start > 0.5 and cell[-1:].isdigit()) or start == 1
                    if cell:
                        yield _MARGIN + start * room, y, cell, sheet.font, part.size, ends
                y += part.size * 1.7
                if part.ruled:
                    yield _MARGIN, y - 0.25 * part.size, "", sheet.font, 0, False
        y += _GAP


def truth(sheet: Sheet) -> str:
    """What a page reads as, its white space folded by the caller."""
    return "\n".join(text for _, _, text, _, _, _ in _placed(sheet) if text)


@functools.lru_cache(maxsize=4)
def draw(sheet: Sheet, dpi: int) -> Grey:
    """A page in black on white, upright and clean; not to be written to."""
    scale = dpi / 72
    image = Image.new("L", (round(_WIDTH * scale), round(_HEIGHT * scale)), 255)
    pen = ImageDraw.Draw(image)
    for x, y, text, font, size, ends in _placed(sheet):
        if not text:
            pen.line(
                [(x * scale, y * scale), ((_WIDTH - _MARGIN) * scale, y * scale)],
                fill=0,
                width=max(1, dpi // 150),
            )
            continue
        where = (x * scale, y * scale)
        pen.text(where, text, 20, _font(font, size * scale), anchor="ra" if ends else "la")
    page = np.asarray(image)
    page.flags.writeable = False
    return page


def _noisy(page: NDArray[np.floating] | Grey, sigma: float, random: np.random.Generator) -> Grey:
    noise = random.normal(0, sigma, page.shape)
    return np.clip(page.astype(np.float64) + noise, 0, 255).astype(np.uint8)


def _jpeg(image: Image.Image, quality: int) -> Image.Image:
    data = io.BytesIO()
    image.save(data, "JPEG", quality=quality)
    return Image.open(io.BytesIO(data.getvalue())).convert("RGB")


def _clean(sheet: Sheet, random: np.random.Generator) -> Image.Image:
    page = cv2.GaussianBlur(draw(sheet, 300), (0, 0), 0.7)
    return Image.fromarray(_noisy(page, 3, random)).convert("RGB")


def _fax(sheet: Sheet, random: np.random.Generator) -> Image.Image:
    """100 dpi in black and white, with speckles, and lines that lost a few dots."""
    page = cv2.resize(draw(sheet, 300), None, fx=1 / 3, fy=1 / 3, interpolation=cv2.INTER_AREA)
    dots = np.where(_noisy(page, 14, random) < 165, 0, 255).astype(np.uint8)
    dots[random.random(dots.shape) < 0.0008] = 0
    return Image.fromarray(dots).convert("1").convert("RGB")


def _turned(page: Grey, degrees: float, paper: int) -> Grey:
    height, width = page.shape
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), degrees, 1)
    return np.asarray(
        cv2.warpAffine(page, matrix, (width, height), flags=cv2.INTER_CUBIC, borderValue=paper),
        np.uint8,
    )


def _skewed(sheet: Sheet, random: np.random.Generator) -> Image.Image:
    degrees = float(random.uniform(1, 5) * random.choice([-1, 1]))
    page = cv2.GaussianBlur(_turned(draw(sheet, 200), degrees, 255), (0, 0), 0.6)
    return Image.fromarray(_noisy(page, 4, random)).convert("RGB")


def _photographed(sheet: Sheet, random: np.random.Generator) -> Image.Image:
    """A sheet on a dark table, seen aslant, lit from one side, a little out of focus."""
    page = draw(sheet, 190)
    height, width = page.shape
    table_height, table_width = round(height * 1.16), round(width * 1.2)
    left, top = (table_width - width) / 2, (table_height - height) / 2
    corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    moved = corners + np.array([left, top], np.float32)
    moved += random.uniform(-0.055, 0.055, (4, 2)).astype(np.float32) * width
    matrix = cv2.getPerspectiveTransform(corners, moved.astype(np.float32))
    size = (table_width, table_height)
    sheet_seen = cv2.warpPerspective(page, matrix, size, flags=cv2.INTER_AREA, borderValue=255)
    mask = cv2.warpPerspective(np.full_like(page, 255), matrix, size)
    grain = cv2.resize(random.normal(0, 1, (60, 4)), size, interpolation=cv2.INTER_CUBIC)
    table = 70 + 12 * grain
    share = mask.astype(np.float64) / 255
    seen = sheet_seen * share + table * (1 - share)
    down, right = np.mgrid[0 : 1 : table_height * 1j, 0 : 1 : table_width * 1j]
    towards = random.uniform(0, 2 * np.pi)
    light = 0.72 + 0.42 * (np.cos(towards) * (right - 0.5) + np.sin(towards) * (down - 0.5))
    x, y = random.uniform(0.2, 0.8, 2)
    light -= 0.2 * np.exp(-(((right - x) / 0.25) ** 2) - ((down - y) / 0.2) ** 2)  # a shadow
    seen = cv2.GaussianBlur(seen * np.clip(light, 0.25, 1.1), (0, 0), 1.1)
    colour = np.stack([seen, seen * 0.96, seen * 0.86], axis=2)
    return _jpeg(Image.fromarray(_noisy(colour, 5, random)), 62)


def _rotated(sheet: Sheet, random: np.random.Generator) -> Image.Image:
    page = cv2.GaussianBlur(draw(sheet, 200), (0, 0), 0.6)
    turned = np.rot90(page, int(random.integers(1, 4)))
    return Image.fromarray(_noisy(turned, 4, random)).convert("RGB")


def _faint(sheet: Sheet, random: np.random.Generator) -> Image.Image:
    """Pale print on grey paper."""
    page = cv2.GaussianBlur(draw(sheet, 200), (0, 0), 0.8).astype(np.float64)
    pale = 205 - (255 - page) / 255 * 50
    return Image.fromarray(_noisy(pale, 5, random)).convert("RGB")


KINDS: dict[str, Callable[[Sheet, np.random.Generator], Image.Image]] = {
    "clean": _clean,
    "fax": _fax,
    "skewed": _skewed,
    "photographed": _photographed,
    "rotated": _rotated,
    "faint": _faint,
}
"""Kinds of scan, each made from a page and a source of chance."""


def scan(sheet: Sheet, kind: str, seed: int = 0) -> Image.Image:
    """A page as a scan of one kind, mode RGB; the same for the same seed."""
    chance = zlib.crc32(f"{seed}/{sheet.name}/{kind}".encode())
    return KINDS[kind](sheet, np.random.default_rng(chance))


def scans(seed: int = 0) -> Iterator[tuple[Sheet, str, Image.Image]]:
    """Every page in every kind."""
    for sheet in PAGES:
        for kind in KINDS:
            yield sheet, kind, scan(sheet, kind, seed)


def main() -> None:
    """Write all scans as PNG, and what stands on them as text."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for sheet, kind, image in scans(given.seed):
        image.save(given.folder / f"{sheet.name}.{kind}.png")
        (given.folder / f"{sheet.name}.{kind}.txt").write_text(truth(sheet) + "\n", "utf-8")


if __name__ == "__main__":
    main()
