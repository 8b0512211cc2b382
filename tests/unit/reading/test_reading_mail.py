"""Mails: headers decoded, the right text chosen, attachments handed over, nothing crashes."""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import io
import time
from collections.abc import Callable
from email.message import EmailMessage
from email.policy import SMTP

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from emily.reading.kind import detect
from emily.reading.mail.charsets import decode_words
from emily.reading.mail.headers import addresses, message_ids
from emily.reading.mail.invitation import event_lines
from emily.reading.mail.message import read_mail
from emily.reading.mail.mime import parse
from emily.reading.pages import Correspondent, Facts, Page
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
    (table,) = page.tables
    lines = page.text.split("\n")
    assert lines[:2] == ["Subject: x", ""]
    assert table.header is not None
    assert "Voce" in lines[table.header[0]]
    assert "Pane" in lines[table.rows[0][0]]


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


HEADS = "From: a@x.org\nSubject: s\nMIME-Version: 1.0\n"
START = "From: a@x.org\nSubject: s\n\n"
UNREAD = "[picture, not read]"


def picture(number: int = 0, side: int = 80) -> bytes:
    """A picture, each number another one; one of fewer than 64 pixels is passed over."""
    held = io.BytesIO()
    image = Image.new("L", (side, side), "white")
    image.paste(0, (5, 5, side - 5, 10 + number))
    image.save(held, "PNG")
    return held.getvalue()


def multipart(kind: str, *parts: str, boundary: str = "b") -> str:
    held = "".join(f"--{boundary}\n{part}\n" for part in parts)
    return f'Content-Type: multipart/{kind}; boundary="{boundary}"\n\n{held}--{boundary}--\n'


def part(kind: str, body: str | bytes, *headers: str) -> str:
    if isinstance(body, bytes):
        body = base64.encodebytes(body).decode()
        headers = (*headers, "Content-Transfer-Encoding: base64")
    return "\n".join([f"Content-Type: {kind}", *headers, "", body])


PLAIN = part("text/plain", "The plain text.")
RICH = part("text/html", "<p>The HTML text.</p>")


def text_of(source: Make, pages: Pages, raw: str | bytes) -> str:
    data = raw if isinstance(raw, bytes) else raw.encode()
    (page,) = pages(read_mail(source(data)))
    return page.text.removeprefix(START)


def files(draft: Draft) -> list[tuple[str, bytes]]:
    return [(enclosed.name, b"".join(enclosed.data)) for enclosed in draft.enclosed]


@pytest.mark.parametrize(
    ("headers", "name"),
    [
        ('Content-Disposition: attachment; filename="a b.pdf"', "a b.pdf"),
        ("Content-Disposition: attachment; filename=a.pdf", "a.pdf"),
        ("Content-Disposition: attachment; filename*=UTF-8''perch%C3%A9.pdf", "perché.pdf"),
        (
            "Content-Disposition: attachment; filename*0*=iso-8859-1''perch%E9;\n"
            ' filename*1=" no";\n filename*2*=%21.pdf',
            "perché no!.pdf",
        ),
        (
            'Content-Disposition: attachment; filename="=?utf-8?B?cGVyY2jDqS5wZGY=?="',
            "perché.pdf",
        ),
        ('Content-Disposition: attachment; filename="perché.pdf"', "perché.pdf"),
        ('Content-Disposition: attachment; filename="C:\\\\temp\\\\x.pdf"', "x.pdf"),
        ('Content-Disposition: attachment; filename="../../x.pdf"', "x.pdf"),
        ('Content-Disposition: attachment; filename="unclosed.pdf', "unclosed.pdf"),
        ('Content-Disposition: attachment; filename=""', "attachment.pdf"),
        ("Content-Disposition: attachment", "attachment.pdf"),
        ('Content-Disposition: ; filename="x.pdf"', "x.pdf"),
    ],
)
def test_names_of_attachments(source: Make, headers: str, name: str) -> None:
    raw = HEADS + multipart("mixed", PLAIN, part("application/pdf", b"%PDF-1", headers))
    assert files(read_mail(source(raw.encode()))) == [(name, b"%PDF-1")]


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("image/jpeg", "image.jpg"),
        ("application/pdf", "attachment.pdf"),
        ("text/csv", "attachment.csv"),
        ("application/octet-stream", "attachment"),
        ("application/x-who-knows", "attachment"),
    ],
)
def test_an_unnamed_attachment_is_named_by_its_type(source: Make, kind: str, name: str) -> None:
    raw = HEADS + multipart("mixed", PLAIN, part(kind, b"data"), part(kind, b"more"))
    stem, dot, suffix = name.partition(".")
    assert files(read_mail(source(raw.encode()))) == [
        (name, b"data"),
        (f"{stem} (2){dot}{suffix}", b"more"),
    ]


