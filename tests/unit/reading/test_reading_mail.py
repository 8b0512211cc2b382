"""Mails: headers decoded, text preferred, attachments named."""

from __future__ import annotations

from collections.abc import Callable
from email.message import EmailMessage
from email.policy import SMTP

import pytest

from emily.reading.mail import read_mail
from emily.reading.pages import Page, Table
from emily.reading.source import Draft, Source

Make = Callable[..., Source]
Pages = Callable[[Draft], list[Page]]
HTML = "<table><tr><th>Voce<th>Euro<tr><td>Pane<td>2</table>"


def test_headers_and_attachments(source: Make, pages: Pages) -> None:
    message = EmailMessage(SMTP)
    message["From"] = "Renée Ångström <renee@example.org>"
    message["To"] = "a@example.org, b@example.org"
    message["Date"] = "Tue, 03 Mar 2026 09:05:00 +0100"
    message["Subject"] = "Preventivo: perché 1.200 €?"
    message.set_content("Il testo.\n")
    message.add_alternative("<p>The HTML.</p>", subtype="html")
    message.add_attachment(b"%PDF-1.4", maintype="application", subtype="pdf", filename="è.pdf")
    inner = EmailMessage()
    inner["Subject"] = "Inner"
    inner.set_content("hidden")
    message.add_attachment(inner)
    draft = read_mail(source(bytes(message)))
    assert pages(draft)[0].text == (
        "From: Renée Ångström <renee@example.org>\n"
        "To: a@example.org, b@example.org\n"
        "Date: 2026-03-03 09:05:00+01:00\n"
        "Subject: Preventivo: perché 1.200 €?\n\n"
        "Il testo."
    )
    assert draft.title == "Preventivo: perché 1.200 €?"
    assert draft.warnings == []
    assert [enclosed.name for enclosed in draft.enclosed] == ["è.pdf", "Inner.eml"]


def test_html_is_read_where_there_is_no_text(source: Make, pages: Pages) -> None:
    message = EmailMessage(SMTP)
    message["Subject"] = "x"
    message.set_content(HTML, subtype="html")
    (page,) = pages(read_mail(source(bytes(message))))
    assert page.text == "Subject: x\n\nVoce | Euro\nPane | 2"
    assert page.tables == (Table((2, 2), ((3, 3),)),)


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        (b"Subject: =?iso-8859-1?Q?perch=E9?= =?utf-8?B?IMOo?=\n\nx", "Subject: perché è"),
        (b"Subject: caff\xe8\n\nx", "Subject: caffè"),
        (b"Subject: caff\xc3\xa8\n\nx", "Subject: caffè"),
        (b"Subject: =?nonsense?Q?abc?=\n\nx", "Subject: abc"),
        (b"Subject: folded\r\n over lines\r\n\r\nx", "Subject: folded over lines"),
        (b"Subject : old style\n\nx", "Subject: old style"),
        (b"From x@example.org Mon Jan  1 00:00:00 2026\nSubject: a box\n\nx", "Subject: a box"),
        (b"Date: not a date\nTo: x\n\nx", "Date: not a date"),
        (b"From: <<>>;;@@\nTo: x\n\nx", "To: x"),
    ],
)
def test_headers_of_all_sorts(source: Make, pages: Pages, raw: bytes, line: str) -> None:
    (page,) = pages(read_mail(source(raw)))
    assert line in page.text.split("\n")
    assert page.text.endswith("x")


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("text/plain; charset=iso-8859-1", "perché".encode("latin-1")),
        ("text/plain; charset=utf-8", "perché".encode("latin-1")),
        ("text/plain; charset=who-knows", "perché".encode()),
        ("text/plain", "perché".encode()),
    ],
)
def test_bodies_of_all_charsets(source: Make, pages: Pages, content_type: str, body: bytes) -> None:
    raw = b"Subject: s\nContent-Type: " + content_type.encode() + b"\n\n" + body
    assert pages(read_mail(source(raw)))[0].text == "Subject: s\n\nperché"


def test_flowed_text_is_joined(source: Make, pages: Pages) -> None:
    raw = b"Subject: s\nContent-Type: text/plain; format=flowed\n\none \ntwo\nthree\n-- \nme\n"
    assert pages(read_mail(source(raw)))[0].text == "Subject: s\n\none two\nthree\n-- \nme"


def test_a_mail_stored_as_utf16(source: Make, pages: Pages) -> None:
    raw = "Subject: s\nFrom: a@example.org\n\nbody".encode("utf-16")
    assert pages(read_mail(source(raw)))[0].text == "From: a@example.org\nSubject: s\n\nbody"
