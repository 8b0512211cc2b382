"""The one way in which XML from a foreign file is parsed (docs/decisions/0008).

Entities stay unresolved, no document type is loaded, nothing is fetched, and broken markup is
made the best of. Whoever parses decides what to say of declared entities; most kinds of file
never declare any, and refuse them before or after.
"""

from __future__ import annotations

from typing import Any

from lxml import etree

from emily.errors import ReadingError

__all__ = ["declares_entities", "xml_root", "xml_root_and_faults"]

_ENTITY = tuple("<!ENTITY".encode(code) for code in ("ascii", "utf-16-le", "utf-16-be"))


def declares_entities(data: bytes) -> bool:
    """Whether XML declares entities, told before it is parsed."""
    return any(mark in data for mark in _ENTITY)


def xml_root(data: bytes, what: str) -> etree._Element:
    """A document as a tree.

    Args:
        data: the document.
        what: it is, as messages begin: ``the part 'word/document.xml'``.

    Raises:
        ReadingError: it is no XML, or declares a document type with a subset of its own.
    """
    root, _ = xml_root_and_faults(data, f"{what} is not XML")
    if root is None:
        raise ReadingError(f"{what} is not XML")
    if root.getroottree().docinfo.internalDTD is not None:
        raise ReadingError(f"{what} declares entities, which no such file does: refused")
    return root


def xml_root_and_faults(
    data: bytes, failure: str, **options: Any
) -> tuple[etree._Element | None, list[etree._LogEntry]]:
    """A tree, ``None`` if there is no element, and what was wrong with the markup.

    Args:
        data: the document.
        failure: what a message says before the parser's own reason.
        options: further ones of the parser, such as ``remove_comments``.

    Raises:
        ReadingError: nothing can be made of it.
    """
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=True,  # limits of size and depth are those of the worker
        recover=True,
        **options,
    )
    try:
        root = etree.fromstring(data, parser)
    except (etree.LxmlError, ValueError) as error:
        raise ReadingError(f"{failure}: {error}") from None
    return root, [entry for entry in parser.error_log if entry.level >= 2]
