"""Front matter of every shape; PyYAML is the judge of what is valid."""

import datetime as dt
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from emily.vault.front_matter import front_matter
from emily.vault.notes import read_note
from emily.vault.yaml_subset import read_yaml


def test_the_fields_of_a_note() -> None:
    text = (
        "---\ntitle: 2024-06-01\naliases: [One, 'Two, too']\ntags:\n- house\n- '#garden/roses'\n"
        "date: 2024-06-01T10:00\nauthor: {name: Ada}\nsummary: >\n  several\n  lines\n---\nText\n"
    )
    note = read_note("a.md", text.encode())
    assert note.title == "2024-06-01"
    assert note.aliases == ("One", "Two, too")
    assert note.tags == ("house", "garden/roses")
    assert note.front.date == dt.date(2024, 6, 1)
    assert note.front.fields["author"] == {"name": "Ada"}
    assert note.front.fields["summary"] == "several lines\n"
    assert note.front.lines == 12
    assert note.problems == ()


@pytest.mark.parametrize(
    ("tags", "found"),
    [
        ("tags: one, two", ("one", "two")),
        ("tags: one two", ("one", "two")),
        ("Tags: [#a, b]", ("a", "b")),
        ("tag: solo", ("solo",)),
        ("keywords: [a, A, b]", ("a", "b")),
        ("tags:", ()),
    ],
)
def test_tags_of_every_shape(tags: str, found: tuple[str, ...]) -> None:
    assert read_note("a.md", f"---\n{tags}\n---\n".encode()).tags == found


def test_broken_yaml_is_reported_and_the_rest_is_read() -> None:
    text = "---\ntitle: One: two\naliases: [open\ntags: [kept]\n---\n# Heading\n\nText\n"
    note = read_note("a.md", text.encode())
    assert [problem.line for problem in note.problems] == [2, 3]
    assert "': '" in note.problems[0].what
    assert note.title == "One: two"
    assert note.tags == ("kept",)
    assert [heading.text for heading in note.outline.headings] == ["Heading"]


@pytest.mark.parametrize(
    "text",
    [
        "---\nA rule stands above.\n\n---\nAnd one below.\n",
        "---\nnever closed\n",
        "--- \n# Heading\n---\n",
        "----\ntitle: no\n----\n",
    ],
)
def test_a_leading_rule_is_no_front_matter(text: str) -> None:
    note = read_note("a.md", text.encode())
    assert note.front.lines == 0
    assert note.problems == ()
    assert note.title == ("Heading" if "#" in text else "a")


def test_front_matter_that_is_never_closed_is_reported() -> None:
    note = read_note("a.md", b"---\ntitle: Lost\n\nText\n")
    assert note.front.lines == 0
    assert [problem.line for problem in note.problems] == [1]
    assert note.problems[0].what.startswith("The front matter is not closed")


def test_toml() -> None:
    note = read_note("a.md", b'+++\ntitle = "One"\ntags = ["a"]\ndate = 2024-06-01\n+++\nText\n')
    assert (note.title, note.tags, note.front.date) == ("One", ("a",), dt.date(2024, 6, 1))
    broken = read_note("a.md", b'+++\ntitle = "One"\ntags = [\ndraft = true\n+++\nText\n')
    assert broken.title == "One"
    assert broken.front.fields["draft"] == "true"
    assert len(broken.problems) == 1
    assert "not valid TOML" in broken.problems[0].what


def test_line_ends_and_marks_do_not_matter() -> None:
    for text in ("\ufeff---\r\ntitle: A\r\n---\r\nText", "---\rtitle: A\r---\rText"):
        assert read_note("a.md", text.encode()).title == "A"
    assert read_note("a.md", b"---\ntitle: A\n...\nText").title == "A"
    assert front_matter([]).lines == 0


_INVALID = object()


def _judged(text: str) -> Any:
    try:
        return yaml.load(text + "\n", Loader=yaml.BaseLoader)
    except (yaml.YAMLError, TypeError):
        return _INVALID


def _agrees(text: str) -> None:
    fields, problems = read_yaml(text.split("\n"))
    judged = _judged(text)
    if problems or "\t" in text or not isinstance(judged, dict):
        # What PyYAML refuses is reported; only tabs it refuses against the standard.
        assert problems or "\t" in text or judged in ("", None)
        return
    assert fields == judged


