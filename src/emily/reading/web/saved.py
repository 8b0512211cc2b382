"""Saved web pages: Safari's web archives, and MHTML of the other browsers."""

from __future__ import annotations

import base64
import contextlib
import plistlib
import re
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urldefrag, urljoin
from xml.parsers.expat import ExpatError

from emily.errors import EmptyDocument, ReadingError
from emily.reading.mail.body import shifted
from emily.reading.mail.charsets import decoded
from emily.reading.mail.headers import moment, subject
from emily.reading.mail.mime import Part, parse
from emily.reading.pages import Facts, Page, Table
from emily.reading.source import Draft, Source, check_length, single_page, tidy
from emily.reading.web.page import html_facts, html_text, inline_picture

__all__ = ["read_mhtml", "read_webarchive"]

_MOST_FRAMES = 200
_MOST_DEPTH = 8  # frames inside of frames
_MARKUP = frozenset({"text/html", "application/xhtml+xml", "application/xml", "text/xml"})
_META = re.compile(
    rb"""<meta[^>]{1,300}charset\s*=\s*["']?\s*([a-z0-9_.:-]+)|<\?xml[^>]+encoding\s*=\s*["']([^"']+)""",
    re.IGNORECASE,
)
_DRAWN = re.compile(
    rb"<(?:[\w.-]+:)?(?:path|text|image|line|polyline|polygon|circle|ellipse|use)\b"
)
_FRAME = re.compile(r"<i?frame\b[^>]{0,2000}?\bsrc\s*=\s*[\"']?([^\"'\s>]+)", re.IGNORECASE)


@dataclass(slots=True)
class _Resource:
    """A page, a picture or a frame of a saved web page.

    Attributes:
        address: where it was found; may be empty.
        kind: its content type.
        charset: that it names, or an empty text.
        data: its bytes, when they are asked for.
        frames: saved pages inside of it.
        resources: by address.
    """

    address: str
    kind: str
    charset: str
    data: Callable[[], bytes]
    frames: list[_Resource] = field(default_factory=list)
    resources: dict[str, _Resource] = field(default_factory=dict)


@dataclass(slots=True)
class _Reading:
    """What is read of a saved page and its frames."""

    source: Source
    lines: list[str] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    title: str | None = None
    facts: Facts = field(default_factory=Facts)
    frames: int = 0
    missing: set[str] = field(default_factory=set)
    drawings: set[str] = field(default_factory=set)

    def unread(self) -> list[str]:
        """What of the pictures was not read, a sentence for each sort."""
        said = []
        if self.missing:
            said.append(f"{_counted(self.missing)} not read: missing in the saved page.")
        if self.drawings:
            said.append(f"{_counted(self.drawings)} not read: drawn in SVG.")
        return said


def _counted(pictures: set[str]) -> str:
    return "1 picture is" if len(pictures) == 1 else f"{len(pictures):,} pictures are"


def read_webarchive(source: Source) -> Draft:
    """A web archive of Safari: its page, the pictures in their places, then its frames.

    Raises:
        ReadingError: it is not a property list, or holds no page.
        EmptyDocument: the page has no visible text.
    """
    try:
        archive = plistlib.loads(source.path.read_bytes())
    except (
        plistlib.InvalidFileException,
        ExpatError,
        ValueError,
        TypeError,
        KeyError,
        IndexError,
        AttributeError,
        OverflowError,
        RecursionError,
    ) as error:
        raise ReadingError(f"the web archive is broken: {error}") from None
    main = _archived(archive, 0)
    if main is None:
        raise ReadingError("the web archive holds no page")
    return _draft(main, source, "webarchive")


def _archived(archive: object, depth: int) -> _Resource | None:
    """The page of an archive, with what belongs to it."""
    if not isinstance(archive, dict) or depth > _MOST_DEPTH:
        return None
    main = _resource(archive.get("WebMainResource"))
    if main is None:
        return None
    for item in _list(archive.get("WebSubresources")):
        found = _resource(item)
        if found is not None:
            main.resources.setdefault(found.address, found)
    for item in _list(archive.get("WebSubframeArchives")):
        frame = _archived(item, depth + 1)
        if frame is not None:
            main.frames.append(frame)
    return main


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _resource(value: object) -> _Resource | None:
    if not isinstance(value, dict):
        return None
    data = value.get("WebResourceData")
    held = data if isinstance(data, bytes) else str(data or "").encode()
    return _Resource(
        address=str(value.get("WebResourceURL") or ""),
        kind=str(value.get("WebResourceMIMEType") or "text/html").lower(),
        charset=str(value.get("WebResourceTextEncodingName") or ""),
        data=lambda: held,
    )


