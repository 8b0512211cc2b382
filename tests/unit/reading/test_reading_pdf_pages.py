"""What of a PDF is read by which route: garbage, pictures, what repeats, passwords, properties."""

from __future__ import annotations

import io
import random
import textwrap
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont
from reportlab.lib.pagesizes import A4
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from emily.errors import PasswordRequired
from emily.reading.ocr import image as reading_image
from emily.reading.ocr.image import Recognised
from emily.reading.pages import Page
from emily.reading.pdf.document import read_pdf
from emily.reading.source import Draft, Source

SENTENCE = "The lease runs for four years and goes on by itself if nobody writes before May."
WORDS = ("lease", "house", "garden", "river", "stone", "month", "payment", "letter", "bridge")


def made(
    folder: Path, draw: Callable[[Any], None], *passwords: str, ocr: bool = False, **options: Any
) -> tuple[Draft, Source]:
    """The draft of a PDF that ``draw`` draws, and its source."""
    data = io.BytesIO()
    canvas = Canvas(data, pagesize=A4, invariant=True, **options)
    draw(canvas)
    canvas.save()
    path = folder / "a.pdf"
    path.write_bytes(data.getvalue())
    engine: Any = (lambda: None) if ocr else None
    source = Source(path, ocr=engine, deadline=1e12, seconds=60, passwords=passwords)
    return read_pdf(source), source


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., list[Page]]:
    """The pages of a PDF that ``draw`` draws."""

    def run(draw: Callable[[Any], None], *passwords: str, **options: Any) -> list[Page]:
        return list(made(tmp_path, draw, *passwords, **options)[0].pages)

    return run


@pytest.fixture
def ocr(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """OCR that reads the same sentence in every picture; the sizes of those it was given."""
    given: list[tuple[int, int]] = []

    def recognised(image: Image.Image, source: Source) -> Recognised:
        if not reading_image.has_ink(image):
            return Recognised("blank")
        if source.ocr is None:
            return Recognised("unread", problem="it is scanned and OCR is off (setting ocr)")
        given.append(image.size)
        return Recognised("ocr", "What OCR reads on this page, all of it.", 0.91)

    for module in ("ocr.image", "pictures"):
        monkeypatch.setattr(f"emily.reading.{module}.recognised", recognised)
    return given


def lines(canvas: Any, texts: Sequence[str], left: float = 72, top: float = 760) -> None:
    for at, text in enumerate(texts):
        canvas.drawString(left, top - 14 * at, text)


def prose(seed: int, count: int = 20) -> list[str]:
    """Lines of text that differ from page to page."""
    chance = random.Random(seed)
    return [" ".join(chance.choices(WORDS, k=12)) for _ in range(count)]


GARBAGE = {
    "one letter a line": lambda c: lines(c, "NllKaimstiruoweph"),
    "one letter a line, in columns": lambda c: [
        lines(c, "nothingstandsbeside", left=72 + 90 * n) for n in range(3)
    ],
    "one capital a line": lambda c: lines(c, "INVOICENUMBERANDDATE", left=300),
    "letter-spaced": lambda c: lines(c, [" ".join("Annualreportandaccounts")]),
    "letter-spaced lines": lambda c: lines(c, [" ".join(line[:30]) for line in prose(1, 5)]),
    "letter-spaced by place": lambda c: [
        c.drawString(60 + 20 * n, 700, letter)
        for n, letter in enumerate("deedofthehouseontheriver")
    ],
    "cid": lambda c: lines(c, ["(cid:12)(cid:7)(cid:88)(cid:3)(cid:9)(cid:41)"]),
    "cid with blanks": lambda c: lines(c, ["(cid:120) (cid:7) (cid:888)"] * 4),
    "cid among words": lambda c: lines(c, ["a (cid:55)(cid:72)(cid:91)(cid:87) of (cid:3)"] * 3),
    "glyphs G": lambda c: lines(c, ["/G21/G22/G23 /G24/G25/G26"]),
    "glyphs g": lambda c: lines(c, ["/g1/g2/g33/g4 /g101/g6/g7"] * 5),
    "glyphs C": lambda c: lines(c, ["/C0/C1/C2/C3/C4/C5", "/C11/C12/C13"]),
    "numbers": lambda c: lines(c, ["/31 /8 /14 /22 /9 /7"]),
    "numbers in lines": lambda c: lines(c, ["/31 /8 /14", "/22 /9 /7 /10", "/3 /4 /5"]),
    "numbers without blanks": lambda c: lines(c, ["/31/8/14/22/9/7/40/41"]),
}


@pytest.mark.parametrize("draw", GARBAGE.values(), ids=GARBAGE)
def test_pages_of_garbage_go_to_ocr(
    read: Callable[..., list[Page]], ocr: list[tuple[int, int]], draw: Callable[[Any], None]
) -> None:
    (page,) = read(draw, ocr=True)
    assert (page.route, page.text) == ("ocr", "What OCR reads on this page, all of it.")
    assert page.confidence == 0.91
    assert len(ocr) == 1
    assert 1600 < max(ocr[0]) < 1800  # twice the points of A4


UNNAMED = {
    "private use": "<E001> <E002> <E003> <E004>",
    "private use of symbols": "<F0A1> <F0A2> <F0C3> <F0D4>",
    "the end of private use": "<F8F0> <F8F1> <F8F2> <F8F3>",
    "replacement": "<FFFD> <FFFD> <FFFD> <FFFD>",
    "some replaced": "<0061> <FFFD> <0062> <FFFD>",
    "one in four replaced": "<0061> <0063> <0062> <FFFD>",
    "control": "<0001> <0002> <0003> <0004>",
    "control of the second table": "<0081> <0082> <0083> <0084>",
    "control among letters": "<0061> <0002> <0062> <0004>",
}


def mapped(codes: str) -> bytes:
    """A PDF of a page whose font says that the letters A to D are other characters."""
    pairs = "\n".join(f"<{65 + n:02X}> {code}" for n, code in enumerate(codes.split()))
    cmap = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def "
        "1 begincodespacerange <00> <FF> endcodespacerange "
        f"4 beginbfchar\n{pairs}\nendbfchar endcmap end end"
    )
    text = "BT /F 12 Tf 72 700 Td (ABCD BCDA CDAB DABC ABCD DCBA BADC CBAD) Tj ET"
    return (
        "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
        "2 0 obj<</Type/Pages/Count 1/Kids[3 0 R]>>endobj\n"
        "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R"
        "/Resources<</Font<</F 5 0 R>>>>>>endobj\n"
        f"4 0 obj<</Length {len(text)}>>stream\n{text}\nendstream endobj\n"
        "5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 6 0 R>>endobj\n"
        f"6 0 obj<</Length {len(cmap)}>>stream\n{cmap}\nendstream endobj\n"
        "trailer<</Root 1 0 R>>\n%%EOF\n"
    ).encode()


