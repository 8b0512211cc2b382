"""Headings and code of a note, by CommonMark's rules; markdown-it-py is the judge."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from emily.vault.outline import CODE, COMMENT, PROSE, outline

_ORACLE = MarkdownIt("commonmark")


def _headings(text: str) -> list[tuple[int, str, int, int]]:
    found = outline(text.split("\n")).headings
    return [(each.level, each.text, each.first, each.last) for each in found]


def _judged(text: str) -> list[tuple[int, str, int, int]]:
    tokens = _ORACLE.parse(text)
    found = []
    for at, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0:
            assert token.map is not None
            words = " ".join(part.strip() for part in tokens[at + 1].content.split("\n")).strip()
            found.append((int(token.tag[1]), words, token.map[0], token.map[1] - 1))
    return found


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        ("# One\n\n## Two ##\n", [(1, "One"), (2, "Two")]),
        ("```\n# no heading\n```\n# One", [(1, "One")]),
        ("````\n```\n# inside\n```\n````\n# One", [(1, "One")]),
        ("~~~ `tick`\n# inside\n~~~\n# One", [(1, "One")]),
        ("```\n# never closed", []),
        ("## C#\n## F# ##\n", [(2, "C#"), (2, "F#")]),
        ("# Closed \\#\n", [(1, "Closed \\#")]),
        ("#no\n#\tyes\n", [(1, "yes")]),
        ("    # indented code\n", []),
        ("Under\nlined\n===\nAgain\n---\n", [(1, "Under lined"), (2, "Again")]),
        ("text\n\n---\n", []),
        ("<!--\n# hidden\n-->\n# One", [(1, "One")]),
        ("%%\n# hidden\n%%\n# One", [(1, "One")]),
        ("100 %% of it\n# One", [(1, "One")]),
        ("> # quoted\n\n- # item\n\n# One", [(1, "One")]),
        ("[ref]: /to\n===\n# One", [(1, "One")]),
        ("#\n######\n####### seven", [(1, ""), (6, "")]),
    ],
)
def test_headings(text: str, headings: list[tuple[int, str]]) -> None:
    assert [(level, words) for level, words, _, _ in _headings(text)] == headings


def test_each_line_is_of_a_kind() -> None:
    text = "Words\n\n```py\ncode\n```\n\n    code\n\n<!-- a\nb -->\n%% c\nd %%\nWords"
    kinds = outline(text.split("\n")).kinds
    assert [at for at, kind in enumerate(kinds) if kind == CODE] == [2, 3, 4, 6]
    assert [at for at, kind in enumerate(kinds) if kind == COMMENT] == [8, 9, 10, 11]
    assert kinds[0] == kinds[12] == PROSE


_PIECES = [
    "# a", "## b #", "###c", "# ", "#", "===", "---", "- x", "-", "* y", "1. z", "2. w", "3)",
    "> q", ">", ">> r", "    code", "\tt", "```", "````", "~~~", "~~~~", "```py", "`` ` ``",
    "<div>", "<!--", "-->", "<!-- x -->", "<b>", "</div>", "<script>", "</script>", "foo", "bar",
    "***", "_ _ _", "   ", "  ", "  # in", "   ## in", "     # five", "- # li", "- ```", "1.  # x",
    "    - deep", "  - two", "> ```", "> # h", "- > # h", "# h \\#", "# h ##  ", "#\tt", "\\# no",
    "+", "-\t", "- \tx", "<?php", "?>", "<!DOC", "<![CDATA[", "]]>", "<pre>", "</pre>",
    '<a href="x">', "== =", "--", "=", "10. a", "- - x", "-    five", "-     six", "# # x", "## ##",
    "~~~ `", "``` ~~~",
]  # fmt: skip
_AROUND = ["", "", "", "> ", "- ", "  ", "   ", "    ", "1. ", "\t", ">", "-\t"]
_ENDS = ["\n", "\n\n"]
_LINE = st.tuples(st.sampled_from(_AROUND), st.sampled_from(_PIECES), st.sampled_from(_ENDS))
# Only as paragraphs of their own: elsewhere the judge differs from the reference parser.
_DEFINITION = st.sampled_from(["\n\n[a]: /u\n\n", '\n\n[a]: /u "t"\n\n', "\n\n[b]: <x y>\n===\n\n"])
_LINES = st.lists(st.one_of(_LINE.map("".join), _LINE.map("".join), _DEFINITION), max_size=9)


@settings(max_examples=500, deadline=None)
@given(_LINES)
def test_headings_are_those_of_commonmark(lines: list[str]) -> None:
    text = "".join(lines)
    assert _headings(text) == _judged(text)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="#=-`~ \t\n>*_1.)<!ab[]:%\\", max_size=80))
def test_any_text_has_an_outline(text: str) -> None:
    lines = text.split("\n")
    found = outline(lines)
    assert len(found.kinds) == len(lines)
    assert all(0 <= each.first <= each.last < len(lines) for each in found.headings)
    starts = [each.first for each in found.headings]
    assert starts == sorted(set(starts))


_AT_A_GLANCE = st.lists(
    st.sampled_from(
        [
            "# H",
            "## C# ##",
            "#tag",
            "word",
            "- item",
            "- # in",
            "1. one",
            "> quoted",
            "> # no",
            "",
            "---",
            "===",
            "- - -",
            "* * *",
            "-",
            "  in",
            "    code",
            "-     code",
            "<div>",
            "> <b>",
            "```",
            "a `b` <!-- c -->",
            "- [ ] task",
            "[a]: /u",
            "%%",
            "\tx",
            "2<3",
            ">",
            "#",
            "> a",
        ]
    ),
    max_size=8,
)


@settings(max_examples=500, deadline=None)
@given(_AT_A_GLANCE)
def test_what_is_told_at_a_glance_is_what_a_scan_finds(lines: list[str]) -> None:
    assert outline(lines, 0, "\n".join(lines)) == outline(lines)


def test_plain_text_is_not_scanned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("emily.vault.outline._Scanner")
    lines = ["# House", "", "Words, and **more**.", "- item", "> said", "", "---", "## C#"]
    assert [each.text for each in outline(lines, 0, "\n".join(lines)).headings] == ["House", "C#"]
