"""XML and JSON: read as text or as records, bombs refused, broken ones read as far as they go."""

from __future__ import annotations

import base64
import datetime as dt
import io
import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from emily.errors import EmptyDocument, LimitExceeded
from emily.reading.data.document import read_json, read_xml
from emily.reading.kind import detect
from emily.reading.pages import Page
from emily.reading.source import Draft, Source

Make = Callable[..., Source]


def only(draft: Draft) -> Page:
    [page] = draft.pages
    return page


def xml(source: Make, content: str | bytes) -> str:
    data = content.encode() if isinstance(content, str) else content
    return only(read_xml(source(data, "x.xml"))).text


# --- records

COUNTRIES = """<?xml version="1.0"?>
<atlas><country><name>Ruritania</name><capital>Strelsau</capital></country>
<country><name>Graustark</name><capital>Edelweiss &amp; Co</capital></country></atlas>"""


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (COUNTRIES, ["country:", "", "| name | capital |", "| --- | --- |",
                     "| Ruritania | Strelsau |", "| Graustark | Edelweiss & Co |"]),
        ("<a><b>uno</b><c d='due'>tre</c></a>", ["b: uno", "c: tre", "c.d: due"]),
        ("<a><b><c>1</c><d>2</d></b><e>3</e></a>", ["b:", "  c: 1", "  d: 2", "e: 3"]),
        ("<a><b>1</b><b>2</b><b>3</b></a>", ["b: 1, 2, 3"]),
        ("<a x='1'/>", ["x: 1"]),
        ("<a>solo</a>", ["solo"]),
        ("<w><a><b>1</b></a></w>", ["b: 1"]),
        ("<n:a xmlns:n='urn:x'><n:b>1</n:b><n:c>2</n:c></n:a>", ["b: 1", "c: 2"]),
        ("<r><s n='a'>Ciao</s><s n='b'>Addio</s></r>",
         ["s:", "", "| text | n |", "| --- | --- |", "| Ciao | a |", "| Addio | b |"]),
        ("<s><e><x>1</x><y><z><q>2</q></z></y></e><e><x>3</x></e></s>",
         ["## e 1", "", "x: 1", "y.z.q: 2", "", "## e 2", "", "x: 3"]),
        ("<a><b>&lt;p&gt;Uno&lt;/p&gt;</b><c>2</c></a>", ["b: Uno", "c: 2"]),
        ("<a><b><![CDATA[x < y & z]]></b><c>2</c></a>", ["b: x < y & z", "c: 2"]),
    ],
)  # fmt: skip
def test_records(source: Make, content: str, lines: list[str]) -> None:
    assert xml(source, content).split("\n") == lines


def test_a_table_of_records_is_marked(source: Make) -> None:
    page = only(read_xml(source(COUNTRIES.encode())))
    [table] = page.tables
    lines = page.text.split("\n")
    assert table.header == (2, 3)
    assert [lines[first] for first, _ in table.rows] == lines[4:]


@pytest.mark.parametrize(
    ("encoding", "declared"),
    [("utf-8", "UTF-8"), ("utf-8-sig", "UTF-8"), ("utf-16", "UTF-16"), ("utf-16-le", "UTF-16"),
     ("iso-8859-1", "ISO-8859-1"), ("cp1252", "windows-1252"), ("iso-8859-15", "ISO-8859-15"),
     ("utf-8", "ISO-8859-1")],
)  # fmt: skip
def test_encodings(source: Make, encoding: str, declared: str) -> None:
    data = f'<?xml version="1.0" encoding="{declared}"?><a><b>perché</b><c>più</c></a>'
    file = source(data.encode(encoding), "x.xml")
    assert detect(file.path).name == "xml"
    assert only(read_xml(file)).text == "b: perché\nc: più"


# --- texts

