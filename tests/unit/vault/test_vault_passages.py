"""Passages: cut where the subject changes, every line once, the text of the file to the letter."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emily.vault.links import links_of
from emily.vault.notes import Note, read_note, split_lines
from emily.vault.passages import ENOUGH, LONGEST, passages


def _cut(text: str, path: str = "a.md") -> list[tuple[tuple[str, ...], int, int]]:
    found = passages(read_note(path, text.encode()))
    return [(each.trail, each.first, each.last) for each in found]


def test_cut_at_headings_with_their_trail() -> None:
    text = "Before\n\n# One\n\ntext\n\n## Two\n\ntext\n\n### C#\n\ntext\n\n## Three ##\n\ntext\n"
    assert _cut(text) == [
        ((), 1, 2),
        (("One",), 3, 6),
        (("One", "Two"), 7, 10),
        (("One", "Two", "C#"), 11, 14),
        (("One", "Three"), 15, 17),
    ]


def test_a_heading_with_nothing_below_it_goes_with_what_follows() -> None:
    assert _cut("# One\n\n## Two\n\ntext\n") == [(("One", "Two"), 1, 5)]
    assert _cut("# One\n## Two\n## Three\ntext\n") == [
        (("One", "Two"), 1, 2),
        (("One", "Three"), 3, 4),
    ]


def test_front_matter_is_a_passage_of_its_own() -> None:
    found = passages(read_note("a.md", b"---\ntitle: T\n---\n# One\ntext\n"))
    assert [(each.kind, each.first, each.last) for each in found] == [
        ("front matter", 1, 3),
        ("text", 4, 5),
    ]


def test_headings_in_code_and_comments_cut_nothing() -> None:
    text = "# One\n````\n```\n# a\n```\n````\n~~~\n# b\n~~~\n<!--\n# c\n-->\n%%\n# d\n%%\n    # e\n"
    assert _cut(text) == [(("One",), 1, 16)]


def test_a_long_section_is_cut_at_blank_lines() -> None:
    paragraph = "A sentence of some words. " * 20 + "\n\n"
    found = passages(read_note("a.md", ("# One\n\n" + paragraph * 6).encode()))
    assert len(found) == 3
    assert all(each.trail == ("One",) for each in found)
    assert all(len(each.text) >= ENOUGH for each in found[:-1])
    assert all(each.text.startswith(("# One", "A sentence")) for each in found)


def test_a_fence_is_not_cut_at_its_blank_lines() -> None:
    code = "```\n" + "code of a line\n\n" * 90 + "```\n"
    found = passages(read_note("a.md", ("Text. " * 170 + "\n\n" + code).encode()))
    assert found[0].text.endswith("Text. \n\n")
    assert all(len(each.text) <= LONGEST + 20 for each in found)


@pytest.mark.parametrize(
    ("path", "text", "names"),
    [
        ("a.py", "import os\n\n\n@cached\ndef one():\n    '''\ndef no():\n    '''\n\n\nclass Two:\n"
         "    def three(self):\n        pass\n", [(), ("one",), ("Two",)]),
        ("a.ts", "import x\n\nexport function one() {\n}\n\nexport class Two {\n}\n\n"
         "const three = async (a) => {\n}\n", [(), ("one",), ("Two",), ("three",)]),
        ("a.go", "package a\n\n// One does.\nfunc One() {\n}\n\nfunc (t *T) Two() {\n}\n",
         [(), ("One",), ("Two",)]),
        ("a.rs", "use a;\n\n#[test]\nfn one() {}\n\npub struct Two {\n}\n\nimpl Two {\n}\n",
         [(), ("one",), ("Two",)]),
        ("a.java", "package a;\n\npublic class One {\n}\n\nfinal class Two {\n}\n",
         [(), ("One",), ("Two",)]),
        ("a.c", "#include <a.h>\n\nstatic int one(int a)\n{\n}\n\nstruct two {\n};\n",
         [(), ("one",), ("two",)]),
    ],
)  # fmt: skip
def test_source_files_are_cut_at_declarations(
    path: str, text: str, names: list[tuple[str, ...]]
) -> None:
    found = _cut(text, path)
    assert [trail for trail, _, _ in found] == names
    assert found[-1][2] == len(split_lines(text)) - 1


def test_decorators_and_comments_go_with_their_declaration() -> None:
    text = "import os\n\n\n# What it does.\n@cached\ndef one():\n    pass\n"
    assert _cut(text, "a.py") == [((), 1, 3), (("one",), 4, 7)]


def _covers(note: Note) -> None:
    found = passages(note)
    assert "".join(each.text for each in found) == note.text
    assert [each.number for each in found] == list(range(len(found)))
    at, line = 0, 1
    for each in found:
        assert (each.start, each.first) == (at, line)
        assert each.text == note.text[each.start : each.end]
        if note.text:
            assert each.last == note.line_at(max(each.start, each.end - 1))
        at, line = each.end, each.last + 1
    assert at == len(note.text)


_BLOCKS = st.sampled_from(
    ["# a\n", "## b\n", "c\n===\n", "\n", "word " * 40 + "\n", "```\n", "# x", "\r\n", "\r", "%%\n",
     "<!--\n", "-->\n", "---\n", "title: x\n", "    code\n", "\x0b", "\u2028", "def f():\n", "é\n",
     "class A:\n", "    def g(self):\n", "x" * 2500 + "\n"]
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.lists(_BLOCKS, max_size=30), st.sampled_from(["a.md", "a.py", "a.txt"]))
def test_every_line_stands_in_one_passage(blocks: list[str], path: str) -> None:
    _covers(read_note(path, "".join(blocks).encode()))


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_a_note(data: bytes) -> None:
    _covers(read_note("a.md", data))


@pytest.mark.parametrize(
    ("data", "text", "problem"),
    [
        ("perché".encode(), "perché", None),
        ("\ufeffperché".encode(), "perché", None),
        ("perché no".encode("cp1252"), "perché no", "Windows-1252"),
        ("perché".encode("utf-16"), "perché", None),
        (b"a\0b" + b"c" * 200, "a b" + "c" * 200, "a NUL character"),
        (b"\x89PNG\0\0\0\0\0\0", "", "The file is not text"),
    ],
)
def test_encodings(data: bytes, text: str, problem: str | None) -> None:
    note = read_note("a.md", data)
    assert note.text == text
    said = " ".join(each.what for each in note.problems)
    assert (problem in said) if problem else not said


def test_lines_are_those_of_editors() -> None:
    note = read_note("a.md", "a\r\nb\rc\nd\x0be\u2028f".encode())
    assert note.lines == ("a", "b", "c", "d\x0be\u2028f")
    assert [note.line_at(note.text.index(each)) for each in "abcdf"] == [1, 2, 3, 4, 4]


@pytest.mark.parametrize(
    "text",
    [
        "<!--" * 100_000,
        "---\na: [" + "\n x," * 50_000 + "\n---\n",
        "---\n" + 'a: "\n' * 20_000 + "---\n",
        "[[" * 50_000 + "[a](" * 50_000 + "![" * 50_000,
    ],
    ids=["comments", "list", "quotation marks", "brackets"],
)
def test_what_is_opened_and_never_closed_takes_no_longer_than_its_length(text: str) -> None:
    # Read in a time that grows with the square of the length, each would take minutes.
    note = read_note("a.md", text.encode())
    assert not links_of(note)
    assert sum(len(each.text) for each in passages(note)) == len(text)