@pytest.mark.parametrize(
    ("inner", "name"),
    [
        ("Subject: An /offer/: 3?\n\nbody", "An offer 3.eml"),
        ("Subject: =?utf-8?Q?perch=C3=A9?=\n\nbody", "perché.eml"),
        ("From: x@x.org\n\nbody", "mail.eml"),
    ],
)
def test_an_attached_mail_is_named_by_its_subject(
    source: Make, pages: Pages, inner: str, name: str
) -> None:
    raw = HEADS + multipart("mixed", PLAIN, part("message/rfc822", inner))
    draft = read_mail(source(raw.encode()))
    ((given, data),) = files(draft)
    assert given == name
    assert pages(read_mail(source(data, "inner.eml")))[0].text.endswith("body")


def test_text_that_is_attached_is_no_body(source: Make, pages: Pages) -> None:
    attached = part("text/plain; name=log.txt", "log", "Content-Disposition: attachment")
    inline = part("text/plain; name=note.txt", "note", "Content-Disposition: inline")
    footer = part("text/plain", "-- \nfooter of the list")
    draft = read_mail(
        source((HEADS + multipart("mixed", PLAIN, attached, inline, footer)).encode())
    )
    assert pages(draft)[0].text == START + "The plain text.\n\n-- \nfooter of the list"
    assert files(draft) == [("log.txt", b"log"), ("note.txt", b"note")]


@pytest.mark.parametrize(
    ("plain", "html", "text"),
    [
        ("The plain text.", "<p>The HTML text.</p>", "The plain text."),
        ("", "<p>The HTML text.</p>", "The HTML text."),
        ("  \n ", "<p>The HTML text.</p>", "The HTML text."),
        (
            "Your client does not show HTML.",
            f"<p>{'word ' * 60}</p>",
            ("word " * 60).strip(),
        ),
        ("The plain text.", "", "The plain text."),
    ],
)
def test_alternatives(source: Make, pages: Pages, plain: str, html: str, text: str) -> None:
    raw = HEADS + multipart("alternative", part("text/plain", plain), part("text/html", html))
    assert text_of(source, pages, raw) == text


def test_html_and_text_side_by_side(source: Make, pages: Pages) -> None:
    again = part("text/html", "<b>The</b> plain text.")
    other = part("text/html", "<p>What follows is only here.</p>")
    assert text_of(source, pages, HEADS + multipart("mixed", PLAIN, again)) == "The plain text."
    assert text_of(source, pages, HEADS + multipart("mixed", PLAIN, other)) == (
        "The plain text.\n\nWhat follows is only here."
    )


@pytest.mark.parametrize(
    ("declared", "meta", "codec"),
    [
        ("; charset=iso-8859-1", "", "latin-1"),
        ("", "<meta charset='windows-1251'>", "cp1251"),
        ("; charset=gb2312", "", "gb18030"),
    ],
)
def test_charsets_of_html(source: Make, pages: Pages, declared: str, meta: str, codec: str) -> None:
    said = {"latin-1": "perché", "cp1251": "привет всем", "gb18030": "你好，世界"}[codec]
    raw = f"{HEADS}Content-Type: text/html{declared}\n\n{meta}<p>".encode() + said.encode(codec)
    assert text_of(source, pages, raw) == said