JATS = """<?xml version="1.0"?>
<!DOCTYPE article PUBLIC "-//NLM//DTD JATS//EN" "JATS.dtd">
<article xmlns:mml="http://www.w3.org/1998/Math/MathML"><front><article-meta>
<article-id pub-id-type="doi">10.1/x</article-id>
<title-group><article-title>On <italic>oak</italic> trees</article-title></title-group>
<contrib-group><contrib contrib-type="author"><name><surname>Prova</surname>
<given-names>Anna</given-names></name></contrib><contrib contrib-type="author"><name>
<surname>Esempio</surname><given-names>Bruno B</given-names></name></contrib>
<contrib contrib-type="editor"><name><surname>Finta</surname><given-names>Dora</given-names>
</name></contrib></contrib-group>
<pub-date><day>6</day><month>3</month><year>2021</year></pub-date>
<abstract><p>Trees grow.</p></abstract></article-meta></front>
<body><sec><label>1</label><title>Introduction</title><p>Oaks <xref>[1]</xref> are
H<sub>2</sub>O users.</p><list list-type="bullet"><list-item><p>one</p></list-item>
<list-item><p>two</p></list-item></list>
<sec><title>Deeper</title><p>Below.</p></sec>
<table-wrap><label>Table 1.</label><caption><p>Heights</p></caption><table><thead><tr><th>Tree</th>
<th>m</th></tr></thead><tbody><tr><td>Oak</td><td>20</td></tr></tbody></table></table-wrap></sec>
</body><back><ref-list><title>References</title><ref><label>1</label><element-citation>
<person-group><name><surname>Finta</surname><given-names>D</given-names></name></person-group>
<article-title>Leaves</article-title><year>2019</year><pub-id pub-id-type="doi">10.1/y</pub-id>
</element-citation></ref></ref-list></back></article>"""


def test_an_article(source: Make) -> None:
    draft = read_xml(source(JATS.encode(), "x.nxml"))
    page = only(draft)
    assert draft.title == "On oak trees"
    assert draft.facts.author == "Anna Prova, Bruno B Esempio, Dora Finta"
    assert (draft.facts.date, draft.facts.date_source) == (dt.date(2021, 3, 6), "metadata")
    assert draft.warnings == []
    lines = [line for line in page.text.split("\n") if line]
    assert lines == [
        "# On oak trees", "Anna Prova, Bruno B Esempio", "Editor: Dora Finta", "2021-03-06",
        "## Abstract", "Trees grow.", "## 1 Introduction", "Oaks [1] are H2O users.", "- one",
        "- two", "### Deeper", "Below.", "Table 1. Heights", "| Tree | m |", "| --- | --- |",
        "| Oak | 20 |", "## References", "- Finta D. Leaves 2019 DOI: 10.1/y",
    ]  # fmt: skip
    assert len(page.tables) == 1


FB2 = """<?xml version="1.0" encoding="UTF-8"?>
<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0"
 xmlns:l="http://www.w3.org/1999/xlink"><description><title-info><author><first-name>Anna</first-name>
<last-name>Prova</last-name></author><book-title>Il mulino</book-title>
<date value="1999-05-04">1999</date></title-info><document-info><id>abc-1</id></document-info>
</description><body><section><title><p>Capitolo primo</p></title>
<p>Era <emphasis>notte</emphasis>.</p>
<image l:href="#p1"/><poem><stanza><v>Rosa</v><v>fiore</v></stanza></poem></section></body>
<binary id="p1" content-type="image/png">PICTURE</binary></FictionBook>"""


def picture() -> str:
    file = io.BytesIO()
    image = Image.new("RGB", (100, 100), "white")
    image.paste("black", (20, 20, 80, 80))
    image.save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode()


def test_a_book(source: Make) -> None:
    file = source(FB2.replace("PICTURE", picture()).encode(), "x.fb2")
    assert detect(file.path).warning is None
    draft = read_xml(file)
    page = only(draft)
    assert draft.title == "Il mulino"
    assert (draft.facts.author, draft.facts.date) == ("Anna Prova", dt.date(1999, 5, 4))
    assert [line for line in page.text.split("\n") if line] == [
        "Anna Prova", "# Il mulino", "1999", "## Capitolo primo", "Era notte.",
        "[picture, not read]", "Rosa", "fiore",
    ]  # fmt: skip
    assert page.pictures == 1
    assert "abc-1" not in page.text


