"""Files inside of files: documents of their own that point back to what holds them."""

from __future__ import annotations

import asyncio
import datetime as dt
import io
import zipfile
from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from tests.integration.brain.conftest import OpenBrain

from emily.brain import Brain, Progress, parse_filters
from emily.indexing.intake import Intake, Opened
from emily.indexing.report import FileOutcome

Rows = Callable[..., list[tuple[Any, ...]]]

NOTE = "Verbale della riunione sul tetto: si sostituiscono le tegole in ardesia."
PRICES = "articolo;prezzo\ntegola;12\ncolmo;30\n"


def mail(
    subject: str = "Lavori al tetto",
    *attachments: tuple[str, bytes],
    identity: str = "1@example.org",
    answers: tuple[str, ...] = (),
) -> bytes:
    message = EmailMessage()
    message["From"] = "Ada Conti <ada@example.org>"
    message["To"] = "Bruno Neri <bruno@example.org>"
    message["Date"] = "Mon, 03 Mar 2025 10:00:00 +0100"
    message["Subject"] = subject
    message["Message-ID"] = f"<{identity}>"
    if answers:
        message["References"] = " ".join(f"<{answer}>" for answer in answers)
    message.set_content(f"Caro Bruno, in allegato quanto detto. {subject}.")
    for name, data in attachments:
        message.add_attachment(data, "application", "octet-stream", filename=name)
    return message.as_bytes()


def packed(**files: bytes) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/").replace("_dot_", "."), content)
    return data.getvalue()


async def add(brain: Brain, path: Path, content: bytes) -> dict[str, str]:
    """What became of each file, by its path below the folder."""
    path.write_bytes(content)
    report = await brain.add([path])
    return {str(file.path.relative_to(path.parent)): file.outcome for file in report.files}


async def test_attachments_are_documents_that_point_back(
    open_brain: OpenBrain, tmp_path: Path
) -> None:
    brain = await open_brain()
    files = (("verbale.txt", NOTE.encode()), ("listino.csv", PRICES.encode()))
    found = await add(brain, tmp_path / "m.eml", mail("Tetto", *files))
    assert found == {"m.eml!/verbale.txt": "added", "m.eml!/listino.csv": "added", "m.eml": "added"}
    answer = await brain.search("tegole in ardesia")
    assert answer.results[0].document.path == f"{tmp_path}/m.eml!/verbale.txt"
    part = await brain.show("verbale.txt")
    whole = await brain.show("m.eml")
    assert part.info.parent == whole.info.id
    assert [item.name for item in whole.parts] == ["verbale.txt", "listino.csv"]
    assert whole.info.date == dt.date(2025, 3, 3)
    assert [person.name for person in whole.info.correspondents] == ["Ada Conti", "Bruno Neri"]
    assert not any((brain.settings.home / "spool").rglob("*"))


async def test_added_again_nothing_changes(open_brain: OpenBrain, tmp_path: Path) -> None:
    brain = await open_brain()
    content = mail("Tetto", ("verbale.txt", NOTE.encode()))
    await add(brain, tmp_path / "m.eml", content)
    assert await add(brain, tmp_path / "m.eml", content) == {"m.eml": "unchanged"}
    assert len(await brain.list()) == 2


async def test_what_goes_with_what_holds_it(open_brain: OpenBrain, tmp_path: Path) -> None:
    brain = await open_brain()
    files = (("verbale.txt", NOTE.encode()), ("listino.csv", PRICES.encode()))
    await add(brain, tmp_path / "m.eml", mail("Tetto", *files))
    await add(brain, tmp_path / "listino.csv", PRICES.encode())
    await brain.remove("m.eml")
    kept = await brain.list()
    assert [item.name for item in kept] == ["listino.csv"]
    assert kept[0].parent is None
    originals = list((brain.settings.home / "originals").glob("??/*"))
    assert len(originals) == 1