@pytest.mark.parametrize(
    ("charset", "codec", "said"),
    [
        ("iso-2022-jp", "iso2022_jp", "日本"),
        ("ks_c_5601-1987", "cp949", "안녕하세요"),
        ("iso-8859-1", "cp1252", "costa 5 € “netti”"),
        ("windows-1250", "cp1250", "žluťoučký kůň"),
        ("utf-7", "utf-7", "perché"),
        ("base64", "utf-8", "perché"),
        ("idna", "utf-8", "perché"),
    ],
)
def test_charsets_that_mail_names(
    source: Make, pages: Pages, charset: str, codec: str, said: str
) -> None:
    raw = f"{HEADS}Content-Type: text/plain; charset={charset}\n\n".encode() + said.encode(codec)
    assert text_of(source, pages, raw) == said


def test_pictures_of_html_stand_in_their_place(source: Make, pages: Pages) -> None:
    html = part(
        "text/html",
        "<p>one <img src='cid:p1@x'> two</p><p>three <img src='CID:p2@x'></p><img src='cid:small'>",
    )
    held = [
        part("image/png; name=a.png", picture(1), "Content-ID: <p1@x>"),
        part("image/png; name=b.png", picture(2), "Content-ID: <p2@x>"),
        part("image/png; name=c.png", picture(3), "Content-ID: <p3@x>"),
        part("image/png; name=d.png", picture(4, 20), "Content-ID: <small>"),
    ]
    draft = read_mail(source((HEADS + multipart("related", html, *held)).encode()))
    (page,) = pages(draft)
    lines = [line for line in page.text.removeprefix(START).split("\n") if line]
    assert lines == ["one", UNREAD, "two", "three", UNREAD]
    assert page.pictures == 2
    assert [name for name, _ in files(draft)] == ["c.png"]  # which the text shows nowhere


@pytest.mark.parametrize(
    ("plain", "text"),
    [
        ("before [cid:p1@x] after", f"before \n{UNREAD}\n after"),
        ("before\n[image: a.png]\nafter", f"before\n[image: a.png]\n\n{UNREAD}\n\nafter"),
        ("before and after", f"before and after\n\n{UNREAD}"),
    ],
)
def test_pictures_of_the_html_are_read_with_the_plain_text(
    source: Make, pages: Pages, plain: str, text: str
) -> None:
    html = multipart(
        "related",
        part("text/html", "<p>before <img src='cid:p1@x'> after</p>"),
        part("image/png; name=a.png", picture(), "Content-ID: <p1@x>"),
        boundary="inner",
    )
    raw = HEADS + multipart("alternative", part("text/plain", plain), html)
    draft = read_mail(source(raw.encode()))
    assert pages(draft)[0].text == START + text
    assert files(draft) == []


def test_facts(source: Make) -> None:
    raw = (
        'From: "Lovelace, Ada" <ada@x.org>\nTo: Bob <bob@x.org>, carl@x.org\n'
        "Cc: =?utf-8?Q?D=C3=B3ra?= <dora@x.org>\nDate: Tue, 3 Mar 2026 23:30:00 -0500\n"
        "Message-ID: <m3@x.org>\nReferences: <m1@x.org> <m2@x.org>\nIn-Reply-To: <m2@x.org>\n\nx"
    )
    assert read_mail(source(raw.encode())).facts == Facts(
        author="Lovelace, Ada",
        date=dt.date(2026, 3, 3),
        date_source="header",
        correspondents=(
            Correspondent("from", "Lovelace, Ada", "ada@x.org"),
            Correspondent("to", "Bob", "bob@x.org"),
            Correspondent("to", "", "carl@x.org"),
            Correspondent("cc", "Dóra", "dora@x.org"),
        ),
        message_id="m3@x.org",
        references=("m1@x.org", "m2@x.org"),
    )


@pytest.mark.parametrize(
    ("headers", "date"),
    [
        ("Date: Tue, 3 Mar 2026 09:00:00 +0100", dt.date(2026, 3, 3)),
        ("Date: 2026-03-03T09:00:00+01:00", dt.date(2026, 3, 3)),
        ("Date: 3 Mar 26 09:00 GMT", dt.date(2026, 3, 3)),
        ("Date: yesterday", None),
        ("Date: Mon, 30 Jun 3609 15:33:50 +0600", None),
        ("Date: Thu, 1 Jan 1601 00:00:00 +0000", None),
        (
            "Received: from a by b; Wed, 4 Mar 2026 00:00:00 +0000\n"
            "Received: from c by d; Tue, 3 Mar 2026 09:00:00 +0000\nDate: yesterday",
            dt.date(2026, 3, 3),
        ),
    ],
)
def test_the_date(source: Make, headers: str, date: dt.date | None) -> None:
    facts = read_mail(source(f"From: a@x.org\n{headers}\n\nx".encode())).facts
    assert facts.date == date
    assert facts.date_source == (None if date is None else "header")


