"""A whole file of XML as a tree, with entities and network off."""

from __future__ import annotations

import re
from html.entities import html5
from pathlib import Path

from lxml import etree

from emily.errors import EmptyDocument, LimitExceeded, ReadingError
from emily.reading.encodings import decode_text
from emily.reading.source import check_length
from emily.reading.xml import xml_root_and_faults

__all__ = ["parse_xml"]

_DECLARED = re.compile(rb"""\A\s*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._:-]+)""")
_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*\?>")
_SUBSET = re.compile(r"\A(?:\s|<!--.*?-->|<\?.*?\?>)*<!DOCTYPE[^<>\[]*\[(.*?)\]\s*>", re.DOTALL)
_VERBATIM = re.compile(r"<!\[CDATA\[.*?\]\]>|<!--.*?-->", re.DOTALL)
_ENTITY = re.compile(
    r"""<!ENTITY\s+(%\s+)?([^\s"'>]+)\s+(?:"([^"]*)"|'([^']*)'|(?:SYSTEM|PUBLIC)\b[^>]*)[^>]*>"""
)
_REFERENCE = re.compile(r"&([A-Za-z_][\w.:-]*);")
_REPLACED = re.compile(rf"{_VERBATIM.pattern}|{_REFERENCE.pattern}", re.DOTALL)
_XML_ENTITIES = frozenset({"amp", "lt", "gt", "quot", "apos"})
_MOST_ENTITY = 1_000  # characters that an entity of a real document stands for
_ROOM = 2  # how many times its own size, and a MiB, a text may grow by its entities
_MOST_ENTITIES = 10_000
_PROLOG = re.compile(r"<\?xml[^>]*\?>|<!DOCTYPE[^<>\[]*(?:\[.*?\])?\s*>", re.DOTALL)
_GREEK = " a b g d e z ee th i k l m n x o p r s t u ph kh ps oh sf "
# What libxml2 says where a file holds several documents one after the other.
_SEVERAL = ("Extra content", "XML declaration allowed only")
_DEEPEST = 400  # elements in one another; what is read recurses into them


def parse_xml(path: Path) -> tuple[etree._Element, list[str]]:
    """The root of an XML file, and warnings about how it was read.

    The text is decoded before it is parsed, by its byte order mark, as UTF-8 or by the encoding
    that it declares. Entities that it declares for itself are put in where they are plain text;
    entities made of entities, and external ones, are never followed. What is broken is read as
    far as it makes sense.

    Raises:
        EmptyDocument: it holds only blanks.
        LimitExceeded: its entities unpack to far more than it holds.
        ReadingError: it is no XML at all.
    """
    data = path.read_bytes()
    check_length(len(data) // 16)
    match = _DECLARED.match(data[:1024])
    text, warning = decode_text(data, match[1].decode("ascii") if match else None)
    warnings = [warning] if warning else []
    text = _DECLARATION.sub("", text.replace("\0", "").lstrip("\ufeff"), count=1)
    if not text.strip():
        raise EmptyDocument("the file holds only blanks")
    text = _with_entities(text, warnings)
    root, faults = _parsed(text)
    if any(str(entry.message).startswith(_SEVERAL) for entry in faults):
        root, faults = _parsed(f"<documents>{_PROLOG.sub('', text)}</documents>")
    if root is None:
        raise ReadingError("the XML cannot be parsed: it has no element")
    if any("depth" in str(entry.message).lower() for entry in faults) or _depth(root) > _DEEPEST:
        raise ReadingError(
            f"the XML is nested too deeply: more than {_DEEPEST} elements in one another"
        )
    faults = [entry for entry in faults if "Entity '" not in str(entry.message)]
    if faults:
        warnings.append(
            f"The XML is broken at line {faults[0].line:,} ({faults[0].message.strip()}); "
            "what could be made out was read."
        )
    return root, warnings


def _parsed(text: str) -> tuple[etree._Element | None, list[etree._LogEntry]]:
    return xml_root_and_faults(
        text.encode(errors="replace"),
        "the XML cannot be parsed",
        remove_pis=True,
        remove_comments=True,
        encoding="utf-8",
    )


def _depth(root: etree._Element) -> int:
    """How many elements stand in one another, counted up to one too many."""
    depth = deepest = 0
    for event, _ in etree.iterwalk(root, events=("start", "end")):
        depth += 1 if event == "start" else -1
        deepest = max(deepest, depth)
        if deepest > _DEEPEST:
            break
    return deepest


def _with_entities(text: str, warnings: list[str]) -> str:
    """The text without its internal subset, its own plain entities put in.

    Entities of HTML (``&nbsp;``) that a DTD elsewhere would declare are put in as well.
    """
    subset = _SUBSET.search(text)
    declared: dict[str, str] = {}
    if subset is not None:
        for count, match in enumerate(_ENTITY.finditer(subset[1])):
            value = match[3] if match[3] is not None else match[4]
            if count >= _MOST_ENTITIES:
                raise LimitExceeded(
                    f"the XML declares more than {_MOST_ENTITIES:,} entities: "
                    "this looks like an entity bomb"
                )
            if value is None:
                continue  # external, never fetched
            if len(value) > _MOST_ENTITY or _names(value) - _XML_ENTITIES:
                raise LimitExceeded(
                    f"the XML declares the entity {match[2]!r}, which is made of other entities "
                    f"or longer than {_MOST_ENTITY:,} characters: this looks like an entity bomb"
                )
            if not match[1]:  # one of the declarations themselves, which are not read
                declared[match[2]] = value
        text = "\n" * subset[0].count("\n") + text[subset.end() :]
    elif "<!ENTITY" in text and "<!ENTITY" in _VERBATIM.sub("", text):
        raise ReadingError("the XML declares entities in a way that is not understood: refused")
    if "&" not in text:
        return text
    room = _ROOM * len(text) + (1 << 20)
    grown = 0
    unknown: dict[str, None] = {}

    def put(match: re.Match[str]) -> str:
        nonlocal grown
        name = match[1]
        if name is None or name in _XML_ENTITIES:
            return match[0]
        value = declared.get(name)
        if value is None:
            value = html5.get(name + ";") or _greek(name)
            if value is None:
                unknown[name] = None
                return ""
            value = "".join(f"&#{ord(sign)};" for sign in value)
        grown += len(value)
        if grown > room:
            raise LimitExceeded(
                "the XML's entities unpack to far more than it holds: "
                "this looks like an entity bomb"
            )
        return value

    text = _REPLACED.sub(put, text)
    if unknown:
        named = ", ".join(list(unknown)[:5])
        warnings.append(f"The XML uses entities that it does not declare: {named}; left out.")
    return text


def _greek(name: str) -> str | None:
    """A Greek letter of ISO 8879 (``&mgr;``, ``&OHgr;``), as documents made from SGML name it."""
    letter = name.removesuffix("gr")
    if letter == name:
        return None
    place = _GREEK.find(f" {letter.lower()} ")
    if place < 0:
        return None
    sign = "αβγδεζηθικλμνξοπρστυφχψως"[_GREEK.count(" ", 0, place)]
    return sign.upper() if letter[:1].isupper() else sign


def _names(value: str) -> set[str]:
    return set(_REFERENCE.findall(value)) | set(re.findall(r"%([A-Za-z_][\w.:-]*);", value))