async def test_a_changed_mail_forgets_what_it_no_longer_holds(
    open_brain: OpenBrain, tmp_path: Path
) -> None:
    brain = await open_brain()
    path = tmp_path / "m.eml"
    await add(brain, path, mail("Tetto", ("a.txt", NOTE.encode()), ("b.csv", PRICES.encode())))
    found = await add(brain, path, mail("Tetto", ("a.txt", NOTE.encode() + b" Costano poco.")))
    assert found == {"m.eml!/a.txt": "replaced", "m.eml": "replaced"}
    assert sorted(item.name for item in await brain.list()) == ["a.txt", "m.eml"]
    assert not (await brain.search("colmo")).results or all(
        result.document.name != "b.csv" for result in (await brain.search("colmo")).results
    )


async def test_a_zip_is_a_folder_with_folders_inside(open_brain: OpenBrain, tmp_path: Path) -> None:
    brain = await open_brain()
    inner = packed(deep_dot_txt=b"Il gatto dorme sul divano di velluto.")
    content = packed(
        lavori__verbale_dot_txt=NOTE.encode(),
        posta__m_dot_eml=mail("Tetto", ("listino.csv", PRICES.encode())),
        altro_dot_zip=inner,
    )
    found = await add(brain, tmp_path / "x.zip", content)
    assert found == {
        "x.zip!/lavori/verbale.txt": "added",
        "x.zip!/posta/m.eml!/listino.csv": "added",
        "x.zip!/posta/m.eml": "added",
        "x.zip!/altro.zip!/deep.txt": "added",
        "x.zip!/altro.zip": "added",
        "x.zip": "added",
    }
    inside = await brain.search(
        "velluto", filters=parse_filters(folder=tmp_path / "x.zip"), threshold=0
    )
    assert inside.results[0].document.name == "deep.txt"
    mails = await brain.search("listino", filters=parse_filters(kinds=["mail"]), threshold=0)
    assert {result.document.kind for result in mails.results} == {"eml"}
    await brain.remove("x.zip")
    assert await brain.list() == []


async def test_archives_with_the_same_names_and_other_contents_are_two(
    open_brain: OpenBrain, tmp_path: Path
) -> None:
    brain = await open_brain()
    first = await add(brain, tmp_path / "a.zip", packed(nota_dot_txt=b"Il tetto perde acqua."))
    second = await add(brain, tmp_path / "b.zip", packed(nota_dot_txt=b"La caldaia fa rumore."))
    assert set(first.values()) == set(second.values()) == {"added"}
    again = await add(brain, tmp_path / "c.zip", packed(nota_dot_txt=b"La caldaia fa rumore."))
    assert set(again.values()) <= {"duplicate", "added"}
    assert len([item for item in await brain.list() if item.name == "nota.txt"]) == 2


async def test_parts_of_an_archive_that_moved_are_cited_by_its_new_path(
    open_brain: OpenBrain, tmp_path: Path
) -> None:
    brain = await open_brain()
    await add(brain, tmp_path / "a.zip", packed(n_dot_txt=NOTE.encode(), p_dot_csv=PRICES.encode()))
    (tmp_path / "b").mkdir()
    (tmp_path / "a.zip").rename(tmp_path / "b" / "c.zip")
    await brain.add([tmp_path])
    places = {path for info in await brain.list() for path in info.paths}
    assert places == {f"{tmp_path}/b/c.zip{end}" for end in ("", "!/n.txt", "!/p.csv")}
    answer = await brain.search("tegole", filters=parse_filters(folder=tmp_path / "b"))
    assert {result.document.name for result in answer.results} >= {"n.txt"}


@pytest.mark.parametrize("kept", ["a-old.zip", "b.zip"])
async def test_what_lies_inside_of_a_copy_outlives_the_change_of_the_other(
    open_brain: OpenBrain, tmp_path: Path, kept: str
) -> None:
    brain = await open_brain()
    old = packed(n_dot_txt=NOTE.encode(), p_dot_csv=PRICES.encode())
    await add(brain, tmp_path / "a.zip", old)
    await add(brain, tmp_path / kept, old)
    new = packed(n_dot_txt=b"Il geometra misura la grondaia.", p_dot_csv=PRICES.encode())
    await add(brain, tmp_path / "a.zip", new)
    parts = {
        path: item.info.parent
        for info in await brain.list()
        for item in [await brain.show(info.id)]
        for path in info.paths
    }
    first, second = parts[f"{tmp_path}/{kept}!/n.txt"], parts[f"{tmp_path}/a.zip!/n.txt"]
    assert first == (await brain.show(str(tmp_path / kept))).info.id
    assert second == (await brain.show(str(tmp_path / "a.zip"))).info.id
    assert first != second
    await brain.remove(str(tmp_path / "a.zip"))
    found = await brain.search("tegole in ardesia")
    assert [result.document.path for result in found.results][:1] == [f"{tmp_path}/{kept}!/n.txt"]


