"""Pages made ready for OCR: what is done to them, and that sound ones are left alone."""

from __future__ import annotations

import io

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image, ImageDraw, ImageFont

from emily.reading.ocr.page_image import lines_stand, prepared, skew, two_tone
from emily.reading.ocr.photograph import sheet_of

WORDS = "The ferry to the island leaves at seven and takes bicycles and dogs on the lower deck"


def page(
    lines: int = 20, size: tuple[int, int] = (700, 900), paper: int = 255, ink: int = 0
) -> np.ndarray:
    """A page of prose whose lines break unevenly, grey."""
    image = Image.new("L", size, paper)
    pen = ImageDraw.Draw(image)
    for number in range(lines):
        text = WORDS[number % 7 : 60 + 3 * (number % 8)]
        pen.text((60, 60 + 32 * number), text, ink, ImageFont.load_default(18))
    return np.asarray(image)


def picture(grey: np.ndarray) -> Image.Image:
    return Image.fromarray(grey).convert("RGB")


def tilted(grey: np.ndarray, degrees: float) -> np.ndarray:
    """A page whose lines fall to the right by an angle."""
    height, width = grey.shape
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), -degrees, 1)
    return cv2.warpAffine(grey, matrix, (width, height), borderValue=255)


def ink(grey: np.ndarray) -> np.ndarray:
    return (grey < 128).astype(np.uint8)


@pytest.mark.parametrize("degrees", [-5.0, -3.2, -1.0, -0.5, 0.5, 1.3, 2.7, 4.9])
def test_the_tilt_is_found(degrees: float) -> None:
    assert skew(ink(tilted(page(), degrees))) == pytest.approx(degrees, abs=0.25)


@pytest.mark.parametrize("degrees", [-4.0, 1.5, 3.0])
def test_a_tilted_page_comes_out_straight(degrees: float) -> None:
    straight = prepared(picture(tilted(page(), degrees)))
    assert abs(skew(ink(np.asarray(straight.convert("L"))))) < 0.3


def stripes() -> np.ndarray:
    random = np.random.default_rng(3)
    return (random.random((600, 600)) < 0.2).astype(np.uint8)


@pytest.mark.parametrize(
    "mark",
    [
        ink(page()),
        stripes(),
        np.zeros((400, 400), np.uint8),
        ink(page(1)),
        np.eye(600, dtype=np.uint8),  # a line at 45 degrees
    ],
    ids=["straight", "noise", "nothing", "one line", "a diagonal"],
)
def test_where_no_angle_is_sure_nothing_is_turned(mark: np.ndarray) -> None:
    assert skew(mark) == 0
    assert not lines_stand(mark)


@pytest.mark.parametrize("turns", [1, 3])
@pytest.mark.parametrize("lines", [5, 12, 24])
def test_lying_pages_are_told_from_upright_ones(turns: int, lines: int) -> None:
    grey = page(lines)
    assert lines_stand(ink(np.rot90(grey, turns)))
    assert not lines_stand(ink(grey))
    assert not lines_stand(ink(np.rot90(grey, 2)))


def test_a_lying_page_is_set_across() -> None:
    lying = picture(np.ascontiguousarray(np.rot90(page())))
    across = prepared(lying)
    assert across.size == (lying.height, lying.width)


@pytest.mark.parametrize(
    "image",
    [
        picture(page()),
        picture(page(3, (800, 400))),
        picture(page(20, paper=238, ink=40)),
        picture(np.full((600, 500), 250, np.uint8)),
        Image.new("RGB", (20, 20), "white"),
        Image.new("RGB", (900, 700), "black"),
    ],
    ids=["page", "note", "grey paper", "empty", "tiny", "black"],
)
def test_sound_pages_go_through_as_they_are(image: Image.Image) -> None:
    noise = np.random.default_rng(2).normal(0, 2, (image.height, image.width, 1))
    grainy = np.clip(np.asarray(image) + noise, 1, 254).astype(np.uint8)
    seen = Image.fromarray(grainy)
    assert prepared(seen) is seen


CORNERS = {
    "aslant": [(80, 60), (640, 90), (610, 850), (60, 820)],
    "from below": [(150, 80), (560, 70), (660, 840), (50, 860)],
    "turned": [(120, 40), (670, 130), (580, 870), (40, 780)],
}


def photograph(corners: list[tuple[int, int]], table: int = 60, light: float = 0.0) -> np.ndarray:
    grey = page(18)
    height, width = grey.shape
    whole = np.array([(0, 0), (width, 0), (width, height), (0, height)], np.float32)
    matrix = cv2.getPerspectiveTransform(whole, np.array(corners, np.float32))
    size = (720, 920)
    seen = cv2.warpPerspective(grey, matrix, size, borderValue=255).astype(float)
    paper = cv2.warpPerspective(np.full_like(grey, 255), matrix, size) / 255
    across = np.linspace(1, 1 - light, size[0])
    mixed = (seen * paper + table * (1 - paper)) * across
    noise = np.random.default_rng(5).normal(0, 3, mixed.shape)
    return np.clip(mixed + noise, 0, 255).astype(np.uint8)


