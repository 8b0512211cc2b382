"""Pictures of paper: scans, a photograph, a screenshot, a fax."""

from __future__ import annotations

import zlib
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
import pypdfium2
from PIL import Image, ImageFilter
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from .paper import pdf

if TYPE_CHECKING:
    from .source import Source

__all__ = ["pages", "photo", "png", "scan", "tiff"]

SCAN_DPI = 160
SCREEN_DPI = 110
FAX_DPI = 200
PHOTO_DPI = 190


def pages(source: Source, dpi: int) -> list[Image.Image]:
    """Draw the printed pages of a source at a resolution, in grey."""
    return rendered(pdf(source), dpi)


def rendered(content: bytes, dpi: int, *, mode: str = "L") -> list[Image.Image]:
    """Draw the pages of a PDF."""
    document = pypdfium2.PdfDocument(content)
    try:
        images = []
        for page in document:
            images.append(page.render(scale=dpi / 72).to_pil().convert(mode))
            page.close()
        return images
    finally:
        document.close()


def scan(source: Source) -> bytes:
    """A PDF whose pages are pictures: a little askew, grainy, greyish, without a text layer."""
    random = _random(source)
    buffer = BytesIO()
    canvas = Canvas(buffer, invariant=1)
    canvas.setTitle(source.title)
    for image in pages(source, SCAN_DPI):
        angle = float(random.uniform(-0.7, 0.7))
        turned = image.rotate(angle, resample=Image.Resampling.BICUBIC, fillcolor=255)
        soft = turned.filter(ImageFilter.GaussianBlur(0.5))
        values = np.asarray(soft, dtype=np.float32) * 0.9 + 18
        values += random.normal(0, 2.5, values.shape).astype(np.float32)
        picture = _jpeg(values, quality=52)
        width, height = image.width * 72 / SCAN_DPI, image.height * 72 / SCAN_DPI
        canvas.setPageSize((width, height))
        canvas.drawImage(ImageReader(BytesIO(picture)), 0, 0, width, height)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def photo(source: Source) -> bytes:
    """A JPEG of a slip of paper on a wooden table, turned by ``angle`` degrees, lit from a side."""
    random = _random(source)
    paper = pages(source, PHOTO_DPI)[0].convert("RGB")
    angle = float(source.options.get("angle", 1.5))
    width, height = int(paper.width * 1.22), int(paper.height * 1.1)
    grain = np.cumsum(random.normal(0, 1.2, width))
    wood = np.array([118.0, 84.0, 58.0]) + np.sin(grain / 3)[:, None] * np.array([9.0, 7.0, 5.0])
    table = Image.fromarray(np.tile(wood.clip(0, 255).astype(np.uint8), (height, 1, 1)))
    corner = ((width - paper.width) // 2, (height - paper.height) // 2)
    layer, mask = Image.new("RGB", table.size, "white"), Image.new("L", table.size, 0)
    layer.paste(paper, corner)
    mask.paste(255, (*corner, corner[0] + paper.width, corner[1] + paper.height))
    smooth = Image.Resampling.BICUBIC
    table.paste(layer.rotate(angle, smooth), mask=mask.rotate(angle, smooth))
    values = np.asarray(table.filter(ImageFilter.GaussianBlur(0.7)), dtype=np.float32)
    across, down = np.linspace(0, 1, width), np.linspace(0, 1, height)
    light = 0.72 + 0.27 * np.exp(-(((across[None, :] - 0.35) / 0.8) ** 2)) * (
        1.05 - 0.3 * down[:, None]
    )
    values = values * light[:, :, None].astype(np.float32)
    values += random.normal(0, 3.5, values.shape).astype(np.float32)
    return _jpeg(values, quality=62)


def png(source: Source) -> bytes:
    """A screenshot of the first page."""
    (image,) = rendered(pdf(source), SCREEN_DPI, mode="RGB")
    buffer = BytesIO()
    image.quantize(48).save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def tiff(source: Source) -> bytes:
    """Black and white pages of a fax, compressed as faxes are."""
    first, *rest = [
        image.point(lambda grey: 255 * (grey > 150), "1") for image in pages(source, FAX_DPI)
    ]
    buffer = BytesIO()
    first.save(
        buffer, "TIFF", compression="group4", dpi=(FAX_DPI, FAX_DPI), save_all=True,
        append_images=rest,
    )  # fmt: skip
    return buffer.getvalue()


def _random(source: Source) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(source.file.encode()))


def _jpeg(values: np.ndarray[Any, Any], *, quality: int) -> bytes:
    buffer = BytesIO()
    Image.fromarray(values.clip(0, 255).astype(np.uint8)).save(
        buffer, "JPEG", quality=quality, optimize=True
    )
    return buffer.getvalue()
