"""Private folders, files and locks."""

from __future__ import annotations

import os
import stat
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from emily.errors import StoreError, StoreUnavailable
from emily.store.folders import locked, open_private, private_folder, socket_folder
from emily.store.identity import Identity

if TYPE_CHECKING:
    from collections.abc import Iterator

OURSELVES = Identity("ourselves")


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.fixture(params=[0o000, 0o022, 0o277])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def test_modes_do_not_depend_on_the_umask(tmp_path: Path, umask: int) -> None:
    folder = private_folder(tmp_path / "private", OURSELVES)
    os.close(open_private(folder / "file", os.O_WRONLY, OURSELVES))
    assert _mode(folder) == 0o700
    assert _mode(folder / "file") == 0o600


def test_open_folder_of_ours_is_closed(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    before = _mode(tmp_path)
    private_folder(folder, OURSELVES)
    assert _mode(folder) == 0o700
    assert _mode(tmp_path) == before


def test_link_in_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o755)
    (tmp_path / "private").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="is a symbolic link"):
        private_folder(tmp_path / "private", OURSELVES)
    assert _mode(tmp_path / "elsewhere") == 0o755


def test_file_is_never_opened_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "target").touch(mode=0o644)
    (tmp_path / "file").symlink_to(tmp_path / "target")
    with pytest.raises(OSError, match="symbolic links"):
        open_private(tmp_path / "file", os.O_WRONLY, OURSELVES)
    assert _mode(tmp_path / "target") == 0o644


def test_somebody_elses_folder_is_refused(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    folder = tmp_path / "theirs"
    folder.mkdir()
    os.chown(folder, 12345, 12345)
    with pytest.raises(StoreError, match="belongs to user 12345"):
        private_folder(folder, OURSELVES)


class TestSocketFolder:
    @pytest.fixture(autouse=True)
    def short(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
        """A folder of short path, with a runtime folder in it that is ours and private."""
        with tempfile.TemporaryDirectory(prefix="e") as name:
            folder = Path(name)
            (folder / "r").mkdir()
            (folder / "r").chmod(0o700)
            monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder / "r"))
            yield folder

    def _database(self, short: Path, name: str) -> Path:
        folder = short / name
        folder.mkdir()
        return folder

    def test_short_path_is_inside(self, short: Path) -> None:
        database = self._database(short, "d")
        assert socket_folder(database, OURSELVES) == database / "run"
        assert _mode(database / "run") == 0o700

    @pytest.mark.parametrize("name", ["x" * 90, "é" * 45, "a,b"])
    def test_long_path_or_comma_is_outside_and_private(self, short: Path, name: str) -> None:
        database = self._database(short, name)
        found = socket_folder(database, OURSELVES)
        assert found.parent == short / "r"
        assert _mode(found) == 0o700
        assert len(os.fsencode(found / ".s.PGSQL.5432")) < 100
        assert socket_folder(database, OURSELVES) == found

    def test_two_databases_have_two_sockets(self, short: Path) -> None:
        first = socket_folder(self._database(short, "x" * 90), OURSELVES)
        assert first != socket_folder(self._database(short, "y" * 90), OURSELVES)

    def test_what_lies_in_wait_is_refused(self, short: Path) -> None:
        database = self._database(short, "x" * 90)
        place = socket_folder(database, OURSELVES)
        place.chmod(0o755)
        with pytest.raises(StoreError, match="mode 0755"):
            socket_folder(database, OURSELVES)
        place.rmdir()
        place.symlink_to(short)
        with pytest.raises(StoreError, match="is not a private folder"):
            socket_folder(database, OURSELVES)
        place.unlink()
        place.touch()
        with pytest.raises(StoreError, match="is not a private folder"):
            socket_folder(database, OURSELVES)

    def test_runtime_folder_of_lax_mode_is_not_used(
        self, short: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (short / "r").chmod(0o755)
        monkeypatch.setattr("tempfile.tempdir", str(short / "t"))
        (short / "t").mkdir()
        found = socket_folder(self._database(short, "x" * 90), OURSELVES)
        assert found.parent == short / "t"


def test_lock_that_is_held_is_waited_for_and_then_reported(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    too_long = pytest.raises(StoreUnavailable, match=r"Somebody is busy\. .* more than 0\.1 s")
    with (
        locked(path, OURSELVES, 1, ""),
        too_long,
        locked(path, OURSELVES, 0.1, "Somebody is busy."),
    ):
        pytest.fail("two hold one lock")
    with locked(path, OURSELVES, 0.1, "") as descriptor:
        assert _mode(path) == 0o600
        assert os.get_inheritable(descriptor) is False


def test_lock_is_held_by_the_program_that_inherits_it(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with locked(path, OURSELVES, 1, "") as descriptor:
        heir = subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=(descriptor,))
    with heir:
        with pytest.raises(StoreUnavailable), locked(path, OURSELVES, 0.1, ""):
            pytest.fail("two hold one lock")
        heir.kill()
    with locked(path, OURSELVES, 1, ""):
        pass