@pytest.mark.parametrize(
    ("value", "people"),
    [
        ("a@x.org", [("", "a@x.org")]),
        ("Ada <a@x.org>, b@x.org", [("Ada", "a@x.org"), ("", "b@x.org")]),
        ('"Lovelace, Ada" <a@x.org>', [("Lovelace, Ada", "a@x.org")]),
        ("Lovelace; Ada <a@x.org>", [("Lovelace", None), ("Ada", "a@x.org")]),
        ("=?utf-8?Q?R=C3=A9n=C3=A9=2C_X?= <a@x.org>", [("Réné, X", "a@x.org")]),
        ("a@x.org (Ada)", [("Ada", "a@x.org")]),
        ("'a@x.org' <a@x.org>", [("", "a@x.org")]),
        ("friends: Ada <a@x.org>, b@x.org;", [("Ada", "a@x.org"), ("", "b@x.org")]),
        ("undisclosed-recipients:;", []),
        ("<mailto:a@x.org>", [("", "a@x.org")]),
        ("Ada a@x.org", [("Ada", "a@x.org")]),
        ("<@relay.org:a@x.org>", [("", "a@x.org")]),
        ('"quoted \\"nick\\" name" <a@x.org>', [('quoted "nick" name', "a@x.org")]),
        ("Ada", [("Ada", None)]),
        ("", []),
        ("<>", []),
    ],
)
def test_addresses(value: str, people: list[tuple[str, str | None]]) -> None:
    assert addresses([value]) == people


@given(st.text(max_size=80))
def test_any_address_header_ends(value: str) -> None:
    for name, address in addresses([value, value]):
        assert name or address


@pytest.mark.parametrize(
    ("value", "ids"),
    [
        ("<a@x> <b@x>", ["a@x", "b@x"]),
        ("<a@x><b@x>", ["a@x", "b@x"]),
        ("a@x", ["a@x"]),
        ("Your message of Monday <a@x>", ["a@x"]),
        ("Your message of Monday", []),
        ("< a@x >", ["a@x"]),
    ],
)
def test_message_ids(value: str, ids: list[str]) -> None:
    assert message_ids(value) == ids


@given(st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z"))), st.booleans())
def test_encoded_words_come_back(text: str, quoted: bool) -> None:
    data = text.encode()
    words = "".join(f"={byte:02X}" for byte in data)
    word = f"Q?{words}" if quoted else f"B?{base64.b64encode(data).decode()}"
    assert decode_words(f"=?utf-8?{word}?=") == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("=?utf-8?B?w6g=?= =?utf-8?B?w6k=?=", "èé"),
        ("=?utf-8?Q?=C3?= =?utf-8?Q?=A8?= x", "è x"),  # cut in the middle of a character
        ("=?utf-8*it?Q?perch=C3=A9?=", "perché"),
        ("=?utf-8?Q?a b?=", "a b"),
        ("=?utf-8?Q?a?b?=", "a?b"),
        ("=?utf-8?X?a?=", "=?utf-8?X?a?="),
        ("=?utf-8?B?w6g?=", "è"),
        ("a =?utf-8?Q?b?= c", "a b c"),
        ("=?", "=?"),
    ],
)
def test_encoded_words(value: str, text: str) -> None:
    assert decode_words(value) == text


