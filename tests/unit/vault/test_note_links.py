"""Links: as they are written, and which file they mean."""

import unicodedata

import pytest

from emily.vault.linking import backlinks, broken, lead, mention_names, mentions, orphans
from emily.vault.links import links_of, tag_links
from emily.vault.notes import Note, read_note
from emily.vault.resolving import Resolver, Target, target_of


def _note(text: str, path: str = "a.md") -> Note:
    return read_note(path, text.encode())


@pytest.mark.parametrize(
    ("text", "target", "heading", "block", "shown", "embed"),
    [
        ("[[beta]]", "beta", None, None, None, False),
        ("[[beta|B]]", "beta", None, None, "B", False),
        ("[[ beta | B ]]", "beta", None, None, "B", False),
        ("[[note#heading]]", "note", "heading", None, None, False),
        ("[[note#One#Two|x]]", "note", "One#Two", None, "x", False),
        ("[[note#^block]]", "note", None, "block", None, False),
        ("[[#heading]]", "", "heading", None, None, False),
        ("![[x.png]]", "x.png", None, None, None, True),
        ("![[x.png|100]]", "x.png", None, None, "100", True),
        ("[[folder/alpha.md]]", "folder/alpha.md", None, None, None, False),
        ("| [[beta\\|B]] |", "beta", None, None, "B", False),
        ("[[C# notes]]", "C", "notes", None, None, False),
        ("[text](beta.md)", "beta.md", None, None, "text", False),
        ("[text](my%20note.md#the%20place)", "my note.md", "the place", None, "text", False),
        ("[text](<my note.md>)", "my note.md", None, None, "text", False),
        ('[text](beta.md "A title")', "beta.md", None, None, "text", False),
        ("[a (b)](beta(1).md)", "beta(1).md", None, None, "a (b)", False),
        ("![alt](pic.png)", "pic.png", None, None, "alt", True),
        ("[text][ref]\n\n[ref]: beta.md 'Title'", "beta.md", None, None, "text", False),
        ("[ref][]\n\n[REF]: <my note.md>", "my note.md", None, None, "ref", False),
        ("[ref]\n\n[ref]: beta.md", "beta.md", None, None, "ref", False),
        ("[to #1](#here)", "", "here", None, "to #1", False),
        ('---\nup: "[[beta|B]]"\n---\n', "beta", None, None, "B", False),
        ("---\nreferences:\n  - beta\n---\n", "beta", None, None, None, False),
        ("---\nrelated: beta.md\n---\n", "beta.md", None, None, None, False),
        ('---\nsee also: "[B](beta.md)"\n---\n', "beta.md", None, None, "B", False),
    ],
)
def test_a_link(
    text: str, target: str, heading: str | None, block: str | None, shown: str | None, embed: bool
) -> None:
    if "see also" in text:
        text = text.replace("see also", "seealso")
    (link,) = links_of(_note(text))
    assert (link.target, link.heading, link.block) == (target, heading, block)
    assert (link.shown, link.embed) == (shown, embed)


@pytest.mark.parametrize(
    "text",
    [
        "```sh\n[[ -f x ]]\n```",
        "    [[ -f x ]]",
        "`[[beta]]` and ``a ` [[beta]]``",
        "<!-- [[beta]] -->",
        "<!--\n[[beta]]\n-->",
        "\\[[beta]]",
        "[[]] [[ ]]",
        "[text](https://example.org/beta.md)",
        "[text](mailto:ada@example.org)",
        "[text](//example.org/beta.md)",
        "[text](my note.md)",
        "[no link] [x]: y",
        "---\nreferences: https://example.org\n---\n",
        "~~~\n[a](b.md)\n~~~",
    ],
)
def test_no_link(text: str) -> None:
    assert links_of(_note(text)) == ()


def test_links_know_their_lines_and_offsets() -> None:
    note = _note("---\nup: '[[x]]'\n---\n# One\n\n[![alt](p.png)](b.md) and [[c]]\r\n[[d]]\n")
    found = [(link.target, link.line, note.text[link.start : link.end]) for link in links_of(note)]
    assert found == [
        ("x", 2, "[[x]]"),
        ("b.md", 6, "[![alt](p.png)](b.md)"),
        ("p.png", 6, "![alt](p.png)"),
        ("c", 6, "[[c]]"),
        ("d", 7, "[[d]]"),
    ]


def test_tags() -> None:
    head = "---\ntags: [one]\n---\n"
    text = head + "#two and #three/four, not a#b, `#code`, #123 or # five\n#One (#six)\n"
    note = _note(text)
    assert note.tags == ("one", "two", "three/four", "six")
    found = [(link.target, link.line, link.kind) for link in tag_links(note)]
    assert [each[:2] for each in found] == [
        ("one", 2), ("two", 4), ("three/four", 4), ("One", 5), ("six", 5)
    ]  # fmt: skip


def _resolver(*paths: str, **aliases: tuple[str, ...]) -> Resolver:
    return Resolver(Target(path, aliases=aliases.get(path.partition(".")[0], ())) for path in paths)