async def test_parts_that_cannot_be_read_are_named(open_brain: OpenBrain, tmp_path: Path) -> None:
    brain = await open_brain()
    content = mail("Tetto", ("v.mp4", b"\0\0\0\x18ftypisom" + bytes(50)), ("x.pdf", b"%PDF-1.4 x"))
    path = tmp_path / "m.eml"
    path.write_bytes(content)
    report = await brain.add([path])
    found = {file.path.name: file for file in report.files}
    assert (found["v.mp4"].outcome, found["x.pdf"].outcome) == ("ignored", "failed")
    assert (found["m.eml"].outcome, found["m.eml"].state) == ("added", "in part")
    assert "v.mp4 inside of it is not read: the file is a video" in (found["m.eml"].reason or "")
    warnings = (await brain.show("m.eml")).info.warnings
    assert any(warning.startswith("x.pdf inside of it is not read: ") for warning in warnings)


async def test_an_add_that_was_cut_off_is_finished_by_the_next(
    open_brain: OpenBrain, tmp_path: Path, rows: Rows
) -> None:
    brain = await open_brain()
    content = mail("Tetto", ("a.txt", NOTE.encode()))
    await add(brain, tmp_path / "m.eml", content)
    await brain.remove("a.txt")
    rows("UPDATE document SET parts_open = 1 RETURNING id")
    found = await add(brain, tmp_path / "m.eml", content)
    assert found == {"m.eml!/a.txt": "added", "m.eml": "replaced"}
    assert rows("SELECT parts_open FROM document WHERE kind = 'eml'") == [(0,)]