EVENT = (
    "BEGIN:VCALENDAR\nMETHOD:REQUEST\nBEGIN:VEVENT\n"
    "DTSTART;TZID=Europe/Rome:20260304T090000\nDTEND;TZID=Europe/Rome:20260304T100000\n"
    "SUMMARY:Budget\\, first\n  draft\nLOCATION:Room 3\nDESCRIPTION:Bring\\nnumbers\n"
    'ORGANIZER;CN="Ada: L":mailto:ada@x.org\nATTENDEE;CN=Bob:mailto:bob@x.org\n'
    "BEGIN:VALARM\nSUMMARY:alarm\nEND:VALARM\nEND:VEVENT\nEND:VCALENDAR\n"
)
SHOWN = (
    "Event: Budget, first draft\nWhen: 2026-03-04 09:00 – 10:00 Europe/Rome\nWhere: Room 3\n"
    "Organizer: Ada: L <ada@x.org>\nGuests: Bob <bob@x.org>"
)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (
            multipart("alternative", PLAIN, RICH, part("text/calendar", EVENT)),
            f"The plain text.\n\n{SHOWN}",
        ),
        (
            multipart(
                "mixed",
                PLAIN,
                part(
                    "application/ics; name=i.ics", EVENT.encode(), "Content-Disposition: attachment"
                ),
            ),
            f"The plain text.\n\n{SHOWN}",
        ),
        (part("text/calendar", EVENT), f"{SHOWN}\n\nBring\nnumbers"),
    ],
)
def test_invitations_say_what_when_and_where(
    source: Make, pages: Pages, raw: str, text: str
) -> None:
    draft = read_mail(source((HEADS + raw).encode()))
    assert pages(draft)[0].text == START + text
    assert files(draft) == []


@pytest.mark.parametrize(
    ("fields", "when"),
    [
        ("DTSTART;VALUE=DATE:20260304\nDTEND;VALUE=DATE:20260305", "2026-03-04"),
        ("DTSTART;VALUE=DATE:20260304\nDTEND;VALUE=DATE:20260307", "2026-03-04 – 2026-03-06"),
        ("DTSTART:20260304T090000Z\nRRULE:FREQ=WEEKLY;COUNT=3", "2026-03-04 09:00 UTC, weekly"),
        ("DTSTART:20260304T230000\nDTEND:20260305T010000", "2026-03-04 23:00 – 2026-03-05 01:00"),
    ],
)
def test_times_of_events(fields: str, when: str) -> None:
    assert event_lines(f"BEGIN:VEVENT\n{fields}\nEND:VEVENT", described=True) == [f"When: {when}"]


@pytest.mark.parametrize("fields", ["DTSTART:20261340", "DTSTART:", "", "SUMMARY", "END:X\nEND:Y"])
def test_broken_events_say_nothing(fields: str) -> None:
    assert event_lines(f"BEGIN:VEVENT\n{fields}\nEND:VEVENT", described=True) == []


def test_a_large_calendar_is_a_file(source: Make) -> None:
    calendar = "BEGIN:VCALENDAR\n" + "BEGIN:VEVENT\nSUMMARY:x\nEND:VEVENT\n" * 30
    raw = HEADS + multipart("mixed", PLAIN, part("text/calendar; name=all.ics", calendar))
    assert [name for name, _ in files(read_mail(source(raw.encode())))] == ["all.ics"]


def der(tag: int, *parts: bytes) -> bytes:
    body = b"".join(parts)
    size = len(body)
    length = bytes([size]) if size < 128 else b"\x82" + size.to_bytes(2, "big")
    return bytes([tag]) + length + body


def cms(content: bytes, kind: int = 2) -> bytes:
    """CMS around content: signed data (2) without signers, or enveloped (3)."""
    oid = der(6, bytes.fromhex("2a864886f70d0107") + bytes([kind]))
    data = der(6, bytes.fromhex("2a864886f70d010701"))
    inner = der(0x30, data, der(0xA0, der(4, content)))
    return der(0x30, oid, der(0xA0, der(0x30, der(2, b"\x01"), der(0x31), inner, der(0x31))))


@pytest.mark.parametrize("kind", ["application/pkcs7-mime; smime-type=signed-data; name=smime.p7m",
                                  "application/x-pkcs7-mime; name=smime.p7m",
                                  "application/octet-stream; name=smime.p7m"])  # fmt: skip
