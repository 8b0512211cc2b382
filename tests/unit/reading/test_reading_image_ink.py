"""Blank pages cost neither OCR nor a vision model; pale ones are read."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from emily.reading.ocr.image import recognised
from emily.reading.ocr.ink import has_ink
from emily.reading.ocr.page_image import prepared
from emily.reading.source import Source

_HIGH, _WIDE = 700, 500
_DOWN, _ACROSS = np.mgrid[0 : 1 : _HIGH * 1j, 0 : 1 : _WIDE * 1j]
_PAPER = np.full((_HIGH, _WIDE), 244.0)


def grainy(grey: np.ndarray, grain: float, seed: int = 1) -> Image.Image:
    noise = np.random.default_rng(seed).normal(0, grain, grey.shape)
    return Image.fromarray(np.clip(grey + noise, 0, 255).astype(np.uint8)).convert("RGB")


def speckled(share: float, side: int = 1) -> np.ndarray:
    random = np.random.default_rng(7)
    page = _PAPER.copy()
    for _ in range(int(share * page.size)):
        down, across = random.integers(0, _HIGH - side), random.integers(0, _WIDE - side)
        page[down : down + side, across : across + side] = 10
    return page


def framed(*edges: tuple[slice, slice]) -> np.ndarray:
    page = _PAPER.copy()
    for edge in edges:
        page[edge] = 8
    return page


ALL = slice(None)
BLANK = {
    "grain": lambda: grainy(_PAPER, 3),
    "much grain": lambda: grainy(_PAPER - 20, 14),
    "grey grain": lambda: grainy(_PAPER - 80, 7),
    "few speckles": lambda: grainy(speckled(0.0002), 3),
    "many speckles": lambda: grainy(speckled(0.004), 3),
    "speckles of two pixels": lambda: grainy(speckled(0.0001, 2), 4),
    "black at the left": lambda: grainy(framed((ALL, slice(0, 22))), 3),
    "black all around": lambda: grainy(
        framed((ALL, slice(0, 6)), (ALL, slice(-8, None)), (slice(0, 9), ALL),
               (slice(-5, None), ALL)), 3),
    "a black wedge": lambda: grainy(np.where(_DOWN < 0.04 * _ACROSS, 6.0, 244.0), 3),
    "a shadow from the spine": lambda: grainy(244 - 140 * np.exp(-((_ACROSS / 0.14) ** 2)), 4),
    "light from one side": lambda: grainy(140 + 90 * _DOWN * _ACROSS, 4),
    "a dark edge": lambda: grainy(np.where(_ACROSS > 0.95, 118.0, 244.0), 4),
    "a fold": lambda: grainy(framed() - 40 * (np.abs(_DOWN - 0.4) < 0.001), 3),
    "white": lambda: Image.new("RGB", (300, 400), "white"),
    "black": lambda: Image.new("RGB", (300, 400), "black"),
    "a pixel": lambda: Image.new("RGB", (1, 1), "black"),
}  # fmt: skip


def print_on(
    paper: int, ink: int, grain: float, text: str = "Totale dovuto 120 euro", size: int = 13
) -> Image.Image:
    page = Image.new("L", (_WIDE, _HIGH), paper)
    font = ImageFont.load_default(size)
    ImageDraw.Draw(page).text((90, 500), text, fill=ink, font=font)
    return grainy(np.asarray(page, float), grain)


def with_rim() -> Image.Image:
    page = print_on(244, 30, 3)
    page.paste((4, 4, 4), (0, 0, 30, _HIGH))
    return page


def square() -> Image.Image:
    page = Image.new("RGB", (100, 100), "white")
    page.paste("black", (10, 10, 50, 50))
    return page


def filled(size: tuple[int, int], points: int, text: str) -> Image.Image:
    """A picture cut so close that its letters touch the edge."""
    image = Image.new("RGB", size, "white")
    font = ImageFont.load_default(points)
    ImageDraw.Draw(image).text((size[0] / 2, size[1] / 2), text, "black", font, anchor="mm")
    return image.crop(Image.eval(image.convert("L"), lambda level: 255 - level).getbbox())


INKED = {
    "a word cut out": lambda: filled((200, 60), 30, "TOTAL"),
    "a letter cut out": lambda: filled((300, 300), 200, "H"),
    "a line cut out": lambda: filled((900, 80), 40, "The harbour closes at noon"),
    "faint on grey": lambda: print_on(205, 160, 4),
    "fainter": lambda: print_on(190, 160, 2, size=16),
    "yellowed": lambda: print_on(214, 178, 3),
    "only a page number": lambda: print_on(250, 0, 3, "7"),
    "one word among grain": lambda: print_on(244, 60, 8, "fine"),
    "white on black": lambda: print_on(12, 240, 3),
    "print beside a black rim": with_rim,
    "a drawing": square,
    "speckles and print": lambda: Image.fromarray(
        np.minimum(np.asarray(grainy(speckled(0.001), 3)), np.asarray(print_on(244, 20, 3)))),
}  # fmt: skip


@pytest.mark.parametrize("name", BLANK)
def test_a_page_without_ink_is_blank(name: str) -> None:
    assert not has_ink(BLANK[name]())


@pytest.mark.parametrize("name", INKED)
def test_print_is_ink(name: str) -> None:
    assert has_ink(INKED[name]())


@pytest.mark.parametrize("want", ["no module", "no memory to look"])
def test_what_cannot_be_looked_at_is_not_called_blank(
    want: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if want == "no module":
        monkeypatch.setitem(sys.modules, "cv2", None)
    else:

        def fail(*_: object, **__: object) -> None:
            raise cv2.error("Insufficient memory")

        monkeypatch.setattr(cv2, "medianBlur", fail)
    page = BLANK["grain"]()
    assert has_ink(page)
    if want == "no memory to look":
        monkeypatch.setattr(cv2, "resize", fail)
        assert prepared(page.resize((1500, 1500))).size == (1500, 1500)


@pytest.mark.parametrize("dpi", [100, 200, 300])
def test_the_resolution_does_not_matter(dpi: int) -> None:
    wide, high = round(8.27 * dpi), round(11.69 * dpi)
    empty = np.full((high, wide), 240.0)
    assert not has_ink(grainy(empty, 5))
    page = Image.new("L", (wide, high), 240)
    font = ImageFont.load_default(10 / 72 * dpi)
    ImageDraw.Draw(page).text((wide / 2, 0.9 * high), "12", fill=30, font=font)
    assert has_ink(grainy(np.asarray(page, float), 5))


@pytest.mark.parametrize("name", ["grain", "many speckles", "black all around"])
def test_nobody_is_asked_about_a_blank_page(name: str) -> None:
    def never() -> Callable[..., object]:
        raise AssertionError("a blank page was given to OCR")

    source = Source(Path("x"), never, time.monotonic() + 60, 60)  # type: ignore[arg-type]
    assert recognised(BLANK[name](), source).route == "blank"