DOCBOOK = """<book><title>Manuale</title><chapter><title>Inizio</title>
<para>Uno <emphasis>due</emphasis><footnote><para>nota</para></footnote> tre.</para>
<orderedlist><listitem><para>primo</para></listitem><listitem><para>secondo</para></listitem>
</orderedlist><programlisting>x = 1
# y</programlisting><table><title>Dati</title><tgroup cols="3"><colspec colname="a"/>
<colspec colname="b"/><colspec colname="c"/><thead><row><entry>A</entry>
<entry namest="b" nameend="c">B</entry></row></thead><tbody><row><entry morerows="1">1</entry>
<entry>2</entry><entry>3</entry></row><row><entry>4</entry><entry>5</entry></row></tbody></tgroup>
</table></chapter></book>"""

OPML = """<opml version="2.0"><head><title>Idee</title><expansionState>1,2</expansionState></head>
<body><outline text="Casa"><outline text="Tetto" _note="da &lt;b&gt;rifare&lt;/b&gt;"/>
<outline text="Cantina"/></outline><outline text="Notizie" type="rss"
 xmlUrl="https://example.org/feed"/></body></opml>"""

SVG = """<svg xmlns="http://www.w3.org/2000/svg"><title>Pianta</title><style>.a{}</style>
<text x="1"><tspan x="1" y="2">Cucina</tspan><tspan x="1" y="3">12 m²</tspan></text>
<g><text>Ba<tspan>gno</tspan></text></g><script>no()</script></svg>"""