@pytest.mark.parametrize("name", CORNERS)
@pytest.mark.parametrize("light", [0.0, 0.4])
def test_a_photographed_sheet_is_found_and_laid_flat(name: str, light: float) -> None:
    corners = CORNERS[name]
    seen = photograph(corners, light=light)
    found = sheet_of(seen)
    assert found is not None
    np.testing.assert_allclose(found.corners, corners, atol=9)
    flat = prepared(picture(seen))
    assert np.median(np.asarray(flat)[:12]) > 150  # paper up to the edge, no table
    assert abs(skew(ink(np.asarray(flat.convert("L"))))) < 0.3


def framed() -> np.ndarray:
    grey = page().copy()
    grey[40:44, 30:670] = grey[856:860, 30:670] = grey[40:860, 30:34] = grey[40:860, 666:670] = 0
    return grey


def screenshot() -> np.ndarray:
    grey = np.full((800, 600), 30, np.uint8)
    grey[100:160, 50:550] = 230
    return grey


@pytest.mark.parametrize(
    "grey",
    [page(), framed(), screenshot(), photograph(CORNERS["aslant"], table=235),
     cv2.circle(np.full((900, 700), 50, np.uint8), (350, 450), 320, 240, -1)],
    ids=["page", "a frame", "a screenshot", "a bright table", "a round plate"],
)  # fmt: skip
def test_where_no_sheet_is_sure_nothing_is_cut(grey: np.ndarray) -> None:
    assert sheet_of(np.ascontiguousarray(grey)) is None


@pytest.mark.parametrize("side", ["left", "top", "corner"])
def test_uneven_light_is_evened_out(side: str) -> None:
    down, across = np.mgrid[0:1:900j, 0:1:700j]
    light = {"left": 0.35 + 0.6 * across, "top": 0.4 + 0.55 * down,
             "corner": 0.4 + 0.3 * (down + across)}[side]  # fmt: skip
    even = np.asarray(prepared(picture((page() * light).astype(np.uint8))).convert("L"))
    paper = np.percentile(even.reshape(30, 30, 20, 35).transpose(0, 2, 1, 3), 80, axis=(2, 3))
    assert np.ptp(paper) < 30
    assert even.min() < 80


@pytest.mark.parametrize(("paper", "ink_level"), [(205, 160), (190, 150), (225, 190)])
def test_pale_print_is_made_dark(paper: int, ink_level: int) -> None:
    pale = page(paper=paper, ink=ink_level)
    noise = np.random.default_rng(4).normal(0, 2, pale.shape)
    dark = np.asarray(prepared(picture(np.clip(pale + noise, 0, 255).astype(np.uint8))))
    assert np.median(dark) > 215
    assert np.percentile(dark, 1) < 130  # strokes of a pixel stay paler than ink


def fax(scale: float) -> np.ndarray:
    small = cv2.resize(page(), None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    return np.where(small < 160, 0, 255).astype(np.uint8)


@pytest.mark.parametrize("scale", [0.8, 1.0, 1.3, 2.0])
def test_a_fax_is_doubled_smoothed_and_freed_of_speckles(scale: float) -> None:
    dots = fax(scale)
    assert two_tone(dots, np.asarray(picture(dots)))
    dirty = dots.copy()
    for place in range(10, 60, 10):
        dirty[-place, place] = 0
    clean = prepared(picture(dirty))
    larger = min(2.0, 2400 / dots.shape[0])
    assert clean.size == (round(larger * dots.shape[1]), round(larger * dots.shape[0]))
    assert clean.tobytes() == prepared(picture(dots)).tobytes()
    assert len(np.unique(np.asarray(clean))) > 10


def test_a_grey_page_is_no_fax() -> None:
    for grey in (page(paper=240, ink=30), photograph(CORNERS["turned"]), 255 - page()):
        assert not two_tone(grey, np.asarray(picture(grey)))


@settings(max_examples=25, deadline=None)
@given(arrays(np.uint8, st.tuples(st.integers(1, 90), st.integers(1, 90), st.just(3))))
def test_any_picture_goes_through(pixels: np.ndarray) -> None:
    image = prepared(Image.fromarray(pixels))
    assert image.mode == "RGB"
    assert min(image.size) >= 1


def test_a_jpeg_of_odd_size_goes_through() -> None:
    for size in ((33, 4000), (4000, 33), (1201, 799)):
        data = io.BytesIO()
        Image.effect_noise(size, 60).convert("RGB").save(data, "JPEG", quality=20)
        assert prepared(Image.open(data).convert("RGB")).mode == "RGB"
