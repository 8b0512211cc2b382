"""Folders are expanded in a stable order, and what is left out is named."""

from __future__ import annotations

import os
import socket
import sys
import tempfile
from pathlib import Path

import pytest

from emily.reading.walk import walk


def states(*paths: Path) -> dict[str, tuple[str, str | None]]:
    return {found.path.name: (found.state, found.reason) for found in walk(paths)}


def test_folders_in_a_stable_order(tmp_path: Path) -> None:
    for name in ("b/2.txt", "b/1.txt", "a/x/deep.txt", "a/z.txt", "top.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    names = [str(found.path.relative_to(tmp_path)) for found in walk([tmp_path])]
    assert names == ["top.txt", "a/z.txt", "a/x/deep.txt", "b/1.txt", "b/2.txt"]


def test_a_path_named_twice_comes_once(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("x")
    assert [found.path for found in walk([file, tmp_path, str(file)])] == [file]


@pytest.mark.parametrize(
    "name",
    ["~$lock.docx", ".~lock.a.odt#", "Thumbs.db", "a.tmp", "~WRL0001.tmp", "b.part",
     "c.CRDOWNLOAD", ".DS_Store", ".hidden"],
)  # fmt: skip
def test_files_of_programs_are_ignored_with_a_reason(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("x")
    (tmp_path / "kept.txt").write_text("x")
    found = states(tmp_path)
    assert found["kept.txt"] == ("file", None)
    assert found[name][0] == "ignored"
    assert found[name][1]


def test_a_hidden_folder_is_ignored_unless_named(tmp_path: Path) -> None:
    folder = tmp_path / ".git"
    folder.mkdir()
    (folder / "config").write_text("x")
    assert states(tmp_path) == {".git": ("ignored", "a hidden folder")}
    assert states(folder) == {"config": ("file", None)}


def test_a_hidden_file_that_is_named_is_read(tmp_path: Path) -> None:
    file = tmp_path / ".notes"
    file.write_text("x")
    assert states(file) == {".notes": ("file", None)}


def test_links(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "file.txt").write_text("x")
    (folder / "loop").symlink_to(tmp_path, target_is_directory=True)
    (folder / "nowhere").symlink_to(tmp_path / "gone")
    found = states(tmp_path)
    assert found["loop"] == ("ignored", "a link to a folder that contains it")
    assert found["nowhere"] == ("ignored", "a link that leads nowhere")
    assert states(folder / "nowhere") == {"nowhere": ("failed", "a link that leads nowhere")}


@pytest.mark.skipif(sys.platform == "win32", reason="no such files there")
def test_pipes_and_sockets_are_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with tempfile.TemporaryDirectory() as short, socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{short}/socket")
        assert states(Path(short)) == {"socket": ("ignored", "not a file but a socket")}
    assert states(tmp_path) == {"pipe": ("ignored", "not a file but a pipe")}
    assert states(tmp_path / "pipe")["pipe"][0] == "failed"


def test_what_does_not_exist_fails(tmp_path: Path) -> None:
    assert states(tmp_path / "gone") == {"gone": ("failed", "no such file or folder")}
    assert states(Path("a\0b"))["a\0b"][0] == "failed"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_no_permission_fails(tmp_path: Path) -> None:
    file = tmp_path / "secret.txt"
    file.write_text("x")
    file.chmod(0)
    assert states(tmp_path) == {"secret.txt": ("failed", "no permission to read it")}


@pytest.mark.parametrize("name", ["new\nline.txt", "😀.txt", "e\u0301.txt", "tab\t.txt"])
def test_odd_names(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("x")
    assert [found.path.name for found in walk([tmp_path])] == [name]


@pytest.mark.skipif(sys.platform != "linux", reason="names of any bytes exist on Linux only")
def test_a_name_that_is_not_utf8(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/caff\xe8.txt"
    Path(os.fsdecode(path)).write_text("x")
    assert [os.fsencode(found.path) for found in walk([tmp_path])] == [path]


def test_a_private_folder_is_read_by_no_path(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "database").mkdir(parents=True)
    (home / "database" / "password").write_text("secret")
    (tmp_path / "note.txt").write_text("x")
    (tmp_path / "link").symlink_to(home)
    found = {item.path.name: item for item in walk([tmp_path], home)}
    assert found["note.txt"].state == "file"
    assert (found["home"].state, found["home"].reason) == ("ignored", "Emily's own data")
    assert (found["link"].state, found["link"].reason) == ("ignored", "Emily's own data")
    assert "password" not in found
    for named in (home / "database", home / "database" / "password", tmp_path / "link/database"):
        (item,) = walk([named], home)
        assert (item.state, item.reason) == ("failed", "Emily's own data")
    (item,) = walk([home], home)
    assert item.state == "ignored"


def test_a_folder_is_walked_once_whatever_leads_to_it(tmp_path: Path) -> None:
    for number in range(40):
        (tmp_path / f"d{number}").mkdir()
    for number in range(39):
        for name in "ab":
            (tmp_path / f"d{number}" / name).symlink_to(tmp_path / f"d{number + 1}")
    (tmp_path / "d39" / "note.txt").write_text("x")
    found = list(walk([tmp_path / "d0"]))
    assert [item.path.name for item in found if item.state == "file"] == ["note.txt"]
    assert sum("the same folder as" in (item.reason or "") for item in found) == 39