def test_signed_mail_is_read(source: Make, pages: Pages, kind: str) -> None:
    inner = multipart("mixed", PLAIN, part("application/pdf; name=a.pdf", b"%PDF-1"))
    draft = read_mail(source((HEADS + part(kind, cms(inner.encode()))).encode()))
    assert pages(draft)[0].text == START + "The plain text."
    assert files(draft) == [("a.pdf", b"%PDF-1")]
    assert draft.warnings == []


PGP = "-----BEGIN PGP MESSAGE-----\nVersion: 1\n\nhQEMA\n=abcd\n-----END PGP MESSAGE-----"


@pytest.mark.parametrize(
    ("raw", "text", "warning"),
    [
        (
            multipart("encrypted", part("application/pgp-encrypted", "Version: 1"),
                      part("application/octet-stream", PGP)),
            "", "Its content is encrypted with PGP and is not read.",
        ),
        (
            part("text/plain", f"before\n{PGP}\nafter"), "before\n\nafter",
            "Its content is encrypted with PGP and is not read.",
        ),
        (
            part("application/pkcs7-mime; name=smime.p7m", cms(b"x", 3)),
            "", "Its content is encrypted (S/MIME) and is not read.",
        ),
        (
            multipart("mixed", PLAIN, part("application/ms-tnef; name=winmail.dat", b"x")),
            "The plain text.",
            "winmail.dat is not read: it is not TNEF.",
        ),
        (
            multipart("mixed", PLAIN, part("message/external-body; access-type=URL", "x")),
            "The plain text.", "A part of it is kept elsewhere and is not read.",
        ),
    ],
)  # fmt: skip
def test_what_is_not_read_is_said(
    source: Make, pages: Pages, raw: str, text: str, warning: str
) -> None:
    draft = read_mail(source((HEADS + raw).encode()))
    assert pages(draft)[0].text == (START + text).rstrip()
    assert draft.warnings == [warning]
    assert files(draft) == []


@pytest.mark.parametrize(
    "raw",
    [
        multipart("signed", PLAIN, part("application/pgp-signature; name=signature.asc", "x")),
        multipart("signed", PLAIN, part("application/pkcs7-signature; name=smime.p7s", b"x")),
        part(
            "text/plain",
            "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nThe plain text.\n"
            "-----BEGIN PGP SIGNATURE-----\n\niQ\n-----END PGP SIGNATURE-----\n",
        ),
    ],
)
def test_signatures_are_no_text(source: Make, pages: Pages, raw: str) -> None:
    draft = read_mail(source((HEADS + raw).encode()))
    assert pages(draft)[0].text == START + "The plain text."
    assert files(draft) == []
    assert draft.warnings == []


def uu(data: bytes) -> str:
    lines = [binascii.b2a_uu(data[at : at + 45]).decode() for at in range(0, len(data), 45)]
    return f"begin 644 report.pdf\n{''.join(lines)}`\nend\n"


def test_uuencoded_files(source: Make, pages: Pages) -> None:
    data = bytes(range(256))
    draft = read_mail(source((HEADS + "\nbefore\n" + uu(data) + "after\n").encode()))
    assert pages(draft)[0].text == START + "before\nafter"
    assert files(draft) == [("report.pdf", data)]
    encoded = part("application/pdf; name=x.pdf", uu(data), "Content-Transfer-Encoding: x-uuencode")
    draft = read_mail(source((HEADS + multipart("mixed", PLAIN, encoded)).encode()))
    assert files(draft) == [("x.pdf", data)]
    kept = "\nbegin 644 of the\nstory\nend\n"
    assert text_of(source, pages, HEADS + kept) == kept.strip()


def test_a_bounce_keeps_its_report_and_the_mail(source: Make, pages: Pages) -> None:
    raw = HEADS + multipart(
        "report; report-type=delivery-status",
        part("text/plain", "It was not delivered."),
        part("message/delivery-status", "Reporting-MTA: dns; x\n\nStatus: 5.1.1"),
        part("text/rfc822-headers", "Subject: Mine\nFrom: me@x.org\n"),
    )
    draft = read_mail(source(raw.encode()))
    assert pages(draft)[0].text == (
        START + "It was not delivered.\n\nReporting-MTA: dns; x\n\nStatus: 5.1.1"
    )
    assert [name for name, _ in files(draft)] == ["Mine.eml"]