@pytest.mark.parametrize("codes", UNNAMED.values(), ids=UNNAMED)
def test_characters_without_a_meaning_go_to_ocr(
    tmp_path: Path, ocr: list[tuple[int, int]], codes: str
) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(mapped(codes))
    engine: Any = lambda: None  # noqa: E731
    (page,) = read_pdf(Source(path, ocr=engine, deadline=1e12, seconds=60)).pages
    assert page.route == "ocr"
    assert len(ocr) == 1


def test_letters_mapped_to_letters_are_text(tmp_path: Path, ocr: list[tuple[int, int]]) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(mapped("<0074> <0065> <0061> <0072>"))
    engine: Any = lambda: None  # noqa: E731
    (page,) = read_pdf(Source(path, ocr=engine, deadline=1e12, seconds=60)).pages
    assert (page.route, page.text[:9]) == ("text", "tear eart")
    assert not ocr


def test_a_page_half_garbage_keeps_its_words_without_ocr(tmp_path: Path) -> None:
    def draw(canvas: Any) -> None:
        lines(canvas, [*prose(3, 4), *["(cid:12)(cid:7)(cid:88)(cid:3)(cid:12)(cid:7)"] * 4])

    (page,) = made(tmp_path, draw)[0].pages
    assert page.route == "text"
    assert prose(3, 4)[0] in page.text
    assert "cid" not in page.text
    assert "Page 1 is not read: it is scanned and OCR is off" in (page.warning or "")


def drawn(*texts: str, size: tuple[int, int] = (600, 300), ground: str = "white") -> Image.Image:
    image = Image.new("RGB", size, ground)
    for at, text in enumerate(texts):
        ImageDraw.Draw(image).text(
            (30, 30 + 60 * at), text, fill="black", font=ImageFont.load_default(36)
        )
    return image


def jpeg(image: Image.Image) -> ImageReader:
    data = io.BytesIO()
    image.save(data, "JPEG", quality=90)
    data.seek(0)
    return ImageReader(data)


