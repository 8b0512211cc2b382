"""Files of pictures: every format and depth that people keep becomes a plain upright page."""

from __future__ import annotations

import base64
import io
import struct
import time
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageCms

from emily.errors import LimitExceeded, ReadingError
from emily.reading.kind import detect
from emily.reading.ocr.image import read_image
from emily.reading.ocr.lines import Line
from emily.reading.ocr.raster import bound, flatten, opened
from emily.reading.source import Source

# 192 x 128 pixels, white with a black square from (16, 16) to (64, 64); encoded once from that
# description, for nothing that may be imported here encodes HEVC.
ONE_HEIC = base64.b64decode(
    "AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAVVtZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAA"
    "AAAAAAAAAAAAACJpbG9jAAAAAERAAAEAAQAAAAABeQABAAAAAAAAACYAAAAjaWluZgAAAAAAAQAAABVpbmZlAgAA"
    "AAABAABodmMxAAAAAA5waXRtAAAAAAABAAAA1WlwcnAAAAC2aXBjbwAAAHdodmNDAQNwAAAAkAAAAAAAHvAA/P34"
    "+AAADwNgAAEAGEABDAH//wNwAAADAJAAAAMAAAMAHroCQGEAAQAqQgEBA3AAAAMAkAAAAwAAAwAeoBggIFlupJKa"
    "5uAhoMCAAAAMgAAAAwCEYgABAAdEAcFysGJAAAAAE2NvbHJuY2x4AAEADQAGgAAAABRpc3BlAAAAAAAAAMAAAACA"
    "AAAAEHBpeGkAAAAAAwgICAAAABdpcG1hAAAAAAAAAAEAAQSBAgMEAAAALm1kYXQAAAAiKAGvBBRZQPx93kNN1WXD"
    "/v9vhhpV0zgeBCzHXYAVgGaRMA=="
)
# The same, and a second picture with the square from (96, 32) to (176, 112).
TWO_HEIC = base64.b64decode(
    "AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAYNtZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAA"
    "AAAAAAAAAAAAADRpbG9jAAAAAERAAAIAAQAAAAABpwABAAAAAAAAACYAAgAAAAABzQABAAAAAAAAAC4AAAA4aWlu"
    "ZgAAAAAAAgAAABVpbmZlAgAAAAABAABodmMxAAAAABVpbmZlAgAAAAACAABodmMxAAAAAA5waXRtAAAAAAABAAAA"
    "3GlwcnAAAAC2aXBjbwAAAHdodmNDAQNwAAAAkAAAAAAAHvAA/P34+AAADwNgAAEAGEABDAH//wNwAAADAJAAAAMA"
    "AAMAHroCQGEAAQAqQgEBA3AAAAMAkAAAAwAAAwAeoBggIFlupJKa5uAhoMCAAAAMgAAAAwCEYgABAAdEAcFysGJA"
    "AAAAE2NvbHJuY2x4AAEADQAGgAAAABRpc3BlAAAAAAAAAMAAAACAAAAAEHBpeGkAAAAAAwgICAAAAB5pcG1hAAAA"
    "AAAAAAIAAQSBAgMEAAIEgQIDBAAAAFxtZGF0AAAAIigBrwQUWUD8fd5DTdVlw/7/b4YaVdM4HgQsx12AFYBmkTAA"
    "AAAqKAGvBBRawPwd1z6b1Ze3CMqhH/9m96bvevhCFICpkJK6R4YS7lGvInmA"
)


class Seen:
    """An engine that keeps what it is shown."""

    def __init__(self) -> None:
        self.pictures: list[Image.Image] = []

    def recognise(self, image: Image.Image) -> list[Line]:
        self.pictures.append(image)
        return [Line(f"page {len(self.pictures)}", 0.99, 10, 10, 90, 30)]


def plain(size: tuple[int, int] = (192, 128)) -> Image.Image:
    """White with a black square at the upper left."""
    image = Image.new("RGB", size, "white")
    image.paste("black", (16, 16, 64, 64))
    return image


def saved(image: Image.Image, kind: str, **options: Any) -> Image.Image:
    data = io.BytesIO()
    image.save(data, kind, **options)
    return opened(io.BytesIO(data.getvalue()))


def is_plain(image: Image.Image) -> bool:
    """Whether the black square is where it belongs, and the rest is white."""
    inside, outside = image.getpixel((40, 40)), image.getpixel((image.width - 20, 100))
    return image.mode == "RGB" and max(inside) < 40 and min(outside) > 215