RSS = """<rss xmlns:c="urn:c"><channel><title>Notizie</title><image><url>x</url></image>
<item><title>Prima</title><pubDate>Tue, 19 Nov 2024</pubDate><c:creator>Anna</c:creator>
<guid>77</guid><description>&lt;p&gt;Testo &lt;b&gt;forte&lt;/b&gt;&lt;/p&gt;</description></item>
<item><title>Seconda</title><link>https://example.org/2</link></item></channel></rss>"""

ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>Diario</title><entry><title>Oggi</title>
<updated>2024-01-02</updated><author><name>Anna</name></author><link href="https://example.org/1"/>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Sole</p><p>Mare</p></div>
</content></entry></feed>"""

XHTML = """<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>T</title>
</head><body><p>Uno</p><p>Due</p></body></html>"""


@pytest.mark.parametrize(
    ("content", "title", "lines"),
    [
        (DOCBOOK, "Manuale", ["# Manuale", "## Inizio", "Uno due tre.", "nota", "1. primo",
                              "2. secondo", "```", "x = 1", "# y", "```", "Dati", "| A | B |  |",
                              "| --- | --- | --- |", "| 1 | 2 | 3 |", "|  | 4 | 5 |"]),
        (OPML, "Idee", ["# Idee", "## Casa", "- Tetto", "da rifare", "- Cantina",
                        "- Notizie <https://example.org/feed>"]),
        (SVG, "Pianta", ["# Pianta", "Cucina 12 m²", "Bagno"]),
        (RSS, "Notizie", ["# Notizie", "## Prima", "Tue, 19 Nov 2024, Anna", "Testo forte",
                          "## Seconda", "https://example.org/2"]),
        (ATOM, "Diario", ["# Diario", "## Oggi", "2024-01-02, Anna", "https://example.org/1",
                          "Sole", "Mare"]),
        (XHTML, "T", ["Uno", "Due"]),
        ("<doc><p>Uno <b>due</b>, tre</p><p>quattro</p></doc>", None, ["Uno due, tre", "quattro"]),
        ("<letter>Caro <who>Bruno</who>, <when>ieri</when> pioveva.</letter>", None,
         ["Caro Bruno, ieri pioveva."]),
    ],
)  # fmt: skip
def test_vocabularies(source: Make, content: str, title: str | None, lines: list[str]) -> None:
    draft = read_xml(source(content.encode(), "x.xml"))
    assert [line for line in only(draft).text.split("\n") if line] == lines
    assert draft.title == title
    assert draft.citation == "none"


# --- bombs and broken ones


def laughs(depth: int) -> str:
    entities = '<!ENTITY l0 "ha">' + "".join(
        f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, depth)
    )
    return f"<!DOCTYPE a [{entities}]><a>&l{depth - 1};</a>"


@pytest.mark.parametrize(
    "content",
    [
        laughs(10),
        laughs(2),
        '<!DOCTYPE a [<!ENTITY b "' + "x" * 100_000 + '">]><a>' + "&b;" * 100 + "</a>",
        '<!DOCTYPE a [<!ENTITY b "' + "x" * 1000 + '">]><a>' + "&b;" * 10_000 + "</a>",
        '<!DOCTYPE a [<!ENTITY b "' + "x" * 1000 + '">]><a c="' + "&b;" * 10_000 + '"/>',
        '<?xml version="1.0"?><!-- [ --><!DOCTYPE a [<!ENTITY % p "&#37;q;"><!ENTITY c "%p;">]>'
        "<a>&c;</a>",
    ],
)
def test_entity_bombs_are_refused(source: Make, content: str) -> None:
    with pytest.raises(LimitExceeded, match="bomb"):
        read_xml(source(content.encode(), "x.xml"))


def test_files_of_others_are_not_fetched(source: Make, tmp_path: object) -> None:
    for entity in ('SYSTEM "file:///etc/hostname"', 'PUBLIC "x" "http://127.0.0.1:9/x"'):
        text = f"<!DOCTYPE a [<!ENTITY e {entity}>]><a><b>uno&e;</b><c>due</c></a>"
        draft = read_xml(source(text.encode(), "x.xml"))
        assert only(draft).text == "b: uno\nc: due"
        assert "does not declare: e" in draft.warnings[0]


@pytest.mark.parametrize(
    ("doctype", "written", "read"),
    [
        ('<!DOCTYPE a SYSTEM "a.dtd">', "x", "x"),
        ('<!DOCTYPE a PUBLIC "-//X//Y" "a.dtd" [ ]>', "x", "x"),
        ('<!DOCTYPE a [<!ENTITY ver "4.2">]>', "v&ver;", "v4.2"),
        ('<!DOCTYPE a [<!ELEMENT a ANY><!ENTITY pic SYSTEM "p.tif" NDATA tif>]>', "x", "x"),
        ("", "a&nbsp;b&eacute;&hellip;", "a bé…"),
        ("", "&mgr;&OHgr;&alpha;", "μΩα"),
        ("", "a &amp;lt; b", "a &lt; b"),
    ],
)
def test_what_is_no_bomb(source: Make, doctype: str, written: str, read: str) -> None:
    draft = read_xml(source(f"{doctype}<a><b>{written}</b><c>1</c></a>".encode(), "x.xml"))
    assert only(draft).text.replace("\xa0", " ") == f"b: {read}\nc: 1"
    assert draft.warnings == []


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("<a><b>uno</b><c>due", "b: uno\nc: due"),
        ("<a><b>uno</c><d>due</d></a>", "b: uno\nd: due"),
        ("<a><b>uno & due</b><c>3</c></a>", "b: uno  due\nc: 3"),
        ("<a><b x=1>uno</b><c>2</c></a>", None),
    ],
)
def test_broken_xml_is_read_with_a_warning(source: Make, content: str, text: str | None) -> None:
    draft = read_xml(source(content.encode(), "x.xml"))
    found = only(draft).text
    assert "uno" in found
    assert any("broken" in warning for warning in draft.warnings)
    if text is not None:
        assert " ".join(found.split()) == " ".join(text.split())


def test_several_documents_in_one_file(source: Make) -> None:
    for before in ("", '<?xml version="1.0"?>', '<?xml version="1.0"?><!DOCTYPE a SYSTEM "x">'):
        one = before + "<a><b>{}</b><c>y</c></a>\n"
        draft = read_xml(
            source((one.format("uno") + one.format("due") + one.format("tre")).encode(), "x.xml")
        )
        lines = only(draft).text.split("\n")
        assert lines[-3:] == ["| uno | y |", "| due | y |", "| tre | y |"]
        assert draft.warnings == []


def test_nested_too_deeply_is_read_as_plain_text(source: Make) -> None:
    for depth in (401, 3000, 100_000):
        content = "<a>" * depth + "fondo" + "</a>" * depth
        draft = read_xml(source(content.encode(), "x.xml"))
        assert draft.citation == "lines"
        assert "fondo" in only(draft).text
        assert "nested too deeply" in draft.warnings[0]


@pytest.mark.parametrize("content", ["<a/>", "<a><b/></a>", "  \n ", "<a id='1'/>"])
def test_no_text(source: Make, content: str) -> None:
    with pytest.raises(EmptyDocument):
        read_xml(source(content.encode(), "x.xml"))


@settings(max_examples=80, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["<a>", "</a>", "<p>", "</p>", "<table>", "<tr>", "<td colspan='9'>", "</td>", "</tr>",
             "</table>", "x", "é", "&amp;", "&x;", "<b c='d'/>", "<![CDATA[", "]]>", "<!--", "-->",
             "<list><list-item>", "</list-item></list>", "<title>t</title>", "<label>1</label>",
             "<!DOCTYPE a [", "]>", "<ref-list><ref>", "</ref></ref-list>", "\n", "<name>n</name>"]
        ),
        max_size=25,
    )
)  # fmt: skip
def test_any_xml_gives_a_sound_page(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[str]
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.xml"
    path.write_text("<doc>" + "".join(pieces))
    try:
        page = only(read_xml(Source(path, ocr=None, deadline=1e18, seconds=1)))
    except EmptyDocument:
        return
    except LimitExceeded:
        return
    last = -1
    for table in page.tables:
        for first, end in [*([table.header] if table.header else []), *table.rows]:
            assert last < first <= end <= page.text.count("\n")
            last = end


# --- JSON


def js(source: Make, content: str, name: str = "x.json") -> str:
    return only(read_json(source(content.encode(), name))).text


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        ('{"a": 1, "b": {"c": "due", "d": true, "e": null}}',
         ["a: 1", "b:", "  c: due", "  d: true"]),
        ('{"a": {"b": {"c": 1}}, "d": {"e": {"f": 1, "g": {"h": 2}}}}',
         ["a.b.c: 1", "d.e:", "  f: 1", "  g.h: 2"]),
        ('{"a": [1, 2, 3]}', ["a: 1, 2, 3"]),
        ('["uno", "due"]', ["uno, due"]),
        ('"solo"', ["solo"]),
        ("[]x", ["[]x"]),
        ('{"prezzo": 1.10, "n": 12345678901234567890, "e": 1e5}',
         ["prezzo: 1.10", "n: 12345678901234567890", "e: 1e5"]),
        ('[{"a": 1, "b": "x"}, {"a": 2, "c": "y"}]',
         ["| a | b | c |", "| --- | --- | --- |", "| 1 | x |  |", "| 2 |  | y |"]),
        ('{"righe": [{"a": 1}, {"a": 2}], "z": 0}',
         ["righe:", "", "| a |", "| --- |", "| 1 |", "| 2 |", "", "z: 0"]),
        ('{"x": [{"a": {"b": {"c": 1}}}, {"a": 2}]}',
         ["## x 1", "", "a.b.c: 1", "", "## x 2", "", "a: 2"]),
        ('{"a": "uno\\ndue"}', ["a: uno", "due"]),
        ('{"a": 1, "a": 2}', ["a: 1", "a (2): 2"]),
        ('{"a": "<p>Uno</p><p>Due</p>"}', ["a: Uno", "", "Due"]),
        ('{"": 5}', ["5"]),
        ('{"a": {"": 5}}', ["a: 5"]),
    ],
)  # fmt: skip
def test_json(source: Make, content: str, lines: list[str]) -> None:
    assert js(source, content).split("\n") == lines


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n"])
@pytest.mark.parametrize("name", ["x.jsonl", "x.ndjson", "x.json"])
def test_json_lines(source: Make, end: str, name: str) -> None:
    content = end.join(['{"a": 1, "b": "x"}', '{"a": 2, "b": "y"}', ""])
    file = source(content.encode(), name)
    assert detect(file.path).name == "json"
    page = only(read_json(file))
    assert page.text.split("\n") == ["| a | b |", "| --- | --- |", "| 1 | x |", "| 2 | y |"]
    assert page.tables[0].header == (0, 1)


@pytest.mark.parametrize(
    ("content", "header"),
    [
        ('[{"a": 1, "c": 2}, {"a": 3, "b": 4, "c": 5}]', "| a | b | c |"),
        ('[{"a": 1, "b": 2}, {"z": 0, "a": 3, "b": 4}]', "| z | a | b |"),
        ('[{"m": {"a": 1}, "t": 2}, {"m": {"a": 3, "b": 4}, "t": 5}]', "| m.a | m.b | t |"),
    ],
)
def test_a_late_key_stands_before_the_one_that_follows(
    source: Make, content: str, header: str
) -> None:
    assert js(source, content).split("\n")[0] == header


def test_a_broken_line_among_json_lines(source: Make) -> None:
    content = '{"a": {"b": {"c": 1}}}\n{"a": 2\n{"a": 3}\n'
    draft = read_json(source(content.encode(), "x.jsonl"))
    assert "lines 2" in draft.warnings[0]
    assert '{"a": 2' in only(draft).text


@pytest.mark.parametrize(
    "content", ['{"a": 1,}', "{'a': 1}", '{"a": 1', '{"a"\n"b"\n}', "[1, 2\n", '{"a": 1} {"b"']
)
def test_what_is_no_json_is_kept_line_by_line(source: Make, content: str) -> None:
    draft = read_json(source(content.encode(), "x.json"))
    assert (draft.kind, draft.citation) == ("json", "lines")
    assert only(draft).text == content
    assert "not valid" in draft.warnings[0]


def test_json_nested_too_deeply(source: Make) -> None:
    for depth in (2_000, 200_000):
        draft = read_json(source(("[" * depth + "]" * depth).encode(), "x.json"))
        assert draft.citation == "lines"
        assert "nested too deeply" in draft.warnings[0]


@pytest.mark.parametrize(
    ("shape", "shown", "warned"),
    [
        ({"type": "Point", "coordinates": [9.19, 45.46]}, "Point 9.19, 45.46", False),
        ({"type": "Polygon", "coordinates": [[[0, 0], [1, 1], [0, 1]]]}, "Polygon", True),
        ({"type": "LineString", "coordinates": [[0, 0], [1, 1]]}, "LineString", True),
        (None, "", False),
    ],
)
def test_geojson(source: Make, shape: object, shown: str, warned: bool) -> None:
    features = [
        {"type": "Feature", "properties": {"nome": nome, "via": "x"}, "geometry": shape}
        for nome in ("Duomo", "Arena")
    ]
    content = json.dumps({"type": "FeatureCollection", "name": "Luoghi", "features": features})
    draft = read_json(source(content.encode(), "x.geojson"))
    page = only(draft)
    assert draft.title == "Luoghi"
    row = "| Duomo | x | " + (f"{shown} |" if shown else "")
    assert row.strip() in page.text
    assert any("2 lines and areas" in warning for warning in draft.warnings) is warned


@pytest.mark.parametrize("content", ["{}", "[]", "null", '""', '{"a": null}', " "])
def test_json_without_text(source: Make, content: str) -> None:
    with pytest.raises(EmptyDocument):
        read_json(source(content.encode(), "x.json"))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings_of_json(source: Make, encoding: str) -> None:
    file = source('{"città": "Forlì"}'.encode(encoding), "x.json")
    assert only(read_json(file)).text == "città: Forlì"


@settings(max_examples=80, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
        lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=5), inner),
        max_leaves=30,
    )
)
def test_any_json_keeps_its_texts(tmp_path_factory: pytest.TempPathFactory, value: object) -> None:
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_text(json.dumps(value))
    try:
        page = only(read_json(Source(path, ocr=None, deadline=1e18, seconds=1)))
    except EmptyDocument:
        return
    found = "".join(page.text.replace("\\|", "|").split())

    def check(inner: object) -> None:
        if isinstance(inner, dict):
            for part in inner.values():
                check(part)
        elif isinstance(inner, list):
            for part in inner:
                check(part)
        elif isinstance(inner, str) and inner.isalnum():
            assert inner in found

    check(value)
    for table in page.tables:
        assert table.rows[-1][1] <= page.text.count("\n")