HEADERS = {
    "a fax's line": ["FAX 12.03.2026 14:05 p. 1"],
    "a stamp of an archive": ["Received 12 March 2026", "File 80101911"],
    "a footer of the scanner": ["Scanned with the office's scanner", "Page 1 of 1"],
}


@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS)
def test_a_header_over_a_scanned_body_goes_to_ocr(
    read: Callable[..., list[Page]], ocr: list[tuple[int, int]], header: list[str]
) -> None:
    def draw(canvas: Any) -> None:
        canvas.drawImage(jpeg(drawn("Body")), 0, 0, 595, 780)
        lines(canvas, header, top=820)

    ocr_text = "What OCR reads on this page, all of it."
    (page,) = read(draw, ocr=True)
    assert len(ocr) == 1
    read_more = len(ocr_text.replace(" ", "")) > 1.5 * len("".join(header).replace(" ", ""))
    assert page.text == (ocr_text if read_more else "\n".join(header))


@pytest.mark.parametrize(("characters", "route"), [(1, "ocr"), (15, "ocr"), (16, "text")])
@pytest.mark.parametrize("blanks", [0, 3])
def test_a_page_of_fewer_than_sixteen_characters_counts_as_scanned(
    read: Callable[..., list[Page]],
    ocr: list[tuple[int, int]],
    characters: int,
    route: str,
    blanks: int,
) -> None:
    text = "abcdefghijklmnop"[:characters]
    spread = text[:5] + " " * blanks + text[5:]  # blanks do not count
    (page,) = read(lambda c: c.drawString(72, 700, spread), ocr=True)
    assert page.route == route
    assert len(ocr) == (route == "ocr")


def test_a_page_without_ink_is_blank(
    read: Callable[..., list[Page]], ocr: list[tuple[int, int]]
) -> None:
    white = ImageReader(Image.new("RGB", (400, 400), (250, 250, 248)))

    def draw(canvas: Any) -> None:
        canvas.showPage()
        canvas.drawImage(white, 0, 0, 595, 842)

    assert [page.route for page in read(draw, ocr=True)] == ["blank", "blank"]
    assert not ocr


BLOCK = ["[picture, read by OCR]", "What OCR reads on this page, all of it.", "[/picture]"]


def test_a_picture_stands_where_it_is_seen(
    read: Callable[..., list[Page]], ocr: list[tuple[int, int]]
) -> None:
    def draw(canvas: Any) -> None:
        canvas.drawImage(jpeg(drawn("Diagram")), 72, 420, 300, 150)
        lines(canvas, prose(1, 8), top=760)
        lines(canvas, prose(2, 8), top=380)

    (page,) = read(draw, ocr=True)
    assert page.pictures == 1
    text = page.text
    assert text.index(prose(1, 8)[-1]) < text.index("\n".join(BLOCK)) < text.index(prose(2, 8)[0])
    assert ocr == [(600, 300)]


def test_a_picture_beside_a_paragraph_does_not_cut_it(
    read: Callable[..., list[Page]], ocr: list[tuple[int, int]]
) -> None:
    body = textwrap.wrap(" ".join(prose(4, 10)), 60)

    def draw(canvas: Any) -> None:
        lines(canvas, body)
        canvas.drawImage(jpeg(drawn("Beside")), 430, 640, 120, 60)

    (page,) = read(draw, ocr=True)
    before = page.text.partition("\n\n[picture")[0]
    assert before.split() == " ".join(body).split()
    assert page.text.endswith("\n".join(BLOCK))


SMALL: dict[str, tuple[tuple[int, int], tuple[float, float]]] = {
    "few pixels": ((40, 40), (100, 100)),
    "shown small": ((600, 600), (15, 15)),
    "a rule": ((900, 64), (500, 15)),
    "narrow": ((64, 900), (15, 500)),
}


@pytest.mark.parametrize(("pixels", "shown"), SMALL.values(), ids=SMALL)
def test_small_pictures_are_passed_over(
    read: Callable[..., list[Page]],
    ocr: list[tuple[int, int]],
    pixels: tuple[int, int],
    shown: tuple[float, float],
) -> None:
    def draw(canvas: Any) -> None:
        lines(canvas, prose(1))
        canvas.drawImage(jpeg(drawn("x", size=pixels)), 72, 100, *shown)

    (page,) = read(draw, ocr=True)
    assert (page.pictures, ocr) == (0, [])