async def test_nothing_unpacked_stays_behind_an_add_that_was_cut_off(
    open_brain: OpenBrain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    brain = await open_brain()
    for number in range(9):
        (tmp_path / f"{number}.eml").write_bytes(mail(f"N. {number}", ("n.txt", NOTE.encode())))
    unpacked, enough = brain.settings.home / "spool", asyncio.Event()
    put = Intake.put

    async def slow(self: Intake, opened: Opened) -> FileOutcome:
        enough.set()
        await asyncio.sleep(2)  # so that others are read and wait, one of them for room
        return await put(self, opened)

    monkeypatch.setattr(Intake, "put", slow)
    adding = asyncio.create_task(brain.add([tmp_path]))
    await enough.wait()
    await asyncio.sleep(1)
    adding.cancel()
    with pytest.raises(asyncio.CancelledError):
        await adding
    assert not any(unpacked.rglob("*"))


@pytest.mark.parametrize("copy", [False, True])
async def test_a_mail_may_be_removed_while_it_is_added(
    open_brain: OpenBrain, tmp_path: Path, rows: Rows, copy: bool
) -> None:
    brain = await open_brain()
    (tmp_path / "a.eml").write_bytes(mail("Tetto", ("n.txt", NOTE.encode()), ("p.csv", b"a;1\n")))
    (tmp_path / "z.csv").write_bytes(PRICES.encode())
    if copy:  # the second attachment is there already, and only linked
        await add(brain, tmp_path / "q.csv", b"a;1\n")

    def tell(progress: Progress) -> None:
        if progress.outcome is not None and progress.path.name == "n.txt":
            rows("DELETE FROM document WHERE name = 'a.eml'")

    report = await brain.add([tmp_path / "a.eml", tmp_path / "z.csv"], progress=tell)
    found = {file.path.name: (file.outcome, file.reason) for file in report.files}
    assert found["p.csv"] == ("failed", "What it lies in was removed from the archive meanwhile.")
    assert found["z.csv"][0] == "added"
    kept = {path.read_bytes() for path in (brain.settings.home / "originals").glob("??/*")}
    assert (b"a;1\n" in kept) is copy


async def test_marks_of_exclamation_in_folders_are_no_depth(
    open_brain: OpenBrain, tmp_path: Path
) -> None:
    brain = await open_brain()
    folder = tmp_path / "wow!" / "so!" / "much!" / "mail!"
    folder.mkdir(parents=True)
    found = await add(brain, folder / "m.eml", mail("Tetto", ("n.txt", NOTE.encode())))
    assert found == {"m.eml!/n.txt": "added", "m.eml": "added"}


async def test_mails_find_their_thread_in_any_order(open_brain: OpenBrain, tmp_path: Path) -> None:
    brain = await open_brain()
    await add(brain, tmp_path / "3.eml", mail("tre", identity="3@x", answers=("2@x",)))
    await add(brain, tmp_path / "2.eml", mail("due", identity="2@x", answers=("1@x",)))
    await add(brain, tmp_path / "1.eml", mail("uno", identity="1@x"))
    await add(brain, tmp_path / "9.eml", mail("altro", identity="9@x"))
    thread = (await brain.show("1.eml")).thread
    assert sorted(item.name for item in thread) == ["2.eml", "3.eml"]
    assert (await brain.show("9.eml")).thread == ()


async def test_filters_leave_out_what_does_not_meet_them(
    open_brain: OpenBrain, tmp_path: Path
) -> None:
    brain = await open_brain()
    await add(brain, tmp_path / "m.eml", mail("Tetto", ("a.txt", NOTE.encode())))
    for options, expected in (
        ({"since": "2025-03", "until": "2025-03"}, {"m.eml"}),
        ({"since": "2025-04"}, set()),
        ({"kinds": ["text"]}, {"a.txt"}),
        ({"folder": tmp_path / "other"}, set()),
        ({"folder": tmp_path / "m.eml"}, {"m.eml", "a.txt"}),
        ({"languages": ["de"]}, set()),
    ):
        answer = await brain.search("tetto", filters=parse_filters(**options), threshold=0)  # type: ignore[arg-type]
        assert {result.document.name for result in answer.results} == expected, options
        if not expected:
            assert any("No document meets the filters" in notice for notice in answer.notices)
    dated = await brain.search("tetto", filters=parse_filters(since="2020"))
    assert any("no known date" in notice for notice in dated.notices)


async def test_a_closed_attachment_is_opened_once_the_password_comes(
    open_brain: OpenBrain, tmp_path: Path
) -> None:
    from reportlab.lib.pdfencrypt import StandardEncryption
    from reportlab.pdfgen.canvas import Canvas

    brain = await open_brain()
    data = io.BytesIO()
    canvas = Canvas(data, encrypt=StandardEncryption("s3cret", "owner", strength=128))
    canvas.drawString(72, 700, "Il canone di affitto delle tegole.")
    canvas.save()
    path = tmp_path / "m.eml"
    path.write_bytes(mail("Tetto", ("closed.pdf", data.getvalue())))
    first = {file.path.name: file for file in (await brain.add([path])).files}
    assert first["closed.pdf"].state == "needs a password"
    assert (await brain.add([path])).counts() == {"unchanged": 1}
    again = {file.path.name: file for file in (await brain.add([path], passwords=["s3cret"])).files}
    assert (again["closed.pdf"].outcome, again["m.eml"].outcome) == ("added", "replaced")
    assert not (await brain.show("m.eml")).info.warnings
    assert (await brain.add([path])).counts() == {"unchanged": 1}
    inside = await brain.add([path], passwords=["s3cret"])
    assert inside.counts() == {"unchanged": 1}


async def test_a_closed_file_that_did_not_change_needs_no_password_again(
    open_brain: OpenBrain, tmp_path: Path, rows: Rows
) -> None:
    from reportlab.lib.pdfencrypt import StandardEncryption
    from reportlab.pdfgen.canvas import Canvas

    brain = await open_brain()
    path = tmp_path / "closed.pdf"
    canvas = Canvas(str(path), encrypt=StandardEncryption("s3cret", "owner", strength=128))
    canvas.drawString(72, 700, "Il canone di affitto delle tegole.")
    canvas.save()
    assert (await brain.add([path], passwords=["s3cret"])).counts() == {"added": 1}
    rows("UPDATE document SET fingerprint = 'old' RETURNING id")
    (file,) = (await brain.add([path])).files
    assert (file.outcome, file.reason) == (
        "unchanged",
        "It opens only with a password, so what was read before is kept.",
    )