@pytest.mark.parametrize(
    "raw",
    [
        multipart("mixed", PLAIN).replace("--b--\n", ""),  # not closed
        multipart("mixed", PLAIN).replace('boundary="b"', "boundary=other"),
        multipart("mixed", PLAIN).replace('; boundary="b"', ""),
        multipart("mixed", PLAIN).replace("--b\n", "--b  \n"),
        "Content-Type: multipart/mixed; boundary=b\n\nThe plain text.",
        "Content-Type: nonsense\n\nThe plain text.",
        "Content-Type: text/plain; charset=\n\nThe plain text.",
        "Content-Transfer-Encoding: who-knows\n\nThe plain text.",
        'Content-Type: multipart/mixed; boundary="b=1/2"\n\n--b=1/2\n\nThe plain text.\n--b=1/2--',
        "Content-Type: multipart/mixed; boundary=b=1\n\n--b=1\n\nThe plain text.\n--b=1--",
        "Content-Type: multipart/mixed;\n\tboundary=b\n\n--bb\n--b\n\nThe plain text.\n--b--",
    ],
)
def test_broken_structures(source: Make, pages: Pages, raw: str) -> None:
    text = text_of(source, pages, HEADS + raw)
    assert text.startswith(("The plain text.", "--bb"))


def test_a_fold_of_blanks_and_a_lost_fold_end_no_headers(source: Make, pages: Pages) -> None:
    raw = "From: a@x.org\nX-Long: one\n \n two\nlost fold\nSubject: s\n\nx"
    assert text_of(source, pages, raw) == "x"


def test_nested_parts_end_at_a_depth(source: Make, pages: Pages) -> None:
    deep = "".join(
        f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n\nlevel {n}\n--b{n}\n"
        for n in range(10_000)
    )
    draft = read_mail(source((HEADS + deep).encode()))
    text = pages(draft)[0].text
    assert "level 0" in text
    assert "level 49" in text
    assert "level 60" not in text
    assert draft.warnings == ["Parts nested deeper than 50 levels are not read."]


def test_many_parts_end_at_a_number(source: Make) -> None:
    raw = HEADS + "Content-Type: multipart/mixed; boundary=b\n\n" + "--b\n\nx\n" * 30_000
    draft = read_mail(source(raw.encode()))
    assert draft.warnings == ["Only the first 10,000 parts of it are read."]


@pytest.mark.parametrize(
    "bomb",
    [
        "X-A: " + "x" * 3_000_000,
        "X-A: 1\n" * 400_000,
        "To: " + "a@x.org, " * 200_000,
        "To: " + "(" * 500_000,
        "Subject: " + "=?a?q?" * 150_000,
        'To: "' + '\\"' * 400_000,
        "Content-Type: text/plain" + "; a*0=b" * 100_000,
        "Content-Disposition: x" + ";" * 500_000,
        "References: " + "<a@b> " * 100_000,
    ],
)
def test_header_bombs(source: Make, pages: Pages, bomb: str) -> None:
    began = time.process_time()
    draft = read_mail(source(f"From: a@x.org\nSubject: s\n{bomb}\n\nx".encode()))
    assert len(pages(draft)[0].text) < 100_000 + 4_000_000 * ("X-A" in bomb)
    assert len(draft.facts.correspondents) <= 1_000
    assert len(draft.facts.references) <= 1_000
    assert time.process_time() - began < 20


def test_nul_is_no_text(source: Make, pages: Pages) -> None:
    raw = HEADS.encode() + b"X-Pad: " + b"y" * 80 + b"\n\nspeci\0cation"
    assert text_of(source, pages, raw) == "specication"


@given(st.binary(max_size=120), st.integers(0, 3))
def test_broken_bytes_never_raise(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, which: int
) -> None:
    wholes = [
        HEADS + multipart("mixed", PLAIN, RICH, part("image/png", picture(), "Content-ID: <a>")),
        HEADS + multipart("alternative", PLAIN, RICH, part("text/calendar", EVENT)),
        HEADS + part("application/pkcs7-mime", cms(b"\n\nx")),
        HEADS + "\n" + uu(bytes(99)),
    ]
    broken = bytearray(wholes[which].encode())
    for at, byte in enumerate(data):
        broken[(at * 53 + byte) % len(broken)] ^= byte
    path = tmp_path_factory.mktemp("mail") / "x.eml"
    path.write_bytes(broken)
    draft = read_mail(Source(path, None, 1e12, 60))
    assert len(list(draft.pages)) == 1
    for enclosed in draft.enclosed:
        b"".join(enclosed.data)


