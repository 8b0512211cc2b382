"""Notebooks: cells in order, with code, outputs, tables and pictures."""

from __future__ import annotations

import base64
import contextlib
import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from emily.errors import EmptyDocument, ReadingError
from emily.reading.data.notebook import read_notebook
from emily.reading.kind import detect
from emily.reading.pages import Page
from emily.reading.source import Draft, Source

Make = Callable[..., Source]


def picture() -> str:
    file = io.BytesIO()
    image = Image.new("RGB", (100, 100), "white")
    image.paste("black", (20, 20, 80, 80))
    image.save(file, "PNG")
    return base64.encodebytes(file.getvalue()).decode()


def book(*cells: dict[str, Any], **metadata: Any) -> bytes:
    held = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(held).encode()


def note(text: str | list[str], **fields: Any) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": text, **fields}


def code(text: str | list[str], *outputs: dict[str, Any]) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": {}, "source": text, "outputs": outputs}


def result(**data: Any) -> dict[str, Any]:
    named = {name.replace("_", "/"): value for name, value in data.items()}
    return {"output_type": "execute_result", "data": named, "metadata": {}}


def only(draft: Draft) -> Page:
    [page] = draft.pages
    return page


def text(source: Make, *cells: dict[str, Any]) -> str:
    return only(read_notebook(source(book(*cells), "x.ipynb"))).text


def test_cells_in_order(source: Make) -> None:
    file = source(
        book(
            note(["# Titolo\n", "\n", "Testo con *enfasi*"]),
            code("a = 1\nprint(a)", {"output_type": "stream", "name": "stdout", "text": ["1\n"]}),
            {"cell_type": "raw", "source": "grezzo", "metadata": {}},
            note("Fine"),
            language_info={"name": "python"},
        ),
        "x.ipynb",
    )
    assert detect(file.path).name == "notebook"
    draft = read_notebook(file)
    assert only(draft).text == (
        "# Titolo\n\nTesto con *enfasi*\n\n```python\na = 1\nprint(a)\n```\n\n```\n1\n```\n\n"
        "grezzo\n\nFine"
    )
    assert (draft.title, draft.citation, draft.warnings) == ("Titolo", "none", [])


@pytest.mark.parametrize(
    ("cells", "metadata", "title"),
    [
        ([note("# Uno")], {"title": "Dal metadata"}, "Dal metadata"),
        ([note("testo"), note("## no\n\n# Due #")], {}, "Due"),
        ([note("testo")], {}, None),
        ([code("# commento")], {}, None),
    ],
)
def test_title(source: Make, cells: list[dict[str, Any]], metadata: Any, title: str | None) -> None:
    assert read_notebook(source(book(*cells, **metadata), "x.ipynb")).title == title


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        (result(text_plain="42"), "```\n42\n```"),
        (result(text_plain=["[1,\n", " 2]"]), "```\n[1,\n 2]\n```"),
        ({"output_type": "stream", "text": "\x1b[31mrosso\x1b[0m"}, "```\nrosso\n```"),
        ({"output_type": "stream", "text": " 10%\r 50%\r100%\n"}, "```\n100%\n```"),
        (
            {"output_type": "error", "ename": "ValueError", "evalue": "male", "traceback": ["x"]},
            "```\nValueError: male\n```",
        ),
        (result(text_markdown="**forte**", text_plain="x"), "**forte**"),
        (result(text_html="<b>forte</b>"), "forte"),
        (result(text_plain="a ``` b"), "````\na ``` b\n````"),
    ],
)
def test_outputs(source: Make, output: dict[str, Any], shown: str) -> None:
    assert text(source, code("x", output)) == f"```\nx\n```\n\n{shown}"


