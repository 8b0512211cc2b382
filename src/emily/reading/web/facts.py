"""What a web page says of itself beside its text: title, author, date."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from lxml import html

from emily.reading.pages import Facts
from emily.reading.source import tidy

__all__ = ["page_facts", "page_title"]

_AUTHORS = ("author", "article:author", "dc.creator", "dcterms.creator", "citation_author",
            "parsely-author", "sailthru.author", "byl")  # fmt: skip
_DATES = (
    "article:published_time", "datepublished", "citation_publication_date", "citation_date",
    "dc.date", "dc.date.issued", "dcterms.issued", "dcterms.date", "dcterms.created",
    "dc.date.created", "date", "pubdate", "publishdate", "publish-date", "sailthru.date",
    "parsely-pub-date", "og:published_time", "article:modified_time", "datemodified",
    "dcterms.modified", "last-modified",
)  # fmt: skip
_ISO = re.compile(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?!\d)")
_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})(?!\d)")
_MOST_JSON = 1 << 20
_LONGEST_NAME = 200


def page_title(root: html.HtmlElement) -> str | None:
    """The content of ``<title>``, else what the page calls itself where it is shared."""
    for element in root.iter("title"):
        if not any(parent.tag == "svg" for parent in element.iterancestors()):
            text = _line("".join(str(piece) for piece in element.itertext()))
            if text:
                return text
    return _metas(root).get("og:title")


def page_facts(root: html.HtmlElement) -> Facts:
    """Author and date by the page's own fields (Open Graph, Dublin Core, schema.org)."""
    metas = _metas(root)
    linked = list(_linked(root))
    author = next((metas[name] for name in _AUTHORS if _is_name(metas.get(name))), None)
    if author is None:
        author = next(filter(_is_name, (name for data in linked for name in _names(data))), None)
    date = next(filter(None, (_date(metas.get(name)) for name in _DATES[:3])), None)
    for key in ("datePublished", "dateCreated"):
        date = date or next(filter(None, (_date(data.get(key)) for data in linked)), None)
    date = date or next(filter(None, (_date(text) for text in _times(root))), None)
    date = date or next(filter(None, (_date(metas.get(name)) for name in _DATES[3:])), None)
    return Facts(author=author, date=date, date_source="metadata" if date else None)


def _line(text: str) -> str:
    return " ".join(tidy(text.replace("\0", "")).split())


def _metas(root: html.HtmlElement) -> dict[str, str]:
    metas: dict[str, str] = {}
    for element in root.iter("meta"):
        content = _line(element.get("content") or "")
        for attribute in ("name", "property", "itemprop"):
            name = (element.get(attribute) or "").strip().lower()
            if name and content:
                metas.setdefault(name, content)
    return metas


def _times(root: html.HtmlElement) -> Iterator[str]:
    for element in root.iter("time"):
        if element.get("pubdate") is not None or element.get("itemprop") == "datePublished":
            yield element.get("datetime") or ""


def _linked(root: html.HtmlElement) -> Iterator[dict[str, Any]]:
    """Objects of the page's linked data (JSON-LD); what is not valid is passed over."""
    for element in root.iter("script"):
        if (element.get("type") or "").strip().lower() != "application/ld+json":
            continue
        text = element.text or ""
        if len(text) > _MOST_JSON:
            continue
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            continue
        for item in data if isinstance(data, list) else [data]:
            if isinstance(item, dict):
                yield item
                graph = item.get("@graph")
                if isinstance(graph, list):
                    yield from (inner for inner in graph if isinstance(inner, dict))


def _names(data: dict[str, Any]) -> Iterable[str]:
    authors = data.get("author")
    for author in authors if isinstance(authors, list) else [authors]:
        name = author.get("name") if isinstance(author, dict) else author
        if isinstance(name, str):
            yield _line(name)


def _is_name(text: str | None) -> bool:
    return bool(text) and len(text or "") <= _LONGEST_NAME and "://" not in (text or "")


def _date(text: object) -> dt.date | None:
    if not isinstance(text, str):
        return None
    match = _ISO.match(text.strip()) or _COMPACT.match(text.strip())
    if match is None:
        return None
    try:
        return dt.date(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return None