@pytest.mark.parametrize("shown", [(40, 20), (500, 36), (16, 160)])
def test_what_is_as_high_as_a_line_of_print_is_read(
    read: Callable[..., list[Page]], ocr: list[tuple[int, int]], shown: tuple[float, float]
) -> None:
    def draw(canvas: Any) -> None:
        lines(canvas, prose(1))
        pixels = (round(16 * shown[0]), round(16 * shown[1]))
        canvas.drawImage(jpeg(drawn("A banner", size=pixels)), 30, 100, *shown)

    (page,) = read(draw, ocr=True)
    assert (page.pictures, len(ocr)) == (1, 1)


def test_pictures_past_the_sixtieth_of_a_page_are_counted(
    tmp_path: Path, ocr: list[tuple[int, int]]
) -> None:
    def draw(canvas: Any) -> None:
        lines(canvas, prose(1, 2))
        for at in range(63):
            left, base = 40 + 55 * (at % 10), 640 - 45 * (at // 10)
            canvas.drawImage(jpeg(drawn(f"{at}", size=(100, 80))), left, base, 40, 32)

    draft, source = made(tmp_path, draw, ocr=True)
    (page,) = draft.pages
    assert page.pictures == 63
    assert page.text.count("[picture, read by OCR]") == len(ocr) == 60
    assert page.text.count("[picture, not read]") == 1
    assert source.pictures.warnings == [
        "3 pictures are not read: only the first 60 pictures of a page are read."
    ]


def plan(side: int) -> bytes:
    """A PDF of a page with a picture of ``side`` pixels squared, with black bars."""
    packer = zlib.compressobj(1)
    white, bar = b"\xff" * side, b"\xff" * (side // 4) + bytes(side // 2)
    bar = bar.ljust(side, b"\xff")
    rows = (bar if 40 * at // side % 4 == 1 else white for at in range(side))
    packed = b"".join([*map(packer.compress, rows), packer.flush()])
    text = "BT /F 12 Tf 72 800 Td (A plan of the house and the garden) Tj ET "
    text += "q 300 0 0 300 72 72 cm /I Do Q"
    head = (
        "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
        "2 0 obj<</Type/Pages/Count 1/Kids[3 0 R]>>endobj\n"
        "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R"
        "/Resources<</Font<</F 5 0 R>>/XObject<</I 6 0 R>>>>>>endobj\n"
        f"4 0 obj<</Length {len(text)}>>stream\n{text}\nendstream endobj\n"
        "5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\n"
        f"6 0 obj<</Type/XObject/Subtype/Image/Width {side}/Height {side}/BitsPerComponent 8"
        f"/ColorSpace/DeviceGray/Filter/FlateDecode/Length {len(packed)}>>stream\n"
    )
    return head.encode() + packed + b"\nendstream endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"


@pytest.mark.parametrize(("side", "route"), [(2_000, "ocr"), (7_000, "ocr"), (11_000, "unread")])
def test_a_plan_is_read_up_to_the_bound_of_all_pictures(
    tmp_path: Path, ocr: list[tuple[int, int]], side: int, route: str
) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(plan(side))
    engine: Any = lambda: None  # noqa: E731
    source = Source(path, ocr=engine, deadline=1e12, seconds=60)
    (page,) = read_pdf(source).pages
    assert [found.route for found in source.pictures.readings] == [route]
    assert page.pictures == 1
    assert ("120,000,000 are read" in "".join(source.pictures.warnings)) is (route == "unread")


def test_one_logo_on_many_pages_is_read_once(tmp_path: Path, ocr: list[tuple[int, int]]) -> None:
    logo = drawn("Mill and Garden")
    clear = logo.convert("RGBA")
    clear.putalpha(200)
    readers = [jpeg(logo), ImageReader(clear)]

    def draw(canvas: Any) -> None:
        for number in range(12):
            for at, reader in enumerate(readers):
                canvas.drawImage(reader, 72 + 200 * at, 700, 150, 75, mask="auto")
            lines(canvas, prose(number, 8), top=600)
            canvas.showPage()

    draft, source = made(tmp_path, draw, ocr=True)
    pages = list(draft.pages)
    assert [page.pictures for page in pages] == [2] * 12
    assert len(ocr) == 2
    assert [reading.page for reading in source.pictures.readings] == [1, 1]
    assert "[picture" not in "".join(page.text for page in pages[1:])


def test_a_picture_has_the_same_digest_in_another_file(
    tmp_path: Path, ocr: list[tuple[int, int]]
) -> None:
    figure = drawn("Figure 1")
    digests = []
    for top, reader in ((300, jpeg(figure)), (320, jpeg(figure)), (300, ImageReader(figure))):

        def draw(canvas: Any, top: float = top, reader: Any = reader) -> None:
            lines(canvas, prose(top))
            canvas.drawImage(reader, 72, top, 300, 150)

        draft, source = made(tmp_path, draw, ocr=True)
        assert [page.pictures for page in draft.pages] == [1]
        digests.append(source.pictures.readings[0].sha256)
    assert digests[0] == digests[1] != digests[2]


def test_a_picture_with_a_mask_is_seen_on_white(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mask = drawn("Black on nothing").convert("L").point(lambda grey: 255 - grey)
    letters = Image.new("RGBA", mask.size, (0, 0, 0, 0))
    letters.putalpha(mask)
    given: list[Image.Image] = []

    def recognised(image: Image.Image, source: Source) -> Recognised:
        given.append(image)
        return Recognised("ocr", "seen", 1.0)

    monkeypatch.setattr("emily.reading.pictures.recognised", recognised)

    def draw(canvas: Any) -> None:
        lines(canvas, prose(1))
        canvas.drawImage(ImageReader(letters), 72, 200, 300, 150, mask="auto")

    list(made(tmp_path, draw, ocr=True)[0].pages)
    (image,) = given
    grey = np.asarray(image.convert("L"))
    assert grey[0, 0] > 240
    assert grey.min() < 60
    assert reading_image.has_ink(image)


@pytest.mark.parametrize("share", [1.0, 0.8, 0.6])
def test_the_ground_under_a_text_is_no_picture(
    read: Callable[..., list[Page]], ocr: list[tuple[int, int]], share: float
) -> None:
    ground = jpeg(drawn(ground="lightyellow"))

    def draw(canvas: Any) -> None:
        canvas.drawImage(ground, 0, 842 * (1 - share), 595, 842 * share)
        lines(canvas, prose(1))

    (page,) = read(draw, ocr=True)
    assert (page.route, page.pictures, ocr) == ("text", 0, [])


def booklet(canvas: Any, top: Callable[[int], str], foot: Callable[[int], str]) -> None:
    for number in range(1, 9):
        canvas.drawString(72, 810, top(number))
        lines(canvas, prose(number))
        canvas.drawString(280, 30, foot(number))
        canvas.showPage()


@pytest.mark.parametrize(
    "foot", ["{}", "Page {} of 8", "- {} -", "Seite {}/8", "Mill and Garden | {}", "p. {}"]
)
def test_what_repeats_stays_where_it_first_stands(
    read: Callable[..., list[Page]], foot: str
) -> None:
    pages = read(lambda c: booklet(c, lambda _: "File A-17: the mill", foot.format))
    assert pages[0].text.split("\n\n")[0] == "File A-17: the mill"
    assert pages[0].text.endswith(foot.format(1))
    for page in pages[1:]:
        assert page.text.strip().split() == " ".join(prose(page.number)).split()


KEPT: dict[str, tuple[Callable[[int], str], Callable[[int], str]]] = {
    "numbers of invoices": (lambda n: f"Invoice No. {n + 100}", lambda n: f"due: {n * 37} euro"),
    "chapters": (lambda n: f"Chapter {WORDS[n]}", lambda n: f"{WORDS[n]} {WORDS[n - 1]}"),
    "numbers that do not count": (lambda n: f"{n * n + 40}", lambda n: f"Total {n * 7919 % 100}"),
}


@pytest.mark.parametrize(("top", "foot"), KEPT.values(), ids=KEPT)
def test_what_differs_from_page_to_page_stays(
    read: Callable[..., list[Page]], top: Callable[[int], str], foot: Callable[[int], str]
) -> None:
    for page in read(lambda c: booklet(c, top, foot)):
        assert top(page.number) in page.text
        assert foot(page.number) in page.text


def test_two_pages_are_too_few_to_repeat(read: Callable[..., list[Page]]) -> None:
    def draw(canvas: Any) -> None:
        for number in (1, 2):
            canvas.drawString(72, 810, "Mill and Garden")
            lines(canvas, prose(number))
            canvas.showPage()

    assert all("Mill and Garden" in page.text for page in read(draw))


def test_a_page_that_says_nothing_else_keeps_what_repeats(
    read: Callable[..., list[Page]],
) -> None:
    def draw(canvas: Any) -> None:
        for _ in range(5):
            canvas.drawString(72, 810, "This page is left for your own notes")
            canvas.showPage()

    assert all(page.text == "This page is left for your own notes" for page in read(draw))


def test_headers_of_left_and_right_pages(read: Callable[..., list[Page]]) -> None:
    pages = read(lambda c: booklet(c, lambda n: ("The mill", "The garden")[n % 2], str))
    assert ["The mill" in page.text for page in pages] == [False, True] + [False] * 6
    assert ["The garden" in page.text for page in pages] == [True] + [False] * 7


def test_the_header_of_a_table_that_goes_on_stays(read: Callable[..., list[Page]]) -> None:
    def draw(canvas: Any) -> None:
        for number in range(5):
            rows = [["Day", "Came", "Left"]]
            rows += [[f"{n}.{number + 1}.", f"8:{n + 10}", f"17:{n + 20}"] for n in range(20)]
            for at, row in enumerate(rows):
                for left, cell in zip((72, 200, 300), row, strict=True):
                    canvas.drawString(left, 800 - 14 * at, cell)
            canvas.showPage()

    assert all(page.text.startswith("| Day | Came | Left |") for page in read(draw))


def locked(canvas: Any) -> None:
    lines(canvas, [SENTENCE])


@pytest.mark.parametrize("strength", [40, 128])
def test_a_password_opens(read: Callable[..., list[Page]], strength: int) -> None:
    key = StandardEncryption("open sesame", ownerPassword="owner", strength=strength)
    assert read(locked, "wrong", "open sesame", encrypt=key)[0].text == SENTENCE


def test_without_the_password_none_is_read(read: Callable[..., list[Page]]) -> None:
    for given, said in (
        ((), r"^the PDF opens only with a password$"),
        (("wrong",), "none of those known fits"),
        (("wrong", "Open Sesame", ""), "none of those known fits"),
    ):
        key = StandardEncryption("open sesame", ownerPassword="owner", strength=128)
        with pytest.raises(PasswordRequired, match=said):
            read(locked, *given, encrypt=key)


@pytest.mark.parametrize("strength", [40, 128])
def test_an_owner_password_alone_opens(read: Callable[..., list[Page]], strength: int) -> None:
    key = StandardEncryption("", ownerPassword="owner", strength=strength, canPrint=0)
    assert read(locked, encrypt=key)[0].text == SENTENCE


def with_properties(folder: Path, **values: str) -> Draft:
    """A PDF whose properties are these."""
    fields = "".join(f"/{name}({value})" for name, value in values.items())
    plain = mapped("<0074> <0065> <0061> <0072>")
    info = f"7 0 obj<<{fields}>>endobj\ntrailer<</Root 1 0 R/Info 7 0 R>>\n%%EOF\n"
    path = folder / "a.pdf"
    path.write_bytes(plain.partition(b"trailer")[0] + info.encode())
    return read_pdf(Source(path, ocr=None, deadline=1e12, seconds=60))


@pytest.mark.parametrize(
    ("created", "changed", "day"),
    [
        ("D:20260312094500+01'00'", "D:20260401", "2026-03-12"),
        ("", "D:20251231235959Z", "2025-12-31"),
        ("2024-02-29T10:00:00", "", "2024-02-29"),
        ("D:20260230", "", None),
        ("D:19700101000000Z", "", None),
        ("D:2026", "", None),
        ("yesterday", "", None),
    ],
)
def test_author_and_date_from_the_properties(
    tmp_path: Path, created: str, changed: str, day: str | None
) -> None:
    given = {"Author": "A. Example", "Title": "The lease"}
    dates = {"CreationDate": created, "ModDate": changed}
    draft = with_properties(
        tmp_path, **given, **{name: text for name, text in dates.items() if text}
    )
    facts = draft.facts
    assert (facts.author, draft.title) == ("A. Example", "The lease")
    assert (facts.date and facts.date.isoformat()) == day
    assert facts.date_source == (None if day is None else "metadata")
    list(draft.pages)


@pytest.mark.parametrize("name", ["anonymous", "(unspecified)", "Unknown"])
def test_no_author_is_no_author(tmp_path: Path, name: str) -> None:
    draft = with_properties(tmp_path, Author=name.replace("(", "\\(").replace(")", "\\)"))
    assert draft.facts.author is None
    list(draft.pages)