def sixteen() -> Image.Image:
    grey = np.full((128, 192), 61_000, np.uint16)
    grey[16:64, 16:64] = 900
    return saved(Image.fromarray(grey), "PNG")


def palette(transparent: bool) -> Image.Image:
    image = Image.new("P", (192, 128), 1)
    image.putpalette([0, 0, 0, 255, 255, 255, 200, 30, 30])
    image.paste(0, (16, 16, 64, 64))
    return saved(image, "PNG", **({"transparency": 1} if transparent else {}))


def clear() -> Image.Image:
    image = Image.new("RGBA", (192, 128), (0, 0, 0, 0))
    image.paste((0, 0, 0, 255), (16, 16, 64, 64))
    return image


def floating() -> Image.Image:
    grey = np.ones((128, 192), np.float32)
    grey[16:64, 16:64] = 0
    grey[0, 0] = np.nan
    return saved(Image.fromarray(grey), "TIFF")


def lab() -> Image.Image:
    profiles = ImageCms.createProfile("sRGB"), ImageCms.createProfile("LAB")
    turned = ImageCms.profileToProfile(plain(), *profiles, outputMode="LAB")
    assert turned is not None
    return saved(turned, "TIFF")


FORMS = {
    "bilevel TIFF": lambda: saved(plain().convert("1"), "TIFF", compression="group4"),
    "bilevel PNG": lambda: saved(plain().convert("1"), "PNG"),
    "grey with alpha": lambda: saved(clear().convert("LA"), "PNG"),
    "colour with alpha": lambda: saved(clear(), "PNG"),
    "transparent WEBP": lambda: saved(clear(), "WEBP", lossless=True),
    "transparent GIF": lambda: saved(clear(), "GIF"),
    "palette": lambda: palette(False),
    "palette with a transparent colour": lambda: palette(True),
    "16 bits": sixteen,
    "16 bits TIFF": lambda: saved(sixteen(), "TIFF", compression="tiff_lzw"),
    "floating": floating,
    "CMYK JPEG": lambda: saved(plain().convert("CMYK"), "JPEG", quality=95),
    "CMYK TIFF": lambda: saved(plain().convert("CMYK"), "TIFF"),
    "grey JPEG": lambda: saved(plain().convert("L"), "JPEG", quality=90),
    "progressive JPEG": lambda: saved(plain(), "JPEG", progressive=True, quality=90),
    "YCbCr TIFF": lambda: saved(plain(), "TIFF", compression="jpeg"),
    "LAB TIFF": lab,
    "JPEG 2000": lambda: saved(plain(), "JPEG2000"),
    "BMP": lambda: saved(plain(), "BMP"),
    "AVIF": lambda: saved(plain(), "AVIF", quality=80),
    "HEIC": lambda: opened(io.BytesIO(ONE_HEIC)),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_becomes_black_on_white(form: str) -> None:
    image = FORMS[form]()
    bound(image)
    flat = flatten(image)
    assert flat.size == (192, 128)
    assert is_plain(flat)


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
def test_white_print_on_nothing_is_laid_on_black(mode: str) -> None:
    image = Image.new("RGBA", (192, 128), (0, 0, 0, 0))
    image.paste((255, 255, 255, 255), (16, 16, 64, 64))
    options = {"save_all": True} if mode == "P" else {}
    flat = flatten(saved(image.convert(mode) if mode == "LA" else image,
                         "GIF" if mode == "P" else "PNG", **options))  # fmt: skip
    assert flat.getpixel((40, 40)) == (255, 255, 255)
    assert flat.getpixel((150, 100)) == (0, 0, 0)


@pytest.mark.parametrize("level", [30_000, 52_000, 64_800])
def test_the_grain_of_16_bits_is_not_spread_to_black_and_white(level: int) -> None:
    grain = np.random.default_rng(1).integers(0, 700, (90, 90)).astype(np.uint16)
    flat = np.asarray(flatten(saved(Image.fromarray(grain + np.uint16(level)), "PNG")))
    assert np.ptp(flat) < 10


@pytest.mark.parametrize("orientation", range(2, 9))
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF"])
def test_the_orientation_that_a_camera_writes_is_followed(kind: str, orientation: int) -> None:
    undo = {2: 0, 3: 3, 4: 1, 5: 5, 6: 2, 7: 6, 8: 4}  # of Image.Transpose
    stored = plain().transpose(Image.Transpose(undo[orientation]))
    exif = Image.Exif()
    exif[0x0112] = orientation
    flat = flatten(saved(stored, kind, exif=exif))
    assert flat.size == (192, 128)
    assert is_plain(flat)


@pytest.mark.parametrize(
    ("dpi", "size"),
    [
        ((204, 98), (192, 266)),  # a fax of standard resolution
        ((204, 196), (192, 128)),  # a fax of fine resolution: nearly square
        ((100, 200), (384, 128)),
        ((200, 200), (192, 128)),
        ((72, 7200), (192, 128)),  # nonsense
        ((0, 0), (192, 128)),
    ],
)
def test_pixels_that_are_not_square_are_put_right(
    dpi: tuple[int, int], size: tuple[int, int]
) -> None:
    for mode in ("1", "L", "RGB"):
        flat = flatten(saved(plain().convert(mode), "TIFF", dpi=dpi))
        assert flat.size == size


@pytest.mark.parametrize("orientation", [6, 8])
def test_a_lying_fax_is_turned_and_put_right(orientation: int) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    lying = plain().transpose(
        Image.Transpose.ROTATE_90 if orientation == 6 else Image.Transpose.ROTATE_270
    )
    flat = flatten(saved(lying, "TIFF", dpi=(98, 204), exif=exif))
    assert flat.size == (192, 266)


def read(path: Path) -> tuple[list[str], list[str], Seen]:
    seen = Seen()
    draft = read_image(Source(path, lambda: seen, time.monotonic() + 60, 60))
    pages = list(draft.pages)
    assert [page.number for page in pages] == list(range(1, len(pages) + 1))
    return [page.text for page in pages], draft.warnings, seen


@pytest.mark.parametrize("count", [2, 3, 7])
@pytest.mark.parametrize("compression", ["tiff_lzw", "group4", "jpeg"])
def test_a_tiff_has_a_page_per_frame(count: int, compression: str, tmp_path: Path) -> None:
    mode = "1" if compression == "group4" else "RGB"
    first, *others = [plain((192 + n, 128)).convert(mode) for n in range(count)]
    path = tmp_path / "a.tif"
    first.save(path, save_all=True, append_images=others, compression=compression)
    texts, warnings, _ = read(path)
    assert texts == [f"page {n}" for n in range(1, count + 1)]
    assert warnings == []


def test_a_broken_frame_does_not_lose_the_others(tmp_path: Path) -> None:
    frames = [plain((192 + n, 128)) for n in range(3)]
    path = tmp_path / "a.tif"
    frames[0].save(path, save_all=True, append_images=frames[1:], compression="tiff_adobe_deflate")
    data = bytearray(path.read_bytes())
    with Image.open(path) as image:
        image.seek(1)
        place = image.tag_v2[273][0]  # type: ignore[attr-defined]
    data[place : place + 40] = b"\xff" * 40
    path.write_bytes(data)
    seen = Seen()
    draft = read_image(Source(path, lambda: seen, time.monotonic() + 60, 60))
    routes = [(page.number, page.route) for page in draft.pages]
    assert routes == [(1, "ocr"), (2, "unread"), (3, "ocr")]


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG", "AVIF"])
def test_of_an_animation_the_first_frame_is_read(kind: str, tmp_path: Path) -> None:
    frames = [plain(), Image.new("RGB", (192, 128), "white"), Image.new("RGB", (192, 128), "red")]
    path = tmp_path / f"a.{kind.lower()}"
    frames[0].save(path, kind, save_all=True, append_images=frames[1:], duration=100)
    texts, warnings, seen = read(path)
    assert texts == ["page 1"]
    assert warnings == ["Only the first of 3 frames of the animation is read."]
    assert is_plain(seen.pictures[0].resize((192, 128)))


def test_the_second_picture_of_an_mpo_is_a_view_of_the_first(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    plain().save(path, "MPO", save_all=True, append_images=[plain()])
    texts, warnings, _ = read(path)
    assert (texts, warnings) == (["page 1"], [])


@pytest.mark.parametrize(("data", "count"), [(ONE_HEIC, 1), (TWO_HEIC, 2)])
def test_heic_is_read_picture_by_picture(data: bytes, count: int, tmp_path: Path) -> None:
    path = tmp_path / "IMG_0001.HEIC"
    path.write_bytes(data)
    assert detect(path).name == "image"
    texts, warnings, seen = read(path)
    assert texts == [f"page {n}" for n in range(1, count + 1)]
    assert warnings == []
    first = seen.pictures[0].resize((192, 128))
    assert is_plain(first)
    if count == 2:
        assert max(seen.pictures[1].resize((192, 128)).getpixel((130, 70))) < 40


@pytest.mark.parametrize("data", [ONE_HEIC, TWO_HEIC], ids=["one", "two"])
@pytest.mark.parametrize("share", [0.1, 0.3, 0.7])
def test_a_heic_without_its_end_is_broken(data: bytes, share: float, tmp_path: Path) -> None:
    path = tmp_path / "a.heic"
    path.write_bytes(data[: int(share * len(data))])
    with pytest.raises(ReadingError, match="the picture is broken"):
        read_image(Source(path, Seen, time.monotonic() + 60, 60))


@pytest.mark.parametrize(
    ("data", "routes"), [(ONE_HEIC, ["unread"]), (TWO_HEIC, ["ocr", "unread"])]
)
def test_of_a_heic_cut_short_the_rest_is_read(
    data: bytes, routes: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "a.heic"
    path.write_bytes(data[:-20])
    seen = Seen()
    pages = list(read_image(Source(path, lambda: seen, time.monotonic() + 60, 60)).pages)
    assert [page.route for page in pages] == routes
    assert "its picture is broken" in str(pages[-1].warning)
    assert "\n" not in str(pages[-1].warning)


def png_bomb(side: int) -> bytes:
    def chunk(name: bytes, data: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(name + data))
        return struct.pack(">I", len(data)) + name + data + check

    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
            + chunk(b"IDAT", zlib.compress(bytes(9000))) + chunk(b"IEND", b""))  # fmt: skip


def gif_bomb() -> bytes:
    size = struct.pack("<HH", 60_000, 60_000)
    return (b"GIF89a" + size + b"\x80\0\0" + b"\0\0\0\xff\xff\xff"
            + b"," + bytes(4) + size + b"\0\x02\x02L\x01\0;")  # fmt: skip


def tiff_bomb() -> bytes:
    tags = [(256, 40_000), (257, 40_000), (258, 8), (259, 1), (262, 1), (273, 8), (277, 1),
            (278, 40_000), (279, 4)]  # fmt: skip
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags)
    return (
        b"II*\0" + struct.pack("<IHH", 12, 0, 0) + struct.pack("<H", len(tags)) + entries + bytes(4)
    )


def jpeg_bomb() -> bytes:
    data = io.BytesIO()
    plain().save(data, "JPEG", progressive=True)
    made = bytearray(data.getvalue())
    at = made.index(b"\xff\xc2") + 5
    made[at : at + 4] = struct.pack(">HH", 40_000, 40_000)
    return bytes(made)


BOMBS = {
    "1.6 gigapixels of PNG": png_bomb(40_000),
    "3.6 gigapixels of GIF": gif_bomb(),
    "1.6 gigapixels of TIFF": tiff_bomb(),
    "1.6 gigapixels of progressive JPEG": jpeg_bomb(),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_picture_that_would_fill_the_memory_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(BOMBS[name])
    began = time.monotonic()
    with pytest.raises(LimitExceeded, match=r"0,000 x \d0,000 pixels .*at most 120 million"):
        read_image(Source(path, Seen, time.monotonic() + 60, 60))
    assert time.monotonic() - began < 5


def test_a_large_jpeg_is_decoded_smaller(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    page = Image.new("L", (12_000, 11_000), 255)
    page.paste(0, (1000, 1000, 4000, 4000))
    page.save(path, "JPEG", quality=30)
    image = opened(path)
    bound(image)
    assert image.size == (6000, 5500)
    assert is_plain(flatten(image).resize((192, 128)))


def test_a_frame_that_is_a_bomb_is_left_out_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.tif"
    plain().save(path, save_all=True, append_images=[plain((193, 128))])
    data = bytearray(path.read_bytes())
    # The second directory's width and height, each an entry of 12 bytes: tag, type, count, value.
    first = struct.unpack_from("<I", data, 4)[0]
    count = struct.unpack_from("<H", data, first)[0]
    place = struct.unpack_from("<I", data, first + 2 + 12 * count)[0]
    for entry in range(struct.unpack_from("<H", data, place)[0]):
        at = place + 2 + 12 * entry
        if struct.unpack_from("<H", data, at)[0] in {256, 257}:
            struct.pack_into("<HII", data, at + 2, 4, 1, 40_000)
    path.write_bytes(data)
    seen = Seen()
    pages = list(read_image(Source(path, lambda: seen, time.monotonic() + 60, 60)).pages)
    assert [page.route for page in pages] == ["ocr", "unread"]
    assert "40,000 x 40,000 pixels" in str(pages[1].warning)