_PIECES = [
    "a: b",
    "title: 2024-06-01",
    "k:",
    "- x",
    "  - y",
    "- a: b",
    "  c: d",
    "    e: f",
    "n: [a, b]",
    "n: [a,",
    "  b]",
    'x: "q\\n"',
    "y: 'it''s'",
    "z: |",
    "z: >",
    "  text",
    "   more",
    "",
    "# c",
    "  # c",
    "a: b # c",
    "a: b#c",
    '"k": v',
    "n: {a: b, c: [d]}",
    "m: {a, b: }",
    "- - x",
    "  - - y",
    "long: first",
    "  second",
    'q: "open',
    '  close"',
    "url: http://x.y/z",
    "time: 10:30",
    "p: - x",
    "bad: a: b",
    "s: |-",
    "s: >+",
    "t: |2",
    "?",
    ": y",
    "r: &a b",
    "r: *a",
    "r: !t x",
    "%d",
    "r: @x",
    "r: `x`",
    "-",
    "- ",
    'empty: ""',
    "e: ''",
    "l: [[note]]",
    'l: "[[note|B]]"',
    "u: é",
    "v: a\\b",
    "o: [a: b, c]",
    "h: #x",
    "d: ~",
    "1: 2",
    "k : v",
    "k:v",
    "x: [",
    "x: ]",
    "x: , y",
    "g: -x",
    "i: ?x",
    "j: :x",
    "- [a]",
    "- {a: b}",
    'x: "a\\',
    '  b"',
    "  b'",
    'x: "\\x41"',
    'x: "\\q"',
    "---",
    "- |",
    "- >-",
    " a: b",
    " - x",
    "  ",
    "   ",
]
_INDENT = ["", "", "", "  ", "- "]
_LINES = st.lists(st.tuples(st.sampled_from(_INDENT), st.sampled_from(_PIECES)), max_size=5)


@settings(max_examples=1500, deadline=None)
@given(_LINES)
def test_lines_read_as_yaml_reads_them(lines: list[tuple[str, str]]) -> None:
    _agrees("\n".join(indent + piece for indent, piece in lines))


_TEXT = st.text(alphabet="ab 1:#-'\"[]{},éß/", max_size=12)
_VALUE = st.recursive(
    _TEXT, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3)
)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.from_regex(r"[a-z]{1,8}", fullmatch=True), _VALUE, max_size=4))
def test_what_a_yaml_library_writes_is_read(fields: dict[str, Any]) -> None:
    for flow in (True, False, None):
        written = yaml.safe_dump(fields, default_flow_style=flow, allow_unicode=True, width=40)
        if not fields or written.startswith("{") or "? " in written:
            continue  # a mapping in braces at the top, and long keys, are not what notes hold
        found, problems = read_yaml(written.rstrip("\n").split("\n"))
        assert problems == []
        assert found == yaml.load(written, Loader=yaml.BaseLoader)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="ab:- \n\t'\"[]{}|>#&*!?,\\\r\0é", max_size=60))
def test_nothing_makes_it_fail(text: str) -> None:
    note = read_note("a.md", f"---\n{text}\n---\n# H\n".encode())
    assert isinstance(note.title, str)
    assert len(note.outline.kinds) == len(note.lines)


def test_deep_nesting_is_reported() -> None:
    for text in ("a: " + "[" * 5000, "a:\n" + "\n".join(" " * n + "- -" for n in range(1, 60))):
        fields, problems = read_yaml(text.split("\n"))
        assert problems
        assert isinstance(fields, dict)


_PLAIN_LINES = st.lists(
    st.sampled_from(
        [
            "a: b",
            "a:",
            "b: 2024-06-01",
            "tags: [x, y/z]",
            "tags: [x,y]",
            "- i",
            "  - j k",
            " - l",
            "c: d e ",
            "c:  two",
            "  more",
            "c: d - e",
            "- m: n",
            "d: [p, q r ]",
            "",
            "a b: c",
        ]
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=500, deadline=None)
@given(_PLAIN_LINES)
def test_plain_fields_are_read_as_by_the_whole_reader(lines: list[str]) -> None:
    found, problems = read_yaml(lines)
    try:
        judged = yaml.load("\n".join(lines), Loader=yaml.BaseLoader)
    except yaml.YAMLError:
        assert problems
        return
    if isinstance(judged, dict):
        assert (found, problems) == (judged, [])
