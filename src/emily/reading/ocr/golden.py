"""A rendered line that every engine and model must read right before it is trusted."""

from __future__ import annotations

import io

from PIL import Image, ImageDraw, ImageFont

__all__ = ["GOLDEN", "as_png", "golden_image", "is_golden"]

GOLDEN = "Total 1234,50 euro"
"""What is written in it."""


def golden_image() -> Image.Image:
    """The line as a picture, mode RGB."""
    image = Image.new("RGB", (640, 120), "white")
    ImageDraw.Draw(image).text((30, 30), GOLDEN, fill="black", font=ImageFont.load_default(40))
    return image


def as_png(image: Image.Image) -> bytes:
    """A picture as a PNG file."""
    data = io.BytesIO()
    image.save(data, "PNG")
    return data.getvalue()


def is_golden(text: str) -> bool:
    """Whether a text holds the line, blanks aside."""
    return "".join(GOLDEN.split()) in "".join(text.split())
