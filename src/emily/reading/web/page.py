"""Web pages: what a person sees of them, and what they say of themselves."""

from __future__ import annotations

import base64
import binascii
import re
import urllib.parse
from collections.abc import Callable

from lxml import etree, html

from emily.errors import EmptyDocument, ReadingError
from emily.reading.encodings import decode_text
from emily.reading.pages import Facts, Page, Table
from emily.reading.pictures import UNREAD
from emily.reading.source import Draft, Source, check_length, single_page, tidy
from emily.reading.web.body import HIDDEN, BodyWriter, walk
from emily.reading.web.facts import page_facts, page_title

__all__ = ["html_text", "inline_picture", "read_html"]

_META = re.compile(
    rb"""<meta[^>]+charset\s*=\s*["']?\s*([a-z0-9_.:-]+)|<\?xml[^>]+encoding\s*=\s*["']([^"']+)""",
    re.IGNORECASE,
)
_LAST_RESORT = HIDDEN - {"noscript", "template", "nav"}
_DEEPEST = 3  # pages inside of one another


def read_html(source: Source) -> Draft:
    """A web page: its visible text, tables in Markdown, and the pictures that it carries itself.

    Scripts, styles, menus and notices about cookies are left out; so are pictures that lie
    elsewhere.

    Raises:
        EmptyDocument: it has no visible text.
        ReadingError: not even a forgiving parser makes a tree of it.
    """
    data = source.path.read_bytes()
    check_length(len(data) // 4)
    match = _META.search(data[:8192])
    declared = (match[1] or match[2]).decode("ascii", "replace") if match else None
    markup, warning = decode_text(data, declared)
    root = _tree(markup)
    if root is None:
        raise EmptyDocument("the page has no visible text")

    def picture(target: str) -> list[str]:
        content = inline_picture(target)
        return source.pictures.block(content, 1) if content else []

    text, tables = _text(root, picture, 0)
    check_length(len(text))
    if not text.strip():
        raise EmptyDocument("the page has no visible text")
    pictures = source.pictures.on_page(1)
    if any(line and line != UNREAD for line in text.split("\n")):
        page = Page(1, text, tables=tables, pictures=pictures)
    else:
        warned = "The page holds pictures alone, which are not read."
        page = Page(1, "", "unread", warning=warned, pictures=pictures)
    warnings = [warning] if warning else []
    title = page_title(root)
    return Draft("html", "none", single_page(page), title, warnings, page_facts(root))


def inline_picture(target: str) -> bytes | None:
    """The picture that an address holds in itself (``data:``, RFC 2397); ``None`` for others."""
    if target[:11].lower() != "data:image/":
        return None
    head, comma, body = target.partition(",")
    if not comma or "svg" in head.lower():
        return None
    data = urllib.parse.unquote_to_bytes(body)
    if head.lower().rstrip().endswith(";base64"):
        try:
            data = base64.b64decode(re.sub(rb"\s", b"", data) + b"==")
        except (binascii.Error, ValueError):
            return None
    return data or None


def html_text(
    markup: str, picture: Callable[[str], list[str]] | None = None
) -> tuple[str, tuple[Table, ...], str | None]:
    """The visible text of HTML, with a blank line between blocks and one line per table row.

    Args:
        markup: the page.
        picture: gives the lines that stand in place of a picture, by the value of its ``src``;
            without it pictures are passed over.

    Returns:
        The text, the tables in it, and the content of ``<title>``.

    Raises:
        ReadingError: not even a forgiving parser makes a tree of it.
    """
    root = _tree(markup)
    if root is None:
        return "", (), None
    text, tables = _text(root, picture, 0)
    return text, tables, page_title(root)


def html_facts(markup: str) -> Facts:
    """Author and date that a page states in its own fields."""
    root = _tree(markup)
    return Facts() if root is None else page_facts(root)


def _tree(markup: str) -> html.HtmlElement | None:
    parser = html.HTMLParser(
        encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True
    )
    markup = markup.replace("\0", "")
    if not markup.strip():
        return None
    try:
        root = html.document_fromstring(markup.encode(errors="replace"), parser=parser)
    except (etree.LxmlError, ValueError) as error:
        raise ReadingError(f"the HTML cannot be parsed: {error}") from None
    if any("depth" in str(entry.message).lower() for entry in parser.error_log):
        raise ReadingError("the HTML is nested too deeply: more than 2,000 elements in one another")
    return root


def _text(
    root: html.HtmlElement, picture: Callable[[str], list[str]] | None, depth: int
) -> tuple[str, tuple[Table, ...]]:
    """Text and tables; where nothing is seen, what is shown without scripts, and the menus."""

    def inner(markup: str) -> str:
        if depth >= _DEEPEST:
            return ""
        tree = _tree(markup)
        return "" if tree is None else _text(tree, picture, depth + 1)[0]

    for hidden in (HIDDEN, _LAST_RESORT):
        writer = BodyWriter(picture, inner)
        for event, element in walk(root, hidden):
            writer.take(event, element)
        text, tables = writer.finish()
        if text.strip():
            return tidy(text), tables
    return "", ()
