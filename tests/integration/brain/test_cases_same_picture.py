"""A picture that several documents hold is read once across the archive."""

from __future__ import annotations

import io
import json
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import docx
import pptx
import pytest
from docx.shared import Inches
from PIL import Image, ImageDraw
from tests.contract.vision import Server

from emily.brain import Brain

OpenBrain = Callable[..., Awaitable[Brain]]


@pytest.fixture
def model() -> Iterator[Server]:
    """A vision model that says the same of every picture, and counts them."""
    end = json.dumps({"message": {"content": ""}, "done": True, "done_reason": "stop"})
    made = Server(lambda piece: json.dumps({"message": {"content": piece}}), end)
    made.pieces = ["A plan of the ", "cellar."]
    with made.running():
        yield made


def picture(shade: int = 0) -> io.BytesIO:
    image = Image.new("RGB", (400, 200), "white")
    ImageDraw.Draw(image).rectangle((40, 40, 300, 150), fill=(shade, 0, 0))
    data = io.BytesIO()
    image.save(data, "PNG")
    data.seek(0)
    return data


def word(path: Path, text: str, *pictures: io.BytesIO) -> Path:
    document = docx.Document()
    document.add_paragraph(text)
    for one in pictures:
        document.add_picture(one, width=Inches(2))
    document.save(str(path))
    return path


def slides(path: Path, text: str, *pictures: io.BytesIO) -> Path:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    slide.shapes.add_textbox(0, 0, Inches(4), Inches(1)).text_frame.text = text
    for one in pictures:
        slide.shapes.add_picture(one, 0, Inches(2), Inches(2))
    deck.save(str(path))
    return path


@pytest.mark.parametrize("second", [word, slides])
async def test_the_same_picture_in_another_document_is_not_read_again(
    open_brain: OpenBrain, folder: Path, model: Server, second: Callable[..., Path]
) -> None:
    brain = await open_brain(ocr=False, vision="ollama", vision_url=model.url)
    first = word(folder / "a.docx", "La caldaia perde acqua.", picture())
    (added,) = (await brain.add([first])).files
    assert (added.outcome, added.state, len(model.requests)) == ("added", "read", 1)
    other = second(folder / f"b.{second.__name__[:4]}", "Il cancello verde.", picture())
    (added,) = (await brain.add([other])).files
    assert (added.outcome, added.state, len(model.requests)) == ("added", "read", 1)
    found = (await brain.search("plan cellar", threshold=0)).results
    assert {result.document.name for result in found} == {"a.docx", other.name}


async def test_another_picture_and_another_model_are_asked_for(
    open_brain: OpenBrain, folder: Path, model: Server
) -> None:
    brain = await open_brain(ocr=False, vision="ollama", vision_url=model.url)
    await brain.add([word(folder / "a.docx", "La caldaia.", picture(), picture(200))])
    assert len(model.requests) == 2
    other = await open_brain(
        ocr=False, vision="ollama", vision_url=model.url, vision_model="another"
    )
    await other.add([word(folder / "b.docx", "Il cancello.", picture())])
    assert [body["model"] for _, _, body in model.requests][2:] == ["another"]


async def test_a_picture_is_forgotten_with_its_last_document(
    open_brain: OpenBrain, folder: Path, model: Server
) -> None:
    brain = await open_brain(ocr=False, vision="ollama", vision_url=model.url)
    await brain.add([word(folder / "a.docx", "La caldaia.", picture())])
    await brain.add([word(folder / "b.docx", "Il cancello.", picture())])
    await brain.remove("a.docx")
    await brain.add([word(folder / "c.docx", "La torta.", picture())])
    assert len(model.requests) == 1
    await brain.remove("b.docx")
    await brain.remove("c.docx")
    await brain.add([word(folder / "d.docx", "Il contatore.", picture())])
    assert len(model.requests) == 2


async def test_a_picture_that_was_not_read_is_read_once_something_can(
    open_brain: OpenBrain, folder: Path, model: Server
) -> None:
    path = word(folder / "a.docx", "La caldaia perde acqua.", picture())
    blind = await open_brain(ocr=False)
    (added,) = (await blind.add([path])).files
    assert (added.outcome, added.state) == ("added", "in part")
    assert (await blind.add([path])).counts() == {"unchanged": 1}
    seeing = await open_brain(ocr=False, vision="ollama", vision_url=model.url)
    (again,) = (await seeing.add([path])).files
    assert (again.outcome, again.state, len(model.requests)) == ("replaced", "read", 1)
    assert (await seeing.add([path])).counts() == {"unchanged": 1}
    assert (await seeing.search("plan cellar", threshold=0)).results
