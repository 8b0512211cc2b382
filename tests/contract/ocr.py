"""What every OCR engine keeps to. A backend's test subclasses this and gives the engine."""

from __future__ import annotations

import pytest
from PIL import Image, ImageDraw, ImageFont

from emily.reading.ocr.engine import Ocr, recognise, self_test
from emily.reading.ocr.lines import page_text

WORDS = ("The boat leaves the harbour", "Bring 24 apples and 3 lemons", "Do not forget the map")


def written(*lines: str, size: tuple[int, int] = (560, 170)) -> Image.Image:
    """A few lines in black on white."""
    image = Image.new("RGB", size, "white")
    pen = ImageDraw.Draw(image)
    for number, line in enumerate(lines):
        pen.text((30, 20 + 48 * number), line, "black", ImageFont.load_default(26))
    return image


class OcrContract:
    @pytest.fixture
    def ocr(self) -> Ocr:
        raise NotImplementedError

    def test_keeps_to_the_protocol_and_proves_itself(self, ocr: Ocr) -> None:
        assert isinstance(ocr, Ocr)
        assert self_test(ocr) is None

    def test_lines_have_their_text_and_their_place(self, ocr: Ocr) -> None:
        image = written(*WORDS)
        before = image.tobytes()
        lines = sorted(ocr.recognise(image), key=lambda line: line.top)
        assert image.tobytes() == before
        assert [line.text for line in lines] == list(WORDS)
        for number, line in enumerate(lines):
            assert 0.5 <= line.score <= 1
            assert 0 <= line.left < 40
            assert 200 < line.right <= image.width
            top = 20 + 48 * number
            assert abs(line.middle - (top + 15)) < 12
            assert 12 < line.height < 48

    def test_cells_far_apart_are_lines_of_their_own(self, ocr: Ocr) -> None:
        image = Image.new("RGB", (900, 100), "white")
        pen = ImageDraw.Draw(image)
        for left, text in ((30, "Walnut table"), (700, "620,00")):
            pen.text((left, 30), text, "black", ImageFont.load_default(26))
        assert page_text(ocr.recognise(image)) == "Walnut table   620,00"

    @pytest.mark.parametrize("size", [(1, 1), (3, 200), (200, 3), (40, 40)], ids=str)
    def test_without_text_there_is_no_line(self, ocr: Ocr, size: tuple[int, int]) -> None:
        assert ocr.recognise(Image.new("RGB", size, "white")) == []

    @pytest.mark.parametrize("angle", [90, 180, 270])
    def test_a_turned_page_is_read_upright(self, ocr: Ocr, angle: int) -> None:
        turned = written(*WORDS).rotate(angle, expand=True)
        text = [line for line in page_text(recognise(ocr, turned)).split("\n") if line]
        assert text == list(WORDS)
