"""Mailboxes: every message handed over, in order, in bounded memory."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emily.errors import EmptyDocument
from emily.reading.mail.mailbox import read_mbox
from emily.reading.mail.message import read_mail
from emily.reading.pages import Page
from emily.reading.source import Draft, Source

Make = Callable[..., Source]
Pages = Callable[[Draft], list[Page]]
FROM = b"From ada@example.org Mon Mar  2 09:00:00 2026\n"


def message(number: int, body: bytes = b"hello\n") -> bytes:
    return (
        b"From: Ada <ada@example.org>\nTo: bob%d@example.org\n"
        b"Date: Mon, %02d Mar 2026 09:00:00 +0100\nSubject: No. %d\n\n%s\n"
        % (number % 3, 1 + number % 28, number, body)
    )


def messages(draft: Draft) -> list[tuple[str, bytes]]:
    return [(enclosed.name, b"".join(enclosed.data)) for enclosed in draft.enclosed]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize(
    "separator",
    [
        b"From ada@example.org Mon Mar  2 09:00:00 2026\n",
        b"From MAILER-DAEMON Thu Jan  1 00:00:00 1970\n",
        b"From - Mon Mar 02 09:00:00 2026\n",
        b"From 17896@xxx Mon Mar 02 09:00:00 +0000 2026\n",
        b"From ada@example.org\n",
    ],
)
def test_messages_of_boxes_of_all_sorts(
    source: Make, pages: Pages, separator: bytes, end: bytes
) -> None:
    box = b"".join(separator + message(n) for n in (1, 2, 3)).replace(b"\n", end)
    draft = read_mbox(source(box, "inbox.mbox"))
    assert pages(draft)[0].text == (
        "Mailbox inbox.mbox: 3 messages\n"
        "Dates: 2026-03-02 – 2026-03-04\n\n"
        "Correspondents, by number of messages:\n"
        "- ada@example.org: 3\n"
        "- bob0@example.org: 1\n"
        "- bob1@example.org: 1\n"
        "- bob2@example.org: 1"
    )
    assert messages(draft) == [
        (f"{n:06} No. {n}.eml", message(n).replace(b"\n", end)) for n in (1, 2, 3)
    ]
    assert draft.citation == "none"


@pytest.mark.parametrize(
    "broken",
    [
        b"From \n",
        b"From ada on a day\n",
        b"From ada@example.org Mon Mar  2 09:00:00 2026\n",
    ],
)
def test_a_broken_separator_costs_no_message(source: Make, broken: bytes) -> None:
    box = FROM + message(1) + broken + message(2) + FROM + message(3)
    assert [name for name, _ in messages(read_mbox(source(box)))] == [
        "000001 No. 1.eml",
        "000002 No. 2.eml",
        "000003 No. 3.eml",
    ]


def test_a_separator_without_a_blank_line_before_it(source: Make) -> None:
    box = FROM + message(1).rstrip(b"\n") + b"\n" + FROM + message(2)
    assert len(messages(read_mbox(source(box)))) == 2


def test_the_first_message_may_want_its_separator(source: Make) -> None:
    assert [n for n, _ in messages(read_mbox(source(message(1) + FROM + message(2))))] == [
        "000001 No. 1.eml",
        "000002 No. 2.eml",
    ]


@pytest.mark.parametrize(
    "sentence",
    [
        b"\nFrom here on it rains.\n",
        b"\nFrom here on it rains.\n\nSubject: rain\n",
        b"text\nFrom Monday to Friday\nwe work\n",
        b"\nFrom ada@example.org we heard\nthat it rains\n",
    ],
)
def test_a_sentence_that_begins_with_from_parts_nothing(source: Make, sentence: bytes) -> None:
    box = FROM + message(1, sentence) + FROM + message(2)
    found = messages(read_mbox(source(box)))
    assert [data for _, data in found] == [message(1, sentence), message(2)]


def test_quoted_lines_lose_their_mark(source: Make) -> None:
    quoted = b">From the sea\n>>From the lake\n> From the hill\nno >From here\n"
    plain = b"From the sea\n>From the lake\n> From the hill\nno >From here\n"
    box = FROM + message(1, quoted)
    assert messages(read_mbox(source(box)))[0][1] == message(1, plain)


def test_content_length_is_not_believed(source: Make) -> None:
    first = b"Content-Length: 999999\n" + message(1)
    assert len(messages(read_mbox(source(FROM + first + FROM + message(2))))) == 2


def test_a_message_out_of_a_box_reads_as_a_mail(
    source: Make, pages: Pages, tmp_path: Path, at: Callable[[Path], Source]
) -> None:
    ((name, data),) = messages(read_mbox(source(FROM + message(7, b">From me\n"))))
    path = tmp_path / "one.eml"
    path.write_bytes(data)
    draft = read_mail(at(path))
    assert pages(draft)[0].text.endswith("Subject: No. 7\n\nFrom me")
    assert name == "000007 No. 7.eml".replace("000007", "000001")


@pytest.mark.parametrize("subject", [b"a/b\\c: d?", b"=?utf-8?Q?perch=C3=A9?=", b"", b"x" * 400])
def test_a_subject_is_part_of_the_name(source: Make, subject: bytes) -> None:
    box = FROM + b"From: a@example.org\nSubject: " + subject + b"\n\nx\n"
    ((name, _),) = messages(read_mbox(source(box)))
    expected = {b"a": " a b c d", b"=": " perché", b"": "", b"x": " " + "x" * 150}
    assert name == f"000001{expected[subject[:1]]}.eml"


@pytest.mark.parametrize("size", [1 << 20, (1 << 20) - 20, (1 << 20) + 4090, 3 << 20])
def test_a_message_longer_than_a_piece(source: Make, size: int) -> None:
    body = (b"0123456789abcde\n" * (size // 16 + 1))[:size]
    first = message(1, body + b"\n>From x\n")
    found = messages(read_mbox(source(FROM + first + FROM + message(2))))
    assert [data for _, data in found] == [first.replace(b">From", b"From"), message(2)]


def test_a_line_without_an_end(source: Make) -> None:
    body = b"x" * (3 << 20)
    ((_, data),) = messages(read_mbox(source(FROM + message(1, body))))
    assert data == message(1, body)


@pytest.mark.parametrize("content", [b"", b"\n\n"])
def test_a_box_without_messages(source: Make, content: bytes) -> None:
    with pytest.raises(EmptyDocument, match="the mailbox holds no message"):
        read_mbox(source(content))


@given(st.lists(st.sampled_from([FROM, b"\n", b"From y\n", b">From x\n", b"A: b\n", b"From: c\n"])))
def test_no_byte_is_lost(tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes]) -> None:
    path = tmp_path_factory.mktemp("box") / "x.mbox"
    path.write_bytes(b"From: first\n" + b"".join(pieces))
    draft = read_mbox(Source(path, None, time.monotonic() + 60, 60))
    held = b"".join(data for _, data in messages(draft))
    whole = path.read_bytes()
    assert held.count(b"A: b\n") == whole.count(b"A: b\n")
    assert held.count(b"From: c\n") == whole.count(b"From: c\n")


def write_box(path: Path, numbers: Iterable[int]) -> None:
    with path.open("wb") as file:
        for number in numbers:
            file.write(FROM + message(number, b"line of text\n" * 600))


def test_a_large_box_is_never_held_whole(tmp_path: Path, at: Callable[[Path], Source]) -> None:
    path = tmp_path / "large.mbox"
    write_box(path, range(1_200))
    assert path.stat().st_size > 9_000_000
    tracemalloc.start()
    draft = read_mbox(at(path))
    count = sum(1 for enclosed in draft.enclosed if b"".join(enclosed.data))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 1_200
    assert peak < 6 << 20


def test_a_box_that_is_late_says_what_is_left(source: Make, pages: Pages) -> None:
    given_source = source(FROM + message(1) + FROM + message(2))
    draft = read_mbox(given_source)
    assert "2 messages" in pages(draft)[0].text
    given_source.deadline = 0
    assert messages(draft) == []
    assert draft.warnings[0].startswith("Only the first 0 messages are read")
