"""Pages in scripts that the bundled engine has no letters for: what it could not read is said."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from emily.reading.ocr.engine import Ocr, load, unlettered
from emily.reading.ocr.image import read_image
from emily.reading.ocr.lines import Line
from emily.reading.pages import Page
from emily.reading.source import Source

FONT = Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")
PAGES = {
    "Cyrillic": (
        "Договор аренды квартиры на четыре года",
        "Москва, третьего марта того же года",
        "Сумма рублей в месяц без вычетов",
    ),
    "Greek": (
        "Συμβόλαιο μίσθωσης κατοικίας στην πόλη",
        "για τέσσερα χρόνια και πέντε μήνες",
        "Αθήνα, τρεις Μαρτίου του ίδιου έτους",
    ),
    "Hebrew": (
        "חוזה שכירות של הדירה לארבע שנים",
        "ירושלים, שלושה במרץ של אותה שנה",
        "סכום של כל חודש בלי ניכויים",
    ),
}


@pytest.fixture(scope="module")
def engine() -> Ocr:
    return load("rapidocr", ("it", "en"))


def page_of(folder: Path, image: Image.Image, engine: Ocr) -> Page:
    path = folder / "a.png"
    image.save(path)
    (page,) = read_image(Source(path, lambda: engine, time.monotonic() + 60, 60)).pages
    return page


@pytest.mark.parametrize("script", PAGES)
def test_a_page_in_another_script_has_a_warning(tmp_path: Path, engine: Ocr, script: str) -> None:
    if not FONT.exists():
        pytest.skip(f"the font {FONT} is not installed (apt-get install fonts-dejavu-core)")
    image = Image.new("RGB", (1300, 330), "white")
    pen, font = ImageDraw.Draw(image), ImageFont.truetype(str(FONT), 36)
    for at, text in enumerate(PAGES[script]):
        pen.text((60, 50 + 70 * at), text, fill="black", font=font)
    page = page_of(tmp_path, image, engine)
    assert "OCR" in (page.warning or ""), (page.text, page.confidence)


class Lines:
    """OCR that finds ten lines and reads some of them."""

    def __init__(self, read: int) -> None:
        self.read = read

    def recognise(self, image: Image.Image) -> list[Line]:
        texts = ["the words of a line" if at < self.read else "" for at in range(10)]
        return [Line(text, 0.96, 10, 40 * at, 600, 40 * at + 30) for at, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("read", "said"),
    [
        (10, None),
        (9, None),
        (8, None),
        (7, "OCR could not read 3 of the 10 lines that it found"),
        (1, "OCR could not read 9 of the 10 lines that it found"),
        (0, "OCR could not read 10 of the 10 lines that it found"),
    ],
)
def test_lines_that_were_found_and_not_read_are_counted(
    tmp_path: Path, read: int, said: str | None
) -> None:
    image = Image.new("RGB", (700, 420), "white")
    ImageDraw.Draw(image).text((20, 20), "words", fill="black", font=ImageFont.load_default(30))
    page = page_of(tmp_path, image, Lines(read))
    assert page.text.split("\n").count("the words of a line") == read
    assert (page.warning is None) if said is None else (said in (page.warning or ""))


@pytest.mark.parametrize(
    ("engine_name", "languages", "strange"),
    [
        ("rapidocr", ("it", "en"), ()),
        ("rapidocr", ("en", "ru", "el"), ("ru", "el")),
        ("rapidocr", ("he", "zh", "ja"), ("he",)),
        ("tesseract", ("ru",), ()),
    ],
)
def test_languages_without_letters(
    engine_name: str, languages: tuple[str, ...], strange: tuple[str, ...]
) -> None:
    assert unlettered(engine_name, languages) == strange