def test_tables_of_outputs_and_of_markdown(source: Make) -> None:
    table = (
        "<table><thead><tr><th>k</th><th>v</th></tr></thead><tbody><tr><td>a</td><td>1</td></tr>"
        "<tr><td>b</td><td>2</td></tr></tbody></table>"
    )
    page = only(
        read_notebook(
            source(
                book(
                    note("| x | y |\n| --- | --- |\n| 1 | 2 |"),
                    code("df", result(text_html=table, text_plain="   k v")),
                ),
                "x.ipynb",
            )
        )
    )
    lines = page.text.split("\n")
    assert len(page.tables) == 2
    first, second = page.tables
    assert lines[first.rows[0][0]] == "| 1 | 2 |"
    assert second.header is not None
    assert "k" in lines[second.header[0]]
    assert [lines[row[0]].strip("| ").split(" | ") for row in second.rows] == [
        ["a", "1"],
        ["b", "2"],
    ]
    assert "   k v" not in page.text


@pytest.mark.parametrize(
    "cell",
    [
        code("plot()", result(image_png=picture(), text_plain="<Figure size 640x480 with 1 Axes>")),
        code("plot()", {"output_type": "display_data", "data": {"image/png": [picture()]}}),
        note(
            "Vedi ![schema](attachment:s.png)",
            attachments={"s.png": {"image/png": picture()}},
        ),
    ],
)
def test_pictures_are_read_in_their_place(source: Make, cell: dict[str, Any]) -> None:
    page = only(read_notebook(source(book(cell, note("dopo")), "x.ipynb")))
    assert page.pictures == 1
    assert page.text.endswith("[picture, not read]\n\ndopo")
    assert "Figure size" not in page.text
    assert "attachment:" not in page.text


def test_an_embedded_picture_leaves_no_base64(source: Make) -> None:
    assert text(source, note("Prima ![foto](data:image/png;base64,iVBORw0KGgo=) dopo")) == (
        "Prima foto dopo"
    )


def test_format_3(source: Make) -> None:
    held = {
        "worksheets": [
            {
                "cells": [
                    {"cell_type": "heading", "level": 2, "source": "Vecchio"},
                    {
                        "cell_type": "code",
                        "input": ["1 + 1"],
                        "language": "python",
                        "outputs": [
                            {"output_type": "pyout", "text": ["2"]},
                            {"output_type": "pyerr", "ename": "E", "evalue": "x"},
                            {"output_type": "display_data", "png": picture()},
                        ],
                    },
                ]
            }
        ],
        "metadata": {"name": "Prova"},
        "nbformat": 3,
    }
    draft = read_notebook(source(json.dumps(held).encode(), "x.ipynb"))
    assert draft.title == "Prova"
    assert only(draft).text == (
        "## Vecchio\n\n```\n1 + 1\n```\n\n```\n2\n```\n\n```\nE: x\n```\n\n[picture, not read]"
    )


@pytest.mark.parametrize("data", [b"[]", b'"x"', b"{", b"[" * 100_000])
def test_what_is_no_notebook(source: Make, data: bytes) -> None:
    with pytest.raises(ReadingError):
        read_notebook(source(data, "x.ipynb"))


@pytest.mark.parametrize("cells", [[], [note("")], [code("")], [note("   \n")]])
def test_empty_ones(source: Make, cells: list[dict[str, Any]]) -> None:
    with pytest.raises(EmptyDocument):
        read_notebook(source(book(*cells), "x.ipynb"))


ANYTHING = st.recursive(
    st.none() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["cell_type", "source", "outputs", "output_type", "data", "text", "text/html",
             "image/png", "attachments", "level", "ename", "input"]
        ),
        inner | st.sampled_from(["code", "markdown", "heading", "stream", "error", "<table>"]),
        max_size=5,
    ),
    max_leaves=20,
)  # fmt: skip


@settings(max_examples=80, deadline=None)
@given(ANYTHING, ANYTHING)
def test_nothing_fails(
    tmp_path_factory: pytest.TempPathFactory, cells: object, metadata: object
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.ipynb"
    path.write_text(json.dumps({"cells": cells, "worksheets": cells, "metadata": metadata}))
    with contextlib.suppress(EmptyDocument):
        only(read_notebook(Source(path, ocr=None, deadline=1e18, seconds=1)))