def read_mhtml(source: Source) -> Draft:
    """A page saved as MHTML (RFC 2557): its root, pictures by id or address, then its frames.

    Raises:
        ReadingError: it holds no page.
        EmptyDocument: the page has no visible text.
    """
    data = source.path.read_bytes()
    check_length(len(data) // 16)
    whole = parse(data)
    parts = [part for part in whole.walk() if part.main != "multipart"]
    root = _root(whole, parts)
    if root is None:
        raise ReadingError("the saved page holds no HTML")
    main = _saved(root)
    for part in parts:
        if part is root:
            continue
        found = _saved(part)
        for name in (f"cid:{part.content_id}", found.address):
            if name not in {"", "cid:"}:
                main.resources.setdefault(name, found)
    main.frames = _framed(main, 0, {id(main)})
    draft = _draft(main, source, "mhtml")
    draft.warnings += whole.lost
    draft.title = draft.title or subject(whole) or None
    if draft.facts.date is None:
        when = moment(whole.get("date"))
        if when is not None:  # of saving, not of the page: better than that of the copy
            draft.facts = Facts(draft.facts.author, when.date(), "metadata")
    return draft


def _root(whole: Part, parts: list[Part]) -> Part | None:
    """The part that the file is about: named as start, by the file's address, or the first page."""
    pages = [part for part in parts if part.kind in _MARKUP and part.end > part.start]
    start = whole.parameter("start").strip("<> ")
    place = whole.get("snapshot-content-location").strip()
    named = [p for p in pages if start and p.content_id == start]
    named += [p for p in pages if place and p.get("content-location").strip() == place]
    texts = [part for part in parts if part.main == "text" and part.end > part.start]
    return next(iter([*named, *pages, *texts]), None)


def _saved(part: Part) -> _Resource:
    return _Resource(
        address=part.get("content-location").strip(),
        kind=part.kind,
        charset=part.parameter("charset"),
        data=part.body,
    )


def _framed(page: _Resource, depth: int, seen: set[int]) -> list[_Resource]:
    """The pages that a page shows in frames, in order, each once; they share its resources."""
    if depth >= _MOST_DEPTH or page.kind not in _MARKUP:
        return []
    frames = []
    for found in _FRAME.finditer(_markup(page)[0]):
        frame = _named(page, found[1].replace("&amp;", "&"))
        if frame is None or id(frame) in seen or frame.kind not in _MARKUP | {"text/plain"}:
            continue
        seen.add(id(frame))
        frame.resources = page.resources
        frame.frames = _framed(frame, depth + 1, seen)
        frames.append(frame)
    return frames


def _named(page: _Resource, target: str) -> _Resource | None:
    """What an address of a page means among its resources."""
    target = target.strip()
    for name in (target, urldefrag(_full(page.address, target)).url):
        found = page.resources.get(name)
        if found is not None:
            return found
    return None


def _is_svg(target: str, page: _Resource) -> bool:
    """Whether an address means a drawing in SVG; a blank one keeps a place, and is none."""
    if target[:5].lower() == "data:":
        head, _, body = target.partition(",")
        held = urllib.parse.unquote_to_bytes(body)
        if head.lower().rstrip().endswith(";base64"):
            held = body.encode(errors="replace")
            with contextlib.suppress(ValueError):
                held = base64.b64decode(held + b"==")
        return "svg" in head.lower() and _DRAWN.search(held) is not None
    found = _named(page, target)
    return found is not None and "svg" in found.kind and _DRAWN.search(found.data()) is not None


def _full(base: str, target: str) -> str:
    try:
        return urljoin(base, target)
    except ValueError:  # an address that is none
        return target


def _markup(page: _Resource) -> tuple[str, str | None]:
    """A page's markup, decoded, and a sentence about its encoding where it was assumed."""
    data = page.data()
    declared = page.charset
    if not declared:
        match = _META.search(data[:8192])
        declared = (match[1] or match[2]).decode("ascii", "replace") if match else ""
    text, warning = decoded(data, declared)
    return text, warning.replace("the file", "the page") if warning else None


def _draft(main: _Resource, source: Source, kind: str) -> Draft:
    reading = _Reading(source)
    _read(main, reading, 0)
    text = "\n".join(reading.lines).rstrip()
    check_length(len(text))
    if not text.strip():
        raise EmptyDocument("the page has no visible text")
    page = Page(1, text, tables=tuple(reading.tables), pictures=source.pictures.on_page(1))
    warnings = [*dict.fromkeys(reading.warnings), *reading.unread()]
    return Draft(kind, "none", single_page(page), reading.title, warnings, reading.facts)


def _read(page: _Resource, reading: _Reading, depth: int) -> None:
    """Add a page and its frames to the reading."""
    if reading.frames > _MOST_FRAMES:
        reading.warnings.append(f"Only the first {_MOST_FRAMES} frames of the page are read.")
        return
    reading.frames += 1
    if page.kind.startswith("image/"):
        reading.lines += reading.source.pictures.block(page.data(), 1)
    else:
        _read_markup(page, reading, depth)
    for frame in page.frames:
        _read(frame, reading, depth + 1)


def _read_markup(page: _Resource, reading: _Reading, depth: int) -> None:
    markup, warning = _markup(page)
    if warning:
        reading.warnings.append(warning)
    tables: tuple[Table, ...] = ()
    title = None
    if page.kind == "text/plain":
        text = tidy(markup)
    else:

        def picture(target: str) -> list[str]:
            held = inline_picture(target)
            if held is None:
                if _is_svg(target, page):
                    reading.drawings.add(target)
                    return []
                found = _named(page, target)
                if found is None or not found.kind.startswith("image/"):
                    if target.lstrip()[:5].lower() != "data:":
                        reading.missing.add(_full(page.address, target))
                    return []
                held = found.data()
            return reading.source.pictures.block(held, 1)

        try:
            text, tables, title = html_text(markup, picture)
        except ReadingError as error:
            if not depth:
                raise
            reading.warnings.append(f"A frame of the page is not read: {error}.")
            return
    if not depth:
        reading.title = title
        reading.facts = html_facts(markup)
    if text.strip():
        if reading.lines:
            reading.lines.append("")
        reading.tables += [shifted(table, len(reading.lines)) for table in tables]
        reading.lines += text.rstrip().split("\n")