@pytest.mark.parametrize(
    ("name", "source", "path", "others"),
    [
        ("alpha", "x.md", "alpha.md", ("folder/alpha.md", "z/deep/alpha.md")),
        ("Alpha.MD", "x.md", "alpha.md", ("folder/alpha.md", "z/deep/alpha.md")),
        ("alpha", "folder/x.md", "folder/alpha.md", ("alpha.md", "z/deep/alpha.md")),
        ("alpha", "z/x.md", "z/deep/alpha.md", ("alpha.md", "folder/alpha.md")),
        ("folder/alpha.md", "z/x.md", "folder/alpha.md", ()),
        ("deep/alpha", "x.md", "z/deep/alpha.md", ()),
        ("./alpha", "folder/x.md", "folder/alpha.md", ()),
        ("../alpha", "folder/x.md", "alpha.md", ()),
        ("/alpha", "folder/x.md", "alpha.md", ()),
        ("../../out", "folder/x.md", None, ()),
        ("x.png", "x.md", "pics/x.png", ()),
        ("v1.2 plan", "x.md", "v1.2 plan.md", ()),
        ("perché", "x.md", unicodedata.normalize("NFD", "perché.md"), ()),
        ("nothing", "x.md", None, ()),
        ("lpha", "x.md", None, ()),
    ],
)
def test_a_name_means_a_file(
    name: str, source: str, path: str | None, others: tuple[str, ...]
) -> None:
    decomposed = unicodedata.normalize("NFD", "perché.md")
    resolver = _resolver(
        "z/deep/alpha.md", "folder/alpha.md", "alpha.md", "pics/x.png", "v1.2 plan.md", decomposed
    )
    found = resolver.named(name, source)
    assert (found.path, found.others) == (path, others)
    assert found.is_ambiguous == bool(others)


def test_aliases_and_titles_come_after_names() -> None:
    notes = [_note("---\naliases: [beta, other]\n---\n# The Title", "a.md"), _note("", "beta.md")]
    resolver = Resolver(map(target_of, notes))
    assert (resolver.named("beta", "x.md").path, resolver.named("beta", "x.md").by) == (
        "beta.md",
        "name",
    )
    assert (resolver.named("Other", "x.md").path, resolver.named("Other", "x.md").by) == (
        "a.md",
        "alias",
    )
    assert (resolver.named("the title", "").path, resolver.named("the title", "").by) == (
        "a.md",
        "title",
    )
    resolver.remove("a.md")
    assert resolver.named("other", "x.md").path is None
    resolver.add(Target("b___c.md"))
    assert resolver.named("b/c", "x.md").path == "b___c.md"


def test_markdown_links_are_relative_to_their_note() -> None:
    resolver = _resolver("folder/beta.md", "beta.md", "folder/sub/pic 1.png")
    for text, path in (
        ("[b](beta.md)", "folder/beta.md"),
        ("[b](beta)", "folder/beta.md"),
        ("[b](../beta.md)", "beta.md"),
        ("[b](/beta.md)", "beta.md"),
        ("![b](sub/pic%201.png)", "folder/sub/pic 1.png"),
        ("[b](../../beta.md)", None),
    ):
        (link,) = links_of(_note(text, "folder/a.md"))
        assert resolver.resolve(link, "folder/a.md").path == path


def test_places_are_looked_for() -> None:
    target = _note("# One `two`: three\n\n## Same\n\ntext ^block-1\n\n## Same\n", "b.md")
    resolver = Resolver([target_of(target)])
    for text, there in (
        ("[[b#One two three]]", True),
        ("[[b#one `two`: three#same]]", True),
        ("[[b#Same#One two three]]", False),
        ("[[b#None]]", False),
        ("[[b#^block-1]]", True),
        ("[[b#^block-2]]", False),
        ("[x](b.md#one-two-three)", True),
        ("[x](b.md#same-1)", True),
        ("[x](b.md#nothing)", False),
    ):
        (link,) = links_of(_note(text))
        assert resolver.resolve(link, "a.md").place_found == there, text


def test_what_links_say_about_notes() -> None:
    notes = [
        _note("[[b]] [[gone]] [[b#nowhere]] ![[p.png]]", "a.md"),
        _note("# Bee keeping\n\n[[#Bee keeping]]", "b.md"),
        _note(
            "On Bee  Keeping, `bee keeping`, [bee keeping](b.md) and beekeeping.\n\nbee\nkeeping",
            "c.md",
        ),
        _note("alone", "d.md"),
        _note("---\nreferences: A book\n---\n", "e.md"),
    ]
    resolver = Resolver([*map(target_of, notes), Target("p.png")])
    led = list(lead(notes, resolver))
    assert [(each.source, each.link.line) for each in backlinks("b.md", led)] == [
        ("a.md", 1), ("a.md", 1), ("c.md", 1)
    ]  # fmt: skip
    assert [(each.source, each.why) for each in broken(led)] == [
        ("a.md", "There is no file 'gone'."),
        ("a.md", "b.md has no heading '#nowhere'."),
    ]
    assert orphans([note.path for note in notes], led) == ["d.md", "e.md"]
    names = mention_names(["b", "Bee keeping"])
    assert names == ("Bee keeping",)
    found = [
        (each.path, each.line, each.text)
        for note in notes
        for each in mentions(names, "b.md", note, [x for x in led if x.source == note.path])
    ]
    assert found == [("c.md", 1, "Bee  Keeping"), ("c.md", 3, "bee\nkeeping")]