@pytest.mark.parametrize(
    ("body", "data"),
    [
        ("aGVsbG8gd29ybGQ=\n", b"hello world"),
        ("aGVsbG8gd29ybGQ", b"hello world"),  # its padding is missing
        ("aGVs bG8g\n d29y!bGQ=", b"hello world"),
        ("aGVsbG8=\nIHdvcmxk\n", b"hello world"),  # encoded line by line
        ("aGVsbG8gd29ybGQ=\n\n____\nA list of mail\n", b"hello world"),
        ("=\n", b""),
        ("a", b""),
    ],
)
def test_base64_as_programs_write_it(source: Make, body: str, data: bytes) -> None:
    raw = f"Content-Type: application/pdf\nContent-Transfer-Encoding: base64\n\n{body}"
    assert parse(raw.encode()).body() == data


@given(st.binary(max_size=100), st.integers(1, 76))
def test_base64_comes_back(data: bytes, width: int) -> None:
    text = base64.b64encode(data).decode()
    lines = [text[at : at + width] for at in range(0, len(text), width)]
    raw = "Content-Transfer-Encoding: base64\n\n" + "\n".join(lines)
    assert parse(raw.encode()).body() == data


@pytest.mark.parametrize("end", [b"\n", b"   \n", b"\r\n"])
def test_a_mail_of_apple_mail(source: Make, pages: Pages, end: bytes) -> None:
    mail = b"From: a@x.org\nSubject: s\n\nThe text.\n"
    plist = b"<?xml version='1.0'?><plist><dict><key>flags</key></dict></plist>"
    file = source(str(len(mail)).encode() + end + mail + plist, "7.emlx")
    assert detect(file.path).name == "eml"
    assert pages(read_mail(file))[0].text == START + "The text."


def test_html_that_no_parser_takes_is_read_without_its_structure(
    source: Make, pages: Pages
) -> None:
    markup = "<style>p {}</style>" + "<div>" * 5_000 + "caff&egrave;" + "</div>\n" * 5_000 + "end"
    draft = read_mail(source(f"{HEADS}Content-Type: text/html\n\n{markup}".encode()))
    assert pages(draft)[0].text == START + "caffè\nend"
    assert draft.warnings[0].startswith("The mail's HTML is read without its structure")


@pytest.mark.parametrize(
    ("kind", "body", "text"),
    [
        ("text/enriched", "<bold>Bold</bold> and <<plain <color><param>red</param>x</color>",
         "Bold and <plain x"),
        ("text/plain; format=flowed; delsp=yes", "one \ntwo \n\nthree", "onetwo \n\nthree"),
        ("text/plain; format=flowed", "> its \n> text\nmine \nmore", "> its \n> text\nmine more"),
    ],
)  # fmt: skip
def test_texts_in_other_formats(
    source: Make, pages: Pages, kind: str, body: str, text: str
) -> None:
    assert text_of(source, pages, f"{HEADS}Content-Type: {kind}\n\n{body}") == text


@pytest.mark.parametrize(
    "unit",
    [
        "<param>",
        "begin 644 x\n",
        "-----BEGIN PGP SIGNED MESSAGE-----\n",
        "-----BEGIN PGP MESSAGE-----",
        "[cid:",
        "[image: ",
        "<<",
    ],
)
@pytest.mark.parametrize("kind", ["text/plain", "text/enriched", "text/html"])
def test_text_bombs(source: Make, pages: Pages, unit: str, kind: str) -> None:
    began = time.process_time()
    raw = f"{HEADS}Content-Type: {kind}\n\n{unit * 30_000}"
    assert len(pages(read_mail(source(raw.encode())))) == 1
    assert time.process_time() - began < 20
