"""Files that are text: HTML, Markdown, TXT, CSV and e-mail."""

from __future__ import annotations

import re
from email.message import EmailMessage
from email.policy import SMTP
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .source import Block, Source

__all__ = ["eml", "html", "verbatim"]

STYLE = (
    "body{font:16px/1.5 Georgia,serif;max-width:44rem;margin:2rem auto;color:#222}"
    "h1,h2{color:#274c5e}table{border-collapse:collapse}td,th{border:1px solid #bbb;"
    "padding:.3rem .6rem;text-align:left}footer{color:#777;font-size:.8rem}"
)


def verbatim(source: Source) -> bytes:
    """The body as it stands; ``encoding`` and ``newline`` of the front matter are kept to."""
    text = source.body
    if source.options.get("newline") == "crlf":
        text = text.replace("\n", "\r\n")
    return text.encode(source.options.get("encoding", "utf-8"))


def html(source: Source) -> bytes:
    """A page as a web site or a shop's mail gives it."""
    head = "".join(f"<p>{escape(str(line))}</p>" for line in source.options.get("letterhead", []))
    body = "\n".join(_element(block) for block in source.blocks if block.kind != "page")
    return (
        f'<!DOCTYPE html>\n<html lang="{source.lang}">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{escape(source.title)}</title>\n<style>{STYLE}</style>\n"
        "<script>window.visits = (window.visits || 0) + 1;</script>\n</head>\n<body>\n"
        f"<header>{head}</header>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    ).encode()


def eml(source: Source) -> bytes:
    """A mail of plain text; with ``html = true`` also as HTML, the way most programs send it."""
    options = source.options
    message = EmailMessage(policy=SMTP)
    message["From"], message["To"] = options["from"], options["to"]
    if "cc" in options:
        message["Cc"] = options["cc"]
    message["Subject"] = options["subject"]
    message["Date"] = options["date"]
    message["Message-ID"] = f"<{source.path.stem}@mail.example>"
    message.set_content(source.body.replace("**", ""), cte="quoted-printable")
    if options.get("html"):
        body = "\n".join(_element(block) for block in source.blocks)
        message.add_alternative(
            f"<html><body>\n{body}\n</body></html>\n", subtype="html", cte="quoted-printable"
        )
        message.set_boundary(f"=_{source.path.stem}")
    return message.as_bytes()


def _inline(text: str) -> str:
    return re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", escape(text, quote=False))


def _element(block: Block) -> str:
    if block.kind == "heading":
        return f"<h{block.level}>{_inline(block.lines[0])}</h{block.level}>"
    if block.kind == "bullets":
        return "<ul>" + "".join(f"<li>{_inline(line)}</li>" for line in block.lines) + "</ul>"
    if block.kind == "table":
        head, *rows = block.rows
        lines = ["".join(f"<th>{_inline(cell)}</th>" for cell in head)]
        lines += ["".join(f"<td>{_inline(cell)}</td>" for cell in row) for row in rows]
        return "<table>\n" + "\n".join(f"<tr>{line}</tr>" for line in lines) + "\n</table>"
    return "<p>" + "<br>\n".join(_inline(line) for line in block.lines) + "</p>"
