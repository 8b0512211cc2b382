"""The frames between reader and worker."""

from __future__ import annotations

import json
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emily.reading import frames
from emily.reading.pages import Correspondent, Facts, Page, PictureReading, Table

TEXT = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=200)


@st.composite
def page_with_tables(draw: st.DrawFn) -> Page:
    text = draw(TEXT).replace("\r", "\n")
    lines = text.count("\n") + 1
    ends = sorted(draw(st.sets(st.integers(0, lines - 1), max_size=6)))
    spans = [(begin, begin) for begin in ends]
    header = spans[0] if spans and draw(st.booleans()) else None
    table = Table(header, tuple(spans[1:] if header else spans))
    return Page(
        number=draw(st.integers(1, 10_000)),
        text=text,
        route=draw(st.sampled_from(["text", "ocr", "vision", "blank", "unread"])),
        tables=(table,) if spans else (),
        warning=draw(st.none() | TEXT),
    )


@given(page_with_tables())
def test_a_page_survives_the_way_through_a_frame(page: Page) -> None:
    frame = frames.encode(frames.page_fields(page))
    assert frames.length(frame[:4]) == len(frame) - 4
    assert frames.to_page(frames.decode(frame[4:]), page.number) == page


def test_nul_comes_through_no_field() -> None:
    page = Page(1, "speci\0cation\0\n\0| x |", tables=(Table(None, ((1, 1),)),), warning="a\0b")
    found = frames.to_page(frames.decode(frames.encode(frames.page_fields(page))[4:]), 1)
    assert (found.text, found.warning) == ("specication\n| x |", "ab")
    assert found.tables == page.tables
    facts = Facts(
        author="A\0da",
        correspondents=(Correspondent("from", "Br\0uno", "b\0@example.org"),),
        message_id="\0id",
        references=("on\0e", "two"),
    )
    known = frames.to_facts(frames.decode(frames.encode(frames.facts_fields(facts))[4:]))
    assert known == Facts(
        author="Ada",
        correspondents=(Correspondent("from", "Bruno", "b@example.org"),),
        message_id="id",
        references=("one", "two"),
    )
    picture = PictureReading(bytes(32), 1, "ocr", "Total\0 12", 0.5)
    assert frames.to_picture(frames.picture_fields(picture)).text == "Total 12"


@given(st.binary(max_size=300))
def test_any_bytes_are_a_message_or_a_frame_error(body: bytes) -> None:
    try:
        message = frames.decode(body)
    except frames.FrameError:
        return
    assert isinstance(message, dict)


def test_an_announced_size_above_the_limit_is_refused() -> None:
    with pytest.raises(frames.FrameError, match="announced 4,294,967,295 bytes"):
        frames.length(struct.pack(">I", 0xFFFFFFFF))


def test_json_nested_without_end_is_refused() -> None:
    with pytest.raises(frames.FrameError, match="not JSON"):
        frames.decode(b"[" * 200_000)


GOOD: dict[str, Any] = {
    "type": "page",
    "number": 1,
    "text": "a\nb\nc",
    "route": "text",
    "tables": [],
    "warning": None,
    "confidence": None,
    "pictures": 0,
}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"number": 2}, "page 2 came where 1 was due"),
        ({"route": "magic"}, "route 'magic'"),
        ({"text": 7}, "'text' is a int"),
        ({"text": "a\rb"}, "carriage return"),
        ({"text": "\ud83d"}, "half of a surrogate pair"),
        ({"tables": None}, "no list of tables"),
        ({"tables": [{"header": None, "rows": [[0, 3]]}]}, "outside the text"),
        ({"tables": [{"header": None, "rows": [[1, 1], [0, 0]]}]}, "out of order"),
        ({"tables": [{"header": [0], "rows": []}]}, "not two line numbers"),
        ({"tables": [7]}, "not an object with rows"),
        ({"warning": []}, "'warning' is a list"),
    ],
)
def test_a_page_with_a_wrong_field_is_refused(change: dict[str, Any], reason: str) -> None:
    message = json.loads(json.dumps(GOOD | change))
    with pytest.raises(frames.FrameError, match=reason):
        frames.to_page(message, 1)
